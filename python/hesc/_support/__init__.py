"""Helpers of all rooms: files, inputs, progress, processes. They know nothing of encryption."""

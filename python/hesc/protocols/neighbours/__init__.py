"""k nearest neighbours on encrypted samples, by distances of binary codes.

The server has codes of its records in the clear; the client decrypts distances and votes.
"""

"""Samples as people have them, and what a client does with their words and missing cells."""

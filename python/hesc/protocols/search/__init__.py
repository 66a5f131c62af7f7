"""Scores of encrypted vectors with all records of an index, which the server has in the clear.

Whoever asks learns every score, and after as many queries as vectors have features every record:
records are such as clients may have. `hesc.search` has the names that are used.
"""

"""A protocol as a newcomer would write it: one linear score in whole numbers, on BFV vectors.

It is no part of the product. `tests/test_toy_protocol.py` gives it a row in the registry.
"""

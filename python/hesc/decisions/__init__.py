"""Classes alone: which of a model's scores is the largest, compared on encrypted integers.

Linear models and trees in whole numbers, with features of a few bits. `models` is what a server
computes, in the clear and as expressions of `hesc.integers`; `circuits` plans them; `quantisation`
makes them of real numbers. Nothing here can decrypt.
"""

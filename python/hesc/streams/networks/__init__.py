"""Small networks on encrypted inputs, in two ways.

- `monomial`: ours. One product between a client's monomials and a model owner's coefficients.
- `layered`: the algorithm of koseki2022hesc section 4.3, sums by concatenation.
"""

from hesc.streams.networks.square import ModelFormatError, Preprocessing, SquareNetwork

__all__ = ["ModelFormatError", "Preprocessing", "SquareNetwork"]

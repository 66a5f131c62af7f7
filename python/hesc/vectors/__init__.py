"""BFV, BGV and CKKS with multiplication: the exact and approximate competitors of streams.

Numbers are encrypted as they are, many to a ciphertext; sums, products and rotations act on all
slots at once. What can decrypt lives in `hesc.secret`.
"""

from hesc.vectors.encrypted_vectors import EncryptedVector
from hesc.vectors.matrices import Matrix, dot_rotations, matrix_rotations
from hesc.vectors.matrix_products import MatrixProduct

__all__ = [
    "EncryptedVector",
    "Matrix",
    "MatrixProduct",
    "dot_rotations",
    "matrix_rotations",
]

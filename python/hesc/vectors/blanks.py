"""Blank vectors: what encryptions say of level and error, without a key.

Whatever is computed on them claims what it will claim on ciphertexts, since claims follow from
public data. They are zeros under keys of zeros, belong to no secret key and meet no ciphertext.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc.vectors.encrypted_vectors import EncryptedVector
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hesc.params.vectors import VectorParams


def blank(
    params: VectorParams,
    length: int | None = None,
    *,
    seeded: bool = True,
    rotations: Sequence[int] = (),
) -> EncryptedVector:
    """A vector of numbers within the set's bound, as an encryption of them would claim to be.

    Args:
        params: the parameter set.
        length: how many numbers; by default as many as there are slots.
        seeded: whether it is under the secret key, or the public one, which has more noise.
        rotations: steps that it can be rotated by.

    """
    count = params.slot_count if length is None else length
    vector = EncryptedVector(params, params.blank(seeded), count)
    if not params.special_moduli:
        return vector
    relin, galois = params.blank_keys(list(rotations))
    return vector.with_keys(PublicKeys(params, {"relinearisation": relin, "rotations": galois}))

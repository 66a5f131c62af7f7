"""Keys of small, insecure sets of BFV, BGV and CKKS, and what their vectors must decrypt to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import hesc
from hesc._native import primes_of_bits

if TYPE_CHECKING:
    from hesc.params import VectorParams

SCHEMES = ("bfv", "bgv", "ckks")
DEGREE = 256


class Party(NamedTuple):
    """A key owner and what he publishes."""

    params: VectorParams
    secret: hesc.SecretKey
    public: hesc.PublicKeys

    def numbers(self, rng: np.random.Generator, shape: Any) -> Any:
        """Small random numbers: integers for exact schemes."""
        if self.params.scheme == "ckks":
            return rng.uniform(-1, 1, shape)
        return rng.integers(-9, 10, shape)

    def encrypt(self, numbers: Any) -> hesc.EncryptedVector:
        """For any program: integers modulo the plaintext modulus."""
        return self.public.encrypt(numbers, wrap=self.params.scheme != "ckks")

    # What `matrix @ vector` gives has no type: numpy's stubs believe that it is an array.
    def check(self, vector: Any, expected: Any) -> None:
        """The numbers, within the error stated, and all that is claimed of the slots."""
        expected = np.asarray(expected)
        assert len(vector) == len(expected)
        self.close(self.secret.decrypt(vector), expected, vector.error_bound)
        whole = hesc.EncryptedVector(
            vector.params, vector.native, self.params.slot_count, complex_values=True
        )
        period = 1 << (len(vector) - 1).bit_length()
        copies = self.secret.decrypt(whole).reshape(-1, period)
        self.close(copies, np.broadcast_to(copies[0], copies.shape), 2 * vector.error_bound)
        self.close(copies[0, : len(vector)], expected, vector.error_bound)
        if vector.zeros_behind:
            self.close(copies[0, len(vector) :], 0, vector.error_bound)

    def close(self, found: Any, expected: Any, bound: float) -> None:
        """Equal modulo the plaintext modulus, or within a bound."""
        if self.params.plain_modulus is None:
            # What double precision leaves of large numbers comes on top.
            slack = 1e-13 * np.max(np.abs(expected), initial=1)
            assert np.all(np.abs(found - expected) <= bound + slack)
        else:
            assert not np.any((found - expected) % self.params.plain_modulus)


@cache
def party(scheme: str, degree: int = DEGREE, levels: int = 9, plain_bits: int = 20) -> Party:
    """Keys for all rotations of up to 32 numbers, and for inner products of any."""
    ckks = scheme == "ckks"
    primes = primes_of_bits(2 * degree, [50, 50, *[44] * (levels - 1)])
    params = hesc.Params.lattice(
        scheme,
        degree,
        primes[1:],
        special_moduli=primes[:1],
        plain_modulus=None if ckks else primes_of_bits(2 * degree, [plain_bits])[0],
        scale=2.0**44 if ckks else None,
        bound=16.0 if ckks else 1.0,
        assurance="insecure",
    )
    steps = sorted({*range(-32, 33), *hesc.vectors.dot_rotations(degree // 2)} - {0})
    return Party(params, *hesc.keygen(params, rotations=steps, conjugate=True))

"""Parameter sets of the schemes with multiplication."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from hesc import _native
from hesc._support.inputs import whole
from hesc.params.parameter_set import Params

if TYPE_CHECKING:
    from collections.abc import Callable


class Dimension(NamedTuple):
    """A cyclic direction of the slots of an odd ring."""

    generator: int
    """Exponent of the automorphism that moves values by one slot."""
    length: int
    """Slots along it."""
    twist: int
    """Frobenius maps that a value has undergone which has come around once; numbers do not
    notice."""


class VectorParams(_native.VectorParams, Params, kind="vectors"):
    """A set of BFV, BGV or CKKS with multiplication, for vectors of numbers.

    Ciphertexts live in the primes in `coeff_moduli`, fewer of them at each level; those in
    `special_moduli` belong to the keys. In rings of odd index slots hold more than numbers.
    """

    @property
    def encodings(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the set encrypts."""
        return ("vectors", "slots") if self.ring_index % 2 else ("vectors",)

    def key_readers(self) -> dict[str, Callable[[bytes], Any]]:
        """What reads the parts of public keys."""
        return {
            "public": partial(_native.VectorPublicKey.from_bytes, self),
            "relinearisation": partial(_native.RelinKey.from_bytes, self),
            "rotations": partial(_native.GaloisKeys.from_bytes, self),
        }

    @property
    def dimensions(self) -> list[Dimension]:  # type: ignore[override]
        """The directions along which the slots of an odd ring rotate, the longest first.

        Slots are numbered along them, the last one's neighbours next to each other.
        """
        return list(self._dimensions)

    @cached_property
    def _dimensions(self) -> tuple[Dimension, ...]:
        # Every rotation asks for them.
        return tuple(Dimension(*found) for found in super().dimensions)

    def with_plain_modulus(self, plain_modulus: int) -> VectorParams:
        """The same set for numbers modulo a divisor of its plaintext modulus; its keys serve both.

        What `EncryptedSlots.digits` gives is of such a set.
        """
        return VectorParams(super().with_plain_modulus(whole(plain_modulus, "plain_modulus", 2)))

    def __repr__(self) -> str:
        levels, specials = len(self.coeff_moduli), len(self.special_moduli)
        integers = (
            "" if self.is_approximate else ", integers from {} to {}".format(*self.integer_range)
        )
        return (
            f"<hesc.Params {self.name}: {self.scheme}, ring_degree={self.ring_degree}, "
            f"{levels} + {specials} primes, depth {self.depth}{integers}, {self.assurance}>"
        )

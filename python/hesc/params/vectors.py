"""Parameter sets of the schemes with multiplication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hesc import _native
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


class VectorParams(Params[_native.LeveledParams], kind="vectors"):
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
        native = self._native
        return {
            "public": native.public_key_from_bytes,
            "relinearisation": native.relin_key_from_bytes,
            "rotations": native.galois_keys_from_bytes,
        }

    @property
    def ring_degree(self) -> int:
        """Coefficients of a polynomial."""
        return self._native.ring_degree

    @property
    def ring_index(self) -> int:
        """The order of the ring's roots of unity: twice the degree for a power of two, else odd."""
        return self._native.ring_index

    @property
    def slot_degree(self) -> int | None:
        """Coordinates of the value in a slot of an odd ring; None for power-of-two rings.

        Raises:
            ParameterError: a plaintext modulus that has no slots in this ring.

        """
        return self._native.slot_degree

    @property
    def dimensions(self) -> list[Dimension]:
        """The directions along which the slots of an odd ring rotate, the longest first.

        Slots are numbered along them, the last one's neighbours next to each other.
        """
        return [Dimension(*found) for found in self._native.dimensions]

    @property
    def level_bits(self) -> list[float]:
        """Bits of the modulus of each level, the lowest first."""
        return self._native.level_bits

    @property
    def special_moduli(self) -> list[int]:
        """Primes of keys beyond those."""
        return self._native.special_moduli

    @property
    def levels(self) -> list[list[int]]:
        """The primes of each level, the lowest first, by their places in `coeff_moduli`."""
        return self._native.levels

    @property
    def bound(self) -> float:
        """CKKS: what absolute values stay within unless an encryption declares another bound."""
        return self._native.bound

    @property
    def integer_range(self) -> tuple[int, int]:
        """BFV and BGV: the smallest and the largest integer that decryption tells apart.

        Half of the plaintext modulus to either side of zero. Results of vectors that could be
        beyond are refused, or, for those made with `wrap=True`, taken modulo it.

        Raises:
            ParameterError: CKKS, which has no integers.

        """
        return self._native.integer_range

    @property
    def is_approximate(self) -> bool:
        """Whether numbers are approximate and may be complex (CKKS); integers otherwise."""
        return self._native.is_approximate

    @property
    def slot_count(self) -> int:
        """Numbers in a ciphertext."""
        return self._native.slot_count

    @property
    def depth(self) -> int:
        """Products in sequence, each of two results of the one before, that there is room for.

        By the noise model, from numbers as they are encrypted, in CKKS within `bound`; sums and
        rotations between them take room too. Decryption then fails with a probability below 2^-128.
        """
        return self._native.depth

    def __repr__(self) -> str:
        levels, specials = len(self.coeff_moduli), len(self.special_moduli)
        integers = (
            "" if self.is_approximate else ", integers from {} to {}".format(*self.integer_range)
        )
        return (
            f"<hesc.Params {self.name}: {self.scheme}, ring_degree={self.ring_degree}, "
            f"{levels} + {specials} primes, depth {self.depth}{integers}, {self.assurance}>"
        )

"""Parameter sets of the schemes with multiplication."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import whole, wholes
from hesc.params.parameter_set import ParameterSet, explained
from hesc.params.presets import Presets, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Dimension(NamedTuple):
    """A cyclic direction of the slots of an odd ring."""

    generator: int
    """Exponent of the automorphism that moves values by one slot."""
    length: int
    """Slots along it."""
    twist: int
    """Frobenius maps that a value has undergone which has come around once; numbers do not
    notice."""


class LeveledParams(ParameterSet[_native.LeveledParams]):
    """A checked, immutable parameter set of BFV, BGV or CKKS with multiplication.

    Make one with `recommended`, `preset` or `lattice`. Ciphertexts live in the primes in
    `coeff_moduli`, fewer of them at each level; those in `special_moduli` belong to the keys.
    """

    @classmethod
    @explained
    def recommended(
        cls, scheme: str, *, ring_degree: int = 8192, bound: float = 1.0
    ) -> LeveledParams:
        """The set of this ring degree (4096 to 32768) at 128 bits by the 2024 guidelines.

        Depth grows with the degree, and so does time: `depth` says how many products in a row fit.
        `bound` as for `preset`.
        """
        return cls.preset(f"{scheme}_{ring_degree}", bound=bound)

    @classmethod
    @explained
    def preset(cls, name: str, *, bound: float = 1.0) -> LeveledParams:
        """A named set; `LeveledParams.presets()` is a table of them.

        Names that begin with `hestd2018_` meet the 2018 standard only.

        Args:
            name: the set.
            bound: CKKS: what the absolute values of encrypted numbers stay within unless
                `encrypt` is told otherwise. It is public: every ciphertext carries it. Products
                multiply it, and what does not fit the modulus is refused.

        """
        return cls(_native.LeveledParams.preset(name, bound))

    @classmethod
    def presets(cls) -> Presets:
        """All named sets of numbers: a table that prints itself, see `hesc.params.presets.Presets`.

        "numbers" are those of a vector, "bytes" those of its ciphertext.
        Cost: half a second, for the depths of all sets.
        """

        def read(name: str) -> tuple[str, int | None, str, int | None]:
            params = cls.preset(name)
            return params.scheme, params.ring_degree, params.assurance, params.depth

        return table_of("numbers", for_vectors=True, read=read)

    @classmethod
    @explained
    def lattice(
        cls,
        scheme: str,
        ring_degree: int | None,
        coeff_moduli: Sequence[int],
        *,
        special_moduli: Sequence[int],
        ring_index: int | None = None,
        levels: Sequence[Sequence[int]] = (),
        plain_modulus: int | None = None,
        scale: float | None = None,
        bound: float = 1.0,
        assurance: str = "guidelines2024",
    ) -> LeveledParams:
        """A set of one's own primes, each 1 modulo `2 * ring_degree` and below 2^61.

        Args:
            scheme: "bfv", "bgv" or "ckks".
            ring_degree: a power of two, 256 to 32768; None for an odd ring.
            ring_index: an odd index without square factors; primes are then 1 modulo a multiple of
                it, see `cyclotomic`, which finds them.
            coeff_moduli: primes of ciphertexts; the last is dropped first, unless there are levels.
            levels: BFV and BGV; for each level the places of its primes in `coeff_moduli`, from the
                smallest product to all primes. Without any, level `l` has the first `l` primes.
            special_moduli: primes of keys beyond those; none means no products brought back to
                two parts and no rotations.
            plain_modulus: BFV and BGV; slots need a prime that is 1 modulo `2 * ring_degree`.
            scale: CKKS; what numbers are multiplied with.
            bound: CKKS; see `preset`.
            assurance: "guidelines2024", "hestd2018" or "insecure": what the set must reach.

        """
        if (ring_degree is None) == (ring_index is None):
            raise ParameterError("give either ring_degree, a power of two, or ring_index, odd")
        if ring_index is None:
            # Twice the degree is the index. What is no power of two is refused by its name.
            degree = whole(ring_degree, "ring_degree", 0, 2**31)
            if degree & (degree - 1):
                raise ParameterError(
                    f"ring_degree {degree} is no power of two; rings of odd index have ring_index"
                )
            ring_index = 2 * degree
        native = _native.LeveledParams(
            scheme=scheme,
            ring_index=whole(ring_index, "ring_index", 0, 2**32 - 1),
            coeff_moduli=wholes(coeff_moduli, "coeff_moduli"),
            levels=[wholes(places, "places in levels") for places in levels],
            special_moduli=wholes(special_moduli, "special_moduli"),
            plain_modulus=None
            if plain_modulus is None
            else whole(plain_modulus, "plain_modulus", 0),
            scale=scale,
            bound=bound,
            assurance=assurance,
        )
        return cls(native)

    @classmethod
    @explained
    def cyclotomic(
        cls,
        ring_index: int,
        coeff_bits: Sequence[int],
        special_bits: Sequence[int],
        *,
        plain_modulus: int = 2,
        large: int | None = None,
        scheme: str = "bgv",
        assurance: str = "guidelines2024",
    ) -> LeveledParams:
        """A set in the ring of an odd index, with the largest primes of these sizes.

        >>> LeveledParams.cyclotomic(8191, [44, 44, 44, 33], [46], large=3).depth
        6

        Args:
            ring_index: odd, without square factors; products of the primes 3, 5, 17 and 257 are
                fastest.
            coeff_bits: sizes of the primes of ciphertexts, 31 to 60 bits but not 51, for products
                of 3, 5, 17 and 257 from 24 bits on.
            special_bits: sizes of those of keys; at least as large.
            plain_modulus: a prime or a power of one, up to about 2^22, without common factor with
                the index. Slots hold values of as many coordinates as the order of the prime modulo
                the index.
            large: how many of the first primes are large ones: levels then have some of them and
                any of the others. By default a level has one prime more than the one below.
            scheme: "bgv" or "bfv".
            assurance: "guidelines2024", "hestd2018" or "insecure": what the set must reach.

        """
        index = whole(ring_index, "ring_index", 3, 2**32 - 1)
        coeff, special = wholes(coeff_bits, "coeff_bits"), wholes(special_bits, "special_bits")
        if index % 2 == 0:
            raise ParameterError(
                f"ring_index {index} is even; give an odd one, or make a power-of-two ring with "
                "`lattice`"
            )
        _check_plain_modulus(whole(plain_modulus, "plain_modulus", 2), index)
        primes = _native.primes_of_bits(index, special + coeff)
        moduli = primes[len(special) :]
        return cls.lattice(
            scheme,
            None,
            moduli,
            ring_index=index,
            special_moduli=primes[: len(special)],
            levels=()
            if large is None
            else _native.combined_levels(moduli, whole(large, "large", 0)),
            plain_modulus=plain_modulus,
            assurance=assurance,
        )

    @classmethod
    @explained
    def from_bytes(cls, data: bytes, *, assurance: str = "guidelines2024") -> LeveledParams:
        """Reads a set and checks it as its maker did."""
        return cls(_native.LeveledParams.from_bytes(data, assurance))

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
            f"LeveledParams({self.name}: ring_degree={self.ring_degree}, "
            f"{levels} + {specials} primes, depth {self.depth}{integers})"
        )


def _check_plain_modulus(plain_modulus: int, index: int) -> None:
    """Refuses at once what gives an odd ring no slots."""
    if plain_modulus >= 2**24:
        raise ParameterError(
            f"plain_modulus {plain_modulus} is too large for slots of odd rings: up to about 2^22"
        )
    prime = next((p for p in range(2, isqrt(plain_modulus) + 1) if plain_modulus % p == 0), 0)
    prime = prime or plain_modulus
    rest = plain_modulus
    while rest % prime == 0:
        rest //= prime
    if rest != 1:
        raise ParameterError(f"plain_modulus {plain_modulus} is no power of a prime; take one")
    if index % prime == 0:
        raise ParameterError(
            f"plain_modulus {plain_modulus} and ring_index {index} have the divisor {prime}: there "
            "are no slots; take another index"
        )

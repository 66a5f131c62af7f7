"""Parameter sets of the schemes with multiplication."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc import _native
from hesc.inputs import whole, wholes
from hesc.parameter_set import ParameterSet, explained

if TYPE_CHECKING:
    from collections.abc import Sequence


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
        """A named set; `LeveledParams.presets()` lists the names.

        Names that begin with `hestd2018_` meet the 2018 standard only.

        Args:
            name: the set.
            bound: CKKS: what the absolute values of encrypted numbers stay within unless
                `encrypt` is told otherwise. It is public: every ciphertext carries it. Products
                multiply it, and what does not fit the modulus is refused.

        """
        return cls(_native.LeveledParams.preset(name, bound))

    @staticmethod
    def presets() -> list[str]:
        """The names of all sets; `hesc params` prints what they are for."""
        return [preset.name for preset in _native.presets() if preset.is_for_vectors]

    @classmethod
    @explained
    def lattice(
        cls,
        scheme: str,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        *,
        special_moduli: Sequence[int],
        levels: Sequence[Sequence[int]] = (),
        plain_modulus: int | None = None,
        scale: float | None = None,
        bound: float = 1.0,
        assurance: str = "guidelines2024",
    ) -> LeveledParams:
        """A set of one's own primes, each 1 modulo `2 * ring_degree` and below 2^61.

        Args:
            scheme: "bfv", "bgv" or "ckks".
            ring_degree: a power of two, 256 to 32768.
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
        native = _native.LeveledParams(
            scheme=scheme,
            ring_degree=whole(ring_degree, "ring_degree", 0),
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
    def from_bytes(cls, data: bytes, *, assurance: str = "guidelines2024") -> LeveledParams:
        """Reads a set and checks it as its maker did."""
        return cls(_native.LeveledParams.from_bytes(data, assurance))

    @property
    def ring_degree(self) -> int:
        """Coefficients of a polynomial."""
        return self._native.ring_degree

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

        Half of the plaintext modulus to either side of zero; results beyond wrap around.

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
        return (
            f"LeveledParams({self.name}: ring_degree={self.ring_degree}, "
            f"{levels} + {specials} primes, depth {self.depth})"
        )

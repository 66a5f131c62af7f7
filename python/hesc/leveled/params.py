"""Parameter sets of the schemes with multiplication."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hesc import _native
from hesc._native import ParameterError
from hesc.parameter_set import ParameterSet

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMES: Final = ("bfv", "bgv", "ckks")
# A prime of 20 bits has slots at every ring degree here.
_PLAIN_BITS: Final = 20


class _Chain(NamedTuple):
    """Bits of the primes."""

    coeff_bits: tuple[int, ...]
    special_bits: tuple[int, ...]


# By standard and ring degree. All together fill the modulus that 128 bits of security allow: 106,
# 214, 430 and 868 bits in the 2024 guidelines, 109, 218, 438 and 881 in the 2018 standard. Primes
# stay below 2^50, where the kernels are fastest; several special primes make fewer digits and
# smaller keys.
_INTEGERS: Final = {
    "guidelines2024": {
        4096: _Chain((35, 35), (36,)),
        8192: _Chain((42, 43, 43, 43), (43,)),
        16384: _Chain((47, 47, *(48,) * 5), (48, 48)),
        32768: _Chain((*(48,) * 14, 49), (49, 49, 49)),
    },
    "hestd2018": {
        4096: _Chain((36, 36), (37,)),
        8192: _Chain((43, 43, 44, 44), (44,)),
        16384: _Chain((48, 48, 48, *(49,) * 4), (49, 49)),
        32768: _Chain((48, *(49,) * 14), (49, 49, 49)),
    },
}
# CKKS: all primes but the first are the scale, so that products keep it; the first leaves room for
# numbers above 1.
_APPROXIMATE: Final = {
    "guidelines2024": {
        4096: _Chain((38, 29), (38,)),
        8192: _Chain((49, 38, 38, 38), (50,)),
        16384: _Chain((50, *(46,) * 6), (50, 50)),
        32768: _Chain((50, *(47,) * 14), (50, 50, 50)),
    },
    "hestd2018": {
        4096: _Chain((39, 31), (39,)),
        8192: _Chain((50, 39, 39, 39), (50,)),
        16384: _Chain((50, *(48,) * 6), (50, 50)),
        32768: _Chain((50, *(48,) * 14), (50, 50, 50)),
    },
}


class LeveledParams(ParameterSet[_native.LeveledParams]):
    """A checked, immutable parameter set of BFV, BGV or CKKS with multiplication.

    Make one with `recommended`, `preset` or `lattice`. The primes in `coeff_moduli` are what
    ciphertexts live in and lose one by one; those in `special_moduli` belong to the keys.
    """

    @classmethod
    def recommended(
        cls, scheme: str, *, ring_degree: int = 8192, bound: float = 1.0
    ) -> LeveledParams:
        """The set of this ring degree (4096 to 32768) at 128 bits by the 2024 guidelines.

        Depth grows with the degree, and so does time. In CKKS each product takes one of 2, 4, 7
        or 15 primes; BFV manages four products in a row at 8192. `bound` as for `preset`.
        """
        return cls.preset(f"{scheme}_{ring_degree}", bound=bound)

    @classmethod
    def preset(cls, name: str, *, bound: float = 1.0) -> LeveledParams:
        """A named set; `LeveledParams.presets()` lists the names.

        Names that begin with `hestd2018_` meet the 2018 standard only.

        Args:
            name: the set.
            bound: CKKS: what the absolute values of encrypted numbers stay within unless
                `encrypt` is told otherwise. It is public: every ciphertext carries it. Products
                multiply it, and what does not fit the modulus is refused.

        """
        if name not in cls.presets():
            raise ParameterError(
                f"no leveled parameter set {name!r}; choose one of {', '.join(cls.presets())}"
            )
        standard = "hestd2018" if name.startswith("hestd2018_") else "guidelines2024"
        scheme, _, degree = name.removeprefix("hestd2018_").partition("_")
        ring_degree, ckks = int(degree), scheme == "ckks"
        chain = (_APPROXIMATE if ckks else _INTEGERS)[standard][ring_degree]
        # The largest primes are the special ones: digits must not exceed them.
        primes = _native.primes_of_bits(ring_degree, [*chain.special_bits, *chain.coeff_bits])
        split = len(chain.special_bits)
        native = _native.LeveledParams(
            scheme=scheme,
            ring_degree=ring_degree,
            coeff_moduli=primes[split:],
            special_moduli=primes[:split],
            plain_modulus=(None if ckks else _native.primes_of_bits(ring_degree, [_PLAIN_BITS])[0]),
            scale=2.0 ** chain.coeff_bits[-1] if ckks else None,
            bound=bound,
            assurance=standard,
        )
        return cls(native, name)

    @staticmethod
    def presets() -> list[str]:
        """The names of all sets."""
        return [
            f"{prefix}{scheme}_{degree}"
            for prefix, standard in (("", "guidelines2024"), ("hestd2018_", "hestd2018"))
            for scheme in SCHEMES
            for degree in _INTEGERS[standard]
        ]

    @classmethod
    def lattice(
        cls,
        scheme: str,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        *,
        special_moduli: Sequence[int],
        plain_modulus: int | None = None,
        scale: float | None = None,
        bound: float = 1.0,
        assurance: str = "guidelines2024",
    ) -> LeveledParams:
        """A set of one's own primes, each 1 modulo `2 * ring_degree` and below 2^61.

        Args:
            scheme: "bfv", "bgv" or "ckks".
            ring_degree: a power of two, 256 to 32768.
            coeff_moduli: primes of ciphertexts; the last is dropped first.
            special_moduli: primes of keys beyond those; none means no products brought back to
                two parts and no rotations.
            plain_modulus: BFV and BGV; slots need a prime that is 1 modulo `2 * ring_degree`.
            scale: CKKS; what numbers are multiplied with.
            bound: CKKS; see `preset`.
            assurance: "guidelines2024", "hestd2018" or "insecure": what the set must reach.

        """
        native = _native.LeveledParams(
            scheme=scheme,
            ring_degree=ring_degree,
            coeff_moduli=list(coeff_moduli),
            special_moduli=list(special_moduli),
            plain_modulus=plain_modulus,
            scale=scale,
            bound=bound,
            assurance=assurance,
        )
        return cls(native, cls._custom_name(native))

    @staticmethod
    def _custom_name(native: _native.LeveledParams) -> str:
        prefix = {"guidelines2024": "", "hestd2018": "hestd2018_"}
        return f"{prefix.get(native.assurance, 'insecure_')}custom"

    @classmethod
    def from_bytes(cls, data: bytes, *, assurance: str = "guidelines2024") -> LeveledParams:
        """Reads a set and checks it as its maker did."""
        native = _native.LeveledParams.from_bytes(data, assurance)
        # Each preset that is looked at costs its tables: only those of this scheme and degree.
        suffix = f"{native.scheme}_{native.ring_degree}"
        alike = (name for name in cls.presets() if name.removeprefix("hestd2018_") == suffix)
        same = (name for name in alike if cls.preset(name, bound=native.bound).to_bytes() == data)
        return cls(native, next(same, cls._custom_name(native)))

    @property
    def ring_degree(self) -> int:
        """Coefficients of a polynomial."""
        return self._native.ring_degree

    @property
    def special_moduli(self) -> list[int]:
        """Primes of keys beyond those."""
        return self._native.special_moduli

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
    def slot_count(self) -> int:
        """Numbers in a ciphertext."""
        return self._native.slot_count

    def __repr__(self) -> str:
        levels, specials = len(self.coeff_moduli), len(self.special_moduli)
        return (
            f"LeveledParams({self.name}: ring_degree={self.ring_degree}, "
            f"{levels} + {specials} primes)"
        )

"""Parameter sets: named presets and checked sets of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hesc import _native
from hesc._native import ParameterError
from hesc.parameter_set import ParameterSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class _Preset(NamedTuple):
    ring_degree: int
    coeff_moduli: tuple[int, ...]
    packing: str
    plain_modulus: int | None = None
    scale: float | None = None


# Primes that are 1 modulo 2N; sizes by the limits of the 2024 Security Guidelines (log2 q of 26,
# 53 at N = 1024, 2048) unless the name says hestd2018 (27, 54).
_PRESETS: Final = {
    # Parity alone survives: the key owner sees no counts. Smallest noise.
    "bfv_1024": _Preset(1024, (67104769,), "coefficients", plain_modulus=2),
    # Room for fusion: three products as digits of base 3.
    "bfv_1024_fusion": _Preset(1024, (67104769,), "coefficients", plain_modulus=32),
    # Slots: products with masks, hence multiplexed sums.
    "bfv_2048_slots": _Preset(2048, (67043329, 134176769), "slots", plain_modulus=12289),
    "ckks_1024": _Preset(1024, (67104769,), "coefficients", scale=2.0**21),
    # As koseki2022hesc packs: two bits in each complex slot.
    "ckks_1024_slots": _Preset(1024, (67104769,), "complex_slots", scale=2.0**21),
    "ckks_2048": _Preset(2048, (67043329, 134176769), "complex_slots", scale=2.0**24),
    # koseki2022hesc section 4: N = 1024 with 27 bits, N = 2048 with 54 bits, t = 12289.
    "hestd2018_koseki_bfv_1024": _Preset(1024, (134215681,), "slots", plain_modulus=12289),
    "hestd2018_koseki_bfv_2048": _Preset(2048, (18014398509404161,), "slots", plain_modulus=12289),
    "hestd2018_koseki_ckks_1024": _Preset(1024, (134215681,), "complex_slots", scale=2.0**22),
    # The scale leaves room for five digits in base 6.
    "hestd2018_koseki_ckks_2048": _Preset(
        2048, (18014398509404161,), "complex_slots", scale=2.0**38
    ),
    # The same 54 bits as two primes: words of 32 bits are a quarter faster.
    "hestd2018_koseki_bfv_2048_rns": _Preset(
        2048, (134176769, 134111233), "slots", plain_modulus=12289
    ),
    "hestd2018_koseki_ckks_2048_rns": _Preset(
        2048, (134176769, 134111233), "complex_slots", scale=2.0**24
    ),
}

# Lifted ElGamal by its group, and the largest count that decryption looks for: room for three
# products as digits of base 3, or for 64 factors.
_ELGAMAL: Final = {
    "elgamal_ffdhe3072": ("ffdhe3072", 64),
    # Exponents as long as the group's order, as in koseki2022hesc; RFC 7919 allows short ones.
    "elgamal_ffdhe3072_full_exponents": ("ffdhe3072_full_exponents", 64),
    "ec_elgamal_ristretto255": ("ristretto255", 64),
    # The curve of koseki2022hesc.
    "ec_elgamal_secp256r1": ("secp256r1", 64),
}

# Goldwasser-Micali by the bits of its modulus: 3072 give 128 bits of security, 2048 give 112.
_GM: Final = {"gm_3072": 3072, "gm_4096": 4096, "insecure_gm_2048": 2048}

# Multiplicative ElGamal by its group, for unipolar streams.
_UNIPOLAR: Final = {
    "unipolar_elgamal_ffdhe3072": "ffdhe3072",
    "unipolar_elgamal_ristretto255": "ristretto255",
    "unipolar_elgamal_secp256r1": "secp256r1",
}

# BFV with products, for unipolar streams, by ring degree: bits of the primes, which fill the
# modulus that the 2024 guidelines allow.
_UNIPOLAR_BFV: Final = {
    "unipolar_bfv_4096": (4096, (35, 35, 36)),
    "unipolar_bfv_8192": (8192, (42, 43, 43, 43, 43)),
    "unipolar_bfv_16384": (16384, (47, 47, *(48,) * 7)),
}
# The smallest prime with slots at all three.
_SLOTS_MODULUS: Final = 65537


class _BitPreset(NamedTuple):
    ring_degree: int
    lwe_dimension: int
    log2_ring_noise: float
    log2_lwe_noise: float
    # Bits of a digit, and digits.
    bootstrap: tuple[int, int]
    keyswitch: tuple[int, int]
    packing: tuple[int, int]


# Bits that bootstrap. The noise is what the lattice estimator wants for 132 bits with binary
# secrets; the 2024 guidelines are kept as well.
_TFHE: Final = {
    "tfhe_2048": _BitPreset(2048, 860, -48.32, -18.749, (23, 1), (3, 5), (16, 1)),
    # An eighth faster, for circuits that may fail with a probability of 2^-40.
    "tfhe_2048_40": _BitPreset(2048, 790, -48.32, -17.007, (23, 1), (3, 4), (16, 1)),
    # For tests: a hundred times faster, broken in minutes.
    "insecure_tfhe_512": _BitPreset(512, 64, -50.0, -30.0, (23, 1), (3, 5), (16, 1)),
}

_RECOMMENDED: Final = {
    "bfv": "bfv_1024",
    "ckks": "ckks_1024",
    "tfhe": "tfhe_2048",
    "gm": "gm_3072",
    "elgamal": "elgamal_ffdhe3072",
    "ec_elgamal": "ec_elgamal_ristretto255",
    "unipolar_elgamal": "unipolar_elgamal_ristretto255",
    "unipolar_bfv": "unipolar_bfv_8192",
}


def _bit_set(preset: _BitPreset, assurance: str) -> _native.Params:
    """A set of single bits, checked."""
    return _native.Params.tfhe_set(
        dimensions=(preset.ring_degree, preset.lwe_dimension),
        log2_noise=(preset.log2_ring_noise, preset.log2_lwe_noise),
        digits=(preset.bootstrap, preset.keyswitch, preset.packing),
        assurance=assurance,
    )


def _same(native: _native.Params, presets: Iterable[str]) -> str | None:
    """The preset among these with the same bytes."""
    data = native.to_bytes()
    return next((name for name in presets if Params.preset(name).to_bytes() == data), None)


def _name(native: _native.Params) -> str:
    """The preset's name, or one that says how secure a custom set is."""
    if native.scheme in {"plain", "simulated"}:
        return f"insecure_{native.scheme}"
    if native.scheme == "tfhe":
        weak = "" if native.assurance == "guidelines2024" else "insecure_"
        data = native.to_bytes()
        sets = {_bit_set(preset, "insecure").to_bytes(): name for name, preset in _TFHE.items()}
        return sets.get(data, f"{weak}tfhe_custom")
    if native.ring_degree is None:
        same = _same(native, (*_GM, *_ELGAMAL, *_UNIPOLAR))
        return same or f"{native.scheme}_custom"
    custom = {"guidelines2024": "custom", "hestd2018": "hestd2018_custom"}
    fallback = custom.get(native.assurance, "insecure_custom")
    if native.scheme == "unipolar_bfv":
        # Each preset that is looked at costs its tables.
        alike = [n for n, (degree, _) in _UNIPOLAR_BFV.items() if degree == native.ring_degree]
        return _same(native, alike) or fallback
    found = _Preset(
        native.ring_degree,
        tuple(native.coeff_moduli),
        native.packing,
        native.plain_modulus,
        native.scale,
    )
    return next((name for name, preset in _PRESETS.items() if preset == found), fallback)


class Params(ParameterSet[_native.Params]):
    """A checked, immutable parameter set.

    Make one with `recommended`, `preset` or `lattice`. Two sets are equal if their fingerprints
    are; keys and ciphertexts carry it and refuse to mix.
    """

    @classmethod
    def recommended(cls, scheme: str) -> Params:
        """The set to start with for a scheme, at 128 bits.

        "bfv", "ckks", "gm", "elgamal", "ec_elgamal"; for unipolar streams "unipolar_elgamal" and
        "unipolar_bfv"; "tfhe" if gate circuits are to follow. The lattice sets keep the 2024
        guidelines; the others fall to a quantum computer.
        """
        if scheme not in _RECOMMENDED:
            raise ParameterError(
                f"no recommendation for scheme {scheme!r}; choose one of {', '.join(_RECOMMENDED)}"
            )
        return cls.preset(_RECOMMENDED[scheme])

    @classmethod
    def preset(cls, name: str) -> Params:
        """A named set; `Params.presets()` lists the names.

        Names that begin with `hestd2018_` meet the 2018 standard only, names that begin with
        `insecure_` no standard for 128 bits.
        """
        if name in _ELGAMAL:
            group, max_count = _ELGAMAL[name]
            return cls(_native.Params.elgamal(group=group, max_count=max_count), name)
        if name in _UNIPOLAR:
            return cls(_native.Params.elgamal(group=_UNIPOLAR[name], max_count=None), name)
        if name in _UNIPOLAR_BFV:
            ring_degree, bits = _UNIPOLAR_BFV[name]
            primes = _native.primes_of_bits(ring_degree, list(bits))
            return cls._unipolar_bfv(ring_degree, primes, _SLOTS_MODULUS, "guidelines2024", name)
        if name in _TFHE:
            assurance = "insecure" if name.startswith("insecure_") else "guidelines2024"
            return cls(_bit_set(_TFHE[name], assurance), name)
        if name in _GM:
            assurance = "insecure" if name.startswith("insecure_") else "classical128"
            return cls(_native.Params.gm(modulus_bits=_GM[name], assurance=assurance), name)
        if name not in _PRESETS:
            raise ParameterError(f"no preset {name!r}; choose one of {', '.join(cls.presets())}")
        assurance = "hestd2018" if name.startswith("hestd2018_") else "guidelines2024"
        return cls._checked(_PRESETS[name], assurance)

    @staticmethod
    def presets() -> list[str]:
        """Names of all presets."""
        return [*_PRESETS, *_TFHE, *_GM, *_ELGAMAL, *_UNIPOLAR, *_UNIPOLAR_BFV]

    @classmethod
    def lattice(
        cls,
        *,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        packing: str,
        plain_modulus: int | None = None,
        scale: float | None = None,
        assurance: str = "guidelines2024",
    ) -> Params:
        """A set of one's own: BFV with `plain_modulus`, CKKS with `scale`.

        `packing` is "coefficients", "slots" or (CKKS) "complex_slots". Refused with
        `SecurityError` below `assurance`: "guidelines2024", "hestd2018" or "insecure", which the
        set's name then begins with.
        """
        preset = _Preset(ring_degree, tuple(coeff_moduli), packing, plain_modulus, scale)
        return cls._checked(preset, assurance)

    @classmethod
    def elgamal(cls, group: str, *, max_count: int = 64) -> Params:
        """Lifted ElGamal over a group, for counts up to `max_count` (1 to 4096).

        `group` is "ristretto255", "secp256r1", "ffdhe3072" or "ffdhe3072_full_exponents". A
        ciphertext for each bit: slow, and safe for as long as quantum computers are small.
        """
        native = _native.Params.elgamal(group=group, max_count=max_count)
        return cls(native, _name(native))

    @classmethod
    def unipolar_bfv(
        cls,
        *,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        plain_modulus: int,
        assurance: str = "guidelines2024",
    ) -> Params:
        """BFV whose products are conjunctions of bits, one in each slot: for unipolar streams.

        Nobody needs a key to multiply, since products are not relinearised: a product of `k`
        factors has `k + 1` parts. Its depth is what `coeff_moduli` leave room for: three factors at
        4096, seven at 8192, fourteen at 16384. Exact, and far slower than adding
        inverted-bipolar streams; `hesc.leveled` is the better choice for numbers.

        Args:
            ring_degree: bits in a block, a power of two.
            coeff_moduli: primes, each 1 modulo `2 * ring_degree`.
            plain_modulus: a prime that is 1 modulo `2 * ring_degree`; the smallest is best.
            assurance: "guidelines2024", "hestd2018" or "insecure": what the set must reach.

        """
        return cls._unipolar_bfv(ring_degree, coeff_moduli, plain_modulus, assurance)

    @classmethod
    def _unipolar_bfv(
        cls,
        ring_degree: int,
        coeff_moduli: Sequence[int],
        plain_modulus: int,
        assurance: str,
        name: str | None = None,
    ) -> Params:
        native = _native.Params.unipolar_bfv(
            ring_degree=ring_degree,
            coeff_moduli=list(coeff_moduli),
            plain_modulus=plain_modulus,
            assurance=assurance,
        )
        return cls(native, name or _name(native))

    @classmethod
    def tfhe(
        cls,
        *,
        ring_degree: int,
        lwe_dimension: int,
        log2_ring_noise: float,
        log2_lwe_noise: float,
        bootstrap: tuple[int, int],
        keyswitch: tuple[int, int],
        packing: tuple[int, int],
        assurance: str = "guidelines2024",
    ) -> Params:
        """Single bits that bootstrap, for `hesc.gates`: secrets are binary, the modulus is 2^64.

        `hesc.gates.Precision.of` tells what noise a set's bits and bootstraps have.

        Args:
            ring_degree: coefficients of a ring element, a power of two; more leave lookups more
                room and cost as much more time.
            lwe_dimension: dimension of bits while they are looked up; time is proportional to it.
            log2_ring_noise: `log2` of the deviation of noise in ring elements, torus units.
            log2_lwe_noise: the same at the small dimension.
            bootstrap: bits of a digit and number of digits of the bootstrapping key.
            keyswitch: the same of the key that switches to the small dimension.
            packing: the same of the key that packs bits into ring elements.
            assurance: "guidelines2024" or "insecure": what the set must reach.

        """
        preset = _BitPreset(
            ring_degree,
            lwe_dimension,
            log2_ring_noise,
            log2_lwe_noise,
            bootstrap,
            keyswitch,
            packing,
        )
        native = _bit_set(preset, assurance)
        return cls(native, _name(native))

    @classmethod
    def insecure_plain(cls, *, block_length: int = 1024, plain_modulus: int = 2) -> Params:
        """The scheme that encrypts nothing: for simulation and tests."""
        native = _native.Params.plain(block_length, plain_modulus)
        return cls(native, _name(native))

    def simulated(self) -> Params:
        """A set of the same layout that encrypts nothing and keeps bits only: fast.

        `hesc.keygen(params, mode="simulate")` is the comfortable way.
        """
        native = self._native.simulated()
        return Params(native, _name(native))

    @classmethod
    def _checked(cls, preset: _Preset, assurance: str) -> Params:
        native = _native.Params.lattice(
            ring_degree=preset.ring_degree,
            coeff_moduli=list(preset.coeff_moduli),
            packing=preset.packing,
            plain_modulus=preset.plain_modulus,
            scale=preset.scale,
            assurance=assurance,
        )
        return cls(native, _name(native))

    @classmethod
    def from_bytes(cls, data: bytes, *, assurance: str = "guidelines2024") -> Params:
        """Reads a serialised set; strict.

        Sets below `assurance` ("guidelines2024", "hestd2018", "insecure") are refused, so that
        a peer cannot talk anyone into weak parameters.
        """
        native = _native.Params.from_bytes(data, assurance=assurance)
        return cls(native, _name(native))

    @property
    def ring_degree(self) -> int | None:
        """Coefficients of a polynomial, `N`; None without a ring."""
        return self._native.ring_degree

    @property
    def packing(self) -> str:
        """Where the bits of a block sit in the plaintext polynomial."""
        return self._native.packing

    @property
    def block_length(self) -> int:
        """Bits in one block: a ciphertext of the lattice schemes, 64 of the others."""
        return self._native.block_length

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits that tell sets apart."""
        return self._native.fingerprint

    def __repr__(self) -> str:
        ring = ""
        if self.ring_degree is not None:
            modulus = " * ".join(map(str, self.coeff_moduli))
            ring = f"ring_degree={self.ring_degree}, q={modulus}, packing={self.packing}, "
        return f"<hesc.Params {self.name}: {self.scheme}, {ring}{self.assurance}>"

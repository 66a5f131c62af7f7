"""Parameter sets of streams: named presets and checked sets of one's own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind, whole, wholes
from hesc.params.parameter_set import ParameterSet, explained
from hesc.params.presets import Presets, table_of
from hesc.params.vectors import LeveledParams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_RECOMMENDED: Final = {
    "bfv": "bfv_1024",
    "ckks": "ckks_1024",
    "tfhe": "tfhe_2048",
    "gm": "gm_3072",
    "pad": "pad_1024",
    "elgamal": "elgamal_ffdhe3072",
    "ec_elgamal": "ec_elgamal_ristretto255",
    "unipolar_elgamal": "unipolar_elgamal_ristretto255",
    "unipolar_bfv": "unipolar_bfv_8192",
    "unipolar_bgv": "unipolar_bgv_8192",
}


def checked_params(params: object) -> Params:
    """Parameters that bytes are read with.

    Raises:
        ParameterError: anything else.

    """
    return of_kind(params, "params", Params, "hesc.Params.preset makes a set")


class Params(ParameterSet[_native.Params]):
    """A checked, immutable parameter set.

    Make one with `recommended`, `preset` or `lattice`. Two sets are equal if their fingerprints
    are; keys and ciphertexts carry it and refuse to mix.
    """

    @classmethod
    @explained
    def recommended(cls, scheme: str) -> Params:
        """The set to start with for a scheme, at 128 bits.

        "bfv", "ckks", "gm", "elgamal", "ec_elgamal"; for unipolar streams "unipolar_elgamal",
        "unipolar_bgv" and "unipolar_bfv"; "tfhe" if gate circuits are to follow; "pad" where the
        key owner encrypts everything. The lattice sets keep the 2024 guidelines; but for pads the
        others fall to a quantum computer.
        """
        if scheme not in _RECOMMENDED:
            raise ParameterError(
                f"no recommendation for scheme {scheme!r}; choose one of {', '.join(_RECOMMENDED)}"
            )
        return cls.preset(_RECOMMENDED[scheme])

    @classmethod
    @explained
    def preset(cls, name: str) -> Params:
        """A named set; `Params.presets()` is a table of them.

        Names that begin with `hestd2018_` meet the 2018 standard only, names that begin with
        `insecure_` no standard for 128 bits.
        """
        return cls(_native.Params.preset(name))

    @classmethod
    def presets(cls) -> Presets:
        """All named sets of bits: a table that prints itself, see `hesc.params.presets.Presets`.

        "bits" are those of a block, which is a ciphertext of the lattice schemes and 64 of the
        others, "bytes" its size. `hesc params` prints it as well.
        """

        def read(name: str) -> tuple[str, int | None, str, None]:
            params = cls.preset(name)
            return params.scheme, params.ring_degree, params.assurance, None

        return table_of("bits", for_vectors=False, read=read)

    @classmethod
    @explained
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
        native = _native.Params.lattice(
            ring_degree=whole(ring_degree, "ring_degree", 0),
            coeff_moduli=wholes(coeff_moduli, "coeff_moduli"),
            packing=packing,
            plain_modulus=None
            if plain_modulus is None
            else whole(plain_modulus, "plain_modulus", 0),
            scale=scale,
            assurance=assurance,
        )
        return cls(native)

    @classmethod
    @explained
    def elgamal(cls, group: str, *, max_count: int = 64) -> Params:
        """Lifted ElGamal over a group, for counts up to `max_count` (1 to 4096).

        `group` is "ristretto255", "secp256r1", "ffdhe3072" or "ffdhe3072_full_exponents". A
        ciphertext for each bit: slow, and safe for as long as quantum computers are small.
        """
        return cls(_native.Params.elgamal(group=group, max_count=whole(max_count, "max_count", 0)))

    @classmethod
    @explained
    def unipolar_slots(cls, vectors: LeveledParams) -> Params:
        """A set of vectors for unipolar streams: a bit in each slot, products are conjunctions.

        Nobody needs a key to multiply, since products are not relinearised: a product of `k`
        factors has `k + 1` parts, fifteen factors at most. Exact, and far slower than adding
        inverted-bipolar streams; `hesc.vectors` is the better choice for numbers.

        >>> vectors = LeveledParams.cyclotomic(13107, [50, 50, 50, 34, 30], [], large=3)
        >>> Params.unipolar_slots(vectors).block_length
        512

        Args:
            vectors: BFV or BGV without special primes, with a multiple of 64 slots. BGV is several
                times as fast. Slots modulo 65537 are as many as coefficients; slots modulo 2, in
                the ring of an odd index, are a sixteenth of them and take more factors.

        """
        if not isinstance(vectors, LeveledParams):
            raise ParameterError(
                f"unipolar streams lie in the slots of a LeveledParams, not of a "
                f"{type(vectors).__name__}"
            )
        return cls(_native.Params.unipolar_slots(vectors.native))

    @classmethod
    @explained
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
        native = _native.Params.tfhe_set(
            dimensions=(
                whole(ring_degree, "ring_degree", 0),
                whole(lwe_dimension, "lwe_dimension", 0),
            ),
            log2_noise=(log2_ring_noise, log2_lwe_noise),
            digits=(bootstrap, keyswitch, packing),
            assurance=assurance,
        )
        return cls(native)

    @classmethod
    @explained
    def pad(cls, *, block_length: int = 1024) -> Params:
        """One-time pads from AES-256: a bit for each bit, where the key owner encrypts everything.

        No homomorphic encryption: whoever encrypts can decrypt, so that
        `hesc.SecretEncryptor` does, and another party multiplies and adds what it cannot read.
        There is no public key, no noise, and a product has up to 255 factors.

        >>> params = Params.pad(block_length=256)
        >>> params.scheme, params.assurance
        ('pad', 'symmetric128')

        Args:
            block_length: bits that lie under one pad, a multiple of 64 up to 2^20. A result names
                the pads of each block, 8 bytes a factor.

        """
        return cls(_native.Params.pad(whole(block_length, "block_length", 0)))

    @classmethod
    @explained
    def insecure_plain(cls, *, block_length: int = 1024, plain_modulus: int = 2) -> Params:
        """The scheme that encrypts nothing: for simulation and tests."""
        length = whole(block_length, "block_length", 0)
        return cls(_native.Params.plain(length, whole(plain_modulus, "plain_modulus", 0)))

    def simulated(self) -> Params:
        """A set of the same layout that encrypts nothing and keeps bits only: fast.

        `hesc.keygen(params, mode="simulate")` is the comfortable way.
        """
        return Params(self._native.simulated())

    @classmethod
    @explained
    def from_bytes(cls, data: bytes, *, assurance: str = "guidelines2024") -> Params:
        """Reads a serialised set; strict.

        Sets below `assurance` ("guidelines2024", "hestd2018", "insecure") are refused, so that
        a peer cannot talk anyone into weak parameters.
        """
        return cls(_native.Params.from_bytes(data, assurance=assurance))

    def key_readers(self) -> dict[str, Callable[[bytes], Any]]:
        """What reads the parts of public keys."""
        native = self._native
        readers: dict[str, Callable[[bytes], Any]] = {"public": native.read_public_key}
        if self.scheme == "tfhe":
            readers["bootstrapping"] = partial(_native.EvaluationKey.from_bytes, native)
        return readers

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
    def block_bytes(self) -> int:
        """Bytes of memory that a block takes at least, whoever has encrypted it."""
        if self.ring_degree is None:
            return self.block_length // 8
        return 2 * self.ring_degree * max(1, len(self.coeff_moduli)) * 4

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

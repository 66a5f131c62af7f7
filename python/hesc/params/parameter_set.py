"""Parameter sets of all schemes: how they are made, and what they have in common."""

from __future__ import annotations

from functools import lru_cache, wraps
from math import isqrt
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from hesc import _native
from hesc._native import HescError, ParameterError, WireError
from hesc._support.inputs import one_name, whole, wholes
from hesc.params.presets import Presets, table_of

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


_VECTORS: Final = ("bfv", "bgv", "ckks")
ENCODINGS: Final = ("streams", "vectors")
"""What sets encrypt in the first place."""
_KINDS: Final[dict[str, Any]] = {}
"""The classes of sets, by what they encrypt."""

P = ParamSpec("P")
R = TypeVar("R")


def explained(make: Callable[P, R]) -> Callable[P, R]:
    """Arguments of a type or size that nothing takes get an error of ours, which names the call."""

    @wraps(make)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return make(*args, **kwargs)
        except HescError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(
                f"{make.__qualname__}: {error}; its help says what it takes"
            ) from None

    return call


class Params:
    """A checked, immutable parameter set, for vectors, streams or both kinds of what they encode.

    Make one with `recommended`, `preset` or `lattice`. `encodings` says what a set serves, and
    what it has no use for is refused by name. Two sets are equal if their wire forms are; keys and
    ciphertexts carry their set and refuse to mix.
    """

    encodings: tuple[str, ...]
    """What the set encrypts: "vectors" (in odd rings "slots" too), or "streams" ("bits" too)."""

    def __init_subclass__(cls, *, kind: str, **options: Any) -> None:
        super().__init_subclass__(**options)
        _KINDS[kind] = cls

    @classmethod
    @explained
    def recommended(
        cls,
        scheme: str,
        *,
        encoding: str | None = None,
        ring_degree: int = 8192,
        bound: float = 1.0,
    ) -> Any:
        """The set to start with for a scheme, at 128 bits by the 2024 guidelines.

        Vectors are "bfv", "bgv" and "ckks". Streams are "bfv" and "ckks", where ciphertexts are
        small, "gm", "elgamal" and "ec_elgamal"; for unipolar streams "unipolar_elgamal",
        "unipolar_bgv" and "unipolar_bfv"; "tfhe" if gate circuits are to follow; "pad" where the
        key owner encrypts everything. What is over no lattice, but for pads, falls to a quantum
        computer.

        Args:
            scheme: one of those.
            encoding: "vectors" or "streams", for the two schemes that have sets for both.
            ring_degree: vectors: 4096 to 32768. Depth grows with it, and so does time: `depth` says
                how many products in a row fit.
            bound: vectors of CKKS: as for `preset`.

        Raises:
            ParameterError: a scheme without a recommendation, or with two.

        """
        wanted = None if encoding is None else one_name(encoding, "encoding", ENCODINGS)
        if scheme in _VECTORS and scheme in _RECOMMENDED and wanted is None:
            raise ParameterError(
                f"there are sets of {scheme!r} for vectors of numbers and for streams of bits: say "
                'encoding="vectors" or encoding="streams"'
            )
        if scheme in _VECTORS and wanted != "streams":
            return Params.preset(f"{scheme}_{ring_degree}", bound=bound)
        if scheme not in _RECOMMENDED or wanted == "vectors":
            known = ", ".join(dict.fromkeys([*_VECTORS, *_RECOMMENDED]))
            raise ParameterError(f"no recommendation for scheme {scheme!r}; choose one of {known}")
        return Params.preset(_RECOMMENDED[scheme])

    @classmethod
    @explained
    def preset(cls, name: str, *, bound: float = 1.0) -> Any:
        """A named set; `Params.presets()` is a table of them.

        Names that begin with `hestd2018_` meet the 2018 standard only, names that begin with
        `insecure_` no standard for 128 bits.

        Args:
            name: the set.
            bound: vectors of CKKS: what the absolute values of encrypted numbers stay within unless
                `encrypt` is told otherwise. It is public: every ciphertext carries it. Products
                multiply it, and what does not fit the modulus is refused.

        """
        if any(found.name == name and found.is_for_vectors for found in _native.presets()):
            return _made("vectors", _native.VectorParams.of_preset(name, bound))
        return _made("streams", _native.StreamParams.of_preset(name))

    @classmethod
    def presets(cls, encoding: str | None = None) -> Presets:
        """All named sets: a table that prints itself, see `hesc.params.presets.Presets`.

        Slots are the bits of a block, which is a ciphertext of the lattice schemes and 64 of the
        others, or the numbers of a vector; "bytes" is the size of either. `hesc params` prints it
        as well. Cost: half a second, for the depths of sets for vectors.

        Args:
            encoding: "streams" or "vectors" for those alone.

        """
        wanted = None if encoding is None else one_name(encoding, "encoding", ENCODINGS)

        def read(name: str) -> tuple[str, int | None, str, int | None]:
            params = Params.preset(name)
            depth = params.depth if "vectors" in params.encodings else None
            return params.scheme, params.ring_degree, params.assurance, depth

        contents = {None: "slots", "streams": "bits", "vectors": "numbers"}[wanted]
        return table_of(contents, encoding=wanted, read=read)

    @classmethod
    @explained
    def lattice(
        cls,
        scheme: str,
        ring_degree: int | None,
        coeff_moduli: Sequence[int],
        *,
        packing: str | None = None,
        special_moduli: Sequence[int] = (),
        ring_index: int | None = None,
        levels: Sequence[Sequence[int]] = (),
        plain_modulus: int | None = None,
        scale: float | None = None,
        bound: float = 1.0,
        assurance: str = "guidelines2024",
    ) -> Any:
        """A set of one's own primes: for vectors, or, with `packing`, for streams.

        Args:
            scheme: "bfv", "bgv" or "ckks"; for streams "bfv" or "ckks".
            ring_degree: a power of two, 256 to 32768; None for an odd ring.
            coeff_moduli: primes of ciphertexts, each 1 modulo `2 * ring_degree`, below 2^61; the
                last is dropped first, unless there are levels.
            packing: streams: where the bits of a block sit, "coefficients", "slots" or (CKKS)
                "complex_slots".
            special_moduli: primes of keys beyond those; none means no products brought back to
                two components and no rotations.
            ring_index: an odd index without square factors; primes are then 1 modulo a multiple of
                it, see `cyclotomic`, which finds them.
            levels: BFV and BGV; for each level the places of its primes in `coeff_moduli`, from the
                smallest product to all primes. Without any, level `l` has the first `l` primes.
            plain_modulus: BFV and BGV; slots need a prime that is 1 modulo `2 * ring_degree`.
            scale: CKKS; what numbers are multiplied with.
            bound: vectors of CKKS; see `preset`.
            assurance: "guidelines2024", "hestd2018" or "insecure": what the set must reach; the
                name of a set below begins with it.

        Raises:
            SecurityError: a set below `assurance`.
            ParameterError: numbers that make no set.

        """
        modulus = None if plain_modulus is None else whole(plain_modulus, "plain_modulus", 0)
        if packing is not None:
            if scheme != ("bfv" if scale is None else "ckks") or special_moduli or levels:
                raise ParameterError(
                    "streams lie in BFV with plain_modulus, or in CKKS with scale, at one level "
                    "and without special primes: leave out packing for a set for vectors"
                )
            return _made(
                "streams",
                _native.StreamParams.of_lattice(
                    ring_degree=whole(ring_degree, "ring_degree", 0),
                    coeff_moduli=wholes(coeff_moduli, "coeff_moduli"),
                    packing=packing,
                    plain_modulus=modulus,
                    scale=scale,
                    assurance=assurance,
                ),
            )
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
        return _made(
            "vectors",
            _native.VectorParams.of_primes(
                scheme=scheme,
                ring_index=whole(ring_index, "ring_index", 0, 2**32 - 1),
                coeff_moduli=wholes(coeff_moduli, "coeff_moduli"),
                levels=[wholes(places, "places in levels") for places in levels],
                special_moduli=wholes(special_moduli, "special_moduli"),
                plain_modulus=modulus,
                scale=scale,
                bound=bound,
                assurance=assurance,
            ),
        )

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
    ) -> Any:
        """A set in the ring of an odd index, with the largest primes of these sizes.

        >>> Params.cyclotomic(8191, [44, 44, 44, 33], [46], large=3).depth
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
        return Params.lattice(
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
    def elgamal(cls, group: str, *, max_count: int = 64) -> Any:
        """Lifted ElGamal over a group, for counts up to `max_count` (1 to 4096).

        `group` is "ristretto255", "secp256r1", "ffdhe3072" or "ffdhe3072_full_exponents". A
        ciphertext for each bit: slow, and safe for as long as quantum computers are small.
        """
        return _made(
            "streams",
            _native.StreamParams.of_group(group=group, max_count=whole(max_count, "max_count", 0)),
        )

    @classmethod
    @explained
    def unipolar_slots(cls, vectors: Params) -> Any:
        """A set of vectors for unipolar streams: a bit in each slot, products are conjunctions.

        Nobody needs a key to multiply, since products are not relinearised: a product of `k`
        factors has `k + 1` parts, fifteen factors at most. Exact, and far slower than adding
        inverted-bipolar streams; `PublicKeys.encrypt` is the better choice for numbers.

        >>> vectors = Params.cyclotomic(13107, [50, 50, 50, 34, 30], [], large=3)
        >>> Params.unipolar_slots(vectors).block_length
        512

        Args:
            vectors: BFV or BGV without special primes, with a multiple of 64 slots. BGV is several
                times as fast. Slots modulo 65537 are as many as coefficients; slots modulo 2, in
                the ring of an odd index, are a sixteenth of them and take more factors.

        """
        if not isinstance(vectors, _native.VectorParams):
            raise ParameterError(
                f"unipolar streams lie in the slots of a set for vectors, not of a "
                f"{type(vectors).__name__}"
            )
        return _made("streams", _native.StreamParams.of_slots(vectors))

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
    ) -> Any:
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
        native = _native.StreamParams.of_bits(
            dimensions=(
                whole(ring_degree, "ring_degree", 0),
                whole(lwe_dimension, "lwe_dimension", 0),
            ),
            log2_noise=(log2_ring_noise, log2_lwe_noise),
            digits=(bootstrap, keyswitch, packing),
            assurance=assurance,
        )
        return _made("streams", native)

    @classmethod
    @explained
    def pad(cls, *, block_length: int = 1024) -> Any:
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
        return _made(
            "streams", _native.StreamParams.of_pads(whole(block_length, "block_length", 0))
        )

    @classmethod
    @explained
    def insecure_plain(cls, *, block_length: int = 1024, plain_modulus: int = 2) -> Any:
        """The scheme that encrypts nothing: for simulation and tests."""
        length = whole(block_length, "block_length", 0)
        return _made(
            "streams",
            _native.StreamParams.of_plain(length, whole(plain_modulus, "plain_modulus", 0)),
        )

    @classmethod
    @explained
    def from_bytes(cls, data: bytes, *, assurance: str = "guidelines2024") -> Any:
        """Reads a serialised set of any kind, and checks it as its maker did; strict.

        Sets below `assurance` ("guidelines2024", "hestd2018", "insecure") are refused, so that
        a peer cannot talk anyone into weak parameters.
        """
        try:
            return _made("vectors", _native.VectorParams.read(data, assurance))
        except (ParameterError, WireError) as of_vectors:
            try:
                return _made("streams", _native.StreamParams.read(data, assurance))
            except ParameterError as of_streams:
                # Sets of both kinds begin alike: only those for streams say where bits sit.
                if "packing = none" in str(of_streams):
                    raise of_vectors from None
                raise

    if not TYPE_CHECKING:  # Type checkers know what each kind has.

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(
                f"{self.name} is a set for {' and '.join(self.encodings)}, which has no {name}"
            )

    def to_bytes(self) -> bytes:
        """The wire form: a few hundred bytes at most."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The preset's name, or one that says how secure a set of one's own is."""
        raise NotImplementedError

    @property
    def scheme(self) -> str:
        """The scheme's name."""
        raise NotImplementedError

    @property
    def coeff_moduli(self) -> list[int]:
        """Primes whose product is the modulus of ciphertexts, `q`."""
        raise NotImplementedError

    @property
    def plain_modulus(self) -> int | None:
        """The plaintext modulus, `t`; None for approximate numbers and without a ring."""
        raise NotImplementedError

    @property
    def scale(self) -> float | None:
        """What CKKS multiplies numbers with."""
        raise NotImplementedError

    @property
    def assurance(self) -> str:
        """`"guidelines2024"`, `"hestd2018"`, `"classical128"`, `"symmetric128"` or `"insecure"`.

        `"classical128"` is 128 bits as NIST SP 800-57 counts moduli of 3072 bits and curves of 256;
        RFC 7919 gives the group ffdhe3072 125.
        """
        raise NotImplementedError

    def key_readers(self) -> dict[str, Callable[[bytes], Any]]:
        """The parts of `hesc.PublicKeys` that this set has, and what reads each of them."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_bytes(), self.assurance)


# A set has tables, and comes with each of its arrays.
@lru_cache(maxsize=8)
def _restored(data: bytes, assurance: str) -> Any:
    """The set of a pickle. Who reads pickles trusts them: it has the assurance that it had."""
    lower = assurance if assurance in ("hestd2018", "insecure") else "guidelines2024"
    return Params.from_bytes(data, assurance=lower)


def _made(kind: str, native: Any) -> Any:
    """The set of a compiled one."""
    return _KINDS[kind](native)


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

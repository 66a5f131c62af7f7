"""`koseki2022hesc` table 2: microseconds for each bit of a stream, on every scheme."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from hesc._native import HescError, Selector
from hesc._support.stages import medians
from hesc.params import Params
from hesc.secret import keygen
from hesc.streams.encoding import Encoder
from hesc.streams.encryptor import encrypt_streams
from hesc_papers.report import Report, alternating

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.params import StreamParams

IDENTIFIER: Final = "koseki2022hesc:table-2"
TITLE: Final = "Time for each bit of a stochastic number, all schemes"

STAGES: Final = ("Packing", "Encryption", "Add", "Mult", "Decryption", "Unpacking")
CONCATENATED: Final = "Concatenation"
PAPER: Final = {
    "GM": (None, 29.2, 0.703, 5.73, 41.4, None),
    "ElGamal": (None, 1.40e4, 1.40, 11.9, 1.42e4, None),
    "ECElGamal": (None, 1.90e3, 0.790, 12.1, 1.94e3, None),
    "BFV": (0.0163, 0.150, 5.79e-4, 2.76e-3, 0.0653, 0.0170),
    "CKKS": (0.0592, 0.130, 5.70e-4, 2.46e-3, 6.76e-3, 0.0569),
}


class _Ours(NamedTuple):
    """A set, how many bits are measured at a time, and the peer to hold it against."""

    preset: str
    elements: int
    stream_length: int
    peer: str
    bit_a_slot: bool = False
    """One bit in each slot, where the set has two in complex ones, which no mask can part."""

    def params(self) -> StreamParams:
        """The set."""
        params: StreamParams = Params.preset(self.preset)
        if not self.bit_a_slot:
            return params
        found: StreamParams = Params.lattice(
            "ckks",
            ring_degree=params.ring_degree or 0,
            coeff_moduli=params.coeff_moduli,
            packing="slots",
            scale=params.scale,
            assurance=params.assurance,
        )
        return found


SHORT_EXPONENTS: Final = "ElGamal, exponents of 280 bits"
# Eight ciphertexts at a time of the lattice schemes, as the peer; of the others one stream, so
# that a run takes milliseconds.
OURS: Final = {
    "gm": _Ours("gm_3072", 1, 2048, "GM"),
    "elgamal": _Ours("elgamal_ffdhe3072", 1, 128, SHORT_EXPONENTS),
    "elgamal_full_exponents": _Ours("elgamal_ffdhe3072_full_exponents", 1, 64, "ElGamal"),
    "ec_elgamal_ristretto255": _Ours("ec_elgamal_ristretto255", 1, 512, "ECElGamal"),
    "ec_elgamal_secp256r1": _Ours("ec_elgamal_secp256r1", 1, 512, "ECElGamal"),
    "bfv_paper": _Ours("hestd2018_koseki_bfv_2048_rns", 8, 2048, "BFV"),
    "ckks_paper": _Ours("hestd2018_koseki_ckks_2048_rns", 8, 2048, "CKKS"),
    "ckks_paper_bit_a_slot": _Ours(
        "hestd2018_koseki_ckks_2048_rns", 8, 1024, "CKKS, a bit a slot", bit_a_slot=True
    ),
    "bfv": _Ours("bfv_1024", 8, 1024, "BFV, N=1024"),
    "ckks": _Ours("ckks_1024", 8, 1024, "CKKS, N=1024"),
}
PEER_BITS: Final = {"GM": 256, "ElGamal": 4, SHORT_EXPONENTS: 16, "ECElGamal": 16}


class _SealSet(NamedTuple):
    """Parameters of SEAL and how bits are packed."""

    scheme: str
    ring_degree: int
    modulus: int
    plain_modulus: int | None = None
    scale: float | None = None
    packing: str = "slots"
    bits_a_slot: int = 1

    @property
    def masks(self) -> bool:
        """Whether a product with a plaintext lets single bits pass."""
        return self.packing == "slots" and self.bits_a_slot == 1


# SEAL keeps a last prime for itself: its 54 bits are one prime, ours two. Those of N = 1024 pack as
# hesc's do where SEAL can.
SEAL_SETS: Final = {
    "BFV": _SealSet("bfv", 2048, 18014398509404161, plain_modulus=12289),
    "CKKS": _SealSet("ckks", 2048, 18014398509404161, scale=2.0**38, bits_a_slot=2),
    "CKKS, a bit a slot": _SealSet("ckks", 2048, 18014398509404161, scale=2.0**24),
    "BFV, N=1024": _SealSet("bfv", 1024, 134215681, plain_modulus=2, packing="coefficients"),
    "CKKS, N=1024": _SealSet("ckks", 1024, 134215681, scale=2.0**22, bits_a_slot=2),
}
MASK_SCALE: Final = 2.0**20


class _Candidate(Protocol):
    """Operations on a batch of bits, each timed on its own."""

    def run(self, number: int) -> Mapping[str, float]:
        """Microseconds a bit of each operation."""


def _timed(operations: Mapping[str, Callable[[], Any]], bits: int) -> dict[str, float]:
    """Microseconds a bit of each operation."""
    result = {}
    for name, operation in operations.items():
        started = time.perf_counter()
        operation()
        result[name] = (time.perf_counter() - started) * 1e6 / bits
    return result


class _Hesc:
    """The operations of hesc. Packing is part of encryption, and unpacking of decryption."""

    def __init__(self, ours: _Ours) -> None:
        params = ours.params()
        self.bits = ours.elements * ours.stream_length
        self._secret, self._public = keygen(params)
        values = np.linspace(-1, 1, ours.elements)
        self._encoded = [
            Encoder(ours.stream_length, first_dimension=d).encode(values) for d in (0, 1)
        ]
        self._x, self._y = (self._encrypt(encoded) for encoded in self._encoded)
        self._answer = self._x.answer(compact=False)
        self._each = np.arange(ours.elements)
        self._selector = Selector(1)
        self._slots = params.packing == "slots"

    def _encrypt(self, encoded: Any) -> Any:
        return encrypt_streams(self._public, [encoded], "one_per_block")[0]

    def run(self, number: int) -> Mapping[str, float]:
        """Microseconds a bit."""
        x, y = self._x.native, self._y.native
        operations: dict[str, Callable[[], Any]] = {
            "Encryption": lambda: self._encrypt(self._encoded[number % 2]),
            CONCATENATED: lambda: x.append(y),
            "Mult": lambda: x.multiply(y, self._each, self._each),
            "Decryption": lambda: self._secret.counts(self._answer),
        }
        if self._slots:
            # Interleaved, so that neighbours are summed.
            order = np.stack([self._each, self._each + len(self._each)], axis=1).reshape(-1)
            pairs = x.append(y).select(order)
            weights = np.array([0.5, 0.5])
            operations["Add"] = lambda: pairs.multiplexed(weights, self._selector)
        return _timed(operations, self.bits)


class _Gmp:
    """The basic schemes with gmpy2, a bit at a time."""

    def __init__(self, scheme: str) -> None:
        from hesc_papers import gmp_peer

        make: dict[str, Callable[[], gmp_peer.BitPeer]] = {
            "GM": lambda: gmp_peer.GmPeer(3072),
            "ElGamal": gmp_peer.ElgamalPeer,
            SHORT_EXPONENTS: lambda: gmp_peer.ElgamalPeer(exponent_bits=280),
            "ECElGamal": gmp_peer.EcElgamalPeer,
        }
        self._peer = make[scheme]()
        self._select = gmp_peer.select
        self.bits = PEER_BITS[scheme]
        rng = np.random.default_rng(1)
        self._stream = [int(bit) for bit in rng.integers(0, 2, self.bits)]
        self._x = [self._peer.encrypt(bit) for bit in self._stream]
        self._y = [self._peer.encrypt(bit) for bit in self._stream]
        if [self._peer.decrypt(c) for c in self._x] != self._stream:
            raise HescError(f"the peer for {scheme} does not decrypt what it encrypted")

    def run(self, number: int) -> Mapping[str, float]:
        """Microseconds a bit."""
        peer, x, y = self._peer, self._x, self._y
        choices = np.random.default_rng(number).random(self.bits) < 0.5
        return _timed(
            {
                "Encryption": lambda: [peer.encrypt(bit) for bit in self._stream],
                "Add": lambda: self._select(x, y, choices),
                "Mult": lambda: [peer.multiply(a, b) for a, b in zip(x, y, strict=True)],
                "Decryption": lambda: [peer.decrypt(c) for c in x],
            },
            self.bits,
        )


class _Seal:
    """The lattice schemes with SEAL-Python, a ciphertext at a time."""

    def __init__(self, of: _SealSet) -> None:
        from hesc_papers.seal_peer.setup import make

        self._setting = make(
            of.scheme,
            of.ring_degree,
            [of.modulus],
            plain_modulus=of.plain_modulus,
            packing=of.packing,
        )
        # CKKS has half as many slots, which are complex.
        slots = of.ring_degree // (1 if of.scale is None else 2)
        self._streams = [self._random(number, slots, of) for number in range(8)]
        self._of = of
        self.bits = len(self._streams) * slots * of.bits_a_slot
        encrypt = self._setting.encryptor.encrypt
        self._plain = [self._pack(stream) for stream in self._streams]
        self._x = [encrypt(plain) for plain in self._plain]
        self._y = [encrypt(plain) for plain in self._plain]
        if of.masks:
            self.check()

    @staticmethod
    def _random(number: int, slots: int, of: _SealSet) -> Any:
        bits = np.random.default_rng(number).integers(0, 2, (of.bits_a_slot, slots))
        if of.scale is None:
            return bits[0]
        return bits[0] + 1j * (bits[1] if of.bits_a_slot == 2 else 0)

    def _pack(self, stream: Any, scale: float | None = None) -> Any:
        encoder = self._setting.encoder
        if self._of.scale is None:
            return encoder.encode(stream)
        return encoder.encode_complex(stream, scale or self._of.scale)

    def _unpack(self, plain: Any) -> Any:
        encoder = self._setting.encoder
        return encoder.decode(plain) if self._of.scale is None else encoder.decode_complex(plain)

    def _sum(self, number: int) -> list[Any]:
        """Algorithm 3: of each position one operand's bit, by a mask and its complement."""
        evaluator, sums = self._setting.evaluator, []
        for k, (a, b) in enumerate(zip(self._x, self._y, strict=True)):
            mask = self._random(len(self._x) * (number + 1) + k, len(self._streams[k]), self._of)
            parts = [
                evaluator.multiply_plain(bits, self._pack(passing, MASK_SCALE))
                for bits, passing in ((a, mask), (b, 1 - mask))
            ]
            sums.append(evaluator.add(*parts))
        return sums

    def check(self) -> None:
        """Decrypts a sum of streams with themselves, which is the streams.

        Raises:
            HescError: it is not.

        """
        for total, stream in zip(self._sum(0), self._streams, strict=True):
            found = np.array(self._unpack(self._setting.decryptor.decrypt(total)))
            if not np.array_equal(np.round(found.real), stream.real):
                raise HescError("the peer's sum with masks is wrong")

    def run(self, number: int) -> Mapping[str, float]:
        """Microseconds a bit."""
        tools, x, y = self._setting, self._x, self._y
        decrypted = [tools.decryptor.decrypt(c) for c in x]
        operations: dict[str, Callable[[], Any]] = {
            "Packing": lambda: [self._pack(stream) for stream in self._streams],
            "Encryption": lambda: [tools.encryptor.encrypt(plain) for plain in self._plain],
            "Mult": lambda: [tools.evaluator.add(a, b) for a, b in zip(x, y, strict=True)],
            "Decryption": lambda: [tools.decryptor.decrypt(c) for c in x],
            "Unpacking": lambda: [self._unpack(plain) for plain in decrypted],
        }
        if self._of.masks:
            operations["Add"] = lambda: self._sum(number)
        return _timed(operations, self.bits)


def reproduce(options: Options) -> Report:
    """Measures every scheme in turn."""
    candidates: dict[str, _Candidate] = {
        f"hesc: {name}": _Hesc(ours) for name, ours in OURS.items()
    }
    if "seal" in options.peers:
        candidates |= {f"gmpy2: {name}": _Gmp(name) for name in PEER_BITS}
        candidates |= {f"SEAL: {name}": _Seal(of) for name, of in SEAL_SETS.items()}
    repetitions = 2 if options.quick else 15
    runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in candidates}
    rounds = options.track(range(repetitions), "measuring")
    work = {name: candidate.run for name, candidate in candidates.items()}
    for name, stages in alternating(work, rounds, quick=options.quick):
        runs[name].append(stages)
    times = {name: medians(of_name) for name, of_name in runs.items()}
    rows: list[dict[str, Any]] = [
        {"candidate": name, **{stage: stages.get(stage) for stage in (*STAGES, CONCATENATED)}}
        for name, stages in times.items()
    ]
    rows += [
        {"candidate": f"paper: {name}", **dict(zip(STAGES, row, strict=True))}
        for name, row in PAPER.items()
    ]
    return Report(
        IDENTIFIER,
        TITLE,
        "µs",
        rows,
        ratios=_ratios(times) if "seal" in options.peers else {},
        parameters={
            "sets": {name: repr(ours.params()) for name, ours in OURS.items()},
            "threads": 1,
        },
        repetitions=repetitions,
        notes=[
            "encryption of hesc includes packing and its decryption unpacking; ratios hold them "
            "against the peer's sum of both",
            "Add is algorithm 3: at each position the bit of one operand, which takes products "
            "with two masks where many bits are in a ciphertext. Bits have slots of their own for "
            "that: of two in a complex slot, as in CKKS otherwise, no mask lets one pass, and "
            "products of polynomials mix coefficients. CKKS has half as many bits in a ciphertext",
            "Concatenation is the sum that is as long as both operands. The paper's Add of "
            "lattices, a fifth of its Mult, which is one addition of ciphertexts, is no product "
            "with masks",
            "the peers are not constant-time and work a bit (gmpy2) or a ciphertext (SEAL) at a "
            "time; each has what hesc has: tables for powers of fixed bases, exponents of full "
            "length (as in the paper) and short ones, SEAL at N = 1024 with bits in coefficients "
            "for BFV (its CKKS has slots only)",
            "the paper's 54 bits of modulus are two primes of 27 bits in hesc, one in SEAL",
            "the paper's own figures are from another machine",
        ],
    )


def _ratios(times: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Peer over ours, by set and operation."""
    result = {}
    for name, ours in OURS.items():
        library = "gmpy2" if ours.peer in PEER_BITS else "SEAL"
        mine, peer = times[f"hesc: {name}"], times[f"{library}: {ours.peer}"]
        encrypt = peer["Encryption"] + peer.get("Packing", 0.0)
        decrypt = peer["Decryption"] + peer.get("Unpacking", 0.0)
        result[f"{name}.encrypt"] = encrypt / mine["Encryption"]
        result[f"{name}.multiply"] = peer["Mult"] / mine["Mult"]
        result[f"{name}.decrypt"] = decrypt / mine["Decryption"]
        if "Add" in peer and "Add" in mine:
            result[f"{name}.add"] = peer["Add"] / mine["Add"]
    return result


def plot(report: Report, path: Path) -> None:
    """Encryption, sums, products and decryption of every scheme on a logarithmic axis."""
    from hesc_papers.plots import figure

    shown = ("Encryption", "Add", "Mult", "Decryption")
    rows = report.rows[::-1]
    with figure(path, (11, 0.6 * len(rows) + 1.6)) as axes:
        for k, stage in enumerate(shown):
            places = [i + 0.2 * (1.5 - k) for i in range(len(rows))]
            values = [row.get(stage) or np.nan for row in rows]
            bars = axes.barh(places, values, height=0.19, label=stage)
            axes.bar_label(bars, [f" {value:.3g}" for value in values], fontsize=7)
        axes.set_yticks(range(len(rows)), [row["candidate"] for row in rows])
        axes.set_xscale("log")
        axes.set_xlim(right=axes.get_xlim()[1] * 4)
        axes.set_xlabel("microseconds for each bit of a stream")
        axes.set_title(report.title)
        axes.legend(loc="lower right")

"""`carpov2016packing` table 1: transciphering of Trivium and Kreyvium, 13 products deep."""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import hesc
from hesc import CircuitError, NoiseBudgetError, _native, integers
from hesc.gates import Builder, ciphers
from hesc.integers.secret import encrypt_integers
from hesc.integers.transciphering import PRESETS, Shape
from hesc.params import Params, VectorParams
from hesc_papers import stream_ciphers, tfhe_peer
from hesc_papers.clock import Clock, Timing
from hesc_papers.integer_circuits import Slots
from hesc_papers.other_process import OtherProcess
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options
    from hesc.gates import Circuit

IDENTIFIER: Final = "carpov2016packing:table-1"
TITLE: Final = "Stream ciphers computed on encrypted keys"

PEERS: Final = ("tfhe",)

# What the paper says that its levels leave.
LEFT: Final = 7
# Bits that the crate computes after its warm-up, 64 at a time.
PEER_BITS: Final = 64


class Cipher(NamedTuple):
    """A row of the table.

    Attributes:
        name: of the row.
        bits: of each stream: what Canteaut and others 2018 have 13 products for. The paper's
            figures for Trivium are theirs of 720 streams.
        circuit: the keystream.
        in_the_clear: the same in numpy.
        seconds: the paper's.
        rate: bits a minute, the paper's.

    """

    name: str
    bits: int
    circuit: Callable[[int], Circuit]
    in_the_clear: Callable[[NDArray[np.uint8], NDArray[np.uint8], int], NDArray[np.uint8]]
    seconds: float
    rate: float


KREYVIUM: Final = Cipher(
    "Kreyvium-13", 125, ciphers.kreyvium, stream_ciphers.kreyvium, 12450, 286.8
)
CIPHERS: Final = (
    Cipher(
        "Trivium-13", 136, ciphers.insecure_trivium, stream_ciphers.insecure_trivium, 11380, 516.3
    ),
    KREYVIUM,
)


class Keystream(NamedTuple):
    """A plan, the set that it is for, and the circuit."""

    params: VectorParams
    circuit: Circuit
    plan: _native.SlotPlan


def planned(cipher: Cipher, bits: int, spare: int, sets: list[VectorParams]) -> Keystream:
    """The first set that has room, and what is computed there.

    Raises:
        CircuitError: where none has.

    """
    circuit = cipher.circuit(bits)
    public = circuit.inputs[1]
    reasons = []
    for params in sets:
        try:
            plan = _native.SlotPlan(circuit, params, spare, public=public, under_secret_key=True)
        except (CircuitError, NoiseBudgetError) as error:
            reasons.append(f"{params.name}: {error}")
            continue
        return Keystream(params, circuit, plan)
    raise CircuitError("; ".join(reasons))


class Server(Slots):
    """Keys of a set, a cipher's key in encrypted form, and initial values, one for each slot."""

    def __init__(self, cipher: Cipher, params: VectorParams) -> None:
        super().__init__(params)
        self.cipher = cipher
        width = cipher.circuit(1).inputs[0]
        rng = np.random.default_rng(0)
        self.key, self.initial = (
            rng.integers(0, 2, (width, columns), dtype=np.uint8)
            for columns in (1, params.slot_count)
        )
        number = sum(int(bit) << at for at, bit in enumerate(self.key[:, 0]))
        self.upload = encrypt_integers(
            self.secret, np.full(params.slot_count, number, dtype=object), f"uint{width}"
        )
        self.inputs = integers.read(self.keys.params, self.upload).blocks[0]

    def run(self, keystream: Keystream) -> list[_native.Ciphertext]:
        """The keystream, encrypted."""
        return keystream.plan.evaluate(self.relin, self.inputs, None, self.initial)

    def check(self, bits: list[_native.Ciphertext]) -> None:
        """Compares a keystream with numpy's.

        Raises:
            RuntimeError: if it is another.

        """
        expected = self.cipher.in_the_clear(self.key, self.initial, len(bits))
        if not np.array_equal(self.decrypt(bits), expected):
            raise RuntimeError(f"{self.cipher.name} gave another keystream than in the clear")

    def products_left(self, bits: list[_native.Ciphertext], most: int) -> int:
        """Products in sequence that the results took, at most so many; each is decrypted."""
        bits = bits[: most + 1]
        clear = self.decrypt(bits)
        for left in range(most, 0, -1):
            builder = Builder(*[1] * (left + 1))
            (first,), *others = builder.inputs
            expected = clear[0]
            for (other,), row in zip(others, clear[1:], strict=False):
                # Sums between the products keep them in sequence.
                first = builder.gate("XOR", builder.gate("AND", first, other), other)
                expected = expected & row ^ row
            circuit = builder.finish([first])
            inputs = bits[: left + 1]
            try:
                plan = _native.SlotPlan(circuit, self.params, 0, inputs)
            except (CircuitError, NoiseBudgetError):
                continue
            if not np.array_equal(
                self.decrypt(plan.evaluate(self.relin, inputs, None))[0], expected
            ):
                raise RuntimeError(f"products after {self.cipher.name} are wrong")
            return left
        return 0


def _sets(*, quick: bool) -> list[VectorParams]:
    if quick:
        primes = [50] * 16
        return [Params.cyclotomic(255, primes, [50], plain_modulus=2, assurance="insecure")]
    return [Params.preset(name) for name in PRESETS]


def _expansion(params: VectorParams, bits: int) -> float:
    """Bits sent for a bit under the cipher, in a message that fills all streams."""
    count = params.slot_count * bits
    message = hesc.CipherKey.generate().encrypt(
        np.zeros(count, dtype=bool), shape=Shape(params.slot_count, bits)
    )
    return 8 * len(message.to_bytes()) / count


def _timed(
    server: Server, keystream: Keystream, clock: Clock
) -> tuple[Timing, list[_native.Ciphertext]]:
    """How long a keystream takes, and the keystream, checked."""
    bits: list[_native.Ciphertext] = []
    timing = clock.once(lambda: bits.extend(server.run(keystream)))
    server.check(bits)
    return timing, bits


def _measured(
    cipher: Cipher, spare: int, bits: int, sets: list[VectorParams], clock: Clock
) -> dict[str, Any]:
    """A row: the first bit, then all of them."""
    every = planned(cipher, bits, spare, sets)
    params = every.params
    first = every if bits == 1 else planned(cipher, 1, spare, [params])
    server = Server(cipher, params)
    first_bit, _ = _timed(server, first, clock)
    timing, results = _timed(server, every, clock)
    streams = params.slot_count
    return {
        "what": f"{cipher.name}, {spare} left",
        "parameters": params.name,
        "security": params.assurance,
        "streams": streams,
        "bits of each": bits,
        "products": every.plan.products,
        "depth": every.plan.depth,
        "products left": server.products_left(results, spare),
        "s to the first bit": first_bit.seconds,
        "s": timing.seconds,
        "bit/min": 60 * streams * bits / timing.seconds,
        "in T": timing.units,
        "GB at once": every.plan.peak_bytes / 1e9,
        "MB key, once": len(server.upload) / 1e6,
        "expansion": _expansion(params, bits) if cipher is KREYVIUM else None,
        "expansion in slots": 8 * len(server.upload) / len(server.key) / streams,
    }


def measured(cipher: Cipher, spare: int, bits: int, *, quick: bool, clock: Clock) -> dict[str, Any]:
    """A row, for other studies to stand beside."""
    return _measured(cipher, spare, bits, _sets(quick=quick), clock)


def reproduce(options: Options) -> Report:
    """Measures on one thread, but for one ratio; every keystream is decrypted and compared."""
    clock = Clock(quick=options.quick)
    peer = tfhe_peer.kreyvium(PEER_BITS) if "tfhe" in options.peers else None
    sets = _sets(quick=options.quick)
    # A plan takes seconds: the quick study has one, of a single bit.
    tasks = (
        [(KREYVIUM, 0)]
        if options.quick
        else [(cipher, left) for cipher in CIPHERS for left in (0, LEFT)]
    )
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    for cipher, left in options.track(tasks, "keystreams"):
        row = _measured(cipher, left, 1 if options.quick else cipher.bits, sets, clock)
        rows.append(row)
        if left or options.quick:
            rows.append(
                {
                    "what": f"{cipher.name}, the paper",
                    "products left": LEFT,
                    "s": cipher.seconds,
                    "bit/min": cipher.rate,
                }
            )
        if left:
            name = cipher.name.partition("-")[0].lower()
            ratios[f"{name}.latency_vs_paper"] = cipher.seconds / row["s"]
            ratios[f"{name}.throughput_vs_paper"] = row["bit/min"] / cipher.rate
    if not options.quick:
        ratios["threads.two"] = two_threads()
    notes = []
    if peer is not None:
        warm, rest = peer
        ours = rows[-2]
        rows.append(
            {
                "what": "tfhe: Kreyvium",
                "parameters": "the crate's default, 2^-128",
                "streams": 1,
                "bits of each": PEER_BITS,
                "s to the first bit": warm,
                "s": warm + rest,
                "bit/min": 60 * PEER_BITS / rest,
            }
        )
        ratios["kreyvium.first_bit_vs_tfhe"] = warm / ours["s to the first bit"]
        ratios["kreyvium.throughput_vs_tfhe"] = ours["bit/min"] / rows[-1]["bit/min"]
        notes.append(
            f"tfhe: the crate {tfhe_peer.version()}, TransCiphering of one stream, one thread; its "
            "warm-up is not counted in bits a minute, and products after it have no limit"
        )
    return Report(
        IDENTIFIER,
        TITLE,
        "seconds, bits a minute",
        rows,
        ratios=ratios,
        parameters={"T_us": 1e6 * clock.unit()},
        notes=[
            "the paper: figures of Canteaut and others with HElib; ours are at 128 bits, but for "
            "Trivium, whose key has 80"
            if not options.quick
            else "a ring without security, and one bit of Kreyvium: a look only",
            "a figure needs as many streams as stand beside it. Each has an initial value of its "
            "own, and all have one key",
            "expansion: bits sent for each bit of data in messages under the cipher, which we have "
            "for Kreyvium; in slots: of bits encrypted there at once, under the secret key",
            "depth: products in sequence, those with public initial values counted, as the paper "
            "does not",
            *notes,
        ],
    )


def two_threads() -> float:
    """How many times faster two threads are, with no product left."""
    seconds = []
    for threads in (1, 2):
        # One after the other: each takes gigabytes.
        process = OtherProcess(__name__, threads=threads)
        try:
            seconds.append(statistics.median(float(process.ask()) for _ in range(3)))
        finally:
            process.close()
    return seconds[0] / seconds[1]


def main() -> None:
    """Answers each line with the seconds of a keystream, on as many threads as there are."""
    keystream = planned(KREYVIUM, KREYVIUM.bits, 0, _sets(quick=False))
    server = Server(KREYVIUM, keystream.params)
    for _ in sys.stdin:
        start = time.perf_counter()
        server.run(keystream)
        print(time.perf_counter() - start, flush=True)


def plot(report: Report, path: Path) -> None:
    """Bits a minute over seconds to all of them."""
    from hesc_papers.plots import figure

    with figure(path, (8, 5)) as axes:
        for row in report.rows:
            ours = "in T" in row
            axes.plot(row["s"], row["bit/min"], "o" if ours else "s", mfc=None if ours else "none")
            # The paper's points are at the right, and their names left of them.
            axes.annotate(
                row["what"],
                (row["s"], row["bit/min"]),
                xytext=(8 if ours else -8, 0),
                textcoords="offset points",
                ha="left" if ours else "right",
                va="center",
            )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.margins(0.2)
        axes.set_xlabel("seconds until all bits of all streams are there")
        axes.set_ylabel("bits a minute")
        axes.set_title(report.title)


if __name__ == "__main__":
    main()

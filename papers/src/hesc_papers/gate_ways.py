"""Products of encrypted bits: gate by gate as `hsiao2022sche` has them, compiled, as sums."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc import gates
from hesc.gates.secret import decrypt_bits
from hesc.params import Params, StreamParams
from hesc.secret import keygen
from hesc_papers.hsiao2022sche_circuits import array_multiplier

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The candidates, by the names of their rows.
BINARY: Final = "array multiplier, gate by gate"
BINARY_COMPILED: Final = "array multiplier, compiled"
AND_STREAMS: Final = "AND streams, gate by gate"
AND_COMPILED: Final = "AND streams, compiled"
XOR_STREAMS: Final = "XOR streams, sums of bits"
XOR_PACKED: Final = "XOR streams, sums of blocks"


@dataclass(frozen=True)
class Evaluation:
    """Seconds of one evaluation, and what was decrypted."""

    seconds: float
    outputs: NDArray[np.uint8]


@dataclass
class Bench:
    """One key pair and its server."""

    params: StreamParams = field(default_factory=lambda: Params.recommended("tfhe"))

    def __post_init__(self) -> None:
        self.secret, self.public = keygen(self.params, bootstrapping=True)
        self.server = gates.Evaluator(self.public)
        self.precision = gates.Precision.of(self.params)

    def program(self, candidate: str, bits: int) -> gates.Program:
        """The candidate's program for numbers of `bits` bits, streams of `2**bits`."""
        circuit = {
            BINARY: lambda: array_multiplier(bits),
            BINARY_COMPILED: lambda: array_multiplier(bits),
            AND_STREAMS: lambda: gates.stream_multiplier("AND", 2**bits),
            AND_COMPILED: lambda: gates.stream_multiplier("AND", 2**bits),
            XOR_STREAMS: lambda: gates.stream_multiplier("XOR", 2**bits),
        }[candidate]()
        return circuit.compile(self.precision, gate_by_gate=candidate in {BINARY, AND_STREAMS})

    def run(
        self,
        candidate: str,
        program: gates.Program | None,
        a: NDArray[np.uint8],
        b: NDArray[np.uint8],
    ) -> Evaluation:
        """Multiplies rows of bits of `a` and `b`, shape (lanes, wires), and decrypts."""
        left, right = (gates.encrypt_bits(self.public, bits) for bits in (a, b))
        if candidate == XOR_PACKED:
            start = time.perf_counter()
            product = left ^ right
        else:
            # Taken out of their blocks before the clock starts, as a circuit's inputs are.
            left, right = left[:], right[:]
            start = time.perf_counter()
            (product,) = self.server(_given(program), left, right, progress=False)
        seconds = time.perf_counter() - start
        return Evaluation(seconds, decrypt_bits(self.secret, product))

    def check(
        self, candidate: str, a: NDArray[np.uint8], b: NDArray[np.uint8], one: Evaluation
    ) -> int:
        """Wrong results among the rows."""
        if candidate in {BINARY, BINARY_COMPILED}:
            product = gates.to_numbers(a) * gates.to_numbers(b)
            return int(np.sum(gates.to_numbers(one.outputs) != product))
        expected = a & b if candidate in {AND_STREAMS, AND_COMPILED} else a ^ b
        return int(np.sum(np.any(one.outputs != expected, axis=-1)))

    def gate(self) -> float:
        """Seconds of one bootstrapped gate."""
        one = gates.encrypt_bits(self.public, [1])[:]
        start = time.perf_counter()
        self.server.gate("AND", one, one)
        return time.perf_counter() - start


def operands(
    candidate: str, bits: int, lanes: int, rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Random bits of both operands, (lanes, wires)."""
    wires = bits if candidate in {BINARY, BINARY_COMPILED} else 2**bits
    a, b = rng.integers(0, 2, (2, lanes, wires), dtype=np.uint8)
    return a, b


def _given(program: gates.Program | None) -> gates.Program:
    if program is None:
        raise TypeError("this candidate needs its program")
    return program

"""Circuits on integers in slots: what is measured, how it is checked, and how long it takes."""

from __future__ import annotations

import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import hesc
from hesc import _native
from hesc.gates import integers as circuits
from hesc.integers import FloatingPoint, Integers
from hesc.integers.circuits import circuit_of, styles

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc.gates import Circuit
    from hesc.params import VectorParams

ADDERS: Final = ("sklansky", "ladner_fischer", "brent_kung")


class Operation(NamedTuple):
    """Something to compute: every circuit that does, of which the cheapest is measured.

    Attributes:
        name: of the ratio.
        what: in words.
        params: the preset.
        each: whether its time is stated for a number, or for a ciphertext of them.
        asked: transforms of 8192 points, at most; nothing for some.
        circuits: of two numbers.

    """

    name: str
    what: str
    params: str
    each: bool
    asked: float | None
    circuits: Callable[[], list[Circuit]]


def quotient_and_rest(a: int, b: int) -> int:
    """The quotient and the rest of numbers of four bits, as the dividers have them: one byte."""
    return (a // b | a % b << 4) if b else 15 | a << 4


def multipliers(width: int, result: int | None = None) -> list[Circuit]:
    """All bits of the product, or the lowest."""
    return [
        circuits.multiplier(width, result or 2 * width, adder=adder, rows=rows)
        for adder in ADDERS
        for rows in ("digits", "bits")
    ]


def adders(width: int) -> list[Circuit]:
    """All bits of the sum."""
    return [circuits.adder(width, adder=adder) for adder in ADDERS]


def dividers(width: int) -> list[Circuit]:
    """Quotient and remainder."""
    return [
        circuits.divider(width, digit=digit, table=table)
        for table in (True, False)
        for digit in (2, 1)
    ]


def on_halves(operation: str) -> list[Circuit]:
    """An operation on numbers of the format binary16, numpy's float16."""
    half = FloatingPoint(5, 10)
    numbers = Integers(half.kind), Integers(half.kind)
    root = getattr(half, operation)(*numbers)
    return [circuit_of([root], numbers, style) for style in styles([root])]


FEW: Final = "bgv_13107"
MORE: Final = "bgv_13107_circuits"
SHALLOW: Final = "bgv_13107_shallow"
DEEP: Final = "bgv_21845_circuits"
DEEPEST: Final = "bgv_65535"
OPERATIONS: Final = (
    Operation("add64.sliced", "64-bit sum", FEW, False, 18_000, lambda: adders(64)),
    Operation("add64.prime", "64-bit sum", "bgv_16384", True, 8, lambda: adders(64)),
    Operation("less64.prime", "64-bit less", "bgv_16384", True, 4, lambda: [circuits.less(64)]),
    Operation("mul16", "16 x 16 -> 32 bits", DEEP, True, 90, lambda: multipliers(16)),
    Operation("mul16.low", "16 x 16 -> 16 bits", DEEP, True, None, lambda: multipliers(16, 16)),
    Operation("mul8", "8 x 8 -> 16 bits", MORE, False, 9_000, lambda: multipliers(8)),
    Operation(
        "div4",
        "4-bit quotient and remainder",
        SHALLOW,
        False,
        1_200,
        lambda: [circuits.table(4, 8, quotient_and_rest), *dividers(4)],
    ),
    Operation("div8", "8-bit quotient and remainder", DEEP, False, 75_000, lambda: dividers(8)),
    Operation("add.float16", "float16 sum", DEEPEST, True, None, lambda: on_halves("add")),
    Operation("mul.float16", "float16 product", DEEPEST, True, None, lambda: on_halves("multiply")),
    Operation("less.float16", "float16 less", MORE, True, None, lambda: on_halves("less")),
)


class Slots:
    """Keys of a set, and random bits in its slots."""

    def __init__(self, params: VectorParams) -> None:
        self.params = params
        self.secret, self.keys = hesc.keygen(self.params)

    @property
    def relin(self) -> _native.RelinKey:
        """The key that products take."""
        if self.keys.relin is None:
            raise RuntimeError("the keys are made with products")
        return self.keys.relin

    @property
    def count(self) -> int:
        """Numbers in a ciphertext."""
        return self.params.slot_count

    def encrypt(self, rows: Any) -> list[_native.Ciphertext]:
        """A ciphertext for each row of bits."""
        encode = partial(_native.Plaintext.encode_integers, self.params)
        return [self.keys.public.encrypt(encode(np.ascontiguousarray(row), False)) for row in rows]

    def decrypt(self, bits: list[_native.Ciphertext]) -> Any:
        """The rows of bits."""
        return np.array([self.secret._native.decrypt(bit).decode_integers(False) for bit in bits])  # noqa: SLF001


class Measured(NamedTuple):
    """A plan that runs, and what it takes."""

    plan: _native.SlotPlan
    run: Callable[[], list[_native.Ciphertext]]


def cheapest(operation: Operation, params: VectorParams) -> tuple[_native.SlotPlan, Circuit]:
    """The plan that takes least, and its circuit.

    Raises:
        CircuitError: where none has room.

    """
    plans: list[tuple[_native.SlotPlan, Circuit]] = []
    refused = None
    for circuit in operation.circuits():
        try:
            plans.append((_native.SlotPlan(circuit, params, 0, None), circuit))
        except hesc.CircuitError as error:
            refused = error
    if refused is not None and not plans:
        raise refused
    return min(plans, key=lambda pair: pair[0].seconds)


def prepare(operation: Operation, slots: Slots) -> Measured:
    """The cheapest circuit on random numbers, once computed and compared with the clear.

    Raises:
        CircuitError: where no circuit has room.
        RuntimeError: a result that is not that of arithmetic in the clear.

    """
    plan, circuit = cheapest(operation, slots.params)
    rng = np.random.default_rng(0)
    widths = circuit.inputs
    numbers = [
        rng.integers(0, 2**width - 1, slots.count, dtype=np.uint64, endpoint=True)
        for width in widths
    ]
    rows = [
        (number >> np.uint64(bit) & np.uint64(1)).astype(np.int64)
        for number, width in zip(numbers, widths, strict=True)
        for bit in range(width)
    ]
    inputs, relin = slots.encrypt(rows), slots.relin
    found = slots.decrypt(plan.evaluate(relin, inputs, None))
    if not np.array_equal(found, in_the_clear(circuit, numbers)):
        raise RuntimeError(f"{operation.name} gave another result than arithmetic in the clear")
    return Measured(plan, lambda: plan.evaluate(relin, inputs, None))


def in_the_clear(circuit: Circuit, numbers: list[Any]) -> Any:
    """The rows of bits that a circuit gives; outputs may have more bits than a word."""
    first, second = numbers
    rows = []
    values = [
        [int(value) for value in output]
        for output in (
            [[int(a) + int(b) for a, b in zip(first, second, strict=True)]]
            if max(circuit.outputs) > 64
            else circuit(*numbers)
        )
    ]
    for width, output in zip(circuit.outputs, values, strict=True):
        rows += [[value >> bit & 1 for value in output] for bit in range(width)]
    return np.array(rows)


def main() -> None:
    """Answers each line with the seconds of an operation, on as many threads as there are."""
    name = sys.argv[1]
    operation = next(operation for operation in OPERATIONS if operation.name == name)
    measured = prepare(operation, Slots(hesc.Params.preset(operation.params)))
    for _ in sys.stdin:
        start = time.perf_counter()
        measured.run()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()

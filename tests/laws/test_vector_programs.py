"""Random programs on vectors of BFV, BGV and CKKS, step by step beside the same in numpy."""

from __future__ import annotations

import operator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from tests import reading
from tests.laws.programs import (
    FLAG,
    OPERAND,
    between,
    drive,
    long_share,
    one_of,
    operation,
    search,
    tally,
)
from tests.laws.vector_programs import VectorProgram
from tests.vector_party import SCHEMES

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "r-": lambda a, b: b - a,
    "*": lambda a, b: a * b,
    "r*": lambda a, b: b * a,
}


class Vectors(VectorProgram):
    """Every value is right within its stated error, and so is all that is claimed of its slots.

    Or the call is refused: with `ShapeError` exactly where numpy refuses the shapes too, with
    `NoiseBudgetError` where the room ends, with `KeyMismatchError` where keys are another's.

    BFV and BGV are exact: as integers or refused with `OutOfRangeError` where they have bounds,
    modulo the plaintext modulus where they are to wrap. A slot of CKKS is beyond its bound with a
    probability of 7e-13; a long run looks at ten million, and raises a false alarm once in a
    hundred thousand.
    """

    @operation(a=OPERAND, b=OPERAND, how=one_of("+", "-", "*", "*", "dot", "square"))
    def vectors(self, a: int, b: int, how: str) -> None:
        x, y = self.pick(a), self.pick(b)
        if how == "dot":
            if max(len(x.values), len(y.values)) <= self.row:
                self.compared(
                    lambda: x.vector.dot(y.vector), lambda: np.dot(x.values, y.values), x, y
                )
        elif how == "square":
            self.compared(x.vector.square, lambda: x.values * x.values, x)
        else:
            compute = OPERATIONS[how]
            self.compared(
                lambda: compute(x.vector, y.vector), lambda: compute(x.values, y.values), x, y
            )

    @operation(
        a=OPERAND,
        size=one_of("number", "one", "same", "next", "other"),
        z=FLAG,
        how=one_of("+", "-", "r-", "*", "r*", "@", "neg"),
    )
    def in_the_clear(self, a: int, size: str, z: bool, how: str) -> None:
        v, x, _ = kept = self.pick(a)
        other = int(self.rng.integers(2, 12))
        lengths = {"number": (), "one": 1, "same": len(x), "next": len(x) + 1, "other": other}
        y = operand = self.numbers(lengths[size], z=z)
        if not z and not self.ckks and self.chance(0.2):
            # Kinds of integers that have no sign.
            kinds = ("uint8", "uint64", "bool")
            operand = np.abs(y).astype(kinds[int(self.rng.integers(3))])
            y = operand.astype(np.int64)
        if how == "neg":
            self.compared(lambda: -v, lambda: -x, kept)
        elif how == "@":
            if len(x) <= 32:
                self.compared(
                    lambda: np.atleast_1d(operand) @ v, lambda: np.atleast_1d(y) @ x, kept
                )
        else:
            compute = OPERATIONS[how]
            self.compared(lambda: compute(v, operand), lambda: compute(x, y), kept)

    @operation(a=OPERAND, exponent=one_of(1, 2, 2, 3, 3, 4, 5, 7))
    def power(self, a: int, exponent: int) -> None:
        v, x, _ = kept = self.pick(a)
        if not self.ckks and float(np.max(np.abs(x))) ** exponent >= 2**62:
            return
        self.compared(lambda: v**exponent, lambda: x**exponent, kept)

    @operation(a=OPERAND, axis=one_of(None, 0, -1, (0,), 1, (0, 0)), mean=FLAG)
    def folded(self, a: int, axis: Any, mean: bool) -> None:
        """Sums and means over the one axis that there is; means of integers are refused."""
        v, x, _ = kept = self.pick(a)
        if mean and not self.ckks:
            self.refused(lambda: v.mean(axis), (hesc.ParameterError, hesc.ShapeError))
            self.unchanged(kept)
        elif mean:
            self.compared(lambda: v.mean(axis), lambda: np.mean(x, axis=axis), kept)
        else:
            self.compared(lambda: v.sum(axis), lambda: np.sum(x, axis=axis), kept)

    @operation(a=OPERAND, size=one_of("number", "same", "next"), zero=FLAG, z=FLAG)
    def quotient(self, a: int, size: str, zero: bool, z: bool) -> None:
        v, x, _ = kept = self.pick(a)
        lengths = {"number": (), "same": len(x), "next": len(x) + 1}
        y = self.numbers(lengths[size], z=z)
        y = np.where(np.abs(y) < 0.1, 0.5 if self.ckks else 1, y)
        if not self.ckks:
            self.refused(lambda: v / y, hesc.ParameterError)
        elif zero:
            self.refused(lambda: v / (0 * y), ZeroDivisionError)
        else:
            self.compared(lambda: v / y, lambda: x / y, kept)
            return
        self.unchanged(kept)

    @operation(a=OPERAND, b=OPERAND, columns=between(1, 9), how=one_of("vector", "clear", "matrix"))
    def from_the_left(self, a: int, b: int, columns: int, how: str) -> None:
        """A vector times a vector, encrypted or not, or a matrix of any shape."""
        x, y = self.pick(a), self.pick(b)
        if max(len(x.values), len(y.values)) > 31:
            return
        if how == "vector":
            self.compared(lambda: x.vector @ y.vector, lambda: x.values @ y.values, x, y)
            return
        shape = (len(y.values), columns) if how == "matrix" else len(y.values)
        m = self.numbers(shape, z=False)
        self.compared(lambda: x.vector @ m, lambda: x.values @ m, x)

    @operation(a=OPERAND, beyond=FLAG, sign=one_of(-1, 1), how=one_of("+", "r-", "*", "p", "@"))
    def operands_at_the_bound(self, a: int, beyond: bool, sign: int, how: str) -> None:
        """Operands of exact schemes have the range of what is encrypted."""
        v, x, _ = kept = self.pick(a)
        if self.ckks or len(x) > 32:
            return
        smallest, largest = self.party.params.integer_range
        y = np.array([(largest + beyond) if sign > 0 else (smallest - beyond)])
        row = np.broadcast_to(y, (1, len(x)))
        calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "+": (lambda: v + y, lambda: x + y),
            "r-": (lambda: y - v, lambda: y - x),
            "*": (lambda: v * y, lambda: x * y),
            "p": (lambda: v.polynomial([1, int(y[0])]), lambda: x * y + 1),
            "@": (lambda: row @ v, lambda: row @ x),
        }
        if beyond:
            self.refused(calls[how][0], hesc.OutOfRangeError)
            self.unchanged(kept)
        else:
            self.compared(*calls[how], kept)

    @operation(a=OPERAND, b=OPERAND, then=one_of("", "*", "dot", "read", "+"))
    def behind(self, a: int, b: int, then: str) -> None:
        """A sum with one number fills the slots behind the others; what follows knows it."""
        y = self.pick(b)
        for kept in (self.pick(a), y):
            one = self.numbers(1, z=self.chance(0.3))
            self.compared(
                partial(operator.add, kept.vector, self.encryption(one)),
                partial(operator.add, kept.values, one),
                kept,
            )
        v, x, _ = filled = self.pick(0)
        if then == "*":
            one = self.numbers(1, z=False)
            self.compared(lambda: self.encryption(one) * v, lambda: one * x, filled)
        elif then == "+":
            self.compared(lambda: v + y.vector, lambda: x + y.values, filled, y)
        elif then == "dot" and len(x) <= self.row:
            self.compared(lambda: v.dot(v), lambda: np.dot(x, x), filled)
        elif then == "read":
            self.compared(
                lambda: reading.vector(self.party.public, v.to_bytes()), lambda: x, filled
            )

    @operation(a=OPERAND, degree=between(0, 9), z=FLAG, zeros=FLAG)
    def polynomial(self, a: int, degree: int, z: bool, zeros: bool) -> None:
        v, x, _ = kept = self.pick(a)
        coefficients = self.numbers(degree + 1, z=z)
        if zeros:
            coefficients = coefficients * self.rng.integers(0, 2, degree + 1)

        def expected() -> Any:
            total = np.zeros(len(x), dtype=np.result_type(x, coefficients))
            for coefficient in coefficients[::-1]:
                total = self.reduced(total * x + coefficient)
            return total

        self.compared(lambda: v.polynomial(coefficients), expected, kept)

    @operation(a=OPERAND, b=OPERAND, rows=between(1, 20), more=one_of(0, 0, 0, 1), z=FLAG)
    def matrix(self, a: int, b: int, rows: int, more: int, z: bool) -> None:
        """One matrix meets vectors of its level and above; CKKS refuses those below."""
        x, y = self.pick(a), self.pick(b)
        if len(x.values) > 31:
            return
        m = self.numbers((rows, len(x.values) + more), z=z)
        if self.chance(0.5):
            self.compared(lambda: m @ x.vector, lambda: m @ x.values, x)
            return
        level = max(1, x.vector.level - int(self.rng.integers(0, 2)))
        try:
            matrix = hesc.vectors.Matrix(self.party.params, m, level=level)
        except hesc.NoiseBudgetError:
            # CKKS's products need a prime to take.
            assert (self.ckks, level) == (True, 1)
            return
        for kept in (x, y, x):
            if self.ckks and kept.vector.level < level:
                self.refused(partial(operator.matmul, matrix, kept.vector), hesc.ShapeError)
            else:
                self.compared(
                    partial(operator.matmul, matrix, kept.vector),
                    partial(operator.matmul, m, kept.values),
                    kept,
                )

    @operation(
        a=OPERAND, times=between(2, 12), how=one_of("square", "rolled", "conjugate", "clear")
    )
    def chain(self, a: int, times: int, how: str) -> None:
        """Products of what depends on itself, one after the other, right until they are refused."""
        for _ in range(times):
            before = self.counts["no room"]
            v, x, _ = kept = self.pick(a)
            a = 0
            if how == "clear":
                y = self.numbers(len(x), z=True)
                self.compared(lambda v=v, y=y: v * y, lambda x=x, y=y: x * y, kept)
            elif how == "rolled" and len(x) <= 32:
                self.compared(lambda v=v: v * v.rotate(1), lambda x=x: x * np.roll(x, -1), kept)
            elif how == "rolled" and len(x) > self.row and not self.ckks:
                filled = np.concatenate([x, np.zeros(2 * self.row - len(x), dtype=x.dtype)])
                product = filled * np.roll(filled, self.row)

                def rows(v: Any = v) -> Any:
                    w = v.swap_rows()
                    return w * w.swap_rows()

                self.compared(rows, lambda product=product: product, kept)
            elif how == "conjugate" and self.ckks:
                self.compared(lambda v=v: v * v.conjugate(), lambda x=x: x * np.conj(x), kept)
            else:
                self.compared(lambda v=v: v * v, lambda x=x: x * x, kept)
            if self.counts["no room"] > before:
                return

    @operation(a=OPERAND, square=FLAG)
    def to_the_edge(self, a: int, square: bool) -> None:
        """What is left of the room, as it is stated, is there: numbers that just fit are right."""
        v, x, _ = kept = self.pick(a)
        if square and len(x) > self.row and not self.ckks:
            filled = np.concatenate([x, np.zeros(2 * self.row - len(x), dtype=x.dtype)])
            # The worst dependence: noise times its own mirror image, all of it in few places.
            self.compared(
                lambda: v.swap_rows() * v.swap_rows().swap_rows(),
                lambda: filled * np.roll(filled, self.row),
                kept,
            )
            v, x, _ = kept = self.pick(0)
        for _ in range(40):
            bits = int(min(v.noise_budget, 1000))
            if self.ckks or bits < 1:
                return
            # Plaintext moduli have 20 bits.
            number = 2 ** min(bits, 18)
            before = self.counts["no room"]
            self.compared(partial(operator.mul, v, number), partial(operator.mul, x, number), kept)
            if self.counts["no room"] > before:
                return
            v, x, _ = kept = self.pick(0)

    @operation(a=OPERAND, steps=between(-40, 40), many=FLAG)
    def rotate(self, a: int, steps: int, many: bool) -> None:
        v, x, _ = kept = self.pick(a)
        if self.chance(0.05):
            self.refused(partial(v.rotate, steps + 0.5), hesc.ShapeError)  # type: ignore[arg-type]
            self.refused(partial(v.rotate, 2**31), hesc.OutOfRangeError)
        if len(x) > 32:
            # Keys are there for short vectors; both rows of slots do not go round at all.
            turns = steps % len(x)
            if len(x) > self.row and not self.ckks:
                self.refused(lambda: v.rotate(steps), hesc.ShapeError)
            elif turns == 0:
                self.compared(lambda: v.rotate(steps), lambda: x, kept)
            return
        if many:
            self.compared(lambda: v.rotate_many([0, steps, 1])[1], lambda: np.roll(x, -steps), kept)
        else:
            self.compared(lambda: v.rotate(steps), lambda: np.roll(x, -steps), kept)

    @operation(a=OPERAND)
    def swap_rows(self, a: int) -> None:
        v, x, _ = kept = self.pick(a)
        if self.ckks:
            self.refused(v.swap_rows, hesc.ParameterError)
        elif len(x) <= self.row:
            self.refused(v.swap_rows, hesc.ShapeError)
        else:
            filled = np.concatenate([x, np.zeros(2 * self.row - len(x), dtype=x.dtype)])
            self.compared(v.swap_rows, lambda: np.roll(filled, self.row), kept)

    @operation(a=OPERAND)
    def conjugate(self, a: int) -> None:
        v, x, _ = kept = self.pick(a)
        if self.ckks:
            self.compared(v.conjugate, lambda: np.conj(x), kept)
        else:
            self.refused(v.conjugate, hesc.ParameterError)


class Bfv(Vectors):
    """BFV's."""

    name, scheme = "vectors, bfv", "bfv"


class Bgv(Vectors):
    """BGV's."""

    name, scheme = "vectors, bgv", "bgv"


class Ckks(Vectors):
    """CKKS's."""

    name, scheme = "vectors, ckks", "ckks"


class WideBfv(Vectors):
    """A ring in which noise that depends on itself goes far beyond noise that does not."""

    name, scheme, ring = "vectors, bfv at 4096", "bfv", (4096, 2)


class WideBgv(Vectors):
    """The same of BGV."""

    name, scheme, ring = "vectors, bgv at 4096", "bgv", (4096, 2)


class WideCkks(Vectors):
    """The same of CKKS."""

    name, scheme, ring = "vectors, ckks at 4096", "ckks", (4096, 3)


class BoundedBfv(Vectors):
    """Integers with bounds, in a range of 40 bits."""

    name, scheme, plain_bits, wraps = "vectors, bfv with bounds", "bfv", 40, False


class BoundedBgv(Vectors):
    """Integers with bounds, in a range so small that most programs come to its end."""

    name, scheme, plain_bits, wraps = "vectors, bgv with bounds", "bgv", 13, False


MACHINES = (Bfv, Bgv, Ckks)
BOUNDED = (BoundedBfv, BoundedBgv)
WIDE = (WideBfv, WideBgv, WideCkks)


def test_there_is_a_machine_for_each_scheme() -> None:
    assert tuple(machine.scheme for machine in MACHINES) == SCHEMES


@pytest.mark.parametrize("machine", MACHINES)
def test_random_programs(machine: type[Vectors]) -> None:
    drive(machine, 3000, seed=1)


@pytest.mark.parametrize("machine", BOUNDED)
def test_random_programs_within_bounds(machine: type[Vectors]) -> None:
    drive(machine, 1500, seed=1)
    counts = tally[machine.name]
    # Neither refuses all, nor has room for all.
    assert min(counts["right"], counts["no range"]) > 100


@pytest.mark.parametrize("machine", WIDE)
def test_random_programs_in_wide_rings(machine: type[Vectors]) -> None:
    drive(machine, 200, seed=1)


@pytest.mark.parametrize("machine", MACHINES)
def test_shortest_programs(machine: type[Vectors]) -> None:
    search(machine, examples=20, steps=15)


@pytest.mark.long
@pytest.mark.parametrize("machine", [*MACHINES, *BOUNDED, *WIDE])
def test_many_random_programs(machine: type[Vectors]) -> None:
    drive(machine, long_share(0.005 if machine in WIDE else 0.04), seed=1_000_000)

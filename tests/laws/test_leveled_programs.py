"""Random programs on vectors of BFV, BGV and CKKS, step by step beside the same in numpy."""

from __future__ import annotations

import operator
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from tests.laws.programs import (
    FLAG,
    OPERAND,
    Programs,
    between,
    drive,
    long_share,
    one_of,
    operation,
    search,
)
from tests.leveled_party import SCHEMES, Party, party

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "r-": lambda a, b: b - a,
    "*": lambda a, b: a * b,
    "r*": lambda a, b: b * a,
}


class Kept(NamedTuple):
    """A vector, what it should decrypt to, and what it did decrypt to."""

    vector: hesc.EncryptedVector
    values: Any
    found: Any


@cache
def strangers(scheme: str) -> Party:
    """Another key pair of the same set."""
    params = party(scheme).params
    return Party(params, *hesc.leveled_keygen(params, rotations=[1, 2], conjugate=True))


class Vectors(Programs[Kept]):
    """Every value is right within its stated error, and so is all that is claimed of its slots.

    Errors stated are bounds: none may be beyond (rounding noise is bounded with probability 2^-64
    and less a vector). Or the call is refused: with `ShapeError` exactly where numpy refuses the
    shapes too, with `NoiseBudgetError` where the room ends.
    """

    scheme = "bfv"

    def start(self) -> None:
        self.party = party(self.scheme)
        self.ckks = self.scheme == "ckks"
        self.encrypted(int(self.rng.integers(1, 21)), seeded=False, z=False)
        self.encrypted(int(self.rng.integers(1, 21)), seeded=True, z=True)

    def numbers(self, shape: Any, *, z: bool) -> Any:
        found = self.party.numbers(self.rng, shape)
        if z and self.ckks:
            found = found + 1j * self.party.numbers(self.rng, shape)
        return found

    def reduced(self, numbers: Any) -> Any:
        """Exact results are known modulo the plaintext modulus."""
        t = self.party.params.plain_modulus
        return numbers if t is None else (numbers + t // 2) % t - t // 2

    def compared(self, compute: Any, expect: Any, *operands: Kept) -> None:
        """A step of the program; nothing is kept if both sides refuse it, or the room has ended."""
        try:
            expected = np.atleast_1d(expect())
        except ValueError:
            self.refused(compute, hesc.ShapeError)
            self.unchanged(*operands)
            return
        try:
            vector = compute()
        except hesc.NoiseBudgetError:
            self.counts["no room"] += 1
            self.unchanged(*operands)
            return
        self.party.check(vector, expected)
        found = self.party.secret.decrypt(vector)
        assert found.dtype == (np.int64 if not self.ckks else found.dtype)
        assert np.iscomplexobj(found) == vector.complex_values
        self.keep(Kept(vector, self.reduced(expected), found))
        if self.chance(0.1):
            self.unchanged(*operands)

    def unchanged(self, *operands: Kept) -> None:
        for kept in operands:
            np.testing.assert_array_equal(self.party.secret.decrypt(kept.vector), kept.found)

    def encrypted(self, length: int, *, seeded: bool, z: bool) -> None:
        x, p = self.numbers(length, z=z), self.party
        if seeded:
            self.compared(lambda: p.public.read(p.secret.encrypt_to_bytes(x)), lambda: x)
        else:
            self.compared(lambda: p.public.encrypt(x), lambda: x)

    @operation(length=between(1, 20), seeded=FLAG, z=FLAG)
    def encrypt(self, length: int, seeded: bool, z: bool) -> None:
        self.encrypted(length, seeded=seeded, z=z)

    @operation(length=one_of(1, 31, 33, 100, 127, 128, 129, 200, 256, 257, 0), seeded=FLAG)
    def long_vectors(self, length: int, seeded: bool) -> None:
        """Lengths up to the slots, and beyond."""
        slots = self.party.params.slot_count
        if 1 <= length <= slots:
            self.encrypted(length, seeded=seeded, z=False)
            return
        x = self.numbers(length, z=False)
        party = self.party
        encrypt = party.secret.encrypt_to_bytes if seeded else party.public.encrypt
        self.refused(partial(encrypt, x), hesc.ShapeError)

    @operation(beyond=FLAG, seeded=FLAG, sign=one_of(-1, 1))
    def at_the_bound(self, beyond: bool, seeded: bool, sign: int) -> None:
        """The largest numbers there may be are right, and none beyond are taken."""
        p = self.party
        if self.ckks:
            x = np.array([0.5, sign * p.params.bound * (1 + 1e-9 * beyond), -1])
        else:
            smallest, largest = p.params.integer_range
            x = np.array([1, (largest + beyond) if sign > 0 else (smallest - beyond), 0])
        secret, public = p.secret, p.public
        calls: tuple[Callable[[], Any], ...] = (
            lambda: public.encrypt(x),
            lambda: public.read(secret.encrypt_to_bytes(x)),
        )
        if beyond:
            self.refused(calls[seeded], hesc.OutOfRangeError)
        else:
            self.compared(calls[seeded], lambda: x)

    @operation(
        a=OPERAND,
        kind=one_of("nan", "inf", "beyond", "text", "fraction", "masked"),
        how=one_of("encrypt", "+", "*", "polynomial"),
    )
    def no_numbers(self, a: int, kind: str, how: str) -> None:
        v, *_ = kept = self.pick(a)
        bad: dict[str, Any] = {
            "nan": float("nan"),
            "inf": float("inf"),
            "beyond": 10**30 if not self.ckks else float("-inf"),
            "text": "1",
            "fraction": 0.5 if not self.ckks else float("nan"),
            "masked": np.ma.masked_array([1.0, 2.0], [False, True]),
        }
        number = bad[kind]
        p = self.party
        numbers = number if kind == "masked" else np.atleast_1d(number)
        calls: dict[str, Callable[[], Any]] = {
            "encrypt": lambda: p.public.encrypt(numbers),
            "+": lambda: v + number,
            "*": lambda: v * number,
            "polynomial": lambda: v.polynomial(numbers),
        }
        self.refused(calls[how], (hesc.OutOfRangeError, hesc.ShapeError))
        self.unchanged(kept)

    @operation(a=OPERAND, b=OPERAND, how=one_of("+", "-", "*", "*", "dot", "square"))
    def vectors(self, a: int, b: int, how: str) -> None:
        x, y = self.pick(a), self.pick(b)
        if how == "dot":
            if max(len(x.values), len(y.values)) <= 128:
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
        size=one_of("number", "one", "same", "other"),
        z=FLAG,
        how=one_of("+", "-", "r-", "*", "r*", "@", "neg"),
    )
    def in_the_clear(self, a: int, size: str, z: bool, how: str) -> None:
        v, x, _ = kept = self.pick(a)
        lengths = {"number": (), "one": 1, "same": len(x), "other": len(x) + 1}
        y = self.numbers(lengths[size], z=z)
        if how == "neg":
            self.compared(lambda: -v, lambda: -x, kept)
        elif how == "@":
            if len(x) <= 32:
                row = np.atleast_1d(y)
                self.compared(lambda: row @ v, lambda: row @ x, kept)
        else:
            compute = OPERATIONS[how]
            self.compared(lambda: compute(v, y), lambda: compute(x, y), kept)

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
        """One matrix meets vectors of its level and above, and is refused by those below."""
        x, y = self.pick(a), self.pick(b)
        if len(x.values) > 31:
            return
        m = self.numbers((rows, len(x.values) + more), z=z)
        if self.chance(0.5):
            self.compared(lambda: m @ x.vector, lambda: m @ x.values, x)
            return
        level = max(1, x.vector.level - int(self.rng.integers(0, 2)))
        try:
            matrix = hesc.leveled.Matrix(self.party.params, m, level=level)
        except hesc.NoiseBudgetError:
            # CKKS's products need a prime to take.
            assert (self.ckks, level) == (True, 1)
            return
        for kept in (x, y, x):
            if kept.vector.level < level:
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
            elif how == "rolled" and len(x) > 128 and not self.ckks:
                filled = np.concatenate([x, np.zeros(256 - len(x), dtype=x.dtype)])
                product = filled * np.roll(filled, 128)

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

    @operation(a=OPERAND, steps=between(-40, 40), many=FLAG)
    def rotate(self, a: int, steps: int, many: bool) -> None:
        v, x, _ = kept = self.pick(a)
        if len(x) > 32:
            # Keys are there for short vectors; both rows of slots do not go round at all.
            turns = steps % len(x)
            if len(x) > 128 and not self.ckks:
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
        elif len(x) <= 128:
            self.refused(v.swap_rows, hesc.ShapeError)
        else:
            filled = np.concatenate([x, np.zeros(256 - len(x), dtype=x.dtype)])
            self.compared(v.swap_rows, lambda: np.roll(filled, 128), kept)

    @operation(a=OPERAND)
    def conjugate(self, a: int) -> None:
        v, x, _ = kept = self.pick(a)
        if self.ckks:
            self.compared(v.conjugate, lambda: np.conj(x), kept)
        else:
            self.refused(v.conjugate, hesc.ParameterError)

    @operation(a=OPERAND, level=between(0, 9))
    def travel(self, a: int, level: int) -> None:
        v, x, _ = kept = self.pick(a)
        if not 1 <= level <= v.level:
            self.refused(lambda: v.mod_switch_to(level), hesc.ShapeError)
            return
        self.compared(
            lambda: self.party.public.read(v.mod_switch_to(level).to_bytes(), len(x)),
            lambda: x,
            kept,
        )
        self.refused(lambda: self.party.public.read(v.to_bytes(), len(x) + 1), hesc.ShapeError)

    @operation(a=OPERAND, how=one_of("+", "-", "*", "dot", "decrypt", "rotate", "relin"))
    def other_keys(self, a: int, how: str) -> None:
        v, x, _ = kept = self.pick(a)
        other = strangers(self.scheme)
        w = other.public.encrypt(self.numbers(len(x), z=False))
        # The vector, with keys of a stranger.
        mixed = hesc.EncryptedVector(other.public, v.native, len(x))
        calls: dict[str, Callable[[], Any]] = {
            "+": lambda: v + w,
            "-": lambda: w - v,
            "*": lambda: v * w,
            "dot": lambda: v.dot(w),
            "decrypt": lambda: other.secret.decrypt(v),
            "rotate": lambda: mixed.rotate(1),
            "relin": lambda: mixed * mixed,
        }
        if how == "rotate" and (len(x) < 2 or len(x) > 2):
            return
        if how == "dot" and len(x) > 128:
            return
        # A vector without room for a product may be refused for that.
        worn = () if how in ("+", "-", "decrypt") else (hesc.NoiseBudgetError,)
        self.refused(calls[how], (hesc.KeyMismatchError, *worn))
        self.unchanged(kept)

    @operation(a=OPERAND, how=one_of("dot", "times", "relin", "galois", "shared"))
    def missing_keys(self, a: int, how: str) -> None:
        """Keys that were not made, and what is not to be shared, are refused by name."""
        v, x, _ = kept = self.pick(a)
        p = self.party
        bare = hesc.PublicKeys(p.params, p.public.public, None, None)
        vector = bare.read(v.to_bytes())
        calls: dict[str, Callable[[], Any]] = {
            "dot": lambda: vector.dot(vector),
            "times": lambda: self.numbers((2, len(x)), z=False) @ vector,
            "relin": lambda: vector * vector,
            "galois": vector.conjugate,
            "shared": lambda: p.secret.decrypt_shared(v, expected=v, answers=1),
        }
        if how == "times" and not 2 <= len(x) <= 128:
            return
        errors: list[type[Exception]] = [hesc.ParameterError]
        if how == "times" and v.level == 1:
            # The room for a product is looked at before the keys.
            errors.append(hesc.NoiseBudgetError)
        self.refused(calls[how], tuple(errors))
        self.unchanged(kept)

    @operation(a=OPERAND)
    def still(self, a: int) -> None:
        self.unchanged(self.pick(a))
        self.agreed()


class Bfv(Vectors):
    """BFV's."""

    name, scheme = "vectors, bfv", "bfv"


class Bgv(Vectors):
    """BGV's."""

    name, scheme = "vectors, bgv", "bgv"


class Ckks(Vectors):
    """CKKS's."""

    name, scheme = "vectors, ckks", "ckks"


MACHINES = (Bfv, Bgv, Ckks)


def test_there_is_a_machine_for_each_scheme() -> None:
    assert tuple(machine.scheme for machine in MACHINES) == SCHEMES


@pytest.mark.parametrize("machine", MACHINES)
def test_random_programs(machine: type[Vectors]) -> None:
    search(machine, examples=20, steps=15)
    drive(machine, 400, seed=1)


@pytest.mark.long
@pytest.mark.parametrize("machine", MACHINES)
def test_many_random_programs(machine: type[Vectors]) -> None:
    drive(machine, long_share(0.05), seed=1_000_000)

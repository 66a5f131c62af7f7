"""Random programs on vectors of BFV, BGV and CKKS, step by step beside the same in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    multiple,
    rule,
    run_state_machine_as_test,
)

import hesc
from tests.leveled_party import SCHEMES, party

if TYPE_CHECKING:
    from collections.abc import Callable

# A vector and what it decrypts to.
Pair = tuple[hesc.EncryptedVector, Any]
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "r-": lambda a, b: b - a,
    "*": lambda a, b: a * b,
}


class Programs(RuleBasedStateMachine):
    """Every value is right within its stated error, and so is all that is claimed of its slots.

    Or the call is refused: with `ShapeError` exactly where numpy refuses the shapes too, with
    `NoiseBudgetError` where the room ends.
    """

    scheme = "bfv"
    pairs = Bundle[Pair]("pairs")

    def __init__(self) -> None:
        super().__init__()
        self.party = party(self.scheme)
        self.ckks = self.scheme == "ckks"
        self.rng = np.random.default_rng(0)

    def numbers(self, shape: Any, *, complex_values: bool) -> Any:
        found = self.party.numbers(self.rng, shape)
        if complex_values and self.ckks:
            found = found + 1j * self.party.numbers(self.rng, shape)
        return found

    def reduced(self, numbers: Any) -> Any:
        """Exact results are known modulo the plaintext modulus."""
        t = self.party.params.plain_modulus
        return numbers if t is None else (numbers + t // 2) % t - t // 2

    def compared(self, compute: Any, expect: Any) -> Any:
        """A step of the program; nothing if both sides refuse it, or the room has ended."""
        try:
            expected = np.atleast_1d(expect())
        except ValueError:
            with pytest.raises(hesc.ShapeError):
                compute()
            return multiple()
        try:
            found = compute()
        except hesc.NoiseBudgetError:
            return multiple()
        self.party.check(found, expected)
        return found, self.reduced(expected)

    @initialize(seed=st.integers(0, 2**32 - 1))
    def seeded(self, seed: int) -> None:
        """What numbers come is the seed's business; hypothesis chooses the program."""
        self.rng = np.random.default_rng(seed)

    @rule(target=pairs, length=st.integers(1, 20), seeded=st.booleans(), z=st.booleans())
    def encrypt(self, length: int, seeded: bool, z: bool) -> Any:
        x, p = self.numbers(length, complex_values=z), self.party
        if seeded:
            return self.compared(lambda: p.public.read(p.secret.encrypt_to_bytes(x)), lambda: x)
        return self.compared(lambda: p.public.encrypt(x), lambda: x)

    @rule(target=pairs, a=pairs, b=pairs, operation=st.sampled_from(["+", "-", "*", "dot"]))
    def vectors(self, a: Pair, b: Pair, operation: str) -> Any:
        (v, x), (w, y) = a, b
        if operation == "dot":
            return self.compared(lambda: v.dot(w), lambda: np.dot(x, y))
        compute = OPERATIONS[operation]
        return self.compared(lambda: compute(v, w), lambda: compute(x, y))

    @rule(
        target=pairs,
        a=pairs,
        size=st.sampled_from(["number", "one", "same", "other"]),
        z=st.booleans(),
        operation=st.sampled_from(["+", "-", "r-", "*", "@"]),
    )
    def in_the_clear(self, a: Pair, size: str, z: bool, operation: str) -> Any:
        v, x = a
        lengths = {"number": (), "one": 1, "same": len(x), "other": len(x) + 1}
        y = self.numbers(lengths[size], complex_values=z)
        if operation == "@":
            return self.compared(lambda: np.atleast_1d(y) @ v, lambda: np.atleast_1d(y) @ x)
        compute = OPERATIONS[operation]
        return self.compared(lambda: compute(v, y), lambda: compute(x, y))

    @rule(target=pairs, a=pairs, degree=st.integers(0, 5), z=st.booleans())
    def polynomial(self, a: Pair, degree: int, z: bool) -> Any:
        v, x = a
        coefficients = self.numbers(degree + 1, complex_values=z)

        def expected() -> Any:
            total = np.zeros(len(x), dtype=np.result_type(x, coefficients))
            for coefficient in coefficients[::-1]:
                total = self.reduced(total * x + coefficient)
            return total

        return self.compared(lambda: v.polynomial(coefficients), expected)

    @rule(
        target=pairs,
        a=pairs,
        rows=st.integers(1, 20),
        more_columns=st.sampled_from([0, 0, 0, 1]),
        z=st.booleans(),
    )
    def matrix(self, a: Pair, rows: int, more_columns: int, z: bool) -> Any:
        v, x = a
        m = self.numbers((rows, len(x) + more_columns), complex_values=z)
        return self.compared(lambda: m @ v, lambda: m @ x)

    @rule(target=pairs, a=pairs, steps=st.integers(-40, 40))
    def rotate(self, a: Pair, steps: int) -> Any:
        v, x = a
        return self.compared(lambda: v.rotate(steps), lambda: np.roll(x, -steps))

    @rule(target=pairs, a=pairs)
    def conjugate(self, a: Pair) -> Any:
        v, x = a
        if self.ckks:
            return self.compared(v.conjugate, lambda: np.conj(x))
        with pytest.raises(hesc.ParameterError, match="conjugates"):
            v.conjugate()
        return multiple()

    @rule(target=pairs, a=pairs, level=st.integers(1, 9))
    def travel(self, a: Pair, level: int) -> Any:
        v, x = a
        keys = self.party.public
        lower = min(level, v.level)
        return self.compared(lambda: keys.read(v.mod_switch_to(lower).to_bytes()), lambda: x)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_random_programs(scheme: str) -> None:
    class Case(Programs):
        pass

    Case.scheme = scheme
    run_state_machine_as_test(
        Case, settings=settings(max_examples=30, stateful_step_count=15, deadline=None)
    )

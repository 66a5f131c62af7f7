"""Random programs: rules written once, driven by hypothesis or by a plain generator."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

LONG: Final = 1_000_000
"""Operations of all long runs together, unless `HESC_LAWS_OPERATIONS` says how many for each."""

# Values that a program keeps to work on; older ones are forgotten.
_KEPT: Final = 12
# Steps of a program that the plain generator drives, as many as hypothesis takes at most.
_STEPS: Final = 50

tally: dict[str, Counter[str]] = {}
"""By machine: how many operations gave a checked value, and how many were refused as expected."""


class Argument(NamedTuple):
    """What a rule is given: hypothesis draws it, or the plain generator does."""

    strategy: st.SearchStrategy[Any]
    sample: Callable[[np.random.Generator], Any]


def one_of(*options: Any) -> Argument:
    """One of these."""
    return Argument(st.sampled_from(options), lambda rng: options[rng.integers(len(options))])


def between(least: int, most: int) -> Argument:
    """A whole number of this range, both ends included."""
    return Argument(st.integers(least, most), lambda rng: int(rng.integers(least, most + 1)))


SEED: Final = between(0, 2**32 - 1)
OPERAND: Final = Argument(
    st.integers(0, _KEPT - 1), lambda rng: int(_KEPT * rng.random() * rng.random())
)
"""Which kept value, by its age; young ones more often, so that chains of operations grow."""
FLAG: Final = one_of(False, True)


def operation(**arguments: Argument) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a method a rule that both drivers know."""

    def decorate(method: Callable[..., None]) -> Callable[..., None]:
        # hypothesis has other types for rules with bundles.
        make: Any = rule
        made: Any = make(**{name: each.strategy for name, each in arguments.items()})(method)
        made.arguments = arguments
        return made  # type: ignore[no-any-return]

    return decorate


class Programs(RuleBasedStateMachine, Generic[T]):
    """A program: values that were made, and rules that make more of them.

    A subclass has a `name`, `start`, which makes the first values, and methods marked `operation`.
    Arguments choose the program; the numbers in it come from `rng`, which one seed decides.
    """

    name = "programs"

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[T] = []
        self.rng = np.random.default_rng(0)
        self.counts = tally.setdefault(self.name, Counter())

    def start(self) -> None:
        """Chooses parameters and makes the first values."""
        raise NotImplementedError

    @initialize(seed=SEED.strategy)
    def begin(self, seed: int) -> None:
        """The first step of every program."""
        self.rng = np.random.default_rng(seed)
        self.start()

    def pick(self, age: int) -> T:
        """A kept value."""
        return self.kept[-1 - age % len(self.kept)]

    def keep(self, value: T) -> None:
        """Keeps a value that was checked."""
        self.counts["right"] += 1
        if len(self.kept) == _KEPT:
            del self.kept[0]
        self.kept.append(value)

    def agreed(self) -> None:
        """Counts a value that was checked and is not kept."""
        self.counts["right"] += 1

    def refused(
        self, call: Callable[[], Any], errors: type[Exception] | tuple[type[Exception], ...]
    ) -> None:
        """A call that must be refused by one of these errors."""
        with pytest.raises(errors):
            call()
        self.counts["refused"] += 1

    def chance(self, share: float) -> bool:
        """Whether something happens that does so in this share of cases."""
        return bool(self.rng.random() < share)


def search(machine: type[Programs[Any]], *, examples: int, steps: int) -> None:
    """Hypothesis looks for a program that breaks the law, and shows the shortest."""
    run_state_machine_as_test(
        machine, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None)
    )


def drive(machine: type[Programs[Any]], operations: int, seed: int) -> None:
    """Random programs until so many operations were checked; a failure names its program."""
    rules = operations_of(machine)
    counts = tally.setdefault(machine.name, Counter())
    wanted = counts.total() + operations
    program = seed
    while counts.total() < wanted:
        replay(machine, rules, program)
        program += 1


def replay(machine: type[Programs[Any]], rules: Sequence[Callable[..., None]], seed: int) -> None:
    """The program of one seed."""
    rng = np.random.default_rng(seed)
    program = machine()
    steps: list[str] = []
    try:
        program.begin(int(rng.integers(2**32)))
        for _ in range(_STEPS):
            chosen: Any = rules[int(rng.integers(len(rules)))]
            given = {name: each.sample(rng) for name, each in chosen.arguments.items()}
            steps.append(f"{chosen.__name__}({given})")
            chosen(program, **given)
    except BaseException as error:
        error.add_note(f"{machine.__name__}, program {seed}: " + "; ".join(steps[-12:]))
        raise


def operations_of(machine: type[Programs[Any]]) -> list[Callable[..., None]]:
    """A machine's rules."""
    found = [getattr(machine, name) for name in dir(machine)]
    return [method for method in found if hasattr(method, "arguments")]


def long_share(share: float) -> int:
    """Operations of a long run that has this share of all of them."""
    asked = os.environ.get("HESC_LAWS_OPERATIONS")
    return int(asked) if asked else round(share * LONG)

"""What a contender offers for a task, or why it does not; and runs of an offer, measured."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from hesc.inputs import whole
from hesc.planner.work import STAGES, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from hesc.planner.roles import Sees
    from hesc.planner.tasks import Task
    from hesc.planner.work import Work


_SHORT: Final = 0.008
MOST_RUNS: Final = 50
"""Of an offer, at most."""


class Parties(Protocol):
    """All sides of a way in one process; what travels between them are bytes."""

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """What goes up."""

    def answer(self, up: list[bytes]) -> list[bytes]:
        """What comes down."""

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """The results, as the problem's `exact` has them."""

    def held(self) -> int:
        """Bytes of keys and model at the server."""


class Refusal(NamedTuple):
    """Why a way is not offered."""

    way: str
    reason: str


@dataclass(frozen=True, eq=False)
class Offer:
    """A way to compute a task, with what it takes. Everything is known before it runs."""

    way: str
    """The contender's name."""
    parameters: str
    """Its parameter set, and what else it chose."""
    work: Work
    """Kernels, by stage."""
    up: int
    """Bytes."""
    down: int
    """Bytes."""
    held: int
    """Bytes of keys and model at the server."""
    error: float
    """The root mean square error that it states, at most."""
    sees: Sees
    """Who learns what."""
    prepare: Callable[[], Parties] = field(repr=False)
    """Makes keys and model: set-up, which no objective counts."""

    @property
    def memory(self) -> int:
        """Bytes that the server holds."""
        return self.held + self.up + self.down

    def seconds(self, times: Mapping[str, float]) -> float | None:
        """Of all sides; None where the calibration does not know its kernels."""
        return seconds(self.work, times)


class Measured(NamedTuple):
    """What happened."""

    stages: dict[str, float]
    """Seconds of each."""
    up: int
    down: int
    held: int
    values: NDArray[np.float64]
    """Results of the first run."""
    error: float
    """Their root mean square error."""

    @property
    def seconds(self) -> float:
        """Of all sides."""
        return sum(self.stages.values())


def measure(offer: Offer, task: Task, x: NDArray[Any], *, repetitions: int = 3) -> Measured:
    """Runs an offer: keys and model once, then encrypts, evaluates and decrypts some times.

    Args:
        offer: of this task.
        task: what is computed.
        x: its data, checked by the problem.
        repetitions: of which medians are taken. Where there are several, a first run that is not
            timed comes before them, and short ones go on for a few milliseconds: caches and
            predictors of processors take some runs to warm.

    """
    repetitions = whole(repetitions, "repetitions", 1, MOST_RUNS)
    parties = offer.prepare()
    runs: list[tuple[float, float, float]] = []
    values: NDArray[np.float64] | None = None
    up: list[bytes] = []
    down: list[bytes] = []
    first = time.perf_counter()
    turn = 0
    while turn < repetitions + (repetitions > 1) or _is_short(turn, repetitions, first):
        begin = time.perf_counter()
        up = parties.encrypt(x)
        encrypted = time.perf_counter()
        down = parties.answer(up)
        answered = time.perf_counter()
        found = parties.decrypt(down)
        end = time.perf_counter()
        values = found if values is None else values
        if turn or repetitions == 1:
            runs.append((encrypted - begin, answered - encrypted, end - answered))
        turn += 1
    assert values is not None  # noqa: S101 - there is a first run
    exact = task.problem.exact(x)
    error = float(np.sqrt(np.square(values - exact).mean()))
    stages = {stage: statistics.median(run[at] for run in runs) for at, stage in enumerate(STAGES)}
    return Measured(stages, _size(up), _size(down), parties.held(), values, error)


def _is_short(turn: int, repetitions: int, first: float) -> bool:
    return repetitions > 1 and turn < MOST_RUNS and time.perf_counter() - first < _SHORT


def _size(messages: list[bytes]) -> int:
    return sum(map(len, messages))

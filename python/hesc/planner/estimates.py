"""What a candidate estimates for a task, or why it does not; and runs of an estimate, measured."""

from __future__ import annotations

import math
import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from hesc._support.inputs import whole
from hesc.planner.reference import reading
from hesc.planner.work import STAGES, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from hesc.planner.roles import Sees
    from hesc.planner.tasks import Task
    from hesc.planner.work import Work


LATTICE: Final = 2.0**-128
"""The probability that a number on a lattice decrypts wrongly, at most: what its noise claims."""
ROUNDING: Final = 1e-12
"""What sums of doubles err, beside the largest result, at most."""
MOST_RUNS: Final = 50
"""Groups of runs of an estimate, at most."""
# Seconds of all runs of something short, of runs between two readings of the reference kernel, of
# the longest reading.
_SHORT: Final = 0.003
_GROUP: Final = 0.0005
_READING: Final = 0.03


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


class Infeasible(NamedTuple):
    """Why a way is not offered."""

    way: str
    reason: str


@dataclass(frozen=True, eq=False)
class Estimate:
    """A way to compute a task, with what it takes. Everything is known before it runs."""

    way: str
    """The candidate's name."""
    parameters: str
    """The way's parameter set, and what else it chose."""
    work: Work
    """Kernels, by stage."""
    up: int
    """Bytes."""
    down: int
    """Bytes."""
    held: int
    """Bytes of keys and model at the server."""
    error: float
    """What it states, at most: the root mean square error, or the share of classes changed."""
    failure: float
    """The probability that any result is wrong beyond that, at most."""
    sees: Sees
    """Who learns what."""
    prepare: Callable[[], Parties] = field(repr=False)
    """Makes keys and model: set-up, which no objective counts."""

    @property
    def memory(self) -> int:
        """Bytes that the server holds: keys and model, and a query and its answer beside them."""
        return self.held + self.up + self.down

    def seconds(self, times: Mapping[str, float]) -> float | None:
        """Seconds of all sides; None where the calibration does not know the way's kernels."""
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
    """The results' root mean square error; of classes the share that differs."""
    reference: float
    """Seconds of `hesc.planner.reference` beside the runs."""

    @property
    def memory(self) -> int:
        """Bytes that the server held, as `Estimate.memory` predicts them."""
        return self.held + self.up + self.down

    @property
    def seconds(self) -> float:
        """Seconds of all sides."""
        return sum(self.stages.values())


def measure(
    estimate: Estimate,
    task: Task,
    x: NDArray[Any],
    *,
    repetitions: int = 3,
    enough: float = math.inf,
) -> Measured:
    """Runs an estimate: keys and model once, then encrypts, evaluates and decrypts some times.

    Args:
        estimate: of this task.
        task: what is computed.
        x: its data, checked by the problem.
        repetitions: of which medians are taken. Where there are several, a first run that is not
            timed comes before them, and short ones go on for a few milliseconds: caches and
            predictors of processors, and tables that a first run makes, take it. Between runs the
            reference is read.
        enough: seconds that a first run takes of which one repetition is enough.

    """
    parties, one, stages, reference = _timed(estimate, x, repetitions, enough)
    error = task.problem.error(one.values, x)
    up, down = _size(one.up), _size(one.down)
    return Measured(stages, up, down, parties.held(), one.values, error, reference)


def timed(
    estimate: Estimate, x: NDArray[Any], *, repetitions: int = 3, enough: float = math.inf
) -> tuple[dict[str, float], float]:
    """Seconds of stages, and of the reference kernel beside them, as `measure` takes them."""
    _, _, stages, reference = _timed(estimate, x, repetitions, enough)
    return stages, reference


def _timed(
    estimate: Estimate, x: NDArray[Any], repetitions: int, enough: float
) -> tuple[Parties, _Run, dict[str, float], float]:
    """All sides, their first run, seconds of stages, and of the reference kernel."""
    repetitions = whole(repetitions, "repetitions", 1, MOST_RUNS)
    parties = estimate.prepare()
    groups: list[tuple[list[float], float]] = []
    before = reading()
    begin = time.perf_counter()
    one = _once(parties, x)
    took = time.perf_counter() - begin
    if repetitions == 1:
        groups.append((list(one.seconds), (before + reading(min(_READING, took / 20))) / 2))
    elif took >= enough:
        repetitions = 1
    while len(groups) < repetitions or _is_short(len(groups), repetitions, begin):
        start = time.perf_counter()
        runs = [_once(parties, x).seconds]
        while time.perf_counter() - start < _GROUP:
            runs.append(_once(parties, x).seconds)
        took = time.perf_counter() - start
        after = reading(min(_READING, took / 20))
        medians = [statistics.median(run[at] for run in runs) for at in range(len(STAGES))]
        groups.append((medians, (before + after) / 2))
        before = after
    stages = {
        stage: statistics.median(times[at] for times, _ in groups)
        for at, stage in enumerate(STAGES)
    }
    # What makes a time and its reference kernel most alike: each group has its own speed.
    ratio = statistics.median(sum(times) / speed for times, speed in groups)
    return parties, one, stages, sum(stages.values()) / ratio


class _Run(NamedTuple):
    seconds: tuple[float, float, float]
    up: list[bytes]
    down: list[bytes]
    values: NDArray[np.float64]


def _once(parties: Parties, x: NDArray[Any]) -> _Run:
    begin = time.perf_counter()
    up = parties.encrypt(x)
    encrypted = time.perf_counter()
    down = parties.answer(up)
    answered = time.perf_counter()
    values = parties.decrypt(down)
    end = time.perf_counter()
    return _Run((encrypted - begin, answered - encrypted, end - answered), up, down, values)


def _is_short(groups: int, repetitions: int, begin: float) -> bool:
    return repetitions > 1 and groups < MOST_RUNS and time.perf_counter() - begin < _SHORT


def _size(messages: list[bytes]) -> int:
    return sum(map(len, messages))

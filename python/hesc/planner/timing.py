"""Runs of an estimate, stage by stage, beside the reference kernel."""

from __future__ import annotations

import math
import statistics
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._support.inputs import whole
from hesc.planner.estimates import Measured
from hesc.planner.reference import reading
from hesc.planner.work import STAGES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.planner.estimates import Estimate, Sides
    from hesc.planner.tasks import Task

MOST_RUNS: Final = 50
"""Groups of runs of an estimate, at most."""
# Seconds of all runs of something short, of runs between two readings of the reference kernel, of
# the longest reading.
_SHORT: Final = 0.003
_GROUP: Final = 0.0005
_READING: Final = 0.03


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
) -> tuple[Sides, _Run, dict[str, float], float]:
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


def _once(parties: Sides, x: NDArray[Any]) -> _Run:
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

"""Kernels timed on this processor: all candidates run their own smallest tasks, stage by stage."""

from __future__ import annotations

import statistics
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._support.progress import Bar
from hesc.planner.calibration import Calibration, machine, own_threads
from hesc.planner.estimates import Estimate
from hesc.planner.timing import timed
from hesc.planner.work import STAGES, fitted

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.planner.work import Work

TABLES: Final = ("hesc.protocols.candidates", "hesc.integers.candidates")
"""Modules whose `CANDIDATES` are timed: those for tasks, and for plans of integers."""
_LONG: Final = 0.01
"""Seconds of a first run of which one repetition is enough."""


def probes() -> list[tuple[Estimate, NDArray[Any]]]:
    """Estimates and data that times are measured with, of all candidates in an order by chance.

    Cost: plans, and keys for those that learn sizes by trying.
    """
    rng = np.random.default_rng(1)
    found: list[tuple[Estimate, NDArray[Any]]] = []
    for candidate in (each for name in TABLES for each in import_module(name).CANDIDATES):
        requests = list(candidate.probes(rng))
        for one in candidate.timed_as():
            estimates = ((one.consider(request), x) for request, x in requests)
            found += [(estimate, x) for estimate, x in estimates if isinstance(estimate, Estimate)]
    # What slows the processor for a second is then no one way's.
    return [found[at] for at in rng.permutation(len(found))]


def calibrate(*, progress: bool | Callable[[int, int], object] = True) -> Calibration:
    """Measures all kernels on the threads of this process, eight seconds of one.

    Times of kernels are what explains the runs of probes best (`hesc.planner.work.fitted`).
    """
    runs: dict[str, list[tuple[Work, float]]] = {}
    speeds: list[float] = []
    todo = probes()
    with Bar("kernels timed", progress) as bar:
        for done, (estimate, x) in enumerate(todo):
            # Long runs vary little, and would take most of the time.
            stages, reference = timed(estimate, x, enough=_LONG)
            speeds.append(reference)
            for stage in STAGES:
                part = {k: n for k, n in estimate.work.items() if k.split(".")[-2] == stage}
                if part:
                    group = next(iter(part)).rsplit(".", 1)[0]
                    # In units of the reference kernel: the processor's speed changes meanwhile.
                    relative = stages[stage] / reference
                    runs.setdefault(group, []).append((part, relative))
            bar.show(done + 1, len(todo))
    speed = statistics.median(speeds)
    times: dict[str, float] = {}
    for known in runs.values():
        times |= {name: time * speed for name, time in fitted(known).items()}
    return Calibration(times, machine(), speed, own_threads())

"""How long the stages of a run take."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy as np
    from numpy.typing import NDArray

Run = tuple[dict[str, float], "NDArray[np.float64]"]
"""Milliseconds of each stage, and the outputs."""


class Staged(Protocol):
    """Something that evaluates the network and counts what it sends."""

    bytes_up: int
    bytes_down: int

    def run(self, features: NDArray[np.float64]) -> tuple[dict[str, float], NDArray[np.float64]]:
        """Milliseconds of each stage and the outputs (samples, outputs) or (outputs,)."""


class Stopwatch:
    """Times the stages of one run: `clock("Enc")` ends the stage of that name."""

    def __init__(self) -> None:
        self.milliseconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def __call__(self, stage: str) -> None:
        """Ends a stage."""
        now = time.perf_counter()
        self.milliseconds[stage] = self.milliseconds.get(stage, 0.0) + (now - self._last) * 1e3
        self._last = time.perf_counter()


def medians(runs: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """The median of each stage, and of the totals as `Total`."""
    runs = list(runs)
    result = {stage: statistics.median(run[stage] for run in runs) for stage in runs[0]}
    result["Total"] = statistics.median(sum(run.values()) for run in runs)
    return result

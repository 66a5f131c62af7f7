"""Times in turns with a unit: one transform of 8192 points."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from hesc import _native

if TYPE_CHECKING:
    from collections.abc import Callable

UNIT: Final = (2 * 8192, 50)
"""The unit: the ring's index, and the bits of the prime."""


class Timing(NamedTuple):
    """How long a call took, in seconds and in transforms of the same run."""

    seconds: float
    units: float


class Clock:
    """Times calls in turns with the unit, so that both see the same noise of the machine."""

    def __init__(self, *, quick: bool) -> None:
        self._unit = _native.Transform(*UNIT)
        self._least, self._rounds = (1, 5) if quick else (3, 21)
        self._budget = 0.3 if quick else 3.0

    def unit(self) -> float:
        """Seconds of one transform."""
        return self._unit.seconds(20) / 20

    def time(self, call: Callable[[], object]) -> Timing:
        """The medians of rounds, each beside the unit."""
        call()
        runs: list[Timing] = []
        end = time.perf_counter() + self._budget
        while len(runs) < self._rounds and (len(runs) < self._least or time.perf_counter() < end):
            runs.append(self.once(call))
        return Timing(*(statistics.median(column) for column in zip(*runs, strict=True)))

    def once(self, call: Callable[[], object]) -> Timing:
        """One call, which takes long: beside the unit before and after it."""
        before = self.unit()
        start = time.perf_counter()
        call()
        seconds = time.perf_counter() - start
        return Timing(seconds, 2 * seconds / (before + self.unit()))

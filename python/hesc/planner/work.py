"""Work as counts of kernels, and what a calibration makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

STAGES: Final = ("encrypt", "answer", "decrypt")
"""The stages of a run: the client's, the server's, the client's again."""

Work = dict[str, float]
"""How often each kernel runs, by its name `way.set.stage.kernel`."""


CACHE: Final = 1 << 23
"""Bytes that processors keep close, about."""


class StageCount(NamedTuple):
    """Units of one stage."""

    calls: float
    """Calls from Python."""
    ciphertexts: float
    """Or steps on them."""
    numbers: float
    """Encoded or decoded."""
    bytes: float = 0
    """Written or read."""
    spilled: float = 0
    """Bytes among these that are beyond what processors keep close."""
    counted: float = 0
    """Seconds that a plan's maker counted."""


def parts_of(samples: int, most: int) -> list[int]:
    """How many go into each message, that takes so many at most."""
    whole, rest = divmod(samples, most)
    return [most] * whole + [rest] * (rest > 0)


def counted(prefix: str, **stages: StageCount) -> Work:
    """The work of stages, under names that begin with way and set."""
    return {
        f"{prefix}.{stage}.{kernel}": value
        for stage, count in stages.items()
        for kernel, value in count._asdict().items()
        if value
    }


def seconds(work: Mapping[str, float], times: Mapping[str, float]) -> float | None:
    """What work takes; None where a kernel was never timed. Seconds that are counted are that."""
    total = 0.0
    for name, count in work.items():
        each = 1.0 if name.endswith(".counted") else times.get(name)
        if each is None:
            return None
        total += count * each
    return total


def fitted(runs: Sequence[tuple[Mapping[str, float], float]]) -> dict[str, float]:
    """The times of kernels that come nearest to measured runs, in relative terms; none negative.

    The best of all subsets of kernels, by least squares: stages have six kernels at most.

    Args:
        runs: work, and what it took.

    """
    names = sorted({name for work, _ in runs for name in work})
    rows = np.array([[work.get(name, 0.0) / time for name in names] for work, time in runs])
    best: NDArray[np.float64] = np.zeros(len(names))
    least = np.inf
    for mask in range(1, 1 << len(names)):
        chosen = [at for at in range(len(names)) if mask >> at & 1]
        found = np.linalg.lstsq(rows[:, chosen], np.ones(len(runs)), rcond=None)[0]
        if (found < 0).any():
            continue
        off = float(np.square(rows[:, chosen] @ found - 1).sum())
        if off < least - 1e-12:
            least = off
            best = np.zeros(len(names))
            best[chosen] = found
    return dict(zip(names, best.tolist(), strict=True))

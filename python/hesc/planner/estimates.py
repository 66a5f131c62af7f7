"""What a candidate estimates for a task, or why it does not; and what a run of it measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from hesc.planner.work import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from hesc._native import HescError
    from hesc.planner.roles import Sees
    from hesc.planner.work import Work


LATTICE: Final = 2.0**-128
"""The probability that a number on a lattice decrypts wrongly, at most: what its noise claims."""
ROUNDING: Final = 1e-12
"""What sums of doubles err, beside the largest result, at most."""


class Sides(Protocol):
    """All sides of a way in one process; what travels between them are bytes."""

    def encrypt(self, x: Any) -> list[bytes]:
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
    error: HescError | None = None
    """What the candidate raised, if it raised its reason."""


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
    prepare: Callable[[], Sides] = field(repr=False)
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

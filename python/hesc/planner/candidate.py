"""What a candidate is: one way to compute what is asked for, with the probes it is timed on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from hesc.planner.estimates import Estimate, Infeasible
    from hesc.planner.work import Work


class Request(Protocol):
    """What is to be computed, and what is to be least: a task, or a plan request for integers."""

    @property
    def title(self) -> str:
        """The first line of a table, what is computed before its first comma."""

    @property
    def error_name(self) -> str:
        """What the table has in its column of errors."""

    def shown(self, error: float) -> str:
        """An error as it stands there."""

    @property
    def samples(self) -> int:
        """How many are computed at once."""

    @property
    def objective(self) -> str:
        """One of `hesc.planner.OBJECTIVES`."""

    @property
    def bandwidth(self) -> float:
        """Bytes a second between the sides."""


RequestT = TypeVar("RequestT", bound=Request)


class Candidate(ABC, Generic[RequestT]):
    """One way to compute requests. It is not made without probes, which its times come from."""

    name: str
    """What tables call it, and its kernels."""

    @abstractmethod
    def consider(self, task: RequestT) -> Estimate | Infeasible:
        """What it takes for a task, or why it does not compute it.

        Raises:
            HescError: as the ways' own plans refuse; taken as a reason against it.

        """

    @abstractmethod
    def probes(self, rng: np.random.Generator) -> Iterator[tuple[RequestT, NDArray[Any]]]:
        """Small tasks with data that it is timed on: each set and stage at sizes far apart."""

    def work_of(self, plan: Any, samples: int, seconds: float) -> Work | None:
        """Work of a plan of `hesc.protocols` that computes as this candidate does.

        Args:
            plan: with samples of a query, bytes and parameters.
            samples: how many are computed at once.
            seconds: what the server takes for them, as the plan's maker counted it.

        Returns:
            Kernels of all sides; by default None, where the server's seconds are all that counts.

        """
        del plan, samples, seconds
        return None

    def timed_as(self) -> tuple[Candidate[RequestT], ...]:
        """Candidates that the probes are run on: by default this one."""
        return (self,)

"""What a candidate is: a way to compute tasks, with the probes that it is timed on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from hesc.planner.estimates import Estimate, Infeasible
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import Task
    from hesc.planner.work import Work


class Candidate(ABC):
    """One way to compute tasks. It is not made without probes, which its times come from."""

    name: str
    """What tables call it, and its kernels."""

    @abstractmethod
    def consider(self, task: Task) -> Estimate | Infeasible:
        """What it takes for a task, or why it does not compute it.

        Raises:
            HescError: as the ways' own plans refuse; taken as a reason against it.

        """

    @abstractmethod
    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
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

    def timed_as(self) -> tuple[Candidate, ...]:
        """Candidates that the probes are run on: by default this one."""
        return (self,)

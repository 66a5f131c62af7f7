"""The planned model beside the other ways to compute its scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hesc._native import ParameterError

if TYPE_CHECKING:
    from hesc.planner import Decision


class Contending:
    """Compares ways, for estimators that have made a plan."""

    def contenders(
        self, samples: int = 1, *, objective: str = "latency", bandwidth: float = 1e7
    ) -> Decision:
        """The table of contenders: time, bytes, error and disclosure of every way, and why not.

        Print it; `measure(x)` of what it returns runs all of them, on features as they are
        encrypted. What is served is ring products, whichever is cheapest.

        Args:
            samples: how many are scored at once.
            objective: what is to be least: "latency", "throughput", "bytes" or "memory".
            bandwidth: bytes a second between the sides.

        Raises:
            ParameterError: there is no plan, or it hides weights, which no other way here does.

        """
        from hesc.planner import Scores, Task, decide

        private: Any = self
        plan, linear = private._planned()  # noqa: SLF001 - of the same object
        if plan.hidden:
            raise ParameterError(
                "this plan hides its weights, which ring products alone do here: there is nothing "
                "to compare them with"
            )
        low, high = plan.ring.ranges
        return decide(
            Task(
                Scores(linear.weights, linear.intercepts, low=low, high=high),
                max_error=plan.error,
                samples=samples,
                objective=objective,
                bandwidth=bandwidth,
            )
        )

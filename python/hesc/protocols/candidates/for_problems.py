"""What candidates for one kind of problem have in common: which tasks they are asked about."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from hesc._support import shares
from hesc.planner.candidate import Candidate
from hesc.planner.estimates import Estimate, Infeasible
from hesc.planner.tasks import ClassProblem, DistanceProblem, ProductProblem, ScoreProblem, Task

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from hesc.planner.estimates import Sides

_ERRORS: Final = 10.0
"""Errors of a score that a class is to be ahead by: seven deviations of a difference of two."""


class ForScores(Candidate[Task]):
    """Ways for linear scores, and for classes where the client may see the scores."""

    def consider(self, task: Task) -> Estimate | Infeasible:
        """See `Candidate`."""
        if isinstance(task.problem, ScoreProblem):
            return self.scores(task, task.problem)
        if isinstance(task.problem, ClassProblem):
            return self._classes(task, task.problem)
        return Infeasible(self.name, f"it computes sums with weights, not {task.problem.name}")

    @abstractmethod
    def scores(self, task: Task, problem: ScoreProblem) -> Estimate | Infeasible:
        """What it takes for scores."""

    def _classes(self, task: Task, problem: ClassProblem) -> Estimate | Infeasible:
        """The scores, of which the client takes the largest, as exactly as classes need them."""
        margins = problem.margins()
        rows = len(margins)
        lost = shares.misses(task.max_error, rows, tried=2)
        if lost < 0:
            return Infeasible(
                self.name,
                f"{rows} rows are too few to tell a share of {task.max_error:.2g}: give more rows=",
            )
        error = float(margins[min(lost, rows - 1)]) / _ERRORS
        if not error > 0:
            return Infeasible(
                self.name, "too many of the rows are on the border between two classes"
            )
        estimate = self.scores(
            replace(task, problem=problem.scores, max_error=error), problem.scores
        )
        if isinstance(estimate, Infeasible):
            return estimate
        near = int((margins < _ERRORS * estimate.error).sum())
        # Half of the doubt is for the margin whose place was fixed before a row was seen, half for
        # all places: the rows say where errors reach to.
        share = shares.most(near, rows, tried=2 * (rows + 1))
        if near <= lost:
            share = min(share, shares.most(lost, rows, tried=2))
        return replace(
            estimate,
            error=share,
            prepare=partial(_Largest, estimate.prepare, problem),
        )


class ForProducts(Candidate[Task]):
    """Ways for products of encrypted factors."""

    def consider(self, task: Task) -> Estimate | Infeasible:
        """See `Candidate`."""
        if isinstance(task.problem, ProductProblem):
            return self.products(task, task.problem)
        name = task.problem.name
        return Infeasible(
            self.name,
            f"it computes single products of encrypted factors; {name} are sums of many",
        )

    @abstractmethod
    def products(self, task: Task, problem: ProductProblem) -> Estimate | Infeasible:
        """What it takes for products."""


class ForDistances(Candidate[Task]):
    """Ways for distances of binary codes."""

    def consider(self, task: Task) -> Estimate | Infeasible:
        """See `Candidate`."""
        if isinstance(task.problem, DistanceProblem):
            return self.distances(task, task.problem)
        return Infeasible(
            self.name, f"it compares binary codes; {task.problem.name} are of numbers"
        )

    @abstractmethod
    def distances(self, task: Task, problem: DistanceProblem) -> Estimate | Infeasible:
        """What it takes for distances."""


class _Largest:
    """Parties for scores whose client takes the largest."""

    def __init__(self, prepare: Callable[[], Sides], problem: ClassProblem) -> None:
        self._parties, self._problem = prepare(), problem

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """The client's encrypted samples, as for scores."""
        return self._parties.encrypt(x)

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Scores."""
        return self._parties.answer(up)

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Classes."""
        return self._problem.places(self._parties.decrypt(down))

    def held(self) -> int:
        """Bytes of keys and model at the server, as for scores."""
        return self._parties.held()

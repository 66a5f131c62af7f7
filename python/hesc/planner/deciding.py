"""Which way is taken for a task: compared, and measured on data."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Self

from hesc._native import ParameterError
from hesc._support.inputs import of_kind, real_array, whole
from hesc.planner.decision import Decision, chance, compared
from hesc.planner.roles import objection
from hesc.planner.tasks import Task, rounded_up
from hesc.planner.timing import MOST_RUNS, measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from hesc.planner.calibration import Calibration
    from hesc.planner.candidate import Candidate
    from hesc.planner.estimates import Estimate


@dataclass(frozen=True, eq=False, repr=False)
class TaskDecision(Decision[Task]):
    """What `decide` found. Print it: the table of candidates."""

    def measure(self, x: ArrayLike, *, repetitions: int = 3, most: float = 60.0) -> Self:
        """Runs every feasible estimate on data, whose figures `explain` then shows too.

        Args:
            x: the task's data.
            repetitions: runs of each, whose medians are taken.
            most: seconds for the repetitions of an estimate: where its first run, which is not
                counted, takes more than its share of them one repetition follows. Estimates of
                five times as many seconds do not run.

        Raises:
            ParameterError, ShapeError, OutOfRangeError: data of another shape or beyond the
                declared ranges; repetitions or seconds that are none.

        """
        repetitions = whole(repetitions, "repetitions", 1, MOST_RUNS)
        limit = real_array(most, "most")
        if limit.shape or not limit >= 0:
            raise ParameterError("most is a number of seconds, from zero on")
        data = self.task.problem.checked(x, self.task.samples)
        for estimate in self.estimates:
            predicted = estimate.seconds(self.calibration.times) or 0.0
            if predicted > 5 * most:
                continue
            self.measured[estimate.way] = measure(
                estimate,
                self.task,
                data,
                repetitions=repetitions,
                enough=float(limit) / repetitions,
            )
        return self


def decide(
    task: Task,
    *,
    calibration: Calibration | None = None,
    candidates: Sequence[Candidate[Task]] | None = None,
) -> TaskDecision:
    """Compares all ways to compute a task.

    Args:
        task: what is to be computed.
        calibration: times of kernels; None takes those of this processor that `hesc calibrate` has
            stored, or else the shipped ones of another.
        candidates: which ways to compare; None takes all, `hesc.protocols.candidates`.

    Returns:
        The feasible ones, the cheapest first, and the reasons against the others. Candidates whose
        kernels were never timed come last where time counts.

    """
    of_kind(task, "task", Task, "make one: Task(ScoreProblem(weights, low=0, high=16))")
    if candidates is None:
        # They build on protocols, which build on this package.
        candidates = import_module("hesc.protocols.candidates").CANDIDATES
    found = compared(task, candidates, calibration, _against)
    return TaskDecision(found.task, found.calibration, found.estimates, found.infeasible)


def _apart(error: float, most: float) -> str:
    """Both to as many digits as tell them apart, rounded up as tables have them."""
    pairs = ((rounded_up(error, n), rounded_up(most, n)) for n in range(2, 12))
    shown = next((pair for pair in pairs if pair[0] != pair[1]), (f"{error:.17g}", f"{most:.17g}"))
    return f"{shown[0]}, above {shown[1]}"


def _against(estimate: Estimate, task: Task) -> str:
    reason = objection(
        estimate.sees,
        setting=task.setting,
        disclose=task.disclose,
        own_model=task.own_model,
        hide_model=task.hide_model,
    )
    if not reason and not estimate.error <= task.max_error * (1 + 1e-9):
        reason = f"its error is {_apart(estimate.error, task.max_error)}"
        if task.problem.shares:
            reason = (
                f"it may change the class of {100 * estimate.error:.3g} % of samples, more than "
                f"{100 * task.max_error:.3g} %"
            )
    if not reason and not estimate.failure <= task.failure:
        reason = (
            f"some result is wrong with a probability of up to {chance(estimate.failure)}, more "
            f"than {chance(task.failure)}"
        )
    if not reason and estimate.memory > task.memory:
        reason = f"the server would hold {estimate.memory:,} bytes, more than {task.memory:,.0f}"
    return reason

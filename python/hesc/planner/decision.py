"""Which way is taken for a task: all of them beside each other, with the reason against each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from hesc._native import HescError, ParameterError
from hesc._support.inputs import of_kind, real_array, whole
from hesc._support.progress import duration
from hesc.planner.calibration import Calibration
from hesc.planner.candidates import CANDIDATES
from hesc.planner.estimates import MOST_RUNS, Estimate, Infeasible, Measured, measure
from hesc.planner.roles import SETTINGS, objection
from hesc.planner.tasks import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from hesc.planner.candidates.candidate import Candidate


@dataclass(frozen=True, eq=False)
class Decision:
    """What `decide` found. Print it: the table of candidates."""

    task: Task
    calibration: Calibration
    estimates: list[Estimate]
    """The feasible ones, the best first."""
    infeasible: list[Infeasible]
    """The others."""
    measured: dict[str, Measured] = field(default_factory=dict)
    """By way, once `measure` has run."""

    @property
    def chosen(self) -> Estimate:
        """The best by the objective, as predicted.

        Raises:
            ParameterError: nothing is feasible; the message has every reason.

        """
        if not self.estimates:
            reasons = "; ".join(f"{way}: {reason}" for way, reason in self.infeasible)
            raise ParameterError(f"no way computes this task as it is wished: {reasons}")
        return self.estimates[0]

    def cost(self, estimate: Estimate) -> float:
        """The objective, as predicted; infinite where a kernel was never timed."""
        return cost(self.task, self.calibration, estimate)

    def expected(self, estimate: Estimate) -> float | None:
        """Seconds of an estimate at the processor's speed while it was measured, as predicted.

        None where it was not measured, or a kernel was never timed.
        """
        found, predicted = self.measured.get(estimate.way), estimate.seconds(self.calibration.times)
        if found is None or predicted is None:
            return None
        return predicted * self.calibration.at(found.reference)

    def measure(self, x: ArrayLike, *, repetitions: int = 3, most: float = 60.0) -> Decision:
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

    def explain(self) -> str:
        """The table of candidates: predicted time, bytes, memory, error, disclosure, reasons."""
        head = (
            "",
            "way",
            "predicted",
            "up",
            "down",
            "server holds",
            "agreement" if self.task.problem.shares else "error",
            "fails",
            "who sees what, and parameters",
        )
        rows = [head]
        for mark, estimate in self._listed():
            rows.append(
                (
                    mark,
                    estimate.way,
                    _time(estimate.seconds(self.calibration.times)),
                    f"{estimate.up:,}",
                    f"{estimate.down:,}",
                    f"{estimate.memory:,}",
                    self._error(estimate.error),
                    _chance(estimate.failure),
                    f"{estimate.sees}; {estimate.parameters}",
                )
            )
            found = self.measured.get(estimate.way)
            if found is not None:
                held = f"{found.memory:,}"
                took, error = _time(found.seconds), self._error(found.error)
                up, down = f"{found.up:,}", f"{found.down:,}"
                speed = f"at {1 / self.calibration.at(found.reference):.2f} times the speed of then"
                rows.append(("", "  measured", took, up, down, held, error, "", speed))
        widths = [max(len(row[at]) for row in rows) for at in range(len(head) - 1)]
        lines = [
            " ".join(cell.ljust(size) for cell, size in zip(row, [*widths, 0], strict=True))
            for row in rows
        ]
        task = self.task
        title = (
            f"{task.problem.name} of {task.samples} samples, {task.setting} "
            f"({SETTINGS[task.setting]}), disclosing {task.disclose}; least {task.objective}; "
            f"times by {self.calibration.source}, threads: {self.calibration.threads}"
        )
        ways: dict[str, list[str]] = {}
        for way, reason in self.reasons().items():
            ways.setdefault(reason, []).append(way)
        refused = [f"  not {', '.join(names)}: {reason}" for reason, names in ways.items()]
        return "\n".join([title, *(line.rstrip() for line in lines), *refused])

    def __str__(self) -> str:
        return self.explain()

    def reasons(self) -> dict[str, str]:
        """Why candidates are infeasible, by name."""
        return dict(self.infeasible)

    def _listed(self) -> list[tuple[str, Estimate]]:
        """Rows of the table, with what marks them."""
        return [("*" * (at == 0), estimate) for at, estimate in enumerate(self.estimates)]

    def _repr_html_(self) -> str:
        """The table as notebooks show it, whose columns stay below each other."""
        return f"<pre>{escape(self.explain())}</pre>"

    def _error(self, error: float) -> str:
        """The error for the table, rounded against the way: of classes the share that stays."""
        if self.task.problem.shares:
            return f"{math.floor(1e4 * (1 - error)) / 100:.2f} %"
        return _rounded_up(error)

    def __repr__(self) -> str:
        best = self.estimates[0].way if self.estimates else "nothing"
        return (
            f"<hesc.planner.Decision: {best} of {len(self.estimates)} for {self.task.problem.name}>"
        )


def decide(
    task: Task,
    *,
    calibration: Calibration | None = None,
    candidates: Sequence[Candidate] = CANDIDATES,
) -> Decision:
    """Compares all ways to compute a task.

    Args:
        task: what is wished.
        calibration: times of kernels; None takes those of this processor that `hesc calibrate` has
            stored, or else the shipped ones of another.
        candidates: which ways to compare.

    Returns:
        The feasible ones, the cheapest first, and the reasons against the others. Candidates whose
        kernels were never timed come last where time counts.

    """
    of_kind(task, "task", Task, "make one: Task(Scores(weights, low=0, high=16))")
    known = Calibration.load() if calibration is None else calibration
    of_kind(known, "calibration", Calibration, "Calibration.load or Calibration.shipped gives one")
    estimates: list[Estimate] = []
    infeasible: list[Infeasible] = []
    for candidate in candidates:
        found = _considered(candidate, task)
        reason = _against(found, task) if isinstance(found, Estimate) else found.reason
        if isinstance(found, Estimate) and not reason:
            estimates.append(found)
        else:
            infeasible.append(Infeasible(found.way, reason))
    decision = Decision(task, known, estimates, infeasible)
    estimates.sort(key=lambda estimate: (decision.cost(estimate), estimate.way))
    return decision


def cost(task: Task, calibration: Calibration, estimate: Estimate) -> float:
    """The objective of an estimate, as predicted; infinite where a kernel was never timed."""
    return objective(task, estimate.seconds(calibration.times), estimate)


def objective(task: Task, seconds: float | None, sizes: Estimate | Measured) -> float:
    """What is to be least, of predicted or measured figures."""
    if task.objective == "bytes":
        return sizes.up + sizes.down
    if task.objective == "memory":
        return sizes.memory
    if seconds is None:
        return math.inf
    if task.objective == "throughput":
        return seconds / task.samples
    return seconds + (sizes.up + sizes.down) / task.bandwidth


def _rounded_up(error: float) -> str:
    """Two digits that are no less."""
    if not 0 < error < math.inf:
        return f"{error:.2g}"
    unit = 10.0 ** (math.floor(math.log10(error)) - 1)
    return f"{math.ceil(error / unit * (1 - 1e-12)) * unit:.2g}"


def _apart(error: float, most: float) -> str:
    """Both to as many digits as tell them apart."""
    digits = next((n for n in range(2, 17) if f"{error:.{n}g}" != f"{most:.{n}g}"), 17)
    return f"{error:.{digits}g}, above {most:.{digits}g}"


def _considered(candidate: Candidate, task: Task) -> Estimate | Infeasible:
    try:
        return candidate.consider(task)
    except HescError as error:
        return Infeasible(candidate.name, str(error))


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
            f"some result is wrong with a probability of up to {_chance(estimate.failure)}, more "
            f"than {_chance(task.failure)}"
        )
    if not reason and estimate.memory > task.memory:
        reason = f"the server would hold {estimate.memory:,} bytes, more than {task.memory:,.0f}"
    return reason


def _chance(probability: float) -> str:
    """A probability as a power of two, rounded up."""
    return f"2^{math.ceil(math.log2(probability))}" if probability > 0 else "never"


def _time(seconds: float | None) -> str:
    return "not timed" if seconds is None else duration(seconds)

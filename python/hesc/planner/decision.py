"""Which candidate is taken for a request: all beside each other, with the reasons against each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Generic

from hesc._native import HescError, ParameterError
from hesc._support.inputs import of_kind
from hesc._support.progress import duration
from hesc.planner.calibration import Calibration
from hesc.planner.candidate import RequestT
from hesc.planner.estimates import Estimate, Infeasible, Measured

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hesc.planner.candidate import Candidate, Request


@dataclass(frozen=True, eq=False)
class Decision(Generic[RequestT]):
    """What candidates estimate for a request. Print it: the table of candidates."""

    task: RequestT
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
            reasons = "; ".join(f"{way}: {reason}" for way, reason in self.reasons().items())
            raise ParameterError(f"no candidate does this task with these limits: {reasons}")
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

    def explain(self) -> str:
        """The table of candidates: predicted time, bytes, memory, error, disclosure, reasons."""
        head = (
            "",
            "way",
            "predicted",
            "up",
            "down",
            "server holds",
            self.task.error_name,
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
                    self.task.shown(estimate.error),
                    chance(estimate.failure),
                    f"{estimate.sees}; {estimate.parameters}",
                )
            )
            found = self.measured.get(estimate.way)
            if found is not None:
                held = f"{found.memory:,}"
                took, error = _time(found.seconds), self.task.shown(found.error)
                up, down = f"{found.up:,}", f"{found.down:,}"
                speed = f"at {1 / self.calibration.at(found.reference):.2f} times the speed of then"
                rows.append(("", "  measured", took, up, down, held, error, "", speed))
        widths = [max(len(row[at]) for row in rows) for at in range(len(head) - 1)]
        lines = [
            " ".join(cell.ljust(size) for cell, size in zip(row, [*widths, 0], strict=True))
            for row in rows
        ]
        title = (
            f"{self.task.title}; least {self.task.objective}; "
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
        return {refused.way: refused.reason for refused in self.infeasible}

    def _listed(self) -> list[tuple[str, Estimate]]:
        """Rows of the table, with what marks them."""
        return [("*" * (at == 0), estimate) for at, estimate in enumerate(self.estimates)]

    def _repr_html_(self) -> str:
        """The table as notebooks show it, whose columns stay below each other."""
        return f"<pre>{escape(self.explain())}</pre>"

    def __repr__(self) -> str:
        best = self.estimates[0].way if self.estimates else "nothing"
        what = self.task.title.split(",")[0]
        return f"<hesc.planner.Decision: {best} of {len(self.estimates)} for {what}>"


def compared(
    request: RequestT,
    candidates: Iterable[Candidate[RequestT]],
    calibration: Calibration | None,
    against: Callable[[Estimate, RequestT], str],
) -> Decision[RequestT]:
    """All candidates for a request: those that do it, the cheapest first, and reasons.

    Of equally cheap ones the first stays the first.

    Args:
        request: what is to be computed, and what is to be least.
        candidates: which are compared.
        calibration: times of kernels; None takes those of this processor that `hesc calibrate` has
            stored, or else the shipped ones of another.
        against: why an estimate is refused, or nothing.

    """
    known = Calibration.load() if calibration is None else calibration
    of_kind(known, "calibration", Calibration, "Calibration.load or Calibration.shipped gives one")
    estimates: list[Estimate] = []
    infeasible: list[Infeasible] = []
    for candidate in candidates:
        found = _considered(candidate, request)
        if isinstance(found, Infeasible):
            infeasible.append(found)
        elif reason := against(found, request):
            infeasible.append(Infeasible(found.way, reason))
        else:
            estimates.append(found)
    estimates.sort(key=lambda estimate: cost(request, known, estimate))
    return Decision(request, known, estimates, infeasible)


def cost(request: Request, calibration: Calibration, estimate: Estimate) -> float:
    """The objective of an estimate, as predicted; infinite where a kernel was never timed."""
    return objective(request, estimate.seconds(calibration.times), estimate)


def objective(task: Request, seconds: float | None, sizes: Estimate | Measured) -> float:
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


def _considered(candidate: Candidate[RequestT], request: RequestT) -> Estimate | Infeasible:
    try:
        return candidate.consider(request)
    except HescError as error:
        return Infeasible(candidate.name, str(error), error)


def chance(probability: float) -> str:
    """A probability as a power of two, rounded up."""
    return f"2^{math.ceil(math.log2(probability))}" if probability > 0 else "never"


def _time(seconds: float | None) -> str:
    return "not timed" if seconds is None else duration(seconds)

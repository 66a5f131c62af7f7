"""Plans of fitted models as candidates: an objective chooses among them, and it is served."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError, ParameterError
from hesc.planner.candidate import Candidate
from hesc.planner.deciding import TaskDecision, decide
from hesc.planner.decision import compared
from hesc.planner.estimates import Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.tasks import Task
from hesc.planner.work import StageCount, counted
from hesc.protocols.candidates import CANDIDATES
from hesc.protocols.candidates.set_names import set_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.planner.calibration import Calibration
    from hesc.planner.probes import Probe
    from hesc.planner.work import Work
    from hesc.protocols.backend import Alternative, Backend

_UNITS: Final = {
    "latency": "the latency",
    "throughput": "the time for each sample",
    "bytes": "the bytes",
    "memory": "the memory",
}
"""What is compared, by objective."""


class Servable(Candidate[Task]):
    """A plan that an estimator serves, made when it is first asked about.

    Bytes, error and what the server holds are the plan's own. Time is what its maker counted, or
    that of the planner's candidate that computes the same.
    """

    def __init__(self, alternative: Alternative, make: Callable[[Any], Backend]) -> None:
        self.name = alternative.way
        self.options = alternative.options
        self.stands_for = next((c for c in CANDIDATES if c.name == alternative.candidate), None)
        """The planner's candidate that computes the same."""
        self._make = make

    @cached_property
    def backend(self) -> Backend:
        """What serves it.

        Raises:
            HescError: as its protocol refuses.

        """
        return self._make(self.options)

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """Those of the planner's candidate: its kernels are timed there."""
        if self.stands_for is not None:
            yield from self.stands_for.probes(rng)

    def consider(self, task: Task) -> Estimate:
        """What the plan takes for so many samples.

        Raises:
            HescError: as its protocol refuses.

        """
        backend, samples = self.backend, task.samples
        plan, roles = backend.plan, backend.roles(self.options)
        sizes = plan.sizes(samples)
        error = plan.error or 0.0
        if roles.disclose != "scores":
            error = 0.0 if plan.agreement is None else 1 - plan.agreement
        seconds = backend.seconds(samples)
        alike = self._alike(task) if seconds is None else None
        outputs = 1 if plan.classes is None else len(plan.classes)
        failure = samples * outputs * backend.failure
        return Estimate(
            way=self.name,
            parameters=f"{_name_of(plan.params)}, served by {type(self.options).__name__}()",
            work=self._work(samples, seconds) if alike is None else alike.work,
            up=sizes.up,
            down=sizes.down,
            held=backend.held(),
            error=error,
            failure=failure if alike is None else alike.failure,
            sees=Sees(
                roles.disclose,
                model_at_server=roles.setting != "outsourced",
                noise_tells="" if roles.hide_model else "the model",
            ),
            prepare=partial(_Sides, backend),
        )

    def _work(self, samples: int, seconds: float | None) -> Work:
        """By what the plan's maker counted; or a kernel that nobody times."""
        if seconds is None:
            return counted(self.name, answer=StageCount(1, 0, 0))
        plan, found = self.backend.plan, None
        if self.stands_for is not None:
            found = self.stands_for.work_of(plan, samples, seconds)
        return found or counted(self.name, answer=StageCount(0, 0, 0, counted=seconds))

    def _alike(self, task: Task) -> Estimate | None:
        """What the planner's candidate takes for the same, where there is one."""
        if self.stands_for is None:
            return None
        try:
            found = self.stands_for.consider(question_of(self.backend, **_limits(task)))
        except HescError:
            return None
        return found if isinstance(found, Estimate) else None


def _name_of(params: Any) -> str:
    """The name of a set, or of one without what it is."""
    return set_of(params) if params.name.endswith("_custom") else str(params.name)


class _Sides:
    """Both parties of a plan, whose data is samples before all transforms."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._client, self._server = backend.parties()
        self.held = backend.held
        self._sent: list[bytes] = []

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """Queries of all samples."""
        rows = self._backend.plan.rows
        self._sent = [
            self._client.encrypt(x[first : first + rows]).data for first in range(0, len(x), rows)
        ]
        return self._sent

    def answer(self, up: list[bytes]) -> list[bytes]:
        """An answer to each."""
        return [self._server.answer(query) for query in up]

    def decrypt(self, down: list[bytes]) -> NDArray[Any]:
        """Scores, or predictions where the client learns something else."""
        found = [
            self._client.decrypt(answer, query=query)
            for answer, query in zip(down, self._sent, strict=True)
        ]
        scored = self._backend.roles(self._backend.options).disclose == "scores"
        return np.concatenate([one.scores if scored else one.predictions for one in found])


def question_of(backend: Backend, *, samples: int, objective: str, bandwidth: float) -> Task:
    """The task that a plan is one way to do.

    Raises:
        ParameterError: other ways are not compared with this plan.

    """
    problem, error = backend.question()
    return Task(
        problem,
        max_error=error,
        samples=samples,
        objective=objective,
        bandwidth=bandwidth,
        **backend.roles(backend.options)._asdict(),
    )


def _limits(task: Task) -> dict[str, Any]:
    """Samples, objective and bandwidth of a task, for another one beside it."""
    return {name: getattr(task, name) for name in ("samples", "objective", "bandwidth")}


@dataclass(frozen=True, eq=False)
class Choice(TaskDecision):
    """What an objective chose to serve. Print it: the table of candidates, and why not the others.

    `measure(samples)` runs the plans that may be served, on samples before all transforms.
    """

    unserved: list[Estimate] = field(default_factory=list)
    """Feasible candidates that compute the same and that no estimator serves."""
    candidates: list[Servable] = field(default_factory=list)
    """What was there to choose from."""

    @property
    def backend(self) -> Backend:
        """What serves the best."""
        return next(each.backend for each in self.candidates if each.name == self.chosen.way)

    def reasons(self) -> dict[str, str]:
        """Why each candidate but the best was not taken, by name."""
        served = {estimate.way: self._behind(estimate) for estimate in self.estimates[1:]}
        others = {
            estimate.way: f"estimators do not serve it; {self._behind(estimate)}"
            for estimate in self.unserved
        }
        return served | others | super().reasons()

    def explain(self) -> str:
        """The table of candidates, of which a dash marks what estimators do not serve."""
        text = super().explain()
        if len(self.candidates) > 1:
            return text
        return f"{text}\n  {self.chosen.way} alone keeps these options"

    __repr__ = TaskDecision.__repr__

    def _listed(self) -> list[tuple[str, Estimate]]:
        return super()._listed() + [("-", estimate) for estimate in self.unserved]

    def _behind(self, estimate: Estimate) -> str:
        """How much more it takes than the best."""
        least, found = self.cost(self.chosen), self.cost(estimate)
        if not math.isfinite(found):
            return "nobody timed it"
        if found == least or not least:
            return "no better"
        return f"{found / least:.3g} times {_UNITS[self.task.objective]}"


def choose(
    task: Task,
    candidates: Sequence[Servable],
    *,
    calibration: Calibration | None = None,
) -> Choice:
    """Compares plans that keep the same options, and what else computes the same.

    Args:
        task: `PredictionProblem` of a fitted model, with samples and objective.
        candidates: plans, that by default first: it is taken where others are no better.
        calibration: times of kernels; as `decide` takes them.

    Returns:
        Feasible plans, the best first; candidates of the planner that are not served.

    Raises:
        HescError: no plan is feasible: as the first of them was refused.

    """
    plans = compared(task, candidates, calibration, lambda _estimate, _task: "")
    known, refused = plans.calibration, plans.infeasible
    if not plans.estimates:
        raise next(plan.error for plan in refused if plan.error)
    best = next(each for each in candidates if each.name == plans.chosen.way)
    taken = [candidate.stands_for for candidate in candidates]
    others = [candidate for candidate in CANDIDATES if candidate not in taken]
    unserved: list[Estimate] = []
    try:
        found = decide(
            question_of(best.backend, **_limits(task)), calibration=known, candidates=others
        )
        unserved, refused = found.estimates, refused + found.infeasible
    except ParameterError as error:
        refused += [Infeasible(candidate.name, str(error)) for candidate in others]
    return Choice(
        task, known, plans.estimates, refused, unserved=unserved, candidates=list(candidates)
    )

"""Linear models, and trees in public bins, by ring products: the client learns scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from hesc._native import ParameterError
from hesc.models import extraction, scorecards, transforms
from hesc.models.known import Known
from hesc.planner.problems import ScoreProblem
from hesc.protocols.backend import Alternative, Backend, PlanRequest, Roles, check_concluded
from hesc.protocols.ledger import Count
from hesc.protocols.linear import planning
from hesc.protocols.linear.plan import LinearPlan
from hesc.protocols.linear.runs import simulate
from hesc.protocols.linear.server import LinearServer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.models.fidelity import Fidelity
    from hesc.models.linear.simple import Linear
    from hesc.models.tables.forms import Rows
    from hesc.planner.problems import Problem
    from hesc.protocols.measuring import MeasuredRun
    from hesc.protocols.runs import Progress, Run

    Array = NDArray[np.float64]


_WAY: Final = "ring products"
"""The planner's candidate."""


class LinearBackend(Backend):
    """Weights at the server, scores for the client."""

    candidates: ClassVar[tuple[str, ...]] = (_WAY,)
    _kind: ClassVar[type[LinearPlan]] = LinearPlan

    def __init__(self, plan: Any, request: PlanRequest, linear: Linear) -> None:
        super().__init__(plan, request, Known(request.estimator, request.rows, request.clear))
        self.linear = linear
        """Transforms and weights."""

    @classmethod
    def make(cls, request: PlanRequest) -> LinearBackend:
        """Plans weights: see `hesc.protocols.linear.planning.make`."""
        options = request.options
        linear, fidelity = form_of(request)
        plan = planning.make(
            linear,
            request.rows,
            request.clear,
            names=request.names,
            classes=request.classes,
            max_error=options.max_error,
            ranges=options.ranges,
            **cls._secrecy(options),
            kind=cls._kind,
            fidelity=fidelity,
        )
        check_concluded(plan, request)
        return cls(plan, request, linear)

    @classmethod
    def _secrecy(cls, options: Any) -> dict[str, Any]:
        """From whom weights are hidden: arguments of `planning.make`."""
        return {"hidden": options.hidden, "answers": options.answers}

    def server(self, *, keys: bytes | None = None) -> Any:
        """A server, which cannot decrypt; where weights are hidden, of one client's keys."""
        return LinearServer(self.plan, self.linear.weights, self.linear.intercepts, keys=keys)

    def simulated(
        self, rows: Rows, *, clip: bool, random_state: int | None, progress: Progress
    ) -> Run:
        """Scores with errors drawn from the plan's law."""
        return simulate(
            self.plan,
            self.linear.weights,
            self.linear.intercepts,
            rows,
            clip=clip,
            random_state=random_state,
            progress=progress,
        )

    def truth(self, rows: Rows, scores: Array) -> Array:
        """Scores of what is computed, where that is not the model that was fitted."""
        if self.plan.fidelity is None:
            return scores
        features = transforms.transformed(self.linear.steps, rows)
        found: Array = self.plan.scores(features @ self.linear.weights.T + self.linear.intercepts)
        return found

    def most_measured(self, _server: Any) -> int | None:
        """Rows that a report's run may take: hidden weights give so many numbers."""
        most: int | None = self.plan.samples_in_all
        return most

    def measured(
        self, client: Any, server: Any, rows: Rows, scores: Array, predictions: NDArray[Any]
    ) -> MeasuredRun | None:
        """A run for the report, which is the owner's own: no client has any of its answers."""
        if self.most_measured(server) is not None:
            server.count = Count()
        return super().measured(client, server, rows, scores, predictions)

    @classmethod
    def roles(cls, options: Any) -> Roles:
        """Weights in the clear at the server, hidden from the client or not."""
        return Roles(hide_model=bool(options.hidden))

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """The smallest ring that has the error."""
        return [Alternative(_WAY, options, _WAY)]

    def held(self) -> int:
        """The weights, encrypted or not."""
        size: int | None = self.plan.ring.model_size
        return self.linear.weights.nbytes + self.linear.intercepts.nbytes if size is None else size

    def question(self) -> tuple[Problem, float]:
        """Scores of features within the plan's ranges.

        Raises:
            ParameterError: weights are hidden.

        """
        if self.plan.hidden:
            raise ParameterError(
                "this plan hides its weights, which ring products alone do here: there is nothing "
                "to compare them with"
            )
        low, high = self.plan.ring.ranges
        weights, intercepts = self.linear.weights, self.linear.intercepts
        return ScoreProblem(weights, intercepts, low=low, high=high), self.plan.error


def form_of(request: PlanRequest) -> tuple[Linear, Fidelity | None]:
    """Transforms and weights, and how near they come to what was fitted if they are not it.

    Raises:
        ParameterError: trees that are no sums of functions of single features, without `refit`;
            an estimator whose scores are not those of its weights.

    """
    names = ("bins", "refit", "min_fidelity")
    options: dict[str, Any] = {name: getattr(request.options, name) for name in names}
    if extraction.has_trees(extraction.parts_of(request.estimator)[-1]):
        return scorecards.of(request.estimator, request.rows, request.clear, **options)
    scorecards.refuse_options(**options)
    linear = extraction.linear_form(request.estimator)
    planning.check_agrees(request.estimator, linear, request.rows, request.clear)
    return linear, None

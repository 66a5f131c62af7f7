"""Linear models, and trees in public bins, by ring products: the client learns scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc._native import ParameterError
from hesc.models import extraction, scorecards, transforms
from hesc.models.known import Known
from hesc.protocols.ledger import Count
from hesc.protocols.linear import planning
from hesc.protocols.linear.plan import LinearPlan
from hesc.protocols.linear.runs import simulate
from hesc.protocols.linear.server import LinearServer
from hesc.protocols.services import Asked, Service, check_concluded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.models.extraction import Linear
    from hesc.models.fidelity import Fidelity
    from hesc.protocols.measuring import Measured
    from hesc.protocols.runs import Progress, Run

    Array = NDArray[np.float64]


class LinearBackend(Service):
    """Weights at the server, scores for the client."""

    takes: ClassVar[frozenset[str]] = frozenset(
        {"ranges", "max_error", "hidden", "answers", "bins", "refit", "min_fidelity"}
    )
    refuses: ClassVar[dict[str, str]] = {
        "min_agreement": "max_error= bounds what scores err, and the plan says how many classes "
        "stay; of trees in bins min_fidelity= is the least share of them",
    }

    _kind: ClassVar[type[LinearPlan]] = LinearPlan

    def __init__(self, plan: Any, asked: Asked, linear: Linear) -> None:
        super().__init__(plan, asked)
        self.linear = linear
        """Transforms and weights."""
        self._known = Known(asked.estimator, asked.rows, asked.clear)

    @classmethod
    def make(cls, asked: Asked) -> LinearBackend:
        """Plans weights: see `hesc.protocols.linear.planning.make`."""
        wishes = asked.wishes
        linear, fidelity = form_of(asked)
        plan = planning.make(
            linear,
            asked.rows,
            asked.clear,
            names=asked.names,
            classes=asked.classes,
            max_error=wishes.get("max_error"),
            hidden=wishes.get("hidden", False),
            answers=wishes.get("answers"),
            ranges=wishes.get("ranges"),
            under=cls._under(wishes),
            kind=cls._kind,
            fidelity=fidelity,
        )
        check_concluded(plan, asked)
        return cls(plan, asked, linear)

    @classmethod
    def _under(cls, _wishes: dict[str, Any]) -> str | None:
        """The key that weights are encrypted under; None where the server has them in the clear."""
        return None

    def is_of(self, estimator: Any) -> bool:
        """Whether a fitted model is the one that was planned."""
        return self._known.is_still(estimator)

    def server(self, *, keys: bytes | None = None) -> Any:
        """A server, which cannot decrypt; where weights are hidden, of one client's keys."""
        return LinearServer(self.plan, self.linear.weights, self.linear.intercepts, keys=keys)

    def simulated(
        self, rows: Array, *, clip: bool, random_state: int | None, progress: Progress
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

    def truth(self, rows: Array, scores: Array) -> Array:
        """Scores of what is computed, where that is not the model that was fitted."""
        if self.plan.fidelity is None:
            return scores
        features = transforms.transformed(self.linear.steps, rows)
        found: Array = self.plan.scores(features @ self.linear.weights.T + self.linear.intercepts)
        return found

    def most_measured(self, _server: Any) -> int | None:
        """Rows that a report's run may take: hidden weights give so many numbers."""
        most: int | None = getattr(self.plan, "samples_in_all", None)
        return most

    def measured(
        self, client: Any, server: Any, rows: Array, scores: Array, predictions: NDArray[Any]
    ) -> Measured | None:
        """A run for the report, which is the owner's own: no client has any of its answers."""
        if self.most_measured(server) is not None:
            server.count = Count()
        return super().measured(client, server, rows, scores, predictions)

    def check_compared(self) -> None:
        """Refuses hidden weights."""
        if self.plan.hidden:
            raise ParameterError(
                "this plan hides its weights, which ring products alone do here: there is nothing "
                "to compare them with"
            )

    def roles(self) -> dict[str, Any]:
        """Who owns what, for the planner."""
        return {}


def form_of(asked: Asked) -> tuple[Linear, Fidelity | None]:
    """Transforms and weights, and how near they come to what was fitted if they are not it.

    Raises:
        ParameterError: trees that are no sums of functions of single features, without `refit`.

    """
    names = ("bins", "refit", "min_fidelity")
    wishes: dict[str, Any] = {name: asked.wishes.get(name) for name in names}
    if extraction.has_trees(extraction.parts_of(asked.estimator)[-1]):
        return scorecards.of(asked.estimator, asked.rows, asked.clear, **wishes)
    scorecards.refuse_wishes(**wishes)
    return extraction.linear_form(asked.estimator), None

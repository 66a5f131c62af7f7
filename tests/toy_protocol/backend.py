"""What serves a linear regressor whose weights are whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc import ParameterError
from hesc.models import extraction, transforms
from hesc.models.known import Known
from hesc.protocols.backend import Backend, PlanRequest, check_concluded
from hesc.protocols.runs import Run
from tests.toy_protocol.plan import ToyPlan
from tests.toy_protocol.server import ToyServer

if TYPE_CHECKING:
    from hesc.models.tables.forms import Rows
    from hesc.protocols.runs import Progress


class ToyBackend(Backend):
    """Weights at the server, a score for the client."""

    def __init__(self, plan: ToyPlan, request: PlanRequest, numbers: tuple[int, ...]) -> None:
        super().__init__(plan, request, Known(request.estimator, request.rows, request.clear))
        *weights, self._intercept = numbers
        self._weights = tuple(weights)

    @classmethod
    def make(cls, request: PlanRequest) -> ToyBackend:
        """Plans weights that are whole numbers.

        Raises:
            ParameterError: others.

        """
        linear = extraction.linear_form(request.estimator)
        given = np.append(linear.weights, linear.intercepts)
        numbers = tuple(int(number) for number in np.round(given))
        if linear.steps or not np.allclose(given, numbers, rtol=0, atol=1e-9):
            raise ParameterError("weights of this protocol are whole numbers, without transforms")
        features = transforms.transformed([], request.rows)
        bound = max(1, int(np.ceil(abs(features).max())))
        *weights, intercept = numbers
        most = bound * sum(map(abs, weights)) + abs(intercept)
        inputs = len(weights)
        plan = ToyPlan(inputs, request.names, [], request.classes, bound, max(1, most))
        check_concluded(plan, request)
        return cls(plan, request, numbers)

    def server(self, *, keys: bytes | None = None) -> ToyServer:
        """A server, which cannot decrypt."""
        return ToyServer(self.plan, self._weights, self._intercept, keys=keys)

    def simulated(
        self,
        rows: Rows,
        *,
        clip: bool,
        random_state: int | None,  # noqa: ARG002 - nothing is drawn
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Run:
        """Scores as a run would have them: exactly."""
        plan: ToyPlan = self.plan
        ready = plan.prepared(rows, clip=clip)
        scores = ready.features @ np.array(self._weights) + self._intercept
        return Run(scores, scores, None, plan.sizes(len(rows)), ready.values, ready.samples)

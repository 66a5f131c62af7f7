"""Models of trees as they are: the client learns scores, exact to the plan's unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc.models import transforms
from hesc.models.known import Known
from hesc.protocols.backend import Backend, PlanRequest, Roles, check_concluded
from hesc.protocols.runs import Run
from hesc.protocols.trees import linear_forms, planning
from hesc.protocols.trees.server import TreesServer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.runs import Progress
    from hesc.protocols.trees.boxes import Boxes
    from hesc.protocols.trees.plan import TreesPlan

    Array = NDArray[np.float64]


class TreesBackend(Backend):
    """Trees at the server, scores for the client."""

    takes_missing: ClassVar[bool] = True

    def __init__(self, plan: TreesPlan, request: PlanRequest, boxes: Boxes) -> None:
        super().__init__(plan, request, Known(request.estimator, request.rows, request.clear))
        self.boxes = boxes
        """The trees' leaves."""
        self._sums = linear_forms.of(boxes, plan.bits).sums if plan.is_public else boxes.sums

    @classmethod
    def make(cls, request: PlanRequest) -> TreesBackend:
        """Plans trees: see `hesc.protocols.trees.planning.make`."""
        plan, boxes = planning.make(request)
        check_concluded(plan, request)
        return cls(plan, request, boxes)

    def server(self, *, keys: bytes | None = None) -> TreesServer:
        """A server, which cannot decrypt; of one client's keys."""
        return TreesServer(self.plan, *self.boxes[1:], keys=keys)

    def simulated(
        self,
        rows: Rows,
        *,
        clip: bool,
        random_state: int | None,  # noqa: ARG002 - nothing is drawn
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Run:
        """Sums of leaves in the clear: exactly what encrypted ones give."""
        plan: TreesPlan = self.plan
        ready = plan.prepared(rows, clip=clip)
        scores = plan.scored(self._sums(ready.features != 0))
        sizes = plan.sizes(len(rows))
        predictions = plan.predictions(scores)
        return Run(predictions, scores, plan.error, sizes, ready.values, ready.samples)

    @classmethod
    def roles(cls, options: Any) -> Roles:
        """Scores, and trees that may be hidden from a client that follows the protocol."""
        return Roles(hide_model=options.structure == "hidden")

    def truth(self, rows: Rows, scores: Array) -> Array:
        """Scores of what is computed, where thresholds were moved."""
        plan: TreesPlan = self.plan
        if plan.fidelity is None:
            return scores
        bits = transforms.transformed(plan.steps, rows) != 0
        return plan.scored(self._sums(bits))

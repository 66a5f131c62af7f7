"""Models of trees as they are: the client learns scores, exact to the plan's unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._support.progress import Bar, doing
from hesc.models import transforms
from hesc.models.known import Known
from hesc.protocols.backend import Backend, PlanRequest, Roles, check_concluded
from hesc.protocols.runs import Run, all_of, prepared
from hesc.protocols.trees import linear_forms, planning
from hesc.protocols.trees.server import TreesServer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.samples import Clipped
    from hesc.models.tables.forms import Rows
    from hesc.protocols.runs import Progress
    from hesc.protocols.trees.boxes import Boxes
    from hesc.protocols.trees.plan import TreesPlan

    Array = NDArray[np.float64]

_AT_ONCE: Final = 1 << 23
"""Bits of samples that are in memory at once as numbers, those of one query at least."""


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
        doing("what the model concludes from its scores")
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
        progress: Progress,
    ) -> Run:
        """Sums of leaves in the clear: exactly what encrypted ones give."""
        plan: TreesPlan = self.plan
        sums: list[NDArray[np.int64]] = []
        parts: list[Clipped] = []
        with Bar("samples simulated", progress) as bar:
            for each in prepared(plan, rows, clip=clip, at_once=_AT_ONCE):
                sums.append(self._sums(each.features != 0))
                parts.append(each._replace(features=np.empty((0, 0))))
                bar.show(sum(map(len, sums)), len(rows))
        ready = all_of(parts)
        scores = plan.scored(np.concatenate(sums))
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

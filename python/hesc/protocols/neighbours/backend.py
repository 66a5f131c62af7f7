"""Nearest neighbours by codes: the client learns distances to all records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hesc.models import neighbours as extraction
from hesc.planner.problems import DistanceProblem
from hesc.protocols.backend import Alternative, Backend, PlanRequest, Roles
from hesc.protocols.neighbours import planning
from hesc.protocols.neighbours.runs import NeighboursSession, simulate
from hesc.protocols.neighbours.server import NeighboursServer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.models.neighbours import Records
    from hesc.models.tables.forms import Rows
    from hesc.planner.problems import Problem
    from hesc.protocols.neighbours.plan import NeighboursPlan
    from hesc.protocols.runs import Progress


_WAY: Final = "codes"
"""The planner's candidate."""
_EXACT: Final = 1e-9
"""What no distance errs by."""


class NeighboursBackend(Backend):
    """Codes of records at the server, distances for the client."""

    candidates: ClassVar[tuple[str, ...]] = (_WAY,)

    def __init__(
        self, plan: NeighboursPlan, request: PlanRequest, model: Records, codes: NDArray[np.uint64]
    ) -> None:
        super().__init__(plan, request)
        self.codes = codes
        """The codes of the records."""
        self._model = model

    @classmethod
    def make(cls, request: PlanRequest) -> NeighboursBackend:
        """Plans codes: see `hesc.protocols.neighbours.planning.make`."""
        model = extraction.records_of(request.estimator)
        plan, codes = planning.make(
            model, request.estimator, request.rows, names=request.names, options=request.options
        )
        return cls(plan, request, model, codes)

    def is_of(self, estimator: Any) -> bool:
        """Whether a fitted model is the one that was planned."""
        return self._model.same_as(extraction.records_of(estimator))

    def server(self, *, keys: bytes | None = None) -> NeighboursServer:
        """A server, which cannot decrypt."""
        return NeighboursServer(self.plan, self.codes, keys=keys)

    def simulated(
        self,
        rows: Rows,
        *,
        clip: bool,  # noqa: ARG002 - codes have no ranges
        random_state: int | None,  # noqa: ARG002 - nothing is drawn
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Any:
        """Codes compared in the clear: exactly what encrypted ones give."""
        return simulate(self.plan, self.codes, rows)

    def _opened(self, client: Any, server: Any) -> NeighboursSession:
        return NeighboursSession(client, server)

    @classmethod
    def roles(cls, options: Any) -> Roles:  # noqa: ARG003 - all are alike
        """Distances to all records."""
        return Roles(disclose="distances")

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """Codes of as many bits as are asked for, or of several."""
        if options.bits is not None:
            return [Alternative(_WAY, options, _WAY)]
        return [
            Alternative(f"{_WAY} of {bits} bits", replace(options, bits=bits), _WAY)
            for bits in planning.BITS
        ]

    def held(self) -> int:
        """The codes of the records."""
        return self.codes.nbytes

    def question(self) -> tuple[Problem, float]:
        """Distances of codes, which are exact."""
        return DistanceProblem(self.codes), _EXACT

"""Nearest neighbours by the index of a search: the client learns distances to all records."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hesc.models import fitted_neighbours as extraction
from hesc.protocols.backend import Alternative, Backend, PlanRequest, Roles
from hesc.protocols.search import planning
from hesc.protocols.search.runs import SearchSession, simulate
from hesc.protocols.search.server import SearchServer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.models.fitted_neighbours import Records
    from hesc.models.tables.forms import Rows
    from hesc.protocols.runs import Progress
    from hesc.protocols.search.plan import SearchPlan


class SearchBackend(Backend):
    """Records at the server, distances for the client."""

    def __init__(
        self, plan: SearchPlan, request: PlanRequest, model: Records, entries: NDArray[np.int16]
    ) -> None:
        super().__init__(plan, request)
        self.entries = entries
        """The records as they are compared."""
        self._model = model

    @classmethod
    def make(cls, request: PlanRequest) -> SearchBackend:
        """Plans a search among training data: see `hesc.protocols.search.planning.make`."""
        model = extraction.records_of(request.estimator)
        plan, entries = planning.make(
            model, request.estimator, request.rows, names=request.names, options=request.options
        )
        return cls(plan, request, model, entries)

    def is_of(self, estimator: Any) -> bool:
        """Whether a fitted model is the one that was planned."""
        return self._model.same_as(extraction.records_of(estimator))

    def server(self, *, keys: bytes | None = None) -> SearchServer:
        """A server, which cannot decrypt."""
        return SearchServer(self.plan, self.entries, keys=keys)

    def simulated(
        self,
        rows: Rows,
        *,
        clip: bool,
        random_state: int | None,  # noqa: ARG002 - nothing is drawn
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Any:
        """Whole numbers compared in the clear: exactly what encrypted ones give."""
        return simulate(self.plan, self.entries, rows, clip=clip)

    def _opened(self, client: Any, server: Any) -> SearchSession:
        return SearchSession(client, server)

    @classmethod
    def roles(cls, options: Any) -> Roles:  # noqa: ARG003 - all are alike
        """Distances to all records."""
        return Roles(disclose="distances")

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """Plans of as many bits as are asked for, or of several."""
        if options.bits is not None:
            return [Alternative("neighbours", options)]
        several = [
            Alternative(f"neighbours, {bits} bits", replace(options, bits=bits))
            for bits in planning.BITS
        ]
        if options.keys is None:
            several += [
                Alternative(f"neighbours, {name} keys", replace(options, keys=keys))
                for name, keys in (("with", True), ("without", False))
            ]
        return [Alternative("neighbours", options), *several]

    def held(self) -> int:
        """The packed records."""
        found: int = self.plan.native.index_sizes(len(self.entries))[1]
        return found

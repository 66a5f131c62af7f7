"""Networks of one square layer on streams: an encrypted model, outputs for the client."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc._native import ParameterError
from hesc.models import transforms
from hesc.models.extraction import parts_of
from hesc.protocols.backend import Alternative, Backend, PlanRequest, Roles, check_concluded
from hesc.protocols.folders import MODEL, PLAN
from hesc.protocols.runs import Run
from hesc.protocols.streams import planning, square_estimators
from hesc.protocols.streams.owner import StreamOwner
from hesc.protocols.streams.plan import LAYOUTS
from hesc.protocols.streams.server import StreamServer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.runs import Progress
    from hesc.protocols.streams.plan import StreamPlan
    from hesc.streams.networks import SquareNetwork

    Array = NDArray[np.float64]


class StreamBackend(Backend):
    """An owner with a network in the clear, a server with an encrypted one."""

    failure: ClassVar[float] = 0.0
    """A bit that is lost is part of the error."""

    def __init__(self, plan: StreamPlan, request: PlanRequest, network: SquareNetwork) -> None:
        super().__init__(plan, request)
        self._coefficients = network.coefficients()
        self._steps = transforms.described(square_estimators.scaling(network.preprocessing))

    @classmethod
    def make(cls, request: PlanRequest) -> StreamBackend:
        """Plans streams: see `hesc.protocols.streams.planning.make`."""
        network = _network(request.estimator)
        plan = planning.make(network, request.rows, request.options, names=request.names)
        check_concluded(plan, request)
        return cls(plan, request, network)

    @classmethod
    def roles(cls, options: Any) -> Roles:  # noqa: ARG003 - all are alike
        """An encrypted model, of another owner."""
        return Roles("outsourced")

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """Layouts of streams, where none is asked for."""
        layouts = LAYOUTS if options.layout == "auto" else [options.layout]
        return [
            Alternative(f"streams {layout}".replace("_", " "), replace(options, layout=layout))
            for layout in layouts
        ]

    def held(self) -> int:
        """The encrypted model, as its owner sends it to a server."""
        _, server = self.parties()
        return len(server.to_bytes())

    def is_of(self, estimator: Any) -> bool:
        """Whether a network is the one that was planned."""
        now = _network(estimator)
        steps = transforms.described(square_estimators.scaling(now.preprocessing))
        return steps == self._steps and np.array_equal(now.coefficients(), self._coefficients)

    def owner(self) -> StreamOwner:
        """The model's owner: plan and coefficients in the clear."""
        return StreamOwner(self.plan, self._coefficients)

    def server(self, *, keys: bytes | None = None) -> StreamServer:
        """The server of one client, with the model under its public key and nothing in the clear.

        Raises:
            ParameterError: no keys.

        """
        if keys is None:
            raise ParameterError(
                "this plan's model is encrypted under the client's public key: give keys=, the "
                "bytes of client.public_keys()"
            )
        return StreamServer.from_bytes(self.owner().encrypt_model(keys))

    def simulated(
        self,
        rows: Rows,
        *,
        clip: bool,
        random_state: int | None,
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Run:
        """Outputs of streams that nobody encrypts: they err as encrypted ones do."""
        plan = self.plan
        ready = plan.prepared(rows, clip=clip)
        scores = planning.simulated(plan, self._coefficients, ready.features, random_state)
        predictions = plan.predictions(scores)
        sizes = plan.sizes(len(rows))
        return Run(predictions, scores, plan.error, sizes, ready.values, ready.samples)

    def sides(self, _server: Any) -> dict[str, dict[str, bytes]]:
        """Files of a deployment by name, by folder: weights are for the owner alone."""
        plan = self.plan.to_bytes()
        return {"client": {PLAN: plan}, "owner": {PLAN: plan, MODEL: self.owner().to_bytes()}}


def _network(estimator: Any) -> SquareNetwork:
    found: SquareNetwork = parts_of(estimator)[-1].network
    return found

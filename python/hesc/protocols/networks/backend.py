"""Networks by polynomials on CKKS: the client learns scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc.models import fitted_mlp as extraction
from hesc.models import transforms
from hesc.models.extraction import parts_of
from hesc.protocols.backend import Alternative, Backend, PlanRequest, check_concluded
from hesc.protocols.networks import planning
from hesc.protocols.networks.runs import simulate
from hesc.protocols.networks.server import NetworkServer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.described import Described
    from hesc.models.tables.forms import Rows
    from hesc.protocols.networks.plan import NetworkPlan
    from hesc.protocols.networks.planning import Prepared
    from hesc.protocols.runs import Progress, Run

    Array = NDArray[np.float64]


class NetworkBackend(Backend):
    """Layers at the server, scores for the client."""

    def __init__(self, plan: NetworkPlan, request: PlanRequest, layers: Prepared) -> None:
        super().__init__(plan, request)
        self.layers = layers
        """What the server computes."""
        model = described(request.estimator, request.names)
        self._model: Any = model.model
        self._as_planned = _beside_layers(model, request.estimator)

    @classmethod
    def make(cls, request: PlanRequest) -> NetworkBackend:
        """Plans polynomials: see `hesc.protocols.networks.planning.make`."""
        model = described(request.estimator, request.names)
        plan, layers = planning.make(
            model,
            request.rows,
            request.clear,
            names=model.names,
            max_error=request.options.max_error,
            ranges=request.options.ranges,
        )
        check_concluded(plan, request)
        return cls(plan, request, layers)

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """The smallest ring, and in it the lowest degree, that has the error: least in all."""
        return [Alternative("polynomials on ckks", options)]

    def held(self) -> int:
        """Keys, and the layers."""
        keys: int = self.plan.key_bytes
        return keys + sum(
            part.nbytes
            for layer in self.layers.layers
            for part in (layer.weights, layer.intercepts, layer.coefficients)
        )

    def is_of(self, estimator: Any) -> bool:
        """Whether a fitted model is the one that was planned."""
        now = described(estimator, [])
        found: bool = self._model.same_as(now.model)
        return found and _beside_layers(now, estimator) == self._as_planned

    def server(self, *, keys: bytes | None = None) -> NetworkServer:
        """A server, which cannot decrypt and answers nothing without keys."""
        return NetworkServer(self.plan, self.layers.layers, keys=keys)

    def simulated(
        self,
        rows: Rows,
        *,
        clip: bool,
        random_state: int | None,
        progress: Progress,  # noqa: ARG002 - it takes no time
    ) -> Run:
        """Scores of the polynomials, with errors of the plan's noise."""
        return simulate(self.plan, self.layers, rows, clip=clip, random_state=random_state)


def _beside_layers(model: Described, estimator: Any) -> list[Any]:
    """What else a network is known by: transforms, its link, and the names it predicts."""
    binarizer = getattr(parts_of(estimator)[-1], "_label_binarizer", None)
    named = None if binarizer is None else np.array(binarizer.classes_).tolist()
    return [*transforms.described(model.steps), model.link, named]


def described(estimator: Any, names: list[str]) -> Described:
    """What a fitted network computes."""
    return extraction.described(estimator, names=names)

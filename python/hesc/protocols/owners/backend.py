"""Linear models, and trees in public bins, on features of several owners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Never

import numpy as np

from hesc._native import ParameterError
from hesc._support.inputs import whole
from hesc.protocols.backend import Alternative, PlanRequest, Roles, check_concluded
from hesc.protocols.client import ModelClient
from hesc.protocols.linear.backend import LinearBackend, form_of
from hesc.protocols.owners import pieces, planning
from hesc.protocols.owners.client import OwnersClient
from hesc.protocols.owners.party import Party
from hesc.protocols.owners.server import OwnersServer
from hesc.protocols.runs import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.samples import Query
    from hesc.models.tables.forms import Rows, Samples
    from hesc.protocols.owners.plan import OwnersPlan
    from hesc.protocols.runs import Progress

    Array = NDArray[np.float64]


class OwnersBackend(LinearBackend):
    """Parties with columns, a server with weights, and a client with the key."""

    candidates: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def make(cls, request: PlanRequest) -> OwnersBackend:
        """Plans weights: see `hesc.protocols.owners.planning.make`."""
        linear, fidelity = form_of(request)
        plan = planning.make(linear, request, fidelity)
        check_concluded(plan, request)
        return cls(plan, request, linear)

    def server(self, *, keys: bytes | None = None) -> OwnersServer:
        """A server, which answers where it is given a client's keys."""
        return OwnersServer(self.plan, self.linear.weights, self.linear.intercepts, keys=keys)

    def parties(self) -> tuple[Any, OwnersServer]:
        """A client with new keys who plays all parties, and its server."""
        everybody = _Everybody(self.plan)
        return everybody, self.server(keys=everybody.public_keys())

    def simulated(
        self, rows: Rows, *, clip: bool, random_state: int | None, progress: Progress
    ) -> Run:
        """Scores with normal errors of the stated size."""
        del progress
        seed = None if random_state is None else whole(random_state, "random_state", 0)
        plan = self.plan
        ready = plan.prepared(rows, clip=clip)
        raw = ready.features @ self.linear.weights.T + self.linear.intercepts
        raw += np.random.default_rng(seed).standard_normal(raw.shape) * plan.error
        scores = plan.scores(raw)
        sizes = plan.sizes(len(rows))
        return Run(plan.predictions(scores), scores, plan.error, sizes, ready.values, ready.samples)

    @classmethod
    def roles(cls, options: Any) -> Roles:  # noqa: ARG003 - all are alike
        """Columns of several owners."""
        return Roles("many_parties")

    @classmethod
    def alternatives(cls, options: Any) -> list[Alternative]:
        """Columns of slots, each under the client's public key."""
        return [Alternative("columns of owners", options)]

    def held(self) -> int:
        """Weights and the client's keys."""
        keys: int = self.plan.costs["keys"]
        return keys + self.linear.weights.nbytes + self.linear.intercepts.nbytes

    def question(self) -> Never:
        """Refused: there are no others.

        Raises:
            ParameterError: always.

        """
        raise ParameterError(
            "scores of features of several owners are computed in one way here: there is nothing "
            "to compare it with"
        )


class _Everybody(OwnersClient):
    """All parties and the client in one process."""

    def __init__(self, plan: OwnersPlan) -> None:
        super().__init__(plan)
        keys = self.public_keys()
        self._parties = [Party(plan, name, keys) for name in plan.parties]

    def encrypt(self, samples: Samples, *, clip: bool = False) -> Query:
        """A query of rows of all columns."""
        return ModelClient.encrypt(self, samples, clip=clip)

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """The ciphertexts of all parties."""
        own = {
            party.side.name: party.encrypt_parts(features[:, party.side.features])
            for party in self._parties
        }
        return pieces.in_order(self.plan, own)

"""The client of an encrypted model: it encrypts samples, reads scores, and may own the model."""

from __future__ import annotations

from typing import ClassVar

from hesc._native import ParameterError
from hesc._support.inputs import of_kind
from hesc.protocols.linear.client import LinearClient
from hesc.protocols.outsourced.owner import OutsourcedOwner
from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.protocols.outsourced.server import OutsourcedServer
from hesc.ring_products.parts import only
from hesc.ring_products.secret import encrypt_model


class OutsourcedClient(LinearClient):
    """Encrypts samples, and its own model, for a server that knows neither; reads the scores."""

    plan_type: ClassVar[type[OutsourcedPlan]] = OutsourcedPlan
    plan: OutsourcedPlan

    def encrypt_model(self, owner: OutsourcedOwner) -> bytes:
        """Encrypts this client's own model: what `OutsourcedServer.from_bytes` reads.

        Args:
            owner: plan and weights, of a plan with `own_model=True`.

        Cost: two transforms. Size: `plan.model_size`, and a third more in the document.

        Raises:
            ParameterError: a plan of somebody else's model, or another one than this client's.
            OutOfRangeError: weights beyond what the plan declares.

        """
        of_kind(owner, "owner", OutsourcedOwner, "OutsourcedOwner.from_bytes reads one")
        plan = self.plan
        if not plan.own_model:
            raise ParameterError(
                "this plan's model is somebody else's, who encrypts it under the public key: "
                "owner.encrypt_model(client.public_keys()); else plan it with own_model=True"
            )
        if owner.plan.digest != plan.digest:
            raise ParameterError("the model is of another plan than this client's")
        model = encrypt_model(self.secret, only(plan.ring), *owner.weights)
        return OutsourcedServer(plan, model).to_bytes()

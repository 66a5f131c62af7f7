"""The client of an encrypted model: it encrypts samples, reads scores, and may own the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc._native import ParameterError
from hesc._support.inputs import of_kind
from hesc.protocols.linear.client import Client
from hesc.protocols.outsourced.owner import ModelOwner
from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.protocols.outsourced.server import OutsourcedServer
from hesc.ring_products.secret import encrypt_model

if TYPE_CHECKING:
    from hesc.secret import SecretKey


class OutsourcedClient(Client):
    """A plan and a secret key: see `Client`, whose arguments and methods it has.

    Raises:
        ParameterError: another setting's plan.

    """

    plan: OutsourcedPlan

    def __init__(self, plan: OutsourcedPlan, *, secret: SecretKey | None = None) -> None:
        of_kind(plan, "plan", OutsourcedPlan, "OutsourcedPlan.from_bytes reads one")
        super().__init__(plan, secret=secret)

    def encrypt_model(self, owner: ModelOwner) -> bytes:
        """Encrypts this client's own model: what `OutsourcedServer.from_bytes` reads.

        Args:
            owner: plan and weights, of a plan with `own_model=True`.

        Cost: two transforms. Size: `plan.model_size`, and a third more in the document.

        Raises:
            ParameterError: a plan of somebody else's model, or another one than this client's.
            OutOfRangeError: weights beyond what the plan declares.

        """
        of_kind(owner, "owner", ModelOwner, "ModelOwner.from_bytes reads one")
        plan = self.plan
        if not plan.own_model:
            raise ParameterError(
                "this plan's model is somebody else's, who encrypts it under the public key: "
                "owner.encrypt_model(client.public_keys()); else plan it with own_model=True"
            )
        if owner.plan.to_bytes() != plan.to_bytes():
            raise ParameterError("the model is of another plan than this client's")
        model = encrypt_model(self.secret, plan.ring, *owner.weights)
        return OutsourcedServer(plan, model).to_bytes()

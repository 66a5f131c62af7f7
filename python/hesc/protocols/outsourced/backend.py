"""Linear models, and trees in public bins, whose server has them under encryption."""

from __future__ import annotations

from typing import Any

from hesc._native import ParameterError
from hesc.protocols.backend import Roles
from hesc.protocols.folders import MODEL, PLAN
from hesc.protocols.linear.backend import LinearBackend
from hesc.protocols.outsourced.owner import OutsourcedOwner
from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.protocols.outsourced.server import OutsourcedServer


class OutsourcedBackend(LinearBackend):
    """An owner with weights in the clear, a server with encrypted ones, scores for the client."""

    _kind = OutsourcedPlan

    @classmethod
    def _secrecy(cls, options: Any) -> dict[str, Any]:
        own = options.own_model
        if not isinstance(own, bool):
            raise ParameterError(f"own_model is True or False; got {own!r}")
        return {"hidden": False, "answers": None, "under": "secret" if own else "public"}

    def owner(self) -> OutsourcedOwner:
        """The model's owner: plan and weights in the clear."""
        return OutsourcedOwner(self.plan, self.linear.weights, self.linear.intercepts)

    def server(self, *, keys: bytes | None = None) -> OutsourcedServer:
        """The server of one client, with the model under its public key and nothing in the clear.

        Raises:
            ParameterError: no keys; a plan whose client encrypts its own model.

        """
        if keys is None and not self.plan.own_model:
            raise ParameterError(
                "this plan's model is encrypted under the client's public key: give keys=, the "
                "bytes of client.public_keys()"
            )
        if keys is None:
            raise ParameterError(
                "this plan's model is the client's own: client.encrypt_model(private.owner()) "
                "gives the bytes that OutsourcedServer.from_bytes reads"
            )
        return OutsourcedServer.from_bytes(self.owner().encrypt_model(keys))

    def parties(self) -> tuple[Any, Any]:
        """A client with new keys and its server."""
        if not self.plan.own_model:
            return super().parties()
        client = self.client()
        return client, OutsourcedServer.from_bytes(client.encrypt_model(self.owner()))

    def sides(self, _server: Any) -> dict[str, dict[str, bytes]]:
        """Files of a deployment by name, by folder: weights are for the owner alone."""
        plan = self.plan.to_bytes()
        return {"client": {PLAN: plan}, "owner": {PLAN: plan, MODEL: self.owner().to_bytes()}}

    @classmethod
    def roles(cls, options: Any) -> Roles:
        """An encrypted model, and whose it is."""
        return Roles("outsourced", own_model=options.own_model)

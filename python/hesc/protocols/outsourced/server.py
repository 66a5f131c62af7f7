"""The server of an encrypted model: it knows neither samples nor weights. It cannot decrypt."""

from __future__ import annotations

from typing import Final, Never

from hesc._native import ParameterError
from hesc._support import documents
from hesc._support.inputs import of_kind
from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.ring_products.models import EncryptedModel

KIND: Final = "outsourced server"
"""The kind of the server's document."""


class OutsourcedServer:
    """An encrypted model that answers queries of the client under whose key it is, and of no other.

    Args:
        plan: what both sides agreed upon.
        model: what `ring_products.EncryptedModel.encrypt` or a secret key's `encrypt_model` gave.

    Raises:
        WireError, ParameterError: damaged bytes, another plan's model.

    """

    def __init__(self, plan: OutsourcedPlan, model: bytes) -> None:
        self.plan = of_kind(plan, "plan", OutsourcedPlan, "OutsourcedPlan.from_bytes reads one")
        self._model = EncryptedModel.from_bytes(plan.ring, model)
        self._data = model

    def __repr__(self) -> str:
        return f"<hesc.protocols.outsourced.OutsourcedServer: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError("an OutsourcedServer is not pickled or copied; write to_bytes()")

    def answer(self, query: bytes) -> bytes:
        """The answer to a query, for whoever sent it.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, a query for another plan or
                under another key than the model's.

        """
        return self._model.evaluate(query)

    def to_bytes(self) -> bytes:
        """Plan and encrypted model, for who runs the server."""
        fields = {"plan": self.plan.to_bytes().decode(), "model": documents.base64_of(self._data)}
        return documents.write(KIND, fields)

    @classmethod
    def from_bytes(cls, data: bytes, *, keys: bytes | None = None) -> OutsourcedServer:
        """What `to_bytes` or `ModelOwner.encrypt_model` wrote.

        Args:
            data: the document.
            keys: None; the model is under the client's key already.

        Raises:
            WireError: damaged bytes, or another object's.
            ParameterError: keys, or the model of another plan.

        """
        if keys is not None:
            raise ParameterError(
                "this server's model is encrypted under the client's key already: leave out keys=, "
                "or --keys, which the model's owner was given"
            )
        given = documents.read(data, KIND, {"plan", "model"})
        inner = documents.inner(given["plan"], "the plan of an outsourced server")
        model = documents.bytes_of(given["model"], "an encrypted model")
        return cls(OutsourcedPlan.from_bytes(inner), model)

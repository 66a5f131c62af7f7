"""The server of an encrypted model: it knows neither samples nor weights. It cannot decrypt."""

from __future__ import annotations

from typing import ClassVar

from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.protocols.server import EncryptedModelServer
from hesc.ring_products.models import EncryptedModel, check_samples
from hesc.ring_products.parts import only


class OutsourcedServer(EncryptedModelServer[OutsourcedPlan]):
    """An encrypted model that answers queries of the client under whose key it is, and of no other.

    Args:
        plan: what both sides agreed upon.
        model: what `ring_products.EncryptedModel.encrypt` or a secret key's `encrypt_model` gave.
        keys: None; the model is under the client's key already.

    Raises:
        WireError, ParameterError: damaged bytes, another plan's model; keys.

    """

    plan_type: ClassVar[type[OutsourcedPlan]] = OutsourcedPlan

    def __init__(self, plan: OutsourcedPlan, model: bytes, *, keys: bytes | None = None) -> None:
        super().__init__(plan, model, keys=keys)
        self._model = EncryptedModel.from_bytes(only(plan.ring), model)

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """The answer of the ring product.

        Raises:
            WireError, ParameterError, KeyMismatchError: as `answer`; a ring product's query of
                another number of samples than the message says, or under another key than the
                model's.

        """
        check_samples(parts[0], samples)
        return [self._model.evaluate(parts[0])]

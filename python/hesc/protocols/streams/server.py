"""The server of a network on streams: it knows neither samples nor weights. It cannot decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc._native import ShapeError, WireError
from hesc.protocols import wire
from hesc.protocols.server import Server
from hesc.protocols.streams.plan import StreamPlan
from hesc.streams.arrays import EncryptedArray
from hesc.streams.networks.monomial import MonomialModel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hesc.protocols.wire import Codec


class StreamServer(Server[StreamPlan]):
    """An encrypted model that answers queries of the client under whose key it is, and of no other.

    Args:
        plan: what all sides agreed upon.
        model: encrypted coefficients, in the wire form of their array.
        keys: None: the model is under the client's key already.

    Raises:
        WireError: damaged bytes.
        ShapeError: another plan's model.
        ParameterError: keys.

    """

    plan_type = StreamPlan
    fields: ClassVar[Mapping[str, Mapping[str, Codec]]] = {"model": wire.encoded(bytes, bytes)}

    def __init__(self, plan: StreamPlan, model: bytes, *, keys: bytes | None = None) -> None:
        super().__init__(plan, keys=keys)
        coefficients = EncryptedArray.from_bytes(plan.params, model)
        shape = (plan.outputs, len(plan.scales))
        if coefficients.shape != shape or coefficients.stream_length != plan.stream_length:
            raise ShapeError(
                f"the plan is for {shape[0]} by {shape[1]} coefficients of {plan.stream_length} "
                f"bits; got {coefficients!r}"
            )
        self._data = model
        self._model = MonomialModel(coefficients)

    @property
    def takes_keys(self) -> bool:
        """No: the model's owner is given the client's keys, and this server its model."""
        return False

    def model(self) -> dict[str, Any]:
        """Encrypted coefficients."""
        return {"model": self._data}

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """Outputs of a query's samples.

        Raises:
            WireError, KeyMismatchError, CorrelationError: as `answer`; streams of another shape or
                length than the plan's, or of the model's own dimension.

        """
        query = EncryptedArray.from_bytes(self.plan.params, parts[0])
        shape = (samples, len(self.plan.scales))
        if query.shape != shape or query.stream_length != self.plan.stream_length:
            raise WireError(
                f"a query of this plan has {shape[0]} by {shape[1]} streams of "
                f"{self.plan.stream_length} bits; got {query!r}"
            )
        return [self._model.answer(query).to_bytes()]

"""The server of a network on streams: it knows neither samples nor weights. It cannot decrypt."""

from __future__ import annotations

from hesc._native import ShapeError, WireError
from hesc.protocols.server import EncryptedModelServer
from hesc.protocols.streams.plan import StreamPlan
from hesc.streams.arrays import EncryptedArray
from hesc.streams.networks.monomial import MonomialModel


class StreamServer(EncryptedModelServer[StreamPlan]):
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

    def __init__(self, plan: StreamPlan, model: bytes, *, keys: bytes | None = None) -> None:
        super().__init__(plan, model, keys=keys)
        coefficients = EncryptedArray.from_bytes(plan.params, model)
        shape = (plan.outputs, len(plan.scales))
        if coefficients.shape != shape or coefficients.stream_length != plan.stream_length:
            raise ShapeError(
                f"the plan is for {shape[0]} by {shape[1]} coefficients of {plan.stream_length} "
                f"bits; got {coefficients!r}"
            )
        self._model = MonomialModel(coefficients)

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

"""The owner of a network that is encrypted for its server. Nothing here can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hesc._native import OutOfRangeError, ShapeError
from hesc._support.callers import usual_floats
from hesc._support.inputs import real_array
from hesc.protocols import wire
from hesc.protocols.server import Owner
from hesc.protocols.streams.plan import StreamPlan
from hesc.protocols.streams.server import StreamServer
from hesc.streams.encryptor import Encryptor
from hesc.streams.networks.monomial import MODEL_DIMENSION, MonomialModel
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from hesc.protocols.wire import Codec


class StreamOwner(Owner[StreamPlan]):
    """A plan and a network in the clear, which leaves its owner under encryption alone.

    Args:
        plan: of `PrivateSquareNetwork.plan`.
        coefficients: of the network as a polynomial, (outputs, monomials).

    Raises:
        ShapeError, OutOfRangeError: coefficients of another shape, or beyond the plan's scales.

    """

    plan_type = StreamPlan
    fields: ClassVar[Mapping[str, Mapping[str, Codec]]] = {"coefficients": wire.array(2)}

    def __init__(self, plan: StreamPlan, coefficients: ArrayLike) -> None:
        super().__init__(plan)
        given = real_array(coefficients, "coefficients")
        shape = (plan.outputs, len(plan.scales))
        if given.shape != shape:
            raise ShapeError(f"the plan is for coefficients of shape {shape}; got {given.shape}")
        if not (np.abs(given) <= plan.scales).all():
            raise OutOfRangeError(
                "coefficients lie beyond the scales that the plan declares; plan the network again"
            )
        # A copy, as it was planned: the caller's array may be edited where it lies.
        self._coefficients = given.copy()

    def model(self) -> dict[str, Any]:
        """Coefficients in the clear."""
        return {"coefficients": self._coefficients}

    @usual_floats
    def encrypt_model(self, keys: bytes) -> bytes:
        """The server of one client: what `StreamServer.from_bytes` reads, without coefficients.

        Args:
            keys: the client's `public_keys()`, from the client itself: **whoever puts a key of his
                own in its place can decrypt the model**.

        Raises:
            ParameterError, WireError: no keys, damaged ones, those of another set.

        """
        plan = self.plan
        public = PublicKeys.from_bytes(plan.params, keys, parts=plan.key_parts)
        encryptor = Encryptor(
            public, plan.stream_length, layout=plan.layout, first_dimension=MODEL_DIMENSION
        )
        model = MonomialModel.scaled_by(encryptor, self._coefficients, plan.scales)
        return StreamServer(plan, model.coefficients.to_bytes()).to_bytes()

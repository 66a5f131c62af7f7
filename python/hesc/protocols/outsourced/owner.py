"""The owner of a model that is encrypted for its server. Nothing here can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.protocols.outsourced.server import OutsourcedServer
from hesc.protocols.server import Owner
from hesc.protocols.weights import FIELDS, Weights
from hesc.ring_products.models import EncryptedModel
from hesc.ring_products.parts import only
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from hesc.protocols.wire import Codec


class OutsourcedOwner(Owner[OutsourcedPlan]):
    """A plan and weights in the clear, which leave their owner under encryption alone.

    Args:
        plan: of `plan(X, Outsourced())`.
        weights: a row for each output, on features after the plan's transforms.
        intercepts: one for each output.

    Raises:
        ShapeError, ParameterError: weights of another shape, or none; another protocol's plan.

    """

    plan_type: ClassVar[type[OutsourcedPlan]] = OutsourcedPlan
    fields: ClassVar[Mapping[str, Mapping[str, Codec]]] = FIELDS

    def __init__(self, plan: OutsourcedPlan, weights: ArrayLike, intercepts: ArrayLike) -> None:
        super().__init__(plan)
        self._weights = Weights.of(weights, intercepts, plan.ring.shape)

    @property
    def weights(self) -> Weights:
        """Weights in the clear."""
        return self._weights

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return self._weights._asdict()

    @usual_floats
    def encrypt_model(self, keys: bytes) -> bytes:
        """The server of one client: what `OutsourcedServer.from_bytes` reads, without weights.

        Args:
            keys: the client's `public_keys()`, from the client itself: **whoever puts a key of his
                own in its place can decrypt the model**.

        Cost: six transforms. Size: `plan.model_size`, and a third more in the document.

        Raises:
            ParameterError, WireError: no keys, damaged ones, those of another set; a plan whose
                model is the client's own.
            OutOfRangeError: weights beyond what the plan declares.

        """
        plan = self.plan
        if plan.own_model:
            raise ParameterError(
                "this plan's model is the client's own, who encrypts it under the secret key: "
                "client.encrypt_model(owner), or `hesc encrypt-model` with --secret; else plan it "
                "without own_model=True"
            )
        public = PublicKeys.from_bytes(plan.params, keys, parts=plan.key_parts)
        data = EncryptedModel.encrypt(only(plan.ring), public, *self._weights)
        return OutsourcedServer(plan, data).to_bytes()

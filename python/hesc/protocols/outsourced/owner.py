"""The owner of a model that is encrypted for its server. Nothing here can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Never

from hesc._native import ParameterError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind
from hesc.protocols.linear.server import public_key
from hesc.protocols.outsourced.plan import OutsourcedPlan
from hesc.protocols.outsourced.server import OutsourcedServer
from hesc.protocols.weights import FIELDS, Weights, read
from hesc.ring_products.models import EncryptedModel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

KIND: Final = "model owner"
"""The kind of the owner's document."""


class ModelOwner:
    """A plan and weights in the clear, which leave their owner under encryption alone.

    Args:
        plan: of `plan(X, setting="outsourced")`.
        weights: a row for each output, on features after the plan's transforms.
        intercepts: one for each output.

    Raises:
        ShapeError, ParameterError: weights of another shape, or none; another setting's plan.

    """

    def __init__(self, plan: OutsourcedPlan, weights: ArrayLike, intercepts: ArrayLike) -> None:
        remedy = "plan(X, setting='outsourced') makes it"
        self.plan = of_kind(plan, "plan", OutsourcedPlan, remedy)
        self._weights = Weights.of(weights, intercepts, plan.ring.shape)

    def __repr__(self) -> str:
        return f"<hesc.protocols.outsourced.ModelOwner: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError("a ModelOwner is not pickled or copied; write to_bytes()")

    @property
    def weights(self) -> Weights:
        """In the clear."""
        return self._weights

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
        if self.plan.own_model:
            raise ParameterError(
                "this plan's model is the client's own, who encrypts it under the secret key: "
                "client.encrypt_model(owner), or `hesc encrypt-model` with --secret; else plan it "
                "without own_model=True"
            )
        public = public_key(self.plan, keys)
        data = EncryptedModel.encrypt(self.plan.ring, public, *self._weights)
        return OutsourcedServer(self.plan, data).to_bytes()

    def to_bytes(self) -> bytes:
        """Plan and **weights in the clear**: for the model's owner alone."""
        fields = {"plan": self.plan.to_bytes().decode()} | self._weights.described()
        return documents.write(KIND, fields)

    @classmethod
    def from_bytes(cls, data: bytes) -> ModelOwner:
        """What `to_bytes` wrote.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        given = documents.read(data, KIND, {"plan", *FIELDS})
        plan = OutsourcedPlan.from_bytes(documents.inner(given["plan"], "the plan of an owner"))
        return cls(plan, *read(given, plan.ring.shape, "model owner"))

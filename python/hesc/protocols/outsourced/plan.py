"""Plans of models that the server has under encryption."""

from __future__ import annotations

from typing import ClassVar

from hesc.protocols.linear.plan import LinearPlan


class OutsourcedPlan(LinearPlan):
    """A plan like `LinearPlan`, for weights that are encrypted under the client's key.

    `PrivateClassifier.plan(X, Outsourced())` makes one; print it to read who holds and
    learns what. Bounds on the weights are public in it, as powers of two.
    """

    protocol: ClassVar[str] = "outsourced"

    @property
    def own_model(self) -> bool:
        """Whether the model is the client's own, who encrypts it under the secret key."""
        return self.ring.encrypted_under == "secret"

    @property
    def needs_keys(self) -> bool:
        """Whether the model's owner is given the client's public keys; the server has none."""
        return not self.own_model

    @property
    def model_size(self) -> int:
        """Bytes of the encrypted model, before it is put into a document."""
        return self.ring.model_size or 0

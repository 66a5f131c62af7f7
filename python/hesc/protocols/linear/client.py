"""The client of a private model: it encrypts samples and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hesc._support.inputs import of_kind
from hesc.models.samples import Result
from hesc.protocols.holding import ScoreReader
from hesc.protocols.linear.plan import PrivatePlan
from hesc.ring_products.secret import decrypt_scores, encrypt_features
from hesc.secret import SecretKey, keygen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Client(ScoreReader[Result]):
    """A plan and a secret key. Not printed with it, copied or pickled; needs no scikit-learn.

    Args:
        plan: what the model's owner sent, see `PrivatePlan.from_bytes`. Print it before you use it.
        secret: a key of the plan's parameters that was kept (`SecretKey.load`); without it a
            new pair is made.

    """

    plan: PrivatePlan
    secret: SecretKey

    def __init__(self, plan: PrivatePlan, *, secret: SecretKey | None = None) -> None:
        self.plan = of_kind(plan, "plan", PrivatePlan, "PrivatePlan.from_bytes reads one")
        if secret is None:
            self.secret, keys = keygen(plan.ring.params, products=False)
            self._public: bytes | None = keys.to_bytes()
        else:
            self.secret = of_kind(secret, "secret", SecretKey, "hesc.keygen's first")
            self._public = None

    def _public_form(self) -> bytes | None:
        return self._public

    def _encrypted(self, features: NDArray[np.float64]) -> bytes:
        return encrypt_features(self.secret, self.plan.ring, features)

    def _decrypted(self, answer: bytes) -> Result:
        found = decrypt_scores(self.secret, self.plan.ring, answer)
        scores = self.plan.scores(found.values)
        return Result(self.plan.predictions(scores), scores, found.error)

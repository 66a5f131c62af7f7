"""The client of a linear model: it encrypts samples and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hesc._support.inputs import as_many
from hesc.models.samples import Result
from hesc.protocols.client import ModelClient
from hesc.protocols.linear.plan import LinearPlan
from hesc.ring_products.secret import decrypt_scores, encrypt_features

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.secret import SecretKey


class LinearClient(ModelClient[Result]):
    """Encrypts samples for a server that scores them, and reads the scores."""

    plan_type: ClassVar[type[LinearPlan]] = LinearPlan
    plan: LinearPlan
    secret: SecretKey

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """One query of the ring product."""
        return [encrypt_features(self.secret, self.plan.ring, features)]

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """Scores of an answer, and what follows from them.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        found = decrypt_scores(self.secret, self.plan.ring, parts[0])
        as_many(len(found.values), samples)
        scores = self.plan.scores(found.values)
        return Result(self.plan.predictions(scores), scores, found.error)

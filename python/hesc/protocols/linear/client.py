"""The client of a linear model: it encrypts samples and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hesc._native import WireError
from hesc._support.inputs import as_many
from hesc.models.samples import Result
from hesc.protocols.client import ModelClient
from hesc.protocols.linear.plan import LinearPlan
from hesc.ring_products.parts import parts_of, shared_by
from hesc.ring_products.secret import decrypt_scores, encrypt_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.secret import SecretKey


class LinearClient(ModelClient[Result]):
    """Encrypts samples for a server that scores them, and reads the scores."""

    plan_type: ClassVar[type[LinearPlan]] = LinearPlan
    answer_parts: ClassVar[int | None] = None
    plan: LinearPlan
    secret: SecretKey

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """A query of each ring product."""
        ring = self.plan.ring
        shares = zip(parts_of(ring), shared_by(ring, features), strict=True)
        return [encrypt_features(self.secret, part, own) for part, own in shares]

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """Scores of an answer, and what follows from them.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        rings = parts_of(self.plan.ring)
        if len(parts) != len(rings):
            raise WireError(f"an answer of this plan has {len(rings)} parts; this has {len(parts)}")
        values = []
        for ring, part in zip(rings, parts, strict=True):
            found = decrypt_scores(self.secret, ring, part).values
            as_many(len(found), samples)
            values.append(found)
        scores = self.plan.scores(np.sum(values, axis=0))
        return Result(self.plan.predictions(scores), scores, self.plan.error)

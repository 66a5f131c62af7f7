"""The client of a linear model: it encrypts samples and reads scores, by the compiled client."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hesc._native import ShapeError
from hesc._support.inputs import as_many, whole
from hesc.models.samples import Result
from hesc.protocols.client import ModelClient
from hesc.protocols.linear.plan import LinearPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.secret import SecretKey


class LinearClient(ModelClient[Result]):
    """Encrypts samples for a server that scores them, and reads the scores."""

    plan_type: ClassVar[type[LinearPlan]] = LinearPlan
    plan: LinearPlan
    secret: SecretKey

    def encrypted(self, features: NDArray[np.float64]) -> bytes:
        """A query of features that the plan's `prepared` gave, `plan.rows` at most.

        Raises:
            ShapeError: too many rows, or of other lengths.
            OutOfRangeError: features beyond their ranges.

        """
        rows = np.ascontiguousarray(features, dtype=np.float64)
        if rows.ndim != 2:
            raise ShapeError(
                f"prepared features are rows of numbers, one for each sample, and these have the "
                f"shape {rows.shape}: give what plan.prepared(x) gives"
            )
        return self.plan.core.encrypt(self.secret.native, rows)

    def decrypt(
        self, answer: bytes, *, query: bytes | None = None, samples: int | None = None
    ) -> Result:
        """Scores of an answer, and what follows from them; as `ModelClient.decrypt`.

        Their errors depend on the secret key: show scores to nobody.
        """
        asked = None if samples is None else whole(samples, "samples", 1)
        raw = self.plan.core.decrypt(self.secret.native, answer, query)
        as_many(len(raw), asked)
        scores = self.plan.scores(raw)
        return Result(self.plan.predictions(scores), scores, self.plan.error)

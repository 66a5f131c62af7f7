"""The client of a score in whole numbers: it encrypts samples and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hesc import DecryptionError
from hesc.models.samples import Result
from hesc.protocols.client import PartsClient
from tests.toy_protocol.plan import ToyPlan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.secret import SecretKey


class ToyClient(PartsClient[Result]):
    """Encrypts samples, a ciphertext for each feature, and reads scores."""

    plan_type: ClassVar[type[ToyPlan]] = ToyPlan
    plan: ToyPlan
    secret: SecretKey

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """The columns of the samples."""
        columns = features.astype(np.int64).T
        return [self.secret.encrypt_to_bytes(each, bound=self.plan.bound) for each in columns]

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """The scores of an answer.

        Raises:
            WireError, ParameterError, ShapeError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        vector = self.plan.vector(parts[0], samples)
        raw = self.secret.decrypt(vector).astype(np.float64)[:, None]
        if (abs(raw) > self.plan.most).any():
            raise DecryptionError("no features of this plan have such scores. Tell nobody")
        scores = self.plan.scores(raw)
        return Result(self.plan.predictions(scores), scores, None)

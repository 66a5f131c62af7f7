"""The client of several parties: it owns the key, has no samples, and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hesc._native import DecryptionError, ParameterError, WireError
from hesc.models.samples import Result
from hesc.protocols.client import PartsClient
from hesc.protocols.owners.column_sets import SLOTS
from hesc.protocols.owners.plan import SHARE, OwnersPlan
from hesc.vectors.encrypted_vectors import EncryptedVector

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.samples import Query
    from hesc.models.tables.forms import Samples
    from hesc.secret import SecretKey

_MOST = 0.5 + 13 / SHARE
"""The largest score in units of the scale: half, and complex noise, whose parts are within nine
errors."""


class OwnersClient(PartsClient[Result]):
    """Owns the key of several parties, has no samples, and reads scores."""

    plan_type: ClassVar[type[OwnersPlan]] = OwnersPlan
    answer_parts: ClassVar[int | None] = None
    plan: OwnersPlan
    secret: SecretKey

    def encrypt(self, samples: Samples, *, clip: bool = False) -> Query:
        """Refused, for the client has no samples: always a ParameterError."""
        del samples, clip
        raise _no_samples()

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """Refused, as `encrypt`."""
        del features
        raise _no_samples()

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """Scores of an answer, and what follows from them.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        plan = self.plan
        if len(parts) != plan.outputs:
            raise WireError("an answer has other parts than its plan says")
        vectors = [EncryptedVector.from_bytes(plan.params, part, SLOTS) for part in parts]
        values = np.column_stack([self.secret.decrypt(vector) for vector in vectors])
        if not np.isfinite(values).all() or (np.abs(values) > _MOST).any():
            raise DecryptionError(
                "the answer holds scores that no declared features have; tell nobody who made it"
            )
        scores = plan.scores(np.real(values[:samples]) * plan.scale)
        return Result(plan.predictions(scores), scores, plan.error)


def _no_samples() -> ParameterError:
    return ParameterError(
        "this plan's samples are its parties': Party(plan, name, client.public_keys()).encrypt "
        "encrypts one's columns, or `hesc party encrypt`"
    )

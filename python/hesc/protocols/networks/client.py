"""The client of a network: it encrypts samples and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hesc._native import DecryptionError, WireError
from hesc.models.samples import Result
from hesc.protocols.client import PartsClient
from hesc.protocols.networks.plan import DEVIATIONS, NetworkPlan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.secret import SecretKey

_UP = 1 + 1e-6
"""A factor on bounds, which travel in fewer bits than they are computed in."""


class NetworkClient(PartsClient[Result]):
    """Encrypts samples for a server that computes a network on them, and reads scores.

    New keys take half a second and have some ten megabytes.
    """

    plan_type: ClassVar[type[NetworkPlan]] = NetworkPlan
    plan: NetworkPlan
    secret: SecretKey

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """All samples, in one ciphertext."""
        return [self.secret.encrypt_to_bytes(self.plan.packing.packed(features))]

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> Result:
        """Scores of an answer, and what follows from them.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        vector = self.plan.vector(parts[0])
        allowed = DEVIATIONS * self.plan.noise / self.plan.unit
        if vector.complex_values or vector.error_bound > allowed * _UP:
            raise WireError("this answer is of another computation than the plan's")
        raw = self.plan.packing.unpacked(self.secret.decrypt(vector), samples)
        if not (abs(raw) <= 1 + allowed).all():
            raise DecryptionError(
                "these scores are none that the plan's features have: the answer is altered, or "
                "of another model. Tell nobody who made it"
            )
        scores = self.plan.scores(raw * self.plan.unit)
        return Result(self.plan.predictions(scores), scores, self.plan.error)

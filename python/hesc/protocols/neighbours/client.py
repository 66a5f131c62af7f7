"""The client of nearest neighbours: it encrypts codes, reads distances and votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from hesc._native import DecryptionError, WireError
from hesc._support.inputs import as_many
from hesc.codes import EncryptedDistances
from hesc.codes.secret import decrypt_distances, encrypt_codes
from hesc.protocols.client import PartsClient
from hesc.protocols.neighbours.plan import NeighboursPlan

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hesc.secret import SecretKey


class NeighboursResult(NamedTuple):
    """What an answer says, for the client's eyes: whoever it is shown to learns of the key."""

    predictions: NDArray[Any]
    """Classes."""
    scores: NDArray[np.float64]
    """Shares of votes; of two classes that of the second less a half."""
    indices: NDArray[np.intp]
    """The nearest records, the nearest first, by their places among the plan's labels."""
    angles: NDArray[np.float64]
    """Estimated angles to these, in radians."""
    error: None = None
    """Distances of codes are exact."""


class NeighboursClient(PartsClient[NeighboursResult]):
    """Encrypts codes of samples, reads their distances to all records, and votes."""

    plan_type: ClassVar[type[NeighboursPlan]] = NeighboursPlan
    plan: NeighboursPlan
    secret: SecretKey

    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """Codes of all samples, in one wire form."""
        return [encrypt_codes(self.secret, self.plan.coding.encode(features))]

    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> NeighboursResult:
        """The nearest records of each sample, and what their votes say.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`.

        """
        found = EncryptedDistances.from_bytes(self.plan.params, parts[0])
        records, columns = found.shape
        if records != self.plan.records:
            raise WireError("this answer has distances of other records than the plan's")
        as_many(columns, samples)
        distances = decrypt_distances(self.secret, found)
        if (distances > self.plan.coding.bits).any():
            raise DecryptionError(
                "these distances are none that codes of the plan have: the answer is altered, or "
                "of another plan. Tell nobody who made it"
            )
        return NeighboursResult(*self.plan.concluded(distances.T))

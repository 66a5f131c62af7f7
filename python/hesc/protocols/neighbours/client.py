"""The client of nearest neighbours: it encrypts codes, reads distances and votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hesc._native import DecryptionError, ParameterError, WireError
from hesc._support.inputs import of_kind
from hesc.codes import EncryptedDistances
from hesc.codes.secret import decrypt_distances, encrypt_codes
from hesc.protocols import frames
from hesc.protocols.holding import ScoreReader
from hesc.protocols.neighbours.plan import ANSWER, QUERY, NeighborsPlan
from hesc.secret import SecretKey, keygen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class NeighborsResult(NamedTuple):
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


class NeighborsClient(ScoreReader[NeighborsResult]):
    """A plan and a secret key. Not printed with it, copied or pickled; needs no scikit-learn.

    Args:
        plan: what the records' owner sent, see `NeighborsPlan.from_bytes`. Print it before you use
            it.
        secret: a key of the plan's parameters that was kept, `hesc.SecretKey.load`; without it a
            new pair is made.

    """

    plan: NeighborsPlan
    secret: SecretKey

    def __init__(self, plan: NeighborsPlan, *, secret: SecretKey | None = None) -> None:
        self.plan = of_kind(plan, "plan", NeighborsPlan, "NeighborsPlan.from_bytes reads one")
        self._public: bytes | None = None
        if secret is None:
            self.secret, public = keygen(plan.params)
            self._public = public.to_bytes()
        else:
            self.secret = of_kind(secret, "secret", SecretKey, "hesc.keygen's first")
            if secret.params != plan.params:
                raise ParameterError(
                    f"this secret key is of another set of parameters than the plan's, "
                    f"{plan.distance_set.name}: load the one that was made for it"
                )

    def _public_form(self) -> bytes | None:
        return self._public

    def _encrypted(self, features: NDArray[np.float64]) -> bytes:
        codes = self.plan.coding.encode(features)
        return frames.join(QUERY, [self.plan.name, encrypt_codes(self.secret, codes)])

    def _decrypted(self, answer: bytes) -> NeighborsResult:
        name, data = frames.split(answer, ANSWER, 2)
        if name != self.plan.name:
            raise WireError("this answer is for another plan than the client's")
        found = EncryptedDistances.from_bytes(self.plan.params, data)
        records, samples = found.shape
        if records != self.plan.records or not 1 <= samples <= self.plan.rows:
            raise WireError("this answer has distances of other records than the plan's")
        distances = decrypt_distances(self.secret, found)
        if (distances > self.plan.coding.bits).any():
            raise DecryptionError(
                "these distances are none that codes of the plan have: the answer is altered, or "
                "of another plan. Tell nobody who made it"
            )
        return NeighborsResult(*self.plan.concluded(distances.T))

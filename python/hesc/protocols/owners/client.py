"""The client of several parties: it owns the key, has no samples, and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

import numpy as np

from hesc._native import DecryptionError, ParameterError
from hesc._support.inputs import of_kind
from hesc.models.samples import Result
from hesc.protocols.holding import ScoreReader
from hesc.protocols.owners import pieces
from hesc.protocols.owners.plan import SHARE, PartiesPlan
from hesc.protocols.owners.sets import SLOTS
from hesc.secret import SecretKey, keygen
from hesc.vectors.vectors import EncryptedVector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.vectors.keys import PublicKeys

_MOST = 0.5 + 13 / SHARE
"""The largest score in units of the scale: half, and complex noise, whose parts are within nine
errors."""


class PartiesClient(ScoreReader[Result]):
    """A plan and a secret key. Not printed with it, copied or pickled; needs no scikit-learn.

    Args:
        plan: what the model's owner sent, see `PartiesPlan.from_bytes`. Print it before you use it.
        secret: a key of the plan's parameters that was kept (`SecretKey.load`); without it a
            new pair is made.

    """

    plan: PartiesPlan
    secret: SecretKey

    def __init__(self, plan: PartiesPlan, *, secret: SecretKey | None = None) -> None:
        self.plan = of_kind(plan, "plan", PartiesPlan, "PartiesPlan.from_bytes reads one")
        self._public: PublicKeys | None = None
        if secret is None:
            self.secret, self._public = keygen(plan.params, products=False)
        else:
            self.secret = of_kind(secret, "secret", SecretKey, "hesc.keygen's first")
            if secret.params.native.fingerprint != plan.params.native.fingerprint:
                raise ParameterError("the secret key is of another set than the plan's")

    def _public_form(self) -> bytes | None:
        return None if self._public is None else self._public.to_bytes()

    def encrypt(self, samples: ArrayLike, *, clip: bool = False) -> Never:
        """Refused, for the client has no samples: always a ParameterError."""
        del samples, clip
        raise ParameterError(
            "this plan's samples are its parties': Party(plan, name, client.public_keys()).encrypt "
            "encrypts one's columns, or `hesc party encrypt`"
        )

    def encrypted(self, features: NDArray[np.float64]) -> Never:
        """Refused, as `encrypt`."""
        self.encrypt(features)

    _encrypted = encrypted

    def _decrypted(self, answer: bytes) -> Result:
        plan = self.plan
        rows, parts = pieces.read_answer(plan, answer)
        vectors = [EncryptedVector.from_bytes(plan.params, part, SLOTS) for part in parts]
        values = np.column_stack([self.secret.decrypt(vector) for vector in vectors])
        if not np.isfinite(values).all() or (np.abs(values) > _MOST).any():
            raise DecryptionError(
                "the answer holds scores that no declared features have; tell nobody who made it"
            )
        scores = plan.scores(np.real(values[:rows]) * plan.scale)
        return Result(plan.predictions(scores), scores, plan.error)

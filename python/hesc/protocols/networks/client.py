"""The client of a network: it encrypts samples and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hesc._native import DecryptionError, ParameterError, WireError
from hesc._support.inputs import of_kind
from hesc.models.samples import Result
from hesc.protocols.holding import ScoreReader
from hesc.protocols.networks.plan import DEVIATIONS, NetworkPlan
from hesc.protocols.networks.server import read_keys
from hesc.secret import SecretKey, keygen
from hesc.vectors.vectors import EncryptedVector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_UP = 1 + 1e-6
"""A factor on bounds, which travel in fewer bits than they are computed in."""


class NetworkClient(ScoreReader[Result]):
    """A plan and a secret key. Not printed with it, copied or pickled; needs no scikit-learn.

    Args:
        plan: what the model's owner sent, see `NetworkPlan.from_bytes`. Print it before you use it.
        secret: a key of the plan's parameters that was kept; without it new keys are made, half a
            second's work and some ten megabytes.
        keys: of a kept secret key, what `public_keys` gave with it: without them a client decrypts
            and encrypts as well, and cannot give them again.

    """

    plan: NetworkPlan
    secret: SecretKey
    _takes_keys: ClassVar[bool] = True

    def __init__(
        self,
        plan: NetworkPlan,
        *,
        secret: SecretKey | None = None,
        keys: bytes | None = None,
    ) -> None:
        self.plan = of_kind(plan, "plan", NetworkPlan, "NetworkPlan.from_bytes reads one")
        if secret is None:
            self.secret, made = keygen(plan.params, rotations=plan.packing.rotations())
            self._public: bytes | None = made.to_bytes()
        else:
            self.secret = of_kind(secret, "secret", SecretKey, "hesc.keygen's first")
            if secret.params != plan.params:
                raise ParameterError(
                    f"this secret key is of {secret.params.name}, the plan of {plan.params.name}"
                )
            if keys is not None:
                read_keys(plan, keys)
            self._public = keys

    def _public_form(self) -> bytes | None:
        return self._public

    def _encrypted(self, features: NDArray[np.float64]) -> bytes:
        vector = self.secret.encrypt_to_bytes(self.plan.packing.packed(features))
        return self.plan.message("query", len(features), vector)

    def _decrypted(self, answer: bytes) -> Result:
        count, data = self.plan.read_message("answer", answer)
        params = self.plan.params
        vector = EncryptedVector.from_bytes(params, data, params.slot_count)
        allowed = DEVIATIONS * self.plan.noise / self.plan.unit
        if vector.complex_values or vector.error_bound > allowed * _UP:
            raise WireError("this answer is of another computation than the plan's")
        raw = self.plan.packing.unpacked(self.secret.decrypt(vector), count)
        if not (abs(raw) <= 1 + allowed).all():
            raise DecryptionError(
                "these scores are none that the plan's features have: the answer is altered, or "
                "of another model. Tell nobody who made it"
            )
        scores = self.plan.scores(raw * self.plan.unit)
        return Result(self.plan.predictions(scores), scores, self.plan.error)

"""The client of a private model: it encrypts samples and reads scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from hesc._native import ParameterError, ShapeError
from hesc.inputs import of_kind
from hesc.ml.plans import PrivatePlan
from hesc.ml.samples import Query, Result
from hesc.secret import LeveledSecretKey, leveled_keygen

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Client:
    """A plan and a secret key. Not printed with it, copied or pickled; needs no scikit-learn.

    Args:
        plan: what the model's owner sent, see `PrivatePlan.from_bytes`. Print it before you use it.
        secret: a key of the plan's parameters that was kept (`LeveledSecretKey.load`); without it a
            new pair is made.

    """

    def __init__(self, plan: PrivatePlan, *, secret: LeveledSecretKey | None = None) -> None:
        self.plan = of_kind(plan, "plan", PrivatePlan, "PrivatePlan.from_bytes reads one")
        if secret is None:
            self.secret, keys = leveled_keygen(plan.ring.params, products=False)
            self._public: bytes | None = keys.to_bytes()["public"]
        else:
            self.secret = of_kind(secret, "secret", LeveledSecretKey, "hesc.leveled_keygen's first")
            self._public = None

    def __repr__(self) -> str:
        return f"<hesc.ml.Client: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError(
            "a Client holds a secret key: not pickled or copied; see client.secret.save"
        )

    def public_keys(self) -> bytes:
        """What a server that hides its weights is given.

        Raises:
            ParameterError: a client that was made of a kept key, which has no public one.

        """
        if self._public is None:
            raise ParameterError(
                "a kept secret key comes without its public one; write public_keys() beside it "
                "when you save it, or make a new client"
            )
        return self._public

    def encrypt(self, samples: ArrayLike, *, clip: bool = False) -> Query:
        """Transforms and encrypts rows of features, `plan.rows` of them at most.

        Args:
            samples: as `PrivatePlan.prepared` takes them.
            clip: bring values beyond the declared ranges to their ends, and count them.

        Raises:
            OutOfRangeError, ShapeError: as `PrivatePlan.prepared`; too many rows.

        """
        ready = self.plan.prepared(samples, clip=clip)
        if len(ready.features) > self.plan.rows:
            raise ShapeError(
                f"{len(ready.features)} samples in a query of {self.plan.rows} at most; send them "
                f"as several"
            )
        return Query(self.encrypted(ready.features), ready.values, ready.samples)

    def encrypted(self, features: NDArray[np.float64]) -> bytes:
        """A query of features that `PrivatePlan.prepared` gave, `plan.rows` at most."""
        return self.secret.encrypt_features(self.plan.ring, features)

    def decrypt(self, answer: bytes) -> Result:
        """Scores and predictions of an answer.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, another plan's or key's.
            DecryptionError: scores that no declared features have. Tell nobody who made it.

        """
        found = self.secret.decrypt_scores(self.plan.ring, answer)
        scores = self.plan.scores(found.values)
        return Result(self.plan.predictions(scores), scores, found.error)

    def probabilities(self, answer: bytes) -> NDArray[np.float64]:
        """Probabilities of all classes, of the decrypted scores.

        Raises:
            ParameterError: a model whose scores give none; as `decrypt`.

        """
        return self.plan.probabilities(self.decrypt(answer).scores)


def load_secret(
    plan: PrivatePlan, path: str | PathLike[str], *, passphrase: str | None = None
) -> LeveledSecretKey:
    """The key of a client of this plan, from the file that `client.secret.save` wrote.

    Raises:
        DecryptionError, ParameterError, WireError, PermissionError: as `LeveledSecretKey.load`.

    """
    return LeveledSecretKey.load(plan.ring.params, path, passphrase=passphrase)

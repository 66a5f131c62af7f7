"""The client of nearest neighbours: it encrypts codes, reads distances and votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Never

from hesc._native import DecryptionError, ParameterError, ShapeError, WireError
from hesc.codes import EncryptedDistances
from hesc.inputs import of_kind
from hesc.ml import frames
from hesc.ml.neighbors.plans import ANSWER, QUERY, NeighborsPlan
from hesc.ml.samples import Query
from hesc.secret import SecretKey, keygen, load_secret_key

if TYPE_CHECKING:
    from os import PathLike

    import numpy as np
    from numpy.typing import ArrayLike, NDArray


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


class NeighborsClient:
    """A plan and a secret key. Not printed with it, copied or pickled; needs no scikit-learn.

    Args:
        plan: what the records' owner sent, see `NeighborsPlan.from_bytes`. Print it before you use
            it.
        secret: a key of the plan's parameters that was kept, `hesc.load_secret_key`; without it a
            new pair is made.

    """

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

    def __repr__(self) -> str:
        return f"<hesc.ml.neighbors.NeighborsClient: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError(
            "a NeighborsClient holds a secret key: not pickled or copied; see client.secret.save"
        )

    def public_keys(self) -> bytes:
        """What a server that hides its codes is given.

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
        """Transforms, codes and encrypts rows of features, `plan.rows` of them at most.

        Args:
            samples: as `NeighborsPlan.prepared` takes them.
            clip: changes nothing, since codes have no ranges.

        Raises:
            OutOfRangeError, ShapeError: as `NeighborsPlan.prepared`; too many rows.

        """
        ready = self.plan.prepared(samples, clip=clip)
        return Query(self.encrypted(ready.features), ready.values, ready.samples)

    def encrypted(self, features: NDArray[np.float64]) -> bytes:
        """A query of features that `NeighborsPlan.prepared` gave, `plan.rows` at most."""
        if len(features) > self.plan.rows:
            raise ShapeError(
                f"{len(features)} samples in a query of {self.plan.rows} at most; send them as "
                f"several"
            )
        codes = self.plan.coding.encode(features)
        return frames.join(QUERY, [self.plan.name, self.secret.encrypt_codes(codes)])

    def decrypt(self, answer: bytes) -> NeighborsResult:
        """Nearest records, votes and classes of an answer.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, another plan's or key's.
            DecryptionError: what are no distances of codes. Tell nobody who made it.

        """
        name, data = frames.split(answer, ANSWER, 2)
        if name != self.plan.name:
            raise WireError("this answer is for another plan than the client's")
        found = EncryptedDistances.from_bytes(self.plan.params, data)
        records, samples = found.shape
        if records != self.plan.records or not 1 <= samples <= self.plan.rows:
            raise WireError("this answer has distances of other records than the plan's")
        distances = self.secret.distances(found)
        if (distances > self.plan.coding.bits).any():
            raise DecryptionError(
                "these distances are none that codes of the plan have: the answer is altered, or "
                "of another plan. Tell nobody who made it"
            )
        return NeighborsResult(*self.plan.concluded(distances.T))

    def probabilities(self, answer: bytes) -> NDArray[np.float64]:
        """Shares of votes for all classes. Raises what `decrypt` does."""
        return self.plan.probabilities(self.decrypt(answer).scores)


def load_secret(
    plan: NeighborsPlan, path: str | PathLike[str], *, passphrase: str | None = None
) -> SecretKey:
    """The key of a client of this plan, from the file that `client.secret.save` wrote.

    Raises:
        DecryptionError, ParameterError, WireError, PermissionError: as `hesc.load_secret_key`.

    """
    return load_secret_key(plan.params, path, passphrase=passphrase)

"""What all clients with a secret key have in common, whatever they encrypt and read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, Protocol, TypeVar

from hesc._native import ParameterError, ShapeError
from hesc._support.callers import usual_floats
from hesc._support.inputs import as_many, whole
from hesc.models.samples import Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray


class Read(Protocol):
    """What an answer says, at least."""

    @property
    def predictions(self) -> NDArray[Any]:
        """One for each sample."""

    @property
    def scores(self) -> Any:
        """What they were drawn from; None where an answer holds predictions alone."""


ReadT = TypeVar("ReadT", bound=Read)


class KeyHolder(ABC, Generic[ReadT]):
    """A plan and a secret key, neither copied nor pickled."""

    plan: Any
    secret: Any
    """With `.save(path, passphrase=)`."""
    _takes_keys: ClassVar[bool] = False
    """Whether public keys that were kept can be given back as `keys=`."""

    def __repr__(self) -> str:
        package = type(self).__module__.rpartition(".")[0]
        return f"<{package}.{type(self).__name__}: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError(
            f"a {type(self).__name__} holds a secret key: not pickled or copied; see "
            "client.secret.save"
        )

    @abstractmethod
    def _public_form(self) -> bytes | None:
        """Bytes of the public keys; None where they are not there."""

    def public_keys(self) -> bytes:
        """What is given once to whom the plan says: a server, a model's owner, parties.

        Raises:
            ParameterError: a client that was made of a kept key, which has no public one.

        """
        found = self._public_form()
        if found is None:
            again = ", and give them as keys=" if self._takes_keys else ""
            raise ParameterError(
                "a kept secret key comes without its public ones; write public_keys() beside it "
                f"when you save it{again}, or make a new client"
            )
        return found

    @usual_floats
    def encrypt(self, samples: ArrayLike, *, clip: bool = False) -> Query:
        """Transforms and encrypts rows of features, `plan.rows` of them at most.

        Args:
            samples: as the plan's `prepared` takes them.
            clip: bring values beyond what the plan declares within it, and count them.

        Raises:
            OutOfRangeError, ShapeError: as the plan's `prepared`; too many rows.
            ParameterError: what is encrypted under public keys that are not there.

        """
        ready = self.plan.prepared(samples, clip=clip)
        return Query(self.encrypted(ready.features), ready.values, ready.samples)

    @usual_floats
    def encrypted(self, features: NDArray[np.float64]) -> bytes:
        """A query of features that the plan's `prepared` gave, `plan.rows` at most.

        Raises:
            ShapeError: too many rows.

        """
        if len(features) > self.plan.rows:
            raise ShapeError(
                f"{len(features)} samples in a query of {self.plan.rows} at most; send them as "
                f"several"
            )
        return self._encrypted(features)

    @abstractmethod
    def _encrypted(self, features: NDArray[np.float64]) -> bytes:
        """A query of no more features than fit."""

    @usual_floats
    def decrypt(self, answer: bytes, *, samples: int | None = None) -> ReadT:
        """What an answer says: `predictions`, `scores`, `error`.

        Args:
            answer: the server's.
            samples: how many the query has; an answer of more or fewer is refused. Without it
                their number is the server's word.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, another plan's or key's;
                another number of samples.
            DecryptionError: what no declared features give. Tell nobody who made it.

        """
        asked = None if samples is None else whole(samples, "samples", 1)
        found = self._decrypted(answer)
        as_many(len(found.predictions), asked)
        return found

    @abstractmethod
    def _decrypted(self, answer: bytes) -> ReadT:
        """What an answer holds, decrypted; its number of samples is what the answer says."""


class ScoreReader(KeyHolder[ReadT]):
    """A client whose answers have scores, or shares."""

    def probabilities(self, answer: bytes, *, samples: int | None = None) -> NDArray[np.float64]:
        """Probabilities of all classes, of what an answer says; arguments as of `decrypt`.

        Raises:
            ParameterError: a model whose scores give none; as `decrypt`.

        """
        found: NDArray[np.float64] = self.plan.probabilities(
            self.decrypt(answer, samples=samples).scores
        )
        return found

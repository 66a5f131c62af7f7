"""Who holds the secret key of a plan; and of a model's, encrypts samples and reads answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Never, Protocol, TypeVar

import numpy as np

from hesc._native import (
    DecryptionError,
    KeyMismatchError,
    ParameterError,
    ShapeError,
    WireError,
)
from hesc._support.callers import usual_floats
from hesc._support.inputs import as_many, of_kind, whole
from hesc.models.samples import Query
from hesc.params.vectors import VectorParams
from hesc.protocols.message import NAME_BYTES, Kind, Message, name_of
from hesc.secret import Decryptor, keygen
from hesc.streams.encryptor import Encryptor
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Samples
    from hesc.protocols.plan import Plan


class Read(Protocol):
    """What an answer says, at least."""

    @property
    def predictions(self) -> NDArray[Any]:
        """One for each sample."""

    @property
    def scores(self) -> Any:
        """What they were drawn from; None where an answer holds predictions alone."""


ReadT = TypeVar("ReadT", bound=Read)
_PROBE: Final = 64
"""Bits of a stream that a pair of keys is tried on."""


class PlanClient(ABC):
    """A plan and a secret key. Not printed with it, copied or pickled.

    Args:
        plan: what all sides agreed upon. Print it before you use it.
        secret: a key of the plan's parameters that was kept (`SecretKey.load`); without it a new
            pair is made.
        keys: what `public_keys` gave when that key was made. They are needed to encrypt where a
            model's plan `encrypts_publicly`, and to be given away once more.

    Raises:
        ParameterError, WireError: another protocol's plan; keys of other parameters, or damaged.
        KeyMismatchError: public keys of another pair.

    """

    plan_type: ClassVar[type[Plan]]
    """Class of the plan."""
    plan: Any
    secret: Any
    """The secret key, with `.save(path, passphrase=)`."""

    def __init__(self, plan: Any, *, secret: Any = None, keys: bytes | None = None) -> None:
        kind = self.plan_type
        self.plan = of_kind(plan, "plan", kind, f"{kind.__name__}.from_bytes reads one")
        self.keys: PublicKeys | None
        if secret is None:
            if keys is not None:
                raise ParameterError("keys= comes with the secret= that it was made with")
            self.secret, self.keys = keygen(plan.params, **plan.key_options)
            return
        params = plan.params
        if getattr(secret, "params", None) != params:
            raise ParameterError(
                f"secret= is a secret key of the plan's set, {params.name}, which SecretKey.load "
                "reads; this is another's"
            )
        self.secret = secret
        self.keys = None if keys is None else self.read_keys(keys)

    def read_keys(self, keys: bytes) -> PublicKeys | None:
        """Public keys that were made with the secret key, which is there.

        Raises:
            ParameterError, WireError: keys of other parameters, or damaged.
            KeyMismatchError: public keys of another pair.

        """
        found = PublicKeys.from_bytes(self.plan.params, keys, parts=self.plan.key_parts)
        if not self._reads(found):
            raise KeyMismatchError("keys= are of another pair than the secret key; give its own")
        return found

    def _reads(self, keys: PublicKeys) -> bool:
        """Whether public keys are of the secret key's pair: it reads a one that they encrypt.

        It does not tell a key that was made to hide nothing: who keeps it sees to that.
        """
        try:
            if isinstance(keys.params, VectorParams):
                found = self.secret.decrypt(keys.encrypt(np.ones(1, dtype=np.uint8)))
            else:
                found = Decryptor(self.secret).decrypt(Encryptor(keys, _PROBE).encrypt([1.0]))
        except (KeyMismatchError, DecryptionError):
            return False
        return bool(np.abs(found - 1) < 0.5)

    def __repr__(self) -> str:
        return f"<{type(self).__module__.rpartition('.')[0]}.{type(self).__name__}: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError(
            f"a {type(self).__name__} holds a secret key: not pickled or copied; see "
            "client.secret.save"
        )

    def public_keys(self) -> bytes:
        """What is given once to whom the plan says: a server, a model's owner, parties.

        Raises:
            ParameterError: a client that was made of a kept key, without its public ones.

        """
        if self.keys is None:
            raise ParameterError(
                "a kept secret key comes without its public ones; write public_keys() beside it "
                "when you save it, and give them as keys=, or make a new client"
            )
        return self.keys.only(*self.plan.key_parts).to_bytes()


class ModelClient(PlanClient, Generic[ReadT]):
    """A client of a model: it encrypts samples and reads answers. Needs no scikit-learn.

    Arguments and errors are those of `PlanClient`.
    """

    def encrypt(self, samples: Samples, *, clip: bool = False) -> Query:
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

    @abstractmethod
    def encrypted(self, features: NDArray[np.float64]) -> bytes:
        """A query of features that the plan's `prepared` gave, `plan.rows` at most.

        Raises:
            ShapeError: too many rows.

        """

    @abstractmethod
    def decrypt(
        self, answer: bytes, *, query: bytes | None = None, samples: int | None = None
    ) -> ReadT:
        """What an answer says: `predictions`, `scores`, `error`.

        Args:
            answer: the server's.
            query: what was asked: an answer to another query is refused, or one of more or fewer
                samples. Without it which samples these are, and how many, is the server's word.
            samples: how many the query has, for who did not keep it.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, another plan's or key's;
                the answer to another query; another number of samples.
            DecryptionError: what no declared features give. Tell nobody who made it.

        """

    def probabilities(
        self, answer: bytes, *, query: bytes | None = None, samples: int | None = None
    ) -> NDArray[np.float64]:
        """Probabilities of all classes, of what an answer says; arguments as of `decrypt`.

        Raises:
            ParameterError: a model whose scores give none; as `decrypt`.

        """
        found: NDArray[np.float64] = self.plan.probabilities(
            self.decrypt(answer, query=query, samples=samples).scores
        )
        return found


class PartsClient(ModelClient[ReadT]):
    """A client of a model whose messages are framed here, around ciphertexts that it knows.

    Arguments and errors are those of `PlanClient`.
    """

    answer_parts: ClassVar[int | None] = 1
    """Ciphertexts of an answer; None where the plan tells."""

    @usual_floats
    def encrypted(self, features: NDArray[np.float64]) -> bytes:
        """A query of features that the plan's `prepared` gave, `plan.rows` at most.

        Raises:
            ShapeError: too many rows.

        """
        self.check_rows(len(features))
        return self.framed(self.encrypt_parts(features), len(features))

    def check_rows(self, samples: int) -> None:
        """Refuses more samples than a query has.

        Raises:
            ShapeError: there are more.

        """
        if samples > self.plan.rows:
            raise ShapeError(
                f"{samples} samples in a query of {self.plan.rows} at most; send them as several"
            )

    def framed(self, parts: list[bytes], samples: int) -> bytes:
        """A query of so many samples, of its ciphertexts."""
        plan = self.plan.digest[:NAME_BYTES]
        return Message(Kind.QUERY, plan, samples, tuple(parts)).to_bytes()

    @abstractmethod
    def encrypt_parts(self, features: NDArray[np.float64]) -> list[bytes]:
        """Ciphertexts of a query of no more features than fit."""

    @usual_floats
    def decrypt(
        self, answer: bytes, *, query: bytes | None = None, samples: int | None = None
    ) -> ReadT:
        """What an answer says; arguments and errors are those of `ModelClient.decrypt`."""
        found, _ = self.opened(answer, query=query, samples=samples)
        return self.decrypt_parts(found.parts, found.samples)

    def opened(
        self, answer: bytes, *, query: bytes | None, samples: int | None
    ) -> tuple[Message, Message | None]:
        """An answer, and the query that it is to where that is given: they belong together.

        Raises:
            WireError, ParameterError: as `decrypt`, before anything is decrypted.

        """
        asked = None if samples is None else whole(samples, "samples", 1)
        found = self.plan.opened(answer, Kind.ANSWER, self.answer_parts)
        sent = None
        if query is not None:
            sent = self.plan.opened(query, Kind.QUERY)
            as_many(found.samples, sent.samples)
            if found.query != name_of(query) or not self.are_answers(sent.parts, found.parts):
                raise WireError("the answer is to another query; take the two that belong together")
        as_many(found.samples, asked)
        return found, sent

    def are_answers(self, sent: tuple[bytes, ...], found: tuple[bytes, ...]) -> bool:
        """Whether the parts of an answer are to those of a query, where they say which."""
        del sent, found
        return True

    @abstractmethod
    def decrypt_parts(self, parts: tuple[bytes, ...], samples: int) -> ReadT:
        """What the ciphertexts of an answer of so many samples say.

        Raises:
            WireError, ParameterError, KeyMismatchError, DecryptionError: as `decrypt`; ciphertexts
                of another number of samples.

        """

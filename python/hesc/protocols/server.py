"""Who holds a model: servers, which answer, and owners, who encrypt it. Neither can decrypt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Never, Self, TypeVar

from hesc._native import OutOfRangeError, ParameterError, ShapeError, WireError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind
from hesc.protocols import wire
from hesc.protocols.message import Kind, Message, name_of
from hesc.protocols.plan import ModelPlan
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hesc.protocols.wire import Codec

PlanT = TypeVar("PlanT", bound=ModelPlan)


class ModelHolder(ABC, Generic[PlanT]):
    """A plan and a model, as a document: neither pickled nor copied.

    A class names its plan's class, and declares the fields of the model that its document has
    beside the plan; its constructor takes the plan, then these fields by name.
    """

    document: ClassVar[str]
    """Kind of the document, "server" or "owner"."""
    plan_type: ClassVar[type[ModelPlan]]
    """Class of the plan."""
    fields: ClassVar[Mapping[str, Mapping[str, Codec]]]
    """Fields of the model, by name: see `hesc.protocols.wire`."""
    plan: PlanT
    """What all sides agreed upon."""

    def __init__(self, plan: PlanT) -> None:
        kind = self.plan_type
        of_kind(plan, "plan", kind, f"{kind.__name__}.from_bytes reads one")
        self.plan = plan

    def __repr__(self) -> str:
        return f"<{type(self).__module__.rpartition('.')[0]}.{type(self).__name__}: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError(f"a {type(self).__name__} is not pickled or copied; write to_bytes()")

    @abstractmethod
    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""

    def to_bytes(self) -> bytes:
        """Plan and **model**, as it is held: for who runs this side, and for no client."""
        model = self.model()
        written = {name: meta["wire"].write(model[name]) for name, meta in self.fields.items()}
        head = {"protocol": self.plan.protocol, "plan": self.plan.to_bytes().decode()}
        return documents.write(self.document, head | written)

    @classmethod
    def from_bytes(cls, data: bytes, **options: Any) -> Self:
        """Reads what `to_bytes` wrote.

        Args:
            data: the document.
            options: of the constructor, such as `keys=` of servers.

        Raises:
            WireError: damaged bytes, another object's, a model that does not fit its plan.
            ParameterError, KeyMismatchError: as the constructor.

        """
        given = documents.read(data, cls.document, {"protocol", "plan", *cls.fields})
        if given["protocol"] != cls.plan_type.protocol:
            raise WireError(
                f"this {cls.document} is of another protocol than {cls.plan_type.protocol}; check "
                f"what was sent"
            )
        what = f"a {cls.document}"
        plan: Any = cls.plan_type.from_bytes(documents.inner(given["plan"], f"the plan of {what}"))
        read: dict[str, Any] = {"plan": plan}
        for name, meta in cls.fields.items():
            read[name] = meta["wire"].read(given[name], f"{name} of {what}", read)
        try:
            return cls(**read, **options)
        except (ShapeError, OutOfRangeError) as error:
            raise WireError(f"the model of {what} does not fit its plan: {error}") from error


class Server(ModelHolder[PlanT]):
    """A model that answers encrypted queries.

    Args:
        plan: what all sides agreed upon.
        keys: where the plan's server needs them, what the client's `public_keys` gave. Without
            them it answers nothing yet, and `to_bytes` is what there is for.

    Raises:
        WireError, ParameterError, KeyMismatchError: keys that are damaged, of another set, or too
            many.

    """

    document: ClassVar[str] = "server"
    parts: ClassVar[int | None] = 1
    """Ciphertexts of a query; None where the plan tells."""

    def __init__(self, plan: PlanT, *, keys: bytes | None = None) -> None:
        super().__init__(plan)
        if keys is not None and not self.takes_keys:
            raise ParameterError("this plan's server needs no keys: leave out keys=, or --keys")
        self.keys: PublicKeys | None = None if keys is None else self.read_keys(keys)

    @property
    def takes_keys(self) -> bool:
        """Whether this server computes with the client's public keys."""
        return self.plan.needs_keys

    @property
    def answers_left(self) -> int | None:
        """Numbers that may still be given; None where nothing is hidden and counted."""
        return None

    def read_keys(self, keys: bytes) -> PublicKeys:
        """The parts of the client's public keys that the plan needs.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, keys of another set, parts
                that are missing.

        """
        return PublicKeys.from_bytes(self.plan.params, keys, parts=self.plan.key_parts)

    @usual_floats
    def answer(self, query: bytes) -> bytes:
        """The answer to a query, for whoever sent it.

        Raises:
            WireError, ParameterError, KeyMismatchError, ShapeError: damaged bytes, a query for
                another plan or under another key; a server without keys.

        """
        if self.takes_keys and self.keys is None:
            raise ParameterError(
                "the server computes with the client's keys: give keys=, the bytes of "
                "client.public_keys(), or --keys, the file of `hesc keygen --keys`"
            )
        found = self.plan.opened(query, Kind.QUERY, self.query_parts)
        answers = self.compute(found.parts, found.samples)
        return Message(
            Kind.ANSWER, found.plan, found.samples, tuple(answers), name_of(query)
        ).to_bytes()

    @property
    def query_parts(self) -> int | None:
        """Ciphertexts that a query has; None for any number."""
        return self.parts

    @abstractmethod
    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """Ciphertexts of an answer, of those of a query of so many samples.

        Raises:
            WireError, ParameterError, KeyMismatchError, ShapeError: as `answer`.

        """


class EncryptedModelServer(Server[PlanT]):
    """A server whose model is under the client's key already: it takes no keys.

    Args:
        plan: what all sides agreed upon.
        model: the encrypted model, in its wire form.
        keys: None.

    Raises:
        ParameterError: keys.

    """

    fields: ClassVar[Mapping[str, Mapping[str, Codec]]] = {"model": wire.encoded(bytes, bytes)}

    def __init__(self, plan: PlanT, model: bytes, *, keys: bytes | None = None) -> None:
        super().__init__(plan, keys=keys)
        self._data = model

    @property
    def takes_keys(self) -> bool:
        """False: the client's keys are given to the model's owner."""
        return False

    def model(self) -> dict[str, Any]:
        """The encrypted model."""
        return {"model": self._data}


class Owner(ModelHolder[PlanT]):
    """A model in the clear, which leaves its owner under encryption alone."""

    document: ClassVar[str] = "owner"

    @abstractmethod
    def encrypt_model(self, keys: bytes) -> bytes:
        """The server of one client in its wire form, with the model encrypted.

        Args:
            keys: the client's `public_keys()`, from the client itself: **whoever puts a key of his
                own in its place can decrypt the model**.

        """

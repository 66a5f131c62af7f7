"""The server of a decision: a model in the clear on encrypted features. Nothing can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Never

from hesc import gates, integers
from hesc._native import ParameterError, ShapeError
from hesc._support import documents
from hesc._support.callers import usual_floats
from hesc._support.inputs import of_kind
from hesc.integers import BootstrappedIntegers
from hesc.params.vectors import VectorParams
from hesc.protocols import frames
from hesc.protocols.classes.circuits import cheapest
from hesc.protocols.classes.described import described, read
from hesc.protocols.classes.plan import ClassPlan
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from hesc.protocols.classes.models import Scores

QUERY: Final = "class query"
ANSWER: Final = "class answer"


class ClassServer:
    """A model in the clear that answers encrypted samples of one client with their classes.

    Args:
        plan: what both sides agreed upon.
        model: what is computed on quantised features.
        keys: what the client's `public_keys` gave. Without them it answers nothing yet, and
            `to_bytes` is what there is for.

    Raises:
        WireError, ParameterError: keys that are damaged or of other parameters.
        CircuitError: a model that has no room in the plan's parameters.

    """

    def __init__(self, plan: ClassPlan, model: Scores, *, keys: bytes | None = None) -> None:
        self.plan = of_kind(plan, "plan", ClassPlan, "PrivateClassifier.plan makes it")
        words = plan.words
        if not model.fits(words.inputs, len(plan.classes), words.bits):
            raise ShapeError("the model is of other features or classes than its plan")
        self._model = model
        self._circuit: integers.Plan | None = None
        self._public: PublicKeys | None = None
        self._evaluator: gates.Evaluator | None = None
        if keys is not None:
            self._public = public_of(plan, keys)
            if not isinstance(plan.params, VectorParams):
                self._evaluator = gates.Evaluator(self._public)
            self._circuit = cheapest(
                model, words, engine=plan.engine, batch=plan.rows, params=plan.params
            )

    def __repr__(self) -> str:
        return f"<hesc.protocols.classes.ClassServer: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError("a server is not pickled or copied; write to_bytes()")

    @usual_floats
    def answer(self, query: bytes) -> bytes:
        """The encrypted classes of a query, for whoever sent it.

        Cost: `hesc.integers.Plan` counts it; seconds to minutes for a query, however many of its
        samples there are in slots.

        Raises:
            WireError, ParameterError, KeyMismatchError, ShapeError: damaged bytes, a query for
                another plan or under another key; a server without keys.

        """
        if self._circuit is None or self._public is None:
            raise ParameterError(
                "the server computes with the client's keys: give keys=, the bytes of "
                "client.public_keys()"
            )
        kinds = self.plan.words.kinds
        named, *parts = frames.split(query, QUERY, 1 + len(kinds))
        self.plan.check_named(named, "query")
        params = self.plan.params
        numbers: list[Any] = [
            integers.read(params, part, layout=self.plan.upload) for part in parts
        ]
        if self._evaluator is None:
            numbers = [given.with_keys(self._public) for given in numbers]
        counts = {len(given) for given in numbers}
        if len(counts) != 1 or not 1 <= min(counts) <= self.plan.rows:
            raise ShapeError(
                f"the words of a query have as many samples each, up to {self.plan.rows}"
            )
        found = self._circuit(*numbers, server=self._evaluator, progress=False)
        if isinstance(found, BootstrappedIntegers):
            found = found.answer(of_kind(self._evaluator, "keys", gates.Evaluator, "give keys="))
        return frames.join(ANSWER, [self.plan.digest, found.to_bytes()])

    def to_bytes(self) -> bytes:
        """Plan and **model in the clear**: for who runs the server, and for no client."""
        fields = {"plan": self.plan.to_bytes().decode(), "model": described(self._model)}
        return documents.write("class server", fields)

    @classmethod
    def from_bytes(cls, data: bytes, *, keys: bytes | None = None) -> ClassServer:
        """What `to_bytes` wrote, with the keys of the client that it is to answer.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        given = documents.read(data, "class server", {"plan", "model"})
        plan = ClassPlan.from_bytes(documents.inner(given["plan"], "the plan of a server"))
        words = plan.words
        model = read(given["model"], words.inputs, len(plan.classes), words.bits)
        return cls(plan, model, keys=keys)


def public_of(plan: ClassPlan, keys: bytes) -> PublicKeys:
    """What a client's `public_keys` gave, with all parts that the plan's engine needs.

    Raises:
        WireError, ParameterError: damaged bytes, keys of other parameters, parts that are missing.

    """
    if not isinstance(keys, bytes):
        raise ParameterError(f"keys are bytes, not {type(keys).__name__}")
    if not isinstance(plan.params, VectorParams):
        return PublicKeys.from_bytes(plan.params, keys, parts=["bootstrapping"])
    rotations = ["rotations"] if plan.upload == "packed" else []
    return PublicKeys.from_bytes(plan.params, keys, parts=["relinearisation", *rotations])

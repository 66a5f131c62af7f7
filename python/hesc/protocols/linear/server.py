"""The server of a private model. Nothing that it imports can decrypt."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Never

from hesc._native import ParameterError
from hesc._support import documents
from hesc._support.inputs import of_kind
from hesc.protocols import ledger
from hesc.protocols.linear.plan import PrivatePlan
from hesc.protocols.weights import FIELDS, Weights, read
from hesc.ring_products.models import Model
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Server:
    """Weights in the clear that answer encrypted queries.

    Args:
        plan: what both sides agreed upon.
        weights: a row for each output, on features after the plan's transforms.
        intercepts: one for each output.
        keys: where the plan hides weights, what the client's `public_keys` gave: the server then
            answers this client alone. What it gives is counted in memory, with what other
            servers of these weights give in this process, under whichever plan.

    Raises:
        OutOfRangeError: weights beyond what the plan declares.
        ParameterError, KeyMismatchError, WireError: keys missing, too many, of another set.

    """

    def __init__(
        self,
        plan: PrivatePlan,
        weights: ArrayLike,
        intercepts: ArrayLike,
        *,
        keys: bytes | None = None,
    ) -> None:
        self.plan = of_kind(plan, "plan", PrivatePlan, "PrivateClassifier.plan makes it")
        self._weights = Weights.of(weights, intercepts, plan.ring.shape)
        if plan.hidden and keys is None:
            raise ParameterError(
                "this plan hides the weights, under the client's public key: give keys=, the bytes "
                "of client.public_keys()"
            )
        public = None if keys is None else public_key(plan, keys)
        self._model = Model(plan.ring, *self._weights, keys=public)
        self.fingerprint = self._weights.fingerprint
        """Fingerprint of the weights, which a ledger is opened with; for no client."""
        self.count = ledger.of_process(self.fingerprint) if plan.hidden else ledger.Count()
        """Where weights are hidden, how many numbers the model has given; another may be put here,
        by who keeps count elsewhere."""
        self._answering = Lock()

    def __repr__(self) -> str:
        return f"<hesc.ml.Server: {self.plan!r}>"

    def __reduce__(self) -> Never:
        raise TypeError("a Server is not pickled or copied, nor its count; write to_bytes()")

    def answer(self, query: bytes) -> bytes:
        """The answer to a query, for whoever sent it.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, a query for another plan or
                of another client; more numbers than a model whose weights are hidden has left.

        """
        most = self.plan.ring.answers
        if most is None:
            return self._model.evaluate(query)
        self.count.check()
        with self._answering:
            before = self._model.answers_left or 0
            answer = self._model.evaluate(query)
            numbers = before - (self._model.answers_left or 0)
        # Nobody has it before it is counted.
        self.count.spend(numbers, most)
        return answer

    @property
    def answers_left(self) -> int | None:
        """Numbers that may still be given; None where nothing is hidden."""
        own, most = self._model.answers_left, self.plan.ring.answers
        return None if own is None or most is None else max(0, min(own, most - self.count.given))

    def to_bytes(self) -> bytes:
        """Plan and **weights in the clear**: for who runs the server, and for no client."""
        fields = {"plan": self.plan.to_bytes().decode()} | self._weights.described()
        return documents.write("server", fields)

    @classmethod
    def from_bytes(cls, data: bytes, *, keys: bytes | None = None) -> Server:
        """What `to_bytes` wrote. What another process gave is not counted: keep a ledger.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        given = documents.read(data, "server", {"plan", *FIELDS})
        plan = PrivatePlan.from_bytes(documents.inner(given["plan"], "the plan of a server"))
        weights, intercepts = read(given, plan.ring.shape, "server")
        return cls(plan, weights, intercepts, keys=keys)


def public_key(plan: PrivatePlan, keys: bytes) -> PublicKeys:
    """The key that a client's `public_keys` gave.

    Raises:
        ParameterError, WireError: no bytes, damaged ones, the key of another set.

    """
    if not isinstance(keys, bytes):
        raise ParameterError(f"keys are bytes, not {type(keys).__name__}")
    return PublicKeys.from_bytes(plan.ring.params, keys, parts=["public"])

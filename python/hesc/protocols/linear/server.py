"""The server of a linear model. Nothing that it imports can decrypt."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from hesc._native import ParameterError
from hesc.protocols import ledger
from hesc.protocols.linear.plan import LinearPlan
from hesc.protocols.server import Server
from hesc.protocols.weights import FIELDS, Weights
from hesc.ring_products.models import Model, check_samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from hesc.protocols.wire import Codec


class LinearServer(Server[LinearPlan]):
    """Weights in the clear that answer encrypted queries.

    Args:
        plan: what both sides agreed upon.
        weights: a row for each output, on features after the plan's transforms.
        intercepts: one for each output.
        keys: where the plan hides weights, what the client's `public_keys` gave: the server then
            answers this client alone. What it gives is counted in memory, with what other
            servers of these weights give in this process, under whichever plan. What another
            process gave is not: keep a ledger.

    Raises:
        OutOfRangeError: weights beyond what the plan declares.
        ParameterError, KeyMismatchError, WireError: keys too many, of another set, damaged.

    """

    plan_type: ClassVar[type[LinearPlan]] = LinearPlan
    fields: ClassVar[Mapping[str, Mapping[str, Codec]]] = FIELDS

    def __init__(
        self,
        plan: LinearPlan,
        weights: ArrayLike,
        intercepts: ArrayLike,
        *,
        keys: bytes | None = None,
    ) -> None:
        super().__init__(plan, keys=keys)
        self._weights = Weights.of(weights, intercepts, plan.ring.shape)
        self._model: Model | None = None
        if self.keys is not None or not plan.hidden:
            self._model = Model(plan.ring, *self._weights, keys=self.keys)
        self.fingerprint = self._weights.fingerprint
        """Fingerprint of the weights, which a ledger is opened with; for no client."""
        self.count = ledger.of_process(self.fingerprint) if plan.hidden else ledger.Count()
        """Where weights are hidden, how many numbers the model has given; another may be put here,
        by who keeps count elsewhere."""
        self._answering = Lock()

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return self._weights._asdict()

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """The answer of the ring product.

        Raises:
            WireError, ParameterError, KeyMismatchError: as `answer`; a ring product's query of
                another number of samples than the message says; more numbers than a model whose
                weights are hidden has left.

        """
        model, most = self._model, self.plan.ring.answers
        if model is None:
            raise ParameterError("the server has no keys: give keys=, client.public_keys()")
        # The client would refuse the answer; here nothing is computed or counted yet.
        check_samples(parts[0], samples)
        if most is None:
            return [model.evaluate(parts[0])]
        self.count.check()
        with self._answering:
            before = model.answers_left or 0
            answer = model.evaluate(parts[0])
            numbers = before - (model.answers_left or 0)
        # Nobody has it before it is counted.
        self.count.spend(numbers, most)
        return [answer]

    @property
    def answers_left(self) -> int | None:
        """Numbers that may still be given; None where nothing is hidden."""
        most = self.plan.ring.answers
        if most is None:
            return None
        own = most if self._model is None else self._model.answers_left or 0
        return max(0, min(own, most - self.count.given))

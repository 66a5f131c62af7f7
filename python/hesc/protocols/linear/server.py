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
from hesc.ring_products.parts import parts_of, shared_by

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
        self._models: list[Model] = []
        if self.keys is not None or not plan.hidden:
            self._models = self._ready()
        self.fingerprint = self._weights.fingerprint
        """Fingerprint of the weights, which a ledger is opened with; for no client."""
        self.count = ledger.of_process(self.fingerprint) if plan.hidden else ledger.Count()
        """Where weights are hidden, how many numbers the model has given; another may be put here,
        by who keeps count elsewhere."""
        self._answering = Lock()

    def _ready(self) -> list[Model]:
        """Weights of each ring product; what is added to scores is the first one's."""
        ring, (weights, intercepts) = self.plan.ring, self._weights
        shares = enumerate(zip(parts_of(ring), shared_by(ring, weights), strict=True))
        return [
            Model(part, own, intercepts * (place == 0), keys=self.keys)
            for place, (part, own) in shares
        ]

    @property
    def query_parts(self) -> int | None:
        """Ciphertexts that a query has: one for each ring product."""
        return len(parts_of(self.plan.ring))

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return self._weights._asdict()

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """The answer of each ring product.

        Raises:
            WireError, ParameterError, KeyMismatchError: as `answer`; a ring product's query of
                another number of samples than the message says; more numbers than a model whose
                weights are hidden has left.

        """
        models, most = self._models, self.plan.ring.answers
        if not models:
            raise ParameterError("the server has no keys: give keys=, client.public_keys()")
        # The client would refuse the answer; here nothing is computed or counted yet.
        for part in parts:
            check_samples(part, samples)
        if most is None:
            return [model.evaluate(part) for model, part in zip(models, parts, strict=True)]
        model = models[0]
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
        own = self._models[0].answers_left or 0 if self._models else most
        return max(0, min(own, most - self.count.given))

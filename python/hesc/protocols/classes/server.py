"""The server of a decision: a model in the clear on encrypted features. Nothing can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from hesc import gates, integers
from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind
from hesc.integers import BootstrappedIntegers
from hesc.protocols import wire
from hesc.protocols.classes.comparisons import cheapest
from hesc.protocols.classes.model_documents import described, read
from hesc.protocols.classes.plan import ClassPlan
from hesc.protocols.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hesc.protocols.classes.whole_models import WholeModel


class ClassServer(Server[ClassPlan]):
    """A model in the clear that answers encrypted samples of one client with their classes.

    Args:
        plan: what both sides agreed upon.
        model: what is computed on quantised features.
        keys: what the client's `public_keys` gave. Without them it answers nothing yet, and
            `to_bytes` is what there is for.

    Raises:
        WireError, ParameterError: keys that are damaged or of other parameters.
        ShapeError: a model of other features or classes than the plan's.
        CircuitError: a model that has no room in the plan's parameters.

    """

    plan_type: ClassVar[type[ClassPlan]] = ClassPlan
    fields: ClassVar[Mapping[str, Mapping[str, wire.Codec]]] = {
        "model": wire.declared(wire.Codec(described, read))
    }

    def __init__(self, plan: ClassPlan, model: WholeModel, *, keys: bytes | None = None) -> None:
        super().__init__(plan, keys=keys)
        words = plan.words
        if not model.fits(words.inputs, len(plan.classes), words.bits):
            raise ShapeError("the model is of other features or classes than its plan")
        self._model = model
        self._circuit: integers.IntegerPlan | None = None
        self._evaluator: gates.Evaluator | None = None
        if self.keys is not None:
            if plan.engine == "bootstrapped":
                self._evaluator = gates.Evaluator(self.keys)
            self._circuit = cheapest(
                model, words, engine=plan.engine, batch=plan.rows, params=plan.params
            )

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return {"model": self._model}

    @property
    def query_parts(self) -> int:
        """A ciphertext, or block of encrypted bits, for each word of features."""
        return len(self.plan.words.kinds)

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """The encrypted classes of a query.

        Cost: `hesc.integers.IntegerPlan` counts it; seconds to minutes for a query, however many of
        its samples there are in slots.

        Raises:
            WireError, ParameterError, KeyMismatchError: as `answer`.
            ShapeError: words of another number of samples than the query says.

        """
        if self._circuit is None or self.keys is None:
            raise ParameterError("the server has no keys: give keys=, client.public_keys()")
        params: Any = self.plan.params
        numbers = [integers.read(params, part, layout=self.plan.upload) for part in parts]
        if self._evaluator is None:
            numbers = [given.with_keys(self.keys) for given in numbers]
        if any(len(given) != samples for given in numbers):
            raise ShapeError(
                f"each word of a query has as many samples as it says, here {samples}; make it anew"
            )
        found = self._circuit(*numbers, server=self._evaluator, progress=False)
        if isinstance(found, BootstrappedIntegers):
            found = found.answer(of_kind(self._evaluator, "keys", gates.Evaluator, "give keys="))
        return [found.to_bytes()]

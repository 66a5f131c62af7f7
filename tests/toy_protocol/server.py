"""The server of a score in whole numbers. Nothing that it imports can decrypt."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar

from hesc import ShapeError, WireError
from hesc.protocols import wire
from hesc.protocols.server import Server
from tests.toy_protocol.plan import LARGEST, ToyPlan

if TYPE_CHECKING:
    from collections.abc import Mapping


class ToyServer(Server[ToyPlan]):
    """Weights in the clear that answer encrypted queries of any client."""

    plan_type: ClassVar[type[ToyPlan]] = ToyPlan
    fields: ClassVar[Mapping[str, Mapping[str, wire.Codec]]] = {
        "weights": wire.wholes(-LARGEST, LARGEST, count=(1, 64)),
        "intercept": wire.whole(-LARGEST, LARGEST),
    }

    def __init__(
        self,
        plan: ToyPlan,
        weights: tuple[int, ...],
        intercept: int,
        *,
        keys: bytes | None = None,
    ) -> None:
        super().__init__(plan, keys=keys)
        if len(weights) != plan.inputs:
            raise ShapeError(f"the plan is for {plan.inputs} weights; got {len(weights)}")
        if plan.bound * sum(map(abs, weights)) + abs(intercept) > plan.most:
            raise WireError("the scores of these weights are beyond what the plan declares")
        self._weights, self._intercept = weights, intercept

    @property
    def query_parts(self) -> int:
        """Ciphertexts of a query: one for each feature."""
        return self.plan.inputs

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return {"weights": self._weights, "intercept": self._intercept}

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """The scores of all samples, in one ciphertext of the lowest level.

        Raises:
            WireError, ParameterError, KeyMismatchError, ShapeError: as `answer`.

        """
        columns = [self.plan.vector(part, samples) for part in parts]
        terms = (column * weight for column, weight in zip(columns, self._weights, strict=True))
        return [(reduce(add, terms) + self._intercept).mod_switch_to(1).to_bytes()]

"""The server of a model of trees. Nothing that it imports can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import (
    ForestModel,
    ForestServerShare,
    OutOfRangeError,
    ParameterError,
    ShapeError,
    WireError,
    forest_part,
)
from hesc.models import transforms
from hesc.protocols import wire
from hesc.protocols.server import Server
from hesc.protocols.trees import linear_forms
from hesc.protocols.trees.boxes import Boxes
from hesc.protocols.trees.plan import TreesPlan
from hesc.protocols.trees.preparations import Preparations, name_for, store_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


KEPT: Final = "kept"
"""The state of what a server keeps of a preparation."""


class TreesServer(Server[TreesPlan]):
    """Trees in the clear that answer encrypted bits with scores.

    Args:
        plan: what both sides agreed upon.
        leaves, values, conditions, negated, terms, edges: as `Boxes` has them.
        keys: what the client's `public_keys` gave: the server answers this client alone.

    Raises:
        ShapeError: counts that do not fit together, or other numbers of trees and leaves than the
            plan's.
        ParameterError, OutOfRangeError: values or conditions beyond what the plan declares.
        KeyMismatchError, WireError: keys of another set, or damaged.

    """

    plan_type: ClassVar[type[TreesPlan]] = TreesPlan
    fields: ClassVar[Mapping[str, Mapping[str, wire.Codec]]] = {
        "leaves": wire.numbers("<u4"),
        "values": wire.numbers("<i8"),
        "conditions": wire.numbers("<u4"),
        "negated": wire.numbers("u1"),
        "terms": wire.numbers("<u4"),
        "edges": wire.numbers("<u4"),
    }

    def __init__(
        self,
        plan: TreesPlan,
        leaves: NDArray[Any],
        values: NDArray[Any],
        conditions: NDArray[Any],
        negated: NDArray[Any],
        terms: NDArray[Any],
        edges: NDArray[Any],
        *,
        keys: bytes | None = None,
    ) -> None:
        super().__init__(plan, keys=keys)
        if (negated > 1).any():
            raise WireError("a condition is negated or not, 1 or 0")
        counts = [np.ascontiguousarray(each, dtype=np.uint32) for each in (leaves, conditions)]
        bits = [np.ascontiguousarray(each, dtype=np.uint32) for each in (terms, edges)]
        self._boxes = Boxes(
            list(plan.trees),
            counts[0],
            np.ascontiguousarray(values, dtype=np.int64),
            counts[1],
            np.ascontiguousarray(negated, dtype=bool),
            *bits,
        )
        self._model = self._ready()
        self._preparations: Preparations | None = None

    @property
    def preparations(self) -> Preparations | None:
        """Where this server keeps prepared queries; None, as at first, refuses them.

        Raises:
            ParameterError: what is set is no store.

        """
        return self._preparations

    @preparations.setter
    def preparations(self, store: Preparations | None) -> None:
        self._preparations = None if store is None else store_of(store)

    def _ready(self) -> ForestModel:
        """The trees, ready for queries.

        Raises:
            WireError: trees of public structure that are not those of the plan.
            ShapeError, ParameterError, OutOfRangeError: trees that do not fit the plan.

        """
        forest = self.plan.forest
        if not self.plan.is_public:
            return ForestModel(forest, *self._boxes[1:])
        if not self._boxes.is_whole(self.plan.bits):
            raise ShapeError("counts of trees, leaves, conditions and bits do not fit")
        values, most = self._boxes.values, forest.reach
        # One by one first: their sum may not hold in 64 bits.
        if ((values > most) | (values < -most)).any() or self._boxes.reach > most:
            raise OutOfRangeError("leaves say more than the plan declares; make another plan")
        found, told = linear_forms.of(self._boxes, self.plan.bits), self.plan.steps[-1]
        if transforms.described([found.step]) != transforms.described([told]):
            raise WireError("the trees of a server are not those that its plan tells the client")
        return ForestModel.of_forms(forest, *found[1:])

    @property
    def query_parts(self) -> None:
        """One for each sample."""
        return

    def model(self) -> dict[str, Any]:
        """Values of the model's fields."""
        return {name: getattr(self._boxes, name) for name in self.fields}

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """The answer to each sample's part.

        Raises:
            WireError, ParameterError, KeyMismatchError: as `answer`; another number of parts than
                of samples.

        """
        self.plan.check_parts(len(parts), samples)
        if self.keys is None:
            raise ParameterError("the server has no keys: give keys=, client.public_keys()")
        public, told = self.keys.public, [forest_part(part) or ("", b"") for part in parts]
        if begun := sum(kind == "preparation" for kind, _ in told):
            self._store().check_room(begun)
        return [self._answered(part, each, public) for part, each in zip(parts, told, strict=True)]

    def _answered(self, part: bytes, told: tuple[str, bytes], public: Any) -> bytes:
        """The answer to a query, to a preparation, or to a prepared query."""
        kind, name = told
        if kind == "preparation":
            share, answer = self._model.prepare(part, public)
            # In place of one for the same message, whose answer may be lost: a query says which
            # answer it is under.
            self._store().put(self._kept(share.name, public), share)
            return answer
        if kind == "masked query":
            share = self._store().take(self._kept(name, public), self._read)
            return share.answer(part)
        return self._model.answer(part, public)

    def _read(self, data: bytes) -> ForestServerShare:
        return ForestServerShare.from_bytes(self.plan.forest, data)

    def _store(self) -> Preparations:
        if self.preparations is None:
            raise ParameterError(
                "this server keeps no prepared queries: server.preparations = Preparations(folder) "
                "keeps them, or --kept, a folder"
            )
        return self.preparations

    def _kept(self, name: bytes, public: Any) -> str:
        return name_for(self.plan.digest, public.name, name, KEPT)

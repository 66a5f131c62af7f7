"""The server of a search: records in the clear. Nothing that it imports can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from hesc import _native
from hesc._native import ParameterError, WireError
from hesc._support.inputs import of_kind
from hesc._support.memory import make_room
from hesc.protocols import wire
from hesc.protocols.search.index import Index
from hesc.protocols.search.plan import SearchPlan
from hesc.protocols.server import Server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray


def _read(vectors: NDArray[Any] | None, what: str, earlier: wire.Earlier) -> Any:
    if vectors is None:
        return None
    width = earlier["plan"].dimensions
    if not vectors.size or vectors.size % width:
        raise WireError(f"{what} are rows of as many numbers as its plan says")
    return vectors.astype(np.int16).reshape(-1, width)


class SearchServer(Server[SearchPlan]):
    """Records that answer encrypted queries with scores. `of` makes one of an index.

    Args:
        plan: what both sides agreed upon.
        vectors: the records as whole numbers, a row for each, where they travel with the server;
            None where an index is set afterwards.
        keys: where the plan needs them, what the client's `public_keys` gave.

    Raises:
        ShapeError, OutOfRangeError: records that the plan does not declare.
        WireError, ParameterError, KeyMismatchError: keys that are damaged, of another set, or too
            many.

    """

    plan_type: ClassVar[type[SearchPlan]] = SearchPlan
    parts: ClassVar[int | None] = None
    fields: ClassVar[Mapping[str, Mapping[str, wire.Codec]]] = {
        "vectors": wire.numbers("<i2", _read)
    }
    keys: Any

    def __init__(
        self,
        plan: SearchPlan,
        vectors: NDArray[np.int16] | None = None,
        *,
        keys: bytes | None = None,
    ) -> None:
        super().__init__(plan, keys=keys)
        self._vectors = vectors
        self._index: Index | None = None
        if vectors is not None:
            self._index = Index(plan)
            self._index.append_entries(vectors)

    @classmethod
    def of(cls, index: Index, *, keys: bytes | None = None) -> Self:
        """A server that answers from an index, and changes with it.

        Args:
            index: the records, which several servers may share, one for each client's keys.
            keys: where the plan needs them, the client's `public_keys()`.

        Raises:
            WireError, ParameterError: keys that are damaged, of another set, or too many.

        """
        of_kind(index, "index", Index, "Index(plan, vectors) or Index.open(plan, path) makes one")
        made = cls(index.plan, keys=keys)
        made.index = index
        return made

    @property
    def index(self) -> Index | None:
        """The records; None where they are neither in the server's document nor set.

        Raises:
            ParameterError: what is set is no index, or of another plan.

        """
        return self._index

    @index.setter
    def index(self, index: Index) -> None:
        of_kind(index, "index", Index, "Index(plan, vectors) or Index.open(plan, path) makes one")
        if index.plan.digest != self.plan.digest:
            raise ParameterError("this index is of another plan; open it with the server's")
        self._index = index

    def read_keys(self, keys: bytes) -> Any:
        """The keys of a client, ready to compute with."""
        return _native.SearchKeys(self.plan.native, keys)

    def model(self) -> dict[str, Any]:
        """The records, where they travel with the server."""
        return {"vectors": self._vectors}

    def compute(self, parts: tuple[bytes, ...], samples: int) -> list[bytes]:
        """Encrypted scores of every record with every sample, in one pass over the records.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, another plan's or key's,
                another number of queries than the message says.

        """
        if len(parts) != samples:
            raise WireError(
                f"a query of {samples} samples has a part for each, and these are {len(parts)}"
            )
        if self._index is None:
            raise ParameterError(
                "this server has no records: set server.index = Index.open(server.plan, path), or "
                "give --index, the file of hesc index"
            )
        if not len(self._index):
            raise ParameterError("the index has no record; append some")
        make_room(samples * self.plan.constants, f"the constants of {samples} queries")
        found, squares = self._index.answers([(part, self.keys) for part in parts])
        kind = self.plan.squares
        return found if kind is None else [*found, squares.astype(kind).tobytes()]

"""Rows after a client's steps, as plans look at them: some at a time, sparse ones kept sparse."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc.models import transforms

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.models.transforms import Transform

    Array = NDArray[np.float64]

_AT_ONCE: Final = 1 << 22
"""Features that are computed at once."""
_SPARSE: Final = 0.25
"""The share of numbers that are no zeros below which zeros are left out."""


class Features(NamedTuple):
    """Features of many samples."""

    parts: list[Any]
    """Arrays of rows, or sparse matrices of them."""
    shape: tuple[int, int]

    @classmethod
    def of(cls, steps: Sequence[Transform], rows: Rows) -> Features:
        """Features of rows before all steps."""
        native = transforms.compiled(steps, rows.shape[1])
        count = max(1, _AT_ONCE // native.width)
        parts = []
        for first in range(0, len(rows), count):
            part = transforms.computed(native, rows[first : first + count])
            parts.append(part if len(rows) <= count else _thinned(part))
        return cls(parts, (len(rows), native.width))

    def each(self) -> Iterator[Array]:
        """Arrays of rows, one after the other."""
        for part in self.parts:
            yield part if isinstance(part, np.ndarray) else part.toarray()

    def reduced(self, reduce: Callable[[Array], Any]) -> NDArray[Any]:
        """What a function makes of each array of rows, one below the other."""
        return np.concatenate([reduce(part) for part in self.each()])

    def ends(self) -> tuple[Array, Array]:
        """The least and the greatest value of each feature."""
        ends = self.reduced(lambda part: np.stack([part.min(axis=0), part.max(axis=0)])[None])
        return ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)

    def at(self, places: NDArray[np.intp]) -> Array:
        """Some rows."""
        starts = np.cumsum([0, *(part.shape[0] for part in self.parts)])
        found = np.empty((len(places), self.shape[1]))
        for start, part in zip(starts, self.parts, strict=False):
            inside = (places >= start) & (places < start + part.shape[0])
            rows = part[places[inside] - start]
            found[inside] = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return found

    def whole(self) -> Array:
        """All rows in one array."""
        return self.reduced(lambda part: part)


def _thinned(part: Array) -> Any:
    if np.count_nonzero(part) > _SPARSE * part.size:
        return part
    from scipy.sparse import csr_array

    return csr_array(part)

"""Vectors in files, some rows at a time: tables of numbers, columns of lists, arrays of numpy."""

from __future__ import annotations

from tokenize import TokenError
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError, ParameterError
from hesc.cli.batches import opened
from hesc.cli.parquet_files import lists
from hesc.cli.terminal import reading
from hesc.protocols.search.rounding import lengths

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

_ROWS: Final = 1 << 14
"""Vectors that are read at a time."""
_DAMAGED: Final = (
    *(ValueError, EOFError, OverflowError, TypeError, AttributeError, SyntaxError),
    TokenError,
)
"""What numpy says of files that hold no array."""
_SAMPLE: Final = 256
"""Vectors that a plan is made with."""


class VectorFile:
    """Vectors in a file, a row for each: read from the beginning as often as is asked.

    Args:
        path: of a table, or of an array of numpy.
        column: of a Parquet file that holds lists of numbers; None for columns of numbers.
        names: of the columns that are read; none takes all of a table.

    """

    def __init__(self, path: Path, column: str | None, names: list[str] | None = None) -> None:
        self.path, self.column = path, column
        self.names = names or []
        """Names of the features, where the file has them."""
        # It is read twice.
        if not path.is_file():
            path.open("rb").close()
            raise HescError(f"{path} is no plain file")
        if column is not None and path.suffix != ".parquet":
            raise ParameterError("--column is of a Parquet file; leave it out")

    def batches(self, what: str) -> Iterator[NDArray[np.float64]]:
        """Some vectors at a time, with a bar on the terminal.

        Raises:
            HescError: cells that are no numbers, rows of different lengths, no row at all.

        """
        if self.path.suffix == ".npy":
            yield from self._array()
            return
        with reading(self.path, what) as file:
            if self.column is not None:
                yield from lists(file, self.column, _ROWS)
                return
            table = opened(file)
            places = table.chosen(self.names, None)
            self.names = [table.header[place] for place in places]
            yield from table.batches(places, max(1, min(_ROWS, (1 << 22) // len(places))))

    def _array(self) -> Iterator[NDArray[np.float64]]:
        try:
            array: Any = np.lib.format.open_memmap(self.path, mode="r")
        except (*_DAMAGED, OSError) as error:
            raise HescError(f"{self.path} is no array of numpy, or damaged") from error
        if array.ndim != 2 or not array.size or array.dtype.kind not in "fiub":
            raise HescError(f"{self.path} holds no rows of numbers; its shape is {array.shape}")
        for first in range(0, len(array), _ROWS):
            yield np.asarray(array[first : first + _ROWS], dtype=np.float64)


class Seen:
    """What a first look at vectors says: how many there are, the longest, and the first."""

    def __init__(self, file: VectorFile) -> None:
        self.count, self.longest, self.width = 0, 0.0, 0
        self.first = np.empty((0, 0))
        for batch in file.batches("checking"):
            if not np.isfinite(batch).all():
                raise HescError(f"{file.path} holds what is no finite number; leave such rows out")
            if self.count and batch.shape[1] != self.width:
                raise HescError(f"{file.path}: rows differ in length")
            self.width = batch.shape[1]
            self.first = self.first if self.count else batch[:_SAMPLE]
            self.count += len(batch)
            self.longest = max(self.longest, float(lengths(batch).max()))
        if not self.count:
            raise HescError(f"{file.path} has no row")

"""Tables with a header as files, columns by name, a few rows at a time."""

from __future__ import annotations

import csv
import math
from abc import ABC, abstractmethod
from typing import IO, TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import HescError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from numpy.typing import NDArray

_MISSING: Final = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"}
    | {"<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)
"""Cells that `pandas.read_csv` takes for missing."""
_TRUTHS: Final = {"true": 1.0, "false": 0.0}
# A line that is longer is none.
_LONGEST_LINE: Final = 1 << 22


class Column(NamedTuple):
    """What the cells of a column may be."""

    kind: str
    """Numbers, words or any cells, as `hesc._native.Steps.kinds` says."""
    words: Collection[str]
    """Words that are known, whatever `pandas.read_csv` takes them for."""


class NamedColumns(ABC):
    """A table in a file, whose columns are found by their names."""

    header: list[str]
    """Names of the columns."""
    apart: ClassVar[str] = ""
    """How columns stand apart, for errors."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._known: set[str] = set()

    def chosen(
        self, names: Sequence[str], count: int | None, *, ignore_extra: bool = False
    ) -> list[int]:
        """Places of the columns that are wanted.

        Args:
            names: of the columns; none takes all, in the order of the file.
            count: how many there must be where there are no names.
            ignore_extra: whether there may be others.

        Raises:
            HescError: columns missing or too many.

        """
        if not names:
            if all(_is_number(name) for name in self.header):
                raise self._problem("it is a row of numbers; the first line names the columns")
            if count not in (None, len(self.header)):
                raise self._problem(
                    f"it names {len(self.header)} columns, of {count} that are expected; without "
                    f"names in the plan there can be no others"
                )
            return list(range(len(self.header)))
        names = [name.strip() for name in names]
        if len(set(names)) != len(names):
            raise HescError("the plan has one name for several features; ask who made it")
        places = {name: place for place, name in enumerate(self.header)}
        missing = [name for name in names if name not in places]
        if missing:
            raise self._problem(
                f"there is no column {_listed([repr(name[:80]) for name in missing])}; columns are "
                f"found by name{self.apart}"
            )
        # A first line that has all of these names is no row of values.
        self._known = set(self.header)
        extra = [self._called(places[name]) for name in self.header if name not in names]
        if extra and not ignore_extra:
            raise self._problem(
                f"the plan does not know {_listed(extra)}; remove what it does not know, or write "
                f"--ignore-extra"
            )
        return [places[name] for name in names]

    @abstractmethod
    def batches(
        self, places: Sequence[int], rows: int, columns: Sequence[Column] = ()
    ) -> Iterator[NDArray[Any]]:
        """Arrays (up to `rows`, columns) of the rows that follow.

        Args:
            places: of the columns.
            rows: of an array, at most.
            columns: what each holds. Without, all are numbers, and none is missing.

        Raises:
            HescError: a cell that is no number, no row at all. The message names the place and no
                value.

        """

    @abstractmethod
    def _problem(self, problem: str) -> HescError:
        """An error that says where in the file."""

    def _called(self, place: int) -> str:
        name = self.header[place]
        return f"column {place + 1}" + f" ({name[:80]!r})" * bool(name and name in self._known)


class CsvFile(NamedColumns):
    """A CSV file whose first line names its columns, opened in binary.

    Cells are separated by commas and may be quoted; a row is one line. Empty lines may come before
    the header and, of several columns, after the last row: anywhere else one may be a row that is
    missing, and whatever stands beside the rows that follow would be another's.

    Errors name columns by their place, and by their names once the plan's names are among these:
    the first line of a file without a header is a sample, and no error repeats it.

    Args:
        file: where it is read from, once.

    Raises:
        HescError: no header, names twice, or a header that is a row of numbers.

    """

    apart: ClassVar[str] = ", separated by commas"

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._line = 0
        self._rows = self._read()
        self.header = next(self._rows, [])
        if not self.header:
            raise HescError(f"{file.name} is empty; its first line names the columns")
        if len(set(self.header)) != len(self.header):
            raise self._problem("a column's name is there twice")

    def batches(
        self, places: Sequence[int], rows: int, columns: Sequence[Column] = ()
    ) -> Iterator[NDArray[Any]]:
        """Arrays (up to `rows`, columns) of the rows that follow.

        Memory: what the rows take, however long the file is.

        Args:
            places: of the columns.
            rows: of an array, at most.
            columns: what each holds. Without, all are numbers, and none is missing. With them what
                `pandas.read_csv` takes for missing is, but for words that are known, True and False
                are numbers, and words are as they are in the file.

        Raises:
            HescError: a row of another length, a cell that is no number, no row at all. The message
                names the place and no value.

        """
        words = any(column.kind != "number" for column in columns)
        dtype = object if words else np.float64
        batch: list[list[Any]] = []
        some = False
        for cells in self._rows:
            if len(cells) != len(self.header):
                raise self._problem(f"it has {len(cells)} cells, the header {len(self.header)}")
            batch.append(self._row(cells, places, columns))
            some = True
            if len(batch) == rows:
                yield np.array(batch, dtype=dtype)
                batch = []
        if batch:
            yield np.array(batch, dtype=dtype)
        if not some:
            raise HescError(f"{self._file.name} has a header and no row")

    def _read(self) -> Iterator[list[str]]:
        empty, header = 0, False
        while line := self._file.readline(_LONGEST_LINE):
            self._line += 1
            if len(line) == _LONGEST_LINE:
                raise self._problem("it is longer than any row")
            try:
                # Spreadsheets put a mark before the first line.
                text = line.decode("utf-8-sig" if self._line == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise self._problem("it is no text in UTF-8") from error
            if not text.strip():
                empty = empty or self._line
                continue
            if empty and header:
                raise self._empty(empty)
            first, empty, header = not header, 0, True
            try:
                (cells,) = csv.reader([text.rstrip("\r\n")], strict=True)
            except (csv.Error, ValueError):
                raise self._problem(
                    "its quotes do not match, a cell is too long, or lines end otherwise than "
                    "with a line feed; a row is one line"
                ) from None
            yield [cell.strip() for cell in cells] if first else cells
        if empty and header and len(self.header) == 1:
            raise self._empty(empty)

    def _empty(self, line: int) -> HescError:
        self._line = line
        return self._problem("it is empty: remove it, or fill in the row that is missing")

    def _row(self, cells: list[str], places: Sequence[int], columns: Sequence[Column]) -> list[Any]:
        if not columns:
            return [self._number(cells[place].strip(), place) for place in places]
        pairs = zip(places, columns, strict=True)
        return [self._cell(cells[place], place, column) for place, column in pairs]

    def _cell(self, cell: str, place: int, column: Column) -> float | str | None:
        """A cell of a table that may have words and missing ones."""
        if column.kind != "number":
            return None if cell in _MISSING and cell not in column.words else cell
        bare = cell.strip()
        if bare in _MISSING:
            return None
        truth = _TRUTHS.get(bare.lower())
        return self._number(bare, place) if truth is None else truth

    def _number(self, cell: str, place: int) -> float:
        if not _is_number(cell):
            what = "is empty; impute it first" if not cell else "holds no number"
            raise self._problem(f"{self._called(place)} {what}")
        number = float(cell)
        if not math.isfinite(number):
            raise self._problem(f"{self._called(place)} holds no finite number; impute it first")
        return number

    def _problem(self, problem: str) -> HescError:
        return HescError(f"{self._file.name}: line {self._line}: {problem}")


def _is_number(cell: str) -> bool:
    """Whether it is a number as files have them: in ASCII, without Python's underscores."""
    if not cell.isascii() or "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {len(names) - 3} more"

"""Samples as people have them: tables of pandas, polars and Arrow, arrays, texts, sparse rows.

A table is read column by column as steps ask for it, as numbers or as words, and gives whoever
fitted a model the samples in their own form. Tables are known by what they can do: their libraries
need not be installed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeAlias

import numpy as np

from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import not_endless, not_masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Samples: TypeAlias = "ArrayLike | SampleTable"
    """Samples as people have them."""
    Rows: TypeAlias = "NDArray[np.float64] | SampleTable"
    """Samples before all transforms: numbers, or a table."""

_AT_ONCE: Final = 1 << 20
"""Cells of sparse rows that are in memory at once."""
_SHOWN: Final = 80
"""Letters of a column's name that errors repeat."""


class Cells(NamedTuple):
    """Rows as steps take them."""

    numbers: NDArray[np.float64]
    """A column for each of the table. Those of words are NaN; of those that nobody reads a cell is
    NaN where it is missing, and else zero."""
    words: list[list[str | None]]
    """The columns of words in their order; a missing one is None."""


class SampleTable(ABC):
    """Rows of named or numbered columns. It is indexed by rows, as an array is."""

    names: list[str]
    """Names of the columns, or none."""
    shape: tuple[int, int]

    def __len__(self) -> int:
        return self.shape[0]

    @abstractmethod
    def __getitem__(self, rows: Any) -> Self:
        """Some rows: a slice, places, or a truth value for each."""

    @abstractmethod
    def given(self) -> Any:
        """A copy in the form in which scikit-learn takes the samples."""

    def copy(self) -> Self:
        """The same rows, apart from the caller's."""
        return self[np.arange(len(self))]

    def cells(self, kinds: Sequence[str]) -> Cells:
        """All rows as numbers and words.

        Args:
            kinds: `number`, `word` or `any` for each column.

        Raises:
            OutOfRangeError: a cell of another kind; the column is named, and no value.

        """
        numbers = np.full(self.shape, np.nan)
        words = []
        for place, kind in enumerate(kinds):
            if kind == "word":
                words.append(_words(self._listed(place), self.called(place)))
            elif kind == "number":
                numbers[:, place] = self._numbers(place)
            else:
                gone = [_is_missing(cell) for cell in self._listed(place)]
                numbers[:, place] = np.where(gone, np.nan, 0.0)
        return Cells(numbers, words)

    def parts(self) -> Iterator[Self]:
        """Rows that are made dense at once: all, but of sparse ones."""
        yield self

    def called(self, place: int) -> str:
        """A column in errors."""
        return column(place, self.names)

    @abstractmethod
    def _listed(self, place: int) -> list[Any]:
        """The cells of a column as Python's own."""

    @abstractmethod
    def _numbers(self, place: int) -> NDArray[np.float64]:
        """The cells of a column of numbers."""


def column(place: int, names: Sequence[str]) -> str:
    """A column in errors: by its name, or where it stands."""
    return f"column {names[place][:_SHOWN]!r}" if names else f"column {place}"


class _Frame(SampleTable):
    """A DataFrame of pandas, or anything like it."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        # To ask a frame for one column after the other takes longer than all else of a sample.
        self._columns = [column for _, column in frame.items()]
        self.names = _texts(frame.columns)
        self.shape = (len(frame), len(frame.columns))

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self._frame.iloc[rows])

    def given(self) -> Any:
        # In double precision, as models are fitted here.
        kinds = self._frame.dtypes.items()
        return self._frame.astype({name: "float64" for name, kind in kinds if str(kind) in _NARROW})

    def _listed(self, place: int) -> list[Any]:
        found: list[Any] = self._columns[place].astype(object).tolist()
        return found

    def _numbers(self, place: int) -> NDArray[np.float64]:
        series = self._columns[place]
        if getattr(series.dtype, "kind", "O") in "buif":
            found: NDArray[np.float64] = series.to_numpy(dtype=np.float64, na_value=np.nan)
            return found
        return _numbers(self._listed(place), self.called(place))


_NARROW: Final = ("float16", "float32")
"""Types of numbers that are made wider."""


class _Columns(SampleTable):
    """A DataFrame of polars."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.names = _texts(frame.columns)
        self.shape = (frame.height, frame.width)

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self._frame[_places(rows, len(self))])

    def given(self) -> Any:
        narrow = [str(kind) == "Float32" for kind in self._frame.dtypes]
        if not any(narrow):
            return self._frame.clone()
        import polars as pl

        wide = [
            self._frame[:, place].cast(pl.Float64) for place in range(len(narrow)) if narrow[place]
        ]
        return self._frame.with_columns(wide)

    def _listed(self, place: int) -> list[Any]:
        found: list[Any] = self._frame[:, place].to_list()
        return found

    def _numbers(self, place: int) -> NDArray[np.float64]:
        series = self._frame[:, place]
        if series.dtype.is_numeric() and not series.dtype.is_decimal():
            return np.array(series.to_numpy(), dtype=np.float64)
        return _numbers(self._listed(place), self.called(place))


class _Arrow(SampleTable):
    """A table of Arrow, which scikit-learn is given as one of pandas."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.names = _texts(table.column_names)
        self.shape = (table.num_rows, table.num_columns)

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self._table.take(_places(rows, len(self))))

    def given(self) -> Any:
        frame = self._table.to_pandas()
        # Arrow's missing words are None, which to scikit-learn is another thing than NaN.
        words = [name for name in frame.columns if frame[name].dtype == object]
        frame[words] = frame[words].where(frame[words].notna(), np.nan)
        return _Frame(frame).given()

    def _listed(self, place: int) -> list[Any]:
        found: list[Any] = self._table.column(place).to_pylist()
        return found

    def _numbers(self, place: int) -> NDArray[np.float64]:
        return _numbers(self._listed(place), self.called(place))


class _Array(SampleTable):
    """An array of two axes, of whatever type."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._array = array
        self.names = []
        self.shape = (array.shape[0], array.shape[1])

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self._array[rows])

    def given(self) -> Any:
        return np.array(self._array)

    def _listed(self, place: int) -> list[Any]:
        found: list[Any] = self._array[:, place].tolist()
        return found

    def _numbers(self, place: int) -> NDArray[np.float64]:
        if self._array.dtype.kind in "buif":
            return np.asarray(self._array[:, place], dtype=np.float64)
        return _numbers(self._listed(place), self.called(place))


class _Sparse(SampleTable):
    """Rows of numbers most of which are zero."""

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix
        self.names = []
        self.shape = (matrix.shape[0], matrix.shape[1])

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self._matrix[rows])

    def given(self) -> Any:
        return self._matrix.astype(np.float64, copy=True)

    def cells(self, kinds: Sequence[str]) -> Cells:
        if "word" in kinds:
            raise OutOfRangeError(
                f"{self.called(list(kinds).index('word'))} holds numbers, {_WORDS}"
            )
        return Cells(np.asarray(self._matrix.toarray(), dtype=np.float64, order="C"), [])

    def parts(self) -> Iterator[Self]:
        rows = max(1, _AT_ONCE // self.shape[1])
        for first in range(0, len(self), rows):
            yield self[first : first + rows]

    def _listed(self, place: int) -> list[Any]:
        raise NotImplementedError

    def _numbers(self, place: int) -> NDArray[np.float64]:
        raise NotImplementedError


class _Texts(SampleTable):
    """Texts, one to a sample."""

    def __init__(self, texts: NDArray[np.object_]) -> None:
        self._texts = texts
        self.names = []
        self.shape = (len(texts), 1)

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self._texts[rows])

    def given(self) -> Any:
        return list(self._texts)

    def _listed(self, place: int) -> list[Any]:
        del place
        found: list[Any] = self._texts.tolist()
        return found

    def _numbers(self, place: int) -> NDArray[np.float64]:
        return _numbers(self._listed(place), self.called(place))


def read(samples: Any) -> SampleTable:
    """Samples as a table.

    Args:
        samples: a DataFrame of pandas or polars, a table of Arrow, an array or a list of rows, a
            sparse matrix, or texts, one to a sample.

    Raises:
        ShapeError: anything else.

    """
    if isinstance(samples, SampleTable):
        return samples
    not_masked(samples, "samples")
    not_endless(samples, "samples")
    _not_lazy(samples)
    found = _framed(samples)
    if found is not None:
        if len(set(found.names)) != len(found.names):
            raise ShapeError("two columns of the table have one name: rename or drop one of them")
        return found
    if hasattr(samples, "to_list") and hasattr(samples, "name"):  # a column of a DataFrame
        samples = samples.to_list()
    array = samples if isinstance(samples, np.ndarray) else _array(samples)
    if array.ndim == 1 and all(isinstance(text, str) or _is_missing(text) for text in array):
        return _Texts(array.astype(object))
    not_dates(array.dtype)
    if array.ndim == 1 and any(isinstance(row, list | tuple | np.ndarray) for row in array):
        raise ShapeError("samples are rows of the same number of cells")
    if array.ndim != 2:
        raise ShapeError(
            "samples are a table: rows of cells, or texts, one to a sample. Reshape your data: "
            "array.reshape(1, -1) is one sample, array.reshape(-1, 1) are samples of one column"
        )
    return _Array(array.astype(np.float64) if array.dtype.kind == "f" else array)


def _framed(samples: Any) -> SampleTable | None:
    if hasattr(samples, "iloc") and hasattr(samples, "columns"):
        return _Frame(samples)
    if hasattr(samples, "collect_schema") and hasattr(samples, "height"):
        return _Columns(samples)
    if hasattr(samples, "column_names") and hasattr(samples, "take"):
        return _Arrow(samples)
    if hasattr(samples, "tocsr"):
        matrix = samples.tocsr()
        if matrix.ndim != 2 or matrix.dtype.kind not in "buif":
            raise ShapeError("sparse samples are rows of real numbers")
        return _Sparse(matrix)
    return None


def _not_lazy(samples: Any) -> None:
    if hasattr(samples, "collect"):
        raise ShapeError("samples are a lazy table, which has no rows yet: call collect() on it")


def not_dates(*types: np.dtype[Any]) -> None:
    """Refuses types of dates and of spans of time, which numpy takes for numbers of some unit.

    Raises:
        ShapeError: one of them.

    """
    if any(each.kind in "mM" for each in types):
        raise ShapeError("samples are dates, which no model here reads: make them numbers")


def names_of(samples: Any) -> list[Any] | None:
    """Names of a table's columns; None of what has none.

    Raises:
        ShapeError: a table that has no rows yet.

    """
    if isinstance(samples, SampleTable):
        return list(samples.names) or None
    _not_lazy(samples)
    # Arrow calls the columns themselves so.
    found = getattr(samples, "column_names", getattr(samples, "columns", None))
    return None if found is None else list(found)


def texts(samples: Any) -> SampleTable:
    """Texts, one to a sample, as a table of one column.

    Raises:
        ShapeError: rows of several cells.

    """
    found = read(samples)
    if found.shape[1] != 1:
        raise ShapeError(
            f"samples are texts, one to each; these are rows of {found.shape[1]} cells: give one "
            f"column"
        )
    if isinstance(found, _Texts):
        return found
    (words,) = found.cells(["word"]).words
    return _Texts(np.array(words, dtype=object))


def is_table(samples: Any) -> bool:
    """Whether samples are more than an array of numbers or a list: columns of types of their own.

    Raises:
        ShapeError: a table that has no rows yet.

    """
    return isinstance(samples, SampleTable) or is_sparse(samples) or names_of(samples) is not None


def is_sparse(samples: Any) -> bool:
    """Whether samples are a sparse matrix."""
    return hasattr(samples, "tocsr")


def _array(samples: Any) -> NDArray[Any]:
    """Rows of a list, whose cells stay what they are: an array of numbers and texts has texts."""
    try:
        return np.array(samples, dtype=object)
    except ValueError:
        raise ShapeError("samples are rows of the same number of cells") from None


def _texts(names: Any) -> list[str]:
    """Names of columns, where all of them have one."""
    found = list(names)
    return found if all(isinstance(name, str) for name in found) else []


def _places(rows: Any, count: int) -> NDArray[np.intp]:
    return np.asarray(np.arange(count)[rows])


_WORDS: Final = "where the model reads words"


def _is_missing(cell: Any) -> bool:
    """Whether a cell has no value: None, NaN, pandas' NA and NaT."""
    if cell is None or type(cell).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(cell, float | np.floating) and bool(cell != cell)  # noqa: PLR0124 - NaN


def _words(cells: list[Any], called: str) -> list[str | None]:
    found: list[str | None] = []
    for cell in cells:
        if isinstance(cell, str):
            found.append(str(cell))
        elif _is_missing(cell):
            found.append(None)
        else:
            raise OutOfRangeError(f"{called} holds {_kind(cell)}, {_WORDS}: X[name].astype(str)")
    return found


def _numbers(cells: list[Any], called: str) -> NDArray[np.float64]:
    found = np.empty(len(cells))
    for place, cell in enumerate(cells):
        if isinstance(cell, bool | int | float | np.bool_ | np.integer | np.floating):
            try:
                found[place] = cell
            except OverflowError:
                raise OutOfRangeError(f"{called} holds a number beyond doubles") from None
        elif _is_missing(cell):
            found[place] = np.nan
        else:
            raise OutOfRangeError(
                f"{called} holds {_kind(cell)}, where the model reads numbers: convert it, as the "
                f"training data were"
            )
    return found


def _kind(cell: Any) -> str:
    """What a cell is, in words that say nothing of its value."""
    if isinstance(cell, str):
        return "words"
    name = type(cell).__name__.lower()
    if any(part in name for part in ("date", "time", "period")):
        return "dates"
    if isinstance(cell, bool | int | float | np.number | np.bool_):
        return "numbers"
    return f"cells of the type {type(cell).__name__[:_SHOWN]}"

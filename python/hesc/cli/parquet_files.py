"""Tables of Parquet, columns by name, a few rows at a time; pyarrow reads them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import numpy as np

from hesc._native import HescError
from hesc._support.extras import install_line
from hesc.cli.csv_files import NamedColumns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.cli.csv_files import Column


def _table(file: IO[bytes], otherwise: str) -> Any:
    """A table of Parquet, opened; what the file is otherwise stands in the refusal."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ModuleNotFoundError as error:
        raise ImportError(
            f"pyarrow reads tables of Parquet, and is not installed: {install_line('parquet')}"
        ) from error
    try:
        table = parquet.ParquetFile(file)
        table.schema_arrow  # noqa: B018 - it may be damaged by itself
    except (pa.ArrowException, OSError) as error:
        raise HescError(f"{file.name} is no table of Parquet, {otherwise}") from error
    return table


class ParquetFile(NamedColumns):
    """A Parquet file, opened in binary. Cells without a value are missing, and nothing else is.

    Args:
        file: where it is read from.

    Raises:
        HescError: no such file, or names twice.
        ImportError: pyarrow is missing.

    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self._table = _table(file, "or damaged")
        self._schema = self._table.schema_arrow
        self.header = list(self._schema.names)
        if len(set(self.header)) != len(self.header):
            raise self._problem("a column's name is there twice")

    def batches(
        self, places: Sequence[int], rows: int, columns: Sequence[Column] = ()
    ) -> Iterator[NDArray[Any]]:
        """Arrays (up to `rows`, columns) of the rows that follow.

        Args:
            places: of the columns.
            rows: of an array, at most.
            columns: what each holds. Without, all are numbers, and none is missing.

        Raises:
            HescError: a column of another type, a missing cell where none may be, no row at all.

        """
        import pyarrow as pa

        kinds = [column.kind for column in columns] or ["number"] * len(places)
        dtype = np.float64 if set(kinds) == {"number"} else object
        names = [self.header[place] for place in places]
        some = False
        try:
            for batch in self._table.iter_batches(batch_size=rows, columns=names):
                some = some or batch.num_rows > 0
                found = np.empty((batch.num_rows, len(places)), dtype=dtype)
                for at, (place, kind) in enumerate(zip(places, kinds, strict=True)):
                    cells = batch.column(batch.schema.get_field_index(names[at]))
                    if cells.null_count and not columns:
                        raise self._problem(f"{self._called(place)} has no value somewhere")
                    found[:, at] = self._cells(cells, place, kind)
                if batch.num_rows:
                    yield found
        except (pa.ArrowException, OSError) as error:
            raise self._problem("it is damaged") from error
        if not some:
            raise self._problem("it has no row")

    def _cells(self, cells: Any, place: int, kind: str) -> Any:
        """The cells of a column: numbers, or objects where it may hold words."""
        from pyarrow import types

        if types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if types.is_temporal(cells.type):
            raise self._problem(f"{self._called(place)} holds dates: make them numbers")
        if kind != "number":
            return np.array(cells.to_pylist(), dtype=object)
        if types.is_boolean(cells.type):
            return cells.cast("uint8").cast("float64").to_numpy(zero_copy_only=False)
        numbers = types.is_integer(cells.type) or types.is_floating(cells.type)
        if not numbers and not types.is_null(cells.type):
            raise self._problem(
                f"{self._called(place)} holds no numbers, where the model reads them"
            )
        found: NDArray[np.float64] = cells.cast("float64", safe=False).to_numpy(
            zero_copy_only=False
        )
        if np.isinf(found).any():
            raise self._problem(f"{self._called(place)} holds no finite number; impute it first")
        return found

    def _problem(self, problem: str) -> HescError:
        return HescError(f"{self._file.name}: {problem}")


def lists(file: IO[bytes], column: str, rows: int) -> Iterator[NDArray[np.float64]]:
    """Arrays (up to `rows`, length of a list) of a column that holds lists of numbers.

    Raises:
        HescError: no such file or column; lists that are missing, empty or differ in length.
        ImportError: pyarrow is missing.

    """
    otherwise = "or not with such lists"
    table = _table(file, otherwise)
    import pyarrow as pa
    from pyarrow import compute as pc

    called = repr(column[:80])
    if column not in table.schema_arrow.names:
        raise HescError(f"{file.name}: there is no column {called}")
    kind = table.schema_arrow.field(column).type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and not (
        pa.types.is_fixed_size_list(kind)
    ):
        raise HescError(f"{file.name}: {called} holds no lists of numbers")
    try:
        for batch in table.iter_batches(batch_size=rows, columns=[column]):
            found = batch.column(0)
            if not batch.num_rows:
                continue
            flat = found.flatten()
            if found.null_count or flat.null_count:
                raise HescError(f"{file.name}: {called} lacks lists, or numbers in some")
            widths = set(pc.unique(pc.list_value_length(found)).to_pylist())
            if len(widths) > 1 or not min(widths):
                raise HescError(f"{file.name}: lists of {called} differ in length, or are empty")
            numbers = flat.cast("float64", safe=False).to_numpy(zero_copy_only=False)
            yield numbers.reshape(batch.num_rows, -1)
    except (pa.ArrowException, OSError, TypeError) as error:
        raise HescError(f"{file.name} is no table of Parquet, {otherwise}") from error

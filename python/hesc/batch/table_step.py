"""What callables over tables have in common: they are made where they work, and name wrong rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Never

from hesc._native import HescError, ParameterError, ShapeError, WireError
from hesc._support.extras import install_line

if TYPE_CHECKING:
    from collections.abc import Iterator

QUERY: Final = "query"
"""The column of encrypted queries."""
ANSWER: Final = "answer"
"""The column of encrypted answers."""
SAMPLES: Final = "samples"
"""The column that says how many samples a query has."""
NUMBERS: Final = "hesc numbers"
"""The column of numbers that answers give of a model's budget; it is dropped before they leave."""


def arrow() -> Any:
    """The module pyarrow.

    Raises:
        ImportError: it is missing; the message says how to install it.

    """
    try:
        import pyarrow as pa
        import pyarrow.compute
    except ModuleNotFoundError as error:
        raise ImportError(
            f"pyarrow holds tables of batches, and is not installed: {install_line('parquet')}"
        ) from error
    return pa


@contextmanager
def counted_from(first: int, what: str) -> Iterator[None]:
    """Says of an error in a table what its rows are counted from.

    Args:
        first: rows before the table's own.
        what: they are.

    """
    try:
        yield
    except HescError as error:
        if not first:
            raise
        raise type(error)(f"{error} ({what} counted from {first})") from error


class TableStep(ABC):
    """A callable from tables of Arrow to tables of Arrow; rows are independent of each other.

    It takes paths, and reads plan, model and keys once, when it is made: each worker makes its own.
    It is neither pickled nor copied, so that no secret key or model travels with it.
    """

    def __call__(self, table: Any) -> Any:
        """What becomes of the rows of a table.

        Raises:
            ParameterError: what is no table of Arrow.
            ShapeError: two columns of one name.
            HescError: a row that is refused; its number in the table is named.

        """
        if not isinstance(table, arrow().Table):
            raise ParameterError(
                f"batches are tables of Arrow, not of the type {type(table).__name__}: give "
                f'map_batches batch_format="pyarrow"'
            )
        check_columns(table)
        return self.applied(table)

    @abstractmethod
    def applied(self, table: Any) -> Any:
        """What becomes of the rows of a table; errors are those of a call."""

    def __reduce__(self) -> Never:
        name = type(self).__name__
        raise TypeError(
            f"a {name} is not pickled or copied: each worker makes its own of paths; give "
            f"map_batches the class, and its arguments as fn_constructor_kwargs="
        )


def check_columns(table: Any, new: str = "") -> None:
    """Refuses a table in which a name does not say which column is meant.

    Args:
        table: of Arrow.
        new: a column that it is to be given.

    Raises:
        ShapeError: two columns of one name.
        ParameterError: it has the new one already.

    """
    names = table.column_names
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ShapeError(f"the table has two columns {twice[:80]!r}: rename or leave out one")
    if new in names:
        raise ParameterError(f"the table has a column {new!r} already")


def bytes_of(table: Any, name: str) -> list[bytes]:
    """A column of messages.

    Raises:
        ShapeError: no such column.
        WireError: a column of something else, or a row without a value.

    """
    pa = arrow()
    if name not in table.column_names:
        raise ShapeError(f"the table has no column {name!r}; it has {table.column_names[:8]}")
    column = table.column(name)
    if not (pa.types.is_large_binary(column.type) or pa.types.is_binary(column.type)):
        raise WireError(f"the column {name!r} holds no bytes but {column.type}")
    found: list[Any] = column.to_pylist()
    if column.null_count:
        raise WireError(f"row {found.index(None)}: the column {name!r} has no value")
    return found


@contextmanager
def in_row(row: int) -> Iterator[None]:
    """Says of an error which row of a table it is about."""
    try:
        yield
    except HescError as error:
        raise type(error)(f"row {row}: {error}") from error

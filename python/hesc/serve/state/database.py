"""Transactions on tables, wherever these lie, and refusals where they fail."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOG: Final = logging.getLogger("hesc.serve")
_T = TypeVar("_T")


class AnotherStateError(Exception):
    """Something else is in the state's place than was there."""


class SqlRows:
    """Statements of one transaction, in which a question mark stands for a value.

    Args:
        cursor: of a connection, as PEP 249 has it.
        placeholder: what stands for a value in the driver's own statements.
        locking: what keeps a row that is read from other transactions until this one ends.

    """

    def __init__(self, cursor: Any, placeholder: str, locking: str) -> None:
        self._cursor, self._placeholder, self._locking = cursor, placeholder, locking

    def all(self, query: str, *values: object) -> list[Any]:
        """All rows of a query."""
        self._cursor.execute(self._own(query), values)
        found: list[Any] = self._cursor.fetchall()
        return found

    def among(self, query: str, values: Sequence[object]) -> list[Any]:
        """All rows of a query that ends with `IN`, before some values."""
        return self.all(f"{query} ({', '.join('?' * len(values))})", *values)

    def one(self, query: str, *values: object) -> Any:
        """The first value of the first row, or None."""
        found = self.all(query, *values)
        return found[0][0] if found else None

    def locked(self, query: str) -> tuple[int, ...]:
        """The one row of a query, which no other transaction has or changes until this one ends."""
        (row,) = self.all(query + self._locking)
        return tuple(row)

    def do(self, statement: str, *values: object) -> int:
        """A statement without rows; how many it changed."""
        self._cursor.execute(self._own(statement), values)
        changed: int = self._cursor.rowcount
        return changed

    def many(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        """A statement for each row of values."""
        if rows:
            self._cursor.executemany(self._own(statement), rows)

    def _own(self, statement: str) -> str:
        return statement.replace("?", self._placeholder)


class Database(ABC):
    """Tables of a state, and names that one of several processes has for itself.

    Whatever goes wrong between here and a disk becomes `not-kept`, and the log says its kind alone:
    what errors say may hold rows, or the password of an address.
    """

    label: str
    """What errors call it."""
    reads_here: ClassVar[bool]
    """Whether a read is of this machine, and waits for no other."""

    def __init__(self) -> None:
        self.works = True
        """Whether the last transaction went well."""

    def transaction(self, work: Callable[[SqlRows], _T]) -> _T:
        """What some work in one transaction finds; on the disk when this returns.

        Args:
            work: done again where the connection was lost, even if it was done before: it looks
                first whether it was.

        Raises:
            RefusedError: what the work is refused with, or nothing can be written; then it is as
                if it had not been done, or it is found done when it is tried again.

        """
        try:
            found = self._transaction(work)
        except RefusedError:
            raise
        except Exception as error:
            # Whatever it is: somebody waits, and another transaction may go well.
            self.works = False
            _LOG.error("nothing can be counted: %s", _kind(error))
            raise _not_kept() from None
        self.works = True
        return found

    def read(self, work: Callable[[SqlRows], _T]) -> _T:
        """What some work that only reads finds.

        Raises:
            RefusedError: nothing can be read.

        """
        try:
            return self._read(work)
        except Exception as error:
            _LOG.error("counts cannot be read: %s", _kind(error))
            raise _not_kept() from None

    @abstractmethod
    def hold(self, name: bytes) -> bool:
        """Whether a name is this process's from now on, until it lets it go or ends."""

    @abstractmethod
    def let_go(self, name: bytes) -> None:
        """Gives a name back."""

    @abstractmethod
    def close(self) -> None:
        """Ends all connections."""

    @abstractmethod
    def _transaction(self, work: Callable[[SqlRows], _T]) -> _T: ...

    @abstractmethod
    def _read(self, work: Callable[[SqlRows], _T]) -> _T: ...


def _kind(error: Exception) -> Any:
    """What the log may say of an error."""
    if isinstance(error, AnotherStateError):
        return error
    # As SQLITE_FULL; of others the name of their class.
    return getattr(error, "sqlite_errorname", type(error).__name__)


def _not_kept() -> RefusedError:
    return RefusedError("not-kept", ("retry-after", "5"))

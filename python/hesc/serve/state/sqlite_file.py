"""A state in one file of SQLite, which one process has at a time."""

from __future__ import annotations

import os
import secrets
import sqlite3
from contextlib import closing
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from hesc._native import ParameterError, WireError
from hesc._support.new_files import new_file
from hesc.serve.state.database import AnotherStateError, Database, SqlRows
from hesc.serve.state.locking import locked
from hesc.serve.state.seen import gone
from hesc.serve.state.tables import SQLITE, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_T = TypeVar("_T")
_APPLICATION: Final = 0x68657363
"""What SQLite's header calls the application: "hesc"."""


class SqliteFile(Database):
    """A file, and beside it SQLite's own and a lock.

    Args:
        file: a new one counts from nothing; one of an earlier version is brought to this one.
        make: whether there may be a new one.

    Raises:
        ParameterError: another process has it, a later version of hesc wrote it, or there is none
            and should be.
        WireError: it is none of these, or damaged.
        OSError: it may not be read or written.

    """

    reads_here: ClassVar[bool] = True

    def __init__(self, file: Path, *, make: bool) -> None:
        super().__init__()
        # By a link it would have another lock, and SQLite other files beside it.
        file = file.resolve()
        self.label = str(file)
        self._lock_file = locked(file)
        try:
            if not os.path.lexists(file):
                _make(file, allowed=make)
            _check_name(file)
            self._identity = _identity(self.label)
            self._writing, self._reading = _opened(file), _opened(file)
        except (sqlite3.Error, UnicodeError) as error:
            os.close(self._lock_file)
            raise WireError(f"{file} is no state of a service, or damaged: {error}") from error
        except BaseException:
            os.close(self._lock_file)
            raise
        self._writes, self._reads = Lock(), Lock()

    def hold(self, name: bytes) -> bool:
        """All names are this process's."""
        del name
        return True

    def let_go(self, name: bytes) -> None:
        """Does nothing: no other process would take it."""

    def close(self) -> None:
        """Ends when what is written is on the disk."""
        with self._writes, self._reads:
            self._reading.close()
            self._writing.close()
            os.close(self._lock_file)

    def _transaction(self, work: Callable[[SqlRows], _T]) -> _T:
        with self._writes:
            db = self._writing
            if _identity(self.label) != self._identity:
                # What is written to a file without a name is lost when this process ends.
                raise AnotherStateError("the state's file is gone, or another is in its place")
            db.execute("BEGIN IMMEDIATE")
            try:
                found = work(SqlRows(db.cursor(), "?", ""))
                db.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself where the disk is full.
                if db.in_transaction:
                    db.execute("ROLLBACK")
                raise
            return found

    def _read(self, work: Callable[[SqlRows], _T]) -> _T:
        with self._reads:
            return work(SqlRows(self._reading.cursor(), "?", ""))


def _identity(file: str) -> tuple[int, int] | None:
    """What tells a file from another one that takes its name; None where there is none."""
    try:
        found = os.stat(file)  # noqa: PTH116 - half the time, before every write
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _check_name(file: Path) -> None:
    """Refuses a state with a second name, whose lock would be another.

    Raises:
        ParameterError: it has one.

    """
    if file.stat().st_nlink > 1:
        raise ParameterError(
            f"{file} has another name too, under which another process could have it: copy it, or "
            f"remove the other"
        )


def _make(file: Path, *, allowed: bool) -> None:
    """A new state under its name, whole: one that is cut off is never taken for a new one."""
    if not allowed:
        raise gone(str(file))
    with new_file(file) as part:
        part.touch(mode=0o600)
        with closing(sqlite3.connect(part, isolation_level=None)) as db:
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            _bring(db, 0, VERSION)
            db.execute("INSERT INTO salt VALUES (?)", (secrets.token_hex(32),))


def _bring(db: sqlite3.Connection, version: int, wanted: int) -> None:
    """From a version to a later one, in one transaction."""
    steps = "".join(SQLITE[step] for step in range(version + 1, wanted + 1))
    try:
        db.executescript(f"BEGIN IMMEDIATE; {steps} PRAGMA user_version = {wanted}; COMMIT;")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _opened(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
    try:
        _prepare(db, file)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, file: Path) -> None:
    db.execute("PRAGMA trusted_schema = OFF")
    application, version = (_pragma(db, name) for name in ("application_id", "user_version"))
    if application == _APPLICATION and version > VERSION:
        raise ParameterError(
            f"{file} is a state of version {version}, and this hesc knows up to {VERSION}: take "
            f"the hesc that wrote it, or a later one; states are not taken back"
        )
    if application != _APPLICATION or version not in SQLITE or _schema(db) != _expected(version):
        raise WireError(f"{file} is no state of a service, or damaged; restore the newest copy")
    for table in ("salt", "given", *(("state", "spare", "jobs") if version > 1 else ())):
        if (said := db.execute(f"PRAGMA quick_check({table})").fetchone()[0]) != "ok":
            raise WireError(f"{file} is a damaged state of a service: {said}")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    if version < VERSION:
        _bring(db, version, VERSION)


def _pragma(db: sqlite3.Connection, name: str) -> int:
    value: int = db.execute(f"PRAGMA {name}").fetchone()[0]
    return value


def _schema(db: sqlite3.Connection) -> list[Any]:
    """All tables, indexes and whatever else there is."""
    return db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()


def _expected(version: int) -> list[Any]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        _bring(db, 0, version)
        return _schema(db)

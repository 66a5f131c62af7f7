"""What a service must not forget: answers that were given, and how many, in one file of SQLite.

An answer and what it takes of budgets are written in one transaction, on the disk before anybody
has the answer. The same query again gets the same bytes and costs nothing while they are kept:
fresh noise over the same rows could be averaged away. Several answers that wait share one write.
"""

from __future__ import annotations

import fcntl
import logging
import os
import queue
import secrets
import sqlite3
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import ParameterError, WireError
from hesc._support.new_files import new_file
from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

_LOG: Final = logging.getLogger("hesc.serve")
_APPLICATION: Final = 0x68657363
"""What SQLite's header calls the application: "hesc"."""
_VERSION: Final = 1
_SCHEMA: Final = """
CREATE TABLE salt (salt TEXT NOT NULL);
CREATE TABLE given (
    kind TEXT NOT NULL, name TEXT NOT NULL, given INTEGER NOT NULL, PRIMARY KEY (kind, name)
) WITHOUT ROWID;
CREATE TABLE answers (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    name BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    answer BLOB NOT NULL
);
"""
_TOGETHER: Final = 64
"""Answers in one transaction, at most."""


class Charge(NamedTuple):
    """What an answer takes of a budget."""

    kind: str
    """Whose: of a "token", of a "model", or of its "weights"."""
    name: str
    """Which of them."""
    amount: int
    most: int | None
    """What may be given in all; None where it is counted alone."""


class _Entry(NamedTuple):
    name: bytes
    answer: bytes
    charges: Sequence[Charge]
    outcome: Future[tuple[bytes, bool]]


class ServiceState:
    """Answers and counts of a service; one process has it at a time.

    Args:
        path: the file; a new one counts from nothing. Beside it lie SQLite's own, and a lock.
        kept: bytes of answers that are kept, at most; the oldest go first.

    Raises:
        ParameterError: another process has it.
        WireError: it is none of these, or damaged.
        OSError: it may not be read or written.

    """

    def __init__(self, path: str | PathLike[str], *, kept: int) -> None:
        file = Path(path)
        self._lock_file = _locked(file.with_name(file.name + ".lock"))
        try:
            if not os.path.lexists(file):
                _make(file)
            self._writing, self._reading = _opened(file), _opened(file)
            self.salt: str = _one(self._reading, "SELECT salt FROM salt")
            """Drawn once for each file: names of weights are hashed with it."""
            total = _one(self._reading, "SELECT coalesce(sum(bytes), 0) FROM answers")
        except sqlite3.Error as error:
            os.close(self._lock_file)
            raise WireError(f"{file} is no state of a service, or damaged: {error}") from error
        except BaseException:
            os.close(self._lock_file)
            raise
        self._kept = kept
        self._looking = Lock()
        self._waiting: queue.SimpleQueue[_Entry | None] = queue.SimpleQueue()
        self._works = True
        self._thread = Thread(target=self._write, args=(total,), name="hesc state", daemon=True)
        self._thread.start()

    @property
    def works(self) -> bool:
        """Whether the last write went well."""
        return self._works and self._thread.is_alive()

    def find(self, name: bytes) -> bytes | None:
        """The answer to a query that was given before, while it is kept."""
        with self._looking:
            found: bytes | None = _one(
                self._reading, "SELECT answer FROM answers WHERE name = ?", name
            )
        return found

    def given(self, kind: str, name: str) -> int:
        """What was given on a budget so far."""
        with self._looking:
            return _given(self._reading, kind, name)

    def check(self, charges: Sequence[Charge]) -> None:
        """Refuses what is certain to be refused, before anything is computed.

        Raises:
            RefusedError: a budget that is used up.

        """
        for charge in charges:
            if charge.most is not None and (
                self.given(charge.kind, charge.name) + charge.amount > charge.most
            ):
                raise RefusedError("budget")

    def settle(self, name: bytes, answer: bytes, charges: Sequence[Charge]) -> tuple[bytes, bool]:
        """Keeps an answer and counts it, both or neither; on the disk when this returns.

        Args:
            name: of the query, and of whatever else its answer depends on.
            answer: what is about to be given.
            charges: what it takes.

        Returns:
            The answer, and whether it was there before: then nothing is counted.

        Raises:
            RefusedError: a budget has not so much left, or nothing can be written: it is not given.

        """
        entry = _Entry(name, answer, charges, Future())
        if not self._thread.is_alive():
            raise RefusedError("not-kept", ("retry-after", "5"))
        self._waiting.put(entry)
        return entry.outcome.result()

    def close(self) -> None:
        """Ends when all that waits is written."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join()
            self._reading.close()
            self._writing.close()
            os.close(self._lock_file)

    def _write(self, total: int) -> None:
        ended = False
        while not ended:
            entries, ended = self._next()
            if not entries:
                continue
            try:
                total, outcomes = self._together(total, entries)
                self._works = True
            except Exception as error:
                # Whatever it is: somebody waits for each of them.
                self._works = False
                _LOG.error("nothing can be counted: %s", type(error).__name__)
                refused = RefusedError("not-kept", ("retry-after", "5"))
                outcomes = [refused] * len(entries)
            for entry, outcome in zip(entries, outcomes, strict=True):
                if isinstance(outcome, RefusedError):
                    entry.outcome.set_exception(outcome)
                else:
                    entry.outcome.set_result(outcome)

    def _next(self) -> tuple[list[_Entry], bool]:
        """What waits, and whether nothing comes after it."""
        found = [self._waiting.get()]
        while len(found) < _TOGETHER and not self._waiting.empty():
            found.append(self._waiting.get())
        entries = [entry for entry in found if entry is not None]
        return entries, len(entries) < len(found)

    def _together(
        self, total: int, entries: list[_Entry]
    ) -> tuple[int, list[tuple[bytes, bool] | RefusedError]]:
        """One transaction; bytes that are kept after it, and what became of each entry."""
        db = self._writing
        db.execute("BEGIN IMMEDIATE")
        try:
            outcomes: list[tuple[bytes, bool] | RefusedError] = []
            for entry in entries:
                outcome = _settled(db, entry)
                outcomes.append(outcome)
                if not isinstance(outcome, RefusedError) and not outcome[1]:
                    total += len(entry.answer)
            while total > self._kept:
                place, size = db.execute(
                    "SELECT place, bytes FROM answers ORDER BY place LIMIT 1"
                ).fetchone()
                db.execute("DELETE FROM answers WHERE place = ?", (place,))
                total -= size
            db.execute("COMMIT")
        except BaseException:
            # SQLite has rolled back by itself where the disk is full.
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
        return total, outcomes


def _settled(db: sqlite3.Connection, entry: _Entry) -> tuple[bytes, bool] | RefusedError:
    """What becomes of one entry; nothing is written of one that is refused."""
    before = _one(db, "SELECT answer FROM answers WHERE name = ?", entry.name)
    if before is not None:
        return before, True
    for charge in entry.charges:
        left = charge.most is None or (
            _given(db, charge.kind, charge.name) + charge.amount <= charge.most
        )
        if not left:
            return RefusedError("budget")
    for charge in entry.charges:
        db.execute(
            "INSERT INTO given VALUES (?, ?, ?) "
            "ON CONFLICT (kind, name) DO UPDATE SET given = given + excluded.given",
            (charge.kind, charge.name, charge.amount),
        )
    db.execute(
        "INSERT INTO answers (name, bytes, answer) VALUES (?, ?, ?)",
        (entry.name, len(entry.answer), entry.answer),
    )
    return entry.answer, False


def _given(db: sqlite3.Connection, kind: str, name: str) -> int:
    query = "SELECT given FROM given WHERE kind = ? AND name = ?"
    return _one(db, query, kind, name) or 0


def _one(db: sqlite3.Connection, query: str, *values: object) -> Any:
    """The first value of the first row, or None."""
    row = db.execute(query, values).fetchone()
    return None if row is None else row[0]


def _locked(path: Path) -> int:
    """A lock that ends with the process. Not on the file itself: closing it would end SQLite's."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ParameterError(
            f"another process serves from the state beside {path}: end it, or take another state"
        ) from None
    return descriptor


def _make(file: Path) -> None:
    """A new state under its name, whole: one that is cut off is never taken for a new one."""
    with new_file(file) as part:
        part.touch(mode=0o600)
        with closing(sqlite3.connect(part, isolation_level=None)) as db:
            db.execute(f"PRAGMA application_id = {_APPLICATION}")
            db.execute(f"PRAGMA user_version = {_VERSION}")
            db.executescript(_SCHEMA)
            db.execute("INSERT INTO salt VALUES (?)", (secrets.token_hex(32),))


def _opened(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
    try:
        _prepare(db, file)
    except BaseException:
        db.close()
        raise
    return db


def _prepare(db: sqlite3.Connection, file: Path) -> None:
    found = _one(db, "PRAGMA application_id"), _one(db, "PRAGMA user_version")
    if found != (_APPLICATION, _VERSION):
        raise WireError(f"{file} is no state of a service, or of another version of hesc")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")

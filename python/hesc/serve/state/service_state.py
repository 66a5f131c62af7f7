"""The whole of a state: answers that are kept, budgets that are counted, jobs that wait."""

from __future__ import annotations

import queue
import re
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, Self

from hesc._native import HescError, ParameterError, WireError
from hesc._support.extras import install_line
from hesc._support.new_files import path_of
from hesc.serve.responses import RefusedError
from hesc.serve.state.jobs import JobStore
from hesc.serve.state.seen import Mark, SeenFile, identity_of
from hesc.serve.state.settling import Entry, counters, given_so_far, settled
from hesc.serve.state.sqlite_file import SqliteFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from hesc.serve.state.database import Database, SqlRows
    from hesc.serve.state.settling import Charge

_TOGETHER: Final = 64
"""Answers in one transaction, at most."""
_PROBE: Final = 1.0
"""Seconds after which a state that did not work is tried again."""
_LATER: Final = ("retry-after", "5")
_LIKE_ADDRESS: Final = re.compile(r"://|\b(host|dbname|user|password)=")
_SCHEMES: Final = ("postgresql:", "postgres:")


def beside(where: str | PathLike[str], files: str | PathLike[str] | None = None) -> Path:
    """What the names of a state's files on this machine begin with: keys, and how far it had come.

    Args:
        where: a file of SQLite, or an address of PostgreSQL.
        files: another beginning; a state in PostgreSQL has no other.

    Raises:
        ParameterError: there is none.

    """
    if files is not None:
        return path_of(files, "files")
    if _is_address(where):
        raise ParameterError(
            "a state in PostgreSQL keeps public keys, and how far it had come, in files of each "
            "machine: say by `--files` (`files=`) what their names begin with, as "
            "/var/lib/hesc/state"
        )
    return path_of(where, "state")


class ServiceState(JobStore):
    """Answers, counts and jobs of a service; `open` finds or makes one.

    Args:
        database: where they lie.
        seen: how far they had come, which is followed from now on.
        kept: bytes of answers that no job names, at most; the oldest go first.

    """

    def __init__(self, database: Database, seen: SeenFile, *, kept: int) -> None:
        super().__init__(database, kept)
        self.reads_here = database.reads_here
        """Whether `find` and `given` wait for no other machine."""
        self.salt: str = database.read(lambda rows: rows.one("SELECT salt FROM salt"))
        """Drawn once for each state: names of weights are hashed with it."""
        self._seen = seen
        self._serial: int = database.read(lambda rows: rows.one("SELECT serial FROM state"))
        self._seen.begin(Mark(identity_of(self.salt), self._serial))
        self._closing, self._closed = Lock(), False
        self._entries: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        self._thread = Thread(target=self._write, name="hesc state", daemon=True)
        self._thread.start()

    @classmethod
    def open(
        cls,
        where: str | PathLike[str],
        *,
        kept: int,
        files: str | PathLike[str] | None = None,
        accept_restored: bool = False,
    ) -> Self:
        """A state that is there, of this version or an earlier one, or a new one.

        Args:
            where: a file of SQLite, which one process has at a time, beside which lie SQLite's own
                and a lock; or `postgresql://user@host/database`, which several may have.
            kept: bytes of answers that no job names, at most; the oldest go first.
            files: what names of other files begin with, as `beside` has it. The one whose name
                ends with `.seen` says how far the state had come.
            accept_restored: whether a state is taken that had come further, or is another one.

        Raises:
            ParameterError: another process has it or its files, a later version of hesc wrote it,
                it is an old copy, or there is no such address.
            WireError: it is none of these, or damaged.
            HescError: PostgreSQL does not answer, or what speaks to it is not installed.
            OSError: files may not be read or written.

        """
        place = beside(where, files)
        seen = SeenFile(place.with_name(place.name + ".seen"))
        database = _database(where, place, make=accept_restored or seen.read() is None)
        try:
            mark, counts = database.read(_mark)
            if accept_restored:
                _accepted(database, seen, mark)
            else:
                seen.check(database.label, mark, counts)
            return cls(database, seen, kept=kept)
        except RefusedError:
            database.close()
            raise WireError(
                f"{database.label} cannot be read: restore the newest copy where it is damaged"
            ) from None
        except BaseException:
            database.close()
            raise

    @property
    def works(self) -> bool:
        """Whether the last write went well."""
        return self._database.works and self._seen.works and self._thread.is_alive()

    def find(self, name: bytes) -> bytes | None:
        """The answer to a query that was given before, while it is kept.

        Raises:
            RefusedError: nothing can be read.

        """
        query = "SELECT answer FROM answers WHERE name = ?"
        found: bytes | None = self._database.read(lambda rows: rows.one(query, name))
        return found

    def given(self, kind: str, name: str) -> int:
        """What was given on a budget so far.

        Raises:
            RefusedError: nothing can be read.

        """
        return self._database.read(partial(given_so_far, kind=kind, name=name))

    def check(self, charges: Sequence[Charge]) -> None:
        """Refuses what is certain to be refused, before anything is computed.

        Raises:
            RefusedError: a budget that is used up, or nothing can be read.

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
                Where a connection was lost, it may have been counted: it is found by its name.

        """
        return self.submit(name, answer, charges).result()

    def submit(
        self, name: bytes, answer: bytes, charges: Sequence[Charge]
    ) -> Future[tuple[bytes, bool]]:
        """What `settle` gives or raises, when it is on the disk. Arguments are those of `settle`.

        Raises:
            RefusedError: the state is closed.

        """
        entry = Entry(name, answer, charges, Future())
        with self._closing:
            if self._closed:
                raise RefusedError("not-kept", _LATER)
            self._entries.put(entry)
        return entry.outcome

    def close(self) -> None:
        """Ends when all that waits is written."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            self._entries.put(None)
        self._thread.join()
        self._seen.close()
        self._database.close()

    def _write(self) -> None:
        ended = False
        while not ended:
            entries, ended = self._next()
            if not entries and self._database.works:
                continue
            try:
                outcomes = self._together(entries)
            except RefusedError as refused:
                outcomes = [refused] * len(entries)
            except Exception:
                # As of a handler of the log that raises: somebody waits, and others come.
                outcomes = [RefusedError("not-kept", _LATER)] * len(entries)
            for entry, outcome in zip(entries, outcomes, strict=True):
                if isinstance(outcome, RefusedError):
                    entry.outcome.set_exception(outcome)
                else:
                    entry.outcome.set_result(outcome)

    def _next(self) -> tuple[list[Entry], bool]:
        """What waits, and whether nothing comes after it."""
        try:
            # One that did not work says so on /readyz, and then nobody may come who tries it.
            found = [self._entries.get(timeout=_PROBE)]
        except queue.Empty:
            return [], False
        while len(found) < _TOGETHER and not self._entries.empty():
            found.append(self._entries.get())
        # One that was called off in time is not counted; from here on none can be.
        entries = [
            entry
            for entry in found
            if entry is not None and entry.outcome.set_running_or_notify_cancel()
        ]
        return entries, None in found

    def _together(self, entries: list[Entry]) -> list[tuple[bytes, bool] | RefusedError]:
        """What became of entries in one transaction; without any, whether one goes well."""
        if not entries:
            self._database.transaction(self._probe)
            return []
        outcomes, self._serial = self._database.transaction(
            partial(settled, entries=entries, most=self._kept, least=self._serial)
        )
        self._seen.move(self._serial)
        return outcomes

    def _probe(self, rows: SqlRows) -> None:
        counters(rows, self._serial)
        rows.do("UPDATE state SET serial = serial")


def _is_address(where: object) -> bool:
    return str(where).startswith(_SCHEMES)


def _database(where: str | PathLike[str], files: Path, *, make: bool) -> Database:
    if not _is_address(where):
        if _LIKE_ADDRESS.search(str(where)):
            # It may hold a password, and a file of that name would share no budget.
            raise ParameterError(
                "a state is a file, or an address that begins with postgresql://, in small letters "
                "and without anything before it"
            )
        return SqliteFile(path_of(where, "state"), make=make)
    if not isinstance(where, str):
        raise ParameterError("an address of PostgreSQL is text, not a path: give it as it is")
    try:
        from hesc.serve.state.postgres import PostgresDatabase
    except ImportError:
        raise HescError(
            "a state in PostgreSQL takes psycopg, which is not installed: "
            f"{install_line('postgres')}"
        ) from None
    return PostgresDatabase(where, files, make=make)


def _mark(rows: SqlRows) -> tuple[Mark, list[tuple[str, str, int]]]:
    """What is seen of a state, and its budgets."""
    (salt,), serial = rows.all("SELECT salt FROM salt")[0], rows.one("SELECT serial FROM state")
    counts = rows.all("SELECT kind, name, given FROM given ORDER BY kind, name")
    return Mark(identity_of(salt), serial), counts


def _accepted(database: Database, seen: SeenFile, mark: Mark) -> None:
    """Goes on from where the state had come, so that older copies are still found."""
    with suppress(WireError):
        before = seen.read()
        if before is not None and before.identity == mark.identity:
            database.transaction(
                lambda rows: rows.do(
                    "UPDATE state SET serial = ? WHERE serial < ?", before.serial, before.serial
                )
            )

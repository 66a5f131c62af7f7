"""A state in a database of PostgreSQL, which services of several machines share.

Every transaction that writes locks the one row of `state` first, so that one is under way at a
time, over all machines: it decides by what is there, as in a file. Budgets of one model are one
row in any case, whose lock every answer of it would wait for; and where a connection is lost while
a transaction is being committed, who has the row next sees whether it was.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

import psycopg
from psycopg.conninfo import conninfo_to_dict

from hesc._native import HescError, ParameterError, WireError
from hesc.serve.state.database import Database, SqlRows
from hesc.serve.state.locking import locked
from hesc.serve.state.seen import gone
from hesc.serve.state.tables import POSTGRES, VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_T = TypeVar("_T")
_SCHEMA: Final = "hesc"
_MAKING: Final = 0x68657363
"""What is locked while tables are made: no two services make them at once."""
_TRIES: Final = 3
"""With as many connections, where each is lost."""
_REST: Final = 0.5
"""Seconds without another try after one to connect has failed."""
_DEFAULTS: Final = {
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "application_name": "hesc serve",
}
"""What a connection has unless the address says otherwise: one to a machine that is gone ends."""
_SESSION: Final = (
    f"SET search_path TO {_SCHEMA}",
    # The lock of a service whose machine is gone.
    "SET idle_in_transaction_session_timeout TO '30s'",
    "SET lock_timeout TO '30s'",
    "SET tcp_keepalives_idle TO 10",
    "SET tcp_keepalives_interval TO 5",
    "SET tcp_keepalives_count TO 3",
)


_LOCK: Final = "SELECT pg_try_advisory_lock(%s)"


class _LostError(Exception):
    """A connection that ended, or could not be made."""


class PostgresDatabase(Database):
    """A database of PostgreSQL with one state, in the schema `hesc`.

    Args:
        address: `postgresql://user@host/database`, as libpq reads it. Nothing says its password.
        files: what the names of files on this machine begin with, which one process has at a time.
        make: whether there may be a new state.

    Raises:
        ParameterError: another process has the files, no address, a later version of hesc wrote
            the state, or there is none and should be.
        WireError: what is in the schema is no state.
        HescError: PostgreSQL does not answer, or refuses.

    """

    reads_here: ClassVar[bool] = False

    def __init__(self, address: str, files: Path, *, make: bool) -> None:
        super().__init__()
        parts = _parts(address)
        self.label = f"the database {parts.get('dbname', 'of PostgreSQL')}"
        self._writing, self._reading = _Line(parts), _Line(parts)
        self._claims = _Line(parts)
        self._held: set[int] = set()
        self._lock_file = locked(files)
        try:
            with self._writing.connection() as connection:
                _prepare(connection, self.label, make=make)
        except (_LostError, psycopg.Error) as error:
            self.close()
            raise HescError(
                f"{self.label} is no state of a service at the moment: "
                f"{_without(error.__cause__ or error, parts)}"
            ) from None
        except BaseException:
            self.close()
            raise

    def hold(self, name: bytes) -> bool:
        """Whether the name is this process's: a lock of its connection, which ends with it."""
        key = _key(name)
        try:
            with self._claims.connection() as connection:
                if self._claims.fresh:
                    # The locks have ended with the connection that was lost. Whoever has taken
                    # one since computes the same: its answer is counted once.
                    for held in self._held:
                        connection.execute(_LOCK, (held,))
                    self._claims.fresh = False
                (found,) = connection.execute(_LOCK, (key,)).fetchone() or (False,)
        except (_LostError, psycopg.Error):
            return False
        if found:
            self._held.add(key)
        return bool(found)

    def let_go(self, name: bytes) -> None:
        """Gives a name back; a connection that is lost has given all back."""
        key = _key(name)
        self._held.discard(key)
        with suppress(_LostError, psycopg.Error), self._claims.connection() as connection:
            connection.execute("SELECT pg_advisory_unlock(%s)", (key,))

    def close(self) -> None:
        """Ends all connections."""
        for line in (self._writing, self._reading, self._claims):
            line.close()
        os.close(self._lock_file)

    def _transaction(self, work: Callable[[SqlRows], _T]) -> _T:
        for _ in range(_TRIES - 1):
            # Whether it was committed is seen by the work itself, which finds what it has done.
            with suppress(_LostError):
                return self._once(work)
        return self._once(work)

    def _once(self, work: Callable[[SqlRows], _T]) -> _T:
        with self._writing.connection() as connection:
            connection.execute("BEGIN")
            try:
                found = work(_rows(connection))
                connection.execute("COMMIT")
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            return found

    def _read(self, work: Callable[[SqlRows], _T]) -> _T:
        for _ in range(_TRIES - 1):
            with suppress(_LostError), self._reading.connection() as connection:
                return work(_rows(connection))
        with self._reading.connection() as connection:
            return work(_rows(connection))


class _Line:
    """A connection that is made when it is needed, and again when it was lost; one has it."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self._parts = parts
        self._lock = RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._next_try = 0.0
        self.fresh = False
        """Whether nobody has looked at the connection since it was made."""

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Any]]:
        """The connection, for whoever is within.

        Raises:
            _LostError: it ended within, or there is none.

        """
        with self._lock:
            made = self._connected()
            try:
                yield made
            except psycopg.Error as error:
                if (error.sqlstate or "").startswith("57P"):
                    # The server is ending, or begins.
                    made.close()
                if not made.closed:
                    raise
                raise _LostError from error
            finally:
                if made.closed:
                    self._connection = None

    def close(self) -> None:
        """Ends it."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _connected(self) -> psycopg.Connection[Any]:
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if time.monotonic() < self._next_try:
            raise _LostError
        made = None
        try:
            made = psycopg.connect(**self._parts, autocommit=True)
            made.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            for statement in _SESSION:
                made.execute(statement)
            # Answers leave when they are on a disk; whoever asks for more copies has them.
            if made.execute("SHOW synchronous_commit").fetchone() == ("off",):
                made.execute("SET synchronous_commit TO on")
        except psycopg.Error as error:
            self._next_try = time.monotonic() + _REST
            if made is not None:
                made.close()
            raise _LostError from error
        self._connection, self.fresh = made, True
        return made


def _rows(connection: psycopg.Connection[Any]) -> SqlRows:
    return SqlRows(connection.cursor(binary=True), "%s", " FOR UPDATE")


def _key(name: bytes) -> int:
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "big", signed=True)


def _parts(address: str) -> dict[str, Any]:
    """What an address says. Errors of a password with signs that part addresses show none of it."""
    unread = ParameterError(
        "the address of PostgreSQL cannot be read: postgresql://user@host:5432/database, with "
        "signs such as @ and / of a password as %40 and %2F; PGPASSFILE names a file for it"
    )
    try:
        parts = conninfo_to_dict(address)
    except psycopg.Error:
        raise unread from None
    odd = any("@" in str(parts.get(name, "")) for name in ("host", "dbname", "user"))
    if odd or not str(parts.get("port", "1")).replace(",", "").isdecimal():
        raise unread
    return {**_DEFAULTS, **parts}


def _without(error: BaseException, parts: dict[str, Any]) -> str:
    """What an error says, in one line, without the password."""
    text = " ".join(str(error).split()) or type(error).__name__
    password = str(parts.get("password") or "")
    return text.replace(password, "...") if password else text


def _prepare(connection: psycopg.Connection[Any], label: str, *, make: bool) -> None:
    """Makes the tables, or brings them to this version, in one transaction."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MAKING,))
        version = _version(connection, label)
        if version is None:
            if not make:
                raise gone(label)
            if connection.execute("SHOW server_encoding").fetchone() != ("UTF8",):
                raise ParameterError(f"{label} is not in UTF8: make one with ENCODING 'UTF8'")
            connection.execute(f"CREATE SCHEMA {_SCHEMA}")
            connection.execute(POSTGRES[2])
            connection.execute("INSERT INTO salt VALUES (%s)", (secrets.token_hex(32),))
            version = 2
        if version > VERSION:
            raise ParameterError(
                f"{label} has a state of version {version}, and this hesc knows up to {VERSION}: "
                f"take the hesc that wrote it, or a later one; states are not taken back"
            )
        for step in range(version + 1, VERSION + 1):
            connection.execute(POSTGRES[step])
            connection.execute("UPDATE version SET version = %s", (step,))


def _version(connection: psycopg.Connection[Any], label: str) -> int | None:
    """The version of the state that is there, or None where nothing is."""
    named = "SELECT count(*) FROM information_schema.tables WHERE table_schema = %s"
    schema = "SELECT count(*) FROM pg_namespace WHERE nspname = %s"
    if connection.execute(schema, (_SCHEMA,)).fetchone() == (0,):
        return None
    tables = connection.execute(f"{named} AND table_name = 'version'", (_SCHEMA,)).fetchone()
    found = connection.execute("SELECT version FROM version").fetchall() if tables == (1,) else []
    if len(found) != 1 or not isinstance(found[0][0], int) or found[0][0] < 2:
        raise WireError(f"the schema {_SCHEMA} in {label} is no state of a service, or damaged")
    version: int = found[0][0]
    return version

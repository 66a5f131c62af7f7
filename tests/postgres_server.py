"""A server of PostgreSQL for tests: in a folder of its own, on a socket, and not as root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest

_PLACES: Final = "/usr/lib/postgresql/*/bin"
_USERS: Final = ("postgres", "nobody")


def _program(name: str) -> str | None:
    for found in sorted(Path("/").glob(f"{_PLACES[1:]}/{name}"), reverse=True):
        return str(found)
    return shutil.which(name)


def _user() -> str | None:
    """Who runs it: this user, or one that is not root."""
    names = {each.pw_name for each in pwd.getpwall()}
    if os.geteuid():
        return pwd.getpwuid(os.geteuid()).pw_name
    return next((name for name in _USERS if name in names), None)


def missing() -> str | None:
    """Why there is none, or None."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed (the extra `postgres`)"
    for name in ("initdb", "pg_ctl", "postgres"):
        if _program(name) is None:
            return f"there is no {name}, in {_PLACES} or the PATH: install PostgreSQL's server"
    if _user() is None:
        return f"PostgreSQL does not run as root, and there is no user {' or '.join(_USERS)}"
    return None


class PostgresServer:
    """A server and its databases."""

    def __init__(self) -> None:
        user = _user()
        assert user is not None
        self._user = user
        self.folder = Path(tempfile.mkdtemp(prefix="hesc-postgres-"))
        shutil.chown(self.folder, user)
        self._run("initdb", "-A", "trust", "-E", "UTF8", "--no-sync", "-U", "hesc")
        self.control("start")
        self.execute("CREATE DATABASE state", "postgres")

    @classmethod
    def or_skip(cls) -> PostgresServer:
        """One that runs; a test is skipped, by what is missing, where none can."""
        if why := missing():
            pytest.skip(why)
        return cls()

    def control(self, what: str, mode: str = "fast") -> None:
        """Starts, stops or restarts it; `immediate` is a crash."""
        options = f"-k {self.folder} -c listen_addresses='' -c max_connections=200"
        self._run("pg_ctl", what, "-m", mode, "-w", "-l", str(self.folder / "log"), "-o", options)

    def close(self) -> None:
        self.control("stop", "immediate")
        shutil.rmtree(self.folder)

    def address(self, database: str, user: str = "hesc") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def database(self) -> str:
        """The address of a database without a state; whoever had one before is sent away."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = 'state' AND pid <> pg_backend_pid()",
            "state",
        )
        self.execute("DROP SCHEMA IF EXISTS hesc CASCADE", "state")
        return self.address("state")

    def execute(self, statement: str, database: str) -> list[tuple[object, ...]]:
        import psycopg

        with psycopg.connect(self.address(database), autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def _run(self, program: str, *arguments: str) -> None:
        path = _program(program)
        assert path is not None
        own: dict[str, Any] = {
            "user": self._user,
            "group": pwd.getpwnam(self._user).pw_gid,
            "extra_groups": [],
        }
        done = subprocess.run(
            [path, *arguments],
            env={**os.environ, "PGDATA": str(self.folder / "data"), "LC_ALL": "C"},
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            timeout=120,
            **({} if os.geteuid() else own),
        )
        assert done.returncode == 0, done.stderr.decode()

"""What one side keeps of prepared queries: in memory or in a folder, and each used once.

A preparation's name is a hash of the message that began it. What is kept under a name is secret:
a client's shows a sample to whoever sees its query too, and a server's is as secret as its model.
**Used twice it tells**: so it is taken out before it is used, by one process and thread of all that
share the store, and is not put back.

A folder has a file for each, which is there whole or not at all. Who restores an old copy of a
folder uses preparations again.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from hesc._native import ParameterError, WireError
from hesc._support.inputs import of_kind, whole
from hesc._support.new_files import for_owner, path_of
from hesc._support.one_process import OneProcess

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from pathlib import Path

_LONGEST: Final = 1 << 28
"""Bytes of a file, at most."""
_MOST: Final = 1 << 20
"""Preparations that a store may be made for."""


class Kept(Protocol):
    """What one side keeps of a preparation."""

    @property
    def name(self) -> bytes:
        """The preparation's."""

    def to_bytes(self) -> bytes:
        """The wire form, for a file."""


KeptT = TypeVar("KeptT", bound=Kept)


class Preparations:
    """A store of preparations, of one side of any plans and keys.

    Args:
        folder: where files are kept, which is made if it is not there; None keeps them in the
            memory of this process.
        most: preparations that it holds, at most: a peer cannot fill the disk or the memory.

    Raises:
        ParameterError, OutOfRangeError: what is no path or number.
        OSError: the folder cannot be made.

    """

    def __init__(self, folder: str | PathLike[str] | None = None, *, most: int = 1000) -> None:
        self.most = whole(most, "most", 1, _MOST)
        """Preparations that it holds, at most."""
        self._folder: Path | None = None
        self._here: dict[str, Any] = {}
        self._lock = Lock()
        self._one = OneProcess(
            "a store of prepared queries",
            "Give Preparations(folder), which processes may share",
        )
        if folder is not None:
            path = path_of(folder, "folder")
            if not os.fspath(folder) or "\0" in str(path):
                raise ParameterError(f"folder is {str(folder)!r}, which names none; give a path")
            self._folder = path.absolute()
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def check_room(self, count: int) -> None:
        """Refuses more preparations than there is room for, before any work is done for them.

        Raises:
            ParameterError: there is less; a copy in a forked process.

        """
        if len(self.names("")) + count > self.most:
            raise ParameterError(
                f"{self.most} prepared queries are kept at most, and {count} more are too many: "
                f"use some, delete what nobody completes, or open the store with a larger most="
            )

    def put(self, name: str, share: Kept) -> None:
        """Keeps a share under a name, in place of what is kept there.

        Raises:
            ParameterError: a copy in a forked process.
            OSError: the disk is full; what was kept is still there.

        """
        if self._folder is None:
            self._one.check()
            with self._lock:
                self._here[name] = share
            return
        part = self._beside(self._folder)
        try:
            with open(part, "xb", opener=for_owner) as file:
                file.write(share.to_bytes())
            part.replace(self._folder / name)
        finally:
            part.unlink(missing_ok=True)

    def take(self, name: str, read: Callable[[bytes], KeptT]) -> KeptT:
        """What is kept under a name, once: nobody finds it there again.

        Args:
            name: as `put` had it.
            read: makes a share of what it wrote.

        Raises:
            ParameterError: there is nothing, or no more; a copy in a forked process.
            WireError: a file that is damaged, or another preparation's.
            OSError: the folder cannot be read or written.

        """
        if self._folder is None:
            self._one.check()
            with self._lock:
                found: KeptT | None = self._here.pop(name, None)
            return _there(found)
        own = self._beside(self._folder)
        try:
            # Of all that try, one has it, and no file that comes to be under this name later.
            (self._folder / name).rename(own)
        except FileNotFoundError:
            return _there(None)
        try:
            return _read(own, name, read)
        finally:
            with suppress(IsADirectoryError, PermissionError):
                own.unlink(missing_ok=True)
            # On the disk before anything of it is used: power that fails brings nothing back.
            _sync(self._folder)

    def look(self, name: str, read: Callable[[bytes], KeptT]) -> KeptT:
        """What is kept under a name, which stays there; arguments and errors are `take`'s."""
        if self._folder is None:
            self._one.check()
            with self._lock:
                found: KeptT | None = self._here.get(name)
            return _there(found)
        try:
            return _read(self._folder / name, name, read)
        except FileNotFoundError:
            return _there(None)

    def drop(self, name: str) -> None:
        """Removes what is kept under a name, if there is something."""
        if self._folder is not None:
            (self._folder / name).unlink(missing_ok=True)
            return
        with self._lock:
            self._here.pop(name, None)

    def names(self, ending: str) -> list[str]:
        """Names with this ending, as they are now.

        Raises:
            ParameterError: a copy in a forked process.

        """
        if self._folder is not None:
            found = [path.name for path in self._folder.iterdir()]
        else:
            self._one.check()
            with self._lock:
                found = list(self._here)
        return [name for name in found if name.endswith(ending) and not name.startswith(".")]

    @staticmethod
    def _beside(folder: Path) -> Path:
        """A name for a file that is not kept, or no more."""
        return folder / f".{secrets.token_hex(8)}.part"


def _there(found: KeptT | None) -> KeptT:
    if found is None:
        raise ParameterError(
            "this prepared query was used before, or was not prepared with this store (--kept, or "
            "preparations=): each is used once. Prepare others"
        )
    return found


def _read(path: Path, name: str, read: Callable[[bytes], KeptT]) -> KeptT:
    """The share in a file.

    Raises:
        WireError: no plain file, or a damaged one, or the file of another preparation.
        OSError: there is none, or it may not be read.

    """
    damaged = WireError(f"{path.parent / name} is no share of this preparation; delete it")
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise damaged from error
    try:
        plain = stat.S_ISREG(os.fstat(descriptor).st_mode)
        data = b"".join(iter(lambda: os.read(descriptor, _LONGEST), b"")) if plain else b""
    finally:
        os.close(descriptor)
    found = read(data) if plain else None
    if found is None or found.name.hex() != name.partition(".")[0]:
        raise damaged
    return found


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def store_of(given: object) -> Preparations:
    """What is given as a store.

    Raises:
        ParameterError: something else.

    """
    return of_kind(given, "preparations", Preparations, "Preparations(folder) makes one")


def name_for(plan: bytes, key: bytes, name: bytes, state: str) -> str:
    """What is kept of a preparation, by plan, key pair, the preparation's name and its state."""
    return f"{name.hex()}{ending_for(plan, key, state)}"


def ending_for(plan: bytes, key: bytes, state: str) -> str:
    """How all names of a plan, a key pair and a state end."""
    return f".{sha256(plan + key).hexdigest()[:16]}.{state}"

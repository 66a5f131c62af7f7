"""What one side keeps of prepared queries: in memory or in a folder, and each used once.

A preparation's name is the hash of the message that began it. What is kept under a name is secret:
a client's shows a sample to whoever sees its query too, and a server's is as secret as its model.
**Used twice it tells**: so it is taken out before it is used, by one process and thread of all that
share the store, and is not put back, whatever fails afterwards.

A folder has a file for each. Who restores an old copy of a folder uses preparations again.
"""

from __future__ import annotations

import os
from hashlib import sha256
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from hesc._native import ParameterError
from hesc._support.inputs import whole
from hesc._support.new_files import path_of
from hesc._support.one_process import OneProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

_LONGEST: Final = 1 << 28
"""Bytes of a file."""
_MOST: Final = 1 << 20
"""Preparations that a store may be made for."""


class Kept(Protocol):
    """What one side keeps of a preparation."""

    def to_bytes(self) -> bytes:
        """The wire form, for a file."""


KeptT = TypeVar("KeptT", bound=Kept)


class Preparations:
    """A store of preparations, of one side of any plans and keys.

    Args:
        folder: where files are kept, which is made if it is not there; None keeps them in the
            memory of this process.
        most: preparations that it holds at most: a peer cannot fill the disk or the memory.

    Raises:
        ParameterError: what is no path or number.
        OSError: the folder cannot be made.

    """

    def __init__(self, folder: str | PathLike[str] | None = None, *, most: int = 1000) -> None:
        self.most = whole(most, "most", 1, _MOST)
        """Preparations that it holds at most."""
        self._folder = None if folder is None else path_of(folder, "folder")
        self._here: dict[str, Any] = {}
        self._lock = Lock()
        self._one = OneProcess(
            "a store of prepared queries",
            "Give Preparations(folder), which processes may share",
        )
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def put(self, name: str, share: Kept) -> None:
        """Keeps a share under a name that nothing is kept under.

        Raises:
            ParameterError: there is something, or the store is full; a copy in a forked process.
            OSError: the disk is full.

        """
        if len(self._names()) >= self.most:
            raise ParameterError(
                f"{self.most} prepared queries are kept already, and no more are: use some, or "
                f"open the store with a larger most="
            )
        if self._folder is None:
            with self._lock:
                if name in self._here:
                    raise ParameterError(_TWICE)
                self._here[name] = share
            return
        path = self._folder / name
        try:
            path.touch(mode=0o600, exist_ok=False)
        except FileExistsError:
            raise ParameterError(_TWICE) from None
        try:
            path.write_bytes(share.to_bytes())
        except BaseException:
            path.unlink()
            raise

    def take(self, name: str, read: Callable[[bytes], KeptT]) -> KeptT:
        """What is kept under a name, once: nobody finds it there again.

        Args:
            name: as `put` had it.
            read: makes a share of what it wrote.

        Raises:
            ParameterError: there is nothing, or no more; a copy in a forked process.
            WireError: a file that is damaged.
            OSError: the folder cannot be read or written.

        """
        found: KeptT | None = None
        if self._folder is None:
            self._one.check()
            with self._lock:
                found = self._here.pop(name, None)
        elif (data := self._taken(name)) is not None:
            found = read(data)
        if found is None:
            raise ParameterError(
                "this prepared query was used before, or was not prepared with this store: each is "
                "answered once. Prepare others"
            )
        return found

    def names(self, ending: str) -> Iterator[str]:
        """Names with this ending, as they are now."""
        return (name for name in self._names() if name.endswith(ending))

    def _names(self) -> list[str]:
        if self._folder is not None:
            return [path.name for path in self._folder.iterdir()]
        self._one.check()
        with self._lock:
            return list(self._here)

    def _taken(self, name: str) -> bytes | None:
        """A file's bytes, if this process is the one that removed it."""
        folder = os.open(self._folder or "", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                descriptor = os.open(name, flags, dir_fd=folder)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                data = file.read(_LONGEST)
                try:
                    # One process of all that have it open removes it.
                    os.unlink(name, dir_fd=folder)
                except FileNotFoundError:
                    return None
            # On the disk before anything of it is used: power that fails brings nothing back.
            os.fsync(folder)
            return data
        finally:
            os.close(folder)


_TWICE: Final = "this preparation is kept already: it was sent twice"


def name_for(plan: bytes, key: bytes, name: bytes, state: str) -> str:
    """What is kept of a preparation, by plan, key pair, the preparation's name and its state."""
    return f"{name.hex()}{ending_for(plan, key, state)}"


def ending_for(plan: bytes, key: bytes, state: str) -> str:
    """How all names of a plan, a key pair and a state end."""
    return f".{sha256(plan + key).hexdigest()[:16]}.{state}"

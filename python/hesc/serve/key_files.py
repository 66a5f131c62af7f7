"""Public keys of clients, as files: quotas for each holder of tokens and in all, the oldest go."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from hesc._native import ParameterError
from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

_PART: Final = ".part"
_PIECES: Final = 3


class KeyName(NamedTuple):
    """What a file of keys is called by."""

    owner: str
    """Hash of the name of whoever sent it."""
    model: str
    sha256: str

    @classmethod
    def of(cls, holder: str, model: str, sha256: str) -> KeyName:
        """Keys of a holder of tokens, for a model."""
        return cls(hashlib.sha256(holder.encode()).hexdigest(), model, sha256)

    @property
    def file(self) -> str:
        """The file's name."""
        return ".".join(self)


@dataclass
class _Stored:
    size: int
    used: int


class KeyFiles:
    """A folder of public keys. What is lost of it is sent again.

    Args:
        folder: where; made where there is none. No other file belongs there.
        most: bytes in all, at most.

    Raises:
        ParameterError: a file that nothing here wrote.
        OSError: it may not be read or written.

    """

    def __init__(self, folder: str | PathLike[str], *, most: int) -> None:
        self._folder, self._most = Path(folder), most
        self._folder.mkdir(mode=0o700, exist_ok=True)
        self._lock = Lock()
        self._stored: dict[KeyName, _Stored] = {}
        self._coming: dict[KeyName, int] = {}
        with os.scandir(self._folder) as entries:
            for entry in entries:
                self._found(entry)

    def _found(self, entry: os.DirEntry[str]) -> None:
        if entry.name.endswith(_PART):
            # What was on its way when the service was killed.
            Path(entry.path).unlink()
            return
        pieces = entry.name.split(".")
        if len(pieces) != _PIECES or not entry.is_file(follow_symlinks=False):
            raise ParameterError(f"{entry.path[:200]!r} is no file of keys; take it away")
        status = entry.stat(follow_symlinks=False)
        self._stored[KeyName(*pieces)] = _Stored(status.st_size, status.st_mtime_ns)

    @property
    def held(self) -> int:
        """Bytes that are kept."""
        with self._lock:
            return sum(each.size for each in self._stored.values())

    def has(self, name: KeyName) -> bool:
        """Whether keys are here; they count as used now."""
        with self._lock:
            if name not in self._stored:
                return False
            with suppress(OSError):
                os.utime(self._folder / name.file)
                self._stored[name].used = (self._folder / name.file).stat().st_mtime_ns
                return True
            del self._stored[name]
            return False

    def read(self, name: KeyName) -> bytes:
        """Keys, as they were sent.

        Raises:
            RefusedError: they are not here, or no longer what they were.

        """
        with suppress(OSError):
            data = (self._folder / name.file).read_bytes()
            if hashlib.sha256(data).hexdigest() == name.sha256:
                return data
        self.remove(name)
        raise RefusedError("keys-missing")

    def remove(self, name: KeyName) -> None:
        """Forgets keys."""
        with self._lock:
            self._gone(name)

    @contextmanager
    def coming(self, name: KeyName, size: int, quota: int) -> Iterator[IO[bytes]]:
        """A file for keys that are about to be sent; room is made before a byte is read.

        Args:
            name: what they are called.
            size: bytes that they have.
            quota: bytes that their owner may have here.

        Raises:
            RefusedError: more than may be; the same keys, or too many others, are on their way.
            OSError: the disk is full.

        """
        self._reserve(name, size, quota)
        part = self._folder / (name.file + _PART)
        try:
            with open(part, "x+b", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                yield file
        finally:
            with self._lock:
                del self._coming[name]
            part.unlink(missing_ok=True)

    def keep(self, name: KeyName, file: IO[bytes]) -> None:
        """Gives the file that `coming` made its name, when all of it is on the disk."""
        file.flush()
        os.fsync(file.fileno())
        size = os.fstat(file.fileno()).st_size
        part = self._folder / (name.file + _PART)
        with self._lock:
            part.replace(self._folder / name.file)
            used = (self._folder / name.file).stat().st_mtime_ns
            self._stored[name] = _Stored(size, used)

    def _reserve(self, name: KeyName, size: int, quota: int) -> None:
        if size > min(quota, self._most):
            raise RefusedError("too-long")
        with self._lock:
            if name in self._coming:
                raise RefusedError("busy", ("retry-after", "2"))
            self._make_room(size, quota, name.owner)
            self._make_room(size, self._most, None)
            self._coming[name] = size

    def _make_room(self, size: int, most: int, owner: str | None) -> None:
        """Removes what was used least lately, of one owner or of all."""
        mine = [name for name in self._stored if owner in (None, name.owner)]
        mine.sort(key=lambda name: self._stored[name].used, reverse=True)
        held = sum(self._stored[name].size for name in mine)
        held += sum(each for name, each in self._coming.items() if owner in (None, name.owner))
        while held + size > most:
            if not mine:
                raise RefusedError("busy", ("retry-after", "10"))
            held -= self._stored[mine[-1]].size
            self._gone(mine.pop())

    def _gone(self, name: KeyName) -> None:
        self._stored.pop(name, None)
        (self._folder / name.file).unlink(missing_ok=True)

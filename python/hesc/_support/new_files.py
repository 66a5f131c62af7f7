"""Files that are there whole or not at all, and readers that cannot be made to swallow the machine.

Whatever hesc writes comes into being under its name in one step, when all of it is on the disk. An
error before that (a full disk, an interrupt) leaves nothing, and no existing file is overwritten,
not even one that a symbolic link points to.
"""

from __future__ import annotations

import errno
import hashlib
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hesc._native import HescError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

# What `os.link` says where a file system has no hard links.
_NO_LINKS: Final = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP}


def path_of(value: object, name: str = "path") -> Path:
    """Where a file is, or is to be.

    Raises:
        ParameterError: what is no path, or no name that a file can have.

    """
    if not isinstance(value, str | os.PathLike):
        raise ParameterError(f"{name} is of the type {type(value).__name__}; give a path as text")
    path = Path(value)
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ParameterError(f"{name} holds what no name of a file can; give another") from None
    return path


def check_new(paths: Mapping[str, Path]) -> None:
    """Refuses files that `new_files` could not make, before any work is done for them.

    Args:
        paths: what a user calls each (an option of a command), and the file.

    Raises:
        FileExistsError: something of that name is there, be it a link that leads nowhere.
        FileNotFoundError, NotADirectoryError, PermissionError: the folder does not take a file.
        HescError: two of them are one file, or a path has no name.

    """
    seen: dict[Path, str] = {}
    for name, path in paths.items():
        folder = path.parent
        if path.name in ("", ".."):
            raise HescError(f"{name} {str(path)!r} names no file")
        if os.path.lexists(path):
            raise FileExistsError(
                f"{name} {path} exists and is not overwritten; choose another name or remove it"
            )
        if not folder.exists():
            raise FileNotFoundError(f"{name} {path}: there is no folder {folder}; make it first")
        if not folder.is_dir():
            raise NotADirectoryError(f"{name} {path}: {folder} is no folder")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(f"{name} {path}: no file may be made in {folder}")
        place = folder.resolve() / path.name
        if place in seen:
            raise HescError(f"{seen[place]} and {name} are one file, {path}; give two names")
        seen[place] = name


@contextmanager
def new_files(*paths: Path) -> Iterator[list[Path]]:
    """Names beside these paths for what is written; on leaving, all move to their own names.

    The names are free and nobody else's; whoever writes there chooses the mode. After an error
    nothing is left, under either name, and after an interrupt nothing or all files.

    Raises:
        OSError: as `check_new`, or the disk is full.

    """
    check_new({"the file" if len(paths) == 1 else f"file {i + 1}": p for i, p in enumerate(paths)})
    made = _Made(paths)
    # Once more: what ends the first `clear`, or keeps it from beginning, is one interrupt.
    try:
        try:
            yield made.parts
            made.name()
        finally:
            made.clear()
    finally:
        made.clear()


@contextmanager
def new_file(path: str | PathLike[str]) -> Iterator[Path]:
    """`new_files` for one."""
    with new_files(path_of(path)) as (part,):
        yield part


@contextmanager
def new_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """An empty folder beside this path for what is written; on leaving it moves to its own name.

    After an error nothing is left. Nothing is overwritten, except an empty folder of that name that
    came into being meanwhile.

    Raises:
        OSError: as `check_new`, or the disk is full.

    """
    folder = path_of(path)
    check_new({"the folder": folder})
    part = folder.with_name(f".{secrets.token_hex(8)}.part")
    # Twice, as in `new_files`.
    try:
        try:
            part.mkdir()
            yield part
            for inside in (*part.rglob("*"), part):
                _sync(inside)
            # Refused where there is a file, a link, or a folder that holds something.
            part.rename(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    _sync(folder.parent)


def for_owner(path: str, flags: int) -> int:
    """Opens a new file with mode 0600: `open(part, "x", opener=for_owner)`.

    For results, which are as secret as samples, and for what is not yet complete.
    """
    return os.open(path, flags, 0o600)


def replace_file(path: str | PathLike[str], data: bytes) -> None:
    """Writes a file in place of the one that is there, in one step, for its owner alone.

    Raises:
        OSError: it cannot be written; the old one is still there.

    """
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    # Twice, as in `new_files`.
    try:
        try:
            with open(part, "xb", opener=for_owner) as file:
                file.write(data)
            _sync(part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    finally:
        part.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file of any length, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_whole(path: str | PathLike[str], limit: int, what: str) -> bytes:
    """The bytes of a file that is no longer than it may be.

    Args:
        path: the file; a pipe will do.
        limit: the most bytes that are read.
        what: what it should be, in the error.

    Raises:
        HescError: it is longer.

    """
    with path_of(path).open("rb") as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise HescError(f"{path} is longer than {what} ever is; is it the right file?")
    return data


def _sync(path: Path) -> None:
    """Waits until the disk has it."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class _Made:
    """Files on the way to their names, and which of the names are theirs."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._paths = paths
        # The ending is kept: some libraries choose the format by it.
        self.parts = [
            path.with_name(f".{secrets.token_hex(8)}.part{path.suffix}") for path in paths
        ]
        self._complete = False
        # What a name holds if it is ours, entered before it is taken: an interrupt may arrive when
        # the system has made the name and Python does not know of it yet.
        self._ours: dict[Path, tuple[int, int]] = {}
        self._reserved: set[Path] = set()

    def name(self) -> None:
        """Gives the files their names, all or none."""
        for part in self.parts:
            _sync(part)
        for part, path in zip(self.parts, self._paths, strict=True):
            self._ours[path] = _identity(part)
            self._link(part, path)
        for folder in {path.parent for path in self._paths}:
            _sync(folder)
        self._complete = True

    def clear(self) -> None:
        """Removes what should not stay; may be called again after it was ended by an interrupt."""
        for path in () if self._complete else self._ours:
            if self._is_ours(path):
                path.unlink(missing_ok=True)
        for part in self.parts:
            part.unlink(missing_ok=True)

    def _is_ours(self, path: Path) -> bool:
        """Whether what has this name now was put there here, and not by somebody else meanwhile."""
        with suppress(FileNotFoundError):
            empty = not path.lstat().st_size
            return _identity(path) == self._ours[path] or (path in self._reserved and empty)
        return False

    def _link(self, part: Path, path: Path) -> None:
        """The file's second name, which must be free: a link that dangles is not followed."""
        try:
            os.link(part, path)
        except FileExistsError as error:
            raise _overtaken(path) from error
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # A name of one's own, then the file over it.
            if os.path.lexists(path):
                raise _overtaken(path) from error
            self._reserved.add(path)
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            except FileExistsError as overtaken:
                self._reserved.remove(path)
                raise _overtaken(path) from overtaken
            part.replace(path)


def _identity(path: Path) -> tuple[int, int]:
    """Which file of the machine it is, not that which a link points to."""
    status = path.lstat()
    return status.st_dev, status.st_ino


def _overtaken(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} came into being meanwhile and is not overwritten")

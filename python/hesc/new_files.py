"""Files that are there whole or not at all, and readers that cannot be made to swallow the machine.

Whatever hesc writes comes into being under its name in one step, when all of it is on the disk. An
error before that (a full disk, an interrupt) leaves nothing, and no existing file is overwritten,
not even one that a symbolic link points to.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hesc._native import HescError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from os import PathLike

# What `os.link` says where a file system has no hard links.
_NO_LINKS: Final = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP}


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
    nothing is left, under either name.

    Raises:
        OSError: as `check_new`, or the disk is full.

    """
    check_new({"the file" if len(paths) == 1 else f"file {i + 1}": p for i, p in enumerate(paths)})
    # The ending is kept: some libraries choose the format by it.
    parts = [path.with_name(f".{secrets.token_hex(8)}.part{path.suffix}") for path in paths]
    with ExitStack() as whatever_happens:
        for part in parts:
            whatever_happens.callback(part.unlink, missing_ok=True)
        yield parts
        for part in parts:
            _sync(part)
        with ExitStack() as after_an_error:
            for part, path in zip(parts, paths, strict=True):
                _link(part, path)
                after_an_error.callback(path.unlink, missing_ok=True)
            for folder in {path.parent for path in paths}:
                _sync(folder)
            after_an_error.pop_all()


@contextmanager
def new_file(path: str | PathLike[str]) -> Iterator[Path]:
    """`new_files` for one."""
    with new_files(Path(path)) as (part,):
        yield part


@contextmanager
def new_folder(path: str | PathLike[str]) -> Iterator[Path]:
    """An empty folder beside this path for what is written; on leaving it moves to its own name.

    After an error nothing is left. Nothing is overwritten, except an empty folder of that name that
    came into being meanwhile.

    Raises:
        OSError: as `check_new`, or the disk is full.

    """
    folder = Path(path)
    check_new({"the folder": folder})
    part = folder.with_name(f".{secrets.token_hex(8)}.part")
    part.mkdir()
    try:
        yield part
        for inside in (*part.rglob("*"), part):
            _sync(inside)
        # Refused where there is a file, a link, or a folder that holds something.
        part.rename(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    _sync(folder.parent)


def replace_file(path: str | PathLike[str], data: bytes) -> None:
    """Writes a file in place of the one that is there, in one step: for caches.

    Raises:
        OSError: it cannot be written; the old one is still there.

    """
    target = Path(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        with part.open("xb") as file:
            file.write(data)
        _sync(part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def read_whole(path: str | PathLike[str], limit: int, what: str) -> bytes:
    """The bytes of a file that is no longer than it may be.

    Args:
        path: the file; a pipe will do.
        limit: the most bytes that are read.
        what: what it should be, in the error.

    Raises:
        HescError: it is longer.

    """
    with Path(path).open("rb") as file:
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


def _link(part: Path, path: Path) -> None:
    """The file's second name, which must be free: a link that dangles is not followed."""
    try:
        os.link(part, path)
    except FileExistsError as error:
        raise FileExistsError(f"{path} came into being meanwhile and is not overwritten") from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # A name of one's own, then the file over it.
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        with ExitStack() as after_an_error:
            after_an_error.callback(path.unlink, missing_ok=True)
            part.replace(path)
            after_an_error.pop_all()

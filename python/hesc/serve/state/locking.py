"""A lock by which one process at a time has the files of a state."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

from hesc._native import ParameterError

if TYPE_CHECKING:
    from pathlib import Path


def locked(place: Path) -> int:
    """A lock that ends with the process, or when what is returned is closed.

    It is on a file of its own, whose name ends with `.lock`: closing one of SQLite's would end
    SQLite's locks.

    Args:
        place: what the names of the files begin with.

    Raises:
        ParameterError: another process has it.
        OSError: the file may not be made.

    """
    path = place.with_name(place.name + ".lock")
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ParameterError(
            f"another process serves from the state beside {path}: end it, or take another name"
        ) from None
    return descriptor

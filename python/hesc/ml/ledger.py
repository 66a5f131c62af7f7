"""How many numbers a model that hides its weights has given, in a file that outlives the process.

A server counts in memory. Whoever starts it once for each query has to count on, or the weights
are found by linear algebra: `hesc eval --ledger` does. The count is of everybody's answers, for
answers may be put together.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hesc._native import ParameterError, WireError
from hesc.ml import documents
from hesc.new_files import new_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

_BYTES: Final = 1 << 12


class Ledger:
    """A count under a lock; `opened` gives it."""

    def __init__(self, descriptor: int, digest: str, given: int) -> None:
        self._descriptor = descriptor
        self._digest = digest
        self.given = given
        """Numbers given so far."""

    def spend(self, numbers: int, most: int) -> None:
        """Writes down that so many more are given, before they are.

        Args:
            numbers: that are about to be given.
            most: that may be given in all.

        Raises:
            ParameterError: they would be more than that; nothing is written.
            OSError: the disk is full.

        """
        if self.given + numbers > most:
            raise ParameterError(
                f"this model gives {most} numbers in all, {self.given} are given and {numbers} "
                f"more are asked for: no answer. More would give away what it hides"
            )
        self.given += numbers
        data = _written(self._digest, self.given)
        # Over the old count, which is never longer unless somebody edited it.
        os.pwrite(self._descriptor, data, 0)
        os.ftruncate(self._descriptor, len(data))
        os.fsync(self._descriptor)


@contextmanager
def opened(path: str | PathLike[str], digest: str) -> Iterator[Ledger]:
    """The count of a plan, for one process at a time; a new file begins at nothing, and says so.

    Args:
        path: of the file. Who deletes it, or takes an old copy, begins to count anew; a file that
            is there and empty is none.
        digest: of the plan that is counted for.

    Raises:
        WireError: damaged, or another plan's.
        OSError: it may not be read or written, or is a link.

    """
    file = Path(path)
    if not os.path.lexists(file):
        # Whole, or not at all: one that is cut off is never taken for a new one. Of several
        # processes one makes it.
        with suppress(FileExistsError), new_file(file) as part:
            part.touch(mode=0o600)
            part.write_bytes(_written(digest, 0))
    descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        fields = documents.read(os.read(descriptor, _BYTES), "ledger", {"plan", "given"})
        given = fields["given"]
        if fields["plan"] != digest:
            raise WireError(f"{os.fspath(path)!r} counts another plan's answers")
        if type(given) is not int or not 0 <= given < 1 << 62:
            raise WireError(f"{os.fspath(path)!r} holds no count; it is damaged")
        yield Ledger(descriptor, digest, given)
    finally:
        os.close(descriptor)


def _written(digest: str, given: int) -> bytes:
    return documents.write("ledger", {"plan": digest, "given": given})

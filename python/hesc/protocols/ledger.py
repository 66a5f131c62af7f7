"""How many numbers a model that hides its weights has given: in a process, and in a file.

Budgets follow weights: a model that is planned again, with other ranges or another error, goes on
where it was. The count is of everybody's answers, for answers may be put together. A count in
memory ends with its process: whoever starts a server once for each query has to count in a file, or
the weights are found by linear algebra. `hesc eval --ledger` does.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Final

from hesc._native import ParameterError, WireError
from hesc._support import documents
from hesc._support.new_files import new_file
from hesc._support.one_process import OneProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

_BYTES: Final = 1 << 12
_SALT: Final = 32


class Count(OneProcess):
    """How many numbers were given, in memory; threads of one process share it."""

    def __init__(self, given: int = 0) -> None:
        super().__init__(
            "a server with hidden weights",
            "Answer in one process, or by `hesc eval --ledger`, which counts in a file for all",
        )
        self.given = given
        """So far."""
        self._lock = Lock()

    def spend(self, numbers: int, most: int) -> None:
        """Counts that so many more are given, before they are.

        Args:
            numbers: that are about to be given.
            most: that may be given in all.

        Raises:
            ParameterError: they would be more than that, or as `check`; nothing is counted.
            OSError: the disk of a ledger is full.

        """
        # Before the lock, which another thread may have held when this process was forked.
        self.check()
        with self._lock:
            if self.given + numbers > most:
                raise ParameterError(
                    f"this model gives {most} numbers in all, under whichever plan; {self.given} "
                    f"are given and {numbers} more are asked for: no answer. More would give away "
                    f"what it hides; who only tries it, and shows nobody an answer, starts another "
                    f"process or another ledger"
                )
            self._keep(self.given + numbers)
            self.given += numbers

    def _keep(self, given: int) -> None:
        """Keeps the count; one in memory has nothing to keep."""


class Ledger(Count):
    """A count in a file that this process has locked; `opened` gives it."""

    def __init__(self, descriptor: int, model: str, salt: str, given: int) -> None:
        super().__init__(given)
        self._descriptor, self._model, self._salt = descriptor, model, salt

    def _keep(self, given: int) -> None:
        data = _written(self._model, self._salt, given)
        # Over the old count, which is never longer unless somebody edited it. What is written in
        # part (a limit of the process, a file system over a network) has the old count at its end.
        if os.pwrite(self._descriptor, data, 0) != len(data):
            raise OSError(errno.EIO, "a ledger was written in part; nothing more is given")
        os.ftruncate(self._descriptor, len(data))
        os.fsync(self._descriptor)


_HERE: Final[dict[bytes, Count]] = {}
_LOOKING: Final = Lock()


def of_process(model: bytes) -> Count:
    """The count of a model in this process, the same for all its servers.

    Args:
        model: the fingerprint of its weights.

    """
    with _LOOKING:
        return _HERE.setdefault(model, Count())


@contextmanager
def opened(path: str | PathLike[str], model: bytes) -> Iterator[Ledger]:
    """The count of a model, for one process at a time; a new file begins at nothing, and says so.

    Args:
        path: of the file. Who deletes it, or takes an old copy, begins to count anew; a file that
            is there and empty is none.
        model: the fingerprint of the weights that are counted for. The file has it salted and
            hashed by scrypt alone (RFC 7914): its reader can try weights, at some 50 milliseconds
            and 16 MiB a guess of all of them.

    Raises:
        WireError: damaged, or another model's.
        OSError: it may not be read or written, or is a link.

    """
    file = Path(path)
    if not os.path.lexists(file):
        salt = secrets.token_hex(_SALT)
        # Whole, or not at all: one that is cut off is never taken for a new one. Of several
        # processes one makes it.
        with suppress(FileExistsError), new_file(file) as part:
            part.touch(mode=0o600)
            part.write_bytes(_written(named(model, salt), salt, 0))
    descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        data = os.read(descriptor, _BYTES)
        fields = documents.read(data, "ledger of weights", {"model", "salt", "given"})
        given, salt = fields["given"], fields["salt"]
        if not isinstance(salt, str) or len(salt) != 2 * _SALT or not salt.isascii():
            raise WireError(f"{os.fspath(path)!r} has no salt; it is damaged")
        name = named(model, salt)
        if fields["model"] != name:
            raise WireError(
                f"{os.fspath(path)!r} counts another model's answers: each has a ledger of its "
                f"own, and keeps it when it is planned again"
            )
        if type(given) is not int or not 0 <= given < 1 << 62:
            raise WireError(f"{os.fspath(path)!r} holds no count; it is damaged")
        yield Ledger(descriptor, name, salt, given)
    finally:
        os.close(descriptor)


def named(model: bytes, salt: str) -> str:
    """What a file of counts knows a model by: slow, since weights may be few whole numbers.

    Args:
        model: the fingerprint of its weights.
        salt: 64 hexadecimal digits, drawn once for each file.

    """
    return hashlib.scrypt(model, salt=salt.encode(), n=1 << 14, r=8, p=1, dklen=32).hex()


def _written(model: str, salt: str, given: int) -> bytes:
    fields = {"model": model, "salt": salt, "given": given}
    return documents.write("ledger of weights", fields)

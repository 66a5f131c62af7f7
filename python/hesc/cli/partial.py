"""A table that is made piece by piece, and goes on where its making was ended, however that was.

Beside the table lies a folder, its name and `.partial`: what is written so far, how far that is,
and encrypted queries that were on their way. Its files are for their owner alone.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self, TextIO

from hesc._native import HescError
from hesc._support.new_files import check_new, for_owner, new_file, read_whole, replace_file
from hesc._support.strict_json import parsed

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_TABLE_FLAGS: Final = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_STATE: Final = "state.json"
_STATE_BYTES: Final = 1 << 16
_TABLE: Final = "table.csv"
_QUERY: Final = "query-"
_QUERY_BYTES: Final = 1 << 31
_COUNTS: Final = ("samples", "queries", "bytes_up", "bytes_down", "clipped", "clipped_samples")


class PartialTable:
    """A table and how far it is.

    Args:
        out: the table, when all of it is there.
        belongs: what it is made of; a folder of something else is refused.

    Raises:
        HescError: a folder of other rows, another plan or other wishes; one that another process
            writes, or that is damaged.
        OSError: it cannot be made.

    """

    def __init__(self, out: Path, belongs: dict[str, Any]) -> None:
        self._out, self._belongs = out, belongs
        self._folder = out.with_name(out.name + ".partial")
        self.counts = dict.fromkeys(_COUNTS, 0)
        """What is done: samples, queries, bytes, values that were clipped."""
        self.classes: dict[str, int] = {}
        """Samples of each class so far."""
        self._written = 0

    def __enter__(self) -> Self:
        check_new({"--out": self._out})
        with suppress(FileExistsError):
            self._folder.mkdir(mode=0o700)
        self._lock = os.open(self._folder, _FOLDER)
        try:
            self._check_folder()
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read()
            self.table = self._opened()
            """Where rows are written to."""
        except BlockingIOError:
            os.close(self._lock)
            raise HescError(f"another process writes {self._folder}: wait until it ends") from None
        except BaseException:
            os.close(self._lock)
            raise
        if not (self._folder / _STATE).exists():
            # Before a query is kept: without what it belongs to it is taken for another.
            for query in self._folder.glob(_QUERY + "*"):
                query.unlink()
            self.done(0)
        return self

    def _check_folder(self) -> None:
        """Refuses a folder that somebody else made, or may write: a table would go where he says.

        Raises:
            HescError: it is one.

        """
        found = os.fstat(self._lock)
        if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
            raise HescError(
                f"{self._folder} is another's, or others may read or write it: remove it, or give "
                f"another --out"
            )

    def _opened(self) -> TextIO:
        """The table, as far as the state says.

        Raises:
            HescError: it is shorter, or no file of its own.

        """
        descriptor = os.open(_TABLE, _TABLE_FLAGS, 0o600, dir_fd=self._lock)
        file = os.fdopen(descriptor, "a", newline="", encoding="utf-8")
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_size < self._written:
            file.close()
            raise HescError(
                f"{self._folder / _TABLE} is not what was written there: remove {self._folder} to "
                f"begin anew"
            )
        # What was written after the state was: its queries are asked again.
        os.ftruncate(descriptor, self._written)
        return file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.table.close()
        os.close(self._lock)

    def _read(self) -> None:
        state = self._folder / _STATE
        if not state.exists():
            return
        try:
            found: Any = parsed(read_whole(state, _STATE_BYTES, "a state"))
            same = found["belongs"] == self._belongs
            counts = {name: _count(found["counts"][name]) for name in _COUNTS}
            classes = {str(name): _count(each) for name, each in found["classes"].items()}
            written = _count(found["written"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise HescError(f"{state} is damaged: remove {self._folder} to begin anew") from error
        if not same:
            raise HescError(
                f"{self._folder} is of other rows, another plan or key, or other options: give the "
                f"same again to go on, or remove it to begin anew"
            )
        self.counts, self.classes, self._written = counts, classes, written

    def query(self, number: int) -> bytes | None:
        """A query that may have been sent before; None where there is none."""
        with suppress(FileNotFoundError):
            return read_whole(self._folder / f"{_QUERY}{number}", _QUERY_BYTES, "a query")
        return None

    def keep(self, number: int, query: bytes) -> None:
        """Keeps a query that is about to be sent."""
        replace_file(self._folder / f"{_QUERY}{number}", query)

    def done(self, first: int) -> None:
        """Everything that was written belongs to what `counts` says; queries from `first` go."""
        self.table.flush()
        os.fsync(self.table.fileno())
        self._written = self.table.tell()
        state = {
            "belongs": self._belongs,
            "counts": self.counts,
            "classes": self.classes,
            "written": self._written,
        }
        replace_file(self._folder / _STATE, json.dumps(state).encode())
        for number in range(first, self.counts["queries"]):
            (self._folder / f"{_QUERY}{number}").unlink(missing_ok=True)

    def finish(self) -> None:
        """Gives the table its name; what lay beside it goes.

        Raises:
            FileExistsError: something of that name is there.

        """
        self.table.flush()
        with (
            new_file(self._out) as part,
            open(part, "xb", opener=for_owner) as whole,
            (self._folder / _TABLE).open("rb") as table,
        ):
            shutil.copyfileobj(table, whole)
        shutil.rmtree(self._folder)


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value

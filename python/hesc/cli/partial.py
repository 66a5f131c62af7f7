"""A table of lines that is made piece by piece, and goes on where its making was ended.

What is written so far, how far that is, and encrypted queries that were on their way lie in a
`PartialFolder`.
"""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TextIO

from hesc._native import HescError
from hesc._support.new_files import for_owner, new_file, read_whole, replace_file
from hesc._support.partial_folder import PartialFolder

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

_TABLE_FLAGS: Final = os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_TABLE: Final = "table.csv"
_QUERY: Final = "query-"
_QUERY_BYTES: Final = 1 << 31
_COUNTS: Final = ("samples", "queries", "bytes_up", "bytes_down", "clipped", "clipped_samples")


class PartialTable(PartialFolder):
    """A table of lines and how far it is; arguments and errors are those of `PartialFolder`."""

    def __init__(self, out: Path, belongs: dict[str, Any]) -> None:
        super().__init__(out, belongs)
        self.counts = dict.fromkeys(_COUNTS, 0)
        """What is done: samples, queries, bytes, values that were clipped."""
        self.classes: dict[str, int] = {}
        """Samples of each class so far."""
        self._written = 0

    def begin(self, state: dict[str, Any] | None) -> None:
        """Takes up what is there: the table as far as the state says, and queries under way."""
        if state is not None:
            try:
                self.counts = {name: _count(state["counts"][name]) for name in _COUNTS}
                self.classes = {str(name): _count(each) for name, each in state["classes"].items()}
                self._written = _count(state["written"])
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise self.damaged() from error
        self.table = self._opened()
        """Where rows are written to."""
        if state is None:
            # Before a query is kept: without what it belongs to it is taken for another.
            for query in self.folder.glob(_QUERY + "*"):
                query.unlink()
            self.done(0)

    def _opened(self) -> TextIO:
        """The table, as far as the state says.

        Raises:
            HescError: it is shorter, or no file of its own.

        """
        descriptor = os.open(_TABLE, _TABLE_FLAGS, 0o600, dir_fd=self.lock)
        file = os.fdopen(descriptor, "a", newline="", encoding="utf-8")
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1 or found.st_size < self._written:
            file.close()
            raise HescError(
                f"{self.folder / _TABLE} is not what was written there: remove {self.folder} to "
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
        super().__exit__(kind, error, trace)

    def query(self, number: int) -> bytes | None:
        """A query that may have been sent before; None where there is none."""
        with suppress(FileNotFoundError):
            return read_whole(self.folder / f"{_QUERY}{number}", _QUERY_BYTES, "a query")
        return None

    def keep(self, number: int, query: bytes) -> None:
        """Keeps a query that is about to be sent."""
        replace_file(self.folder / f"{_QUERY}{number}", query)

    def done(self, first: int) -> None:
        """Everything that was written belongs to what `counts` says; queries from `first` go."""
        self.table.flush()
        os.fsync(self.table.fileno())
        self._written = self.table.tell()
        self.write_state({"counts": self.counts, "classes": self.classes, "written": self._written})
        for number in range(first, self.counts["queries"]):
            (self.folder / f"{_QUERY}{number}").unlink(missing_ok=True)

    def finish(self) -> None:
        """Gives the table its name; what lay beside it goes.

        Raises:
            FileExistsError: something of that name is there.

        """
        self.table.flush()
        with (
            new_file(self.out) as part,
            open(part, "xb", opener=for_owner) as whole,
            (self.folder / _TABLE).open("rb") as table,
        ):
            shutil.copyfileobj(table, whole)
        self.remove()


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value

"""How far a state had come when this machine saw it last: what finds that an old copy was restored.

The mark is in a small file of its own, which backups of the state leave out. It follows the state
by a quarter of a second, and is exact when the state is closed: no answer waits for it, and it is
never ahead of what is on the state's disk.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from hesc._native import ParameterError, WireError
from hesc._support.new_files import read_whole, replace_file

if TYPE_CHECKING:
    from pathlib import Path

_LOG: Final = logging.getLogger("hesc.serve")
_LINE: Final = re.compile(rb"hesc state ([0-9a-f]{32}) ([0-9]{19})\n")
_LAG: Final = 0.25
"""Seconds between two marks, at least."""
_REMEDY: Final = "`--accept-restored-state` (`accept_restored=True`) takes what is there knowingly"


class Mark(NamedTuple):
    """What was seen of a state."""

    identity: str
    serial: int
    """Answers that were settled ever."""


def identity_of(salt: str) -> str:
    """What tells a state from others: nothing that names of weights could be found by."""
    return hashlib.sha256(f"hesc state {salt}".encode()).hexdigest()[:32]


def gone(label: str) -> ParameterError:
    """The error of a state that was seen here and is no longer there."""
    return ParameterError(
        f"there is no state in {label}, from which answers were given before: restore the newest "
        f"copy of it. All budgets would begin anew; {_REMEDY}"
    )


class SeenFile:
    """A file with a mark, and a thread that moves it on.

    Args:
        path: where it lies.

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.works = True
        """Whether the last mark could be written."""
        self._mark = Mark("", 0)
        self._moved, self._ended = Event(), Event()
        self._thread = Thread(target=self._follow, name="hesc seen", daemon=True)

    def read(self) -> Mark | None:
        """The mark; None where there is no file.

        Raises:
            WireError: it holds something else.
            OSError: it may not be read.

        """
        try:
            data = read_whole(self.path, 100, "a mark of a state")
        except FileNotFoundError:
            return None
        found = _LINE.fullmatch(data)
        if found is None:
            raise WireError(
                f"{self.path} is no mark of a state, or damaged, so that an old copy would not be "
                f"found: {_REMEDY}, and writes it anew"
            )
        return Mark(found[1].decode(), int(found[2]))

    def check(self, label: str, now: Mark, counts: list[tuple[str, str, int]]) -> None:
        """Refuses a state that is another than was seen, or has fewer answers than it had.

        Args:
            label: what to call the state.
            now: what is there.
            counts: kinds and names of its budgets, and what was given on them.

        Raises:
            ParameterError: it is; WireError and OSError as `read`.

        """
        seen = self.read()
        if seen is None or (seen.identity == now.identity and now.serial >= seen.serial):
            return
        if seen.identity != now.identity:
            what = f"{label} is not the state from which answers were given before ({self.path})"
        else:
            what = (
                f"{label} is an old copy: it ends with answer {now.serial}, and {seen.serial} were "
                f"given when it was seen last ({self.path})"
            )
        budgets = "; ".join(f"{kind} {name[:64]}: {given}" for kind, name, given in counts[:8])
        more = f"; and {len(counts) - 8} more" if len(counts) > 8 else ""
        raise ParameterError(
            f"{what}. Restore the newest copy. Budgets would begin anew from what this one says "
            f"({budgets or 'nothing given'}{more}); {_REMEDY}"
        )

    def begin(self, mark: Mark) -> None:
        """Writes the first mark, and follows from there.

        Raises:
            OSError: it cannot be written.

        """
        self._mark = mark
        replace_file(self.path, self._line())
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        self._thread.start()

    def move(self, serial: int) -> None:
        """Says that the state has come so far, on its disk."""
        if serial > self._mark.serial:
            self._mark = self._mark._replace(serial=serial)
            self._moved.set()

    def close(self) -> None:
        """Ends when the last mark is written."""
        self._ended.set()
        self._moved.set()
        self._thread.join()

    def _follow(self) -> None:
        written = self._mark
        while not self._ended.is_set():
            self._moved.wait()
            self._moved.clear()
            if written != self._mark:
                written = self._tried(written)
            self._ended.wait(_LAG)
        if written != self._mark:
            self._tried(written)

    def _tried(self, before: Mark) -> Mark:
        """The mark that is on the disk after another one was written, or not."""
        mark = self._mark
        try:
            self._write()
        except OSError as error:
            self.works = False
            _LOG.error("%s cannot be written: %s", self.path.name, error.strerror)
            self._moved.set()
            return before
        self.works = True
        return mark

    def _write(self) -> None:
        """Writes the mark over the one before, of the same length and far below a disk's sector."""
        file = os.open(self.path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.pwrite(file, self._line(), 0)
            os.fdatasync(file)
        finally:
            os.close(file)

    def _line(self) -> bytes:
        return b"hesc state %s %019d\n" % (self._mark.identity.encode(), self._mark.serial)

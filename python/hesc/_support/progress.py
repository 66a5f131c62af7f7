"""How far long work is, a bar on the terminal or a function of the caller's; and times in words."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Timer
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

_SHORT: Final = 1.0


class Bar:
    """Shows a bar once the work has taken a second, where standard error is a terminal.

    Args:
        what: what is counted.
        progress: whether to show a bar, or what to call with the number done and all.

    """

    def __init__(self, what: str, progress: bool | Callable[[int, int], object]) -> None:
        self._what = what
        self._report = progress if callable(progress) else None
        self._shown = progress is True and sys.stderr.isatty()
        self._start = time.perf_counter()
        self._progress: Any = None
        self.done = 0
        """How much is done."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._start

    def show(self, done: int, total: int) -> None:
        """So much of all is done."""
        self.done = done
        if self._report is not None:
            self._report(done, total)
        elif self._shown and (self._progress is not None or self.seconds >= _SHORT):
            self._draw(done, total)

    def _draw(self, done: int, total: int) -> None:
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

            columns = (self._what, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._progress.add_task("", total=total)
            self._progress.start()
        self._progress.update(self._task, completed=done, total=total)


_SHOWN: ContextVar[Callable[[str], None] | None] = ContextVar("_SHOWN", default=None)
"""What says to who waits what is done now."""


def doing(what: str) -> None:
    """Says what is done now to who waits, if `waiting` shows anything."""
    show = _SHOWN.get()
    if show is not None:
        show(what)


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Shows what is waited for once it has taken a second, where standard error is a terminal.

    Inside of it `doing` says what is done now.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(what)
    token = _SHOWN.set(lambda now: status.update(f"{what}: {now}"))
    timer = Timer(_SHORT, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        _SHOWN.reset(token)
        timer.cancel()
        timer.join()
        status.stop()


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for unit, factor in (("h", 1 / 3600), ("min", 1 / 60), ("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"

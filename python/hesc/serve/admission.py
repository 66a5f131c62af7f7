"""Who is let in: requests under way are bounded for each holder and in all, and so is memory.

Requests in a second are bounded for each holder where its token says so, by this process alone.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from contextlib import contextmanager
from threading import Event, Lock
from typing import TYPE_CHECKING, Final

from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hesc.serve.tokens import Holder

_WEIGHT: Final = 0.1
_LONGEST: Final = 600


class Admission:
    """Places for requests with bodies, from before the first byte is read to the answer.

    Args:
        threads: requests that are computed at once.
        waiting: requests beside these, at most.

    """

    def __init__(self, threads: int, waiting: int) -> None:
        self._threads, self._places = threads, threads + waiting
        self._lock = Lock()
        self._under_way: Counter[str] = Counter()
        self._buckets: dict[str, tuple[float, float]] = {}
        self._usual = 0.0

    @property
    def taken(self) -> int:
        """Places that are taken."""
        with self._lock:
            return self._under_way.total()

    def count(self, holder: Holder) -> None:
        """Counts a request of a holder, whatever becomes of it.

        What it may do in a second is there at once, and comes again evenly.

        Raises:
            RefusedError: more than may be; it says when to come again.

        """
        rate = holder.per_second
        if rate is None:
            return
        now, most = time.monotonic(), max(1.0, rate)
        with self._lock:
            left, seen = self._buckets.get(holder.name, (most, now))
            left = min(most, left + rate * (now - seen))
            if left < 1:
                wait = math.ceil((1 - left) / rate)
                raise RefusedError("too-often", ("retry-after", str(min(wait, _LONGEST))))
            self._buckets[holder.name] = left - 1, now

    def enter(self, holder: Holder) -> None:
        """Takes a place, which `leave` gives back.

        Raises:
            RefusedError: there is none, for this holder or for anybody; it says when to come again.

        """
        with self._lock:
            if self._under_way[holder.name] >= holder.concurrent:
                raise RefusedError("too-many", self._again())
            if self._under_way.total() >= self._places:
                raise RefusedError("busy", self._again())
            self._under_way[holder.name] += 1

    def _again(self) -> tuple[str, str]:
        wait = math.ceil(self._usual * max(1, self._under_way.total()) / self._threads)
        return "retry-after", str(min(max(1, wait), _LONGEST))

    def leave(self, holder: Holder) -> None:
        """Gives a place back."""
        with self._lock:
            self._under_way[holder.name] -= 1
            if not self._under_way[holder.name]:
                del self._under_way[holder.name]

    def took(self, seconds: float) -> None:
        """Learns how long a computation takes."""
        with self._lock:
            self._usual += _WEIGHT * (seconds - self._usual)


class Turns:
    """One at a time of each name: the same query is not computed twice at once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running: dict[bytes, Event | None] = {}

    @contextmanager
    def turn(self, name: bytes) -> Iterator[None]:
        """Waits until nobody else has this name, and has it."""
        while not self.take(name):
            with self._lock:
                if name not in self._running:
                    continue
                # Made by the first who waits: most names have nobody.
                other = self._running[name] or Event()
                self._running[name] = other
            other.wait()
        try:
            yield
        finally:
            self.give_back(name)

    def take(self, name: bytes) -> bool:
        """Takes a name that nobody has; whether it was so."""
        with self._lock:
            return name not in self._running and self._running.setdefault(name, None) is None

    def give_back(self, name: bytes) -> None:
        """Gives a name back."""
        with self._lock:
            waited = self._running.pop(name)
        if waited is not None:
            waited.set()

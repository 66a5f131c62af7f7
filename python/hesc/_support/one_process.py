"""Counts that must not be doubled: what was given or shown, of no more than may be."""

from __future__ import annotations

import os

from hesc._native import ParameterError


class OneProcess:
    """The process that something was made in.

    Args:
        what: counts, as a sentence has it.
        instead: what who has several processes does.

    """

    def __init__(self, what: str, instead: str) -> None:
        self._what, self._instead = what, instead
        self._process = os.getpid()

    def check(self) -> None:
        """Refuses a process that was forked since, which has a copy of the count.

        Raises:
            ParameterError: with what does instead.

        """
        if os.getpid() != self._process:
            raise ParameterError(
                f"this process was forked after {self._what} was made, and would count by itself "
                f"what it gives: both would give more than was planned. {self._instead}"
            )

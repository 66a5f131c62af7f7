"""Counts that must not be doubled: what a server of a hidden model has given."""

from __future__ import annotations

import os

from hesc._native import ParameterError


class OneProcess:
    """The process that something was made in."""

    def __init__(self) -> None:
        self._process = os.getpid()

    def check(self) -> None:
        """Refuses a process that was forked since, which has a copy of the count.

        Raises:
            ParameterError: with what does instead.

        """
        if os.getpid() != self._process:
            raise ParameterError(
                "this process was forked after a server of hidden numbers was made, and would "
                "count what it gives by itself: both would give more than was planned. Answer in "
                "one process, or by `hesc eval --ledger`, which counts in a file for all"
            )

"""Measurements in a process of their own: the pool of threads is chosen once a process."""

from __future__ import annotations

import os
import subprocess
import sys
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class AnsweringProcess:
    """Runs a command that answers each line that it is sent with one.

    `environment` is added to that of this process.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own modules and programs
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def ask(self, line: str = "") -> str:
        """The answer to a line."""
        pipe_in, pipe_out = self._process.stdin, self._process.stdout
        if pipe_in is None or pipe_out is None:
            raise RuntimeError("the process was started with both pipes")
        pipe_in.write(f"{line}\n")
        pipe_in.flush()
        return pipe_out.readline()

    def close(self) -> None:
        """Ends the process."""
        self._process.communicate("", timeout=60)


class OtherProcess(AnsweringProcess):
    """Runs a module with so many threads, which answers each line that it is sent with one.

    `environment` is added to that of this process.
    """

    def __init__(
        self,
        module: str,
        *arguments: str,
        threads: int,
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(
            [sys.executable, "-m", module, *arguments],
            {"RAYON_NUM_THREADS": str(threads), **environment},
        )

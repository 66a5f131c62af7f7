"""Callables over tables that fail as processes do, for tests of the engine."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


class DiesOnce:
    """Ends its process by SIGKILL on one row, the first time that it comes.

    Args:
        mark: a file that is made before; where it is there, nothing happens.
        row: the value of the column `id`.

    """

    def __init__(self, mark: str, row: int) -> None:
        self._mark, self._row = Path(mark), row

    def __call__(self, table: Any) -> Any:
        if self._row in table.column("id").to_pylist() and not self._mark.exists():
            self._mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return table


class DiesAlways:
    """Ends its process by SIGKILL where a worker is made."""

    def __init__(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def __call__(self, table: Any) -> Any:
        return table


class Slow:
    """Takes its time, and says that it began.

    Args:
        folder: gets a file for each table, with this process's number.
        seconds: for each table.

    """

    def __init__(self, folder: str, seconds: float) -> None:
        self._folder, self._seconds = Path(folder), seconds

    def __call__(self, table: Any) -> Any:
        first = table.column("id")[0].as_py()
        (self._folder / f"{first}-{os.getpid()}").touch()
        time.sleep(self._seconds)
        return table


class Fails(DiesAlways):
    """Cannot be made."""

    def __init__(self) -> None:
        raise FileNotFoundError(2, "there is no such model", "model")

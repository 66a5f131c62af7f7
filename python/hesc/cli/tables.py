"""Tables of numbers as files, read a few rows at a time."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Final

import numpy as np

from hesc._native import HescError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

# A line that is longer is none.
_LONGEST_LINE: Final = 1 << 20
_EMPTY: Final = "it is empty: remove it, or fill in the row that is missing"


def read_rows(file: IO[bytes], rows: int) -> Iterator[NDArray[np.float64]]:
    """Arrays (up to `rows`, columns) of a CSV file without header, opened in binary.

    What follows a `#` is left out, and so are lines of nothing else. Empty lines may come before
    the first row and, of several columns, after the last: anywhere else one may be a row that is
    missing. Memory: what the rows take, however long the file is.

    Raises:
        HescError: a line that holds no numbers, or others than the first; no line at all.

    """
    batch: list[list[float]] = []
    columns = number = empty = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise _problem(file, number, "it is longer than any row")
        if not line.strip():
            empty = empty or number
            continue
        numbers = _numbers(file, number, line)
        if not numbers:
            continue
        if empty and columns:
            raise _problem(file, empty, _EMPTY)
        columns, empty = columns or len(numbers), 0
        if len(numbers) != columns:
            raise _problem(file, number, f"it holds {len(numbers)} numbers, the first {columns}")
        batch.append(numbers)
        if len(batch) == rows:
            yield np.array(batch)
            batch = []
    if empty and columns == 1:
        raise _problem(file, empty, _EMPTY)
    if batch:
        yield np.array(batch)
    if not columns:
        raise HescError(f"{file.name} is no table of numbers: it is empty")


def _numbers(file: IO[bytes], number: int, line: bytes) -> list[float]:
    try:
        # Spreadsheets put a mark before the first line.
        text = line.decode("utf-8-sig" if number == 1 else "utf-8").partition("#")[0]
    except UnicodeDecodeError as error:
        raise _problem(file, number, "it is no text in UTF-8") from error
    if not text.strip():
        return []
    numbers = []
    for cell in text.split(","):
        try:
            numbers.append(float(cell.replace("_", "?")))
        except ValueError as error:
            raise _problem(file, number, f"{cell.strip()[:40]!r} is no number") from error
    return numbers


def _problem(file: IO[bytes], number: int, problem: str) -> HescError:
    return HescError(f"{file.name} is no table of numbers: line {number}: {problem}")

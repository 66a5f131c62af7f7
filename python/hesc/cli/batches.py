"""Samples from tables and predictions into tables, a few rows at a time."""

from __future__ import annotations

import csv
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, TextIO

import typer

from hesc.batch.result_tables import result_columns
from hesc.cli.csv_files import Column, CsvFile, NamedColumns
from hesc.cli.parquet_files import ParquetFile
from hesc.models import transforms

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

CELLS: Final = 1 << 20
"""Features read at a time."""

Clip = Annotated[bool, typer.Option("--clip", help="Bring values beyond their ranges to the ends.")]
IgnoreExtra = Annotated[
    bool, typer.Option("--ignore-extra", help="Leave out columns that the plan does not know.")
]


def of_clipped(values: int, samples: int, what: str = "samples") -> list[str]:
    """A line about values that were clipped, for who has to know; none where there are none."""
    told = f"{values} values in {samples} {what} were brought within their ranges"
    return [told] if values else []


def opened(file: IO[bytes]) -> NamedColumns:
    """A table, of Parquet where the file's name ends so, else of CSV.

    Raises:
        HescError: as `CsvFile` and `ParquetFile`.

    """
    return ParquetFile(file) if str(file.name).endswith(".parquet") else CsvFile(file)


def batches(
    file: IO[bytes], plan: Any, *, ignore_extra: bool
) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    """Samples of a table by the plan's names, as many at a time as a query has, and their place.

    Raises:
        HescError: as `opened`.

    """
    size = max(1, min(plan.rows, CELLS // plan.inputs))
    table = opened(file)
    first = 0
    places = table.chosen(plan.names, plan.inputs, ignore_extra=ignore_extra)
    columns: list[Column] = []
    if transforms.read_tables(plan.steps):
        kinds = transforms.compiled(plan.steps, plan.inputs).kinds
        columns = list(map(Column, kinds, transforms.known_words(plan.steps, plan.inputs)))
    for batch in table.batches(places, size, columns):
        yield first, batch
        first += len(batch)


def write_rows(
    table: TextIO, plan: Any, found: Any, probabilities: Any | None, *, header: bool
) -> None:
    """A line for each sample: prediction, scores, their error, probabilities."""
    columns = result_columns(plan, found, probabilities)
    writer = csv.writer(table, lineterminator="\n")
    if header:
        writer.writerow([column.name for column in columns])
    writer.writerows(zip(*(column.values.tolist() for column in columns), strict=True))


def write_best(table: TextIO, near: Any, first: int, *, least: bool) -> None:
    """A line for each of the best records of each query: query, rank, record, score.

    Args:
        table: where to.
        near: places and scores, a row for each query.
        first: the number of the first query.
        least: whether scores are distances.

    """
    writer = csv.writer(table, lineterminator="\n")
    if not first:
        writer.writerow(["query", "rank", "record", "distance" if least else "score"])
    for query, (places, scores) in enumerate(zip(*near, strict=True), first):
        for rank, (place, score) in enumerate(
            zip(places.tolist(), scores.tolist(), strict=True), 1
        ):
            writer.writerow([query, rank, place, score])

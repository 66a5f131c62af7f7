"""`koseki2022hesc` figure 3: maximum errors of all-one polynomials by the two sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc.papers.polynomial_errors import STREAM_LENGTH, plot_sums, sum_ratios, sum_study
from hesc.papers.report import Options, Report

if TYPE_CHECKING:
    from pathlib import Path

IDENTIFIER: Final = "koseki2022hesc:figure-3"
TITLE: Final = "Maximum errors of polynomials to degree 10 against averages"
COLUMN: Final = "maximum error"


def reproduce(options: Options) -> Report:
    """All curves, degrees and numbers of averages; ratios are means over the degrees."""
    rows = sum_study(options)
    return Report(
        IDENTIFIER,
        TITLE,
        "value",
        rows,
        ratios=sum_ratios(rows, COLUMN),
        parameters={"stream_length": STREAM_LENGTH, "scheme": "simulated"},
        repetitions=max(row["averages"] for row in rows),
        notes=[
            "the paper shows this figure as a plot only; averages cut the largest error as they "
            "cut the mean one, see koseki2022hesc:figure-2",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Against the degree, a panel for each of three numbers of averages."""
    plot_sums(report, COLUMN, path)

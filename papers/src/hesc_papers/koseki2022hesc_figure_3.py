"""`koseki2022hesc` figure 3: maximum errors of all-one polynomials by the two sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc_papers.polynomial_errors import plot_sums, sum_study

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc_papers.report import Report

IDENTIFIER: Final = "koseki2022hesc:figure-3"
TITLE: Final = "Maximum errors of polynomials to degree 10 against averages"
COLUMN: Final = "maximum error"
NOTES: Final = [
    "the paper shows this figure as a plot only; averages cut the largest error as they "
    "cut the mean one, see koseki2022hesc:figure-2",
]


def reproduce(options: Options) -> Report:
    """All curves, degrees and numbers of averages."""
    return sum_study(IDENTIFIER, TITLE, COLUMN, NOTES, options)


def plot(report: Report, path: Path) -> None:
    """Against the degree, a panel for each of three numbers of averages."""
    plot_sums(report, COLUMN, path)

"""`koseki2022hesc` figure 2: mean errors of all-one polynomials by the two sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc.papers.polynomial_errors import STREAM_LENGTH, plot_sums, sum_ratios, sum_study
from hesc.papers.report import Options, Report

if TYPE_CHECKING:
    from pathlib import Path

IDENTIFIER: Final = "koseki2022hesc:figure-2"
TITLE: Final = "Mean errors of polynomials to degree 10 against averages"
COLUMN: Final = "mean error"


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
            "the paper says: averaging 10 cuts the mean error by about 70 % (1 - 1/sqrt(10) = 68 % "
            "for independent runs), concatenation is 58.7 % below multiplexing at 10 averages, "
            "its error grows slower with the degree",
            "multiplexing has the variance (W^2 - f^2) / L, W = n + 1; concatenation about the sum "
            "of (1 - m^2) / L over monomials m, more for positive x, whose monomials are "
            "correlated: the advantage grows with the degree",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Against the degree, a panel for each of three numbers of averages."""
    plot_sums(report, COLUMN, path)

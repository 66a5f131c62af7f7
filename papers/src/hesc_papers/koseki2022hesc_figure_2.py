"""`koseki2022hesc` figure 2: mean errors of all-one polynomials by the two sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc_papers.polynomial_errors import plot_sums, sum_study

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc_papers.report import Report

IDENTIFIER: Final = "koseki2022hesc:figure-2"
TITLE: Final = "Mean errors of polynomials to degree 10 against averages"
COLUMN: Final = "mean error"
NOTES: Final = [
    "the paper says: averaging 10 cuts the mean error by about 70 % (1 - 1/sqrt(10) = 68 % "
    "for independent runs), concatenation is 58.7 % below multiplexing at 10 averages, "
    "its error grows slower with the degree",
    "multiplexing has the variance (W^2 - f^2) / L, W = n + 1; concatenation about the sum "
    "of (1 - m^2) / L over monomials m, more for positive x, whose monomials are "
    "correlated: the advantage grows with the degree",
]


def reproduce(options: Options) -> Report:
    """All curves, degrees and numbers of averages."""
    return sum_study(IDENTIFIER, TITLE, COLUMN, NOTES, options)


def plot(report: Report, path: Path) -> None:
    """Against the degree, a panel for each of three numbers of averages."""
    plot_sums(report, COLUMN, path)

"""`koseki2022hesc` figure 1: outlines of x^2 + x + 1 by the two sums, in the clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc_papers.polynomial_errors import (
    CURVES,
    STREAM_LENGTH,
    X,
    all_one,
    outline,
    outline_rows,
    values,
)
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "koseki2022hesc:figure-1"
TITLE: Final = "Outlines of x^2 + x + 1 by conventional and concatenated sums"
DEGREE: Final = 2


def reproduce(options: Options) -> Report:
    """One evaluation of each curve at 201 points, without averages."""
    names = options.track(CURVES, "simulating")
    curves = {name: values(CURVES[name], DEGREE, seed=1) for name in names}
    return Report(
        IDENTIFIER,
        TITLE,
        "value",
        outline_rows(curves, DEGREE),
        series={
            "x": X.tolist(),
            "exact": all_one(DEGREE)(X).tolist(),
            **{name: points.tolist() for name, points in curves.items()},
        },
        parameters={"stream_length": STREAM_LENGTH, "scheme": "simulated"},
        notes=["the paper shows this figure as a plot only"],
    )


def plot(report: Report, path: Path) -> None:
    """A panel for each curve."""
    outline(path, report, list(CURVES))

"""`koseki2022hesc` figure 8: total times of all-one polynomials of degree 2 to 10."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc_papers.polynomial_times import STREAM_LENGTH, measure
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "koseki2022hesc:figure-8"
TITLE: Final = "Total time of polynomials against the degree"

# Stated in the text; the figure itself has no numbers.
PAPER: Final = {"BFV": 162.1, "CKKS": 60.9, "HESC w/ CKKS": 6.5}
HIDDEN: Final = ("SEAL: CKKS, paper's set",)


def reproduce(options: Options) -> Report:
    """Measures every degree."""
    rows = measure((2, 6, 10) if options.quick else range(2, 11), options, "figure 8")
    rows += [
        {"candidate": f"paper: {name}", "degree": 10, "Total": total}
        for name, total in PAPER.items()
    ]
    return Report(
        IDENTIFIER,
        TITLE,
        "ms",
        rows,
        parameters={"stream_length": STREAM_LENGTH, "threads": 1},
        repetitions=3 if options.quick else 15,
        notes=[
            "stages and errors of three of the degrees: koseki2022hesc:table-3",
            "the steps of the tuned CKKS curve are rings and levels: N = 2048 to degree 3, N = "
            "4096 from 4 on, with key switching from 5 on and one prime more from 9 on",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Total times on a logarithmic axis."""
    from hesc_papers.plots import figure

    names = list(dict.fromkeys(row["candidate"] for row in report.rows))
    with figure(path, (9, 6)) as axes:
        for name in names:
            if name in HIDDEN:
                continue
            points = [row for row in report.rows if row["candidate"] == name]
            x, y = ([row[key] for row in points] for key in ("degree", "Total"))
            if name.startswith("paper"):
                axes.plot(x, y, marker="*", linestyle="", markersize=12, label=name)
            else:
                style = {"hesc": "-", "SEAL": "--"}[name[:4]]
                axes.plot(x, y, style, marker="o", markersize=4, label=name)
        axes.set_yscale("log")
        axes.set_xlabel("degree n of the all-one polynomial")
        axes.set_ylabel("milliseconds in total, one number")
        axes.set_title(report.title)
        axes.grid(alpha=0.3, which="both")
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))

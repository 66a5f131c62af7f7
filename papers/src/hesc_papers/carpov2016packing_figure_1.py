"""`carpov2016packing` figure 1: time to invert the matrix of unpacking, by its size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hesc._native import GaloisRing
from hesc_papers import vandermonde_times
from hesc_papers.report import Report
from hesc_papers.vandermonde_times import DUAL_BASIS, Inversions, invert

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "carpov2016packing:figure-1"
TITLE: Final = "Time to invert the Vandermonde matrix in GF(1033^(n-1))"

PRIME: Final = 1033
# The cyclotomic polynomials of all are irreducible modulo 1033.
INDICES: Final = (29, 53, 89, 149, 197, 281, 331, 379, 401)
INDICES_QUICK: Final = (29, 53)
# Of which the other ratios are.
QUOTED: Final = 149


def reproduce(options: Options) -> Report:
    """Measures what ends in a minute, computes the rest from the time of a product."""
    indices = INDICES_QUICK if options.quick else INDICES
    found: dict[int, Inversions] = {}
    for index in options.track(indices, "figure 1"):
        found[index] = invert(GaloisRing(index, PRIME, 1), quick=options.quick)
    rows: list[dict[str, Any]] = [
        {"n": index, "size": index - 1, **times.row()} for index, times in found.items()
    ]
    quoted = min(QUOTED, max(indices))
    others = [method for method in vandermonde_times.METHODS[1:] if method != DUAL_BASIS]
    return Report(
        IDENTIFIER,
        TITLE,
        "processor seconds",
        rows,
        ratios={
            **{f"inverse.{index}": times.ratio(DUAL_BASIS) for index, times in found.items()},
            **{f"inverse_{method}.{quoted}": found[quoted].ratio(method) for method in others},
            f"computed.{quoted}": found[quoted].computed
            / found[quoted].seconds[vandermonde_times.ELIMINATION],
        },
        notes=[
            "inverse.n is the time of Gaussian elimination over that of the dual basis; "
            f"inverse_division.{quoted} and inverse_first_column.{quoted} over those of the "
            "general algorithm for Vandermonde matrices and of the paper's own. All on the same "
            "arithmetic",
            "the paper, with elimination by NTL in HElib: its own is up to 240 times faster. Its "
            "plot is missing from the text that we have, so that no times are read off",
            "from: where elimination was not measured, it is the count of its products times the "
            f"time of one within a sum; computed.{quoted} is that over what was measured",
            "on one thread, the whole inverse of size^3 coefficients each time, medians of up to "
            "15 runs within a second; elimination sums products before it reduces them",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Seconds against the size of the matrix."""
    from hesc_papers.plots import figure

    with figure(path, (9, 5.5)) as axes:
        vandermonde_times.draw(axes, [row["size"] for row in report.rows], report.rows, "-")
        axes.set_xscale("log")
        axes.set_xticks([row["size"] for row in report.rows])
        axes.set_xticklabels([str(row["size"]) for row in report.rows], rotation=60)
        axes.minorticks_off()
        axes.set_xlabel("size of the matrix, and degree of the field")
        axes.set_title(report.title)

"""`carpov2016packing` figure 2: time to invert the matrix of unpacking, by coefficients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from hesc._native import GaloisRing
from hesc_papers import vandermonde_times
from hesc_papers.report import Report
from hesc_papers.vandermonde_times import DUAL_BASIS, METHODS, Inversions, invert

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "carpov2016packing:figure-2"
TITLE: Final = "Time to invert the Vandermonde matrix of size 88"

INDEX: Final = 89
# The largest primes of 8, 16, ... bits that the 89th cyclotomic polynomial is irreducible modulo:
# the paper does not say which ones it has.
PRIMES: Final = (2**8 - 15, 2**16 - 17, 2**24 - 17, 2**32 - 17, 2**40 - 87, 2**48 - 59)
POWERS: Final = (5, 10, 15, 20, 25, 30)
FIELD, RING = "GF", "GR"


def reproduce(options: Options) -> Report:
    """Measures fields of growing primes and rings of growing powers of 3."""
    primes, powers = (PRIMES[::3], POWERS[::3]) if options.quick else (PRIMES, POWERS)
    cases = [(FIELD, prime, 1) for prime in primes] + [(RING, 3, power) for power in powers]
    rows: list[dict[str, Any]] = []
    found: dict[tuple[str, int], Inversions] = {}
    for kind, prime, power in options.track(cases, "figure 2"):
        ring = GaloisRing(INDEX, prime, power)
        times = invert(ring, quick=options.quick)
        bits = math.log2(ring.modulus)
        found[kind, round(bits)] = times
        name = f"{kind}(3^{power}, {ring.degree})" if kind == RING else f"{kind}({prime}^88)"
        rows.append({"ring": name, "bits": bits, **times.row()})
    return Report(
        IDENTIFIER,
        TITLE,
        "processor seconds",
        rows,
        ratios={
            **{
                f"inverse.{kind.lower()}_{bits}bit": times.ratio(DUAL_BASIS)
                for (kind, bits), times in found.items()
            },
            **{
                f"inverse_{method}.least": min(times.ratio(method) for times in found.values())
                for method in METHODS[1:]
            },
        },
        notes=[
            "inverse.*bit are times of Gaussian elimination over those of the dual basis; "
            "inverse_division, inverse_first_column and inverse_dual_basis the least of all rings",
            "the paper, with elimination by NTL in HElib: its own is at least 40 times faster, and "
            "rings are faster than fields of the same size, for which it suspects NTL. Its plot is "
            "missing from the text that we have, so that no times are read off",
            "rings and fields have the same arithmetic here: sums of 64 bits for coefficients of "
            "26 bits at most, of 128 beyond. HElib eliminates modulo 3 and lifts the inverse by "
            "products of matrices; ours eliminates in the ring itself, with fewer products",
            "from: where elimination was not measured, it is the count of its products times the "
            "time of one within a sum",
            "the paper does not name its primes: these are the largest of 8, 16, ... bits with an "
            "irreducible polynomial. On one thread, medians of up to 15 runs within a second",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Seconds against bits of a coefficient."""
    from hesc_papers.plots import figure

    with figure(path, (11, 5.5)) as axes:
        for kind, line, suffix in ((FIELD, "-", ", fields"), (RING, "--", ", rings")):
            rows = [row for row in report.rows if row["ring"].startswith(kind)]
            vandermonde_times.draw(axes, [row["bits"] for row in rows], rows, line, suffix)
        axes.set_xlabel("bits of a coefficient")
        axes.set_title(report.title)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5))

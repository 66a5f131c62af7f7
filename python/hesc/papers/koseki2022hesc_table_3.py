"""`koseki2022hesc` table 3: the time of polynomials of one encrypted number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hesc.papers.polynomial_times import (
    BFV_PAPER,
    CKKS_PAPER,
    SHORT_LENGTH,
    STAGES,
    STREAM_LENGTH,
    evaluation_over_memory,
    measure,
    total,
)
from hesc.papers.report import Options, Report
from hesc.params import Params

if TYPE_CHECKING:
    from pathlib import Path

IDENTIFIER: Final = "koseki2022hesc:table-3"
TITLE: Final = "Time of polynomials of one encrypted number"

DEGREES: Final = {"f": 2, "g": 3, "degree_10": 10}
PAPER: Final = {
    ("BFV", 2): (None, 3.743, 17.694, 1.648, None, 23.085),
    ("CKKS", 2): (None, 4.396, 3.136, 0.532, None, 8.063),
    ("HESC w/ BFV", 2): (0.263, 1.237, 0.009, 0.540, 0.103, 2.151),
    ("HESC w/ CKKS", 2): (0.445, 1.207, 0.008, 0.419, 0.216, 2.297),
    ("BFV", 3): (None, 4.665, 48.687, 1.930, None, 55.282),
    ("CKKS", 3): (None, 5.584, 10.554, 0.563, None, 16.701),
    ("HESC w/ BFV", 3): (0.321, 1.54, 0.016, 0.661, 0.123, 2.660),
    ("HESC w/ CKKS", 3): (0.581, 1.583, 0.014, 0.551, 0.263, 2.990),
    ("BFV", 10): (None, None, None, None, None, 162.1),
    ("CKKS", 10): (None, None, None, None, None, 60.9),
    ("HESC w/ CKKS", 10): (None, None, None, None, None, 6.5),
}


def reproduce(options: Options) -> Report:
    """Measures f, g and the all-one polynomial of degree 10."""
    rows = measure(list(DEGREES.values()), options, "table 3")
    ratios: dict[str, float] = {}
    if options.peer == "seal":
        for name, degree in DEGREES.items():
            ratios |= _ratios(rows, name, degree)
        tuned = total(rows, "SEAL: CKKS, tuned", 10)
        ratios["degree_10.vs_tuned_ckks"] = tuned / total(rows, "hesc: HESC w/ BFV", 10)
        ratios["degree_10.vs_tuned_ckks_joint"] = tuned / total(rows, _JOINT, 10)
    ratios["f.evaluate_vs_memory"] = evaluation_over_memory(options.quick)
    rows += [
        {
            "contender": f"paper: {name}",
            "degree": degree,
            **dict(zip((*STAGES, "Total"), row, strict=True)),
        }
        for (name, degree), row in PAPER.items()
    ]
    return Report(
        IDENTIFIER,
        TITLE,
        "ms",
        rows,
        ratios=ratios,
        parameters={
            "stream_length": STREAM_LENGTH,
            "joint_stream_length": SHORT_LENGTH,
            "sets": {name: repr(Params.preset(name)) for name in (BFV_PAPER, CKKS_PAPER)},
            "threads": 1,
        },
        repetitions=3 if options.quick else 15,
        notes=[
            "ratios are SEAL's total over hesc's for the same algorithm, the lesser of BFV and "
            "CKKS: `f.total` at the paper's parameters (constant encrypted too), `f.total_ours` at "
            "hesc's (N = 1024, constant public), `f.total_joint` for BFV against jointly encoded "
            f"streams of {SHORT_LENGTH} bits, whose error is far less: see RMSE",
            "`f.evaluate_vs_memory` is the time to evaluate f for 201 values at once over that of "
            "adding arrays of as many bytes with numpy",
            "CKKS evaluates one number in each slot, 2048 or 4096 at the price of one, with an "
            "error of 1e-4 and less: for many numbers at once it is the better choice; hesc wins "
            "for one number, in time and in bytes",
            "BFV computes with integers: degree 10 leaves one level for x, so that its result is "
            "wrong for all x but -1, 0 and 1; the paper does not say how it encoded x",
            "the paper's own figures are from another machine; degree 10 is from its text",
        ],
    )


_JOINT: Final = f"hesc: joint, L={SHORT_LENGTH}"


def _ratios(rows: list[dict[str, Any]], name: str, degree: int) -> dict[str, float]:
    """SEAL over hesc, the same algorithm."""
    seal = {s: total(rows, f"SEAL: HESC w/ {s}", degree) for s in ("BFV", "CKKS")}
    paper = {s: total(rows, f"hesc: HESC w/ {s}, paper's set", degree) for s in seal}
    ours = {s: total(rows, f"hesc: HESC w/ {s}", degree) for s in seal}
    return {
        f"{name}.total": min(seal[s] / paper[s] for s in seal),
        f"{name}.total_ours": min(seal[s] / ours[s] for s in seal),
        f"{name}.total_joint": seal["BFV"] / total(rows, _JOINT, degree),
    }


def plot(report: Report, path: Path) -> None:
    """Totals of degree 10 on a logarithmic axis."""
    from dataclasses import replace

    from hesc.papers.plots import stage_bars

    rows = [row for row in report.rows if row["degree"] == DEGREES["degree_10"]]
    title = f"{report.title}: all-one polynomial of degree 10"
    stage_bars(replace(report, rows=rows, title=title), STAGES, path)

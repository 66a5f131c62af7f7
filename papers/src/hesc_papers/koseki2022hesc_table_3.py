"""`koseki2022hesc` table 3: the time of polynomials of one encrypted number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hesc.params import Params
from hesc_papers.polynomial_times import (
    COEFFICIENTS,
    JOINT,
    PAPER_SETS,
    SHORT_LENGTH,
    SLOTS,
    STAGES,
    STREAM_LENGTH,
    evaluation_over_memory,
    measure,
    paper_set,
    total,
)
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

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
    if "seal" in options.peers:
        for name, degree in DEGREES.items():
            ratios |= _ratios(rows, name, degree)
    ratios["f.evaluate_vs_memory"] = evaluation_over_memory(options.quick)
    rows += [
        {
            "candidate": f"paper: {name}",
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
            "sets": {
                f"{name}, {packing}": repr(params)
                for name in PAPER_SETS.values()
                for packing, params in (
                    (SLOTS, Params.preset(name)),
                    (COEFFICIENTS, paper_set(name)),
                )
            },
            "threads": 1,
        },
        repetitions=3 if options.quick else 15,
        notes=[
            "ratios are SEAL's total over hesc's. `f.total`: the paper's parameters, the constant "
            "encrypted, the same packing on both sides; the least of BFV in slots, BFV in "
            "coefficients and CKKS in slots (SEAL's CKKS has no coefficients). `f.total_ours`: "
            "the fastest of SEAL's rows with streams of 2048 bits over hesc's BFV at N = 1024. "
            "`f.total_joint`: jointly encoded streams at N = 1024 on both sides",
            "`f.vs_tuned_ckks`: the fastest program for SEAL's CKKS that we know with errors below "
            "those of 2048 bits, over hesc's BFV at N = 1024; `f.vs_tuned_ckks_joint`: the same "
            "over joint streams. It takes as few products as there are, leaves the last ones as "
            "they are, and reads the mean of all slots, which hold one number",
            "streams come from hesc's encoders on both sides; both encrypt with the public key",
            "`f.evaluate_vs_memory` is the time to evaluate f for 201 values at once over that of "
            "adding arrays of as many bytes with numpy",
            "CKKS evaluates one number in each slot, thousands at the price of one: for many "
            "numbers at once it is the better choice, at a larger scale (row `paper's set`). "
            "`hesc: CKKS` is the library's general method at its recommended set, not tuned here",
            "BFV computes with integers: degree 10 leaves one level for x, so that its result is "
            "wrong for all x but -1, 0 and 1; the paper does not say how it encoded x",
            "the paper's own figures are from another machine; degree 10 is from its text",
        ],
    )


def _ratios(rows: list[dict[str, Any]], name: str, degree: int) -> dict[str, float]:
    """SEAL over hesc, the same algorithm; and CKKS over hesc's streams."""

    def of(candidate: str) -> float:
        return total(rows, candidate, degree)

    pairs = [
        f"HESC w/ {way}" for way in (f"BFV, {SLOTS}", f"BFV, {COEFFICIENTS}", f"CKKS, {SLOTS}")
    ]
    ours, joint = of("hesc: HESC w/ BFV"), of(f"hesc: {JOINT}")
    tuned = of("SEAL: CKKS, tuned")
    return {
        f"{name}.total": min(of(f"SEAL: {way}") / of(f"hesc: {way}") for way in pairs),
        f"{name}.total_ours": min(of(f"SEAL: {way}") for way in (*pairs, "HESC w/ BFV")) / ours,
        f"{name}.total_joint": of(f"SEAL: {JOINT}") / joint,
        f"{name}.vs_tuned_ckks": tuned / ours,
        f"{name}.vs_tuned_ckks_joint": tuned / joint,
    }


def plot(report: Report, path: Path) -> None:
    """Totals of degree 10 on a logarithmic axis."""
    from dataclasses import replace

    from hesc_papers.plots import stage_bars

    rows = [row for row in report.rows if row["degree"] == DEGREES["degree_10"]]
    title = f"{report.title}: all-one polynomial of degree 10"
    stage_bars(replace(report, rows=rows, title=title), STAGES, path)

"""Figures 5 and 6: outlines of a polynomial through real encryption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc_papers.polynomial_errors import (
    STREAM_LENGTH,
    Curve,
    X,
    all_one,
    outline,
    outline_rows,
    values,
)
from hesc_papers.polynomial_times import BFV_PAPER, CKKS_PAPER
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from hesc._support.studies import Options

# The paper's panels, then ours.
ENCRYPTED: Final = {
    "HESC w/ BFV": (BFV_PAPER, Curve("bernoulli")),
    "HESC w/ CKKS": (CKKS_PAPER, Curve("bernoulli")),
    "joint, BFV N=1024": ("bfv_1024", Curve("joint")),
}
PEER: Final = "CKKS (SEAL)"


def exact_ckks(degree: int) -> NDArray[np.float64]:
    """All points by products of CKKS ciphertexts, a point in each slot; the paper's modulus."""
    from hesc_papers.seal_peer.polynomial import LeveledPolynomial, papers_chain

    return LeveledPolynomial(degree, papers_chain(degree)).values(X)


def study(identifier: str, title: str, degree: int, options: Options) -> Report:
    """One evaluation of each at 201 points, without averages."""
    curves = {
        name: values(curve, degree, seed=1, preset=preset)
        for name, (preset, curve) in options.track(ENCRYPTED.items(), "encrypting")
    }
    if "seal" in options.peers:
        curves[PEER] = exact_ckks(degree)
    return Report(
        identifier,
        title,
        "value",
        outline_rows(curves, degree),
        series={
            "x": X.tolist(),
            "exact": all_one(degree)(X).tolist(),
            **{name: points.tolist() for name, points in curves.items()},
        },
        parameters={
            "stream_length": STREAM_LENGTH,
            "presets": {name: preset for name, (preset, _) in ENCRYPTED.items()},
        },
        notes=[
            "the paper shows this figure as a plot only",
            "both schemes decrypt the same streams: their errors are those of the streams",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """A panel for each."""
    outline(path, report, [row["curve"] for row in report.rows])

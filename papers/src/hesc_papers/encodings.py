"""`hesc:encodings`: what wins where bit streams do not, a part for each encoding."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:encodings"
TITLE: Final = "Encodings beside bit streams: scores, distances, products, pads"

PEERS: Final = ("seal", "tenseal")

# Modules with a function `measured` that gives a `Part`.
PARTS: Final = (
    "encodings_ring_products",
    "encodings_galleries",
    "encodings_logarithms",
    "encodings_pads",
)
# What is asked of a ratio: at most, or at least.
ASKED: Final = {
    "digits.round_trip_us": (75, "most"),
    "digits.bytes_up": (4096, "most"),
    "digits.bytes_down": (2560, "most"),
    "digits.agreement": (0.999, "least"),
    "logistic30.bytes_up": (224, "most"),
    "vs_seal_ring_product.total": (4, "least"),
    "vs_tenseal.total": (100, "least"),
    "vs_tenseal.bytes": (20, "least"),
    "pad.iris.total_us": (10, "most"),
    "logarithmic.iris.rmse": (0.005, "most"),
    "logarithmic.ten_factors.rmse": (2e-4, "most"),
}


class Part(NamedTuple):
    """What was measured of one encoding."""

    rows: list[dict[str, Any]]
    """The first column is `candidate`."""
    ratios: dict[str, float]
    notes: list[str]


def reproduce(options: Options) -> Report:
    """Measures every part on one thread."""
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    notes: list[str] = []
    for name in options.track(PARTS, "encodings"):
        part: Part = import_module(f"hesc_papers.{name}").measured(options)
        rows += part.rows
        ratios |= part.ratios
        notes += part.notes
    return Report(
        IDENTIFIER,
        TITLE,
        "microseconds, bytes, errors as shares of the outputs' deviation",
        rows,
        ratios=ratios,
        notes=notes,
        repetitions=rounds(quick=options.quick),
    )


def rounds(*, quick: bool) -> int:
    """How often every candidate has its turn."""
    return 3 if quick else 41


def plot(report: Report, path: Path) -> None:
    """What was measured as a share of what was asked for; the larger the worse."""
    from hesc_papers.plots import shares

    asked = {name: ASKED[name] for name in report.ratios if name in ASKED}
    bars = [
        (name, report.ratios[name], limit) if side == "most" else (name, limit, report.ratios[name])
        for name, (limit, side) in asked.items()
    ]
    shares(report, path, bars)

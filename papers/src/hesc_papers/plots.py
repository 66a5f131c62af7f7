"""Plots of reports, without a display."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from hesc_papers.report import Report


@contextmanager
def figure(
    path: Path, size: tuple[float, float] = (8, 5), shape: tuple[int, int] = (1, 1)
) -> Iterator[Any]:
    """Axes (an array of them for another shape) that are saved to `path` in the end."""
    canvas = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(canvas)
    yield canvas.subplots(*shape)
    canvas.savefig(path, dpi=150)


def stage_bars(report: Report, stages: Sequence[str], path: Path) -> None:
    """Total times on a logarithmic axis, each labelled, and what the largest stage is."""
    rows = [row for row in report.rows if row.get("Total") is not None][::-1]
    with figure(path, (11, 0.42 * len(rows) + 1.4)) as axes:
        totals = [row["Total"] for row in rows]
        colours = [
            {"hesc": "tab:green", "SEAL": "tab:blue"}.get(row["candidate"][:4], "tab:gray")
            for row in rows
        ]
        bars = axes.barh([row["candidate"] for row in rows], totals, color=colours)
        labels = []
        for row in rows:
            largest = max(stages, key=lambda stage: row.get(stage) or 0.0)
            share = (row.get(largest) or 0.0) / row["Total"]
            part = f" ({largest} {share:.0%})" if share else ""
            labels.append(f" {row['Total']:.3g} ms{part}")
        axes.bar_label(bars, labels, fontsize=8)
        axes.set_xscale("log")
        # Three tenths of the axis are the labels'.
        low, high = min(totals) / 2, max(totals)
        axes.set_xlim(low, high * (high / low) ** (0.3 / 0.7))
        axes.set_xlabel("milliseconds in total; in brackets the largest stage")
        axes.set_title(report.title)


def shares(report: Report, path: Path, rows: Sequence[tuple[str, float, float]]) -> None:
    """Bars of what was measured over what was asked for, each a name and both figures."""
    with figure(path, (9, 0.45 * len(rows) + 1.6)) as axes:
        parts = [found / asked for _, found, asked in rows]
        colours = ["tab:green" if part <= 1 else "tab:red" for part in parts]
        bars = axes.barh([name for name, *_ in rows], parts, color=colours)
        axes.axvline(1, color="black", linewidth=1, zorder=0)
        labels = [f"{_short(found)} of {_short(asked)}" for _, found, asked in rows]
        box = {"fc": "white", "ec": "none", "pad": 1}
        axes.bar_label(bars, labels, padding=5, fontsize=8, bbox=box)
        axes.set_xlim(0, 1.25 * max(1, *parts))
        axes.invert_yaxis()
        axes.set_xlabel("measured over asked for")
        axes.set_title(report.title)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.4g}"

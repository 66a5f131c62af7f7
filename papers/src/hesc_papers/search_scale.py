"""`hesc:search_scale`: time, bytes and memory of searches against records and dimensions."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._support.memory import free_memory
from hesc_papers.plots import figure
from hesc_papers.report import Report
from hesc_papers.search_cases import Case
from hesc_papers.search_run import process

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:search_scale"
TITLE: Final = "searches against records and dimensions"
RECORDS: Final = tuple(round(10 ** (power / 2)) for power in range(6, 15))
"""A thousand to ten million."""
DIMENSIONS: Final = (16, 32, 64, 128, 256, 512, 768, 1024, 1536)
WIDE: Final = 128
"""Dimensions where records grow."""
MANY: Final = 100_000
"""Records where dimensions grow."""
LEFT: Final = 6 << 30
"""Bytes of memory that are left to others."""
FITTED: Final = {
    "server, ms": "time",
    "up_bytes": "up_bytes",
    "down_bytes": "down_bytes",
    "MB packed": "memory",
}
"""What is fitted by a power, and what that is called."""
LARGE: Final = {"records": MANY, "dimensions": WIDE}
"""From where on."""


def _cases(*, quick: bool) -> list[tuple[str, Case, int]]:
    """What grows, the case, and its records."""
    few = 2 if quick else max(len(RECORDS), len(DIMENSIONS))
    found = []
    for expanded in (True, False):
        kind = "keys" if expanded else "no keys"

        def case(size: int, *, expanded: bool = expanded, kind: str = kind) -> Case:
            shared = 4 if expanded else 1
            return Case(kind, size, codes=False, expanded=expanded, shared=shared)

        found += [("records", case(WIDE), records) for records in RECORDS[:few]]
        records = 1000 if quick else MANY
        found += [("dimensions", case(size), records) for size in DIMENSIONS[:few]]
    return found


def reproduce(options: Options) -> Report:
    """Measures each point in a process of its own; leaves out what memory has no room for."""
    rows, left_out = [], []
    for grows, case, records in options.track(_cases(quick=options.quick), "searches"):
        needed = case.plan(records).index_sizes(records)[1]
        if needed > free_memory() - LEFT:
            left_out.append(f"{case.name}, {records:,} x {case.dimensions}")
            continue
        with closing(process(case, records, quick=options.quick)) as side:
            found = json.loads(side.ask("scale"))
        if found.pop("wrong"):
            raise AssertionError("a decrypted score is not that of numpy")
        row = {"grows": grows, "kind": case.name, "records": records}
        rows.append(row | {"dimensions": case.dimensions} | found)
    ratios = {}
    for grows, start in LARGE.items():
        for kind in ("keys", "no keys"):
            some = [row for row in rows if (row["grows"], row["kind"]) == (grows, kind)]
            large = [row for row in some if row[grows] >= start] or some
            for key, name in FITTED.items():
                power = _power([row[grows] for row in large], [row[key] for row in large])
                ratios[f"search_scale.{kind.replace(' ', '_')}.{grows}.{name}_exponent"] = power
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="one query, one thread",
        rows=rows,
        ratios=ratios,
        parameters={"left out for want of memory": left_out},
        notes=[
            f"numbers of six bits; records grow at {WIDE} dimensions, dimensions at {MANY:,} "
            "records; plans are for as many records as there are; all scores are compared",
            f"exponents: slopes of logarithms from {MANY:,} records and {WIDE} dimensions on",
            "left out for want of memory: " + ("; ".join(left_out) or "nothing"),
        ],
    )


def _power(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of a line through the logarithms."""
    # Of what does not grow at all rounding would leave something.
    return round(float(np.polyfit(np.log(x), np.log(y), 1)[0]), 6) + 0.0


def plot(report: Report, path: Path) -> None:
    """Time, bytes and memory, each against records and against dimensions."""
    with figure(path, (12, 7), (2, 3)) as grid:
        for axes_of, grows in zip(grid, LARGE, strict=True):
            for kind, colour in (("keys", "tab:blue"), ("no keys", "tab:orange")):
                rows = [row for row in report.rows if (row["grows"], row["kind"]) == (grows, kind)]
                _draw(axes_of, rows, grows, f"{kind}:", colour)
            for axes in axes_of:
                axes.set_xscale("log")
                axes.set_yscale("log")
                axes.set_xlabel(grows)
                axes.grid(alpha=0.3)
                axes.legend(fontsize=7)
        for axes, name in zip(grid[0], ("time, ms", "bytes of a query", "memory, MB"), strict=True):
            axes.set_title(name)


def _draw(axes: Any, rows: Iterable[dict[str, Any]], grows: str, kind: str, colour: str) -> None:
    rows = list(rows)
    x = [row[grows] for row in rows]
    lines = (
        (0, "server, ms", "server", "o-"),
        (0, "decrypt, ms", "client decrypts", "s:"),
        (1, "up_bytes", "up", "^--"),
        (1, "down_bytes", "down", "v-"),
        (1, "keys", "keys, once", "d:"),
        (2, "MB packed", "index", "o-"),
        (2, "MB grown", "process, more than before", "s:"),
    )
    for place, key, name, style in lines:
        if any(row[key] for row in rows):
            y = [row[key] for row in rows]
            axes[place].plot(x, y, style, color=colour, label=f"{kind} {name}", markersize=4)

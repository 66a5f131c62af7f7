"""`hesc:sorting`: rows of encrypted bytes, sorted in parts that memory holds."""

from __future__ import annotations

import time
from functools import reduce
from itertools import combinations
from operator import xor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc import integers
from hesc.integers.secret import decrypt_integers
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.integers import EncryptedIntegers, Integers

IDENTIFIER: Final = "hesc:sorting"
TITLE: Final = "Rows of 64 encrypted bytes, sorted"

PARAMS: Final = "bgv_21845_deep"
DTYPE: Final = "uint8"
COUNT: Final = 64
# Products in sequence that ranks and places take of comparisons, and places of ranks.
AFTER_COMPARISONS: Final = 13
AFTER_RANKS: Final = 4
# Places that are computed at once: they share what compares ranks.
TOGETHER: Final = 8
# Iliashenko and Zucca 2021 (eprint 2021/315), HElib on one thread: seconds for each row.
LITERATURE: Final = 6.45


def rank_of(at: int, early: Mapping[tuple[int, int], Integers], count: int) -> Integers:
    """How many come before one of several: of equal ones the first comes first.

    Args:
        at: which.
        early: for each two, the lower place first, whether they are in order already.
        count: how many there are.

    """
    before = [early[other, at] for other in range(at)]
    return integers.total([*before, *(~early[at, other] for other in range(at + 1, count))])


def chosen(place: int, ranks: list[EncryptedIntegers], numbers: list[EncryptedIntegers]) -> Any:
    """The number whose rank this is: one of all has it, so that exclusive ors choose."""
    pairs = zip(ranks, numbers, strict=True)
    return reduce(xor, [integers.where(rank == place, number, 0) for rank, number in pairs])


def reproduce(options: Options) -> Report:
    """Sorts random rows, one for each slot, and compares with numpy."""
    count = 4 if options.quick else COUNT
    params = hesc.Params.preset(PARAMS)
    secret, keys = hesc.keygen(params)
    rows = params.slot_count
    clear = np.random.default_rng(0).integers(0, 256, (count, rows), dtype=np.uint8)
    numbers = [integers.encrypt(keys, column, DTYPE) for column in clear]
    seconds = {"comparisons": 0.0, "ranks": 0.0, "places": 0.0}
    in_order = integers.plan(
        lambda a, b: a <= b, DTYPE, DTYPE, count=rows, params=params, spare=AFTER_COMPARISONS
    )
    start = time.perf_counter()
    early = {
        (one, other): in_order(numbers[one], numbers[other], progress=False)
        for one, other in options.track(list(combinations(range(count), 2)), "comparisons")
    }
    seconds["comparisons"] = time.perf_counter() - start
    start = time.perf_counter()
    ranks = [
        integers.evaluate(rank_of(at, early, count), spare=AFTER_RANKS, progress=False)
        for at in options.track(range(count), "ranks")
    ]
    seconds["ranks"] = time.perf_counter() - start
    found: list[EncryptedIntegers] = []
    for first in options.track(range(0, count, TOGETHER), "places"):
        places = range(first, min(first + TOGETHER, count))
        start = time.perf_counter()
        found += integers.evaluate(
            *(chosen(place, ranks, numbers) for place in places), progress=False
        )
        seconds["places"] += time.perf_counter() - start
    decrypted = np.array([decrypt_integers(secret, place) for place in found])
    if not np.array_equal(decrypted, np.sort(clear, axis=0)):
        raise RuntimeError("rows are sorted otherwise than in the clear")
    total = sum(seconds.values())
    row: dict[str, Any] = {
        "numbers": count,
        "rows": rows,
        "parameters": params.name,
        "comparisons": len(early),
        **{f"{name} s": value for name, value in seconds.items()},
        "s in all": total,
        "s a row": total / rows,
        "GB of comparisons": sum(one.nbytes for one in early.values()) / 1e9,
    }
    ratios = {"sort64.throughput_vs_literature": LITERATURE * rows / total}
    return Report(
        IDENTIFIER,
        TITLE,
        "seconds; all rows together, and each of them",
        [row],
        ratios={} if options.quick else ratios,
        notes=[
            "each two numbers are compared once, then ranks are computed one after the other, and "
            f"{TOGETHER} places at a time: one circuit for all would take 50 to 70 GB",
            "making the circuits is in the times",
            f"a figure needs as many rows as there are slots. Iliashenko and Zucca (2021) take "
            f"{LITERATURE} s for each of many rows by HElib, on another machine",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """What the parts take for each row, beside the literature's whole."""
    from hesc_papers.plots import figure

    row = report.rows[0]
    parts = {name: row[f"{name} s"] / row["rows"] for name in ("comparisons", "ranks", "places")}
    bars = {**parts, "in all": sum(parts.values())}
    if row["numbers"] == COUNT:
        bars["Iliashenko and Zucca, HElib"] = LITERATURE
    with figure(path, (8, 2.9)) as axes:
        colours = [*["tab:green"] * 4, "tab:gray"][: len(bars)]
        drawn = axes.barh(list(bars), list(bars.values()), color=colours)
        axes.bar_label(drawn, [f"{seconds:.3g} s" for seconds in bars.values()], padding=4)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.margins(x=0.3)
        axes.set_xlabel("seconds for each row")
        axes.set_title(f"Rows of {row['numbers']} encrypted bytes, {row['rows']} at once")

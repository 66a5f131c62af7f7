"""`hsiao2022sche` figure 3: how much sooner stream products are there, by the number of products.

Computed for 64 threads, as the paper has it, for every precision and number of products; then for
1 to 64 threads, measured as far as this machine has them and computed beyond.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.params import Params
from hesc_papers.gate_ways import (
    AND_STREAMS,
    BINARY,
    BINARY_COMPILED,
    XOR_PACKED,
    XOR_STREAMS,
    Bench,
    operands,
)
from hesc_papers.other_process import OtherProcess
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.params import StreamParams

IDENTIFIER: Final = "hsiao2022sche:figure-3"
TITLE: Final = "Latency of stream products over that of array multipliers"

PAPER_THREADS: Final = 64
THREADS: Final = (1, 2, 4, 8, 16, 32, 64)
PRECISIONS: Final = tuple(range(2, 11))
PRODUCTS: Final = tuple(2**k for k in range(11))
# What is measured, and with how many products.
MEASURED: Final = (3, 4, 5, 6)
MEASURED_PRODUCTS: Final = (1, 4, 16)
# A gate a bit and a second: measured until one product of a kind takes about a minute.
MOST_BOOTSTRAPS: Final = 4000
# All ratios are of bootstraps with bootstraps: a quick study takes a set whose own are small.
QUICK: Final = "insecure_tfhe_512"


def speedup(bits: int, products: int, threads: int, depth: int) -> float:
    """Gate times of array multipliers over those of AND streams, both spread over the threads.

    Section 2 of the paper: `6 n**2` gates of a depth against `2**n` gates of depth 1. A schedule is
    as long as its longest path or as all gates on all threads, whichever is more.
    """
    binary = max(depth, math.ceil(products * 6 * bits**2 / threads))
    streams = math.ceil(products * 2**bits / threads)
    return float(binary / streams)


def measure(bench: Bench, bits: int, products: int, seed: int) -> dict[str, float]:
    """Seconds of each candidate for so many products at once."""
    rng = np.random.default_rng(seed)
    found = {}
    for candidate in (BINARY, BINARY_COMPILED, AND_STREAMS, XOR_STREAMS, XOR_PACKED):
        program = None if candidate == XOR_PACKED else bench.program(candidate, bits)
        a, b = operands(candidate, bits, products, rng)
        timing = bench.run(candidate, program, a, b)
        if bench.check(candidate, a, b, timing):
            raise AssertionError(f"{candidate} of {bits} bits is wrong")
        found[candidate] = timing.seconds
    return found


class Measurements(OtherProcess):
    """Measures on all threads: this process may have chosen a single one."""

    def __init__(self, params: StreamParams, *, threads: int) -> None:
        super().__init__(__name__, params.name, threads=threads)

    def run(self, bits: int, products: int) -> dict[str, float]:
        """Seconds by candidate, and the layers of the array multiplier."""
        found: dict[str, float] = json.loads(self.ask(f"{bits} {products}"))
        return found


def _serve() -> None:
    bench = Bench(Params.preset(sys.argv[1]))
    for line in sys.stdin:
        bits, products = map(int, line.split())
        found = measure(bench, bits, products, seed=bits)
        found["layers"] = len(bench.program(BINARY, bits).layers)
        print(json.dumps(found), flush=True)


def _paper_rows(options: Options) -> list[dict[str, Any]]:
    """The figure as the paper has it: computed, for both depths that it states."""
    precisions = PRECISIONS[::4] if options.quick else PRECISIONS
    return [
        {
            "bits": bits,
            "products": count,
            "threads": PAPER_THREADS,
            "from": "computed",
            "depth 8n": speedup(bits, count, PAPER_THREADS, 8 * bits),
            "depth 2n": speedup(bits, count, PAPER_THREADS, 2 * bits),
        }
        for bits in precisions
        for count in (PRODUCTS[::5] if options.quick else PRODUCTS)
    ]


def _measured_row(seconds: Mapping[str, float]) -> dict[str, float]:
    return {
        "measured": seconds[BINARY] / seconds[AND_STREAMS],
        "compiled": seconds[BINARY_COMPILED] / seconds[AND_STREAMS],
        "XOR": seconds[BINARY] / seconds[XOR_STREAMS],
        "XOR/compiled": seconds[BINARY_COMPILED] / seconds[XOR_STREAMS],
        "XOR blocks": seconds[BINARY] / seconds[XOR_PACKED],
    }


def reproduce(options: Options) -> Report:
    """A row for each precision, number of products and threads."""
    cores = os.cpu_count() or 1
    counts = MEASURED_PRODUCTS[:1] if options.quick else MEASURED_PRODUCTS
    cases = [
        (bits, count)
        for bits in (MEASURED[:1] if options.quick else MEASURED)
        for count in counts
        if 6 * bits**2 * count < MOST_BOOTSTRAPS
    ]
    here = [threads for threads in THREADS if threads <= cores]
    params = Params.preset(QUICK) if options.quick else Params.recommended("tfhe")
    processes = {threads: Measurements(params, threads=threads) for threads in here}
    rows = _paper_rows(options)
    ratios: dict[str, float] = {}
    totals = {threads: dict.fromkeys((BINARY, AND_STREAMS), 0.0) for threads in here}
    for bits, count in options.track(cases, "figure 3"):
        name = f"{bits}bit_{count}"
        layers = 0
        for threads in THREADS:
            row: dict[str, Any] = {"bits": bits, "products": count, "threads": threads}
            if threads in processes:
                seconds = processes[threads].run(bits, count)
                layers = int(seconds["layers"])
                row |= {"from": "measured", **_measured_row(seconds)}
                ratios[f"measured.{name}.threads_{threads}"] = row["measured"]
                ratios[f"xor.{name}.threads_{threads}"] = row["XOR"]
                for candidate in totals[threads]:
                    totals[threads][candidate] += seconds[candidate]
            else:
                row["from"] = "computed"
            row["counted"] = speedup(bits, count, threads, layers)
            rows.append(row)
    for process in processes.values():
        process.close()
    for threads in here[1:]:
        for candidate, label in ((BINARY, "array"), (AND_STREAMS, "and")):
            ratios[f"scaling.{label}.threads_{threads}"] = (
                totals[1][candidate] / totals[threads][candidate]
            )
    return Report(
        IDENTIFIER,
        TITLE,
        "times as fast",
        rows,
        ratios=ratios,
        parameters={
            "scheme": params.name,
            "threads": list(THREADS),
            "machine.threads": cores,
        },
        notes=[
            f"depth 8n and 2n: computed for {PAPER_THREADS} threads, as in the paper; it gives the "
            "depth of the array multiplier as 8n in section 2 and its latency as 2n gates in "
            "section 3",
            "counted: gates spread over so many threads, for the depth of the circuit as it is; "
            "measured: the same, run, as far as this machine has the threads. Rows beyond are "
            "marked as computed. compiled: with the array multiplier compiled",
            "XOR: inverted-bipolar streams, as sums of bits and of blocks, over the array "
            "multiplier gate by gate and compiled, on as many threads",
            "scaling: the time on one thread over that on so many, of all measured products",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """The paper's curves; ours by threads, hollow where computed; and what XOR streams gain."""
    from hesc_papers.plots import figure

    cores = report.parameters["machine.threads"]
    with figure(path, (16, 5), (1, 3)) as axes:
        paper = [row for row in report.rows if "depth 8n" in row]
        for bits in sorted({row["bits"] for row in paper}):
            points = [row for row in paper if row["bits"] == bits]
            x = [row["products"] for row in points]
            axes[0].plot(x, [row["depth 8n"] for row in points], marker=".", label=f"n = {bits}")
        ours = [row for row in report.rows if "counted" in row]
        colours = ("tab:blue", "tab:orange", "tab:green", "tab:red")
        most = max(row["threads"] for row in ours if row["from"] == "measured")
        for bits, colour in zip(sorted({row["bits"] for row in ours}), colours, strict=False):
            for count, style in zip(MEASURED_PRODUCTS, ("-", "--", ":"), strict=True):
                points = [row for row in ours if (row["bits"], row["products"]) == (bits, count)]
                if not points:
                    continue
                label = f"n = {bits}, {count} product{'s' * (count > 1)}"
                x = [row["threads"] for row in points]
                axes[1].plot(x, [row["counted"] for row in points], style, color=colour, lw=1)
                axes[1].plot(x, [row["counted"] for row in points], "o", mfc="white", color=colour)
                found = [row for row in points if row["from"] == "measured"]
                x, y = ([row[key] for row in found] for key in ("threads", "measured"))
                axes[1].plot(x, y, "s" + style, color=colour, label=label)
            of_bits = [row for row in ours if (row["bits"], row["threads"]) == (bits, most)]
            x = [row["products"] for row in of_bits]
            for curve, marker in {"XOR": "s-", "XOR/compiled": "^--", "measured": "o-"}.items():
                y = [row[curve] for row in of_bits]
                axes[2].plot(x, y, marker, color=colour, label=f"{curve}, n = {bits}")
        titles = (
            f"computed, {PAPER_THREADS} threads, as the paper",
            f"measured to {cores} threads (squares), computed (hollow)",
            f"measured, {most} threads; XOR streams too",
        )
        labels = ("independent products", "threads", "independent products")
        for axis, title, label in zip(axes, titles, labels, strict=True):
            axis.axhline(1, color="gray", linewidth=0.8)
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            axis.set_xlabel(label)
            axis.set_title(title, fontsize=10)
            axis.grid(alpha=0.3)
            axis.set_ylabel("times as fast as array multipliers")
        axes[0].figure.suptitle(report.title)
        axes[0].legend(fontsize=8)
        axes[1].legend(fontsize=6)
        axes[2].legend(fontsize=6, loc="center left", bbox_to_anchor=(1.02, 0.5))


if __name__ == "__main__":
    _serve()

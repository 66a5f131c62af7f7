"""`hsiao2022sche` figure 3: how much sooner stream products are there, by the number of products.

Computed for 64 threads, as in the paper, and measured with those of this machine.
"""

from __future__ import annotations

import json
import math
import os
import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

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
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hsiao2022sche:figure-3"
TITLE: Final = "Latency of stream products over that of array multipliers"

THREADS: Final = 64
PRECISIONS: Final = tuple(range(2, 11))
PRODUCTS: Final = tuple(2**k for k in range(11))
# What is measured, and with how many products.
MEASURED: Final = (3, 4, 5, 6)
MEASURED_PRODUCTS: Final = (1, 4, 16)
# A gate a bit and a second: measured until one product of a kind takes about a minute.
MOST_BOOTSTRAPS: Final = 4000


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

    def run(self, bits: int, products: int) -> dict[str, float]:
        """Seconds by candidate, and the layers of the array multiplier."""
        found: dict[str, float] = json.loads(self.ask(f"{bits} {products}"))
        return found


def _serve() -> None:
    bench = Bench()
    for line in sys.stdin:
        bits, products = map(int, line.split())
        found = measure(bench, bits, products, seed=bits)
        found["layers"] = len(bench.program(BINARY, bits).layers)
        print(json.dumps(found), flush=True)


def reproduce(options: Options) -> Report:
    """A row for each precision and number of products."""
    threads = os.cpu_count() or 1
    rows: list[dict[str, Any]] = []
    precisions = PRECISIONS[::4] if options.quick else PRECISIONS
    products = PRODUCTS[::5] if options.quick else PRODUCTS
    for bits in precisions:
        rows += [
            {
                "bits": bits,
                "products": count,
                "depth 8n": speedup(bits, count, THREADS, 8 * bits),
                "depth 2n": speedup(bits, count, THREADS, 2 * bits),
            }
            for count in products
        ]
    measured = (3,) if options.quick else MEASURED
    counts = MEASURED_PRODUCTS[:2] if options.quick else MEASURED_PRODUCTS
    cases = [
        (bits, count)
        for bits in measured
        for count in counts
        if 6 * bits**2 * count < MOST_BOOTSTRAPS
    ]
    ratios = {}
    measurements = Measurements(__name__, threads=threads)
    for bits, count in options.track(cases, "figure 3"):
        seconds = measurements.run(bits, count)
        row = {
            "bits": bits,
            "products": count,
            "machine": speedup(bits, count, threads, int(seconds["layers"])),
            "measured": seconds[BINARY] / seconds[AND_STREAMS],
            "compiled": seconds[BINARY_COMPILED] / seconds[AND_STREAMS],
            "XOR": seconds[BINARY] / seconds[XOR_STREAMS],
            "XOR/compiled": seconds[BINARY_COMPILED] / seconds[XOR_STREAMS],
            "XOR blocks": seconds[BINARY] / seconds[XOR_PACKED],
        }
        rows.append(row)
        name = f"{bits}bit_{count}"
        ratios[f"measured.{name}"] = row["measured"]
        ratios[f"xor.{name}"] = row["XOR"]
    measurements.close()
    return Report(
        IDENTIFIER,
        TITLE,
        "times as fast",
        rows,
        ratios=ratios,
        parameters={"threads": THREADS, "machine.threads": threads},
        notes=[
            "depth 8n and 2n: computed for 64 threads; the paper gives the depth of the array "
            "multiplier as 8n in section 2 and its latency as 2n gates in section 3",
            "machine: computed for this machine's threads and the depth of the circuit as it is; "
            "measured: the same, run; compiled: with the array multiplier compiled",
            "XOR: inverted-bipolar streams, as sums of bits and of blocks, over the array "
            "multiplier gate by gate and compiled, on as many threads",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Curves by precision; what was measured as points."""
    from hesc_papers.plots import figure

    with figure(path, (13, 5), (1, 2)) as axes:
        for bits in sorted({row["bits"] for row in report.rows if "depth 8n" in row}):
            points = [row for row in report.rows if row["bits"] == bits and "depth 8n" in row]
            x = [row["products"] for row in points]
            axes[0].plot(x, [row["depth 8n"] for row in points], marker=".", label=f"n = {bits}")
        curves = {"machine": "x:", "measured": "o-", "XOR": "s-", "XOR/compiled": "^--"}
        colours = ("tab:blue", "tab:orange", "tab:green", "tab:red")
        bits_of = sorted({row["bits"] for row in report.rows if "measured" in row})
        for bits, colour in zip(bits_of, colours, strict=False):
            points = [row for row in report.rows if row["bits"] == bits and "measured" in row]
            x = [row["products"] for row in points]
            for curve, style in curves.items():
                values = [row[curve] for row in points]
                axes[1].plot(x, values, style, color=colour, label=f"{curve}, n = {bits}")
        titles = (
            f"computed, {THREADS} threads",
            f"measured, {report.parameters['machine.threads']} threads",
        )
        for axis, title in zip(axes, titles, strict=True):
            axis.axhline(1, color="gray", linewidth=0.8)
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            axis.set_xlabel("independent products")
            axis.set_title(title)
            axis.grid(alpha=0.3)
            axis.set_ylabel("times as fast as array multipliers")
        axes[0].figure.suptitle(report.title)
        axes[0].legend(fontsize=8)
        axes[1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5))


if __name__ == "__main__":
    _serve()

"""`hsiao2022sche` figure 2: time and error of a product, in binary and in bit streams, on TFHE."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc import _native, gates
from hesc.params import Params
from hesc.streams.encoding import Encoder
from hesc_papers.gate_ways import (
    AND_COMPILED,
    AND_STREAMS,
    BINARY,
    BINARY_COMPILED,
    XOR_PACKED,
    XOR_STREAMS,
    Bench,
    operands,
)
from hesc_papers.hsiao2022sche_circuits import array_multiplier, ripple_carry_adder
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options

IDENTIFIER: Final = "hsiao2022sche:figure-2"
TITLE: Final = "Time against RMSE of a product on encrypted bits"

PRECISIONS: Final = tuple(range(2, 11))
CANDIDATES: Final = (
    BINARY,
    BINARY_COMPILED,
    AND_STREAMS,
    AND_COMPILED,
    XOR_STREAMS,
    XOR_PACKED,
)
# A product that takes no more bootstraps than this is measured: a minute on one thread.
MOST_BOOTSTRAPS: Final = 2000
MOST_BOOTSTRAPS_QUICK: Final = 20
# Keys of this set take a quick study no time, and the crate's five seconds of the recommended one.
KEYS_QUICK: Final = "insecure_tfhe_512"
# The precision of the ratios.
BITS: Final = 8
# Where the errors of streams come from.
STREAM_ERRORS: Final = {
    AND_STREAMS: "unipolar, lfsr",
    AND_COMPILED: "unipolar, sobol",
    XOR_STREAMS: "inverted_bipolar, sobol",
    XOR_PACKED: "inverted_bipolar, sobol",
}
# The names of ratios, and which streams stand against which binary numbers.
COMPARISONS: Final = (
    ("xor_product", "vs_array_multiplier", XOR_STREAMS, BINARY),
    ("xor_product", "vs_compiled_multiplier", XOR_STREAMS, BINARY_COMPILED),
    ("xor_product", "packed_vs_array_multiplier", XOR_PACKED, BINARY),
    ("xor_product", "packed_vs_compiled_multiplier", XOR_PACKED, BINARY_COMPILED),
    ("and_product", "vs_array_multiplier", AND_STREAMS, BINARY),
    ("and_product", "compiled_vs_compiled_multiplier", AND_COMPILED, BINARY_COMPILED),
)


def binary_error(bits: int, a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """RMSE of products of numbers in [0, 1] that are rounded to `bits` bits."""
    steps = 2.0**bits
    rounded = [np.minimum(np.rint(values * steps), steps - 1) / steps for values in (a, b)]
    return float(np.sqrt(np.mean((rounded[0] * rounded[1] - a * b) ** 2)))


def bits_for(error: float, a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    """The least precision of binary numbers whose products have at most this RMSE."""
    return next(bits for bits in range(1, 54) if binary_error(bits, a, b) <= error)


def stream_errors(
    bits: int, seeds: int, a: NDArray[np.float64], b: NDArray[np.float64]
) -> dict[str, float]:
    """RMSE of products of streams of `2**bits` bits, by generator and representation.

    In the paper's unipolar form of numbers in [0, 1], in inverted-bipolar form of the same numbers,
    and as if the product had no error but that of its rounding ("ideal").
    """
    exact, length = a * b, 2**bits
    found = {"ideal": float(np.sqrt(np.mean((np.rint(exact * length) / length - exact) ** 2)))}
    for representation in ("unipolar", "inverted_bipolar"):
        for generator in ("lfsr", "bernoulli", "sobol"):
            squares = []
            for seed in range(seeds):
                encoder = Encoder(
                    length,
                    generator=generator,
                    representation=representation,
                    random_state=seed,
                )
                product = encoder.encode(a) * encoder.encode(b)
                squares.append(np.mean((product.values - exact) ** 2))
            found[f"{representation}, {generator}"] = float(np.sqrt(np.mean(squares)))
    return found


def gate_overhead(bench: Bench, repetitions: int) -> tuple[float, float]:
    """Seconds of a gate, and how many times the crate's own it takes; measured in turns."""
    peer = _native.TfheBoolean(crate_default=False)
    bench.gate()
    peer.time_gates(1)
    pairs = [(bench.gate(), peer.time_gates(1)) for _ in range(repetitions)]
    own, crate = (statistics.median(times) for times in zip(*pairs, strict=True))
    return own, own / crate


def key_overheads(bench: Bench, repetitions: int) -> dict[str, float]:
    """How many times the crate's own evaluation keys take to make and to expand; in turns."""
    own: list[tuple[float, float]] = []
    crate: list[tuple[float, float]] = []
    for _ in range(repetitions):
        start = time.perf_counter()
        key = bench.secret.with_bootstrapping(bench.public)
        made = time.perf_counter()
        gates.Evaluator(key)
        own.append((made - start, time.perf_counter() - made))
        crate.append(_native.time_tfhe_keys(bench.params))
    medians = [
        [statistics.median(times) for times in zip(*kind, strict=True)] for kind in (own, crate)
    ]
    making, expanding = (ours / theirs for ours, theirs in zip(*medians, strict=True))
    return {"keys.overhead": making, "keys.expanded_overhead": expanding}


def reproduce(options: Options) -> Report:
    """Measures what ends in minutes, computes the rest from the time of a gate."""
    rng = np.random.default_rng(0)
    bench = Bench()
    gate, overhead = gate_overhead(bench, 5 if options.quick else 60)
    keys = Bench(Params.preset(KEYS_QUICK)) if options.quick else bench
    overheads = {"gate.overhead": overhead} | key_overheads(keys, 2 if options.quick else 10)
    most = MOST_BOOTSTRAPS_QUICK if options.quick else MOST_BOOTSTRAPS
    precisions = (4, 8) if options.quick else PRECISIONS
    seeds = 4 if options.quick else 20
    a, b = rng.random((2, 500))
    rows: list[dict[str, Any]] = []
    seconds: dict[tuple[str, int], float] = {}
    cases = [(bits, candidate) for bits in precisions for candidate in CANDIDATES]
    errors = {bits: stream_errors(bits, seeds, a, b) for bits in precisions}
    rounded = {bits: binary_error(bits, a, b) for bits in precisions}
    for bits, candidate in options.track(cases, "figure 2"):
        program = None if candidate == XOR_PACKED else bench.program(candidate, bits)
        count = 0 if program is None else program.bootstraps
        measured = count <= most
        wrong = None
        if measured:
            # What takes no bootstrap is over in a millisecond.
            runs = 1 if count else 20
            times, wrong = [], 0
            for _ in range(runs):
                x, y = operands(candidate, bits, 1, rng)
                timing = bench.run(candidate, program, x, y)
                times.append(timing.seconds)
                wrong += bench.check(candidate, x, y, timing)
            seconds[candidate, bits] = statistics.median(times)
        else:
            seconds[candidate, bits] = count * gate
        own = errors[bits]
        error = own[STREAM_ERRORS[candidate]] if candidate in STREAM_ERRORS else rounded[bits]
        rows.append(
            {
                "candidate": candidate,
                "bits": bits,
                "bootstraps": count,
                "seconds": seconds[candidate, bits],
                "from": "measured" if measured else "gate time",
                "wrong": wrong,
                "RMSE": error,
                "ideal": own["ideal"] if "streams" in candidate else None,
            }
        )
    enough = {
        streams: bits_for(errors[BITS][error], a, b) for streams, error in STREAM_ERRORS.items()
    }
    for _, _, streams, binary in COMPARISONS:
        wanted = binary, enough[streams]
        if wanted not in seconds:
            seconds[wanted] = bench.program(*wanted).bootstraps * gate
    return Report(
        IDENTIFIER,
        TITLE,
        "seconds; RMSE of products of numbers in [0, 1]",
        rows,
        ratios=_ratios(bench, seconds, enough) | overheads,
        parameters={
            "scheme": bench.params.name,
            "keys.scheme": keys.params.name,
            "gate.seconds": gate,
            "seeds": seeds,
            "pairs": len(a),
            "log2_failure": bench.precision.log2_failure,
            "equal_error.bits": enough,
        },
        series={
            name: [errors[bits][name] for bits in precisions] for name in errors[precisions[0]]
        },
        notes=[
            "the paper's gates take 600 ms (Palisade, one thread); its plot has streams ahead of "
            "the array multiplier up to 8 bits, and at equal error 5 bits of stream against 3 of "
            "binary numbers",
            "AND streams gate by gate come from LFSRs, all others from Sobol's sequence; errors of "
            "XOR streams too are those of numbers in [0, 1], half of their range",
            f"ratios of {BITS}bit compare equal bits, numbers of {BITS} bits with streams of "
            f"{2**BITS}, whose errors are larger: see RMSE. Those of equal_error "
            "compare the same streams with the shortest binary numbers that have at most their "
            "error: equal_error.bits",
            "on one thread, as in the paper; a gate alone takes gate.seconds; gate.overhead is "
            "over that of the tfhe crate in this build (version: Cargo.lock), on the same thread; "
            "keys.overhead and keys.expanded_overhead are of keys of "
            + (f"{KEYS_QUICK}, which are small" if options.quick else "the same set"),
        ],
    )


def _ratios(
    bench: Bench,
    seconds: dict[tuple[str, int], float],
    enough: dict[str, int],
) -> dict[str, float]:
    def saved(circuit: gates.Circuit) -> float:
        by_gate = circuit.compile(bench.precision, gate_by_gate=True)
        return by_gate.bootstraps / circuit.compile(bench.precision).bootstraps

    ratios = {}
    for product, name, streams, binary in COMPARISONS:
        for kind, bits in ((f"{BITS}bit", BITS), ("equal_error", enough[streams])):
            ratios[f"{product}_{kind}.{name}"] = seconds[binary, bits] / seconds[streams, BITS]
    return ratios | {
        "compiler.adder_bootstraps": saved(ripple_carry_adder(BITS)),
        "compiler.multiplier_bootstraps": saved(array_multiplier(BITS)),
    }


def plot(report: Report, path: Path) -> None:
    """Seconds against RMSE, each point labelled with its precision."""
    from hesc_papers.plots import figure

    colours = dict(
        zip(
            CANDIDATES,
            ("black", "tab:gray", "tab:red", "tab:orange", "tab:blue", "tab:green"),
            strict=True,
        )
    )
    with figure(path, (10, 6)) as axes:
        for candidate in CANDIDATES:
            points = [row for row in report.rows if row["candidate"] == candidate]
            x, y = ([row[key] for row in points] for key in ("RMSE", "seconds"))
            axes.plot(x, y, marker="o", color=colours[candidate], label=candidate)
            for row in points:
                if row["from"] != "measured":
                    axes.plot(
                        row["RMSE"], row["seconds"], "o", mfc="white", color=colours[candidate]
                    )
                axes.annotate(
                    str(row["bits"]),
                    (row["RMSE"], row["seconds"]),
                    xytext=(6, 5),
                    textcoords="offset points",
                    fontsize=8,
                    color=colours[candidate],
                )
            if candidate == AND_STREAMS:
                ideal = [row["ideal"] for row in points]
                axes.plot(ideal, y, color="lightgray", marker=".", label="AND streams, ideal")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("RMSE of a product of numbers in [0, 1]; beside the points their bits")
        axes.set_ylabel("seconds a product; hollow: computed from the gate's time")
        axes.set_title(report.title)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5))

"""`hesc:kernels`: what hesc's vector instructions are worth, beside SEAL, in the same run."""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from hesc import _native
from hesc.params import Params
from hesc.protocols.streams.staged import Layered, Monomial
from hesc.streams.iris import load_network, load_split
from hesc_papers.koseki2022hesc_table_4 import BEST, BFV
from hesc_papers.other_process import OtherProcess
from hesc_papers.report import Report
from hesc_papers.vector_operations import LENGTHS, OPERATIONS, Ours, Seal, seals_params

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:kernels"
TITLE: Final = "Kernels: AVX-512 IFMA, AVX2 and portable, beside SEAL"

SEAL: Final = "seal"
# Least instructions last.
KERNELS: Final = ("avx512-ifma", "avx512", "avx2", "portable")
SCHEMES: Final = ("bfv", "ckks")
LOG_DEGREES: Final = (12, 13)
# One Iris inference, as table 4 of koseki2022hesc has it.
IRIS: Final = ("paper's layout", "best mode")
TURN: Final = 0.03


def _iris(name: str, *, seal: bool) -> Callable[[], Any]:
    network, split = load_network(), load_split()
    sample = split.test_features[:1]
    bfv = Params.preset(BFV)
    staged: Any
    if seal:
        from hesc_papers.seal_peer.layered import LayeredPeer
        from hesc_papers.seal_peer.monomial import MonomialStreams

        degree, primes = bfv.ring_degree or 0, bfv.coeff_moduli
        if name == IRIS[0]:
            modulus = bfv.plain_modulus
            staged = LayeredPeer(network, "bfv", degree, primes, plain_modulus=modulus)
        else:
            staged = MonomialStreams(network, degree, primes, stream_length=64, secret_key=True)
    elif name == IRIS[0]:
        staged = Layered(network, bfv)
    else:
        staged = Monomial(network, Params.preset(BEST))
    return lambda: staged.run(sample)


def _serve(side: str) -> None:
    """Answers each task with the least time of some calls, in microseconds."""
    libraries: dict[tuple[str, str], Any] = {}
    calls: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        task = line.strip()
        if task not in calls:
            kind, name, degree = task.split(",")
            if kind == "iris":
                calls[task] = _iris(name, seal=side == SEAL)
            else:
                made = libraries.get((kind, degree))
                if made is None:
                    n = 1 << int(degree)
                    made = Seal(kind, n) if side == SEAL else Ours(seals_params(kind, n))
                    libraries[kind, degree] = made
                calls[task] = made.operation(name, LENGTHS[-1])
        call = calls[task]
        call()
        times: list[float] = []
        end = time.perf_counter() + TURN
        while len(times) < 3 or time.perf_counter() < end:
            started = time.perf_counter()
            call()
            times.append(time.perf_counter() - started)
        print(min(times) * 1e6, flush=True)


def _tasks(*, quick: bool) -> list[tuple[str, str, str]]:
    """Scheme, operation and logarithm of the degree; Iris besides."""
    degrees = LOG_DEGREES[:1] if quick else LOG_DEGREES
    vectors = [(s, name, str(d)) for d in degrees for s in SCHEMES for name in OPERATIONS]
    return vectors + [("iris", name, "10") for name in IRIS]


def reproduce(options: Options) -> Report:
    """Measures all operations in turns, each side in a process of its own."""
    best = _native.kernels()
    # AVX-512 without its 52-bit multipliers is for processors that have none.
    kernels = [best, *(name for name in KERNELS[KERNELS.index(best) + 1 :] if name != "avx512")]
    sides = {
        name: OtherProcess(__name__, name, threads=1, environment={"HESC_KERNELS": name})
        for name in kernels
    }
    if "seal" in options.peers:
        sides[SEAL] = OtherProcess(__name__, SEAL, threads=1)
    rounds = 1 if options.quick else 15
    rows: list[dict[str, Any]] = []
    by_kernels: dict[str, list[float]] = {name: [] for name in kernels}
    try:
        for task in options.track(_tasks(quick=options.quick), "measuring"):
            least = dict.fromkeys(sides, float("inf"))
            for _ in range(rounds):
                for name, side in sides.items():
                    least[name] = min(least[name], float(side.ask(",".join(task))))
            kind, operation, degree = task
            row: dict[str, Any] = {"candidate": f"{kind}.{degree}: {operation}", **least}
            if SEAL in sides:
                for name in kernels:
                    row[f"SEAL / {name}"] = least[SEAL] / least[name]
                    by_kernels[name].append(least[SEAL] / least[name])
            rows.append(row)
    finally:
        for side in sides.values():
            side.close()
    ratios: dict[str, float] = {}
    for name, values in by_kernels.items():
        if values:
            ratios[f"{name}.least"] = min(values)
            ratios[f"{name}.median"] = statistics.median(values)
            ratios[f"{name}.below_one"] = float(sum(value < 1 for value in values))
    return Report(
        IDENTIFIER,
        TITLE,
        "µs",
        rows,
        ratios=ratios,
        parameters={
            "kernels": kernels,
            "sets": {
                f"{scheme}.{d}": list(seals_params(scheme, 1 << d).coeff_moduli)
                for scheme in SCHEMES
                for d in LOG_DEGREES
            },
            "threads": 1,
        },
        repetitions=rounds,
        notes=[
            "least times of all rounds, in turns, each side in a process of its own with one "
            "thread; both libraries take SEAL's primes",
            "SEAL's wheel is built for the baseline of x86-64 without Intel HEXL: no AVX-512 "
            "is in it, so that it runs the same on all processors",
            "HESC_KERNELS takes fewer instructions than the processor has; CKKS's encoding "
            "(rustfft) and AES find theirs themselves on every row",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """SEAL's time over hesc's, a bar for each operation and kernels; without SEAL microseconds."""
    from hesc_papers.plots import figure

    columns = [key for key in report.rows[0] if key.startswith("SEAL / ")]
    if not columns:
        columns = [key for key in report.rows[0] if key in KERNELS]
    width = 1 / (len(columns) + 1)
    with figure(path, (0.3 * len(report.rows) + 3, 5)) as axes:
        for at, column in enumerate(columns):
            places = [i + at * width for i in range(len(report.rows))]
            axes.bar(places, [row[column] for row in report.rows], width=width, label=column)
        axes.axhline(1, color="black", linewidth=1)
        axes.set_yscale("log")
        names = [row["candidate"] for row in report.rows]
        axes.set_xticks(range(len(names)), names, rotation=90)
        axes.legend()


if __name__ == "__main__":
    _serve(sys.argv[1])

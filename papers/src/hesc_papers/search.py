"""`hesc:search`: one encrypted vector beside a million clear ones: time, bytes, memory, scores."""

from __future__ import annotations

import json
import statistics
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc import _native
from hesc_papers import plots
from hesc_papers.report import Report
from hesc_papers.search_cases import CODES, DENSE, Case
from hesc_papers.search_run import process

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:search"
TITLE: Final = "one encrypted vector beside a million clear ones, every score"
TARGETS: Final = {
    "search.128x6.1e4.server_T": 1000.0,
    "search.128x6.1e5.server_T": 1600.0,
    "search.128x6.1e6.server_T": 7500.0,
    "search.128x6.1e6.up_bytes": 21_500.0,
    "search.128x6.1e4.down_bytes": 35_000.0,
    "search.128x6.1e5.down_bytes": 300_000.0,
    "search.128x6.1e6.down_bytes": 2_900_000.0,
    "search.key_bytes": 1_200_000.0,
    "search.codes512_keyless.1e6.server_T": 15_000.0,
    "search.codes512_keyless.1e6.down_bytes_per_record": 3.8,
    "search.wrong": 0.0,
    "search.noise_over_law.max": 1.05,
    "search.memory_over_packed": 1.05,
    "search.neighbors_iris_bytes": 20_000.0,
}
"""What was asked for, at most."""
LEAST: Final = {"search.threads2": 1.6}
"""What was asked for, at least."""
ROOM: Final = 64e6
"""Bytes of memory that an index may take beside its packed words."""
APPLE: Final = {
    "case": "published: Apple, 128 x 4096",
    "server, ms": 10.4,
    "keys": 170_000,
    "up_bytes": 28_000,
    "down_bytes": 52_000,
}
APPLES: Final = 4096
"""Records of that."""


class Run(NamedTuple):
    """What a process is asked for."""

    case: Case
    records: int
    queries: int
    """Whose scores are all compared."""
    kernels: str = ""
    """Instead of those that the processor has."""

    @property
    def name(self) -> str:
        """What figures of it begin with."""
        return f"search.{self.case.name}.{_short(self.records)}"

    @property
    def label(self) -> str:
        """What its row is called."""
        return " ".join([self.case.name, _short(self.records), self.kernels]).strip()


def _short(records: int) -> str:
    digits = str(records).rstrip("0")
    return f"{digits}e{len(str(records)) - 1}" if len(digits) == 1 else str(records)


def runs(*, quick: bool) -> list[Run]:
    """All runs, least first; a hundred million scores and more are compared."""
    if quick:
        of = [Run(case, 10_000, 2) for case in (DENSE, CODES)]
    else:
        of = [
            Run(DENSE, APPLES, 10),
            Run(DENSE, 10_000, 100),
            Run(DENSE, 100_000, 100),
            Run(DENSE, 1_000_000, 90),
            *(Run(CODES, 10**power, 5) for power in (4, 5, 6)),
        ]
    slow = [run._replace(kernels="portable", queries=1) for run in of if run.records != APPLES]
    if _native.kernels() != "portable":
        of += slow[:1] if quick else slow
    return of


def reproduce(options: Options) -> Report:
    """Measures each case in a process of its own, on one thread."""
    rows, ratios = [], {}
    scores = wrong = 0
    for run in options.track(runs(quick=options.quick), "searches"):
        row = _asked(run, quick=options.quick)
        found = {"case": run.label} | row
        rows.append(found)
        scores, wrong = scores + row["scores"], wrong + row["wrong"]
        if run.kernels:
            best = run._replace(kernels="").label
            fast = next(other["server, ms"] for other in rows if other["case"] == best)
            ratios[f"{run.name}.{run.kernels}_over_best"] = row["server, ms"] / fast
        else:
            ratios |= _figures(run, row)
    ratios |= {"search.scores": float(scores), "search.wrong": float(wrong)}
    ratios |= _noise(quick=options.quick)
    ratios["search.memory_over_packed"] = _memory(quick=options.quick)
    ratios["search.threads2"] = _threads(quick=options.quick)
    ratios["search.neighbors_iris_bytes"] = _iris(None)
    ratios["search.neighbors_iris_bytes.6"] = _iris(6)
    rows.append(APPLE)
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="one query",
        rows=rows,
        ratios=ratios,
        parameters={"targets": TARGETS, "at least": LEAST},
        notes=[
            "server_T: the server's time for one query in transforms of 8192 points modulo 50 bits "
            "in the same process (see hesc:rings), medians of what it computed, one thread",
            "wrong: scores that are not those of numpy in whole numbers of 64 bits; all scores of "
            "all queries are compared, of vectors nearly as long as the plan allows",
            "128x6: 128 numbers of six bits, four blocks to a second part; codes512_keyless: 512 "
            "signs, no keys. numpy: the product of the same vectors in the clear, float32",
            "memory_over_packed: how far the process grew at most while it built an index and "
            f"answered, less {ROOM / 1e6:.0f} MB, over the words of the index",
            "Apple's figures (private nearest neighbours of swift-homomorphic-encryption, 10.4 to "
            "12.5 ms) are as published, of another machine, and were not measured here",
        ],
    )


def _asked(run: Run, *, quick: bool) -> dict[str, Any]:
    with closing(process(run.case, run.records, quick=quick, kernels=run.kernels)) as side:
        found: dict[str, Any] = json.loads(side.ask(f"whole {run.queries}"))
    return found


def _figures(run: Run, row: dict[str, Any]) -> dict[str, float]:
    """What documents quote of a run."""
    found = {
        f"{run.name}.server_T": row["server_T"],
        f"{run.name}.up_bytes": float(row["up_bytes"]),
        f"{run.name}.down_bytes": float(row["down_bytes"]),
        f"{run.name}.down_bytes_per_record": row["down_bytes"] / run.records,
        f"{run.name}.vs_numpy_float32": row["server, ms"] / row["numpy, ms"],
    }
    if run.case is DENSE:
        found |= {
            "search.key_bytes": float(row["keys"]),
            # Of the last run, which is the largest.
            "search.vs_numpy_float32": row["server, ms"] / row["numpy, ms"],
        }
    return found


def _noise(*, quick: bool) -> dict[str, float]:
    """The largest and the smallest of all keys, of spread records and of equal ones."""
    found: list[float] = []
    for case in (DENSE, CODES):
        with closing(process(case, 1, quick=quick)) as side:
            told = json.loads(side.ask(f"noise {1 if quick else 24}"))
        found += [*told["spread"], *told["equal"]]
    return {
        "search.noise_over_law.max": max(found),
        "search.noise_over_law.min": min(found),
    }


def _memory(*, quick: bool) -> float:
    records = 100_000 if quick else 1_000_000
    with closing(process(DENSE, records, quick=quick)) as side:
        found = json.loads(side.ask("memory"))
    return float((found["grown"] - ROOM) / found["packed"])


def _threads(*, quick: bool) -> float:
    """The time on one thread over that on two, in turns."""
    records, rounds = (30_000, 1) if quick else (1_000_000, 15)
    sides = {threads: process(DENSE, records, quick=quick, threads=threads) for threads in (1, 2)}
    times: dict[int, list[float]] = {threads: [] for threads in sides}
    try:
        for _ in range(rounds):
            for threads, side in sides.items():
                times[threads].append(json.loads(side.ask("answer"))["seconds"])
    finally:
        for side in sides.values():
            side.close()
    return statistics.median(times[1]) / statistics.median(times[2])


def _iris(bits: int | None) -> float:
    """Bytes of one flower's five nearest, up and down: of so many bits, or of those by default."""
    from sklearn.datasets import load_iris
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from hesc.ml import PrivateNeighbours, Search

    rows, classes = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), KNeighborsClassifier())
    private = PrivateNeighbours(model).fit(rows, classes)
    plan = private.plan(rows, Search(records="public", bits=bits), table=False)
    return float(sum(plan.sizes(1)))


def plot(report: Report, path: Path) -> None:
    """What was measured over what was asked for; of what was asked at least the inverse."""
    asked = [(name, report.ratios.get(name), most) for name, most in TARGETS.items() if most]
    inverse = [
        (f"1 / {name}", 1 / report.ratios[name], 1 / least)
        for name, least in LEAST.items()
        if name in report.ratios
    ]
    found = [(name, value, most) for name, value, most in asked if value is not None]
    plots.shares(report, path, found + inverse)

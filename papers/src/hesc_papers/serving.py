"""`hesc:serving`: a service over HTTP under load: throughput, latency, memory, and kills."""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc_papers.report import Report
from hesc_papers.serving_echo import PURE
from hesc_papers.serving_kills import budgets, killed
from hesc_papers.serving_run import (
    Book,
    Deployment,
    LoadProcess,
    ServerProcess,
    in_process,
    served,
)

if TYPE_CHECKING:
    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:serving"
TITLE: Final = "a service over HTTP under load"
PEERS: Final = ()
LEAST: Final = {"serving.echo_share": 0.5, "serving.budgeted_share": 0.3}
"""What was asked for, at least."""
TARGETS: Final = {
    "serving.p99_over_p50": 5.0,
    "serving.http_overhead_us": 150.0,
    "serving.rss_growth": 0.05,
    "serving.lost": 0.0,
    "serving.wrong": 0.0,
    "serving.over_budget": 0.0,
    "serving.charged_twice": 0.0,
}
"""What was asked for, at most."""
SHARE: Final = 0.6
"""Arrivals of which `p99_over_p50` is, over the capacity."""
LONG_SHARE: Final = 0.8
"""Arrivals of the long run."""
MANY: Final = 16
"""Connections by which capacity is measured."""
HOLDER: Final = "load"
_PIECE: Final = 10.0
"""Seconds of arrivals between two looks at memory."""


class Length(NamedTuple):
    """How long a study takes."""

    rounds: int
    seconds: float
    """Seconds of a run of load."""
    prepared: int
    """Queries that are encrypted before a run: more than it asks."""
    kills: int
    minutes: float
    """Minutes of the long run."""
    shares: tuple[float, ...]
    """Shares of the capacity at which latency is measured."""


QUICK: Final = Length(1, 0.1, 1500, 1, 0.03, (SHARE,))
FULL: Final = Length(7, 1.5, 6000, 100, 2.0, (0.2, 0.4, SHARE, 0.8, 0.9))


def kinds() -> list[str]:
    """What is measured, from bytes alone to the whole; the same without compiled parts."""
    plain = ["bare", "echo", "unkept", "whole"]
    return plain + [PURE + each for each in plain]


def reproduce(options: Options) -> Report:
    """Measures on loopback, server and clients in processes of their own."""
    length = QUICK if options.quick else FULL
    with TemporaryDirectory(prefix="hesc-serving-") as folder:
        return _reproduced(Path(folder), length, options)


def _reproduced(folder: Path, length: Length, options: Options) -> Report:
    others = os.getloadavg()[0]
    deployment = Deployment(folder)
    with LoadProcess(deployment) as load:
        rows, ratios = _throughput(folder, deployment, load, length, options)
        found, series = _latency(folder, deployment, load, length, options)
        ratios |= found
        ratios |= endured(folder, deployment, load, length.minutes)
    kill = killed(_folder(folder, "kills"), deployment, length.kills)
    audit = kill["audit"]
    ratios |= {
        "serving.kills": float(kill["kills"]),
        "serving.killed_answers": float(audit.answers),
        "serving.lost": float(audit.lost + len(audit.errors)),
        "serving.wrong": float(audit.wrong + sum(row["wrong"] for row in rows)),
        "serving.over_budget": float(audit.over_budget),
        "serving.charged_twice": float(audit.charged_twice),
        "serving.uncounted": float(audit.uncounted),
        "serving.restart_seconds": float(kill["restart, s"]),
    }
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="one sample of digits a query",
        rows=rows,
        ratios=ratios,
        parameters={
            "targets": TARGETS,
            "at least": LEAST,
            "used up": kill["used up"],
            "load average before": others,
            "length": length._asdict(),
        },
        series=series,
        notes=[
            "bare: the same server and settings with an application that reads the body, looks at "
            "no token and answers fixed bytes of the same number; echo: the service, which answers "
            "these; unkept: the service with a state that remembers nothing; whole: with answers "
            "and counts on the disk",
            f"shares: medians over rounds in which all take turns, of answers a second of {MANY} "
            "connections; .min and .max are of single rounds. Every query is fresh, and encrypted "
            "before a run; every answer is decrypted after it and held to the model in the clear",
            "parser and event loop are those that the command chooses, compiled ones where it "
            "finds them; rows that begin with `pure` have h11 and asyncio in any case",
            "http_overhead_us: the median latency of one connection without a state, less the "
            "median of the server's call in the same round, by the server's rows; both "
            "of fresh queries",
            f"p99_over_p50: arrivals of a Poisson process at {SHARE:.0%} of what {MANY} "
            "connections just had; they wait for no answer, and latency counts from the arrival",
            "kills end the process, not the machine: that what was written is on the disk after a "
            "loss of power is SQLite's and the disk's word",
        ],
        repetitions=length.rounds,
    )


def _folder(folder: Path, name: str) -> Path:
    made = folder / name.replace(" ", "-")
    made.mkdir()
    return made


def _throughput(
    folder: Path, deployment: Deployment, load: LoadProcess, length: Length, options: Options
) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Answers a second of all kinds of server in turns, and latency of one connection."""
    book = Book(_folder(folder, "throughput"), **{HOLDER: None})
    _, size = in_process(deployment, 2)
    servers: dict[str, ServerProcess] = {}
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    calls: list[float] = []
    try:
        for kind in kinds():
            servers[kind] = ServerProcess(kind, _folder(folder, kind), deployment, book, echo=size)
        for _ in options.track(range(length.rounds), "rounds"):
            calls.append(in_process(deployment, 200)[0])
            for kind, server in servers.items():
                for connections in (1, MANY):
                    load.prepare(length.prepared)
                    before = server.cpu
                    run = load.closed(
                        server,
                        book.tokens[HOLDER],
                        connections,
                        length.seconds,
                        same=kind.endswith(("bare", "echo")),
                    )
                    run["server"] = 1e6 * (server.cpu - before) / max(1, run["answers"])
                    runs.setdefault((kind, connections), []).append(run)
    finally:
        for server in servers.values():
            server.kill()
    rows = [_row(kind, connections, of) for (kind, connections), of in runs.items()]
    rows.append({"server": "none: the call in process", "p50, us": statistics.median(calls)})
    rows[-1]["wrong"] = 0
    return rows, _shares(runs, calls)


def _row(kind: str, connections: int, runs: list[dict[str, Any]]) -> dict[str, Any]:
    rates = [run["a second"] for run in runs]
    return {
        "server": kind,
        "connections": connections,
        "a second": statistics.median(rates),
        "least": min(rates),
        "most": max(rates),
        "p50, us": statistics.median(run["p50"] for run in runs),
        "p99, us": statistics.median(run["p99"] for run in runs),
        "server's cpu, us": statistics.median(run["server"] for run in runs),
        "load busy": max(run["load busy"] for run in runs),
        "refused": sum(run["refused"] for run in runs),
        "wrong": sum(run["wrong"] for run in runs),
    }


def _shares(
    runs: dict[tuple[str, int], list[dict[str, Any]]], calls: list[float]
) -> dict[str, float]:
    """Ratios of each round, their medians and their range."""
    found: dict[str, float] = {}

    def add(name: str, values: list[float]) -> None:
        found[name] = statistics.median(values)
        found[f"{name}.min"], found[f"{name}.max"] = min(values), max(values)

    def rates(kind: str) -> list[float]:
        return [run["a second"] for run in runs[kind, MANY]]

    def over(one: str, other: str) -> list[float]:
        return [a / b for a, b in zip(rates(one), rates(other), strict=True)]

    def overhead(kind: str) -> list[float]:
        return [run["p50"] - call for run, call in zip(runs[kind, 1], calls, strict=True)]

    for prefix, label in (("", "serving"), (PURE, "serving.pure")):
        if (prefix + "echo", 1) in runs:
            add(f"{label}.echo_share", over(prefix + "unkept", prefix + "echo"))
            add(f"{label}.bare_share", over(prefix + "unkept", prefix + "bare"))
            add(f"{label}.budgeted_share", over(prefix + "whole", prefix + "unkept"))
            add(f"{label}.http_overhead_us", overhead(prefix + "unkept"))
    found["serving.load_busy"] = max(run["load busy"] for of in runs.values() for run in of)
    return found


def _latency(
    folder: Path, deployment: Deployment, load: LoadProcess, length: Length, options: Options
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Quantiles at shares of the capacity, each right after the capacity was measured."""
    book = Book(_folder(folder, "latency"), **{HOLDER: None})
    token = book.tokens[HOLDER]
    runs: dict[float, list[dict[str, Any]]] = {share: [] for share in length.shares}
    with served("whole", folder / "latency", deployment, book) as server:
        for number in options.track(range(-(-length.rounds // 3)), "latency"):
            for share, of in runs.items():
                capacity = _capacity(load, server, token, length)
                load.prepare(length.prepared)
                seconds = 4 * length.seconds
                of.append(load.open(server, token, share * capacity, seconds, seed=number))
    series: dict[str, list[float]] = {"share": list(runs)}
    for name in ("p50", "p90", "p99", "late"):
        series[name] = [statistics.median(run[name] for run in of) for of in runs.values()]
    ratios = [run["p99"] / run["p50"] for run in runs[SHARE]]
    found = {
        "serving.p99_over_p50": statistics.median(ratios),
        "serving.p99_over_p50.min": min(ratios),
        "serving.p99_over_p50.max": max(ratios),
        "serving.refused": float(sum(run["refused"] for of in runs.values() for run in of)),
    }
    return found, series


def _capacity(load: LoadProcess, server: ServerProcess, token: str, length: Length) -> float:
    load.prepare(length.prepared)
    return float(load.closed(server, token, MANY, length.seconds)["a second"])


def endured(
    folder: Path, deployment: Deployment, load: LoadProcess, minutes: float
) -> dict[str, float]:
    """Figures of some minutes at 80 % of the capacity that is measured before.

    Args:
        folder: where the service keeps its state.
        deployment: what is served.
        load: who asks.
        minutes: how long.

    """
    place = _folder(folder, "endured")
    book = Book(place, **{HOLDER: None})
    token = book.tokens[HOLDER]
    memory: list[int] = []
    files: list[int] = []
    runs: list[dict[str, Any]] = []
    with served("whole", place, deployment, book) as server:
        load.prepare(QUICK.prepared)
        warm = load.closed(server, token, MANY, min(3.0, 20 * minutes))
        capacity = warm["a second"]
        piece = min(_PIECE, 60 * minutes / 3)
        for number in range(max(2, round(60 * minutes / piece))):
            runs.append(load.open(server, token, LONG_SHARE * capacity, piece, seed=number))
            memory.append(server.memory)
            files.append(server.files)
        again = load.again(server, token)
        given = budgets(server, deployment.digest, token)["answers"]["given"]
    answers = sum(run["answers"] for run in runs)
    first = statistics.median(memory[: max(1, len(memory) // 10)])
    last = statistics.median(memory[-max(1, len(memory) // 10) :])
    return {
        "serving.rss_growth": last / first - 1,
        "serving.rss_mb": last / 1e6,
        "serving.files_growth": float(files[-1] - files[0]),
        "serving.long_minutes": minutes,
        "serving.long_rate": LONG_SHARE * capacity,
        "serving.long_answers": float(answers),
        "serving.long_miscounted": float(abs(given - answers - warm["answers"])),
        "serving.long_refused": float(sum(run["refused"] for run in runs)),
        "serving.long_reconnected": float(sum(run["broken"] for run in runs)),
        "serving.long_wrong": float(sum(run["wrong"] for run in runs)),
        "serving.long_lost": float(again["lost"]),
        "serving.long_p99_over_p50": statistics.median(run["p99"] / run["p50"] for run in runs),
    }


def plot(report: Report, path: Path) -> None:
    """Latency over load, and answers a second of each kind of server."""
    from hesc_papers.plots import figure

    with figure(path, (11, 4.6), (1, 2)) as (left, right):
        shares = report.series["share"]
        for name, colour in (("p50", "tab:green"), ("p90", "tab:olive"), ("p99", "tab:red")):
            values = [value / 1000 for value in report.series[name]]
            left.plot(shares, values, marker="o", color=colour, label=name)
        left.set_xlim(0, 1)
        left.set_ylim(0)
        left.set_xlabel("arrivals over capacity")
        left.set_ylabel("milliseconds from the arrival")
        left.set_title("Latency, exact budgets on the disk")
        left.legend()
        rows = [row for row in report.rows if row.get("connections") == MANY][::-1]
        rates = [row["a second"] for row in rows]
        spread = [
            [rate - row["least"] for rate, row in zip(rates, rows, strict=True)],
            [row["most"] - rate for rate, row in zip(rates, rows, strict=True)],
        ]
        bars = right.barh([row["server"] for row in rows], rates, xerr=spread, color="tab:green")
        for row, bar in zip(rows, bars, strict=True):
            middle = bar.get_y() + bar.get_height() / 2
            right.text(row["most"], middle, f"  {row['a second']:,.0f}", va="center")
        right.set_xlim(0, 1.2 * max(row["most"] for row in rows))
        right.set_xlabel(f"answers a second, {MANY} connections")

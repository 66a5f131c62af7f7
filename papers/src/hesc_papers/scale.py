"""`hesc:scale`: batches on several workers: shares of time, kills, memory, and parts of an index.

`python -m hesc_papers.scale_run memory FOLDER 10000000 2 16384` is the long case by itself.
"""

from __future__ import annotations

import os
import statistics
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import HescError
from hesc._support.extras import install_line, installed
from hesc_papers.report import Report
from hesc_papers.scale_run import Place, case

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:scale"
TITLE: Final = "batches on processes and clusters"
PEERS: Final = ("long",)
LEAST: Final = {
    "scale.ray_two_workers": 1.7,
    "scale.ray_two_workers_search": 1.7,
    "scale.ray_two_workers_linkage": 1.7,
}
"""What was asked for, at least, where two cores are free."""
TARGETS: Final = {
    "scale.ray_overhead": 0.15,
    "scale.lost": 0.0,
    "scale.twice": 0.0,
    "scale.wrong": 0.0,
    "scale.over_budget": 0.0,
}
"""What was asked for, at most."""


class Size(NamedTuple):
    """How much a study works on."""

    rounds: int
    rows: tuple[int, ...]
    """Rows of scoring, the last of which overhead is stated at."""
    shared: int
    """Rows of scoring that two workers share: seconds of work for each second of their start."""
    batch: int
    records: int
    queries: int
    people: int
    killed: int
    """Rows over which a node is killed."""
    counted: int
    """Queries of hidden weights over which a node is killed."""
    memory: tuple[int, ...]
    """Rows of a file that are scored, to see what memory does."""


QUICK: Final = Size(
    rounds=1,
    rows=(500, 1000),
    shared=2000,
    batch=250,
    records=9000,
    queries=32,
    people=500,
    killed=2000,
    counted=6,
    memory=(2000,),
)
FULL: Final = Size(
    rounds=3,
    rows=(10_000, 30_000, 100_000),
    shared=500_000,
    batch=4096,
    records=200_000,
    queries=4096,
    people=40_000,
    killed=100_000,
    counted=48,
    memory=(100_000, 1_000_000),
)
LONG: Final = FULL._replace(memory=(1_000_000, 10_000_000))
"""With `--peer long`: a file of ten million rows, some seven gigabytes, twenty minutes or more."""


def reproduce(options: Options) -> Report:
    """Measures; each case in a process of its own, workers of one thread each.

    Raises:
        HescError: ray is not installed.

    """
    if installed("ray") is None:
        raise HescError(f"this study measures clusters of Ray: {install_line('ray')}")
    size = QUICK if options.quick else (LONG if "long" in options.peers else FULL)
    with TemporaryDirectory(prefix="hesc-scale-") as folder:
        place = Place(Path(folder))
        place.deploy_scores()
        place.deploy_search(size.records)
        return _reproduced(place, size, options)


def _reproduced(place: Place, size: Size, options: Options) -> Report:
    others = os.getloadavg()[0]
    rows: list[dict[str, Any]] = []
    ratios = _scoring(place, size, options.track(range(size.rounds), "scoring"), rows)
    for name, what, asked in (
        ("search", f"{size.records:,} records", size.queries),
        ("linkage", f"{size.people:,} people", size.people),
    ):
        tracked = options.track(range(size.rounds), name)
        ratios |= _by_two(place, name, what, asked, tracked, rows)
    ratios["scale.search_parts_wrong"] = float(case("parts", place, 2)["wrong"])
    ratios |= _killed(place, size, rows)
    ratios |= _memory(place, size, rows)
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="seconds, start and all",
        rows=rows,
        ratios=ratios,
        parameters={
            "targets": TARGETS,
            "at least": LEAST,
            "load average before": others,
            "size": size._asdict(),
        },
        notes=[
            "plain: one call in one process, callables made before. Ray: map_batches on a local "
            "cluster whose nodes have one processor each, start included; processes of the "
            "cluster were there before, but for ray_first_start_s",
            "rows: of scores and files; queries of a search; people of each party of a linkage, "
            "of which the first pass is linked, in blocks that are padded to one size",
            "two workers: medians over rounds of the time of one over that of two; they tell what "
            "two cores do where nobody else works (load average before, in parameters)",
            "running: without the seconds that a row, query or block a worker took just before, "
            "ray_start_s: of small tables these are nearly all, and differences are noise",
            "overhead: one worker's time over the plain call's, less one, at the most rows",
            "kills: of three nodes one ends by SIGKILL when a quarter is done. Lost, twice and "
            "wrong count rows of a dataset, and queries of hidden weights that are counted in a "
            "state; wrong: a score that is ten of its errors from that of an undisturbed run",
            "rss_mb: of the process that reads, writes and counts; worker_rss_mb: the most that a "
            "worker ever had",
        ],
        repetitions=size.rounds,
    )


def _scoring(
    place: Place, size: Size, rounds: Iterable[int], rows: list[dict[str, Any]]
) -> dict[str, float]:
    """Plain calls, processes and clusters in turns."""
    found: dict[tuple[str, int], list[float]] = {}
    running: dict[tuple[str, int], list[float]] = {}
    starts: list[float] = []
    first: list[float] = []

    def add(kind: str, count: int, result: dict[str, Any]) -> None:
        if result["rows"] != count:
            raise RuntimeError(f"{kind} gave {result['rows']} rows of {count}")
        found.setdefault((kind, count), []).append(result["seconds"])
        if "start" in result:
            running.setdefault((kind, count), []).append(result["seconds"] - result["start"])
            starts.append(result["start"])
            first.append(result["first"])

    most = size.rows[-1]
    for _ in rounds:
        for count in size.rows:
            add("plain", count, case("plain", place, count))
        add("ray 1", most, case("ray", place, most, 1, size.batch))
        for workers in (1, 2):
            add(f"processes {workers}", most, case("engine", place, most, workers, size.batch))
            by_ray = case("ray", place, size.shared, workers, size.batch)
            add(f"ray {workers}", size.shared, by_ray)
    for (kind, count), seconds in found.items():
        rows.append(_row(f"scores: {kind}", count, seconds))
        rows[-1]["us a row"] = 1e6 * statistics.median(seconds) / count

    medians = [statistics.median(found["plain", count]) for count in size.rows]
    ray, two = (found[f"ray {workers}", size.shared] for workers in (1, 2))
    processes = [found[f"processes {workers}", most] for workers in (1, 2)]
    plain = found["plain", most]
    return {
        "scale.ray_two_workers": _over(ray, two),
        "scale.ray_overhead": _over(found["ray 1", most], plain) - 1,
        "scale.ray_start_s": statistics.median(starts),
        "scale.ray_first_start_s": statistics.median(first),
        "scale.ray_two_workers.running": _over(
            running["ray 1", size.shared], running["ray 2", size.shared]
        ),
        "scale.ray_overhead.running": _over(running["ray 1", most], plain) - 1,
        "scale.processes_two_workers": _over(*processes),
        "scale.processes_overhead": _over(processes[0], plain) - 1,
        "scale.scoring_exponent": _power(size.rows, medians),
        "scale.rows_a_core_second": most / medians[-1],
        "scale.cores_for_1e9_an_hour": 1e9 * medians[-1] / most / 3600,
    }


def _row(what: str, count: int, seconds: list[float]) -> dict[str, Any]:
    middle = statistics.median(seconds)
    return {
        "what": what,
        "rows": count,
        "seconds": middle,
        "least": min(seconds),
        "most": max(seconds),
    }


def _over(one: list[float], other: list[float]) -> float:
    """The median of ratios, each of one round."""
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def _by_two(
    place: Place,
    name: str,
    what: str,
    asked: int,
    rounds: Iterable[int],
    rows: list[dict[str, Any]],
) -> dict[str, float]:
    """The same work by a worker of a cluster and by two."""
    found: dict[int, list[float]] = {1: [], 2: []}
    running: dict[int, list[float]] = {1: [], 2: []}
    for _ in rounds:
        for workers, seconds in found.items():
            result = case(name, place, asked, workers)
            seconds.append(result["seconds"])
            running[workers].append(result["seconds"] - result["start"])
    rows += [_row(f"{name}: ray {n}, {what}", asked, seconds) for n, seconds in found.items()]
    return {
        f"scale.ray_two_workers_{name}": _over(found[1], found[2]),
        f"scale.ray_two_workers_{name}.running": _over(running[1], running[2]),
    }


def _killed(place: Place, size: Size, rows: list[dict[str, Any]]) -> dict[str, float]:
    blocks = max(8, size.killed // 2500)
    dataset = case("killed dataset", place, size.killed, blocks)
    counted = [
        case("killed budget", place, size.counted),
        case("killed engine", place, size.counted),
    ]
    rows.append({"what": "killed: dataset", "rows": dataset["rows"]})
    rows += [
        {"what": f"killed: {name}", "rows": each["queries"]}
        for name, each in zip(("budget of a dataset", "budget of the engine"), counted, strict=True)
    ]
    return {
        "scale.lost": float(dataset["lost"] + sum(each["lost"] for each in counted)),
        "scale.twice": float(dataset["twice"] + sum(each["twice"] for each in counted)),
        "scale.wrong": float(dataset["wrong"] + sum(each["other answers"] for each in counted)),
        "scale.over_budget": float(
            sum(abs(each["charged"]) + abs(each["numbers"]) for each in counted)
        ),
    }


def _memory(place: Place, size: Size, rows: list[dict[str, Any]]) -> dict[str, float]:
    """Memory over files of several lengths; the longest is stated."""
    found = [case("memory", place, count, 2, size.batch, timeout=36_000) for count in size.memory]
    rows += [
        {
            "what": f"file: {each['rows']:,} rows, two processes",
            "rows": each["rows"],
            "seconds": each["seconds"],
            "rss, MB": each["rss_mb"],
            "a worker's, MB": each["worker_rss_mb"],
        }
        for each in found
    ]
    longest = found[-1]
    return {
        "scale.rows": float(longest["rows"]),
        "scale.rss_mb": longest["rss_mb"],
        "scale.worker_rss_mb": longest["worker_rss_mb"],
        "scale.rss_growth": longest["growth"],
        "scale.rss_over_shorter": longest["rss_mb"] / found[0]["rss_mb"] - 1,
    }


def _power(x: Iterable[float], y: Iterable[float]) -> float:
    """The slope of a line through the logarithms."""
    return float(np.polyfit(np.log(list(x)), np.log(list(y)), 1)[0])


def plot(report: Report, path: Path) -> None:
    """Seconds of each way to score, search and link."""
    from hesc_papers.plots import figure

    with figure(path, (13, 4.2), (1, 3)) as all_axes:
        for axes, kind in zip(all_axes, ("scores", "search", "linkage"), strict=True):
            shown = [row for row in report.rows if row["what"].startswith(kind)][::-1]
            names = [
                f"{row['what'].split(': ')[1].split(',')[0]}, {row['rows']:,}" for row in shown
            ]
            bars = axes.barh(names, [row["seconds"] for row in shown], color="tab:green")
            axes.bar_label(bars, fmt=" %.3g", fontsize=8)
            axes.margins(x=0.15)
            axes.set_xlabel("seconds, start and all")
            axes.set_title(kind)

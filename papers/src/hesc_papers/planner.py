"""Does the planner choose well? Every feasible way of many tasks is run beside its prediction."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from hesc._support.shares import surprise
from hesc.planner import Calibration, ClassProblem, decide
from hesc.planner.calibrating import calibrate
from hesc.planner.decision import objective
from hesc_papers.planner_problems import made
from hesc_papers.planner_tasks import FIRST, FRESH, PARTS, fresh, later, names, part_of
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.planner import Task

IDENTIFIER: Final = "hesc:planner"
TITLE: Final = "the planner: its choices beside every feasible way, run"
PEERS: Final = ()
REPETITIONS: Final = 7
QUICK: Final = slice(7, None, 23)
"""Which tasks of the first part, and none of the others: of all four problems and settings."""
QUICK_REPETITIONS: Final = 1
MOST_SECONDS: Final = 1.0
"""Ways that are predicted to take longer are run once, beyond five times as long not at all."""
QUICK_SECONDS: Final = 0.2
WITHIN: Final = 0.2
LONG: Final = 1e-4
"""Seconds of a run whose prediction counts in the fresh sets."""
FALSE_ALARM: Final = 1e-6
"""The probability of a false alarm for each error that is compared with what is allowed."""
TARGETS: Final = {
    "regret.median": "<= 1.05",
    "regret.p95": "<= 1.25",
    "violations": "0",
    "predicted_within_20": ">= 0.9",
}


class _Effort(NamedTuple):
    """How ways are run."""

    repetitions: int
    seconds: float
    """Seconds beyond which ways are run once, as `MOST_SECONDS`."""


def reproduce(options: Options) -> Report:
    """Calibrates, then decides and runs, on one thread."""
    # Numpy's products of matrices have threads of their own.
    with threadpool_limits(1):
        return _reproduced(options)


def _reproduced(options: Options) -> Report:
    begin = time.perf_counter()
    # To time all kernels takes longer than all other quick steps: those are what `decide` takes.
    calibration = Calibration.load() if options.quick else calibrate(progress=False)
    effort = (
        _Effort(QUICK_REPETITIONS, QUICK_SECONDS)
        if options.quick
        else _Effort(REPETITIONS, MOST_SECONDS)
    )
    chosen = [*names(), *later(), *(name for part in FRESH for name in fresh()[part])]
    if options.quick:
        chosen = [name for name in chosen if part_of(name) == FIRST][QUICK]
    rows: list[dict[str, Any]] = []
    tasks: list[dict[str, Any]] = []
    for name in options.track(chosen, "tasks"):
        found = _run(name, calibration, effort)
        rows += found[1]
        tasks += found[0]
    ratios = {"tasks without any way": float(len(chosen) - len(tasks))}
    for part in PARTS[:1] if options.quick else PARTS:
        ratios |= _ratios(tasks, rows, part)
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="tasks",
        rows=_by_way(tasks, rows),
        ratios=ratios,
        parameters={"calibration": calibration.source, "tasks": tasks, "runs": rows},
        notes=[
            "regret: the objective of the chosen way, measured, over the least measured one; "
            f"asked: {', '.join(f'{name} {value}' for name, value in TARGETS.items())}",
            "violations are of errors, beside what a way states and what is allowed; what is shown "
            "to whom is refused by one function before anything runs",
            "predicted_within_20: at the processor's speed beside each run, by a reference kernel "
            "timed there and while it was calibrated; as_calibrated: without that",
            f"estimates predicted to take more than {5 * effort.seconds:.0f} s are not run",
            "errors of classes are shares of samples whose class differs",
            f"{time.perf_counter() - begin:.0f} s in all, one thread",
        ],
        repetitions=effort.repetitions,
    )


def _by_way(
    tasks: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    found = []
    for way in sorted({row["way"] for row in rows}):
        mine = [row for row in rows if row["way"] == way]
        off = [_ratio(row) for row in mine]
        found.append(
            {
                "way": way,
                "runs": len(mine),
                "chosen": sum(task["chosen"] == way for task in tasks),
                "best": sum(task["best"] == way for task in tasks),
                "within 20 %": float(np.mean([abs(ratio - 1) <= WITHIN for ratio in off])),
                "predicted / measured": float(np.median(off)),
                "error / stated": max(
                    (row["error"] / row["stated"] for row in mine if row["stated"]), default=0.0
                ),
            }
        )
    return found


def _run(
    name: str, calibration: Calibration, effort: _Effort
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    task, x = made(name)
    decision = decide(task, calibration=calibration)
    if not decision.estimates:
        return [], []
    decision.measure(x, repetitions=effort.repetitions, most=effort.seconds)
    rows: list[dict[str, Any]] = []
    for estimate in decision.estimates:
        found = decision.measured.get(estimate.way)
        if found is None:
            continue
        cost = objective(task, found.seconds, found)
        # Errors are of many numbers; one number in a sample stands for all that share its noise.
        rows.append(
            {
                "task": name,
                "way": estimate.way,
                "parameters": estimate.parameters,
                "predicted": estimate.seconds(calibration.times),
                "expected": decision.expected(estimate),
                "seconds": found.seconds,
                "reference": found.reference,
                "predicted_cost": decision.cost(estimate),
                "cost": cost,
                "up": found.up,
                "down": found.down,
                "bytes_as_predicted": (found.up, found.down, found.held)
                == (estimate.up, estimate.down, estimate.held),
                "error": found.error,
                "stated": estimate.error,
                "allowed": task.max_error,
                # Exact ways have to be exact.
                "violation": _violates(found.error, min(estimate.error, task.max_error), task),
            }
        )
    if not rows:
        return [], []
    best = min(rows, key=lambda row: row["cost"])
    mine = next((row for row in rows if row["way"] == decision.chosen.way), None)
    return [
        {
            "task": name,
            "part": part_of(name),
            "chosen": decision.chosen.way,
            "best": best["way"],
            "regret": _regret(mine, best),
            "timed": len(decision.estimates) > 1 and task.objective in {"latency", "throughput"},
            "not_run": [
                estimate.way
                for estimate in decision.estimates
                if estimate.way not in decision.measured
            ],
            "features": task.problem.features,
            "samples": task.samples,
            "problem": task.problem.name,
            "setting": task.setting,
            "objective": task.objective,
            "ways": len(rows),
            "refused": {one.way: one.reason for one in decision.infeasible},
        }
    ], rows


def _regret(mine: dict[str, Any] | None, best: dict[str, Any]) -> float:
    if mine is best:
        return 1.0
    if mine is None or not best["cost"]:
        return math.inf
    return float(mine["cost"] / best["cost"])


def _violates(error: float, stated: float, task: Task) -> bool:
    """Whether an error is above what is stated by more than chance, rarely, explains."""
    if isinstance(task.problem, ClassProblem):
        return error > stated and surprise(error, task.samples, stated) > math.log(1 / FALSE_ALARM)
    return error > stated * _slack(task.samples)


def _slack(samples: int) -> float:
    """How far the root mean square of so many normal errors is above its deviation, rarely.

    By the tail of chi-square (Laurent and Massart 2000); outputs of a sample count as one.
    """
    tail = math.log(1 / FALSE_ALARM)
    return math.sqrt(1 + 2 * math.sqrt(tail / samples) + 2 * tail / samples)


def _ratio(row: dict[str, Any], name: str = "expected") -> float:
    """Predicted over measured; what was not predicted is off by all of it."""
    return float((row[name] or 0.0) / row["seconds"])


def _ratios(
    tasks: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]], part: str
) -> dict[str, float]:
    suffix = f", {part}" if part else ""
    some = [task for task in tasks if task["part"] == part]
    mine = [row for row in rows if part_of(row["task"]) == part]
    regrets = [task["regret"] for task in some]
    timed = [task["regret"] for task in some if task["timed"]]
    if part in FRESH:
        mine = [row for row in mine if row["seconds"] >= LONG]
    near = [abs(_ratio(row) - 1) <= WITHIN for row in mine]
    as_calibrated = [abs(_ratio(row, "predicted") - 1) <= WITHIN for row in mine]
    return {
        f"tasks{suffix}": float(len(some)),
        f"runs{suffix}": float(len(mine)),
        f"regret.median{suffix}": float(np.median(regrets)),
        f"regret.p95{suffix}": float(np.quantile(regrets, 0.95)),
        f"tasks where times decide{suffix}": float(len(timed)),
        f"regret.timed.median{suffix}": float(np.median(timed)) if timed else 1.0,
        f"regret.timed.p95{suffix}": float(np.quantile(timed, 0.95)) if timed else 1.0,
        f"estimates not run{suffix}": float(sum(len(task["not_run"]) for task in some)),
        f"violations{suffix}": float(sum(row["violation"] for row in mine)),
        f"predicted_within_20{suffix}": float(np.mean(near)),
        f"predicted_within_20.as_calibrated{suffix}": float(np.mean(as_calibrated)),
        f"bytes_as_predicted{suffix}": float(np.mean([row["bytes_as_predicted"] for row in mine])),
    }


def plot(report: Report, path: Path) -> None:
    """A decision map: for each problem and setting, which way won, by features and samples."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    tasks: list[dict[str, Any]] = report.parameters["tasks"]
    panels = sorted({(task["problem"], task["setting"]) for task in tasks})
    ways = sorted({task["best"] for task in tasks})
    columns = min(3, len(panels))
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(4.2 * columns, 3.4 * lines + 0.8), layout="constrained")
    axes = np.atleast_1d(figure.subplots(lines, columns, squeeze=False)).ravel()
    marks = dict(zip(ways, "osD^vP*Xh<>", strict=False))
    rng = np.random.default_rng(0)
    for axis, (problem, setting) in zip(axes, panels, strict=False):
        for task in tasks:
            if (task["problem"], task["setting"]) != (problem, setting):
                continue
            across = int(task["task"].split("/")[1]) if problem == "products" else task["features"]
            # Tasks of one place lie beside each other.
            x, y = np.array([across, task["samples"]]) * np.exp(rng.uniform(-0.12, 0.12, 2))
            axis.plot(
                x,
                y,
                marks[task["best"]],
                color=f"C{ways.index(task['best'])}",
                markersize=6,
                alpha=0.8,
                markeredgewidth=0,
            )
        axis.set(xscale="log", yscale="log", title=f"{problem}, {setting}", ylabel="samples")
        axis.set_xlabel({"products": "factors", "distances": "bits"}.get(problem, "features"))
    for axis in axes[len(panels) :]:
        axis.remove()
    handles = [
        Line2D([], [], marker=marks[way], color=f"C{at}", linestyle="", label=way)
        for at, way in enumerate(ways)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(ways)))
    figure.suptitle("which way costs least by each task's objective, as measured")
    figure.savefig(path, dpi=120)

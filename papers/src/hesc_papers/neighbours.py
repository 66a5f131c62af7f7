"""`hesc:neighbours`: how often rounding keeps the class of exact neighbours, and its cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from hesc.ml import PrivateNeighbours, Search
from hesc.protocols.measuring import measure
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.search import SearchPlan

IDENTIFIER: Final = "hesc:neighbours"
TITLE: Final = "Classes by the five nearest of rounded features, beside exact neighbours"

SETS: Final = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
BITS: Final = (4, 5, 6, 7, 8, 10)
SPLITS: Final = 10
QUICK_ROWS: Final = 50
"""Rows that are encrypted, at most."""


def model(name: str) -> Any:
    """Neighbours behind a scaler; pixels have one scale already."""
    neighbours = KNeighborsClassifier()
    return neighbours if name == "digits" else make_pipeline(StandardScaler(), neighbours)


class Split:
    """A data set in two, and neighbours that are fitted to the first part."""

    def __init__(self, name: str, seed: int) -> None:
        x, y = SETS[name](return_X_y=True)
        self.trained, self.rows, labels, self.truth = train_test_split(x, y, random_state=seed)
        self.private = PrivateNeighbours(model(name)).fit(self.trained, labels)
        self.clear = self.private.predict(self.rows)

    def _planned(self, **options: Any) -> SearchPlan:
        plan: SearchPlan = self.private.plan(
            self.trained, Search(records="public", min_agreement=0, **options)
        )
        return plan

    def tried(self, bits: int) -> dict[str, float]:
        """Classes by rounded features in the clear: encrypted ones give the same."""
        plan = self._planned(bits=bits)
        found = self.private.predict(self.rows, fhe="simulate", clip=True)
        size = plan.sizes()
        return {
            "kept": float(np.mean(found == self.clear)),
            "stated": plan.agreement or 0.0,
            "accuracy": float(np.mean(found == self.truth)),
            "exact": float(np.mean(self.clear == self.truth)),
            "up, kB": size.up / 1e3,
            "down, kB": size.down / 1e3,
        }

    def served(self, most: int | None) -> dict[str, float]:
        """Bytes and times of encrypted rows; their classes are checked."""
        plan = self._planned()
        # Rows that are farther than declared are left out: runs are of rows as they are.
        near = np.array([not plan.prepared(row[None], clip=True).samples for row in self.rows])
        rows = self.rows[near][:most]
        expected = self.private.predict(rows, fhe="simulate")
        client = self.private.client()
        server = self.private.server(keys=client.public_keys() if plan.needs_keys else None)
        run = measure(client, server, rows, np.zeros(len(rows)), expected)
        if run is None or run.same != len(rows):
            raise RuntimeError("encrypted features give other classes than features in the clear")
        return {
            "samples": len(rows),
            "all up, MB": run.sizes.up / 1e6,
            "all down, MB": run.sizes.down / 1e6,
            **{f"{step}, ms": 1000 * seconds for step, seconds in run.seconds.items()},
        }


def reproduce(options: Options) -> Report:
    """Splits each data set, and compares classes by rounded features with exact neighbours'."""
    # Neighbours in the clear are not timed, and on few rows numpy's threads wait for each other.
    with threadpool_limits(1):
        return _reproduced(options)


def _reproduced(options: Options) -> Report:
    splits = 1 if options.quick else SPLITS
    rows: list[dict[str, Any]] = []
    for name in options.track(list(SETS), "data sets"):
        parts = [Split(name, seed) for seed in range(splits)]
        served = parts[0].served(QUICK_ROWS if options.quick else None)
        for bits in BITS:
            tries = [part.tried(bits) for part in parts]
            mean = {key: float(np.mean([found[key] for found in tries])) for key in tries[0]}
            row = {
                "data": f"{name}, {bits} bits",
                "kept, %": 100 * mean["kept"],
                "least, %": 100 * min(found["kept"] for found in tries),
                "stated, %": 100 * mean["stated"],
                "accuracy, %": 100 * mean["accuracy"],
                "exact, %": 100 * mean["exact"],
                "up, kB": mean["up, kB"],
                "down, kB": mean["down, kB"],
            }
            rows.append({**row, **(served if bits == max(BITS) else {})})
    longest = [row for row in rows if row["data"].endswith(f"{max(BITS)} bits")]
    return Report(
        IDENTIFIER,
        TITLE,
        "shares of rows that training has not seen; bytes and times of all samples of a run",
        rows,
        ratios={
            "neighbours.kept.least": min(row["kept, %"] for row in longest) / 100,
            "neighbours.accuracy_lost.most": max(
                row["exact, %"] - row["accuracy, %"] for row in longest
            )
            / 100,
            "neighbours.stated_less_kept.most": max(
                abs(row["stated, %"] - row["kept, %"]) for row in longest
            )
            / 100,
        },
        repetitions=splits,
        notes=[
            "kept: rows with the class of exact neighbours, the mean and the least of all splits; "
            "stated: what plans say before, on training rows that are not their own neighbours",
            "up, down: bytes of one sample, with keys that are given once where that is less",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Classes that stay, by bits of a feature."""
    from hesc_papers.plots import figure

    with figure(path, (7, 4)) as axes:
        for name, mark in zip(SETS, "os^D", strict=True):
            kept = [
                row["kept, %"]
                for bits in BITS
                for row in report.rows
                if row["data"] == f"{name}, {bits} bits"
            ]
            axes.plot(BITS, kept, f"{mark}-", label=name)
        axes.set_xticks(BITS)
        axes.set_xlabel("bits of a feature")
        axes.set_ylabel("rows with the class of exact neighbours, %")
        axes.legend(loc="lower right")
        axes.set_title("Five nearest neighbours of rounded features")

"""`hesc:neighbours`: how often codes keep the class of exact neighbours, and at what cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hesc.codes import unpacked
from hesc.ml import Neighbours, PrivateNeighbours
from hesc.protocols.measuring import measure
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options
    from hesc.ml import NeighboursPlan

IDENTIFIER: Final = "hesc:neighbours"
TITLE: Final = "Classes by the five nearest of binary codes, beside exact neighbours"

SETS: Final = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
BITS: Final = (64, 128, 256, 512, 960)
SPLITS: Final = 10


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
        self.seed = seed

    def _planned(self, **options: Any) -> NeighboursPlan:
        plan: NeighboursPlan = self.private.plan(
            self.trained, Neighbours(min_agreement=0, random_state=self.seed, **options)
        )
        return plan

    def tried(self, bits: int) -> dict[str, float]:
        """Classes by codes that are compared in the clear: encrypted ones give the same."""
        plan = self._planned(bits=bits)
        found = self.private.predict(self.rows, fhe="simulate")
        return {
            "kept": float(np.mean(found == self.clear)),
            "stated": plan.agreement or 0.0,
            "accuracy": float(np.mean(found == self.truth)),
            "exact": float(np.mean(self.clear == self.truth)),
            "records found": recovered(plan, plan.prepared(self.trained).features),
        }

    def served(self) -> dict[str, float]:
        """Bytes and times of encrypted rows; their classes are checked."""
        self._planned()
        rows = self.rows
        expected = self.private.predict(rows, fhe="simulate")
        run = measure(
            self.private.client(), self.private.server(), rows, np.zeros(len(rows)), expected
        )
        if run is None or run.same != len(rows):
            raise RuntimeError("encrypted codes give other classes than codes in the clear")
        return {
            "samples": len(rows),
            "up, MB": run.sizes.up / 1e6,
            "down, MB": run.sizes.down / 1e6,
            **{f"{step}, ms": 1000 * seconds for step, seconds in run.seconds.items()},
        }


def recovered(plan: NeighboursPlan, records: NDArray[np.float64]) -> float:
    """The share of the records' variance that a linear estimate from their codes finds.

    Whoever has the codes can do better; that much comes from a product of two matrices.
    """
    coding = plan.coding
    if coding.centre is None:
        raise RuntimeError("codes of cosines do not tell how long records are")
    signs = 2.0 * unpacked(coding.encode(records)) - 1
    found = signs @ coding.projection.projections.T
    vectors = found[:, :-1] / found[:, -1:] * coding.lift + coding.centre
    left = np.square(vectors - records).sum()
    return float(1 - left / np.square(records - records.mean(axis=0)).sum())


def reproduce(options: Options) -> Report:
    """Splits each data set, and compares classes by codes with exact neighbours'."""
    splits = 2 if options.quick else SPLITS
    rows: list[dict[str, Any]] = []
    for name in options.track(list(SETS), "data sets"):
        parts = [Split(name, seed) for seed in range(splits)]
        served = parts[0].served()
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
                "records found, %": 100 * mean["records found"],
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
            "records found: the share of their variance that a linear estimate from codes "
            "explains, below zero where the estimate is worse than their mean",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Classes that stay, by bits of a code."""
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
        axes.set_xscale("log", base=2)
        axes.set_xticks(BITS, [str(bits) for bits in BITS])
        axes.set_xlabel("bits of a code")
        axes.set_ylabel("rows with the class of exact neighbours, %")
        axes.legend(loc="lower right")
        axes.set_title("Five nearest neighbours by codes")

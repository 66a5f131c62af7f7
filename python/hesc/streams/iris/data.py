"""Fisher's Iris flowers, split as in koseki2022hesc: 120 to train, 30 to test."""

from __future__ import annotations

import csv
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Split(NamedTuple):
    """Features (samples, 4) in centimetres and classes (samples,) of both parts."""

    train_features: NDArray[np.float64]
    train_classes: NDArray[np.intp]
    test_features: NDArray[np.float64]
    test_classes: NDArray[np.intp]
    names: tuple[str, ...]


def load_split() -> Split:
    """The flowers of `flowers.csv`, ten of each class in the test part.

    They are scikit-learn's, split by its `train_test_split` with `random_state=0`.
    """
    with (files("hesc.streams.iris") / "flowers.csv").open() as file:
        rows = list(csv.reader(file))[1:]
    names = tuple(sorted({row[-1] for row in rows}))

    def part(name: str) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        chosen = [row for row in rows if row[0] == name]
        features = np.array([row[1:-1] for row in chosen], dtype=np.float64)
        return features, np.array([names.index(row[-1]) for row in chosen])

    return Split(*part("train"), *part("test"), names)

"""Fisher's Iris flowers, split as in koseki2022hesc: 120 to train, 30 to test."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hesc._native import HescError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TEST_SIZE = 30
SPLIT_SEED = 0


class Split(NamedTuple):
    """Features (samples, 4) in centimetres and classes (samples,) of both parts."""

    train_features: NDArray[np.float64]
    train_classes: NDArray[np.intp]
    test_features: NDArray[np.float64]
    test_classes: NDArray[np.intp]
    names: tuple[str, ...]


def load_split() -> Split:
    """The split with a fixed seed, ten flowers of each class in the test part."""
    try:
        from sklearn.datasets import load_iris
        from sklearn.model_selection import train_test_split
    except ImportError as error:
        raise HescError("the Iris data come with scikit-learn: pip install 'hesc[demo]'") from error
    flowers = load_iris()
    train_x, test_x, train_y, test_y = train_test_split(
        flowers.data,
        flowers.target,
        test_size=TEST_SIZE,
        random_state=SPLIT_SEED,
        stratify=flowers.target,
    )
    return Split(train_x, train_y, test_x, test_y, tuple(map(str, flowers.target_names)))

"""scikit-learn's bundled sets, split for training and tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


def split(data: str, seed: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Training rows, test rows, and their targets."""
    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    x, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    kept = y if data != "diabetes" else None
    found: tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]] = tuple(
        train_test_split(x, y, test_size=0.3, random_state=seed, stratify=kept)
    )
    return found

"""Models whose scores `hesc:encodings` measures, with the ranges that are declared for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LinearModel(NamedTuple):
    """Weights (outputs, features), intercepts, ranges, and samples that training has not seen."""

    weights: NDArray[np.float64]
    intercepts: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    samples: NDArray[np.float64]
    deviation: float
    """The deviation of the scores of training data: errors are wanted as shares of it."""

    def scores(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores in the clear."""
        found: NDArray[np.float64] = samples @ self.weights.T + self.intercepts
        return found


def digits(seed: int = 0) -> LinearModel:
    """Ten classes of 64 pixels, each from 0 to 16: the range is that of the format.

    The mean of the classes' weights is taken off all of them, which changes no decision.
    """
    X, y = load_digits(return_X_y=True)
    train, test, labels, _ = train_test_split(X, y, test_size=0.33, random_state=seed, stratify=y)
    fitted = LogisticRegression(max_iter=5000).fit(train / 16, labels)
    weights = fitted.coef_ / 16
    weights = weights - weights.mean(axis=0)
    intercepts = fitted.intercept_ - fitted.intercept_.mean()
    deviation = float(np.std(train @ weights.T + intercepts))
    return LinearModel(weights, intercepts, np.zeros(64), np.full(64, 16.0), test, deviation)


def logistic30(seed: int = 0) -> LinearModel:
    """Two classes of 30 features, clipped to the ranges of the training part, which are public."""
    X, y = load_breast_cancer(return_X_y=True)
    train, test, labels, _ = train_test_split(X, y, test_size=0.33, random_state=seed, stratify=y)
    low, high = train.min(axis=0), train.max(axis=0)
    fitted = LogisticRegression(max_iter=5000).fit((train - low) / (high - low), labels)
    weights = fitted.coef_ / (high - low)
    intercepts = fitted.intercept_ - (weights * low).sum(axis=1)
    deviation = float(np.std(train @ weights.T + intercepts))
    return LinearModel(weights, intercepts, low, high, np.clip(test, low, high), deviation)

"""What is computed of samples: scores, their largest, products, distances; or what a model says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import real_array, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

_ROWS: Final = 2048
"""Rows that agreement is counted on where there are none."""
_LEAST: Final = 1e-100
"""What results reach at least, unless they are zero: their squares are computed with too."""


class _NumberProblem:
    """Problems whose results are numbers."""

    shares: ClassVar[bool] = False
    """Whether an error is a share of samples whose result is another one."""

    def exact(self, x: Any) -> NDArray[np.float64]:
        """The results in the clear."""
        raise NotImplementedError

    def error(self, found: NDArray[np.float64], x: Any) -> float:
        """The root mean square error of results of data `x`."""
        return float(np.sqrt(np.square(found - self.exact(x)).mean()))


class ScoreProblem(_NumberProblem):
    """`weights @ x + intercepts` of samples `x` within declared ranges.

    Args:
        weights: a row for each output.
        intercepts: one for each output, or one for all.
        low: the least value of each feature, or one for all.
        high: the greatest.

    Raises:
        ShapeError, OutOfRangeError: shapes that do not fit, NaN, empty ranges.

    """

    name = "scores"

    def __init__(
        self,
        weights: ArrayLike,
        intercepts: ArrayLike = 0.0,
        *,
        low: ArrayLike,
        high: ArrayLike,
    ) -> None:
        rows = np.array(_finite(weights, "weights"))
        rows = rows[None, :] if rows.ndim == 1 else rows
        if rows.ndim != 2 or not rows.size:
            raise ShapeError(f"weights have a row for each output; got the shape {rows.shape}")
        self.weights: NDArray[np.float64] = rows
        self.outputs, self.features = rows.shape
        self.intercepts = _spread(intercepts, self.outputs, "intercepts")
        self.low = _spread(low, self.features, "low")
        self.high = _spread(high, self.features, "high")
        if (self.low > self.high).any():
            raise OutOfRangeError("ranges run from low to high; some low is above its high")
        with np.errstate(over="ignore", invalid="ignore"):
            bounded = _LEAST <= self.largest <= 1 / _LEAST and self.reach.max() <= 1 / _LEAST
        if not bounded:
            raise OutOfRangeError(
                "weights and ranges give results beyond what is computed with, from 1e-100 to "
                "1e100, or features are beyond it; scale them, and results back"
            )
        # What was decided of it is true of these numbers, and remembered.
        for numbers in (self.weights, self.intercepts, self.low, self.high):
            numbers.setflags(write=False)

    @property
    def reach(self) -> NDArray[np.float64]:
        """The greatest absolute value of each feature."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def nbytes(self) -> int:
        """Bytes of the model, in the clear."""
        return self.weights.nbytes + self.intercepts.nbytes

    @property
    def largest(self) -> float:
        """What no result is beyond."""
        sums = np.abs(self.weights) @ self.reach + np.abs(self.intercepts)
        return float(sums.max()) or 1.0

    def exact(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The results in the clear, (samples, outputs)."""
        found: NDArray[np.float64] = x @ self.weights.T + self.intercepts
        return found

    def checked(self, x: ArrayLike, samples: int) -> NDArray[np.float64]:
        """Samples, within the ranges."""
        rows = _shaped(x, (samples, self.features))
        if ((rows < self.low) | (rows > self.high)).any():
            raise OutOfRangeError("some features are beyond their declared ranges")
        return rows


class ClassProblem:
    """Which of the scores `weights @ x + intercepts` is the largest; of one score, its sign.

    Results are places of classes: the first of the largest, or 0 and 1 where one score is not above
    zero and where it is. A way's error here is **the share of samples whose class it may change**,
    and so is `Task.max_error`.

    Args:
        weights: a row for each class, or one row of two classes.
        intercepts: one for each row, or one for all.
        low: the least value of each feature, or one for all.
        high: the greatest.
        rows: samples like those to come, (rows, features) within the ranges: ways that round count
            on them how often a class changes. Without them they count on rows spread evenly over
            the ranges, which says little where samples lie elsewhere.

    Raises:
        ShapeError, OutOfRangeError: as `ScoreProblem`; rows that do not fit.

    """

    name = "classes"
    shares: ClassVar[bool] = True
    outputs = 1

    def __init__(
        self,
        weights: ArrayLike,
        intercepts: ArrayLike = 0.0,
        *,
        low: ArrayLike,
        high: ArrayLike,
        rows: ArrayLike | None = None,
    ) -> None:
        self.scores = ScoreProblem(weights, intercepts, low=low, high=high)
        self.features, self.nbytes = self.scores.features, self.scores.nbytes
        if rows is None:
            box = self.scores.low, self.scores.high
            spread = np.random.default_rng(0).uniform(*box, (_ROWS, self.features))
            self.rows: NDArray[np.float64] = np.clip(spread, *box)
            return
        given = real_array(rows, "rows")
        if given.ndim != 2 or not len(given):
            raise ShapeError(f"rows are samples of {self.features} features; got {given.shape}")
        self.rows = np.array(self.scores.checked(given, len(given)))
        self.rows.setflags(write=False)

    def places(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Classes by their scores, (samples,)."""
        chosen = scores.argmax(axis=1) if scores.shape[1] > 1 else scores[:, 0] > 0
        return chosen.astype(np.float64)

    def margins(self) -> NDArray[np.float64]:
        """How far a class is ahead on each row, in units of scores; ascending."""
        scores = np.sort(self.scores.exact(self.rows), axis=1)
        ahead = scores[:, -1] - scores[:, -2] if scores.shape[1] > 1 else np.abs(scores[:, 0])
        return np.sort(ahead)

    def exact(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The places of classes in the clear, (samples,)."""
        return self.places(self.scores.exact(x))

    def checked(self, x: ArrayLike, samples: int) -> NDArray[np.float64]:
        """Samples, within the ranges."""
        return self.scores.checked(x, samples)

    def error(self, found: NDArray[np.float64], x: NDArray[np.float64]) -> float:
        """The share of samples that have another class."""
        return float((found != self.exact(x)).mean())


class ProductProblem(_NumberProblem):
    """Products of numbers in [-1, 1], each factor from another owner: data is (factors, samples).

    Args:
        factors: how many, from 2.

    """

    name = "products"
    features = outputs = 1

    def __init__(self, factors: int) -> None:
        self.factors = whole(factors, "factors", 2, 64)

    def exact(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The results in the clear, (samples,)."""
        found: NDArray[np.float64] = x.prod(axis=0)
        return found

    def checked(self, x: ArrayLike, samples: int) -> NDArray[np.float64]:
        """Factors, within [-1, 1]."""
        rows = _shaped(x, (self.factors, samples))
        if (np.abs(rows) > 1).any():
            raise OutOfRangeError("factors lie in [-1, 1]; scale them, and the products back")
        return rows


class DistanceProblem(_NumberProblem):
    """Hamming distances of probes to records, both binary codes packed as `hesc.codes` has them.

    Args:
        records: codes, (records, words) of 64 bits.

    """

    name = "distances"
    outputs = 1

    def __init__(self, records: NDArray[np.uint64]) -> None:
        from hesc.codes.rows import checked

        self.records = checked(records, "records")
        self.features = self.bits = 64 * self.records.shape[1]
        self.nbytes = self.records.nbytes

    def exact(self, x: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The results in the clear, (probes, records)."""
        from hesc.codes.rows import hamming

        return hamming(x, self.records).astype(np.float64)

    def checked(self, x: Any, samples: int) -> NDArray[np.uint64]:
        """Codes of the records' length."""
        from hesc.codes.rows import checked

        codes = checked(x, "probes")
        if codes.shape != (samples, self.records.shape[1]):
            raise ShapeError(f"the task is {samples} probes of {self.bits} bits")
        return codes


class PredictionProblem:
    """What a fitted model says of samples, whatever it computes: of its own protocols.

    Data is samples before all transforms.

    Args:
        model: scores of samples by the model in the clear, or its predictions.
        features: of a sample.
        shares: whether these are predictions, whose error is the share of samples that have
            another one.

    """

    name = "predictions"
    outputs = 1

    def __init__(
        self,
        model: Callable[[NDArray[np.float64]], NDArray[Any]],
        features: int,
        *,
        shares: bool,
    ) -> None:
        self.exact, self.features, self.shares = model, features, shares

    def checked(self, x: ArrayLike, samples: int) -> NDArray[np.float64]:
        """Samples, as many as the task has."""
        return _shaped(x, (samples, self.features))

    def error(self, found: NDArray[Any], x: NDArray[np.float64]) -> float:
        """The root mean square error of scores, or the share of other predictions."""
        exact = self.exact(x)
        found = found.reshape(exact.shape)
        if self.shares:
            return float((found != exact).mean())
        return float(np.sqrt(np.square(found - exact).mean()))


Problem = ScoreProblem | ClassProblem | ProductProblem | DistanceProblem | PredictionProblem


def _finite(values: ArrayLike, name: str) -> NDArray[np.float64]:
    array = real_array(values, name)
    if not np.isfinite(array).all():
        raise OutOfRangeError(f"{name} are finite numbers; some are NaN or infinite")
    return array


def _spread(values: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    array = _finite(values, name)
    if array.shape not in {(), (count,)}:
        raise ShapeError(f"{name} are {count} numbers, or one; got the shape {array.shape}")
    return np.ascontiguousarray(np.broadcast_to(array, (count,)))


def _shaped(x: ArrayLike, shape: tuple[int, int]) -> NDArray[np.float64]:
    rows = _finite(x, "x")
    if rows.shape != shape:
        raise ShapeError(f"the task's data has the shape {shape}; got {rows.shape}")
    return rows

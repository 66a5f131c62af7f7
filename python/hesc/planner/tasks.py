"""What is to be computed, for whom, how exactly, and what is to be least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import one_name, real_array, whole
from hesc.planner.roles import DISCLOSURES, SETTINGS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

OBJECTIVES: Final = {
    "latency": "seconds of all samples, computing and transfer",
    "throughput": "seconds of computing for each sample, all sides together",
    "bytes": "bytes up and down",
    "memory": "bytes that the server holds: keys, model, query and answer as they travel",
}
_MOST_SAMPLES: Final = 1 << 20
_ROWS: Final = 2048
"""Rows that agreement is counted on where there are none."""
_LEAST: Final = 1e-100
"""What results reach at least, unless they are zero: their squares are computed with too."""
_WIDEST: Final = 1000
"""Bits of a whole number that is a float, too."""


class _Numbers:
    """Problems whose results are numbers."""

    def exact(self, x: Any) -> NDArray[np.float64]:
        """The results in the clear."""
        raise NotImplementedError

    def error(self, found: NDArray[np.float64], x: Any) -> float:
        """The root mean square error of results of data `x`."""
        return float(np.sqrt(np.square(found - self.exact(x)).mean()))


class Scores(_Numbers):
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


class Classes:
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
        ShapeError, OutOfRangeError: as `Scores`; rows that do not fit.

    """

    name = "classes"
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
        self.scores = Scores(weights, intercepts, low=low, high=high)
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


class Products(_Numbers):
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


class Distances(_Numbers):
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


Problem = Scores | Classes | Products | Distances


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be computed, and what counts.

    Example::

        Task(Scores(weights, intercepts, low=0, high=16), max_error=0.1, samples=100)

    Raises:
        ParameterError: wishes that cannot be; the message names them.

    """

    problem: Problem
    """The arithmetic."""
    setting: str = "client_server"
    """One of `hesc.planner.SETTINGS`."""
    disclose: str = "scores"
    """The most that the key owner may learn of results: one of `hesc.planner.DISCLOSURES`."""
    max_error: float = 0.01
    """The root mean square error that is allowed, in units of the results; of `Classes` the share
    of samples whose class may differ. Distances have none."""
    samples: int = 1
    """How many are computed at once."""
    objective: str = "latency"
    """One of `hesc.planner.OBJECTIVES`."""
    bandwidth: float = 1e7
    """Bytes a second between the sides."""
    own_model: bool = False
    """Whether the model, or the records, are the key owner's own, who encrypts them himself."""
    hide_model: bool = False
    """Whether the key owner must not find the model in the noise of answers. Many results give a
    linear model away in any case."""
    memory: float = math.inf
    """Bytes that the server may hold: keys, model, and what travels."""
    failure: float = 2.0**-40
    """The probability that is allowed of any result being wrong beyond its error: of a decryption
    that fails, or a bootstrap."""

    def __post_init__(self) -> None:
        if not isinstance(self.problem, Problem):
            raise ParameterError(
                f"a task's problem is Scores, Classes, Products or Distances of hesc.planner, not "
                f"{type(self.problem).__name__}"
            )
        one_name(self.setting, "setting", tuple(SETTINGS))
        one_name(self.disclose, "disclose", DISCLOSURES)
        one_name(self.objective, "objective", tuple(OBJECTIVES))
        # Frozen, but for this: numbers of numpy repeat no lists.
        object.__setattr__(self, "samples", whole(self.samples, "samples", 1, _MOST_SAMPLES))
        for name in ("max_error", "bandwidth", "memory", "failure"):
            value = getattr(self, name)
            if not _is_number(value) or not value > 0:
                raise ParameterError(f"{name} is a number above zero")
            # Numbers of few bits overflow where their squares are taken.
            object.__setattr__(self, name, float(value))
        if self.failure > 1:
            raise ParameterError("failure is a probability")
        if not math.isfinite(self.max_error):
            raise ParameterError("max_error is finite: an error without a bound is no result")
        for name in ("own_model", "hide_model"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} is True or False; got {getattr(self, name)!r}")
        if isinstance(self.problem, Products) != (self.setting == "many_parties"):
            raise ParameterError(
                "products are for setting='many_parties', and it is for products: scores, classes "
                "and distances have one owner of samples"
            )

    @property
    def title(self) -> str:
        """Problem, samples, setting and disclosure."""
        return (
            f"{self.problem.name} of {self.samples} samples, {self.setting} "
            f"({SETTINGS[self.setting]}), disclosing {self.disclose}"
        )

    @property
    def error_name(self) -> str:
        """What tables have in their column of errors."""
        return "agreement" if isinstance(self.problem, Classes) else "error"

    def shown(self, error: float) -> str:
        """An error for a table, rounded against the way: of classes the share that stays."""
        if isinstance(self.problem, Classes):
            return f"{math.floor(1e4 * (1 - error)) / 100:.2f} %"
        return _rounded_up(error)


def _rounded_up(error: float) -> str:
    """Two digits that are no less."""
    if not 0 < error < math.inf:
        return f"{error:.2g}"
    unit = 10.0 ** (math.floor(math.log10(error)) - 1)
    return f"{math.ceil(error / unit * (1 - 1e-12)) * unit:.2g}"


def _is_number(value: object) -> bool:
    """Whether it is a real number that floats can be as large as."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    return not isinstance(value, int) or value.bit_length() <= _WIDEST


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

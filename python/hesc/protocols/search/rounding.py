"""How vectors become whole numbers, the same way on both sides, and what that costs of a score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

METRICS: Final = ("inner", "cosine", "euclidean", "hamming")
"""What is told of two vectors: their inner product, the cosine of their angle, their Euclidean
distance; of vectors of zeros and ones at how many places they differ."""
DISTANCES: Final = ("euclidean", "hamming")
"""Metrics of which less is nearer."""
_LARGEST: Final = np.iinfo(np.int16).max
"""The largest entry."""
_USUAL: Final = 4
"""An entry of so many times a vector's root mean square entry has the bits that are asked for."""
_VARIANCE: Final = 1 / 12
"""The variance of a rounding, in steps."""


class ScoreError(NamedTuple):
    """What rounding vectors to whole numbers does to a score."""

    rms: float
    """The root mean square, at most, where roundings are spread evenly over a step and are
    independent of each other."""
    bound: float
    """What no score is off by more."""


NO_ERROR: Final = ScoreError(0.0, 0.0)
"""Scores of whole numbers are exact."""


def step_for(norm: float, dimensions: int, bits: float) -> float:
    """The step by which entries of the usual size have so many bits, with a sign.

    Args:
        norm: the length of a vector.
        dimensions: entries of a vector.
        bits: from 2 on, parts of one too. Larger entries have more.

    """
    return _USUAL * norm / (math.sqrt(dimensions) * (math.pow(2, bits - 1) - 1))


def square_of(norm: float, step: float, dimensions: int) -> int:
    """What the sum of squares of a rounded vector is not above.

    Args:
        norm: what no vector is longer than.
        step: of its entries.
        dimensions: entries of a vector.

    Raises:
        ParameterError: so many steps to a vector that entries do not hold them.

    """
    # Each entry is rounded by half a step at most.
    length = norm / step + math.sqrt(dimensions) / 2
    if not length <= _LARGEST:
        raise ParameterError(
            f"vectors of up to {length:.3g} steps have entries beyond {_LARGEST}; take a larger "
            f"step, which fewer bits give"
        )
    return int(length * length) + 1


def entries(vectors: Array, *, metric: str, step: float, norm: float) -> NDArray[np.int16]:
    """Whole numbers, a row for each vector.

    Args:
        vectors: a row each, finite.
        metric: one of `METRICS`.
        step: what an entry is counted in.
        norm: what no vector is longer than.

    Raises:
        OutOfRangeError: a vector that is longer; of cosines, one of zeros; of Hamming distances,
            one of other numbers than 0 and 1.

    """
    if metric == "hamming":
        if not np.isin(vectors, (0, 1)).all():
            raise OutOfRangeError("vectors of Hamming distances are zeros and ones")
        return np.asarray(1 - 2 * vectors.astype(np.int16), dtype=np.int16)
    if metric == "cosine":
        vectors = directions(vectors)
    elif (place := first_beyond(vectors, norm)) is not None:
        length = lengths(vectors)[place]
        raise OutOfRangeError(
            f"vector {place} is {length:.12g} long, and the plan declares {norm:.12g}; scale "
            f"vectors, or plan for longer ones"
        )
    return np.rint(vectors / step).astype(np.int16)


def directions(vectors: Array) -> Array:
    """Vectors of length one.

    Raises:
        OutOfRangeError: a vector of zeros, which has no direction.

    """
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not largest.all():
        place = int(np.flatnonzero(largest == 0)[0])
        raise OutOfRangeError(
            f"vector {place} is all zeros, which has no direction and no cosine; leave it out"
        )
    # The direction is the same, and no square overflows or vanishes.
    scaled = vectors / largest
    found: Array = scaled / np.sqrt(np.square(scaled).sum(axis=1, keepdims=True))
    return found


def lengths(vectors: Array) -> Array:
    """The Euclidean length of each vector, infinite beyond all doubles."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1.0)
    with np.errstate(over="ignore"):
        found: Array = largest[:, 0] * np.sqrt(np.square(scaled).sum(axis=1))
    return found


def first_beyond(vectors: Array, norm: float) -> int | None:
    """The place of the first vector that is longer than this; None where none is."""
    with np.errstate(over="ignore"):
        beyond = np.flatnonzero(~(np.square(lengths(vectors) / norm) <= _ROUNDED))
    return int(beyond[0]) if len(beyond) else None


LONGER: Final = 1 + 1e-12
"""What the greatest length of some vectors is declared longer by: roundings take some away."""
_ROUNDED: Final = 1 + 1e-9
"""The square of a length of one, in another order of its sum."""


def score_error(
    metric: str, *, steps: tuple[float, float], norms: tuple[float, float], dimensions: int
) -> ScoreError:
    """What roundings do to a score.

    A record `r` is rounded by `e`, a query `q` by `f`: their product by `e q + (r + e) f`. A
    distance errs by the length of `e - f` at most, by the triangle inequality.

    Args:
        metric: one of `METRICS`.
        steps: of records, and of queries.
        norms: lengths of records, and of queries, at most.
        dimensions: entries of a vector.

    """
    if metric == "hamming":
        return NO_ERROR
    (own, asked), (record, query) = steps, norms
    half = math.sqrt(dimensions) / 2
    if metric == "euclidean":
        return ScoreError(
            math.hypot(own, asked) * math.sqrt(dimensions * _VARIANCE), (own + asked) * half
        )
    longer = record + own * half
    rms = math.hypot(own * query, asked * longer) * math.sqrt(_VARIANCE)
    return ScoreError(rms, half * (own * query + asked * longer))


def dependence(
    sample: Array, metric: str, *, steps: tuple[float, float], norms: tuple[float, float]
) -> float:
    """How many times as large as those of spread roundings errors are, among some vectors.

    Args:
        sample: a row for each.
        metric: "inner", "cosine" or "euclidean".
        steps: of records, and of queries.
        norms: lengths of records, and of queries, at most.

    Returns:
        From 1 on, and a tenth more than measured.

    Raises:
        OutOfRangeError: as `entries`.

    """
    queries = sample[lengths(sample) <= norms[1]] if metric != "cosine" else sample
    own, asked = (
        entries(rows, metric=metric, step=step, norm=norm).astype(np.float64)
        for rows, step, norm in zip((sample, queries), steps, norms, strict=True)
    )
    if not len(queries):
        return 1.0
    exact = [directions(rows) if metric == "cosine" else rows for rows in (sample, queries)]
    apart = _told(metric, asked * steps[1], own * steps[0]) - _told(metric, exact[1], exact[0])
    expected = score_error(metric, steps=steps, norms=norms, dimensions=sample.shape[1]).rms
    ratio = float(np.sqrt(np.square(apart / expected).mean()))
    return _MORE * ratio if ratio > 1 else 1.0


def _told(metric: str, queries: Array, records: Array) -> Array:
    """Scores of vectors in floating point; of cosines those of directions."""
    products: Array = queries @ records.T
    if metric != "euclidean":
        return products
    squares = [np.square(rows).sum(axis=1) for rows in (queries, records)]
    found: Array = np.sqrt(np.maximum(squares[0][:, None] + squares[1] - 2 * products, 0))
    return found


_MORE: Final = 1.1
"""What is added to a measured dependence: other vectors are like these, not the same."""

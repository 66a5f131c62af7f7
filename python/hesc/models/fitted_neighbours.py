"""What a fitted KNeighborsClassifier knows: records, their classes, and how they vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import ParameterError
from hesc.models import extraction, refusals, transforms
from hesc.models.steps import transforms_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.transforms import Transform

    Array = NDArray[np.float64]


class Records(NamedTuple):
    """Nearest neighbours as numbers."""

    steps: list[Transform]
    """Which a client computes."""
    vectors: Array
    """After these, a row for each record."""
    labels: NDArray[np.intp]
    """The place of each record's class."""
    classes: NDArray[Any]
    """All that there are."""
    neighbours: int
    """Records that vote."""
    weights: str
    """One of `voting.WEIGHTS`."""
    metric: str
    """One of `voting.METRICS`."""

    def same_as(self, other: Records) -> bool:
        """Whether both say the same of every sample."""
        return (
            self[4:] == other[4:]
            and np.array_equal(self.vectors, other.vectors)
            and np.array_equal(self.labels, other.labels)
            and np.array_equal(self.classes, other.classes)
            and transforms.described(self.steps) == transforms.described(other.steps)
        )


def check(estimator: Any) -> None:
    """Refuses an estimator that is not computed here, fitted or not.

    Raises:
        ParameterError: naming it, or its option, and the nearest that works.

    """
    refusals.check(estimator, extraction.NEIGHBORS)
    final = extraction.parts_of(estimator)[-1]
    _metric_of(final)
    _weights_of(final)


def _metric_of(final: Any) -> str:
    metric, power = final.metric, final.p
    named = metric if isinstance(metric, str) else "a function"
    if metric == "cosine" and not final.metric_params:
        return "cosine"
    two = isinstance(power, int | float) and not isinstance(power, bool) and power == 2
    euclidean = metric in {"euclidean", "l2"} or (metric == "minkowski" and two)
    if euclidean and not final.metric_params:
        return "euclidean"
    with_power = f" with p={power!r}" if metric == "minkowski" else ""
    with_power += " and metric_params" * bool(final.metric_params)
    raise ParameterError(
        f"metric {named}{with_power} is not computed on codes, whose distances tell angles; "
        f"nearest: metric='euclidean' (or minkowski with p=2), behind a scaler for weights of "
        f"features, or metric='cosine'"
    )


def _weights_of(final: Any) -> str:
    if final.weights is None or final.weights == "uniform":
        return "uniform"
    if isinstance(final.weights, str) and final.weights == "distance":
        return "distance"
    raise ParameterError(
        "weights that are a function are code, which no client is sent; nearest: "
        "weights='distance' or weights='uniform'"
    )


def records_of(estimator: Any) -> Records:
    """Transforms, records and votes of a fitted estimator.

    Raises:
        ParameterError: options that are not computed here.

    """
    check(estimator)
    *before, final = extraction.parts_of(estimator)
    given = final._fit_X  # noqa: SLF001 - scikit-learn has no other name for it
    if hasattr(given, "toarray"):
        given = given.toarray()
    vectors = np.array(given, dtype=np.float64)
    labels = np.array(final._y, dtype=np.intp).reshape(-1)  # noqa: SLF001
    return Records(
        [step for part in before for step in transforms_of(part)],
        vectors,
        labels,
        np.array(final.classes_),
        int(final.n_neighbors),
        _weights_of(final),
        _metric_of(final),
    )

"""What is read from a saved model, against what the library that wrote it computes."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import ParameterError
from hesc.models.boosters import fitted
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.boosters.saved_models import Saved
    from hesc.models.described import Described

_ROWS: Final = 200


def check(data: bytes, saved: Saved, *, wanted: bool) -> None:
    """Compares scores of random rows, of trees each with one feature at a threshold or beside it.

    Args:
        data: of the file.
        saved: what was read of it.
        wanted: whether a library that is not installed is an error.

    Raises:
        ParameterError: the library computes something else, or refuses the file, or is wanted and
            missing.

    """
    library, model = saved
    # The name of its package may be another, such as xgboost-cpu.
    if find_spec(library) is None:
        if wanted:
            raise ParameterError(f"verify=True needs {library}; install it")
        return
    rows = rows_at_thresholds(model)
    if model.takes_missing:
        rows = np.concatenate([rows, with_missing(rows)])
    classes = model.classes is not None
    try:
        found = fitted.raw_scores_of_saved(data, library, rows, classes=classes)
    # The errors of three libraries have no common class but this one.
    except Exception as error:
        raise ParameterError(f"{library} does not load this file; save the model again") from error
    expected = model.scores(rows)
    most = tolerance(library, model, rows)
    if found.shape != expected.shape or not (np.abs(found - expected) <= most).all():
        raise ParameterError(
            f"{library} computes something else from this file than is read here; "
            f"it is not loaded. Please report what was fitted"
        )


def tolerance(library: str, model: Described, rows: NDArray[np.float64]) -> float:
    """What scores of these rows may differ by."""
    if isinstance(model.model, TreeEnsemble):
        largest = float(np.abs(model.model.scores(rows)).max())
        return fitted.doubt(library, model.model) + 1e-9 * max(1.0, largest)
    size = np.abs(rows)
    for layer in model.model.layers:
        size = size @ np.abs(layer.weights).T + np.abs(layer.intercepts)
    # Features and products are rounded to float32, too.
    return float(4 * (model.inputs + 3) * 2.0**-24 * size.max())


def rows_at_thresholds(model: Described) -> NDArray[np.float64]:
    """Normal rows of deviation 0.1, 1 and 10, of trees each with one feature at a threshold.

    A third lies at the threshold, a third at the next double, and a third at the next float32. Of
    nodes that compare categories an end of one stands for the threshold.
    """
    rng = np.random.default_rng(0)
    rows: NDArray[np.float64] = rng.standard_normal((_ROWS, model.inputs)) * rng.choice(
        [0.1, 1, 10], (_ROWS, 1)
    )
    if not isinstance(model.model, TreeEnsemble):
        return rows
    nodes = np.flatnonzero(~model.model.leaves)
    if not len(nodes):
        return rows
    chosen = rng.choice(nodes, _ROWS)
    at = model.model.thresholds[chosen]
    if model.model.has_sets:
        sizes = model.model.set_sizes.clip(min=0)
        starts, ends = np.cumsum(sizes) - sizes, (model.model.set_low, model.model.set_high)
        for row, node in enumerate(chosen.tolist()):
            if sizes[node]:
                place = starts[node] + rng.integers(sizes[node])
                at[row] = ends[rng.integers(2)][place]
    with np.errstate(over="ignore", under="ignore"):
        next_single = np.nextafter(at.astype(np.float32), np.float32(np.inf)).astype(np.float64)
        beside = np.stack([at, np.nextafter(at, np.inf), next_single])
    # Nothing follows upon the largest number.
    beside = np.where(np.isfinite(beside), beside, at)
    rows[np.arange(_ROWS), model.model.features[chosen]] = beside[
        np.arange(_ROWS) % 3, np.arange(_ROWS)
    ]
    return rows


def with_missing(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same rows where each cell is missing by one chance in three."""
    return np.where(np.random.default_rng(1).random(rows.shape) < 1 / 3, np.nan, rows)

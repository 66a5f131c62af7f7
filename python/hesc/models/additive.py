"""Trees as sums of functions of single features, which are linear in one-hot bins.

A tree that compares one feature alone, such as a stump, is a step function of it; a sum of such
trees is a table of a value for each bin of each feature, which is what a scorecard is. Bins are
public. Other trees are no such sums: `refitted` fits one to what they say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import real_array, whole
from hesc.models import transforms
from hesc.models.steps.scaling import bins as bins_of
from hesc.models.trees import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.models.transforms import Bins
    from hesc.models.trees import TreeEnsemble

    Array = NDArray[np.float64]
    Binning = int | str | Sequence[ArrayLike]

DEFAULT_BINS: Final = 16
"""Bins of a feature, of about as many rows each."""
_MOST_BINS: Final = 1024
_LEAST_ROWS: Final = 40
"""Rows that a model is fitted to and measured on."""
_HELD: Final = 4
"""One of so many rows is kept for measuring."""
_MIXES: Final = 10
"""Made-up rows for each row that a model is fitted to."""
_ALPHA: Final = 10.0
"""Weight of the squares of weights beside the squares of differences."""
_COLUMNS: Final = 1 << 13
"""Bins of all features that a model is fitted with: as many squared numbers are in memory."""
_AT_ONCE: Final = 1 << 12
"""Rows whose bins are in memory."""


class FeatureTable(NamedTuple):
    """A sum of functions of single features."""

    bins: Bins
    weights: Array
    """Outputs by bins."""
    intercepts: Array


def edges_of(x: Array, binning: Binning, trees: TreeEnsemble | None) -> list[Array]:
    """Edges of the bins of each feature.

    Args:
        x: rows of features.
        binning: how many bins, of as many rows each as nearly as may be, where a value that more
            rows share has a bin to itself: edges lie half way between neighbouring values. Or
            "thresholds", those of the trees, or edges for each feature.
        trees: whose thresholds may be asked for.

    Raises:
        ParameterError, ShapeError, OutOfRangeError: a binning that is none.

    """
    features = x.shape[1]
    if isinstance(binning, str):
        if binning != "thresholds" or trees is None:
            raise ParameterError(
                "bins= is a number of bins, 'thresholds' where the model is a sum of trees, or a "
                "list of edges for each feature"
            )
        compared = trees.compares & (trees.thresholds < NEVER)
        return [
            np.unique(trees.thresholds[compared & (trees.features == place)])
            for place in range(features)
        ]
    if isinstance(binning, int | np.integer) and not isinstance(binning, bool):
        count = whole(binning, "bins", 2, _MOST_BINS)
        return [_quantiles(column[~np.isnan(column)], count) for column in x.T]
    if not isinstance(binning, list | tuple) or len(binning) != features:
        raise ShapeError(
            f"edges of bins are a list of {features}, for each feature its edges or an empty list"
        )
    return [_given(edges, place) for place, edges in enumerate(binning)]


def _quantiles(column: Array, count: int) -> Array:
    values, rows = np.unique(column, return_counts=True)
    lower = np.array(_ends(rows, count), dtype=np.intp)
    below, above = values[lower], values[lower + 1]
    with np.errstate(over="ignore"):
        edges = below + (above - below) / 2
    # Of neighbours among doubles, and of such as are further apart than any double, it is the
    # smaller one: an edge is of the bin below it.
    return np.where(edges < above, edges, below)


def _ends(rows: NDArray[np.intp], count: int) -> list[int]:
    """The places of the last value of each bin but the last, ascending.

    Args:
        rows: of each value, in the order of values.
        count: bins, at most.

    """
    found: list[int] = []
    waiting = [(0, len(rows), count)]
    while waiting:
        first, end, bins = waiting.pop()
        found += [end - 1] if end < len(rows) else []
        part = rows[first:end]
        if len(part) <= bins:
            found += range(first, end - 1)
            continue
        runs = _runs(part, bins)
        if len(runs) > 1:
            waiting += [(first + start, first + stop, share) for start, stop, share in runs]
            continue
        places = np.searchsorted(part.cumsum() * bins, np.arange(1, bins) * part.sum())
        found += (first + np.minimum(places, len(part) - 2)).tolist()
    return sorted(set(found))


def _runs(rows: NDArray[np.intp], count: int) -> list[tuple[int, int, int]]:
    """Values that more rows share than a bin should have, and the runs of values between them.

    Each such value has a bin to itself, or it would take its neighbours with it; the others have
    the bins that are left, each run at least one. Where these are not as many as runs, the values
    of the fewest rows are left to the runs.

    Returns:
        Of each its first place, the place after its last, and bins.

    """
    left, alone = int(rows.sum()), 0
    order = np.argsort(-rows, kind="stable")
    while rows[order[alone]] * (count - alone) > left:
        left -= int(rows[order[alone]])
        alone += 1
    while True:
        cuts = np.sort(order[:alone])
        bounds = np.unique([0, *cuts, *(cuts + 1), len(rows)])
        single = np.isin(bounds[:-1], cuts)
        if (~single).sum() <= count - alone:
            break
        alone -= 1
    sizes = np.diff(bounds)
    shares = np.ones(len(sizes), dtype=np.intp)
    weights = np.where(single, 0, np.add.reduceat(rows, bounds[:-1]))
    for _ in range(count - len(sizes)):
        # To the run whose bins have the most rows, of those that have more values than bins.
        shares[np.argmax(np.where(shares < sizes, weights / shares, -1))] += 1
    return list(zip(bounds[:-1].tolist(), bounds[1:].tolist(), shares.tolist(), strict=True))


def _given(edges: ArrayLike, place: int) -> Array:
    array = real_array(edges, f"the edges of feature {place}")
    if array.ndim != 1:
        raise ShapeError(f"the edges of feature {place} are a list of numbers")
    if not np.isfinite(array).all() or not (np.diff(array) > 0).all():
        raise OutOfRangeError(f"the edges of feature {place} are finite numbers, each larger")
    return array


def tabled(trees: TreeEnsemble, edges: list[Array], x: Array) -> FeatureTable | None:
    """Trees that compare one feature each as a table, thresholds moved to the nearest edges.

    Args:
        trees: the ensemble.
        edges: of each feature.
        x: rows of features: a tree whose feature has no edges has the value of their median.

    Returns:
        None where a tree compares several features.

    Raises:
        ParameterError: trees that compare categories.

    """
    trees.check_numbers()
    tables = {
        place: np.zeros((len(own) + 1, trees.outputs))
        for place, own in enumerate(edges)
        if len(own)
    }
    used = set()
    intercepts = trees.offset.copy()
    for root in trees.roots:
        pieces = _pieces(trees, int(root))
        if pieces is None:
            return None
        feature, thresholds, values = pieces
        if feature not in tables:
            middle = 0.0 if feature < 0 else np.median(x[:, feature])
            intercepts += values[np.searchsorted(thresholds, middle)]
            continue
        used.add(feature)
        moved = _nearest(edges[feature], thresholds)
        # Bin b is right of the thresholds that were moved to edges below b.
        tables[feature] += values[np.searchsorted(moved, np.arange(len(edges[feature]) + 1))]
    places = sorted(used)
    for place in places:
        middle = tables[place].mean(axis=0)
        tables[place] -= middle
        intercepts += middle
    bins = bins_of(trees.inputs, [((place, edges[place]), None) for place in places])
    weights = np.concatenate([tables[place] for place in places]).T.copy()
    return FeatureTable(bins, weights, intercepts)


def _pieces(trees: TreeEnsemble, root: int) -> tuple[int, Array, Array] | None:
    """A tree as a step function: its feature or -1, thresholds, and a value for each piece."""
    feature = int(trees.features[root])
    waiting, found = [(root, -np.inf, np.inf)], []
    while waiting:
        node, low, high = waiting.pop()
        if trees.features[node] < 0:
            found.append((low, trees.values[node]))
            continue
        if trees.features[node] != feature:
            return None
        threshold = trees.thresholds[node]
        if low < threshold:
            waiting.append((trees.left[node], low, min(high, threshold)))
        if threshold < min(high, NEVER):
            waiting.append((trees.right[node], max(low, threshold), high))
    found.sort(key=lambda piece: piece[0])
    lows, values = zip(*found, strict=True)
    return feature, np.array(lows[1:]), np.array(values)


def _nearest(edges: Array, thresholds: Array) -> NDArray[np.intp]:
    """The place of the edge that is nearest to each threshold."""
    above = np.searchsorted(edges, thresholds).clip(1, len(edges) - 1) if len(edges) > 1 else None
    if above is None:
        return np.zeros(len(thresholds), dtype=np.intp)
    lower = thresholds - edges[above - 1] <= edges[above] - thresholds
    return np.where(lower, above - 1, above)


def split(rows: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of rows to fit a model to, and of those to measure it on; always the same ones.

    Raises:
        ShapeError: too few rows.

    """
    if rows < _LEAST_ROWS:
        raise ShapeError(
            f"a re-fit takes {_LEAST_ROWS} rows or more, of which every {_HELD}th is kept to "
            f"measure it on; got {rows}"
        )
    order = np.random.default_rng(0).permutation(rows)
    return order[rows // _HELD :], order[: rows // _HELD]


def refitted(x: Array, score: Callable[[Array], Array], edges: list[Array]) -> FeatureTable:
    """A sum of functions of single features that comes near to any scores.

    By least squares with a weight on squares of weights (ridge regression), on one-hot bins. Beside
    the rows themselves the scores are asked at ten others for each, of which up to half of the
    features are another row's: a model that is fitted to the same rows is at its sharpest there,
    and no feature has a value that none of the rows has, such as a half between zeros and ones.

    Args:
        x: rows of features.
        score: rows of outputs of such rows.
        edges: of each feature.

    Raises:
        ParameterError: bins that are too many to fit.

    """
    blocks = [((place, own), None) for place, own in enumerate(edges) if len(own)]
    bins = bins_of(x.shape[1], blocks)
    columns = bins.widths[1]
    if columns > _COLUMNS:
        raise ParameterError(
            f"a re-fit has up to {_COLUMNS} bins of all features together; these are {columns}: "
            f"write fewer bins="
        )
    rng = np.random.default_rng(0)
    outputs = score(x[:1]).shape[1]
    squares, products = np.zeros((columns, columns)), np.zeros((columns, outputs))
    ones, totals = np.zeros(columns), np.zeros(outputs)
    computed = transforms.compiled([bins], x.shape[1])
    for mix in range(1 + _MIXES):
        share = rng.uniform(0, 0.5, (len(x), 1)) if mix else np.zeros((len(x), 1))
        rows = np.where(rng.random(x.shape) < share, x[rng.permutation(len(x))], x)
        for first in range(0, len(rows), _AT_ONCE):
            part = rows[first : first + _AT_ONCE]
            binned, wanted = computed.transformed(part, []), score(part)
            squares += binned.T @ binned
            products += binned.T @ wanted
            ones += binned.sum(axis=0)
            totals += wanted.sum(axis=0)
    count = len(x) * (1 + _MIXES)
    # About the means, so that the intercept is free.
    squares -= np.outer(ones, ones) / count
    products -= np.outer(ones, totals) / count
    weights = np.linalg.solve(squares + _ALPHA * np.eye(columns), products).T.astype(np.float64)
    intercepts: Array = (totals - weights @ ones) / count
    return FeatureTable(bins, weights, intercepts)

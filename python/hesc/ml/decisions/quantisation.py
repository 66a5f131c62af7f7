"""Models of scikit-learn as whole numbers: few bits, and what of the classes is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hesc._native import ParameterError
from hesc.ml.decisions.models import LinearScores, TreeVotes, classify
from hesc.ml.decisions.plans import quantised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from hesc.ml.decisions.models import Scores
    from hesc.ml.extraction import Linear
    from hesc.ml.trees import TreeEnsemble

    Array = NDArray[np.float64]
    Ranges = tuple[Array, Array]

_FEATURES = range(1, 11)
"""Bits of a feature that are tried."""
_NUMBERS = range(1, 11)
"""And of a weight or of what a leaf says."""


class Quantised(NamedTuple):
    """A model in whole numbers."""

    model: Scores
    bits: int
    """Of a feature."""
    agreement: float
    """The share of rows whose class it keeps."""


def linear(model: Linear, ranges: Ranges, bits: int, weight_bits: int) -> LinearScores:
    """A linear model on features of so many bits, with weights of so many.

    `w x + c = (w step) q + (c + w low)`. Of one output the second row is its score and the first
    zero. The least of each column is taken off, for it changes no comparison.
    """
    low, high = ranges
    step = (high - low) / ((1 << bits) - 1)
    weights, offsets = _two_or_more(model.weights * step, model.intercepts + model.weights @ low)
    weights = weights - weights.min(axis=0)
    largest = weights.max()
    scale = ((1 << weight_bits) - 1) / largest if largest > 0 else 1.0
    added = (offsets - offsets.min()) * scale
    # A class that is further ahead than all weights together could bring up stays ahead.
    most = (1 << weight_bits) * (1 << bits) * weights.shape[1] + 1
    return LinearScores(_rounded(weights * scale), _rounded(np.minimum(added, most)))


def trees(model: TreeEnsemble, ranges: Ranges, bits: int, value_bits: int) -> TreeVotes:
    """Trees that compare features of so many bits; a leaf says numbers of so many.

    A feature's value `low + q step` is at most a threshold where `q` is at most its whole number of
    steps. What all leaves of a tree say at least of a class is part of the offsets.
    """
    low, high = ranges
    most = (1 << bits) - 1
    inside = model.features >= 0
    places = model.features[inside]
    step = (high - low)[places] / most
    above = model.thresholds[inside] - low[places]
    thresholds = np.zeros(len(model.features))
    # A feature that never varies is the least of its range.
    quotient = np.divide(above, step, out=np.where(above < 0, -1.0, most), where=step > 0)
    thresholds[inside] = np.clip(np.floor(quotient), -1, most)
    nodes = np.column_stack([model.features, thresholds, model.left, model.right])
    values, offsets = _two_or_more(model.values.T, model.offset)
    values = values.T
    leaves = model.features < 0
    if len(model.roots) == 1:
        votes = np.zeros(values.shape, dtype=np.int64)
        votes[np.flatnonzero(leaves), (values + offsets).argmax(axis=1)[leaves]] = 1
        return TreeVotes(model.roots, nodes.astype(np.int64), votes, np.zeros_like(votes[0]))
    least = np.zeros_like(values)
    ends = [*model.roots[1:], len(values)]
    for first, last in zip(model.roots, ends, strict=True):
        of_leaves = leaves[first:last, None]
        lowest = np.where(of_leaves, values[first:last], np.inf).min(axis=0)
        least[first:last] = lowest
        offsets = offsets + lowest
    values = np.where(leaves[:, None], values - least, 0.0)
    largest = values.max()
    scale = ((1 << value_bits) - 1) / largest if largest > 0 else 1.0
    added = (offsets - offsets.min()) * scale
    furthest = (1 << value_bits) * len(model.roots) + 1
    return TreeVotes(
        model.roots,
        nodes.astype(np.int64),
        _rounded(values * scale),
        _rounded(np.minimum(added, furthest)),
    )


def fewest_bits(
    made: Callable[[int, int], Scores],
    features: Array,
    clear: NDArray[np.int64],
    ranges: Ranges,
    *,
    bits: int | None,
    least: float,
) -> Quantised:
    """The model that costs least among those that keep enough classes.

    Args:
        made: a model by bits of features and of its own numbers.
        features: rows within ranges.
        clear: the places of their classes by the clear model, before anything was clipped.
        ranges: of features.
        bits: of a feature, if they are given.
        least: the share of classes to be kept.

    Raises:
        ParameterError: none keeps so many.

    """
    best: tuple[int, Quantised] | None = None
    most = 0.0
    for of_features, of_numbers in _tried(bits):
        model = made(of_features, of_numbers)
        work = _work(model, of_features)
        if best is not None and work >= best[0]:
            continue
        found = classify(model, quantised(features, ranges, of_features))
        agreement = float((found == clear).mean())
        most = max(most, agreement)
        if agreement >= least:
            best = work, Quantised(model, of_features, agreement)
    if best is None:
        raise ParameterError(
            f"whole numbers of {_FEATURES[-1] if bits is None else bits} bits keep the class of "
            f"{100 * most:.2f} % of these rows at most, fewer than min_agreement={least}: narrower "
            f"ranges= make steps finer (with clip=True for samples beyond), or lower min_agreement"
        )
    return best[1]


def _tried(bits: int | None) -> Iterator[tuple[int, int]]:
    for of_features in _FEATURES if bits is None else [bits]:
        for of_numbers in _NUMBERS:
            yield of_features, of_numbers


def _work(model: Scores, bits: int) -> int:
    """What grows with the gates of a circuit."""
    if isinstance(model, LinearScores):
        return bits * sum(weight.bit_count() for weight in model.weights.ravel().tolist())
    compared = {(f, t) for f, t, *_ in model.nodes.tolist() if f >= 0}
    width = int(model.values.max()).bit_length()
    return bits * len(compared) + width * len(model.nodes) * model.values.shape[1]


def _two_or_more(weights: Array, offsets: Array) -> tuple[Array, Array]:
    """A row of zeros before a single output, whose sign is what decides."""
    if len(weights) > 1:
        return weights, offsets
    return np.vstack([np.zeros_like(weights), weights]), np.concatenate([[0.0], offsets])


def _rounded(numbers: Array) -> NDArray[np.int64]:
    return np.rint(numbers).astype(np.int64)

"""Models and features as whole numbers: few bits, and what of the classes is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

import numpy as np

from hesc._native import ParameterError
from hesc.decisions.models import LinearScores, classify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from hesc.decisions.models import Scores

    Array = NDArray[np.float64]
    Ranges = tuple[Array, Array]

_FEATURES: Final = range(1, 11)
"""Bits of a feature that are tried."""
_NUMBERS: Final = range(1, 11)
"""And of a weight or of what a leaf says."""


M = TypeVar("M", bound="Scores")


class Quantised(NamedTuple, Generic[M]):
    """A model in whole numbers."""

    model: M
    bits: int
    """Of a feature."""
    agreement: float
    """The share of rows whose class it keeps."""


def quantised(
    features: Array,
    ranges: Ranges,
    bits: int,
) -> NDArray[np.int64]:
    """Features within ranges as the nearest of `2**bits` values, numbered from zero."""
    low, high = ranges
    most = (1 << bits) - 1
    width = np.where(high > low, high - low, 1.0)
    steps = np.rint((features - low) / width * most).astype(np.int64)
    found: NDArray[np.int64] = np.clip(steps, 0, most)
    return found


def linear(
    weights: Array, intercepts: Array, ranges: Ranges, bits: int, weight_bits: int
) -> LinearScores:
    """A linear model on features of so many bits, with weights of so many.

    `w x + c = (w step) q + (c + w low)`. Of one output the second row is its score and the first
    zero. The least of each column is taken off, for it changes no comparison.
    """
    low, high = ranges
    step = (high - low) / ((1 << bits) - 1)
    scaled, offsets = two_or_more(weights * step, intercepts + weights @ low)
    scaled = scaled - scaled.min(axis=0)
    largest = scaled.max()
    scale = ((1 << weight_bits) - 1) / largest if largest > 0 else 1.0
    added = (offsets - offsets.min()) * scale
    # A class that is further ahead than all weights together could bring up stays ahead.
    most = (1 << weight_bits) * (1 << bits) * scaled.shape[1] + 1
    return LinearScores(rounded(scaled * scale), rounded(np.minimum(added, most)))


def fewest_bits(
    made: Callable[[int, int], M],
    features: Array,
    clear: NDArray[np.int64],
    ranges: Ranges,
    *,
    bits: int | None,
    least: float,
) -> Quantised[M]:
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
    best: tuple[int, Quantised[M]] | None = None
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
        ones: int = sum(weight.bit_count() for weight in model.weights.ravel().tolist())
        return bits * ones
    compared = {(f, t) for f, t, *_ in model.nodes.tolist() if f >= 0}
    width = int(model.values.max()).bit_length()
    choices: int = len(model.nodes) * model.values.shape[1]
    return bits * len(compared) + width * choices


def two_or_more(weights: Array, offsets: Array) -> tuple[Array, Array]:
    """A row of zeros before a single output, whose sign is what decides."""
    if len(weights) > 1:
        return weights, offsets
    return np.vstack([np.zeros_like(weights), weights]), np.concatenate([[0.0], offsets])


def rounded(numbers: Array) -> NDArray[np.int64]:
    """To the nearest whole numbers."""
    return np.rint(numbers).astype(np.int64)

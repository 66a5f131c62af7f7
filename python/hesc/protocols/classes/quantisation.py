"""Models and features as whole numbers: few bits, and what of the classes is left."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

import numpy as np

from hesc._native import ParameterError
from hesc.protocols.classes.whole_models import LinearScores, classify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from hesc.protocols.classes.whole_models import WholeModel

    Array = NDArray[np.float64]
    Ranges = tuple[Array, Array]

_FEATURES: Final = range(1, 11)
"""Bits of a feature that are tried."""
_NUMBERS: Final = range(1, 11)
"""Bits of a weight, or of a number that a leaf holds, that are tried."""
MODELS: Final = len(_FEATURES) * len(_NUMBERS)
"""Models that there are to choose from."""


M = TypeVar("M", bound="WholeModel")


class Quantised(NamedTuple, Generic[M]):
    """A model in whole numbers."""

    model: M
    bits: int
    """Bits of a feature."""
    agreement: float
    """The share of rows whose class it keeps, of those that it was counted on."""
    among: int
    """Among how many models a doubt about that share is shared, see `hesc._support.shares.most`:
    all of them where the rows chose one. Rows that were held out are asked about one after the
    other, and the `n`-th gets a part in `n (n + 1)`: of all that may be asked these add up to less
    than one. What is left is shared among all models, where none of the first did."""


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
    held: NDArray[np.bool_] | None = None,
) -> Quantised[M]:
    """The model that costs least among those tried that keep enough classes.

    More bits keep more classes, but for a row here and there. So models are tried along the edge
    between too few bits and enough alone: 20 of a hundred, or twice as many where held rows say no.

    Args:
        made: a model by bits of features and of its own numbers.
        features: rows within ranges.
        clear: the places of their classes by the clear model, before anything was clipped.
        ranges: of features.
        bits: of a feature, if they are given.
        least: the share of classes to be kept.
        held: rows that bits are not chosen on and agreement is counted on. On the others a model
            then has to lose half as many classes as it may, where one does: what keeps just enough
            there keeps fewer elsewhere. Without them all rows are for both.

    Raises:
        ParameterError: none keeps so many.

    """
    choosing = np.ones(len(clear), dtype=bool) if held is None else ~held
    counting = choosing if held is None else held
    widths = list(_FEATURES) if bits is None else [bits]

    @cache
    def tried(of_features: int, of_numbers: int) -> tuple[M, NDArray[np.bool_]]:
        model = made(of_features, of_numbers)
        return model, classify(model, quantised(features, ranges, of_features)) == clear

    def kept(which: tuple[int, int], rows: NDArray[np.bool_]) -> float:
        return float(tried(*which)[1][rows].mean())

    most = kept((widths[-1], _NUMBERS[-1]), choosing)
    wanted = max(least, min(most, least if held is None else (1 + least) / 2))
    asked: set[tuple[int, int]] = set()

    def enough(which: tuple[int, int]) -> bool:
        return kept(which, choosing) >= wanted

    def enough_elsewhere(which: tuple[int, int]) -> bool:
        asked.add(which)
        return kept(which, counting) >= least

    # An edge has fewer models than both sides together: parts in `n (n + 1)` leave one in `left`.
    models, left = len(widths) * len(_NUMBERS), len(widths) + len(_NUMBERS)

    # Held rows are asked about as few models as may be. Where none of the first does, finer ones.
    for again, does in enumerate((enough, lambda which: enough(which) and enough_elsewhere(which))):
        edge = [(_work(tried(*which)[0], which[0]), which) for which in _edge(widths, does)]
        for _, which in sorted(edge):
            if enough_elsewhere(which):
                shared = left * models if again else len(asked) * (len(asked) + 1)
                shared = models if held is None else shared
                return Quantised(tried(*which)[0], which[0], kept(which, counting), shared)
    if asked:
        most = max(kept(which, counting) for which in asked)
    raise ParameterError(
        f"whole numbers of {widths[-1]} bits keep the class of {100 * most:.2f} % of these rows at "
        f"most, fewer than min_agreement={least}: narrower ranges= make steps finer (with "
        f"clip=True for samples beyond), or lower min_agreement"
    )


def _edge(
    widths: list[int], enough: Callable[[tuple[int, int]], bool]
) -> Iterator[tuple[int, int]]:
    """Bits of features and of numbers that are enough, among them all of which no fewer would be.

    That is where more bits are enough wherever fewer are.
    """
    at, of_numbers = 0, _NUMBERS[-1]
    while at < len(widths) and of_numbers >= _NUMBERS[0]:
        which = widths[at], of_numbers
        if enough(which):
            yield which
            of_numbers -= 1
        else:
            at += 1


def _work(model: WholeModel, bits: int) -> int:
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

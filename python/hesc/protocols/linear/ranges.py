"""The least and the greatest value of each encrypted feature: by steps, by data, or as declared."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc._support.callers import callers_level
from hesc._support.inputs import real
from hesc.models import transforms
from hesc.models.samples import are_ranges
from hesc.ring_products.plans import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.models.transforms import Transform
    from hesc.protocols.linear.features import Features

    Array = NDArray[np.float64]
    Ends = tuple[Array, Array]
    Ranges = tuple[ArrayLike, ArrayLike] | Mapping[str, tuple[float, float]]

RANGES: Final = (
    "ranges are a pair: all least values, then all greatest ones, each one number or one for each "
    "encrypted feature in their order; of a list of pairs it is tuple(zip(*pairs)). Of columns "
    "that are encrypted one by one they may be a mapping: {'age': (0, 120)}"
)
"""What is said of any others."""
_FEW: Final = 0.01
"""The share of rows beyond declared ranges that nothing is said of."""


def ranges_of(
    features: Features,
    ranges: Ranges | None,
    *,
    steps: Sequence[Transform],
    inputs: int,
    names: Sequence[str],
    computed: bool,
) -> Ends:
    """The least and greatest value of each feature.

    What steps alone decide, such as ones for categories, is as they say: a category that no row
    has is within its range. Others are as declared, or as they are in the rows.

    Args:
        features: rows after the steps.
        ranges: as declared: a pair, or pairs by names of columns; None for those of the rows.
        steps: the client's.
        inputs: columns before the steps.
        names: of these, or none.
        computed: whether other numbers of rows may have other last bits.

    Raises:
        ParameterError: ranges that are none, of numbers that no feature should have, or of
            features that steps alone decide.
        ShapeError: no pair, or not one for each feature.

    """
    fixed = transforms.limits(list(steps), inputs)
    if ranges is not None and np.isfinite(fixed).all():
        raise ParameterError(
            "features of this model lie within limits whatever the samples are, as zeros and ones "
            "for bins and categories do, which takes no ranges=: leave it out"
        )
    low, high = _of_rows(features, fixed, computed=computed)
    if isinstance(ranges, Mapping):
        low, high = _by_column(ranges, (low, high), transforms.columns_of(steps, inputs), names)
    elif ranges is not None:
        known = np.isfinite(fixed).all(axis=0)
        given = _pair(ranges, features.shape[1])
        low, high = (np.where(known, *each) for each in zip(fixed, given, strict=True))
    if not are_ranges(low, high):
        raise ParameterError(
            "ranges are pairs of the least and the greatest value of each feature, low at most "
            "high: finite, within 1e100, and points or wider than 1e-100; scale features, or give "
            "ranges="
        )
    if ranges is not None:
        _warn_of_narrow(features, (low, high), transforms.columns_of(steps, inputs), names)
    return low, high


def _of_rows(features: Features, fixed: Ends, *, computed: bool) -> Ends:
    low, high = features.ends()
    # Matrix products of other numbers of rows differ in their last bits.
    room = (high - low) * 1e-9 if computed else np.zeros(len(low))
    least, most = fixed
    return (
        np.where(np.isfinite(least), least, low - room),
        np.where(np.isfinite(most), most, high + room),
    )


def _pair(ranges: Any, count: int) -> Ends:
    if not isinstance(ranges, tuple | list) or len(ranges) != 2:
        raise ShapeError(RANGES)
    return spread(ranges[0], count, "ranges[0]"), spread(ranges[1], count, "ranges[1]")


def _by_column(
    ranges: Mapping[str, tuple[float, float]],
    ends: Ends,
    columns: list[int],
    names: Sequence[str],
) -> Ends:
    """Ranges of some columns by name; others keep theirs."""
    if not names:
        raise ShapeError(RANGES)
    low, high = (each.copy() for each in ends)
    # Several branches may read one column.
    places: dict[str, list[int]] = {}
    for at, column in enumerate(columns):
        if column >= 0:
            places.setdefault(names[column], []).append(at)
    for name, pair in ranges.items():
        if name not in places:
            shown = ", ".join(repr(each[:80]) for each in list(places)[:8])
            raise ParameterError(
                f"ranges= names a column that is not encrypted by itself; "
                f"{f'those that are: {shown}' if places else 'none of this model is'}"
            )
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ShapeError(RANGES)
        least, most = (real(end, "an end of ranges=") for end in pair)
        low[places[name]], high[places[name]] = least, most
    return low, high


def _warn_of_narrow(
    features: Features, ends: Ends, columns: list[int], names: Sequence[str]
) -> None:
    """Warns of declared ranges that leave out more than one in a hundred of the rows given."""
    low, high = ends
    beyond = features.reduced(lambda rows: np.any((rows < low) | (rows > high), axis=1))
    if beyond.mean() > _FEW:
        outside = features.reduced(lambda rows: ((rows < low) | (rows > high)).sum(axis=0)[None])
        worst = int(outside.sum(axis=0).argmax())
        column = columns[worst]
        where = repr(names[column][:80]) if names and column >= 0 else f"feature {worst}"
        least, most = (end[worst] for end in features.ends())
        warnings.warn(
            f"{beyond.sum()} of {features.shape[0]} rows planned with lie beyond ranges=, most of "
            f"them in {where}, which is {least:.6g} to {most:.6g}: clients refuse such samples, or "
            f"clip them. Ranges are those of features as they are "
            f"encrypted, after transforms that the client computes",
            UserWarning,
            stacklevel=callers_level(),
        )

"""What fitted transformers of rows of numbers do: scalers, products, projections, bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from hesc._native import ParameterError
from hesc.models import transforms
from hesc.models.transforms import (
    Bins,
    Clip,
    Kernel,
    Monomials,
    Projection,
    Standard,
    Stretch,
    Transform,
)
from hesc.models.trees import double_thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SCALERS: Final = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


def scaler(part: Any) -> list[Transform]:
    """What a fitted scaler does."""
    features = part.n_features_in_
    centre, scale = np.zeros(features), np.ones(features)
    limits = part.feature_range if type(part) is MinMaxScaler else (-1, 1)
    if type(part) is StandardScaler:
        centre = _doubles(part.mean_) if part.with_mean else centre
        scale = _doubles(part.scale_) if part.with_std else scale
    elif type(part) is RobustScaler:
        centre = _doubles(part.center_) if part.with_centering else centre
        scale = _doubles(part.scale_) if part.with_scaling else scale
    elif type(part) is MaxAbsScaler:
        scale = _doubles(part.scale_)
    steps: list[Transform] = [Standard(centre, scale)]
    if type(part) is MinMaxScaler:
        steps = [Stretch(_doubles(part.scale_), _doubles(part.min_))]
    if getattr(part, "clip", False):
        low, high = (np.full(features, float(limit)) for limit in limits)
        steps.append(Clip(low, high))
    return steps


def projection(part: Any) -> Projection:
    """What a fitted PCA does."""
    matrix = _doubles(part.components_)
    if part.whiten:
        # The least is that of the type that it was fitted in.
        least = np.finfo(part.explained_variance_.dtype).eps
        deviations = np.sqrt(_doubles(part.explained_variance_))
        matrix = matrix / np.maximum(deviations, least)[:, None]
    return Projection(_doubles(part.mean_), matrix)


def principal(part: Any) -> list[Transform]:
    """What a fitted PCA does, as steps."""
    return [projection(part)]


def uncentred(part: Any) -> list[Transform]:
    """What a fitted `TruncatedSVD` does."""
    matrix = _doubles(part.components_)
    return [Projection(np.zeros(matrix.shape[1]), matrix)]


def _doubles(numbers: Any) -> NDArray[np.float64]:
    return np.array(numbers, dtype=np.float64)


def monomials(part: Any) -> list[Transform]:
    """What fitted `PolynomialFeatures` do.

    Raises:
        ParameterError: of a higher degree than a client computes.

    """
    powers = part.powers_
    degree = max(1, int(powers.sum(axis=1).max()))
    if degree > transforms.HIGHEST:
        raise ParameterError(
            f"PolynomialFeatures of degree {degree}; a client computes {transforms.HIGHEST} at most"
        )
    factors = np.full((len(powers), degree), -1.0)
    for row, exponents in zip(factors, powers, strict=True):
        named = np.repeat(np.arange(len(exponents)), exponents)
        row[: len(named)] = named
    return [Monomials(powers.shape[1], factors)]


def kernel(part: Any) -> list[Transform]:
    """What a fitted `Nystroem` does.

    Raises:
        ParameterError: a kernel that no client computes.

    """
    name = {"poly": "polynomial"}.get(part.kernel, part.kernel)
    if name not in transforms.KERNELS or part.kernel_params:
        raise ParameterError(
            f"Nystroem with kernel={part.kernel!r} and kernel_params; a client computes "
            f"{', '.join(transforms.KERNELS)} with gamma, coef0 and degree"
        )
    gamma = 1 / part.n_features_in_ if part.gamma is None else part.gamma
    coef0 = 1.0 if part.coef0 is None else part.coef0
    degree = 3.0 if part.degree is None else part.degree
    options = np.array([gamma, coef0, degree], dtype=np.float64)
    return [Kernel(name, _doubles(part.components_), _doubles(part.normalization_), options)]


def discretised(part: Any) -> list[Transform]:
    """What a fitted `KBinsDiscretizer` does: ones for bins, or their numbers."""
    # Its bins have their lower edges, and those of `Bins` their upper ones.
    inner = [_below(edges[1:-1]) for edges in part.bin_edges_]
    if part.dtype is not None and np.dtype(part.dtype) == np.float32:
        # It rounds features, not edges.
        inner = [double_thresholds(edges) for edges in inner]
    ones = bins(part.n_features_in_, [((place, edges), None) for place, edges in enumerate(inner)])
    if part.encode != "ordinal":
        return [ones]
    # The number of a bin is the sum of ones times numbers, of which one is no zero.
    numbers = np.concatenate([np.arange(len(edges) + 1.0) for edges in inner])
    owners = np.repeat(np.arange(len(inner)), [len(edges) + 1 for edges in inner])
    matrix = np.where(np.arange(len(inner))[:, None] == owners, numbers, 0.0)
    return [ones, Projection(np.zeros(len(numbers)), matrix)]


def _below(edges: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """The largest doubles that are less than these: edges may be of more digits than doubles."""
    near = _doubles(edges)
    return np.where(near < edges, near, np.nextafter(near, -np.inf))


Edged = tuple[int, "NDArray[np.float64]"]


def bins(inputs: int, blocks: Sequence[tuple[Edged, Edged | None]]) -> Bins:
    """Bins of blocks: a feature with its edges, and another one or none.

    Raises:
        ParameterError: no edge at all, so that nothing depends on the features.

    """
    none: Edged = (-1, np.empty(0))
    pairs = [(first, second or none) for first, second in blocks]
    edges = np.concatenate([part[1] for pair in pairs for part in pair] or [np.empty(0)])
    if not edges.size:
        raise ParameterError(
            "no feature has two bins, so that all samples have the same scores; there is nothing "
            "to encrypt: of features of few values KBinsDiscretizer makes bins with "
            "strategy='uniform', and trees may need bins='thresholds'"
        )
    features = np.array([[part[0] for part in pair] for pair in pairs], dtype=np.float64)
    counts = np.array([[len(part[1]) for part in pair] for pair in pairs], dtype=np.float64)
    return Bins(inputs, features, counts, edges)

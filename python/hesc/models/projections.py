"""Fitted scikit-learn transformers as matrices: `transform(x) = x @ weights.T + intercepts`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.random_projection import GaussianRandomProjection, SparseRandomProjection

from hesc._native import ParameterError
from hesc.models.steps import SCALERS, projection, scaler
from hesc.models.transforms import Scaler

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

TRANSFORMERS: Final = (
    PCA,
    IncrementalPCA,
    TruncatedSVD,
    FactorAnalysis,
    FastICA,
    LinearDiscriminantAnalysis,
    NeighborhoodComponentsAnalysis,
    GaussianRandomProjection,
    SparseRandomProjection,
    *SCALERS,
)


def projected(part: Any) -> tuple[Array, Array]:
    """Weights, a row for each output, and intercepts of a fitted transformer.

    Raises:
        ParameterError: options with which it is not linear, or has no `transform`.

    """
    kind = type(part)
    if kind in SCALERS:
        return _scaling(part)
    if kind in {PCA, IncrementalPCA}:
        step = projection(part)
        return step.matrix, -step.matrix @ step.centre
    centre = np.zeros(part.n_features_in_)
    if kind is FactorAnalysis:
        scaled = part.components_ / part.noise_variance_
        inner = np.eye(len(part.components_)) + scaled @ part.components_.T
        matrix, centre = np.linalg.solve(inner, scaled), part.mean_
    elif kind is LinearDiscriminantAnalysis:
        if part.solver == "lsqr":
            raise ParameterError(
                "LinearDiscriminantAnalysis(solver='lsqr') transforms nothing; write solver='svd'"
            )
        most = min(len(part.classes_) - 1, part.n_features_in_)
        outputs = most if part.n_components is None else part.n_components
        matrix = part.scalings_[:, :outputs].T
        centre = part.xbar_ if part.solver == "svd" else centre
    else:
        matrix = part.components_
        matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        centre = part.mean_ if kind is FastICA and part.whiten else centre
    weights = np.array(matrix, dtype=np.float64)
    return weights, -weights @ np.asarray(centre, dtype=np.float64)


def _scaling(part: Any) -> tuple[Array, Array]:
    steps = scaler(part)
    if len(steps) != 1 or not isinstance(steps[0], Scaler):
        raise ParameterError(
            f"{type(part).__name__}(clip=True) is not linear where it clips; write clip=False"
        )
    return np.diag(steps[0].factor), -steps[0].factor * steps[0].centre

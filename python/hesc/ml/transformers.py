"""Transformers of scikit-learn whose results can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never, Self

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from hesc._support.callers import usual_floats
from hesc.ml.base import Private, no_options
from hesc.ml.serving import NOT_FITTED
from hesc.models import extraction
from hesc.models.projections import TRANSFORMERS
from hesc.models.samples import on_copies, quietly

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.serving import Mode


class PrivateTransformer(TransformerMixin, Private):  # type: ignore[misc]
    """A linear transformer, for encrypted samples: the client learns the transformed rows.

    The server holds the matrix. Plans, parties and what they learn are those of a regressor with as
    many outputs: **from a plan that hides nothing the client can compute the matrix**.

    Args:
        estimator: PCA, IncrementalPCA, TruncatedSVD, FactorAnalysis, FastICA,
            LinearDiscriminantAnalysis, NeighborhoodComponentsAnalysis, GaussianRandomProjection,
            SparseRandomProjection, StandardScaler, MinMaxScaler, MaxAbsScaler or RobustScaler,
            alone or behind the transforms that `PrivateClassifier` names, which the client
            computes.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> X, _ = load_iris(return_X_y=True)
    >>> private = PrivateTransformer(PCA(2)).fit(X)
    >>> plan = private.plan(X, ranges=(0, 10))
    >>> private.transform(X[:3], fhe="execute", progress=False).shape
    (3, 2)

    """

    _finals = TRANSFORMERS
    _transforms = True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.target_tags = inner.target_tags
        # Samples are doubles, and so is what comes out.
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @usual_floats
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Fits a clone of the estimator, in the clear, in double precision.

        Args:
            X: samples.
            y: classes, for transformers that learn from them.

        Raises:
            ParameterError: an estimator that is not computed here, with the nearest that is.

        """
        extraction.check(self.estimator, self._finals)
        self._forget()
        if y is None and not get_tags(self).target_tags.required:
            given = (quietly(validate_data, self, X, dtype=np.float64),)
        else:
            given = quietly(validate_data, self, X, y, dtype=np.float64)
        self._keep(on_copies(clone(self.estimator).fit, *given))
        return self

    @usual_floats
    def transform(self, X: ArrayLike, *, fhe: Mode = "clear", **options: Any) -> NDArray[Any]:
        """Transformed rows: scikit-learn's own by default.

        Args:
            X: samples.
            fhe: "clear", or "simulate" and "execute" as `run` has them.
            options: further arguments of `run`.

        """
        if fhe == "clear":
            check_is_fitted(self, "estimator_", msg=NOT_FITTED)
            no_options(options)
            return extraction.clear_scores(self.estimator_, self._rows(X))
        return self.run(X, fhe=fhe, **options).predictions

    @property
    def predict(self) -> Never:
        """Not there: transformers transform."""
        raise AttributeError("a PrivateTransformer predicts nothing; call transform")

    def _truth(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Transformed rows, which are all there is."""
        clear = extraction.clear_scores(self.estimator_, rows)
        return clear, clear

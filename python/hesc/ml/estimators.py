"""scikit-learn estimators whose predictions can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils import get_tags

from hesc._support.callers import usual_floats
from hesc.ml import validation
from hesc.ml.base import Private
from hesc.ml.classifying import Classifying
from hesc.models import extraction
from hesc.models.samples import on_copies
from hesc.protocols.classes.options import Classes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.protocols.backend import Table


class PrivateClassifier(Classifying):
    """A classifier whose scores are linear in (transformed) features, for encrypted samples.

    Models of trees are linear in public bins where no tree compares two features, and fitted again
    if asked where one does: see `bins`, `refit` and `min_fidelity` of `Scores`.

    Args:
        estimator: LogisticRegression, LinearSVC, RidgeClassifier, SGDClassifier, Perceptron,
            GaussianNB, QuadraticDiscriminantAnalysis, DecisionTree-, RandomForest-, ExtraTrees-,
            GradientBoosting-, HistGradientBoosting- or AdaBoostClassifier, alone or behind
            transformers of tables in a Pipeline: ColumnTransformer and FeatureUnion, encoders,
            imputers, scalers, selectors, vectorizers and others, of which docs/ml.md has a table.
            `fit` fits a clone of it; `from_fitted` takes a fitted one as it is. Keys are no
            parameters, and are never pickled.

    """

    _finals = extraction.CLASSIFIERS
    _backends: ClassVar[Table] = {
        **Private._backends,  # noqa: SLF001 - of what this is a kind of
        Classes: "hesc.protocols.classes.backend:ClassBackend",
    }


class PrivateRegressor(RegressorMixin, Private):  # type: ignore[misc]
    """A regressor that is linear in (transformed) features, for encrypted samples.

    Args:
        estimator: LinearRegression, Ridge, Lasso, ElasticNet, LinearSVR, SGDRegressor,
            DecisionTree-, RandomForest-, ExtraTrees-, GradientBoosting-, HistGradientBoosting- or
            AdaBoostRegressor, alone or behind the transforms that `PrivateClassifier` names.

    """

    _finals = extraction.REGRESSORS

    @usual_floats
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fits a clone of the estimator, in the clear, in double precision.

        Raises:
            ParameterError: an estimator that is not computed here, with the nearest that is.

        """
        self._check(self.estimator)
        self._forget()
        several = get_tags(self).target_tags.multi_output
        samples, targets = validation.learned(self, X, y, y_numeric=True, multi_output=several)
        self._keep(on_copies(clone(self.estimator).fit, samples, targets))
        return self

    def _shaped(self, predictions: NDArray[Any]) -> NDArray[Any]:
        # A target that was a column stays one.
        final = extraction.parts_of(self.estimator_)[-1]
        column = predictions.ndim == 1 and np.ndim(getattr(final, "coef_", ())) == 2
        return predictions[:, None] if column else predictions

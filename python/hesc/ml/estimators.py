"""scikit-learn estimators whose predictions can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import get_tags

from hesc._support.callers import usual_floats
from hesc.ml import validation
from hesc.ml.base import Private
from hesc.ml.classifying import Classifying
from hesc.models import extraction, refusals
from hesc.models.samples import on_copies
from hesc.protocols.classes.options import Classes
from hesc.protocols.trees.options import Trees

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.protocols.backend import Table


class PrivateClassifier(Classifying):
    """A classifier whose scores are linear in (transformed) features, for encrypted samples.

    Models of trees are linear in public bins where no tree compares two features, and fitted again
    if asked where one does: see `bins`, `refit` and `min_fidelity` of `Scores`.

    Args:
        estimator: a linear classifier of scikit-learn, LinearDiscriminantAnalysis, naive Bayes,
            QuadraticDiscriminantAnalysis, trees (DecisionTree-, RandomForest-, ExtraTrees-,
            GradientBoosting-, HistGradientBoosting-, AdaBoost-, XGB-, XGBRF-, LGBM- or
            CatBoostClassifier), OneVsRestClassifier, CalibratedClassifierCV, soft votes and bagging
            of linear ones, a search over any of them, or what has `coef_`, `intercept_` and such
            scores; alone or behind transformers of tables in a Pipeline: ColumnTransformer and
            FeatureUnion, encoders, imputers, scalers, selectors, vectorizers and others, of which
            docs/estimators.md has a table. `fit` fits a clone of it; `from_fitted` takes a fitted
            one as it is. Keys are no parameters, and are never pickled.

    """

    _finals = extraction.CLASSIFIERS
    _backends: ClassVar[Table] = {
        **Private._backends,  # noqa: SLF001 - of what this is a kind of
        Classes: "hesc.protocols.classes.backend:ClassBackend",
        Trees: "hesc.protocols.trees.backend:TreesBackend",
    }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags and extraction.is_of_two(self.estimator):
            tags.classifier_tags.multi_class = False
        return tags

    def _check_fitted(self, fitted: Any) -> None:
        refusals.check_fitted(fitted, self._finals)


class PrivateRegressor(RegressorMixin, Private):  # type: ignore[misc]
    """A regressor that is linear in (transformed) features, for encrypted samples.

    Args:
        estimator: a linear or generalised linear regressor of scikit-learn, trees (DecisionTree-,
            RandomForest-, ExtraTrees-, GradientBoosting-, HistGradientBoosting-, AdaBoost-, XGB-,
            XGBRF-, LGBM- or CatBoostRegressor), what is made of linear ones (MultiOutput-,
            TransformedTarget-, Voting-, Stacking-, BaggingRegressor), a search over any of them, or
            what has `coef_`, `intercept_` and such predictions; alone or behind the transforms that
            `PrivateClassifier` names. docs/estimators.md has a table.

    """

    _finals = extraction.REGRESSORS
    _backends: ClassVar[Table] = {
        **Private._backends,  # noqa: SLF001 - of what this is a kind of
        Trees: "hesc.protocols.trees.backend:TreesBackend",
    }

    def _check_fitted(self, fitted: Any) -> None:
        refusals.check_fitted(fitted, self._finals)

    @usual_floats
    def fit(self, X: ArrayLike, y: ArrayLike, **fit_params: Any) -> Self:
        """Fits a clone of the estimator, in the clear, in double precision.

        Args:
            X: samples.
            y: targets.
            fit_params: arguments of the estimator's own `fit`. `sample_weight` goes to the last
                step of a pipeline.

        Raises:
            ParameterError: an estimator that is not computed here, with the nearest that is;
                `sample_weight` for one that takes none.

        """
        self._check(self.estimator)
        self._forget()
        several = get_tags(self).target_tags.multi_output
        samples, targets = validation.learned(self, X, y, y_numeric=True, multi_output=several)
        self._learn(samples, targets, fit_params)
        return self

    def _shaped(self, predictions: NDArray[Any]) -> NDArray[Any]:
        # A target that was a column stays one, as scikit-learn's own predictions tell.
        own = on_copies(self.estimator_.predict, self._backend.sample[:1])
        return predictions[:, None] if predictions.ndim < np.ndim(own) else predictions

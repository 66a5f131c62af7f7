"""Fitted estimators that come as numbers, from files, and are never fitted here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Never

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc.models.conclusions import numbers, predictions, probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.models.described import Described


class _Given(BaseEstimator):  # type: ignore[misc]
    """What classifiers and regressors share: scores in double precision, by numpy."""

    def __init__(self, described: Described) -> None:
        self.described = described
        self.n_features_in_ = described.inputs
        if described.names:
            self.feature_names_in_ = np.array(described.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.described.takes_missing
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Never:
        """Refused: always a ParameterError."""
        del X, y
        raise ParameterError(
            "this model comes fitted, from a file: keep it, or fit one of scikit-learn's; around "
            "it, take from_fitted"
        )

    @usual_floats
    def scores(self, X: ArrayLike) -> NDArray[np.float64]:
        """What is computed on encrypted features: one axis where there is one output."""
        finite = "allow-nan" if self.described.takes_missing else True
        rows = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=finite)
        scores = self.described.scores(rows)
        return scores[:, 0] if scores.shape[1] == 1 else scores


class GivenRegressor(RegressorMixin, _Given):  # type: ignore[misc]
    """A regressor that is what `described` computes."""

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Numbers, in double precision: the link's function of the scores."""
        return numbers(self.described.link, self.scores(X))


def _has_probabilities(given: Any) -> bool:
    return bool(given.described.link != "none")


class GivenClassifier(ClassifierMixin, _Given):  # type: ignore[misc]
    """A classifier that is what `described` computes."""

    def __init__(self, described: Described) -> None:
        super().__init__(described)
        self.classes_ = described.classes

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Scores, one for two classes, in double precision."""
        return self.scores(X)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Classes by the highest score, of two by its sign."""
        return predictions(self.described.classes, self.scores(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @usual_floats
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probabilities of all classes, by the link."""
        return probabilities(self.described.link, self.scores(X))

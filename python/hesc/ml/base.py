"""What all estimators of `hesc.ml` share: fitted models, and predictions of them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final, Self

from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc.ml import validation
from hesc.ml.serving import NOT_FITTED, Serving
from hesc.models import extraction, refusals, steps
from hesc.models.boosters.fitted import names_of
from hesc.models.samples import on_copies
from hesc.models.steps.walking import unwrapped
from hesc.protocols.trees.options import Trees

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.serving import Mode
    from hesc.models.tables.forms import Rows

_PASSING: Final = frozenset({"_backend", "_decision"})
"""Attributes that are void once the model is another one, and are never pickled."""


def has_probabilities(private: Any) -> bool:
    """Whether the estimator inside has `predict_proba`: some only once they are fitted."""
    return hasattr(getattr(private, "estimator_", private.estimator), "predict_proba")


def chooses_by_scores(private: Any) -> bool:
    """Whether classes are those of the highest scores, and not of averaged probabilities."""
    return not extraction.averages(private.estimator)


def no_options(options: dict[str, Any]) -> None:
    """Refuses options of encrypted runs where there is none.

    Raises:
        ParameterError: naming them.

    """
    if options:
        raise ParameterError(
            f"{', '.join(options)}: of fhe='simulate' and 'execute', not of fhe='clear'"
        )


class Private(Serving, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What classifiers and regressors share."""

    _finals: tuple[type, ...]

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.target_tags.multi_output = inner.target_tags.multi_output and not inner.classifier_tags
        tags.target_tags.single_output = inner.target_tags.single_output
        tags.target_tags.positive_only = inner.target_tags.positive_only
        tags.input_tags.positive_only = inner.input_tags.positive_only
        tags.input_tags.categorical = inner.input_tags.categorical
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.non_deterministic = inner.non_deterministic
        if steps.takes_tables(self.estimator):
            tags.input_tags = inner.input_tags
            # Pipelines do not ask their first step.
            first = get_tags(extraction.parts_of(self.estimator)[0])
            tags.input_tags.allow_nan = first.input_tags.allow_nan
        else:
            tags.input_tags.allow_nan = extraction.takes_missing(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags

    def __getstate__(self) -> dict[str, Any]:
        """Without plan and keys: plans have a wire form, keys are their owner's."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _PASSING}

    @classmethod
    def from_fitted(cls, estimator: Any) -> Self:
        """Around an estimator that is fitted already, of which a copy is kept.

        Raises:
            ParameterError: an estimator that is not computed here.
            sklearn.exceptions.NotFittedError: one that is not fitted.

        """
        cls._check(estimator)
        private = cls(estimator)
        check_is_fitted(unwrapped(estimator))
        fitted = copy.deepcopy(estimator)
        # A pipeline that begins with "passthrough" does not say it itself.
        private.n_features_in_ = extraction.features_of(fitted)
        names = names_of(fitted)
        if names is not None:
            private.feature_names_in_ = names
            if not extraction.takes_tables(fitted):
                # Names are checked here; what is inside sees arrays.
                extraction.without_names(fitted)
        private._keep(fitted)
        return private

    @classmethod
    def _check(cls, estimator: Any) -> None:
        """Refuses an estimator that is not computed here, fitted or not."""
        refusals.check(estimator, cls._finals)

    def _check_fitted(self, fitted: Any) -> None:
        """Refuses a fitted estimator that is not computed here."""
        self._check(fitted)

    def _default_options(self) -> Any:
        """Trees are computed as they are."""
        check_is_fitted(self, "estimator_", msg=NOT_FITTED)
        has_trees = extraction.has_trees(extraction.parts_of(self.estimator_)[-1])
        return Trees() if has_trees and Trees in self._backends else None

    def _clear_scores(self, rows: Rows) -> NDArray[np.float64]:
        """Scores of the fitted model, a row for each sample."""
        return extraction.clear_scores(self.estimator_, rows)

    def _learn(
        self, samples: Rows, targets: NDArray[Any] | None, fit_params: Mapping[str, Any]
    ) -> None:
        """Fits a clone of the estimator to what was checked, and keeps it."""
        options = validation.fit_options(self.estimator, fit_params)
        given = [samples] if targets is None else [samples, targets]
        self._keep(on_copies(clone(self.estimator).fit, *given, **options))

    def _keep(self, fitted: Any) -> None:
        """Takes a fitted estimator; of a search what it found, and the search as `search_`."""
        self._check_fitted(fitted)
        self._forget()
        self.estimator_ = unwrapped(fitted)
        if self.estimator_ is not fitted:
            self.search_ = fitted

    def _forget(self) -> None:
        """Plans and keys of the model before are void, and so is that where a fit fails."""
        for name in (*_PASSING, "estimator_", "search_"):
            self.__dict__.pop(name, None)

    def _rows(self, X: ArrayLike) -> Rows:
        check_is_fitted(self, "estimator_", msg=NOT_FITTED)
        return validation.known(self, X)

    @usual_floats
    def predict(self, X: ArrayLike, *, fhe: Mode = "clear", **options: Any) -> NDArray[Any]:
        """Predictions: scikit-learn's own by default.

        Args:
            X: samples.
            fhe: "clear", or "simulate" and "execute" as `run` has them.
            options: further arguments of `run`.

        """
        if fhe == "clear":
            no_options(options)
            samples = self._rows(X)
            return extraction.predicted(self.estimator_, samples)
        return self._shaped(self.run(X, fhe=fhe, **options).predictions)

    def _shaped(self, predictions: NDArray[Any]) -> NDArray[Any]:
        return predictions

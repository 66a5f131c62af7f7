"""What the classifiers of `hesc.ml` share, of whichever way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc.ml import validation
from hesc.ml.base import Private, chooses_by_scores, has_probabilities, no_options
from hesc.models.samples import on_copies

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.serving import Mode


class Classifying(ClassifierMixin, Private):  # type: ignore[misc]
    """Fits, scores and probabilities of classifiers."""

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
        samples, targets = validation.learned(self, X, y)
        check_classification_targets(targets)
        self._learn(samples, targets, fit_params)
        return self

    def _keep(self, fitted: Any) -> None:
        if isinstance(fitted.classes_, list):
            raise ParameterError(
                "this model has several targets, each with classes of its own; fit one of each"
            )
        super()._keep(fitted)
        self.classes_ = fitted.classes_

    @available_if(chooses_by_scores)  # type: ignore[untyped-decorator]
    @usual_floats
    def decision_function(
        self, X: ArrayLike, *, fhe: Mode = "clear", **options: Any
    ) -> NDArray[np.float64]:
        """Scores, one for two classes. Arguments are those of `predict`.

        Of Gaussian models they are logarithms of joint probabilities, of networks the last layer's
        sums.

        Raises:
            ParameterError: encrypted scores of a plan whose client learns classes alone.

        """
        if fhe == "clear":
            no_options(options)
            scores = self._clear_scores(self._rows(X))
            return scores[:, 0] if scores.shape[1] == 1 else scores
        self._served().check_scores()
        scored: NDArray[np.float64] = self.run(X, fhe=fhe, **options).scores
        return scored

    @available_if(has_probabilities)  # type: ignore[untyped-decorator]
    @usual_floats
    def predict_proba(
        self, X: ArrayLike, *, fhe: Mode = "clear", **options: Any
    ) -> NDArray[np.float64]:
        """Probabilities: the client computes them from scores. Arguments are those of `predict`.

        Raises:
            ParameterError: a model whose scores give none, a plan without scores.

        """
        if fhe == "clear":
            no_options(options)
            samples = self._rows(X)
            clear: NDArray[np.float64] = on_copies(self.estimator_.predict_proba, samples)
            return clear
        backend = self._served()
        backend.check_scores()
        found: NDArray[np.float64] = backend.plan.probabilities(
            self.run(X, fhe=fhe, **options).scores
        )
        return found

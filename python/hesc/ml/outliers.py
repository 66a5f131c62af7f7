"""scikit-learn's isolation forests, whose verdicts can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import OutlierMixin

from hesc._support.callers import usual_floats
from hesc.ml import validation
from hesc.ml.base import Private, no_options
from hesc.models import extraction
from hesc.models.conclusions import OUTLIERS
from hesc.models.samples import on_copies
from hesc.protocols.trees.options import Trees

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.serving import Mode
    from hesc.protocols.backend import Table


class PrivateOutlierDetector(OutlierMixin, Private):  # type: ignore[misc]
    """A detector of outliers by an isolation forest, for encrypted samples.

    The server adds up how far into each tree a sample comes. The client learns that sum as a score:
    how many doublings the sample's anomaly score is above the threshold, so that a score above zero
    is that of an outlier. `run` returns these scores; `decision_function` and `score_samples` are
    scikit-learn's, computed of them.

    Args:
        estimator: IsolationForest, alone or behind the transforms that `PrivateClassifier` names in
            a Pipeline, which the client computes; docs/estimators.md has a table. `fit` fits a
            clone of it; `from_fitted` takes a fitted one as it is. Keys are no parameters, and are
            never pickled.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import IsolationForest
    >>> X, _ = load_iris(return_X_y=True)
    >>> private = PrivateOutlierDetector(IsolationForest(n_estimators=10, random_state=0)).fit(X)
    >>> plan = private.plan(X)
    >>> private.predict([X[0], [9, 9, 9, 9]], fhe="execute", progress=False).tolist()
    [1, -1]

    """

    _finals = extraction.OUTLIERS
    _backends: ClassVar[Table] = {Trees: "hesc.protocols.trees.backend:TreesBackend"}

    @staticmethod
    def _classes_of(fitted: Any) -> NDArray[Any]:
        """What predictions are, whatever was fitted."""
        del fitted
        return np.array(OUTLIERS)

    @property
    def offset_(self) -> float:
        """What `decision_function` is more than `score_samples`, with the other sign.

        Raises:
            AttributeError: nothing is fitted yet.

        """
        found: float = extraction.parts_of(self.estimator_)[-1].offset_
        return found

    @usual_floats
    def fit(self, X: ArrayLike, y: object = None, **fit_params: Any) -> Self:
        """Fits a clone of the estimator, in the clear.

        Args:
            X: samples.
            y: changes nothing, as in scikit-learn.
            fit_params: arguments of the estimator's own `fit`. `sample_weight` goes to the last
                step of a pipeline.

        Raises:
            ParameterError: an estimator that is not computed here, with the nearest that is.

        """
        del y
        self._check(self.estimator)
        self._forget()
        samples, _ = validation.learned(self, X, None)
        self._learn(samples, None, fit_params)
        return self

    @usual_floats
    def score_samples(
        self, X: ArrayLike, *, fhe: Mode = "clear", **options: Any
    ) -> NDArray[np.float64]:
        """Anomaly scores as scikit-learn has them: from -1, of outliers, to 0.

        Arguments are those of `predict`.
        """
        if fhe == "clear":
            no_options(options)
            samples = self._rows(X)
            found: NDArray[np.float64] = on_copies(self.estimator_.score_samples, samples)
            return found
        scores: NDArray[np.float64] = self.run(X, fhe=fhe, **options).scores
        return self.offset_ * np.exp2(scores)

    @usual_floats
    def decision_function(
        self, X: ArrayLike, *, fhe: Mode = "clear", **options: Any
    ) -> NDArray[np.float64]:
        """Anomaly scores less `offset_`, below zero for outliers; arguments are those of `predict`.

        Of `fhe="clear"` they are scikit-learn's own, of others what follows from decrypted scores.
        """
        return self.score_samples(X, fhe=fhe, **options) - self.offset_

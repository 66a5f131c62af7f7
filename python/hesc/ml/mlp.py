"""scikit-learn's networks whose predictions can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import RegressorMixin

from hesc._support.callers import usual_floats
from hesc.ml import validation
from hesc.ml.base import Private
from hesc.ml.classifying import Classifying
from hesc.models import fitted_mlp as extraction
from hesc.protocols.networks.options import Network

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.backend import Table


class _PrivateNetwork(Private):
    """What classifiers and regressors share."""

    _backends: ClassVar[Table] = {Network: "hesc.protocols.networks.backend:NetworkBackend"}

    @classmethod
    def _check(cls, estimator: Any) -> None:
        extraction.check(estimator, cls._finals)

    def _clear_scores(self, samples: Rows) -> NDArray[np.float64]:
        return extraction.described(self.estimator_, names=[]).scores(samples)


class PrivateMLPClassifier(Classifying, _PrivateNetwork):
    """A network that classifies encrypted samples.

    Args:
        estimator: MLPClassifier with hidden layers of relu, tanh or logistic, alone or behind the
            transformers that `PrivateClassifier` names in a Pipeline; or, by `from_fitted`, a
            network of an ONNX file, which may have squares too. `fit` fits a clone of it. Keys
            are no parameters, and are never pickled.

    """

    _finals = extraction.CLASSIFIERS


class PrivateMLPRegressor(RegressorMixin, _PrivateNetwork):  # type: ignore[misc]
    """A network that predicts numbers of encrypted samples.

    Args:
        estimator: MLPRegressor with loss="squared_error", as `PrivateMLPClassifier` says.

    """

    _finals = extraction.REGRESSORS

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
        samples, targets = validation.learned(self, X, y, y_numeric=True, multi_output=True)
        self._learn(samples, targets, fit_params)
        return self

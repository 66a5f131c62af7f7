"""scikit-learn's networks whose predictions can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import validate_data

from hesc._support.callers import usual_floats
from hesc.ml.base import Private
from hesc.ml.classifying import Classifying
from hesc.models import mlp as extraction
from hesc.models.samples import on_copies, quietly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.protocols.backend import Table


class _PrivateNetwork(Private):
    """What classifiers and regressors share."""

    _backends: ClassVar[Table] = {
        ("client_server", "scores"): "hesc.protocols.networks.backend:NetworkBackend",
    }

    @classmethod
    def _check(cls, estimator: Any) -> None:
        extraction.check(estimator, cls._finals)

    def _clear_scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return extraction.described(self.estimator_, names=[]).scores(rows)

    def plan(  # type: ignore[override]  # networks have fewer options
        self,
        X: ArrayLike,
        *,
        setting: str = "client_server",
        disclose: str = "scores",
        max_error: float | None = None,
        hidden: bool = False,
        ranges: tuple[ArrayLike, ArrayLike] | None = None,
        names: Sequence[str] = (),
        table: bool | None = None,
    ) -> Any:
        """Chooses polynomials and sizes for a fitted network: print what it returns.

        Takes a second or two, for trials under keys of their own.

        Args:
            X: training data, **whose least and greatest values, roughly whose mean and whose
                largest distance from it become public**: samples farther out are refused.
                Polynomials are fitted to the sums that a network has on them.
            setting: "client_server": the server knows the model, the client has samples and key.
            disclose: "scores": what the client learns.
            max_error: the root mean square of a score's error over rows like `X`, in units of
                `decision_function` or of a regressor's target. None takes the first plan that has
                a hundredth of the median margin between classes, or of the deviation of a
                regressor's predictions, or else the best of rings up to 16384.
            hidden: refused, with the reason.
            ranges: a pair: the least and the greatest values of what is encrypted, each one number
                or one for each; of features after the client's transforms.
            names: of the features, where the model was fitted without.
            table: whether to print the table of contenders, of which networks have none; None
                prints it where Python is interactive or standard output is a terminal.

        Raises:
            ParameterError: an option that this cannot keep, with the reason and what would do.
            NoiseBudgetError: an error that no set reaches; without that option, polynomials under
                which more than one class in ten, or a tenth of the variance, would be another.

        """
        return self._planned_by(
            X,
            setting,
            disclose,
            names,
            table=table,
            max_error=max_error,
            hidden=hidden,
            ranges=ranges,
        )


class PrivateMLPClassifier(Classifying, _PrivateNetwork):
    """A network that classifies encrypted samples.

    Args:
        estimator: MLPClassifier with hidden layers of relu, tanh or logistic, alone or behind the
            transforms that `PrivateClassifier` names in a Pipeline; or, by `from_fitted`, a
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
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fits a clone of the estimator, in the clear, in double precision.

        Raises:
            ParameterError: an estimator that is not computed here, with the nearest that is.

        """
        self._check(self.estimator)
        self._forget()
        X, y = quietly(
            validate_data, self, X, y, dtype=np.float64, y_numeric=True, multi_output=True
        )
        self._keep(on_copies(clone(self.estimator).fit, X, y))
        return self

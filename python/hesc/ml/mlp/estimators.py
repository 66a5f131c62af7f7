"""scikit-learn's networks whose predictions can be had without showing samples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Never, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import validate_data

from hesc._native import ParameterError
from hesc.ml.agreement import margins_of
from hesc.ml.base import Private
from hesc.ml.classifying import Classifying
from hesc.ml.deployable import SAMPLE, spread_out
from hesc.ml.mlp import extraction, planning
from hesc.ml.mlp.runs import simulate
from hesc.ml.mlp.server import NetworkServer
from hesc.ml.plans import check_wishes
from hesc.ml.samples import quietly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.described import Described
    from hesc.ml.mlp.client import NetworkClient
    from hesc.ml.mlp.planning import Prepared
    from hesc.ml.mlp.plans import NetworkPlan
    from hesc.ml.runs import Run

_TIES: Final = 1e-9
"""Margins within which roundings choose a class."""
_HIDDEN: Final = (
    "a network's weights are not hidden from the client: nothing drowns what noise says of them, "
    "and no bound on answers is known below which they stay unknown. A linear model can be hidden "
    "for few answers (PrivateClassifier); else write hidden=False"
)


class _PrivateNetwork(Private):
    """What classifiers and regressors share."""

    # Of networks: another plan and session than those of ring products.
    _plan: Any
    _session: Any
    _ready: Prepared
    _read: Any

    @classmethod
    def _check(cls, estimator: Any) -> None:
        extraction.check(estimator, cls._finals)

    def _clear_scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._described().scores(rows)

    def _changed(self) -> bool:
        return not self._read.model.same_as(self._described().model)

    def _described(self) -> Described:
        names = [str(name) for name in getattr(self, "feature_names_in_", [])]
        return extraction.described(self.estimator_, names=names)

    def plan(  # type: ignore[override]  # networks have no hidden weights
        self,
        X: ArrayLike,
        *,
        setting: str = "client_server",
        disclose: str = "scores",
        max_error: float | None = None,
        hidden: bool = False,
        ranges: tuple[ArrayLike, ArrayLike] | None = None,
        names: Sequence[str] = (),
    ) -> NetworkPlan:
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

        Raises:
            ParameterError: a wish that this cannot keep, with the reason and what would do.
            NoiseBudgetError: an error that no set reaches; without a wish, polynomials under
                which more than one class in ten, or a tenth of the variance, would be another.

        """
        check_wishes(setting, disclose)
        if hidden is not False:
            raise ParameterError(_HIDDEN)
        rows = self._rows(X)
        model = self._described()
        clear = model.scores(rows)
        if model.classes is not None and len(model.classes) < 2:
            raise ParameterError("a model of one class needs no scores, encrypted or not")
        plan, ready = planning.make(
            model,
            rows,
            clear,
            names=self._names(model.names or names),
            max_error=max_error,
            ranges=ranges,
        )
        self._check_layers(plan, rows, clear)
        self._read, self._plan, self._ready = model, plan, ready
        self._sample = spread_out(rows, SAMPLE)
        self.__dict__.pop("_session", None)
        return plan

    def _check_layers(
        self, plan: NetworkPlan, rows: NDArray[np.float64], clear: NDArray[np.float64]
    ) -> None:
        """What layers say of rows is what the estimator says, but for roundings."""
        found = plan.predictions(plan.scores(clear))
        expected = np.asarray(self.estimator_.predict(rows))
        same = found.shape == expected.shape
        if same and plan.classes is None:
            same = bool(np.allclose(found, expected, rtol=1e-6, atol=1e-9))
        elif same:
            same = bool((found == expected)[margins_of(clear) > _TIES].all())
        if same and plan.link != "none":
            shares = self.estimator_.predict_proba(rows)
            same = bool(np.allclose(plan.probabilities(plan.scores(clear)), shares, atol=1e-6))
        if not same:
            raise ParameterError(
                "layers read off this network predict something else than it does itself, as for "
                "several labels to a sample; fit a network of one target"
            )

    def contenders(self, samples: int = 1, **wishes: Any) -> Never:
        """Refused: always a ParameterError. What is compared are ways for linear scores."""
        del samples, wishes
        raise ParameterError(
            "a network has no contenders here: other ways compute linear scores, those of "
            "PrivateClassifier and PrivateRegressor"
        )

    def _planned(self) -> tuple[NetworkPlan, Prepared]:  # type: ignore[override]
        return self._current_plan(), self._ready

    def client(self) -> NetworkClient:  # type: ignore[override]
        """A client of the plan with new keys. Elsewhere: `NetworkClient(NetworkPlan.from_bytes)`.

        Raises:
            ParameterError: there is no plan.

        """
        from hesc.ml.mlp.client import NetworkClient

        return NetworkClient(self._planned()[0])

    def server(self, *, keys: bytes | None = None) -> NetworkServer:  # type: ignore[override]
        """A server of the plan, which cannot decrypt. Elsewhere: `NetworkServer.from_bytes`.

        Args:
            keys: the client's `public_keys()`, without which nothing is answered.

        Raises:
            ParameterError: there is no plan.

        """
        plan, ready = self._planned()
        return NetworkServer(plan, ready.layers, keys=keys)

    def _simulated(
        self,
        rows: NDArray[np.float64],
        *,
        clip: bool,
        random_state: int | None,
        progress: bool | Callable[[int, int], object],  # noqa: ARG002 - it takes no time
    ) -> Run:
        return simulate(self._plan, self._ready, rows, clip=clip, random_state=random_state)


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
        self._keep(clone(self.estimator).fit(X, y))
        return self

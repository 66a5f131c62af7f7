"""What all estimators of `hesc.ml` share: fitted models, plans, both parties, runs."""

from __future__ import annotations

import copy
import warnings
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from hesc._native import ParameterError
from hesc.ml import documents, extraction, planning, scorecards, transforms
from hesc.ml.contending import Contending
from hesc.ml.deployable import SAMPLE, Deployable, spread_out
from hesc.ml.plans import PrivatePlan, check_wishes
from hesc.ml.projections import TRANSFORMERS
from hesc.ml.runs import no_options
from hesc.ml.samples import check_names, quietly
from hesc.ml.server import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.ml.additive import Wish
    from hesc.ml.client import Client
    from hesc.ml.extraction import Linear
    from hesc.ml.fidelity import Fidelity
    from hesc.ml.runs import Run, Session

NOT_FITTED: Final = (
    "this %(name)s is not fitted: call fit, or make it by %(name)s.from_fitted(estimator) of an "
    "estimator that is"
)
_SEEN: Final = 100
"""Rows that a model of trees is known by."""
Mode = Literal["clear", "simulate", "execute"]
_PASSING: Final = frozenset({"_linear", "_plan", "_read", "_ready", "_sample", "_seen", "_session"})
"""Attributes that are void once the model is another one, and are never pickled."""


class ClippedWarning(UserWarning):
    """Values were brought within their declared ranges, so that predictions may be others."""


def has_probabilities(private: Any) -> bool:
    """Whether the estimator inside has `predict_proba`."""
    return hasattr(private.estimator, "predict_proba")


class Private(Contending, Deployable, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """What classifiers, regressors and transformers share."""

    _finals: tuple[type, ...]

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.target_tags.multi_output = inner.target_tags.multi_output and not inner.classifier_tags
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.non_deterministic = inner.non_deterministic
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
        check_is_fitted(estimator)
        fitted = copy.deepcopy(estimator)
        # A pipeline that begins with "passthrough" does not say it itself.
        private.n_features_in_ = extraction.parts_of(fitted)[0].n_features_in_
        if hasattr(fitted, "feature_names_in_"):
            # Names are checked here; what is inside sees arrays.
            private.feature_names_in_ = fitted.feature_names_in_
            for part in extraction.parts_of(fitted):
                part.__dict__.pop("feature_names_in_", None)
        private._keep(fitted)
        return private

    @classmethod
    def _check(cls, estimator: Any) -> None:
        """Refuses an estimator that is not computed here."""
        extraction.check(estimator, cls._finals)

    def _clear_scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores of the fitted model, a row for each sample."""
        return extraction.clear_scores(self.estimator_, rows)

    def _keep(self, fitted: Any) -> None:
        """Takes a fitted estimator."""
        self._forget()
        self.estimator_ = fitted

    def _forget(self) -> None:
        """Plans and keys of the model before are void, and so is that where a fit fails."""
        for name in (*_PASSING, "estimator_"):
            self.__dict__.pop(name, None)

    def _rows(self, X: ArrayLike) -> NDArray[np.float64]:
        check_is_fitted(self, "estimator_", msg=NOT_FITTED)
        rows: NDArray[np.float64] = quietly(validate_data, self, X, reset=False, dtype=np.float64)
        return rows

    def plan(
        self,
        X: ArrayLike,
        *,
        setting: str = "client_server",
        disclose: str = "scores",
        max_error: float | None = None,
        hidden: bool = False,
        answers: int | None = None,
        ranges: tuple[ArrayLike, ArrayLike] | None = None,
        names: Sequence[str] = (),
        bins: Wish | None = None,
        refit: Literal["additive"] | None = None,
        min_fidelity: float | None = None,
    ) -> PrivatePlan:
        """Chooses sizes for a fitted model and says who learns what: print what it returns.

        Args:
            X: training data, **whose least and greatest values become public ranges** of what is
                encrypted, unless `ranges` are given. Predicted agreement is that of a thousand
                rows spread over it.
            setting: "client_server": the server knows the model, the client has samples and key.
            disclose: "scores": what the client learns. What cannot be kept from it is refused.
            max_error: the root mean square of a score's error that is wanted, in units of
                `decision_function` or of a regressor's target. None takes a power of two below a
                hundredth of the median margin between classes over `X`, or of the deviation of a
                regressor's predictions, of several outputs the least.
            hidden: hide the weights from the client, who otherwise reads them from an answer. It
                takes larger rings and works for few answers, since scores give a model away.
            answers: how many numbers a hidden model gives in all its life, samples times outputs;
                at most and by default one less for each output than directions in which features
                vary. That is linear algebra's limit: who knows more of the weights beforehand, such
                as that few are not zero, finds them with fewer.
            ranges: a pair: the least and the greatest values of what is encrypted, each one number
                or one for each; of features after the client's transforms.
            names: of the features, where the model was fitted without.
            bins: of models of trees, whose features are encrypted as one-hot **public bins**: how
                many to a feature, 16 by default, of as many rows of `X` each as nearly as may be;
                "thresholds" for those that the model has; or a list of edges for each feature.
                A threshold moves to the nearest edge.
            refit: of trees that compare several features each: "additive" computes a sum of
                functions of single features instead, fitted to the model's scores of `X`, of which
                a quarter is kept to measure its fidelity.
            min_fidelity: of models of trees: the least share of rows of the fitted model's class,
                or of the variance of a regressor's predictions, 0.9 by default; less is refused.

        Raises:
            ParameterError: a wish that this cannot keep, with the reason and what would do.
            NoiseBudgetError: an error that no set reaches.

        """
        check_wishes(setting, disclose)
        rows = self._rows(X)
        clear = extraction.clear_scores(self.estimator_, rows)
        classes = getattr(self, "classes_", None)
        if classes is not None and len(classes) < 2:
            raise ParameterError("a model of one class needs no scores, encrypted or not")
        model, fidelity = self._form(rows, clear, bins, refit, min_fidelity)
        plan = planning.make(
            model,
            rows,
            clear,
            names=self._names(names),
            classes=classes,
            max_error=max_error,
            hidden=hidden,
            answers=answers,
            ranges=ranges,
            fidelity=fidelity,
            transformer=self._finals is TRANSFORMERS,
        )
        self._check_conclusions(plan, rows, clear)
        self._linear, self._plan = model, plan
        self._sample = spread_out(rows, SAMPLE)
        # What a model of trees is known by: its scores of some rows.
        self._seen = None if fidelity is None else (rows[:_SEEN], clear[:_SEEN])
        self.__dict__.pop("_session", None)
        return plan

    def _names(self, names: Sequence[str]) -> list[str]:
        """Those of the features that the model was fitted with, or else those given."""
        found = getattr(self, "feature_names_in_", None)
        given = names if found is None else [str(name) for name in found]
        return documents.feature_names(given, self.n_features_in_)

    def _form(
        self,
        rows: NDArray[np.float64],
        clear: NDArray[np.float64],
        bins: Wish | None,
        refit: str | None,
        min_fidelity: float | None,
    ) -> tuple[Linear, Fidelity | None]:
        """Transforms and weights, and how near they come to what was fitted if they are not it."""
        wishes: dict[str, Any] = {"bins": bins, "refit": refit, "min_fidelity": min_fidelity}
        if extraction.has_trees(extraction.parts_of(self.estimator_)[-1]):
            return scorecards.of(self.estimator_, rows, clear, **wishes)
        scorecards.refuse_wishes(**wishes)
        return extraction.linear_form(self.estimator_), None

    def _changed(self) -> bool:
        """Whether the fitted model is another one than was planned."""
        linear: Linear = self._linear
        if self._seen is not None:
            rows, clear = self._seen
            now = extraction.clear_scores(self.estimator_, rows)
            # Threads add trees up in any order.
            return not np.allclose(now, clear, rtol=1e-9, atol=1e-12)
        found = extraction.linear_form(self.estimator_)
        return not (
            np.array_equal(found.weights, linear.weights)
            and np.array_equal(found.intercepts, linear.intercepts)
        )

    def _check_conclusions(
        self, plan: PrivatePlan, rows: NDArray[np.float64], clear: NDArray[np.float64]
    ) -> None:
        """What a client concludes from scores is what scikit-learn concludes."""
        scores = plan.scores(clear)
        same = np.array_equal(self._shaped(plan.predictions(scores)), self.estimator_.predict(rows))
        if same and plan.link != "none":
            expected = self.estimator_.predict_proba(rows)
            found = plan.probabilities(scores)
            same = found.shape == expected.shape and bool(np.abs(found - expected).max() < 1e-6)
        if not same:
            raise ParameterError(
                "scikit-learn concludes something else from this model's scores, as it does for "
                "several labels to a sample; fit a model of one target"
            )

    def _current_plan(self) -> Any:
        """The plan, of the model as it is now."""
        check_is_fitted(self, "estimator_", msg=NOT_FITTED)
        plan = self.__dict__.get("_plan")
        if plan is None:
            raise ParameterError(
                "there is no plan, or the model was fitted again since, or unpickled: "
                "plan(X_train) makes one"
            )
        if self._changed():
            raise ParameterError("the model has changed since it was planned; plan it again")
        return plan

    def _planned(self) -> tuple[PrivatePlan, Linear]:
        return self._current_plan(), self._linear

    def _truth(self, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """What the fitted model says; scores of what is computed where that is another model."""
        scores, predictions = super()._truth(rows)
        if getattr(self, "_seen", None) is not None:
            linear = self._linear
            features = transforms.transformed(linear.steps, rows)
            scores = self._plan.scores(features @ linear.weights.T + linear.intercepts)
        return scores, predictions

    def client(self) -> Client:
        """A client of the plan with a new key pair. Elsewhere: `Client(PrivatePlan.from_bytes(b))`.

        Raises:
            ParameterError: there is no plan.

        """
        from hesc.ml.client import Client

        return Client(self._planned()[0])

    def server(self, *, keys: bytes | None = None) -> Server:
        """A server of the plan, which cannot decrypt. Elsewhere: `Server.from_bytes`.

        Args:
            keys: where weights are hidden, the client's `public_keys()`.

        Raises:
            ParameterError: there is no plan; keys missing or too many.

        """
        plan, linear = self._planned()
        return Server(plan, linear.weights, linear.intercepts, keys=keys)

    def run(
        self,
        X: ArrayLike,
        *,
        fhe: Mode = "execute",
        clip: bool = False,
        random_state: int | None = None,
        progress: bool | Callable[[int, int], object] = True,
    ) -> Run:
        """Predictions with scores, the stated error, bytes both ways and what was clipped.

        Both parties run in this process, with keys that stay for the plan's next runs.

        Args:
            X: samples, within the plan's ranges, and within the ball of a network's plan.
            fhe: "execute" encrypts, evaluates and decrypts; "simulate" computes in the clear, a
                network by its polynomials, and adds errors drawn from the plan's law.
            clip: bring values beyond ranges to their ends, and samples beyond a ball into it,
                counted in the result and in a `ClippedWarning`.
            random_state: of "simulate".
            progress: a bar on the terminal, or a function that is called with numbers of samples.

        Raises:
            OutOfRangeError: values beyond their ranges, samples beyond a ball.
            ParameterError: there is no plan; more answers than a hidden model has left.

        """
        from hesc.ml.runs import Session

        if fhe not in {"simulate", "execute"}:
            raise ParameterError(f"fhe={fhe!r} is not simulate or execute; predict has clear too")
        plan = self._current_plan()
        rows = self._rows(X)
        # Names that were given to the plan alone: scikit-learn does not know them.
        check_names(X, plan.names)
        if fhe == "simulate":
            found = self._simulated(rows, clip=clip, random_state=random_state, progress=progress)
        else:
            session: Session | None = self.__dict__.get("_session")
            if session is None:
                client = self.client()
                keys = client.public_keys() if client.plan.needs_keys else None
                session = self._session = Session(client, self.server(keys=keys))
            found = session.run(rows, clip=clip, progress=progress)
        if found.clipped:
            warnings.warn(
                f"{found.clipped} values in {found.clipped_samples} of {len(rows)} samples were "
                f"brought within their declared ranges",
                ClippedWarning,
                stacklevel=3,
            )
        return found

    def _simulated(
        self,
        rows: NDArray[np.float64],
        *,
        clip: bool,
        random_state: int | None,
        progress: bool | Callable[[int, int], object],
    ) -> Run:
        """Samples as a run would have them, with errors by the plan's law. The plan was checked."""
        from hesc.ml.runs import simulate

        return simulate(
            self._plan,
            self._linear.weights,
            self._linear.intercepts,
            rows,
            clip=clip,
            random_state=random_state,
            progress=progress,
        )

    def predict(self, X: ArrayLike, *, fhe: Mode = "clear", **options: Any) -> NDArray[Any]:
        """Predictions: scikit-learn's own by default.

        Args:
            X: samples.
            fhe: "clear", or "simulate" and "execute" as `run` has them.
            options: further arguments of `run`.

        """
        if fhe == "clear":
            no_options(options)
            rows = self._rows(X)
            clear: NDArray[Any] = self.estimator_.predict(rows)
            return clear
        return self._shaped(self.run(X, fhe=fhe, **options).predictions)

    def _shaped(self, predictions: NDArray[Any]) -> NDArray[Any]:
        return predictions

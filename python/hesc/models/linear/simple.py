"""Estimators whose scores are linear in features, as weights; and what scikit-learn says of them.

An estimator is read by its class, or by the first of its bases that is listed here. Whatever else
has `coef_` and `intercept_` is read by these. A subclass, or an estimator of somebody else's, may
compute something else: `check_agrees` holds what was read against the estimator's own scores of
the rows that a plan is made with.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from sklearn import linear_model
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lars,
    LarsCV,
    Lasso,
    LassoCV,
    LassoLars,
    LassoLarsCV,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    Perceptron,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    TheilSenRegressor,
    TweedieRegressor,
)
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from sklearn.utils import get_tags

from hesc._native import ParameterError
from hesc.models.conclusions import probabilities
from hesc.models.linear.discriminants import bernoulli, categorical, counted, gaussian, quadratic
from hesc.models.samples import on_copies
from hesc.models.transforms import folded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.models.conclusions import Isotonic
    from hesc.models.transforms import Transform

    Array = NDArray[np.float64]

_AGREES: Final = 1e-6
"""What scores of estimators that are not listed may differ by, beside the largest."""
_PROBES: Final = 64
"""Rows on which the probabilities of estimators that are not listed are looked at."""


class Linear(NamedTuple):
    """A model as transforms and weights."""

    steps: list[Transform]
    """Which a client computes."""
    weights: Array
    """Outputs by features after the transforms."""
    intercepts: Array
    """One for each output."""
    link: str
    """How scores become probabilities or predictions: one of `hesc.models.conclusions.LINKS`."""
    calibration: Isotonic | None = None
    """Functions of scores whose values are shares of classes, where the link is isotonic."""

    def folded(self) -> Linear:
        """The same with trailing scalers folded into weights."""
        return self._replace(**folded(self.steps, self.weights, self.intercepts)._asdict())


def nothing(final: Any) -> str | None:
    """Options that speak against an estimator of a kind: none."""
    del final
    return None


def check_options(final: Any, against: Callable[[Any], str | None]) -> None:
    """Refuses an estimator whose options are not computed.

    Raises:
        ParameterError: with the nearest that works.

    """
    nearest = against(final)
    if nearest is not None:
        raise ParameterError(
            f"this {type(final).__name__} is not computed on encrypted features; nearest: {nearest}"
        )


@dataclass(frozen=True)
class LinearKind:
    """How the estimators of a class are read."""

    read: Callable[[Any], Linear]
    """Weights on the features that the estimator itself is given."""
    method: str
    """What scikit-learn says scores by."""
    conclude: Callable[[Any, Array], Array] | None = None
    """The same outputs as weights have, of what the method says; None where they are the same."""
    against: Callable[[Any], str | None] = nothing
    """The nearest that works, of one whose options are not computed, fitted or not."""

    def scores(self, final: Any, rows: Array) -> Array:
        """What scikit-learn computes: rows of the outputs that weights have."""
        found = np.asarray(on_copies(getattr(final, self.method), rows), dtype=np.float64)
        found = found.reshape(rows.shape[0], -1)
        return found if self.conclude is None else self.conclude(final, found)


def coefficients(final: Any) -> tuple[Array, Array]:
    """`coef_` and `intercept_`: a row for each output, and a number for each."""
    given = final.coef_.toarray() if hasattr(final.coef_, "toarray") else final.coef_
    weights = np.atleast_2d(np.array(given, dtype=np.float64))
    intercepts = np.array(final.intercept_, dtype=np.float64).reshape(-1)
    return weights, np.broadcast_to(intercepts, (len(weights),)).copy()


def _plain(final: Any) -> Linear:
    return Linear([], *coefficients(final), "none")


def _of_classes(final: Any) -> Linear:
    return Linear([], *coefficients(final), _by_classes(final))


def _by_classes(final: Any) -> str:
    """The link of scores that are logarithms of probabilities, but for a constant."""
    return "softmax" if len(final.classes_) > 2 else "sigmoid"


def _logistic(final: Any) -> Linear:
    apart = final.solver == "liblinear" or getattr(final, "multi_class", "auto") == "ovr"
    several = "one_against_rest" if apart else "softmax"
    return Linear([], *coefficients(final), several if len(final.classes_) > 2 else "sigmoid")


def _descended(final: Any) -> Linear:
    link = "one_against_rest" if final.loss == "log_loss" else "none"
    return Linear([], *coefficients(final), link)


def _centred(final: Any) -> Linear:
    """Models whose `coef_` counts from a mean: what they say of zero is the intercept."""
    weights, _ = coefficients(final)
    intercepts = np.reshape(final.predict(np.zeros((1, weights.shape[1]))), -1)
    return Linear([], weights, np.array(intercepts, dtype=np.float64), "none")


def _logarithm(final: Any, predictions: Array) -> Array:
    return np.log(predictions) if _tweedie_link(final) == "exp" else predictions


def _tweedie_link(final: Any) -> str:
    link, power = getattr(final, "link", "log"), getattr(final, "power", 1)
    identity = link == "identity" or (link == "auto" and power <= 0)
    return "none" if identity else "exp"


def _generalised(final: Any) -> Linear:
    return Linear([], *coefficients(final), _tweedie_link(final))


def _joint(reader: Callable[[Any], Any]) -> Callable[[Any], Linear]:
    def read(final: Any) -> Linear:
        steps, weights, intercepts = reader(final)
        return Linear(steps, weights, intercepts, _by_classes(final))

    return read


def _of_two(_final: Any, scores: Array) -> Array:
    """The difference of two classes, which says less; of more their scores."""
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


_SUPPORT: Final = "Linear{}, or with a kernel make_pipeline(StandardScaler(), Nystroem(), {{}})"


def _no_kernel(name: str) -> Callable[[Any], str | None]:
    """What is said of support vectors under a kernel, or of votes of pairs of classes."""

    def against(final: Any) -> str | None:
        if getattr(final, "kernel", "rbf") != "linear":
            return f"{type(final).__name__}(kernel='linear') of two classes or a target; " + (
                _SUPPORT.format(name)
            )
        if len(getattr(final, "classes_", ())) > 2:
            return (
                "LinearSVC() or OneVsRestClassifier(SVC(kernel='linear')): of several classes this "
                "one counts votes of pairs, which are not linear. Only binary classification is "
                "supported. The type of the target is multiclass."
            )
        return None

    return against


_DECISION: Final = "decision_function"
_JOINT: Final = "predict_joint_log_proba"
_MARGINS: Final = LinearKind(_plain, _DECISION)
_NUMBERS: Final = LinearKind(_plain, "predict")
_MACHINES: Final = LinearKind(_plain, _DECISION, against=_no_kernel("SVC"))
_VECTORS: Final = LinearKind(_plain, "predict", against=_no_kernel("SVR"))
_CENTRED: Final = LinearKind(_centred, "predict")
_GENERALISED: Final = LinearKind(_generalised, "predict", _logarithm)
_COUNTED: Final = LinearKind(_joint(counted), _JOINT, _of_two)

CLASSIFIERS: Final[dict[type, LinearKind]] = {
    LogisticRegression: LinearKind(_logistic, _DECISION),
    LogisticRegressionCV: LinearKind(_logistic, _DECISION),
    LinearSVC: _MARGINS,
    RidgeClassifier: _MARGINS,
    RidgeClassifierCV: _MARGINS,
    SGDClassifier: LinearKind(_descended, _DECISION),
    Perceptron: _MARGINS,
    LinearDiscriminantAnalysis: LinearKind(_of_classes, _DECISION),
    SVC: _MACHINES,
    NuSVC: _MACHINES,
    GaussianNB: LinearKind(_joint(gaussian), _JOINT, _of_two),
    MultinomialNB: _COUNTED,
    ComplementNB: _COUNTED,
    BernoulliNB: LinearKind(_joint(bernoulli), _JOINT, _of_two),
    CategoricalNB: LinearKind(_joint(categorical), _JOINT, _of_two),
    QuadraticDiscriminantAnalysis: LinearKind(_joint(quadratic), _DECISION),
}
"""Classifiers with linear scores, and how they are read."""
OF_TWO: Final = (SVC, NuSVC)
"""Those whose scores are linear of two classes alone."""
REGRESSORS: Final[dict[type, LinearKind]] = {
    **dict.fromkeys(
        (LinearRegression, Ridge, RidgeCV, Lasso, LassoCV, ElasticNet, ElasticNetCV), _NUMBERS
    ),
    **dict.fromkeys((Lars, LarsCV, LassoLars, LassoLarsCV, LassoLarsIC), _NUMBERS),
    **dict.fromkeys((OrthogonalMatchingPursuit, OrthogonalMatchingPursuitCV), _NUMBERS),
    **dict.fromkeys((BayesianRidge, ARDRegression), _NUMBERS),
    **dict.fromkeys((HuberRegressor, TheilSenRegressor, QuantileRegressor), _NUMBERS),
    **dict.fromkeys((MultiTaskLasso, MultiTaskLassoCV), _NUMBERS),
    **dict.fromkeys((MultiTaskElasticNet, MultiTaskElasticNetCV), _NUMBERS),
    **dict.fromkeys((LinearSVR, SGDRegressor), _NUMBERS),
    **dict.fromkeys((SVR, NuSVR), _VECTORS),
    **dict.fromkeys((PLSRegression, PLSCanonical, CCA), _CENTRED),
    **dict.fromkeys((PoissonRegressor, GammaRegressor, TweedieRegressor), _GENERALISED),
}
"""Regressors that are linear, or a function of something linear, and how they are read."""
for _name, _place in (("Classifier", CLASSIFIERS), ("Regressor", REGRESSORS)):
    # scikit-learn is about to drop them.
    if _gone := getattr(linear_model, f"PassiveAggressive{_name}", None):
        _place[_gone] = _MARGINS if _name == "Classifier" else _NUMBERS
KINDS: Final = {**CLASSIFIERS, **REGRESSORS}


def kind_of(final: Any) -> LinearKind | None:
    """How an estimator is read; None of one whose class says nothing of it.

    The class counts, or the first of its bases that is an estimator of scikit-learn; else `coef_`.
    """
    known = next((kind for kind in type(final).__mro__ if _is_estimator(kind)), None)
    if known is not None:
        return KINDS.get(known)
    if not _has_weights(final):
        return None
    return LinearKind(_others, _DECISION if get_tags(final).classifier_tags else "predict")


def may_have_weights(final: Any) -> bool:
    """Whether an estimator of no class that is known may have weights once it is fitted."""
    if any(_is_estimator(kind) for kind in type(final).__mro__):
        return kind_of(final) is not None
    return hasattr(final, "fit") and hasattr(final, "__sklearn_tags__")


def _is_estimator(kind: type) -> bool:
    """Whether a class of scikit-learn is an estimator, and no base of some."""
    own = kind.__module__.startswith("sklearn.") and hasattr(kind, "fit")
    return own and not inspect.isabstract(kind) and not kind.__name__.startswith(("_", "Base"))


def _has_weights(final: Any) -> bool:
    try:
        weights, _ = coefficients(final)
    except (AttributeError, TypeError, ValueError):
        return False
    return weights.ndim == 2 and bool(np.isfinite(weights).all())


def _others(final: Any) -> Linear:
    weights, intercepts = coefficients(final)
    return Linear([], weights, intercepts, _probed(final, weights, intercepts))


def _probed(final: Any, weights: Array, intercepts: Array) -> str:
    """The link by which an estimator that is not listed makes its probabilities, if one does."""
    if not get_tags(final).classifier_tags or not hasattr(final, "predict_proba"):
        return "none"
    rows = np.random.default_rng(0).standard_normal((_PROBES, weights.shape[1]))
    # Scores of a few, where links differ.
    rows *= 2 / max(float(np.sqrt(np.square(weights).sum(axis=1)).max()), np.finfo(float).tiny)
    found = rows @ weights.T + intercepts
    scores = found[:, 0] if found.shape[1] == 1 else found
    expected = np.asarray(on_copies(final.predict_proba, rows))
    for link in ("sigmoid",) if scores.ndim == 1 else ("softmax", "one_against_rest"):
        shares = probabilities(link, scores)
        if shares.shape == expected.shape and np.abs(shares - expected).max() < _AGREES:
            return link
    return "none"


def check_agrees(final: Any, found: Array, clear: Array) -> None:
    """Refuses an estimator that is not listed, and whose scores are not those that were read.

    Args:
        final: the estimator.
        found: scores of some rows by what was read.
        clear: what the estimator says of them.

    Raises:
        ParameterError: by how much they differ.

    """
    name = type(final).__name__
    if found.shape != clear.shape:
        raise ParameterError(
            f"coef_ of this {name} has {found.shape[1]} rows, and its scores have {clear.shape[1]} "
            f"columns: they are not rows @ coef_.T + intercept_, which alone is computed"
        )
    apart = float(np.abs(found - clear).max())
    if not apart <= _AGREES * max(float(np.abs(clear).max()), 1e-9):
        raise ParameterError(
            f"scores of this {name} are not rows @ coef_.T + intercept_: they are up to "
            f"{apart:.2g} apart on the rows given. What is not one of scikit-learn's own classes "
            f"is computed by its coef_ and intercept_ alone"
        )

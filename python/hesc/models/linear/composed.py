"""Estimators that are made of others: what they add up to, where that is linear.

A search, or what keeps another estimator as it is, is taken as the estimator that it predicts by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

from hesc._native import ParameterError
from hesc.models import conclusions, transforms
from hesc.models.conclusions import INVERSES, Isotonic
from hesc.models.linear import thresholds
from hesc.models.linear.simple import Linear, nothing
from hesc.models.samples import on_copies

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Form = Callable[[Any], Linear]
    Scores = Callable[[Any, Array], Array]

_AFFINE: Final = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
_FUNCTIONS: Final = {expit if name == "expit" else getattr(np, name): name for name in INVERSES}


@dataclass(frozen=True)
class ComposedKind:
    """How the estimators of a class follow from those that they are made of."""

    inner: Callable[[Any], list[Any]]
    """The estimators that it is made of, as they are given, fitted or not."""
    fitted: Callable[[Any], list[Any]]
    """The fitted ones."""
    read: Callable[[Any, Form], Linear]
    """The linear form, of those of the fitted ones."""
    scores: Callable[[Any, Array, Scores], Array]
    """What scikit-learn says: rows of the outputs that the form has."""
    against: Callable[[Any], str | None] = nothing
    """The nearest that works, of one whose options are not computed."""


def _given(name: str, default: Callable[[], Any]) -> Callable[[Any], list[Any]]:
    def inner(final: Any) -> list[Any]:
        found = getattr(final, name)
        return [default() if found is None else found]

    return inner


def _one(final: Any) -> list[Any]:
    return [final.estimator]


def _listed(final: Any) -> list[Any]:
    return [part for _, part in final.estimators if not isinstance(part, str)]


def _estimators(final: Any) -> list[Any]:
    return list(final.estimators_)


def _predicted(final: Any, rows: Array, scores: Scores) -> Array:
    """A regressor that is linear itself: its predictions."""
    del scores
    return np.asarray(on_copies(final.predict, rows), dtype=np.float64).reshape(len(rows), -1)


def _side_by_side(final: Any, rows: Array, scores: Scores) -> Array:
    return np.hstack([scores(part, rows) for part in final.estimators_])


def _alike(final: Any, forms: list[Linear]) -> list[Any]:
    """The transforms that all forms begin with.

    Raises:
        ParameterError: forms of different transforms.

    """
    first, *others = (transforms.described(form.steps) for form in forms)
    if any(other != first for other in others):
        raise ParameterError(
            f"the estimators of this {type(final).__name__} have transforms of their own, fitted "
            f"each to other rows: put the transforms before it, make_pipeline(transforms, "
            f"{type(final).__name__}(...))"
        )
    return forms[0].steps


def _stacked(final: Any, forms: list[Linear], link: str) -> Linear:
    """The outputs of all forms, one after the other."""
    steps = _alike(final, forms)
    weights = np.vstack([form.weights for form in forms])
    return Linear(steps, weights, np.concatenate([form.intercepts for form in forms]), link)


def _numbers_of(final: Any, parts: list[Any], form: Form) -> list[Linear]:
    """Forms of regressors that are linear themselves.

    Raises:
        ParameterError: one that is a function of something linear.

    """
    forms = [form(part) for part in parts]
    if any(each.link != "none" for each in forms):
        raise ParameterError(
            f"a {type(final).__name__} of regressors that are functions of something linear is not "
            f"linear: take Ridge, or others whose predictions are linear"
        )
    return forms


# One for each class or target


def _one_against_rest(final: Any, form: Form) -> Linear:
    if final.multilabel_ or not all(hasattr(part, "classes_") for part in final.estimators_):
        raise ParameterError(
            "this OneVsRestClassifier has several labels to a sample, or a class that no sample "
            "or every sample has; fit one label to a sample, of classes that there are"
        )
    forms = [form(part) for part in final.estimators_]
    logistic = all(each.link in {"sigmoid", "one_against_rest"} for each in forms)
    if any(conclusions.is_mean(each.link) for each in forms):
        raise ParameterError(
            "OneVsRestClassifier of models that average probabilities is not linear: calibrate it "
            "as a whole, CalibratedClassifierCV(OneVsRestClassifier(...), ensemble=False)"
        )
    link = "sigmoid" if len(forms) == 1 else "one_against_rest"
    return _stacked(final, forms, link if logistic else "none")


def _targets(final: Any, form: Form) -> Linear:
    forms = [form(part) for part in final.estimators_]
    links = {each.link for each in forms}
    if len(links) > 1:
        raise ParameterError(
            "the targets of this MultiOutputRegressor have different links; fit one model of each"
        )
    return _stacked(final, forms, links.pop())


def _of_chain(final: Any) -> list[Any]:
    own = vars(final)
    # Named otherwise in older versions of scikit-learn.
    return [own["base_estimator"] if own.get("estimator") is None else own["estimator"]]


def _chained(final: Any, form: Form) -> Linear:
    """Each target of the features and of those before it, hence of the features alone."""
    forms = _numbers_of(final, final.estimators_, form)
    features = final.n_features_in_
    weights, intercepts = np.zeros((len(forms), features)), np.zeros(len(forms))
    for place, (target, each) in enumerate(zip(final.order_, forms, strict=True)):
        _alike(final, [each._replace(steps=[]), each])
        own, others = each.weights[0, :features], each.weights[0, features:]
        before = list(final.order_[:place])
        weights[target] = own + others @ weights[before]
        intercepts[target] = each.intercepts[0] + others @ intercepts[before]
    return Linear([], weights, intercepts, "none")


# Averages


def _average(final: Any, form: Form) -> Linear:
    forms = _numbers_of(final, final.estimators_, form)
    given = getattr(final, "weights", None)
    if given is not None:
        kept = [part for _, part in final.estimators]
        given = [w for w, part in zip(given, kept, strict=True) if not isinstance(part, str)]
    return Linear(
        _alike(final, forms),
        np.average([each.weights for each in forms], axis=0, weights=given),
        np.average([each.intercepts for each in forms], axis=0, weights=given),
        "none",
    )


def _spread(final: Any, forms: list[Linear]) -> list[Linear]:
    """Forms on some of the features each, as forms on all of them."""
    found = []
    for each, columns in zip(forms, final.estimators_features_, strict=True):
        if each.steps:
            _alike(final, [each, each._replace(steps=[])])
        weights = np.zeros((len(each.weights), final.n_features_in_))
        # A column may be drawn twice.
        for place, column in enumerate(columns):
            weights[:, column] += each.weights[:, place]
        found.append(each._replace(weights=weights))
    return found


def _bagged(final: Any, form: Form) -> Linear:
    forms = _spread(final, _numbers_of(final, final.estimators_, form))
    weights = np.mean([each.weights for each in forms], axis=0)
    return Linear([], weights, np.mean([each.intercepts for each in forms], axis=0), "none")


def _on_features(final: Any, rows: Array, scores: Scores) -> Array:
    pairs = zip(final.estimators_, final.estimators_features_, strict=True)
    return np.hstack([scores(part, rows[:, columns]) for part, columns in pairs])


def _mean_link(final: Any, forms: list[Linear]) -> str:
    """The link of averaged probabilities.

    Raises:
        ParameterError: models without probabilities, of other classes, or of different links.

    """
    outputs = 1 if len(final.classes_) == 2 else len(final.classes_)
    links = {each.link.replace("one_against_rest", "sigmoid") for each in forms}
    if links in ({"sigmoid"}, {"softmax"}) and all(len(x.weights) == outputs for x in forms):
        return f"mean_{links.pop()}"
    raise ParameterError(
        f"the estimators of this {type(final).__name__} do not all have logistic probabilities of "
        f"all classes: LogisticRegression on rows of all classes has"
    )


def _averaged(final: Any, form: Form) -> Linear:
    forms = [form(part) for part in final.estimators_]
    return _stacked(final, forms, _mean_link(final, forms))


def _bags(final: Any, form: Form) -> Linear:
    forms = _spread(final, [form(part) for part in final.estimators_])
    return _stacked(final, forms, _mean_link(final, forms))


def _no_votes(final: Any) -> str | None:
    if final.voting == "soft" and final.weights is None:
        return None
    return "VotingClassifier(voting='soft') without weights, whose probabilities are averaged"


# One behind others


def _behind(final: Any, form: Form) -> Linear:
    last = _numbers_of(final, [final.final_estimator_], form)[0]
    return _product(final, _numbers_of(final, final.estimators_, form), last)


def _classes_behind(final: Any, form: Form) -> Linear:
    last = form(final.final_estimator_)
    if conclusions.is_mean(last.link):
        raise ParameterError(
            "a StackingClassifier is served with a final_estimator that chooses by scores, such as "
            "LogisticRegression, and not by averaged probabilities"
        )
    return _product(final, [form(part) for part in final.estimators_], last)


def _product(final: Any, forms: list[Linear], last: Linear) -> Linear:
    """What is linear in what others give, which is linear in features."""
    steps = _alike(final, forms)
    if last.steps or (steps and final.passthrough):
        raise ParameterError(
            f"a {type(final).__name__} with transforms inside is served without passthrough, and "
            f"with a linear final_estimator: put the transforms before it"
        )
    each = _stacked(final, forms, "none")
    count = len(each.weights)
    weights = last.weights[:, :count] @ each.weights
    if final.passthrough:
        weights = weights + last.weights[:, count:]
    intercepts = last.intercepts + last.weights[:, :count] @ each.intercepts
    return Linear(steps, weights, intercepts, last.link)


def _both(default: Callable[[], Any]) -> Callable[[Any], list[Any]]:
    def inner(final: Any) -> list[Any]:
        last = final.final_estimator
        return [*_listed(final), default() if last is None else last]

    return inner


def _both_fitted(final: Any) -> list[Any]:
    return [*final.estimators_, final.final_estimator_]


def _decided(final: Any, rows: Array, scores: Scores) -> Array:
    """A classifier that is linear itself: its scores."""
    del scores
    found = np.asarray(on_copies(final.decision_function, rows), dtype=np.float64)
    return found.reshape(len(found), -1)


def _stacks_shares(final: Any) -> str | None:
    """What works instead where the last estimator is given probabilities or classes."""
    if hasattr(final, "final_estimator_") and not hasattr(final, "decision_function"):
        return "a final_estimator that has decision_function, such as LogisticRegression"
    inside = [final.final_estimator, *(each for _, each in final.estimators)]
    if any(isinstance(each, thresholds.KINDS) for each in inside):
        return "one threshold around the stack, FixedThresholdClassifier(StackingClassifier(...))"
    methods = {*getattr(final, "stack_method_", ())} or {final.stack_method}
    if methods <= {"auto", "decision_function"}:
        return None
    return (
        "StackingClassifier(..., stack_method='decision_function'): its last estimator is given "
        "probabilities or classes of the others, which are not linear in features. Or averaged "
        "probabilities, VotingClassifier(voting='soft')"
    )


# Targets that were transformed


def _inverse_name(transformer: Any) -> str | None:
    """What a client applies to scores; "none" where that is linear, None where nobody names it."""
    if type(transformer) in _AFFINE:
        return "none"
    if type(transformer) is not FunctionTransformer:
        return None
    inverse = transformer.inverse_func
    if inverse is None:
        return "none"
    return None if transformer.inv_kw_args else _FUNCTIONS.get(inverse)


def _of_target(final: Any, form: Form) -> Linear:
    found = _numbers_of(final, [final.regressor_], form)[0]
    transformer = final.transformer_
    name = _inverse_name(transformer)
    if name is None:
        raise ParameterError(f"this TransformedTargetRegressor is not computed: {_REMEDY}")
    if name != "none" or type(transformer) is FunctionTransformer:
        return found._replace(link=name)
    # `x * factor + offset` for each target.
    targets = len(found.weights)
    ends = transformer.inverse_transform(np.vstack([np.zeros(targets), np.ones(targets)]))
    factor = ends[1] - ends[0]
    return found._replace(
        weights=found.weights * factor[:, None], intercepts=found.intercepts * factor + ends[0]
    )


_REMEDY: Final = (
    "TransformedTargetRegressor with inverse_func one of "
    + ", ".join(f"numpy.{name}" for name in INVERSES if name != "expit")
    + " or scipy.special.expit, or with a scaler as its transformer: a client is sent the name, "
    "and no code"
)


def _no_inverse(final: Any) -> str | None:
    transformer = getattr(final, "transformer_", final.transformer)
    if transformer is None:
        transformer = FunctionTransformer(inverse_func=final.inverse_func)
    return _REMEDY if _inverse_name(transformer) is None else None


def _before_inverse(final: Any, rows: Array, scores: Scores) -> Array:
    if type(final.transformer_) is FunctionTransformer:
        return scores(final.regressor_, rows)
    return _predicted(final, rows, scores)


# Calibrated probabilities


def _calibrated(final: Any, form: Form) -> Linear:
    parts = final.calibrated_classifiers_
    forms = [_calibrated_one(final, part, form(part.estimator)) for part in parts]
    found = _stacked(final, forms, forms[0].link)
    if final.method == "isotonic":
        points = [each for part in parts for each in part.calibrators]
        return found._replace(link="mean_isotonic", calibration=_calibration(points))
    if len(forms) == 1:
        return found
    return found._replace(link=_mean_link(final, forms))


def _calibrated_one(final: Any, part: Any, found: Linear) -> Linear:
    """A model whose probabilities are by sigmoids of its scores; as it is where they are not."""
    classes = len(final.classes_)
    if len(found.weights) != (1 if classes == 2 else classes):
        raise ParameterError(
            "a fold of this CalibratedClassifierCV lacks a class; take fewer folds (cv=)"
        )
    if not hasattr(part.estimator, "decision_function"):
        raise ParameterError(
            "this CalibratedClassifierCV calibrates probabilities, which are not linear; calibrate "
            "a model that has decision_function, such as LogisticRegression"
        )
    if final.method == "isotonic":
        return found
    if final.method == "temperature":
        # Of two classes the score and its negative are compared.
        factor = part.calibrators[0].beta_ * (2.0 if classes == 2 else 1.0)
        slopes, offsets = np.full(len(found.weights), factor), np.zeros(len(found.weights))
        link = "sigmoid" if classes == 2 else "softmax"
    else:
        slopes = np.array([-each.a_ for each in part.calibrators], dtype=np.float64)
        offsets = np.array([-each.b_ for each in part.calibrators], dtype=np.float64)
        link = "sigmoid" if classes == 2 else "one_against_rest"
    return found._replace(
        weights=found.weights * slopes[:, None],
        intercepts=found.intercepts * slopes + offsets,
        link=link,
    )


def _calibration(points: list[Any]) -> Isotonic:
    places = [np.array(each.X_thresholds_, dtype=np.float64) for each in points]
    shares = [np.array(each.y_thresholds_, dtype=np.float64) for each in points]
    counts = np.array([len(each) for each in places], dtype=np.float64)
    return Isotonic(counts, np.concatenate(places), np.clip(np.concatenate(shares), 0, 1))


def _before_calibration(final: Any, rows: Array, scores: Scores) -> Array:
    """The scores of all models, and what sigmoids are taken of."""
    found = []
    for part in final.calibrated_classifiers_:
        own = scores(part.estimator, rows)
        as_it_is = Linear([], np.ones((own.shape[1], 1)), np.zeros(own.shape[1]), "none")
        factors = _calibrated_one(final, part, as_it_is)
        found.append(own * factors.weights[:, 0] + factors.intercepts)
    return np.hstack(found)


def _calibrated_parts(final: Any) -> list[Any]:
    return [part.estimator for part in final.calibrated_classifiers_]


CLASSIFIERS: Final[dict[type, ComposedKind]] = {
    OneVsRestClassifier: ComposedKind(_one, _estimators, _one_against_rest, _side_by_side),
    CalibratedClassifierCV: ComposedKind(
        _given("estimator", LinearSVC), _calibrated_parts, _calibrated, _before_calibration
    ),
    VotingClassifier: ComposedKind(_listed, _estimators, _averaged, _side_by_side, _no_votes),
    BaggingClassifier: ComposedKind(_one, _estimators, _bags, _on_features),
    StackingClassifier: ComposedKind(
        _both(LogisticRegression), _both_fitted, _classes_behind, _decided, _stacks_shares
    ),
    **dict.fromkeys(
        thresholds.KINDS,
        ComposedKind(_one, lambda final: [final.estimator_], thresholds.moved, thresholds.scores),
    ),
}
"""Classifiers made of classifiers, and what they add up to."""
AVERAGES: Final = (CalibratedClassifierCV, VotingClassifier, BaggingClassifier)
"""Those whose classes are chosen by probabilities of several models."""
REGRESSORS: Final[dict[type, ComposedKind]] = {
    MultiOutputRegressor: ComposedKind(_one, _estimators, _targets, _side_by_side),
    RegressorChain: ComposedKind(_of_chain, _estimators, _chained, _predicted),
    TransformedTargetRegressor: ComposedKind(
        _given("regressor", LinearRegression),
        lambda final: [final.regressor_],
        _of_target,
        _before_inverse,
        _no_inverse,
    ),
    VotingRegressor: ComposedKind(_listed, _estimators, _average, _predicted),
    StackingRegressor: ComposedKind(_both(RidgeCV), _both_fitted, _behind, _predicted),
    BaggingRegressor: ComposedKind(_one, _estimators, _bagged, _predicted),
}
"""Regressors made of regressors, and what they add up to."""
COMPOSITES: Final = {**CLASSIFIERS, **REGRESSORS}

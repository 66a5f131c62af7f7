"""What fitted scikit-learn estimators compute: public transforms, then weights.

Estimators are taken by their exact class, for a subclass may compute something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC, LinearSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from hesc._native import ParameterError
from hesc.models.discriminants import gaussian, quadratic
from hesc.models.given import GivenClassifier, GivenRegressor
from hesc.models.layers import DenseNetwork
from hesc.models.samples import on_copies
from hesc.models.steps import TRANSFORMS, check_options, inputs_of, transforms_of
from hesc.models.steps.walking import all_parts_of
from hesc.models.steps.walking import parts_of as parts_of  # noqa: PLC0414 - who reads estimators asks here
from hesc.models.transforms import folded
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.models.transforms import Transform

_SHARES: Final = (DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier)
_BOOSTED: Final = (GradientBoostingClassifier, HistGradientBoostingClassifier, AdaBoostClassifier)
_GROWN: Final = (
    DecisionTreeRegressor,
    RandomForestRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    AdaBoostRegressor,
)
TREES: Final = (*_SHARES, *_BOOSTED, *_GROWN)
"""Models of trees, which are computed as sums of functions of single features or not at all."""
CLASSIFIERS: Final = (
    LogisticRegression,
    LinearSVC,
    RidgeClassifier,
    SGDClassifier,
    Perceptron,
    GaussianNB,
    QuadraticDiscriminantAnalysis,
    *_SHARES,
    *_BOOSTED,
)
REGRESSORS: Final = (
    LinearRegression,
    Ridge,
    Lasso,
    ElasticNet,
    LinearSVR,
    SGDRegressor,
    *_GROWN,
)
NEIGHBORS: Final = (KNeighborsClassifier,)
"""Whose records are compared one by one."""

_KERNEL: Final = "make_pipeline(StandardScaler(), Nystroem(), {})"
_SQUARES: Final = "make_pipeline(StandardScaler(), PolynomialFeatures(2), {})"
_BEFORE: Final = (
    "the client can apply it before hesc.ml sees the features: fit it apart, and the rest of the "
    "pipeline on what its transform gives"
)
# What comes nearest, by words in a class's name; the first that fits.
_NEAREST: Final = {
    "Search": "the model that it found, by from_fitted(search.best_estimator_)",
    "KNeighborsClassifier": "PrivateNeighbours",
    "RadiusNeighborsClassifier": "PrivateNeighbours(KNeighborsClassifier())",
    "KNeighbors": "hesc.codes has distances of encrypted codes; as a linear model " + _KERNEL,
    "MLP": "PrivateMLPClassifier and PrivateMLPRegressor; as a linear model " + _KERNEL,
    "SVC": "LinearSVC, or with a kernel " + _KERNEL,
    "SVR": "LinearSVR, or with a kernel " + _KERNEL,
    "KernelPCA": "make_pipeline(Nystroem(), PCA())",
    "Kernel": _KERNEL,
    "GaussianProcess": _KERNEL,
    "NB": "GaussianNB",
    "Tree": _SQUARES,
    "Isolation": _SQUARES,
    "SplineTransformer": "KBinsDiscretizer",
    "SVD": "PCA",
    "PCA": "PCA",
    "NMF": "PCA",
    "RBFSampler": "Nystroem",
    "Imputer": "SimpleImputer",
    "LabelEncoder": "OrdinalEncoder",
    "LabelBinarizer": "OneHotEncoder",
    "MultiLabelBinarizer": _BEFORE,
    "DictVectorizer": "OneHotEncoder",
    "FeatureHasher": "HashingVectorizer",
    "Encoder": "OneHotEncoder",
    "Transformer": _BEFORE,
    "Normalizer": _BEFORE,
}


_FINALS: Final = {
    kind: name
    for name, kinds in {
        "PrivateNeighbours": NEIGHBORS,
        "PrivateRegressor": REGRESSORS,
        "PrivateClassifier": CLASSIFIERS,
    }.items()
    for kind in kinds
}
"""What serves a model by its exact class."""

# Models that come as numbers; they are never fitted here.
_GIVEN: Final = {CLASSIFIERS: GivenClassifier, REGRESSORS: GivenRegressor}


class Linear(NamedTuple):
    """A model as transforms and weights."""

    steps: list[Transform]
    """Which a client computes."""
    weights: NDArray[np.float64]
    """Outputs by features after the transforms."""
    intercepts: NDArray[np.float64]
    """One for each output."""
    link: str
    """How scores become probabilities."""


def features_of(estimator: Any) -> int:
    """Columns of a sample. A pipeline that begins with nothing does not know them itself."""
    return inputs_of(parts_of(estimator)[0])


def check(estimator: Any, finals: tuple[type, ...]) -> None:
    """Refuses an estimator that is not computed here.

    Raises:
        ParameterError: with its name, and the nearest thing that works.

    """
    *before, final = parts_of(estimator) or [None]
    if type(final) not in (*finals, _GIVEN.get(finals)):
        raise ParameterError(_refusal(final, finals))
    if type(final) in _GIVEN.values() and not (_is_linear(final) or has_trees(final)):
        raise ParameterError(
            "this model's scores are not linear: PrivateMLPClassifier and PrivateMLPRegressor take "
            "networks"
        )
    check_transforms(before)


def check_transforms(before: list[Any]) -> None:
    """Refuses transformers, fitted or not, that no client computes.

    Raises:
        ParameterError: with the name, and the nearest thing that works.

    """
    for part in (inner for each in before for inner in all_parts_of(each)):
        if type(part) not in TRANSFORMS:
            raise ParameterError(_refusal(part, TRANSFORMS))
        check_options(part)


def has_trees(final: Any) -> bool:
    """Whether a model is one of trees: of scikit-learn, or from a file."""
    given = type(final) in _GIVEN.values()
    return isinstance(final.described.model, TreeEnsemble) if given else type(final) in TREES


def _is_linear(given: Any) -> bool:
    model = given.described.model
    return isinstance(model, DenseNetwork) and model.is_linear


def _refusal(part: Any, taken: tuple[type, ...]) -> str:
    if isinstance(part, type):
        return (
            f"{part.__name__} is a class; give an estimator made of it, such as {part.__name__}()"
        )
    name = type(part).__name__
    general = {
        TRANSFORMS: _BEFORE,
        REGRESSORS: "Ridge",
        NEIGHBORS: "KNeighborsClassifier",
    }.get(taken, "LogisticRegression")
    names = {kind.__name__ for kind in taken}
    found = (
        text
        for word, text in _NEAREST.items()
        # A class of scikit-learn that is not taken in this place would be refused as well.
        if word in name
        and (text in names or not text.isidentifier() or text.startswith("Private"))
        and not text.startswith(name)
    )
    own = next((kind.__name__ for kind in taken if isinstance(part, kind)), None)
    elsewhere = _elsewhere(part, taken)
    nearest = own or (elsewhere if type(part) in _FINALS else None)
    nearest = nearest or next(found, elsewhere or general)
    model = "Ridge()" if taken == REGRESSORS else "LogisticRegression()"
    return (
        f"{name} is not computed on encrypted features; nearest: {nearest.format(model)}. Taken "
        f"here, by exact class: {', '.join(kind.__name__ for kind in taken)}"
    )


def _elsewhere(part: Any, taken: tuple[type, ...]) -> str | None:
    """What takes a model of another kind, such as a regressor among classifiers."""
    served = _FINALS.get(type(part))
    if taken != TRANSFORMS and served is not None:
        return served
    if taken != TRANSFORMS and type(part) in TRANSFORMS:
        return f"make_pipeline({type(part).__name__}(), {{}}), a model behind the transform"
    if taken == CLASSIFIERS and isinstance(part, RegressorMixin):
        return "PrivateRegressor"
    if taken == REGRESSORS and isinstance(part, ClassifierMixin):
        return "PrivateClassifier"
    return None


def form_of(estimator: Any) -> tuple[list[Transform], Linear | TreeEnsemble]:
    """What a client computes of its features, and a linear model or trees of the result.

    Args:
        estimator: fitted.

    Raises:
        ParameterError: trees or transforms that are not computed here.

    """
    steps, linear = linear_parts_of(estimator)
    if linear is not None:
        return steps, linear
    final = parts_of(estimator)[-1]
    given = getattr(final, "described", None)
    if given is None:
        return steps, TreeEnsemble.from_sklearn(final)
    return steps, given.model


def linear_parts_of(estimator: Any) -> tuple[list[Transform], Linear | None]:
    """What a client computes of its features, and a linear model of the result; None of trees.

    Raises:
        ParameterError: transforms that are not computed here.

    """
    *before, final = parts_of(estimator)
    if not has_trees(final):
        linear = linear_form(estimator)
        return linear.steps, linear
    steps = [step for part in before for step in transforms_of(part)]
    given = getattr(final, "described", None)
    return [*steps, *([] if given is None else given.steps)], None


def linear_form(estimator: Any) -> Linear:
    """Transforms and weights of a fitted estimator; trailing scalers are folded into weights.

    Raises:
        ParameterError: options of a transform that are not computed here.

    """
    *before, final = parts_of(estimator)
    steps = [step for part in before for step in transforms_of(part)]
    if type(final) is GaussianNB:
        more, weights, intercepts = gaussian(final)
        steps += more
    elif type(final) is QuadraticDiscriminantAnalysis:
        more, weights, intercepts = quadratic(final)
        steps += more
    elif type(final) in _GIVEN.values():
        layer = final.described.model.layers[0]
        steps += final.described.steps
        weights, intercepts = layer.weights, layer.intercepts
    else:
        coefficients = final.coef_.toarray() if hasattr(final.coef_, "toarray") else final.coef_
        weights = np.atleast_2d(np.array(coefficients, dtype=np.float64))
        intercepts = np.array(final.intercept_, dtype=np.float64).reshape(-1)
        intercepts = np.broadcast_to(intercepts, (len(weights),)).copy()
    return Linear(*folded(steps, weights, intercepts), link_of(final))


def transformed(parts: list[Any], x: Rows) -> NDArray[np.float64]:
    """Rows behind fitted transformers, by scikit-learn itself."""
    found = _behind(parts, x)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def _behind(parts: list[Any], x: Rows) -> Any:
    """Rows behind fitted transformers, as scikit-learn gives them to what comes next."""
    return on_copies(make_pipeline(*parts).transform if parts else lambda rows: rows, x)


def clear_scores(estimator: Any, x: Rows) -> NDArray[np.float64]:
    """What scikit-learn computes: rows of outputs, the same ones as `linear_form` has."""
    *before, final = parts_of(estimator)
    if type(final) in (*REGRESSORS, GivenRegressor):
        scores = on_copies(estimator.predict, x)
    elif type(final) in (*_SHARES, *NEIGHBORS):
        scores = on_copies(estimator.predict_proba, x)
        scores = scores[:, 1] - 0.5 if scores.shape[1] == 2 else scores
    elif type(final) is GaussianNB:
        scores = final.predict_joint_log_proba(_behind(before, x))
        scores = scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
    else:
        scores = on_copies(estimator.decision_function, x)
    return np.asarray(scores, dtype=np.float64).reshape(len(x), -1)


def link_of(final: Any) -> str:
    """How scores of a fitted model become probabilities, see `hesc.protocols.linear.plan.LINKS`."""
    return _link_of_trees(final) if type(final) in TREES else _link(final)


def _link_of_trees(final: Any) -> str:
    kind = type(final)
    if kind in _SHARES:
        return "shares"
    two = kind in _BOOSTED and len(final.classes_) == 2
    logarithms = kind in _BOOSTED and getattr(final, "loss", "") == "log_loss"
    if two and (logarithms or kind is AdaBoostClassifier):
        return "sigmoid"
    return "softmax" if logarithms else "none"


def _link(final: Any) -> str:
    kind = type(final)
    if kind in _GIVEN.values():
        return str(final.described.link)
    if kind in {GaussianNB, QuadraticDiscriminantAnalysis}:
        return "softmax" if len(final.classes_) > 2 else "sigmoid"
    if kind is SGDClassifier and final.loss == "log_loss":
        return "one_against_rest"
    if kind is not LogisticRegression:
        return "none"
    if len(final.classes_) == 2:
        return "sigmoid"
    apart = final.solver == "liblinear" or getattr(final, "multi_class", "auto") == "ovr"
    return "one_against_rest" if apart else "softmax"

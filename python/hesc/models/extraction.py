"""What fitted scikit-learn estimators compute: public transforms, then weights or trees.

Transforms and trees are taken by their exact class, for a subclass may compute something else.
Linear models are read by `hesc.models.linear.simple`, and what is made of them by its neighbour
`composed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
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
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from hesc._native import ParameterError
from hesc.models.given import GivenClassifier, GivenRegressor
from hesc.models.layers import DenseNetwork
from hesc.models.linear import composed, simple
from hesc.models.linear.composed import COMPOSITES, unwrapped
from hesc.models.linear.simple import Linear
from hesc.models.samples import on_copies
from hesc.models.steps import TRANSFORMS, transforms_of
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
CLASSIFIERS: Final = (*simple.CLASSIFIERS, *composed.CLASSIFIERS, *_SHARES, *_BOOSTED)
REGRESSORS: Final = (*simple.REGRESSORS, *composed.REGRESSORS, *_GROWN)
NEIGHBORS: Final = (KNeighborsClassifier,)
"""Whose records are compared one by one."""

_KERNEL: Final = "make_pipeline(StandardScaler(), Nystroem(), {})"
_SQUARES: Final = "make_pipeline(StandardScaler(), PolynomialFeatures(2), {})"
_BEFORE: Final = (
    "the client can apply it before hesc.ml sees the features: fit it apart, and the rest of the "
    "pipeline on what its transform gives"
)
_SELECT: Final = (
    "select the columns before hesc.ml sees the features, X[:, step.get_support()], and fit the "
    "rest of the pipeline on these"
)
_CLUSTERS: Final = (
    "a classifier of its clusters, PrivateClassifier(LogisticRegression()).fit(X, model.labels_)"
)
_OUTLIERS: Final = (
    "a regressor of its scores, PrivateRegressor(LinearRegression()).fit(X, "
    "model.decision_function(X)), behind PolynomialFeatures or Nystroem where they are not linear"
)
_EACH: Final = "a model of each label or target"
_VOTES: Final = "a score for each class, OneVsRestClassifier({})"
# The same of models alone.
_INSTEAD: Final = {
    "NearestCentroid": "LinearDiscriminantAnalysis",
    "OneVsOne": _VOTES,
    "OutputCode": _VOTES,
    "Chain": _EACH,
    "MultiOutputClassifier": _EACH,
    "StackingClassifier": "averaged probabilities, VotingClassifier(voting='soft')",
    "Threshold": "the estimator inside, by from_fitted(model.estimator_): whoever learns scores "
    "compares them with any threshold",
    "OneClass": _OUTLIERS,
    "Outlier": _OUTLIERS,
    "Elliptic": _OUTLIERS,
    "Isolation": _OUTLIERS,
    "Isotonic": "make_pipeline(KBinsDiscretizer(), {})",
    "Dummy": "the constant itself, which takes no samples",
    "LabelPropagation": "PrivateNeighbours(KNeighborsClassifier())",
    "LabelSpreading": "PrivateNeighbours(KNeighborsClassifier())",
    **dict.fromkeys(("Cluster", "Bicluster", "Cocluster", "KMeans", "DBSCAN"), _CLUSTERS),
    **dict.fromkeys(("OPTICS", "MeanShift", "Affinity", "Birch"), _CLUSTERS),
    "Mixture": _CLUSTERS.replace("labels_", "predict(X)"),
}
# What comes nearest, by words in a class's name; the first that fits.
_NEAREST: Final = {
    "Selector": _SELECT,
    "Select": _SELECT,
    "RFE": _SELECT,
    "KNeighborsClassifier": "PrivateNeighbours",
    "RadiusNeighborsClassifier": "PrivateNeighbours(KNeighborsClassifier())",
    "KNeighbors": "hesc.codes has distances of encrypted codes; as a linear model " + _KERNEL,
    "MLP": "PrivateMLPClassifier and PrivateMLPRegressor; as a linear model " + _KERNEL,
    "KernelPCA": "make_pipeline(Nystroem(), PCA())",
    "Kernel": _KERNEL,
    "GaussianProcess": _KERNEL,
    "Tree": _SQUARES,
    "Isolation": _SQUARES,
    "SVD": "PCA",
    "PCA": "PCA",
    "NMF": "PCA",
    "RBFSampler": "Nystroem",
    "Imputer": _BEFORE,
    "Encoder": _BEFORE,
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


def parts_of(estimator: Any) -> list[Any]:
    """The steps of a pipeline and of those inside it, or the estimator alone.

    A search, or what keeps another estimator, is that one.
    """
    estimator = unwrapped(estimator)
    if type(estimator) is not Pipeline:
        return [estimator]
    steps = [step for _, step in estimator.steps if step is not None and step != "passthrough"]
    return [part for step in steps for part in parts_of(step)]


def features_of(estimator: Any) -> int:
    """Features of a sample. A pipeline that begins with nothing does not know them itself."""
    return int(parts_of(estimator)[0].n_features_in_)


def without_names(estimator: Any) -> None:
    """Takes names of features from a fitted estimator's parts, which are given arrays then."""
    for part in parts_of(estimator):
        part.__dict__.pop("feature_names_in_", None)
        composite = COMPOSITES.get(type(part))
        for inner in [] if composite is None else composite.fitted(part):
            without_names(inner)


def check(estimator: Any, finals: tuple[type, ...]) -> None:
    """Refuses an estimator that is not computed here, as far as it shows before it is fitted.

    Raises:
        ParameterError: with its name, and the nearest thing that works.

    """
    *before, final = parts_of(estimator) or [None]
    if not (type(final) in (*finals, _GIVEN.get(finals)) or _may_be_linear(final, finals)):
        raise ParameterError(_refusal(final, finals))
    _check_options(final)
    if type(final) in _GIVEN.values() and not (_is_linear(final) or has_trees(final)):
        raise ParameterError(
            "this model's scores are not linear: PrivateMLPClassifier and PrivateMLPRegressor take "
            "networks"
        )
    for part in before:
        if type(part) not in TRANSFORMS:
            raise ParameterError(_refusal(part, TRANSFORMS))


def is_of_two(estimator: Any) -> bool:
    """Whether a classifier is computed of two classes alone."""
    return type(parts_of(estimator)[-1]) in simple.OF_TWO


def averages(estimator: Any) -> bool:
    """Whether classes are chosen by probabilities of several models, not by scores."""
    return type(parts_of(estimator)[-1]) in composed.AVERAGES


def check_fitted(estimator: Any, finals: tuple[type, ...]) -> None:
    """Refuses a fitted estimator that is not computed here.

    Raises:
        ParameterError: as `check`, and one of no class that is known, without weights.

    """
    check(estimator, finals)
    final = parts_of(estimator)[-1]
    if type(final) in finals or type(final) in _GIVEN.values() or simple.kind_of(final):
        return
    raise ParameterError(
        f"{type(final).__name__} has no coef_ and intercept_ once it is fitted, and estimators "
        f"that are not scikit-learn's own are computed by these; {_refusal(final, finals)}"
    )


def _may_be_linear(final: Any, finals: tuple[type, ...]) -> bool:
    """Whether an estimator of a class that is not listed may be computed by its `coef_`."""
    if isinstance(final, type) or type(final) in _FINALS or finals not in _GIVEN:
        return False
    if not simple.may_have_weights(final):
        return False
    tags = get_tags(final)
    wanted = tags.classifier_tags if finals == CLASSIFIERS else tags.regressor_tags
    return wanted is not None


def _check_options(final: Any) -> None:
    """Refuses options of an estimator, and what it is made of, by what works nearest."""
    composite, kind = COMPOSITES.get(type(final)), simple.kind_of(final)
    found = composite or kind
    nearest = None if found is None else found.against(final)
    if nearest is not None:
        raise ParameterError(
            f"this {type(final).__name__} is not computed on encrypted features; nearest: {nearest}"
        )
    for inner in [] if composite is None else composite.inner(final):
        finals = CLASSIFIERS if type(final) in composed.CLASSIFIERS else REGRESSORS
        check(inner, finals)
        if has_trees(parts_of(inner)[-1]):
            raise ParameterError(
                f"{type(final).__name__} of trees is not computed on encrypted features; nearest: "
                f"the trees alone, or {type(final).__name__} of linear models"
            )


def check_agrees(
    estimator: Any, form: Linear, features: NDArray[np.float64], clear: NDArray[np.float64]
) -> None:
    """Refuses a linear form that does not give an estimator's scores; see `simple.check_agrees`.

    Args:
        estimator: fitted.
        form: its linear form.
        features: rows after the form's transforms.
        clear: what the estimator says of them.

    Raises:
        ParameterError: by how much they differ.

    """
    final = parts_of(estimator)[-1]
    if type(final) not in (*COMPOSITES, *_GIVEN.values()):
        simple.check_agrees(final, form, features, clear)


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
    reasons = {**_INSTEAD, **_NEAREST} if taken in _GIVEN else _NEAREST
    found = (
        text
        for word, text in reasons.items()
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
        f"here{_TAKEN.get(taken) or ', by exact class: ' + ', '.join(k.__name__ for k in taken)}"
    )


_TAKEN: Final = {
    CLASSIFIERS: " are linear classifiers, discriminants, naive Bayes and trees of scikit-learn, "
    "what averages or calibrates linear ones, and others by coef_ and intercept_: "
    "docs/estimators.md",
    REGRESSORS: " are linear and generalised linear regressors and trees of scikit-learn, what is "
    "made of linear ones, and others by coef_ and intercept_: docs/estimators.md",
}
"""What is said instead of a list of classes that nobody would read."""


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
    form = _read(final)
    steps = [step for part in before for step in transforms_of(part)]
    return form._replace(steps=[*steps, *form.steps]).folded()


def _read(final: Any) -> Linear:
    if type(final) in _GIVEN.values():
        given = final.described
        layer = given.model.layers[0]
        return Linear(given.steps, layer.weights, layer.intercepts, str(given.link))
    if composite := COMPOSITES.get(type(final)):
        return composite.read(final, linear_form)
    kind = simple.kind_of(final)
    if kind is None:
        raise ParameterError(f"{type(final).__name__} has no linear scores that are read here")
    return kind.read(final)


def transformed(parts: list[Any], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows behind fitted transformers, by scikit-learn itself."""
    found = on_copies(make_pipeline(*parts).transform, x) if parts else x
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def clear_scores(estimator: Any, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """What scikit-learn computes: rows of outputs, the same ones as `linear_form` has."""
    *before, final = parts_of(estimator)
    rows = transformed(before, x)
    if type(final) in _SCORED_BY:
        scores = np.asarray(on_copies(getattr(final, _SCORED_BY[type(final)]), rows))
        shares = type(final) in (*_SHARES, *NEIGHBORS) and scores.shape[1] == 2
        scores = scores[:, 1] - 0.5 if shares else scores
    elif composite := COMPOSITES.get(type(final)):
        scores = composite.scores(final, rows, clear_scores)
    else:
        kind = simple.kind_of(final)
        if kind is None:
            raise ParameterError(f"{type(final).__name__} has no scores that are computed here")
        scores = kind.scores(final, rows)
    return np.asarray(scores, dtype=np.float64).reshape(len(x), -1)


_SCORED_BY: Final = {
    **dict.fromkeys((*_SHARES, *NEIGHBORS), "predict_proba"),
    **dict.fromkeys((*_BOOSTED, GivenClassifier), "decision_function"),
    **dict.fromkeys((*_GROWN, GivenRegressor), "predict"),
}
"""What trees, neighbours and models from files say scores by."""


def link_of(final: Any) -> str:
    """How scores of fitted trees become probabilities, see `hesc.models.conclusions.LINKS`."""
    return str(final.described.link) if hasattr(final, "described") else _link_of_trees(final)


def _link_of_trees(final: Any) -> str:
    kind = type(final)
    if kind in _SHARES:
        return "shares"
    two = kind in _BOOSTED and len(final.classes_) == 2
    logarithms = kind in _BOOSTED and getattr(final, "loss", "") == "log_loss"
    if two and (logarithms or kind is AdaBoostClassifier):
        return "sigmoid"
    return "softmax" if logarithms else "none"

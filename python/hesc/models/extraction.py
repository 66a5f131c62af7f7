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
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from hesc._native import ParameterError
from hesc.models.boosters import fitted
from hesc.models.given import GivenClassifier, GivenRegressor
from hesc.models.layers import DenseNetwork
from hesc.models.linear import composed, simple, thresholds
from hesc.models.linear.composed import COMPOSITES
from hesc.models.linear.simple import Linear
from hesc.models.samples import on_copies
from hesc.models.steps import (
    TRANSFORMS,
    check_options,
    inputs_of,
    takes_tables,
    transforms_of,
)
from hesc.models.steps.walking import all_parts_of
from hesc.models.steps.walking import parts_of as parts_of  # noqa: PLC0414 - who reads estimators asks here
from hesc.models.trees import EXPONENTIALS, TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.models.described import Described
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
_AT_ONCE: Final = 1 << 22
"""Cells of sparse rows that are made dense at once."""
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
    "OneClass": _OUTLIERS,
    "Outlier": _OUTLIERS,
    "Elliptic": _OUTLIERS,
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
    "Booster": "hesc.ml.load_booster(booster), of XGBoost or LightGBM",
    "KNeighborsClassifier": "PrivateNeighbours",
    "RadiusNeighborsClassifier": "PrivateNeighbours(KNeighborsClassifier())",
    "KNeighbors": "hesc.codes has distances of encrypted codes; as a linear model " + _KERNEL,
    "MLP": "PrivateMLPClassifier and PrivateMLPRegressor; as a linear model " + _KERNEL,
    "KernelPCA": "make_pipeline(Nystroem(), PCA())",
    "Kernel": _KERNEL,
    "GaussianProcess": _KERNEL,
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
# Models of XGBoost, LightGBM and CatBoost, which are known by name.
_BOOSTERS: Final[dict[tuple[type, ...], tuple[str, ...]]] = {
    CLASSIFIERS: fitted.CLASSIFIERS,
    REGRESSORS: fitted.REGRESSORS,
}


def features_of(estimator: Any) -> int:
    """Columns of a sample. A pipeline that begins with nothing does not know them itself."""
    first = parts_of(estimator)[0]
    return fitted.features_of(first) if fitted.is_boosted(first) else inputs_of(first)


def without_names(estimator: Any) -> None:
    """Takes names of features from a fitted estimator's parts, which are given arrays then."""
    for part in parts_of(estimator):
        fitted.forget_names(part)
        composite = COMPOSITES.get(type(part))
        for inner in [] if composite is None else composite.fitted(part):
            without_names(inner)


def check(estimator: Any, finals: tuple[type, ...]) -> None:
    """Refuses an estimator that is not computed here, as far as it shows before it is fitted.

    Raises:
        ParameterError: with its name, and the nearest thing that works.

    """
    *before, final = parts_of(estimator) or [None]
    boosted = type(final).__name__ in _BOOSTERS.get(finals, ()) and fitted.is_boosted(final)
    known = boosted or type(final) in (*finals, _GIVEN.get(finals))
    if not (known or _may_be_linear(final, finals)):
        raise ParameterError(_refusal(final, finals))
    _check_options(final)
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


def is_of_two(estimator: Any) -> bool:
    """Whether a classifier is computed of two classes alone."""
    return type(parts_of(estimator)[-1]) in (*simple.OF_TWO, *thresholds.KINDS)


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
    listed = type(final) in (*finals, *_GIVEN.values()) or fitted.is_boosted(final)
    if listed or simple.kind_of(final):
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
        name, last = type(final).__name__, parts_of(inner)[-1]
        if takes_tables(inner):
            raise ParameterError(
                f"this {name} has transformers of tables inside, which clients compute before it; "
                f"nearest: make_pipeline(columns, {name}(model)) in place of "
                f"{name}(make_pipeline(columns, model))"
            )
        if fitted.is_boosted(last) or has_trees(last):
            raise ParameterError(
                f"{name} of trees is not computed on encrypted features; nearest: the trees alone, "
                f"or {name} of linear models"
            )


def is_listed(estimator: Any) -> bool:
    """Whether a class says what scores are: of others they are held against their own scores."""
    return type(parts_of(estimator)[-1]) in (*simple.KINDS, *COMPOSITES, *_GIVEN.values())


def has_trees(final: Any) -> bool:
    """Whether a model is one of trees: of scikit-learn, of a boosting library, or from a file."""
    given = described_of(final)
    return type(final) in TREES if given is None else isinstance(given.model, TreeEnsemble)


def described_of(final: Any) -> Described | None:
    """What a fitted model says itself that it computes: from a file, or of a boosting library.

    Raises:
        ParameterError: a model of a boosting library that is not computed here.

    """
    if fitted.is_boosted(final):
        return fitted.described(final)
    return final.described if type(final) in _GIVEN.values() else None


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
    own = own or fitted.base_of(part, _BOOSTERS.get(taken, ()))
    elsewhere = _elsewhere(part, taken)
    nearest = own or (elsewhere if type(part) in _FINALS else None)
    nearest = nearest or next(found, elsewhere or general)
    model = "Ridge()" if taken == REGRESSORS else "LogisticRegression()"
    served = [*(kind.__name__ for kind in taken), *_BOOSTERS.get(taken, ())]
    return (
        f"{name} is not computed on encrypted features; nearest: {nearest.format(model)}. Taken "
        f"here{_TAKEN.get(taken) or ', by exact class: ' + ', '.join(served)}"
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
    regressor = isinstance(part, RegressorMixin) or fitted.is_regressor(part)
    if taken == CLASSIFIERS and regressor:
        return "PrivateRegressor"
    classifier = isinstance(part, ClassifierMixin) or fitted.is_classifier(part)
    if taken == REGRESSORS and classifier:
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
    return steps, trees_of(final)


def trees_of(final: Any) -> TreeEnsemble:
    """The trees of a fitted model that `has_trees`.

    Raises:
        ParameterError: trees that are not computed here.

    """
    given = described_of(final)
    trees = TreeEnsemble.from_sklearn(final) if given is None else given.model
    if not isinstance(trees, TreeEnsemble):
        raise ParameterError(f"{type(final).__name__} is no model of trees")
    return trees


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
    given = described_of(final)
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
    if (given := described_of(final)) is not None and isinstance(given.model, DenseNetwork):
        layer = given.model.layers[0]
        return Linear(given.steps, layer.weights, layer.intercepts, str(given.link))
    if composite := COMPOSITES.get(type(final)):
        return composite.read(final, linear_form)
    kind = simple.kind_of(final)
    if kind is None:
        raise ParameterError(f"{type(final).__name__} has no linear scores that are read here")
    return kind.read(final)


def _dense(final: Any, rows: Any) -> Iterator[NDArray[np.float64]]:
    """Rows that a boosted model is given, with the zeros that sparse ones leave out, some at once.

    Raises:
        ParameterError: a model that takes what they leave out for missing.

    """
    if not hasattr(rows, "toarray"):
        yield np.asarray(rows)
        return
    if fitted.library_of(final) == "xgboost":
        raise ParameterError(
            f"{type(final).__name__} is given sparse rows by the transformers before it, and takes "
            f"zeros that these leave out for missing cells: have them give all cells, by "
            f"OneHotEncoder(sparse_output=False), ColumnTransformer(sparse_threshold=0), or a "
            f"TruncatedSVD behind a vectorizer"
        )
    matrix, count = rows.tocsr(), max(1, _AT_ONCE // rows.shape[1])
    for first in range(0, rows.shape[0], count):
        yield np.asarray(matrix[first : first + count].toarray())


def transformed(parts: list[Any], x: Rows) -> NDArray[np.float64]:
    """Rows behind fitted transformers, by scikit-learn itself."""
    found = _behind(parts, x)
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def predicted(estimator: Any, x: Rows) -> NDArray[Any]:
    """What a fitted estimator predicts by its own library, a number or a label for each row."""
    found = np.asarray(on_copies(estimator.predict, x))
    # CatBoost has a column of classes where there are more than two.
    return (
        found[:, 0] if fitted.is_classifier(parts_of(estimator)[-1]) and found.ndim > 1 else found
    )


def _behind(parts: list[Any], x: Rows) -> Any:
    """Rows behind fitted transformers, as scikit-learn gives them to what comes next."""
    return on_copies(make_pipeline(*parts).transform if parts else lambda rows: rows, x)


def clear_scores(estimator: Any, x: Rows) -> NDArray[np.float64]:
    """What scikit-learn computes: rows of outputs, the same ones as `linear_form` has."""
    *before, final = parts_of(estimator)
    rows = _behind(before, x)
    if fitted.is_boosted(final):
        return np.concatenate([fitted.raw_scores(final, part) for part in _dense(final, rows)])
    if type(final) in _SCORED_BY:
        scores = np.asarray(on_copies(getattr(final, _SCORED_BY[type(final)]), rows))
        shares = type(final) in (*_SHARES, *NEIGHBORS) and scores.shape[1] == 2
        scores = scores[:, 1] - 0.5 if shares else scores
        if type(final) in TREES and _link_of_trees(final) == "exp":
            scores = np.log(scores)
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
    **dict.fromkeys(_GROWN, "predict"),
    GivenRegressor: "scores",
}
"""What trees, neighbours and models from files say scores by."""


def link_of(final: Any) -> str:
    """How scores of fitted trees become probabilities, see `hesc.models.conclusions.LINKS`."""
    given = described_of(final)
    return _link_of_trees(final) if given is None else given.link


def _link_of_trees(final: Any) -> str:
    kind = type(final)
    if kind in _SHARES:
        return "shares"
    if kind is HistGradientBoostingRegressor and final.loss in EXPONENTIALS:
        return "exp"
    two = kind in _BOOSTED and len(final.classes_) == 2
    logarithms = kind in _BOOSTED and getattr(final, "loss", "") == "log_loss"
    if two and (logarithms or kind is AdaBoostClassifier):
        return "sigmoid"
    return "softmax" if logarithms else "none"

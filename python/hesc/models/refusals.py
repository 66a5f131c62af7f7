"""Refusals of estimators that are not computed here, fitted or not, with what comes nearest.

What is taken is taken by the lists of `hesc.models.extraction`.
"""

from __future__ import annotations

from typing import Any, Final

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import get_tags

from hesc._native import ParameterError
from hesc.models.boosters import fitted
from hesc.models.extraction import (
    CLASSIFIERS,
    GIVEN,
    NEIGHBORS,
    OUTLIERS,
    REGRESSORS,
    has_trees,
    parts_of,
)
from hesc.models.layers import DenseNetwork
from hesc.models.linear import composed, simple
from hesc.models.linear.composed import COMPOSITES
from hesc.models.steps import TRANSFORMS, check_options, takes_tables
from hesc.models.steps.walking import all_parts_of

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
    "PrivateOutlierDetector(IsolationForest()), or a regressor of its scores, "
    "PrivateRegressor(LinearRegression()).fit(X, model.decision_function(X)), behind "
    "PolynomialFeatures or Nystroem where they are not linear"
)
_EACH: Final = "a model of each label or target"
_VOTES: Final = "a score for each class, OneVsRestClassifier({})"
# What comes nearest to models, by words in a class's name.
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
# What comes nearest to any estimator, alike; the first that fits.
_NEAREST: Final = {
    "Booster": "hesc.ml.load_booster(booster), of XGBoost or LightGBM",
    "KNeighborsClassifier": "PrivateNeighbours",
    "RadiusNeighborsClassifier": "PrivateNeighbours(KNeighborsClassifier())",
    "KNeighbors": "hesc.search finds nearest records of any vectors; as a linear model " + _KERNEL,
    "MLP": "PrivateMLPClassifier and PrivateMLPRegressor; as a linear model " + _KERNEL,
    "KernelPCA": "make_pipeline(Nystroem(), PCA())",
    "Kernel": _KERNEL,
    "GaussianProcess": _KERNEL,
    "Tree": _SQUARES,
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
        "PrivateOutlierDetector": OUTLIERS,
        "PrivateRegressor": REGRESSORS,
        "PrivateClassifier": CLASSIFIERS,
    }.items()
    for kind in kinds
}
"""What serves a model by its exact class."""

# Models of XGBoost, LightGBM and CatBoost, which are known by name.
_BOOSTERS: Final[dict[tuple[type, ...], tuple[str, ...]]] = {
    CLASSIFIERS: fitted.CLASSIFIERS,
    REGRESSORS: fitted.REGRESSORS,
}


def check(estimator: Any, finals: tuple[type, ...]) -> None:
    """Refuses an estimator that is not computed here, as far as it shows before it is fitted.

    Raises:
        ParameterError: with its name, and the nearest thing that works.

    """
    *before, final = parts_of(estimator) or [None]
    boosted = type(final).__name__ in _BOOSTERS.get(finals, ()) and fitted.is_boosted(final)
    known = boosted or type(final) in (*finals, GIVEN.get(finals))
    if not (known or _may_be_linear(final, finals)):
        raise ParameterError(_refusal(final, finals))
    _check_options(final)
    if type(final) in GIVEN.values() and not (_is_linear(final) or has_trees(final)):
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


def check_fitted(estimator: Any, finals: tuple[type, ...]) -> None:
    """Refuses a fitted estimator that is not computed here.

    Raises:
        ParameterError: as `check`, and one of no class that is known, without weights.

    """
    check(estimator, finals)
    final = parts_of(estimator)[-1]
    listed = type(final) in (*finals, *GIVEN.values()) or fitted.is_boosted(final)
    if listed or simple.kind_of(final):
        return
    raise ParameterError(
        f"{type(final).__name__} has no coef_ and intercept_ once it is fitted, and estimators "
        f"that are not scikit-learn's own are computed by these; {_refusal(final, finals)}"
    )


def _may_be_linear(final: Any, finals: tuple[type, ...]) -> bool:
    """Whether an estimator of a class that is not listed may be computed by its `coef_`."""
    if isinstance(final, type) or type(final) in _FINALS or finals not in GIVEN:
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
    if found is not None:
        simple.check_options(final, found.against)
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
        OUTLIERS: "IsolationForest",
    }.get(taken, "LogisticRegression")
    names = {kind.__name__ for kind in taken}
    reasons = {**_INSTEAD, **_NEAREST} if taken in GIVEN else _NEAREST
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
    model = {REGRESSORS: "Ridge()", OUTLIERS: "IsolationForest()"}.get(
        taken, "LogisticRegression()"
    )
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

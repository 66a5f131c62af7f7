"""Writes docs/estimators.md: what becomes of every estimator of scikit-learn, XGBoost, LightGBM.

    python -m scripts.estimators_table

What is served is looked up in the lists by which `hesc.ml` takes models, and the reason for a
refusal is what it says nearest to. A test holds the page against the lists.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import all_estimators

from hesc._native import HescError
from hesc.models import extraction, fitted_mlp, refusals, steps
from hesc.models.boosters import fitted
from hesc.models.linear import simple
from hesc.models.steps import walking

PAGE: Final = Path(__file__).resolve().parent.parent / "docs/estimators.md"
_HEAD: Final = """# Every estimator

What `hesc.ml` does with each estimator of scikit-learn VERSION, XGBoost and LightGBM.
`python -m scripts.estimators_table` writes this page from the lists that models are taken by.
[Private predictions](ml.md) says how they are used.

- **Served** are those below. A [plan](ml.md#read-the-plan) checks that scores and predictions are
  scikit-learn's.
- **Subclasses and estimators of other packages** are served where they have `coef_` and
  `intercept_` once they are fitted. Their scores of the rows that `plan` is given have to be
  `rows @ coef_.T + intercept_`, else it says by how much they differ. `from_fitted` has no rows:
  it refuses only what has no `coef_`.
- **Searches** (GridSearchCV and all whose names end alike), FrozenEstimator, RANSACRegressor and
  SelfTrainingClassifier are taken as the estimator that they found or keep. The search itself is
  `private.search_`.
- **The others** are refused by name, and with what would do.
"""

_BOOSTERS: Final = {
    "xgboost": ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor", "XGBRanker"),
    "lightgbm": ("LGBMClassifier", "LGBMRegressor", "LGBMRanker"),
}
"""Estimators of packages that need not be installed."""
_EXACTLY: Final = "exactly: [trees](ml.md#trees-exactly)"
_DETECTED: Final = "exactly: [outliers](ml.md#outliers)"
_NOTES: Final = {
    **dict.fromkeys(("SVC", "NuSVC"), "`kernel='linear'`, two classes"),
    **dict.fromkeys(("SVR", "NuSVR"), "`kernel='linear'`"),
    "AdaBoostRegressor": "a re-fit: [scorecards](ml.md#scorecards); it predicts medians",
    "GaussianNB": "the client encrypts squares of features",
    "QuadraticDiscriminantAnalysis": "the client encrypts products of two features",
    **dict.fromkeys(("MultinomialNB", "ComplementNB"), "logarithms of joint probabilities"),
    "BernoulliNB": "bins with one edge, `binarize`",
    "CategoricalNB": "a one for each category; others are refused",
    "PoissonRegressor": "the client takes `exp` of scores",
    "GammaRegressor": "the client takes `exp` of scores",
    "TweedieRegressor": "the client takes `exp` of scores, where that is the link",
    "OneVsRestClassifier": "a linear classifier for each class",
    "CalibratedClassifierCV": "of classifiers with `decision_function`: the client learns scores "
    "of all folds, calibrates and averages; with `ensemble=False` one score for each class",
    "VotingClassifier": "`voting='soft'` without weights: the client learns scores of all models, "
    "and averages probabilities",
    "BaggingClassifier": "of logistic models: the client learns scores of all, and averages "
    "probabilities",
    **dict.fromkeys(
        ("FixedThresholdClassifier", "TunedThresholdClassifierCV"),
        "of a linear model whose probabilities, if they are compared, are a sigmoid of one score: "
        "scores count from the threshold, and there are no probabilities",
    ),
    "StackingClassifier": "where `stack_method_` is `decision_function` for all: the product of "
    "linear models' weights",
    "MultiOutputRegressor": "a linear regressor for each target",
    "RegressorChain": "the product of linear regressors' weights",
    "TransformedTargetRegressor": "a scaler's inverse is folded into weights; of functions the "
    "client takes the inverse, one of numpy's exp, expm1, exp2, square, sqrt, sinh, or "
    "scipy.special.expit",
    "VotingRegressor": "the average of linear regressors' weights",
    "StackingRegressor": "the product of linear regressors' weights",
    "BaggingRegressor": "the average of linear regressors' weights",
}
"""What is said of some."""
_TABLE: Final = ["|---|---|"]


def _rows(said: dict[str, str]) -> list[str]:
    """Lines of a table, estimators of which the same is said together."""
    alike: dict[str, list[str]] = {}
    for name, text in said.items():
        alike.setdefault(text, []).append(name)
    return sorted(f"| {', '.join(sorted(names))} | {text} |" for text, names in alike.items())


def _nearest(estimator: Any, finals: tuple[type, ...]) -> str:
    """What a refusal names as nearest."""
    try:
        refusals.check_fitted(estimator, finals)
    except HescError as refusal:
        found = re.search(r"nearest: (.*?)(\. Taken here|$)", str(refusal), re.DOTALL)
        return found[1] if found else str(refusal)
    raise AssertionError(f"{type(estimator).__name__} is served, and in no list")


def _behind(part: Any) -> Any:
    return Pipeline([("first", part), ("last", LogisticRegression())])


def _blank(kind: type) -> Any:
    """An estimator that nobody made: its class is all that is asked of it."""
    return object.__new__(kind)


@cache
def _of(place: str | None) -> tuple[type, ...]:
    """Estimators of scikit-learn of a kind, or of all, without those that are taken as others."""
    return tuple(kind for _, kind in all_estimators(place) if not _is_kept(kind))


def _is_kept(kind: type) -> bool:
    """Whether an estimator is taken as another one, or is made of parts."""
    named = kind.__name__.endswith("SearchCV") or kind.__name__ == "FrozenEstimator"
    return named or kind in (*walking.KEEPERS, Pipeline, FeatureUnion, ColumnTransformer)


def _models(place: str, finals: tuple[type, ...], linear: str) -> list[str]:
    """The section of classifiers, or of regressors."""
    served, refused = {}, {}
    for kind in _of(place):
        if kind in finals:
            how = linear if kind in simple.KINDS else _EXACTLY
            served[kind.__name__] = _NOTES.get(kind.__name__, how)
        elif kind in extraction.NEIGHBORS:
            served[kind.__name__] = "a search: [nearest neighbours](ml.md#nearest-neighbours)"
        elif kind in (*fitted_mlp.CLASSIFIERS, *fitted_mlp.REGRESSORS):
            served[kind.__name__] = "CKKS: [networks](ml.md#networks)"
        else:
            refused[kind.__name__] = _nearest(_blank(kind), finals)
    return _section(f"{place.capitalize()}s", served, refused)


def _section(title: str, served: dict[str, str], refused: dict[str, str]) -> list[str]:
    lines = [f"## {title}", ""]
    if served:
        lines += ["| served | how |", *_TABLE, *_rows(served), ""]
    if refused:
        lines += ["| refused | nearest |", *_TABLE, *_rows(refused), ""]
    return lines


def _is_transformer(kind: type) -> bool:
    predicts = kind in _of("classifier") or kind in _of("regressor")
    return hasattr(kind, "transform") and not predicts


def _transformers() -> list[str]:
    served, refused = {}, {}
    for kind in filter(_is_transformer, _of(None)):
        if kind in steps.TRANSFORMS:
            served[kind.__name__] = "the client, in the clear, before it encrypts"
        else:
            refused[kind.__name__] = _nearest(_behind(_blank(kind)), extraction.CLASSIFIERS)
    return _section("Transformers", served, refused)


def _others() -> list[str]:
    """Estimators that are neither classifiers nor regressors nor transformers."""
    known = {*_of("classifier"), *_of("regressor")}
    rest = [kind for kind in _of(None) if kind not in known and not _is_transformer(kind)]
    served = {kind.__name__: _DETECTED for kind in rest if kind in extraction.OUTLIERS}
    refused = {
        kind.__name__: _nearest(_blank(kind), extraction.CLASSIFIERS)
        for kind in rest
        if kind not in extraction.OUTLIERS
    }
    return _section("Clusters, densities, outliers", served, refused)


def _boosters() -> list[str]:
    taken = (*fitted.CLASSIFIERS, *fitted.REGRESSORS)
    served, refused = {}, {}
    for package, names in _BOOSTERS.items():
        for name in names:
            if name in taken:
                served[name] = _EXACTLY
                continue
            mixin = ClassifierMixin if "Classifier" in name else RegressorMixin
            made = type(name, (mixin, BaseEstimator), {"__module__": package, "fit": None})()
            place = extraction.CLASSIFIERS if "Classifier" in name else extraction.REGRESSORS
            refused[name] = _nearest(made, place)
    return _section("XGBoost and LightGBM", served, refused)


def version() -> str:
    """The version of scikit-learn, as the page names it."""
    return ".".join(sklearn.__version__.split(".")[:2])


def page() -> str:
    """The page as it should be."""
    lines = [
        _HEAD.replace("VERSION", version()),
        *_models("classifier", extraction.CLASSIFIERS, "weights: scores of classes"),
        *_models("regressor", extraction.REGRESSORS, "weights: predictions"),
        *_transformers(),
        *_boosters(),
        *_others(),
    ]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())

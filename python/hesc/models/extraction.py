"""What fitted scikit-learn estimators compute: public transforms, then weights or trees.

Transforms and trees are taken by their exact class, for a subclass may compute something else.
Linear models are read by `hesc.models.linear.simple`, and what is made of them by its neighbour
`composed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from hesc._native import ParameterError
from hesc.models import transforms
from hesc.models.boosters import fitted
from hesc.models.described import Described
from hesc.models.given import GivenClassifier, GivenRegressor
from hesc.models.layers import DenseNetwork
from hesc.models.linear import composed, simple, thresholds
from hesc.models.linear.composed import COMPOSITES
from hesc.models.linear.simple import Linear
from hesc.models.samples import on_copies
from hesc.models.steps import inputs_of, transforms_of
from hesc.models.steps import takes_tables as takes_tables_of_steps
from hesc.models.steps.encoders import own_codes
from hesc.models.steps.walking import parts_of as parts_of  # noqa: PLC0414 - who reads estimators asks here
from hesc.models.trees import EXPONENTIALS, LARGEST_SINGLE, TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_AT_ONCE: Final = 1 << 22
"""Cells of sparse rows that are made dense at once."""
_HISTOGRAMS: Final = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
"""What encodes categories itself, by types or names of columns, or by their places."""
OUTLIERS: Final = (IsolationForest,)
"""What tells outliers from other samples by a score of how far they are from the others."""
TREES: Final = (*_SHARES, *_BOOSTED, *_GROWN, *OUTLIERS)
"""Models of trees, which are computed as sums of functions of single features or not at all."""
CLASSIFIERS: Final = (*simple.CLASSIFIERS, *composed.CLASSIFIERS, *_SHARES, *_BOOSTED)
REGRESSORS: Final = (*simple.REGRESSORS, *composed.REGRESSORS, *_GROWN)
NEIGHBORS: Final = (KNeighborsClassifier,)
"""Whose records are compared one by one."""

GIVEN: Final = {CLASSIFIERS: GivenClassifier, REGRESSORS: GivenRegressor}
"""Models that come as numbers, by the place that they take; they are never fitted here."""


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


def is_of_two(estimator: Any) -> bool:
    """Whether a classifier is computed of two classes alone."""
    return type(parts_of(estimator)[-1]) in (*simple.OF_TWO, *thresholds.KINDS)


def averages(estimator: Any) -> bool:
    """Whether classes are chosen by probabilities of several models, not by scores."""
    return type(parts_of(estimator)[-1]) in composed.AVERAGES


def is_listed(estimator: Any) -> bool:
    """Whether a class says what scores are: of others they are held against their own scores."""
    return type(parts_of(estimator)[-1]) in (*simple.KINDS, *COMPOSITES, *GIVEN.values())


def has_trees(final: Any) -> bool:
    """Whether a model is one of trees: of scikit-learn, of a boosting library, or from a file."""
    given = described_of(final)
    return type(final) in TREES if given is None else isinstance(given.model, TreeEnsemble)


def farthest_of(final: Any) -> float:
    """The largest absolute value of a feature that the library of a model of trees takes.

    Trees of scikit-learn refuse what is infinite as float32. Isolation forests and other libraries
    compare it as infinite, so that nothing is too large.
    """
    singles = type(final) in (*_SHARES, *_BOOSTED, *_GROWN) and type(final) not in _HISTOGRAMS
    return LARGEST_SINGLE if singles else float(np.finfo(np.float64).max)


def takes_tables(estimator: Any) -> bool:
    """Whether an estimator, fitted or not, is given tables as they are.

    A model of histograms is if it encodes categories itself, by the types or names of columns; one
    that is not fitted does not know it of types yet.
    """
    final = parts_of(estimator)[-1]
    return takes_tables_of_steps(estimator) or encodes(final) or _names_categories(final)


def encodes(final: Any) -> bool:
    """Whether a fitted model encodes columns of a table itself."""
    by_type = isinstance(getattr(final, "categorical_features", None), str)
    has_some = getattr(final, "is_categorical_", None) is not None
    return type(final) in _HISTOGRAMS and has_some and (by_type or _names_categories(final))


def encodes_by_type(final: Any) -> bool:
    """Whether a model, fitted or not, encodes those columns that have a type of categories."""
    return type(final) in _HISTOGRAMS and isinstance(final.categorical_features, str)


def _names_categories(final: Any) -> bool:
    if type(final) not in _HISTOGRAMS or isinstance(final.categorical_features, str | None):
        return False
    return np.asarray(final.categorical_features).dtype.kind in "UO"


def before_trees(estimator: Any, x: Rows) -> NDArray[np.float64]:
    """Rows as a fitted model's trees compare them, by its library as far as it goes."""
    *before, final = parts_of(estimator)
    if encodes(final):
        own = final._preprocessor.transform  # noqa: SLF001 - no public name
        return np.asarray(on_copies(own, _behind(before, x)), dtype=np.float64)
    found, given = transformed(before, x), described_of(final)
    return transforms.transformed(given.steps, found) if given and given.steps else found


def takes_missing(estimator: Any) -> bool:
    """Whether cells of rows may be missing: for a model of trees, and for all that is before it.

    Args:
        estimator: fitted or not.

    """
    parts = parts_of(estimator)
    kind = type(parts[-1])
    of_trees = kind in TREES or kind in GIVEN.values() or fitted.is_boosted(parts[-1])
    return of_trees and all(get_tags(part).input_tags.allow_nan for part in parts)


def described_of(final: Any) -> Described | None:
    """What a fitted model says itself that it computes: from a file, or of a boosting library.

    Raises:
        ParameterError: a model of a boosting library that is not computed here.

    """
    if fitted.is_boosted(final):
        return fitted.described(final)
    if encodes(final):
        trees = TreeEnsemble.from_sklearn(final, codes=True)
        classes = getattr(final, "classes_", None)
        link = _link_of_trees(final)
        return Described(final.n_features_in_, [], [*own_codes(final)], trees, classes, link)
    return final.described if type(final) in GIVEN.values() else None


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


def agreeing_trees(
    final: Any, x: NDArray[np.float64], clear: NDArray[np.float64], remedy: str
) -> TreeEnsemble:
    """The trees of a fitted model, whose sums are its library's scores.

    Args:
        final: what `has_trees`.
        x: rows as it is given them.
        clear: its library's scores of them.
        remedy: what would do where its scores are none of these sums.

    Raises:
        ParameterError: they are not, or trees that are not computed here.

    """
    name = type(final).__name__ if not hasattr(final, "described") else "model"
    if type(final) is AdaBoostRegressor:
        raise ParameterError(f"{name} predicts medians, which are no sums of its trees; {remedy}")
    trees = trees_of(final)
    if not np.isfinite(clear).all():
        raise ParameterError(
            f"scores of this {name} are not finite numbers; scale the target it is fitted to"
        )
    apart = np.abs(trees.scores(x) - clear).max()
    doubt = fitted.doubt(fitted.library_of(final), trees)
    if not apart <= 1e-9 * max(1.0, float(np.abs(clear).max())) + doubt:
        raise ParameterError(
            f"the trees of this {name} add up to scores that are {apart:.2g} apart from those of "
            f"its own library; {remedy}"
        )
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
    # Known of some only once they are fitted, as the number of classes is.
    simple.check_options(final, kind.against)
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
        # Both are negative, and the farther from zero the more anomalous.
        scores = np.log2(scores / final.offset_) if type(final) in OUTLIERS else scores
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
    **dict.fromkeys(OUTLIERS, "score_samples"),
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

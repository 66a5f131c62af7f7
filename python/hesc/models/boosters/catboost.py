"""Saved models of CatBoost, `.json`, as trees.

A feature is rounded to float32 and goes right where it is greater than a border. One that is
missing goes right where the feature says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support.documents import is_name
from hesc.models.boosters import typed_values
from hesc.models.described import Described
from hesc.models.trees import GrownTree, TreeEnsemble, double_thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

WHAT: Final = "CatBoost"
_LINKS: Final = {
    "Logloss": "sigmoid",
    "CrossEntropy": "sigmoid",
    "MultiClass": "softmax",
    "MultiClassOneVsAll": "none",
}
"""How scores become probabilities, of losses of classifiers; one against all without norm."""
_NUMBERS: Final = (
    "RMSE",
    "MAE",
    "MAPE",
    "Quantile",
    "MultiQuantile",
    "MultiRMSE",
    "Expectile",
    "Huber",
    "LogCosh",
    "Lq",
)
"""Losses whose predictions are sums of leaves."""
_FUNCTIONS: Final = {"Poisson": "exp", "Tweedie": "exp"}
"""Losses whose predictions are a function of sums of leaves, and which."""
_RANKING: Final = "rankings have no predictions of single rows; fit a CatBoostRegressor"
_REFUSED: Final = {
    "LogLinQuantile": "predictions are exponentials of sums of trees; fit the logarithm of the "
    "target with loss_function='Quantile'",
    "RMSEWithUncertainty": "an answer of it has a variance, which is no sum of trees; fit RMSE",
    "MultiLogloss": "it gives several labels to a sample; fit a model of each",
    "MultiCrossEntropy": "it gives several labels to a sample; fit a model of each",
    "Focal": "probabilities of it are others than of Logloss; fit that",
    "Cox": "predictions of survival are no sums of trees; fit the logarithm of the time with RMSE",
    "SurvivalAft": "predictions of survival are no sums of trees; fit the logarithm of the time "
    "with RMSE",
    "YetiRank": _RANKING,
    "YetiRankPairwise": _RANKING,
    "PairLogit": _RANKING,
    "PairLogitPairwise": _RANKING,
    "QueryRMSE": _RANKING,
    "QuerySoftMax": _RANKING,
    "StochasticRank": _RANKING,
    "LambdaMart": _RANKING,
}
"""Why not, by names of losses."""
_OTHERS: Final = {
    "categorical_features": "it saves hashes of categories, from which no client knows them; "
    "encode them as numbers before it (sklearn.preprocessing.OneHotEncoder) and fit it without "
    "cat_features",
    "text_features": "make numbers of texts before it and fit it without text_features",
    "embedding_features": "give their numbers as columns and fit it without embedding_features",
}
"""Kinds of features that are refused, and what would do."""
_DEEPEST: Final = 16
"""Levels of an oblivious tree, which CatBoost has no more of."""


def described(document: object) -> Described:
    """The model that a saved model of CatBoost is.

    Args:
        document: what the file says, as mappings and lists.

    Raises:
        WireError: a damaged or hostile file.
        ParameterError: what is not computed here, by name, with what would do.
        OutOfRangeError: numbers that are not finite.

    """
    information = typed_values.mapping(document, "model_info", WHAT)
    given, missing = _features(typed_values.mapping(document, "features_info", WHAT))
    inputs, names = len(given), typed_values.usable_names(given, len(given))
    parameters = typed_values.mapping(information, "params", WHAT)
    loss = typed_values.text(typed_values.mapping(parameters, "loss_function", WHAT), "type", WHAT)
    link = _link(loss)
    scale, bias = _scale(document)
    whole = [name for name in ("oblivious_trees", "trees") if name in _mapped(document)]
    if len(whole) != 1:
        raise WireError("a saved CatBoost model has trees of one kind; this file is damaged")
    trees = typed_values.listed(document, whole[0], WHAT)
    if not trees:
        raise ParameterError("this model of CatBoost has no trees; fit it first")
    read = _oblivious if whole == ["oblivious_trees"] else _grown
    grown = [read(tree, inputs, len(bias)) for tree in trees]
    typed_values.check_sizes(sum(len(tree.features) for tree in grown), len(bias))
    for tree in grown:
        tree.values = tree.values * scale
        tree.missing_left = (tree.features >= 0) & missing[tree.features]
    classifies = link in _LINKS.values()
    labels = _labels(information, max(len(bias), 2)) if classifies else None
    if classifies and (len(bias) > 1) != loss.startswith("MultiClass"):
        raise WireError("a saved CatBoost model has a score for each class, or one for two")
    if "binclass_probability_threshold" in information:
        raise ParameterError(
            "this model of CatBoost takes the second class from another probability than a half; "
            "serve it without set_probability_threshold, and compare what predict_proba gives"
        )
    model = TreeEnsemble.joined(inputs, grown, bias)
    return Described(inputs, names, [], model, labels, link or "none").with_one_score()


def _mapped(document: object) -> dict[str, Any]:
    return document if isinstance(document, dict) else {}


def _link(loss: str) -> str | None:
    """How scores become probabilities or predictions; None where they are these."""
    if loss in _NUMBERS:
        return None
    if loss in _FUNCTIONS:
        return _FUNCTIONS[loss]
    if loss in _LINKS:
        return _LINKS[loss]
    why = _REFUSED.get(loss, "what it makes of sums of trees is not known")
    raise ParameterError(
        f"loss_function {loss[:40]!r} of CatBoost is not computed here: {why}. Taken here: "
        f"{', '.join([*_LINKS, *_NUMBERS, *_FUNCTIONS])}"
    )


def _features(information: dict[str, Any]) -> tuple[list[str], NDArray[np.bool_]]:
    """Names of features, in the order of columns, and whether those that are missing go left."""
    for kind, remedy in _OTHERS.items():
        if information.get(kind):
            raise ParameterError(f"this model of CatBoost has {kind}: {remedy}")
    found = typed_values.listed(information, "float_features", WHAT)
    if not 0 < len(found) <= typed_values.WIDEST:
        raise WireError(f"a saved CatBoost model has from 1 to {typed_values.WIDEST} features here")
    for place, one in enumerate(found):
        for name in ("feature_index", "flat_feature_index"):
            typed_values.count(typed_values.part(one, name, WHAT), name, place, place)
    # What is missing exceeds no border, unless it counts as greater than all.
    treated = [typed_values.text(one, "nan_value_treatment", WHAT) for one in found]
    if not set(treated) <= {"AsIs", "AsFalse", "AsTrue"}:
        raise WireError("a saved CatBoost model says what missing values are, as CatBoost does")
    names = [typed_values.text(one, "feature_id", WHAT) for one in found]
    return names, np.array([way != "AsTrue" for way in treated])


def _scale(document: object) -> tuple[float, Array]:
    """What leaves are multiplied by, and what they are added to."""
    given = typed_values.listed(document, "scale_and_bias", WHAT)
    if len(given) != 2 or not isinstance(given[1], list):
        raise WireError("a saved CatBoost model has a scale, and a bias for each output")
    scale, bias = typed_values.reals(given[:1], "scale"), typed_values.reals(given[1], "bias")
    if not 0 < len(bias) <= typed_values.CLASSES:
        raise WireError(f"a saved CatBoost model has from 1 to {typed_values.CLASSES} outputs here")
    return float(scale[0]), bias


def _labels(information: dict[str, Any], count: int) -> NDArray[Any]:
    named = typed_values.mapping(information, "class_params", WHAT)
    labels = typed_values.listed(named, "class_names", WHAT) or list(range(count))
    order = typed_values.wholes(typed_values.part(named, "class_to_label", WHAT), "class_to_label")
    kinds = set(map(type, labels))
    if len(labels) != count or order.tolist() != list(range(count)) or len(set(labels)) != count:
        raise WireError(f"a saved CatBoost model has {count} classes in their order")
    texts = all(is_name(label) for label in labels)
    if len(kinds) != 1 or not (texts or kinds <= {int, float, bool}):
        raise WireError("classes of a saved CatBoost model are texts, or numbers")
    return np.array(labels)


def _split(split: object, inputs: int) -> tuple[int, float]:
    kind = typed_values.text(split, "split_type", WHAT)
    if kind != "FloatFeature":
        raise ParameterError(
            f"a tree of this model of CatBoost splits by {kind[:40]}: "
            f"{_OTHERS['categorical_features']}"
        )
    place = typed_values.part(split, "float_feature_index", WHAT)
    border = typed_values.reals([typed_values.part(split, "border", WHAT)], "a border")
    return typed_values.count(place, "float_feature_index", 0, inputs - 1), float(border[0])


def _oblivious(tree: object, inputs: int, outputs: int) -> GrownTree:
    """A tree that compares the same in all nodes of a level: the last split stands at the root."""
    given = typed_values.listed(tree, "splits", WHAT) if _mapped(tree).get("splits") else []
    if len(given) > _DEEPEST:
        raise WireError(f"a tree of CatBoost has {_DEEPEST} levels at most")
    splits = [_split(split, inputs) for split in reversed(given)]
    leaves = typed_values.reals(typed_values.part(tree, "leaf_values", WHAT), "leaf_values")
    if len(leaves) != outputs << len(splits):
        raise WireError("a tree of CatBoost has a leaf for each answer to its comparisons")
    inner = (1 << len(splits)) - 1
    nodes = np.arange(2 * inner + 1)
    levels = np.repeat(np.arange(len(splits)), 1 << np.arange(len(splits)))
    features = np.array([feature for feature, _ in splits], dtype=np.int64)
    borders = double_thresholds([border for _, border in splits])
    none = np.full(inner + 1, -1)
    values = np.zeros((len(nodes), outputs))
    values[inner:] = leaves.reshape(-1, outputs)
    return GrownTree(
        np.concatenate([features[levels], none]),
        np.concatenate([borders[levels], np.zeros(inner + 1)]),
        np.concatenate([2 * nodes[:inner] + 1, none]),
        np.concatenate([2 * nodes[:inner] + 2, none]),
        values,
    )


def _grown(tree: object, inputs: int, outputs: int) -> GrownTree:
    """A tree as CatBoost grows it without symmetry, one node in the other."""
    features: list[int] = []
    borders: list[float] = []
    leaves: list[list[float]] = []
    children: list[list[int]] = []
    waiting: list[tuple[object, int, int]] = [(tree, -1, 0)]
    while waiting:
        node, parent, side = waiting.pop()
        place = len(features)
        if parent >= 0:
            children[parent][side] = place
        children.append([-1, -1])
        if "split" in _mapped(node):
            feature, border = _split(typed_values.part(node, "split", WHAT), inputs)
            leaf = [0.0] * outputs
            waiting += [(typed_values.part(node, name, WHAT), place, i) for i, name in _SIDES]
        else:
            feature, border = -1, 0.0
            given = typed_values.part(node, "value", WHAT)
            leaf = typed_values.reals(
                given if isinstance(given, list) else [given], "value"
            ).tolist()
            if len(leaf) != outputs:
                raise WireError("a leaf of CatBoost has a number for each output")
        features.append(feature)
        borders.append(border)
        leaves.append(leaf)
    links = np.array(children)
    return GrownTree(
        np.array(features), double_thresholds(borders), links[:, 0], links[:, 1], np.array(leaves)
    )


_SIDES: Final = ((1, "right"), (0, "left"))
"""Places of children, in the order in which they wait."""

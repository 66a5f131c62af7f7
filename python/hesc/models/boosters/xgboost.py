"""Saved models of XGBoost, `.json` and `.ubj`, as trees or as a linear model.

A feature is rounded to float32 and goes left where it is less than a threshold. Categories are
whole parts of numbers, and those that a node names go right. Leaves are added in float32 there, and
in double precision here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc.models.boosters import typed_values
from hesc.models.described import Described
from hesc.models.layers import DenseNetwork, Layer
from hesc.models.trees import NO_SETS, GrownTree, Sets, TreeEnsemble, double_thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

WHAT: Final = "XGBoost"
_CATEGORIES: Final = 1 << 24
"""Categories of a feature, at most: float32 holds these numbers, and XGBoost takes no others."""
_LINKS: Final = {
    "binary:logistic": "sigmoid",
    "binary:hinge": "none",
    "multi:softmax": "softmax",
    "multi:softprob": "softmax",
}
"""How scores become probabilities, of objectives of classifiers."""
_NUMBERS: Final = (
    "reg:squarederror",
    "reg:linear",
    "reg:squaredlogerror",
    "reg:absoluteerror",
    "reg:pseudohubererror",
    "reg:quantileerror",
)
"""Objectives whose predictions are sums of leaves."""
_FUNCTIONS: Final = {
    "count:poisson": "exp",
    "reg:gamma": "exp",
    "reg:tweedie": "exp",
    "reg:logistic": "expit",
}
"""Objectives whose predictions are a function of sums of leaves, and which."""
_REFUSED: Final = {
    "rank:": "rankings have no classes and no predictions of single rows; fit an XGBRegressor",
    "survival:": "predictions of survival are no sums of trees; fit the logarithm of the time with "
    "reg:squarederror",
    "binary:logitraw": "XGBoost takes the class by another number than where probabilities meet; "
    "fit it with binary:logistic, whose scores are the same",
}
"""Why not, by what names of objectives begin with."""


def described(document: object, *, rounds: int | None = None) -> Described:
    """The model that a saved model of XGBoost is.

    Args:
        document: what the file says, as mappings and lists.
        rounds: of boosting that count; None for those that XGBoost's scikit-learn interface takes
            where that wrote the file (the best iteration after an early stop), and all otherwise.

    Raises:
        WireError: a damaged or hostile file.
        ParameterError: what is not computed here, by name, with what would do.
        OutOfRangeError: numbers that are not finite.

    """
    learner = typed_values.mapping(document, "learner", WHAT)
    sizes = typed_values.mapping(learner, "learner_model_param", WHAT)
    inputs = typed_values.count(sizes.get("num_feature"), "num_feature", 1, typed_values.WIDEST)
    classes = typed_values.count(sizes.get("num_class", "0"), "num_class", 0, typed_values.CLASSES)
    targets = typed_values.count(
        sizes.get("num_target", "1"), "num_target", 1, typed_values.CLASSES
    )
    objective = typed_values.text(typed_values.mapping(learner, "objective", WHAT), "name", WHAT)
    link = _link(objective)
    outputs = max(classes, 1) * targets
    labels = typed_values.places(link, outputs)
    if labels is not None and targets > 1:
        raise ParameterError(
            "this model of XGBoost gives several labels to a sample; fit a model of each"
        )
    if link == "softmax" and classes < 2:
        raise WireError("a saved XGBoost model with softmax has two classes or more")
    if link != "softmax" and classes > 1:
        raise WireError("a saved XGBoost model has classes, and an objective without them")
    offset = _base(sizes.get("base_score"), outputs, link)
    booster = typed_values.mapping(learner, "gradient_booster", WHAT)
    name = typed_values.text(booster, "name", WHAT)
    if name == "gblinear":
        model: DenseNetwork | TreeEnsemble = _linear(booster, inputs, offset)
    elif name in {"gbtree", "dart"}:
        chosen = _rounds_of(learner) if rounds is None else rounds
        model = _trees(booster, inputs, offset, chosen)
    else:
        raise ParameterError(f"booster {name[:40]!r} is not read; gbtree, dart and gblinear are")
    names = (
        typed_values.listed(learner, "feature_names", WHAT) if "feature_names" in learner else []
    )
    names = typed_values.usable_names([n if isinstance(n, str) else "" for n in names], inputs)
    return Described(inputs, names, [], model, labels, link or "none").with_one_score()


def _link(objective: str) -> str | None:
    """How scores become probabilities or predictions; None where they are these."""
    if objective in _NUMBERS:
        return None
    if objective in _LINKS:
        return _LINKS[objective]
    if objective in _FUNCTIONS:
        return _FUNCTIONS[objective]
    why = next((text for begin, text in _REFUSED.items() if objective.startswith(begin)), None)
    known = ", ".join([*_LINKS, *_NUMBERS, *_FUNCTIONS])
    raise ParameterError(
        f"objective {objective[:40]!r} of XGBoost is not computed here: "
        f"{why or 'what it makes of sums of trees is not known'}. Taken here: {known}"
    )


def _base(value: object, outputs: int, link: str | None) -> Array:
    """What leaves are added to: a file has the probability, or the number, that this makes."""
    if not isinstance(value, str) or len(value) > 1 << 20:
        raise WireError("a saved XGBoost model has a base_score")
    try:
        parts = [float(part) for part in value.strip("[]").split(",")]
    except ValueError as error:
        raise WireError("base_score of a saved XGBoost model is a list of numbers") from error
    found = _singles(typed_values.reals(parts, "base_score"))
    if len(found) not in {1, outputs}:
        raise WireError("base_score of a saved XGBoost model has a number for each output")
    if link == "exp":
        if not (found > 0).all():
            raise OutOfRangeError("base_score of an XGBoost model of exponentials is above zero")
        found = np.log(found)
    if link in {"sigmoid", "expit"}:
        if not ((found > 0) & (found < 1)).all():
            raise OutOfRangeError("base_score of a logistic model of XGBoost is within 0 and 1")
        found = -np.log(1 / found - 1)
    return np.broadcast_to(found, (outputs,)).copy()


def _singles(found: Array) -> Array:
    """Numbers as the float32 that they are; a text has the fewest digits that tell one."""
    with np.errstate(over="ignore", under="ignore"):
        singles = found.astype(np.float32).astype(np.float64)
    if not np.isfinite(singles).all():
        raise OutOfRangeError("a saved XGBoost model has numbers that are no float32")
    return singles


def _rounds_of(learner: dict[str, Any]) -> int | None:
    attributes = learner.get("attributes", {})
    if not isinstance(attributes, dict) or "scikit_learn" not in attributes:
        return None
    best = attributes.get("best_iteration")
    return None if best is None else typed_values.count(best, "best_iteration", 0, 1 << 24) + 1


def _linear(booster: dict[str, Any], inputs: int, offset: Array) -> DenseNetwork:
    model = typed_values.mapping(booster, "model", WHAT)
    weights = _singles(typed_values.reals(typed_values.part(model, "weights", WHAT), "weights"))
    if len(weights) != (inputs + 1) * len(offset):
        raise WireError("a linear XGBoost model has a weight for each feature and output, and one")
    if (offset != offset[0]).any():
        # XGBoost 3.2 adds the first one to all scores, whatever it fitted with.
        raise ParameterError(
            "linear models of XGBoost that begin with another number for each class are not read, "
            "since its versions do not agree about them; fit it with base_score=0"
        )
    rows = weights.reshape(inputs + 1, len(offset))
    return DenseNetwork((Layer(rows[:-1].T.copy(), rows[-1] + offset),))


def _trees(booster: dict[str, Any], inputs: int, offset: Array, rounds: int | None) -> TreeEnsemble:
    inner = typed_values.mapping(booster, "gbtree", WHAT) if booster["name"] == "dart" else booster
    model = typed_values.mapping(inner, "model", WHAT)
    trees = typed_values.listed(model, "trees", WHAT)
    places = typed_values.wholes(typed_values.part(model, "tree_info", WHAT), "tree_info")
    if len(places) != len(trees) or ((places < 0) | (places >= len(offset))).any():
        raise WireError("tree_info of a saved XGBoost model has an output for each tree")
    weights = np.ones(len(trees))
    if booster["name"] == "dart":
        given = typed_values.reals(typed_values.part(booster, "weight_drop", WHAT), "weight_drop")
        if len(given) != len(trees):
            raise WireError("weight_drop of a saved XGBoost model has a number for each tree")
        weights = _singles(given)
    kept = len(trees) if rounds is None else _kept(model, len(trees), len(offset), rounds)
    if not kept:
        raise ParameterError("this model of XGBoost has no trees; fit it first")
    parts = [
        _tree(tree, inputs, weight)
        for tree, weight in zip(trees[:kept], weights.tolist(), strict=False)
    ]
    typed_values.check_sizes(sum(len(part.features) for part in parts), len(offset))
    for tree, place in zip(parts, places.tolist(), strict=False):
        values = np.zeros((len(tree.features), len(offset)))
        values[:, place] = tree.values[:, 0]
        tree.values = values
    return TreeEnsemble.joined(inputs, parts, offset)


def _kept(model: dict[str, Any], trees: int, outputs: int, rounds: int) -> int:
    """Trees of so many rounds of boosting."""
    if "iteration_indptr" in model:
        ends = typed_values.wholes(model["iteration_indptr"], "iteration_indptr")
        ordered = len(ends) and ends[0] == 0 and ends[-1] == trees and (np.diff(ends) >= 0).all()
        if not ordered or rounds >= len(ends):
            raise WireError("iteration_indptr of a saved XGBoost model names its trees by rounds")
        return int(ends[rounds])
    sizes = typed_values.mapping(model, "gbtree_model_param", WHAT)
    beside = typed_values.count(
        sizes.get("num_parallel_tree", "1"), "num_parallel_tree", 0, 1 << 24
    )
    found = rounds * outputs * max(beside, 1)
    if found > trees:
        raise WireError("a saved XGBoost model has fewer trees than its best iteration says")
    return found


def _tree(tree: object, inputs: int, weight: float) -> GrownTree:
    """A tree, parents before children; its only output is a column of values."""
    sizes = typed_values.mapping(tree, "tree_param", WHAT)
    if str(sizes.get("size_leaf_vector", "1")) not in {"0", "1"}:
        raise ParameterError(
            "trees of XGBoost whose leaves have several numbers are not read; fit the model with "
            "multi_strategy='one_output_per_tree'"
        )
    left, right, features = (
        typed_values.wholes(typed_values.part(tree, name, WHAT), name)
        for name in ("left_children", "right_children", "split_indices")
    )
    numbers_of = typed_values.part(tree, "split_conditions", WHAT)
    conditions = _singles(typed_values.reals(numbers_of, "split_conditions"))
    nodes = len(left)
    if not nodes or any(len(part) != nodes for part in (right, features, conditions)):
        raise WireError("a tree of a saved XGBoost model has an entry of each kind for each node")
    leaf = left == -1
    missing = _truths(typed_values.part(tree, "default_left", WHAT), nodes)
    kinds = tree.get("split_type", []) if isinstance(tree, dict) else []
    kinds = typed_values.wholes(kinds, "split_type")
    if len(kinds) not in {0, nodes} or ((kinds < 0) | (kinds > 1)).any():
        raise WireError("split_type of a saved XGBoost model has a number for each node")
    named = (kinds == 1) & ~leaf if len(kinds) else np.zeros(nodes, dtype=bool)
    if (leaf != (right == -1)).any() or ((left < -1) | (right < -1)).any():
        raise WireError("a node of a saved XGBoost model has two children or none")
    order = _order(left.tolist(), right.tolist())
    places = np.full(nodes, -1)
    places[order] = np.arange(len(order))
    sets = _sets(tree, named, order) if named.any() else NO_SETS
    # The categories that a node names go right there, and a set's go left here.
    left, right = np.where(named, right, left), np.where(named, left, right)
    missing = (missing != named)[order]
    leaf, features, conditions = leaf[order], features[order], conditions[order]
    named = named[order]
    if ((features >= inputs) & ~leaf).any():
        raise WireError(f"a tree of a saved XGBoost model compares none of {inputs} features")
    with np.errstate(over="ignore", under="ignore"):
        less = np.nextafter(conditions.astype(np.float32), np.float32(-np.inf))
    inner = ~leaf & ~named
    return GrownTree(
        np.where(leaf, -1, features),
        np.where(inner, double_thresholds(np.where(inner, less, 0.0)), 0.0),
        np.where(leaf, -1, places[left[order]]),
        np.where(leaf, -1, places[right[order]]),
        np.where(leaf, conditions * weight, 0.0)[:, None],
        missing,
        sets,
    )


def _truths(value: object, count: int) -> NDArray[np.bool_]:
    """Whether missing cells go left, which files have as truth values or as numbers."""
    if isinstance(value, list):
        value = [int(each) if isinstance(each, bool) else each for each in value]
    found = typed_values.wholes(value, "default_left")
    if len(found) != count or ((found < 0) | (found > 1)).any():
        raise WireError("default_left of a saved XGBoost model has a truth value for each node")
    return np.asarray(found == 1)


def _sets(tree: object, named: NDArray[np.bool_], order: list[int]) -> Sets:
    """The categories that nodes name.

    Args:
        tree: as it was saved.
        named: which nodes name some.
        order: in which nodes stand here.

    Raises:
        WireError: sets that are none.

    """
    nodes, starts, sizes, categories = (
        typed_values.wholes(typed_values.part(tree, name, WHAT), name)
        for name in ("categories_nodes", "categories_segments", "categories_sizes", "categories")
    )
    if (
        not np.array_equal(np.sort(nodes), np.flatnonzero(named))
        or not len(starts) == len(sizes) == len(nodes)
        or ((starts < 0) | (sizes < 0) | (starts + sizes > len(categories))).any()
        or ((categories < 0) | (categories >= _CATEGORIES)).any()
        or sizes.sum() > len(categories)
    ):
        raise WireError("a node of XGBoost that compares categories names some of its own")
    parts = {
        node: categories[start : start + size]
        for node, start, size in zip(nodes.tolist(), starts.tolist(), sizes.tolist(), strict=True)
    }
    ordered = [np.unique(parts[node]) for node in order if named[node]]
    members = np.concatenate(ordered).astype(np.float32)
    lengths = np.full(len(order), -1)
    lengths[np.flatnonzero(named[order])] = [len(part) for part in ordered]
    ends = (np.nextafter(end, np.float32(-np.inf)) for end in (members, members + np.float32(1)))
    low, high = map(double_thresholds, ends)
    return Sets(lengths, low, high)


def _order(left: list[int], right: list[int]) -> list[int]:
    """Nodes that the root leads to, parents before children; pruned ones are left out."""
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if len(order) > len(left) or node >= len(left):
            raise WireError("a tree of a saved XGBoost model leads to a node that is none of it")
        if left[node] != -1:
            waiting += [right[node], left[node]]
    if len(set(order)) != len(order):
        raise WireError("a node of a saved XGBoost model is the child of two others")
    return order

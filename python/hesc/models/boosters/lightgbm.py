"""Saved models of LightGBM, as text, as trees.

A feature goes left where it is less than or equal to a threshold, both in double precision; what is
next to zero is zero. Categories are the whole parts of numbers.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import ParameterError, WireError
from hesc.models.boosters import typed_values
from hesc.models.described import Described
from hesc.models.trees import NEVER, NO_SETS, GrownTree, Sets, TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Fields = dict[str, str]

WHAT: Final = "LightGBM"
BEGIN: Final = b"tree\n"
"""What a file begins with."""
_LINKS: Final = {"binary": "sigmoid", "multiclass": "softmax", "multiclassova": "none"}
"""How scores become probabilities, of objectives of classifiers; one against the rest without norm.
"""
_NUMBERS: Final = (
    "regression",
    "regression_l1",
    "huber",
    "fair",
    "quantile",
    "mape",
)
"""Objectives whose predictions are sums of leaves."""
_FUNCTIONS: Final = {"poisson": "exp", "gamma": "exp", "tweedie": "exp", "cross_entropy": "expit"}
"""Objectives whose predictions are a function of sums of leaves, and which."""
_REFUSED: Final = {
    "lambdarank": "rankings have no classes and no predictions of single rows; fit an "
    "LGBMRegressor",
    "rank_xendcg": "rankings have no classes and no predictions of single rows; fit an "
    "LGBMRegressor",
    "cross_entropy_lambda": "predictions are no sums of trees but a function of them; fit an "
    "LGBMClassifier with objective='binary'",
}
"""Why not, by names of objectives."""
_ZERO: Final = float(np.float32(1e-35))
"""What is no larger counts as zero."""
_REAL: Final = re.compile(r"[-+.0-9eE ]*")
_LINES: Final = 1 << 22
_CATEGORY: Final = 1
_LEFT: Final = 2
_ZERO_IS_MISSING: Final = 1
_NAN_IS_MISSING: Final = 2
_NEVER: Final = repr(NEVER)
_WORD: Final = 32
"""Categories that a number of a set says of."""


def described(data: bytes) -> Described:
    """The model that a saved model of LightGBM is.

    Raises:
        WireError: a damaged or hostile file.
        ParameterError: what is not computed here, by name, with what would do.
        OutOfRangeError: numbers that are not finite.

    """
    if data.count(b"\n") > _LINES:
        raise WireError(f"a saved LightGBM model has {_LINES} lines at most here")
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError as error:
        raise WireError(
            "a saved LightGBM model is a text in UTF-8; this file is damaged"
        ) from error
    head, trees = _parts(lines)
    inputs = _count(head, "max_feature_idx", 0, typed_values.WIDEST - 1) + 1
    outputs = _count(head, "num_tree_per_iteration", 1, typed_values.CLASSES)
    classes = _count(head, "num_class", 1, typed_values.CLASSES)
    link = _link(_words(head, "objective"))
    if classes != outputs or (outputs > 1) != (link in {"softmax", "none"}):
        raise WireError("a saved LightGBM model has a tree for each class in every round")
    if not trees or len(trees) % outputs or len(_words(head, "tree_sizes")) != len(trees):
        raise WireError("a saved LightGBM model has as many trees as its head says, and one")
    grown = [_tree(tree, place, inputs) for place, tree in enumerate(trees)]
    typed_values.check_sizes(sum(len(tree.features) for tree in grown), outputs)
    # Forests have means where others have sums.
    rounds = len(trees) // outputs if "average_output" in head else 1
    for place, tree in enumerate(grown):
        values = np.zeros((len(tree.features), outputs))
        values[:, place % outputs] = tree.values[:, 0] / rounds
        tree.values = values
    names = _names(head, inputs)
    labels = typed_values.places(link, outputs)
    model = TreeEnsemble.joined(inputs, grown, np.zeros(outputs))
    return Described(inputs, names, [], model, labels, link or "none").with_one_score()


def _parts(lines: list[str]) -> tuple[Fields, list[Fields]]:
    """Fields of the head and of each tree; what follows upon the trees says nothing of them."""
    if not lines or lines[0] != "tree":
        raise WireError("a saved LightGBM model begins with the word tree")
    head: Fields = {}
    trees: list[Fields] = []
    fields = head
    for line in lines[1:]:
        if line == "end of trees":
            return head, trees
        if line == f"Tree={len(trees)}":
            fields = {}
            trees.append(fields)
            continue
        name, _, value = line.partition("=")
        if name == "Tree" or (name in fields and name):
            raise WireError("a saved LightGBM model has each field of each tree once, in order")
        if name:
            fields[name] = value
    raise WireError("a saved LightGBM model says where its trees end; this one is cut off")


def _words(fields: Fields, name: str) -> list[str]:
    if name not in fields:
        if name == "objective":
            raise ParameterError(
                "this model of LightGBM has an objective of its own, and what predictions are of "
                "its scores is not known; fit it with one of LightGBM's"
            )
        raise WireError(f"a saved LightGBM model has {name}; this one is damaged")
    return fields[name].split()


def _count(fields: Fields, name: str, least: int, most: int) -> int:
    return typed_values.count(" ".join(_words(fields, name)), f"{name} of LightGBM", least, most)


def _link(objective: list[str]) -> str | None:
    """How scores become probabilities or predictions; None where they are these."""
    name, options = (objective or [""])[0], objective[1:]
    if name in _NUMBERS:
        if "sqrt" in options:
            raise ParameterError(
                "with reg_sqrt predictions are squares of sums of trees; fit the root of the target"
            )
        return None
    if name in _LINKS:
        slopes = [word.partition(":")[2] for word in options if word.startswith("sigmoid:")]
        if slopes not in ([], ["1"]):
            raise ParameterError(
                "with sigmoid= scores of LightGBM are no logarithms of odds; fit it with sigmoid=1"
            )
        return _LINKS[name]
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    why = _REFUSED.get(name, "what it makes of sums of trees is not known")
    raise ParameterError(
        f"objective {name[:40]!r} of LightGBM is not computed here: {why}. Taken here: "
        f"{', '.join([*_LINKS, *_NUMBERS, *_FUNCTIONS])}"
    )


def _names(head: Fields, inputs: int) -> list[str]:
    names = head.get("feature_names", "").split(" ")
    # What LightGBM makes up where there are none.
    if names == [f"Column_{place}" for place in range(inputs)]:
        return []
    return typed_values.usable_names(names, inputs)


def _reals(fields: Fields, name: str, length: int) -> Array:
    given = " ".join(_words(fields, name))
    if len(given.split()) != length or not _REAL.fullmatch(given):
        raise WireError(f"{name} of a tree of LightGBM are {length} finite numbers")
    try:
        values = [float(word) for word in given.split()]
    except ValueError as error:
        raise WireError(f"{name} of a tree of LightGBM are {length} finite numbers") from error
    return typed_values.reals(values, f"{name} of a tree of LightGBM")


def _tree(fields: Fields, place: int, inputs: int) -> GrownTree:
    """A tree: nodes that compare first, then leaves; its only output is a column of values."""
    leaves = _count(fields, "num_leaves", 1, typed_values.LARGEST)
    inner = leaves - 1
    if fields.get("is_linear", "0") != "0":
        raise ParameterError(
            "leaves of this model of LightGBM are linear in features; fit it with linear_tree=False"
        )
    given = _reals(fields, "leaf_value", leaves)
    values = np.concatenate([np.zeros(inner), given])[:, None]
    none = np.full(leaves, -1)
    if not inner:
        return GrownTree(none, np.zeros(1), none, none, values, np.zeros(1, dtype=bool))
    features, kinds, left, right = (
        typed_values.wholes(_reals(fields, name, inner), name)
        for name in ("split_feature", "decision_type", "left_child", "right_child")
    )
    # Where missing cells alone go right, a threshold is infinite.
    words = [_NEVER if word == "inf" else word for word in _words(fields, "threshold")]
    thresholds = _reals({"threshold": " ".join(words)}, "threshold", inner)
    if ((features < 0) | (features >= inputs)).any():
        raise WireError(f"tree {place} of LightGBM compares none of {inputs} features")
    if ((kinds < 0) | (kinds > 0xF)).any():
        raise WireError(f"tree {place} of LightGBM compares in a way that is not known")
    named = (kinds & _CATEGORY) != 0
    sets = _sets(fields, np.where(named, thresholds, -1), leaves) if named.any() else NO_SETS
    _check_zeros(thresholds[~named], kinds[~named])
    # What is missing is zero unless the node says where it goes; it is in no set.
    told = ((kinds >> 2) == _NAN_IS_MISSING) | ((kinds >> 2) == _ZERO_IS_MISSING)
    missing = ~named & np.where(told, (kinds & _LEFT) != 0, thresholds >= 0)
    # Leaf i is written as -1 - i.
    left, right = (np.where(part < 0, inner - 1 - part, part) for part in (left, right))
    return GrownTree(
        np.concatenate([features, none]),
        np.concatenate([np.where(named, 0.0, _turns(thresholds)), np.zeros(leaves)]),
        np.concatenate([left, none]),
        np.concatenate([right, none]),
        values,
        np.concatenate([missing, np.zeros(leaves, dtype=bool)]),
        sets,
    )


def _sets(fields: Fields, places: Array, leaves: int) -> Sets:
    """The categories that go left, of nodes that compare categories.

    Args:
        fields: of a tree.
        places: of each node its set, or -1.
        leaves: which follow upon nodes.

    Raises:
        WireError: sets that are none.
        ParameterError: more categories than memory is made for.

    """
    count = _count(fields, "num_cat", 1, len(places))
    bounds = typed_values.wholes(_reals(fields, "cat_boundaries", count + 1), "cat_boundaries")
    words = typed_values.wholes(_reals(fields, "cat_threshold", int(bounds[-1])), "cat_threshold")
    of_sets = places[places >= 0]
    if (
        bounds[0] != 0
        or (np.diff(bounds) < 0).any()
        or ((words < 0) | (words >= 1 << _WORD)).any()
        or (places < -1).any()
        or (np.rint(places) != places).any()
        or not np.array_equal(np.sort(of_sets), np.arange(count))
    ):
        raise WireError("a node of LightGBM that compares categories has a set of its own")
    bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
    if int(bits.sum()) > typed_values.LARGEST:
        raise ParameterError(f"trees of {typed_values.LARGEST} categories at most are read")
    members = [np.flatnonzero(bits[_WORD * a : _WORD * b]) for a, b in pairwise(bounds.tolist())]
    sizes = [-1 if place < 0 else len(members[int(place)]) for place in places.tolist()]
    ordered = [members[int(place)] for place in of_sets.tolist()]
    categories = np.concatenate(ordered).astype(np.float64)
    # What is above -1 has the whole part 0.
    low = np.where(categories > 0, np.nextafter(categories, -np.inf), -1.0)
    return Sets(
        np.concatenate([sizes, np.full(leaves, -1)]).astype(np.int64),
        low,
        np.nextafter(categories + 1, -np.inf),
    )


def _check_zeros(thresholds: Array, kinds: NDArray[np.int64]) -> None:
    """Refuses trees where zeros go another way than by comparison, since they are missing."""
    missing = (kinds >> 2) == _ZERO_IS_MISSING
    left = (kinds & _LEFT) != 0
    if (missing & (left != (thresholds >= 0))).any():
        raise ParameterError(
            "zeros are missing values for this model of LightGBM, and go another way than by "
            "comparison; fit it with zero_as_missing=False"
        )


def _turns(thresholds: Array) -> Array:
    """The largest doubles that go left, where what is next to zero counts as zero."""
    near = (thresholds >= -_ZERO) & (thresholds < _ZERO)
    beside = np.where(thresholds < 0, np.nextafter(-_ZERO, -np.inf), _ZERO)
    return np.where(near, beside, thresholds)

"""Trees of ONNX files, as onnxruntime computes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc.models.trees import NEVER, TreeEnsemble, double_thresholds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_LARGEST: Final = 1 << 24
"""Nodes times outputs."""
_SWAPPED: Final = {"BRANCH_LEQ": False, "BRANCH_LT": False, "BRANCH_GTE": True, "BRANCH_GT": True}
"""Whether what is true goes right, if written with `<=` or `<`."""
_STRICT: Final = frozenset({"BRANCH_LT", "BRANCH_GTE"})
"""Whether an equal feature goes where greater ones go."""


class _Nodes(NamedTuple):
    trees: NDArray[np.int64]
    ids: NDArray[np.int64]
    features: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    modes: list[str]
    true: NDArray[np.int64]
    false: NDArray[np.int64]


def ensemble(
    attributes: dict[str, Any], kind: str, width: int, *, outputs: int, single: bool
) -> TreeEnsemble:
    """The trees of a TreeEnsembleClassifier or TreeEnsembleRegressor.

    Args:
        attributes: of the operator.
        kind: "class" or "target": what names of attributes begin with.
        width: features that it compares.
        outputs: of a score; trees name them.
        single: whether it compares in float32.

    Raises:
        WireError: what is no trees: cycles, nodes missing, another number of entries.
        ParameterError: comparisons that are not read.
        OutOfRangeError: thresholds or values that are not finite.

    """
    nodes = _nodes(attributes)
    count = len(nodes.ids)
    if count * outputs > _LARGEST:
        raise WireError(f"trees of {count} nodes and {outputs} outputs; {_LARGEST} numbers at most")
    places = _places(nodes.trees, nodes.ids)
    order, left, right, roots = _ordered(nodes, places)
    new = np.empty(count, dtype=np.int64)
    new[order] = np.arange(count)
    leaf = np.array([mode == "LEAF" for mode in nodes.modes])[order]
    strict = np.array([mode in _STRICT for mode in nodes.modes])[order]
    thresholds = _turns(nodes.thresholds[order], strict, single=single)
    values, named = np.zeros((count, outputs)), np.zeros((count, outputs), dtype=bool)
    for place, output, weight in _leaves(attributes, kind, places, outputs):
        if nodes.modes[place] != "LEAF":
            raise WireError("a tree of an ONNX file has values where it has no leaf")
        values[new[place], output] += weight
        named[new[place], output] = True
    base = _base(attributes, outputs)
    if kind == "class" and outputs > 1 and not ((values >= 0).all() and (base >= 0).all()):
        _check_named(named[leaf], np.cumsum(np.isin(np.arange(count), new[roots]))[leaf])
    if attributes.get("aggregate_function", "SUM") == "AVERAGE":
        values /= len(roots)
    elif attributes.get("aggregate_function", "SUM") != "SUM":
        raise ParameterError("trees of ONNX files are added up or averaged here, no MIN or MAX")
    return TreeEnsemble(
        width,
        new[roots],
        np.where(leaf, -1, nodes.features[order]),
        np.where(leaf, 0.0, thresholds),
        np.where(leaf, -1, new[left[order]]),
        np.where(leaf, -1, new[right[order]]),
        values,
        base,
        _missing_left(attributes, nodes)[order],
    )


def _missing_left(attributes: dict[str, Any], nodes: _Nodes) -> NDArray[np.bool_]:
    """Where missing cells go: with what is true where a node says so, and else with what is not."""
    given = _whole(attributes, "nodes_missing_value_tracks_true")
    if len(given) not in {0, len(nodes.ids)} or ((given < 0) | (given > 1)).any():
        raise WireError("trees of an ONNX file say of each node where missing cells go, or of none")
    tracked = given == 1 if len(given) else np.zeros(len(nodes.ids), dtype=bool)
    inner = np.array([mode != "LEAF" for mode in nodes.modes])
    swapped = np.array([_SWAPPED.get(mode, False) for mode in nodes.modes])
    return np.asarray(inner & (tracked != swapped))


def _check_named(named: NDArray[np.bool_], trees: NDArray[np.int64]) -> None:
    """Refuses classes that some samples do not reach, where those that they reach may be negative.

    Args:
        named: leaves by classes.
        trees: which one each leaf is of, from 1 on.

    Raises:
        ParameterError: such a class.

    """
    without = np.zeros((trees.max() + 1, named.shape[1]), dtype=bool)
    np.logical_or.at(without, trees, ~named)
    if without[1:].all(axis=0).any():
        raise ParameterError(
            "trees with negative values whose leaves leave out classes are not read: a runtime "
            "chooses among the classes that the leaves of a sample name"
        )


def _nodes(attributes: dict[str, Any]) -> _Nodes:
    trees = _whole(attributes, "nodes_treeids")
    modes = attributes.get("nodes_modes")
    whole = ("nodes_nodeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids")
    ids, features, true, false = (_whole(attributes, name) for name in whole)
    # skl2onnx writes infinity where only missing cells go right.
    thresholds = _real(attributes, "nodes_values", most=np.inf)
    if not isinstance(modes, list) or not modes:
        raise WireError("trees of an ONNX file have modes of nodes")
    parts = (ids, features, true, false, thresholds, trees)
    if any(len(part) != len(modes) for part in parts):
        raise WireError("trees of an ONNX file have an entry of each kind for each node")
    for mode in modes:
        if mode != "LEAF" and mode not in _SWAPPED:
            raise ParameterError(
                f"trees that compare by {mode[:20]} are not read; by <=, <, >= and > they are"
            )
    return _Nodes(trees, ids, features, thresholds, modes, true, false)


def _places(trees: NDArray[np.int64], ids: NDArray[np.int64]) -> dict[tuple[int, int], int]:
    pairs = zip(trees.tolist(), ids.tolist(), strict=True)
    places = {pair: place for place, pair in enumerate(pairs)}
    if len(places) != len(ids):
        raise WireError("a tree of an ONNX file has two nodes of one number")
    return places


def _ordered(
    nodes: _Nodes, places: dict[tuple[int, int], int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Nodes with parents before children; left and right of each as it stands in the file."""
    count = len(nodes.ids)
    left, right = (np.zeros(count, dtype=np.int64) for _ in range(2))
    child = np.zeros(count, dtype=bool)
    for place, (tree, mode) in enumerate(zip(nodes.trees.tolist(), nodes.modes, strict=True)):
        if mode == "LEAF":
            continue
        try:
            true, false = (places[tree, int(to[place])] for to in (nodes.true, nodes.false))
        except KeyError:
            raise WireError("a tree of an ONNX file names a node that is not there") from None
        if true == false or child[true] or child[false]:
            raise WireError("a node of a tree of an ONNX file is the child of two others")
        child[[true, false]] = True
        left[place], right[place] = (false, true) if _SWAPPED[mode] else (true, false)
    roots = np.flatnonzero(~child)
    if not np.array_equal(np.unique(nodes.trees), np.sort(nodes.trees[roots])):
        raise WireError("a tree of an ONNX file has no root, or more than one")
    # Root by root; what no root leads to lies on a cycle.
    order: list[int] = []
    waiting = roots[::-1].tolist()
    while waiting:
        place = waiting.pop()
        order.append(place)
        if nodes.modes[place] != "LEAF":
            waiting += [int(right[place]), int(left[place])]
    if len(order) != count:
        raise WireError("a tree of an ONNX file leads back to a node of its own")
    return np.array(order), left, right, roots


def _turns(
    thresholds: NDArray[np.float64], strict: NDArray[np.bool_], *, single: bool
) -> NDArray[np.float64]:
    """The largest doubles that still go left."""
    if not single:
        return np.minimum(np.where(strict, np.nextafter(thresholds, -np.inf), thresholds), NEVER)
    near = thresholds.astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        less = np.nextafter(near, np.float32(-np.inf))
    return np.minimum(double_thresholds(np.where(strict, less, near).astype(np.float64)), NEVER)


def _leaves(
    attributes: dict[str, Any], kind: str, places: dict[tuple[int, int], int], outputs: int
) -> Sequence[tuple[int, int, float]]:
    trees, ids, named = (
        _whole(attributes, f"{kind}_{name}") for name in ("treeids", "nodeids", "ids")
    )
    weights = _real(attributes, f"{kind}_weights")
    if not len(trees) == len(ids) == len(named) == len(weights):
        raise WireError("trees of an ONNX file have an entry of each kind for each value")
    if not np.isfinite(weights).all():
        raise OutOfRangeError("values of trees in this ONNX file are not finite numbers")
    if ((named < 0) | (named >= outputs)).any():
        raise WireError("a tree of an ONNX file has a value for an output that there is not")
    try:
        found = [places[pair] for pair in zip(trees.tolist(), ids.tolist(), strict=True)]
    except KeyError:
        raise WireError("a tree of an ONNX file names a node that is not there") from None
    return list(zip(found, named.tolist(), weights.tolist(), strict=True))


def _base(attributes: dict[str, Any], outputs: int) -> NDArray[np.float64]:
    base = _real(attributes, "base_values")
    if len(base) not in {0, outputs}:
        raise WireError("trees of an ONNX file begin with a number for each output, or none")
    return base if len(base) else np.zeros(outputs)


def _whole(attributes: dict[str, Any], name: str) -> NDArray[np.int64]:
    found = attributes.get(name, np.zeros(0, dtype=np.int64))
    if not isinstance(found, np.ndarray) or found.dtype != np.int64 or found.ndim != 1:
        raise WireError(f"{name} of an ONNX file are whole numbers")
    return found


def _real(attributes: dict[str, Any], name: str, *, most: float = NEVER) -> NDArray[np.float64]:
    found = attributes.get(name, attributes.get(f"{name}_as_tensor", np.zeros(0)))
    if not isinstance(found, np.ndarray) or found.dtype != np.float64 or found.ndim != 1:
        raise WireError(f"{name} of an ONNX file are a list of numbers")
    if not ((found >= -NEVER) & (found <= most)).all():
        raise OutOfRangeError(f"{name} of this ONNX file are not all finite")
    return found

"""A plan from a model of trees, rows that it is planned with, and options."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
from sklearn.base import is_classifier

from hesc._native import ForestPlan, ParameterError
from hesc._support.inputs import one_name, whole
from hesc.models import additive, extraction, fidelity
from hesc.models.samples import spread_out
from hesc.protocols.trees import boxes, copying, encoding
from hesc.protocols.trees.plan import FINEST, TreesPlan, in_units

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.trees import TreeEnsemble
    from hesc.protocols.backend import PlanRequest
    from hesc.protocols.trees.boxes import Boxes, Rounded

    Array = NDArray[np.float64]

BITS: Final = (8, 27)
"""Bits of a sum of leaves, the fewest and the most."""
_REMEDY: Final = (
    "plan(X, Scores(refit='additive')) fits a sum of functions of single features to its scores, "
    "which is another model"
)


def make(request: PlanRequest) -> tuple[TreesPlan, Boxes]:
    """The plan of a fitted model of trees, and its leaves.

    Raises:
        ParameterError: a model of something else, trees whose sums are not its scores, thresholds
            that are no edges, more than a plan holds.

    """
    options, clear = request.options, request.clear
    final = extraction.parts_of(request.estimator)[-1]
    if not extraction.has_trees(final):
        raise ParameterError(
            f"Trees() is for models of trees, and {type(final).__name__} is none; plan(X, "
            f"Scores()) serves linear models"
        )
    bits = whole(options.sum_bits, "sum_bits", *BITS)
    samples = whole(options.samples, "samples", 1, 1 << 20)
    steps, _ = extraction.linear_parts_of(request.estimator)
    # By its library, since clients have no cell that is missing behind their last step.
    x = extraction.before_trees(request.estimator, request.rows)
    trees = extraction.agreeing_trees(final, x, clear, _REMEDY)
    edges = additive.edges_of(x, options.bins, trees)
    computed = _on_edges(trees, edges, options.move)
    encoded = encoding.bits_of(computed, edges, np.asarray(np.isnan(x).any(axis=0)))
    leaves, finer = _rounded(computed, bits)
    found = boxes.of(computed, encoded, leaves)
    forest = ForestPlan(encoded.width, found.shapes, found.most_conditions, (1 << bits - 1) - 1)
    # A share of rows says as much, where there are many.
    some = spread_out(len(x))
    x, clear = x[some], clear[some]
    scores = in_units(leaves.sums(computed.reached(x)), finer)
    near, agreement = None, None
    if computed is not trees:
        both = (_concluded(scores), _concluded(clear)) if is_classifier(final) else None
        near = fidelity.measured("bins", scores, clear, both, unseen=False)
    if is_classifier(final):
        wanted = clear if computed is trees else computed.scores(x)
        agreement = float(np.mean(_concluded(scores) == _concluded(wanted)))
    plan = TreesPlan(
        inputs=request.rows.shape[1],
        names=request.names,
        steps=[*steps, *encoded.steps],
        forest=forest,
        finer=finer,
        classes=request.classes,
        link=extraction.link_of(final),
        fidelity=near,
        agreement=agreement,
        copy=copying.best(x, computed.scores, samples, classifies=is_classifier(final)),
    )
    return plan, found


def _on_edges(trees: TreeEnsemble, edges: list[Array], move: object) -> TreeEnsemble:
    """Trees whose thresholds are edges: these, or others if that is asked for.

    Raises:
        ParameterError: some are not.

    """
    if move is not None:
        one_name(move, "move", ("nearest",))
    off = boxes.off_edges(trees, edges)
    if not off:
        return trees
    if move is None:
        inner = int(trees.compares.sum())
        raise ParameterError(
            f"{off} of the {inner} comparisons of these trees are with thresholds that are none of "
            f"the edges of bins=. bins='thresholds' has all, and publishes them; "
            f"move='nearest' moves each to the nearest edge, which is another model, and the plan "
            f"says how near; or fit the model on values that are the edges"
        )
    return boxes.moved(trees, edges)


def _rounded(trees: TreeEnsemble, bits: int) -> tuple[Rounded, int]:
    """The leaves in the finest unit in which sums have so many bits, and that unit's exponent.

    Raises:
        ParameterError: sums that no unit fits.

    """
    most = (1 << bits - 1) - 1
    largest = float(np.abs(trees.values).max() + np.abs(trees.offset).max())
    # Finer than fits: sums are no less than half of the largest number.
    finer = min(FINEST, math.floor(math.log2(2 * most / largest)) if largest > 0 else 0)
    while finer >= -FINEST:
        found = boxes.rounded(trees, 2.0**-finer)
        if found.reach <= most:
            return found, finer
        finer -= max(1, (found.reach // most).bit_length() - 1)
    raise ParameterError(
        f"scores of these trees are as large as {largest:.2g}, beyond what plans hold; scale the "
        f"target that the model is fitted to"
    )


def _concluded(scores: Array) -> NDArray[np.intp]:
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    best: NDArray[np.intp] = scores.argmax(axis=1)
    return best

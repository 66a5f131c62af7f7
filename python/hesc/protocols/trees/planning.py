"""A plan from a model of trees, rows that it is planned with, and options."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import ForestPlan, NoiseBudgetError, ParameterError
from hesc._support.inputs import one_name, whole
from hesc._support.progress import doing
from hesc.models import additive, extraction, fidelity, scorecards, transforms
from hesc.models.boosters import fitted
from hesc.models.samples import spread_out
from hesc.protocols.trees import boxes, copying, feature_bits, linear_forms
from hesc.protocols.trees.plan import FINEST, STRUCTURES, TreesPlan, in_units
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.models.transforms import Transform
    from hesc.models.trees import TreeEnsemble
    from hesc.protocols.backend import PlanRequest
    from hesc.protocols.trees.boxes import Boxes, Rounded
    from hesc.protocols.trees.linear_forms import Forms

    Array = NDArray[np.float64]

BITS: Final = (8, 27)
"""Bits of a sum of leaves, the fewest and the most."""
_MOST_SAMPLES: Final = 10_000
"""Samples that a copy is made from, at most."""
_MOST_EDGES: Final = 1 << 15
"""Bits of a query."""
_MOST_LEAVES: Final = 1 << 20
"""Leaves of all outputs."""
_FEWEST_ROWS: Final = 50
"""Rows that are looked at, if there are as many."""
_AT_ONCE: Final = 1 << 27
"""Bits of conditions of all these rows, otherwise."""
_BITS_AT_ONCE: Final = 1 << 22
"""Bits of rows that are in memory at once, as numbers."""
_LARGEST_ERROR: Final = 0.25
"""An error that is not small, of the deviation of scores."""
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
    classifies = request.classes is not None
    final = extraction.parts_of(request.estimator)[-1]
    if not extraction.has_trees(final):
        raise ParameterError(
            f"Trees() is for models of trees, and {type(final).__name__} is none; plan(X, "
            f"Scores()) serves linear models"
        )
    one_name(options.structure, "structure", STRUCTURES)
    bits = whole(options.sum_bits, "sum_bits", *BITS)
    samples = whole(options.samples, "samples", 1, _MOST_SAMPLES)
    least = scorecards.least_share(options.min_fidelity)
    steps, _ = extraction.linear_parts_of(request.estimator)
    # By its library, since clients have no cell that is missing behind their last step.
    x = extraction.before_trees(request.estimator, request.rows)
    doing("trees beside their own library")
    trees = extraction.agreeing_trees(final, x, clear, _REMEDY)
    edges = additive.edges_of(x, options.bins, trees)
    computed = _on_edges(trees, edges, options.move)
    encoded = feature_bits.bits_of(computed, edges, np.asarray(np.isnan(x).any(axis=0)))
    leaves, finer = _rounded(computed, bits)
    _check_sizes(computed, leaves, encoded.width)
    found = boxes.of(computed, encoded, leaves)
    _check_room(found, bits)
    public = linear_forms.of(found, encoded.width)
    chosen, other = _forests(found, public, encoded.width, bits, options.structure)
    # A share of rows says as much, where there are many; as a client computes their bits.
    most = max(_FEWEST_ROWS, _AT_ONCE // max(len(found.edges), 1))
    places = spread_out(len(x))
    places = places[:: -(-len(places) // most)]
    some: Rows = request.rows[places]
    x, clear = x[places], clear[places]
    doing("rows through the leaves")
    scores = in_units(_sums(found, [*steps, *encoded.steps], some, encoded.width), finer)
    error = max(found.outputs) * 2.0**-finer / 2
    near, agreement = None, None
    if computed is trees:
        _check_alike(scores, clear, error + fitted.doubt(fitted.library_of(final), trees))
        if classifies:
            agreement = float(np.mean(_concluded(scores) == _concluded(clear)))
    else:
        both = (_concluded(scores), _concluded(clear)) if classifies else None
        near = fidelity.measured("bins", scores, clear, both, unseen=False)
        if near.share < least:
            raise ParameterError(
                f"too far from the fitted model for min_fidelity={least:g}: {near}. More bins= "
                f"come nearer, and bins='thresholds' has all; or write a smaller min_fidelity="
            )
    _check_error(error, clear, bits)
    doing("a copy of the trees from their scores")
    plan = TreesPlan(
        inputs=request.rows.shape[1],
        names=request.names,
        steps=[*steps, *encoded.steps, *([public.step] * (options.structure == "public"))],
        structure=options.structure,
        forest=chosen,
        trees=tuple(found.outputs),
        finer=finer,
        farthest=extraction.farthest_of(final),
        classes=request.classes,
        link=extraction.link_of(final),
        fidelity=near,
        agreement=agreement,
        copy=copying.best(x, computed.scores, samples, classifies=classifies),
        otherwise=other,
    )
    return plan, found


def _forests(
    found: Boxes, public: Forms, width: int, bits: int, structure: str
) -> tuple[ForestPlan, Sizes | None]:
    """The plan of the numbers for a structure, and the bytes of a sample of the other one.

    Raises:
        ParameterError, NoiseBudgetError: what has no room.

    """
    reach = (1 << bits - 1) - 1
    leaves = public.step.widths[1]

    def of(structure: str) -> ForestPlan:
        if structure == "hidden":
            return ForestPlan(width, found.shapes, found.most_conditions, reach)
        if leaves > _MOST_EDGES:
            raise ParameterError(
                f"these trees have {leaves} leaves beside one of each tree, and a plan of public "
                f"structure holds {_MOST_EDGES}: fit fewer or shallower trees, or write "
                f"structure='hidden'"
            )
        return ForestPlan(leaves, [(1, 1)] * len(found.outputs), 0, reach)

    (other,) = (each for each in STRUCTURES if each != structure)
    try:
        size = Sizes(*of(other).sizes)
    except (ParameterError, NoiseBudgetError):
        size = None
    return of(structure), size


def _sums(found: Boxes, steps: list[Transform], rows: Rows, width: int) -> NDArray[np.int64]:
    """Sums of leaves of rows, by bits that a client computes: not of all rows at once."""
    turn = max(1, _BITS_AT_ONCE // width)
    parts = [rows[first : first + turn] for first in range(0, len(rows), turn)]
    return np.concatenate([found.sums(transforms.transformed(steps, part) != 0) for part in parts])


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


def _check_sizes(trees: TreeEnsemble, whole: Rounded, width: int) -> None:
    """Refuses more edges and leaves than a plan holds, before boxes are made.

    Raises:
        ParameterError: there are.

    """
    if width > _MOST_EDGES:
        raise ParameterError(
            f"these trees compare with {width} edges, and a plan holds {_MOST_EDGES}: bins=255 "
            f"with move='nearest' takes fewer, and so do models of fewer or shallower trees "
            f"(max_leaf_nodes=)"
        )
    ends = np.append(trees.roots[1:], len(trees.features))
    counts = np.array(
        [trees.leaves[first:end].sum() for first, end in zip(trees.roots, ends, strict=True)]
    )
    leaves = int((counts[:, None] * whole.varying).sum())
    if leaves > _MOST_LEAVES:
        raise ParameterError(
            f"all scores of these trees have {leaves} leaves together, and a plan holds "
            f"{_MOST_LEAVES}: fit fewer or shallower trees (max_leaf_nodes=)"
        )


def _check_room(found: Boxes, bits: int) -> None:
    """Refuses sums of more bits than there is room for beside the leaves' costs.

    Raises:
        ParameterError: naming what there is room for.

    """
    # The next prime is below twice of a number.
    room = 30 - (found.most_conditions + 1).bit_length()
    if bits > room:
        raise ParameterError(
            f"leaves of {found.most_conditions} conditions leave room for sums of {room} bits: "
            f"write sum_bits={room}, or fit shallower trees"
        )


def _check_alike(scores: Array, clear: Array, apart: float) -> None:
    """Refuses rows that fall on another side of a threshold here than in the model's library.

    Raises:
        ParameterError: with how many do.

    """
    # Beside roundings of the scores themselves.
    room = apart * (1 + 1e-9) + 1e-12 * float(np.abs(clear).max())
    off = int((np.abs(scores - clear) > room).any(axis=1).sum())
    if off:
        raise ParameterError(
            f"{off} of {len(scores)} rows fall on another side of a threshold than in the model's "
            f"library: the client's transforms differ from scikit-learn's in the last bits, and "
            f"these thresholds are values of the training data. Fit a model that compares float32 "
            f"(RandomForest, GradientBoosting, LightGBM, XGBoost), or put "
            f"KBinsDiscretizer(encode='ordinal') between the transforms and this one"
        )


def _check_error(error: float, clear: Array, bits: int) -> None:
    """Refuses roundings that are not small beside the scores.

    Raises:
        ParameterError: naming what would do.

    """
    spread = float(clear.std(axis=0).max())
    alike = fidelity.ROUNDINGS * float(np.abs(clear).max())
    if spread > alike and error > _LARGEST_ERROR * spread:
        more = f"write sum_bits={BITS[1]}, or " if bits < BITS[1] else ""
        raise ParameterError(
            f"scores would be off by up to {error:.2g}, and their deviation is {spread:.2g}: {more}"
            f"fit the target less its mean, so that scores are not large beside what they differ by"
        )


def _rounded(trees: TreeEnsemble, bits: int) -> tuple[Rounded, int]:
    """The leaves in the finest unit in which sums have so many bits, and that unit's exponent.

    Raises:
        ParameterError: sums that no unit fits.

    """
    most = (1 << bits - 1) - 1
    largest = float(np.abs(trees.values).max() + np.abs(trees.offset).max())
    # Finer than fits: sums are no less than half of the largest number.
    scale = math.log2(2 * most) - math.log2(largest) if largest > 0 else 0.0
    finer = min(FINEST, math.floor(scale))
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

"""Models of trees as linear models of public bins, and how near these come to them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.base import is_classifier

from hesc._native import ParameterError
from hesc._support.inputs import one_name, real_array
from hesc.models import additive, extraction, fidelity, transforms
from hesc.models.linear.simple import Linear
from hesc.models.steps import transforms_of
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.additive import Binning, FeatureTable
    from hesc.models.fidelity import Fidelity
    from hesc.models.tables.forms import Rows

    Array = NDArray[np.float64]

LEAST: Final = 0.9
"""The least agreement, or R^2, with which a plan is made unless asked otherwise."""
_AS_THEY_ARE: Final = "plan(X, Trees()) computes these trees as they are; "


def of(
    estimator: Any,
    rows: Rows,
    clear: Array,
    *,
    bins: Binning | None,
    refit: str | None,
    min_fidelity: float | None,
) -> tuple[Linear, Fidelity]:
    """A linear model of bins for a fitted model of trees, and its fidelity.

    Args:
        estimator: whose last step `extraction.has_trees`.
        rows: samples before all transforms.
        clear: scikit-learn's scores of them.
        bins: as `additive.edges_of` has them; None for the default number.
        refit: "additive" fits another model to the scores; None takes trees as they are.
        min_fidelity: below which the model is refused; None for `LEAST`.

    Raises:
        ParameterError: trees that are no sums of functions of single features, without a re-fit;
            a fidelity below the least.

    """
    *before, final = extraction.parts_of(estimator)
    least = least_share(min_fidelity)
    steps = [step for part in before for step in transforms_of(part)]
    # A model from a file may begin with transforms of its own.
    given = extraction.described_of(final)
    steps += [] if given is None else given.steps
    x = transforms.transformed(steps, rows)
    binning = additive.DEFAULT_BINS if bins is None else bins
    if given is not None and isinstance(given.model, TreeEnsemble):
        given.model.check_numbers()
    if refit is None:
        table, held = _exact(final, x, clear, binning), np.arange(len(x))
    else:
        one_name(refit, "refit", ("additive",))
        trees = extraction.trees_of(final) if isinstance(binning, str) else None
        if trees is not None:
            trees.check_numbers()
        fitted, held = additive.split(len(x))
        edges = additive.edges_of(x[fitted], binning, trees)
        score = partial(extraction.clear_scores, final) if given is None else given.model.scores
        table = additive.refitted(x[fitted], score, edges)
    found = transforms.transformed([table.bins], x[held]) @ table.weights.T + table.intercepts
    classes = None
    if is_classifier(final):
        classes = _concluded(found), _concluded(clear[held])
    way = "bins" if refit is None else refit
    near = fidelity.measured(way, found, clear[held], classes, unseen=refit is not None)
    if near.share < least:
        raise ParameterError(
            f"too far from the fitted model for min_fidelity={least:g}: {near}. "
            f"{_nearer(refit)}, or write a smaller min_fidelity="
        )
    model = Linear([*steps, table.bins], table.weights, table.intercepts, extraction.link_of(final))
    return model, near


def _exact(final: Any, x: Array, clear: Array, binning: Binning) -> FeatureTable:
    name = type(final).__name__ if not hasattr(final, "described") else "model"
    hint = (
        f"plan(X, Scores(refit='additive')) fits a sum of functions of single features to this "
        f"{name}'s scores: "
        f"another model, whose fidelity the plan reports and min_fidelity bounds from below"
    )
    trees = extraction.agreeing_trees(final, x, clear, hint)
    table = additive.tabled(trees, additive.edges_of(x, binning, trees), x)
    if table is None:
        raise ParameterError(
            f"trees of this {name} compare several features each, which no sum of functions of "
            f"single features is; {_AS_THEY_ARE}{hint}; with "
            f"max_depth=1 boosted trees are computed as they are"
        )
    return table


def _nearer(refit: str | None) -> str:
    """What would come nearer to the fitted model."""
    if refit is None:
        return "bins='thresholds' takes the trees' own and loses nothing; more bins= come nearer"
    return (
        f"{_AS_THEY_ARE}more bins= and models of fewer levels come nearer (boosted trees with "
        f"max_depth=1 are computed as they are)"
    )


def _concluded(scores: Array) -> NDArray[np.intp]:
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    best: NDArray[np.intp] = scores.argmax(axis=1)
    return best


def least_share(min_fidelity: float | None) -> float:
    """The least fidelity that is wanted; `LEAST` where nobody says.

    Raises:
        ParameterError: what is no share.

    """
    if min_fidelity is None:
        return LEAST
    least = real_array(min_fidelity, "min_fidelity")
    if least.shape or isinstance(min_fidelity, bool) or not 0 <= least <= 1:
        raise ParameterError("min_fidelity is a share from 0 to 1, of classes or of variance")
    return float(least)


def refuse_options(**options: object) -> None:
    """Refuses options about bins for a model that has none.

    Raises:
        ParameterError: naming them.

    """
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ParameterError(
            f"{', '.join(given)}: for models of trees; this one is computed as it is, without"
        )

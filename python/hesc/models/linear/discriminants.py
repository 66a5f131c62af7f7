"""Discriminants and naive Bayes as linear functions of what a client computes.

Gaussian ones are linear in monomials of degree two: with `u = x - m` for the mean `m` of all
training data, `log p(x, class)` is a polynomial of degree two in `u`. Centring first keeps squares
small, and errors with them. Those of counts are linear as they are, those of categories in bins
that hold one category each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc.models.steps.scaling import bins
from hesc.models.tables.table_steps import Coded, Codes, OneHot
from hesc.models.transforms import Affine, Monomials, Transform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Parts = tuple[list[Transform], NDArray[np.float64], NDArray[np.float64]]


def gaussian(model: Any) -> Parts:
    """GaussianNB: `u` and its squares. Transforms, weights and intercepts."""
    means, variances = np.array(model.theta_), np.array(model.var_)
    features = means.shape[1]
    middle = model.class_prior_ @ means
    apart = means - middle
    weights = np.hstack([apart / variances, -0.5 / variances])
    squared = (apart**2 / variances + np.log(2 * np.pi * variances)).sum(axis=1)
    intercepts = np.log(model.class_prior_) - 0.5 * squared
    places = np.arange(features)
    pairs = np.column_stack([places, places])
    return _of_two(middle, pairs, *_decision(weights, intercepts))


def quadratic(model: Any) -> Parts:
    """QDA: `u` and all products of two of its entries. Transforms, weights and intercepts."""
    means = np.array(model.means_)
    middle = np.array(model.priors_) @ means
    first, second = np.triu_indices(means.shape[1])
    twice = np.where(first == second, 0.5, 1.0)
    rows, intercepts = [], []
    for mean, rotation, scaling, prior in zip(
        means, model.rotations_, model.scalings_, model.priors_, strict=True
    ):
        precision = (rotation / scaling) @ rotation.T
        apart = mean - middle
        linear = precision @ apart
        rows.append(np.concatenate([linear, -twice * precision[first, second]]))
        intercepts.append(np.log(prior) - 0.5 * (apart @ linear + np.log(scaling).sum()))
    pairs = np.column_stack([first, second])
    return _of_two(middle, pairs, *_decision(np.array(rows), np.array(intercepts)))


def counted(model: Any) -> Parts:
    """MultinomialNB and ComplementNB, linear in counts. No transforms, weights and intercepts."""
    weights = np.array(model.feature_log_prob_, dtype=np.float64)
    intercepts = np.array(model.class_log_prior_, dtype=np.float64)
    if hasattr(model, "norm"):
        # ComplementNB leaves priors out.
        intercepts = np.zeros(len(weights))
    return [], *_decision(weights, intercepts)


def bernoulli(model: Any) -> Parts:
    """BernoulliNB: a bin for each side of its threshold, or features that are 0 and 1 already."""
    yes = np.array(model.feature_log_prob_, dtype=np.float64)
    no = np.log1p(-np.exp(yes))
    intercepts = np.array(model.class_log_prior_, dtype=np.float64)
    if model.binarize is None:
        return [], *_decision(yes - no, intercepts + no.sum(axis=1))
    features = yes.shape[1]
    edge = np.array([model.binarize], dtype=np.float64)
    step = bins(features, [((place, edge), None) for place in range(features)])
    sides = np.stack([no, yes], axis=2).reshape(len(yes), -1)
    return [step], *_decision(sides, intercepts)


def categorical(model: Any) -> Parts:
    """CategoricalNB: a one for each category. A category that training data lack is refused."""
    tables = [np.array(table, dtype=np.float64) for table in model.feature_log_prob_]
    sizes = [table.shape[1] for table in tables]
    codes = Codes(
        tuple(
            Coded(tuple(map(float, range(size))), np.arange(float(size)), None, None)
            for size in sizes
        )
    )
    intercepts = np.array(model.class_log_prior_, dtype=np.float64)
    return [codes, OneHot(tuple(sizes))], *_decision(np.hstack(tables), intercepts)


def _decision(
    weights: NDArray[np.float64], intercepts: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights and intercepts of scores: of two classes the difference, which says less."""
    if len(weights) != 2:
        return weights, intercepts
    return weights[1:] - weights[:1], intercepts[1:] - intercepts[:1]


def _of_two(
    middle: NDArray[np.float64],
    pairs: NDArray[np.int64],
    weights: NDArray[np.float64],
    intercepts: NDArray[np.float64],
) -> Parts:
    features = len(middle)
    alone = np.column_stack([np.arange(features), np.full(features, -1)])
    factors = np.vstack([alone, pairs]).astype(np.float64)
    steps: list[Transform] = [Affine(middle, np.ones(features)), Monomials(features, factors)]
    return steps, weights, intercepts

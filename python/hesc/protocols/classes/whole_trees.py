"""Trees of scikit-learn as whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc.protocols.classes.quantisation import rounded, two_or_more
from hesc.protocols.classes.whole_models import TreeVotes

if TYPE_CHECKING:
    from hesc.models.trees import TreeEnsemble
    from hesc.protocols.classes.quantisation import Ranges


def trees(model: TreeEnsemble, ranges: Ranges, bits: int, value_bits: int) -> TreeVotes:
    """Trees that compare features of so many bits; a leaf says numbers of so many.

    A feature's value `low + q step` is at most a threshold where `q` is at most its whole number of
    steps. What all leaves of a tree say at least of a class is part of the offsets.

    Raises:
        ParameterError: trees that compare categories.

    """
    model.check_numbers()
    low, high = ranges
    most = (1 << bits) - 1
    inside = model.features >= 0
    places = model.features[inside]
    step = (high - low)[places] / most
    above = model.thresholds[inside] - low[places]
    thresholds = np.zeros(len(model.features))
    # A feature that never varies is the least of its range.
    with np.errstate(over="ignore"):
        quotient = np.divide(above, step, out=np.where(above < 0, -1.0, most), where=step > 0)
    thresholds[inside] = np.clip(np.floor(quotient), -1, most)
    nodes = np.column_stack([model.features, thresholds, model.left, model.right])
    values, offsets = two_or_more(model.values.T, model.offset)
    values = values.T
    leaves = model.features < 0
    if len(model.roots) == 1:
        votes = np.zeros(values.shape, dtype=np.int64)
        votes[np.flatnonzero(leaves), (values + offsets).argmax(axis=1)[leaves]] = 1
        return TreeVotes(model.roots, nodes.astype(np.int64), votes, np.zeros_like(votes[0]))
    least = np.zeros_like(values)
    ends = [*model.roots[1:], len(values)]
    for first, last in zip(model.roots, ends, strict=True):
        of_leaves = leaves[first:last, None]
        lowest = np.where(of_leaves, values[first:last], np.inf).min(axis=0)
        least[first:last] = lowest
        offsets = offsets + lowest
    values = np.where(leaves[:, None], values - least, 0.0)
    largest = values.max()
    scale = ((1 << value_bits) - 1) / largest if largest > 0 else 1.0
    added = (offsets - offsets.min()) * scale
    furthest = (1 << value_bits) * len(model.roots) + 1
    return TreeVotes(
        model.roots,
        nodes.astype(np.int64),
        rounded(values * scale),
        rounded(np.minimum(added, furthest)),
    )

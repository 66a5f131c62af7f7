"""The bits that a client of trees encrypts: edges that features exceed, categories that they have.

A feature that a node compares with a threshold has a bit for each edge, and one that a node's set
is of has a bit for each category that some set names. Whether a cell is missing is a bit where it
may be and matters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._native import ParameterError
from hesc.models import transforms
from hesc.models.tables.table_steps import Branch, Branches, Fill, IsMissing
from hesc.models.transforms import Bins, Exceeds
from hesc.models.trees import NEVER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.transforms import Transform
    from hesc.models.trees import NodeSets, TreeEnsemble

    Array = NDArray[np.float64]

MISSING: Final = -1
"""What stands among the parts of a feature for a cell that is missing, where it has a bit."""


class Range(NamedTuple):
    """The bits of a feature that is compared with edges."""

    start: int
    """The first bit, which says whether the first edge is exceeded."""
    edges: Array
    missing: list[int]
    """The bit that says whether a cell is missing; none where it may not be."""


class Bits(NamedTuple):
    """What a client computes for trees, and where the bits are."""

    steps: list[Transform]
    """Behind all transforms of the model."""
    width: int
    """How many bits."""
    ranges: dict[int, Range]
    """By feature, of those that are compared with edges."""
    categories: dict[int, dict[int, int]]
    """By feature, of those that sets are of: the bit of each part, and of `MISSING`."""


def bits_of(trees: TreeEnsemble, edges: list[Array], missing: NDArray[np.bool_]) -> Bits:
    """What a client computes for these trees: which edges, and which categories.

    Args:
        trees: the model.
        edges: of each feature; one without is not encrypted.
        missing: for each feature whether it may be missing.

    Raises:
        ParameterError: a feature that is compared and has no edge.

    """
    exceeds, ranges = _ranges(trees, edges, missing)
    steps: list[Transform] = [] if exceeds is None else [exceeds]
    width = transforms.width(steps, 0)
    found: dict[int, dict[int, int]] = {}
    if trees.has_sets:
        branches = []
        if exceeds is not None:
            columns = tuple(exceeds.features.astype(int).tolist())
            places = np.arange(len(columns), dtype=np.float64)
            own = replace(exceeds, inputs=len(columns), features=places)
            branches.append(Branch(columns, (own,)))
        found, more = _categories(trees.sets, missing, width)
        told = np.unique(trees.features[(trees.set_sizes >= 0) & left_if_missing(trees)])
        apart = [place for place in told.tolist() if missing[place]]
        width += sum(map(len, found.values()))
        for bit, place in enumerate(apart, start=width):
            found[place][MISSING] = bit
        width += len(apart)
        branches += more
        if apart:
            branches.append(Branch(tuple(apart), (IsMissing(len(apart), None),)))
        steps = [Branches(trees.inputs, tuple(branches))] if branches else []
    if not width:
        raise ParameterError(
            "these trees compare nothing, so that all samples have one score; there is nothing to "
            "encrypt"
        )
    return Bits(steps, width, ranges, found)


def left_if_missing(trees: TreeEnsemble) -> NDArray[np.bool_]:
    """Whether missing cells go left, for each node; where trees take none, it does not matter."""
    return trees.missing_left if trees.takes_missing else np.zeros(len(trees.features), dtype=bool)


def _ranges(
    trees: TreeEnsemble, edges: list[Array], missing: NDArray[np.bool_]
) -> tuple[Exceeds | None, dict[int, Range]]:
    """The step that compares with edges, and its bits; None where nothing is compared so.

    Raises:
        ParameterError: a feature that is compared and has no edge.

    """
    compared = np.unique(trees.features[trees.compares])
    own = [each[each < NEVER] for each in edges]
    for place in np.unique(trees.features[trees.compares & (trees.thresholds < NEVER)]):
        if not len(own[place]):
            raise ParameterError(
                f"trees compare feature {place}, for which bins= has no edges; give it some, or "
                f"bins='thresholds', which takes the trees' own"
            )
    for place in compared[missing[compared]].tolist():
        # Where no number exceeds a threshold, a cell that is missing is still told from numbers.
        own[place] = own[place] if len(own[place]) else np.array([NEVER])
    sets = set(trees.sets.ends) - set(compared.tolist()) if trees.has_sets else set()
    used = np.array(
        [place for place, each in enumerate(own) if len(each) and place not in sets], dtype=np.intp
    )
    if not len(used):
        return None, {}
    counts = np.array([len(own[place]) for place in used])
    may = missing[used]
    starts = np.cumsum(counts + may) - counts - may
    found = {
        int(place): Range(int(start), own[place], [int(start) + len(own[place])] * bool(gone))
        for place, start, gone in zip(used, starts, may, strict=True)
    }
    exceeds = Exceeds(
        trees.inputs,
        used.astype(np.float64),
        counts.astype(np.float64),
        may.astype(np.float64),
        np.concatenate([own[place] for place in used]),
    )
    return exceeds, found


def _categories(
    sets: NodeSets, missing: NDArray[np.bool_], first: int
) -> tuple[dict[int, dict[int, int]], list[Branch]]:
    """The bits of parts of features, and the steps that compute them.

    Args:
        sets: of the trees.
        missing: for each feature whether it may be missing.
        first: the first bit.

    """
    named: dict[int, list[int]] = {place: sets.named(place) for place in sets.ends}
    found: dict[int, dict[int, int]] = {place: {} for place in sets.ends}
    branches = []
    for gone in (True, False):
        columns = [place for place in sets.ends if missing[place] == gone and named[place]]
        if not columns:
            continue
        starts, at = [], 0
        for place in columns:
            starts.append(at)
            at += len(sets.ends[place]) + 1
            found[place] = {part: bit for bit, part in enumerate(named[place], start=first)}
            first += len(named[place])
        # What is missing becomes a number that is in no set.
        filled = [Fill(tuple(float(sets.ends[place][0]) for place in columns), None)] * gone
        whole = Bins(
            len(columns),
            np.array([[i, -1.0] for i in range(len(columns))]),
            np.array([[float(len(sets.ends[place])), 0.0] for place in columns]),
            np.concatenate([sets.ends[place] for place in columns]),
        )
        places = zip(columns, starts, strict=True)
        kept = tuple(start + part for place, start in places for part in named[place])
        chosen = Branches(whole.widths[1], (Branch(kept, ()),))
        branches.append(Branch(tuple(columns), (*filled, whole, chosen)))
    return found, branches

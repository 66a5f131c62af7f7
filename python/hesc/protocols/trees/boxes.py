"""Trees as boxes: a leaf as conditions on public bits, which a client computes of its features.

A sample reaches a leaf if it keeps to a range of each feature that the path compares. Bits say
which *edges* features exceed, so a range is two conditions at most, however long the path is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._native import ParameterError
from hesc.models.transforms import Exceeds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.models.trees import TreeEnsemble

    Array = NDArray[np.float64]

_AT_ONCE: Final = 1 << 24
"""Bits of conditions that are in memory at once."""


class Boxes(NamedTuple):
    """Leaves of the trees of all outputs: counts, and what they count, one after the other.

    A condition adds up bits, and is violated by a sum of one; a negated one is violated by a sum of
    zero. No sample of a client has another sum.
    """

    outputs: list[int]
    """Trees of each output."""
    leaves: NDArray[np.uint32]
    """Leaves of each tree."""
    values: NDArray[np.int64]
    """What each leaf adds to its output, in units."""
    conditions: NDArray[np.uint32]
    """Conditions of each leaf."""
    negated: NDArray[np.bool_]
    """Whether each condition is violated by a sum of zero."""
    terms: NDArray[np.uint32]
    """Bits of each condition."""
    edges: NDArray[np.uint32]
    """Each of these bits."""

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Trees and leaves of each output."""
        ends = np.cumsum([0, *self.outputs])
        return [
            (trees, int(self.leaves[first : first + trees].sum()))
            for trees, first in zip(self.outputs, ends, strict=False)
        ]

    @property
    def most_conditions(self) -> int:
        """Conditions of a leaf, at most."""
        return int(self.conditions.max(initial=0))

    @property
    def reach(self) -> int:
        """What sums of leaves' values stay within: the trees' largest absolute values, added up."""
        starts = _starts(self.leaves)
        largest = np.maximum.reduceat(np.abs(self.values), starts)
        outputs = np.cumsum([0, *self.outputs[:-1]])
        return int(np.add.reduceat(largest, outputs).max())

    def sums(self, bits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The sum of the values reached, for each sample and output: what is decrypted.

        Args:
            bits: a row for each sample.

        """
        if len(bits) > (turn := max(1, _AT_ONCE // max(len(self.edges), 1))):
            parts = [self.sums(bits[at : at + turn]) for at in range(0, len(bits), turn)]
            return np.concatenate(parts)
        holds = (
            np.add.reduceat(bits[:, self.edges], _starts(self.terms), axis=1, dtype=np.int64) == 0
        )
        holds ^= self.negated
        reached = np.ones((len(bits), len(self.values)), dtype=bool)
        some = self.conditions > 0
        if some.any():
            first = _starts(self.conditions)[some]
            reached[:, some] = np.logical_and.reduceat(holds, first, axis=1)
        values = np.where(reached, self.values, 0)
        ends = np.cumsum([shape[1] for shape in self.shapes])
        return np.stack([part.sum(axis=1) for part in np.split(values, ends[:-1], axis=1)], axis=1)


def _starts(counts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where each of so many begins."""
    return np.cumsum(counts, dtype=np.int64) - counts


def bits_of(trees: TreeEnsemble, edges: list[Array], missing: NDArray[np.bool_]) -> Exceeds:
    """What a client computes for these trees: which edges each feature exceeds.

    Args:
        trees: the model.
        edges: of each feature; one without is not encrypted.
        missing: for each feature whether it may be missing.

    Raises:
        ParameterError: a feature that is compared and has no edge.

    """
    for place in np.unique(trees.features[~trees.leaves]):
        if not len(edges[place]):
            raise ParameterError(
                f"trees compare feature {place}, for which bins= has no edges; give it some, or "
                f"bins='thresholds', which takes the trees' own"
            )
    used = np.array([place for place, own in enumerate(edges) if len(own)], dtype=np.intp)
    if not len(used):
        raise ParameterError(
            "these trees compare nothing, so that all samples have one score; there is nothing to "
            "encrypt"
        )
    return Exceeds(
        trees.inputs,
        used.astype(np.float64),
        np.array([float(len(edges[place])) for place in used]),
        missing[used].astype(np.float64),
        np.concatenate([edges[place] for place in used]),
    )


def off_edges(trees: TreeEnsemble, edges: list[Array]) -> int:
    """How many comparisons are with a threshold that is no edge."""
    places, thresholds = trees.features[~trees.leaves], trees.thresholds[~trees.leaves]
    return sum(
        int((~np.isin(thresholds[places == place], edges[place])).sum())
        for place in np.unique(places)
    )


def moved(trees: TreeEnsemble, edges: list[Array]) -> TreeEnsemble:
    """The trees with each threshold at the nearest edge of its feature: another model."""
    thresholds = trees.thresholds.copy()
    for place, own in enumerate(edges):
        at = trees.features == place
        if not at.any() or not len(own):
            continue
        above = np.searchsorted(own, thresholds[at]).clip(max=len(own) - 1)
        lower, upper = own[np.maximum(above - 1, 0)], own[above]
        thresholds[at] = np.where(thresholds[at] - lower <= upper - thresholds[at], lower, upper)
    return replace(trees, thresholds=thresholds)


class Rounded(NamedTuple):
    """Values of leaves in units: what is added up exactly."""

    values: NDArray[np.int64]
    """A row for each node, a column for each output."""
    varying: NDArray[np.bool_]
    """For each tree and output whether its leaves differ; if not it is part of the offset."""
    constants: NDArray[np.int64]
    """What outputs are of which no tree's leaves differ; 0 of others."""
    reach: int
    """What sums stay within: of each tree the largest absolute value, added up."""

    def sums(self, reached: NDArray[np.int64]) -> NDArray[np.int64]:
        """The sums of leaves, given which node each tree reaches, a row for each sample."""
        found: NDArray[np.int64] = self.values[reached].sum(axis=1) + self.constants
        return found


def rounded(trees: TreeEnsemble, unit: float) -> Rounded:
    """Leaves rounded to units, and the offset with those of the first tree that differ.

    A tree that says the same of all samples is part of the offset, and so is what the values of
    each tree are around.

    Args:
        trees: the model.
        unit: of scores.

    """
    ends = np.append(trees.roots[1:], len(trees.features))
    said = [
        trees.values[first:end][trees.leaves[first:end]]
        for first, end in zip(trees.roots, ends, strict=True)
    ]
    varying = np.array([(own != own[0]).any(axis=0) for own in said])
    offset = trees.offset.copy()
    for own, varies in zip(said, varying, strict=True):
        offset += np.where(varies, 0.0, own[0])
    values = np.zeros(trees.values.shape, dtype=np.int64)
    middles = np.zeros(trees.outputs, dtype=np.int64)
    reach = np.zeros(trees.outputs, dtype=np.int64)
    first = varying.argmax(axis=0)
    # The first tree comes last, with all that is added to it.
    for tree in reversed(range(len(said))):
        more = np.where(first == tree, offset, 0.0)
        whole = np.where(varying[tree], np.rint((said[tree] + more) / unit), 0.0).astype(np.int64)
        middle = (whole.min(axis=0) + whole.max(axis=0)) // 2
        middles += middle
        whole += np.where((first == tree) & varying[tree], middles, 0) - middle
        reach += np.abs(whole).max(axis=0)
        at = np.arange(trees.roots[tree], ends[tree])
        values[at[trees.leaves[at]]] = whole
    constants = np.where(varying.any(axis=0), 0, np.rint(offset / unit)).astype(np.int64)
    return Rounded(values, varying, constants, int((reach + np.abs(constants)).max()))


def of(trees: TreeEnsemble, bits: Exceeds, whole: Rounded) -> Boxes:
    """The leaves of trees whose thresholds are edges, but for those that no sample reaches.

    Args:
        trees: the model.
        bits: what a client computes.
        whole: the leaves' values.

    """
    layout = _Layout(bits)
    grown = [_grown(trees, int(root), layout) for root in trees.roots]
    # Of an output that is the same for all samples.
    alone = _Grown(np.empty(1, dtype=np.int64), *_columns([[]]))
    values, parts, outputs = [], [], []
    for output in range(trees.outputs):
        places = np.flatnonzero(whole.varying[:, output])
        parts += [grown[place] for place in places] or [alone]
        values += [whole.values[grown[place].nodes, output] for place in places] or [
            whole.constants[output : output + 1]
        ]
        outputs.append(max(1, len(places)))
    conditions, negated, terms, edges = (
        np.concatenate([part[column] for part in parts]) for column in range(1, 5)
    )
    leaves = np.array([len(part.nodes) for part in parts], dtype=np.uint32)
    return Boxes(outputs, leaves, np.concatenate(values), conditions, negated, terms, edges)


class _Grown(NamedTuple):
    """One tree: its leaves, and their conditions as `Boxes` has them."""

    nodes: NDArray[np.int64]
    conditions: NDArray[np.uint32]
    negated: NDArray[np.bool_]
    terms: NDArray[np.uint32]
    edges: NDArray[np.uint32]


def _grown(trees: TreeEnsemble, root: int, layout: _Layout) -> _Grown:
    found = list(_leaves(trees, root, layout))
    nodes = np.array([node for node, _ in found], dtype=np.int64)
    return _Grown(nodes, *_columns([held for _, held in found]))


def _columns(
    leaves: list[list[Condition]],
) -> tuple[NDArray[np.uint32], NDArray[np.bool_], NDArray[np.uint32], NDArray[np.uint32]]:
    """Conditions of leaves as counts, and what they count."""
    each = [condition for held in leaves for condition in held]
    return (
        np.array([len(held) for held in leaves], dtype=np.uint32),
        np.array([negated for negated, _ in each], dtype=bool),
        np.array([len(terms) for _, terms in each], dtype=np.uint32),
        np.array([bit for _, terms in each for bit in terms], dtype=np.uint32),
    )


Condition = tuple[bool, list[int]]
"""Whether it is negated, and its bits."""


class _Layout:
    """Where the bits of each feature are."""

    def __init__(self, bits: Exceeds) -> None:
        counts, missing = bits.counts.astype(np.int64), bits.missing.astype(np.int64)
        starts = np.cumsum(counts + missing) - counts - missing
        edges = np.split(bits.edges, np.cumsum(counts)[:-1])
        blocks = zip(bits.features.astype(np.int64), starts, edges, missing, strict=True)
        self.blocks = {
            int(feature): (int(start), own, bool(may)) for feature, start, own, may in blocks
        }

    def place(self, feature: int, threshold: float) -> int:
        """The place of a threshold among its feature's edges."""
        return int(np.searchsorted(self.blocks[feature][1], threshold))

    def conditions(self, feature: int, low: int, high: int, *, missing: bool) -> list[Condition]:
        """What a range of a feature asks of bits.

        Args:
            feature: which.
            low: place of the edge that is exceeded, or -1.
            high: place of the edge that is not, or how many there are.
            missing: whether a cell without a value is taken.

        """
        start, edges, may = self.blocks[feature]
        bit = [start + len(edges)] if may else []
        if low >= high:
            return [(True, bit)]
        found = []
        if low >= 0:
            # Who is missing exceeds nothing.
            found.append((True, [start + low, *(bit if missing else [])]))
        if high < len(edges):
            refused = bit if low < 0 and not missing else []
            found.append((False, [start + high, *refused]))
        return found

    def is_empty(self, feature: int, low: int, high: int, *, missing: bool) -> bool:
        """Whether no cell is in such a range."""
        return low >= high and not (missing and self.blocks[feature][2])


def _leaves(
    trees: TreeEnsemble, root: int, layout: _Layout
) -> Iterator[tuple[int, list[Condition]]]:
    """The leaves of a tree that samples reach, each with its conditions."""
    waiting: list[tuple[int, dict[int, tuple[int, int, bool]]]] = [(root, {})]
    while waiting:
        node, ranges = waiting.pop()
        feature = int(trees.features[node])
        if feature < 0:
            held = [
                layout.conditions(place, low, high, missing=missing)
                for place, (low, high, missing) in ranges.items()
            ]
            yield node, [condition for each in held for condition in each]
            continue
        edge = layout.place(feature, float(trees.thresholds[node]))
        everything = (-1, len(layout.blocks[feature][1]), True)
        low, high, missing = ranges.get(feature, everything)
        to_left = trees.takes_missing and bool(trees.missing_left[node])
        for child, own in (
            (trees.right[node], (max(low, edge), high, missing and not to_left)),
            (trees.left[node], (low, min(high, edge), missing and to_left)),
        ):
            if not layout.is_empty(feature, *own[:2], missing=own[2]):
                waiting.append((int(child), {**ranges, feature: own}))

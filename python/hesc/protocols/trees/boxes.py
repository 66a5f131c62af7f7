"""Trees as boxes: a leaf as conditions on public bits, which a client computes of its features.

A sample reaches a leaf if it keeps to a range, or to some categories, of each feature that the path
compares. Bits say which *edges* features exceed, so a range is two conditions at most, however long
the path is. Of categories one bit at most is set, so any number of them is one condition.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._support.progress import doing
from hesc.models.trees import NEVER
from hesc.protocols.trees.feature_bits import MISSING, left_if_missing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.models.trees import TreeEnsemble
    from hesc.protocols.trees.feature_bits import Bits

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

    def is_whole(self, width: int) -> bool:
        """Whether counts are those of what they count, of so many bits."""

        def total(counts: NDArray[np.uint32]) -> int:
            # Not modulo 2^32, in which counts are read.
            return int(counts.sum(dtype=np.int64))

        return (
            len(self.leaves) == sum(self.outputs)
            and bool((self.leaves > 0).all())
            and len(self.values) == len(self.conditions) == total(self.leaves)
            and len(self.negated) == len(self.terms) == total(self.conditions)
            and len(self.edges) == total(self.terms)
            and bool((self.edges < width).all())
        )

    def sums(self, bits: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The sum of the values reached, for each sample and output: what is decrypted.

        Args:
            bits: a row for each sample.

        """
        # A byte holds eight.
        if len(bits) > (turn := max(8, _AT_ONCE // max(len(self.edges), 1))):
            parts = [self.sums(bits[at : at + turn]) for at in range(0, len(bits), turn)]
            return np.concatenate(parts)
        # A row for each bit.
        packed = np.packbits(bits.T, axis=1)
        reached = np.full((len(self.values), packed.shape[1]), 0xFF, dtype=np.uint8)
        some = self.conditions > 0
        if some.any():
            ones = np.bitwise_or.reduceat(packed[self.edges], _starts(self.terms), axis=0)
            holds = np.where(self.negated[:, None], ones, ~ones)
            first = _starts(self.conditions)[some]
            reached[some] = np.bitwise_and.reduceat(holds, first, axis=0)
        values = np.where(
            np.unpackbits(reached, axis=1, count=len(bits)) != 0, self.values[:, None], 0
        )
        ends = np.cumsum([shape[1] for shape in self.shapes])
        return np.stack([part.sum(axis=0) for part in np.split(values, ends[:-1])], axis=1)


def _starts(counts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where each of so many begins."""
    return np.cumsum(counts, dtype=np.int64) - counts


def off_edges(trees: TreeEnsemble, edges: list[Array]) -> int:
    """How many comparisons are with a threshold that is no edge."""
    compared = trees.compares & (trees.thresholds < NEVER)
    places, thresholds = trees.features[compared], trees.thresholds[compared]
    return sum(
        int((~np.isin(thresholds[places == place], edges[place])).sum())
        for place in np.unique(places)
    )


def moved(trees: TreeEnsemble, edges: list[Array]) -> TreeEnsemble:
    """The trees with each threshold at the nearest edge of its feature: another model."""
    thresholds = trees.thresholds.copy()
    compared = trees.compares & (trees.thresholds < NEVER)
    for place, own in enumerate(edges):
        at = compared & (trees.features == place)
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


def of(trees: TreeEnsemble, bits: Bits, whole: Rounded) -> Boxes:
    """The leaves of trees whose thresholds are edges, but for those that no sample reaches.

    Args:
        trees: the model.
        bits: what a client computes.
        whole: the leaves' values.

    """
    layout = _Layout(trees, bits)
    grown = []
    for done, root in enumerate(trees.roots.tolist()):
        doing(f"leaves as conditions on bits, {done} of {len(trees.roots)} trees")
        grown.append(_grown(trees, root, layout))
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
Places = tuple[int, int, bool]
"""A range: places of the edge that is exceeded or -1, and of the edge that is not or how many there
are; and whether a cell that is missing is taken."""
Named = tuple[frozenset[int], bool]
"""Some parts of a feature, and whether all that is in no part is taken as well."""


class _Layout:
    """What leaves ask of the bits of each feature."""

    def __init__(self, trees: TreeEnsemble, bits: Bits) -> None:
        self.missing_left = left_if_missing(trees)
        self.ranges = bits.ranges
        self.categories = bits.categories

    def place(self, feature: int, threshold: float) -> int:
        """The place of a threshold among its feature's edges."""
        edges = self.ranges[feature].edges if feature in self.ranges else np.empty(0)
        return int(np.searchsorted(edges, threshold))

    def all_numbers(self, feature: int) -> Places:
        """The range that everything is in."""
        return -1, self.place(feature, np.inf), True

    def all_parts(self, feature: int) -> Named:
        """All parts, and what is in none."""
        return frozenset(self.categories.get(feature, ())), True

    def of_range(self, feature: int, low: int, high: int, *, missing: bool) -> list[Condition]:
        """What a range of a feature asks of bits."""
        if feature not in self.ranges:
            # No cell exceeds anything or is missing.
            return []
        start, edges, bit = self.ranges[feature]
        if low >= high:
            return [(True, bit)]
        found = []
        if low >= 0:
            # Who is missing exceeds nothing.
            found.append((True, [start + low, *(bit if missing else [])]))
        refused = bit if low < 0 and not missing else []
        if high < len(edges):
            found.append((False, [start + high, *refused]))
        elif refused:
            found.append((False, refused))
        return found

    def of_parts(self, feature: int, parts: frozenset[int], *, others: bool) -> list[Condition]:
        """What some categories ask of bits."""
        bits = self.categories.get(feature, {})
        if not others:
            return [(True, sorted(bits[part] for part in parts))]
        refused = sorted(bit for part, bit in bits.items() if part not in parts)
        return [(False, refused)] if refused else []

    def is_empty(self, feature: int, low: int, high: int, *, missing: bool) -> bool:
        """Whether no cell is in such a range."""
        may = feature in self.ranges and bool(self.ranges[feature].missing)
        return low >= high and not (missing and may)


class _Path(NamedTuple):
    """What a node's samples keep to, by feature."""

    ranges: dict[int, Places]
    parts: dict[int, Named]

    def conditions(self, layout: _Layout) -> list[Condition]:
        """What that asks of bits."""
        held = [
            layout.of_range(place, low, high, missing=missing)
            for place, (low, high, missing) in self.ranges.items()
        ]
        held += [
            layout.of_parts(place, parts, others=others)
            for place, (parts, others) in self.parts.items()
        ]
        return [condition for each in held for condition in each]


def _leaves(
    trees: TreeEnsemble, root: int, layout: _Layout
) -> Iterator[tuple[int, list[Condition]]]:
    """The leaves of a tree that samples reach, each with its conditions."""
    compares = trees.compares
    waiting = [(root, _Path({}, {}))]
    while waiting:
        node, path = waiting.pop()
        if trees.features[node] < 0:
            yield node, path.conditions(layout)
        else:
            below = _of_threshold if compares[node] else _of_set
            waiting += below(trees, node, path, layout)


def _of_threshold(
    trees: TreeEnsemble, node: int, path: _Path, layout: _Layout
) -> Iterator[tuple[int, _Path]]:
    """The children of a node with a threshold that samples reach."""
    feature, to_left = int(trees.features[node]), bool(layout.missing_left[node])
    edge = layout.place(feature, float(trees.thresholds[node]))
    low, high, missing = path.ranges.get(feature, layout.all_numbers(feature))
    for child, own in (
        (trees.right[node], (max(low, edge), high, missing and not to_left)),
        (trees.left[node], (low, min(high, edge), missing and to_left)),
    ):
        if not layout.is_empty(feature, *own[:2], missing=own[2]):
            yield int(child), path._replace(ranges={**path.ranges, feature: own})


def _of_set(
    trees: TreeEnsemble, node: int, path: _Path, layout: _Layout
) -> Iterator[tuple[int, _Path]]:
    """The children of a node with a set that samples reach."""
    feature = int(trees.features[node])
    chosen = frozenset(trees.sets.of(node))
    if layout.missing_left[node] and MISSING in layout.categories.get(feature, ()):
        chosen |= {MISSING}
    parts, others = path.parts.get(feature, layout.all_parts(feature))
    for child, own in (
        (trees.right[node], (parts - chosen, others)),
        (trees.left[node], (parts & chosen, False)),
    ):
        if any(own):
            yield int(child), path._replace(parts={**path.parts, feature: own})

"""What the server of a decision computes on quantised features, in the clear and as expressions.

A model gives whole numbers from zero on, one for each class, and the class is the first of the
largest. In the clear that is exactly what circuits compute on encrypted numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc.integers import IntegerKind, Integers, total, where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]

BITS: Final = 16
"""Bits of a quantised feature, at most."""
LARGEST: Final = 1 << 52
"""Totals stay below: doubles hold them exactly."""
ARGMAX: Final = ("pairs", "rounds")
"""How the largest is found: all comparisons at once, or the winners of a tournament."""


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Totals `weights @ features + offsets`.

    Numbers are not negative: what all classes have in common is left out, of each feature the least
    weight, which changes no comparison.
    """

    name: ClassVar[str] = "linear"
    weights: Whole
    """Classes by features."""
    offsets: Whole
    """One for each class."""

    def totals(self, features: Whole) -> Whole:
        """A row of totals for each row of features."""
        found: Whole = features @ self.weights.T + self.offsets
        return found

    def most(self, bits: int) -> Whole:
        """The largest total of each class, of features of so many bits."""
        most: Whole = self.weights.sum(axis=1) * ((1 << bits) - 1) + self.offsets
        return most

    def expressions(self, features: Sequence[Integers], width: int) -> list[Integers]:
        """The totals of encrypted features: shifted copies, one for each bit of a weight."""
        kind = IntegerKind(width)
        wide = [feature.astype(kind) for feature in features]
        found = []
        for row, offset in zip(self.weights.tolist(), self.offsets.tolist(), strict=True):
            copies = [
                feature << place
                for feature, weight in zip(wide, row, strict=True)
                for place in range(weight.bit_length())
                if weight >> place & 1
            ]
            found.append(total([constant(offset, kind), *copies]).astype(kind))
        return found

    def fits(self, inputs: int, classes: int, bits: int) -> bool:
        """Whether it is a model of so many features, classes and bits."""
        if self.weights.shape != (classes, inputs) or self.offsets.shape != (classes,):
            return False
        small = (self.weights >= 0).all() and (self.offsets >= 0).all()
        # Of each by itself first: sums of larger ones could wrap.
        room = LARGEST >> bits
        within = small and self.weights.max() <= room // inputs and self.offsets.max() < LARGEST
        return bool(within)


@dataclass(frozen=True, eq=False)
class TreeVotes:
    """Totals of what a leaf of each tree says, and `offsets`.

    A sample goes left where `feature <= threshold`; children stand behind their parents.
    """

    name: ClassVar[str] = "trees"
    roots: Whole
    """Where each tree begins."""
    nodes: Whole
    """A row for each: feature (-1 of a leaf), threshold, left child, right child."""
    values: Whole
    """A row for each node: what it adds to each class, if it is a leaf."""
    offsets: Whole
    """One for each class."""

    def totals(self, features: Whole) -> Whole:
        """A row of totals for each row of features."""
        found = np.tile(self.offsets, (len(features), 1))
        rows = np.arange(len(features))
        for root in self.roots:
            at = np.full(len(features), root)
            while (self.nodes[at, 0] >= 0).any():
                feature, threshold, left, right = self.nodes[at].T
                inside = feature >= 0
                smaller = features[rows, np.maximum(feature, 0)] <= threshold
                at = np.where(inside, np.where(smaller, left, right), at)
            found += self.values[at]
        return found

    def most(self, _bits: int) -> Whole:
        """The largest total of each class."""
        ends = [*self.roots[1:], len(self.nodes)]
        pairs = zip(self.roots, ends, strict=True)
        largest = [self.values[first:last].max(axis=0) for first, last in pairs]
        most: Whole = np.sum(largest, axis=0) + self.offsets
        return most

    def expressions(self, features: Sequence[Integers], width: int) -> list[Integers]:
        """The totals of encrypted features: comparisons with thresholds choose among leaves."""
        kind = IntegerKind(width)
        leaves = [
            self._chosen(features, self.values[:, of], kind) for of in range(len(self.offsets))
        ]
        offsets = self.offsets.tolist()
        return [
            total([constant(offset, kind), *of_trees]).astype(kind)
            for offset, of_trees in zip(offsets, leaves, strict=True)
        ]

    def index(self, features: Sequence[Integers], kind: IntegerKind) -> Integers | None:
        """The class of a sample from a single tree, whose leaves hold classes."""
        if len(self.roots) > 1:
            return None
        return self._chosen(features, (self.values + self.offsets).argmax(axis=1), kind)[0]

    def _chosen(
        self, features: Sequence[Integers], leaves: Whole, kind: IntegerKind
    ) -> list[Integers]:
        """The numbers of the leaves that are reached, one of each tree."""
        greater: dict[tuple[int, int], Integers] = {}
        found: dict[int, Integers | int] = {}
        for node in reversed(range(len(self.nodes))):
            feature, threshold, left, right = self.nodes[node].tolist()
            if feature < 0:
                found[node] = int(leaves[node])
                continue
            low, high = found.pop(left), found.pop(right)
            most = features[feature].kind.most
            if not 0 <= threshold < most or (
                isinstance(low, int) and isinstance(high, int) and low == high
            ):
                found[node] = high if threshold < 0 else low
                continue
            key = feature, threshold
            if key not in greater:
                greater[key] = features[feature] > threshold
            one, zero = (constant(x, kind) if isinstance(x, int) else x for x in (high, low))
            found[node] = where(greater[key], one, zero)
        chosen = [found[root] for root in self.roots.tolist()]
        return [constant(x, kind) if isinstance(x, int) else x for x in chosen]

    def fits(self, inputs: int, classes: int, bits: int) -> bool:
        """Whether it is a model of so many features, classes and bits."""
        count = len(self.nodes)
        shapes = self.nodes.shape == (count, 4) and self.values.shape == (count, classes)
        if not shapes or self.offsets.shape != (classes,):
            return False
        feature, threshold, left, right = self.nodes.T
        inside = feature >= 0
        if not ((feature >= -1) & (feature < inputs)).all():
            return False
        if not ((threshold >= -1) & (threshold < 1 << bits)).all():
            return False
        children = np.concatenate([left[inside], right[inside]])
        later = (children > np.tile(np.flatnonzero(inside), 2)).all() and (children < count).all()
        once = later and np.array_equal(
            np.sort(np.concatenate([children, self.roots])), np.arange(count)
        )
        ordered = once and (np.diff(self.roots) > 0).all() and self.roots[0] == 0
        # Each tree's nodes stand together, which the bounds on totals rely on.
        tree = np.searchsorted(self.roots, np.arange(count), side="right")
        ordered = ordered and (tree[children] == np.tile(tree[inside], 2)).all()
        room = LARGEST // (len(self.roots) + 1)
        small = (self.values >= 0).all() and (self.values <= room).all()
        return bool(ordered and small and (self.offsets >= 0).all() and (self.offsets < room).all())


WholeModel = LinearScores | TreeVotes


def constant(number: int, kind: IntegerKind) -> Integers:
    """A public number as an expression."""
    return Integers(kind, "constant", argument=number)


def classify(model: WholeModel, features: Whole) -> Whole:
    """The place of each sample's class: what circuits give, exactly."""
    places: Whole = model.totals(features).argmax(axis=1)
    return places


def index_kind(classes: int) -> IntegerKind:
    """The kind of integer that holds the place of a class, `0 <= place < classes`."""
    return IntegerKind(max(1, (classes - 1).bit_length()))


def function(
    model: WholeModel, bits: int, per_word: int, inputs: int, argmax: str
) -> Callable[..., Integers]:
    """What `hesc.integers.plan` takes: words of encrypted features in, the class's place out."""
    classes = len(model.offsets)
    kind = index_kind(classes)

    def decide(*words: Integers) -> Integers:
        features = [
            (words[at // per_word] >> bits * (at % per_word)).astype(IntegerKind(bits))
            for at in range(inputs)
        ]
        direct = model.index(features, kind) if isinstance(model, TreeVotes) else None
        if direct is not None:
            return direct
        width = max(1, int(model.most(bits).max()).bit_length())
        totals = model.expressions(features, width)
        return _by_pairs(totals, kind) if argmax == "pairs" else _by_rounds(totals, kind)

    return decide


def _by_pairs(totals: Sequence[Integers], kind: IntegerKind) -> Integers:
    """The place of the first of the largest, by comparing each with each."""
    later = {
        (i, j): totals[j] > totals[i] for i in range(len(totals)) for j in range(i + 1, len(totals))
    }
    if len(totals) == 2:
        return later[0, 1].astype(kind)
    first = []
    for i in range(len(totals)):
        wins = [later[j, i] if j < i else ~later[i, j] for j in range(len(totals)) if j != i]
        first.append(_tree(lambda a, b: a & b, wins))
    # One of them is first: bits of its place are sums.
    bits = [
        _tree(lambda a, b: a ^ b, [one for i, one in enumerate(first) if i >> place & 1])
        for place in range(kind.width)
    ]
    shifted = [bit.astype(kind) << at for at, bit in enumerate(bits)]
    place: Integers = reduce(lambda a, b: a | b, shifted)
    return place


def _by_rounds(totals: Sequence[Integers], kind: IntegerKind) -> Integers:
    """The same by a tournament: fewer comparisons, one after another."""
    items = [(number, constant(place, kind)) for place, number in enumerate(totals)]
    while len(items) > 1:
        winners = []
        for (a, i), (b, j) in zip(items[::2], items[1::2], strict=False):
            greater = b > a
            winners.append((where(greater, b, a), where(greater, j, i)))
        items = winners + items[len(items) - len(items) % 2 :]
    return items[0][1]


def _tree(operation: Callable[[Any, Any], Any], items: Sequence[Any]) -> Any:
    level = list(items)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [operation(a, b) for a, b in pairs] + level[len(level) - len(level) % 2 :]
    return level[0]

"""Trees of public structure: the client finds its leaves, and a score is a linear form of them.

Of each tree one leaf has no bit: a sample that reaches no other reaches that one. Outputs that
share a tree, as classes of a forest do, share its bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hesc.models.transforms import Inside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.protocols.trees.boxes import Boxes


class Forms(NamedTuple):
    """What the client computes of its bits, and the linear form of each output."""

    step: Inside
    """A one for each leaf that is reached, but the first of each tree."""
    constants: NDArray[np.int64]
    """What an output is where a sample reaches the first leaf of each tree."""
    counts: NDArray[np.uint32]
    """Slopes of each output."""
    leaves: NDArray[np.uint32]
    """The leaf of each slope: which of the step's ones it is multiplied with."""
    slopes: NDArray[np.int64]
    """What is added where a leaf is reached."""

    def sums(self, reached: NDArray[np.bool_]) -> NDArray[np.int64]:
        """The sums of the values reached, for each sample and output: what is decrypted.

        Args:
            reached: a row of leaves for each sample.

        """
        ends = np.cumsum(self.counts)[:-1]
        parts = zip(np.split(self.leaves, ends), np.split(self.slopes, ends), strict=True)
        sums = [reached[:, leaves] @ slopes for leaves, slopes in parts]
        return np.stack(sums, axis=1) + self.constants


def of(boxes: Boxes, width: int) -> Forms:
    """The forms of trees, and the step that finds leaves.

    Args:
        boxes: the trees.
        width: bits that a client computes.

    """
    trees = _Trees(boxes)
    firsts: dict[bytes, int] = {}
    bits, kept = 0, []
    constants, counts, leaves, slopes = [], [], [], []
    ends = np.cumsum(boxes.outputs)
    for first, end in zip(ends - boxes.outputs, ends, strict=True):
        constant, places, added = 0, [], []
        for tree in range(first, end):
            key, count, values = trees.shape(tree), int(boxes.leaves[tree]), trees.values(tree)
            if key not in firsts:
                firsts[key] = bits
                bits += count - 1
                kept.append(tree)
            constant += int(values[0])
            places.append(firsts[key] + np.arange(count - 1))
            added.append(values[1:] - values[0])
        # One leaf has one slope, of however many trees it is.
        own, at = np.unique(np.concatenate(places), return_inverse=True)
        total = np.zeros(len(own), dtype=np.int64)
        np.add.at(total, at, np.concatenate(added))
        constants.append(constant)
        counts.append(len(own))
        leaves.append(own)
        slopes.append(total)
    return Forms(
        trees.step(kept, width),
        np.array(constants, dtype=np.int64),
        np.array(counts, dtype=np.uint32),
        np.concatenate(leaves).astype(np.uint32),
        np.concatenate(slopes),
    )


class _Trees:
    """Boxes, tree by tree."""

    def __init__(self, boxes: Boxes) -> None:
        self._boxes = boxes
        self._leaves = _ends(boxes.leaves)
        self._conditions = _ends(boxes.conditions)
        self._terms = _ends(boxes.terms)

    def values(self, tree: int) -> NDArray[np.int64]:
        """What a tree's leaves say."""
        return self._boxes.values[self._leaves[tree] : self._leaves[tree + 1]]

    def columns(self, tree: int, skipped: int = 0) -> tuple[NDArray[np.generic], ...]:
        """Conditions of a tree's leaves, without some at its beginning."""
        leaves = slice(self._leaves[tree] + skipped, self._leaves[tree + 1])
        conditions = slice(self._conditions[leaves.start], self._conditions[leaves.stop])
        terms = slice(self._terms[conditions.start], self._terms[conditions.stop])
        _, _, _, counts, negated, sizes, edges = self._boxes
        return counts[leaves], negated[conditions], sizes[conditions], edges[terms]

    def shape(self, tree: int) -> bytes:
        """What trees of the same leaves have in common."""
        return b"".join(
            len(each).to_bytes(8, "little") + each.tobytes() for each in self.columns(tree)
        )

    def step(self, trees: list[int], width: int) -> Inside:
        """The step that finds which leaves of these trees are reached."""
        parts = [self.columns(tree, 1) for tree in trees]
        columns = (np.concatenate(each).astype(np.float64) for each in zip(*parts, strict=True))
        return Inside(width, *columns)


def _ends(counts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where each of so many begins, and the last ends."""
    return np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])

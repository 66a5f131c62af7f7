"""How good a copy of a hidden linear model its allowed answers give, tried on rows at hand.

A client that follows the protocol chooses its samples. Rows are parted in two: some that it knows,
which it takes means, deviations and principal axes from, and others that its copy is held against.
Errors of scores are left out, which copies are a little worse by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from scipy.linalg import qr

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST_EXPLAINED: Final = 0.5
"""The share of the scores' variance (R^2) that default numbers of answers stay below."""
_ROWS: Final = 2000
"""Rows that are parted, at most."""
_RIDGES: Final = (1e-9, 1e-3, 1e-1)
"""Penalties, of the mean square length of what was asked."""


class Copy(NamedTuple):
    """The best copy that was found from some answers, on rows that it was not made from."""

    samples: int
    """Samples that were answered, at most."""
    rows: int
    """Rows that the copy was held against."""
    explained: float
    """The share of the variance of the model's scores (R^2), of all outputs together."""
    agreement: float | None
    """The share of rows that the model and its copy put in the same class; None of regressors."""
    majority: float | None
    """The share of rows in the model's most frequent class; None of regressors."""

    @property
    def is_bounded(self) -> bool:
        """Whether it is below what a default number of answers may give.

        Classes are bounded half way between who always says the most frequent one, and the model.
        """
        if self.agreement is None or self.majority is None:
            return self.explained < MOST_EXPLAINED
        return self.explained < MOST_EXPLAINED and self.agreement < (1 + self.majority) / 2

    def __str__(self) -> str:
        same = f"R^2 of scores {self.explained:.2f}"
        if self.agreement is not None and self.majority is not None:
            same += (
                f", {100 * self.agreement:.1f} % of classes alike (the most frequent alone is "
                f"{100 * self.majority:.1f} %)"
            )
        samples = f"{self.samples} samples" if self.samples > 1 else "1 sample"
        return (
            f"from {samples} of its choice a client that follows the protocol makes a model with "
            f"{same}, on {self.rows} rows that it did not have; who knows more makes a better one"
        )


class _View(NamedTuple):
    """A client's rows, and what it can learn from samples that it chooses by them."""

    own: Array
    """Less their mean, in some units."""
    fresh: Array
    """The others, alike."""
    middle: Array
    """The scores of the mean."""
    slopes: Array
    """Slopes of the scores along each principal axis, a row for each."""
    along: Array
    """Where the fresh rows are on these."""
    far: Array
    """How far the own ones reach."""
    telling: NDArray[np.intp]
    """The own ones, each the farthest from what those before it span."""


class Copies:
    """What copies are made and tried with.

    Args:
        weights: a row for each output.
        intercepts: one for each.
        features: rows of what is encrypted, after the client's transforms; half of two thousand
            of them are the client's, the others are what copies are tried on.
        classifies: whether classes follow from scores.

    """

    def __init__(
        self, weights: Array, intercepts: Array, features: Array, *, classifies: bool
    ) -> None:
        # Any order that rows come in may have a period.
        order = np.random.Generator(np.random.PCG64(0)).permutation(len(features))[:_ROWS]
        self._weights, self._classifies = weights, classifies
        self._own, fresh = features[order[::2]], features[order[1::2]]
        if not len(fresh):
            fresh = self._own
        self._fresh = fresh
        self._intercepts = intercepts
        self._scores = self._score(fresh)
        self._spread = np.square(self._scores - self._scores.mean(axis=0)).sum()
        self._views = [self._seen(scale) for scale in self._scales()]

    def best(self, samples: int) -> Copy:
        """The best copy from so many samples, or fewer."""
        found = self._tried(1)
        for count in _counts(samples):
            found = _better(found, self._tried(count))
        return found

    def most(self, samples: int) -> Copy | None:
        """The copy by the largest number of samples, at most `samples`, whose best copy is bounded.

        None where that of one sample is not.
        """
        best: Copy | None = None
        for count in _counts(samples):
            found = self._tried(count)
            found = found if best is None else _better(best, found)
            if not found.is_bounded:
                break
            best = found
        return best

    def _tried(self, samples: int) -> Copy:
        each = [self._compared(samples, found) for found in self._guesses(samples)]
        best = each[0]
        for other in each[1:]:
            best = _better(best, other)
        return best

    def _score(self, rows: Array) -> Array:
        return np.asarray(rows @ self._weights.T + self._intercepts)

    def _scales(self) -> Iterator[Array]:
        """What features are counted in: their deviations, or as they are."""
        deviations = self._own.std(axis=0)
        yield np.where(deviations > 0, deviations, 1.0)
        yield np.ones_like(deviations)

    def _seen(self, scale: Array) -> _View:
        centre = self._own.mean(axis=0)
        own, fresh = (self._own - centre) / scale, (self._fresh - centre) / scale
        axes = _axes(own)
        return _View(
            own,
            fresh,
            middle=self._score(centre[None]),
            slopes=axes @ (self._weights * scale).T,
            along=fresh @ axes.T,
            far=np.abs(own @ axes.T).max(axis=0, initial=0),
            telling=qr(own.T, mode="r", pivoting=True)[1],
        )

    def _guesses(self, samples: int) -> Iterator[Array]:
        """Scores of the fresh rows by each way to ask and to solve."""
        for view in self._views:
            # The middle of all, and then a sample along each of the first axes: where least
            # squares have the smallest solution.
            yield view.middle + view.along[:, : samples - 1] @ view.slopes[: samples - 1]
            # No sample for the middle: as far along each axis as samples are, to either side.
            far = np.where(view.far > 0, view.far, 1)[:samples]
            for ends in (far, -far):
                yield from _by_ends(view, ends)
            yield from self._by_rows(view, samples)

    def _by_rows(self, view: _View, samples: int) -> Iterator[Array]:
        """From the client's own rows, those that say most: ridges of several penalties."""
        asked = view.telling[:samples]
        scores = self._score(self._own[asked])
        mean, rows = scores.mean(axis=0), view.own[asked]
        middle = rows.mean(axis=0)
        values, vectors = np.linalg.eigh((rows - middle) @ (rows - middle).T)
        turned = vectors.T @ (scores - mean)
        tried = (view.fresh - middle) @ ((rows - middle).T @ vectors)
        typical = max(float(values.mean()), np.finfo(np.float64).tiny)
        for penalty in _RIDGES:
            yield mean + tried @ (turned / (np.maximum(values, 0)[:, None] + penalty * typical))

    def _compared(self, samples: int, found: Array) -> Copy:
        left = np.square(found - self._scores).sum()
        explained = 1 - left / self._spread if self._spread > 0 else 1.0
        count = len(found)
        if not self._classifies:
            return Copy(samples, count, float(explained), None, None)
        true, copied = _classes(self._scores), _classes(found)
        majority = np.unique(true, return_counts=True)[1].max() / count
        return Copy(
            samples, count, float(explained), float((true == copied).mean()), float(majority)
        )


def _by_ends(view: _View, ends: Array) -> Iterator[Array]:
    """Scores of the fresh rows from one sample at an end of each of the first axes.

    The smallest solution without a constant, which the scores of the middle are guessed to be zero
    by, and with one, which counts as much as features do: of scores that are all above zero half of
    what an end has is the middle's.
    """
    count = len(ends)
    scores = view.middle + ends[:, None] * view.slopes[:count]
    tried = view.along[:, :count] * ends
    for constant in (0.0, np.square(ends).sum() / max(count, 1)):
        inner = np.diag(np.square(ends)) + constant
        yield (tried + constant) @ np.linalg.solve(inner, scores)


def _counts(most: int) -> Iterator[int]:
    """Numbers of samples that are tried: all of the first, then each eighth more, and the last."""
    count = 1
    while count < most:
        yield count
        count += max(1, count // 8)
    yield most


def _better(one: Copy, other: Copy) -> Copy:
    """The best of both in each respect, for more samples leave what fewer gave."""
    agreement = (
        None
        if one.agreement is None or other.agreement is None
        else max(one.agreement, other.agreement)
    )
    return other._replace(explained=max(one.explained, other.explained), agreement=agreement)


def _axes(rows: Array) -> Array:
    """Principal axes of rows whose mean is zero, the one along which they vary most first."""
    _, values, axes = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(axes[values > 1e-9 * values.max(initial=0)])


def _classes(scores: Array) -> NDArray[np.intp]:
    found = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
    return np.asarray(found, dtype=np.intp)

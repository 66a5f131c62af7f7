"""Means, variances, covariances and lines of encrypted integers, by sums that are exact.

The server computes sums, which only they leave it; divisions are the key owner's, in the clear.
These are the uses that xu2016integers names (section 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import DecryptionError, OutOfRangeError, ShapeError
from hesc._support.inputs import several, unmasked, whole
from hesc.integers.expressions import dot, total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.integers.expressions import Integers

_SUMS = {1: 2, 2: 5}


def sums(x: Sequence[object], y: Sequence[object] | None = None) -> list[Integers]:
    """The sums that `Moments` takes, with all of their bits: they cannot wrap.

    Args:
        x: several integers, one for each observation; each slot is a statistic of its own.
        y: as many, for what belongs to two.

    Returns:
        `sum(x)` and `sum(x * x)`; for two `sum(x)`, `sum(y)`, `sum(x * x)`, `sum(x * y)` and
        `sum(y * y)`. Cost: a product for each observation, three for two.

    """
    x = several(x, "x", "give a list of encrypted integers")
    if y is None:
        return [total(x), dot(x, x)]
    y = several(y, "y", "give a list of encrypted integers")
    if len(x) != len(y):
        raise ShapeError(f"observations are pairs; got {len(x)} and {len(y)}")
    return [total(x), total(y), dot(x, x), dot(x, y), dot(y, y)]


class Moments:
    """What sums say, slot by slot; the key owner makes it of what `sums` has computed.

    Every figure but `correlation` is an exact fraction, rounded once.

    Example::

        plan = integers.plan(lambda *ages: integers.sums(ages), *["uint7"] * 20, count=1)
        ...
        ages = Moments(20, [decrypt_integers(secret, row) for row in plan(*encrypted)])
        ages.mean, ages.variance()

    """

    def __init__(self, observations: int, sums: Sequence[ArrayLike]) -> None:
        """Sums of so many observations, decrypted.

        Raises:
            ShapeError: another number of sums, or of numbers in each.
            OutOfRangeError: fractions.
            DecryptionError: sums that no numbers have: damaged, or of others.

        """
        self.observations = whole(observations, "observations", 1)
        remedy = "give the decrypted results of hesc.integers.sums"
        rows = [unmasked(row, "sums") for row in several(sums, "sums", remedy)]
        if len(rows) not in _SUMS.values() or len({row.shape for row in rows}) != 1:
            raise ShapeError(
                "moments take the two or five sums of hesc.integers.sums, of one shape; got "
                f"{[row.shape for row in rows]}"
            )
        # Python's integers, which have no width.
        exact = [row.astype(object) for row in rows]
        if not all(isinstance(number, int) for row in exact for number in row.flat):
            raise OutOfRangeError("sums are whole numbers, as they were decrypted")
        self._x, self._y = exact[0], exact[1] if len(exact) == _SUMS[2] else None
        # Sums of squares and products of deviations, times the observations.
        both = ((0, 0, 2), (0, 1, 3), (1, 1, 4)) if self._y is not None else ((0, 0, 1),)
        self._about = [self.observations * exact[at] - exact[a] * exact[b] for a, b, at in both]
        impossible = [squares < 0 for squares in self._about[::2]]
        # A number is odd where its square is.
        impossible += [(exact[a] - exact[at]) % 2 != 0 for a, b, at in both if a == b]
        if self._y is not None:
            impossible.append(self._about[1] ** 2 > self._about[0] * self._about[2])
        if any(np.any(wrong) for wrong in impossible):
            raise DecryptionError(
                "no numbers have these sums: they were damaged, or are of other observations"
            )

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean of `x`."""
        return _over(self._x, self.observations)

    @property
    def mean_of_y(self) -> NDArray[np.float64]:
        """The mean of `y`."""
        return _over(self._second(), self.observations)

    def variance(self, ddof: int = 1) -> NDArray[np.float64]:
        """The variance of `x`, over `observations - ddof` as `numpy.var`; a sample's by default."""
        return self._divided(self._about[0], ddof)

    def covariance(self, ddof: int = 1) -> NDArray[np.float64]:
        """The covariance of `x` and `y`, as `numpy.cov`."""
        self._second()
        return self._divided(self._about[1], ddof)

    def correlation(self) -> NDArray[np.float64]:
        """Pearson's, of `x` and `y`; nan where all of one are the same."""
        self._second()
        first, product, second = self._about
        squared = _over(product * np.abs(product), first * second)
        return np.sign(squared) * np.sqrt(np.abs(squared))

    def line(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Slope and intercept of least squares, `y = slope * x + intercept`.

        Both are nan where all `x` are the same.
        """
        second = self._second()
        # (sum(y) - slope sum(x)) / n, over one denominator.
        above = second * self._about[0] - self._about[1] * self._x
        return (
            _over(self._about[1], self._about[0]),
            _over(above, self.observations * self._about[0]),
        )

    def _second(self) -> NDArray[Any]:
        if self._y is None:
            raise ShapeError("these are moments of one variable: take integers.sums(x, y)")
        return self._y

    def _divided(self, about: NDArray[Any], ddof: int) -> NDArray[np.float64]:
        ddof = whole(ddof, "ddof", 0, self.observations - 1)
        return _over(about, self.observations * (self.observations - ddof))


def _over(above: NDArray[Any], below: NDArray[Any] | int) -> NDArray[np.float64]:
    """Whole numbers over others, rounded once, as Python divides; nan over nothing."""
    # Objects: numpy's words would be divided as doubles.
    pairs = np.broadcast(above, np.array(below, dtype=object))
    found = [a / b if b else float("nan") for a, b in pairs]
    return np.array(found, dtype=np.float64).reshape(pairs.shape)

"""Exact variances of products and sums of streams whose values are known.

Readouts estimate errors from the streams themselves; these are the formulas behind that, for
planning. Values are inverted bipolar, in [-1, 1]; `L` is the stream length. Cost: a few numpy
operations for each pair of monomials.

Where `koseki2022hesc` differs: Proposition 1 calls `4/L sum p (1 - p)` a standard deviation, its
proof derives it as the variance; its mean `f - 2 sum p` and variance are those of the sum, not of
the normalised sum (divide by `f` and `f^2`); and it takes the summands as independent, while the
monomials `x, x x', x x' x''` share factors: for positive x their covariance adds to the variance of
an all-one polynomial, for negative x it takes away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._native import ParameterError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

GENERATORS = ("bernoulli", "exact_weight")


def _check_generator(generator: str) -> None:
    if generator not in GENERATORS:
        raise ParameterError(
            f"no exact law for {generator!r}, only for {', '.join(GENERATORS)}; measured ones: "
            f"hesc.Encoder.predicted_error"
        )


def rounding_variance(values: ArrayLike, stream_length: int) -> NDArray[np.float64]:
    """Variance of an exact-weight stream: its number of ones is rounded at random.

    `4 r (1 - r) / L^2`, `r` the fraction of a one that `L (1 - x) / 2` leaves.
    """
    ones = stream_length * (1 - np.asarray(values, dtype=np.float64)) / 2
    rest = ones - np.floor(ones)
    variance: NDArray[np.float64] = 4 * rest * (1 - rest) / stream_length**2
    return variance


def product_variance(
    factors: ArrayLike, stream_length: int, *, generator: str = "bernoulli"
) -> NDArray[np.float64]:
    """Variance of products of independent streams; `factors[k]` holds the k-th factor of each.

    Bernoulli: `(1 - prod x^2) / L` (the bits of a product are independent bits; `koseki2022hesc`
    equation 4 for one summand). Exact weight: given the product so far, `M`, the next stream `x` is
    a random arrangement over it, so that the new product has the mean `M x` and the variance
    `(1 - M^2)(1 - x^2) / (L - 1)`, that of a hypergeometric overlap; the mean of `M^2` and the
    rounding of each weight carry on.
    """
    _check_generator(generator)
    x = np.asarray(factors, dtype=np.float64)
    if x.ndim == 0:
        raise ShapeError("give the factors along the first axis")
    product: NDArray[np.float64] = np.prod(x, axis=0)
    if generator == "bernoulli":
        bernoulli: NDArray[np.float64] = (1 - product**2) / stream_length
        return bernoulli
    # Mean squares of the product so far and of the next stream.
    square = x[0] ** 2 + rounding_variance(x[0], stream_length)
    for factor in x[1:]:
        own = factor**2 + rounding_variance(factor, stream_length)
        square = square * own + (1 - square) * (1 - own) / (stream_length - 1)
    variance: NDArray[np.float64] = square - product**2
    return variance


class MonomialSum:
    """Variances of `sum a_k m_k(x, y, ...)`, the monomials sharing copies of their variables.

    Args:
        coefficients: `a_k`.
        exponents: of each variable in each monomial.
        stream_length: bits of each copy.

    """

    def __init__(
        self,
        coefficients: ArrayLike,
        exponents: Sequence[tuple[int, ...]],
        stream_length: int,
    ) -> None:
        self.coefficients = np.asarray(coefficients, dtype=np.float64)
        self.exponents = np.asarray(exponents)
        self.stream_length = stream_length

    def _monomials(self, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.array(
            [
                np.prod([x**power for x, power in zip(values, key, strict=True)], axis=0)
                for key in self.exponents
            ]
        )

    def covariance(
        self, j: int, k: int, values: Sequence[NDArray[np.float64]], generator: str = "bernoulli"
    ) -> NDArray[np.float64]:
        """Covariance of two monomials of whole streams.

        Bernoulli: the product of their bits is that of the copies which only one of them has:
        `(prod x^|a - b| - m_j m_k) / L`. Exact weight, one variable: the longer product has the
        mean `x^(k - j) M` given the shorter one, `M`: `x^(k - j) var(M)`.
        """
        if generator == "bernoulli":
            apart = np.abs(self.exponents[j] - self.exponents[k])
            both = np.prod([x**power for x, power in zip(values, apart, strict=True)], axis=0)
            monomials = self._monomials(values)
            bernoulli: NDArray[np.float64] = (
                both - monomials[j] * monomials[k]
            ) / self.stream_length
            return bernoulli
        _check_generator(generator)
        if len(values) > 1:
            raise ParameterError("the exact-weight law is for one variable")
        (x,) = values
        short, long = sorted((int(self.exponents[j][0]), int(self.exponents[k][0])))
        variance = product_variance(
            np.broadcast_to(x, (short, *x.shape)), self.stream_length, generator=generator
        )
        return x ** (long - short) * variance

    def variance(
        self,
        *values: NDArray[np.float64],
        generator: str = "bernoulli",
        kept: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Variance of the concatenated sum, or of the sum of the pieces that each monomial keeps.

        `kept[k, i]` says whether monomial `k` keeps piece `i` (Bernoulli only): two monomials are
        correlated at the pieces that both keep.
        """
        if kept is not None and generator != "bernoulli":
            raise ParameterError("pieces have an exact law for bernoulli streams only")
        total = np.zeros(np.shape(values[0]))
        for j, a in enumerate(self.coefficients):
            for k, b in enumerate(self.coefficients):
                share = 1.0
                if kept is not None:
                    common = np.sum(kept[j] & kept[k])
                    share = kept.shape[1] * common / (kept[j].sum() * kept[k].sum())
                if share:
                    total += a * b * share * self.covariance(j, k, values, generator)
        return total

    def multiplexed_variance(
        self, *values: NDArray[np.float64], generator: str = "bernoulli"
    ) -> NDArray[np.float64]:
        """Variance of the sum by random selection, whatever the streams: `(W^2 - f^2) / L`.

        Each position shows one of the monomials with probability `|a_k| / W`, `W` the sum of sizes:
        independent values of `W` and `-W` with the mean `f`.
        """
        if generator != "bernoulli":
            raise ParameterError("random selection has an exact law for bernoulli streams only")
        weight = np.abs(self.coefficients).sum()
        mean = np.tensordot(self.coefficients, self._monomials(values), axes=1)
        variance: NDArray[np.float64] = (weight**2 - mean**2) / self.stream_length
        return variance

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

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import LONGEST, one_name, real_array, whole, whole_array

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

GENERATORS = ("bernoulli", "exact_weight")


def _check_generator(generator: object) -> None:
    if isinstance(generator, str) and generator not in GENERATORS:
        raise ParameterError(
            f"no exact law for {generator!r}, only for {', '.join(GENERATORS)}; measured ones: "
            f"hesc.Encoder.predicted_error"
        )
    one_name(generator, "generator", GENERATORS)


def _streams(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """Values that inverted-bipolar streams hold."""
    array = real_array(values, name)
    if not np.all(np.abs(array) <= 1):
        raise OutOfRangeError(f"{name} of streams are in [-1, 1]; scale them first")
    return array


def _bits(stream_length: object) -> int:
    return whole(stream_length, "stream_length", 1, LONGEST)


def rounding_variance(values: ArrayLike, stream_length: int) -> NDArray[np.float64]:
    """Variance of an exact-weight stream: its number of ones is rounded at random.

    `4 r (1 - r) / L^2`, `r` the fraction of a one that `L (1 - x) / 2` leaves.

    Raises:
        OutOfRangeError: values outside [-1, 1] or NaN, or lengths that no stream has.
        ShapeError: values that are no real numbers.

    """
    stream_length = _bits(stream_length)
    ones = stream_length * (1 - _streams(values)) / 2
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
    rounding of each weight carry on. Streams of one bit are the same under both.

    Raises:
        OutOfRangeError: values outside [-1, 1] or NaN, or lengths that no stream has.
        ShapeError: no factors, or such as are no real numbers.
        ParameterError: another generator.

    """
    _check_generator(generator)
    stream_length = _bits(stream_length)
    x = _streams(factors, "factors")
    if x.ndim == 0 or len(x) == 0:
        raise ShapeError("give the factors along the first axis, at least one")
    product: NDArray[np.float64] = np.prod(x, axis=0)
    if generator == "bernoulli":
        bernoulli: NDArray[np.float64] = (1 - product**2) / stream_length
        return bernoulli
    # Mean squares of the product so far and of the next stream.
    square = x[0] ** 2 + rounding_variance(x[0], stream_length)
    for factor in x[1:]:
        own = factor**2 + rounding_variance(factor, stream_length)
        square = square * own + (1 - square) * (1 - own) / max(stream_length - 1, 1)
    # Rounding may leave less than nothing where streams hold no noise at all.
    variance: NDArray[np.float64] = np.maximum(square - product**2, 0.0)
    return variance


class MonomialSum:
    """Variances of `sum a_k m_k(x, y, ...)`, the monomials sharing copies of their variables.

    Args:
        coefficients: `a_k`.
        exponents: of each variable in each monomial.
        stream_length: bits of each copy.

    Raises:
        ShapeError: coefficients or exponents that are no list of finite, or of whole, numbers; not
            one tuple of exponents for each coefficient.
        OutOfRangeError: negative exponents, infinite coefficients, lengths that no stream has.

    Its methods refuse values outside [-1, 1], of another number of variables, and of shapes that
    do not broadcast.

    """

    def __init__(
        self,
        coefficients: ArrayLike,
        exponents: Sequence[tuple[int, ...]],
        stream_length: int,
    ) -> None:
        self.coefficients = real_array(coefficients, "coefficients")
        self.exponents = whole_array(exponents, "exponents")
        self.stream_length = _bits(stream_length)
        monomials = self.coefficients.shape
        if len(monomials) != 1 or self.exponents.shape[:-1] != monomials or not self.exponents.size:
            raise ShapeError(
                f"give one coefficient and one tuple of exponents for each monomial, got shapes "
                f"{monomials} and {self.exponents.shape}"
            )
        if not np.all(np.isfinite(self.coefficients)) or np.any(self.exponents < 0):
            raise OutOfRangeError("coefficients are finite, and exponents count from 0")

    def _values(self, values: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
        """Values of the variables, of one shape."""
        arrays = [_streams(value) for value in values]
        variables = self.exponents.shape[1]
        if len(arrays) != variables:
            raise ShapeError(f"the sum is of {variables} variables, got values of {len(arrays)}")
        try:
            return list(np.broadcast_arrays(*arrays))
        except ValueError as problem:
            shapes = [array.shape for array in arrays]
            raise ShapeError(f"values of shapes {shapes} do not broadcast") from problem

    def _monomials(self, values: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        return np.array(
            [
                np.prod([x**power for x, power in zip(values, key, strict=True)], axis=0)
                for key in self.exponents
            ]
        )

    def covariance(
        self, j: int, k: int, values: Sequence[ArrayLike], generator: str = "bernoulli"
    ) -> NDArray[np.float64]:
        """Covariance of two monomials of whole streams.

        Bernoulli: the product of their bits is that of the copies which only one of them has:
        `(prod x^|a - b| - m_j m_k) / L`. Exact weight, one variable: the longer product has the
        mean `x^(k - j) M` given the shorter one, `M`: `x^(k - j) var(M)`.
        """
        _check_generator(generator)
        last = len(self.coefficients) - 1
        j, k = whole(j, "j", 0, last), whole(k, "k", 0, last)
        return self._covariance(j, k, self._values(values), generator)

    def _covariance(
        self, j: int, k: int, values: list[NDArray[np.float64]], generator: str
    ) -> NDArray[np.float64]:
        if generator == "bernoulli":
            apart = np.abs(self.exponents[j] - self.exponents[k])
            both = np.prod([x**power for x, power in zip(values, apart, strict=True)], axis=0)
            monomials = self._monomials(values)
            bernoulli: NDArray[np.float64] = (
                both - monomials[j] * monomials[k]
            ) / self.stream_length
            return bernoulli
        if len(values) > 1:
            raise ParameterError("the exact-weight law is for one variable")
        (x,) = values
        short, long = sorted((int(self.exponents[j][0]), int(self.exponents[k][0])))
        if short == 0:
            return np.zeros(x.shape)
        variance = product_variance(
            np.broadcast_to(x, (short, *x.shape)), self.stream_length, generator=generator
        )
        return x ** (long - short) * variance

    def variance(
        self,
        *values: ArrayLike,
        generator: str = "bernoulli",
        kept: NDArray[np.bool_] | None = None,
    ) -> NDArray[np.float64]:
        """Variance of the concatenated sum, or of the sum of the pieces that each monomial keeps.

        `kept[k, i]` says whether monomial `k` keeps piece `i` (Bernoulli only): two monomials are
        correlated at the pieces that both keep.
        """
        _check_generator(generator)
        if kept is not None:
            if generator != "bernoulli":
                raise ParameterError("pieces have an exact law for bernoulli streams only")
            kept = np.asarray(kept)
            monomials = len(self.coefficients)
            if kept.dtype != np.bool_ or kept.ndim != 2 or len(kept) != monomials:
                raise ShapeError(
                    f"kept is of truth values, for {monomials} monomials and each piece"
                )
            if not kept.any(axis=1).all():
                raise ShapeError(
                    "every monomial keeps a piece at least; leave out those that keep none"
                )
        arrays = self._values(values)
        total = np.zeros(arrays[0].shape)
        for j, a in enumerate(self.coefficients):
            for k, b in enumerate(self.coefficients):
                share = 1.0
                if kept is not None:
                    common = np.sum(kept[j] & kept[k])
                    share = kept.shape[1] * common / (kept[j].sum() * kept[k].sum())
                if share:
                    total += a * b * share * self._covariance(j, k, arrays, generator)
        return np.maximum(total, 0.0)

    def multiplexed_variance(
        self, *values: ArrayLike, generator: str = "bernoulli"
    ) -> NDArray[np.float64]:
        """Variance of the sum by random selection, whatever the streams: `(W^2 - f^2) / L`.

        Each position shows one of the monomials with probability `|a_k| / W`, `W` the sum of sizes:
        independent values of `W` and `-W` with the mean `f`.
        """
        _check_generator(generator)
        if generator != "bernoulli":
            raise ParameterError("random selection has an exact law for bernoulli streams only")
        weight = np.abs(self.coefficients).sum()
        mean = np.tensordot(self.coefficients, self._monomials(self._values(values)), axes=1)
        variance: NDArray[np.float64] = (weight**2 - mean**2) / self.stream_length
        return variance

"""Where a sum of monomials spends the length of its streams."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import LONGEST, WORD, one_name, real_array, whole, written
from hesc.streams.arrays import EncryptedArray
from hesc.streams.polynomials.measured import Summed, measured_error
from hesc.streams.theory import MonomialSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.streams.encoding import EncoderOptions

METHODS = ("concatenated", "multiplexed", "mixed")


def best_pieces(
    variances: NDArray[np.float64], granularity: int, ciphertexts: int
) -> NDArray[np.int64]:
    """How many pieces each summand keeps for the least total variance `sum v_k / n_k`.

    `v_k` is the summand's variance if it kept one piece, `n_k` between 1 and `granularity`, and
    their sum is `ciphertexts * granularity`. Each step gives a piece to the summand that gains most
    by it: exact, because each summand's gains fall (Fox 1966).
    """
    count = len(variances)
    total = min(ciphertexts, count) * granularity
    if total < count:
        raise ShapeError(
            f"{count} monomials need a piece each, {total} pieces are there; take a larger "
            f"granularity or more ciphertexts"
        )
    pieces = np.ones(count, dtype=np.int64)

    def gain(k: int) -> tuple[float, int]:
        return (-variances[k] * (1 / pieces[k] - 1 / (pieces[k] + 1)), k)

    heap = [gain(k) for k in range(count) if granularity > 1]
    heapq.heapify(heap)
    for _ in range(total - count):
        _, k = heapq.heappop(heap)
        pieces[k] += 1
        if pieces[k] < granularity:
            heapq.heappush(heap, gain(k))
    return pieces


def mean_covariance(exponents: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
    """Covariance of the bits of each pair of monomials, its mean over inputs uniform in [-1, 1].

    Monomials share copies: `E[prod x^|a - b|] - E[prod x^(a + b)]`, and `E[x^d]` is `1 / (d + 1)`
    for even `d`, else 0.
    """
    keys = np.asarray(exponents)

    def mean(powers: NDArray[np.int64]) -> NDArray[np.float64]:
        means: NDArray[np.float64] = np.where(powers % 2 == 0, 1 / (powers + 1), 0.0)
        product: NDArray[np.float64] = np.prod(means, axis=-1)
        return product

    a, b = keys[:, np.newaxis], keys[np.newaxis]
    return mean(np.abs(a - b)) - mean(a + b)


def kept_pieces(pieces: NDArray[np.int64], granularity: int) -> NDArray[np.bool_]:
    """Which pieces each summand keeps: they lie on a line that winds around the streams."""
    kept = np.zeros((len(pieces), granularity), dtype=np.bool_)
    line = 0
    for row, count in zip(kept, pieces, strict=True):
        row[np.arange(line, line + count) % granularity] = True
        line += int(count)
    return kept


def shared_pieces(pieces: NDArray[np.int64], granularity: int) -> NDArray[np.int64]:
    """How many pieces each pair of summands keeps both: overlaps of arcs of the winding line."""
    starts = (np.cumsum(pieces) - pieces) % granularity
    ends = starts + pieces
    overlaps = np.zeros((len(pieces), len(pieces)), dtype=np.int64)
    # No arc is longer than one turn, so that two meet where they lie, or a turn before or after.
    for turn in (-granularity, 0, granularity):
        last = np.minimum(ends[:, np.newaxis], ends + turn)
        first = np.maximum(starts[:, np.newaxis], starts + turn)
        overlaps += np.maximum(last - first, 0)
    return overlaps


_SEARCHED = 32
"""Most monomials whose order is searched."""


def settle(
    pieces: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    covariance: NDArray[np.float64],
    granularity: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """An order of the summands on the line, and their pieces in that order.

    Summands that keep the same piece add their covariance. From the best division of independent
    ones, neighbouring solutions (two summands swapped, or a piece passed on) are taken for as long
    as the variance falls.
    """
    count = len(pieces)
    weighted = coefficients[:, np.newaxis] * coefficients * covariance

    def variance(order: NDArray[np.int64], kept: NDArray[np.int64]) -> float:
        shares = shared_pieces(kept, granularity) / np.outer(kept, kept)
        return float(np.sum(weighted[np.ix_(order, order)] * shares))

    order, kept = np.arange(count), pieces.copy()
    best = variance(order, kept)
    improved = count <= _SEARCHED
    while improved:
        improved = False
        for i in range(count):
            for j in range(count):
                moves = []
                if i < j:
                    swapped = order.copy()
                    swapped[[i, j]] = order[[j, i]]
                    with_pieces = kept.copy()
                    with_pieces[[i, j]] = kept[[j, i]]
                    moves.append((swapped, with_pieces))
                if i != j and kept[i] > 1 and kept[j] < granularity:
                    passed = kept.copy()
                    passed[i] -= 1
                    passed[j] += 1
                    moves.append((order, passed))
                for new_order, new_kept in moves:
                    found = variance(new_order, new_kept)
                    if found < best * (1 - 1e-12):
                        best, order, kept, improved = found, new_order, new_kept, True
    return order, kept


@dataclass(frozen=True, eq=False)
class Summation:
    """A way to sum monomials. Made by `hesc.Polynomial.summation`."""

    method: str
    coefficients: NDArray[np.float64]
    exponents: list[tuple[int, ...]]
    stream_length: int
    pieces: NDArray[np.int64] | None
    """Pieces that each monomial keeps, in its order ("mixed")."""
    order: NDArray[np.int64]
    """In which order the monomials take their pieces."""
    granularity: int
    random_state: int

    @classmethod
    def for_sum(
        cls,
        coefficients: NDArray[np.float64],
        exponents: list[tuple[int, ...]],
        stream_length: int,
        *,
        method: str,
        ciphertexts: int | None,
        granularity: int | None,
        random_state: int,
    ) -> Summation:
        """See `hesc.Polynomial.summation`."""
        stream_length = whole(stream_length, "stream_length", 1, LONGEST)
        random_state = whole(random_state, "random_state", 0, WORD)
        if granularity is not None:
            granularity = whole(granularity, "granularity", 1, stream_length)
        else:
            granularity = stream_length // 64 if stream_length % 64 == 0 else stream_length
            while granularity < len(coefficients) and stream_length % (2 * granularity) == 0:
                granularity *= 2
        one_name(method, "method", METHODS)
        pieces, order = None, np.arange(len(coefficients))
        if method == "mixed":
            if ciphertexts is None:
                raise ParameterError('"mixed" needs ciphertexts: how many result streams to fill')
            ciphertexts = whole(ciphertexts, "ciphertexts", 1)
            covariance = mean_covariance(exponents)
            alone = coefficients**2 * np.diag(covariance)
            pieces = best_pieces(alone, granularity, ciphertexts)
            order, pieces = settle(pieces, coefficients, covariance, granularity)
        return cls(
            method=method,
            coefficients=coefficients,
            exponents=exponents,
            stream_length=stream_length,
            pieces=pieces,
            order=order,
            granularity=granularity,
            random_state=random_state,
        )

    @property
    def streams(self) -> int:
        """Result streams of `stream_length` bits: what goes back, in units of one input."""
        if self.method == "multiplexed":
            return 1
        if self.pieces is None:
            return len(self.coefficients)
        return int(-(-self.pieces.sum() // self.granularity))

    def sums(self, coefficients: NDArray[np.float64], exponents: Sequence[tuple[int, ...]]) -> bool:
        """Whether these are the monomials it sums."""
        same = list(exponents) == self.exponents
        return same and np.array_equal(coefficients, self.coefficients)

    def sum(self, monomials: Sequence[EncryptedArray], repetition: int = 0) -> EncryptedArray:
        """The weighted sum of monomials of one shape."""
        if len(monomials) != len(self.coefficients):
            raise ShapeError(f"{len(self.coefficients)} monomials are needed, got {len(monomials)}")
        length = monomials[0].stream_length
        if length != self.stream_length:
            raise ShapeError(
                f"this sum is for streams of {self.stream_length} bits, these have {length}"
            )
        if self.method == "concatenated":
            return EncryptedArray.weighted_sum(monomials, self.coefficients)
        stacked = EncryptedArray.concatenate([monomials[k][np.newaxis] for k in self.order])
        if self.pieces is None:
            return stacked.multiplexed_sum(
                axis=0,
                coefficients=self.coefficients,
                random_state=(self.random_state + repetition) % 2**64,
            )
        return stacked.allocated_sum(
            axis=0,
            coefficients=self.coefficients[self.order],
            pieces=self.pieces,
            granularity=self.granularity,
        )

    # Squares of small values are nothing beside one, and large values are refused.
    @np.errstate(over="ignore", under="ignore")
    def predicted_error(
        self, *values: ArrayLike, draws: int = 64, **options: Unpack[EncoderOptions]
    ) -> NDArray[np.float64]:
        """The root mean square error of the sum for inputs in the clear, for any encoder.

        Exact for "bernoulli" and, by concatenation in one variable, for "exact_weight" streams of
        the inverted-bipolar representation. For all others, the default among them, it is measured:
        what an encryptor with these options would encrypt is encoded `draws` times with other seeds
        and summed in the clear, so that the figure itself has a relative error near
        `1 / sqrt(2 draws)` where errors of single draws are alike. Where few of them err at all, as
        at values that streams nearly hold, it can be several times too small: take more draws.
        Cost: bounded memory, and a second for about 10^9 bits, `draws` streams for each value and
        monomial.

        >>> from hesc import Polynomial
        >>> summation = Polynomial([1, -0.5, 0, 2]).summation(1024)
        >>> independent = summation.predicted_error(0.5, generator="bernoulli")
        >>> bool(summation.predicted_error(0.5) < independent / 10)
        True

        Args:
            *values: the values of each variable; they broadcast.
            draws: how many draws are measured, from 2 on.
            **options: generator, representation, first_dimension, factors and random_state (0 by
                default here), as for the encryptor of the inputs; see `hesc.Encoder`.

        Raises:
            ShapeError: another number of variables, or shapes that do not fit.
            OutOfRangeError: values that the representation does not have, or more of them than are
                measured in a quarter of an hour.

        """
        given = [real_array(value) for value in values]
        variables = len(self.exponents[0])
        if len(given) != variables:
            raise ShapeError(f"this sum is of {variables} variables, got values of {len(given)}")
        try:
            arrays = np.broadcast_arrays(*given)
        except ValueError as problem:
            shapes = [array.shape for array in given]
            raise ShapeError(f"values of shapes {shapes} do not broadcast") from problem
        count = whole(draws, "draws", 2, LONGEST)
        if options.setdefault("random_state", 0) is not None:
            whole(options["random_state"], "random_state", 0, WORD)
        kept = None
        if self.pieces is not None:
            kept = np.empty((len(self.order), self.granularity), dtype=np.bool_)
            kept[self.order] = kept_pieces(self.pieces, self.granularity)
        at_random = self.method == "multiplexed"
        generator = options.get("generator")
        generator = "" if generator is None else written(generator, "generator")
        lawful = generator == "bernoulli" or (
            generator == "exact_weight" and variables == 1 and self.method == "concatenated"
        )
        if not lawful or options.get("representation") == "unipolar":
            summed = Summed(self.coefficients, self.exponents, self.stream_length, at_random, kept)
            return measured_error(summed, arrays, options, count)
        _within(arrays)
        model = MonomialSum(self.coefficients, self.exponents, self.stream_length)
        if at_random:
            variance = model.multiplexed_variance(*arrays, generator=generator)
        else:
            variance = model.variance(*arrays, generator=generator, kept=kept)
        # Rounding may leave less than nothing where streams hold no noise at all.
        error: NDArray[np.float64] = np.sqrt(np.maximum(variance, 0.0))
        return error


def _within(arrays: Sequence[NDArray[np.float64]]) -> None:
    """Refuses what inverted-bipolar streams do not hold."""
    if not all(np.all(np.abs(array) <= 1) for array in arrays):
        raise OutOfRangeError("values of streams are in [-1, 1]; scale them first")

"""Where a sum of monomials spends the length of its streams."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc.arrays import EncryptedArray
from hesc.theory import MonomialSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

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


@dataclass(frozen=True, eq=False)
class Plan:
    """A way to sum monomials. Made by `hesc.Polynomial.plan`."""

    method: str
    coefficients: NDArray[np.float64]
    exponents: list[tuple[int, ...]]
    stream_length: int
    pieces: NDArray[np.int64] | None
    """Pieces that each monomial keeps ("mixed")."""
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
    ) -> Plan:
        """See `hesc.Polynomial.plan`."""
        if granularity is None:
            granularity = stream_length // 64 if stream_length % 64 == 0 else stream_length
            while granularity < len(coefficients) and stream_length % (2 * granularity) == 0:
                granularity *= 2
        if method not in METHODS:
            raise ParameterError(f"unknown method {method!r}; choose one of {', '.join(METHODS)}")
        pieces = None
        if method == "mixed":
            if ciphertexts is None or ciphertexts < 1:
                raise ParameterError('"mixed" needs ciphertexts: how many result streams to fill')
            # The bits of a monomial have the variance 1 - m^2; inputs uniform in [-1, 1] have
            # E[x^(2a)] = 1 / (2a + 1).
            means = [np.prod([1 / (2 * power + 1) for power in key]) for key in exponents]
            pieces = best_pieces(coefficients**2 * (1 - np.array(means)), granularity, ciphertexts)
        return cls(
            method, coefficients, exponents, stream_length, pieces, granularity, random_state
        )

    @property
    def streams(self) -> int:
        """Result streams of `stream_length` bits: what goes back, in units of one input."""
        if self.method == "multiplexed":
            return 1
        if self.pieces is None:
            return len(self.coefficients)
        return int(-(-self.pieces.sum() // self.granularity))

    def sum(self, monomials: Sequence[EncryptedArray], repetition: int = 0) -> EncryptedArray:
        """The weighted sum of monomials of one shape."""
        if len(monomials) != len(self.coefficients):
            raise ShapeError(f"{len(self.coefficients)} monomials are needed, got {len(monomials)}")
        if self.method == "concatenated":
            return EncryptedArray.weighted_sum(monomials, self.coefficients)
        stacked = EncryptedArray.concatenate([monomial[np.newaxis] for monomial in monomials])
        if self.pieces is None:
            return stacked.multiplexed_sum(
                axis=0,
                coefficients=self.coefficients,
                random_state=(self.random_state + repetition) % 2**64,
            )
        return stacked.allocated_sum(
            axis=0,
            coefficients=self.coefficients,
            pieces=self.pieces,
            granularity=self.granularity,
        )

    def predicted_error(
        self, *values: ArrayLike, generator: str = "bernoulli"
    ) -> NDArray[np.float64]:
        """The standard deviation of the sum for inputs in the clear, exactly.

        For "bernoulli" and, by concatenation in one variable, "exact_weight" streams; the errors of
        structured generators are smaller (`Encoder.predicted_error`).
        """
        arrays = np.broadcast_arrays(*(np.asarray(value, dtype=np.float64) for value in values))
        model = MonomialSum(self.coefficients, self.exponents, self.stream_length)
        if self.method == "multiplexed":
            variance = model.multiplexed_variance(*arrays, generator=generator)
        else:
            variance = model.variance(
                *arrays, generator=generator, kept=self._kept() if self.pieces is not None else None
            )
        return np.sqrt(variance)

    def _kept(self) -> NDArray[np.bool_]:
        """Which pieces each monomial keeps: they lie on a line that winds around the streams."""
        assert self.pieces is not None  # noqa: S101 - for the type checker
        kept = np.zeros((len(self.pieces), self.granularity), dtype=np.bool_)
        line = 0
        for row, count in zip(kept, self.pieces, strict=True):
            row[np.arange(line, line + count) % self.granularity] = True
            line += int(count)
        return kept

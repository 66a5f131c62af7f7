"""How large encrypted integers may be: a public bound that every operation carries on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError
from hesc._support.inputs import of_kind, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams


class Bound(NamedTuple):
    """What the absolute values of a vector's numbers stay within, in exact arithmetic.

    It rests on what was declared and on the sizes of operands in the clear, never on encrypted
    numbers, since it travels with them. Of operands in the clear it tells no more than their size
    up to a power of two. Results that could leave the integers of the set are refused before
    anything is computed.
    """

    most: int | None
    """None where nothing is refused: integers modulo the plaintext modulus; CKKS, whose ciphertexts
    have bounds of their own."""
    params: VectorParams

    @classmethod
    def declared(
        cls, params: VectorParams, dtype: np.dtype[Any], bound: float | None, *, wrap: bool
    ) -> Bound:
        """The bound of numbers to be encrypted: as declared, or what the whole type stays within.

        Raises:
            ParameterError: a bound of integers modulo the plaintext modulus, or those in CKKS; a
                `wrap` that is neither True nor False.
            ShapeError, OutOfRangeError: a bound that is no whole number from 1 to the largest
                integer.

        """
        of_kind(wrap, "wrap", bool, "it is True or False")
        if params.is_approximate and wrap:
            raise ParameterError("wrap=True is for BFV and BGV: CKKS has no modulus to wrap at")
        if wrap and bound is not None:
            raise ParameterError(
                "numbers modulo plain_modulus have no bound; give either bound= or wrap=True"
            )
        if wrap or params.is_approximate:
            return cls(None, params)
        largest = _largest(params)
        if bound is None:
            return cls(min(_of_type(dtype, largest), largest), params)
        return cls(whole(bound, "bound", 1, largest), params)

    def holds(self, numbers: NDArray[np.int64]) -> bool:
        """Whether no number is beyond it."""
        return self.most is None or size_of(numbers) <= self.most

    def plus(self, other: Bound) -> Bound:
        """The bound of a sum or difference."""
        if self.most is None or other.most is None:
            return Bound(None, self.params)
        return Bound(self._checked(self.most + other.most), self.params)

    def times(self, other: Bound) -> Bound:
        """The bound of a product."""
        if self.most is None or other.most is None:
            return Bound(None, self.params)
        return Bound(self._checked(self.most * other.most), self.params)

    def summed(self, count: int) -> Bound:
        """The bound of a sum of `count` numbers."""
        most = self.most
        return self if most is None else Bound(self._checked(most * count), self.params)

    def polynomial(self, sizes: Sequence[int]) -> Bound:
        """The bound of a polynomial with clear coefficients of these absolute values."""
        if self.most is None:
            return self
        exact, told, largest = 0, 0, _largest(self.params)
        for size in reversed(sizes):
            # At least one times what was there: a sum beyond the largest integer stays beyond.
            exact = self._checked(exact * self.most + size)
            told = min(told * self.most + _rounded_up(size), largest)
        return Bound(max(told, 1), self.params)

    def _checked(self, most: int) -> int:
        largest = _largest(self.params)
        if most > largest:
            raise OutOfRangeError(
                f"of integers within {self.most} the result may be beyond {largest}, the largest "
                f"of {self.params.name}, and would be another integer modulo "
                f"{self.params.plain_modulus}: declare what numbers stay within when you encrypt "
                "them (bound=...), take parameters with a larger plain_modulus, or encrypt with "
                "wrap=True to compute modulo it"
            )
        return most


def size_of(numbers: NDArray[np.int64]) -> int:
    """The largest absolute value."""
    return int(np.max(np.abs(numbers), initial=0))


def _largest(params: VectorParams) -> int:
    """The largest integer whose negative is one too."""
    return -params.integer_range[0]


def _of_type(dtype: np.dtype[Any], largest: int) -> int:
    """What all numbers of a type stay within."""
    if dtype.kind == "b":
        return 1
    if dtype.kind == "u":
        return int(np.iinfo(dtype).max)
    return -int(np.iinfo(dtype).min) if dtype.kind == "i" else largest


def _rounded_up(size: int) -> int:
    """The next power of two; zero stays zero."""
    return 1 << (size - 1).bit_length() if size else 0

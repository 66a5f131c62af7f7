"""Powers and quotients by numbers in the clear: what numpy's operators ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import whole
from hesc.vectors.numbers import as_doubles, plain_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from hesc.params.vectors import VectorParams


T = TypeVar("T")

_MOST: Final = 1 << 16


def power(x: T, exponent: object, multiply: Callable[[T, T], T]) -> T:
    """`x ** exponent` in the least depth, `ceil(log2(exponent))`, each power once.

    Raises:
        ShapeError: an exponent that is no whole number.
        ParameterError: 0 and less.

    """
    if isinstance(exponent, np.ndarray) and exponent.ndim == 0:
        exponent = exponent.item()
    if isinstance(exponent, int | np.integer) and not isinstance(exponent, bool) and exponent < 1:
        raise ParameterError(
            f"a power of {exponent} is no product: x ** 0 is one, and quotients of encrypted "
            "numbers need a polynomial that is close to them (`polynomial`)"
        )
    known = {1: x}

    def of(n: int) -> T:
        if n not in known:
            known[n] = multiply(of(n - n // 2), of(n // 2))
        return known[n]

    return of(whole(exponent, "the exponent of **", 1, _MOST))


def reciprocals(params: VectorParams, divisors: ArrayLike | Any) -> NDArray[Any]:
    """What numbers are multiplied with to be divided.

    Raises:
        ParameterError: exact schemes, which have no fractions.
        ZeroDivisionError: a zero.
        OutOfRangeError: what is no number.

    """
    if not params.is_approximate:
        raise ParameterError(
            f"{params.scheme.upper()} computes with integers modulo {params.plain_modulus}, where "
            "a half is no half: divide after decryption, take CKKS, or hesc.integers for quotients"
        )
    array = as_doubles(plain_array(divisors)) * 1.0
    if np.any(array == 0):
        raise ZeroDivisionError("a division by zero has no value")
    with np.errstate(over="ignore", under="ignore"):
        found: NDArray[Any] = 1.0 / array
    if not np.all(np.isfinite(found)):
        raise OutOfRangeError("a divisor is not finite, or its reciprocal is not; give other ones")
    return found


def only_axis(axis: object) -> None:
    """Refuses axes that a vector does not have."""
    axes = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
    for each in axes:
        if whole(each, "axis", -(2**31)) not in {0, -1}:
            raise ShapeError(f"axis {each} does not exist: a vector has one, axis 0")
    if len(axes) > 1:
        raise ShapeError(f"axes {axes} are one and the same: a vector has one")

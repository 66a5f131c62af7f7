"""Numbers in the clear on their way into plaintexts: what each scheme can hold, checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc import _native
    from hesc.leveled.params import LeveledParams


def integers(params: LeveledParams, values: ArrayLike) -> NDArray[np.int64]:
    """Integers of `params.integer_range`, of any shape: for BFV and BGV.

    Whatever integers are encoded for (encryption, operands, scalars, coefficients, matrices), those
    outside would act as other numbers.

    Raises:
        OutOfRangeError: numbers outside, or of another kind than whole ones.

    """
    array = plain_array(values)
    if array.dtype.kind == "O" and all(isinstance(value, int) for value in array.flat):
        pass  # Python's integers beyond 64 bits: out of range, as the comparison says.
    elif array.dtype.kind not in "biu":
        raise OutOfRangeError(
            f"{params.scheme.upper()} computes with integers; got {array.dtype}. Scale and round "
            "first, or take CKKS"
        )
    smallest, largest = params.integer_range
    if array.dtype.kind != "b" and np.any((array < smallest) | (array > largest)):
        raise OutOfRangeError(
            f"integers lie in {smallest}..{largest}, next to zero modulo the plaintext modulus "
            f"{params.plain_modulus}: others would act as different numbers; take parameters with "
            "a larger plain_modulus"
        )
    return array.astype(np.int64, order="C", copy=False)


def complex_numbers(values: ArrayLike) -> NDArray[np.complex128]:
    """Real or complex numbers, of any shape: for CKKS.

    Raises:
        OutOfRangeError: what is no number.

    """
    array = plain_array(values)
    if array.dtype.kind not in "biufc":
        raise OutOfRangeError(f"CKKS computes with numbers; got {array.dtype}")
    return array.astype(np.complex128, order="C", copy=False)


def negated(params: LeveledParams, values: Any) -> NDArray[Any]:
    """Minus the numbers: signed, which unsigned arrays of numpy are not."""
    if params.scheme != "ckks":
        return -integers(params, values)
    array = plain_array(values)
    return -(array.astype(np.float64) if array.dtype.kind in "biu" else array)


def plain_array(values: ArrayLike) -> NDArray[Any]:
    """An array; a masked one is refused, since nothing would remember its mask."""
    if isinstance(values, np.ma.MaskedArray):
        raise OutOfRangeError("masked arrays are not taken: fill in or remove what is masked")
    return np.asarray(values)


def one_axis(array: NDArray[Any]) -> None:
    """Refuses what is no vector."""
    if array.ndim != 1:
        raise ShapeError(f"a vector has one dimension; got shape {array.shape}")


def encode_for_encryption(
    params: LeveledParams, values: ArrayLike, bound: float | None
) -> _native.LeveledPlaintext:
    """A one-dimensional array into slots, the rest of which are zero, to be encrypted.

    Args:
        params: the parameter set.
        values: integers of `params.integer_range` for BFV and BGV; real or complex for CKKS.
        bound: CKKS: what their absolute values stay within, public; that of the set by default.

    Raises:
        OutOfRangeError: numbers outside their range.
        ParameterError: a bound for integers, or one that is not positive.

    """
    if params.scheme != "ckks":
        if bound is not None:
            raise ParameterError(
                "a bound is for CKKS; integers have the range of the plaintext modulus"
            )
        return encode_operand(params, values)
    numbers = complex_numbers(values)
    one_axis(numbers)
    return params.native.encode_bounded(numbers, params.bound if bound is None else bound)


def encode_operand(
    params: LeveledParams, values: ArrayLike, *, scale: float = 1.0, level: int = 1
) -> _native.LeveledPlaintext:
    """As `encode_for_encryption`, of an operand in the clear; `scale` and `level` are for CKKS.

    The result of an operation says how large its operands in the clear were, up to a power of two.
    """
    if params.scheme == "ckks":
        numbers = complex_numbers(values)
        one_axis(numbers)
        return params.native.encode_complex(numbers, scale, level)
    whole = integers(params, values)
    one_axis(whole)
    return params.native.encode_integers(whole, False)

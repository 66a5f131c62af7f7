"""Numbers in the clear on their way into plaintexts: what each scheme can hold, checked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc import _native
from hesc._native import DecryptionError, OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import not_endless, real
from hesc.vectors.bounds import Bound

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.params.vectors import VectorParams


def integers(params: VectorParams, values: ArrayLike) -> NDArray[np.int64]:
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
            f"integers lie in {smallest}..{largest}, centred modulo the plaintext modulus "
            f"{params.plain_modulus}: others would act as different numbers; take parameters with "
            "a larger plain_modulus"
        )
    return array.astype(np.int64, order="C", copy=False)


def complex_numbers(values: ArrayLike) -> NDArray[np.complex128]:
    """Real or complex numbers, of any shape: for CKKS.

    Raises:
        OutOfRangeError: what is no number.

    """
    return as_doubles(plain_array(values)).astype(np.complex128, order="C", copy=False)


def as_doubles(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers of any kind as numpy computes with them: Python's large integers as doubles.

    Raises:
        OutOfRangeError: what is no number, or too large for doubles.

    """
    if array.dtype.kind == "O" and all(isinstance(value, int) for value in array.flat):
        try:
            return array.astype(np.float64)
        except OverflowError:
            raise OutOfRangeError("an integer is too large for doubles") from None
    if array.dtype.kind not in "biufc":
        raise OutOfRangeError(f"CKKS computes with numbers; got {array.dtype}")
    return array


def negated(params: VectorParams, values: Any) -> NDArray[Any]:
    """Minus the numbers: signed, which unsigned arrays of numpy are not."""
    if not params.is_approximate:
        return -integers(params, values)
    array = as_doubles(plain_array(values))
    return -(array.astype(np.float64) if array.dtype.kind in "biu" else array)


def plain_array(values: ArrayLike) -> NDArray[Any]:
    """An array; a masked one is refused, since nothing would remember its mask."""
    if isinstance(values, np.ma.MaskedArray):
        raise OutOfRangeError("masked arrays are not taken: fill in or remove what is masked")
    not_endless(values, "numbers")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ShapeError(f"these numbers make no array: {error}") from None
    # numpy takes no numbers for floats, which exact schemes would refuse for the wrong reason.
    return array if array.size else array.astype(np.int64)


def coefficients_of(
    params: VectorParams, values: ArrayLike
) -> NDArray[np.int64] | NDArray[np.complex128]:
    """Finite numbers of any shape; whole ones for BFV and BGV, where floats may hold them too.

    Raises:
        OutOfRangeError: other numbers, or what is none.

    """
    array = plain_array(values)
    if params.is_approximate:
        numbers = complex_numbers(array)
        if not np.all(np.isfinite(numbers)):
            raise OutOfRangeError("a number is not finite; give finite ones")
        return numbers
    # Doubles hold every integer up to 2^53; what is not beyond the range is what it says.
    if array.dtype.kind == "f" and np.all(np.abs(array.astype(np.float64)) <= 2.0**53):
        whole = array.astype(np.int64)
        if not np.any(whole != array):
            array = whole
    return integers(params, array)


def period_of(length: int) -> int:
    """After how many slots a vector's copies begin again."""
    return 1 << (length - 1).bit_length()


def filled(params: VectorParams, array: NDArray[Any], length: int) -> NDArray[Any]:
    """All slots of a vector of this length, for the same number of values or one for all.

    Copies fill them, in periods of the next power of two, with zeros behind the numbers of each.
    """
    period = period_of(length)
    slots = np.zeros((params.slot_count // period, period), dtype=array.dtype)
    slots[:, :length] = array
    return slots.reshape(-1)


def one_axis(array: NDArray[Any]) -> None:
    """Refuses what is no vector."""
    if array.ndim != 1:
        raise ShapeError(f"a vector has one dimension; got shape {array.shape}")


def vectors_only(params: VectorParams) -> None:
    """Refuses odd rings, whose slots are not filled by copies and rotate along dimensions."""
    if params.ring_index % 2:
        raise ParameterError(
            f"{params.name} has a ring of odd index: its slots are encrypted by "
            "SecretKey.pack and packing.encrypt, and read by EncryptedSlots.from_bytes"
        )


def encode_for_encryption(
    params: VectorParams, values: ArrayLike, bound: float | None, *, wrap: bool
) -> tuple[_native.Plaintext, Bound]:
    """A one-dimensional array into slots, copies of which fill them, to be encrypted.

    Args:
        params: the parameter set.
        values: integers of `params.integer_range` for BFV and BGV; real or complex for CKKS.
        bound: what their absolute values stay within, public; by default in CKKS that of the set,
            for integers that of their type, which is the whole range for numpy's and Python's own.
        wrap: BFV and BGV: without a bound, for results modulo the plaintext modulus.

    Raises:
        OutOfRangeError: numbers outside their range or bound; a bound of integers that is.
        ShapeError: no vector, an empty one, or more numbers than there are slots; a bound of
            integers that is no whole number.
        ParameterError: a bound that is not positive, or with `wrap`; `wrap` in CKKS, or neither
            True nor False.

    """
    vectors_only(params)
    array = plain_array(values)
    one_axis(array)
    if not 1 <= len(array) <= params.slot_count:
        raise ShapeError(
            f"a vector has from 1 to {params.slot_count} numbers, the slots of {params.name}; got "
            f"{len(array)}"
        )
    declared = Bound.declared(params, array.dtype, bound, wrap=wrap)
    if params.is_approximate:
        numbers = filled(params, complex_numbers(array), len(array))
        most = params.bound if bound is None else real(bound, "bound")
        return _native.Plaintext.encode_bounded(params, numbers, most), declared
    if not declared.holds(integers(params, array)):
        raise OutOfRangeError(
            "the absolute value of a number is beyond the bound declared for encrypted integers, "
            "which is public; declare a larger one with bound=..."
        )
    return encode_operand(params, array, len(array)), declared


def encode_operand(
    params: VectorParams,
    array: NDArray[Any],
    length: int,
    *,
    scale: float = 1.0,
    level: int = 1,
) -> _native.Plaintext:
    """An operand in the clear for a vector of this length: as many numbers, or one for all.

    Copies fill the slots as they do the vector's; `scale` and `level` are for CKKS.

    The result of an operation says how large its operands in the clear were, up to a power of two.
    """
    if params.is_approximate:
        numbers = filled(params, complex_numbers(array), length)
        return _native.Plaintext.encode_complex(params, numbers, scale, level)
    return _native.Plaintext.encode_integers(
        params, filled(params, integers(params, array), length), False
    )


def decoded(
    plaintext: _native.Plaintext, length: int, bound: Bound, *, complex_values: bool
) -> NDArray[Any]:
    """The first numbers of a plaintext.

    Raises:
        DecryptionError: numbers beyond what the ciphertext claimed.

    """
    if not bound.params.is_approximate:
        slots = plaintext.decode_integers(False)
        if not bound.holds(slots):
            raise DecryptionError(
                "decryption failed: integers are beyond what the vector claims; the ciphertext "
                "was altered, belongs to another key, or claims what is not so"
            )
        return slots[:length]
    numbers = plaintext.decode_complex()[:length]
    return numbers if complex_values else numbers.real.copy()

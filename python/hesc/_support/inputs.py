"""Numbers as users hand them in, checked and in the form that the compiled part takes."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError, WireError
from hesc._support.memory import make_room

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")

WORD: Final = 2**64 - 1
"""The largest seed."""
INDEX: Final = 2**32 - 1
"""The largest dimension or draw."""
LONGEST: Final = 2**24
"""The longest stream."""
UNROLLED: Final = 2**24
"""Numbers of a range that become an array."""


def unmasked(values: ArrayLike, name: str) -> NDArray[Any]:
    """Values as an array.

    Raises:
        ShapeError: rows of different lengths; a masked array, whose hidden entries would be taken
            as they are.

    """
    not_masked(values, name)
    not_endless(values, name)
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ShapeError(f"{name} do not form an array: {error}") from error


def real_array(values: ArrayLike, name: str = "values") -> NDArray[np.float64]:
    """Values as doubles, aligned and contiguous.

    Raises:
        MemoryError: values that there is no memory for.
        ShapeError: what is not an array of real numbers: strings, complex numbers, objects, arrays
            with masked entries.

    """
    array = unmasked(values, name)
    if array.dtype.kind not in "buif":
        raise ShapeError(
            f"{name} must be real numbers, got dtype {array.dtype}; convert them to float"
        )
    # What was broadcast takes no memory before it is copied.
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        make_room(8 * array.size, f"{array.size:,} {name}")
    # Not ascontiguousarray, which gives a number an axis.
    array = np.asarray(array, dtype=np.float64, order="C")
    return array if array.flags.aligned else array.copy()


def whole_array(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Whole numbers as a contiguous array; refuses fractions."""
    array = real_array(values, name)
    if not np.all(array == np.floor(array)) or np.any(np.abs(array) > 2.0**53):
        raise ShapeError(f"{name} must be whole numbers, got {array}")
    return np.ascontiguousarray(array, dtype=np.int64).reshape(array.shape)


# Whole numbers from here on are named and not written.
_WRITTEN = 10**40


def whole(value: object, name: str, least: int, most: int = 2**63 - 1) -> int:
    """A whole number from `least` to `most`.

    Raises:
        ShapeError: what is not a whole number (1.5, "2", True).
        OutOfRangeError: one outside the range.

    """
    is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_whole:
        raise ShapeError(f"{name} must be a whole number, not {value!r}")
    number = operator.index(value)  # type: ignore[arg-type]
    if not least <= number <= most:
        # Python refuses to write numbers of thousands of digits.
        shown = number if abs(number) < _WRITTEN else "a number of very many digits"
        raise OutOfRangeError(f"{name} is {shown}, not in {least} to {most}")
    return number


def real(value: object, name: str, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number from `least` to `most`.

    Raises:
        ShapeError: what is no real number ("2", None, True).
        OutOfRangeError: NaN, infinities, one outside the range or beyond doubles.

    """
    is_real = isinstance(value, float | int | np.floating | np.integer)
    if not is_real or isinstance(value, bool):
        raise ShapeError(f"{name} must be a number, not of the type {type(value).__name__}")
    try:
        number = float(value)  # type: ignore[arg-type]
    except OverflowError:
        number = math.inf
    if not (math.isfinite(number) and least <= number <= most):
        ends = f" from {least:g}" * (least > -math.inf) + f" to {most:g}" * (most < math.inf)
        raise OutOfRangeError(f"{name} is a finite number{ends}; got {number}")
    return number


def several(values: Iterable[T], name: str, remedy: str) -> list[T]:
    """What a list, or anything else that has entries, has.

    Raises:
        ParameterError: what has none, and texts, which have letters.

    """
    if isinstance(values, str | bytes | bytearray) or not isinstance(values, Iterable):
        raise ParameterError(f"{name} are of the type {type(values).__name__}; {remedy}")
    try:
        return list(values)
    except TypeError as error:  # An array without axes has entries by its type only.
        raise ParameterError(f"{name} have no entries: {error}; {remedy}") from None


def wholes(values: Iterable[object], name: str) -> list[int]:
    """Numbers from zero on, each as `whole` takes it."""
    return [whole(value, name, 0) for value in values]


def of_kind(value: object, name: str, kind: type[T], remedy: str) -> T:
    """An object of this class.

    Raises:
        ParameterError: for anything else.

    """
    if not isinstance(value, kind):
        raise ParameterError(f"{name} is of the type {type(value).__name__}; {remedy}")
    return value


def wire_bytes(data: object) -> bytes:
    """Bytes that somebody sent, of any type that holds them.

    Raises:
        ParameterError: what is no bytes.

    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ParameterError(
            f"this is read from bytes, as to_bytes gives them; got {type(data).__name__}"
        )
    return bytes(data)


def written(value: object, name: str) -> str:
    """A text that can be written: of whole letters.

    Half a pair of surrogates is none. Files that are damaged, and JSON's escapes, give such texts.

    Raises:
        ParameterError: what is no text, or none that can be written; the text is not repeated.

    """
    text = of_kind(value, name, str, "it is a text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ParameterError(
            f"{name} holds half a pair of surrogates, which is no letter; read the text anew, or "
            "replace it: text.encode(errors='replace').decode()"
        ) from None
    return text


def one_name(value: object, name: str, names: Collection[str]) -> str:
    """One of some names.

    Raises:
        ParameterError: anything else.

    """
    if not isinstance(value, str):
        raise ParameterError(
            f"{name} is one of {', '.join(names)}; got what is of the type {type(value).__name__}"
        )
    if written(value, name) not in names:
        raise ParameterError(f"there is no {name} {value!r}; choose one of {', '.join(names)}")
    return value


def not_masked(values: object, name: str) -> None:
    """Refuses what would be taken with its hidden entries as they are.

    Raises:
        ShapeError: a masked array.

    """
    if isinstance(values, np.ma.MaskedArray):
        raise ShapeError(f"{name} are a masked array; fill or remove what is masked, see filled()")


def not_endless(values: object, name: str) -> None:
    """Refuses what numpy would write out at length before anybody could look at it.

    Raises:
        ShapeError: a lazy sequence of more numbers than `UNROLLED`.

    """
    if isinstance(values, range) and values[UNROLLED:]:
        raise ShapeError(
            f"{name} are a range of more than {UNROLLED} numbers, which would be written out at "
            "once; give parts of it one after the other"
        )


def flat(positions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions one after the other; broadcast arrays repeat theirs without holding them.

    Raises:
        MemoryError: positions that there is no memory for.

    """
    make_room(8 * positions.size, f"{positions.size:,} elements")
    return np.ascontiguousarray(positions.reshape(-1))


def as_many(found: int, asked: int | None) -> None:
    """Refuses an answer of more or fewer samples than were asked about, where that is known.

    Raises:
        WireError: naming both numbers.

    """
    if asked not in (None, found):
        raise WireError(
            f"the answer is of {found} samples, the query of {asked}: which is whose cannot be "
            f"told; ask again"
        )

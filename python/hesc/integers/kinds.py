"""What numbers an encrypted integer may be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

_WIDEST: Final = 256
_WORD: Final = 64


@dataclass(frozen=True)
class IntegerKind:
    """Integers of so many bits: two's complement if `signed`; `bool` is one bit without sign."""

    width: int
    signed: bool = False
    boolean: bool = False

    def __post_init__(self) -> None:
        """Refuses what no circuit is for."""
        if type(self.width) is not int or not {type(self.signed), type(self.boolean)} <= {bool}:
            raise ParameterError(
                "a kind is a whole number of bits and whether it is signed, and truth values; got "
                f"{self.width!r}, {self.signed!r}, {self.boolean!r}"
            )
        if self.boolean and (self.signed or self.width != 1):
            raise ParameterError("truth values have one bit and no sign")
        if not 1 + self.signed <= self.width <= _WIDEST:
            raise ParameterError(
                f"integers have 1 to {_WIDEST} bits, 2 with a sign; {self.width} are none: convert "
                "operands to fewer with astype"
            )

    @property
    def least(self) -> int:
        """The smallest."""
        return -(1 << (self.width - 1)) if self.signed else 0

    @property
    def most(self) -> int:
        """The largest."""
        return (1 << (self.width - self.signed)) - 1

    @property
    def numpy(self) -> np.dtype[Any]:
        """The numpy type that holds them: of the same name, or the next wider; else objects."""
        if self.boolean:
            return np.dtype(bool)
        for width in (8, 16, 32, 64):
            if self.width <= width:
                return np.dtype(f"{'int' if self.signed else 'uint'}{width}")
        return np.dtype(object)

    def __str__(self) -> str:
        return "bool" if self.boolean else f"{'int' if self.signed else 'uint'}{self.width}"


BOOL: Final = IntegerKind(1, boolean=True)


def kind_of(dtype: IntegerKind | DTypeLike) -> IntegerKind:
    """The kind of a name ("uint24", "int8", "bool"), a numpy type or a kind.

    Raises:
        ParameterError: what is no integer type of 1 to 256 bits.

    """
    if isinstance(dtype, IntegerKind):
        return dtype
    found = re.fullmatch(r"(u?)int([1-9][0-9]{0,2})", dtype) if isinstance(dtype, str) else None
    if found:
        width, signed = int(found[2]), not found[1]
        return IntegerKind(width, signed)
    try:
        known = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{dtype!r} is no integer type; take 'uint24', numpy.int8 ..."
        ) from error
    if known.kind == "b":
        return BOOL
    if known.kind not in "iu":
        raise ParameterError(
            f"{known} is no integer type; for fractions take hesc.integers.FixedPoint: whole "
            "multiples of a scale of yours"
        )
    return IntegerKind(8 * known.itemsize, known.kind == "i")


def common(a: IntegerKind, b: IntegerKind) -> IntegerKind:
    """The kind that holds both, as numpy promotes: one bit more where signs are mixed.

    Raises:
        ParameterError: of a 64-bit number without sign and a signed one, for which numpy has
            doubles.

    """
    if a.signed == b.signed:
        return max((a, b), key=lambda kind: (kind.width, not kind.boolean))
    signed, other = (a, b) if a.signed else (b, a)
    if signed.width > other.width:
        return signed
    whole = {8, 16, 32, 64}
    if signed.width in whole and other.width in whole:
        if other.width == _WORD:
            raise ParameterError(
                f"{a} and {b} have no common integer type in numpy (it takes doubles); convert one "
                "with astype"
            )
        return IntegerKind(2 * other.width, signed=True)
    return IntegerKind(other.width + 1, signed=True)


def check_range(numbers: Any, kind: IntegerKind, what: str) -> np.ndarray[Any, Any]:
    """Whole numbers within a kind's range, as an array of objects or words.

    Raises:
        OutOfRangeError: others; values never wrap on their way in.

    """
    if isinstance(numbers, np.ma.MaskedArray):
        raise OutOfRangeError(f"{what} are a masked array; fill or remove what is masked")
    array = np.asarray(numbers)
    if array.dtype.kind == "f" and not isinstance(numbers, np.ndarray | np.generic):
        # numpy makes doubles of lists whose numbers fit no word.
        array = np.asarray(numbers, dtype=object)
    if array.dtype.kind == "O":
        elements = list(array.reshape(-1))
        whole = all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in elements)
    else:
        whole = array.dtype.kind in "biu"
    if not whole:
        raise OutOfRangeError(f"{what} are whole numbers; got {array.dtype}")
    if array.size and (int(array.min()) < kind.least or int(array.max()) > kind.most):
        raise OutOfRangeError(
            f"{what} lie in {kind.least}..{kind.most} as {kind}, and some do not: take a wider type"
        )
    return array

"""What the parties of a linkage agree on: sizes, parameters, bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError, WireError
from hesc._support.inputs import whole, whole_array
from hesc.codes.sets import hiding
from hesc.params import Params

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.params.streams import StreamParams

# Codes that an answer has the distances of: two groups of the compiled part's.
ROWS: Final = 512
_BITS: Final = 40
_MOST: Final = 1 << 24


# The first of the comparer's records that an answer is about.
_FIRST: Final = struct.Struct("<I")


def numbered(first: int, distances: bytes) -> bytes:
    """An answer: distances, and from which record on."""
    return _FIRST.pack(first) + distances


def numbers_of(answer: bytes) -> tuple[int, bytes]:
    """What `numbered` was given.

    Raises:
        WireError: what is no answer.

    """
    if not isinstance(answer, bytes) or len(answer) < _FIRST.size:
        raise WireError("an answer of the comparer's is bytes that begin with a position")
    return _FIRST.unpack_from(answer)[0], answer[_FIRST.size :]


def pairs_of(pairs: ArrayLike, name: str) -> NDArray[np.int64]:
    """Rows of two positions, or none.

    Raises:
        ShapeError: of another shape.

    """
    rows = whole_array(pairs, name)
    if not rows.size:
        return np.empty((0, 2), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise ShapeError(f"{name} are rows of two positions; got shape {rows.shape}")
    return rows


@dataclass(frozen=True)
class LinkagePlan:
    """Sizes, which all parties know, and what follows from them.

    Attributes:
        sent: records of the party that encrypts.
        compared: records of the party that compares.
        bits: of a code.

    """

    sent: int
    compared: int
    bits: int = 512

    def __post_init__(self) -> None:
        whole(self.sent, "sent", 1, _MOST)
        whole(self.compared, "compared", 1, _MOST)
        whole(self.bits, "bits", 64, 1 << 16)
        if self.bits % 64:
            raise ParameterError(f"bits is {self.bits}; codes have a multiple of 64")
        self.preset  # noqa: B018 - it refuses what no set has room for

    @property
    def coefficients(self) -> int:
        """Coefficients that are shown to who decrypts: those of whole rings."""
        return -(-self.sent // 4096) * 4096 * self.compared

    @property
    def statistical_bits(self) -> int:
        """Bits of statistical security of hidden noise: 40, `2**-23` as a statistical distance."""
        return _BITS

    @property
    def preset(self) -> str:
        """The name of the parameters.

        Raises:
            OutOfRangeError: codes, or numbers of pairs, that no set has room for.

        """
        found = hiding(self.bits, self.coefficients)
        if found is not None:
            return found.name
        raise OutOfRangeError(
            f"codes of {self.bits} bits, {self.sent} by {self.compared}, have no parameters: take "
            f"512 bits at most and link parts of the records, under keys of their own"
        )

    def params(self) -> StreamParams:
        """The parameters, for `hesc.keygen` of the matcher."""
        found: StreamParams = Params.preset(self.preset)
        return found

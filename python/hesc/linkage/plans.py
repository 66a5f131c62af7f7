"""What the parties of a linkage agree on: sizes, parameters, bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hesc._native import OutOfRangeError, ParameterError
from hesc.inputs import whole
from hesc.params import Params

# Codes that an answer has the distances of: two groups of the compiled part's.
ROWS: Final = 512
# The sets with room for noise that hides, the smaller first: bits of a code that their plaintext
# modulus holds, and coefficients that they show at 40 bits of statistical security.
_SETS: Final = (
    ("bfv_4096_distances", 512, 42_000_000),
    ("bfv_4096_distances_large", 512, 1 << 36),
)
_BITS: Final = 40
_MOST: Final = 1 << 24


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
        """Bits of statistical security with which noise is hidden."""
        return _BITS

    @property
    def preset(self) -> str:
        """The name of the parameters.

        Raises:
            OutOfRangeError: codes, or numbers of pairs, that no set has room for.

        """
        for name, bits, coefficients in _SETS:
            if self.bits <= bits and self.coefficients <= coefficients:
                return name
        raise OutOfRangeError(
            f"codes of {self.bits} bits, {self.sent} by {self.compared}, have no parameters: take "
            f"512 bits at most and link parts of the records, under keys of their own"
        )

    def params(self) -> Params:
        """The parameters, for `hesc.keygen` of the matcher."""
        return Params.preset(self.preset)

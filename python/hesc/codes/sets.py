"""The parameter sets for distances of codes: what each has room for, and bytes on the wire."""

from __future__ import annotations

from typing import Final, NamedTuple

_GROUP: Final = 256
"""Records whose distances lie together."""


class DistanceSet(NamedTuple):
    """A preset, and the bytes of one block of probes under it, which tests hold to real ones."""

    name: str
    """The preset's name."""
    block: int
    """Probes that share a block: the ring degree."""
    bits: int
    """Bits of a code, at most: the plaintext modulus holds their number."""
    coefficients: int
    """Coefficients that may be shown with 40 bits of statistical security, `2**-23` as a
    statistical distance; 0 without room for such noise."""
    column: int
    """Bytes of the block's bits at one place of the codes."""
    record: int
    """Bytes of a record's distances to the block."""
    group: int
    """Bytes that `_GROUP` records add together."""

    def up(self, bits: int) -> int:
        """Bytes of a block of probes, as `hesc.codes.secret.encrypt_codes` gives them."""
        return 144 + bits * self.column

    def encrypted(self, bits: int, blocks: int) -> int:
        """Bytes of blocks of probes, as `EncryptedCodes.encrypt` gives them."""
        return 128 + blocks * bits * 2 * self.column

    def down(self, records: int, blocks: int = 1) -> int:
        """Bytes of the distances of records to blocks of probes."""
        return 42 + blocks * (-(-records // _GROUP) * self.group + records * self.record)


PLAIN: Final = DistanceSet("bfv_1024_distances", 1024, 960, 0, 3328, 6656, 90)
"""The smallest; its noise tells who decrypts the clear codes."""
# With room for noise that hides, the smaller first.
HIDING: Final = (
    DistanceSet("bfv_4096_distances", 4096, 512, 42_000_000, 31744, 18432, 83),
    DistanceSet("bfv_4096_distances_large", 4096, 512, 1 << 36, 47616, 18432, 83),
)
"""Those whose noise leaves a reader nothing but distances."""


def hiding(bits: int, coefficients: int) -> DistanceSet | None:
    """The smallest set that hides clear codes of so many bits; None where none has room.

    Args:
        bits: of a code.
        coefficients: that answers about these codes show in all.

    """
    fitting = (s for s in HIDING if bits <= s.bits and coefficients <= s.coefficients)
    return next(fitting, None)

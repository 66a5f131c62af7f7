"""Numbers under a stream cipher, on their way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hesc import _native
from hesc._support.inputs import whole, wire_bytes
from hesc.integers.kinds import IntegerKind

if TYPE_CHECKING:
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray


class Shape(NamedTuple):
    """How numbers are cut into streams, which both sides have to do alike: `Decipherer.shape`.

    Attributes:
        slots: streams at once, one for each slot of the server's parameters.
        blocks: numbers of a stream.

    """

    slots: int
    blocks: int


class StreamCipherMessage(_native.Message):
    """Numbers under Kreyvium: nonce, type and count are public, and travel with them.

    `hesc.CipherKey.encrypt` makes it. The cipher hides numbers and does not protect them: who
    changes a bit on the way changes that bit of a number, and nobody notices. Send it over a
    channel that does (TLS).
    """

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A message from its wire form; strict.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        return cls(super().from_bytes(wire_bytes(data)))

    def __reduce__(self) -> tuple[Any, ...]:
        return StreamCipherMessage.from_bytes, (self.to_bytes(),)

    def __len__(self) -> int:
        return self.integers[0]

    def __repr__(self) -> str:
        what = f"{len(self)} of {self.kind} in {self.runs} runs"
        return f"<hesc.integers.transciphering.StreamCipherMessage: {what}>"

    @property
    def kind(self) -> IntegerKind:
        """The kind of the numbers."""
        return IntegerKind(*self.integers[1:])

    @property
    def shape(self) -> Shape:
        """How they are cut into streams."""
        return Shape(*super().shape)

    def public_rows(self, run: int) -> NDArray[np.bool_]:
        """What a server needs of a run beside the key: initial values, then the bits."""
        return super().public_rows(whole(run, "run", 0, self.runs - 1))

"""Numbers under a stream cipher, on their way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hesc import _native
from hesc._support.inputs import of_kind, whole, wire_bytes
from hesc.integers.kinds import Kind

if TYPE_CHECKING:
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


class Message:
    """Numbers under Kreyvium: nonce, type and count are public, and travel with them.

    `hesc.CipherKey.encrypt` makes it. The cipher hides numbers and does not protect them: who
    changes a bit on the way changes that bit of a number, and nobody notices. Send it over a
    channel that does (TLS).
    """

    def __init__(self, native: _native.Message) -> None:
        self.native = of_kind(native, "native", _native.Message, "CipherKey.encrypt makes it")

    @classmethod
    def from_bytes(cls, data: bytes) -> Message:
        """A message from its wire form; strict.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        return cls(_native.Message.from_bytes(wire_bytes(data)))

    def to_bytes(self) -> bytes:
        """The wire form: 67 bytes, and rows of the numbers' bits, each rounded up to bytes."""
        return self.native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Message.from_bytes, (self.to_bytes(),)

    def __len__(self) -> int:
        return self.native.integers[0]

    def __repr__(self) -> str:
        what = f"{len(self)} of {self.kind} in {self.runs} runs"
        return f"<hesc.integers.transciphering.Message: {what}>"

    @property
    def kind(self) -> Kind:
        """The kind of the numbers."""
        return Kind(*self.native.integers[1:])

    @property
    def shape(self) -> Shape:
        """How they are cut into streams."""
        return Shape(*self.native.shape)

    @property
    def nonce(self) -> bytes:
        """Twelve bytes, drawn for each message."""
        return self.native.nonce

    @property
    def runs(self) -> int:
        """How often all streams are taken."""
        return self.native.runs

    def public_rows(self, run: int) -> NDArray[np.bool_]:
        """What a server needs of a run beside the key: initial values, then the bits."""
        return self.native.public_rows(whole(run, "run", 0, self.runs - 1))

"""Encrypted bits on their way to the key owner."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from hesc import _native
from hesc._native import ShapeError, WireError
from hesc._support.inputs import wire_bytes
from hesc._support.opaque import Opaque
from hesc._support.pickling import ByWireForm
from hesc.streams.arrays import shape_from_bytes, shape_to_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hesc.params.stream_params import StreamParams


MOST_OUTPUTS: Final = 255
"""Outputs of an answer: their number is a byte."""

# What several outputs begin with; bits of one begin with the letters of their frame.
_SEVERAL: Final = b"\x00"


class BitAnswer(ByWireForm, Opaque):
    """Encrypted bits that only the key owner can use: under three bytes a bit, in whole blocks.

    `Evaluator.answer` makes one of one or several outputs, which share blocks. Their number and
    shapes are public.
    """

    def __init__(
        self,
        params: StreamParams,
        native: _native.BitAnswer,
        shapes: Sequence[tuple[int, ...]] | None = None,
    ) -> None:
        self.params = params
        self.native = native
        #: The shape of each output.
        self.shapes = [tuple(native.shape)] if shapes is None else list(shapes)

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> BitAnswer:
        """Reads what `to_bytes` wrote; strict."""
        data = wire_bytes(data)
        if data[:1] != _SEVERAL:
            return cls(params, _native.BitAnswer.from_bytes(params, data))
        count, rest = data[1] if len(data) > 1 else 0, data[2:]
        shapes = []
        for _ in range(count):
            shape, rest = shape_from_bytes(rest)
            shapes.append(shape)
        native = _native.BitAnswer.from_bytes(params, rest)
        sizes = [math.prod(shape) for shape in shapes]
        # One output is written without its shape.
        if count < 2 or 0 in sizes or tuple(native.shape) != (sum(sizes),):
            raise WireError(f"cannot read an answer: outputs of shapes {shapes} are not its bits")
        return cls(params, native, shapes)

    def to_bytes(self) -> bytes:
        """The wire form."""
        if len(self.shapes) == 1:
            return self.native.to_bytes()
        shapes = b"".join(map(shape_to_bytes, self.shapes))
        return _SEVERAL + bytes([len(self.shapes)]) + shapes + self.native.to_bytes()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the bits of an answer of one output.

        Raises:
            ShapeError: several outputs, which have `shapes`.

        """
        if len(self.shapes) != 1:
            raise ShapeError(
                f"this answer has {len(self.shapes)} outputs; see `shapes`, and decrypt it with "
                "hesc.gates.secret.decrypt_outputs"
            )
        return self.shapes[0]

"""What may be asked of a plan of a network on streams."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class Streams:
    """The server has a network of one square layer under encryption, and sees no weight or sample.

    Bits of streams are encrypted under the client's key; the client learns outputs, which err as
    short streams do.
    """

    preset: str = "bfv_1024_fusion"
    """Name of the parameters, of a scheme whose bits multiply by one addition."""
    stream_length: int = 64
    """Bits of a stream; errors fall with its square root."""
    layout: str = "auto"
    """One of "side_by_side", "one_per_block" or "auto", which takes the first where it fits."""

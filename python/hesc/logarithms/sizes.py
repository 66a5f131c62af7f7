"""What plans of products by logarithms say in numbers."""

from __future__ import annotations

from typing import NamedTuple


class LogarithmSizes(NamedTuple):
    """Bytes on the wire, the same whatever the numbers are."""

    up: tuple[int, ...]
    """Bytes of each factor's upload; 0 for a factor in the clear."""
    down: int
    """Bytes of the answer."""


class Code(NamedTuple):
    """How a number within [-1, 1] is a sign and a count of steps."""

    bits: int
    """Bits of the plaintext modulus `2**bits`."""
    octaves: int
    """Sizes below `2**-octaves` are that or zero, at random."""
    step: int
    """Steps to an octave: others are one of their two neighbours, at random."""

"""Circuits on binary numbers and on bit streams (hsiao2022sche, section 2)."""

from __future__ import annotations

from hesc import _native
from hesc.gates.circuit import Circuit


def ripple_carry_adder(width: int) -> Circuit:
    """`a + b` of `width` bits each (1 to 4096), with one bit more: five gates a bit."""
    return Circuit(_native.Circuit.ripple_carry_adder(width))


def array_multiplier(width: int) -> Circuit:
    """`a * b` of `width` bits each (1 to 4096), with twice as many: `6 width**2` gates."""
    return Circuit(_native.Circuit.array_multiplier(width))


def comparator(width: int) -> Circuit:
    """Whether `a < b` of `width` bits each (1 to 4096): two gates a bit."""
    return Circuit(_native.Circuit.comparator(width))


def stream_multiplier(gate: str, stream_length: int) -> Circuit:
    """The product of two streams: "AND" for unipolar, "XOR" for inverted-bipolar ones."""
    return Circuit(_native.Circuit.stream_multiplier(gate, stream_length))


def scaled_adder(stream_length: int) -> Circuit:
    """`(a + b) / 2` from half of each stream: no gates at all."""
    return Circuit(_native.Circuit.scaled_adder(stream_length))


def weighted_adder(stream_length: int) -> Circuit:
    """`w a + (1 - w) b`, the weight a third stream with the share `w` of ones."""
    return Circuit(_native.Circuit.weighted_adder(stream_length))


def popcount(stream_length: int) -> Circuit:
    """The number of ones of a stream, in binary: fewer than five gates a bit."""
    return Circuit(_native.Circuit.popcount(stream_length))

"""Circuits on bit streams (hsiao2022sche, section 2)."""

from __future__ import annotations

from hesc import _native
from hesc._support.inputs import INDEX, whole, written
from hesc.gates.circuit import Circuit, unsigned


def _size(value: int, name: str) -> int:
    # The compiled part knows each circuit's own limits.
    return whole(value, name, 0, INDEX)


def stream_multiplier(gate: str, stream_length: int) -> Circuit:
    """The product of two streams: "AND" for unipolar, "XOR" for inverted-bipolar ones."""
    return unsigned(
        _native.Circuit.stream_multiplier(
            written(gate, "gate"), _size(stream_length, "stream_length")
        )
    )


def scaled_adder(stream_length: int) -> Circuit:
    """`(a + b) / 2` from half of each stream: no gates at all."""
    return unsigned(_native.Circuit.scaled_adder(_size(stream_length, "stream_length")))


def weighted_adder(stream_length: int) -> Circuit:
    """`w a + (1 - w) b`, the weight a third stream with the share `w` of ones."""
    return unsigned(_native.Circuit.weighted_adder(_size(stream_length, "stream_length")))


def popcount(stream_length: int) -> Circuit:
    """The number of ones of a stream, in binary: fewer than five gates a bit."""
    return unsigned(_native.Circuit.popcount(_size(stream_length, "stream_length")))


def stream(width: int) -> Circuit:
    """A binary number as a stream of `2**width` bits with as many ones: no gates at all.

    Ones spread as in the first dimension of Sobol's sequence: multiply the stream with others.
    """
    return unsigned(_native.Circuit.stream(_size(width, "width")))


def at_least(stream_length: int, ones: int) -> Circuit:
    """Whether a stream has at least so many ones (1 to its length): one bit, as a classifier's."""
    return unsigned(
        _native.Circuit.at_least(_size(stream_length, "stream_length"), _size(ones, "ones"))
    )


def relu(stream_length: int) -> Circuit:
    """The rectified value of an inverted-bipolar stream, as a stream: count, choose, spread.

    The length is a power of two. The result's ones spread as those of `stream`.
    """
    return unsigned(_native.Circuit.relu(_size(stream_length, "stream_length")))


def sign(stream_length: int) -> Circuit:
    """Whether an inverted-bipolar stream's value is zero or less: one bit.

    That bit is a stream of length 1 with the value 1 or -1.
    """
    return unsigned(_native.Circuit.sign(_size(stream_length, "stream_length")))

"""Encrypted bits read and decrypted again in plain Python: see hesc-schemes, streams/tfhe."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.aes import key_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAG = 32


def secret(data: bytes, ring_degree: int) -> NDArray[np.uint64]:
    """The ring's secret bits."""
    body = wire.open_frame(data, "secret")
    return wire.unpack(body[TAG : TAG + ring_degree // 8], ring_degree, 1).astype(np.uint64)


def small_secret(data: bytes, ring_degree: int, dimension: int) -> NDArray[np.uint64]:
    """The bits of the small dimension."""
    body = wire.open_frame(data, "secret")[TAG + ring_degree // 8 :]
    return wire.unpack(body, dimension, 1).astype(np.uint64)


def key_errors(
    data: bytes,
    ring: NDArray[np.uint64],
    small: NDArray[np.uint64],
    digits: list[tuple[int, int]],
) -> list[NDArray[np.int64]]:
    """The noise of an evaluation key's rows for bootstraps, key switches and packing.

    Args:
        data: the key's wire form.
        ring: the ring's secret.
        small: that of the small dimension.
        digits: bits of a digit and digits of each of the three.

    """
    body = wire.open_frame(data, "evaluation key")[TAG:]
    degree, dimension = len(ring), len(small)
    bits = [
        np.repeat(small, 2 * digits[0][1]),
        ring.repeat(digits[1][1]),
        small.repeat(digits[2][1]),
    ]
    lengths = [(degree, degree), (dimension, 1), (degree, degree)]
    # Random halves are whole blocks of the seed's stream, one row after the other.
    strides = [16 * -(-random // 2) for random, _ in lengths]
    counts = [len(rows) for rows in bits]
    stream = key_stream(body[:32], sum(map(int.__mul__, counts, strides)))
    at, start, found = 32, 0, []
    for part, (of, (random, length)) in enumerate(zip(bits, lengths, strict=True)):
        raw = np.frombuffer(stream[start : start + len(of) * strides[part]], "<u8")
        masks = raw.reshape(len(of), -1)[:, :random].astype(np.uint64)
        bodies = np.frombuffer(body, "<u8", len(of) * length, at).reshape(-1, length)
        at, start = at + 8 * len(of) * length, start + len(of) * strides[part]
        base, levels = digits[part]
        # The smallest digit first; rows for bootstraps come in pairs, one for each component.
        places = np.arange(len(of)) // (2 if part == 0 else 1) % levels
        powers = of << (64 - base * (levels - places)).astype(np.uint64)
        if length == 1:
            phase = bodies - (masks * small).sum(axis=1, keepdims=True)
        else:
            phase = phases(np.stack([masks, bodies], axis=1), ring)
        if part == 0:
            phase[::2] += powers[::2, None] * ring
            phase[1::2, 0] -= powers[1::2]
        else:
            phase[:, 0] -= powers
        found.append(phase.view(np.int64))
    assert at == len(body)
    return found


def shape(body: bytes) -> tuple[list[int], bytes]:
    """An array's shape and the frame of its blocks."""
    axes = body[0]
    found = list(struct.unpack_from(f"<{axes}Q", body, 1))
    (length,) = struct.unpack_from("<Q", body, 1 + 8 * axes)
    nested = body[9 + 8 * axes :]
    assert len(nested) == length
    return found, nested


def phases(words: NDArray[np.uint64], key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """`b - a s` of blocks (blocks, 2, N), modulo X^N + 1 and 2^64, by the schoolbook."""
    result = words[:, 1].copy()
    rotated = words[:, 0].copy()
    for bit in key:
        if bit:
            result -= rotated
        # Times X: what leaves at the top comes back negative.
        rotated = np.concatenate([-rotated[:, -1:], rotated[:, :-1]], axis=1)
    return result


def decrypt(data: bytes, key: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits of an array in blocks, or of an answer."""
    answer = data[5] == wire.KINDS["bit answer"]
    dimensions, nested = shape(wire.open_frame(data, "bit answer" if answer else "encrypted bits"))
    body = wire.open_frame(nested, "compact" if answer else "ciphertexts")
    (blocks,) = struct.unpack_from("<I", body, TAG)
    modulus, count = body[TAG + 4], 2 * blocks * len(key)
    if answer:
        bits = body[TAG + 5]
        words = wire.unpack(body[TAG + 6 :], count, bits).astype(np.uint64) << np.uint64(64 - bits)
    else:
        # The largest count and the variance come first.
        words = np.frombuffer(body[TAG + 21 :], "<u8", count).astype(np.uint64)
    phase = phases(words.reshape(blocks, 2, len(key)), key)
    shift = np.uint64(65 - modulus.bit_length())
    rounded = (phase + (np.uint64(1) << (shift - np.uint64(1)))) >> shift
    parities = (rounded & np.uint64(1)).astype(np.uint8).reshape(-1)
    return parities[: int(np.prod(dimensions))].reshape(dimensions)

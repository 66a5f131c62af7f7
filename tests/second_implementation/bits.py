"""Encrypted bits read and decrypted again in plain Python: see hesc-schemes, streams/tfhe."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np

from tests.second_implementation import wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

TAG = 32


def secret(data: bytes, ring_degree: int) -> NDArray[np.uint64]:
    """The ring's secret bits."""
    body = wire.open_frame(data, "secret")
    return wire.unpack(body[TAG : TAG + ring_degree // 8], ring_degree, 1).astype(np.uint64)


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

"""AES-128 and AES-256 as FIPS 197 defines them, and the stream that follows from seeds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _double(x: int) -> int:
    """`x` times the polynomial `X` in the field of 256 elements."""
    return (x << 1 ^ (0x11B if x & 0x80 else 0)) & 0xFF


@cache
def _box() -> NDArray[np.uint8]:
    """The substitution: the inverse in the field, then an affine map (section 5.1.1)."""
    powers = [1]
    for _ in range(254):
        powers.append(powers[-1] ^ _double(powers[-1]))
    inverses = {powers[i]: powers[-i % 255] for i in range(255)}
    box = np.empty(256, dtype=np.uint8)
    for x in range(256):
        inverse, out = inverses.get(x, 0), 0x63
        for turn in range(5):
            out ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
        box[x] = out
    return box


def _round_keys(key: bytes, rounds: int) -> NDArray[np.uint8]:
    """Sixteen bytes for each round and one before (section 5.2)."""
    own = len(key) // 4
    words = [np.frombuffer(key[at : at + 4], np.uint8) for at in range(0, len(key), 4)]
    constant = 1
    for i in range(own, 4 * (rounds + 1)):
        word = words[-1]
        if i % own == 0:
            word = _box()[np.roll(word, -1)] ^ np.array([constant, 0, 0, 0], np.uint8)
            constant = _double(constant)
        elif own == 8 and i % own == 4:
            word = _box()[word]
        words.append(words[i - own] ^ word)
    return np.concatenate(words).reshape(rounds + 1, 16)


# Byte `4 c + r` is row `r` of column `c`; row `r` turns by `r` columns.
_SHIFTED = [4 * ((c + r) % 4) + r for c in range(4) for r in range(4)]


def encrypt_blocks(
    key: bytes, blocks: NDArray[np.uint8], rounds: int | None = None
) -> NDArray[np.uint8]:
    """Blocks of sixteen bytes, a row for each; other rounds than 10 or 14 are none of AES."""
    rounds = len(key) // 4 + 6 if rounds is None else rounds
    keys = _round_keys(key, rounds)
    doubles = np.array([_double(x) for x in range(256)], dtype=np.uint8)
    state = blocks ^ keys[0]
    for number in range(1, rounds + 1):
        state = _box()[state][:, _SHIFTED]
        if number < rounds:
            columns = state.reshape(-1, 4, 4)
            following = np.roll(columns, -1, axis=2)
            whole = np.bitwise_xor.reduce(columns, axis=2, keepdims=True)
            state = (columns ^ whole ^ doubles[columns ^ following]).reshape(-1, 16)
        state = state ^ keys[number]
    return np.asarray(state)


def key_stream(key: bytes, length: int) -> bytes:
    """The first bytes of the stream; the counter is the first half of a block, small end first."""
    count = -(-length // 16)
    blocks = np.zeros((count, 2), dtype="<u8")
    blocks[:, 0] = np.arange(count)
    return encrypt_blocks(key, blocks.view(np.uint8)).tobytes()[:length]

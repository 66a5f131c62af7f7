"""BLAKE3 as its paper defines it (section 2), for the checksum of the wire format."""

from __future__ import annotations

import struct

_IV = (
    0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
    0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19,
)  # fmt: skip
_PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
_CHUNK_START, _CHUNK_END, _PARENT, _ROOT, _KEYED = 1, 2, 4, 8, 16
_MASK = 0xFFFFFFFF
_COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
_DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))


def _rotate(x: int, n: int) -> int:
    return (x >> n | x << (32 - n)) & _MASK


def _compress(
    chaining: tuple[int, ...], words: tuple[int, ...], counter: int, length: int, flags: int
) -> tuple[int, ...]:
    v = [*chaining, *_IV[:4], counter & _MASK, counter >> 32, length, flags]
    m = list(words)
    for _ in range(7):
        for k, (a, b, c, d) in enumerate(_COLUMNS + _DIAGONALS):
            for x, r1, r2 in ((m[2 * k], 16, 12), (m[2 * k + 1], 8, 7)):
                v[a] = (v[a] + v[b] + x) & _MASK
                v[d] = _rotate(v[d] ^ v[a], r1)
                v[c] = (v[c] + v[d]) & _MASK
                v[b] = _rotate(v[b] ^ v[c], r2)
        m = [m[i] for i in _PERMUTATION]
    return tuple(v[i] ^ v[i + 8] for i in range(8))


def _words(block: bytes) -> tuple[int, ...]:
    return struct.unpack("<16I", block.ljust(64, b"\0"))


def _chunk(data: bytes, counter: int, root: int, key: tuple[int, ...]) -> tuple[int, ...]:
    chaining = key
    blocks = [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
    for number, block in enumerate(blocks):
        flags = (_CHUNK_START if number == 0 else 0) | (0 if key == _IV else _KEYED)
        if number == len(blocks) - 1:
            flags |= _CHUNK_END | root
        chaining = _compress(chaining, _words(block), counter, len(block), flags)
    return chaining


def _tree(data: bytes, counter: int, root: int, key: tuple[int, ...]) -> tuple[int, ...]:
    if len(data) <= 1024:
        return _chunk(data, counter, root, key)
    # The left part has the largest power of two of whole chunks that leaves something.
    chunks = (len(data) - 1) // 1024
    left = 1 << (chunks.bit_length() - 1)
    children = _tree(data[: 1024 * left], counter, 0, key) + _tree(
        data[1024 * left :], counter + left, 0, key
    )
    return _compress(key, children, 0, 64, _PARENT | root | (0 if key == _IV else _KEYED))


def blake3(data: bytes, key: bytes | None = None) -> bytes:
    """The 32-byte hash, under a key of 32 bytes if there is one."""
    words = _IV if key is None else struct.unpack("<8I", key)
    return struct.pack("<8I", *_tree(data, 0, _ROOT, words))

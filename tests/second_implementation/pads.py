"""Blocks under pads, read in plain Python: AES-256 (FIPS 197) in counter mode, keyed BLAKE3."""

from __future__ import annotations

import struct

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.blake3 import blake3

TAG, KEY, NONCE = 32, 32, 24


def _times_x(a: int) -> int:
    return (a << 1 ^ (0x11B if a & 0x80 else 0)) & 0xFF


def _s_box() -> list[int]:
    """Inverses in the field of 256 elements, by the powers of 3, and an affine map."""
    powers = [1]
    for _ in range(254):
        powers.append(powers[-1] ^ _times_x(powers[-1]))
    inverses = [0] * 256
    for i, power in enumerate(powers):
        inverses[power] = powers[-i % 255]
    box = []
    for b in inverses:
        rotated = [(b << k | b >> (8 - k)) & 0xFF for k in range(5)]
        box.append(0x63 ^ rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4])
    return box


_S = _s_box()


def _round_keys(key: bytes) -> list[bytes]:
    words = [key[i : i + 4] for i in range(0, KEY, 4)]
    constant = 1
    while len(words) < 60:
        word = words[-1]
        if len(words) % 8 == 0:
            word = bytes(_S[b] for b in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = _times_x(constant)
        elif len(words) % 8 == 4:
            word = bytes(_S[b] for b in word)
        words.append(bytes(a ^ b for a, b in zip(word, words[-8], strict=True)))
    return [b"".join(words[i : i + 4]) for i in range(0, 60, 4)]


def aes(key: bytes, block: bytes) -> bytes:
    """One block of 16 bytes under a key of 32."""
    keys = _round_keys(key)
    state = [a ^ b for a, b in zip(block, keys[0], strict=True)]
    for number, round_key in enumerate(keys[1:], 1):
        state = [_S[state[(i + 4 * (i % 4)) % 16]] for i in range(16)]
        if number < len(keys) - 1:
            mixed = []
            for i in range(16):
                a, b, c, d = (state[i - i % 4 + (i + k) % 4] for k in range(4))
                mixed.append(_times_x(a) ^ _times_x(b) ^ b ^ c ^ d)
            state = mixed
        state = [a ^ b for a, b in zip(state, round_key, strict=True)]
    return bytes(state)


def pad(key: bytes, nonce: bytes, index: int, length: int) -> bytes:
    """The pad of a block of `length` bytes: blocks begin with whole AES blocks."""
    own = blake3(nonce, key)
    count = -(-length // 16)
    counters = range(index * count, (index + 1) * count)
    return b"".join(aes(own, struct.pack("<QQ", at, 0)) for at in counters)[:length]


def counts(secret: bytes, _public: bytes, data: bytes, block_length: int = 1024) -> list[int]:
    """The bits of the first stream's blocks in a batch."""
    key = wire.open_frame(secret, "secret")[TAG:]
    body = wire.open_frame(data, "ciphertexts")
    blocks, nonces = struct.unpack("<II", body[TAG : TAG + 8])
    at = TAG + 8
    found = [body[at + NONCE * i :][:NONCE] for i in range(nonces)]
    at += NONCE * nonces
    sources = []
    for _ in range(blocks):
        pads = struct.unpack(f"<{2 * body[at]}I", body[at + 1 :][: 8 * body[at]])
        sources.append(list(zip(pads[::2], pads[1::2], strict=True)))
        at += 1 + 8 * body[at]
    size = block_length // 8
    result: list[int] = []
    for pads_of_block in sources:
        block = np.frombuffer(body[at : at + size], np.uint8)
        at += size
        for nonce, index in pads_of_block:
            block = block ^ np.frombuffer(pad(key, found[nonce], index, size), np.uint8)
        result += np.unpackbits(block, bitorder="little").tolist()
    assert at == len(body)
    return result

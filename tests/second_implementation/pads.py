"""Blocks under pads, read in plain Python: AES-256 in counter mode, keyed BLAKE3."""

from __future__ import annotations

import struct

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.aes import key_stream
from tests.second_implementation.blake3 import blake3

TAG, NONCE = 32, 24


def pad(key: bytes, nonce: bytes, index: int, length: int) -> bytes:
    """The pad of a block of `length` bytes: blocks begin with whole AES blocks."""
    start = index * -(-length // 16) * 16
    return key_stream(blake3(nonce, key), start + length)[start:]


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

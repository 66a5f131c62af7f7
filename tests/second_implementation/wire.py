"""hesc's wire format, read and written again in Python: see crates/hesc-schemes/src/wire.rs."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.second_implementation.blake3 import blake3

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEADER, CHECKSUM = 14, 16
KINDS = {
    "params": 1,
    "secret": 2,
    "public": 3,
    "ciphertexts": 4,
    "compact": 6,
    "streams": 16,
    "evaluation key": 40,
    "encrypted bits": 41,
    "bit answer": 42,
    "vector ciphertext": 38,
    "vector": 43,
    "public keys": 8,
    "slots": 44,
    "seeded vector": 39,
    "ring product plan": 60,
    "ring product query": 61,
    "ring product answer": 62,
    "ring product model": 63,
    "distances": 58,
    "gallery plan": 64,
    "gallery": 65,
    "probes": 66,
    "gallery distances": 67,
    "logarithm plan": 70,
    "logarithm upload": 71,
    "logarithm answer": 72,
    "forest plan": 73,
    "forest query": 74,
    "forest answer": 75,
    "forest masked query": 76,
    "forest masked answer": 77,
    "search plan": 79,
    "search query": 80,
    "search answer": 81,
}


def open_frame(data: bytes, kind: str) -> bytes:
    """The body of a frame."""
    magic, version, found, length = struct.unpack("<4sBBQ", data[:HEADER])
    assert (magic, version, found) == (b"HESC", 1, KINDS[kind])
    assert length == len(data) - HEADER - CHECKSUM
    assert blake3(data[:-CHECKSUM])[:CHECKSUM] == data[-CHECKSUM:]
    return data[HEADER:-CHECKSUM]


def frame(kind: str, body: bytes) -> bytes:
    """A frame around a body."""
    data = struct.pack("<4sBBQ", b"HESC", 1, KINDS[kind], len(body)) + body
    return data + blake3(data)[:CHECKSUM]


def unpack(data: bytes, count: int, bits: int) -> NDArray[np.int64]:
    """`count` values of `bits` bits without gaps."""
    flat = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[: count * bits]
    weights = 1 << np.arange(bits, dtype=np.int64)
    return np.asarray(flat.reshape(count, bits).astype(np.int64) @ weights)


def pack(values: NDArray[np.int64], bits: int) -> bytes:
    """The inverse of `unpack`."""
    flat = (values.reshape(-1, 1) >> np.arange(bits)) & 1
    return np.packbits(flat.astype(np.uint8).reshape(-1), bitorder="little").tobytes()


@dataclass
class Ciphertexts:
    """A batch for one modulus: parts (blocks, 2, ring_degree) of residues."""

    tag: bytes
    deviation: float
    scale: float
    parts: NDArray[np.int64]


def read_ciphertexts(data: bytes, ring_degree: int, modulus: int) -> Ciphertexts:
    """Reads a batch of ciphertexts modulo one prime."""
    body = open_frame(data, "ciphertexts")
    deviation, scale, blocks = struct.unpack("<ddI", body[32:52])
    words = unpack(body[52:], blocks * 2 * ring_degree, modulus.bit_length())
    return Ciphertexts(body[:32], deviation, scale, words.reshape(blocks, 2, ring_degree))


def write_ciphertexts(batch: Ciphertexts, modulus: int) -> bytes:
    """The inverse of `read_ciphertexts`."""
    head = batch.tag + struct.pack("<ddI", batch.deviation, batch.scale, len(batch.parts))
    return frame("ciphertexts", head + pack(batch.parts, modulus.bit_length()))


def read_array(data: bytes) -> tuple[tuple[int, ...], list[bytes], bytes]:
    """Shape, nested ciphertexts and the rest of an `EncryptedArray.to_bytes()`."""
    axes = data[0]
    shape = struct.unpack(f"<{axes}I", data[1 : 1 + 4 * axes])
    body = open_frame(data[1 + 4 * axes :], "streams")
    (count,) = struct.unpack("<I", body[:4])
    nested, at = [], 4
    for _ in range(count):
        (length,) = struct.unpack("<Q", body[at : at + 8])
        nested.append(body[at + 8 : at + 8 + length])
        at += 8 + length
    return shape, nested, body[at:]


def write_array(shape: tuple[int, ...], nested: list[bytes], rest: bytes) -> bytes:
    """The inverse of `read_array`."""
    body = struct.pack("<I", len(nested))
    for item in nested:
        body += struct.pack("<Q", len(item)) + item
    return struct.pack(f"<B{len(shape)}I", len(shape), *shape) + frame("streams", body + rest)


def read_secret(data: bytes, ring_degree: int) -> NDArray[np.int64]:
    """The ternary secret, coefficients in {-1, 0, 1}."""
    body = open_frame(data, "secret")
    return unpack(body[32:], ring_degree, 2) - 1


def negacyclic(a: NDArray[np.int64], b: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
    """`a b` modulo X^N + 1 and the modulus, for a ternary `b`; exact.

    In halves of 31 bits: their sums of N terms fit 64 bits.
    """

    def product(half: NDArray[np.int64]) -> NDArray[np.object_]:
        full = np.convolve(half, b)
        folded = full[: len(a)].copy()
        folded[: len(full) - len(a)] -= full[len(a) :]
        return folded.astype(object)

    result = product(a >> 31) * 2**31 + product(a & (2**31 - 1))
    return np.asarray(result % modulus).astype(np.int64)


def phase(parts: NDArray[np.int64], secret: NDArray[np.int64], modulus: int) -> NDArray[np.int64]:
    """`c_0 + c_1 s` of one block."""
    return np.asarray((parts[0] + negacyclic(parts[1], secret, modulus)) % modulus)


def round_to_counts(phase_: NDArray[np.int64], modulus: int, t: int) -> NDArray[np.int64]:
    """BFV decryption: `round(t phase / q) mod t`, in exact integers."""
    return np.array([(2 * t * int(x) + modulus) // (2 * modulus) % t for x in phase_])


def round_to_scale(phase_: NDArray[np.int64], modulus: int, scale: float) -> NDArray[np.int64]:
    """CKKS decryption of coefficients: `round(phase / scale)` of centred residues."""
    centred = np.where(phase_ > modulus // 2, phase_ - modulus, phase_)
    return np.rint(centred / scale).astype(np.int64)


# Length; 1 for zeros behind the numbers, 2 for complex ones, 4 for a seeded ciphertext; the bound
# of integers, 0 for none; the ciphertext's length.
_VECTOR = struct.Struct("<IBQQ")


def read_vector(data: bytes) -> tuple[int, int, int, bytes]:
    """Length, flags, bound and the ciphertext of a vector."""
    body = open_frame(data, "vector")
    length, flags, bound, size = _VECTOR.unpack(body[: _VECTOR.size])
    assert size == len(body) - _VECTOR.size
    return length, flags, bound, body[_VECTOR.size :]


# Tag, level, parts, factor, scale, then deviation, values, peak, magnitude and degree of the noise.
_CIPHERTEXT = struct.Struct("<32sBBQdddddI")
# What a parameter set says where it lists its levels.
_LISTED_LEVELS = 4


def vector_ciphertext_head(data: bytes) -> tuple[Any, ...]:
    """All that a vector of a scheme with multiplication says of itself, but its residues."""
    label, body = _vector_parts(data, "vector ciphertext")
    return (*label, *_CIPHERTEXT.unpack(body[: _CIPHERTEXT.size]))


def _vector_parts(data: bytes, kind: str) -> tuple[tuple[Any, ...], bytes]:
    """A vector's length, flags and bound, and its ciphertext's body; checksums are not compared."""
    assert data[5] == KINDS["vector"]
    length, flags, bound, _ = _VECTOR.unpack(data[HEADER:][: _VECTOR.size])
    ciphertext = data[HEADER + _VECTOR.size :]
    assert ciphertext[5] == KINDS[kind]
    return (length, flags, bound), ciphertext[HEADER:]


# Tag, level, seed of the random part, scale, then the noise as above.
_SEEDED = struct.Struct("<32sB32sdddddI")


def seeded_head(data: bytes) -> tuple[Any, ...]:
    """The same of one under the secret key, without its random seed."""
    label, body = _vector_parts(data, "seeded vector")
    tag, level, _, *numbers = _SEEDED.unpack(body[: _SEEDED.size])
    return (*label, tag, level, *numbers)


def level_moduli(params: bytes) -> list[list[int]]:
    """The primes of each level of a parameter set, the lowest first."""
    body = open_frame(params, "params")
    # Scheme, ring, whether levels are listed, kind of plaintext, modulus or scale, bound.
    form = body[5]
    at = 1 + 4 + 1 + 1 + 8 + 8
    primes = []
    for _ in range(2):
        count = body[at]
        primes.append(list(struct.unpack_from(f"<{count}Q", body, at + 1)))
        at += 1 + 8 * count
    moduli = primes[0]
    if form != _LISTED_LEVELS:
        return [moduli[:level] for level in range(1, len(moduli) + 1)]
    masks = struct.unpack_from(f"<{body[at]}Q", body, at + 1)
    return [[q for i, q in enumerate(moduli) if mask >> i & 1] for mask in masks]


def read_vector_ciphertext(
    data: bytes, ring_degree: int, levels: list[list[int]]
) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """Head and coefficients (parts, primes, ring_degree) of the ciphertext in a vector."""
    return read_ciphertext(read_vector(data)[3], ring_degree, levels)


def read_ciphertext(
    data: bytes, ring_degree: int, levels: list[list[int]]
) -> tuple[tuple[Any, ...], NDArray[np.int64]]:
    """The same of a ciphertext alone."""
    body = open_frame(data, "vector ciphertext")
    head = _CIPHERTEXT.unpack(body[: _CIPHERTEXT.size])
    level, size = head[1], head[2]
    limbs, at = [], _CIPHERTEXT.size
    for modulus in levels[level - 1]:
        length = -(-size * ring_degree * modulus.bit_length() // 8)
        words = unpack(body[at : at + length], size * ring_degree, modulus.bit_length())
        limbs.append(words.reshape(size, ring_degree))
        at += length
    assert at == len(body)
    return head, np.stack(limbs, axis=1)


def write_vector_ciphertext(
    head: tuple[Any, ...], parts: NDArray[np.int64], levels: list[list[int]]
) -> bytes:
    """The ciphertext of a head and coefficients, as `read_vector_ciphertext` gives them."""
    limbs = (
        pack(np.ascontiguousarray(parts[:, i]), modulus.bit_length())
        for i, modulus in enumerate(levels[head[1] - 1])
    )
    return frame("vector ciphertext", _CIPHERTEXT.pack(*head) + b"".join(limbs))

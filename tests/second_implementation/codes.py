"""Distances of codes in Python: to clear codes by columns, and to encrypted galleries."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.blake3 import blake3
from tests.second_implementation.seeds import decrypted, encrypted, evaluations, seeds, uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES, _SEED = 32, 32
_HEAD = struct.Struct("<5I")


def column_distances(
    data: bytes, secret: NDArray[np.int64], plain_modulus: int
) -> NDArray[np.int64]:
    """Distances to a group of clear codes and a ring degree of records at most, compact."""
    body = wire.open_frame(data, "distances")
    codes, records, _, length = struct.unpack_from("<IIIQ", body)
    part, degree = body[20:], len(secret)
    assert length == len(part)
    inner = wire.open_frame(part, "compact")
    blocks, bits, scale = struct.unpack_from("<IBd", inner, _NAMES)
    assert blocks == codes
    words = wire.unpack(inner[_NAMES + 13 :], 2 * blocks * degree, bits)
    rows = []
    for c_0, c_1 in words.reshape(blocks, 2, degree):
        full = np.convolve(c_1, secret)
        masks = full[:degree].copy()
        masks[: degree - 1] -= full[degree:]
        phase = (c_0 + masks) % 2**bits
        rows.append(np.rint(phase / (scale * 2**bits)).astype(np.int64) % plain_modulus)
    return np.array(rows)[:, :records]


@dataclass
class Plan:
    """Bits, pieces and scales of comparisons with a gallery."""

    name: bytes
    bits: int
    piece: int
    ring_degree: int
    modulus: int
    probe_scale: int
    gallery_scale: int
    answer_bits: int

    @property
    def pieces(self) -> int:
        """Ciphertexts of a probe."""
        return self.bits // self.piece

    @property
    def capacity(self) -> int:
        """Records of a block."""
        return self.ring_degree // self.piece


def read_plan(data: bytes) -> Plan:
    """A plan from its wire form."""
    body = wire.open_frame(data, "gallery plan")
    return Plan(blake3(data)[:16], *struct.unpack("<IIIQQQB", body))


def _ciphertexts(
    data: bytes, kind: str, plan: Plan, secret: NDArray[np.int64]
) -> tuple[int, list[NDArray[np.int64]]]:
    """Count, and for each object the decrypted coefficients of all pieces."""
    body = wire.open_frame(data, kind)
    assert body[:16] == plan.name
    (count,) = struct.unpack_from("<I", body, _NAMES)
    q, n, at, objects = plan.modulus, plan.ring_degree, _NAMES + 4, []
    length = n * q.bit_length() // 8
    while at < len(body):
        own, pieces = seeds(body[at : at + _SEED], plan.pieces), []
        at += _SEED
        for seed in own:
            c_0 = wire.unpack(body[at : at + length], n, q.bit_length())
            at += length
            parts = [evaluations(c_0, q), uniform(seed, q, n)]
            pieces.append(decrypted(parts, secret, q))
        objects.append(np.array(pieces))
    assert at == len(body)
    return count, objects


def gallery_bits(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bits of a gallery, a row for each record: signs times their scale, and noise."""
    count, blocks = _ciphertexts(data, "gallery", plan, secret)
    rows = []
    for block in blocks:
        used = block[:, : plan.capacity * plan.piece]
        signs = used.reshape(plan.pieces, plan.capacity, plan.piece)
        rows.append(np.moveaxis(signs, 1, 0).reshape(plan.capacity, plan.bits))
    signs = np.concatenate(rows)[:count]
    assert np.abs(np.abs(signs) - plan.gallery_scale).max() < 40
    return (signs < 0).astype(np.int64)


def probe_bits(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bits of probes: backwards in each piece."""
    count, probes = _ciphertexts(data, "probes", plan, secret)
    assert count == len(probes)
    signs = np.array([probe[:, plan.piece - 1 :: -1].reshape(-1) for probe in probes])
    assert np.abs(np.abs(signs) - plan.probe_scale).max() < 40
    return (signs < 0).astype(np.int64)


def encrypt_probe(
    bits: NDArray[np.int64], plan: Plan, key: tuple[bytes, NDArray[np.int64]], seed: bytes
) -> bytes:
    """A message of one probe; noise of -3 to 3."""
    name, secret = key
    body = plan.name + name + struct.pack("<I", 1) + seed
    noise = np.arange(plan.ring_degree) % 7 - 3
    rows = bits.reshape(plan.pieces, plan.piece)
    for piece, own in zip(rows, seeds(seed, plan.pieces), strict=True):
        message = np.zeros(plan.ring_degree, dtype=np.int64)
        message[: plan.piece] = plan.probe_scale * (1 - 2 * piece[::-1])
        c_0 = encrypted(message, own, secret, plan.modulus, noise)
        body += wire.pack(c_0, plan.modulus.bit_length())
    return wire.frame("probes", body)


def gallery_distances(
    data: bytes, plan: Plan, secret: NDArray[np.int64]
) -> tuple[int, int, NDArray[np.int64]]:
    """Which probe, the first record, and its distances from there on."""
    body = wire.open_frame(data, "gallery distances")
    assert body[:16] == plan.name
    records, _, probe, first, blocks = _HEAD.unpack_from(body, _NAMES)
    q, n, bits, at = plan.modulus, plan.ring_degree, plan.answer_bits, _NAMES + _HEAD.size

    def residues(count: int) -> NDArray[np.int64]:
        nonlocal at
        length = -(-count * bits // 8)
        words = wire.unpack(body[at : at + length], count, bits)
        at += length
        if bits == q.bit_length():
            return words
        return np.array([(int(x) * q * 2 + 2**bits) >> (bits + 1) for x in words], dtype=np.int64)

    own = [uniform(seed, q, n) for seed in seeds(body[at : at + _SEED], plan.pieces)]
    at += _SEED
    found = []
    for block in range(first, first + blocks):
        count = min(plan.capacity, records - block * plan.capacity)
        theirs = [uniform(seed, q, n) for seed in seeds(body[at : at + _SEED], plan.pieces)]
        at += _SEED
        places = np.arange(count) * plan.piece + plan.piece - 1
        c_1, c_0 = residues(n), np.zeros(n, dtype=np.int64)
        c_0[places] = residues(count)
        c_2 = sum(a * b % q for a, b in zip(own, theirs, strict=True)) % q
        parts = [evaluations(c_0, q), evaluations(c_1, q), c_2]
        products = decrypted(parts, secret, q)[places] / (plan.probe_scale * plan.gallery_scale)
        distances = (plan.bits - products) / 2
        assert np.abs(distances - np.rint(distances)).max() < 0.4375
        found.append(np.rint(distances).astype(np.int64))
    assert at == len(body)
    return probe, first * plan.capacity, np.concatenate(found)

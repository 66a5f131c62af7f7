"""Searches without keys in Python: plans, queries, answers by their definition (docs/adr/0039)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.aes import key_stream
from tests.second_implementation.blake3 import blake3
from tests.second_implementation.seeds import coefficients, evaluations, seeds, uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TAG, _SEED = 32, 32


@dataclass
class Plan:
    """What a plan says."""

    name: bytes
    dimensions: int
    step: int
    """What scores are apart: two for vectors of signs."""
    signs: bytes
    ring_degree: int
    modulus: int
    scale: int
    number_bits: int
    bits: int

    @property
    def unit(self) -> int:
        """What an entry of a query is multiplied with."""
        return self.scale // self.step

    @property
    def word_bits(self) -> int:
        """Bits of a residue."""
        return self.modulus.bit_length()


def read_plan(data: bytes) -> Plan:
    """A plan from its wire form."""
    body = wire.open_frame(data, "search plan")
    dimensions, integers = struct.unpack_from("<IB", body)
    at = 5 + 18 * integers
    _, expanded, shared = struct.unpack_from("<QBB", body, at)
    assert (expanded, shared) == (0, 1)
    signs = body[at + 10 : at + 42]
    degree, modulus, levels, scale, numbers, bits = struct.unpack("<IQBQBB", body[at + 42 :])
    assert levels == 0
    step = 1 if integers else 2
    return Plan(blake3(data)[:16], dimensions, step, signs, degree, modulus, scale, numbers, bits)


def _negative(plan: Plan, records: int) -> NDArray[np.bool_]:
    """Which records have a negative sign: bits of the key stream, one after the other."""
    stream = np.frombuffer(key_stream(plan.signs, -(-records // 8) + 8), np.uint8)
    return np.unpackbits(stream, bitorder="little")[:records].astype(bool)


def encrypt(
    vector: NDArray[Any], plan: Plan, key: tuple[bytes, NDArray[np.int64]], seed: bytes
) -> bytes:
    """A query: small noise, seeds that follow from one."""
    name, secret = key
    noise = np.arange(plan.ring_degree) % 7 - 3
    body = plan.name + name + seed
    for entry, own in zip(vector, seeds(seed, plan.dimensions), strict=True):
        message = np.zeros(plan.ring_degree, dtype=object)
        message[0] = int(entry) * plan.unit
        a = uniform(own, plan.modulus, plan.ring_degree)
        masks = coefficients(a * evaluations(secret, plan.modulus) % plan.modulus, plan.modulus)
        words = np.asarray((message + noise - masks) % plan.modulus).astype(np.int64)
        body += wire.pack(words, plan.word_bits)
    return wire.frame("search query", body)


def _read_query(data: bytes, plan: Plan) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Both parts of each constant as evaluations."""
    body = wire.open_frame(data, "search query")
    assert body[:16] == plan.name
    seed, at = body[_TAG : _TAG + _SEED], _TAG + _SEED
    length = plan.ring_degree * plan.word_bits // 8
    found = []
    for own in seeds(seed, plan.dimensions):
        words = wire.unpack(body[at : at + length], plan.ring_degree, plan.word_bits)
        at += length
        second = uniform(own, plan.modulus, plan.ring_degree)
        found.append((evaluations(words.astype(object), plan.modulus), second))
    assert at == len(body)
    return found


def decrypt_query(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> list[int]:
    """The vector of a query."""
    values, q = evaluations(secret, plan.modulus), plan.modulus
    entries = []
    for first, second in _read_query(data, plan):
        phase = int(coefficients((first + second * values) % q, q)[0])
        centred = phase - q if phase > q // 2 else phase
        entries.append(round(centred / plan.unit))
    return entries


def answer(data: bytes, plan: Plan, records: NDArray[Any]) -> bytes:
    """An answer of these records, a row each."""
    query, n, q = _read_query(data, plan), plan.ring_degree, plan.modulus
    negative = _negative(plan, len(records))
    body = wire.open_frame(data, "search query")[:_TAG] + struct.pack("<Q", len(records))
    for first in range(0, len(records), n):
        rows = records[first : first + n].astype(object)
        rows[negative[first : first + n]] *= -1
        total: list[Any] = [0, 0]
        for feature, parts in enumerate(query):
            column = np.zeros(n, dtype=object)
            column[: len(rows)] = rows[:, feature]
            values = evaluations(column % q, q)
            total = [(sum_ + part * values) % q for sum_, part in zip(total, parts, strict=True)]
        c_0, c_1 = (coefficients(values, q) for values in total)
        body += wire.pack(_cut(c_1, plan, plan.bits), plan.bits)
        body += wire.pack(_cut(c_0[: len(rows)], plan, plan.number_bits), plan.number_bits)
    return wire.frame("search answer", body)


def _cut(words: NDArray[Any], plan: Plan, bits: int) -> NDArray[np.int64]:
    """Residues switched to so many bits."""
    if bits >= plan.word_bits:
        return words.astype(np.int64)
    q = plan.modulus
    found = [((int(x) << (bits + 1)) + q) // (2 * q) % (1 << bits) for x in words]
    return np.array(found, dtype=np.int64)


def _lift(words: NDArray[Any], plan: Plan, bits: int) -> NDArray[Any]:
    """The inverse, but for what was cut off."""
    if bits >= plan.word_bits:
        return words.astype(object)
    q = plan.modulus
    return np.array([(2 * int(x) * q + (1 << bits)) >> (bits + 1) for x in words], dtype=object)


def decrypt(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> list[int]:
    """The scores of an answer."""
    body = wire.open_frame(data, "search answer")
    assert body[:16] == plan.name
    (records,) = struct.unpack_from("<Q", body, _TAG)
    at, n, q = _TAG + 8, plan.ring_degree, plan.modulus
    values, negative = evaluations(secret, q), _negative(plan, records)
    offset = plan.dimensions if plan.step == 2 else 0
    scores: list[int] = []
    for first in range(0, records, n):
        count = min(n, records - first)
        length = -(-n * plan.bits // 8)
        c_1 = _lift(wire.unpack(body[at : at + length], n, plan.bits), plan, plan.bits)
        at += length
        length = -(-count * plan.number_bits // 8)
        numbers = wire.unpack(body[at : at + length], count, plan.number_bits)
        at += length
        masks = coefficients(evaluations(c_1 % q, q) * values % q, q)
        phases = (_lift(numbers, plan, plan.number_bits) + masks[:count]) % q
        for place, phase in enumerate(phases, first):
            centred = int(phase) - q if phase > q // 2 else int(phase)
            score = plan.step * round((centred - offset * plan.unit) / plan.scale) + offset
            scores.append(-score if negative[place] else score)
    assert at == len(body)
    return scores

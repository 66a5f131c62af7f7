"""Ring products in Python: plans, queries, encrypted models, and the scores of an answer."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.blake3 import blake3
from tests.second_implementation.seeds import decrypted, encrypted, evaluations, uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES = 32
_SEED = 32
_SECRET, _PUBLIC = 2, 3


@dataclass
class Plan:
    """What a plan says: the scales are those of features in [-1, 1], and of their weights."""

    name: bytes
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    centres: NDArray[np.float64]
    offset: float
    kind: int
    """0: weights are open, 1: hidden, 2: under the secret key, 3: under the public key."""
    ring_degree: int
    modulus: int
    feature_scale: int
    weight_scale: float
    bits: int

    @property
    def capacity(self) -> int:
        """Samples of a ciphertext."""
        return self.ring_degree // (len(self.low) * len(self.centres))


def read_plan(data: bytes) -> Plan:
    """A plan from its wire form."""
    body = wire.open_frame(data, "ring product plan")
    features, outputs = struct.unpack_from("<II", body)
    numbers = np.frombuffer(body, "<f8", 2 * features + outputs, 8)
    low, high, centres = np.split(numbers, [features, 2 * features])
    at = 8 + 8 * len(numbers)
    offset = struct.unpack_from("<d", body, at)[0]
    scales = struct.unpack("<IQQdB", body[-29:])
    return Plan(blake3(data)[:16], low, high, centres, offset, body[at + 32], *scales)


class _Body:
    """Packed residues one after the other."""

    def __init__(self, body: bytes, at: int) -> None:
        self.body, self.at = body, at

    def bytes(self, length: int) -> bytes:
        self.at += length
        assert self.at <= len(self.body)
        return self.body[self.at - length : self.at]

    def residues(self, count: int, bits: int, modulus: int) -> NDArray[np.int64]:
        """Lifted to the modulus where bits were cut off."""
        words = wire.unpack(self.bytes(-(-count * bits // 8)), count, bits)
        if bits == modulus.bit_length():
            return words
        lifted = [(int(x) * modulus * 2 + 2**bits) >> (bits + 1) for x in words]
        return np.array(lifted, dtype=np.int64)


def _blocks(plan: Plan, samples: int) -> list[int]:
    return [min(plan.capacity, samples - at) for at in range(0, samples, plan.capacity)]


def _places(plan: Plan, count: int) -> list[int]:
    """Where the scores of so many samples lie."""
    features, outputs = len(plan.low), len(plan.centres)
    return [(k + 1) * features - 1 for k in range(count * outputs)]


def decrypt(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> NDArray[np.float64]:
    """The scores of an answer, a row for each sample."""
    frame = wire.open_frame(data, "ring product answer")
    assert frame[:16] == plan.name
    (samples,) = struct.unpack_from("<I", frame, _NAMES)
    q, n, body, rows = plan.modulus, plan.ring_degree, _Body(frame, _NAMES + 4), []
    # The bits of the third part keep its rounding, times s^2, below that of the second, times s.
    third = plan.bits + int(np.ceil(np.log2(4 / 3 * n) / 2))
    for count in _blocks(plan, samples):
        places, c_2 = _places(plan, count), None
        if plan.kind == _SECRET:
            a, b = (uniform(body.bytes(_SEED), q, n) for _ in range(2))
            c_2 = a * b % q
        elif plan.kind == _PUBLIC:
            words = body.residues(n, min(third, q.bit_length()), q)
            c_2 = evaluations(words, q)
        c_1 = evaluations(body.residues(n, plan.bits, q), q)
        c_0 = np.zeros(n, dtype=np.int64)
        c_0[places] = body.residues(len(places), plan.bits, q)
        parts = [evaluations(c_0, q), c_1] + ([] if c_2 is None else [c_2])
        found = decrypted(parts, secret, q)[places]
        rows.append(found / (plan.feature_scale * plan.weight_scale))
    assert body.at == len(frame)
    return np.concatenate(rows).reshape(samples, -1) + plan.centres


def decrypt_features(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> NDArray[np.float64]:
    """The features of a query, off by roundings and the noise of encryption."""
    frame = wire.open_frame(data, "ring product query")
    assert frame[:16] == plan.name
    (samples,) = struct.unpack_from("<I", frame, _NAMES)
    features, outputs, q, n = len(plan.low), len(plan.centres), plan.modulus, plan.ring_degree
    body, rows = _Body(frame, _NAMES + 4), []
    for count in _blocks(plan, samples):
        before, length = (outputs - 1) * features, n
        if plan.kind < _SECRET:
            length = min(count * features * outputs + before, n)
        else:
            before = 0
        a = uniform(body.bytes(_SEED), q, n)
        c_0 = np.zeros(n, dtype=np.int64)
        places = (np.arange(length) - before) % n
        c_0[places] = body.residues(length, q.bit_length(), q)
        found = decrypted([evaluations(c_0, q), a], secret, q)
        for sample in range(count):
            first = sample * features * outputs
            rows.append(found[first : first + features] / plan.feature_scale)
    assert body.at == len(frame)
    return (plan.low + plan.high) / 2 + np.array(rows) * (plan.high - plan.low) / 2


def encrypt_features(
    x: NDArray[np.float64], plan: Plan, key: tuple[bytes, NDArray[np.int64]], seed: bytes
) -> bytes:
    """A query of one sample with all of `c_0`, for encrypted weights; noise of -3 to 3."""
    assert plan.kind >= _SECRET
    name, secret = key
    message = np.zeros(plan.ring_degree, dtype=np.int64)
    middle, half = (plan.low + plan.high) / 2, (plan.high - plan.low) / 2
    units = np.divide(x - middle, half, out=np.zeros_like(x), where=half > 0)
    message[: len(x)] = np.rint(units * plan.feature_scale)
    noise = np.arange(plan.ring_degree) % 7 - 3
    c_0 = encrypted(message, seed, secret, plan.modulus, noise)
    body = plan.name + name + struct.pack("<I", 1) + seed
    return wire.frame("ring product query", body + wire.pack(c_0, plan.modulus.bit_length()))


def decrypt_model(
    data: bytes, plan: Plan, secret: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of features in [-1, 1], and what is added to the outputs at the middle of ranges."""
    frame = wire.open_frame(data, "ring product model")
    assert frame[:16] == plan.name
    q, n, body = plan.modulus, plan.ring_degree, _Body(frame, _NAMES)
    features, outputs = len(plan.low), len(plan.centres)

    def part(places: list[int]) -> NDArray[Any]:
        if plan.kind == _SECRET:
            c_1 = uniform(body.bytes(_SEED), q, n)
        else:
            c_1 = evaluations(body.residues(n, q.bit_length(), q), q)
        c_0 = np.zeros(n, dtype=np.int64)
        c_0[places] = body.residues(len(places), q.bit_length(), q)
        return decrypted([evaluations(c_0, q), c_1], secret, q)[places]

    weights = part(list(range(n)))
    added = np.zeros(outputs)
    if plan.offset > 0:
        all_added = part(_places(plan, plan.capacity))
        added = all_added[:outputs] / (plan.feature_scale * plan.weight_scale)
    assert body.at == len(frame)
    # Reversed for each output, and nothing behind the last but noise.
    assert np.abs(weights[features * outputs :]).max() < plan.weight_scale * plan.feature_scale
    rows = weights[: features * outputs].reshape(outputs, features)[:, ::-1]
    return rows / plan.weight_scale, added + plan.centres

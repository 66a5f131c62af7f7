"""Ring products, read again in Python: plans, and the scores of an answer."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.blake3 import blake3

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES = 32


@dataclass
class Plan:
    """What a plan says: the scales are those of features in [-1, 1], and of their weights."""

    name: bytes
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    centres: NDArray[np.float64]
    ring_degree: int
    modulus: int
    feature_scale: int
    weight_scale: float
    bits: int


def read_plan(data: bytes) -> Plan:
    """A plan from its wire form."""
    body = wire.open_frame(data, "ring product plan")
    features, outputs = struct.unpack_from("<II", body)
    numbers = np.frombuffer(body, "<f8", 2 * features + outputs, 8)
    low, high, centres = np.split(numbers, [features, 2 * features])
    scales = struct.unpack("<IQQdB", body[-29:])
    return Plan(blake3(data)[:16], low, high, centres, *scales)


def decrypt(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> NDArray[np.float64]:
    """The scores of an answer, a row for each sample."""
    body = wire.open_frame(data, "ring product answer")
    assert body[:16] == plan.name
    (samples,) = struct.unpack_from("<I", body, _NAMES)
    features, outputs = len(plan.low), len(plan.centres)
    capacity, at = plan.ring_degree // (features * outputs), _NAMES + 4
    rows = []

    def take(count: int) -> NDArray[np.int64]:
        nonlocal at
        length = -(-count * plan.bits // 8)
        words = wire.unpack(body[at : at + length], count, plan.bits)
        at += length
        if plan.bits == plan.modulus.bit_length():
            return words
        lifted = [(int(x) * plan.modulus * 2 + 2**plan.bits) >> (plan.bits + 1) for x in words]
        return np.array(lifted, dtype=np.int64)

    for first in range(0, samples, capacity):
        count = min(capacity, samples - first)
        c_1, c_0 = take(plan.ring_degree), take(count * outputs)
        masks = wire.negacyclic(c_1, secret, plan.modulus)
        for sample in range(count):
            for output in range(outputs):
                place = (sample * outputs + output + 1) * features - 1
                x = (int(masks[place]) + int(c_0[sample * outputs + output])) % plan.modulus
                x = x - plan.modulus if x > plan.modulus // 2 else x
                scale = plan.feature_scale * plan.weight_scale
                rows.append(x / scale + plan.centres[output])
    assert at == len(body)
    return np.array(rows).reshape(samples, outputs)

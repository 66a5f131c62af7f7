"""Logarithmic numbers, in plain Python: plans, codes, uploads, sums, and products of an answer."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.blake3 import blake3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NAMES = 32
# Names, then number of samples; of an upload its factor before that.
_SEED = 32
SECRET, PUBLIC, CLEAR = range(3)


@dataclass
class Operand:
    """What one side multiplies with."""

    source: int
    shared: bool
    bounds: list[float]
    recipes: list[list[tuple[int, int]]]


@dataclass
class Plan:
    """What a plan says."""

    name: bytes
    operands: list[Operand] = field(default_factory=list)
    shape: tuple[int, ...] = ()
    terms: list[tuple[int, int, float]] = field(default_factory=list)
    error: float = 0.0
    ring_degree: int = 0
    modulus: int = 0
    bits: int = 0
    octaves: int = 0
    step: int = 0
    answer_bits: int = 0

    @property
    def products(self) -> int:
        """Of a sample."""
        return len(self.operands[0].recipes)

    @property
    def zero(self) -> int:
        """The code of zero: above all sums of others."""
        return len(self.operands) * self.octaves * self.step + 1


def read_plan(data: bytes) -> Plan:
    """A plan from its wire form."""
    body, at = wire.open_frame(data, "logarithm plan"), 0

    def take(form: str) -> tuple[float, ...]:
        nonlocal at
        found = struct.unpack_from("<" + form, body, at)
        at += struct.calcsize("<" + form)
        return found

    def shape() -> tuple[int, ...]:
        (axes,) = take("B")
        return tuple(int(axis) for axis in take(f"{int(axes)}I"))

    plan = Plan(blake3(data)[:16])
    products, count = map(int, take("IB"))
    for _ in range(count):
        source, shared = map(int, take("BB"))
        bounds = list(take(f"{math.prod(shape())}d"))
        recipes = []
        for _ in range(products):
            (powers,) = take("I")
            recipes.append([(int(e), int(p)) for e, p in (take("IB") for _ in range(int(powers)))])
        plan.operands.append(Operand(source, bool(shared), bounds, recipes))
    plan.shape = shape()
    (terms,) = take("I")
    plan.terms = [(int(o), int(p), w) for o, p, w in (take("IId") for _ in range(int(terms)))]
    (plan.error,) = take("d")
    rest = take("IQBBQB")
    plan.ring_degree, plan.modulus, plan.bits, plan.octaves, plan.step, plan.answer_bits = map(
        int, rest
    )
    assert at == len(body)
    return plan


def factor(operand: Operand, product: int, numbers: Sequence[float]) -> float:
    """What an operand multiplies a product with, as a share of its bound."""
    value = 1.0
    for element, power in operand.recipes[product]:
        value *= (numbers[element] / operand.bounds[element]) ** power
    return value


def neighbours(plan: Plan, share: float) -> list[int]:
    """The codes that a share of the bound may become, with sign."""
    half = 1 << (plan.bits - 1)
    room = plan.octaves * plan.step
    size = abs(share)
    if size < 2.0**-plan.octaves * (1 - 1e-12):
        codes = [plan.zero] + ([room] if size > 0 else [])
    else:
        exact = -math.log2(size) * plan.step
        codes = sorted({math.floor(exact + 1e-9), math.ceil(exact - 1e-9)})
        codes = [plan.zero if code > room else code for code in codes]
    return [code + (half if math.copysign(1, share) < 0 else 0) for code in codes]


def value(plan: Plan, code: int) -> float:
    """What a sum of codes stands for."""
    half = 1 << (plan.bits - 1)
    sign, steps = (-1.0 if code >= half else 1.0), code % half
    assert steps <= len(plan.operands) * plan.zero
    return 0.0 if steps >= plan.zero else sign * 2.0 ** (-steps / plan.step)


def _blocks(plan: Plan, samples: int) -> list[int]:
    """How many places each ciphertext has."""
    n, p = plan.ring_degree, plan.products
    if p > n:
        return [min(n, p - first) for _ in range(samples) for first in range(0, p, n)]
    each = n // p
    return [min(each, samples - first) * p for first in range(0, samples, each)]


def read_upload(data: bytes, plan: Plan) -> tuple[int, list[list[NDArray[np.int64]]]]:
    """The factor, and of each ciphertext `c_0` at its places and `c_1`; of a public key's only."""
    body = wire.open_frame(data, "logarithm upload")
    assert body[:16] == plan.name
    number, samples = struct.unpack_from("<BI", body, _NAMES)
    operand, at = plan.operands[number], _NAMES + 5
    assert operand.shared == (samples == 0)
    bits, parts = plan.modulus.bit_length(), []
    each = max(1, plan.ring_degree // plan.products)
    for places in _blocks(plan, each if operand.shared else samples):
        part: list[NDArray[np.int64]] = []
        for count in (plan.ring_degree, places):
            length = -(-count * bits // 8)
            if count == plan.ring_degree and len(part) == 0 and operand.source == SECRET:
                at += _SEED
                part.append(np.zeros(0, dtype=np.int64))
                continue
            part.append(wire.unpack(body[at : at + length], count, bits))
            at += length
        parts.append(part[::-1])
    assert at == len(body)
    return number, parts


def phases(parts: list[NDArray[np.int64]], plan: Plan, secret: NDArray[np.int64]) -> list[int]:
    """The plaintext at each place of a ciphertext."""
    c_0, c_1 = parts
    masks = wire.negacyclic(c_1, secret, plan.modulus)
    q, t = plan.modulus, 1 << plan.bits
    residues = [(int(a) + int(b)) % q for a, b in zip(c_0, masks, strict=False)]
    return [(2 * x * t + q) // (2 * q) % t for x in residues]


def residue(plan: Plan, code: int) -> int:
    """What a code is modulo the prime."""
    return (2 * code * plan.modulus + (1 << plan.bits)) >> (plan.bits + 1)


def truncated(words: NDArray[np.int64], plan: Plan) -> NDArray[np.int64]:
    """Residues with an answer's bits."""
    if plan.answer_bits == plan.modulus.bit_length():
        return words
    q, t = plan.modulus, 1 << plan.answer_bits
    return np.array([(2 * int(x) * t + q) // (2 * q) % t for x in words], dtype=np.int64)


def write_answer(
    uploads: list[list[list[NDArray[np.int64]]]],
    clear: list[int],
    plan: Plan,
    head: bytes,
    samples: int,
) -> bytes:
    """An answer: sums of uploads under the public key, and of codes in the clear.

    `head` is the name of plan and key; `clear` codes of a sample.
    """
    body = head + struct.pack("<I", samples)
    for at, places in enumerate(_blocks(plan, samples)):
        sums = [np.zeros(places, dtype=np.int64), np.zeros(plan.ring_degree, dtype=np.int64)]
        for blocks in uploads:
            block = blocks[at % len(blocks)]
            sums[0] = (sums[0] + block[0][:places]) % plan.modulus
            sums[1] = (sums[1] + block[1]) % plan.modulus
        if clear:
            added = [residue(plan, clear[place % plan.products]) for place in range(places)]
            sums[0] = (sums[0] + np.array(added, dtype=np.int64)) % plan.modulus
        for words in sums[::-1]:
            body += wire.pack(truncated(words, plan), plan.answer_bits)
    return wire.frame("logarithm answer", body)


def decrypt(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> list[list[float]]:
    """The products of an answer, a row for each sample."""
    body = wire.open_frame(data, "logarithm answer")
    assert body[:16] == plan.name
    (samples,) = struct.unpack_from("<I", body, _NAMES)
    at, bits = _NAMES + 4, plan.answer_bits
    scales = []
    for product in range(plan.products):
        scale = 1.0
        for operand in plan.operands:
            for element, power in operand.recipes[product]:
                scale *= operand.bounds[element] ** power
        scales.append(scale)

    def take(count: int) -> NDArray[np.int64]:
        nonlocal at
        length = -(-count * bits // 8)
        words = wire.unpack(body[at : at + length], count, bits)
        at += length
        if bits == plan.modulus.bit_length():
            return words
        lifted = [(int(x) * plan.modulus * 2 + 2**bits) >> (bits + 1) for x in words]
        return np.array(lifted, dtype=np.int64)

    found: list[float] = []
    for places in _blocks(plan, samples):
        c_1 = take(plan.ring_degree)
        codes = phases([take(places), c_1], plan, secret)
        found += [
            value(plan, code) * scales[(len(found) + place) % plan.products]
            for place, code in enumerate(codes)
        ]
    assert at == len(body)
    return [found[i : i + plan.products] for i in range(0, len(found), plan.products)]


# Of fresh noise, a centred binomial of 42 bits.
_NOISE = math.sqrt(42 / 4)
# Deviations beyond which there is nothing, but for a probability below 2^-128.
_TAILS = 14.3


def stated(octaves: int, step: int, factors: int) -> float:
    """The largest variance of a product of shares, by the formula."""
    if factors == 0:
        return 0.0
    each = math.sinh(math.log(2) / (2 * step)) ** 2
    c = (1 + each) ** (factors - 1)
    p = min(c / 2, 1)
    return max((1 + each) ** factors - 1, 4.0**-octaves * (c * p - p * p))


def expected_code(plan: Plan) -> tuple[int, int, int]:
    """Bits, octaves and steps that follow from what a plan declares."""
    k = len(plan.operands)
    scales, depths = [], []
    for product in range(plan.products):
        powers = [
            operand.bounds[element] ** power
            for operand in plan.operands
            for element, power in operand.recipes[product]
        ]
        scales.append(math.prod(powers))
        depths.append(sum(1 for operand in plan.operands if operand.recipes[product]))
    for bits in range(3, 46):
        room = (((1 << (bits - 1)) - 1) // k - 1) // k
        codes = [(stated(o, room // o, k), o, room // o) for o in range(1, 61) if room >= o]
        if not codes:
            continue
        _, octaves, step = min(codes)
        variances = [0.0] * math.prod(plan.shape)
        for output, product, weight in plan.terms:
            size = scales[product] * weight
            variances[output] += size**2 * stated(octaves, step, depths[product])
        if math.sqrt(max(variances)) <= plan.error:
            return bits, octaves, step
    raise AssertionError("no code")


def expected_answer_bits(plan: Plan) -> int | None:
    """The fewest bits of an answer with room for noise, if the plan's ring has it."""
    k, n, q = len(plan.operands), plan.ring_degree, plan.modulus
    sources = [operand.source for operand in plan.operands]
    fresh = _NOISE**2 * (sources.count(SECRET) + sources.count(PUBLIC) * (3 * n + 1))
    for bits in range(plan.bits + 1, q.bit_length() + 1):
        unit = 0.0 if bits == q.bit_length() else (q / 2**bits) ** 2 + 1
        reach = _TAILS * math.sqrt(fresh + 1.04 * unit * (n + 1) / 12) + 1.5 * k + 2
        if reach <= q / 2 ** (plan.bits + 1) * (1 - 1e-6):
            return bits
    return None


def worst(plan: Plan, factors: int) -> float:
    """The largest variance of a product of so many shares, searched on a grid of sizes."""
    ratio = 2.0 ** (1 / plan.step)
    least = 2.0**-plan.octaves

    def moment(size: float) -> float:
        if size <= least:
            return size * least
        steps = math.floor(-math.log2(size) * plan.step + 1e-12)
        upper = float(2.0 ** (-steps / plan.step))
        return float(size * (upper + upper / ratio) - upper * upper / ratio)

    top = [1.0, *np.linspace(1 / ratio, 1, 201)]
    low = list(np.linspace(0, least, 401))
    found = 0.0
    for first in [*top, *low]:
        for others in top:
            variance = moment(first) * moment(others) ** (factors - 1)
            found = max(found, variance - first**2 * others ** (2 * (factors - 1)))
    return found

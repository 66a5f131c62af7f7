"""Scores of trees in Python: plans, queries, and answers as their formula has them.

What an answer's numbers are is in docs/adr/0038-trees.md. Multipliers here are the smallest numbers
of their classes, and no noise is added: sums are the same, and the model is not hidden.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.second_implementation import wire
from tests.second_implementation.blake3 import blake3
from tests.second_implementation.seeds import coefficients, evaluations, seeds, uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAMES, _SEED, _PRIMES = 32, 32, 2


@dataclass
class Plan:
    """What a plan says."""

    name: bytes
    edges: int
    outputs: list[tuple[int, int]]
    """Trees and leaves of each."""
    most_conditions: int
    reach: int
    ring_degree: int
    moduli: list[int]
    of_costs: int
    of_values: int
    blocks: int
    number_bits: int
    bits: int

    @property
    def plain_modulus(self) -> int:
        """Of costs and values together."""
        return self.of_costs * self.of_values

    @property
    def width(self) -> int:
        """Edges of a ciphertext, and coefficients of a leaf."""
        return -(-self.edges // self.blocks)

    @property
    def places(self) -> list[int]:
        """Coefficients of a ciphertext that hold leaves."""
        return list(range(self.width - 1, self.ring_degree, self.width))

    @property
    def modulus(self) -> int:
        """The product of both primes."""
        return self.moduli[0] * self.moduli[1]


def read_plan(data: bytes) -> Plan:
    """A plan from its wire form; what follows from the declaration is checked."""
    body = wire.open_frame(data, "forest plan")
    edges, count = struct.unpack_from("<II", body)
    pairs = struct.unpack_from(f"<{2 * count}I", body, 8)
    at = 8 + 8 * count
    most, reach, degree = struct.unpack_from("<IQI", body, at)
    at += 16
    moduli = list(struct.unpack_from("<QQ", body, at))
    of_costs, of_values, blocks, _, number_bits, bits = struct.unpack("<QQIdBB", body[at + 16 :])
    outputs = list(zip(pairs[::2], pairs[1::2], strict=True))
    found = Plan(
        blake3(data)[:16],
        edges,
        outputs,
        most,
        reach,
        degree,
        moduli,
        of_costs,
        of_values,
        blocks,
        number_bits,
        bits,
    )
    assert of_costs > most
    assert of_values > 2 * reach
    assert len({of_costs, of_values}) == 2
    assert all(_is_prime(number) for number in (of_costs, of_values, *moduli))
    return found


def _is_prime(number: int) -> bool:
    # By the first twelve primes, which decides below 2^64.
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if number in bases or number < 2:
        return number in bases
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(
        x in (1, number - 1) or any(pow(x, 1 << k, number) == number - 1 for k in range(1, twos))
        for x in (pow(base, odd, number) for base in bases)
    )


def _uniform(seed: bytes, plan: Plan) -> list[NDArray[Any]]:
    """The second part that a seed stands for, as evaluations modulo each prime."""
    pairs = zip(seeds(seed, _PRIMES), plan.moduli, strict=True)
    return [uniform(own, q, plan.ring_degree) for own, q in pairs]


def _together(rows: list[NDArray[Any]], plan: Plan) -> NDArray[Any]:
    """Residues modulo both primes as numbers modulo their product."""
    p, q = plan.moduli
    first, second = (row.astype(object) for row in rows)
    return np.asarray((first + p * ((second - first) * pow(p, -1, q) % q)) % plan.modulus)


def _read_query(data: bytes, plan: Plan) -> list[tuple[bytes, list[NDArray[np.int64]]]]:
    """Seeds, and the first part modulo each prime."""
    body = wire.open_frame(data, "forest query")
    assert body[:16] == plan.name
    at, found = _NAMES, []
    for _ in range(plan.blocks):
        seed, rows = body[at : at + _SEED], []
        at += _SEED
        for q in plan.moduli:
            length = -(-plan.ring_degree * q.bit_length() // 8)
            rows.append(wire.unpack(body[at : at + length], plan.ring_degree, q.bit_length()))
            at += length
        found.append((seed, rows))
    assert at == len(body)
    return found


def decrypt_bits(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bits of a query."""
    t, q = plan.plain_modulus, plan.modulus
    bits: list[int] = []
    for seed, rows in _read_query(data, plan):
        parts = [
            (row + coefficients(a * evaluations(secret, prime) % prime, prime)) % prime
            for row, a, prime in zip(rows, _uniform(seed, plan), plan.moduli, strict=True)
        ]
        numbers = [(2 * t * int(x) + q) // (2 * q) % t for x in _together(parts, plan)]
        count = min(plan.width, plan.edges - len(bits))
        assert not any(numbers[count:])
        bits += numbers[:count]
    return np.array(bits)


def encrypt_bits(
    bits: NDArray[np.bool_], plan: Plan, key: tuple[bytes, NDArray[np.int64]], seed: bytes
) -> bytes:
    """A query; noise of -3 to 3, seeds that follow from one."""
    name, secret = key
    body = plan.name + name
    noise = np.arange(plan.ring_degree) % 7 - 3
    for block, own in enumerate(seeds(seed, plan.blocks)):
        part = bits[block * plan.width :][: plan.width]
        unit = (2 * plan.modulus + plan.plain_modulus) // (2 * plan.plain_modulus)
        message = np.zeros(plan.ring_degree, dtype=object)
        message[: len(part)] = [unit * int(bit) for bit in part]
        body += own
        for q, a in zip(plan.moduli, _uniform(own, plan), strict=True):
            masks = coefficients(a * evaluations(secret, q) % q, q)
            words = np.asarray((message + noise - masks) % q).astype(np.int64)
            body += wire.pack(words, q.bit_length())
    return wire.frame("forest query", body)


Condition = tuple[bool, list[int]]
Leaf = tuple[int, list[Condition]]


def answer(
    data: bytes, plan: Plan, trees: list[list[list[Leaf]]], rng: np.random.Generator
) -> bytes:
    """The answer to a query; `trees` are leaves of trees of outputs."""
    t1, t2, t = plan.of_costs, plan.of_values, plan.plain_modulus
    unit = t2 * pow(t2, -1, t1)

    def number(cost: int, value: int) -> int:
        return (cost * unit + value * (t + 1 - unit)) % t

    forms: list[tuple[int, dict[int, int]]] = []
    for output in trees:
        masks = [int(x) for x in rng.integers(t2, size=len(output) - 1)]
        masks.append(-sum(masks) % t2)
        own = [(leaf, mask) for tree, mask in zip(output, masks, strict=True) for leaf in tree]
        for place in rng.permutation(len(own)):
            (value, conditions), mask = own[place]
            constant, terms = number(0, value + mask), dict[int, int]()
            cost = int(rng.integers(1, t1))
            for negated, bits in conditions:
                factor = number(cost, int(rng.integers(t2)))
                constant += factor * negated
                terms |= dict.fromkeys(bits, -factor % t if negated else factor)
            forms.append((constant % t, terms))
    query = _read_query(data, plan)
    seconds, numbers = [], []
    rows = len(plan.places)
    for first in range(0, len(forms), rows):
        part = forms[first : first + rows]
        sums = [[], []]  # type: list[list[NDArray[Any]]]
        for prime, q in enumerate(plan.moduli):
            total: list[Any] = [0, 0]
            for block, (seed, words) in enumerate(query):
                weights = np.zeros(plan.ring_degree, dtype=np.int64)
                for row, (_, terms) in enumerate(part):
                    for edge, factor in terms.items():
                        if edge // plan.width == block:
                            at = plan.width * (row + 1) - 1 - edge % plan.width
                            weights[at] = factor
                w = evaluations(weights, q)
                total[0] = (total[0] + w * evaluations(words[prime], q)) % q
                total[1] = (total[1] + w * _uniform(seed, plan)[prime]) % q
            for place, values in enumerate(total):
                sums[place].append(coefficients(values, q))
        c_0, c_1 = (_together(rows_, plan) for rows_ in sums)
        seconds += [_rounded(int(x), plan, plan.bits) for x in c_1]
        for place, (constant, _) in zip(plan.places, part, strict=False):
            more = (2 * plan.modulus * constant + t) // (2 * t)
            sent = (int(c_0[place]) + more) % plan.modulus
            numbers.append(_rounded(sent, plan, plan.number_bits))
    body = wire.open_frame(data, "forest query")[:_NAMES]
    body += wire.pack(np.array(seconds), plan.bits)
    body += wire.pack(np.array(numbers), plan.number_bits)
    return wire.frame("forest answer", body)


def _rounded(x: int, plan: Plan, bits: int) -> int:
    """Switched to so many bits."""
    return ((x << (bits + 1)) + plan.modulus) // (2 * plan.modulus) % (1 << bits)


def decrypt(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> list[list[int]]:
    """For each output the values of the leaves that are reached, each under its mask."""
    body = wire.open_frame(data, "forest answer")
    assert body[:16] == plan.name
    leaves = sum(leaves for _, leaves in plan.outputs)
    answers, bits, t = -(-leaves // len(plan.places)), plan.bits, plan.plain_modulus
    length = -(-answers * plan.ring_degree * bits // 8)
    seconds = wire.unpack(body[_NAMES : _NAMES + length], answers * plan.ring_degree, bits)
    rest = body[_NAMES + length :]
    assert len(rest) == -(-leaves * plan.number_bits // 8)
    firsts = wire.unpack(rest, leaves, plan.number_bits)
    numbers: list[int] = []
    for c_1 in seconds.reshape(answers, plan.ring_degree):
        # A ternary secret: products of 41 bits in sums of thousands are below 2^63.
        product = np.convolve(c_1, secret)
        folded = product[: plan.ring_degree].copy()
        folded[:-1] -= product[plan.ring_degree :]
        for place in plan.places[: leaves - len(numbers)]:
            first = int(firsts[len(numbers)]) << (bits - plan.number_bits)
            phase = (first + int(folded[place])) % (1 << bits)
            numbers.append(((2 * t * phase + (1 << bits)) >> (bits + 1)) % t)
    found, at = [], 0
    for _, count in plan.outputs:
        own = numbers[at : at + count]
        found.append([x % plan.of_values for x in own if x % plan.of_costs == 0])
        at += count
    return found


def sums(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> list[int]:
    """The sums of an answer."""
    found = []
    for (trees, _), values in zip(plan.outputs, decrypt(data, plan, secret), strict=True):
        assert len(values) == trees
        total = sum(values) % plan.of_values
        found.append(total - plan.of_values if total > plan.of_values // 2 else total)
    return found

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

SAMPLE, PREPARATION = 0, 1
"""What a query is for."""
_NAMES, _NAME, _SEED, _PRIMES = 32, 16, 32, 2


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
    def leaves(self) -> int:
        """Of all outputs."""
        return sum(leaves for _, leaves in self.outputs)

    @property
    def places(self) -> list[int]:
        """Coefficients of a ciphertext that hold leaves."""
        return list(range(self.width - 1, self.ring_degree, self.width))[: self.leaves]

    @property
    def coefficients(self) -> int:
        """Coefficients of a query's first part that travel."""
        return self.width if len(self.places) == 1 else self.ring_degree

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


def _read_query(
    data: bytes, plan: Plan, purpose: int = SAMPLE
) -> list[tuple[bytes, list[NDArray[np.int64]]]]:
    """Seeds, and the first part modulo each prime."""
    body = wire.open_frame(data, "forest query")
    assert (body[:16], body[_NAMES]) == (plan.name, purpose)
    at, found, count = _NAMES + 1, [], plan.coefficients
    for _ in range(plan.blocks):
        seed, rows = body[at : at + _SEED], []
        at += _SEED
        for q in plan.moduli:
            length = -(-count * q.bit_length() // 8)
            words = wire.unpack(body[at : at + length], count, q.bit_length())
            rows.append(np.concatenate([words, np.zeros(plan.ring_degree - count, words.dtype)]))
            at += length
        found.append((seed, rows))
    assert at == len(body)
    return found


def decrypt_bits(
    data: bytes, plan: Plan, secret: NDArray[np.int64], purpose: int = SAMPLE
) -> NDArray[np.int64]:
    """The bits of a query, or the numbers of a preparation."""
    t, q = plan.plain_modulus, plan.modulus
    bits: list[int] = []
    for seed, rows in _read_query(data, plan, purpose):
        parts = [
            (row + coefficients(a * evaluations(secret, prime) % prime, prime)) % prime
            for row, a, prime in zip(rows, _uniform(seed, plan), plan.moduli, strict=True)
        ]
        numbers = [(2 * t * int(x) + q) // (2 * q) % t for x in _together(parts, plan)]
        count = min(plan.width, plan.edges - len(bits))
        assert not any(numbers[count : plan.coefficients])
        bits += numbers[:count]
    return np.array(bits)


def encrypt_bits(
    bits: NDArray[Any],
    plan: Plan,
    key: tuple[bytes, NDArray[np.int64]],
    seed: bytes,
    purpose: int = SAMPLE,
) -> bytes:
    """A query of bits, or a preparation of numbers; small noise, seeds that follow from one."""
    name, secret = key
    body = plan.name + name + bytes([purpose])
    noise = np.arange(plan.ring_degree) % 7 - 3
    q, t = plan.modulus, plan.plain_modulus
    for block, own in enumerate(seeds(seed, plan.blocks)):
        part = bits[block * plan.width :][: plan.width]
        message = np.zeros(plan.ring_degree, dtype=object)
        message[: len(part)] = [(2 * q * int(bit) + t) // (2 * t) for bit in part]
        body += own
        for prime, a in zip(plan.moduli, _uniform(own, plan), strict=True):
            masks = coefficients(a * evaluations(secret, prime) % prime, prime)
            words = np.asarray((message + noise - masks) % prime).astype(np.int64)
            body += wire.pack(words[: plan.coefficients], prime.bit_length())
    return wire.frame("forest query", body)


Condition = tuple[bool, list[int]]
Leaf = tuple[int, list[Condition], dict[int, int]]
"""A value, conditions, and slopes by bit."""
Form = tuple[int, dict[int, int]]
"""A constant, and what bits are multiplied with."""


def _forms(plan: Plan, trees: list[list[list[Leaf]]], rng: np.random.Generator) -> list[Form]:
    """The linear form of each leaf, in a new order."""
    t1, t2, t = plan.of_costs, plan.of_values, plan.plain_modulus
    unit = t2 * pow(t2, -1, t1)

    def number(cost: int, value: int) -> int:
        return (cost * unit + value * (t + 1 - unit)) % t

    forms: list[Form] = []
    for output in trees:
        masks = [int(x) for x in rng.integers(t2, size=len(output) - 1)]
        masks.append(-sum(masks) % t2)
        own = [(leaf, mask) for tree, mask in zip(output, masks, strict=True) for leaf in tree]
        for place in rng.permutation(len(own)):
            (value, conditions, slopes), mask = own[place]
            constant = number(0, value + mask)
            terms = {bit: number(0, slope) for bit, slope in slopes.items()}
            cost = int(rng.integers(1, t1))
            for negated, bits in conditions:
                factor = number(cost, int(rng.integers(t2)))
                constant += factor * negated
                terms |= dict.fromkeys(bits, -factor % t if negated else factor)
            forms.append((constant % t, terms))
    return forms


def answer(
    data: bytes, plan: Plan, trees: list[list[list[Leaf]]], rng: np.random.Generator
) -> bytes:
    """The answer to a query; `trees` are leaves of trees of outputs."""
    forms = _forms(plan, trees, rng)
    return _encrypted(data, plan, forms, SAMPLE)


def prepare(
    data: bytes, plan: Plan, trees: list[list[list[Leaf]]], rng: np.random.Generator
) -> tuple[bytes, list[Form]]:
    """The answer to a preparation, and what is kept for the sample."""
    forms, t = _forms(plan, trees, rng), plan.plain_modulus
    pads = [int(x) for x in rng.integers(t, size=len(forms))]
    padded = [(pad, terms) for pad, (_, terms) in zip(pads, forms, strict=True)]
    kept = [((own - pad) % t, terms) for pad, (own, terms) in zip(pads, forms, strict=True)]
    return _encrypted(data, plan, padded, PREPARATION), kept


def finish(data: bytes, plan: Plan, kept: list[Form]) -> bytes:
    """The answer to a prepared query."""
    body, t = wire.open_frame(data, "forest masked query"), plan.plain_modulus
    bits = read_masked(data, plan, "forest masked query", plan.edges)
    numbers = [
        (constant + sum(bits[edge] * factor for edge, factor in terms.items())) % t
        for constant, terms in kept
    ]
    words = np.array(numbers, dtype=np.int64)
    head = body[: _NAMES + 2 * _NAME]
    return wire.frame("forest masked answer", head + wire.pack(words, t.bit_length()))


def ask(
    messages: tuple[bytes, bytes], numbers: list[int], plan: Plan, bits: NDArray[np.bool_]
) -> bytes:
    """A prepared query: bits less the numbers of a preparation, which was answered so."""
    t = plan.plain_modulus
    words = np.array([(int(bit) - x) % t for bit, x in zip(bits, numbers, strict=True)])
    head = wire.open_frame(messages[0], "forest query")[:_NAMES]
    # Names are checksums.
    head += b"".join(message[-_NAME:] for message in messages)
    return wire.frame("forest masked query", head + wire.pack(words, t.bit_length()))


def read_masked(data: bytes, plan: Plan, kind: str, count: int) -> list[int]:
    """The numbers of a prepared query or of the answer to one."""
    body, bits = wire.open_frame(data, kind), plan.plain_modulus.bit_length()
    assert body[:16] == plan.name
    rest = body[_NAMES + 2 * _NAME :]
    assert len(rest) == -(-count * bits // 8)
    found: list[int] = wire.unpack(rest, count, bits).tolist()
    return found


def _encrypted(data: bytes, plan: Plan, forms: list[Form], purpose: int) -> bytes:
    """Forms of encrypted bits."""
    t, query = plan.plain_modulus, _read_query(data, plan, purpose)
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
    body = wire.open_frame(data, "forest query")[: _NAMES + 1] + data[-_NAME:]
    body += wire.pack(np.array(seconds), plan.bits)
    body += wire.pack(np.array(numbers), plan.number_bits)
    return wire.frame("forest answer", body)


def _rounded(x: int, plan: Plan, bits: int) -> int:
    """Switched to so many bits."""
    return ((x << (bits + 1)) + plan.modulus) // (2 * plan.modulus) % (1 << bits)


def decrypt(data: bytes, plan: Plan, secret: NDArray[np.int64], purpose: int = SAMPLE) -> list[int]:
    """The numbers of all leaves."""
    body = wire.open_frame(data, "forest answer")
    assert (body[:16], body[_NAMES]) == (plan.name, purpose)
    leaves = plan.leaves
    answers, bits, t = -(-leaves // len(plan.places)), plan.bits, plan.plain_modulus
    length = -(-answers * plan.ring_degree * bits // 8)
    body = body[_NAMES + 1 + _NAME :]
    seconds = wire.unpack(body[:length], answers * plan.ring_degree, bits)
    rest = body[length:]
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
    return numbers


def sums(data: bytes, plan: Plan, secret: NDArray[np.int64]) -> list[int]:
    """The sums of an answer."""
    return sums_of(decrypt(data, plan, secret), plan)


def sums_of(numbers: list[int], plan: Plan) -> list[int]:
    """The sums that the numbers of leaves give, each of values that are reached."""
    found, at = [], 0
    for trees, count in plan.outputs:
        own = numbers[at : at + count]
        values = [x % plan.of_values for x in own if x % plan.of_costs == 0]
        assert len(values) == trees
        total = sum(values) % plan.of_values
        found.append(total - plan.of_values if total > plan.of_values // 2 else total)
        at += count
    return found

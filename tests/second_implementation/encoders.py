"""The encoders again, bit by bit in Python: see crates/hesc-stochastic/src/generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from math import floor, gcd, isqrt
from pathlib import Path

_MASK = (1 << 64) - 1
_TABLE = Path(__file__).parents[2] / "crates/hesc-stochastic/data/joe_kuo.txt"
Draw = Callable[[], int]
_NUMBERS = {
    "bernoulli": 1,
    "exact_weight": 2,
    "lfsr": 3,
    "sobol": 4,
    "plain_sobol": 5,
    "halton": 6,
    "hammersley": 7,
    "lattice": 8,
    "clock_division": 9,
    "rotation": 10,
    "coprime_lengths": 11,
    "joint": 12,
}


def _finalise(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def row_generator(random_state: int, generator: str, number: int, element: int) -> Draw:
    """xoshiro256++ seeded by SplitMix64, one stream for each row of a generator's draw."""
    seed = 0
    for word in (random_state, _NUMBERS[generator] << 32 | number, element):
        seed = _finalise(((seed ^ word) + 0x9E3779B97F4A7C15) & _MASK)
    state = []
    for _ in range(4):
        seed = (seed + 0x9E3779B97F4A7C15) & _MASK
        state.append(_finalise(seed))

    def rotate(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & _MASK

    def draw_word() -> int:
        s = state
        result = (rotate((s[0] + s[3]) & _MASK, 23) + s[0]) & _MASK
        t = (s[1] << 17) & _MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotate(s[3], 45)
        return result

    return draw_word


def _uniform(draw: Draw) -> float:
    return (draw() >> 11) * 2.0**-53


def _word(p: float, draw: Draw) -> int:
    """64 independent bits by comparing binary fractions digit by digit."""
    if p >= 1:
        return _MASK
    digits, below, undecided = int(p * 2.0**64), 0, _MASK
    while undecided and digits:
        random = draw()
        if digits >> 63:
            below |= undecided & ~random
            undecided &= random
        else:
            undecided &= ~random & _MASK
        digits = (digits << 1) & _MASK
    return below & _MASK


def bernoulli(p: float, length: int, draw: Draw) -> list[int]:
    """Independent bits."""
    words = [_word(p, draw) for _ in range(-(-length // 64))]
    return [words[i // 64] >> (i % 64) & 1 for i in range(length)]


def exact_weight(p: float, length: int, draw: Draw) -> list[int]:
    """A fixed number of ones, by correcting independent bits."""
    wanted = min(int(p * length + _uniform(draw)), length)
    # Rust rounds halves away from zero, Python to even: add a half and cut.
    bits = bernoulli(int(wanted / length * 256 + 0.5) / 256, length, draw)
    while sum(bits) != wanted:
        at = (draw() * length) >> 64
        if bits[at] != (sum(bits) < wanted):
            bits[at] ^= 1
    return bits


def _polynomials(degree: int) -> list[int]:
    """Primitive polynomials, found by running the register through its states."""
    found = []
    for low in range(1, 1 << degree, 2):
        polynomial, state, period = 1 << degree | low, 1, 0
        while True:
            state <<= 1
            if state >> degree:
                state ^= polynomial
            period += 1
            if state == 1 or period > 1 << degree:
                break
        if period == (1 << degree) - 1:
            found.append(polynomial)
    return found


def lfsr(p: float, length: int, draw: Draw, dimension: int) -> list[int]:
    """Comparison with the states of a shift register in Galois form, shifting right."""
    degree = max((length - 1).bit_length(), 8)
    polynomial = _polynomials(degree)[dimension]
    feedback = sum(1 << (degree - 1 - i) for i in range(degree) if polynomial >> i & 1)
    period = (1 << degree) - 1
    threshold = min(int(p * period + _uniform(draw)), period)
    state = 1 + (period * (draw() >> 32) >> 32)
    bits = []
    for _ in range(length):
        bits.append(int(state <= threshold))
        state = state >> 1 ^ (feedback if state & 1 else 0)
    return bits


def directions(dimension: int) -> list[int]:
    """Direction numbers by the recurrence of Bratley and Fox, from the table of Joe and Kuo."""
    if dimension == 0:
        return [1 << (31 - k) for k in range(32)]
    lines = [line for line in _TABLE.read_text().splitlines() if not line.startswith("#")]
    polynomial, *m = map(int, lines[dimension - 1].split())
    degree = polynomial.bit_length() - 1
    for k in range(degree, 32):
        new = m[k - degree] ^ (m[k - degree] << degree)
        for i in range(1, degree):
            if polynomial >> (degree - i) & 1:
                new ^= m[k - i] << i
        m.append(new)
    return [m[k] << (31 - k) for k in range(32)]


def _scrambled(dimension: int, draw: Draw) -> list[int]:
    """Direction numbers times a random lower triangular matrix."""
    columns = []
    for _ in range(16):
        random = draw()
        columns += [random & 0xFFFFFFFF, random >> 32]
    columns = [(column & ((1 << b) - 1)) | 1 << b for b, column in enumerate(columns)]
    scrambled = []
    for direction in directions(dimension):
        image = 0
        for b in range(32):
            if direction >> b & 1:
                image ^= columns[b]
        scrambled.append(image)
    return scrambled


def _point(vectors: list[int], index: int, start: int = 0) -> int:
    for k in range(32):
        if index >> k & 1:
            start ^= vectors[k]
    return start


def _spans(rows: list[int]) -> list[set[int]]:
    """All combinations of the first 0, 1, 2, ... rows."""
    spans = [{0}]
    for row in rows:
        spans.append(spans[-1] | {combination ^ row for combination in spans[-1]})
    return spans


@cache
def _digit_spans(dimension: int, m: int) -> list[set[int]]:
    """For each number of leading digits, which sets of index bits their combinations depend on."""
    v = directions(dimension)
    rows = [sum((v[k] >> (31 - r) & 1) << k for k in range(m)) for r in range(m)]
    return _spans(rows)


def pair_gain(a: int, b: int, m: int) -> float:
    """Variance of products of the first 2^m points of two dimensions over that of arrangements."""
    left, right = _digit_spans(a, m), _digit_spans(b, m)
    common = [[len(x & y) for y in right] for x in left]
    gain = 0.0
    for i in range(1, m + 1):
        for j in range(1, m + 1):
            pairs = common[i][j] - common[i][j - 1] - common[i - 1][j] + common[i - 1][j - 1]
            gain += pairs * 4.0 ** -(i + j)
    return gain * 2.0 ** (m + 2) + 1 - (1 - 2.0**-m) ** 2


@cache
def good_dimensions(m: int, *, alone: bool = True) -> list[int]:
    """Dimensions in the order that encoders take them for 2^m bits, for small m.

    First digits of these are independent; behind them come, if not alone, others whose pairs are
    good.
    """
    chosen: list[int] = []
    spans = [{0}]
    for independent in (True, False) if not alone else (True,):
        for limit in (0.25, 0.5, 1.0):
            for candidate in range(1024):
                first = _digit_spans(candidate, m)[1] - {0} if m else {0}
                if (
                    candidate not in chosen
                    and not (independent and first <= spans[-1])
                    and all(pair_gain(other, candidate, m) <= limit for other in chosen)
                ):
                    chosen.append(candidate)
                    (row,) = first
                    spans.append(spans[-1] | {row ^ combination for combination in spans[-1]})
    return chosen


def sobol(p: float, length: int, draw: Draw, slot: int) -> list[int]:
    """Comparison with a Sobol sequence under a random lower triangular matrix and a shift.

    Random arrangements where the length bears no more dimensions.
    """
    good = good_dimensions(length.bit_length() - 1)
    if slot >= len(good):
        return exact_weight(p, length, draw)
    scrambled = _scrambled(good[slot], draw)
    shift = draw() & 0xFFFFFFFF
    threshold = round(p * 2.0**32)
    return [int(_point(scrambled, i, shift) < threshold) for i in range(length)]


def plain_sobol(p: float, length: int, dimension: int) -> list[int]:
    """Comparison with the Sobol sequence as it is."""
    threshold = round(p * 2.0**32)
    return [int(_point(directions(dimension), i) < threshold) for i in range(length)]


def _primes() -> Iterator[int]:
    candidate = 2
    while True:
        if all(candidate % divisor for divisor in range(2, candidate)):
            yield candidate
        candidate += 1


def halton(p: float, length: int, draw: Draw, dimension: int) -> list[int]:
    """Comparison with radical inverses whose digits are moved by random ones."""
    base = next(islice(_primes(), dimension, None))
    weights, power = [], base
    while power <= 1 << 32:
        weights.append((1 << 32) // power)
        power *= base
    shifts = [draw() * base >> 64 for _ in weights]
    threshold = round(p * 2.0**32)
    bits = []
    for i in range(length):
        rest, point = i, 0
        for weight, shift in zip(weights, shifts, strict=True):
            point += (rest + shift) % base * weight
            rest //= base
        bits.append(int(point < threshold))
    return bits


def _turned(points: list[int], p: float, draw: Draw) -> list[int]:
    shift, threshold = draw() & 0xFFFFFFFF, round(p * 2.0**32)
    return [int((point + shift) % 2**32 < threshold) for point in points]


def hammersley(p: float, length: int, draw: Draw, dimension: int) -> list[int]:
    """`i / L` turned around the circle, then Halton's dimensions."""
    if dimension > 0:
        return halton(p, length, draw, dimension - 1)
    return _turned([(i << 32) // length for i in range(length)], p, draw)


def lattice(p: float, length: int, draw: Draw, dimension: int) -> list[int]:
    """Radical inverses in base 2 times a power of the multiplier."""
    factor = pow(307063357, dimension, 2**32)
    inverses = [int(f"{i:032b}"[::-1], 2) for i in range(length)]
    return _turned([inverse * factor % 2**32 for inverse in inverses], p, draw)


def deterministic(generator: str, p: float, length: int, draw: Draw, dimension: int) -> list[int]:
    """One of two factors whose bits meet in every combination."""
    if generator == "coprime_lengths":
        # The split into coprime parts that are nearest to each other.
        parts = [(a, length // a) for a in range(1, length + 1) if length % a == 0]
        least = min((abs(a - b), a, b) for a, b in parts if gcd(a, b) == 1 and a >= b)
        levels = least[1 + dimension]
    else:
        levels = isqrt(length)
    ones = int(p * levels + _uniform(draw))
    bits = []
    for i in range(length):
        at = i
        if generator == "clock_division" and dimension == 1:
            at = i // levels
        if generator == "rotation" and dimension == 1:
            at = i + i // levels
        bits.append(int(at % levels < ones))
    return bits


def _spread(ones: int, mask: list[int], vectors: list[int], start: int, first: float) -> list[int]:
    """Positions of the mask, in proportion in every 64, those with the least points in each."""
    positions, passed, given = sum(mask), 0, 0
    bits = [0] * len(mask)
    for block in range(0, len(mask), 64):
        here = [i for i in range(block, min(block + 64, len(mask))) if mask[i]]
        passed += len(here)
        due = ones
        if passed != positions:
            due = min(int(ones / positions * passed + first), ones)
        due = min(max(due, given), given + len(here))
        # The first six digits tell the positions of a block apart.
        for i in sorted(here, key=lambda i: _point(vectors, i, start) >> 26)[: due - given]:
            bits[i] = 1
        given = due
    return bits


def _missed(wanted: int, before: int, own: int, length: int) -> int:
    """How far a product stays from a weight, by the weights of its factors."""
    least, most = abs(before - own), min(before + own, 2 * length - before - own)
    return max(least - wanted, wanted - most, 0)


def joint(probabilities: list[float], length: int, draw: Draw, first: int) -> list[list[int]]:
    """The factors of one product, every prefix of the right weight."""
    good = good_dimensions(length.bit_length() - 1, alone=False)
    dimensions = good + [dimension for dimension in range(1024) if dimension not in good]
    product, rows = [0] * length, []
    sign, due = 1.0, _uniform(draw)
    for k, p in enumerate(probabilities):
        if p == 0.0:
            # A one leaves the product as it is, and what is owed too.
            rows.append([0] * length)
            continue
        sign *= 1.0 - 2.0 * p
        due += (1.0 - sign) / 2.0 * length
        before, wanted = sum(product), min(max(floor(due), 0), length)
        exact = p * length
        own = floor(exact + 0.5)
        if p == 1.0:
            own = length
        elif own % 2 != (before + wanted) % 2:
            own = min(
                (t for t in (own - 1, own + 1) if 0 <= t <= length),
                key=lambda t: (_missed(wanted, before, t, length), abs(t - exact)),
            )
        overlap = max(before + own - wanted, 0) // 2
        overlap = min(max(overlap, own - (length - before), 0), own, before)
        vectors = _scrambled(dimensions[first + k], draw)
        start = draw() & 0xFFFFFFFF
        on, off = _uniform(draw), _uniform(draw)
        row = [
            a | b
            for a, b in zip(
                _spread(overlap, product, vectors, start, on),
                _spread(own - overlap, [1 - bit for bit in product], vectors, start, off),
                strict=True,
            )
        ]
        product = [a ^ b for a, b in zip(product, row, strict=True)]
        due -= sum(product)
        rows.append(row)
    return rows


def encode(
    generator: str,
    representation: str,
    length: int,
    dimension: int,
    random_state: int,
    values: list[float],
) -> list[list[int]]:
    """The streams of one call."""
    streams = []
    for element, value in enumerate(values):
        p = value if representation == "unipolar" else (1 - value) / 2
        draw = row_generator(random_state, generator, dimension, element)
        if generator == "bernoulli":
            streams.append(bernoulli(p, length, draw))
        elif generator == "exact_weight":
            streams.append(exact_weight(p, length, draw))
        elif generator == "lfsr":
            streams.append(lfsr(p, length, draw, dimension))
        elif generator == "plain_sobol":
            streams.append(plain_sobol(p, length, dimension))
        elif generator == "halton":
            streams.append(halton(p, length, draw, dimension))
        elif generator == "hammersley":
            streams.append(hammersley(p, length, draw, dimension))
        elif generator == "lattice":
            streams.append(lattice(p, length, draw, dimension))
        elif generator == "joint":
            streams += joint([p], length, draw, dimension)
        elif generator == "sobol":
            streams.append(sobol(p, length, draw, dimension))
        else:
            streams.append(deterministic(generator, p, length, draw, dimension))
    return streams

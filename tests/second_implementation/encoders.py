"""The encoders again, bit by bit in Python: see crates/hesc-stochastic/src/generators."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_MASK = (1 << 64) - 1
_TABLE = Path(__file__).parents[2] / "crates/hesc-stochastic/data/joe_kuo.txt"
Draw = Callable[[], int]


def _finalise(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


def row_generator(random_state: int, draw: int, element: int) -> Draw:
    """xoshiro256++ seeded by SplitMix64, one stream for each row."""
    seed = 0
    for word in (random_state, draw, element):
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


def sobol(p: float, length: int, draw: Draw, dimension: int) -> list[int]:
    """Comparison with a Sobol sequence under a random lower triangular matrix and a shift."""
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
    shift = draw() & 0xFFFFFFFF
    threshold = round(p * 2.0**32)
    bits = []
    for i in range(length):
        point = shift
        for k in range(32):
            if i >> k & 1:
                point ^= scrambled[k]
        bits.append(int(point < threshold))
    return bits


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
        draw = row_generator(random_state, dimension, element)
        if generator == "bernoulli":
            streams.append(bernoulli(p, length, draw))
        elif generator == "exact_weight":
            streams.append(exact_weight(p, length, draw))
        elif generator == "lfsr":
            streams.append(lfsr(p, length, draw, dimension))
        else:
            streams.append(sobol(p, length, draw, dimension))
    return streams

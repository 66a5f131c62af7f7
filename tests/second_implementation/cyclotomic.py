"""Rings of odd index with Python's integers: products by the definition, slots by factors.

Nothing here knows of transforms, normal bases of fields or groups of slots: an element is a list of
`m` coefficients modulo `X^m - 1`, and slots are remainders modulo the irreducible factors of the
cyclotomic polynomial over the integers modulo a prime.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def primes_of(index: int) -> list[int]:
    """Prime factors in ascending order."""
    return [p for p in range(2, index + 1) if index % p == 0 and all(p % d for d in range(2, p))]


def exponents(index: int) -> list[int]:
    """The exponents of the basis in the order of the wire: see `RingIndex::exponents`."""
    found = [0]
    for p in primes_of(index):
        order = next(g for g in range(1, p) if len({pow(g, k, p) for k in range(p - 1)}) == p - 1)
        unit = next(x for x in range(0, index, index // p) if x % p == 1)
        residues = [pow(order, -s, p) for s in range(p - 1)]
        found = [(e + unit * r) % index for e in found for r in residues]
    return found


def from_basis(coefficients: Sequence[int], index: int) -> list[int]:
    """Coefficients in the basis as those of a polynomial modulo `X^m - 1`."""
    element = [0] * index
    for exponent, coefficient in zip(exponents(index), coefficients, strict=True):
        element[exponent] = int(coefficient)
    return element


def to_basis(element: Sequence[int], index: int) -> list[int]:
    """The coefficients in the basis: along each prime `1 = -(zeta + zeta^2 + ...)`."""
    rest = list(element)
    for p in primes_of(index):
        unit = next(x for x in range(0, index, index // p) if x % p == 1)
        for exponent in range(0, index, p):
            first, rest[exponent] = rest[exponent], 0
            for k in range(1, p):
                rest[(exponent + k * unit) % index] -= first
    return [rest[exponent] for exponent in exponents(index)]


def multiply(a: Sequence[int], b: Sequence[int], index: int) -> list[int]:
    """The product modulo `X^m - 1`."""
    product = [0] * index
    for i, x in enumerate(a):
        if x:
            for j, y in enumerate(b):
                product[(i + j) % index] += x * y
    return product


def remainder(a: Sequence[int], f: Sequence[int], p: int) -> list[int]:
    """`a` modulo a monic `f`, coefficients modulo `p`, lowest first."""
    rest = [x % p for x in a]
    for i in range(len(rest) - 1, len(f) - 2, -1):
        if factor := rest[i]:
            for j, c in enumerate(f):
                rest[i - len(f) + 1 + j] = (rest[i - len(f) + 1 + j] - factor * c) % p
    return (rest + [0] * len(f))[: len(f) - 1]


def factors(index: int, p: int) -> list[list[int]]:
    """The irreducible factors of the cyclotomic polynomial modulo `p`: one for each slot.

    A polynomial of the right degree that is found among all monic ones divides `X^m - 1` and no
    smaller `X^k - 1`. For degrees that can be searched.
    """
    degree = next(d for d in range(1, index) if pow(p, d, index) == 1)
    found = []
    for number in range(p**degree):
        f = [number // p**i % p for i in range(degree)] + [1]
        orders = [k for k in range(1, index + 1) if index % k == 0]
        if f[0] and next((k for k in orders if _divides(f, k, p)), 0) == index:
            found.append(f)
    return found


def _divides(f: Sequence[int], k: int, p: int) -> bool:
    """Whether `f` divides `X^k - 1`: `X^k` by squaring."""
    power = [1] + [0] * (len(f) - 2)
    for bit in f"{k:b}":
        square = [0] * (2 * len(power) + 1)
        for i, x in enumerate(power):
            for j, y in enumerate(power):
                square[i + j + (bit == "1")] += x * y
        power = remainder(square, f, p)
    return power == [1] + [0] * (len(f) - 2)


def automorphism(element: Sequence[int], g: int, index: int) -> list[int]:
    """`a(X^g)`."""
    assert gcd(g, index) == 1
    image = [0] * index
    for i, x in enumerate(element):
        image[i * g % index] = x
    return image

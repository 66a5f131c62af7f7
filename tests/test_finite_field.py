"""Galois rings against FLINT, whose elements are polynomials as well: the same coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from flint import fmpz_mod_poly_ctx, fmpz_poly, fq_default_ctx
from hypothesis import given, settings
from hypothesis import strategies as st

import hesc
from hesc._native import GaloisRing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

# Index, prime and power: degrees 1 to 40, moduli of 1 to 56 bits.
FIELDS = [
    (1, 2, 1),
    (17, 2, 1),
    (51, 2, 1),
    (255, 2, 1),
    (41, 2, 1),
    (31, 3, 1),
    (11, 3, 1),
    (5, 31, 1),
    (29, 1033, 1),
    (7, 2**31 - 1, 1),
    (3, 2**56 - 5, 1),
]
RINGS = [
    (1, 3, 4),
    (17, 2, 10),
    (51, 2, 3),
    (7, 2, 55),
    (31, 3, 4),
    (13, 3, 10),
    (7, 3, 30),
    (5, 1033, 3),
    (11, 1033, 5),
]
ALL = FIELDS + RINGS
METHODS = ("elimination", "division", "first_column", "dual_basis")


def element(ring: GaloisRing, coefficients: Sequence[int]) -> NDArray[np.uint64]:
    return np.resize(np.array(coefficients, dtype=np.uint64) % ring.modulus, ring.degree)


def random_elements(ring: GaloisRing, count: int) -> list[NDArray[np.uint64]]:
    rng = np.random.default_rng([ring.index, ring.prime, ring.power])
    return list(rng.integers(0, ring.modulus, (count, ring.degree), dtype=np.uint64))


def monic(ring: GaloisRing) -> fmpz_poly:
    return fmpz_poly([*map(int, ring.polynomial), 1])


class Flint:
    """`Z[X]` modulo `p^r` and the ring's polynomial, by FLINT's integer polynomials."""

    def __init__(self, ring: GaloisRing) -> None:
        self.ring = ring
        self.modulus = monic(ring)

    def of(self, a: NDArray[np.uint64]) -> fmpz_poly:
        return fmpz_poly([int(x) for x in a])

    def back(self, a: fmpz_poly) -> list[int]:
        rest = a % self.modulus
        return [int(rest[i]) % self.ring.modulus for i in range(self.ring.degree)]

    def multiply(self, a: NDArray[np.uint64], b: NDArray[np.uint64]) -> list[int]:
        return self.back(self.of(a) * self.of(b))

    def frobenius(self, a: NDArray[np.uint64], times: int = 1) -> list[int]:
        """`a(Y^(p^times))`: exponents modulo the order of `Y`."""
        index = self.ring.index
        image = [0] * index
        for i, x in enumerate(a):
            image[i * pow(self.ring.prime, times, index) % index] += int(x)
        return self.back(fmpz_poly(image))

    def trace(self, a: NDArray[np.uint64]) -> list[int]:
        """The sum of all conjugates, as an element."""
        images = [self.frobenius(a, times) for times in range(self.ring.degree)]
        return [sum(column) % self.ring.modulus for column in zip(*images, strict=True)]


@pytest.mark.parametrize(("index", "prime", "power"), ALL)
def test_polynomials_make_the_ring(index: int, prime: int, power: int) -> None:
    """Irreducible modulo p, a divisor of `X^index - 1` modulo p^r."""
    ring = GaloisRing(index, prime, power)
    assert ring.modulus == prime**power
    assert (ring.index, ring.prime, ring.power) == (index, prime, power)
    assert fmpz_mod_poly_ctx(prime)(monic(ring)).is_irreducible()
    rest = fmpz_poly([-1, *[0] * (index - 1), 1]) % monic(ring)
    assert all(int(x) % ring.modulus == 0 for x in rest.coeffs())


@pytest.mark.parametrize(("index", "prime", "power"), FIELDS)
def test_fields_are_those_of_flint(index: int, prime: int, power: int) -> None:
    ring = GaloisRing(index, prime, power)
    # `Any`: FLINT's stubs want its own numbers.
    context: Any = fq_default_ctx(modulus=fmpz_mod_poly_ctx(prime)(monic(ring)))

    def flint(x: NDArray[np.uint64]) -> Any:
        return context([int(c) for c in x])

    def same(x: NDArray[np.uint64], expected: Any) -> bool:
        return bool(flint(x) == expected) and int(x.max()) < prime

    for a, b in zip(random_elements(ring, 12), random_elements(ring, 13)[1:], strict=True):
        assert same(ring.add(a, b), flint(a) + flint(b))
        assert same(ring.multiply(a, b), flint(a) * flint(b))
        assert same(ring.frobenius(a), flint(a).frobenius())
        assert ring.trace(a) == int(flint(a).trace())
        inverse = ring.inverse(a)
        assert (inverse is None) == flint(a).is_zero()
        assert inverse is None or same(inverse, flint(a).inverse())
    assert ring.inverse(element(ring, [0])) is None


@pytest.mark.parametrize(("index", "prime", "power"), ALL)
def test_rings_are_quotients_of_integer_polynomials(index: int, prime: int, power: int) -> None:
    ring = GaloisRing(index, prime, power)
    flint = Flint(ring)
    one = [1, *[0] * (ring.degree - 1)]
    for a, b in zip(random_elements(ring, 6), random_elements(ring, 7)[1:], strict=True):
        assert ring.multiply(a, b).tolist() == flint.multiply(a, b)
        assert ring.frobenius(a).tolist() == flint.frobenius(a)
        assert flint.trace(a) == [ring.trace(a), *[0] * (ring.degree - 1)]
        inverse = ring.inverse(a)
        unit = any(int(x) % prime for x in a)
        assert (inverse is not None) == unit
        assert inverse is None or flint.multiply(a, inverse) == one
        assert (
            ring.inverse(element(ring, (a // np.uint64(prime) * np.uint64(prime)).tolist())) is None
        )
    a, b = (np.array(random_elements(ring, 40)[i::2]) for i in range(2))
    products = np.array([flint.multiply(x, y) for x, y in zip(a, b, strict=True)], dtype=object)
    assert ring.inner_product(a, b).tolist() == (products.sum(axis=0) % ring.modulus).tolist()
    assert ring.inner_product(a[:0], b[:0]).tolist() == [0] * ring.degree


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([GaloisRing(*ring) for ring in ALL]),
    st.lists(st.integers(0, 2**56), min_size=1, max_size=40),
    st.lists(st.integers(0, 2**56), min_size=1, max_size=40),
)
def test_any_products_and_images(ring: GaloisRing, first: list[int], second: list[int]) -> None:
    a, b = element(ring, first), element(ring, second)
    flint = Flint(ring)
    assert ring.multiply(a, b).tolist() == flint.multiply(a, b)
    assert ring.frobenius(a).tolist() == flint.frobenius(a)


@pytest.mark.parametrize(("index", "prime", "power"), ALL)
def test_bases_are_dual(index: int, prime: int, power: int) -> None:
    ring = GaloisRing(index, prime, power)
    flint, d = Flint(ring), ring.degree
    identity = np.eye(d, dtype=int).tolist()

    def traces(of: NDArray[np.uint64], by: NDArray[np.uint64]) -> list[list[int]]:
        """Of products of all pairs."""

        def trace(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> int:
            return flint.trace(np.array(flint.multiply(a, b), dtype=np.uint64))[0]

        return [[trace(a, b) for b in by] for a in of]

    powers = np.eye(d, dtype=np.uint64)
    few = slice(0, 3)
    assert traces(ring.dual_basis()[few], powers) == identity[few]
    normal, dual = (
        np.array([flint.frobenius(x, times) for times in range(d)], dtype=np.uint64)
        for x in ring.normal_basis()
    )
    assert traces(dual[few], normal) == identity[few]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("index", "prime", "power"), ALL)
def test_inverses_of_vandermonde_matrices(index: int, prime: int, power: int, method: str) -> None:
    """Columns times the matrix, which FLINT makes; and what rows are for."""
    ring = GaloisRing(index, prime, power)
    flint, d = Flint(ring), ring.degree
    inverse = ring.invert_vandermonde(method)
    assert inverse.shape == (d, d, d)
    assert inverse.dtype == np.uint64
    powers = np.eye(d, dtype=np.uint64)
    matrix = [
        [
            flint.of(np.array(flint.frobenius(power_of_y, i), dtype=np.uint64))
            for power_of_y in powers
        ]
        for i in range(d)
    ]
    for column in {0, d // 2, d - 1}:
        entries = [flint.of(entry) for entry in inverse[:, column]]
        for i, row in enumerate(matrix):
            terms = (x * y for x, y in zip(row, entries, strict=True))
            expected = [int(i == column), *[0] * (d - 1)]
            assert flint.back(sum(terms, fmpz_poly([0]))) == expected
    (a,) = random_elements(ring, 1)
    conjugates = np.array([flint.frobenius(a, times) for times in range(d)], dtype=np.uint64)
    for coefficient, row in zip(a, inverse, strict=True):
        assert ring.inner_product(row, conjugates).tolist() == [coefficient, *[0] * (d - 1)]


def test_products_that_methods_take() -> None:
    ring = GaloisRing(29, 1033, 1)
    counts = [ring.vandermonde_products(method) for method in METHODS]
    d = ring.degree
    assert counts[0] > d**3 > counts[1] > counts[2] > d * d / 2 > 4 * d > counts[3]


def words(*x: int) -> NDArray[np.uint64]:
    return np.array(x, dtype=np.uint64)


@pytest.mark.parametrize(
    ("call", "error", "remedy"),
    [
        (lambda _: GaloisRing(17, 4, 1), hesc.ParameterError, "choose a prime"),
        (lambda _: GaloisRing(17, 17, 1), hesc.ParameterError, "does not divide the order"),
        (lambda _: GaloisRing(17, 2, 60), hesc.ParameterError, "below 2\\^56"),
        (lambda r: r.multiply(words(1), words(1, 2)), hesc.ShapeError, "give 2"),
        (lambda r: r.multiply(words(1, 2), words(1, 2, 0)), hesc.ShapeError, "give 2"),
        (lambda r: r.add(words(1, 2), words(0, 7)), hesc.ParameterError, "not below the modulus 7"),
        (lambda r: r.frobenius(words(8, 0)), hesc.ParameterError, "reduce it"),
        (lambda r: r.trace(words(1)), hesc.ShapeError, "give 2"),
        (lambda r: r.inverse(words(0, 9)), hesc.ParameterError, "reduce it"),
        (lambda r: r.inner_product(words(1, 2)[None], words(1)[None]), hesc.ShapeError, "give 2"),
        (
            lambda r: r.inner_product(np.ones((2, 2), np.uint64), np.ones((3, 2), np.uint64)),
            hesc.ShapeError,
            "as many of both",
        ),
        (lambda r: r.invert_vandermonde("quick"), hesc.ParameterError, "dual_basis"),
        (lambda r: r.vandermonde_products("quick"), hesc.ParameterError, "elimination"),
    ],
)
def test_what_is_no_element_is_refused(
    call: Callable[[GaloisRing], object], error: type[Exception], remedy: str
) -> None:
    with pytest.raises(error, match=remedy):
        call(GaloisRing(4, 7, 1))

"""Floating point on bits: circuits in the clear against numpy, and some of them encrypted."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc import integers
from hesc.integers import FloatingPoint, IntegerKind, Integers
from hesc.integers.circuits import circuit_of, styles
from hesc.integers.secret import decrypt_integers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.gates import Circuit

HALF = FloatingPoint(5, 10)
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "less": np.less,
    "equal": np.equal,
}
TRUTHS = ("less", "equal")


@cache
def circuit(floating: FloatingPoint, operation: str) -> Circuit:
    a, b = Integers(floating.kind), Integers(floating.kind)
    root = getattr(floating, operation)(a, b)
    return circuit_of([root], [a, b], styles([root])[0]).simplified()


def bits_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """numpy's bits, of one NaN."""
    words = numbers.view(f"u{numbers.itemsize}").astype(np.uint64)
    kind = HALF if numbers.itemsize == 2 else FloatingPoint(8, 23)
    return np.where(np.isnan(numbers), np.uint64(kind.nan), words)


def pairs(width: int, exponent: int, count: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Words of so many bits: at the ends of the format, near each other, apart by few exponents."""
    rng = np.random.default_rng(width)
    fraction = width - 1 - exponent
    word = np.dtype(f"u{width // 8}")
    top, infinity = 1 << (width - 1), ((1 << exponent) - 1) << fraction
    one = ((1 << (exponent - 1)) - 1) << fraction
    sizes = [0, 1, 2, 3, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1, one - 1, one]
    sizes += [one + 1, infinity - 2, infinity - 1, infinity, infinity + 1, infinity | 1 << fraction]
    sizes += [one + (1 << fraction - 1), one + ((1 << fraction - 1) | 1), 3 << (fraction - 1)]
    sizes += [(fraction + 1 << fraction) | low for low in (0, 1, 5)]
    ends = np.array([size % top | sign for size in sizes for sign in (0, top)], dtype=word)
    first, second = (grid.reshape(-1) for grid in np.meshgrid(ends, ends))
    a, b = rng.integers(0, 1 << width, (2, count), dtype=word)
    near = a ^ word.type(top)
    near = near + rng.integers(0, 40, count).astype(word) - word.type(20)
    flips = a ^ (rng.integers(0, 2, count).astype(word) << word.type(width - 1))
    places = rng.integers(-fraction - 4, fraction + 5, count).astype(word)
    apart = flips + (places << word.type(fraction))
    return (
        np.concatenate([first, a, a, a, rng.choice(ends, count)]),
        np.concatenate([second, b, near, apart, a]),
    )


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(("exponent", "fraction"), [(5, 10), (8, 23)])
def test_results_are_numpys_bit_by_bit(exponent: int, fraction: int, operation: str) -> None:
    width = 1 + exponent + fraction
    a, b = pairs(width, exponent, 200_000)
    kind = np.dtype(f"f{width // 8}")
    with np.errstate(all="ignore"):
        expected = OPERATIONS[operation](a.view(kind), b.view(kind))
    found = circuit(FloatingPoint(exponent, fraction), operation)(a, b)[0]
    if operation in TRUTHS:
        np.testing.assert_array_equal(found.astype(bool), expected)
    else:
        np.testing.assert_array_equal(found, bits_of(expected))


def rounded(floating: FloatingPoint, exact: NDArray[np.float64]) -> NDArray[Any]:
    """The bits of exact results, of which those beyond the format are infinities."""
    step = np.ldexp(1.0, int(np.frexp(floating.most)[1]) - floating.fraction_bits - 1)
    beyond = np.abs(exact) >= floating.most + step / 2
    exact = np.where(beyond, np.copysign(np.inf, exact), exact)
    return floating.encode(exact).astype(np.uint64)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("bits", [(2, 1), (2, 5), (3, 2), (4, 3), (5, 1), (6, 1)])
def test_all_pairs_of_small_formats(bits: tuple[int, int], operation: str) -> None:
    """Doubles hold their sums and products exactly."""
    floating = FloatingPoint(*bits)
    words = np.arange(1 << floating.kind.width)
    a, b = (grid.reshape(-1) for grid in np.meshgrid(words, words))
    with np.errstate(all="ignore"):
        exact = OPERATIONS[operation](floating.decode(a), floating.decode(b))
    found = circuit(floating, operation)(a, b)[0]
    if operation in TRUTHS:
        np.testing.assert_array_equal(found.astype(bool), exact)
    else:
        np.testing.assert_array_equal(found, rounded(floating, exact))


def test_signs_are_bits() -> None:
    a = Integers(HALF.kind)
    roots = [HALF.negative(a), HALF.absolute(a)]
    words = np.arange(1 << 16)
    minus, size = circuit_of(roots, [a], styles(roots)[0])(words)
    np.testing.assert_array_equal(minus, words ^ 0x8000)
    np.testing.assert_array_equal(size, words & 0x7FFF)


def test_encodings_are_numpys() -> None:
    words = np.arange(1 << 16, dtype=np.uint16)
    numbers = words.view(np.float16).astype(np.float64)
    np.testing.assert_array_equal(HALF.decode(words), numbers)
    np.testing.assert_array_equal(HALF.encode(numbers), bits_of(words.view(np.float16)))
    assert np.array_equal(np.signbit(HALF.decode([0x8000, 0])), [True, False])
    rng = np.random.default_rng(0)
    # Between numbers, and exactly in the middle of two.
    finite = numbers[np.isfinite(numbers)]
    middle = (finite[:-1] + finite[1:]) / 2
    some = np.concatenate(
        [rng.normal(size=100_000) * 2.0 ** rng.integers(-30, 12, 100_000), middle]
    )
    some = some[np.abs(some) < 65520]
    np.testing.assert_array_equal(HALF.encode(some), some.astype(np.float16).view(np.uint16))
    assert HALF.most == 65504
    single = FloatingPoint(8, 23)
    wide = rng.integers(0, 2**32, 100_000, dtype=np.uint32).view(np.float32)
    with np.errstate(invalid="ignore"):
        doubles = wide.astype(np.float64)
    np.testing.assert_array_equal(single.encode(doubles), bits_of(wide))
    np.testing.assert_array_equal(single.decode(bits_of(wide)), doubles)
    assert HALF.encode(5e-324).tolist() == 0
    assert HALF.encode([]).shape == (0,)


@pytest.mark.parametrize("operation", ["add", "multiply"])
def test_few_enough_products_follow_one_another_for_slots(operation: str) -> None:
    """The largest set has room for 34; two more for other adders."""
    assert circuit(HALF, operation).product_depth <= 32


@pytest.mark.parametrize("operation", OPERATIONS)
def test_encrypted_numbers_are_numpys(operation: str) -> None:
    """In a ring so small that it is insecure; noise and circuits are those of others."""
    params = hesc.Params.cyclotomic(255, [50] * 14, [50], plain_modulus=2, assurance="insecure")
    function = getattr(HALF, operation)
    plan = integers.plan(function, HALF.kind, HALF.kind, count=16, params=params)
    secret, public = hesc.keygen(params)
    a = np.array([1, 2.5, -3, 0.1, 65504, np.inf, np.nan, 0, -0.0, 6e-8, 1e-4, 300, 1024, -1, 1, 7])
    b = np.array([-1, 2**-11, 1e3, 0.2, 32, -np.inf, 1, -0.0, 0, 6e-8, 0.3, 300, 0.5, -1, 2, -7])
    x, y = (integers.encrypt(public, HALF.encode(numbers), HALF.kind) for numbers in (a, b))
    found = decrypt_integers(secret, plan(x, y, progress=False))
    with np.errstate(all="ignore"):
        expected = OPERATIONS[operation](a.astype(np.float16), b.astype(np.float16))
    if operation in TRUTHS:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_array_equal(found, bits_of(expected))


def test_mistakes_are_named() -> None:
    number = Integers(HALF.kind)
    calls: list[tuple[Any, type[Exception], str]] = [
        (lambda: FloatingPoint(1, 10), hesc.OutOfRangeError, "exponent_bits"),
        (lambda: FloatingPoint(5, 24), hesc.OutOfRangeError, "fraction_bits"),
        (lambda: FloatingPoint(5.0, 10), hesc.ShapeError, "whole"),  # type: ignore[arg-type]
        (lambda: HALF.encode([65520.0]), hesc.OutOfRangeError, "more exponent_bits"),
        (lambda: HALF.encode([1e308]), hesc.OutOfRangeError, "65504"),
        (lambda: HALF.encode(["x"]), hesc.ShapeError, "real numbers"),
        (lambda: HALF.decode([1 << 16]), hesc.OutOfRangeError, "uint16"),
        (lambda: HALF.decode([0.5]), hesc.OutOfRangeError, "whole"),
        (lambda: HALF.add(number, 1.0), hesc.ParameterError, "as it encodes them"),  # type: ignore[arg-type]
        (lambda: HALF.less(Integers(IntegerKind(8)), number), hesc.ParameterError, "uint8"),
        (lambda: HALF.negative(np.float16(1)), hesc.ParameterError, "float16"),  # type: ignore[arg-type]
    ]
    for call, error, text in calls:
        with pytest.raises(error, match=text):
            call()


@pytest.mark.parametrize("dtype", ["int64", "uint64", "longdouble"])
def test_numbers_that_no_double_is_are_rounded_once(dtype: str) -> None:
    """Beside ties of float32, as numpy rounds them: doubles between would make ties of them."""
    rng = np.random.default_rng(3)
    ties = (rng.integers(1 << 23, 1 << 24, 4000, dtype=np.uint64) << np.uint64(1)) + np.uint64(1)
    places = rng.integers(6, 37, ties.size).astype(np.uint64)
    words = (ties << places) + rng.integers(-1, 2, ties.size).astype(np.uint64)
    numbers = words.astype(dtype)
    if dtype == "longdouble":
        numbers = numbers * np.ldexp(np.longdouble(1), rng.integers(-170, 20, ties.size))
        numbers *= rng.choice([-1, 1], ties.size)
    single = FloatingPoint(8, 23)
    assert np.array_equal(single.encode(numbers), bits_of(numbers.astype(np.float32)))


def test_what_only_a_wider_type_holds_is_finite() -> None:
    most = np.finfo(np.longdouble).max
    if most == np.finfo(np.float64).max:
        pytest.skip("no type is wider than a double here")
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        FloatingPoint(8, 23).encode(np.array([most]))

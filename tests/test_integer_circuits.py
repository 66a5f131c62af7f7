"""Circuits on integers against numpy, in the clear and as programs of bootstraps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hesc
from hesc.gates import Circuit, Precision, ciphers, integers
from hesc_papers.xu2016integers_circuits import multiplier_by_rows

if TYPE_CHECKING:
    from collections.abc import Callable

ADDERS = ("ripple", "lookahead", "brent_kung", "sklansky", "kogge_stone")
# Each of numpy's widths, which wraps as the circuits do.
TYPES: dict[int, tuple[Any, Any]] = {
    8: (np.uint8, np.int8),
    16: (np.uint16, np.int16),
    32: (np.uint32, np.int32),
}


def words(numbers: Any) -> Any:
    """Signed numbers by their bits."""
    return numbers.view(numbers.dtype.str.replace("i", "u")).astype(np.uint64)


@given(data=st.data())
@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("signed", [False, True])
def test_circuits_compute_what_numpy_does(data: st.DataObject, width: int, signed: bool) -> None:
    kind = TYPES[width][signed]
    info = np.iinfo(kind)
    number = st.integers(int(info.min), int(info.max)) | st.sampled_from(
        [int(info.min), int(info.max), 0, 1]
    )
    pairs = data.draw(st.lists(st.tuples(number, number), min_size=1, max_size=64))
    a, b = (np.array(side, dtype=kind) for side in zip(*pairs, strict=True))
    x, y = words(a), words(b)
    adder = data.draw(st.sampled_from(ADDERS))

    def check(circuit: Circuit, *inputs: Any, expected: Any) -> None:
        np.testing.assert_array_equal(circuit(*inputs)[0], expected)

    check(integers.negation(width, adder=adder), x, expected=words(-a))
    check(integers.subtractor(width, adder=adder), x, y, expected=words(a - b))
    check(integers.less(width, signed=signed), x, y, expected=a < b)
    check(integers.equal(width), x, y, expected=a == b)
    check(integers.minimum(width, signed=signed), x, y, expected=words(np.minimum(a, b)))
    check(integers.maximum(width, signed=signed), x, y, expected=words(np.maximum(a, b)))
    product = integers.multiplier(width, width, signed=signed, adder=adder)
    check(product, x, y, expected=words(a * b))
    check(multiplier_by_rows(width, adder=adder), x, y, expected=words(a * b))
    if signed:
        check(integers.absolute(width, adder=adder), x, expected=words(np.abs(a)))
        wide = integers.multiplier(width, signed=True)
        full = a.astype(np.int64) * b.astype(np.int64)
        check(wide, x, y, expected=full.view(np.uint64) & np.uint64(2 ** (2 * width) - 1))
    else:
        check(integers.adder(width, adder=adder), x, y, expected=x + y)
        safe = np.maximum(b, 1)
        quotient, remainder = integers.divider(width, digit=2)(x, words(safe))
        np.testing.assert_array_equal(quotient, a // safe)
        np.testing.assert_array_equal(remainder, a % safe)
    amount = (y % np.uint64(width)).astype(np.uint64)
    places = amount.astype(kind)
    check(integers.left_shifter(width, 6), x, amount, expected=words(a << places))
    right = integers.right_shifter(width, 6, signed=signed)
    check(right, x, amount, expected=words(a >> places))
    check(integers.bit_count(width), x, expected=[int(word).bit_count() for word in x])


@pytest.mark.parametrize("adder", [*ADDERS, "ladner_fischer"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 13])
def test_products_by_rows_are_right(width: int, adder: str) -> None:
    """Rows that are no power of two, and all pairs of small numbers."""
    most = 1 << min(width, 5)
    a, b = (np.arange(most**2) // most, np.arange(most**2) % most)
    if width > 5:
        a, b = (x * 7919 % 2**width for x in (a, b))
    (product,) = multiplier_by_rows(width, adder=adder)(a, b)
    np.testing.assert_array_equal(product, a * b % 2**width)


@pytest.mark.parametrize("signed", [False, True])
def test_many_numbers_are_summed_sorted_and_searched(signed: bool) -> None:
    kind = TYPES[8][signed]
    rng = np.random.default_rng(5)
    numbers = rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, (6, 200), kind, endpoint=True)
    inputs = words(numbers)
    found = integers.sorter(6, 8, signed=signed)(*inputs)
    np.testing.assert_array_equal(found, words(np.sort(numbers, axis=0)))
    value, place = integers.largest(6, 8, signed=signed)(*inputs)
    np.testing.assert_array_equal(value, words(numbers.max(axis=0)))
    np.testing.assert_array_equal(place, numbers.argmax(axis=0))
    (total,) = integers.total(6, 8)(*inputs)
    np.testing.assert_array_equal(total, inputs.sum(axis=0))


def test_selection_and_tables() -> None:
    choice, a, b = np.array([1, 0]), np.array([7, 7]), np.array([9, 9])
    np.testing.assert_array_equal(integers.selection(4)(choice, a, b)[0], [7, 9])
    gcd = integers.table(3, 3, lambda x, y: int(np.gcd(x, y)))
    x, y = (grid.reshape(-1) for grid in np.meshgrid(range(8), range(8)))
    np.testing.assert_array_equal(gcd(x, y)[0], np.gcd(x, y))


def test_known_numbers_make_circuits_cheaper() -> None:
    builder = hesc.gates.Builder(16)
    known = [builder.constant(bool(1000 >> bit & 1)) for bit in range(16)]
    (product,) = builder.append(integers.multiplier(16, 16), [*builder.inputs[0], *known])
    circuit = builder.finish(product).simplified()
    numbers = np.array([0, 1, 65535, 12345], dtype=np.uint16)
    np.testing.assert_array_equal(circuit(numbers)[0], numbers * np.uint16(1000))
    assert circuit.products < integers.multiplier(16, 16).products / 2


def test_circuits_become_programs_of_bootstraps() -> None:
    precision = Precision.of(hesc.Params.preset("tfhe_2048"))
    for circuit in (integers.adder(8), integers.minimum(8), integers.multiplier(4)):
        program = circuit.compile(precision)
        assert program.bootstraps <= 2 * circuit.products
        assert program.log2_failure <= -128


@pytest.mark.parametrize(
    ("cipher", "key", "initial", "expected"),
    [
        (ciphers.insecure_trivium, "", "", "FBE0BF265859051B"),
        (ciphers.kreyvium, "", "", "26DCF1F4BC0F1922"),
        (ciphers.kreyvium, "0053A6F94C9FF24598EB", "0D74DB42A91077DE45AC", "D1F0303482061111"),
    ],
)
def test_keystreams_are_those_published(
    cipher: Callable[[int], Circuit], key: str, initial: str, expected: str
) -> None:
    """The vectors of eSTREAM and of the crate tfhe, key and initial value as constants."""
    circuit = cipher(64)
    builder = hesc.gates.Builder(1)
    known = [
        builder.constant(bool(int.from_bytes(bytes.fromhex(word), "little") >> bit & 1))
        for word, width in zip((key, initial), circuit.inputs, strict=True)
        for bit in range(width)
    ]
    (stream,) = builder.append(circuit, known)
    (found,) = builder.finish(stream).simplified()([0])
    assert int(found[0]).to_bytes(8, "little").hex().upper() == expected


def test_mistakes_are_named() -> None:
    makes: list[tuple[Any, type[Exception], str]] = [
        (lambda: integers.adder(0), hesc.ParameterError, "1 and 4096"),
        (lambda: integers.adder(1.5), hesc.ShapeError, "whole"),  # type: ignore[arg-type]
        (lambda: integers.adder(8, adder="fast"), hesc.ParameterError, "brent_kung"),
        (lambda: integers.less(8, signed=1), hesc.ParameterError, "True"),  # type: ignore[arg-type]
        (lambda: integers.multiplier(8, 17), hesc.ParameterError, "1 and 16"),
        (lambda: integers.divider(8, digit=5), hesc.ParameterError, "1 and 4"),
        (lambda: integers.table(6, 1, min), hesc.OutOfRangeError, "1 to 5"),
        (lambda: integers.table(2, 1, lambda a, b: a + b), hesc.OutOfRangeError, "0 to 1"),
        (lambda: ciphers.kreyvium(0), hesc.ParameterError, "1 and 65536"),
        (lambda: integers.sorter(2000, 8), hesc.ParameterError, "1 and 1024"),
    ]
    for make, error, message in makes:
        with pytest.raises(error, match=message):
            make()

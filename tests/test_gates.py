"""Gate circuits, as users see them."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hesc
from hesc import gates
from hesc.gates import integers
from hesc_papers.hsiao2022sche_circuits import array_multiplier, comparator, ripple_carry_adder

PRECISION = gates.Precision(bit=9.3e-10, lookup=(1.5e-6, 4.7e-6))


@given(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 255)), min_size=1, max_size=200))
def test_arithmetic_circuits_compute_what_numpy_does(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs).T
    np.testing.assert_array_equal(ripple_carry_adder(8)(a, b)[0], a + b)
    np.testing.assert_array_equal(array_multiplier(8)(a, b)[0], a * b)
    np.testing.assert_array_equal(comparator(8)(a, b)[0], a < b)
    np.testing.assert_array_equal(gates.popcount(8)(a)[0], np.bitwise_count(a))
    np.testing.assert_array_equal(gates.stream_multiplier("XOR", 8)(a, b)[0], a ^ b)
    np.testing.assert_array_equal(gates.scaled_adder(8)(a, b)[0], (a & 0x55) | (b & 0xAA))
    np.testing.assert_array_equal(gates.weighted_adder(8)(a, b, a)[0], a | (b & ~a))


def test_negative_numbers_are_refused_even_where_64_wires_would_hold_their_words() -> None:
    builder = gates.Builder(64)
    same = builder.finish(*builder.inputs)
    np.testing.assert_array_equal(same(np.array([2**64 - 1], np.uint64))[0], [2**64 - 1])
    with pytest.raises(hesc.OutOfRangeError, match="non-negative"):
        same([-1])
    with pytest.raises(hesc.OutOfRangeError, match="non-negative"):
        gates.to_bits([-1], 64)


def test_bits_beyond_a_word_are_zeros() -> None:
    numbers = np.array([2**64 - 1, 2**63, 1], np.uint64)
    bits = gates.to_bits(numbers, 70)
    assert not bits[:, 64:].any()
    np.testing.assert_array_equal(gates.to_numbers(bits[:, :64]), numbers)


def test_circuits_are_as_large_as_the_paper_says() -> None:
    for width in (1, 2, 3, 8):
        adder, multiplier = ripple_carry_adder(width), array_multiplier(width)
        assert (adder.bootstraps, adder.depth) == (5 * width, 2 * width + 1)
        assert multiplier.bootstraps == 6 * width**2
        assert multiplier.depth <= 8 * width
        a, b = np.divmod(np.arange(4**width), 2**width)
        np.testing.assert_array_equal(adder(a, b)[0], a + b)
        np.testing.assert_array_equal(multiplier(a, b)[0], a * b)
        np.testing.assert_array_equal(comparator(width)(a, b)[0], a < b)
    assert multiplier.counts == {"AND": 192, "OR": 64, "XOR": 128, "CONSTANT": 1}
    assert multiplier.simplified().bootstraps < multiplier.bootstraps


def test_the_compiler_saves_bootstraps_within_the_failure_allowed() -> None:
    for circuit in (ripple_carry_adder(8), array_multiplier(8)):
        program = circuit.compile(PRECISION)
        assert 4 * program.bootstraps <= circuit.bootstraps
        assert program.log2_failure <= -128
        assert sum(program.layers) == program.bootstraps
        assert str(program.bootstraps) in repr(program)
    product = gates.stream_multiplier("XOR", 256).compile(PRECISION)
    assert (product.bootstraps, product.widest_sum) == (0, 2)
    # Two conjunctions of different bits share a bootstrap.
    assert gates.stream_multiplier("AND", 256).compile(PRECISION).bootstraps == 128
    with pytest.raises(hesc.NoiseBudgetError, match="less noise"):
        array_multiplier(2).compile(gates.Precision(1e-3, (1e-3, 1e-3)))
    with pytest.raises(hesc.OutOfRangeError):
        array_multiplier(2).compile(gates.Precision(float("nan"), (0, 0)))


def test_circuits_of_ones_own_travel_as_files() -> None:
    builder = gates.Builder(4, 4)
    a, b = builder.inputs
    differ = [builder.gate("XOR", x, y) for x, y in zip(a, b, strict=True)]
    (count,) = builder.append(gates.popcount(4), differ)
    chosen = builder.mux(differ[0], builder.invert(a[1]), builder.constant(bit=True))
    circuit = builder.finish(count, [chosen])
    again = gates.Circuit.from_bristol(circuit.to_bristol())
    assert (again.inputs, again.outputs) == ([4, 4], [3, 1])
    x, y = np.arange(16).reshape(4, 4), np.arange(16)[::-1].reshape(4, 4)
    for found, expected in zip(again(x, y), circuit(x, y), strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.shape == x.shape
    np.testing.assert_array_equal(circuit(x, y)[0], np.bitwise_count(x ^ y))


def test_mistakes_are_named() -> None:
    adder = ripple_carry_adder(4)
    with pytest.raises(hesc.ShapeError, match="inputs"):
        adder(1)
    with pytest.raises(hesc.ShapeError):
        adder([1, 2], [1])
    with pytest.raises(hesc.OutOfRangeError, match="does not fit"):
        adder(16, 0)
    for wrong in (-1, 0.5):
        with pytest.raises(hesc.OutOfRangeError, match="integers"):
            adder(wrong, 0)
    with pytest.raises(hesc.ParameterError, match="between 1 and 4096"):
        integers.multiplier(0)
    with pytest.raises(hesc.CircuitError, match="no gate"):
        gates.stream_multiplier("FROB", 8)
    builder = gates.Builder(2)
    with pytest.raises(hesc.CircuitError, match="nothing drives"):
        builder.gate("AND", 0, 7)
    with pytest.raises(hesc.WireError, match="line 1"):
        gates.Circuit.from_bristol("nonsense")
    with pytest.raises(hesc.CircuitError, match="depends on itself"):
        gates.Circuit.from_bristol("1 3\n1 2\n1 1\n\n2 1 0 2 2 AND\n")


@pytest.mark.parametrize("width", [2, 3, 8, 31, 63, 64])
def test_circuits_take_signed_numbers_in_the_clear(width: int) -> None:
    """Beside Python's integers, the ends among them."""
    rng = np.random.default_rng(width)
    least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
    ends = [least, most, -1, 0, 1, least, most]
    a = np.array([*ends, *rng.integers(least, most, 20, endpoint=True)], dtype=np.int64)
    b = np.array([*ends[::-1], *rng.integers(least, most, 20, endpoint=True)], dtype=np.int64)
    pairs = [(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    difference, _ = gates.subtractor(width)(a, b, signed=True)
    modulus = 1 << width
    assert difference.tolist() == [(x - y - least) % modulus + least for x, y in pairs]
    assert gates.maximum(width, signed=True)(a, b, signed=True)[0].tolist() == [
        max(pair) for pair in pairs
    ]
    assert gates.less(width, signed=True)(a, b, signed=True)[0].tolist() == [
        x < y for x, y in pairs
    ]
    assert gates.equal(width)(a, b, signed=True)[0].tolist() == [x == y for x, y in pairs]
    bits = gates.to_bits(a, width + 3, signed=True)
    if width + 3 <= 64:
        np.testing.assert_array_equal(gates.to_numbers(bits, signed=True), a)
    np.testing.assert_array_equal(gates.to_numbers(bits[..., :width], signed=True), a)
    for beyond in (least - 1, most + 1):
        with pytest.raises(hesc.OutOfRangeError, match=r"does not fit|integers"):
            gates.to_bits(beyond, width, signed=True)
        with pytest.raises(hesc.OutOfRangeError, match=r"does not fit|integers"):
            gates.maximum(width, signed=True)(beyond, 0, signed=True)
    with pytest.raises(hesc.OutOfRangeError, match="signed=True"):
        gates.maximum(width, signed=True)(-1, 0)
    with pytest.raises(hesc.ParameterError, match="signed is"):
        gates.to_bits(1, width, signed=1)  # type: ignore[arg-type]


def test_signed_numbers_are_right_or_refused() -> None:
    """Every circuit of the library on all pairs of four bits in two's complement, and copied."""
    a, b = (x.ravel() for x in np.meshgrid(np.arange(-8, 8), np.arange(-8, 8)))
    amounts = np.arange(256) % 4
    wrapped = {
        "subtractor": (gates.subtractor(4), (a, b), a - b),
        "negation": (integers.negation(4), (a,), -a),
        "absolute": (integers.absolute(4), (a,), abs(a)),
        "multiplier": (integers.multiplier(4, signed=True), (a, b), a * b),
        "lower half": (integers.multiplier(4, 4), (a, b), a * b),
        "by rows": (integers.multiplier_by_rows(4), (a, b), a * b),
        "less": (gates.less(4, signed=True), (a, b), a < b),
        "equal": (gates.equal(4), (a, b), a == b),
        "maximum": (gates.maximum(4, signed=True), (a, b), np.maximum(a, b)),
        "minimum": (gates.minimum(4, signed=True), (a, b), np.minimum(a, b)),
        "left": (integers.left_shifter(4, 2), (a, amounts), a << amounts),
        "right": (integers.right_shifter(4, 2, signed=True), (a, amounts), a >> amounts),
    }
    for name, (circuit, inputs, expected) in wrapped.items():
        for made in (circuit, circuit.simplified(), copy.copy(circuit)):
            width = made.outputs[0]
            found = made(*inputs, signed=True)[0]
            modulus = 1 << width
            exact = (expected + modulus // 2) % modulus - modulus // 2
            np.testing.assert_array_equal(found, exact if width > 1 else expected, err_msg=name)
    most, place = integers.largest(5, 4, signed=True)(
        *([-8, 3], [-1, -3], [-2, 2], [-4, 1], [0, 0]), signed=True
    )
    assert most.tolist() == [0, 3]
    assert place.tolist() == [4, 0]
    unsigned = [
        *(integers.adder(4), integers.multiplier(4), integers.divider(4), gates.less(4)),
        *(gates.maximum(4), gates.minimum(4), integers.right_shifter(4, 2), gates.popcount(4)),
        *(integers.bit_count(4), integers.total(2, 4), integers.sorter(2, 4)),
        *(integers.largest(2, 4), integers.table(2, 2, lambda a, b: a & b)),
    ]
    for circuit in unsigned:
        for made in (circuit, circuit.simplified(), copy.copy(circuit)):
            zeros = [[0]] * len(made.inputs)
            with pytest.raises(hesc.ParameterError, match="not negative"):
                made(*zeros, signed=True)
            made(*zeros)

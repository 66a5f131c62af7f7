"""Vectors of BFV, BGV and CKKS against numpy: lengths, what lies behind numbers, operands, wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from tests import reading
from tests.vector_party import SCHEMES, Party, party

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


@pytest.fixture(scope="module", params=SCHEMES)
def p(request: pytest.FixtureRequest) -> Party:
    return party(request.param)


LENGTHS = [1, 2, 3, 5, 8, 11, 16]


@pytest.mark.parametrize("n", LENGTHS)
def test_matrices_multiply_whatever_happened_to_the_vector(p: Party, n: int) -> None:
    """What fills the slots behind a vector is kept true by each operation."""
    rng = np.random.default_rng(n)
    x, b, c = (p.numbers(rng, n) for _ in range(3))
    square, tall, wide = (p.numbers(rng, (m, n)) for m in (n, n + 3, max(1, n // 2)))
    v, w, s = p.encrypt(x), p.encrypt(c), p.encrypt([2])
    for vector, numbers in [
        (v, x),
        (v + 1, x + 1),
        (v - b, x - b),
        (2 - v, 2 - x),
        (v * b, x * b),
        (v * 3, x * 3),
        (v * w + w, x * c + c),
        (v + s, x + 2),
        (s - v, 2 - x),
        ((v + s) * s, (x + 2) * 2),
        (v.polynomial([1, -1, 2]), 1 - x + 2 * x**2),
        (v.rotate(1), np.roll(x, -1)),
        ((v + s).rotate(-2) + 1, np.roll(x + 2, 2) + 1),
    ]:
        for matrix in (square, tall, wide):
            p.check(matrix @ vector, matrix @ numbers)
        p.check(vector.dot(w), [numbers @ c])
        p.check((vector + s).dot(w + s), [(numbers + 2) @ (c + 2)])
        p.check(b @ vector, [b @ numbers])
    p.check(square @ ((square @ v) + b), square @ (square @ x + b))
    u, y = tall.T @ (tall @ v), tall.T @ tall @ x
    p.check(hesc.vectors.Matrix(p.params, wide, level=u.level) @ u, wide @ y)
    low = u.mod_switch_to(u.level - 1)
    # A vector comes down to a matrix, which cannot come up; one of integers fits every level.
    fixed = hesc.vectors.Matrix(p.params, wide)
    if p.params.scheme == "ckks":
        with pytest.raises(hesc.ShapeError, match=f"level={low.level}"):
            fixed @ low
    else:
        p.check(fixed @ low, wide @ y)
    p.check(hesc.vectors.Matrix(p.params, wide, level=low.level) @ u, wide @ y)


def test_one_number_goes_with_many_and_other_lengths_do_not(p: Party) -> None:
    x, one = np.array([1, 2, 3]), np.array([2])
    v, s = p.encrypt(x), p.encrypt(one)
    operations: list[Callable[[Any, Any], Any]] = [
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: b - a,
        lambda a, b: a * b,
        lambda a, b: b * a,
    ]
    for operation in operations:
        p.check(operation(v, one), operation(x, one))
        p.check(operation(v, np.array(2)), operation(x, 2))
        p.check(operation(v, s), operation(x, one))
        p.check(operation(s, x), operation(one, x))
        p.check(operation(s, s), operation(one, one))
        for wrong in ([1, 2], [1, 2, 3, 4], [], [[1, 2, 3]], np.ones((3, 1), dtype=int)):
            with pytest.raises(hesc.ShapeError):
                operation(v, wrong)
        for numbers in ([1, 2], [1, 2, 3, 4]):
            with pytest.raises(hesc.ShapeError, match="do not go together"):
                operation(v, p.encrypt(numbers))
    with pytest.raises(hesc.ShapeError, match="equal lengths"):
        v.dot(s)
    for shape in ((3, 2), (3, 4), (1, 1)):
        with pytest.raises(hesc.ShapeError, match="columns"):
            np.ones(shape, dtype=int) @ v
    for length in (0, p.params.slot_count + 1):
        for encrypt in (p.encrypt, p.secret.encrypt_to_bytes):
            with pytest.raises(hesc.ShapeError, match="a vector has from 1"):
                encrypt(np.zeros(length, dtype=int))


def test_inner_products_of_polynomials(p: Party) -> None:
    x, y = np.array([1, 2, 3]), np.array([4, 5, 6])
    a, b = p.encrypt(x), p.encrypt(y)
    p.check(a.polynomial([1, 1]).dot(b.polynomial([2, 1])), [65])
    # One number fills all slots: it goes on as a factor of anything.
    p.check(a.dot(b) * a + b, 32 * x + y)


def test_constant_polynomials_and_zero_matrices(p: Party) -> None:
    x = np.array([1, 2, 3])
    v = p.encrypt(x)
    p.check(v.polynomial([3]), [3, 3, 3])
    p.check(v.polynomial([0]), [0, 0, 0])
    p.check(v.polynomial([3, 0, 0]).dot(v), [18])
    if p.params.scheme == "ckks":
        # Larger than a word with the scale.
        p.check(v.polynomial([0, 1e9]), 1e9 * x)
    p.check(v.polynomial([0, 2]), 2 * x)
    for level in (0, -1, v.level + 1):
        with pytest.raises(hesc.ShapeError, match="comes down"):
            v.mod_switch_to(level)
    p.check(np.zeros((2, 3), dtype=int) @ v, [0, 0])
    with pytest.raises(hesc.ShapeError, match="at least one coefficient"):
        v.polynomial([])
    with pytest.raises(hesc.ShapeError, match="one dimension"):
        v.polynomial([[1, 2]])
    with pytest.raises(hesc.ShapeError, match="two dimensions"):
        hesc.vectors.Matrix(p.params, [1, 2])
    row = p.params.ring_degree // 2
    for shape in ((0, 3), (row + 1, 3)):
        with pytest.raises(hesc.ShapeError, match="rows and columns"):
            hesc.vectors.Matrix(p.params, np.zeros(shape, dtype=int))
    for size in (0, -1, 2**20):
        with pytest.raises(hesc.ShapeError, match="lengths and sides"):
            hesc.vectors.dot_rotations(size)
        with pytest.raises(hesc.ShapeError, match="lengths and sides"):
            hesc.vectors.matrix_rotations(3, size)


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
def test_vectors_in_both_rows_are_right_or_refused(scheme: str) -> None:
    p = party(scheme)
    row, slots = p.params.ring_degree // 2, p.params.slot_count
    for n in (row - 3, row, row + 1, slots - 2, slots):
        x, y = np.arange(n) % 5 - 2, np.arange(n) % 7 - 3
        v, w, s = p.encrypt(x), p.encrypt(y), p.encrypt([2])
        p.check(v * w + x, x * y + x)
        p.check((v.polynomial([1, 1]) + s).dot(w + s), [(3 + x) @ (y + 2)])
        if n > row:
            with pytest.raises(hesc.ShapeError, match="rotate_rows"):
                v.rotate(1)
            with pytest.raises(hesc.ShapeError, match="rows and columns"):
                np.ones((1, n), dtype=int) @ v
            # Behind the numbers something lies, which must not become numbers.
            full = np.concatenate([x + 2, np.zeros(slots - n, dtype=int)])
            p.check((v + s).swap_rows(), np.roll(full, row))
            turned = np.roll(full.reshape(2, row), -1, axis=1).ravel()
            p.check((v + s).rotate_rows(1), turned)
        else:
            p.check(v.rotate(1), np.roll(x, -1))


def test_one_level_policy_for_products(p: Party) -> None:
    """The same expression has the same value and the same room whichever way it is written."""
    x = np.array([1, -2, 3])
    v = p.encrypt(x)
    for written, power in [
        (v * v, [0, 0, 1]),
        (v.square(), [0, 0, 1]),
        ((v * v) * (v * v), [0, 0, 0, 0, 1]),
        (v * v * v, [0, 0, 0, 1]),
    ]:
        other = v.polynomial(power)
        p.check(other, x ** (len(power) - 1))
        p.check(written, x ** (len(power) - 1))
        if p.params.scheme != "ckks":
            # CKKS's coefficient 1 takes a level: it brings the scale back to that of the set.
            assert (written.level, written.noise_budget) == (other.level, other.noise_budget)
    copy = reading.vector(p.public, v.to_bytes())
    assert (v * copy).noise_budget == (v * v).noise_budget


def test_imaginary_parts_stay() -> None:
    p = party("ckks")
    x, z = np.array([0.5, -1, 2]), np.array([1 + 1j, 2j, -0.5])
    v, w = p.encrypt(x), p.encrypt(z)
    matrix = np.array([[1j, 2, 0], [1, 1 - 1j, 3]])
    cases: list[tuple[Any, Any]] = [
        (v * 1j, x * 1j),
        (v + 1j, x + 1j),
        (1j - v, 1j - x),
        (v * z, x * z),
        (v - z, x - z),
        (v + w, x + z),
        (v * w, x * z),
        (v * [1j], x * 1j),
        (matrix @ v, matrix @ x),
        (hesc.vectors.Matrix(p.params, matrix) @ w, matrix @ z),
        (z @ v, [z @ x]),
        (v.polynomial([1j, 0, 2 - 1j]), 1j + (2 - 1j) * x**2),
        (w.polynomial([0, 0, 0, 1]), z**3),
        (v.dot(w), [x @ z]),
        (w.dot(v), [x @ z]),
        ((v * 1j).conjugate(), x * -1j),
        ((v * 1j).rotate(1), np.roll(x, -1) * 1j),
        (reading.vector(p.public, (v * 1j).to_bytes()), x * 1j),
        (reading.vector(p.public, p.secret.encrypt_to_bytes(z)), z),
    ]
    for vector, expected in cases:
        assert np.iscomplexobj(p.secret.decrypt(vector))
        p.check(vector, expected)
    assert not np.iscomplexobj(p.secret.decrypt((v * 2 + x).polynomial([1, 2])))


def test_operands_in_the_clear_are_numbers_or_refused(p: Party) -> None:
    x = np.array([1, 2, 3])
    v = p.encrypt(x)
    ckks = p.params.scheme == "ckks"
    # What numpy would compute with these is what comes out: no wrapping round of small types.
    operands: list[Any] = [
        True,
        np.bool_(True),
        np.array([True, False, True]),
        np.uint8(200),
        np.array([200, 0, 255], dtype=np.uint8),
        np.array([-128, 127, 1], dtype=np.int8),
        np.array([2**60, 0, 1], dtype=np.uint64) // 2**55,
    ]
    for operand in operands:
        wide = np.asarray(operand).astype(np.int64)
        p.check(v + operand, x + wide)
        p.check(v - operand, x - wide)
        p.check(operand - v, wide - x)
        p.check(v * operand, x * wide)
    if ckks:
        # Half precision is widened before it is negated or multiplied.
        p.check(v - np.array([0.5, 0.25, 3], dtype=np.float16), x - [0.5, 0.25, 3])
    matrix: Callable[[Any], Any] = lambda wrong: [[wrong, 1, 1]] @ v  # noqa: E731
    calls: list[Callable[[Any], Any]] = [
        lambda wrong: v + wrong,
        lambda wrong: v - wrong,
        lambda wrong: wrong - v,
        lambda wrong: v * wrong,
        lambda wrong: v * [wrong, 1, 1],
        lambda wrong: v.polynomial([1, wrong]),
        matrix,
    ]
    strange: list[Any] = ["2", None, object(), b"2", np.datetime64("2026-01-01"), float("nan")]
    strange += [float("inf"), -float("inf")] if ckks else [0.5, 1j, 2**80, -(2**63), 2**64 - 1]
    for wrong in strange:
        for call in calls:
            with pytest.raises((hesc.HescError, TypeError)):
                call(wrong)
    masked = np.ma.masked_array([1, 2, 3], mask=[False, True, False])
    takes: list[Callable[[Any], Any]] = [lambda m: v * m, lambda m: v - m, v.polynomial]
    for take in takes:
        with pytest.raises(hesc.OutOfRangeError, match="masked"):
            take(masked)
    with pytest.raises(hesc.ShapeError):
        v * [[1, 2], [3]]
    for nothing in (v, [v, v]):
        with pytest.raises(TypeError, match="encrypted"):
            np.array(nothing)


def test_what_travels_says_what_it_is(p: Party) -> None:
    v, s = p.encrypt([1, 2, 3]), p.encrypt([2])
    # Something lies behind this one, and its reader knows.
    again = reading.vector(p.public, (v + s).to_bytes())
    assert (len(again), again.zeros_behind) == (3, False)
    p.check(again.dot(again), [9 + 16 + 25])
    assert len(reading.vector(p.public, v.to_bytes(), 3)) == 3
    for wrong in (1, 2, 4):
        with pytest.raises(hesc.ShapeError, match="these bytes hold 3"):
            reading.vector(p.public, v.to_bytes(), wrong)


def test_rotations_take_any_key_that_does_it() -> None:
    params = party("bfv").params
    secret, public = hesc.keygen(params, rotations=[5, -3])
    x = np.arange(4)
    found = secret.decrypt(public.encrypt(x).rotate(1))
    np.testing.assert_array_equal(found, np.roll(x, -1))
    y = np.arange(8)
    moved = [secret.decrypt(v) for v in public.encrypt(y).rotate_many([5, -3, 0, 8, 13])]
    expected = [np.roll(y, -steps) for steps in (5, -3, 0, 8, 13)]
    np.testing.assert_array_equal(moved, expected)


def test_errors_name_rotations(p: Party) -> None:
    _, public = hesc.keygen(p.params, rotations=[1])
    v = public.encrypt([1, 2, 3, 4, 5], bound=5)
    with pytest.raises(hesc.ParameterError, match=r"by 2, 4.*dot_rotations\(5\)"):
        v.dot(v)
    with pytest.raises(hesc.ParameterError, match=r"matrix_rotations\(2, 5\)"):
        np.ones((2, 5), dtype=int) @ v
    none = hesc.keygen(p.params)[1].encrypt([1, 2, 3], bound=3)
    with pytest.raises(hesc.ParameterError, match=r"rotations=hesc.vectors.dot_rotations\(3\)"):
        none.dot(none)
    with pytest.raises(hesc.ParameterError, match=r"rotations=\[-2, 1\]"):
        none.rotate(1)
    # What needs no key asks for none.
    one: NDArray[Any] = np.array([3])
    w = hesc.keygen(p.params)[1].encrypt(one, bound=3)
    for vector in (w.rotate(5), w.dot(w), np.ones((4, 1), dtype=int) @ w, none.rotate(3)):
        assert len(vector) > 0


@pytest.mark.parametrize("n", [1, 2, 5, 16, 100, 128, 200, 256])
def test_reductions_and_powers_are_numpys(p: Party, n: int) -> None:
    """At lengths within a row, of a row and of both rows, and after sums with one number."""
    if n > p.params.slot_count:
        return
    rng = np.random.default_rng(n)
    x = p.numbers(rng, n)
    v = p.encrypt(x)
    assert (v.shape, v.size, v.ndim) == (x.shape, x.size, x.ndim)
    for vector, numbers in ((v, x), (v + p.encrypt([2]), x + 2), (v.ravel(), x.ravel())):
        p.check(vector.sum(), [numbers.sum()])
        p.check(vector.sum(axis=0) * 2, [2 * numbers.sum()])
        for exponent in (1, 2, 3, 5):
            p.check(vector**exponent, numbers**exponent)
    if p.params.is_approximate:
        p.check(v.mean(), [x.mean()])
        p.check(v / 2, x / 2)
        p.check((v / (x + 3j)).sum(), [(x / (x + 3j)).sum()])


@pytest.mark.parametrize("n", [1, 3, 8])
def test_vectors_stand_left_of_matrices_of_any_shape(p: Party, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = p.numbers(rng, n), p.numbers(rng, n)
    v, w = p.encrypt(x), p.encrypt(y)
    p.check(v @ w, [x @ y])
    p.check(v @ y, [x @ y])
    for columns in (1, 2, 7, 12):
        m = p.numbers(rng, (n, columns))
        p.check(v @ m, x @ m)


def test_powers_take_the_least_depth() -> None:
    p = party("ckks")
    v = p.encrypt([0.5, -1.0])
    for exponent, levels in ((1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (7, 3), (8, 3), (9, 4)):
        assert v.level - (v**exponent).level == levels


def test_what_vectors_cannot_do_is_refused_with_a_remedy(p: Party) -> None:
    v = p.encrypt([1, 2, 3])
    one: Any = v
    unturned = p.public.only("relinearisation")
    bare = reading.vector(unturned, v.to_bytes())
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: one**0, hesc.ParameterError, "x \\*\\* 0 is one"),
        (lambda: one**-1, hesc.ParameterError, "polynomial"),
        (lambda: one**1.5, hesc.ShapeError, "whole number"),
        (lambda: one**True, hesc.ShapeError, "whole number"),
        (lambda: one ** np.array([1, 2]), hesc.ShapeError, "whole number"),
        (lambda: v.sum(axis=1), hesc.ShapeError, "one, axis 0"),
        (lambda: v.sum(axis=(0, 0)), hesc.ShapeError, "has one"),
        (lambda: v.sum(axis=one), hesc.ShapeError, "whole number"),
        (lambda: one / v, TypeError, "polynomial"),
        (lambda: 1 / one, TypeError, "polynomial"),
        (lambda: v @ np.ones((2, 2, 2)), hesc.ShapeError, "two dimensions"),
        (lambda: v @ np.ones((2, 2), dtype=int), hesc.ShapeError, "columns"),
        (lambda: v @ hesc.vectors.Matrix(p.params, np.eye(3)), TypeError, "stands left"),
        (bare.sum, hesc.ParameterError, "dot_rotations\\(3\\)|rotations need keys"),
    ]
    if p.params.is_approximate:
        calls += [
            (lambda: one / 0, ZeroDivisionError, "zero"),
            (lambda: one / [1, 0, 2], ZeroDivisionError, "zero"),
            (lambda: one / float("nan"), hesc.OutOfRangeError, "finite"),
            (lambda: one / 5e-324, hesc.OutOfRangeError, "reciprocal"),
            (lambda: one / "2", hesc.OutOfRangeError, "numbers"),
        ]
    else:
        calls += [
            (lambda: one / 2, hesc.ParameterError, "take CKKS"),
            (v.mean, hesc.ParameterError, "divide by 3 after"),
        ]
    for call, error, text in calls:
        with pytest.raises(error, match=text):
            call()

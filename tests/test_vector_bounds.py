"""Bounds of encrypted integers: right up to the largest integer of the set, refused one beyond."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from tests import reading
from tests.vector_party import Party, party

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH = 5
SIGNS = np.array([1, -1, 1, 1, -1])
MATRIX = np.array([[3, 0, -2, 1, 0], [0, 0, 1, 0, 0]])
POLYNOMIAL = [2, -1, 0, 3]


def one(x: Any) -> Any:
    """A number as numpy has it becomes an array of one; vectors are that already."""
    return x if isinstance(x, hesc.EncryptedVector) else np.atleast_1d(x)


# What is computed of a vector and of an array; the most that comes out for numbers within a bound.
OPERATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[int], int]]] = {
    "itself": (lambda x: x, lambda m: m),
    "minus": (lambda x: -x, lambda m: m),
    "sum": (lambda x: x + x, lambda m: 2 * m),
    "difference": (lambda x: x - (-x), lambda m: 2 * m),
    "sum of three": (lambda x: x + x + x, lambda m: 3 * m),
    "product": (lambda x: x * x, lambda m: m * m),
    "third power": (lambda x: x**3, lambda m: m**3),
    "plus a number": (lambda x: x + 7, lambda m: m + 7),
    "minus numbers": (lambda x: x - 6 * SIGNS, lambda m: m + 6),
    "from a number": (lambda x: -9 - x, lambda m: m + 9),
    "times a number": (lambda x: x * -11, lambda m: 11 * m),
    "times numbers": (lambda x: (13 * SIGNS) * x, lambda m: 13 * m),
    "times nothing": (lambda x: x * 0, lambda _: 0),
    "polynomial": (
        lambda x: (
            x.polynomial(POLYNOMIAL) if isinstance(x, hesc.EncryptedVector) else 2 - x + 3 * x**3
        ),
        lambda m: 2 + m + 3 * m**3,
    ),
    "inner product": (lambda x: one(x @ x), lambda m: LENGTH * m * m),
    "sum of all": (lambda x: one(x.sum()), lambda m: LENGTH * m),
    "matrix": (lambda x: MATRIX @ x, lambda m: 6 * m),
    "matrix from the right": (lambda x: x @ MATRIX.T, lambda m: 6 * m),
    "weights": (lambda x: MATRIX[:1] @ x, lambda m: 6 * m),
    "moved": (
        lambda x: x.rotate(2) if isinstance(x, hesc.EncryptedVector) else np.roll(x, -2),
        lambda m: m,
    ),
}


def largest_operand(most: Callable[[int], int], largest: int) -> int:
    """The largest bound with which an operation stays within the set's."""
    low, high = 1, largest
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if most(middle) <= largest else (low, middle - 1)
    return low


@pytest.fixture(scope="module", params=[("bfv", 13), ("bgv", 13), ("bfv", 31), ("bgv", 40)])
def p(request: pytest.FixtureRequest) -> Party:
    scheme, bits = request.param
    return party(scheme, plain_bits=bits)


@pytest.mark.parametrize("name", OPERATIONS)
def test_integers_are_right_at_the_bound_and_refused_beyond(p: Party, name: str) -> None:
    compute, most = OPERATIONS[name]
    largest = p.params.integer_range[1]
    m = largest_operand(most, largest)
    for x in (m * SIGNS, m * np.ones_like(SIGNS), -m * np.ones_like(SIGNS)):
        v = p.public.encrypt(x, bound=m)
        assert v.bound == m
        found = compute(v)
        np.testing.assert_array_equal(p.secret.decrypt(found), compute(x))
        assert max(1, most(m)) <= found.bound <= largest
    if m == largest:
        return
    # Before anything is computed: there are no keys for it.
    bare = p.public.only()
    v = bare.encrypt(np.zeros(LENGTH, np.int64), bound=m + 1)
    with pytest.raises(hesc.OutOfRangeError, match=r"bound=.*plain_modulus.*wrap=True"):
        compute(v)
    # Who computes modulo the plaintext modulus says so.
    x = (m + 1) * SIGNS
    found = compute(p.public.encrypt(x, wrap=True))
    assert found.bound is None
    difference = p.secret.decrypt(found).astype(object) - compute(x.astype(object))
    assert not np.any(difference % p.params.plain_modulus)


def test_what_stood_in_the_issue_is_refused_or_asked_for() -> None:
    params = hesc.Params.recommended("bfv", encoding="vectors")
    secret, public = hesc.keygen(params)
    assert "integers from {} to {}".format(*params.integer_range) in repr(params)
    assert "integers" not in repr(hesc.Params.recommended("ckks", encoding="vectors"))
    numbers: list[Any] = [[60000], np.array([60000])]
    for values in numbers:
        x = public.encrypt(values)
        assert x.bound == params.integer_range[1]
        for compute in (lambda x=x: x * x, x.square, lambda x=x: x + x, lambda x=x: x + 1):
            with pytest.raises(hesc.OutOfRangeError, match="bound="):
                compute()
    declared = public.encrypt([60000], bound=60000)
    with pytest.raises(hesc.OutOfRangeError):
        declared * declared
    x = public.encrypt([60000], wrap=True)
    assert secret.decrypt(x * x).tolist() == [-289184]


def test_types_have_bounds_and_lists_have_the_sets(p: Party) -> None:
    largest = p.params.integer_range[1]
    types: dict[Any, int] = {
        np.bool_: 1,
        np.int8: 2**7,
        np.uint8: 2**8 - 1,
        np.int16: 2**15,
        np.uint16: 2**16 - 1,
        np.int32: 2**31,
        np.int64: largest,
        np.uint64: largest,
    }
    for dtype, bound in types.items():
        x = np.array([1, 0, 1], dtype=dtype)
        seeded = reading.vector(p.public, p.secret.encrypt_to_bytes(x))
        for vector in (p.public.encrypt(x), seeded, copy.copy(seeded)):
            assert vector.bound == min(bound, largest)
    assert p.public.encrypt([1, 2]).bound == largest
    # Declared, they are what is declared, whatever the type.
    assert p.public.encrypt(np.ones(3, np.int64), bound=1).bound == 1
    assert p.public.encrypt(np.ones(3, bool), bound=9).bound == 9


def test_bounds_are_declared_in_whole_numbers_that_hold(p: Party) -> None:
    largest = p.params.integer_range[1]
    x, wrong_kinds = [3, -4], (2.0, "4", True, np.array([4]), float("nan"))
    for encrypt in (p.public.encrypt, p.secret.encrypt_to_bytes):
        encrypt(x, bound=4)
        with pytest.raises(hesc.OutOfRangeError, match="bound="):
            encrypt(x, bound=3)
        for beyond in (0, -1, largest + 1, 2**70):
            with pytest.raises(hesc.OutOfRangeError, match="bound"):
                encrypt(x, bound=beyond)
        for wrong in wrong_kinds:
            with pytest.raises(hesc.ShapeError, match="bound"):
                encrypt(x, bound=wrong)  # type: ignore[arg-type]
        with pytest.raises(hesc.ParameterError, match="either"):
            encrypt(x, bound=4, wrap=True)
        # A text that says no is no consent to wrap.
        for neither in ("no", 0, None, np.array([True])):
            with pytest.raises(hesc.ParameterError, match="wrap"):
                encrypt(x, wrap=neither)  # type: ignore[arg-type]
    with pytest.raises(hesc.ParameterError, match="CKKS"):
        party("ckks").public.encrypt([1], wrap=True)


def test_what_wraps_goes_on_wrapping(p: Party) -> None:
    x = np.arange(3)
    v, w = p.public.encrypt(x, bound=2), p.public.encrypt(x, wrap=True)
    for mixed in (v + w, w - v, v * w, w * v, w + 1, 3 * w, v.dot(w), w.sum(), w**2, w.rotate(1)):
        assert mixed.bound is None
        assert hesc.EncryptedVector.from_bytes(p.public.params, mixed.to_bytes()).bound is None
    assert hesc.EncryptedVector.from_bytes(p.public.params, (v + v).to_bytes()).bound == 4


def test_operands_in_the_clear_tell_their_size_up_to_a_power_of_two(p: Party) -> None:
    v = p.public.encrypt([1, -1], bound=10)
    assert {(v * w).bound for w in (5, -7, 8)} == {80}
    assert {(v + w).bound for w in (5, -7, 8)} == {18}
    assert {([[w, 4]] @ v).bound for w in (5, -11, 12)} == {160}
    assert (v * 0).bound == 1


def test_numbers_beyond_what_a_vector_claims_are_refused(p: Party) -> None:
    v = p.public.encrypt([6, -7, 1], bound=7)
    true, lie = (hesc.EncryptedVector(p.params, v.native, 3, bound=bound) for bound in (7, 6))
    assert p.secret.decrypt(true).tolist() == [6, -7, 1]
    with pytest.raises(hesc.DecryptionError, match="claims"):
        p.secret.decrypt(lie)

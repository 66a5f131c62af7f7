"""Fixed point: there and back, products and quotients of encrypted fractions against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hesc
from hesc import OutOfRangeError, ParameterError, ShapeError, integers
from hesc.integers import FixedPoint, IntegerKind
from hesc.integers.secret import decrypt_integers
from hesc.params import Params


@given(st.data())
def test_fractions_come_back(data: st.DataObject) -> None:
    """Within half the resolution; whole multiples exactly."""
    kind = IntegerKind(data.draw(st.integers(2, 53)), data.draw(st.booleans()))
    fixed = FixedPoint(kind, data.draw(st.integers(0, kind.width)))
    number = data.draw(st.floats(fixed.least, fixed.most))
    found = fixed.decode(fixed.encode([number]))
    assert abs(found[0] - number) <= fixed.resolution / 2
    assert fixed.encode(found).tolist() == fixed.encode([number]).tolist()


@pytest.mark.parametrize("dtype", ["int5", "uint4"])
def test_products_and_quotients_keep_the_scale(dtype: str) -> None:
    fixed = FixedPoint(dtype, 2)
    kind = fixed.kind
    params = Params.cyclotomic(255, [50] * 20, [50], plain_modulus=2, assurance="insecure")
    rng = np.random.default_rng(4)
    a, b = (rng.integers(kind.least, kind.most, 16, endpoint=True) for _ in range(2))
    a[:2], b[:3] = (kind.least, kind.most), (kind.least, kind.most, 1)
    plan = integers.plan(
        lambda x, y: (fixed.multiply(x, y), fixed.divide(x, y), x + y),
        dtype,
        dtype,
        count=16,
        params=params,
    )
    secret, public = hesc.keygen(params)
    x, y = (integers.encrypt(public, numbers, dtype) for numbers in (a, b))
    product, quotient, summed = (
        decrypt_integers(secret, row) for row in plan(x, y, progress=False)
    )

    def wrapped(exact: Any) -> list[int]:
        return [(int(n) - kind.least) % (1 << kind.width) + kind.least for n in exact]

    assert product.tolist() == wrapped((a * b + 2) >> 2)
    divided = b != 0
    assert quotient[divided].tolist() == wrapped(4 * a[divided] // b[divided])
    assert summed.tolist() == wrapped(a + b)


def test_mistakes_are_named() -> None:
    fixed = FixedPoint("int8", 4)
    makes: list[tuple[Any, type[Exception], str]] = [
        (lambda: fixed.encode([8.0]), OutOfRangeError, "wider"),
        (lambda: fixed.encode([float("nan")]), hesc.HescError, "numbers"),
        (lambda: fixed.encode([float("inf")]), hesc.HescError, "numbers"),
        (lambda: fixed.decode([1.5]), OutOfRangeError, "whole"),
        (lambda: fixed.decode(np.array([None])), OutOfRangeError, "whole"),
        (lambda: fixed.decode(np.ma.array([1], mask=[True])), ShapeError, "masked"),
        (lambda: FixedPoint("int64", 4), ParameterError, "53"),
        (lambda: FixedPoint("bool", 0), ParameterError, "bool"),
        (lambda: FixedPoint("int8", 9), OutOfRangeError, "fraction_bits"),
        (lambda: FixedPoint("int8", 1.5), ShapeError, "whole"),  # type: ignore[arg-type]
        (lambda: fixed.multiply(integers.Integers(IntegerKind(9)), 2), ParameterError, "uint9"),  # type: ignore[arg-type]
    ]
    for make, error, message in makes:
        with pytest.raises(error, match=message):
            make()

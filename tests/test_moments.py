"""Moments of encrypted integers against exact fractions and the standard library's statistics."""

from __future__ import annotations

import statistics
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hesc
from hesc import DecryptionError, OutOfRangeError, ShapeError, integers
from hesc.integers import Moments
from hesc.integers.secret import decrypt_integers
from hesc.params import Params

NUMBERS = st.integers(-(2**100), 2**100)


def sums_of(x: list[Any], y: list[Any]) -> list[list[int]]:
    products = ((x, x), (x, y), (y, y))
    return [[sum(x)], [sum(y)], *([sum(map(int.__mul__, a, b))] for a, b in products)]


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=2, max_size=8))
def test_figures_are_exact_fractions_rounded_once(pairs: list[tuple[int, int]]) -> None:
    x, y = (list(column) for column in zip(*pairs, strict=True))
    found = Moments(len(x), sums_of(x, y))
    mean_x, mean_y = Fraction(sum(x), len(x)), Fraction(sum(y), len(y))
    squares = sum((a - mean_x) ** 2 for a in x)
    product = sum((a - mean_x) * (b - mean_y) for a, b in pairs)
    assert found.mean.tolist() == [float(mean_x)]
    assert found.mean_of_y.tolist() == [float(mean_y)]
    assert found.variance(0).tolist() == [float(squares / len(x))]
    assert found.variance().tolist() == [float(squares / (len(x) - 1))]
    assert found.covariance().tolist() == [float(product / (len(x) - 1))]
    slope, intercept = found.line()
    if squares:
        assert slope.tolist() == [float(product / squares)]
        assert intercept.tolist() == [float(mean_y - product / squares * mean_x)]
    else:
        assert np.isnan(slope[0])
        assert np.isnan(intercept[0])
        assert np.isnan(found.correlation()[0])


def test_a_server_sums_and_the_key_owner_divides() -> None:
    rng = np.random.default_rng(8)
    x = rng.integers(-8, 8, (5, 16), dtype=np.int8)
    y = rng.integers(0, 8, (5, 16), dtype=np.uint8)
    params = Params.cyclotomic(255, [50] * 16, [50], plain_modulus=2, assurance="insecure")
    plan = integers.plan(
        lambda *rows: integers.sums(rows[:5], rows[5:]),
        *["int4"] * 5,
        *["uint3"] * 5,
        count=16,
        params=params,
    )
    secret, public = hesc.keygen(params)
    encrypted = [
        *(integers.encrypt(public, row, "int4") for row in x),
        *(integers.encrypt(public, row, "uint3") for row in y),
    ]
    answers = plan(*encrypted, progress=False)
    found = Moments(5, [decrypt_integers(secret, answer) for answer in answers])
    slope, intercept = found.line()
    for slot in range(16):
        a, b = x[:, slot].tolist(), y[:, slot].tolist()
        line = statistics.linear_regression(a, b)
        assert found.mean[slot] == statistics.fmean(a)
        assert found.variance()[slot] == pytest.approx(statistics.variance(a))
        assert found.covariance()[slot] == pytest.approx(statistics.covariance(a, b))
        assert found.correlation()[slot] == pytest.approx(statistics.correlation(a, b))
        assert (slope[slot], intercept[slot]) == pytest.approx((line.slope, line.intercept))
    one = integers.sums(encrypted[:5])
    alone = Moments(5, [decrypt_integers(secret, row) for row in integers.evaluate(*one)])
    assert alone.variance(0) == pytest.approx(x.var(axis=0))
    with pytest.raises(ShapeError, match=r"sums\(x, y\)"):
        alone.covariance()


def test_sums_of_no_numbers_are_refused() -> None:
    good = sums_of([1, 2, 3], [4, 4, 6])
    cases: list[tuple[int, Any, type[Exception], str]] = [
        (3, [[6], [13]], DecryptionError, "no numbers"),
        (3, [*good[:2], [11], *good[3:]], DecryptionError, "no numbers"),
        (3, [*good[:3], [100], good[4]], DecryptionError, "no numbers"),
        (3, good[:3], ShapeError, "two or five"),
        (3, [[6, 6], [14]], ShapeError, "one shape"),
        (3, [[6.0], [14.0]], OutOfRangeError, "whole"),
        (3, [np.ma.array([6], mask=[True]), [14]], ShapeError, "masked"),
        (0, [[6], [14]], OutOfRangeError, "observations"),
    ]
    for observations, sums, error, message in cases:
        with pytest.raises(error, match=message):
            Moments(observations, sums)
    with pytest.raises(OutOfRangeError, match="ddof"):
        Moments(1, [[2], [4]]).variance()
    with pytest.raises(ShapeError, match="pairs"):
        integers.sums([1, 2], [1])

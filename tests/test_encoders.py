"""Encoders against numpy, scipy, stored vectors and a second implementation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import qmc

import hesc
from hesc import _native
from tests.second_implementation import encoders

if TYPE_CHECKING:
    from numpy.typing import NDArray

VECTORS = Path(__file__).parents[1] / "vectors" / "encoders.json"
DETERMINISTIC = ("clock_division", "rotation", "coprime_lengths")
GENERATORS = (
    *("bernoulli", "exact_weight", "lfsr", "sobol", "plain_sobol", "halton", "hammersley"),
    *("lattice", "joint"),
)


def bits(encoded: hesc.EncodedArray) -> NDArray[np.uint8]:
    words = encoded.streams.words()
    flat = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    return flat[:, : encoded.streams.stream_length]


@pytest.mark.parametrize("case", json.loads(VECTORS.read_text()), ids=lambda c: c["name"])
def test_known_answers(case: dict[str, Any]) -> None:
    """Both implementations give the stored streams."""
    encoder = hesc.Encoder(
        case["stream_length"],
        generator=case["generator"],
        representation=case["representation"],
        first_dimension=case["dimension"],
        random_state=case["random_state"],
    )
    ours = ["".join(map(str, row)) for row in bits(encoder.encode(case["values"]))]
    second = encoders.encode(
        case["generator"],
        case["representation"],
        case["stream_length"],
        case["dimension"],
        case["random_state"],
        case["values"],
    )
    assert ours == case["streams"]
    assert ["".join(map(str, row)) for row in second] == case["streams"]


@given(
    generator=st.sampled_from(GENERATORS),
    # Lattices have six dimensions from 32 bits on.
    length=st.integers(32, 200),
    dimension=st.integers(0, 5),
    random_state=st.integers(0, 2**64 - 1),
    values=st.lists(st.floats(-1, 1), min_size=1, max_size=3),
)
@settings(max_examples=60, deadline=None)
def test_two_implementations_agree(
    generator: str, length: int, dimension: int, random_state: int, values: list[float]
) -> None:
    encoder = hesc.Encoder(
        length, generator=generator, first_dimension=dimension, random_state=random_state
    )
    second = encoders.encode(generator, "inverted_bipolar", length, dimension, random_state, values)
    assert bits(encoder.encode(values)).tolist() == second


@given(
    values=st.lists(st.floats(-1, 1), min_size=1, max_size=6),
    length=st.integers(1, 200),
    random_state=st.integers(0, 2**64 - 1),
)
@settings(max_examples=40, deadline=None)
def test_two_implementations_agree_on_joint_products(
    values: list[float], length: int, random_state: int
) -> None:
    encoder = hesc.Encoder(length, generator="joint", first_dimension=3, random_state=random_state)
    ours = [
        bits(factor)[0].tolist() for factor in encoder.encode_factors(np.array(values)[:, None])
    ]
    draw = encoders.row_generator(random_state, "joint", 3, 0)
    assert ours == encoders.joint([(1 - value) / 2 for value in values], length, draw, 3)


@pytest.mark.parametrize("dimension", [0, 1, 2, 10, 100, 1023])
def test_sobol_points_are_scipys(dimension: int) -> None:
    """scipy's points come in Gray code order: its i-th is ours at i ^ (i >> 1)."""
    count = 256
    engine = qmc.Sobol(dimension + 1, scramble=False, bits=32)
    theirs = (engine.random(count)[:, dimension] * 2.0**32).astype(np.uint64)
    gray = np.arange(count) ^ (np.arange(count) >> 1)
    np.testing.assert_array_equal(_native.sobol_points(dimension, count)[gray], theirs)


def test_scrambled_squares_are_as_good_as_scipys() -> None:
    """RMSE of x^2 at L = 1024: ours within a fifth of scipy's scrambled sequence."""
    x = np.linspace(-1, 1, 201)
    rng = np.random.default_rng(1)
    theirs, ours = [], []
    for seed in range(20):
        points = qmc.Sobol(2, scramble=True, rng=rng).random(1024)
        a, b = (points[:, k][:, None] < (1 - x) / 2 for k in (0, 1))
        theirs.append(1 - 2 * (a ^ b).mean(axis=0) - x**2)
        encoder = hesc.Encoder(1024, random_state=seed)
        product = bits(encoder.encode(x)) ^ bits(encoder.encode(x))
        ours.append(1 - 2 * product.mean(axis=1) - x**2)
    ratio = np.sqrt(np.mean(np.square(ours)) / np.mean(np.square(theirs)))
    assert ratio < 1.2


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.sampled_from(GENERATORS))
@settings(max_examples=40, deadline=None)
def test_standard_errors_cover(values: list[float], generator: str) -> None:
    encoded = hesc.Encoder(4096, generator=generator, random_state=5).encode(values)
    estimate = encoded.decode()
    # Six standard errors: for independent bits a false alarm in 5e8 values.
    assert np.all(np.abs(estimate.value - values) < 6 * estimate.standard_error + 1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1.0000001, -1.5])
def test_values_out_of_range_are_refused(bad: float) -> None:
    with pytest.raises(hesc.OutOfRangeError, match="index 1 is not in the inverted_bipolar range"):
        hesc.Encoder(64).encode([0.0, bad])


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(hesc.ShapeError, match="at least one value"):
        hesc.Encoder(64).encode([])
    with pytest.raises(hesc.ShapeError, match="real numbers"):
        hesc.Encoder(64).encode([1j])
    with pytest.raises(hesc.ShapeError, match="stream_length 0"):
        hesc.Encoder(0).encode([0.5])
    with pytest.raises(
        hesc.ParameterError, match="bernoulli, exact_weight, lfsr, sobol, plain_sobol, halton"
    ):
        hesc.Encoder(64, generator="rand")
    with pytest.raises(hesc.OutOfRangeError, match="unipolar range"):
        hesc.Encoder(64, representation="unipolar").encode(-0.1)
    encoder = hesc.Encoder(64, generator="plain_sobol", first_dimension=1023)
    encoder.encode(0.5)
    with pytest.raises(hesc.CorrelationError, match="1024 independent dimensions"):
        encoder.encode(0.5)


def test_correlation_is_measured() -> None:
    encoder = hesc.Encoder(4096, generator="bernoulli", random_state=1)
    a, b = encoder.encode([0.2, -0.4]), encoder.encode([0.2, -0.4])
    assert np.all(hesc.scc(a.streams, a.streams) == 1)
    assert np.all(np.abs(hesc.scc(a.streams, b.streams)) < 0.1)


@pytest.mark.parametrize("ones", [0, 4, 7])
def test_factors_of_one_leave_a_joint_product_as_exact_as_it_was(ones: int) -> None:
    """A bias, or a saturated value: its rounding was owed once more for each. Seeded.

    A rounding to a bit of 256, which is 1/128 of the range, has a deviation of 0.0023.
    """
    x = np.random.default_rng(7).uniform(-1, 1, (2, 400))
    factors = np.stack([x[0], *[np.ones(400)] * ones, x[1]])
    product, *others = hesc.Encoder(256, random_state=3).encode_factors(factors)
    for other in others:
        product = product * other
    errors = product.values - factors.prod(axis=0)
    assert np.sqrt((errors**2).mean()) < 0.0045

"""Gates, sums and decorrelators on streams in the clear."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hesc
from hesc.streams.encryptor import encrypt_streams


def encoder(generator: str = "sobol", **options: str) -> hesc.Encoder:
    return hesc.Encoder(4096, generator=generator, random_state=3, **options)  # type: ignore[arg-type]


def test_products_and_gates() -> None:
    bipolar, unipolar = encoder(), encoder(representation="unipolar")
    a, b = bipolar.encode([[0.5], [-0.25]]), bipolar.encode([0.75, 0.0, -1.0])
    np.testing.assert_allclose((a * b).values, [[0.375, 0, -0.5], [-0.1875, 0, 0.25]], atol=0.01)
    np.testing.assert_array_equal((a ^ b).values, (a * b).values)
    np.testing.assert_allclose((~a).values, -a.values)
    x, y = unipolar.encode([0.5, 0.1]), unipolar.encode([0.25, 0.2])
    np.testing.assert_allclose((x * y).values, [0.125, 0.02], atol=0.01)
    np.testing.assert_allclose((x & y).values, (x * y).values)
    np.testing.assert_allclose((x | y).values, [0.625, 0.28], atol=0.01)
    assert np.all(np.abs(x.correlation(y)) < 0.1)
    np.testing.assert_array_equal(x.correlation(x), 1)


def test_correlated_products_are_refused_and_decorrelators_help() -> None:
    a = encoder("bernoulli").encode([0.5, -0.5])
    with pytest.raises(hesc.CorrelationError, match="shuffled"):
        a * a
    np.testing.assert_allclose((a ^ a).values, 1)  # the gate does what it does
    for other in (a.shuffled(1), a.delayed(13)):
        np.testing.assert_allclose((a ^ other).values, 0.25, atol=0.08)
    np.testing.assert_allclose((a * a.shuffled(1)).values, 0.25, atol=0.08)


GENERATORS = (
    *("bernoulli", "exact_weight", "lfsr", "sobol", "plain_sobol", "halton", "hammersley"),
    *("lattice", "rotation", "joint"),
)


@pytest.mark.parametrize("representation", ["inverted_bipolar", "unipolar"])
def test_one_random_state_gives_every_generator_numbers_of_its_own(representation: str) -> None:
    """Products of two generators under one state have the right mean, or are refused.

    200 means, each beyond five standard errors with probability 6e-7: a false alarm in 10^4 states.
    """
    x, y = {"inverted_bipolar": (0.0, 0.25), "unipolar": (0.5, 0.375)}[representation]
    refused = 0

    def encoded(generator: str, value: float) -> hesc.EncodedArray:
        options: Any = {"generator": generator, "representation": representation}
        return hesc.Encoder(64, first_dimension=1, random_state=7, **options).encode(
            np.full(4000, value)
        )

    for first in GENERATORS:
        for second in GENERATORS:
            try:
                found = (encoded(first, x) * encoded(second, y)).values
            except hesc.CorrelationError:
                refused += 1
                continue
            # Products of structured streams may be exact.
            error = found.std() / np.sqrt(found.size) + 1e-9
            assert abs(found.mean() - x * y) < 5 * error, (first, second)
    assert refused < 40


def test_draws_are_told_by_what_they_are_made_of() -> None:
    one, two = (
        hesc.Encoder(4096, generator=name, random_state=1).encode(0.5)
        for name in ("bernoulli", "exact_weight")
    )
    np.testing.assert_allclose((one * two).values, 0.25, atol=0.1)
    again = hesc.Encoder(4096, generator="bernoulli", random_state=1).encode(-0.5)
    with pytest.raises(hesc.CorrelationError, match="one draw"):
        one * again
    shuffled = one.shuffled(1)
    np.testing.assert_allclose((one * shuffled).values, 0.25, atol=0.1)
    with pytest.raises(hesc.CorrelationError, match="one draw"):
        shuffled * two.shuffled(1)
    both = hesc.Encoder(4096, generator="bernoulli", random_state=2).encode([0.5, -0.5])
    with pytest.raises(hesc.CorrelationError, match="one draw"):
        both.multiplexed_sum(random_state=2) * both.multiplexed_sum(random_state=2)


def test_sums() -> None:
    values = np.array([[0.5, -0.25, 0.5], [0.125, 0.75, -0.5]])
    streams = encoder("bernoulli").encode(values)
    mean = values.mean(axis=1)
    assert streams.concatenated_sum().streams.stream_length == 3 * 4096
    np.testing.assert_allclose(streams.concatenated_sum().values, mean, atol=0.05)
    np.testing.assert_allclose(streams.scaled_sum().values, mean, atol=0.05)
    np.testing.assert_allclose(streams.multiplexed_sum(random_state=1).values, mean, atol=0.08)
    weighted = streams.multiplexed_sum(probabilities=[1, 0, 1], random_state=1)
    np.testing.assert_allclose(weighted.values, [0.5, -0.1875], atol=0.08)
    np.testing.assert_allclose(streams.saturating_sum().values, values.sum(axis=1), atol=0.1)
    counted = streams.approximate_parallel_count()
    assert counted.shape == (2,)
    with pytest.raises(hesc.ShapeError, match="nothing to sum"):
        encoder().encode(0.5).scaled_sum()
    with pytest.raises(hesc.ShapeError, match="3 probabilities"):
        streams.multiplexed_sum(probabilities=[1, 2], random_state=1)


SUMS: dict[str, Any] = {
    "scaled": lambda x: x.scaled_sum(),
    "saturating": lambda x: x.saturating_sum(),
    "concatenated": lambda x: x.concatenated_sum(),
}


@pytest.mark.parametrize("name", SUMS)
def test_products_take_sums_in_a_new_order(name: str) -> None:
    """An accumulator of 1 and -1 pays every second time, as the first Sobol dimension counts."""
    total = SUMS[name]
    one = hesc.Encoder(4096, random_state=1)
    two = hesc.Encoder(4096, random_state=2, generator="bernoulli")
    x, y = total(one.encode([1.0, -1.0])), total(two.encode([1.0, -1.0]))
    length = x.streams.stream_length
    fresh = hesc.Encoder(length, first_dimension=9, random_state=3).encode(0.0)
    drawn = hesc.Encoder(length, generator="bernoulli", random_state=4).encode(0.0)
    for other in (y, fresh, drawn, x.delayed(1)):
        for a, b in ((x, other), (other, x)):
            with pytest.raises(hesc.CorrelationError, match="shuffled"):
                a * b
    for product in (x.shuffled(1) * y.shuffled(2), x.shuffled(3) * fresh, drawn * x.shuffled(4)):
        value, error = product.decode()
        # Five standard errors of draws that are seeded.
        assert abs(value) <= 5 * error
        assert error < 0.05
    with pytest.raises(hesc.CorrelationError, match="one draw"):
        x.shuffled(1) * y.shuffled(1)


@pytest.mark.parametrize("generator", ["bernoulli", "exact_weight", "sobol"])
@pytest.mark.parametrize("name", SUMS)
def test_sums_and_their_products_state_their_errors(name: str, generator: str) -> None:
    """The mean square of the deviations in standard errors is at most near one.

    400 deviations: their root mean square has a standard deviation below 0.05 about 1 or less.
    """
    rng, total = np.random.default_rng(1), SUMS[name]
    values = rng.uniform(-0.6, 0.6, (2, 400, 3))
    encoder = hesc.Encoder(1024, generator=generator, random_state=5)
    sums = [total(encoder.encode(v)) for v in values]
    whole = values.sum(axis=2) if name == "saturating" else values.mean(axis=2)
    exact = whole.clip(-1, 1)
    near = exact == whole  # beyond the range a cut sum errs on one side
    for found, expected in (
        *((s.decode(), e) for s, e in zip(sums, exact, strict=True)),
        *((s.shuffled(7).decode(), e) for s, e in zip(sums, exact, strict=True)),
        ((sums[0].shuffled(1) * sums[1].shuffled(2)).decode(), exact[0] * exact[1]),
    ):
        deviations = (found.value - expected) / found.standard_error
        assert np.sqrt(np.mean(deviations[np.all(near, axis=0)] ** 2)) < 1.3, (name, generator)


def test_shuffled_streams_keep_the_error_of_their_weight() -> None:
    values = np.full(500, 0.25)
    found = hesc.Encoder(256, generator="bernoulli", random_state=1).encode(values).shuffled(2)
    value, error = found.decode()
    # 500 deviations: their root mean square is 1 to within 0.03.
    assert 0.85 < np.sqrt(np.mean(((value - 0.25) / error) ** 2)) < 1.15


def test_delayed_streams_of_a_sequence_are_no_factors() -> None:
    structured = hesc.Encoder(64, random_state=1)
    x, y = structured.encode(0.5), structured.encode(0.5)
    with pytest.raises(hesc.CorrelationError, match="delayed"):
        x.delayed(1) * y
    drawn = hesc.Encoder(4096, generator="bernoulli", random_state=1)
    x, y = drawn.encode(0.5), drawn.encode(0.5)
    np.testing.assert_allclose((x.delayed(-3) * y).values, 0.25, atol=0.1)


def test_computed_streams_are_not_encrypted() -> None:
    _, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
    a = hesc.Encoder(64).encode([0.5, 0.25])
    assert encrypt_streams(public, [a], "side_by_side")[0].shape == (2,)
    with pytest.raises(hesc.CorrelationError, match="what an Encoder returned"):
        encrypt_streams(public, [~a], "side_by_side")


def test_deterministic_products_are_exact() -> None:
    for generator, length in (("rotation", 1024), ("clock_division", 1024)):
        exact = hesc.Encoder(length, generator=generator, random_state=1)
        levels = 1 - 2 * np.arange(33) / 32
        a, b = exact.encode(levels[:, None]), exact.encode(levels)
        np.testing.assert_array_equal((a * b).values, levels[:, None] * levels)
        with pytest.raises(hesc.CorrelationError, match="2 independent dimensions"):
            exact.encode(0.5)
    with pytest.raises(hesc.ShapeError, match="nearest are 1023 and 1025"):
        hesc.Encoder(1024, generator="coprime_lengths").encode(0.5)
    # They share an order with structured sequences, and say so.
    other = hesc.Encoder(1024).encode(0.5)
    with pytest.raises(hesc.CorrelationError, match="correlated product"):
        other * hesc.Encoder(1024, generator="rotation").encode(0.5)

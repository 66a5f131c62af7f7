"""Random programs on streams in the clear, against their bits and against numbers."""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from tests.laws.array_worlds import DRAWN, STEPS, STRUCTURED, Z
from tests.laws.programs import (
    OPERAND,
    Programs,
    between,
    drive,
    long_share,
    one_of,
    operation,
    search,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LENGTHS = (1, 2, 7, 63, 64, 65, 100, 256, 1000, 1024, 3000)
SHAPES = ((), (1,), (3,), (2, 3), (3, 1), (4, 2))


class Kept(NamedTuple):
    """Streams, what they stand for, and which draws are in their bits."""

    streams: hesc.EncodedArray
    values: NDArray[np.float64]
    draws: frozenset[Any]
    ordered: bool
    """Whether the bits follow an order of their own: a sum's, or that of a turned sequence."""


class Streams(Programs[Kept]):
    """Bits are what the gates make of bits; values are within their errors, or what sums promise.

    Products are refused if, and only if, both hold one draw, or one is an ordered stream.
    """

    name = "streams in the clear"

    def start(self) -> None:
        rng = self.rng
        self.generator = str(rng.choice(DRAWN if rng.random() < 0.6 else STRUCTURED))
        self.unipolar = self.generator != "joint" and bool(rng.random() < 0.4)
        self.length = int(rng.choice(LENGTHS))
        self.state = int(rng.integers(2**63))
        self.encoder = self.make(self.generator, unipolar=self.unipolar)
        self.fresh((2, 3))

    def make(self, generator: str, *, unipolar: bool) -> hesc.Encoder:
        return hesc.Encoder(
            self.length,
            generator=generator,
            representation="unipolar" if unipolar else "inverted_bipolar",
            random_state=self.state,
        )

    def numbers(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        ends = self.rng.choice([-1.0, 0.0, 1.0, 0.5], shape)
        values = np.where(self.rng.random(shape) < 0.3, ends, self.rng.uniform(-1, 1, shape))
        return np.abs(values) if self.unipolar else np.asarray(values)

    def valued(self, bits: NDArray[np.uint8]) -> NDArray[np.float64]:
        mean = bits.mean(axis=-1)
        return np.asarray(mean if self.unipolar else 1 - 2 * mean)

    def check(self, kept: Kept, bits: NDArray[np.uint8] | None = None, loss: float = 1.0) -> None:
        """The bits, if known; the value, which is theirs and close to what they stand for."""
        streams, values, *_ = kept
        assert streams.shape == values.shape
        own = streams.bits
        length = streams.streams.stream_length
        assert own.shape == (*values.shape, length)
        if bits is not None:
            np.testing.assert_array_equal(own, bits)
        found, error = streams.decode()
        assert found.shape == error.shape == values.shape
        assert found.dtype == error.dtype == np.float64
        np.testing.assert_allclose(found, self.valued(own), atol=1e-12)
        np.testing.assert_array_equal(streams.values, found)
        # The first term is the law, the second what steps of 2 / length make of its tail.
        times = Z if self.generator in DRAWN else 2.5 * Z
        limit = times * error + loss * STEPS * 2 / length
        assert np.all(np.abs(found - values) <= limit), (found, values, error)

    def made(self, kept: Kept, bits: NDArray[np.uint8] | None = None, loss: float = 1.0) -> None:
        self.check(kept, bits, loss)
        self.keep(kept)

    def fresh(self, shape: tuple[int, ...]) -> None:
        values, draw = self.numbers(shape), self.encoder.next_dimension
        try:
            streams = self.encoder.encode(values)
        except hesc.CorrelationError:
            assert self.generator not in DRAWN
            return
        self.made(Kept(streams, values, frozenset([draw]), ordered=False))

    @operation(shape=one_of(*SHAPES))
    def encode(self, shape: tuple[int, ...]) -> None:
        self.fresh(shape)

    @operation(shape=one_of(*SHAPES))
    def another_generator(self, shape: tuple[int, ...]) -> None:
        """Streams of another generator are others, under the same random state too."""
        name = "exact_weight" if self.generator == "bernoulli" else "bernoulli"
        values = self.numbers(shape)
        streams = self.make(name, unipolar=self.unipolar).encode(values)
        self.made(Kept(streams, values, frozenset([(name, 0)]), ordered=False))

    @operation(kind=one_of("nan", "beyond", "below", "empty", "text", "length", "generator"))
    def no_numbers(self, kind: str) -> None:
        calls: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
            "nan": (lambda: self.encoder.encode([float("nan")]), hesc.OutOfRangeError),
            "beyond": (lambda: self.encoder.encode([1.0, 1.0000001]), hesc.OutOfRangeError),
            "below": (lambda: self.encoder.encode([-1.0000001]), hesc.OutOfRangeError),
            "empty": (lambda: self.encoder.encode([]), hesc.ShapeError),
            "text": (lambda: self.encoder.encode(["1"]), hesc.ShapeError),
            "length": (lambda: hesc.Encoder(0), hesc.ShapeError),
            "generator": (lambda: hesc.Encoder(64, generator="dice"), hesc.ParameterError),
        }
        before = self.encoder.next_dimension
        self.refused(*calls[kind])
        assert self.encoder.next_dimension == before

    @operation(a=OPERAND, b=OPERAND, how=one_of("*", "*", "*", "^", "&", "|"))
    def two(self, a: int, b: int, how: str) -> None:
        x, y = self.pick(a), self.pick(b)
        gates: dict[str, Callable[[Any, Any], Any]] = {
            "^": lambda p, q: p ^ q,
            "&": lambda p, q: p & q,
            "|": lambda p, q: p | q,
        }
        gate = gates[how if how != "*" else "&" if self.unipolar else "^"]
        compute = gate if how != "*" else lambda p, q: p * q
        lengths = x.streams.streams.stream_length == y.streams.streams.stream_length
        errors: set[type[Exception]] = set()
        try:
            values = np.asarray(x.values * y.values)
        except ValueError:
            errors.add(hesc.ShapeError)
        if not lengths:
            errors.add(hesc.ShapeError)
        if how == "*" and (x.draws & y.draws or x.ordered or y.ordered):
            errors.add(hesc.CorrelationError)
        if errors:
            self.refused(lambda: compute(x.streams, y.streams), tuple(errors))
            return
        bits = np.asarray(gate(x.streams.bits, y.streams.bits))
        try:
            streams = compute(x.streams, y.streams)
        except hesc.CorrelationError:
            # Dimensions of structured generators that are no good together.
            assert how == "*"
            assert self.generator not in DRAWN
            self.counts["no room"] += 1
            return
        if how != "*":
            # Of dependent streams the bits are known and no value is.
            np.testing.assert_array_equal(streams.bits, bits)
            self.agreed()
            return
        self.made(Kept(streams, values, x.draws | y.draws, ordered=False), bits)

    @operation(a=OPERAND)
    def invert(self, a: int) -> None:
        x = self.pick(a)
        values = 1 - x.values if self.unipolar else -x.values
        kept = Kept(~x.streams, np.asarray(values), x.draws, x.ordered)
        self.made(kept, 1 - x.streams.bits)

    @operation(a=OPERAND, positions=between(-70, 70))
    def delayed(self, a: int, positions: int) -> None:
        x = self.pick(a)
        bits = np.roll(x.streams.bits, positions, axis=-1)
        # Random arrangements have no order to lose: shuffled streams, Sobol's late dimensions.
        drawn = all(
            origin.startswith(("draw", "selection")) for origin in x.streams.streams.origins
        )
        ordered = x.ordered or not drawn
        self.made(x._replace(streams=x.streams.delayed(positions), ordered=ordered), bits)

    @operation(a=OPERAND, seed=between(0, 2**40))
    def shuffled(self, a: int, seed: int) -> None:
        x = self.pick(a)
        streams = x.streams.shuffled(seed)
        np.testing.assert_array_equal(
            streams.bits.sum(axis=-1, dtype=int), x.streams.bits.sum(axis=-1, dtype=int)
        )
        self.made(Kept(streams, x.values, frozenset([("shuffle", seed)]), ordered=False))

    @operation(a=OPERAND, how=one_of("concatenated", "scaled", "multiplexed"), seed=between(0, 9))
    def sums(self, a: int, how: str, seed: int) -> None:
        """Means over the last axis: of all bits, to a bit, and within the error."""
        x = self.pick(a)
        ways: dict[str, Callable[[], hesc.EncodedArray]] = {
            "concatenated": x.streams.concatenated_sum,
            "scaled": x.streams.scaled_sum,
            "multiplexed": lambda: x.streams.multiplexed_sum(random_state=seed),
        }
        if not x.values.ndim:
            self.refused(ways[how], hesc.ShapeError)
            return
        length = x.streams.streams.stream_length
        if how == "concatenated" and length * x.values.shape[-1] > 20_000:
            return
        streams = ways[how]()
        exact = x.streams.values.mean(axis=-1)
        if how == "concatenated":
            np.testing.assert_allclose(streams.values, exact, atol=1e-12)
        if how == "scaled":
            assert np.all(np.abs(streams.values - exact) <= 2.0 / length + 1e-12)
        draws = x.draws | {("selection", seed)} if how == "multiplexed" else x.draws
        ordered = x.ordered or how != "multiplexed"
        kept = Kept(streams, np.asarray(x.values.mean(axis=-1)), draws, ordered)
        self.made(kept, loss=x.values.shape[-1] if how == "concatenated" else 1)

    @operation(a=OPERAND, b=OPERAND)
    def correlation(self, a: int, b: int) -> None:
        """SCC is what its definition (Alaghi and Hayes 2013) makes of the bits."""
        x, y = self.pick(a), self.pick(b)
        p, q = x.streams.bits.astype(float), y.streams.bits.astype(float)
        if p.shape != q.shape:
            self.refused(lambda: x.streams.correlation(y.streams), hesc.ShapeError)
            return
        both, one, other = (p * q).mean(-1), p.mean(-1), q.mean(-1)
        delta = both - one * other
        most = np.minimum(one, other) - one * other
        least = one * other - np.maximum(one + other - 1, 0)
        room = np.where(delta > 0, most, least)
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = np.where(room > 1e-12, delta / room, 0.0)
        found = x.streams.correlation(y.streams)
        assert found.shape == x.values.shape
        known = room > 1e-9
        np.testing.assert_allclose(found[known], expected[known], atol=1e-9)
        self.agreed()

    @operation(a=OPERAND, how=one_of("array", "number", "representation", "encrypt", "seed"))
    def misuse(self, a: int, how: str) -> None:
        x = self.pick(a)
        other = self.make("bernoulli", unipolar=not self.unipolar).encode(x.values**2)
        calls: dict[str, tuple[Callable[[], Any], tuple[type[Exception], ...]]] = {
            "array": (lambda: np.asarray(x.streams), (TypeError,)),
            "number": (lambda: x.streams * 2, (TypeError,)),  # type: ignore[operator]
            "representation": (
                lambda: x.streams * other,
                (hesc.ParameterError, hesc.ShapeError, hesc.CorrelationError),
            ),
            "seed": (lambda: x.streams.shuffled(-1), (hesc.OutOfRangeError,)),
            "encrypt": (
                lambda: x.streams.multiplexed_sum(probabilities=[-1.0], random_state=0),
                (hesc.OutOfRangeError, hesc.ShapeError),
            ),
        }
        self.refused(*calls[how])
        self.check(x, loss=1000)

    @operation(
        generator=one_of("clock_division", "rotation", "coprime_lengths"),
        size=between(2, 14),
        factors=between(1, 3),
    )
    def exact_products(self, generator: str, size: int, factors: int) -> None:
        """Deterministic generators multiply exactly what their streams hold."""
        length = size**factors
        if generator == "coprime_lengths":
            # Factors of consecutive lengths, coprime to each other.
            factors = min(factors, 2)
            length = size * (size + 1) if factors == 2 else size
            assert gcd(size, size + 1) == 1
        encoder: Any = hesc.Encoder
        made = encoder(length, generator=generator, factors=factors, random_state=1)
        streams = [made.encode(self.rng.uniform(-1, 1, 3)) for _ in range(factors)]
        product = streams[0]
        for factor in streams[1:]:
            product *= factor
        expected = np.prod([each.values for each in streams], axis=0)
        np.testing.assert_allclose(product.values, expected, atol=1e-12)
        self.refused(lambda: made.encode([0.5]), hesc.CorrelationError)


def test_random_programs() -> None:
    drive(Streams, 5000, seed=1)


def test_shortest_programs() -> None:
    search(Streams, examples=40, steps=20)


@pytest.mark.long
def test_many_random_programs() -> None:
    drive(Streams, long_share(0.25), seed=1_000_000)

"""Random programs on encrypted arrays, step by step beside the same ones in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from tests.laws.array_moves import MovingArrays
from tests.laws.array_programs import Errors, Kept, Made, lengths_differ
from tests.laws.array_worlds import DRAWN, Mode, encryptor_of
from tests.laws.programs import (
    FLAG,
    OPERAND,
    SEED,
    drive,
    long_share,
    one_of,
    operation,
    search,
)

if TYPE_CHECKING:
    from collections.abc import Callable

AXES = (None, 0, -1, 1, 5)
NUMBERS = (-2.0, -1.0, -0.25, 0.0, 0.5, 1.0, 3.0, 1e-3, 1e3)
# Terms that an element may have before programs take too long.
TERMS = 24


class Arrays(MovingArrays):
    """Values are within their errors, shapes numpy's, refusals those that must be, and no others.

    Products are refused if, and only if, both factors contain one draw, or have constants added, or
    the scheme does not multiply the representation; or there is no room, or streams lie elsewhere.
    """

    name = "arrays, simulated"

    # Products and sums of two

    def products_refused(self, a: Kept, draws: frozenset[Any], *, constants: bool) -> Errors:
        must: Errors = set()
        if a.draws & draws:
            must.add(hesc.CorrelationError)
        if a.constants or constants:
            must.add(hesc.ShapeError)
        if not self.world.multiplies:
            must.add(hesc.ParameterError)
        return must

    def products_may(self, *operands: Kept) -> Errors:
        may: Errors = {hesc.NoiseBudgetError}
        pieces = any(kept.array.stream_length != self.world.length for kept in operands)
        if pieces or self.world.layout != "one_per_block":
            # Streams, or pieces of them, that lie at other places of their blocks.
            may.add(hesc.ShapeError)
        if self.world.generator not in DRAWN:
            may.add(hesc.CorrelationError)
        return may

    @operation(a=OPERAND, b=OPERAND, how=one_of("*", "*", "+", "-", "@"))
    def two(self, a: int, b: int, how: str) -> None:
        x, y = self.pick(a), self.pick(b)
        compute: dict[str, Callable[[Any, Any], Any]] = {
            "*": lambda p, q: p * q,
            "@": lambda p, q: p @ q,
            "+": lambda p, q: p + q,
            "-": lambda p, q: p - q,
        }
        left, right = x.array.native.terms_per_element, y.array.native.terms_per_element
        inner = x.array.shape[-1] if x.array.shape and how == "@" else 1
        product = how in "*@"
        if (left * right * inner if product else left + right) > TERMS:
            return

        def expect() -> Made:
            values = np.asarray(compute[how](x.values, y.values))
            reach = x.reach * y.reach * inner if product else x.reach + y.reach
            return Made(values, x.draws | y.draws, x.constants or y.constants, reach)

        must = self.products_refused(x, y.draws, constants=y.constants) if product else set()
        must |= lengths_differ(x, y)
        if how == "@" and 0 in (x.values.ndim, y.values.ndim):
            must.add(hesc.ShapeError)
        if how == "@" and max(x.values.ndim, y.values.ndim) > 2:
            must.add(hesc.ShapeError)
        may: Errors = self.products_may(x, y) if product else {hesc.NoiseBudgetError}
        self.step(lambda: compute[how](x.array, y.array), expect, (x, y), must=must, may=may)

    @operation(a=OPERAND, other=one_of("same", "same", "shape", "turned", "mixed"))
    def encoded(self, a: int, other: str) -> None:
        """Streams in the clear of the same, another shape or the other representation."""
        x = self.pick(a)
        encoder, must = (
            self.world.encryptor.encoder,
            self.products_refused(x, frozenset(), constants=False),
        )
        shapes = {"shape": (*x.values.shape, 2), "turned": x.values.shape[::-1]}
        shape = shapes.get(other, x.values.shape)
        if other == "mixed":
            opposite = "inverted_bipolar" if self.world.representation == "unipolar" else "unipolar"
            encoder = hesc.Encoder(
                self.world.length, generator="bernoulli", representation=opposite, random_state=1
            )
            must.add(hesc.ParameterError)
        if shape != x.values.shape or x.array.stream_length != self.world.length:
            must.add(hesc.ShapeError)
        values = np.abs(self.world.values(self.rng, shape))
        draw = frozenset([encoder.next_dimension])
        try:
            streams = encoder.encode(values)
        except hesc.CorrelationError:
            assert self.world.generator not in DRAWN
            return
        self.step(
            lambda: x.array.multiply_encoded(streams),
            lambda: Made(x.values * values, x.draws | draw, x.constants, x.reach),
            (x,),
            must=must,
            may=self.products_may() | {hesc.ParameterError},
        )

    @operation(
        a=OPERAND, foreign=one_of("*", "+", "@", "join", "weighted", "decrypt", "rerandomise")
    )
    def other_keys(self, a: int, foreign: str) -> None:
        x, keys = self.pick(a), self.world.owner
        stranger = encryptor_of(
            (keys.stranger, keys.strange),
            self.world.length,
            layout=self.world.layout,
            generator="bernoulli",
            representation=self.world.representation,
            first_dimension=1000,
        ).encrypt(np.full(x.values.shape, 0.5))
        calls: dict[str, Callable[[], Any]] = {
            "*": lambda: x.array * stranger,
            "+": lambda: x.array + stranger,
            "@": lambda: x.array.reshape(-1) @ stranger.reshape(-1),
            "join": lambda: hesc.EncryptedArray.concatenate(
                [x.array.reshape(-1), stranger.reshape(-1)]
            ),
            "weighted": lambda: hesc.EncryptedArray.weighted_sum([x.array, stranger], [0.5, 0.5]),
            "decrypt": lambda: hesc.Decryptor(keys.stranger).decrypt(x.array),
            "rerandomise": lambda: x.array.rerandomise(keys.strange),
        }
        product = foreign in "*@"
        other = self.products_refused(x, frozenset(), constants=False) if product else set()
        if x.array.stream_length != self.world.length:
            other = other | {hesc.ShapeError}
        self.refused(calls[foreign], (hesc.KeyMismatchError, *other))
        self.unchanged([x])

    # Numbers in the clear

    @operation(
        a=OPERAND,
        number=one_of(*NUMBERS),
        shape=one_of(None, "same", (1,), (3,), (2, 1), (2, 3)),
        how=one_of("*", "r*", "/", "+", "-", "r-", "neg"),
    )
    def in_the_clear(self, a: int, number: float, shape: Any, how: str) -> None:
        x = self.pick(a)
        y: Any = number
        if shape is not None:
            size = x.values.shape if shape == "same" else shape
            y = self.rng.choice(NUMBERS, size)
        compute: dict[str, Callable[[Any], Any]] = {
            "*": lambda p: p * y,
            "r*": lambda p: y * p,
            "/": lambda p: p / y,
            "+": lambda p: p + y,
            "-": lambda p: p - y,
            "r-": lambda p: y - p,
            "neg": lambda p: -p,
        }
        scales = how in ("*", "r*", "/")
        size = float(np.abs(1 / np.where(y == 0, 1, y) if how == "/" else y).max())
        if scales and x.reach * size > 1e12:
            return
        zero = how == "/" and not np.all(y)
        self.step(
            lambda: compute[how](x.array),
            lambda: Made(
                np.asarray(compute[how](x.values)),
                x.draws,
                x.constants or how in ("+", "-", "r-"),
                x.reach * size if scales else x.reach + size * 1e-3,
            ),
            (x,),
            must={ZeroDivisionError} if zero else None,
        )

    @operation(a=OPERAND, columns=one_of(None, 1, 3), left=FLAG)
    def matrix_in_the_clear(self, a: int, columns: int | None, left: bool) -> None:
        x = self.pick(a)
        inner = x.values.shape[0 if left else -1] if x.values.ndim else 1
        shape = (inner,) if columns is None else (inner, columns)
        matrix = self.rng.choice(NUMBERS, shape).T if left else self.rng.choice(NUMBERS, shape)
        terms = x.array.native.terms_per_element * x.values.size * (columns or 1)
        reach = x.reach * inner * float(np.abs(matrix).max())
        if terms > TERMS or reach > 1e12:
            return

        def compute(p: Any) -> Any:
            return matrix @ p if left else p @ matrix

        self.step(
            lambda: compute(x.array),
            lambda: Made(np.asarray(compute(x.values)), x.draws, x.constants, reach),
            (x,),
            must=None if x.values.ndim in (1, 2) else {hesc.ShapeError},
        )

    @operation(a=OPERAND, number=one_of(float("nan"), float("inf"), "2", 1j, None))
    def no_operands(self, a: int, number: Any) -> None:
        x = self.pick(a)
        for call in (lambda: x.array * number, lambda: x.array + number):
            self.refused(call, (hesc.OutOfRangeError, hesc.ShapeError))
        self.unchanged([x])

    # Sums

    @operation(a=OPERAND, axis=one_of(*AXES, (0,), (0, 1), (-1, 0), (0, 0), (2, 0), ()), mean=FLAG)
    def sum(self, a: int, axis: Any, mean: bool) -> None:
        x = self.pick(a)
        if x.array.native.terms_per_element * x.values.size > TERMS:
            return

        def expect() -> Made:
            sums = np.asarray(x.values.sum(axis=axis))
            group = x.values.size / max(1, sums.size)
            values = np.asarray(x.values.mean(axis=axis)) if mean else sums
            return Made(values, x.draws, x.constants, x.reach * (1 if mean else group))

        self.step(
            lambda: x.array.mean(axis) if mean else x.array.sum(axis),
            expect,
            (x,),
            # numpy lets a number have a first axis, in sums alone.
            must=None if x.values.ndim or axis in (None, ()) else {hesc.ShapeError},
        )

    @operation(a=OPERAND, b=OPERAND, number=one_of(*NUMBERS))
    def weighted(self, a: int, b: int, number: float) -> None:
        x, y = self.pick(a), self.pick(b)
        if x.array.native.terms_per_element + y.array.native.terms_per_element > TERMS:
            return
        self.step(
            lambda: hesc.EncryptedArray.weighted_sum([x.array, y.array], [number, 0.5]),
            lambda: Made(
                number * x.values + 0.5 * y.values,
                x.draws | y.draws,
                x.constants or y.constants,
                abs(number) * x.reach + y.reach,
            ),
            (x, y),
            must=lengths_differ(x, y)
            | ({hesc.ShapeError} if x.values.shape != y.values.shape else set()),
        )

    @operation(a=OPERAND, axis=one_of(None, 0, -1), seed=SEED, pieces=FLAG, repeated=FLAG)
    def sum_of_parts(
        self, a: int, axis: int | None, seed: int, pieces: bool, repeated: bool
    ) -> None:
        """A multiplexed sum, or one of pieces, of operands that may be one again and again."""
        x = self.pick(a)
        if repeated and x.values.size:
            place = int(self.rng.integers(x.values.size))
            again = [place] * int(self.rng.integers(2, 4))
            x = x._replace(
                array=x.array.reshape(-1)[again],
                values=x.values.reshape(-1)[again],
                found=x.found.reshape(-1)[again],
            )
        group = x.values.size if axis is None or not x.values.ndim else x.values.shape[axis]
        weights = self.rng.uniform(-1, 1, group)
        kept = self.rng.integers(1, 5, group)

        def compute() -> hesc.EncryptedArray:
            if pieces:
                return x.array.allocated_sum(axis, coefficients=weights, pieces=kept, granularity=4)
            return x.array.multiplexed_sum(axis, coefficients=weights, random_state=seed % 3)

        def expect() -> Made:
            moved = x.values.reshape(-1) if axis is None else np.moveaxis(x.values, axis, -1)
            reach = x.reach * (4 if pieces else 1) * float(np.abs(weights).sum())
            draws = x.draws if pieces else x.draws | {("selection", seed % 3)}
            return Made(np.asarray(moved @ weights), draws, x.constants, reach)

        # Which packings, layouts and arrays can, and how often: a law of the circuits.
        may: Errors = {hesc.ShapeError, hesc.ParameterError, hesc.NoiseBudgetError}
        may.add(hesc.CorrelationError)
        self.step(compute, expect, (x,), may=may)


class RealArrays(Arrays):
    """The same on ciphertexts.

    An honest block whose noise is just below its limit is refused with a probability of 1.05e-8 or
    less; a long run decrypts a million blocks, few of which are that noisy.
    """

    name = "arrays, encrypted"
    mode: Mode = "encrypt"


def test_random_programs_on_bits() -> None:
    drive(Arrays, 8000, seed=1)


def test_shortest_programs_on_bits() -> None:
    search(Arrays, examples=60, steps=25)


def test_random_programs_on_ciphertexts() -> None:
    drive(RealArrays, 1000, seed=1)


def test_shortest_programs_on_ciphertexts() -> None:
    search(RealArrays, examples=10, steps=20)


@pytest.mark.long
@pytest.mark.parametrize(("machine", "share"), [(Arrays, 0.45), (RealArrays, 0.05)])
def test_many_random_programs(machine: type[Arrays], share: float) -> None:
    drive(machine, long_share(share), seed=1_000_000)

"""Random programs on encrypted arrays, step by step beside the same ones in numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from tests.laws.array_worlds import DRAWN, Mode, World, world
from tests.laws.programs import (
    FLAG,
    OPERAND,
    SEED,
    Programs,
    between,
    drive,
    long_share,
    one_of,
    operation,
    search,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

Errors = set[type[Exception]]

SHAPES = ((), (1,), (2,), (3,), (5,), (2, 3), (3, 1), (1, 3), (2, 2), (2, 1, 3))
AXES = (None, 0, -1, 1, 5)
NUMBERS = (-2.0, -1.0, -0.25, 0.0, 0.5, 1.0, 3.0, 1e-3, 1e3)
INDICES = (0, -1, 1, 7, slice(None, None, -1), slice(0, 2), slice(5, 5), None, ..., [1, 0, 0], True)
# Terms that an element may have before programs take too long.
TERMS = 24


class Kept(NamedTuple):
    """An encrypted array and what is known of it."""

    array: hesc.EncryptedArray
    values: NDArray[np.float64]
    """What it should decrypt to."""
    found: NDArray[np.float64]
    """What it did decrypt to."""
    draws: frozenset[Any]
    """Which draws its elements may contain."""
    constants: bool
    """Whether constants were added."""
    reach: float
    """The most that the weights of an element add up to."""


class Made(NamedTuple):
    """What a step should make."""

    values: NDArray[np.float64]
    draws: frozenset[Any]
    constants: bool
    reach: float


def lengths_differ(x: Kept, y: Kept) -> Errors:
    """Sums that keep pieces have shorter streams."""
    return {hesc.ShapeError} if x.array.stream_length != y.array.stream_length else set()


class Arrays(Programs[Kept]):
    """Values are within their errors, shapes numpy's, refusals those that must be, and no others.

    Products are refused if, and only if, both factors contain one draw, or have constants added, or
    the scheme does not multiply the representation; or there is no room, or streams lie elsewhere.
    """

    name = "arrays, simulated"
    mode: Mode = "simulate"
    world: World

    def start(self) -> None:
        self.world = world(self.rng, self.mode)
        for _ in range(2):
            self.fresh(SHAPES[self.rng.integers(len(SHAPES))], seeded=False)

    # Checks

    def decrypted(self, made: hesc.EncryptedArray | hesc.Answer) -> Any:
        return hesc.Decryptor(self.world.owner.secret).decrypt(made, return_std=True)

    def check(self, made: hesc.EncryptedArray | hesc.Answer, wanted: Made | Kept) -> Any:
        """The values, which are right."""
        assert made.shape == wanted.values.shape
        found, error = self.decrypted(made)
        assert found.dtype == error.dtype == np.float64
        assert found.shape == error.shape == wanted.values.shape
        off = np.abs(found - wanted.values)
        assert np.all(off <= self.world.limit(error, wanted.reach)), (found, wanted, error)
        return found

    def unchanged(self, operands: Iterable[Kept]) -> None:
        for kept in operands:
            np.testing.assert_array_equal(self.decrypted(kept.array).value, kept.found)

    def step(
        self,
        compute: Callable[[], hesc.EncryptedArray],
        expect: Callable[[], Made],
        operands: tuple[Kept, ...],
        *,
        must: Errors | None = None,
        may: Errors | None = None,
    ) -> None:
        """A value that is right and kept; or a refusal that must be or may be."""
        refusals = set(must or ())
        try:
            with np.errstate(divide="ignore", invalid="ignore"):
                wanted = expect()
            # numpy makes numbers of arrays without axes.
            wanted = wanted._replace(values=np.asarray(wanted.values))
        except (ValueError, IndexError):
            refusals.add(hesc.ShapeError)
            refusals.add(IndexError)
        # Encrypted arrays hold a number at least.
        if not refusals and wanted.values.size == 0:
            refusals.add(hesc.ShapeError)
        if refusals:
            self.refused(compute, tuple(refusals))
            self.unchanged(operands)
            return
        try:
            array = compute()
        except tuple(may or ()):
            self.counts["no room"] += 1
            self.unchanged(operands)
            return
        found = self.check(array, wanted)
        self.keep(Kept(array, wanted.values, found, *wanted[1:]))
        if self.chance(0.1):
            self.unchanged(operands)

    # Fresh ones

    def fresh(self, shape: tuple[int, ...], *, seeded: bool) -> None:
        values = self.world.values(self.rng, shape)
        draw = frozenset([self.world.encryptor.encoder.next_dimension])

        def compute() -> hesc.EncryptedArray:
            if not seeded:
                return self.world.encryptor.encrypt(values)
            seed = self.world.own.encrypt(values)
            if self.chance(0.5):
                return hesc.EncryptedArray.from_bytes(seed.params, seed.to_bytes())
            return hesc.SeededArray.from_bytes(seed.params, seed.to_bytes()).expand()

        # Dimensions of structured generators run out.
        may: Errors = set() if self.world.generator in DRAWN else {hesc.CorrelationError}
        self.step(compute, lambda: Made(values, draw, constants=False, reach=1.0), (), may=may)

    @operation(shape=one_of(*SHAPES), seeded=FLAG)
    def encrypt(self, shape: tuple[int, ...], seeded: bool) -> None:
        self.fresh(shape, seeded=seeded)

    @operation(shape=one_of((), (3,), (2, 2)), copies=between(1, 3), seeded=FLAG)
    def powers(self, shape: tuple[int, ...], copies: int, seeded: bool) -> None:
        values = self.world.values(self.rng, shape)
        first = self.world.encryptor.encoder.next_dimension
        maker: Any = self.world.own if seeded else self.world.encryptor
        try:
            encrypted = maker.encrypt_copies(values, copies)
        except hesc.CorrelationError:
            assert self.world.generator not in DRAWN
            return
        after = self.world.encryptor.encoder.next_dimension
        # A call of the joint generator holds all of its factors.
        draws = frozenset(range(first, after))
        must: Errors = set()
        if copies > 1 and not self.world.multiplies:
            must.add(hesc.ParameterError)
        self.step(
            lambda: hesc.powers(encrypted)[-1],
            lambda: Made(values**copies, draws, constants=False, reach=1.0),
            (),
            must=must,
            may={hesc.NoiseBudgetError},
        )

    @operation(kind=one_of("nan", "beyond", "empty", "text", "complex", "masked"), seeded=FLAG)
    def no_numbers(self, kind: str, seeded: bool) -> None:
        bad: dict[str, tuple[Any, type[Exception]]] = {
            "nan": ([0.5, float("nan")], hesc.OutOfRangeError),
            "beyond": ([0.5, 1 + 1e-9], hesc.OutOfRangeError),
            "empty": (np.zeros((2, 0)), hesc.ShapeError),
            "text": ("0.5", hesc.ShapeError),
            "complex": ([0.5j], hesc.ShapeError),
            "masked": (np.ma.masked_array([0.5, 9.0], [False, True]), hesc.ShapeError),  # type: ignore[no-untyped-call]
        }
        values, error = bad[kind]
        maker: Any = self.world.own if seeded else self.world.encryptor
        before = maker.encoder.next_dimension
        self.refused(lambda: maker.encrypt(values), error)
        assert maker.encoder.next_dimension == before

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

    def products_may(self) -> Errors:
        may: Errors = {hesc.NoiseBudgetError}
        if self.world.layout != "one_per_block":
            # Streams that lie at other places of their blocks.
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
        if how == "@" and not 1 <= min(x.values.ndim, y.values.ndim):
            must.add(hesc.ShapeError)
        if how == "@" and max(x.values.ndim, y.values.ndim) > 2:
            must.add(hesc.ShapeError)
        may = self.products_may() if product else {hesc.NoiseBudgetError}
        self.step(lambda: compute[how](x.array, y.array), expect, (x, y), must=must, may=may)

    @operation(a=OPERAND, other=one_of("same", "same", "shape", "mixed"))
    def encoded(self, a: int, other: str) -> None:
        """Streams in the clear of the same, another shape or the other representation."""
        x = self.pick(a)
        encoder, must = self.world.encryptor.encoder, self.products_refused(x, frozenset(), constants=False)
        shape = (*x.values.shape, 2) if other == "shape" else x.values.shape
        if other == "mixed":
            opposite = "inverted_bipolar" if self.world.representation == "unipolar" else "unipolar"
            encoder = hesc.Encoder(
                self.world.length, generator="bernoulli", representation=opposite, random_state=1
            )
            must.add(hesc.ParameterError)
        if other == "shape" or x.array.stream_length != self.world.length:
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

    @operation(a=OPERAND, foreign=one_of("*", "+", "@", "join", "weighted", "decrypt", "rerandomise"))
    def other_keys(self, a: int, foreign: str) -> None:
        x, keys = self.pick(a), self.world.owner
        stranger = hesc.Encryptor(
            keys.strange,
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

    @operation(a=OPERAND, number=one_of(float("nan"), float("inf"), "2", 1j, None))
    def no_operands(self, a: int, number: Any) -> None:
        x = self.pick(a)
        for call in (lambda: x.array * number, lambda: x.array + number):
            self.refused(call, (hesc.OutOfRangeError, hesc.ShapeError))
        self.unchanged([x])

    # Sums

    @operation(a=OPERAND, axis=one_of(*AXES))
    def sum(self, a: int, axis: int | None) -> None:
        x = self.pick(a)
        if x.array.native.terms_per_element * x.values.size > TERMS:
            return
        self.step(
            lambda: x.array.sum(axis),
            lambda: Made(
                np.asarray(x.values.sum(axis=axis)),
                x.draws,
                x.constants,
                x.reach * x.values.size / max(1, np.asarray(x.values.sum(axis=axis)).size),
            ),
            (x,),
            # numpy lets a number have a first axis, in sums alone.
            must=None if x.values.ndim or axis is None else {hesc.ShapeError},
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

    @operation(a=OPERAND, axis=one_of(None, 0, -1), seed=SEED, pieces=FLAG)
    def sum_of_parts(self, a: int, axis: int | None, seed: int, pieces: bool) -> None:
        """A multiplexed sum, or one that keeps pieces of its operands."""
        x = self.pick(a)
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

    # Shapes

    @operation(a=OPERAND, index=one_of(*INDICES))
    def take(self, a: int, index: Any) -> None:
        x = self.pick(a)
        self.step(
            lambda: x.array[index],
            lambda: Made(np.asarray(x.values[index]), x.draws, x.constants, x.reach),
            (x,),
        )

    @operation(
        a=OPERAND, how=one_of("T", "flat", "wide", "odd", "broadcast", "narrow", "rows", "again")
    )
    def shapes(self, a: int, how: str) -> None:
        x = self.pick(a)
        calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "T": (lambda: x.array.T, lambda: x.values.T),
            "flat": (lambda: x.array.reshape(-1), lambda: x.values.reshape(-1)),
            "wide": (lambda: x.array.reshape(1, -1, 1), lambda: x.values.reshape(1, -1, 1)),
            "odd": (lambda: x.array.reshape(7, 2), lambda: x.values.reshape(7, 2)),
            "broadcast": (
                lambda: x.array.broadcast_to((2, *x.array.shape)),
                lambda: np.broadcast_to(x.values, (2, *x.values.shape)),
            ),
            "narrow": (
                lambda: x.array.broadcast_to((9, 4)),
                lambda: np.broadcast_to(x.values, (9, 4)),
            ),
            "rows": (lambda: list(x.array)[-1], lambda: x.values[-1]),
            "again": (
                lambda: x.array.rerandomise(self.world.owner.public),
                lambda: x.values,
            ),
        }
        compute, expected = calls[how]
        if how == "rows" and x.values.ndim == 0:
            self.refused(compute, TypeError)
            return
        if x.values.size > 60:
            return
        self.step(
            compute,
            lambda: Made(np.asarray(expected()), x.draws, x.constants, x.reach),
            (x,),
            may={hesc.NoiseBudgetError},
        )

    @operation(a=OPERAND, b=OPERAND, axis=one_of(0, -1, 1))
    def join(self, a: int, b: int, axis: int) -> None:
        x, y = self.pick(a), self.pick(b)
        if x.values.size + y.values.size > 60:
            return
        same = x.array.native.terms_per_element == y.array.native.terms_per_element
        self.step(
            lambda: hesc.EncryptedArray.concatenate([x.array, y.array], axis=axis),
            lambda: Made(
                np.concatenate([x.values, y.values], axis=axis),
                x.draws | y.draws,
                x.constants or y.constants,
                max(x.reach, y.reach),
            ),
            (x, y),
            must=lengths_differ(x, y),
            may=set() if same else {hesc.ShapeError},
        )

    # Leaving

    @operation(a=OPERAND)
    def travel(self, a: int) -> None:
        x = self.pick(a)
        read = hesc.EncryptedArray.from_bytes(x.array.params, x.array.to_bytes())
        np.testing.assert_array_equal(self.decrypted(read).value, x.found)
        self.keep(x._replace(array=read))

    @operation(
        a=OPERAND, fuse=one_of(None, None, 1, 2, 3, [3], [3, 3], [2], [1], 0), compact=FLAG
    )
    def answer(self, a: int, fuse: Any, compact: bool) -> None:
        """Answers, fused and compact, travel and say what the array says."""
        x = self.pick(a)
        try:
            sent = x.array.answer(fuse=fuse, compact=compact)
        except (hesc.FusionError, hesc.NoiseBudgetError, hesc.OutOfRangeError) as error:
            asked = fuse is not None or compact
            assert asked
            assert not isinstance(error, hesc.OutOfRangeError) or fuse == 0
            self.counts["no room"] += 1
            self.unchanged([x])
            return
        read = hesc.Answer.from_bytes(x.array.params, sent.to_bytes())
        found = self.check(read, x)
        if fuse != [1]:
            # Added ones are no longer told apart: the total alone is what it was.
            np.testing.assert_allclose(found, x.found, atol=1e-9 * max(1, x.reach))
        with pytest.raises(hesc.KeyMismatchError):
            hesc.Decryptor(self.world.owner.stranger).decrypt(read)
        self.agreed()

    @operation(a=OPERAND)
    def still(self, a: int) -> None:
        self.unchanged([self.pick(a)])
        self.agreed()


class RealArrays(Arrays):
    """The same on ciphertexts."""

    name = "arrays, encrypted"
    mode: Mode = "encrypt"


def test_random_programs_on_bits() -> None:
    search(Arrays, examples=60, steps=25)
    drive(Arrays, 3000, seed=1)


def test_random_programs_on_ciphertexts() -> None:
    search(RealArrays, examples=10, steps=20)
    drive(RealArrays, 500, seed=1)


@pytest.mark.long
@pytest.mark.parametrize(("machine", "share"), [(Arrays, 0.45), (RealArrays, 0.05)])
def test_many_random_programs(machine: type[Arrays], share: float) -> None:
    drive(machine, long_share(share), seed=1_000_000)

"""What programs on encrypted arrays keep, check and begin with."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import hesc
from tests.laws.array_worlds import DRAWN, Mode, World, world
from tests.laws.programs import FLAG, Programs, between, one_of, operation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

Errors = set[type[Exception]]

SHAPES = ((), (1,), (2,), (3,), (5,), (2, 3), (3, 1), (1, 3), (2, 2), (2, 1, 3))


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


class ArrayProgram(Programs[Kept]):
    """Values of one world, encrypted in all ways there are."""

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

    @operation(shape=one_of((3,), (2, 3)), seeded=FLAG)
    def factors(self, shape: tuple[int, ...], seeded: bool) -> None:
        """Factors that were encoded together, kept one by one: any elements of them may pair."""
        values = self.world.values(self.rng, (2, *shape))
        first = self.world.encryptor.encoder.next_dimension
        maker: Any = self.world.own if seeded else self.world.encryptor
        try:
            encrypted = maker.encrypt_factors(values)
        except hesc.CorrelationError:
            assert self.world.generator not in DRAWN
            return
        for k, each in enumerate(encrypted):
            array = each.expand() if seeded else each
            made = Made(values[k], frozenset([first + k]), constants=False, reach=1.0)
            self.step(partial(lambda a: a, array), partial(lambda m: m, made), ())

    @operation(kind=one_of("nan", "beyond", "empty", "text", "complex", "masked"), seeded=FLAG)
    def no_numbers(self, kind: str, seeded: bool) -> None:
        bad: dict[str, tuple[Any, type[Exception]]] = {
            "nan": ([0.5, float("nan")], hesc.OutOfRangeError),
            "beyond": ([0.5, 1 + 1e-9], hesc.OutOfRangeError),
            "empty": (np.zeros((2, 0)), hesc.ShapeError),
            "text": ("0.5", hesc.ShapeError),
            "complex": ([0.5j], hesc.ShapeError),
            "masked": (np.ma.masked_array([0.5, 9.0], [False, True]), hesc.ShapeError),
        }
        values, error = bad[kind]
        maker: Any = self.world.own if seeded else self.world.encryptor
        before = maker.encoder.next_dimension
        self.refused(lambda: maker.encrypt(values), error)
        assert maker.encoder.next_dimension == before

"""Random polynomials of encrypted numbers, with public and with encrypted coefficients."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from tests.laws.array_worlds import DRAWN, Mode, World, owner, world
from tests.laws.programs import (
    FLAG,
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

REFUSALS = re.compile("mask|misaligned|pieces|negation")
# Products of as many streams are independent bits still; more cost only time.
DEGREES = 4


class Kept(NamedTuple):
    """A polynomial, numbers for its variables, and their encryptions."""

    polynomial: hesc.Polynomial
    values: list[NDArray[np.float64]]
    inputs: Any
    repetitions: int


class Polynomials(Programs[Kept]):
    """Polynomials are right within their errors, whatever sums them; others' plans are refused."""

    name = "polynomials"
    mode: Mode = "simulate"
    world: World

    def start(self) -> None:
        self.world = world(self.rng, self.mode)
        # Sums of monomials of structured streams have laws of their own: tests of reported errors.
        while not self.world.multiplies or self.world.generator not in DRAWN:
            self.world = world(self.rng, self.mode)
        self.lowest = 0.0 if self.world.representation == "unipolar" else -1.0
        self.fresh(variables=1, shape=(2,), repetitions=1, seeded=False)

    def polynomial(self, variables: int) -> hesc.Polynomial:
        """A few monomials with coefficients of any size, a constant among them sometimes."""
        exponents = {
            tuple(int(e) for e in self.rng.integers(0, DEGREES, variables))
            for _ in range(self.rng.integers(1, 6))
        } | {tuple(int(e) for e in np.eye(variables, dtype=int)[0] * self.rng.integers(1, DEGREES))}
        scale = float(10.0 ** self.rng.integers(-2, 3))
        return hesc.Polynomial({key: scale * self.rng.uniform(-2, 2) for key in exponents})

    def fresh(
        self, *, variables: int, shape: tuple[int, ...], repetitions: int, seeded: bool
    ) -> None:
        polynomial = self.polynomial(variables)
        maker: Any = self.world.own if seeded else self.world.encryptor
        values = [self.world.values(self.rng, shape) for _ in range(variables)]
        if self.chance(0.3):
            # Streams of these hold no noise at all.
            values = [np.asarray(np.where(value > 0, 1.0, self.lowest)) for value in values]
        inputs = polynomial.encrypt_inputs(maker, *values, repetitions=repetitions)
        kept = Kept(polynomial, values, inputs, repetitions)
        self.compared(lambda: polynomial.evaluate(inputs), kept)
        if not self.kept or self.chance(0.8):
            self.kept = [*self.kept[-11:], kept]

    def compared(
        self,
        compute: Callable[[], Any],
        kept: Kept,
        *,
        looser: float = 1.0,
        drawn: bool = False,
    ) -> None:
        """The values; `drawn` if not the inputs' streams alone decide them."""
        try:
            array = compute()
        except (hesc.NoiseBudgetError, hesc.ParameterError, hesc.ShapeError) as error:
            # No room for so many factors, a packing without masks, streams side by side that do
            # not lie where one coefficient's does, or that pieces do not divide.
            if not (isinstance(error, hesc.NoiseBudgetError) or REFUSALS.search(str(error))):
                raise
            self.counts["no room"] += 1
            return
        expected = kept.polynomial(*kept.values)
        exact = sum(
            coefficient * np.prod([x**e for x, e in zip(kept.values, key, strict=True)], axis=0)
            for key, coefficient in zip(
                kept.polynomial.exponents, kept.polynomial.coefficients, strict=True
            )
        )
        np.testing.assert_allclose(expected, exact + kept.polynomial.constant, atol=1e-9)
        found, deviation = hesc.Decryptor(self.world.owner.secret).decrypt(array, return_std=True)
        assert found.shape == array.shape == np.shape(expected)
        reach = looser * float(np.abs(kept.polynomial.coefficients).sum())
        limit = self.world.limit(deviation, reach)
        if not drawn and all(np.all((x == 1) | (x == self.lowest)) for x in kept.values):
            limit = np.full_like(limit, 1e-9 * reach)
        assert np.all(np.abs(found - expected) <= limit), (found, expected, deviation, kept)
        self.agreed()

    @operation(
        variables=between(1, 3),
        shape=one_of((), (1,), (3,), (2, 2)),
        repetitions=one_of(1, 1, 2),
        seeded=FLAG,
    )
    def encrypt(
        self, variables: int, shape: tuple[int, ...], repetitions: int, seeded: bool
    ) -> None:
        self.fresh(variables=variables, shape=shape, repetitions=repetitions, seeded=seeded)

    @operation(
        a=OPERAND,
        method=one_of("concatenated", "multiplexed", "mixed"),
        ciphertexts=between(1, 3),
        state=one_of(0, 1, 12345, 2**64 - 1),
    )
    def planned(self, a: int, method: str, ciphertexts: int, state: int) -> None:
        kept = self.pick(a)
        try:
            plan = kept.polynomial.summation(
                self.world.length,
                method=method,
                ciphertexts=ciphertexts if method == "mixed" else None,
                random_state=state,
            )
        except hesc.ShapeError:
            # Streams too short for a piece of each monomial.
            assert method == "mixed"
            return
        assert plan.streams >= 1
        looser = 1.0
        if plan.pieces is not None:
            # What is kept of each monomial is a shorter stream.
            sizes = np.abs(plan.coefficients[plan.order])
            looser = float((sizes * plan.granularity / plan.pieces).sum() / sizes.sum())
        self.compared(
            lambda: kept.polynomial.evaluate(kept.inputs, plan),
            kept,
            looser=looser,
            drawn=method == "multiplexed",
        )

    @operation(
        a=OPERAND,
        b=OPERAND,
        method=one_of("concatenated", "multiplexed"),
        whose=one_of("another", "scaled", "longer"),
    )
    def others_plan(self, a: int, b: int, method: str, whose: str) -> None:
        """The plan of another polynomial, of another scale, and of longer streams."""
        kept = self.pick(a)
        own = kept.polynomial
        if whose == "longer":
            plan = own.summation(self.world.length * 2, method=method)
            errors: Any = (hesc.ShapeError, hesc.NoiseBudgetError)
        else:
            doubled = dict(zip(own.exponents, 2 * own.coefficients, strict=True))
            other = self.pick(b).polynomial if whose == "another" else hesc.Polynomial(doubled)
            same = np.array_equal(other.coefficients, own.coefficients)
            if other.exponents == own.exponents and same:
                return
            plan, errors = other.summation(self.world.length, method=method), hesc.ParameterError
        self.refused(lambda: own.evaluate(kept.inputs, plan), errors)

    @operation(a=OPERAND, seeded=FLAG)
    def encrypted_coefficients(self, a: int, seeded: bool) -> None:
        kept = self.pick(a)
        maker: Any = self.world.own if seeded else self.world.encryptor
        unipolar = self.world.representation == "unipolar"
        if unipolar and np.any(kept.polynomial.coefficients < 0):
            self.refused(lambda: kept.polynomial.encrypt(maker), hesc.OutOfRangeError)
            return
        secret_one = kept.polynomial.encrypt(maker)
        self.compared(
            lambda: secret_one.evaluate(kept.inputs),
            kept,
            looser=len(kept.polynomial.coefficients),
            drawn=True,
        )

    @operation(a=OPERAND, how=one_of("none", "fewer", "variables", "copies", "twice"))
    def no_inputs(self, a: int, how: str) -> None:
        kept = self.pick(a)
        p, first = kept.polynomial, kept.inputs[0]
        degree = max(p.degrees)
        wide = next(v for v, d in enumerate(d for d in p.degrees if d) if d == degree)
        short = [copies[:-1] if v == wide else copies for v, copies in enumerate(first)]
        again = [
            [copies[0]] * len(copies) if v == wide else copies for v, copies in enumerate(first)
        ]
        calls: dict[str, tuple[Callable[[], Any], tuple[type[Exception], ...]]] = {
            "none": (lambda: p.evaluate([]), (hesc.ShapeError,)),
            "fewer": (lambda: p.evaluate([first[:-1]]), (hesc.ShapeError,)),
            "variables": (
                lambda: p.encrypt_inputs(self.world.encryptor, *kept.values, kept.values[0]),
                (hesc.ShapeError,),
            ),
            "copies": (lambda: p.evaluate([short]), (hesc.ShapeError,)),
            "twice": (lambda: p.evaluate([again]), (hesc.CorrelationError,)),
        }
        if how == "twice" and degree < 2:
            return
        self.refused(*calls[how])

    @operation(kind=one_of("constant", "empty", "nan", "fraction", "negative", "mixed", "huge"))
    def no_polynomials(self, kind: str) -> None:
        bad: dict[str, tuple[Any, type[Exception]]] = {
            "constant": ([3.0], hesc.ShapeError),
            "empty": ([], hesc.ShapeError),
            "nan": ([0.0, float("nan")], hesc.OutOfRangeError),
            "fraction": ({(1.5, 1): 1.0}, hesc.ShapeError),
            "negative": ({(-1,): 1.0}, hesc.ShapeError),
            "mixed": ({(1,): 1.0, (1, 1): 1.0}, hesc.ShapeError),
            "huge": ({(1025,): 1.0}, hesc.ShapeError),
        }
        coefficients, error = bad[kind]
        self.refused(lambda: hesc.Polynomial(coefficients), error)


class RealPolynomials(Polynomials):
    """The same on ciphertexts."""

    name = "polynomials, encrypted"
    mode: Mode = "encrypt"


def test_repetitions_select_anew() -> None:
    """Two sums of the same monomials: 1024 choices among three are never all the same."""
    keys = owner("bfv_2048_slots", "simulate")
    encryptor = hesc.Encryptor(keys.public, 1024, layout="one_per_block", random_state=1)
    polynomial = hesc.Polynomial([0, 1, 1, 1])
    ((copies,),) = polynomial.encrypt_inputs(encryptor, [0.3])
    plan = polynomial.summation(1024, method="multiplexed")
    counts = [
        keys.secret.counts(plan.sum(polynomial.monomials([copies]), repetition).answer())
        .separate()
        .counts()
        for repetition in (0, 1, 0)
    ]
    np.testing.assert_array_equal(counts[0], counts[2])
    assert np.any(counts[0] != counts[1])


def test_mixed_plans_weigh_each_monomial() -> None:
    """Exactly, where streams hold no noise, in plans that take monomials out of their order."""
    keys, rng = owner("bfv_2048_slots", "simulate"), np.random.default_rng(5)
    encryptor = hesc.Encryptor(keys.public, 1024, layout="one_per_block", random_state=1)
    out_of_order = 0
    for number in range(20):
        polynomial = hesc.Polynomial(rng.uniform(-2, 2, 6))
        plan = polynomial.summation(1024, method="mixed", ciphertexts=1 + number % 3)
        out_of_order += bool(np.any(np.diff(plan.order) < 0))
        x = rng.choice([-1.0, 1.0], 3)
        array = polynomial.evaluate(polynomial.encrypt_inputs(encryptor, x), plan)
        found = hesc.Decryptor(keys.secret).decrypt(array)
        np.testing.assert_allclose(found, polynomial(x), atol=1e-9)
    assert out_of_order >= 3


def test_random_polynomials() -> None:
    drive(Polynomials, 1500, seed=1)
    drive(RealPolynomials, 300, seed=1)


def test_shortest_polynomials() -> None:
    search(Polynomials, examples=15, steps=12)


@pytest.mark.long
@pytest.mark.parametrize(("machine", "share"), [(Polynomials, 0.04), (RealPolynomials, 0.01)])
def test_many_random_polynomials(machine: type[Polynomials], share: float) -> None:
    drive(machine, long_share(share), seed=1_000_000)

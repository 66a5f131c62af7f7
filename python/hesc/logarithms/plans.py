"""What all sides of products by logarithms agree upon."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, real_array, whole, whole_array, wire_bytes
from hesc.logarithms.factors import Factor, rows_of
from hesc.params.parameter_set import explained
from hesc.params.vectors import VectorParams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

# The largest power of an element in a monomial.
MOST_POWER = 64
MOST_PRODUCTS = 2**20


class Sizes(NamedTuple):
    """Bytes on the wire, the same whatever the numbers are."""

    up: tuple[int, ...]
    """Bytes of each factor's upload; 0 for a factor in the clear."""
    down: int
    """Bytes of the answer."""


class Code(NamedTuple):
    """How a number within [-1, 1] is a sign and a count of steps."""

    bits: int
    """Bits of the plaintext modulus `2**bits`."""
    octaves: int
    """Sizes below `2**-octaves` are that or zero, at random."""
    step: int
    """Steps to an octave: others are one of their two neighbours, at random."""


class Plan:
    """Bounds, recipes, code and sizes of products by logarithms: public, the same on all sides.

    `Plan.elementwise`, `Plan.sums` and `Plan.polynomial` make one. The coarsest code is taken with
    which outputs have the wanted error whatever the numbers are within their bounds, the smallest
    ring that has room for it, and in it the fewest bits of an answer; a product decrypts wrongly
    with a probability below 2^-128.
    """

    def __init__(self, native: _native.LogarithmPlan) -> None:
        remedy = "Plan.elementwise, Plan.sums, Plan.polynomial or Plan.from_bytes makes it"
        self.native = of_kind(native, "native", _native.LogarithmPlan, remedy)

    @classmethod
    @explained
    def elementwise(cls, factors: Sequence[Factor], *, error: float) -> Plan:
        """The product of all factors, element by element, broadcast as in numpy.

        Args:
            factors: one for each side. What one side knows it multiplies in the clear first.
            error: the root mean square of an output's error that is wanted, at the numbers within
                the bounds where it is largest.

        Raises:
            NoiseBudgetError: no set reaches this error.
            ParameterError, ShapeError: factors that cannot be, or do not broadcast.

        """
        shape = broadcast(factors)
        products = np.arange(np.prod(shape, dtype=np.intp), dtype=np.uint32)
        return cls._of(factors, shape, error, shape, (products, products, np.ones(len(products))))

    @classmethod
    @explained
    def sums(cls, factors: Sequence[Factor], *, error: float, weights: ArrayLike = 1.0) -> Plan:
        """The same, summed over the last axis: inner products, a matrix times a vector.

        Args:
            factors: as for `elementwise`; for a matrix times a vector of shapes `(m, n)` and `n`.
            error: as for `elementwise`, of a sum.
            weights: public numbers that products are multiplied with before they are added, one for
                each of the last axis, or for all.

        Raises: as `elementwise`.

        """
        shape = broadcast(factors)
        if not shape:
            raise ShapeError("factors have an axis to sum over; elementwise takes single numbers")
        array = real_array(weights, "weights")
        if array.shape not in {(), shape[-1:]}:
            raise ShapeError(
                f"weights are a number, or {shape[-1]} of them; got the shape {array.shape}"
            )
        products = np.arange(np.prod(shape, dtype=np.intp), dtype=np.uint32)
        every = np.ascontiguousarray(np.broadcast_to(array, shape).reshape(-1))
        terms = (products // np.uint32(shape[-1]), products, every)
        return cls._of(factors, shape, error, shape[:-1], terms)

    @classmethod
    @explained
    def polynomial(
        cls,
        factors: Sequence[Factor],
        exponents: Sequence[ArrayLike],
        coefficients: ArrayLike,
        *,
        error: float,
    ) -> Plan:
        """Polynomials by their monomials, which are the products.

        Args:
            factors: one for each side, of as many variables as it has: one axis.
            exponents: for each factor a row for each monomial, of whole numbers from 0 to 64, one
                for each variable. Each side multiplies its own powers in the clear.
            coefficients: public: a number for each monomial, or rows of them for several outputs.
                Secret coefficients are a factor of their own, with exponents 0 and 1.
            error: as for `elementwise`, of an output.

        Raises: as `elementwise`.

        """
        each_is_a_factor(factors)
        if len(exponents) != len(factors):
            raise ShapeError(f"{len(factors)} factors take as many arrays of exponents")
        recipes = [
            powers_of(at, factor, given)
            for at, (factor, given) in enumerate(zip(factors, exponents, strict=True))
        ]
        array = real_array(coefficients, "coefficients")
        monomials = len(recipes[0].ends)
        if array.ndim not in {1, 2} or array.shape[-1] != monomials:
            raise ShapeError(
                f"coefficients are {monomials} numbers, one for each row of exponents, or rows of "
                f"them; got the shape {array.shape}"
            )
        rows = array.reshape(-1, monomials)
        outputs, products = np.nonzero(np.where(np.isnan(rows), 1, rows))
        terms = (outputs.astype(np.uint32), products.astype(np.uint32), rows[outputs, products])
        return cls._with(factors, recipes, error, array.shape[:-1], terms)

    @classmethod
    def _of(
        cls,
        factors: Sequence[Factor],
        shape: tuple[int, ...],
        error: float,
        outputs: tuple[int, ...],
        terms: tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]],
    ) -> Plan:
        recipes = []
        for factor in factors:
            count = np.prod(factor.shape, dtype=np.intp)
            own = np.arange(count, dtype=np.uint32).reshape(factor.shape)
            elements = np.ascontiguousarray(np.broadcast_to(own, shape)).reshape(-1)
            ends = np.arange(1, len(elements) + 1, dtype=np.uint32)
            recipes.append(Recipes(ends, elements, np.ones(len(elements), dtype=np.uint32)))
        return cls._with(factors, recipes, error, outputs, terms)

    @classmethod
    def _with(
        cls,
        factors: Sequence[Factor],
        recipes: list[Recipes],
        error: float,
        outputs: tuple[int, ...],
        terms: tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]],
    ) -> Plan:
        described = [
            (f.source, f.shared, list(f.shape), np.ascontiguousarray(f.bounds).reshape(-1), *recipe)
            for f, recipe in zip(factors, recipes, strict=True)
        ]
        return cls(_native.LogarithmPlan.declared(described, list(outputs), terms, error))

    @classmethod
    def from_bytes(cls, data: bytes) -> Plan:
        """A plan from its wire form. What it says of code and sizes must follow from the rest.

        Raises:
            WireError: damaged bytes, or another object's.

        """
        return cls(_native.LogarithmPlan.from_bytes(wire_bytes(data)))

    def to_bytes(self) -> bytes:
        """The wire form: what the other sides are given, or give."""
        return self.native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan.from_bytes, (self.to_bytes(),)

    def __repr__(self) -> str:
        bits, octaves, step = self.code
        return (
            f"<hesc.logarithms.Plan: {len(self.factors)} factors, {self.products} products to the "
            f"shape {self.shape}, error {self.error:.2g}, {bits} bits: {octaves} octaves of {step} "
            f"steps, N = {self.params.ring_degree}, {self.answer_bits} bits back>"
        )

    @property
    def params(self) -> VectorParams:
        """The set that keys are made for; plans of one set share keys."""
        return VectorParams(self.native.params)

    @cached_property
    def factors(self) -> tuple[Factor, ...]:
        """What each side multiplies with, in order."""
        return tuple(
            Factor(
                tuple(shape),
                bound=self.native.bounds(at).reshape(shape),
                source=source,
                shared=shared,
            )
            for at, (source, shared, shape) in enumerate(self.native.operands)
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the outputs of a sample."""
        return tuple(self.native.shape)

    @property
    def products(self) -> int:
        """Products of a sample: what the key owner sees."""
        return self.native.products

    @property
    def error(self) -> float:
        """The root mean square of an output's error, at most, for all numbers within the bounds."""
        return self.native.error

    @property
    def code(self) -> Code:
        """How numbers are coded."""
        return Code(*self.native.code[:3])

    @property
    def answer_bits(self) -> int:
        """Bits of each coefficient of an answer."""
        return self.native.code[3]

    @property
    def capacity(self) -> int:
        """Samples of one ciphertext: an upload of fewer takes the same answer."""
        return self.native.samples[0]

    @property
    def most_samples(self) -> int:
        """Samples of an upload, at most."""
        return self.native.samples[1]

    def sizes(self, samples: int = 1) -> Sizes:
        """Bytes of each upload of so many samples, and of the answer."""
        up, down = self.native.bytes_of(whole(samples, "samples", 1, self.most_samples))
        return Sizes(tuple(up), down)

    def errors_of(self, *values: ArrayLike) -> NDArray[np.float64]:
        """The law itself: the root mean square errors of one sample's outputs, for these numbers.

        Over the roundings of all factors; it is never above `error`. Give the numbers of each
        factor.
        """
        factors = self.factors
        if len(values) != len(factors):
            raise ShapeError(
                f"the plan has {len(factors)} factors; got the numbers of {len(values)}"
            )
        rows = [real_array(given, f"factor {at}") for at, given in enumerate(values)]
        for at, (factor, row) in enumerate(zip(factors, rows, strict=True)):
            if row.shape != factor.shape:
                raise ShapeError(f"factor {at} has the shape {factor.shape}; got {row.shape}")
        return self.native.errors_of([row.reshape(-1) for row in rows]).reshape(self.shape)


class Recipes(NamedTuple):
    """Which elements of a factor are multiplied for each product, and how often."""

    ends: NDArray[np.uint32]
    """Where each product's end."""
    elements: NDArray[np.uint32]
    powers: NDArray[np.uint32]


def factor_of(plan: Plan, number: int) -> Factor:
    """The factor of this number.

    Raises:
        ParameterError: the plan has no such factor.

    """
    factors = plan.factors
    known = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not known or not 0 <= number < len(factors):
        raise ParameterError(f"no such factor: the plan has factors 0 to {len(factors) - 1}")
    return factors[number]


def numbers_of(plan: Plan, number: int, values: ArrayLike) -> NDArray[np.float64]:
    """A factor's numbers one after the other, sample after sample."""
    return rows_of(factor_of(plan, number), values, f"factor {number}")


def each_is_a_factor(factors: Sequence[Factor]) -> None:
    """Refuses none, and anything else.

    Raises:
        ParameterError: in these cases.

    """
    if not isinstance(factors, list | tuple) or not factors:
        raise ParameterError("give a list with a factor for each side")
    for factor in factors:
        of_kind(factor, "a factor", Factor, "logarithms.Factor makes one")


def broadcast(factors: Sequence[Factor]) -> tuple[int, ...]:
    """The shape of all factors together."""
    each_is_a_factor(factors)
    shapes = [factor.shape for factor in factors]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError as error:
        raise ShapeError(f"the shapes {shapes} do not broadcast") from error
    if np.prod(shape, dtype=np.float64) > MOST_PRODUCTS:
        raise ShapeError(f"a plan has {MOST_PRODUCTS} products at most; got the shape {shape}")
    return shape


def powers_of(at: int, factor: Factor, exponents: ArrayLike) -> Recipes:
    """Exponents other than zero."""
    array = whole_array(exponents, "exponents")
    if len(factor.shape) != 1 or array.ndim != 2 or array.shape[1:] != factor.shape:
        raise ShapeError(
            f"exponents of factor {at} are rows of one for each of its variables, which have one "
            f"axis; got the shapes {array.shape} and {factor.shape}"
        )
    if not array.size or array.min() < 0 or array.max() > MOST_POWER:
        raise OutOfRangeError(
            f"exponents are whole numbers from 0 to {MOST_POWER}, one row or more"
        )
    monomials, elements = np.nonzero(array)
    ends = np.cumsum(np.bincount(monomials, minlength=len(array)))
    powers = array[monomials, elements]
    return Recipes(*(x.astype(np.uint32) for x in (ends, elements, powers)))

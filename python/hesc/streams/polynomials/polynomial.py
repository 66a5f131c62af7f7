"""Polynomials in one and several variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, real_array, several, whole
from hesc.streams.arrays import EncryptedArray, expanded, powers
from hesc.streams.polynomials.summation import Summation

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.streams.arrays import SeededArray
    from hesc.streams.encryptor import AnyEncryptor

_T = TypeVar("_T")

Exponents = tuple[int, ...]
"""The exponent of each variable in a monomial."""

Inputs = Sequence[Sequence[Sequence["EncryptedArray | SeededArray"]]]
"""For each repetition and each variable, independent encryptions of its values."""

_MAX_FACTORS: Final = 1024
_INPUTS: Final = "give what encrypt_inputs returns, or lists of its form"
# Terms that a representation shows.
_SHOWN: Final = 8

Series: TypeAlias = (
    np.polynomial.Polynomial
    | np.polynomial.Chebyshev
    | np.polynomial.Legendre
    | np.polynomial.Laguerre
    | np.polynomial.Hermite
    | np.polynomial.HermiteE
)
"""What `numpy.polynomial` has."""


def _monomial(key: Exponents) -> str:
    """A product of powers as people write it; variables are x, y and z, or x1, x2, ..."""
    names = "xyz" if len(key) <= 3 else [f"x{place}" for place in range(1, len(key) + 1)]
    powers = [(name, power) for name, power in zip(names, key, strict=False) if power]
    return " ".join(name if power == 1 else f"{name}^{power}" for name, power in powers)


def _exponents(key: Any) -> Exponents:
    """A mapping's key, refused if it is not what it says."""
    if not isinstance(key, tuple):
        raise ShapeError(f"exponents are a tuple with one for each variable, not {key!r}")
    if any(not isinstance(power, int | np.integer) or power < 0 for power in key):
        raise ShapeError(f"exponents are whole numbers from 0 on, not {key}")
    return tuple(map(int, key))


def _number(value: Any) -> NDArray[np.float64]:
    """A coefficient of a mapping."""
    number = real_array(value, "coefficients")
    if number.ndim:
        raise ShapeError(f"a coefficient is one number, not {value!r}")
    return number


class Polynomial:
    """A polynomial with public real coefficients of any size.

    A product of independent streams is one homomorphic addition, so a monomial of degree `d` costs
    `d - 1` of them, and monomials share their prefixes: `x, x x', x x' x''` cost two altogether.
    Sums are concatenations, or what `summation` says.

    >>> Polynomial([1, -0.5, 0, 2])
    <hesc.Polynomial 1 - 0.5 x + 2 x^3>
    >>> Polynomial(np.polynomial.Chebyshev([0, 0, 1]))
    <hesc.Polynomial -1 + 2 x^2>

    Args:
        coefficients: those of `1, x, x^2, ...`, a mapping from exponents to coefficients
            (`{(2, 1): 0.5, (0, 0): 1}` is `x^2 y / 2 + 1`), or a series of `numpy.polynomial` in
            any basis and domain, which is brought to powers of x. High degrees of other bases lose
            digits there: compare `polynomial(x)` with the series.

    Raises:
        OutOfRangeError: a coefficient that is not finite.
        ShapeError: no monomial but the constant, or exponents that are no whole numbers or do not
            fit together.

    """

    def __init__(self, coefficients: ArrayLike | Mapping[Any, float] | Series) -> None:
        if isinstance(coefficients, np.poly1d):
            # As an array it would have the highest power first.
            coefficients = np.polynomial.Polynomial(coefficients.coef[::-1])
        if isinstance(coefficients, Series):
            # To the domain [-1, 1], where the variable of the series is x itself.
            coefficients = coefficients.convert(kind=np.polynomial.Polynomial).coef
        if isinstance(coefficients, Mapping):
            given = {_exponents(key): float(_number(value)) for key, value in coefficients.items()}
        else:
            array = real_array(coefficients)
            if array.ndim != 1:
                raise ShapeError("give the coefficients of 1, x, x^2, ... as a list")
            given = {(power,): float(value) for power, value in enumerate(array)}
        if len({len(exponents) for exponents in given}) > 1:
            raise ShapeError("all monomials have an exponent for each variable")
        for exponents, value in given.items():
            if not np.isfinite(value):
                raise OutOfRangeError(f"the coefficient of {exponents} is {value}, not finite")
            if sum(exponents) > _MAX_FACTORS:
                raise ShapeError(f"exponents {exponents} add up to more than {_MAX_FACTORS}")
        terms = {key: value for key, value in given.items() if sum(key) > 0 and value != 0.0}
        if not terms:
            raise ShapeError("a constant needs no encryption; give at least one other monomial")
        self.constant = sum(value for key, value in given.items() if sum(key) == 0)
        self.exponents: list[Exponents] = list(terms)
        self.coefficients: NDArray[np.float64] = np.array(list(terms.values()))
        self.degrees = tuple(max(powers) for powers in zip(*self.exponents, strict=True))
        """The largest exponent of each variable: how many encryptions of it are needed."""
        self.scale = float(np.abs(self.coefficients).max())
        """The largest size of a coefficient; divided by it, all lie in [-1, 1]."""

    def __repr__(self) -> str:
        terms = [(self.constant, "")] if self.constant else []
        terms += [
            (float(coefficient), _monomial(key))
            for key, coefficient in zip(self.exponents, self.coefficients, strict=True)
        ]
        text = ""
        for place, (coefficient, monomial) in enumerate(terms[:_SHOWN]):
            sign = "-" if coefficient < 0 else "+"
            joint = f" {sign} " if place else sign.replace("+", "")
            size = abs(coefficient)
            number = "" if size == 1 and monomial else f"{size:g}"
            text += joint + " ".join(part for part in (number, monomial) if part)
        if len(terms) > _SHOWN:
            text += f" + ... ({len(terms)} terms)"
        return f"<hesc.Polynomial {text}>"

    @property
    def variables(self) -> int:
        """Number of variables."""
        return len(self.degrees)

    def __call__(self, *values: ArrayLike) -> NDArray[np.float64]:
        """The exact values in floating point."""
        arrays = self._checked([real_array(value) for value in values])
        monomials = (
            coefficient * np.prod([x**power for x, power in zip(arrays, key, strict=True)], axis=0)
            for key, coefficient in zip(self.exponents, self.coefficients, strict=True)
        )
        total: NDArray[np.float64] = self.constant + np.sum(list(monomials), axis=0)
        return total

    def _checked(self, variables: Sequence[_T]) -> Sequence[_T]:
        if len(variables) != self.variables:
            raise ShapeError(
                f"this polynomial has {self.variables} variables, not {len(variables)}"
            )
        return variables

    def encrypt_inputs(
        self, encryptor: AnyEncryptor, *values: ArrayLike, repetitions: int = 1
    ) -> Inputs:
        """The encryptions that `evaluate` needs: for each variable as many as its largest exponent.

        By default, and with the generator "joint", the copies of a variable are encoded together,
        so that each of its powers is right to a bit or so.

        Args:
            encryptor: encodes and encrypts, under either key; each of its calls is independent of
                the others.
            *values: the values of each variable, arrays of one shape.
            repetitions: independent evaluations to average: the error falls with the square root of
                their number, the ciphertexts grow with it.

        """
        self._checked(values)
        _checked_encryptor(encryptor)
        count = whole(repetitions, "repetitions", 1)
        return [
            [
                encryptor.encrypt_copies(value, degree)
                for value, degree in zip(values, self.degrees, strict=True)
                if degree > 0
            ]
            for _ in range(count)
        ]

    def monomials(
        self, copies: Sequence[Sequence[EncryptedArray | SeededArray]]
    ) -> list[EncryptedArray]:
        """The monomials in the order of `exponents`, from copies of each variable in use.

        Cost: a product for each power of a variable but the first, and one for each variable more
        that a monomial has; monomials share the products of their first variables.
        """
        copies = [several(some, "copies", _INPUTS) for some in several(copies, "copies", _INPUTS)]
        used = [index for index, degree in enumerate(self.degrees) if degree > 0]
        if len(copies) != len(used):
            raise ShapeError(f"{len(used)} variables are in use, got copies of {len(copies)}")
        chains: dict[int, list[EncryptedArray]] = {}
        for index, factors in zip(used, copies, strict=True):
            degree = self.degrees[index]
            if len(factors) < degree:
                raise ShapeError(
                    f"variable {index} needs {degree} copies, got {len(factors)}; see "
                    f"encrypt_inputs"
                )
            chains[index] = powers(factors[:degree])
        if self.variables == 1:
            # The chain is all there is; what follows takes longer than small products.
            return [chains[0][power - 1] for (power,) in self.exponents]

        products: dict[Exponents, EncryptedArray] = {}
        for key in self.exponents:
            # The product of the variables' powers, one after the other.
            before: Exponents = (0,) * self.variables
            for place, power in enumerate(key):
                if power == 0:
                    continue
                here = (*before[:place], power, *before[place + 1 :])
                if here not in products:
                    own = chains[place][power - 1]
                    products[here] = products[before] * own if before in products else own
                before = here
        return [products[key] for key in self.exponents]

    def evaluate(self, inputs: Inputs, summation: Summation | None = None) -> EncryptedArray:
        """The polynomial's values, of the shape of each input.

        Cost: the products of `monomials`, and what the summation costs; concatenation is free.

        Args:
            inputs: what `encrypt_inputs` returned (or the copies that came by wire in its order).
            summation: of this polynomial and the inputs' stream length; concatenation if not
                given.

        Raises:
            ParameterError: a summation of another polynomial.

        """
        inputs = several(inputs, "inputs", _INPUTS)
        if not inputs:
            raise ShapeError("there is nothing to evaluate; see encrypt_inputs")
        if summation is not None:
            of_kind(summation, "summation", Summation, "Polynomial.summation makes one")
        if summation is not None and not summation.sums(self.coefficients, self.exponents):
            raise ParameterError(
                "this sums another polynomial; evaluate with what the summation method of this one "
                "returns"
            )
        sums = [
            EncryptedArray.weighted_sum(self.monomials(copies), self.coefficients)
            if summation is None
            else summation.sum(self.monomials(copies), number)
            for number, copies in enumerate(inputs)
        ]
        total = sums[0]
        if len(sums) > 1:
            total = EncryptedArray.weighted_sum(sums, np.full(len(sums), 1 / len(sums)))
        return total + self.constant if self.constant else total

    def summation(
        self,
        stream_length: int,
        *,
        method: str = "concatenated",
        ciphertexts: int | None = None,
        granularity: int | None = None,
        random_state: int = 0,
    ) -> Summation:
        """How to sum the monomials.

        Args:
            stream_length: bits of each input's streams.
            method: "concatenated" keeps every bit, in one result stream for each monomial (least
                error); "multiplexed" selects at random, in one stream (koseki2022hesc Algorithm 3);
                "mixed" keeps as much of each monomial as `ciphertexts` streams hold, divided for
                the least variance (inputs taken as uniform, streams as independent bits).
            ciphertexts: result streams of "mixed".
            granularity: pieces of a stream that "mixed" divides; pieces of 64 bits if not given,
                the shortest in which jointly encoded streams are exact, or as many as there are
                monomials.
            random_state: seed of "multiplexed".

        """
        return Summation.for_sum(
            self.coefficients,
            self.exponents,
            stream_length,
            method=method,
            ciphertexts=ciphertexts,
            granularity=granularity,
            random_state=random_state,
        )

    def encrypt(self, encryptor: AnyEncryptor) -> EncryptedPolynomial:
        """Encrypts the coefficients, divided by `scale`, which stays public with the exponents.

        The encryptor's dimensions must differ from those of the inputs: another `first_dimension`.
        """
        _checked_encryptor(encryptor)
        normalised = self.coefficients / self.scale
        encrypted = [expanded(encryptor.encrypt(value)) for value in normalised]
        # What it keeps in the clear must not tell coefficients: all are as large as the largest.
        public: dict[Exponents, float] = dict.fromkeys(self.exponents, self.scale)
        public[(0,) * self.variables] = self.constant
        return EncryptedPolynomial(Polynomial(public), encrypted)


def _checked_encryptor(encryptor: object) -> None:
    if not callable(getattr(encryptor, "encrypt_copies", None)):
        raise ParameterError(
            f"the encryptor is of the type {type(encryptor).__name__}; give a hesc.Encryptor or "
            "hesc.SecretEncryptor"
        )


class EncryptedPolynomial:
    """A polynomial whose coefficients nobody sees who has no secret key.

    Exponents, the constant and the largest coefficient's size are public. Made by
    `Polynomial.encrypt`.
    """

    def __init__(self, public: Polynomial, coefficients: Sequence[EncryptedArray]) -> None:
        self._public = public
        self._coefficients = coefficients

    def evaluate(self, inputs: Inputs) -> EncryptedArray:
        """The values, by concatenation; a product more for each monomial than in the clear."""
        inputs = several(inputs, "inputs", _INPUTS)
        if not inputs:
            raise ShapeError("there is nothing to evaluate; see encrypt_inputs")
        products = [
            monomial * coefficient
            for copies in inputs
            for monomial, coefficient in zip(
                self._public.monomials(copies), self._coefficients, strict=True
            )
        ]
        weight = self._public.scale / len(inputs)
        total = EncryptedArray.weighted_sum(products, np.full(len(products), weight))
        return total + self._public.constant if self._public.constant else total

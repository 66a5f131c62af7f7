"""What a client does with its features before it encrypts them: public, in numpy alone.

Each transform is data, so that a client needs neither scikit-learn nor code from the server. Who
has one reads everything in it: the means of a scaler, the axes of a PCA, and of Nystroem's kernel
**rows of the training data as they are**.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from hesc._native import OutOfRangeError, WireError
from hesc.ml import documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_WIDEST: Final = 1 << 16
"""Features between two transforms."""
HIGHEST: Final = 32
"""Degree of monomials."""
KERNELS: Final = ("linear", "polynomial", "rbf", "sigmoid")
"""Kernels that a client computes."""


@dataclass(frozen=True, eq=False)
class Affine:
    """`(x - centre) * factor`: scalers."""

    name: ClassVar[str] = "affine"
    discloses: ClassVar[str] = "centres and scales of the training data"
    centre: Array
    factor: Array

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return len(self.centre), len(self.factor)

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        return (x - self.centre) * self.factor


@dataclass(frozen=True, eq=False)
class Clip:
    """Values brought within limits: `MinMaxScaler(clip=True)`."""

    name: ClassVar[str] = "clip"
    discloses: ClassVar[str] = "limits that features are brought within"
    low: Array
    high: Array

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return len(self.low), len(self.high)

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        return np.clip(x, self.low, self.high)


@dataclass(frozen=True, eq=False)
class Projection:
    """`(x - centre) @ matrix.T`: PCA."""

    name: ClassVar[str] = "projection"
    discloses: ClassVar[str] = "mean and principal axes of the training data"
    centre: Array
    matrix: Array

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.matrix.shape[1], self.matrix.shape[0]

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        return (x - self.centre) @ self.matrix.T


@dataclass(frozen=True, eq=False)
class Monomials:
    """Products of features: a row names the factors of one, -1 stands for no factor."""

    name: ClassVar[str] = "monomials"
    discloses: ClassVar[str] = "which products of features there are"
    inputs: int
    factors: Array

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, len(self.factors)

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        beside_one = np.column_stack([x, np.ones(len(x))])
        places = self.factors.astype(np.int64)
        products: Array = beside_one[:, places[:, 0]]
        for column in places.T[1:]:
            products *= beside_one[:, column]
        return products


@dataclass(frozen=True, eq=False)
class Kernel:
    """Nystroem's features: kernels of a row with components, times a matrix."""

    name: ClassVar[str] = "kernel"
    discloses: ClassVar[str] = "ROWS OF THE TRAINING DATA, which are the components of its kernel"
    kernel: str
    components: Array
    matrix: Array
    options: Array
    """gamma, coef0 and degree."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.components.shape[1], self.matrix.shape[0]

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        gamma, coef0, degree = self.options
        products = x @ self.components.T
        if self.kernel == "rbf":
            squares = (x * x).sum(1)[:, None] + (self.components**2).sum(1)
            values = np.exp(-gamma * np.maximum(squares - 2 * products, 0))
        elif self.kernel == "polynomial":
            values = (gamma * products + coef0) ** degree
        elif self.kernel == "sigmoid":
            values = np.tanh(gamma * products + coef0)
        else:
            values = products
        features: Array = values @ self.matrix.T
        return features


Transform = Affine | Clip | Projection | Monomials | Kernel


def transformed(steps: list[Transform], x: Array) -> Array:
    """Rows after all steps.

    Raises:
        OutOfRangeError: a result that is no finite number.

    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        for step in steps:
            x = step(x)
    if not np.isfinite(x).all():
        raise OutOfRangeError(
            "features that are no finite numbers, or become so; remove or impute them first"
        )
    return x


def described(steps: list[Transform]) -> list[dict[str, Any]]:
    """Steps for a document."""
    return [
        {"step": step.name}
        | {
            field.name: documents.packed(value) if isinstance(value, np.ndarray) else value
            for field in fields(step)
            for value in [getattr(step, field.name)]
        }
        for step in steps
    ]


def read(value: object, inputs: int) -> tuple[list[Transform], int]:
    """Steps from a document that take so many features, and how many they give.

    Raises:
        WireError: steps that are none, or do not follow upon each other.

    """
    if not isinstance(value, list) or len(value) > 32:
        raise WireError("the transforms of a plan are a list, of 32 at most")
    steps: list[Transform] = []
    width = inputs
    for item in value:
        step = _read_one(item)
        if step.widths[0] != width or not 0 < step.widths[1] <= _WIDEST:
            raise WireError("a transform takes another number of features than there are")
        steps.append(step)
        width = step.widths[1]
    return steps, width


_AXES: Final[dict[str, tuple[type[Transform], dict[str, int]]]] = {
    "affine": (Affine, {"centre": 1, "factor": 1}),
    "clip": (Clip, {"low": 1, "high": 1}),
    "projection": (Projection, {"centre": 1, "matrix": 2}),
    "monomials": (Monomials, {"factors": 2}),
    "kernel": (Kernel, {"components": 2, "matrix": 2, "options": 1}),
}


def _read_one(item: object) -> Transform:
    found = item.get("step") if isinstance(item, dict) else None
    name = documents.one_of(found, tuple(_AXES), "a transform")
    kind, axes = _AXES[name]
    others = {field.name for field in fields(kind)} - set(axes)
    given = documents.exactly(item, {"step", *axes, *others}, name)
    arrays = {
        what: documents.unpacked(given[what], count, f"{what} of {name}")
        for what, count in axes.items()
    }
    parts: dict[str, Any] = arrays | {what: given[what] for what in others}
    step = kind(**parts)
    _check(step)
    return step


def _check(step: Transform) -> None:
    match step:
        case Affine(centre, factor):
            fits = len(centre) == len(factor)
        case Clip(low, high):
            fits = len(low) == len(high) and bool((low <= high).all())
        case Projection(centre, matrix):
            fits = len(centre) == matrix.shape[1]
        case Monomials(inputs, factors):
            known = type(inputs) is int and 0 < inputs < 1 << 32
            whole = known and bool((factors == np.floor(factors)).all())
            within = whole and bool(((factors >= -1) & (factors < inputs)).all())
            fits = within and factors.shape[1] <= HIGHEST
        case Kernel(kernel, components, matrix, options):
            documents.one_of(kernel, KERNELS, "a kernel")
            fits = len(components) == matrix.shape[1] and len(options) == 3
    if not fits:
        raise WireError(f"the parts of a transform ({step.name}) do not fit together")

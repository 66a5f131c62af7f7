"""What a client does with its features before it encrypts them: public, in numpy alone.

Each transform is data, so that a client needs neither scikit-learn nor code from the server. Who
has one reads everything in it: the means of a scaler, the axes of a PCA, and of Nystroem's kernel
**rows of the training data as they are**.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support import documents

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_WIDEST: Final = 1 << 16
"""Features between two transforms."""
_MOST: Final = 32
"""Transforms of a plan."""
_AT_ONCE: Final = 1 << 22
"""Features between two transforms that are in memory, of a few samples at least."""
HIGHEST: Final = 32
"""Degree of monomials."""
KERNELS: Final = ("linear", "polynomial", "rbf", "sigmoid")
"""Kernels that a client computes."""


@dataclass(frozen=True, eq=False)
class PerFeature:
    """A transform of each feature by itself: its fields have a number for each."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        first, second = (len(getattr(self, field.name)) for field in fields(self))
        return first, second

    def of(self, columns: NDArray[np.intp]) -> Self:
        """The same of some of the features."""
        return type(self)(*(getattr(self, field.name)[columns] for field in fields(self)))


@dataclass(frozen=True, eq=False)
class Affine(PerFeature):
    """`(x - centre) * factor`: scalers of ONNX, and what is only centred."""

    name: ClassVar[str] = "affine"
    discloses: ClassVar[str] = "centres and scales of the training data"
    centre: Array
    factor: Array

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        return (x - self.centre) * self.factor


@dataclass(frozen=True, eq=False)
class Standard(PerFeature):
    """`(x - centre) / scale`: `StandardScaler`, `RobustScaler`, `MaxAbsScaler`.

    In these very operations, since bins and trees behind it tell numbers apart by their last bits.
    """

    name: ClassVar[str] = "standard"
    discloses: ClassVar[str] = "centres and scales of the training data"
    centre: Array
    scale: Array

    @property
    def factor(self) -> Array:
        """What a sum of it is weighed with, but for roundings."""
        return 1 / self.scale

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        return (x - self.centre) / self.scale


@dataclass(frozen=True, eq=False)
class Stretch(PerFeature):
    """`x * factor + offset`, in these very operations: `MinMaxScaler`."""

    name: ClassVar[str] = "stretch"
    discloses: ClassVar[str] = "least and greatest values of the training data"
    factor: Array
    offset: Array

    @property
    def centre(self) -> Array:
        """What becomes zero, but for roundings."""
        return -self.offset / self.factor

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        return x * self.factor + self.offset


@dataclass(frozen=True, eq=False)
class Clip(PerFeature):
    """Values brought within limits: `MinMaxScaler(clip=True)`."""

    name: ClassVar[str] = "clip"
    discloses: ClassVar[str] = "limits that features are brought within"
    low: Array
    high: Array

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
        # From the last factor on, as PolynomialFeatures multiplies.
        products: Array = beside_one[:, places[:, -1]]
        for column in places.T[-2::-1]:
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


@dataclass(frozen=True, eq=False)
class Bins:
    """A one for the bin that a feature, or a pair of features, is in, and zeros for its others.

    A feature with the edges `e_0 <= e_1 <= ...` is in bin `i` if `e_(i-1) < x <= e_i`, and nothing
    is between equal ones. A pair of features is in one of the cells that the bins of both make,
    those of the second side by side.
    """

    name: ClassVar[str] = "bins"
    discloses: ClassVar[str] = (
        "edges of the bins of features, which are taken from the data unless they were given"
    )
    inputs: int
    features: Array
    """Two for each block: the first, and the second or -1 for none."""
    counts: Array
    """Edges of both, two for each block."""
    edges: Array
    """Edges of all blocks, one after the other; in a block, those of its first feature come
    first."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, sum((int(a) + 1) * (int(b) + 1) for a, b in self.counts)

    def parts(self) -> list[tuple[tuple[int, Array], tuple[int, Array]]]:
        """The two features of each block, each with its edges."""
        ends = np.cumsum(self.counts.astype(np.int64))[:-1]
        edges = np.split(self.edges, ends)
        places = self.features.astype(np.int64)
        return [
            ((int(first), edges[2 * block]), (int(second), edges[2 * block + 1]))
            for block, (first, second) in enumerate(places)
        ]

    def __call__(self, x: Array) -> Array:
        """A row for each row."""
        ones = np.zeros((len(x), self.widths[1]))
        rows, start = np.arange(len(x)), 0
        for (first, edges), (second, others) in self.parts():
            cell = np.searchsorted(edges, x[:, first])
            if second >= 0:
                cell = cell * (len(others) + 1) + np.searchsorted(others, x[:, second])
            ones[rows, start + cell] = 1
            start += (len(edges) + 1) * (len(others) + 1)
        return ones


Scaler = Affine | Standard | Stretch
"""Feature by feature, and linear: each has a `centre` and a `factor`."""
Transform = Scaler | Clip | Projection | Monomials | Kernel | Bins


def transformed(steps: list[Transform], x: Array) -> Array:
    """Rows after all steps.

    Raises:
        OutOfRangeError: a number that is not finite, before a step or after it: clips and bins
            would take infinities for numbers.

    """
    _check_finite(x)
    if not steps:
        return x
    # A plan of a few bytes may go through more features than there is memory for all samples.
    rows = max(1, _AT_ONCE // max(max(step.widths) for step in steps))
    found = np.empty((len(x), steps[-1].widths[1]))
    with np.errstate(all="ignore"):
        for first in range(0, len(x), rows):
            part = x[first : first + rows]
            for step in steps:
                part = step(part)
                _check_finite(part)
            found[first : first + rows] = part
    return found


def _check_finite(x: Array) -> None:
    if not np.isfinite(x).all():
        raise OutOfRangeError(
            "features that are no finite numbers, or become so; remove or impute them first"
        )


def limits(steps: list[Transform]) -> tuple[float, float] | None:
    """What features after all steps lie within whatever the samples are; None if that depends."""
    return (0.0, 1.0) if steps and isinstance(steps[-1], Bins) else None


def width(steps: list[Transform], inputs: int) -> int:
    """How many features come out of steps that take so many."""
    return steps[-1].widths[1] if steps else inputs


def described(steps: list[Transform]) -> list[dict[str, Any]]:
    """Steps for a document.

    Raises:
        ParameterError: more of them than a reader takes.

    """
    if len(steps) > _MOST:
        raise ParameterError(
            f"{len(steps)} transforms before a model, of {_MOST} at most; apply some before "
            f"hesc.ml sees the features"
        )
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
    if not isinstance(value, list) or len(value) > _MOST:
        raise WireError(f"the transforms of a plan are a list, of {_MOST} at most")
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
    "standard": (Standard, {"centre": 1, "scale": 1}),
    "stretch": (Stretch, {"factor": 1, "offset": 1}),
    "clip": (Clip, {"low": 1, "high": 1}),
    "projection": (Projection, {"centre": 1, "matrix": 2}),
    "monomials": (Monomials, {"factors": 2}),
    "kernel": (Kernel, {"components": 2, "matrix": 2, "options": 1}),
    "bins": (Bins, {"features": 2, "counts": 2, "edges": 1}),
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
        case Standard(centre, scale):
            fits = len(centre) == len(scale) and bool(scale.all())
        case Stretch(factor, offset):
            fits = len(factor) == len(offset) and bool(factor.all())
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
        case Bins():
            fits = _bins_fit(step)
    if not fits:
        raise WireError(f"the parts of a transform ({step.name}) do not fit together")


def _bins_fit(step: Bins) -> bool:
    """Whether blocks name features, and each has its edges, in order."""
    features, counts = step.features, step.counts
    pairs = features.shape[1] == 2 and counts.shape == features.shape and len(counts) <= _WIDEST
    if type(step.inputs) is not int or not 0 < step.inputs < 1 << 32 or not pairs:
        return False
    whole = bool((features == np.floor(features)).all() and (counts == np.floor(counts)).all())
    named = bool((features >= [0, -1]).all() and (features < step.inputs).all())
    within = bool(((counts >= 0) & (counts < _WIDEST)).all())
    if not (whole and named and within and counts.sum() == len(step.edges)):
        return False
    lone = (features[:, 1] >= 0) | (counts[:, 1] == 0)
    parts = [edges for block in step.parts() for _, edges in block]
    return bool(lone.all()) and all(bool((np.diff(edges) >= 0).all()) for edges in parts)

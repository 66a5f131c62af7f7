"""What a client does with its features before it encrypts them: public, and described here.

Each transform is data, which the compiled part computes (`hesc._native.Steps`): a client needs
neither scikit-learn nor code from the server. Who
has one reads everything in it: the means of a scaler, the axes of a PCA, and of Nystroem's kernel
**rows of the training data as they are**.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self

import numpy as np

from hesc._native import MOST_STEPS, ParameterError, Steps
from hesc._support import documents
from hesc._support.memory import make_room
from hesc.models.tables import table_documents
from hesc.models.tables.forms import SampleTable
from hesc.models.tables.table_steps import Branches, Codes, Fill, IsMissing, TableStep, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows

    Array = NDArray[np.float64]

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


@dataclass(frozen=True, eq=False)
class Clip(PerFeature):
    """Values brought within limits: `MinMaxScaler(clip=True)`."""

    name: ClassVar[str] = "clip"
    discloses: ClassVar[str] = "limits that features are brought within"
    low: Array
    high: Array


@dataclass(frozen=True, eq=False)
class Projection:
    """`(x - centre) @ matrix.T`: PCA."""

    name: ClassVar[str] = "projection"
    discloses: ClassVar[str] = "means and axes of projections, as of principal components"
    centre: Array
    matrix: Array

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.matrix.shape[1], self.matrix.shape[0]


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


@dataclass(frozen=True, eq=False)
class Exceeds:
    """A one for each edge that a feature exceeds, `x > e`, and zeros for its others.

    A feature that may be missing has one more, which is a one where it is; it exceeds nothing then.
    """

    name: ClassVar[str] = "exceeds"
    discloses: ClassVar[str] = (
        "the edges that features are compared with, which are thresholds of the model unless they "
        "were given"
    )
    inputs: int
    features: Array
    """The feature of each block."""
    counts: Array
    """How many edges each block has."""
    missing: Array
    """A one where it may be missing."""
    edges: Array
    """Edges of all blocks, one after the other, ascending in each."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, int(self.counts.sum() + self.missing.sum())


@dataclass(frozen=True, eq=False)
class Inside:
    """A one for each box that a row lies inside: all of whose conditions hold.

    A condition is on features that are ones and zeros: one of them is a one, or none is.
    """

    name: ClassVar[str] = "inside"
    discloses: ClassVar[str] = (
        "the model's trees but for what their leaves say: which features they compare where, and "
        "their shapes"
    )
    inputs: int
    conditions: Array
    """Conditions of each box."""
    negated: Array
    """A one where a condition asks for a one among its features."""
    terms: Array
    """Features of each condition."""
    columns: Array
    """Features of all conditions, one after the other."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, len(self.conditions)


Scaler = Affine | Standard | Stretch
"""Feature by feature, and linear: each has a `centre` and a `factor`."""
Transform = Scaler | Clip | Projection | Monomials | Kernel | Bins | Exceeds | Inside | TableStep


class Folded(NamedTuple):
    """Steps without scalers at their end, and weights that do what these did."""

    steps: list[Transform]
    weights: Array
    intercepts: Array


def folded(steps: Sequence[Transform], weights: Array, intercepts: Array) -> Folded:
    """Steps and a linear layer behind them that compute the same, with fewer steps.

    Args:
        steps: which a client computes. Scalers that end branches are folded, too.
        weights: a row for each output, a column for each feature after the steps.
        intercepts: one for each output.

    """
    left = list(steps)
    while left:
        last = left[-1]
        if isinstance(last, Scaler):
            left.pop()
            weights = weights * last.factor
            intercepts = intercepts - weights @ last.centre
        elif isinstance(last, Branches):
            left[-1], weights, intercepts = _of_branches(last, weights, intercepts)
            break
        else:
            break
    return Folded(left, weights, intercepts)


def _of_branches(
    step: Branches, weights: Array, intercepts: Array
) -> tuple[Branches, Array, Array]:
    ends = np.cumsum([branch.width for branch in step.branches])[:-1]
    branches, columns = [], []
    for branch, part in zip(step.branches, np.split(weights, ends, axis=1), strict=True):
        inner = folded(branch.steps, part, intercepts)
        branches.append(replace(branch, steps=tuple(inner.steps)))
        columns.append(inner.weights)
        intercepts = inner.intercepts
    return Branches(step.inputs, tuple(branches)), np.hstack(columns), intercepts


def compiled(steps: Sequence[Transform], inputs: int) -> Steps:
    """Steps as they are computed, checked.

    Raises:
        ParameterError, WireError: steps that no reader takes.

    """
    return Steps(json.dumps(described(steps)).encode(), inputs)


def transformed(steps: Sequence[Transform], x: Rows) -> Array:
    """Rows after all steps.

    Raises:
        OutOfRangeError: a number that is not finite, before a step or after it: clips and bins
            would take infinities for numbers; a cell that is missing, or of another kind, where
            steps do not take it.

    """
    return computed(compiled(steps, x.shape[1]), x)


def computed(steps: Steps, x: Rows) -> Array:
    """Rows after all of these steps; errors are those of `transformed`.

    Raises:
        MemoryError: there is no room for them, with what they take.

    """
    # What is computed is copied where parts of a table are put together.
    make_room(16 * len(x) * steps.width, f"{len(x)} rows of {steps.width} features, at once,")
    if not isinstance(x, SampleTable):
        return steps.transformed(np.ascontiguousarray(x), [])
    cells = (part.cells(steps.kinds) for part in x.parts())
    return np.vstack([steps.transformed(*part) for part in cells])


def read_tables(steps: Sequence[Transform]) -> bool:
    """Whether steps may read words, or cells that are missing."""
    return any(
        isinstance(step, Codes | Fill | IsMissing | Tokens)
        or (isinstance(step, Exceeds) and step.missing.any())
        for step in every(steps)
    )


def known_words(steps: Sequence[Transform], inputs: int) -> list[set[str]]:
    """The words that steps tell from others and from missing cells, for each column."""
    found: list[set[str]] = [set() for _ in range(inputs)]
    _add_words(steps, found)
    return found


def _add_words(steps: Sequence[Transform], columns: list[set[str]]) -> None:
    for step in steps:
        if isinstance(step, Branches):
            for branch in step.branches:
                _add_words(branch.steps, [columns[place] for place in branch.columns])
            return
        if isinstance(step, Codes):
            for words, coded in zip(columns, step.columns, strict=True):
                words.update(each for each in coded.categories if isinstance(each, str))
            return
        if not isinstance(step, Fill | IsMissing):
            return
        if isinstance(step.missing, str):
            for words in columns:
                words.add(step.missing)
        if isinstance(step, IsMissing):
            return


def columns_of(steps: Sequence[Transform], inputs: int, *, made: bool = False) -> list[int]:
    """The column that each feature is, but for missing cells and limits; -1 where it is none.

    Args:
        steps: which a client computes.
        inputs: columns.
        made: whether the column counts that a feature is a function of, too.

    """
    same = (Fill, Clip, PerFeature, Codes) if made else (Fill, Clip)
    found = list(range(inputs))
    for step in steps:
        if isinstance(step, Branches):
            found = [
                -1 if place < 0 else found[branch.columns[place]]
                for branch in step.branches
                for place in columns_of(branch.steps, len(branch.columns), made=made)
            ]
        elif not isinstance(step, same):
            return [-1] * width(steps, inputs)
    return found


def limits(steps: Sequence[Transform], inputs: int) -> tuple[Array, Array]:
    """What each feature lies within whatever the samples are; infinite where that depends."""
    return compiled(steps, inputs).limits()


def width(steps: Sequence[Transform], inputs: int) -> int:
    """How many features come out of steps that take so many."""
    return steps[-1].widths[1] if steps else inputs


def described(steps: Sequence[Transform]) -> list[dict[str, Any]]:
    """Steps for a document.

    Raises:
        ParameterError: more of them than a reader takes.

    """
    if (count := sum(1 for _ in every(steps))) > MOST_STEPS:
        raise ParameterError(
            f"{count} transforms before a model, of {MOST_STEPS} at most; apply some before "
            f"hesc.ml sees the features"
        )
    return [table_documents.written(step) for step in steps]


def every(steps: Sequence[Transform]) -> Iterator[Transform]:
    """All steps, and those inside branches."""
    for step in steps:
        yield step
        if isinstance(step, Branches):
            for branch in step.branches:
                yield from every(branch.steps)


def disclosed(steps: Sequence[Transform]) -> list[str]:
    """What who has these steps reads in them, each thing once."""
    return list(dict.fromkeys(step.discloses for step in every(steps)))


def read(value: object, inputs: int) -> tuple[list[Transform], int]:
    """Steps from a document that take so many features, and how many they give.

    Raises:
        WireError: steps that are none, or do not follow upon each other.

    """
    width = Steps(json.dumps(value).encode(), inputs).width
    items: Any = value
    return made(items), width


def made(items: Sequence[dict[str, Any]]) -> list[Transform]:
    """Steps of a document that the compiled part has read."""
    return [_made(item) for item in items]


def _made(item: dict[str, Any]) -> Transform:
    """A step of a document that was checked."""
    if item["step"] in table_documents.KINDS:
        return table_documents.made(item, _made)
    kind = _KINDS[item["step"]]
    parts: dict[str, Any] = {
        name: documents.unpacked(part, len(part["shape"]), name) if isinstance(part, dict) else part
        for name, part in item.items()
        if name != "step"
    }
    return kind(**parts)


_KINDS: Final[dict[str, type[Transform]]] = {
    kind.name: kind
    for kind in (
        Affine,
        Standard,
        Stretch,
        Clip,
        Projection,
        Monomials,
        Kernel,
        Bins,
        Exceeds,
        Inside,
    )
}

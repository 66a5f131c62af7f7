"""Steps of tables: what a client does with words, missing cells and columns before it encrypts.

Each is data, as in `hesc.models.transforms`, and says what who has it reads in it. Nothing here
computes: `hesc._native.Steps` does, of a plan's own bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Cell = float | str | None

MISSING: Final = "missing"
"""What `Codes` gives instead of a number where a cell stays without one."""


@dataclass(frozen=True, eq=False)
class Branch:
    """Some columns, and what becomes of them."""

    columns: tuple[int, ...]
    """In the order in which the branch takes them."""
    steps: tuple[Any, ...]
    """One after the other; none passes the columns on."""

    @property
    def width(self) -> int:
        """Features that come out."""
        return int(self.steps[-1].widths[1]) if self.steps else len(self.columns)


@dataclass(frozen=True, eq=False)
class Branches:
    """Columns that go separate ways, whose results lie side by side: `ColumnTransformer`."""

    name: ClassVar[str] = "branches"
    discloses: ClassVar[str] = "which columns are read, and how"
    inputs: int
    branches: tuple[Branch, ...]

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, sum(branch.width for branch in self.branches)


@dataclass(frozen=True, eq=False)
class Coded:
    """The categories of one column, and what each becomes."""

    categories: tuple[str, ...] | tuple[float, ...]
    """Texts, or numbers."""
    codes: Array
    """One for each."""
    unknown: float | str | None
    """What any other cell becomes: a number, `MISSING`, or None, which refuses it."""
    missing: float | str | None
    """What a cell without a value becomes, in the same way."""


@dataclass(frozen=True, eq=False)
class Codes:
    """Numbers for categories: `OrdinalEncoder`, and what comes before ones and tables."""

    name: ClassVar[str] = "codes"
    discloses: ClassVar[str] = "THE CATEGORIES OF THE TRAINING DATA, by column"
    columns: tuple[Coded, ...]

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return len(self.columns), len(self.columns)


@dataclass(frozen=True, eq=False)
class OneHot:
    """A one at the place that a code names, and zeros elsewhere: `OneHotEncoder`."""

    name: ClassVar[str] = "one_hot"
    discloses: ClassVar[str] = "how many categories columns have"
    sizes: tuple[int, ...]
    """Places, by column; a code that is none of them becomes zeros alone."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return len(self.sizes), sum(self.sizes)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Rows of tables that codes name: `TargetEncoder`."""

    name: ClassVar[str] = "lookup"
    discloses: ClassVar[str] = (
        "MEAN TARGETS OF THE TRAINING DATA BY CATEGORY, and the mean target of all rows"
    )
    tables: tuple[Array, ...]
    """One for each column, a row for each code."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return len(self.tables), sum(table.shape[1] for table in self.tables)


@dataclass(frozen=True, eq=False)
class Fill:
    """Values for cells that have none: `SimpleImputer`."""

    name: ClassVar[str] = "fill"
    discloses: ClassVar[str] = (
        "what stands for missing cells: means, medians or most frequent values of the training "
        "data, or constants"
    )
    values: tuple[float | str, ...]
    """One for each column."""
    missing: Cell
    """The cells that are filled: those that equal this, or with None those without a value."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return len(self.values), len(self.values)


@dataclass(frozen=True, eq=False)
class IsMissing:
    """A one for a cell that has no value, and a zero for others: `MissingIndicator`."""

    name: ClassVar[str] = "is_missing"
    discloses: ClassVar[str] = "in which columns missing cells count"
    inputs: int
    missing: Cell
    """The cells that count: those that equal this, or with None those without a value."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, self.inputs


@dataclass(frozen=True, eq=False)
class Function:
    """One function of each number: `FunctionTransformer`."""

    name: ClassVar[str] = "function"
    discloses: ClassVar[str] = "which functions are applied"
    inputs: int
    function: str
    """One of those that `crates/hesc-client/src/steps/functions.rs` names. `log_counts` of x is
    1 + ln x above zero, and zero of zero."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, self.inputs


@dataclass(frozen=True, eq=False)
class Power:
    """Powers that make features more normal: `PowerTransformer`, before it standardises."""

    name: ClassVar[str] = "power"
    discloses: ClassVar[str] = "exponents that were fitted to the training data"
    method: str
    """`yeo_johnson` or `box_cox`."""
    lambdas: Array

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return len(self.lambdas), len(self.lambdas)


@dataclass(frozen=True, eq=False)
class Quantiles:
    """The place of each number among quantiles: `QuantileTransformer`."""

    name: ClassVar[str] = "quantiles"
    discloses: ClassVar[str] = (
        "QUANTILES OF THE TRAINING DATA: of few rows they are all its values, column by column"
    )
    references: Array
    """Shares, from 0 to 1."""
    quantiles: Array
    """A row for each share, a column for each feature."""
    output: str
    """`uniform` or `normal`."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.quantiles.shape[1], self.quantiles.shape[1]


@dataclass(frozen=True, eq=False)
class Normalise:
    """Rows divided by their length: `Normalizer`."""

    name: ClassVar[str] = "normalise"
    discloses: ClassVar[str] = "that rows are brought to one length"
    inputs: int
    norm: str
    """`l1`, `l2` or `max`."""

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out."""
        return self.inputs, self.inputs


@dataclass(frozen=True, eq=False)
class Hashed:
    """Words that are counted by a hash, so that nobody has a list of them."""

    features: int
    alternate: bool
    """Whether half of all words count downwards."""


@dataclass(frozen=True, eq=False)
class Tokens:
    """Counts of the words of a text: `CountVectorizer`, `HashingVectorizer`."""

    name: ClassVar[str] = "tokens"
    lowercase: bool
    accents: str | None
    """`ascii` or `unicode`, how accents are stripped; None leaves them."""
    analyzer: str
    """`word`, `char` or `char_wb`."""
    letters: int
    """The fewest of a word: 1 or 2."""
    ngrams: tuple[int, int]
    """The fewest and the most words, or letters, that count as one."""
    stop_words: tuple[str, ...]
    vocabulary: tuple[str, ...] | None
    """What is counted, a feature each; None where hashes are."""
    hashed: Hashed | None
    binary: bool
    """Whether a word counts once."""

    @property
    def discloses(self) -> str:
        """What who has it reads in it."""
        if self.vocabulary is None:
            return "how words of texts are hashed"
        return "THE VOCABULARY OF THE TRAINING DATA: words of its texts"

    @property
    def widths(self) -> tuple[int, int]:
        """Features that go in and come out: of one column."""
        words = self.vocabulary
        return 1, (self.hashed.features if self.hashed else 0) if words is None else len(words)


TableStep = (
    Branches
    | Codes
    | OneHot
    | Lookup
    | Fill
    | IsMissing
    | Function
    | Power
    | Quantiles
    | Normalise
    | Tokens
)

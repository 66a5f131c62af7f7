"""Samples on their way to encryption, by shape, names and ranges; and what comes back of them."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import ShapeError
from hesc._support.callers import callers_level
from hesc._support.inputs import of_kind, real_array
from hesc.models.tables import forms
from hesc.models.tables.forms import SampleTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from hesc._native import Steps
    from hesc.models.tables.forms import Samples


FARTHEST: Final = 1e100
"""What no end of a range is beyond."""
_ROWS: Final = 1000
"""Rows that forms are compared on and agreement is predicted of."""
_NARROWEST: Final = 1e-100
"""What no range is narrower than that is no point."""


class ClippedWarning(UserWarning):
    """Values were brought within their ranges, so that predictions may be others."""


class Clipped(NamedTuple):
    """Features ready to be encrypted."""

    features: NDArray[np.float64]
    """After transforms, within the ranges."""
    values: int
    """How many were beyond, and were brought to the end of their range."""
    which: NDArray[np.bool_]
    """Samples that had such values."""

    @property
    def samples(self) -> int:
        """How many had such values."""
        return int(np.count_nonzero(self.which))


class Query(NamedTuple):
    """Encrypted samples."""

    data: bytes
    """For the server."""
    clipped: int
    """Values that were brought within their ranges, for the eyes of who encrypted."""
    clipped_samples: int
    """Samples that had such values."""


class Result(NamedTuple):
    """What an answer says, for the client's eyes: whoever it is shown to learns of the key."""

    predictions: NDArray[Any]
    """Classes, or a regressor's numbers."""
    scores: Any
    """Scores as scikit-learn's `decision_function` has them; None where an answer holds classes
    alone."""
    error: Any
    """The root mean square of the scores' errors, at most, as the plan states it; None where
    nothing errs."""


def prepared(
    samples: Samples,
    *,
    names: list[str],
    steps: Steps,
    ranges: tuple[NDArray[np.float64], NDArray[np.float64]],
    clip: bool,
) -> Clipped:
    """Rows of features after the client's transforms, within their declared ranges.

    Args:
        samples: a row of cells for each, as the model's owner has them; the columns of a
            DataFrame have these names.
        names: names of the columns, or none.
        steps: the transforms, of `transforms.compiled`.
        ranges: the least and greatest value of each feature after them.
        clip: bring values beyond the ranges to their ends instead of refusing them.

    Raises:
        OutOfRangeError: a value beyond its range, or a cell that the transforms do not take.
        ShapeError: rows of another length, columns of other names.

    """
    of_kind(clip, "clip", bool, "True and False say whether")
    check_names(samples, names)
    kinds = steps.kinds
    if forms.is_table(samples) or any(kind != "number" for kind in kinds):
        rows: Any = forms.read(samples)
    else:
        rows = real_array(samples, "samples")  # type: ignore[arg-type]  # no table
    if len(rows.shape) != 2 or rows.shape[1] != steps.inputs or not rows.shape[0]:
        raise ShapeError(f"samples are rows of {steps.inputs} features; got the shape {rows.shape}")
    numbers, words = rows.cells(kinds) if isinstance(rows, SampleTable) else (rows, [])
    return Clipped(*steps.prepared(numbers, words, names, *ranges, clip))


def are_ranges(low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Whether features may be within these: numbers that can be computed with, in their order."""
    if not (np.abs([low, high]) <= FARTHEST).all():
        return False
    return bool(((low == high) | (high - low >= _NARROWEST)).all())


def check_names(samples: Samples | None, names: list[str]) -> None:
    """Refuses a table whose columns are named otherwise than these, where there are names.

    Raises:
        ShapeError: other names, or another order.

    """
    columns = forms.names_of(samples)
    if columns is None or not names or columns == names:
        return
    raise ShapeError(
        f"columns are named otherwise than the plan's features, or in another order; select "
        f"them by plan.names, which begins with {names[:3]}"
    )


def warn_of_clipped(values: int, samples: int, rows: int) -> None:
    """Warns whoever called hesc that so many values, in so many samples of all, were clipped."""
    if values:
        warnings.warn(
            f"{values} values in {samples} of {rows} samples were brought within the plan's ranges",
            ClippedWarning,
            stacklevel=callers_level(),
        )


def on_copies(method: Callable[..., Any], *arrays: ArrayLike | SampleTable, **options: Any) -> Any:
    """What one of scikit-learn's methods says of rows, and of targets: always of copies.

    Estimators overwrite what they are given if their options say so (`copy=False`), and some keep
    it: what the caller gave stays as it was, and the caller's.
    """
    copies = [_copy(array) for array in arrays]
    if not any(isinstance(array, SampleTable) for array in arrays):
        return method(*copies, **options)
    # Errors about words and missing cells may repeat them.
    return quietly(method, *copies, **options)


def _copy(array: ArrayLike | SampleTable) -> Any:
    """A copy of what transformers give as well: arrays, sparse ones, and tables of pandas."""
    if isinstance(array, SampleTable):
        return array.given()
    given: Any = array
    return given.copy() if hasattr(array, "toarray") or hasattr(array, "iloc") else np.array(array)


MISSING: Final = (
    "Input X contains NaN: no feature may be missing, since a client encrypts a number for each. "
    "Impute them before hesc.ml sees the samples (SimpleImputer); of models of trees that take "
    "missing values themselves plan(X, Trees()) takes them, too"
)
"""What is said of missing cells where they are not taken."""
_TEXTS: Final = (
    "samples are numbers; some of these are texts: put a ColumnTransformer before the model, with "
    "a OneHotEncoder, say, for columns of words"
)
_QUOTING: Final = {
    "could not convert": _TEXTS,
    "Cannot cast object dtype": _TEXTS,
    "Found unknown categories": "a sample has a word, or a number, that is none of the categories "
    "of its column that the model knows, and the model refuses others: see handle_unknown= of its "
    "encoder",
    "Expected 2D": "samples are rows of features, and these are none. Reshape your data: "
    "array.reshape(1, -1) is one sample, array.reshape(-1, 1) are samples of one feature",
    "Input X contains NaN": MISSING,
    "Complex data": "Complex data not supported: samples are real numbers",
}
"""What scikit-learn's errors that repeat the data say, and what is said instead."""


def quietly(check: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """One of scikit-learn's checks, with errors that do not repeat the samples.

    Raises:
        ShapeError: what is no matrix of real numbers.
        ValueError: as the check.

    """
    try:
        return check(*args, **options)
    except ValueError as error:
        for begin, text in _QUOTING.items():
            if begin in str(error):
                raise ShapeError(text) from None
        raise


def spread_out(count: int) -> NDArray[np.intp]:
    """Places of a thousand rows among so many, or of all."""
    return np.unique(np.linspace(0, count - 1, _ROWS).astype(np.intp))

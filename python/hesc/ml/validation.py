"""Samples as estimators are given them: rows of numbers, or tables where a pipeline takes these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn import get_config
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import (
    check_consistent_length,
    has_fit_parameter,
    validate_data,
)

from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import not_masked
from hesc.models import extraction, steps
from hesc.models.boosters import fitted
from hesc.models.samples import quietly
from hesc.models.steps.walking import parts_of
from hesc.models.tables import forms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from hesc.models.tables.forms import Rows, SampleTable


def learned(
    private: Any, X: ArrayLike, y: ArrayLike | None, **checks: Any
) -> tuple[Rows, NDArray[Any] | None]:
    """Training data, checked; the estimator knows its columns from then on.

    Args:
        private: the estimator.
        X: samples.
        y: targets; None of an estimator that needs none.
        checks: of targets, as scikit-learn names them.

    Raises:
        ShapeError, ValueError: what is no table, or no targets.

    """
    _not_read_otherwise(private.estimator, X)
    if not _are_tables(private.estimator, X):
        _no_categories(private.estimator, X)
        found = quietly(
            validate_data,
            private,
            X,
            y,
            dtype=np.float64,
            ensure_all_finite=_finite(private.estimator),
            **checks,
        )
        return (found, None) if y is None else (found[0], found[1])
    table = _read(private.estimator, X)
    if y is not None or get_tags(private).target_tags.required:
        y = np.asarray(quietly(validate_data, private, y=y, **checks))
        check_consistent_length(y, np.empty(len(table)))
    quietly(validate_data, private, X, skip_check_array=True, ensure_2d=False)
    private.n_features_in_ = table.shape[1]
    return table, y


def known(private: Any, X: ArrayLike) -> Rows:
    """Samples of a fitted estimator, checked.

    Raises:
        ShapeError, ValueError: other columns than it was fitted to, or what is no table.

    """
    # scikit-learn would take what is hidden as it is.
    not_masked(X, "samples")
    _not_read_otherwise(private.estimator_, X)
    if not _are_tables(private.estimator_, X):
        _no_categories(private.estimator_, X)
        rows: NDArray[np.float64] = quietly(
            validate_data,
            private,
            X,
            reset=False,
            dtype=np.float64,
            ensure_all_finite=_finite(private.estimator_),
        )
        return rows
    table = _read(private.estimator_, X)
    if not isinstance(X, forms.SampleTable):
        quietly(validate_data, private, X, reset=False, skip_check_array=True, ensure_2d=False)
    if table.shape[1] != private.n_features_in_:
        raise ShapeError(
            f"X has {table.shape[1]} features, but {type(private).__name__} is expecting "
            f"{private.n_features_in_} features as input"
        )
    return table


def _finite(estimator: Any) -> bool | str:
    """What scikit-learn's checks call it that cells may be missing, or that none may."""
    return "allow-nan" if extraction.takes_missing(estimator) else True


def fit_options(estimator: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of an estimator's `fit`: weights of samples go where it takes them.

    Args:
        estimator: not fitted.
        given: arguments by name.

    Raises:
        ParameterError: weights of samples for an estimator that takes none.

    """
    options = dict(given)
    weights = options.pop(_WEIGHTS, None)
    if weights is None:
        return options
    # Where metadata are routed, estimators say themselves who is given them.
    name = _WEIGHTS if get_config()["enable_metadata_routing"] else _weights_of(estimator)
    if name is None:
        raise ParameterError(
            f"{_last(estimator)} takes no {_WEIGHTS} in fit: leave it out, or take an estimator "
            f"that does, such as LogisticRegression, Ridge or trees"
        )
    return options | {name: np.array(weights)}


_WEIGHTS: Final = "sample_weight"
_OF_LISTS: Final = (VotingClassifier, VotingRegressor, StackingClassifier, StackingRegressor)
"""What gives weights of samples to all estimators that it is made of."""


def _weights_of(estimator: Any) -> str | None:
    """The name of weights of samples in an estimator's `fit`; None of one that takes none."""
    if type(estimator) is Pipeline:
        name, last = estimator.steps[-1]
        inner = _weights_of(last)
        return None if inner is None else f"{name}__{inner}"
    if type(estimator).__name__.endswith("SearchCV"):
        return _weights_of(estimator.estimator)
    if type(estimator) is TransformedTargetRegressor and estimator.regressor is not None:
        return _weights_of(estimator.regressor)
    if type(estimator) in (TransformedTargetRegressor, *_OF_LISTS):
        parts = [part for _, part in getattr(estimator, "estimators", []) if part != "drop"]
        return _WEIGHTS if all(has_fit_parameter(part, _WEIGHTS) for part in parts) else None
    return _WEIGHTS if has_fit_parameter(estimator, _WEIGHTS) else None


def _last(estimator: Any) -> str:
    return type(parts_of(estimator)[-1]).__name__


def _not_read_otherwise(estimator: Any, X: ArrayLike) -> None:
    """Refuses samples that would be taken for other numbers than people mean.

    scikit-learn takes dates for numbers of days or seconds. Some estimators take what a sparse
    matrix does not store for something else than zeros, which clients read.

    Raises:
        ShapeError: dates; sparse rows of such an estimator.

    """
    forms.not_dates(*_dtypes(X))
    name = steps.skips_zeros(estimator) if forms.is_sparse(X) else None
    if name is not None:
        raise ShapeError(
            f"{name} takes cells that a sparse matrix does not store for something else than "
            f"zeros, and clients read zeros: give it rows, X.toarray()"
        )


def _no_categories(estimator: Any, X: Any) -> None:
    """Refuses columns of words that a boosting library would encode itself.

    Raises:
        ShapeError: naming a column and the model, with what would do.

    """
    name = _last(estimator)
    frame = hasattr(X, "iloc") and hasattr(X, "columns")
    if not (frame and fitted.is_boosted(parts_of(estimator)[-1])):
        return
    named = (str(label) for label, column in X.items() if _is_encoded(column))
    first = next(named, None)
    if first is None:
        return
    shown = repr(first[:_SHOWN])
    raise ShapeError(
        f"column {shown} holds words or categories, which {name} would encode itself, and a client "
        f"encrypts numbers that trees compare: put an encoder in front, "
        f"make_pipeline(make_column_transformer((OneHotEncoder(), [{shown}]), "
        f"remainder='passthrough'), {name}(...)); of many categories TargetEncoder()"
    )


def _is_encoded(column: Any) -> bool:
    """Whether a column of a table of pandas has categories, or words."""
    if str(column.dtype) == "object":
        return any(isinstance(cell, str) for cell in column)
    return str(column.dtype) in {"category", "string", "str"}


_SHOWN: Final = 80
"""Letters of a column's name that errors repeat."""


def _dtypes(X: Any) -> list[np.dtype[Any]]:
    """Types of numpy of an array, or of the columns of a table of pandas."""
    if hasattr(X, "dtypes") and hasattr(X, "iloc"):
        found = X.dtypes
        listed = list(found) if hasattr(found, "__iter__") else [found]
    else:
        listed = [getattr(X, "dtype", None)]
    return [each for each in listed if isinstance(each, np.dtype)]


def _are_tables(estimator: Any, X: Any) -> bool:
    if isinstance(X, forms.SampleTable) or extraction.takes_tables(estimator):
        return True
    parts = parts_of(estimator)
    if len(parts) == 1 and extraction.encodes_by_type(parts[0]) and not hasattr(parts[0], _FITTED):
        return hasattr(X, "iloc") and any(str(dtype) == "category" for dtype in X.dtypes)
    return forms.is_sparse(X) and bool(get_tags(estimator).input_tags.sparse)


_FITTED: Final = "is_categorical_"
"""What a fitted model of histograms knows of its columns."""


def _read(estimator: Any, X: ArrayLike) -> SampleTable:
    if steps.begins_with_texts(estimator):
        return forms.texts(X)
    return forms.read(X)

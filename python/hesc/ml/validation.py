"""Samples as estimators are given them: rows of numbers, or tables where a pipeline takes these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, validate_data

from hesc._native import ShapeError
from hesc._support.inputs import not_masked
from hesc.models import steps
from hesc.models.samples import quietly
from hesc.models.tables import forms

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.models.tables.forms import Rows, SampleTable


def learned(private: Any, X: ArrayLike, y: ArrayLike, **checks: Any) -> tuple[Rows, NDArray[Any]]:
    """Training data, checked; the estimator knows its columns from then on.

    Args:
        private: the estimator.
        X: samples.
        y: targets.
        checks: of targets, as scikit-learn names them.

    Raises:
        ShapeError, ValueError: what is no table, or no targets.

    """
    _not_read_otherwise(private.estimator, X)
    if not _are_tables(private.estimator, X):
        found = quietly(validate_data, private, X, y, dtype=np.float64, **checks)
        return found[0], found[1]
    table = _read(private.estimator, X)
    y = quietly(validate_data, private, y=y, **checks)
    check_consistent_length(y, np.empty(len(table)))
    quietly(validate_data, private, X, skip_check_array=True, ensure_2d=False)
    private.n_features_in_ = table.shape[1]
    return table, np.asarray(y)


def known(private: Any, X: ArrayLike) -> Rows:
    """Samples of a fitted estimator, checked.

    Raises:
        ShapeError, ValueError: other columns than it was fitted to, or what is no table.

    """
    # scikit-learn would take what is hidden as it is.
    not_masked(X, "samples")
    _not_read_otherwise(private.estimator_, X)
    if not _are_tables(private.estimator_, X):
        rows: NDArray[np.float64] = quietly(
            validate_data, private, X, reset=False, dtype=np.float64
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


def _dtypes(X: Any) -> list[np.dtype[Any]]:
    """Types of numpy of an array, or of the columns of a table of pandas."""
    if hasattr(X, "dtypes") and hasattr(X, "iloc"):
        found = X.dtypes
        listed = list(found) if hasattr(found, "__iter__") else [found]
    else:
        listed = [getattr(X, "dtype", None)]
    return [each for each in listed if isinstance(each, np.dtype)]


def _are_tables(estimator: Any, X: ArrayLike) -> bool:
    if isinstance(X, forms.SampleTable) or steps.takes_tables(estimator):
        return True
    return forms.is_sparse(X) and bool(get_tags(estimator).input_tags.sparse)


def _read(estimator: Any, X: ArrayLike) -> SampleTable:
    if steps.begins_with_texts(estimator):
        return forms.texts(X)
    return forms.read(X)

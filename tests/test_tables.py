"""Tables of pandas and polars go where arrays go: into fits, plans and encrypted predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hesc.ml import PrivateClassifier, PrivateRegressor

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
X, Y = load_iris(return_X_y=True)


def _pandas(rows: Any) -> Any:
    return pd.DataFrame(rows, columns=NAMES)


def _polars(rows: Any) -> Any:
    return pl.DataFrame(dict(zip(NAMES, rows.T, strict=True)))


@pytest.mark.parametrize("table", [_pandas, _polars])
def test_tables_are_classified_as_arrays_are(table: Callable[[Any], Any]) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression())
    private = PrivateClassifier(model).fit(table(X), Y)
    private.plan(table(X))
    encrypted = private.predict(table(X[::15]), fhe="execute")
    assert np.array_equal(encrypted, private.predict(table(X[::15])))
    assert list(private.feature_names_in_) == NAMES


@pytest.mark.parametrize("table", [_pandas, _polars])
def test_tables_are_regressed_as_arrays_are(table: Callable[[Any], Any]) -> None:
    private = PrivateRegressor(LinearRegression()).fit(table(X[:, :4]), X[:, 3])
    plan = private.plan(table(X))
    encrypted = private.predict(table(X[::15]), fhe="execute")
    assert np.abs(encrypted - X[::15, 3]).max() < 0.1, plan

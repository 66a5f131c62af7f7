"""Saved models of XGBoost, LightGBM and CatBoost, for samples that the server never sees.

    private = load_booster("model.json")
    print(private.plan(X, Scores(bins="thresholds")))

The library that wrote a file is not needed: a file is read as numbers, and nothing in it runs.
Classifiers and regressors of these libraries are taken by `PrivateClassifier` and
`PrivateRegressor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hesc.models.boosters import read
from hesc.models.given import GivenClassifier, GivenRegressor

if TYPE_CHECKING:
    from pathlib import Path

    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor

__all__ = ["load_booster"]


def load_booster(
    source: str | Path | bytes | Any, *, verify: bool | None = None
) -> PrivateClassifier | PrivateRegressor:
    """The model of a saved file, or of a booster, ready to be planned.

    Arguments and errors are those of `hesc.models.boosters.read`. Classes are numbers from zero on
    where a file has no names of them, as XGBoost's and LightGBM's have none. `predict` in the clear
    is numpy's, in double precision.
    """
    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor

    model = read(source, verify=verify)
    if model.classes is None:
        return PrivateRegressor.from_fitted(GivenRegressor(model))
    return PrivateClassifier.from_fitted(GivenClassifier(model))

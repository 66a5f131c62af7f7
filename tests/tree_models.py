"""Models of trees, fitted and planned, as several tests take them."""

from __future__ import annotations

from typing import Any

from hesc.ml import PrivateClassifier, PrivateRegressor, Trees


def planned_trees(model: Any, x: Any, y: Any, **options: Any) -> Any:
    """The private estimator of a model, fitted and planned on these rows, with options of trees."""
    private = PrivateClassifier if hasattr(model, "predict_proba") else PrivateRegressor
    made = private(model).fit(x, y)
    made.plan(x, Trees(**options), table=False)
    return made

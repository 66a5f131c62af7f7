"""Tree ensembles as arrays, against scikit-learn's own scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import ensemble, tree
from sklearn.datasets import load_diabetes, load_iris

import hesc
from hesc.models.trees import FAMILIES, TreeEnsemble, double_thresholds

FLOWERS = load_iris(return_X_y=True)
PATIENTS = load_diabetes(return_X_y=True)


def model_of(name: str, *, two: bool = False) -> tuple[Any, Any, Any]:
    """A fitted model of this class, its data and their scores by scikit-learn."""
    kind = getattr(ensemble, name, None) or getattr(tree, name)
    sizes = {"max_iter": 12} if "Hist" in name else {"n_estimators": 12}
    model = kind(random_state=0, **({} if "Decision" in name else sizes))
    if name.endswith("Regressor"):
        x, y = PATIENTS
        return (fitted := model.fit(x, y)), x, fitted.predict(x)[:, None]
    x, y = FLOWERS
    if two:
        x, y = x[50:], y[50:]
    model.fit(x, y)
    if name == "IsolationForest":
        return model, x, np.log2(model.score_samples(x) / model.offset_)[:, None]
    if "Boost" in name:
        return model, x, model.decision_function(x).reshape(len(x), -1)
    shares = model.predict_proba(x)
    return model, x, shares[:, 1:] - 0.5 if two else shares


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("two", [False, True])
def test_scores_are_scikit_learn_s(name: str, two: bool) -> None:
    model, x, expected = model_of(name, two=two)
    found = TreeEnsemble.from_sklearn(model)
    scores = found.scores(x)
    assert scores == pytest.approx(expected, rel=1e-12, abs=1e-12)
    if name.endswith("Classifier"):
        best = (scores[:, 0] > 0) if two else scores.argmax(axis=1)
        assert np.array_equal(model.classes_[np.asarray(best, dtype=int)], model.predict(x))
    assert found.depths().max() >= (1 if name.startswith("Ada") else 2)


def test_boosted_scores_are_scikit_learns_to_the_last_bit() -> None:
    """Leaves are added up in the order of the trees."""
    rng = np.random.default_rng(0)
    x, target = rng.normal(size=(200, 3)), rng.normal(size=200)
    for model in (
        ensemble.GradientBoostingRegressor(n_estimators=20, random_state=0),
        ensemble.HistGradientBoostingRegressor(max_iter=3),
    ):
        found = TreeEnsemble.from_sklearn(model.fit(x, target)).scores(x)
        assert np.array_equal(found[:, 0], model.predict(x))


def test_at_thresholds_and_beside_them() -> None:
    """Doubles about each threshold go where scikit-learn, which rounds them, sends them."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 3))
    model = tree.DecisionTreeRegressor(random_state=0).fit(x, rng.normal(size=300))
    found = TreeEnsemble.from_sklearn(model)
    inside = ~found.leaves
    close = []
    for feature, threshold in zip(found.features[inside], found.thresholds[inside], strict=True):
        for number in (
            threshold,
            np.nextafter(threshold, np.inf),
            np.float64(np.float32(threshold)),
        ):
            row = x[rng.integers(300)].copy()
            row[feature] = number
            close.append(row)
    assert np.array_equal(found.scores(close)[:, 0], model.predict(np.array(close)))


@given(st.floats(-1e39, 1e39), st.integers(-3, 3))
def test_a_threshold_in_double_precision_is_where_rounding_turns(t: float, steps: int) -> None:
    threshold = float(double_thresholds([t])[0])
    x = threshold
    for _ in range(abs(steps)):
        x = float(np.nextafter(x, np.inf if steps > 0 else -np.inf))
    with np.errstate(over="ignore"):
        rounded = np.float64(x).astype(np.float32)
    # As Python's numbers: numpy would round the threshold too.
    assert (float(rounded) <= t) == (x <= threshold)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"left": [0, -1, -1]}, hesc.ParameterError),
        ({"left": [2, -1, -1]}, hesc.ParameterError),
        ({"right": [3, -1, -1]}, hesc.ParameterError),
        ({"roots": [0, 1]}, hesc.ParameterError),
        ({"features": [2, -1, -1]}, hesc.OutOfRangeError),
        ({"thresholds": [np.nan, 0.0, 0.0]}, hesc.OutOfRangeError),
        ({"thresholds": [0.5]}, hesc.ShapeError),
        ({"offset": [0.0, 0.0]}, hesc.ShapeError),
        ({"roots": []}, hesc.ShapeError),
    ],
)
def test_what_is_no_tree(change: dict[str, Any], error: type[Exception]) -> None:
    parts: dict[str, Any] = {
        "roots": [0],
        "features": [0, -1, -1],
        "thresholds": [0.5, 0.0, 0.0],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "values": [[0.0], [1.0], [2.0]],
        "offset": [0.0],
    }
    whole = {"roots", "features", "left", "right"}

    def made(parts: dict[str, Any]) -> TreeEnsemble:
        arrays: dict[str, Any] = {
            name: np.array(value, dtype=np.int64 if name in whole else np.float64)
            for name, value in parts.items()
        }
        return TreeEnsemble(inputs=2, **arrays)

    assert made(parts).scores([[0.5, 9.0], [0.6, 9.0]]).tolist() == [[1.0], [2.0]]
    with pytest.raises(error):
        made(parts | change)


def test_samples_that_are_none() -> None:
    found = TreeEnsemble.from_sklearn(model_of("DecisionTreeClassifier")[0])
    boosted = TreeEnsemble.from_sklearn(model_of("GradientBoostingClassifier")[0])
    for trees, number in ((found, np.inf), (boosted, np.nan)):
        with pytest.raises(hesc.OutOfRangeError):
            trees.scores([[0.0, number, 0.0, 0.0]])
    with pytest.raises(hesc.ShapeError):
        found.scores([[0.0, 1.0]])


def test_models_that_are_refused() -> None:
    x, y = PATIENTS
    for model, words in [
        (ensemble.BaggingRegressor(), "BaggingRegressor is not read"),
        (ensemble.GradientBoostingRegressor(init=tree.DecisionTreeRegressor()), "init=None"),
        (tree.DecisionTreeRegressor(), "several targets"),
    ]:
        targets = np.column_stack([y, y]) if words == "several targets" else y
        with pytest.raises(hesc.ParameterError, match=words):
            TreeEnsemble.from_sklearn(model.fit(x, targets))

"""Missing cells and categories of models of trees, against the libraries that compute them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble, tree
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

import hesc
from hesc.ml import (
    Classes,
    Outsourced,
    PrivateClassifier,
    PrivateRegressor,
    Scores,
    Trees,
    load_booster,
    load_onnx,
)
from hesc.models import extraction, transforms
from hesc.models.trees import NEVER, TreeEnsemble
from hesc.protocols.trees import boxes, feature_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROWS: Final = 250
ODD: Final = (-1.0, -0.5, -1e-60, -0.0, 2.7, 5.99999999999, 4 + 1e-12, 99.0, 1e9)
"""What no category is, or only by its whole part."""
SKLEARN: Final = (
    "HistGradientBoosting",
    "DecisionTree",
    "RandomForest",
    "ExtraTrees",
)


def made(name: str, kind: str, rng: Any, **options: Any) -> Any:
    """A small model with random options, by the beginning of its class's name."""
    rounds = int(rng.integers(2, 6))
    deep = int(rng.integers(3, 6))
    if name in SKLEARN:
        found = getattr(ensemble, name + kind, None) or getattr(tree, name + kind)
        size = {} if name == "DecisionTree" else {"n_estimators": rounds}
        size = {"max_iter": rounds, "min_samples_leaf": 5} if "Hist" in name else size
        return found(max_depth=deep, random_state=0, **size, **options)
    modules = {"XGB": "xgboost", "LGBM": "lightgbm", "CatBoost": "catboost"}
    module = importlib.import_module(modules[name])
    options |= {"n_estimators": rounds, "max_depth": deep}
    if name == "XGB":
        options |= {"n_jobs": 1, "tree_method": ("hist", "approx")[rng.integers(2)]}
    elif name == "LGBM":
        options |= {"n_jobs": 1, "verbose": -1, "min_child_samples": 5, "min_data_per_group": 5}
    else:
        options |= {"thread_count": 1, "verbose": 0, "allow_writing_files": False}
    return getattr(module, name + kind)(**options)


def data(rng: Any, *, holes: bool, coded: bool = False) -> tuple[Array, Array]:
    """Rows of four features, and a number that depends on which cells are missing."""
    x = rng.normal(size=(ROWS, 4)).round(1)
    if coded:
        x[:, 1] = rng.integers(0, 9, ROWS)
        x[:, 3] = 2 * rng.integers(0, 30, ROWS)
    y = x[:, 0] + np.where(np.isin(x[:, 1], [1, 4, 6]), 2, 0) + np.sin(x[:, 2])
    y += np.where(np.isin(x[:, 3], [6, 10, 30, 40]), 1.5, 0)
    if holes:
        x[:, :2][rng.random((ROWS, 2)) < 0.2] = np.nan
        y += 2 * np.isnan(x[:, 0]) - np.isnan(x[:, 1])
    return x, y


def at_thresholds(trees: TreeEnsemble, x: Array, rng: Any) -> Array:
    """Rows that have a feature at a threshold or at an end of a set, or at the next number."""
    nodes = np.flatnonzero(~trees.leaves)
    if not len(nodes):
        return x
    rows = x[rng.integers(0, len(x), ROWS)].copy()
    for row, node in zip(rows, rng.choice(nodes, ROWS), strict=True):
        feature, number = trees.features[node], trees.thresholds[node]
        if not trees.compares[node]:
            ends = trees.sets.ends[int(feature)]
            number = ends[rng.integers(len(ends))]
        number = number if number < 1e30 else 0.0
        row[feature] = np.nextafter(number, np.inf) if rng.integers(2) else number
    return np.asarray(rows)


def served(private: Any, x: Array, rng: Any, *more: Array) -> TreeEnsemble:
    """Holds a fitted model's plan against its library, on rows and at thresholds."""
    plan = private.plan(x, Trees())
    trees = extraction.trees_of(extraction.parts_of(private.estimator_)[-1])
    rows = np.concatenate([x, at_thresholds(trees, x, rng), *more])
    clear = private._clear_scores(rows)
    run = private.run(rows, fhe="simulate")
    scores = np.asarray(run.scores).reshape(len(rows), -1)
    # XGBoost adds in float32.
    doubt = 2e-5 if "XGB" in type(private.estimator_).__name__ else 1e-9
    assert np.abs(scores - clear).max() <= plan.error + doubt
    own = private.predict(rows)
    if is_classifier(private):
        ordered = np.sort(np.column_stack([clear, 0 * clear]) if clear.shape[1] == 1 else clear)
        sure = ordered[:, -1] - ordered[:, -2] > 2 * (plan.error + doubt)
        assert np.array_equal(run.predictions[sure], own[sure])
        assert sure.mean() > 0.5 or plan.link == "shares"
    else:
        assert run.predictions == pytest.approx(own, abs=plan.error + 2 * doubt)
    some = np.concatenate([rows[:2], rows[-2:]])
    executed = private.run(some, fhe="execute", progress=False)
    whole = np.asarray(run.scores)
    assert np.array_equal(executed.scores, np.concatenate([whole[:2], whole[-2:]]))
    return trees


# Missing values


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", [*SKLEARN, "XGB", "LGBM", "CatBoost"])
def test_missing_cells_go_where_the_library_sends_them(name: str, seed: int, kind: str) -> None:
    if name not in SKLEARN:
        pytest.importorskip({"XGB": "xgboost", "LGBM": "lightgbm", "CatBoost": "catboost"}[name])
    rng = np.random.default_rng([seed, len(name)])
    x, y = data(rng, holes=True)
    options: dict[str, Any] = {}
    if name == "CatBoost":
        options = {"nan_mode": ("Min", "Max")[seed % 2]}
    elif name == "LGBM":
        options = {"use_missing": seed % 2 == 0}
    model = made(name, kind, rng, **options)
    if kind == "Classifier":
        private: Any = PrivateClassifier(model).fit(x, np.digitize(y, [0, 2][: 1 + seed % 2]))
    else:
        private = PrivateRegressor(model).fit(x, y)
    assert served(private, x, rng).takes_missing


def test_splits_between_missing_cells_and_all_others() -> None:
    """Such a threshold is infinite: no number exceeds it."""
    x = np.where(np.arange(80)[:, None] % 2, np.nan, 1.0)
    y = np.isnan(x[:, 0]).astype(float)
    models: list[Any] = [
        tree.DecisionTreeRegressor(),
        ensemble.HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=2),
    ]
    for model in models:
        private = PrivateRegressor(model).fit(x, y)
        trees = served(private, x, np.random.default_rng(0))
        assert trees.thresholds.max() == NEVER
        assert private.plan(x, Trees()).forest.edges == 2
        with pytest.raises(hesc.ParameterError, match="compare nothing"):
            private.plan(x[::2], Trees())


def test_a_bit_stands_for_missing_cells_of_the_rows_planned_with_alone() -> None:
    rng = np.random.default_rng(1)
    x, y = data(rng, holes=True)
    table = pd.DataFrame(x, columns=["age", "debt", "income", "years"])
    private = PrivateRegressor(ensemble.HistGradientBoostingRegressor(max_iter=3)).fit(table, y)
    there = table[~np.isnan(x[:, 1])]
    plan = private.plan(there, Trees())
    full = private.plan(table, Trees())
    assert full.forest.edges == plan.forest.edges + 1
    rows = plan.disclosure().rows
    assert "in which columns cells may be missing" in rows["missing"]
    assert "'age'" in rows["missing"]
    assert "'debt'" not in rows["missing"]
    assert "missing" not in private.plan(table.dropna(), Trees()).disclosure().rows
    private.plan(there, Trees())
    with pytest.raises(hesc.OutOfRangeError, match="column 'debt' has no value"):
        private.run(table, fhe="simulate")
    with pytest.raises(hesc.OutOfRangeError, match="column 'debt' has no value"):
        private.client().encrypt(table)


def test_missing_cells_by_every_name() -> None:
    """None, NaN and NA of nullable columns."""
    x, y = data(np.random.default_rng(2), holes=True, coded=True)
    floats = pd.DataFrame(x, columns=["a", "k", "b", "l"])
    tables = (
        floats,
        floats.astype({"a": "Float64", "k": "Int64"}),
        floats.astype(object).where(floats.notna(), None),
    )
    scores = []
    for table in tables:
        model = ensemble.HistGradientBoostingRegressor(max_iter=3, categorical_features=[1])
        private = PrivateRegressor(model).fit(table, y)
        private.plan(table, Trees())
        run = private.run(table, fhe="simulate")
        client = private.client()
        server = private.server(keys=client.public_keys())
        answer = client.decrypt(server.answer(client.encrypt(table[:3]).data))
        assert np.array_equal(answer.scores, run.scores[:3])
        scores.append(run.scores)
    assert np.array_equal(scores[0], scores[1])
    assert np.array_equal(scores[0], scores[2])


def test_transforms_before_trees_pass_missing_cells_on() -> None:
    rng = np.random.default_rng(3)
    x, y = data(rng, holes=True)
    model = make_pipeline(StandardScaler(), tree.DecisionTreeRegressor(max_depth=4))
    private = PrivateRegressor(model).fit(x, y)
    plan = private.plan(x, Trees())
    run = private.run(x, fhe="simulate")
    assert run.scores == pytest.approx(private.predict(x), abs=plan.error)


def test_other_plans_refuse_missing_cells() -> None:
    x, y = data(np.random.default_rng(4), holes=True)
    there = x[~np.isnan(x).any(axis=1)]
    private = PrivateClassifier(ensemble.HistGradientBoostingClassifier(max_iter=3, max_depth=1))
    private.fit(x, (y > 1).astype(int))
    for options in (Scores(), Scores(refit="additive"), Classes(), Outsourced()):
        with pytest.raises(ValueError, match=r"no feature may be missing.*SimpleImputer.*Trees"):
            private.plan(x, options)
    private.plan(there, Scores(bins="thresholds"))
    with pytest.raises(ValueError, match="no feature may be missing"):
        private.run(x, fhe="simulate")
    private.plan(x)
    # Whoever asks for the best plan has the one that takes them.
    assert private.plan(x, objective="bytes").protocol == "trees"
    for model in (Ridge(), ensemble.GradientBoostingRegressor()):
        with pytest.raises(ValueError, match="no feature may be missing"):
            PrivateRegressor(model).fit(x, y)
    with pytest.raises(ValueError, match="infinity"):
        private.predict(np.where(np.isnan(x), np.inf, x))


@pytest.mark.parametrize("tracked", [0, 1])
@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
def test_missing_cells_of_onnx_files(mode: str, tracked: int) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    from onnx import TensorProto, helper

    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        nodes_treeids=[0] * 5,
        nodes_nodeids=[0, 1, 2, 3, 4],
        nodes_featureids=[0, 1, 0, 0, 0],
        nodes_values=[0.5, -0.5, 0.0, 0.0, 0.0],
        nodes_modes=[mode, "BRANCH_LT", "LEAF", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 3, 0, 0, 0],
        nodes_falsenodeids=[2, 4, 0, 0, 0],
        nodes_missing_value_tracks_true=[tracked, 1, 0, 0, 0],
        target_treeids=[0, 0, 0],
        target_nodeids=[2, 3, 4],
        target_ids=[0, 0, 0],
        target_weights=[1.0, 2.0, 4.0],
        n_targets=1,
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 2])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 1])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    graph = helper.make_graph([node], "g", [x], [y])
    file = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    cells = [-1.0, -0.5, 0.5, 1.0, np.nan]
    rows = np.array([[a, b] for a in cells for b in cells])
    session = runtime.InferenceSession(file, providers=["CPUExecutionProvider"])
    expected = session.run(None, {"x": rows.astype(np.float32)})[0][:, 0]
    private: Any = load_onnx(file)
    assert np.array_equal(private.predict(rows), expected)
    private.plan(rows, Trees())
    assert np.array_equal(private.predict(rows, fhe="simulate"), expected)


# Categories


def coded(name: str, kind: str, rng: Any, *, singly: bool) -> tuple[Any, dict[str, Any]]:
    """A model of categories in the second and the last feature, and arguments of its fit."""
    if name == "XGB":
        options: dict[str, Any] = {"enable_categorical": True, "feature_types": list("qcqc")}
        options |= {"max_cat_to_onehot": 100} if singly else {}
        return made(name, kind, rng, **options), {}
    if name == "LGBM":
        options = {"max_cat_to_onehot": 100} if singly else {}
        return made(name, kind, rng, **options), {"categorical_feature": [1, 3]}
    return made(name, kind, rng, categorical_features=[3, 1]), {}


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["HistGradientBoosting", "XGB", "LGBM"])
def test_categories_go_where_the_library_sends_them(
    name: str, seed: int, holes: bool, kind: str
) -> None:
    """Those that are not known, that are negative, and those with fractions too."""
    if name not in SKLEARN:
        pytest.importorskip({"XGB": "xgboost", "LGBM": "lightgbm"}[name])
    rng = np.random.default_rng([seed, len(name), holes])
    x, y = data(rng, holes=holes, coded=True)
    model, fit = coded(name, kind, rng, singly=seed % 2 == 0)
    if kind == "Classifier":
        private: Any = PrivateClassifier(model).fit(
            x, np.digitize(y, [1, 3][: 1 + seed % 2]), **fit
        )
    else:
        private = PrivateRegressor(model).fit(x, y, **fit)
    odd = x[rng.integers(0, ROWS, 100)].copy()
    odd[:, 1], odd[50:, 3] = rng.choice(ODD, 100), rng.choice(ODD, 50)
    assert served(private, x, rng, odd).has_sets


def test_a_set_is_one_condition_and_a_category_one_bit() -> None:
    x, y = data(np.random.default_rng(5), holes=False, coded=True)
    model = ensemble.HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=2, categorical_features=[1]
    )
    private = PrivateRegressor(model).fit(x[:, :2] * [0, 1], y - x[:, 0])
    plan = private.plan(x[:, :2] * [0, 1], Trees())
    trees = extraction.trees_of(private.estimator_)
    assert plan.forest.edges == trees.set_sizes.max() == len(trees.set_high)
    assert plan.forest.most_conditions == 1
    assert "column 1" in plan.disclosure().rows["categories"]
    again = type(plan).from_bytes(plan.to_bytes())
    assert again.disclosure().rows["categories"] == plan.disclosure().rows["categories"]


def test_categories_that_are_missing_have_a_bit_where_they_go_apart() -> None:
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(6)
    x, _ = data(rng, holes=False, coded=True)
    x = x[:, :2] * [0, 1]
    inside = np.isin(x[:, 1], [1, 4, 6])
    x[rng.random(ROWS) < 0.3, 1] = np.nan
    for side in (0.0, 1.0):
        # Missing cells are like those of the set, or like all others.
        y = np.where(np.isnan(x[:, 1]), side, inside)
        options = {"enable_categorical": True, "feature_types": ["q", "c"], "n_estimators": 1}
        private = PrivateRegressor(xgboost.XGBRegressor(max_depth=1, **options)).fit(x, y)
        trees = served(private, x, rng)
        apart = bool((trees.missing_left & ~trees.compares).any())
        edges = private.plan(x, Trees()).forest.edges
        assert edges == len(trees.set_high) + apart
        private.plan(x[~np.isnan(x).any(axis=1)], Trees())
        with pytest.raises(hesc.OutOfRangeError, match="has no value"):
            private.run(x, fhe="simulate")


def test_words_are_encoded_before_trees_that_compare_their_codes() -> None:
    x, y = data(np.random.default_rng(7), holes=True, coded=True)
    table = pd.DataFrame({"a": x[:, 0], "k": np.array(list("abcdefghi"))[x[:, 3].astype(int) // 8]})
    table.loc[3:9, "k"] = None
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    model = make_pipeline(
        make_column_transformer((encoder, ["k"]), remainder="passthrough"),
        ensemble.HistGradientBoostingRegressor(max_iter=4, categorical_features=[0]),
    )
    private = PrivateRegressor(model).fit(table, y)
    plan = private.plan(table, Trees())
    other = table.copy()
    other.loc[20:40, "k"] = "z"
    run = private.run(other, fhe="simulate")
    assert run.scores == pytest.approx(private.predict(other), abs=plan.error)
    executed = private.run(other[:30:5], progress=False)
    assert np.array_equal(executed.scores, run.scores[:30:5])


@pytest.mark.parametrize("cells", ["words", "numbers"])
@pytest.mark.parametrize("named", [False, True])
def test_models_of_histograms_encode_columns_by_their_types_and_names(
    cells: str, named: bool
) -> None:
    """Fitted here or elsewhere; what is not known goes where missing cells go."""
    x, y = data(np.random.default_rng(11), holes=True, coded=True)
    words = np.array(list("abcdefghi"))[np.nan_to_num(x[:, 1]).astype(int)].astype(object)
    column = np.where(np.isnan(x[:, 1]), None, words) if cells == "words" else x[:, 1]
    table = pd.DataFrame({"a": x[:, 0], "k": pd.Categorical(column), "b": x[:, 2]})
    other = table.copy()
    other["k"] = pd.Categorical(["zz" if cells == "words" else 77.5] * ROWS)
    options: dict[str, Any] = {"categorical_features": ["k"]} if named else {}
    model = ensemble.HistGradientBoostingClassifier(max_iter=3, **options)
    labels = np.digitize(y, [0, 2])
    here = PrivateClassifier(model).fit(table, labels)
    elsewhere = PrivateClassifier.from_fitted(model.fit(table, labels))
    for private in (here, elsewhere):
        plan = private.plan(table, Trees())
        assert plan.names == ["a", "k", "b"]
        rows = plan.disclosure().rows
        assert "column 'k';" in rows["categories"]
        assert "column 'a'" in rows["missing"]
        for each in (table, other):
            scores = private.run(each, fhe="simulate").scores
            assert scores == pytest.approx(private.decision_function(each), abs=plan.error)
            some = private.run(each[:3], progress=False)
            assert np.array_equal(some.scores, scores[:3])
        assert np.array_equal(private.predict(table, fhe="simulate"), private.predict(table))
        assert np.array_equal(private.predict(table), model.predict(table))
        with pytest.raises(hesc.ParameterError, match=r"Trees\(\).*OneHotEncoder"):
            private.plan(table.dropna(), Scores(bins="thresholds"))


def test_saved_models_are_served_with_missing_cells_and_categories() -> None:
    rng = np.random.default_rng(8)
    x, y = data(rng, holes=True, coded=True)
    for name in ("XGB", "LGBM", "CatBoost"):
        pytest.importorskip({"XGB": "xgboost", "LGBM": "lightgbm", "CatBoost": "catboost"}[name])
        if name == "CatBoost":
            model = made(name, "Regressor", rng).fit(x, y)
        else:
            model, fit = coded(name, "Regressor", rng, singly=False)
            model.fit(x, y, **fit)
        source = {"XGB": "get_booster", "LGBM": "booster_"}.get(name)
        saved = model if source is None else getattr(model, source)
        private: Any = load_booster(saved() if name == "XGB" else saved, verify=True)
        plan = private.plan(x, Trees())
        found = private.predict(x, fhe="simulate")
        assert found == pytest.approx(model.predict(x), abs=plan.error + 2e-5)


def test_other_plans_refuse_trees_that_compare_categories() -> None:
    x, y = data(np.random.default_rng(9), holes=False, coded=True)
    model: Any = ensemble.HistGradientBoostingClassifier(max_iter=3, categorical_features=[1, 3])
    private = PrivateClassifier(model).fit(x, (y > 2).astype(int))
    plans: list[Any] = [
        Scores(),
        Classes(),
        Outsourced(),
        Scores(refit="additive", bins="thresholds"),
    ]
    for options in plans:
        with pytest.raises(hesc.ParameterError, match=r"Trees\(\).*OneHotEncoder"):
            private.plan(x, options)
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMClassifier(n_estimators=3, verbose=-1, min_data_per_group=5)
    private = PrivateClassifier(model).fit(x, (y > 2).astype(int), categorical_feature=[1, 3])
    for options in [*plans, Scores(refit="additive")]:
        with pytest.raises(hesc.ParameterError, match=r"Trees\(\).*OneHotEncoder"):
            private.plan(x, options)


def test_models_are_known_by_their_sets() -> None:
    x, y = data(np.random.default_rng(10), holes=False, coded=True)
    model = ensemble.HistGradientBoostingRegressor(max_iter=3, categorical_features=[1, 3])
    private = PrivateRegressor(model).fit(x, y)
    private.plan(x, Trees())
    private.run(x, fhe="simulate")
    bits = private.estimator_._predictors[0][0].raw_left_cat_bitsets
    bits[0] ^= 1
    with pytest.raises(hesc.ParameterError, match="changed since it was planned"):
        private.run(x, fhe="simulate")


# Trees of any kind


def grown(rng: Any) -> TreeEnsemble:
    """Random trees of three features: thresholds, sets of overlapping ranges, missing cells."""
    parts: dict[str, list[Any]] = {"features": [], "thresholds": [], "left": [], "right": []}
    roots: list[int] = []
    sizes: list[int] = []
    low: list[float] = []
    high: list[float] = []
    values: list[list[float]] = []

    def node(deep: int) -> int:
        place = len(values)
        values.append([0.0, 0.0])
        for each in parts.values():
            each.append(-1)
        sizes.append(-1)
        parts["thresholds"][place] = 0.0
        if deep == 0 or rng.random() < 0.2:
            values[place] = rng.normal(size=2).tolist()
            return place
        parts["features"][place] = int(rng.integers(3))
        if rng.random() < 0.5:
            parts["thresholds"][place] = rng.choice([-1.0, 0.0, 1.0, NEVER])
        else:
            ends = np.sort(rng.choice(np.arange(-2, 3.0), 2 * int(rng.integers(3)), replace=False))
            sizes[place] = len(ends) // 2
            low.extend(ends[::2])
            high.extend(ends[1::2])
        parts["left"][place], parts["right"][place] = node(deep - 1), node(deep - 1)
        return place

    for _ in range(int(rng.integers(1, 4))):
        roots.append(len(values))
        node(4)
    return TreeEnsemble(
        3,
        np.array(roots),
        np.array(parts["features"]),
        np.array(parts["thresholds"], dtype=np.float64),
        np.array(parts["left"]),
        np.array(parts["right"]),
        np.array(values),
        rng.normal(size=2),
        rng.integers(0, 2, len(values)).astype(bool),
        np.array(sizes),
        np.array(low, dtype=np.float64),
        np.array(high, dtype=np.float64),
    )


@pytest.mark.parametrize("seed", range(60))
def test_boxes_are_random_trees(seed: int) -> None:
    """A feature may be compared with edges, and be one of categories, in the same tree."""
    rng = np.random.default_rng(seed)
    trees = grown(rng)
    cells = rng.choice([-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0], (300, 3))
    missing = rng.random(3) < 0.5
    cells[(rng.random((300, 3)) < 0.3) & missing] = np.nan
    slow = [one_by_one(trees, row) for row in cells]
    assert trees.scores(cells) == pytest.approx(np.array(slow), abs=1e-12)
    again = TreeEnsemble.summed([trees, trees])
    assert again.scores(cells) == pytest.approx(2 * trees.scores(cells), abs=1e-12)
    edges = [
        np.unique(trees.thresholds[trees.compares & (trees.features == place)])
        for place in range(3)
    ]
    try:
        bits = feature_bits.bits_of(trees, edges, missing)
    except hesc.ParameterError:
        assert np.abs(np.diff(trees.scores(cells[~np.isnan(cells).any(axis=1)]), axis=0)).max() < 1
        return
    whole = boxes.rounded(trees, 2.0**-20)
    found = boxes.of(trees, bits, whole)
    encoded = transforms.transformed(bits.steps, cells)
    assert encoded.shape[1] == bits.width
    sums = found.sums(encoded != 0)
    assert (sums == whole.sums(trees.reached(cells))).all()
    assert sums * 2.0**-20 == pytest.approx(trees.scores(cells), abs=4 * 2.0**-20)


def one_by_one(trees: TreeEnsemble, row: Array) -> Array:
    """Scores of a row by the words of the class."""
    starts = np.cumsum(trees.set_sizes.clip(min=0)) - trees.set_sizes.clip(min=0)
    found = trees.offset.copy()
    for root in trees.roots:
        node = root
        while trees.features[node] >= 0:
            x, count = row[trees.features[node]], trees.set_sizes[node]
            if np.isnan(x):
                left = trees.missing_left[node]
            elif count < 0:
                left = x <= trees.thresholds[node]
            else:
                own = slice(starts[node], starts[node] + count)
                left = ((trees.set_low[own] < x) & (x <= trees.set_high[own])).any()
            node = trees.left[node] if left else trees.right[node]
        found += trees.values[node]
    return found


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"set_sizes": [1]}, hesc.ShapeError),
        ({"set_sizes": [2, -1, -1]}, hesc.ShapeError),
        ({"set_sizes": [1, 0, -1]}, hesc.ParameterError),
        ({"set_high": [0.0]}, hesc.OutOfRangeError),
        ({"set_low": [-np.inf]}, hesc.OutOfRangeError),
        ({"missing_left": [True]}, hesc.ShapeError),
    ],
)
def test_sets_that_are_none(change: dict[str, Any], error: type[Exception]) -> None:
    whole = {"roots", "features", "left", "right", "set_sizes"}
    parts: dict[str, Any] = {
        "roots": [0],
        "features": [0, -1, -1],
        "thresholds": [0.0, 0.0, 0.0],
        "left": [1, -1, -1],
        "right": [2, -1, -1],
        "values": [[0.0], [1.0], [2.0]],
        "offset": [0.0],
        "set_sizes": [1, -1, -1],
        "set_low": [0.0],
        "set_high": [1.0],
    }

    def made_of(parts: dict[str, Any]) -> TreeEnsemble:
        arrays: dict[str, Any] = {
            name: np.array(value, dtype=np.int64 if name in whole else np.float64)
            for name, value in parts.items()
        }
        return TreeEnsemble(inputs=1, **arrays)

    assert made_of(parts).scores([[0.0], [0.5], [1.0], [2.0]])[:, 0].tolist() == [2, 1, 1, 2]
    with pytest.raises(error):
        made_of(parts | change)


def test_columns_of_words_by_name_have_none_for_a_category() -> None:
    rng = np.random.default_rng(12)
    words = rng.choice(np.array(["a", "b", "c", None], dtype=object), ROWS)
    table = pd.DataFrame({"a": rng.normal(size=ROWS), "k": pd.Series(words, dtype=object)})
    y = table["a"] + np.array([2.0 if word in {"a", None} else 0.0 for word in words])
    model = ensemble.HistGradientBoostingRegressor(max_iter=3, categorical_features=["k"])
    private = PrivateRegressor(model).fit(table, y)
    plan = private.plan(table, Trees())
    scores = private.run(table, fhe="simulate").scores
    assert scores == pytest.approx(private.predict(table), abs=plan.error)


def test_stumps_between_missing_cells_and_all_others_are_sums_of_their_functions() -> None:
    rng = np.random.default_rng(13)
    x = rng.normal(size=(ROWS, 2))
    x[::3, 0] = np.nan
    y = np.isnan(x[:, 0]) * 1.0 + (x[:, 1] > 0)
    model = ensemble.HistGradientBoostingRegressor(max_iter=30, max_depth=1)
    private = PrivateRegressor(model).fit(x, y)
    assert extraction.trees_of(private.estimator_).thresholds.max() == NEVER
    there = x[~np.isnan(x[:, 0])]
    for bins in ("thresholds", 8):
        plan = private.plan(there, Scores(bins=bins, min_fidelity=0.5))
        assert plan.fidelity.share > (0.5 if bins == 8 else 0.999999)


def test_words_that_a_model_encodes_by_their_places_are_refused() -> None:
    table = pd.DataFrame({"a": np.arange(60.0), "k": pd.Categorical(list("abc") * 20)})
    model = ensemble.HistGradientBoostingRegressor(max_iter=2, categorical_features=[1])
    with pytest.raises(hesc.ParameterError, match="OrdinalEncoder"):
        TreeEnsemble.from_sklearn(model.fit(table, np.arange(60) % 3))

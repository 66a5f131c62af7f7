"""Models of trees over public bins: scores, fidelity, refusals, the wire."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import datasets
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, RobustScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hesc
from hesc._support import documents
from hesc.ml import LinearPlan, PrivateClassifier, PrivateRegressor, Scores
from hesc.models import additive, transforms
from hesc.models.steps import scaling
from hesc.models.transforms import transformed
from hesc.models.trees import TreeEnsemble

X, Y = datasets.load_wine(return_X_y=True)
PATIENTS = datasets.load_diabetes(return_X_y=True)
ADDITIVE = [
    GradientBoostingClassifier(max_depth=1, n_estimators=20, random_state=0),
    HistGradientBoostingClassifier(max_depth=1, max_iter=20),
    AdaBoostClassifier(n_estimators=20, random_state=0),
    DecisionTreeClassifier(max_depth=1),
    make_pipeline(RobustScaler(), RandomForestClassifier(20, max_depth=1, random_state=0)),
    GradientBoostingRegressor(max_depth=1, n_estimators=20, random_state=0),
    HistGradientBoostingRegressor(max_depth=1, max_iter=20),
    HistGradientBoostingRegressor(loss="gamma", max_depth=1, max_iter=20),
    DecisionTreeRegressor(max_depth=1),
]


def made_of(model: Any, rows: Any, target: Any) -> Any:
    final = model[-1] if hasattr(model, "steps") else model
    kind = PrivateClassifier if type(final).__name__.endswith("Classifier") else PrivateRegressor
    return kind(model).fit(rows, target)


@pytest.mark.parametrize("tied", [0, 0.3, 0.95, 0.99])
@pytest.mark.parametrize("scale", [1e-5, 1, 1e5])
def test_a_value_that_many_rows_share_takes_one_bin(tied: float, scale: float) -> None:
    """And leaves the others to the rest: as many bins as asked for, of about as many rows."""
    rng = np.random.default_rng(7)
    column = scale * np.where(rng.random(2000) < tied, 0.0, rng.exponential(size=2000))
    for count in (2, 5, 16):
        (edges,) = additive.edges_of(column[:, None], count, None)
        assert len(edges) == min(count, len(np.unique(column))) - 1
        rows = np.histogram(column, [-np.inf, *edges, np.inf])[0]
        heavy = np.sum(column == 0)
        shared = np.delete(rows, 0) if heavy > 2000 / count else rows
        assert shared.sum() == (2000 - heavy if heavy > 2000 / count else 2000)
        assert shared.max() - shared.min() <= 1


@pytest.mark.parametrize("below", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("tied", [[0.0], [0.0, 1.5], [-1.5, 0.0, 1.5]])
def test_a_value_that_many_rows_share_has_a_bin_to_itself(below: float, tied: list[float]) -> None:
    """Wherever among the others it lies: neighbours on neither side are put with it."""
    rng = np.random.default_rng(3)
    others = rng.exponential(size=900) * np.where(rng.random(900) < below, -1, 1)
    column = np.concatenate([others, *([value] * 400 for value in tied)])
    for count in (5, 7, 16, 64):
        if count < 2 * len(tied) + 1:
            continue
        (edges,) = additive.edges_of(column[:, None], count, None)
        assert len(edges) == count - 1
        places = np.searchsorted(edges, column)
        for value in tied:
            assert set(column[places == np.searchsorted(edges, value)]) == {value}


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=40),
    st.integers(2, 20),
)
def test_bins_are_as_many_as_asked_for_and_none_is_empty(rows: list[int], count: int) -> None:
    column = np.repeat(np.arange(len(rows)) / 8, rows)
    (edges,) = additive.edges_of(column[:, None], count, None)
    assert len(edges) == min(count, len(rows)) - 1
    assert len(set(np.searchsorted(edges, column))) == len(edges) + 1


@pytest.mark.parametrize(
    "column",
    [[1.0, np.nextafter(1, 2), np.nextafter(np.nextafter(1, 2), 2)], [0, 5e-324], [-1e308, 1e308]],
)
def test_values_without_a_number_between_have_bins(column: list[float]) -> None:
    """Neighbours among doubles, and values whose difference is no double."""
    (edges,) = additive.edges_of(np.array(column)[:, None], 16, None)
    assert np.searchsorted(edges, column).tolist() == list(range(len(column)))


def test_every_value_of_few_has_a_bin() -> None:
    column = np.repeat([3.0, 5.0, 8.0], [900, 5, 1])
    (edges,) = additive.edges_of(column[:, None], 16, None)
    assert edges.tolist() == [4, 6.5]


@pytest.mark.parametrize("model", ADDITIVE, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("two", [False, True])
def test_trees_of_single_features_are_computed_as_they_are(model: Any, two: bool) -> None:
    """With their own thresholds for edges; also of rows that lie on thresholds, seen by none."""
    rows, target = X, Y
    if two:
        rows, target = X[Y > 0], np.array(["a", "b", "c"])[Y[Y > 0]]
    if "Regressor" in type(model).__name__:
        rows, target = PATIENTS
    made = made_of(model, rows, target)
    plan = made.plan(rows, Scores(bins="thresholds"))
    assert plan.fidelity is not None
    assert plan.fidelity.apart < 1e-9
    linear = made._served().linear
    edges = linear.steps[-1].edges
    first = linear.steps[-1].features[0, 0].astype(int)
    strange = np.repeat(rows[:1], len(edges), axis=0)
    strange[:, first] = edges
    tried = np.concatenate([rows, strange, rows * 1.7 - 3])
    ready = transformed(linear.steps, tried)
    scores = ready @ linear.weights.T + linear.intercepts
    clear = plan.scores(made._clear_scores(tried))
    assert np.abs(scores - clear.reshape(len(scores), -1)).max() < 1e-9 * max(
        1, np.abs(clear).max()
    )
    run = made.run(tried)
    assert np.abs(run.scores - clear).max() < 7 * plan.error


def test_shares_of_forests_are_probabilities() -> None:
    """Those of scikit-learn within the error, never below zero, whatever errors scores have."""
    for rows, target, outputs in ((X, Y, 3), (X[Y > 0], Y[Y > 0], 1)):
        made = PrivateClassifier(RandomForestClassifier(9, max_depth=1, random_state=0))
        plan = made.fit(rows, target).plan(rows, Scores(bins="thresholds", max_error=0.01))
        shares = made.predict_proba(rows, fhe="execute")
        assert np.abs(shares - made.predict_proba(rows)).max() < 14 * plan.error
        scores = plan.scores(np.full((4, outputs), -0.7))
        for found in (shares, plan.probabilities(scores)):
            assert (found >= 0).all()
            assert found.sum(axis=1) == pytest.approx(1)


def test_thresholds_move_to_the_nearest_edges() -> None:
    """A tree of one split at 5 with the edges 2 and 6 splits at 6, and the plan says how far."""
    rows = np.arange(1.0, 11)[:, None]
    made = PrivateRegressor(DecisionTreeRegressor(max_depth=1)).fit(rows, 1.0 * (rows[:, 0] > 5))
    plan = made.plan(rows, Scores(bins=[[2, 6.5]], min_fidelity=0))
    linear = made._served().linear
    found = transformed(linear.steps, rows) @ linear.weights.T + linear.intercepts
    assert found[:, 0] == pytest.approx(1.0 * (rows[:, 0] > 6.5))
    assert plan.fidelity is not None
    assert plan.fidelity.apart == pytest.approx(np.sqrt(0.1))
    assert plan.fidelity.explained == pytest.approx(1 - 0.1 / 0.25)
    assert "nearest public edges" in str(plan)
    with pytest.raises(hesc.ParameterError, match=r"too far.*min_fidelity=0\.9"):
        made.plan(rows, Scores(bins=[[2, 6.5]]))


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(30, random_state=0),
        GradientBoostingClassifier(n_estimators=20, random_state=0),
        RandomForestRegressor(30, max_depth=4, random_state=0),
        AdaBoostRegressor(n_estimators=20, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_deeper_trees_are_fitted_again_or_refused(model: Any) -> None:
    """What the plan reports is what rows that nobody saw have, within five deviations or 0.1."""
    rows, target = (X, Y) if "Classifier" in type(model).__name__ else PATIENTS
    train, test, learnt, _ = train_test_split(rows, target, random_state=0)
    made = made_of(model, train, learnt)
    with pytest.raises(hesc.ParameterError, match="refit='additive'"):
        made.plan(train, Scores())
    plan = made.plan(train, Scores(refit="additive", min_fidelity=0.5))
    near = LinearPlan.from_bytes(plan.to_bytes()).fidelity
    assert near == plan.fidelity
    assert near is not None
    assert near.unseen
    assert "NOT THE MODEL THAT WAS TRAINED" in str(plan)
    found, clear = made.predict(test, fhe="execute"), made.predict(test)
    if near.agreement is None:
        share = 1 - np.mean((found - clear) ** 2) / np.var(clear)
    else:
        share = np.mean(found == clear)
    assert share > near.share - max(0.1, 5 * np.sqrt(near.share * (1 - near.share) / len(test)))
    if near.share < 1:
        with pytest.raises(hesc.ParameterError, match="min_fidelity=1"):
            made.plan(train, Scores(refit="additive", min_fidelity=1))
        made.plan(train, Scores(refit="additive", min_fidelity=0.5))
    made.estimator_ = made_of(model.set_params(random_state=5), train[::2], learnt[::2]).estimator_
    with pytest.raises(hesc.ParameterError, match="has changed"):
        made.run(test)


def test_bins_of_scikit_learn_before_a_linear_model() -> None:
    """Values on edges fall where scikit-learn puts them."""
    rows, target = PATIENTS[0][:, 2:6], PATIENTS[1]
    model = make_pipeline(KBinsDiscretizer(5, quantile_method="averaged_inverted_cdf"), Ridge())
    made = PrivateRegressor(model).fit(rows, target)
    edges = made.estimator_[0].bin_edges_
    extra = np.column_stack([np.resize(own, 12) for own in edges])
    plan = made.plan(rows)
    assert plan.fidelity is None
    found = made.predict(np.concatenate([rows, extra]), fhe="execute")
    assert np.abs(found - made.predict(np.concatenate([rows, extra]))).max() < 7 * plan.error
    for option, text in (({"ranges": (0, 1)}, "takes no ranges"), ({"bins": 5}, "models of trees")):
        with pytest.raises(hesc.ParameterError, match=text):
            made.plan(rows, Scores(**option))
    with pytest.raises(hesc.OutOfRangeError, match="no finite"):
        plan.prepared(rows * np.inf)


@pytest.mark.parametrize(
    ("wishes", "error", "text"),
    [
        ({"bins": 1}, "OutOfRange", "bins"),
        ({"bins": "many"}, "Parameter", "a list of edges"),
        ({"bins": [[1]]}, "Shape", "a list of 13"),
        ({"bins": [[1, 1]] * 13}, "OutOfRange", "each larger"),
        ({"bins": [[]] * 13}, "Parameter", "no feature has two bins"),
        ({"refit": "else"}, "Parameter", "additive"),
        ({"min_fidelity": 2}, "Parameter", "a share"),
        ({"min_fidelity": True}, "Parameter", "a share"),
    ],
)
def test_wishes_of_bins_that_cannot_be(wishes: dict[str, Any], error: str, text: str) -> None:
    made = PrivateClassifier(AdaBoostClassifier(n_estimators=5, random_state=0)).fit(X, Y)
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        made.plan(X, Scores(**wishes))


def test_pairs_of_features_have_cells() -> None:
    one, two = (0, np.array([1.0])), (2, np.array([0.0, 5.0]))
    cells = scaling.bins(3, [(one, two), (two, None)])
    assert cells.widths == (3, 9)
    assert transformed([cells], np.array([[1.0, 9, 6]])).tolist() == [[0, 0, 1, 0, 0, 0, 0, 0, 1]]


def scorecard() -> dict[str, Any]:
    """The plan of a scorecard as its document has it."""
    made = PrivateClassifier(AdaBoostClassifier(n_estimators=5, random_state=0)).fit(X, Y)
    found: dict[str, Any] = json.loads(made.plan(X, Scores(bins=4, min_fidelity=0)).to_bytes())
    return found


def numbers(*shape: int) -> Any:
    return lambda *values: documents.packed(np.array(values, dtype=float).reshape(shape))


PAIR, LIST = numbers(1, 2), numbers(3)


@pytest.mark.parametrize(
    "change",
    [
        {"fidelity": 3},
        {"fidelity": {}},
        {"fidelity": {"way": "else"}},
        {"fidelity": {"rows": 0}},
        {"fidelity": {"rows": 1.0}},
        {"fidelity": {"unseen": 0}},
        {"fidelity": {"agreement": 1.5}},
        {"fidelity": {"agreement": "much"}},
        {"fidelity": {"explained": 2.0}},
        {"fidelity": {"apart": -1.0}},
        {"fidelity": {"apart": 10**400}},
        {"link": "share"},
        {"steps": {"inputs": 12}},
        {"steps": {"inputs": "13"}},
        {"steps": {"features": PAIR(13, -1)}},
        {"steps": {"features": PAIR(0, -2)}},
        {"steps": {"features": PAIR(-1, -1)}},
        {"steps": {"features": PAIR(0.5, -1)}},
        {"steps": {"counts": PAIR(2, 0)}},
        {"steps": {"counts": PAIR(4, -1)}},
        {"steps": {"counts": PAIR(0, 3)}},
        {"steps": {"counts": PAIR(1e9, 0)}},
        {"steps": {"counts": numbers(2, 1)(3, 0)}},
        {"steps": {"edges": LIST(1, 3, 2)}},
        {"steps": {"edges": numbers(2)(1, 2)}},
        {"steps": {"edges": {"shape": [3], "f8": "AAAA"}}},
        {"steps": {"step": "bin"}},
    ],
)
def test_documents_of_scorecards_that_lie(change: dict[str, Any]) -> None:
    """A block of three edges, and beside it a change that makes no sense: never read."""
    sound = scorecard()
    first = sound["steps"][0] | {
        "features": PAIR(0, -1),
        "counts": PAIR(3, 0),
        "edges": LIST(1, 2, 3),
    }
    ((where, lie),) = change.items()
    steps, width = transforms.read([first], 13)
    assert (width, len(steps)) == (4, 1)
    if where == "steps":
        with pytest.raises(hesc.WireError):
            transforms.read([first | lie], 13)
        return
    sound[where] = sound[where] | lie if isinstance(lie, dict) and lie else lie
    with pytest.raises(hesc.WireError):
        LinearPlan.from_bytes(json.dumps(sound).encode())


def test_numbers_beyond_all_floats_are_none() -> None:
    """JSON has 1e999, of which Python makes an infinity."""
    sound = scorecard()
    sound["fidelity"]["apart"] = 4.25
    with pytest.raises(hesc.WireError, match="damaged"):
        LinearPlan.from_bytes(json.dumps(sound).replace("4.25", "1e999").encode())


def test_damaged_documents_of_scorecards() -> None:
    """Any byte: refused, or read as something that stands by itself, prints and prepares."""
    data = json.dumps(scorecard()).encode()
    assert LinearPlan.from_bytes(data).fidelity is not None
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(300):
        changed = bytearray(data)
        changed[rng.integers(len(data))] = rng.integers(32, 127)
        try:
            plan = LinearPlan.from_bytes(bytes(changed))
            str(plan)
            plan.prepared(X[:3])
        except hesc.HescError:
            refused += 1
    assert refused > 30


# Re-fits of models from elsewhere


def sum_of_stumps(weights: Any, threshold: float, *, strict: bool) -> TreeEnsemble:
    """For each feature a tree that gives its weight to values above a threshold, or at it."""
    count = len(weights)
    roots = 3 * np.arange(count)
    features, thresholds = np.full(3 * count, -1), np.zeros(3 * count)
    left, right = np.full(3 * count, -1), np.full(3 * count, -1)
    values = np.zeros((3 * count, 1))
    features[roots] = np.arange(count)
    thresholds[roots] = np.nextafter(threshold, -np.inf) if strict else threshold
    left[roots], right[roots], values[roots + 2, 0] = roots + 1, roots + 2, weights
    return TreeEnsemble(count, roots, features, thresholds, left, right, values, np.zeros(1))


@pytest.mark.parametrize(
    ("threshold", "strict"), [(0.5, False), (1.0, True), (1e-35, False)], ids=["", "xgb", "lgb"]
)
@pytest.mark.parametrize("most", [1, 5])
def test_sums_of_features_are_found_wherever_thresholds_lie_between_values(
    most: int, threshold: float, strict: bool
) -> None:
    """XGBoost parts zeros from ones at one, LightGBM at zero: nothing is ever in between."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, most + 1, (800, 6)).astype(float)
    trees = sum_of_stumps(rng.normal(size=6), threshold, strict=strict)
    edges = additive.edges_of(x, 16, None)
    table = additive.refitted(x, trees.scores, edges)
    clear = trees.scores(x)
    found = transformed([table.bins], x) @ table.weights.T + table.intercepts
    assert np.mean((found - clear) ** 2) < 1e-4 * clear.var()


def test_a_refit_asks_for_values_that_were_seen_alone() -> None:
    """Cell by cell: no row that a model is asked about has a value that its column has not."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 2, 300), rng.normal(size=300), np.full(300, 7.0)])
    asked = []

    def score(rows: Any) -> Any:
        asked.append(rows)
        return rows[:, :1]

    additive.refitted(x, score, additive.edges_of(x, 4, None))
    rows = np.concatenate(asked)
    assert len(rows) == 1 + 11 * len(x)
    assert all(np.isin(rows[:, place], x[:, place]).all() for place in range(3))
    # Some of a row's cells are another row's, fewer than half of them.
    own = (rows[1:, 1].reshape(11, -1) == x[:, 1]).mean(axis=1)
    assert own[0] == 1
    assert ((own[1:] > 0.6) & (own[1:] < 0.9)).all()

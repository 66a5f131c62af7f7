"""Models of trees under `Trees()`: what is decrypted is what the trees say, for every sample."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, Final

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hesc
from hesc.ml import (
    PrivateClassifier,
    PrivateOutlierDetector,
    PrivateRegressor,
    Scores,
    Trees,
    TreesPlan,
)
from hesc.models import extraction, transforms
from hesc.models.trees import LARGEST_SINGLE, TreeEnsemble
from hesc.protocols import registry
from hesc.protocols.message import Kind, Message
from hesc.protocols.trees import boxes, feature_bits
from tests.tree_models import planned_trees

X, Y = load_breast_cancer(return_X_y=True)
IRIS: Final = load_iris(return_X_y=True)
SUGAR: Final = load_diabetes(return_X_y=True)
SIZES: Final = 1.0 + Y
FEW: Final = {"n_estimators": 5, "max_depth": 3, "random_state": 0}

CLASSIFIERS: Final = {
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(**FEW),
    "extra trees": ExtraTreesClassifier(**FEW),
    "boosting": GradientBoostingClassifier(**FEW),
    "histograms": HistGradientBoostingClassifier(max_iter=5, random_state=0),
    "votes": AdaBoostClassifier(n_estimators=5, random_state=0),
}
REGRESSORS: Final = {
    "tree": DecisionTreeRegressor(max_depth=5, random_state=0),
    "forest": RandomForestRegressor(**FEW),
    "extra trees": ExtraTreesRegressor(**FEW),
    "boosting": GradientBoostingRegressor(**FEW),
    "histograms": HistGradientBoostingRegressor(max_iter=5, random_state=0),
    "exponentials": HistGradientBoostingRegressor(loss="poisson", max_iter=5, random_state=0),
}


def _on_thresholds(trees: TreeEnsemble, rows: Any, rng: Any) -> Any:
    """Rows whose features are thresholds, and the numbers next to these."""
    found = rows.copy()
    for place in range(trees.inputs):
        own = trees.thresholds[trees.features == place]
        if len(own):
            at = rng.choice(own, len(rows))
            beside = rng.choice([-np.inf, 0.0, np.inf], len(rows))
            found[:, place] = np.where(beside == 0, at, np.nextafter(at, beside))
    return found


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("data", [(X, Y), IRIS], ids=["two classes", "three"])
def test_classifiers_are_computed_as_they_are(name: str, data: Any) -> None:
    x, y = data
    private = planned_trees(CLASSIFIERS[name], x[::2], y[::2])
    plan = private._served().plan
    rng = np.random.default_rng(0)
    trees = extraction.trees_of(private.estimator_)
    rows = np.concatenate([x[1::29], _on_thresholds(trees, x[1::59], rng)])
    run = private.run(rows, progress=False)
    clear = extraction.clear_scores(private.estimator_, rows)
    scores = run.scores.reshape(clear.shape)
    assert np.abs(scores - clear).max() <= plan.error * (1 + 1e-9)
    assert (scores == private.run(rows, fhe="simulate").scores.reshape(clear.shape)).all()
    margins = np.abs(clear[:, 0]) if clear.shape[1] == 1 else np.diff(np.sort(clear))[:, -1]
    sure = margins > 2 * plan.error
    assert (run.predictions == private.predict(rows))[sure].all()
    assert sure.mean() > 0.3


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_are_computed_as_they_are(name: str) -> None:
    x, y = SUGAR
    private = planned_trees(REGRESSORS[name], x[::2], y[::2], sum_bits=24)
    plan = private._served().plan
    trees = extraction.trees_of(private.estimator_)
    rows = np.concatenate([x[1::29], _on_thresholds(trees, x[1::59], np.random.default_rng(1))])
    clear = extraction.clear_scores(private.estimator_, rows)[:, 0]
    assert np.abs(private.run(rows, progress=False).scores - clear).max() <= plan.error
    assert np.allclose(private.predict(rows, fhe="execute"), private.predict(rows), rtol=1e-3)


def _random_trees(rng: Any, *, missing: bool) -> TreeEnsemble:
    """Trees of any shape whose thresholds are few, so that paths contradict themselves."""
    inputs, outputs = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    features: list[int] = []
    thresholds: list[float] = []
    left: list[int] = []
    right: list[int] = []
    roots: list[int] = []
    for _ in range(int(rng.integers(1, 5))):
        roots.append(len(features))
        features.append(0)
        thresholds.append(0.0)
        left.append(-1)
        right.append(-1)
        waiting = [roots[-1]]
        while waiting:
            node = waiting.pop()
            if len(features) - roots[-1] > 12 or rng.random() < 0.2:
                features[node] = -1
                continue
            features[node] = int(rng.integers(inputs))
            thresholds[node] = float(rng.integers(4))
            for side in (left, right):
                side[node] = len(features)
                waiting.append(len(features))
                features.append(0)
                thresholds.append(0.0)
                left.append(-1)
                right.append(-1)
    leaf = np.array(features) < 0
    values = rng.normal(size=(len(features), outputs)) * leaf[:, None]
    # Of some outputs a tree says the same of all samples.
    values[:, rng.random(outputs) < 0.3] = 0.0
    return TreeEnsemble(
        inputs,
        np.array(roots),
        np.array(features),
        np.where(leaf, 0.0, thresholds),
        np.array(left),
        np.array(right),
        values,
        rng.normal(size=outputs),
        rng.random(len(features)) < 0.5 if missing else np.empty(0, dtype=bool),
    )


@pytest.mark.parametrize("missing", [False, True], ids=["all there", "some missing"])
def test_boxes_say_what_trees_say(missing: bool) -> None:
    rng = np.random.default_rng(2)
    tried = 0
    while tried < 200:
        trees = _random_trees(rng, missing=missing)
        edges = [np.unique(trees.thresholds[trees.features == f]) for f in range(trees.inputs)]
        if not any(map(len, edges)):
            continue
        tried += 1
        may = rng.random(trees.inputs) < 0.7 if missing else np.zeros(trees.inputs, dtype=bool)
        bits = feature_bits.bits_of(trees, edges, may)
        unit = 2.0 ** -int(rng.integers(4, 12))
        whole = boxes.rounded(trees, unit)
        found = boxes.of(trees, bits, whole)
        rows = rng.choice([-1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0], (60, trees.inputs))
        rows[(rng.random(rows.shape) < 0.3) & may] = np.nan
        seen = transforms.transformed(bits.steps, rows) != 0
        sums = found.sums(seen)
        assert (sums == whole.sums(trees.reached(rows))).all()
        # Each leaf is rounded by half a unit, and what trees say of all samples once.
        counts = np.array([shape[0] for shape in found.shapes])
        assert (np.abs(sums * unit - trees.scores(rows)) <= (counts / 2 + 1e-6) * unit).all()
        assert np.abs(sums).max() <= found.reach <= whole.reach
        assert found.most_conditions == found.conditions.max()
        assert len(found.terms) == found.conditions.sum()
        # Exactly one leaf of each tree is reached, whatever is missing.
        ones = found._replace(values=np.ones_like(found.values))
        assert (ones.sums(seen) == counts).all()


def test_a_model_on_a_public_grid_publishes_no_threshold() -> None:
    model = HistGradientBoostingClassifier(max_iter=5, max_bins=8, random_state=0).fit(X, Y)
    grid = [np.asarray(own, dtype=np.float64) for own in model._bin_mapper.bin_thresholds_]
    private = PrivateClassifier.from_fitted(model)
    plan = private.plan(X, Trees(bins=grid), table=False)
    assert plan.forest.edges == sum(map(len, grid))
    assert plan.fidelity is None
    run = private.run(X[:5], progress=False)
    assert np.abs(run.scores - model.decision_function(X[:5])).max() <= plan.error


def test_thresholds_that_are_no_edges_are_refused_or_moved_by_name() -> None:
    private = PrivateClassifier(RandomForestClassifier(**FEW)).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match="none of the edges of bins="):
        private.plan(X, Trees(bins=8))
    with pytest.raises(hesc.ParameterError, match="there is no move"):
        private.plan(X, Trees(bins=8, move="up"))  # type: ignore[arg-type]
    plan = private.plan(X, Trees(bins=8, move="nearest"), table=False)
    assert plan.fidelity is not None
    assert plan.fidelity.way == "bins"
    assert "thresholds moved" in str(plan)
    rows = X[:4]
    run = private.run(rows, progress=False)
    truth = private._served().truth(rows, private.decision_function(rows))
    assert (run.scores == truth).all()
    # The report tells errors of what is computed, not of what was fitted.
    kept = TreesPlan.from_bytes(plan.to_bytes())
    assert kept.fidelity == plan.fidelity


@pytest.mark.parametrize(
    ("model", "options", "text"),
    [
        (LogisticRegression(max_iter=5000), Trees(), "is none; plan\\(X, Scores"),
        (DecisionTreeClassifier(), Trees(sum_bits=7), "sum_bits is 7, not in 8 to 27"),
        (DecisionTreeClassifier(), Trees(sum_bits=28), "sum_bits is 28, not in 8 to 27"),
        (DecisionTreeClassifier(), Trees(samples=0), "samples"),
        (DecisionTreeClassifier(), Trees(bins="edges"), "bins= is a number of bins"),
        (DecisionTreeClassifier(), Trees(bins=[[1.0]]), "edges of bins are a list of 30"),
        (
            DecisionTreeClassifier(max_leaf_nodes=2),
            Trees(bins=[[]] * 30, move="nearest"),
            "has no edges",
        ),
        (AdaBoostRegressor(n_estimators=2), Trees(), "predicts medians"),
    ],
)
def test_what_cannot_be_planned_is_refused(model: Any, options: Any, text: str) -> None:
    private = PrivateClassifier if hasattr(model, "predict_proba") else PrivateRegressor
    made = private(model).fit(X, Y)
    with pytest.raises(hesc.HescError, match=text):
        made.plan(X, options)


def test_what_compares_nothing_is_refused() -> None:
    model = PrivateRegressor(DecisionTreeRegressor()).fit(X, np.ones(len(X)))
    with pytest.raises(hesc.ParameterError, match="compare nothing"):
        model.plan(X, Trees())


@pytest.mark.parametrize("size", [1e150, 1e-5])
def test_units_follow_the_size_of_scores(size: float) -> None:
    private = planned_trees(DecisionTreeRegressor(max_depth=2), X, SIZES * size)
    rows = X[:5]
    found = private.run(rows, progress=False).scores
    assert np.allclose(found, private.predict(rows), rtol=1e-4, atol=0)


def test_rows_on_another_side_of_thresholds_are_counted() -> None:
    """Thresholds that are values of the training data, behind a transform of other last bits."""
    rows = np.round(X, 1)
    model = HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=2, random_state=0)
    private = PrivateClassifier(make_pipeline(PCA(5), model)).fit(rows, Y)
    with pytest.raises(hesc.ParameterError, match=r"another side of a threshold.*float32"):
        private.plan(rows, Trees())
    forest = PrivateClassifier(make_pipeline(PCA(5), RandomForestClassifier(**FEW))).fit(rows, Y)
    forest.plan(rows, Trees(), table=False)


def test_errors_that_are_not_small_are_refused() -> None:
    x, y = SUGAR
    private = PrivateRegressor(GradientBoostingRegressor(**FEW)).fit(x, 1e6 + y / 1000)
    with pytest.raises(hesc.ParameterError, match="less its mean"):
        private.plan(x, Trees())
    assert private.fit(x, y / 1000).plan(x, Trees(), table=False).error < 0.01


def test_moved_thresholds_that_leave_another_model_are_refused() -> None:
    private = PrivateClassifier(RandomForestClassifier(**FEW)).fit(X, Y)
    far: list[list[float]] = [[1e9]] * 30
    with pytest.raises(hesc.ParameterError, match="too far from the fitted model"):
        private.plan(X, Trees(bins=far, move="nearest"))
    plan = private.plan(X, Trees(bins=far, move="nearest", min_fidelity=0), table=False)
    assert plan.fidelity.share < 0.9


def test_plans_are_copied_and_pickled() -> None:
    plan = planned_trees(RandomForestClassifier(**FEW), X, Y)._served().plan
    for again in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):  # noqa: S301 - our own
        assert again.digest == plan.digest


def test_pipelines_on_tables() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 200),
            "size": rng.normal(size=200),
            "weight": rng.integers(0, 5, 200),
        }
    )
    y = (table["size"] + (table["colour"] == "red") + table["weight"] / 4 > 1).astype(int)
    model = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(sparse_output=False), ["colour"]), remainder=StandardScaler()
        ),
        RandomForestClassifier(**FEW),
    )
    private = PrivateClassifier(model).fit(table, y)
    plan = private.plan(table, Trees(), table=False)
    run = private.run(table[:20], progress=False)
    assert (run.predictions == model.fit(table, y).predict(table[:20])).all()
    assert "THE CATEGORIES OF THE TRAINING DATA" in str(plan)


def test_parties_apart() -> None:
    private = planned_trees(RandomForestClassifier(**FEW), X, Y)
    plan = TreesPlan.from_bytes(private._served().plan.to_bytes())
    client = registry.client_of(plan)
    served = private.server().to_bytes()
    assert registry.read_server(served).to_bytes() == served
    server = registry.read_server(served, keys=client.public_keys())
    query = client.encrypt(X[:3])
    answer = server.answer(query.data)
    assert plan.sizes(3) == (len(query.data), len(answer))
    found = client.decrypt(answer, query=query.data)
    assert (found.predictions == private.predict(X[:3])).all()
    assert (found.scores == private.run(X[:3], fhe="simulate").scores).all()
    assert np.allclose(
        client.probabilities(answer), private.predict_proba(X[:3]), atol=2 * plan.error
    )
    # The same query again: other draws, the same scores.
    again = server.answer(query.data)
    assert again != answer
    assert (client.decrypt(again, query=query.data).scores == found.scores).all()
    with pytest.raises(hesc.ParameterError, match="computes with the client's keys"):
        private.server().answer(query.data)
    other = registry.client_of(plan)
    with pytest.raises(hesc.KeyMismatchError):
        server.answer(other.encrypt(X[:1]).data)
    with pytest.raises(hesc.KeyMismatchError):
        other.decrypt(answer)
    with pytest.raises(hesc.WireError, match="another query"):
        client.decrypt(answer, query=client.encrypt(X[:3]).data)


def test_answers_that_no_server_gives() -> None:
    private = planned_trees(RandomForestClassifier(**FEW), X, Y)
    plan = private._served().plan
    client = private.client()
    server = private.server(keys=client.public_keys())
    query = client.encrypt(X[:2]).data
    answer = Message.from_bytes(server.answer(query), Kind.ANSWER, plan=plan.digest)
    fewer = answer._replace(parts=answer.parts[:1]).to_bytes()
    with pytest.raises(hesc.WireError, match="a part for each sample"):
        client.decrypt(fewer)
    asked = Message.from_bytes(query, Kind.QUERY, plan=plan.digest)
    with pytest.raises(hesc.WireError, match="a part for each sample"):
        server.answer(asked._replace(samples=1).to_bytes())
    data = bytearray(answer.parts[0])
    refused = 0
    for place in range(64, len(data), 997):
        changed = bytes(data[:place]) + bytes([data[place] ^ 0xFF]) + bytes(data[place + 1 :])
        # Whoever puts the checksum right changes numbers: leaves are reached or not.
        try:
            client.decrypt(answer._replace(parts=(changed, answer.parts[1])).to_bytes())
        except hesc.HescError:
            refused += 1
    assert refused == len(range(64, len(data), 997))


def test_documents_that_lie() -> None:
    private = planned_trees(RandomForestClassifier(**FEW), X, Y)
    plan = private._served().plan
    lies: tuple[dict[str, Any], ...] = (
        {"classes": np.array([0, 1, 2])},
        {"steps": plan.steps[:-1]},
        {"steps": [*plan.steps, transforms.Affine(plan.ranges[1], plan.ranges[1])]},
        {"link": "exp"},
        {"finer": 1001},
        {"farthest": 1.0},
        {"inputs": 29},
    )
    for change in lies:
        with pytest.raises(hesc.WireError):
            TreesPlan.from_bytes(dataclasses.replace(plan, **change).to_bytes())
    # Bits within 0 and 1 are bits.
    kept = [*plan.steps, transforms.Clip(*plan.ranges)]
    TreesPlan.from_bytes(dataclasses.replace(plan, steps=kept).to_bytes())


LARGE: Final = {
    "tree": (DecisionTreeClassifier(random_state=0), True),
    "numbers": (ExtraTreesRegressor(**FEW), True),
    "boosting": (GradientBoostingClassifier(**FEW), True),
    "votes": (AdaBoostClassifier(n_estimators=3, random_state=0), True),
    "a scaler": (make_pipeline(StandardScaler(), RandomForestClassifier(**FEW)), True),
    "gaps": (RandomForestClassifier(**FEW), True),
    "histograms": (HistGradientBoostingClassifier(max_iter=3, random_state=0), False),
    "isolation": (IsolationForest(n_estimators=3, random_state=0), False),
    "XGBoost": ("xgboost.XGBClassifier", False),
    "LightGBM": ("lightgbm.LGBMClassifier", False),
    "CatBoost": ("catboost.CatBoostClassifier", False),
}
"""Models, and whether their library refuses what is infinite as float32."""


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.filterwarnings("ignore:.*were brought within", "ignore:overflow encountered")
def test_features_beyond_float32_are_refused_where_the_library_does(name: str) -> None:
    model, refuses = LARGE[name]
    if isinstance(model, str):
        module, kind = model.split(".")
        few = {"CatBoost": {"iterations": 3, "verbose": 0, "allow_writing_files": False}}
        found = getattr(pytest.importorskip(module), kind)
        model = found(**few.get(name, {"n_estimators": 3, "n_jobs": 1, "verbosity": 0}))
    x = X[:, :4].copy()
    x[::7, 1] = np.nan if name == "gaps" else 20.0
    outliers = isinstance(model, IsolationForest)
    regresses = isinstance(model, ExtraTreesRegressor)
    private: Any = (
        PrivateOutlierDetector if outliers else PrivateRegressor if regresses else PrivateClassifier
    )(model)
    private.fit(x, Y)
    plan = private.plan(x, names=list("abcd"), table=False)
    scaler = private.estimator_[0] if name == "a scaler" else None
    last = LARGEST_SINGLE if scaler is None else LARGEST_SINGLE * scaler.scale_[2] * (1 - 1e-9)
    rows = x[[8, 9, 10]]
    for sign in (1, -1):
        rows[1, 2] = sign * last
        clear = private._clear_scores(rows)
        found = private.run(rows, fhe="simulate").scores
        assert np.abs(found - clear[:, 0]).max() <= plan.error + 1e-6
        rows[1, 2] = np.nextafter(last * (1 + 4e-9) if scaler else last, np.inf) * sign
        if not refuses:
            found = private.run(rows, fhe="simulate").scores
            # Its matrices refuse what it predicts of arrays.
            own = private.estimator_
            clear = (
                own.predict(rows, output_margin=True)
                if name == "XGBoost"
                else private._clear_scores(rows)[:, 0]
            )
            assert np.abs(found - clear).max() <= plan.error + 1e-6
            continue
        with pytest.raises(ValueError, match="too large for dtype"):
            private.predict(rows)
        clipped = private.run(rows, fhe="simulate", clip=True)
        assert clipped[-2:] == (1, 1)
        assert (clipped.scores == found).all()
        client = registry.client_of(TreesPlan.from_bytes(plan.to_bytes()))
        for call in (private.run, client.encrypt):
            with pytest.raises(hesc.OutOfRangeError, match="column 'c' of sample 1 is too large"):
                call(rows)
        assert client.encrypt(rows, clip=True).clipped == 1


def test_what_is_small_is_not_looked_at_again() -> None:
    columns = make_column_transformer((OneHotEncoder(), [0]))
    x = np.round(X[:, :1])
    model = make_pipeline(columns, DecisionTreeClassifier(max_depth=3, random_state=0))
    private = PrivateClassifier(model).fit(x, Y)
    plan = private.plan(x, table=False)
    assert plan.farthest == LARGEST_SINGLE
    assert plan._compared is None
    assert copy.copy(plan)._compared is None
    # Steps that somebody made up, whose bits nothing compares.
    bits = dataclasses.replace(
        plan, steps=[transforms.Clip(*plan.ranges)], inputs=len(plan.ranges[0])
    )
    assert bits.prepared(np.zeros((1, bits.inputs))).values == 0


def test_the_plan_says_who_learns_what() -> None:
    private = planned_trees(HistGradientBoostingClassifier(max_iter=5, random_state=0), X, Y)
    text = str(private._served().plan)
    for told in ("trees of", "DOES NOT FOLLOW THE PROTOCOL", "copies", "R^2", "thresholds of"):
        assert told in text
    assert "copies" not in str(TreesPlan.from_bytes(private._served().plan.to_bytes()))
    # A model that was fitted again is another one.
    private.fit(X[::2], Y[::2])
    with pytest.raises(hesc.ParameterError, match="plan"):
        private.run(X[:1])


def test_scores_say_that_trees_are_served() -> None:
    private = PrivateClassifier(RandomForestClassifier(**FEW)).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match=r"plan\(X, Trees\(\)\)"):
        private.plan(X, Scores())

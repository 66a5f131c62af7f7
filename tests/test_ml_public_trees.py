"""Trees of public structure: the client finds its leaves, and what they say stays hidden."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc.ml import PrivateClassifier, Trees, TreesPlan
from hesc.models import transforms
from hesc.models.transforms import Inside
from hesc.protocols import registry
from hesc.protocols.trees import linear_forms
from tests.tree_models import planned_trees

X, Y = load_breast_cancer(return_X_y=True)
SUGAR: Final = load_diabetes(return_X_y=True)
FEW: Final = {"n_estimators": 5, "max_depth": 3, "random_state": 0}
DATA: Final = {
    "cancer": (X, Y),
    "iris": load_iris(return_X_y=True),
    "digits": load_digits(return_X_y=True),
}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(**FEW),
        ExtraTreesClassifier(**FEW),
        GradientBoostingClassifier(**FEW),
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        AdaBoostClassifier(n_estimators=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_scores_are_those_of_hidden_trees(model: Any, data: str) -> None:
    x, y = DATA[data]
    public, hidden = (planned_trees(model, x, y, structure=each) for each in ("public", "hidden"))
    rows = x[::5]
    run = public.run(rows, fhe="simulate", progress=False)
    assert (run.scores == hidden.run(rows, fhe="simulate", progress=False).scores).all()
    few = rows[:4]
    encrypted = public.run(few, progress=False)
    assert (encrypted.scores == run.scores[:4]).all()
    assert (encrypted.predictions == public.predict(few)).all()


@pytest.mark.parametrize("missing", [False, True])
def test_regressors_and_missing_cells(missing: bool) -> None:
    x, y = SUGAR
    if missing:
        x = np.where(np.random.default_rng(0).random(x.shape) < 0.1, np.nan, x)
    model = HistGradientBoostingRegressor(max_iter=8, random_state=0)
    private = planned_trees(
        model if missing else RandomForestRegressor(**FEW), x, y, structure="public"
    )
    found = private.run(x[:8], progress=False)
    assert np.abs(found.scores - private.predict(x[:8])).max() <= found.error * (1 + 1e-9)


def test_messages_are_short_and_the_plan_says_what_hiding_costs() -> None:
    model = HistGradientBoostingClassifier(max_iter=100, max_depth=3, random_state=0)
    public, hidden = (
        planned_trees(model, X[::2], Y[::2], structure=each)._served().plan
        for each in ("public", "hidden")
    )
    up, down = public.sizes()
    assert up + down < 14_000
    assert f"{up} up, {down} down with Trees(structure='public')" in str(hidden)
    up, down = hidden.sizes()
    assert f"{up} up, {down} down with Trees(structure='hidden')" in str(public)
    text = str(public)
    assert "THE CLIENT IS TOLD THE TREES" in text
    assert "by linear algebra" in text
    assert "linear algebra" not in str(hidden)
    assert public.error == hidden.error
    with pytest.raises(hesc.ParameterError, match="structure"):
        PrivateClassifier(model).fit(X, Y).plan(X, Trees(structure="open"))  # type: ignore[arg-type]


def test_outputs_share_the_leaves_of_their_trees() -> None:
    """A forest of ten classes has ten times the values, and the same leaves."""
    x, y = DATA["digits"]
    private = planned_trees(
        RandomForestClassifier(6, max_depth=4, random_state=0), x, y, structure="public"
    )
    plan = private._served().plan
    trees = [each.tree_.n_leaves for each in private.estimator_.estimators_]
    assert plan.forest.edges == sum(trees) - len(trees)
    assert plan.forest.outputs == [(1, 1)] * 10


def test_values_follow_from_as_many_scores_as_leaves() -> None:
    """What the plan says: a client that solves for values has them all, and no more is hidden."""
    private = planned_trees(GradientBoostingClassifier(**FEW), X, Y, structure="public")
    plan = private._served().plan
    run = private.run(X, fhe="simulate", progress=False)
    leaves = plan.prepared(X).features
    design = np.column_stack([leaves, np.ones(len(X))])
    solved, *_ = np.linalg.lstsq(design, run.scores, rcond=None)
    rng = np.random.default_rng(0)
    fresh = rng.normal(X.mean(axis=0), X.std(axis=0), X.shape)
    fresh = fresh[np.isin(plan.prepared(fresh).features, (0, 1)).all(axis=1)]
    own = private.run(fresh, fhe="simulate", progress=False).scores
    guessed = np.column_stack([plan.prepared(fresh).features, np.ones(len(fresh))]) @ solved
    assert np.linalg.matrix_rank(design) <= plan.forest.edges + 1
    # Leaves that rows at hand reach, but for what always comes together.
    assert np.mean(np.abs(own - guessed) < plan.unit / 4) > 0.5


def test_parties_apart() -> None:
    private = planned_trees(RandomForestClassifier(**FEW), X, Y, structure="public")
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


def test_servers_and_plans_that_do_not_fit() -> None:
    private = planned_trees(RandomForestClassifier(**FEW), X, Y, structure="public")
    server, plan = private.server(), private._served().plan
    own = server.model()
    # Other trees than the client was told; leaves that say more than is declared; counts that lie.
    other = (
        planned_trees(RandomForestClassifier(**FEW | {"random_state": 1}), X, Y, structure="public")
        .server()
        .model()
    )
    with pytest.raises((hesc.WireError, hesc.ShapeError)):
        type(server)(plan, **other)
    edges = own["edges"].copy()
    edges[-1] = 0 if edges[-1] else 1
    with pytest.raises((hesc.WireError, hesc.ShapeError)):
        type(server)(plan, **own | {"edges": edges})
    for more in (plan.forest.reach, 2**62, -(2**63)):
        with pytest.raises(hesc.OutOfRangeError):
            type(server)(plan, **own | {"values": own["values"] + more})
    for name in ("leaves", "values", "conditions", "negated", "terms", "edges"):
        for lie in (own[name][1:], np.concatenate([own[name], own[name][:1]])):
            with pytest.raises(hesc.ShapeError):
                type(server)(plan, **own | {name: lie})
    huge = own["leaves"].astype(np.uint32).copy()
    huge[0] = 2**32 - 1
    with pytest.raises(hesc.ShapeError):
        type(server)(plan, **own | {"leaves": huge})
    # Plans of one structure that say the other, or other trees.
    hidden = planned_trees(RandomForestClassifier(**FEW), X, Y, structure="hidden")._served().plan
    for given, change in (
        (plan, {"structure": "hidden"}),
        (hidden, {"structure": "public"}),
        (plan, {"structure": "open"}),
        (hidden, {"trees": (4,)}),
        (plan, {"trees": (5, 5)}),
        (plan, {"steps": plan.steps[:-1]}),
        (plan, {"forest": hidden.forest}),
    ):
        lie = dataclasses.replace(given, **change)
        with pytest.raises(hesc.WireError):
            TreesPlan.from_bytes(lie.to_bytes())


def test_boxes_of_a_document_lie_within_it() -> None:
    plan = planned_trees(RandomForestClassifier(**FEW), X, Y, structure="public")._served().plan
    document = json.loads(plan.to_bytes())
    step = document["steps"][-1]
    assert step["step"] == "inside"
    for name in ("conditions", "negated", "terms", "columns"):
        lie = json.loads(plan.to_bytes())
        lie["steps"][-1][name] = document["steps"][-1]["terms"] | {"f8": "AAAA"}
        with pytest.raises(hesc.WireError):
            TreesPlan.from_bytes(json.dumps(lie).encode())


@pytest.mark.parametrize("seed", range(6))
def test_boxes_are_the_definition(seed: int) -> None:
    """Random conditions on random bits: any of them, or none."""
    rng = np.random.default_rng(seed)
    width, count = 9, 20
    conditions = rng.integers(0, 4, count)
    negated = rng.integers(0, 2, conditions.sum())
    terms = rng.integers(0, 4, conditions.sum())
    columns = rng.integers(0, width, terms.sum())
    numbers = (each.astype(float) for each in (conditions, negated, terms, columns))
    step = Inside(width, *numbers)
    rows = rng.integers(0, 2, (50, width)).astype(float)
    found = transforms.transformed([step], rows)
    ends = np.cumsum(terms)
    holds = [
        rows[:, columns[end - size : end]].any(axis=1) == bool(wanted)
        for wanted, size, end in zip(negated, terms, ends, strict=True)
    ]
    at = np.cumsum(conditions)
    for place, (size, end) in enumerate(zip(conditions, at, strict=True)):
        expected = np.ones(len(rows), dtype=bool)
        for each in holds[end - size : end]:
            expected &= each
        assert (found[:, place] == expected).all()


def test_forms_are_the_sums_of_boxes() -> None:
    private = planned_trees(
        HistGradientBoostingClassifier(max_iter=5, random_state=0),
        *DATA["digits"],
        structure="public",
    )
    backend = private._served()
    x = DATA["digits"][0]
    bits = transforms.transformed(backend.plan.steps[:-1], x)
    made = linear_forms.of(backend.boxes, bits.shape[1])
    reached = transforms.transformed([made.step], bits) != 0
    assert (made.sums(reached) == backend.boxes.sums(bits != 0)).all()

"""An objective chooses among plans, and what it chooses is served: laws of `plan(objective=)`."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc.ml import (
    Classes,
    Outsourced,
    Parties,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateNeighbours,
    PrivateRegressor,
    PrivateSquareNetwork,
    Scores,
    Search,
    Streams,
)
from hesc.planner import OBJECTIVES, decide
from hesc.planner.decision import cost, objective
from hesc.protocols import registry
from hesc.protocols.candidates import CANDIDATES
from hesc.streams.iris import load_network
from tests.toy_protocol.options import Whole

if TYPE_CHECKING:
    from pathlib import Path

    from hesc.protocols.backend import Table
    from hesc.protocols.candidates.served import Choice

X, Y = load_iris(return_X_y=True)


def _random(seed: int) -> Any:
    return make_classification(
        80, 4 + seed, n_redundant=0, n_informative=4, class_sep=2.0, random_state=seed
    )


def _linear(seed: int) -> tuple[Any, Any, Any]:
    rows, labels = _random(seed)
    return PrivateClassifier(LogisticRegression()).fit(rows, labels), rows, None


def _regressor(seed: int) -> tuple[Any, Any, Any]:
    rows, target = make_regression(60, 3 + seed, random_state=seed)
    return PrivateRegressor(LinearRegression()).fit(rows, target), rows, None


def _encrypted(seed: int) -> tuple[Any, Any, Any]:
    private, rows, _ = _linear(seed)
    return private, rows, Outsourced(own_model=bool(seed % 2))


def _parties(seed: int) -> tuple[Any, Any, Any]:
    private, rows, _ = _regressor(seed)
    return private, rows, Parties({"one": [0], "two": list(range(1, rows.shape[1]))})


def _tree(seed: int) -> tuple[Any, Any, Any]:
    rows, labels = _random(seed)
    tree = DecisionTreeClassifier(max_depth=2, random_state=seed)
    return PrivateClassifier(tree).fit(rows, labels), rows, Classes(batch=1 + 19 * (seed % 2))


def _neighbours(seed: int) -> tuple[Any, Any, Any]:
    rows, labels = _random(seed)
    private = PrivateNeighbours(KNeighborsClassifier(3 + seed)).fit(rows, labels)
    return private, rows, Search(records="public", min_agreement=0.8)


def _network(seed: int) -> tuple[Any, Any, Any]:
    rows, labels = _random(seed)
    network = MLPClassifier((3,), alpha=1.0, solver="lbfgs", max_iter=2000, random_state=seed)
    return PrivateMLPClassifier(network).fit(rows, labels), rows, None


def _square(seed: int) -> tuple[Any, Any, Any]:
    options = Streams(stream_length=16 << seed)
    return PrivateSquareNetwork.from_network(load_network()), X, options


MODELS: Final = {
    "linear": _linear,
    "regressor": _regressor,
    "encrypted": _encrypted,
    "parties": _parties,
    "tree": _tree,
    "neighbours": _neighbours,
    "network": _network,
    "square": _square,
}
SMALL: Final = list(MODELS)[:6]
"""Models whose plans take moments."""
PLANNER: Final = {candidate.name for candidate in CANDIDATES}


@cache
def fitted(name: str, seed: int) -> tuple[Any, Any, Any]:
    return MODELS[name](seed)


SIZES: Final[dict[bytes, Any]] = {}
"""Bytes of runs, by plan."""


def check(private: Any, rows: Any, wanted: str) -> Choice:
    """The laws of a choice, and an encrypted run of each plan that was chosen."""
    found: Choice = private.decision_
    plan = private._served().plan
    costs = {estimate.way: found.cost(estimate) for estimate in found.estimates}
    # The best of the feasible ones is what is served.
    assert found.task.objective == wanted
    assert costs[found.chosen.way] == min(costs.values())
    assert found.backend is private._served()
    assert private.client().plan is plan
    # Each candidate is in one of the lists: served or not, feasible or not.
    feasible = [estimate.way for estimate in (*found.estimates, *found.unserved)]
    names = feasible + [way for way, *_ in found.infeasible]
    alone = {each.stands_for.name for each in found.candidates if each.stands_for is not None}
    assert len(set(names)) == len(names)
    assert set(names) == {each.name for each in found.candidates} | (PLANNER - alone)
    assert set(found.reasons()) == set(names) - {found.chosen.way}
    assert all(found.reasons().values())
    table = str(found)
    assert all(f"{name}" in table for name in names)
    assert ("alone keeps these options" in table) == (len(found.candidates) == 1)
    # Bytes are those of a run, for each plan that might have been served.
    samples = found.task.samples
    if plan.digest not in SIZES:
        SIZES[plan.digest] = private.run(rows[:samples], clip=True, progress=False).sizes
    assert (found.chosen.up, found.chosen.down) == SIZES[plan.digest] == plan.sizes(samples)
    return found


@pytest.mark.parametrize(("name", "seed"), [*product(MODELS, [0]), *product(SMALL, [1])])
def test_what_is_best_by_an_objective_is_served(name: str, seed: int) -> None:
    private, rows, options = fitted(name, seed)
    for wanted in OBJECTIVES:
        plan = private.plan(rows, options, objective=wanted)
        assert plan is private._served().plan
        check(private, rows, wanted)


def test_all_plans_that_might_be_served_run_as_predicted() -> None:
    """Bytes and what the server holds exactly; errors within what is stated, or nearly."""
    for name in MODELS:
        private, rows, options = fitted(name, 1)
        private.plan(rows, options, objective="bytes")
        found = private.decision_
        found.measure(rows[: found.task.samples], repetitions=1)
        for estimate in found.estimates:
            measured = found.measured[estimate.way]
            assert (measured.up, measured.down) == (estimate.up, estimate.down)
            assert measured.memory == estimate.memory
            bound = 7 * estimate.error if found.task.disclose == "scores" else 0.3
            assert measured.error <= bound
            assert objective(found.task, measured.seconds, measured) > 0


def test_objectives_choose_different_engines_and_bits() -> None:
    private = PrivateClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, Y)
    engines = {wanted: private.plan(X, Classes(), objective=wanted).engine for wanted in OBJECTIVES}
    assert engines["bytes"] == "bootstrapped"
    assert engines["memory"] == "prime"
    assert private.plan(X, Classes(engine="binary"), objective="bytes").engine == "binary"
    assert "integers binary alone keeps these options" in str(private.decision_)
    near, rows, options = fitted("neighbours", 0)
    fewest = near.plan(rows, options, objective="bytes")
    assert fewest.agreement >= 0.8
    assert fewest.step >= near.plan(rows, options).step
    asked = replace(options, bits=10)
    assert near.plan(rows, asked, objective="memory").step < fewest.step
    assert "neighbours alone keeps these options" in str(near.decision_)


def test_plans_without_an_objective_are_as_ever() -> None:
    private, rows, _ = fitted("linear", 0)
    plan = private.plan(rows)
    assert not hasattr(private, "decision_")
    with pytest.raises(AttributeError, match="an objective was asked for"):
        _ = private.decision_
    chosen = private.plan(rows, objective="latency")
    assert chosen.to_bytes() == plan.to_bytes()
    assert private.decision_.chosen.way == "ring products"
    assert "not ckks columns: estimators do not serve it; " in str(private.decision_)
    assert "times the latency" in private.decision_.reasons()["ckks columns"]
    # Of another plan, or of a model that is fitted again or pickled, it says nothing.
    assert not hasattr(copy.deepcopy(private), "decision_")
    assert b"decision_" not in pickle.dumps(private)
    private.plan(rows)
    assert not hasattr(private, "decision_")
    assert not hasattr(clone(private), "decision_")


def test_what_cannot_be_is_refused() -> None:
    private, rows, _ = fitted("linear", 1)
    for wrong in ("time", "", None.__class__, 3):
        with pytest.raises(hesc.ParameterError, match=r"objective.*latency"):
            private.plan(rows, objective=wrong)
    with pytest.raises(hesc.ParameterError, match="not served here"):
        private.plan(rows, Search(records="public"), objective="bytes")
    # As without an objective: the reason against the first plan.
    for options in (Scores(max_error=1e-30), Classes(bits=1, min_agreement=1.0), Classes(batch=0)):
        with pytest.raises(hesc.HescError) as alone:
            private.plan(rows, options)
        with pytest.raises(type(alone.value)) as among:
            private.plan(rows, options, objective="bytes")
        assert str(among.value) == str(alone.value)
    with pytest.raises(hesc.ParameterError, match="engine"):
        private.plan(rows, Classes(engine="steam"), objective="bytes")


def test_other_candidates_know_nothing_of_a_model_but_what_is_asked() -> None:
    private, rows, _ = fitted("tree", 0)
    private.plan(rows, Classes(engine="bootstrapped"), objective="bytes")
    alone = decide(private.decision_.task)
    assert not alone.estimates
    assert {way for way, *_ in alone.infeasible} == PLANNER
    with pytest.raises(hesc.ShapeError):
        private.decision_.measure(rows[:, 1:])


def test_hidden_models_have_one_plan() -> None:
    private, rows, _ = fitted("linear", 0)
    private.plan(rows, Scores(hidden=True, answers=2), objective="latency")
    told = str(private.decision_)
    assert "ring products alone keeps these options" in told
    assert "this plan hides its weights" in told
    assert not private.decision_.chosen.sees.noise_tells


def test_tables_are_printed_to_who_looks(capsys: pytest.CaptureFixture[str]) -> None:
    private, rows, _ = fitted("linear", 0)
    private.plan(rows, objective="bytes", table=True)
    assert capsys.readouterr().out == f"{private.decision_}\n"
    private.plan(rows, table=True)
    printed = capsys.readouterr().out
    assert "served by Scores()" in printed
    assert "compared only" in printed


def test_a_choice_is_in_the_report(tmp_path: Path) -> None:
    private, rows, _ = fitted("linear", 0)
    private.plan(rows, objective="bytes")
    private.save(tmp_path / "a", sample=0)
    page = (tmp_path / "a" / "report.html").read_text()
    assert "estimators do not serve it" in page
    private.plan(rows)
    private.save(tmp_path / "b", sample=0)
    assert "estimators do not serve it" not in (tmp_path / "b" / "report.html").read_text()


class _Either(PrivateRegressor):
    """A regressor that the toy serves, or ring products."""

    _backends: ClassVar[Table] = {
        Scores: "hesc.protocols.linear.backend:LinearBackend",
        Outsourced: "hesc.protocols.outsourced.backend:OutsourcedBackend",
        Whole: "tests.toy_protocol.backend:ToyBackend",
    }


class _Toy(PrivateRegressor):
    """A regressor that the toy alone serves."""

    _backends: ClassVar[Table] = {Whole: "tests.toy_protocol.backend:ToyBackend"}


def test_a_protocol_of_the_registry_takes_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy says nothing of the planner."""
    monkeypatch.setitem(registry.PROTOCOLS, "toy", registry.Protocol("tests.toy_protocol", "Toy"))
    rows = np.random.default_rng(1).integers(-9, 10, (60, 3)).astype(np.float64)
    target = rows @ [2, -3, 0] + 4
    both = _Either(LinearRegression()).fit(rows, target)
    for wanted in OBJECTIVES:
        both.plan(rows, objective=wanted)
        found = check(both, rows, wanted)
        assert {each.way for each in found.estimates} == {"ring products", "toy_protocol"}
        assert found.chosen.way == "ring products"
    assert "not timed" in str(found)
    alone = _Toy(LinearRegression()).fit(rows, target)
    alone.plan(rows, objective="bytes")
    check(alone, rows, "bytes")
    assert alone.decision_.measure(rows[:1], repetitions=1).measured["toy_protocol"].error < 1e-9
    # Options that are given say which protocol.
    both.plan(rows, Whole(), objective="bytes")
    assert both.decision_.chosen.way == "toy_protocol"
    # What it refuses is a candidate all the same.
    part = _Either(LinearRegression()).fit(rows, target / 7)
    part.plan(rows, objective="bytes")
    assert "whole numbers" in part.decision_.reasons()["toy_protocol"]
    assert cost(found.task, found.calibration, found.chosen) == found.cost(found.chosen)

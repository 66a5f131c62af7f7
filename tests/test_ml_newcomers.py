"""What somebody meets who has a model and never saw hesc.ml: refusals say what to do."""

from __future__ import annotations

import shutil
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.impute import KNNImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc.ml import (
    Classes,
    ClientFolder,
    ClippedWarning,
    Network,
    OwnerFolder,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateNeighbours,
    PrivateRegressor,
    Scores,
    Search,
    ServerFolder,
    Trees,
)
from hesc.planner.deciding import _apart

if TYPE_CHECKING:
    from pathlib import Path

X, Y = load_iris(return_X_y=True)


def linear() -> PrivateClassifier:
    return PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "remedy"),
    [
        (GridSearchCV(SVC(), {"C": [1]}), "nearest: SVC.kernel='linear'.*LinearSVC"),
        (LinearRegression(), "nearest: PrivateRegressor"),
        (LogisticRegression, r"is a class; .* LogisticRegression\(\)"),
        (make_pipeline(KNNImputer(), LogisticRegression()), "nearest: SimpleImputer"),
        (make_pipeline(KernelCenterer(), LogisticRegression()), "Taken here"),
    ],
    ids=["search", "regressor", "class", "imputer", "centerer"],
)
def test_what_is_not_computed_is_refused_with_what_would_do(estimator: Any, remedy: str) -> None:
    with pytest.raises(hesc.ParameterError, match=remedy):
        PrivateClassifier(estimator).fit(X, Y)


def test_classifiers_are_not_taken_for_regressors() -> None:
    with pytest.raises(hesc.ParameterError, match="nearest: PrivateClassifier"):
        PrivateRegressor(LogisticRegression()).fit(X, Y)


@pytest.mark.parametrize(
    "remedy", [GridSearchCV(LogisticRegression(max_iter=500), {"C": [1]}, cv=2)]
)
def test_the_remedy_for_a_search_works(remedy: Any) -> None:
    found = remedy.fit(X, Y).best_estimator_
    assert PrivateClassifier.from_fitted(found).plan(X).agreement > 0.9


def test_remedies_for_trees_work() -> None:
    """Refusals name a wish; with it the same model is planned."""
    deep = PrivateClassifier(DecisionTreeClassifier(max_depth=3, random_state=0)).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match=r"Trees\(\)\) computes"):
        deep.plan(X, Scores())
    deep.plan(X, Trees())
    deep.plan(X)
    forest = PrivateClassifier(RandomForestClassifier(5, random_state=0)).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match=r"Trees\(\)\) computes"):
        forest.plan(X, Scores(refit="additive", min_fidelity=1))
    stumps = PrivateClassifier(GradientBoostingClassifier(max_depth=1, random_state=0)).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match="bins='thresholds'") as refused:
        stumps.plan(X, Scores(bins=2, min_fidelity=0.999))
    assert "Trees()" not in str(refused.value)
    assert stumps.plan(X, Scores(bins="thresholds", min_fidelity=0.999)).fidelity.agreement == 1


@pytest.mark.parametrize("ranges", [[(0, 8)] * 4, {"a": (0, 8)}, [0, 8, 9]], ids=type)
def test_ranges_of_another_form_are_told_apart(ranges: Any) -> None:
    made = linear()
    with pytest.raises(hesc.ShapeError, match=r"tuple\(zip\(\*pairs\)\)"):
        made.plan(X, Scores(ranges=ranges))
    pairs = [(0, 8)] * 4
    low, high = tuple(zip(*pairs, strict=True))
    made.plan(X, Scores(ranges=(low, high)))


@pytest.mark.parametrize("options", [Scores(), Classes(min_agreement=0)], ids=str)
def test_ranges_that_leave_rows_out_are_warned_of(options: Any) -> None:
    """As many rows as lie beyond are told; one in a hundred is no news."""
    made = linear()
    high = np.sort(X[:, 0])[-20]
    with pytest.warns(UserWarning, match=rf"^{(X[:, 0] > high).sum()} of 150 rows planned") as told:
        made.plan(X, replace(options, ranges=(0, [high, 8, 8, 8])))
    assert [each.filename for each in told] == [__file__]
    assert f"most of them in feature 0, which is {X[:, 0].min():g} to" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.plan(X, replace(options, ranges=(0, [np.sort(X[:, 0])[-2], 8, 8, 8])))


def test_ranges_of_networks_are_warned_of() -> None:
    inner = MLPClassifier((4,), alpha=0.1, max_iter=3000, random_state=0)
    made = PrivateMLPClassifier(inner).fit(X, Y)
    with pytest.warns(UserWarning, match="rows planned with lie beyond"):
        made.plan(X, Network(ranges=(0, [6, 8, 8, 8])))


def test_rows_that_do_not_vary_are_refused() -> None:
    with pytest.raises(hesc.ParameterError, match="no feature varies"):
        linear().plan(X[:1])
    assert linear().plan(X[:1], Scores(ranges=(0, 8))).agreement is not None


def test_clipping_is_warned_of_where_it_was_asked_for() -> None:
    """Through however many methods: the line that called hesc."""
    made = linear()
    made.plan(X, Scores(ranges=(0, 8)))
    for call in (made.run, made.predict, made.decision_function, made.predict_proba):
        with pytest.warns(ClippedWarning) as told:
            call(np.full((2, 4), 9.0), fhe="simulate", clip=True)
        assert [each.filename for each in told] == [__file__]


def test_values_beyond_are_counted_and_told_what_to_do() -> None:
    made = linear()
    made.plan(X, Scores(ranges=(0, 8)))
    beyond = X[:5].copy()
    beyond[3, 2] = 9
    said = r"feature 2 of sample 3 .* 1 of 20 values are. clip=True, or --clip"
    with pytest.raises(hesc.OutOfRangeError, match=said):
        made.run(beyond)


def test_a_model_with_names_is_saved_without_a_word(tmp_path: Path) -> None:
    """The planning rows have lost their names, which is nobody's mistake."""
    model = LogisticRegression(max_iter=500).fit(X, Y)
    model.feature_names_in_ = np.array(["a", "b", "c", "d"], dtype=object)
    made = PrivateClassifier.from_fitted(model)
    _planned_quietly(made)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.save(tmp_path / "made", sample=10)


def _planned_quietly(made: PrivateClassifier) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made.plan(X)


def test_folders_of_the_other_side_are_named(tmp_path: Path) -> None:
    made = linear()
    made.plan(X)
    folder = made.save(tmp_path / "made", sample=0)
    with pytest.raises(
        hesc.WireError, match="is the server folder, where the client folder belongs"
    ):
        ClientFolder.open(folder / "server")
    with pytest.raises(
        hesc.WireError, match="is the client folder, where the server folder belongs"
    ):
        ServerFolder.open(folder / "client")
    with pytest.raises(hesc.WireError, match="is the deployment, where the client folder belongs"):
        ClientFolder.open(folder)
    with pytest.raises(hesc.WireError, match=r"lacks manifest\.json"):
        OwnerFolder.open(tmp_path)
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        ClientFolder.open(folder / "client")


def test_neighbours_are_told_what_is_left_to_do() -> None:
    made = PrivateNeighbours(KNeighborsClassifier()).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match=r"StandardScaler first, ask for more bits="):
        made.plan(X, Search(records="public", bits=2, min_agreement=1))


@pytest.mark.parametrize("more", [1e-1, 1e-4, 1e-9, 1e-15])
def test_figures_that_differ_look_different(more: float) -> None:
    first, second = _apart(0.0037 * (1 + more), 0.0037).split(", above ")
    assert float(first) > float(second)


WEIGHTS = np.random.default_rng(0).uniform(size=len(X))
ONE = ("sample_weight",)


@pytest.mark.parametrize(
    ("model", "own"),
    [
        (LogisticRegression(max_iter=500), ONE),
        (make_pipeline(StandardScaler(), LogisticRegression()), ("logisticregression__", *ONE)),
        (
            GridSearchCV(make_pipeline(make_pipeline(RidgeClassifier())), {}, cv=2),
            ("pipeline__ridgeclassifier__", *ONE),
        ),
        (VotingClassifier([("a", LogisticRegression(max_iter=500))], voting="soft"), ONE),
    ],
    ids=["alone", "pipeline", "search", "votes"],
)
def test_weights_of_samples_go_where_they_are_taken(model: Any, own: tuple[str, ...]) -> None:
    weights = list(WEIGHTS)
    private = PrivateClassifier(model).fit(X, Y, sample_weight=weights)
    expected = clone(model).fit(X, Y, **{"".join(own): WEIGHTS})
    assert np.array_equal(private.predict(X), expected.predict(X))
    found, plain = private._clear_scores(X), PrivateClassifier(model).fit(X, Y)._clear_scores(X)
    assert np.abs(found - plain).max() > 1e-3
    assert np.array_equal(found, PrivateClassifier.from_fitted(expected)._clear_scores(X))
    assert weights == list(WEIGHTS)


def test_weights_of_regressors_and_networks() -> None:
    target = X[:, 0] ** 2
    for model in (TransformedTargetRegressor(Ridge()), StackingRegressor([("a", Ridge())], cv=2)):
        found = PrivateRegressor(model).fit(X, target, sample_weight=WEIGHTS).predict(X)
        assert np.array_equal(found, model.fit(X, target, sample_weight=WEIGHTS).predict(X))
    network = MLPClassifier((3,), max_iter=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PrivateMLPClassifier(network).fit(X, Y, sample_weight=WEIGHTS)
    with config_context(enable_metadata_routing=True):
        asked = make_pipeline(Ridge().set_fit_request(sample_weight=True))
        found = PrivateRegressor(asked).fit(X, target, sample_weight=WEIGHTS).predict(X)
    assert np.array_equal(found, Ridge().fit(X, target, sample_weight=WEIGHTS).predict(X))


@pytest.mark.parametrize(
    ("private", "name"),
    [
        (PrivateNeighbours(KNeighborsClassifier()), "KNeighborsClassifier"),
        (PrivateClassifier(OneVsRestClassifier(RidgeClassifier())), "OneVsRestClassifier"),
        (
            PrivateClassifier(make_pipeline(LinearDiscriminantAnalysis())),
            "LinearDiscriminantAnalysis",
        ),
    ],
)
def test_weights_that_nobody_takes_are_refused(private: Any, name: str) -> None:
    with pytest.raises(hesc.ParameterError, match=f"{name} takes no sample_weight in fit"):
        private.fit(X, Y, sample_weight=WEIGHTS)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"hidden": True}, r"no hidden=, which is an option: plan\(X, Scores\(hidden=...\)\)$"),
        ({"bits": 3}, r"plan\(X, Classes\(bits=...\)\)"),
        ({"max_error": 1}, r"plan\(X, Scores\(max_error=...\)\) or plan\(X, Outsourced\("),
        ({"hidden": True, "bits": 3}, r"Scores\(hidden=...\)\); plan\(\) has no bits="),
        (
            {"colour": 3},
            "no colour=, and none of Scores, Outsourced, Parties, Classes, Trees has it",
        ),
    ],
)
def test_arguments_that_are_options_say_whose(arguments: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        linear().plan(X, **arguments)

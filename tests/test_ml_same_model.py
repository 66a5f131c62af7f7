"""Plans are of one model, computed as scikit-learn computes it, and nobody changes them later."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hesc
from hesc.ml import (
    Classes,
    Network,
    Outsourced,
    Parties,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateRegressor,
    Scores,
)
from hesc.models import transforms
from hesc.models.steps import transforms_of
from hesc.protocols.networks.plan import NetworkPlan

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

X, Y = load_iris(return_X_y=True)
SCALERS = {
    "standard": StandardScaler(),
    "standard, no mean": StandardScaler(with_mean=False),
    "standard, no deviation": StandardScaler(with_std=False),
    "robust": RobustScaler(),
    "robust, to deviations": RobustScaler(unit_variance=True),
    "largest": MaxAbsScaler(),
    "range": MinMaxScaler((-2, 3)),
    "range, clipped": MinMaxScaler(clip=True),
    "products": PolynomialFeatures(4),
    "products of others": PolynomialFeatures((2, 3), interaction_only=True, include_bias=False),
}
CHANGED = "has changed since it was planned"


# To the last bit ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCALERS)
def test_transforms_are_scikit_learns_to_the_last_bit(name: str) -> None:
    """What stands behind them may tell numbers apart that differ in that bit."""
    rng = np.random.default_rng(0)
    part = clone(SCALERS[name]).fit(rng.integers(0, 20, (300, 4)) * rng.uniform(0.1, 3, 4))
    for x in (rng.integers(-50, 50, (2000, 4)) * 0.3, rng.normal(size=(2000, 4)) * 1e5):
        found = transforms.transformed(transforms_of(part), np.asarray(x, dtype=np.float64))
        assert np.array_equal(found, part.transform(x))


@pytest.mark.parametrize("scaler", [StandardScaler(), RobustScaler(), MaxAbsScaler()])
def test_samples_on_thresholds_fall_to_their_side(scaler: Any) -> None:
    """Trained on even numbers, thresholds are odd ones, and half of what is asked about is odd."""
    rng = np.random.default_rng(3)
    x = 2.0 * rng.integers(0, 20, (400, 4))
    y = (x.sum(1) + rng.normal(0, 8, 400) > 76).astype(int)
    boosted = HistGradientBoostingClassifier(max_depth=1, random_state=0)
    private = PrivateClassifier(make_pipeline(clone(scaler), boosted)).fit(x, y)
    new = rng.integers(0, 39, (400, 4)).astype(float)
    private.plan(x, Scores(bins="thresholds", max_error=1e-3))
    run = private.run(new, progress=False)
    off = np.abs(run.scores - private.decision_function(new)).max()
    assert off < 7 * run.error


def test_bins_behind_scalers_are_planned_and_right() -> None:
    """Edges are quantiles: values of the data, on which every second sample lies."""
    binned = make_pipeline(
        StandardScaler(),
        KBinsDiscretizer(5, quantile_method="averaged_inverted_cdf"),
        LogisticRegression(),
    )
    private = PrivateClassifier(binned).fit(X, Y)
    private.plan(X[::5])
    run = private.run(X, progress=False, clip=True)
    assert np.abs(run.scores - private.decision_function(X)).max() < 7 * run.error


# Whose arrays -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        Classes(engine="binary"),
        Parties({"a": [0, 1], "b": [2, 3]}),
        Outsourced(),
        Scores(),
    ],
)
def test_ranges_and_classes_are_not_the_callers_to_change(options: Any) -> None:
    low, high = np.zeros(4), np.full(4, 9.0)
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(
        X, np.array(["a", "b", "c"])[Y]
    )
    plan = private.plan(X, replace(options, ranges=(low, high)))
    before, expected = plan.to_bytes(), private.predict(X)
    low -= 20
    high += 1
    assert plan.to_bytes() == before
    assert np.mean(private.predict(X, fhe="simulate", random_state=0) == expected) > 0.9
    private.classes_[:] = private.classes_[::-1].copy()
    assert plan.to_bytes() == before
    with pytest.raises(hesc.ParameterError, match=CHANGED):
        private.predict(X, fhe="simulate")


def test_a_networks_ranges_are_its_own() -> None:
    low, high = np.zeros(4), np.full(4, 9.0)
    inner = MLPClassifier((4,), alpha=0.1, max_iter=3000, random_state=0)
    private = PrivateMLPClassifier(inner).fit(X, Y)
    plan = private.plan(X, Network(ranges=(low, high)))
    before = plan.to_bytes()
    low -= 20
    assert plan.to_bytes() == before


# Which model --------------------------------------------------------------------------------------


def renamed(fitted: Any) -> None:
    fitted.classes_ = fitted.classes_[::-1].copy()


def another_leaf(fitted: Any) -> None:
    """One that the first hundred rows of a table in the order of classes never reach."""
    tree = fitted.tree_ if hasattr(fitted, "tree_") else fitted.estimators_[0].tree_
    leaf = tree.apply(X[-1:].astype(np.float32))[0]
    tree.value[leaf] = np.roll(tree.value[leaf], 1) if tree.value.shape[2] > 1 else 9.0


def another_stage(fitted: Any) -> None:
    tree = fitted.estimators_[0, 2].tree_
    tree.value[tree.apply(X[-1:].astype(np.float32))[0]] += 1


def another_loss(fitted: Any) -> None:
    fitted.set_params(loss="modified_huber")


FOREST = RandomForestClassifier(5, max_depth=2, random_state=0)
MODELS: dict[str, tuple[Any, Any, Callable[[Any], None]]] = {
    "classes": (LogisticRegression(max_iter=500), Scores(), renamed),
    "classes, outsourced": (LogisticRegression(max_iter=500), Outsourced(), renamed),
    "classes, of trees": (DecisionTreeClassifier(max_depth=2), Classes(), renamed),
    "a leaf": (DecisionTreeClassifier(max_depth=3), Classes(), another_leaf),
    "a leaf of a forest": (FOREST, Classes(min_agreement=0.9), another_leaf),
    "a leaf, fitted again": (FOREST, Scores(refit="additive"), another_leaf),
    "a leaf of a sum": (
        GradientBoostingClassifier(n_estimators=3, max_depth=1),
        Scores(),
        another_stage,
    ),
    "a loss": (SGDClassifier(loss="log_loss", random_state=0), Scores(), another_loss),
}


@pytest.mark.parametrize("name", MODELS)
def test_whatever_a_model_is_changed_in_is_noticed(name: str) -> None:
    """Its classes, a leaf that few rows reach, how scores become shares."""
    model, options, change = MODELS[name]
    private = PrivateClassifier(clone(model)).fit(X, Y)
    private.plan(X, options)
    private.predict(X[:2], fhe="simulate", random_state=0)
    change(private.estimator_)
    for fhe in ("simulate", "execute"):
        with pytest.raises(hesc.ParameterError, match=CHANGED):
            private.predict(X[:2], fhe=fhe)
    if change is not renamed:
        private.plan(X, options)
        assert len(private.predict(X[:2], fhe="simulate", random_state=0)) == 2


def test_leaves_of_regressors_are_noticed() -> None:
    private = PrivateRegressor(DecisionTreeRegressor(max_depth=2)).fit(X[:, :1], X[:, 2])
    private.plan(X[:, :1], Scores(bins="thresholds"))
    tree = private.estimator_.tree_
    tree.value[tree.apply(X[-1:, :1].astype(np.float32))[0]] = 9
    with pytest.raises(hesc.ParameterError, match=CHANGED):
        private.predict(X[:2, :1], fhe="simulate")


def test_what_networks_say_is_noticed() -> None:
    inner = MLPClassifier((4,), alpha=0.1, max_iter=3000, random_state=0)

    def shares(fitted: Any) -> None:
        fitted.out_activation_ = "logistic"

    def names(fitted: Any) -> None:
        fitted._label_binarizer.classes_ = fitted._label_binarizer.classes_[::-1].copy()

    fitted = PrivateMLPClassifier(inner).fit(X, Y)
    for change in (renamed, shares, names):
        private = PrivateMLPClassifier.from_fitted(fitted.estimator_)
        private.plan(X)
        kept = dict(vars(private.estimator_))
        binarizer = private.estimator_._label_binarizer.classes_
        change(private.estimator_)
        with pytest.raises(hesc.ParameterError, match=CHANGED):
            private.predict(X[:2], fhe="simulate")
        vars(private.estimator_).update(kept)
        private.estimator_._label_binarizer.classes_ = binarizer


# Counts -------------------------------------------------------------------------------------------


def in_a_child(work: Callable[[], object]) -> str:
    """What work raises in a forked process."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            work()
            said = "nothing"
        except hesc.HescError as error:
            said = str(error)
        os.write(write, said.encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as file:
        return file.read()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_does_not_double_what_a_hidden_model_gives() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    linear = PrivateClassifier(make_pipeline(StandardScaler(), RidgeClassifier())).fit(x, y)
    linear.plan(x, Scores(hidden=True, max_error=0.05, answers=29))
    client = linear.client()
    server = linear.server(keys=client.public_keys())
    query = client.encrypt(x[:1]).data
    assert "forked" in in_a_child(partial(server.answer, query))
    assert server.answers_left == 29
    server.answer(query)
    assert server.answers_left == 28


# Samples ------------------------------------------------------------------------------------------


def test_clipped_samples_of_networks_are_counted_once_each() -> None:
    """One beyond a range, one beyond the ball alone, and one beyond both."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 12))
    y = (x[:, 0] > 0).astype(int)
    inner = MLPClassifier((4,), alpha=0.1, max_iter=3000, random_state=0)
    plan = PrivateMLPClassifier(inner).fit(x, y).plan(x)
    assert isinstance(plan, NetworkPlan)
    low, high = x.min(axis=0), x.max(axis=0)
    middle = (low + high) / 2
    beyond = middle.copy()
    beyond[0] = high[0] + 1
    corner = low + 1e-9 * (high - low)
    both = corner.copy()
    both[0] -= 1
    with pytest.raises(hesc.OutOfRangeError, match="unlike the data"):
        plan.prepared([corner])
    for samples, count in (([beyond], 1), ([corner], 1), ([both], 1), ([beyond, corner, both], 3)):
        ready = plan.prepared([middle, *samples], clip=True)
        assert ready.samples == count
        assert ready.which.tolist() == [False] + [True] * count


def test_masked_samples_are_refused() -> None:
    """scikit-learn takes what is hidden as it is, and it would become a public range."""
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    hidden: NDArray[Any] = np.ma.masked_array(X.copy(), mask=X > 7)
    with pytest.raises(hesc.ShapeError, match="masked"):
        private.plan(hidden)
    private.plan(X)
    for call in (private.run, private.predict, private.predict_proba):
        with pytest.raises(hesc.ShapeError, match="masked"):
            call(hidden)


@pytest.mark.parametrize("first", ["passthrough", None])
def test_pipelines_may_begin_with_nothing(first: Any) -> None:
    private = PrivateClassifier(make_pipeline(first, LogisticRegression(max_iter=500))).fit(X, Y)
    private.plan(X, Scores(max_error=1e-6))
    assert np.array_equal(private.predict(X, fhe="execute"), private.predict(X))
    inner = MLPClassifier((4,), alpha=0.1, max_iter=3000, random_state=0)
    assert PrivateMLPClassifier(make_pipeline(first, inner)).fit(X, Y).plan(X).inputs == 4


def test_scores_that_hide_their_differences_are_refused() -> None:
    """Two classes that are apart by little, beside scores of a third that are 10^16."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(at, 1e-8, (50, 1)) for at in (0, 1, 1 + 8e-8)])
    narrow = GaussianNB(var_smoothing=1e-30).fit(x, np.repeat([0, 1, 2], 50))
    with pytest.raises(hesc.ParameterError, match=r"before they cancel.*StandardScaler"):
        PrivateClassifier.from_fitted(narrow).plan(x, Scores(max_error=1e-3))


def test_modes_are_names() -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    private.plan(X)
    wrong: Any = ["execute"]
    with pytest.raises(hesc.ParameterError, match="simulate or execute"):
        private.run(X, fhe=wrong)


def test_keys_of_networks_are_as_large_as_said() -> None:
    inner = MLPClassifier((4,), alpha=0.1, max_iter=3000, random_state=0)
    private = PrivateMLPClassifier(inner).fit(X, Y)
    plan = private.plan(X)
    assert abs(len(private.client().public_keys()) - plan.key_bytes) < 100

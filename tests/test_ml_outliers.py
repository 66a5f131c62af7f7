"""Isolation forests for encrypted samples: verdicts and scores are scikit-learn's."""

from __future__ import annotations

import csv
import pickle
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.covariance import EllipticEnvelope
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

import hesc
from hesc.cli import files
from hesc.ml import (
    Classes,
    ClientFolder,
    PrivateClassifier,
    PrivateOutlierDetector,
    PrivateRegressor,
    Scores,
    Trees,
)
from hesc.models import extraction
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

X: Final[Array] = load_breast_cancer().data
FEW: Final = {"n_estimators": 7, "random_state": 0}
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "by default": {},
    "a share of outliers": {"contamination": 0.1},
    "half of them outliers": {"contamination": 0.5},
    "some features": {"max_features": 0.3},
    "one feature": {"max_features": 1, "contamination": 0.2},
    "drawn again": {"bootstrap": True, "contamination": 0.05},
    "few samples": {"max_samples": 32},
    "a share of samples": {"max_samples": 0.7, "max_features": 5, "bootstrap": True},
    "one tree": {"n_estimators": 1, "contamination": 0.3},
}


def planned(rows: Array, **options: Any) -> PrivateOutlierDetector:
    made = PrivateOutlierDetector(IsolationForest(**{**FEW, **options})).fit(rows)
    made.plan(rows, table=False)
    return made


def at_thresholds(forest: IsolationForest, rows: Array, seed: int) -> Array:
    """Rows some features of which are thresholds as scikit-learn has them, or a number beside."""
    rng = np.random.default_rng(seed)
    found = rows.copy()
    for tree, columns in zip(forest.estimators_, forest.estimators_features_, strict=True):
        own = tree.tree_
        for node in rng.choice(np.flatnonzero(own.children_left >= 0), 5):
            place = columns[own.feature[node]] if forest._max_features < 30 else own.feature[node]
            ends = rng.choice([-np.inf, 0, np.inf])
            at = own.threshold[node]
            found[rng.integers(len(rows)), place] = at if not ends else np.nextafter(at, ends)
    return found


@pytest.mark.parametrize("name", OPTIONS)
def test_decrypted_scores_are_those_of_scikit_learn(name: str) -> None:
    private = planned(X[::2], **OPTIONS[name])
    forest, plan = private.estimator_, private._served().plan
    rows = np.concatenate([X[::2][:20], X[1::9], at_thresholds(forest, X[1::4], 0)])
    assert len(rows) > 220
    own = clone(private.estimator).fit(X[::2])
    said = own.score_samples(rows)
    np.testing.assert_array_equal(private.score_samples(rows), said)
    np.testing.assert_array_equal(private.decision_function(rows), own.decision_function(rows))
    np.testing.assert_array_equal(private.predict(rows), own.predict(rows))
    run = private.run(rows, progress=False)
    wanted = np.log2(said / own.offset_)
    assert np.abs(run.scores - wanted).max() <= plan.error * (1 + 1e-9)
    np.testing.assert_array_equal(run.scores, private.run(rows, fhe="simulate").scores)
    # What a doubling is of an anomaly score that is no more than one.
    near = plan.error * np.log(2) * 1.001
    for method in ("score_samples", "decision_function"):
        found = getattr(private, method)(rows, fhe="simulate")
        assert np.abs(found - getattr(own, method)(rows)).max() <= near
    sure = np.abs(wanted) > plan.error
    np.testing.assert_array_equal(run.predictions[sure], own.predict(rows)[sure])
    assert sure.mean() > 0.8
    assert set(np.unique(run.predictions)) == {-1, 1}


@pytest.mark.parametrize("seed", range(20))
def test_forests_of_any_options(seed: int) -> None:
    """Sums of leaves in the clear, which are what is decrypted: `simulate` is `execute`."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(120, 4)).round(int(rng.integers(0, 3)))
    if seed % 3 == 0:
        rows[rng.random(rows.shape) < 0.1] = np.nan
    options: dict[str, Any] = {
        "n_estimators": int(rng.integers(1, 12)),
        "max_samples": int(rng.integers(2, 121)),
        "max_features": int(rng.integers(1, 5)),
        "bootstrap": bool(rng.integers(2)),
        "contamination": float(rng.choice([0.01, 0.2, 0.5])),
        "random_state": seed,
    }
    private = PrivateOutlierDetector(IsolationForest(**options))
    private.fit(rows, sample_weight=rng.integers(1, 3, 120) if seed % 2 else None)
    plan = private.plan(rows, Trees(sum_bits=24), table=False)
    clear = np.log2(private.score_samples(rows) / private.offset_)
    found = private.run(rows, fhe="simulate")
    assert np.abs(found.scores - clear).max() <= plan.error * (1 + 1e-9)
    sure = np.abs(clear) > plan.error
    np.testing.assert_array_equal(found.predictions[sure], private.predict(rows)[sure])
    assert plan.agreement >= sure.mean()


def test_who_is_at_the_threshold_is_none() -> None:
    """As in scikit-learn: of one tree scores are exact, and the threshold is one of them."""
    rows = np.repeat(np.arange(12.0), 10)[:, None]
    private = PrivateOutlierDetector(
        IsolationForest(n_estimators=1, contamination=0.3, random_state=2)
    ).fit(rows)
    private.plan(rows, table=False)
    at = private.decision_function(rows) == 0
    assert 0 < at.sum() < len(rows)
    assert (private.predict(rows)[at] == 1).all()
    run = private.run(rows, fhe="simulate")
    assert (run.scores[at] == 0).all()
    np.testing.assert_array_equal(run.predictions, private.predict(rows))


def test_more_trees_are_another_model() -> None:
    forest = IsolationForest(**FEW, warm_start=True).fit(X[::2])
    private = PrivateOutlierDetector.from_fitted(forest)
    private.plan(X[::2], table=False)
    before = private.run(X[:3], fhe="simulate").scores
    forest.set_params(n_estimators=9).fit(X[::2])
    more = PrivateOutlierDetector.from_fitted(forest)
    plan = more.plan(X[::2], table=False)
    assert plan.forest.outputs[0][0] == 9
    found = more.run(X[:3], fhe="simulate").scores
    assert np.abs(found - np.log2(forest.score_samples(X[:3]) / -0.5)).max() <= plan.error
    # A copy is kept of what was fitted before.
    np.testing.assert_array_equal(private.run(X[:3], fhe="simulate").scores, before)
    for change in (
        lambda: setattr(more.estimator_, "offset_", -0.6),
        lambda: more.fit(X[::3]),
    ):
        more.plan(X[::2], table=False)
        change()
        with pytest.raises(hesc.ParameterError, match="plan"):
            more.run(X[:1], fhe="simulate")


def test_missing_cells_and_steps_before() -> None:
    rng = np.random.default_rng(0)
    rows = X[::2, :5].copy()
    rows[rng.random(len(rows)) < 0.2, 1] = np.nan
    private = planned(rows)
    assert "feature 1" in str(private._served().plan) or "column 1" in str(private._served().plan)
    found = private.run(rows[:40], progress=False)
    clear = np.log2(private.score_samples(rows[:40]) / private.offset_)
    assert np.abs(found.scores - clear).max() <= found.error
    steps = make_pipeline(SimpleImputer(), StandardScaler(), IsolationForest(**FEW))
    behind = PrivateOutlierDetector(steps).fit(rows)
    behind.plan(rows, table=False)
    clear = np.log2(steps.fit(rows).score_samples(rows) / -0.5)
    assert np.abs(behind.run(rows, fhe="simulate").scores - clear).max() <= found.error * 2
    assert behind.offset_ == -0.5
    fitted = PrivateOutlierDetector(steps).fit(rows, sample_weight=np.ones(len(rows)))
    assert (fitted.predict(rows) == behind.predict(rows)).mean() > 0.9


@pytest.mark.parametrize("kind", ["csr", "pandas", "polars"])
def test_other_tables(kind: str) -> None:
    names = [f"f{place}" for place in range(5)]
    package = pytest.importorskip({"csr": "scipy.sparse"}.get(kind, kind))
    given: Callable[[Array], Any] = {
        "csr": lambda rows: package.csr_matrix(rows.tolist()),
        "pandas": lambda rows: package.DataFrame(rows, columns=names),
        "polars": lambda rows: package.DataFrame(rows, schema=names),
    }[kind]
    rows = X[::2, :5].round(1)
    table = given(rows)
    private = PrivateOutlierDetector(IsolationForest(**FEW, contamination=0.1)).fit(table)
    private.plan(table, table=False)
    np.testing.assert_array_equal(
        private.predict(given(rows[:5]), fhe="execute", progress=False),
        IsolationForest(**FEW, contamination=0.1).fit(rows).predict(rows[:5]),
    )


def test_from_a_folder_by_commands(tmp_path: Path) -> None:
    rows = X[::2, :4]
    private = PrivateOutlierDetector(IsolationForest(**FEW, contamination=0.1)).fit(rows)
    plan = private.plan(rows, names=list("abcd"), table=False)
    out = private.save(tmp_path / "d", sample=20)
    report = (out / "report.html").read_text()
    for said in ("outlier detector", "doublings of the anomaly score", "100.00 % (20 of 20)"):
        assert said in report
    assert str(plan).startswith("Private outlier detector: 7 trees")
    opened = ClientFolder.open(out / "client").plan
    assert opened.classes.tolist() == [1, -1]
    table = tmp_path / "r.csv"
    np.savetxt(table, rows[:30], delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    client, secret, keys = out / "client", tmp_path / "k", tmp_path / "keys"
    files.keygen(client, secret, keys)
    files.encrypt(table, client, secret, tmp_path / "q")
    files.evaluate(tmp_path / "q", out / "server", tmp_path / "a", keys)
    files.decrypt(tmp_path / "a", client, secret, tmp_path / "p")
    with (tmp_path / "p").open(newline="", encoding="utf-8") as found:
        told = list(csv.DictReader(found))
    assert [int(row["prediction"]) for row in told] == private.predict(rows[:30]).tolist()
    assert {"-1", "1"} == {row["prediction"] for row in told}
    score = next(name for name in told[0] if name.startswith("score"))
    clear = np.log2(private.score_samples(rows[:30]) / private.offset_)
    assert np.abs(np.array([float(row[score]) for row in told]) - clear).max() <= plan.error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("behind", [False, True])
def test_scikit_learns_own_checks(behind: bool) -> None:
    forest = IsolationForest(n_estimators=5, random_state=0)
    inner = make_pipeline(StandardScaler(), forest) if behind else forest
    check_estimator(PrivateOutlierDetector(inner))


def test_every_detector_is_tested_here() -> None:
    found = set(extraction.OUTLIERS)
    assert found == {IsolationForest}


def test_conventions() -> None:
    private = PrivateOutlierDetector(IsolationForest(**FEW))
    assert not hasattr(private, "offset_")
    found = private.fit_predict(X)
    np.testing.assert_array_equal(found, IsolationForest(**FEW).fit_predict(X))
    assert not hasattr(private, "classes_")
    assert private.offset_ == -0.5
    private.plan(X, table=False)
    with pytest.raises(hesc.ParameterError, match="there is no plan"):
        pickle.loads(pickle.dumps(private)).run(X[:1])  # noqa: S301 - made here
    with pytest.raises(hesc.ParameterError, match="progress: of fhe='simulate'"):
        private.score_samples(X[:1], progress=False)
    with pytest.raises(hesc.ParameterError, match="random_state: of fhe='simulate'"):
        private.decision_function(X[:1], random_state=0)


@pytest.mark.parametrize(
    ("private", "said"),
    [
        (PrivateOutlierDetector(OneClassSVM()), "nearest: IsolationForest"),
        (PrivateOutlierDetector(EllipticEnvelope()), "nearest: IsolationForest"),
        (PrivateOutlierDetector(RandomForestClassifier()), "nearest: PrivateClassifier"),
        (PrivateOutlierDetector(LogisticRegression()), "nearest: PrivateClassifier"),
        (PrivateClassifier(IsolationForest()), "nearest: PrivateOutlierDetector"),
        (PrivateRegressor(IsolationForest()), "nearest: PrivateOutlierDetector"),
        (PrivateClassifier(OneClassSVM()), r"nearest: PrivateOutlierDetector\(IsolationForest"),
    ],
)
def test_others_are_refused_with_what_would_do(private: Any, said: str) -> None:
    with pytest.raises(hesc.ParameterError, match=said):
        private.fit(X, X[:, 0] > 12)


def test_a_subclass_may_compute_something_else() -> None:
    class Another(IsolationForest):  # type: ignore[misc]
        pass

    with pytest.raises(hesc.ParameterError, match="by exact class: IsolationForest"):
        PrivateOutlierDetector(Another()).fit(X)


def test_other_options_are_refused_with_the_reason() -> None:
    private = planned(X[::8, :3])
    for options, said in ((Scores(), "outliers are told by trees"), (Classes(), "Trees")):
        with pytest.raises(hesc.ParameterError, match=said):
            private.plan(X[::8, :3], options)


def test_samples_that_say_nothing() -> None:
    """A forest of one sample has the same score of all, a half, and nothing to encrypt."""
    forest = IsolationForest(n_estimators=3, max_samples=1, random_state=0).fit(X)
    trees = TreeEnsemble.from_sklearn(forest)
    np.testing.assert_array_equal(trees.scores(X[:5]), np.zeros((5, 1)))
    assert (forest.score_samples(X[:5]) == -0.5).all()
    with pytest.raises(hesc.ParameterError, match="compare nothing"):
        PrivateOutlierDetector.from_fitted(forest).plan(X, table=False)

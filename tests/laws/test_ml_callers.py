"""What a caller of hesc.ml keeps: the arrays that it gave, and how numpy treats its numbers.

Every way of every setting is called from the fit to the report: with estimators that overwrite what
they are given (`copy=False`), on arrays that may not be written, and where any rounding to zero is
an error (`numpy.errstate(all="raise")`). Nothing is drawn but by seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from hesc.ml import (
    Classes,
    Network,
    Outsourced,
    Parties,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateMLPRegressor,
    PrivateNeighbours,
    PrivateRegressor,
    Scores,
    Search,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Case(NamedTuple):
    """An estimator that may overwrite what it is given or not, and how it is served."""

    made: Callable[[bool], Any]
    options: Any
    encrypted: bool = True
    """Whether a run of it takes less than seconds."""
    small: bool = False
    """Whether it has two features and two classes alone, since more take seconds."""


def logistic(copy: bool) -> Any:
    return PrivateClassifier(make_pipeline(StandardScaler(copy=copy), LogisticRegression(C=100)))


PARTIES = Parties({"a": [0, 2], "b": [1, 3]})
CASES: dict[str, Case] = {
    "scores": Case(logistic, Scores()),
    "scores, hidden": Case(logistic, Scores(hidden=True, answers=9)),
    "scores, outsourced": Case(logistic, Outsourced()),
    "scores, several parties": Case(logistic, PARTIES),
    "classes": Case(
        lambda copy: PrivateClassifier(
            make_pipeline(MinMaxScaler(copy=copy), DecisionTreeClassifier(max_depth=1))
        ),
        Classes(min_agreement=0.5, engine="bootstrapped", bits=2),
        encrypted=False,
        small=True,
    ),
    "gaussian": Case(
        lambda copy: PrivateClassifier(make_pipeline(RobustScaler(copy=copy), GaussianNB())),
        Scores(),
    ),
    "trees in bins": Case(
        lambda copy: PrivateClassifier(
            make_pipeline(
                MaxAbsScaler(copy=copy),
                GradientBoostingClassifier(n_estimators=3, max_depth=1, random_state=0),
            )
        ),
        Scores(min_fidelity=0.0),
    ),
    "a re-fit": Case(
        lambda copy: PrivateClassifier(
            make_pipeline(
                StandardScaler(copy=copy), RandomForestClassifier(3, max_depth=3, random_state=0)
            )
        ),
        Scores(refit="additive", min_fidelity=0.0, bins=4),
    ),
    "numbers": Case(lambda copy: PrivateRegressor(LinearRegression(copy_X=copy)), Scores()),
    "numbers, ridge": Case(
        lambda copy: PrivateRegressor(
            make_pipeline(PCA(3, copy=copy), Ridge(copy_X=copy, solver="svd"))
        ),
        Scores(),
    ),
    "numbers, lasso": Case(
        lambda copy: PrivateRegressor(Lasso(alpha=0.01, copy_X=copy)),
        Scores(),
    ),
    "neighbours": Case(
        lambda copy: PrivateNeighbours(
            make_pipeline(StandardScaler(copy=copy), KNeighborsClassifier())
        ),
        Search(records="public", min_agreement=0.0, bits=4),
    ),
    "a network": Case(
        lambda copy: PrivateMLPClassifier(
            make_pipeline(
                StandardScaler(copy=copy), MLPClassifier((2,), max_iter=3000, random_state=0)
            )
        ),
        Network(max_error=10.0),
        encrypted=False,
    ),
    "a network of numbers": Case(
        lambda copy: PrivateMLPRegressor(
            make_pipeline(
                MinMaxScaler(copy=copy),
                MLPRegressor(hidden_layer_sizes=(2,), max_iter=3000, random_state=0),
            )
        ),
        Network(max_error=10.0),
        encrypted=False,
    ),
}


def data(*, small: bool = False) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 4)) * 3 + 5
    if small:
        return x[:, :2].copy(), (x[:, 0] > 5).astype(int)
    return x, (x[:, 0] > 5).astype(int) + (x[:, 1] > 6)


def called(case: Case, private: Any, x: Any, y: Any, folder: Path) -> Any:
    """All that an estimator does, and its plan."""
    private.fit(x, y)
    plan = private.plan(x, case.options)
    few = x[:3]
    for method in ("predict", "transform", "decision_function", "predict_proba"):
        if hasattr(private, method):
            getattr(private, method)(x)
    if hasattr(private, "score"):
        private.score(x, y)
    private.run(few, fhe="simulate", clip=True, progress=False)
    if getattr(plan, "link", "none") != "none":
        private.predict_proba(few, fhe="simulate", progress=False)
    if case.encrypted:
        private.run(few, clip=True, progress=False)
        private.save(folder / "d", x, sample=2)
    str(plan), plan.to_bytes()
    return plan


@pytest.mark.parametrize("name", CASES)
def test_nothing_that_was_given_is_written(name: str, tmp_path: Path) -> None:
    """And a plan is that of the same estimator with copies of its own."""
    case = CASES[name]
    x, y = data(small=case.small)
    given, targets = x.copy(), y.copy()
    plan = called(case, case.made(False), given, targets, tmp_path)
    assert np.array_equal(given, x)
    assert np.array_equal(targets, y)
    other = case.made(True).fit(x, y)
    assert str(other.plan(x, case.options)) == str(plan)


@pytest.mark.parametrize("name", CASES)
def test_all_calls_take_read_only_arrays_of_careful_programs(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    x, y = data(small=case.small)
    for array in (x, y):
        array.flags.writeable = False
    with np.errstate(all="raise"):
        called(case, case.made(False), x, y, tmp_path)


def test_estimators_that_were_fitted_elsewhere_stay_as_they_were() -> None:
    x, y = data()
    model = make_pipeline(StandardScaler(copy=False), LogisticRegression(C=100)).fit(x.copy(), y)
    before = model.named_steps["standardscaler"].mean_.copy(), model[-1].coef_.copy()
    private = PrivateClassifier.from_fitted(model)
    private.plan(x)
    private.estimator_[-1].coef_ *= 2
    assert np.array_equal(model[0].mean_, before[0])
    assert np.array_equal(model[-1].coef_, before[1])


def test_probabilities_too_small_for_doubles_are_zeros_for_careful_programs() -> None:
    x, y = data()
    with np.errstate(all="raise"):
        private = logistic(copy=False).fit(x, y)
        plan = private.plan(x)
        found = plan.probabilities(private.decision_function(1e4 * x))
        assert (found == 0).any()
        assert np.allclose(found, private.predict_proba(1e4 * x), atol=1e-12)

"""Every linear estimator beside scikit-learn: scores, classes and probabilities of encrypted runs.

A score beyond seven of its errors is one of 10^11. Plans are small, and each estimator has one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn import linear_model
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    ARDRegression,
    BayesianRidge,
    ElasticNet,
    ElasticNetCV,
    GammaRegressor,
    HuberRegressor,
    Lars,
    LarsCV,
    Lasso,
    LassoCV,
    LassoLars,
    LassoLarsCV,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskElasticNet,
    MultiTaskElasticNetCV,
    MultiTaskLasso,
    MultiTaskLassoCV,
    OrthogonalMatchingPursuit,
    OrthogonalMatchingPursuitCV,
    Perceptron,
    PoissonRegressor,
    QuantileRegressor,
    RANSACRegressor,
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    TheilSenRegressor,
    TweedieRegressor,
)
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    RandomizedSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    PowerTransformer,
    StandardScaler,
)
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hesc
from hesc.ml import Classes, LinearPlan, Outsourced, Parties, PrivateClassifier, PrivateRegressor
from hesc.ml import Scores as Options
from hesc.models.conclusions import Isotonic, read_calibration
from hesc.models.linear import composed, simple, thresholds

X, Y = load_iris(return_X_y=True)
SCALED = StandardScaler().fit_transform(X)
TWO = SCALED[:100] + np.random.default_rng(0).normal(size=(100, 4)) * 0.5, Y[:100]
THREE = SCALED, np.array(["a", "b", "c"])[Y]
COUNTS = np.floor(2 * X), Y
TARGET = SCALED @ [1.0, -2, 0.5, 1] + np.random.default_rng(1).normal(size=len(X)) * 0.3
PAIR = np.column_stack([TARGET, SCALED[:, 0] - 0.3 * TARGET])
ABOVE = np.exp(0.3 * TARGET)
LOGISTIC = LogisticRegression()
OF_ZERO = make_scorer(f1_score, pos_label=0)

CLASSIFIERS: list[tuple[Any, Any]] = [
    (LogisticRegression(), THREE),
    (LogisticRegressionCV(Cs=3, cv=3, max_iter=500), TWO),
    (LinearSVC(random_state=0), THREE),
    (RidgeClassifier(), TWO),
    (RidgeClassifierCV(), THREE),
    (SGDClassifier(loss="log_loss", random_state=0), THREE),
    (Perceptron(random_state=0), TWO),
    (LinearDiscriminantAnalysis(), TWO),
    (LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1), THREE),
    (SVC(kernel="linear"), TWO),
    (NuSVC(kernel="linear"), TWO),
    (GaussianNB(), THREE),
    (QuadraticDiscriminantAnalysis(reg_param=0.1), THREE),
    (MultinomialNB(), COUNTS),
    (ComplementNB(norm=True), COUNTS),
    (ComplementNB(), (COUNTS[0][Y < 2], Y[Y < 2])),
    (BernoulliNB(binarize=0.1), THREE),
    (BernoulliNB(binarize=None), ((SCALED > 0).astype(float), Y)),
    (CategoricalNB(min_categories=20), COUNTS),
    (OneVsRestClassifier(LogisticRegression()), THREE),
    (OneVsRestClassifier(make_pipeline(StandardScaler(), LogisticRegression())), TWO),
    (OneVsRestClassifier(SVC(kernel="linear")), THREE),
    (OneVsRestClassifier(MultinomialNB()), COUNTS),
    (CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3), TWO),
    (CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3), THREE),
    (CalibratedClassifierCV(LinearSVC(), cv=3), TWO),
    (CalibratedClassifierCV(make_pipeline(StandardScaler(), LOGISTIC), cv=2), THREE),
    (CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=3), TWO),
    (CalibratedClassifierCV(LOGISTIC, method="isotonic", cv=2), THREE),
    (CalibratedClassifierCV(LOGISTIC, method="isotonic", cv=3, ensemble=False), THREE),
    (CalibratedClassifierCV(FrozenEstimator(LogisticRegression().fit(*THREE))), THREE),
    (VotingClassifier([("a", LOGISTIC), ("b", LogisticRegression(C=9))], voting="soft"), THREE),
    (BaggingClassifier(LOGISTIC, 3, max_features=3, random_state=0), TWO),
    (BaggingClassifier(LOGISTIC, 3, random_state=0), THREE),
    (FixedThresholdClassifier(LOGISTIC, threshold=0.2), TWO),
    (FixedThresholdClassifier(LOGISTIC, threshold=0.2, pos_label=0), TWO),
    (FixedThresholdClassifier(LOGISTIC), TWO),
    (FixedThresholdClassifier(LinearSVC(), threshold=0.3), TWO),
    (
        FixedThresholdClassifier(
            make_pipeline(StandardScaler(), LOGISTIC),
            threshold=-0.7,
            pos_label=0,
            response_method="decision_function",
        ),
        TWO,
    ),
    (TunedThresholdClassifierCV(LOGISTIC, cv=3), TWO),
    (TunedThresholdClassifierCV(LOGISTIC, scoring=OF_ZERO, cv=3), TWO),
    (StackingClassifier([("a", LinearSVC()), ("b", RidgeClassifier())], cv=2), TWO),
    (
        StackingClassifier(
            [("a", LOGISTIC), ("b", LinearSVC())],
            LinearDiscriminantAnalysis(),
            stack_method="decision_function",
            passthrough=True,
            cv=2,
        ),
        THREE,
    ),
]
if "temperature" in CalibratedClassifierCV._parameter_constraints["method"][0].options:
    CLASSIFIERS += [
        (CalibratedClassifierCV(LOGISTIC, method="temperature", cv=3, ensemble=several), data)
        for several in (True, False)
        for data in (TWO, THREE)
    ]
REGRESSORS: list[tuple[Any, Any]] = [
    *(
        (model, TARGET)
        for model in (
            LinearRegression(),
            Ridge(),
            RidgeCV(),
            Lasso(alpha=0.01),
            LassoCV(cv=3),
            ElasticNet(alpha=0.01),
            ElasticNetCV(cv=3),
            Lars(),
            LarsCV(cv=3),
            LassoLars(alpha=0.01),
            LassoLarsCV(cv=3),
            LassoLarsIC(),
            OrthogonalMatchingPursuit(),
            OrthogonalMatchingPursuitCV(cv=3),
            BayesianRidge(),
            ARDRegression(),
            HuberRegressor(),
            TheilSenRegressor(max_subpopulation=50, random_state=0),
            QuantileRegressor(alpha=0.01),
            LinearSVR(random_state=0),
            SGDRegressor(random_state=0),
            SVR(kernel="linear"),
            NuSVR(kernel="linear"),
            PLSRegression(2),
            TweedieRegressor(power=0),
            TransformedTargetRegressor(Ridge(), transformer=MinMaxScaler()),
            TransformedTargetRegressor(Ridge()),
            TransformedTargetRegressor(func=np.arcsinh, inverse_func=np.sinh),
            VotingRegressor([("a", Ridge()), ("b", "drop"), ("c", Lasso(0.01))], weights=[1, 9, 2]),
            StackingRegressor([("a", Ridge()), ("b", Lasso(0.01))], cv=2),
            StackingRegressor([("a", Ridge()), ("b", Lasso(0.1))], Ridge(), cv=2, passthrough=True),
            BaggingRegressor(Ridge(), 3, max_features=3, bootstrap_features=True, random_state=0),
        )
    ),
    *(
        (model, PAIR)
        for model in (
            MultiTaskLasso(0.01),
            MultiTaskLassoCV(cv=3),
            MultiTaskElasticNet(0.01),
            MultiTaskElasticNetCV(cv=3),
            PLSRegression(2),
            PLSCanonical(2),
            CCA(2),
            MultiOutputRegressor(make_pipeline(StandardScaler(), Ridge())),
            RegressorChain(make_pipeline(StandardScaler(), Ridge()), order=[1, 0]),
            TransformedTargetRegressor(Ridge(), transformer=StandardScaler()),
        )
    ),
    (PoissonRegressor(), ABOVE),
    (GammaRegressor(), ABOVE),
    (TweedieRegressor(power=1.5), ABOVE),
    (MultiOutputRegressor(PoissonRegressor()), np.column_stack([ABOVE, ABOVE**0.5])),
    (TransformedTargetRegressor(Ridge(), func=np.log1p, inverse_func=np.expm1), ABOVE),
    (TransformedTargetRegressor(Ridge(), func=np.sqrt, inverse_func=np.square), ABOVE + 9),
    (
        TransformedTargetRegressor(
            Ridge(), transformer=FunctionTransformer(logit, inverse_func=expit)
        ),
        expit(TARGET),
    ),
]


def named(value: Any) -> str:
    return type(value).__name__ if isinstance(value, BaseEstimator) else ""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize(("model", "data"), CLASSIFIERS, ids=named)
def test_classifiers_score_as_in_the_clear(model: Any, data: Any) -> None:
    rows, labels = data
    made = PrivateClassifier(model).fit(rows, labels)
    plan = made.plan(rows)
    assert LinearPlan.from_bytes(plan.to_bytes()).to_bytes() == plan.to_bytes()
    clear = plan.scores(made._clear_scores(rows))
    assert hasattr(made, "decision_function") != (type(model) in composed.AVERAGES)
    if hasattr(made, "decision_function"):
        assert np.array_equal(made.decision_function(rows), clear)
        moved = type(model) in thresholds.KINDS
        assert not moved or np.array_equal(clear > 0, made.predict(rows) == made.classes_[1])
        if hasattr(made.estimator_, "decision_function") and not moved:
            assert np.allclose(made.estimator_.decision_function(rows), clear)
    for run in (made.run(rows[::3], progress=False), made.run(rows[::3], fhe="simulate")):
        assert np.abs(run.scores - clear[::3]).max() < 7 * run.error
        assert np.mean(run.predictions == made.predict(rows[::3])) >= 0.94
        if plan.link == "none":
            with pytest.raises(hesc.ParameterError, match="no probabilities"):
                plan.probabilities(clear)
        else:
            shares = plan.probabilities(run.scores)
            assert shares.sum(axis=1) == pytest.approx(1)
            # An isotonic step is as steep as the data make it.
            apart = np.abs(shares - made.predict_proba(rows[::3]))
            assert (np.median(apart) if plan.calibration else apart.max()) < 7 * run.error
    # What follows from clear scores is scikit-learn's own, on the wire too.
    read = LinearPlan.from_bytes(plan.to_bytes())
    assert (read.predictions(clear) == made.predict(rows)).all()
    if hasattr(made, "predict_proba") and plan.link != "none":
        assert np.abs(read.probabilities(clear) - made.predict_proba(rows)).max() < 1e-9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("model", "target"), REGRESSORS, ids=named)
def test_regressors_predict_as_in_the_clear(model: Any, target: Any) -> None:
    made = PrivateRegressor(model).fit(SCALED, target)
    plan = made.plan(SCALED)
    expected = made.predict(SCALED)
    run = made.run(SCALED[::3], progress=False)
    clear = made._clear_scores(SCALED)
    linear_scores = clear[:, 0] if clear.shape[1] == 1 else clear
    assert np.abs(run.scores - linear_scores[::3]).max() < 7 * run.error
    read = LinearPlan.from_bytes(plan.to_bytes())
    assert read.predictions(linear_scores) == pytest.approx(expected.reshape(linear_scores.shape))
    assert made.predict(SCALED[:2], fhe="execute", progress=False).shape == expected[:2].shape
    if plan.link == "none":
        assert np.abs(run.predictions.reshape(-1) - expected[::3].reshape(-1)).max() < 7 * run.error
    else:
        assert f"which is {plan.link} of that" in str(plan)
        assert f"predictions are {plan.link} of them" in str(plan)


def test_every_linear_estimator_is_here() -> None:
    """Those that scikit-learn is about to drop are read as the others are."""
    gone = {
        getattr(linear_model, f"PassiveAggressive{x}", None) for x in ("Classifier", "Regressor")
    }
    tested = {type(model) for model, _ in (*CLASSIFIERS, *REGRESSORS)}
    assert tested == {*simple.KINDS, *composed.COMPOSITES} - gone


# Estimators of somebody else's


class Doubled(LogisticRegression):  # type: ignore[misc]
    """Says something else than its weights."""

    def decision_function(self, X: Any) -> Any:
        return 2 * super().decision_function(X)


class Stubborn(Ridge):  # type: ignore[misc]
    """Predicts something else than its weights where numbers are large."""

    def predict(self, X: Any) -> Any:
        return np.maximum(super().predict(X), -1)


class Prepared(LogisticRegression):  # type: ignore[misc]
    """A subclass that fits otherwise, and computes the same."""

    def fit(self, X: Any, y: Any) -> Any:
        return super().fit(X[::2], y[::2])


class Least(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that is nobody's subclass."""

    def fit(self, X: Any, y: Any) -> Any:
        self.n_features_in_ = X.shape[1]
        found = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y)[0]
        self.coef_, self.intercept_ = found[:-1], found[-1]
        return self

    def predict(self, X: Any) -> Any:
        return X @ self.coef_ + self.intercept_


class Means(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is nobody's subclass, with probabilities of its own."""

    def __init__(self, link: str = "softmax") -> None:
        self.link = link

    def fit(self, X: Any, y: Any) -> Any:
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.unique(y)
        means = np.array([X[y == label].mean(axis=0) for label in self.classes_])
        self.coef_, self.intercept_ = means, -0.5 * np.square(means).sum(axis=1)
        return self

    def decision_function(self, X: Any) -> Any:
        return X @ self.coef_.T + self.intercept_

    def predict(self, X: Any) -> Any:
        return self.classes_[self.decision_function(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> Any:
        scores = self.decision_function(X)
        powers = np.exp(scores) if self.link == "softmax" else expit(scores)
        powers = np.square(scores) if self.link == "strange" else powers
        return powers / powers.sum(axis=1, keepdims=True)


class Nearest(Means):
    """A classifier without weights."""

    def fit(self, X: Any, y: Any) -> Any:
        super().fit(X, y)
        del self.intercept_
        return self


@pytest.mark.parametrize("link", ["softmax", "one_against_rest", "strange"])
def test_classifiers_of_somebody_else_are_read_by_their_weights(link: str) -> None:
    """Probabilities too, where they are by a link that a client has; no others."""
    made = PrivateClassifier(make_pipeline(StandardScaler(), Means(link))).fit(*THREE)
    plan = made.plan(SCALED)
    assert plan.link == ("none" if link == "strange" else link)
    run = made.run(SCALED, progress=False)
    assert np.abs(run.scores - made.decision_function(SCALED)).max() < 7 * run.error
    if link != "strange":
        apart = made.predict_proba(SCALED, fhe="execute", progress=False)
        assert np.abs(apart - made.predict_proba(SCALED)).max() < 7 * run.error


def test_regressors_of_somebody_else_are_read_by_their_weights() -> None:
    made = PrivateRegressor(Least()).fit(SCALED, TARGET)
    made.plan(SCALED)
    run = made.run(SCALED, progress=False)
    assert np.abs(run.scores - made.predict(SCALED)).max() < 7 * run.error


def test_subclasses_are_held_against_their_weights() -> None:
    """`from_fitted` has no rows: what disagrees is refused where it is planned."""
    made = PrivateClassifier(Prepared()).fit(*THREE)
    assert made.plan(SCALED).link == "softmax"
    for options in (None, Classes(), Outsourced()):
        with pytest.raises(hesc.ParameterError, match=r"Doubled are not rows @ coef_.T"):
            PrivateClassifier.from_fitted(Doubled().fit(*THREE)).plan(SCALED, options)
    # However large an error is taken.
    with pytest.raises(hesc.ParameterError, match=r"Stubborn are not rows @ coef_.T"):
        PrivateRegressor(Stubborn()).fit(SCALED, TARGET).plan(SCALED, Options(max_error=100))


def test_what_has_no_weights_is_refused_once_it_is_fitted() -> None:
    with pytest.raises(hesc.ParameterError, match="Nearest has no coef_ and intercept_ once"):
        PrivateClassifier(Nearest()).fit(*THREE)
    with pytest.raises(hesc.ParameterError, match="Nearest has no coef_"):
        PrivateClassifier.from_fitted(Nearest().fit(*THREE))
    with pytest.raises(hesc.ParameterError, match="nearest: PrivateRegressor"):
        PrivateClassifier(Least()).fit(*THREE)


# What predicts by another estimator


@pytest.mark.filterwarnings("ignore:y contains no unlabeled")
@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
        RandomizedSearchCV(
            make_pipeline(StandardScaler(), LogisticRegression()),
            {"logisticregression__C": [0.1, 1]},
            n_iter=2,
            cv=2,
            random_state=0,
        ),
        make_pipeline(MinMaxScaler(), GridSearchCV(LinearSVC(), {"C": [0.1, 1]}, cv=2)),
        SelfTrainingClassifier(LogisticRegression()),
        FrozenEstimator(LogisticRegression().fit(SCALED, Y)),
    ],
    ids=["grid", "random", "behind", "self-training", "frozen"],
)
def test_searches_are_what_they_found(search: Any) -> None:
    fitted = clone(search).fit(SCALED, Y)
    for made in (PrivateClassifier(search).fit(SCALED, Y), PrivateClassifier.from_fitted(fitted)):
        made.plan(SCALED)
        run = made.run(SCALED[::5], progress=False)
        assert np.mean(run.predictions == fitted.predict(SCALED[::5])) > 0.9
        if isinstance(search, GridSearchCV | RandomizedSearchCV):
            assert made.search_.best_score_ == pytest.approx(fitted.best_score_)
            assert type(made.estimator_) is not type(search)
    made.fit(SCALED, Y)
    made.estimator = LogisticRegression()
    assert not hasattr(made.fit(SCALED, Y), "search_")


def test_regressors_that_keep_another() -> None:
    for model in (RANSACRegressor(random_state=0), GridSearchCV(Ridge(), {"alpha": [1, 2]})):
        made = PrivateRegressor(model).fit(SCALED, TARGET)
        made.plan(SCALED)
        run = made.run(SCALED[::5], progress=False)
        assert np.abs(run.scores - made.predict(SCALED[::5])).max() < 7 * run.error


def test_names_of_columns_are_taken_from_everything_inside() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(SCALED, columns=list("abcd"))
    stack = StackingRegressor([("a", Ridge()), ("b", make_pipeline(StandardScaler(), Ridge()))])
    for model in (VotingRegressor([("a", Ridge())]), stack, GridSearchCV(Ridge(), {"alpha": [1]})):
        made = PrivateRegressor.from_fitted(model.fit(table, TARGET))
        assert made.plan(table).names == list("abcd")
        found = made.predict(table[:3], fhe="execute", progress=False)
        assert found == pytest.approx(model.predict(table[:3]), abs=0.1)


# Refusals


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (SVC(), r"this SVC is not.*nearest: SVC\(kernel='linear'\)"),
        (SVC(kernel="linear"), "votes of pairs"),
        (OneVsRestClassifier(DecisionTreeClassifier()), "of trees is not.*the trees alone"),
        (OneVsRestClassifier(SVC()), "this SVC is not"),
        (OneVsRestClassifier(CalibratedClassifierCV(LOGISTIC, cv=2)), "ensemble=False"),
        (VotingClassifier([("a", LOGISTIC)]), "voting='soft'"),
        (VotingClassifier([("a", LOGISTIC)], voting="soft", weights=[2]), "without weights"),
        (VotingClassifier([("a", LinearSVC())], voting="soft"), "logistic probabilities"),
        (BaggingClassifier(LinearSVC(), 2), "logistic probabilities"),
        (BaggingClassifier(), "DecisionTreeClassifier|trees"),
        (CalibratedClassifierCV(GaussianNB(), cv=2), "calibrates probabilities"),
        (CalibratedClassifierCV(make_pipeline(PCA(2), LOGISTIC), cv=2), "transforms of their own"),
        (NearestCentroid(), "nearest: LinearDiscriminantAnalysis"),
        (OneVsOneClassifier(LOGISTIC), r"OneVsRestClassifier\(LogisticRegression\(\)\)"),
        (GridSearchCV(LOGISTIC, {}, refit=False, cv=2), "refit=True"),
        (StackingClassifier([("a", LOGISTIC)], cv=2), "stack_method='decision_function'"),
        (StackingClassifier([("a", LOGISTIC)], stack_method="predict"), "decision_function"),
        (
            StackingClassifier([("a", LinearSVC())], VotingClassifier([("a", LOGISTIC)])),
            "VotingClassifier is not.*voting='soft'",
        ),
        (
            StackingClassifier(
                [("a", LinearSVC())], VotingClassifier([("a", LOGISTIC)], voting="soft"), cv=2
            ),
            "a final_estimator that has decision_function",
        ),
        (
            StackingClassifier([("a", LinearSVC())], BaggingClassifier(LOGISTIC, 2), cv=2),
            "chooses by scores",
        ),
        (
            StackingClassifier([("a", make_pipeline(PCA(2), RidgeClassifier()))], passthrough=True),
            "without passthrough",
        ),
        (
            StackingClassifier(
                [("a", SVC(kernel="linear"))], LOGISTIC, stack_method="decision_function", cv=2
            ),
            "counts votes of pairs",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_classifiers_that_are_not_linear_are_refused_with_the_reason(
    model: Any, words: str
) -> None:
    with pytest.raises(hesc.ParameterError, match=words):
        PrivateClassifier(model).fit(*THREE).plan(SCALED)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (FixedThresholdClassifier(LOGISTIC, threshold=1.0), "every sample in one class"),
        (FixedThresholdClassifier(LOGISTIC, threshold=-1.0), "every sample in one class"),
        (
            FixedThresholdClassifier(CalibratedClassifierCV(LOGISTIC, cv=2), threshold=0.3),
            "no sigmoid of one score.*response_method='decision_function'",
        ),
        (FixedThresholdClassifier(DecisionTreeClassifier()), "of trees is not"),
        (
            FixedThresholdClassifier(GaussianNB(), response_method="decision_function"),
            "scores, which GaussianNB does not give",
        ),
        (
            StackingClassifier([("one", LinearSVC())], FixedThresholdClassifier(LOGISTIC)),
            "one threshold around the stack",
        ),
    ],
)
def test_thresholds_that_scores_do_not_have_are_refused(model: Any, words: str) -> None:
    with pytest.raises(hesc.ParameterError, match=words):
        PrivateClassifier(model).fit(*TWO).plan(TWO[0])


def test_a_threshold_is_the_servers_where_classes_alone_are_learnt() -> None:
    model = FixedThresholdClassifier(LOGISTIC, threshold=0.1)
    made = PrivateClassifier(model).fit(*TWO)
    made.plan(TWO[0], Classes(min_agreement=0.9))
    assert (made.predict(TWO[0], fhe="simulate") == made.predict(TWO[0])).mean() > 0.9
    assert (made.predict(TWO[0]) != made.estimator_.estimator_.predict(TWO[0])).any()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (TransformedTargetRegressor(func=np.cbrt, inverse_func=lambda y: y**3), "numpy.exp,"),
        (TransformedTargetRegressor(transformer=PowerTransformer()), "numpy.exp,"),
        (
            TransformedTargetRegressor(PoissonRegressor(), transformer=MinMaxScaler((1, 2))),
            "linear",
        ),
        (VotingRegressor([("a", PoissonRegressor())]), "functions of something linear"),
        (MultiOutputRegressor(DecisionTreeRegressor()), "of trees is not"),
        (RegressorChain(make_pipeline(PCA(2), Ridge())), "transforms of their own"),
        (SVR(), r"SVR\(kernel='linear'\)"),
        (DummyRegressor(), "the constant itself"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_regressors_that_are_not_linear_are_refused_with_the_reason(model: Any, words: str) -> None:
    target = PAIR if isinstance(model, MultiOutputRegressor | RegressorChain) else ABOVE
    with pytest.raises(hesc.ParameterError, match=words):
        PrivateRegressor(model).fit(SCALED, target).plan(SCALED)


def test_averages_have_scores_and_no_class_alone() -> None:
    made = PrivateClassifier(CalibratedClassifierCV(LOGISTIC, cv=2)).fit(*THREE)
    with pytest.raises(hesc.ParameterError, match="averages probabilities"):
        made.plan(SCALED, Classes())
    with pytest.raises(hesc.ParameterError, match="averages probabilities"):
        made.plan(SCALED, Parties({"a": [0, 1], "b": [2, 3]}))
    assert "their probabilities are averaged" in str(made.plan(SCALED, Options(hidden=True)))
    made.plan(SCALED, Outsourced())
    assert (made.predict(SCALED[::9], fhe="execute", progress=False) == THREE[1][::9]).mean() > 0.7


def test_a_calibration_is_disclosed_and_changes_the_model() -> None:
    """Its points are scores of training rows; one that is calibrated anew is planned anew."""
    model = CalibratedClassifierCV(LOGISTIC, method="isotonic", cv=2)
    made = PrivateClassifier(model).fit(*TWO)
    plan = made.plan(TWO[0])
    assert "scores of training rows at which the share of their class changes" in str(plan)
    assert plan.agreement > 0.9
    made.estimator_.calibrated_classifiers_[0].calibrators[0].y_thresholds_[0] += 0.01
    with pytest.raises(hesc.ParameterError, match="changed since"):
        made.run(TWO[0])


def test_agreement_of_averages_is_what_happens() -> None:
    model = CalibratedClassifierCV(LOGISTIC, method="isotonic", cv=3)
    made = PrivateClassifier(model).fit(*TWO)
    plan = made.plan(TWO[0], Options(max_error=4.0))
    runs = [made.predict(TWO[0], fhe="simulate", random_state=seed) for seed in range(80)]
    found = np.mean(runs == made.predict(TWO[0]))
    assert found < 0.995
    assert abs(plan.agreement - found) < 0.005


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts": [1.0, 1.5]}, "one point or more"),
        ({"counts": [0.0, 4.0]}, "one point or more"),
        ({"counts": [2.0]}, "one point or more"),
        ({"scores": [1.0, 1.0, 0.0, 2.0]}, "rise"),
        ({"shares": [0.0, 1.0, 0.0, 1.5]}, "from 0 to 1"),
    ],
)
def test_calibrations_that_are_none_are_refused(change: Any, words: str) -> None:
    given = {"counts": [2.0, 2.0], "scores": [0.0, 1, 0, 2], "shares": [0.0, 1, 0, 1]}
    written = Isotonic(**{k: np.array(v) for k, v in given.items()}).described()
    assert read_calibration(written).counts.tolist() == [2, 2]
    changed = Isotonic(**{k: np.array(v) for k, v in (given | change).items()}).described()
    with pytest.raises(hesc.WireError, match=words):
        read_calibration(changed)


def test_plans_whose_links_and_scores_do_not_fit_are_refused() -> None:
    classes = PrivateClassifier(LOGISTIC).fit(*THREE).plan(SCALED)
    numbers = PrivateRegressor(Ridge()).fit(SCALED, TARGET).plan(SCALED)
    points = Isotonic(*(np.ones(1) for _ in range(3)))
    for plan, change in (
        (classes, {"link": "exp"}),
        (classes, {"link": "mean_isotonic"}),
        (classes, {"calibration": points}),
        (classes, {"link": "mean_isotonic", "calibration": points}),
        (numbers, {"link": "sigmoid"}),
    ):
        with pytest.raises(hesc.WireError):
            LinearPlan.from_bytes(replace(plan, **change).to_bytes())
    with pytest.raises(hesc.ParameterError, match="a regressor has no probabilities"):
        numbers.probabilities(np.ones(3))

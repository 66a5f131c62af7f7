"""scikit-learn's own checks of estimators, on every estimator that is taken."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.cross_decomposition import CCA, PLSCanonical, PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.impute import SimpleImputer
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
    Ridge,
    RidgeClassifier,
    RidgeClassifierCV,
    RidgeCV,
    SGDClassifier,
    SGDRegressor,
    TheilSenRegressor,
    TweedieRegressor,
)
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.estimator_checks import check_estimator

from hesc.ml import PrivateClassifier, PrivateRegressor
from hesc.models import extraction

# Checks seed an outer `random_state` only, and want a fit that is better than a guess.
CLASSIFIERS = [
    LogisticRegression(),
    LinearSVC(random_state=0),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    Perceptron(random_state=0),
    GaussianNB(),
    QuadraticDiscriminantAnalysis(),
    make_pipeline(StandardScaler(), PolynomialFeatures(2), RidgeClassifier()),
    LogisticRegressionCV(Cs=1, cv=2, solver="newton-cholesky"),
    RidgeClassifierCV(),
    LinearDiscriminantAnalysis(),
    SVC(kernel="linear"),
    NuSVC(nu=0.3, kernel="linear"),
    MultinomialNB(),
    ComplementNB(),
    BernoulliNB(),
    CategoricalNB(),
    OneVsRestClassifier(LinearSVC(random_state=0)),
    CalibratedClassifierCV(LinearSVC(random_state=0), cv=2),
    VotingClassifier([("one", LogisticRegression())], voting="soft"),
    BaggingClassifier(LogisticRegression(), 2, random_state=0),
    StackingClassifier([("one", RidgeClassifier())], cv=2),
    FixedThresholdClassifier(LogisticRegression()),
    TunedThresholdClassifierCV(LogisticRegression(), cv=2),
    make_pipeline(SimpleImputer(), StandardScaler(), RidgeClassifier()),
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(5, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, random_state=0),
    AdaBoostClassifier(n_estimators=5, random_state=0),
]
REGRESSORS = [
    LinearRegression(),
    Ridge(),
    Lasso(alpha=0.01),
    ElasticNet(alpha=0.01),
    LinearSVR(random_state=0),
    SGDRegressor(random_state=0),
    make_pipeline(StandardScaler(), Ridge()),
    RidgeCV(),
    LassoCV(cv=2),
    ElasticNetCV(cv=2),
    Lars(),
    LarsCV(),
    LassoLars(alpha=0.01),
    LassoLarsCV(),
    LassoLarsIC(noise_variance=1.0),
    OrthogonalMatchingPursuit(),
    OrthogonalMatchingPursuitCV(),
    BayesianRidge(),
    ARDRegression(),
    HuberRegressor(),
    TheilSenRegressor(max_subpopulation=50, random_state=0),
    QuantileRegressor(alpha=0.01),
    MultiTaskLasso(0.01),
    MultiTaskLassoCV(cv=2),
    MultiTaskElasticNet(0.01),
    MultiTaskElasticNetCV(cv=2),
    SVR(kernel="linear"),
    NuSVR(kernel="linear"),
    PLSRegression(1),
    PLSCanonical(1),
    CCA(1),
    PoissonRegressor(),
    GammaRegressor(),
    TweedieRegressor(),
    MultiOutputRegressor(Ridge()),
    RegressorChain(Ridge()),
    TransformedTargetRegressor(Ridge()),
    VotingRegressor([("one", Ridge())]),
    StackingRegressor([("one", Ridge())], cv=2),
    BaggingRegressor(Ridge(), 2, random_state=0),
    DecisionTreeRegressor(random_state=0),
    RandomForestRegressor(5, random_state=0),
    ExtraTreesRegressor(5, random_state=0),
    GradientBoostingRegressor(n_estimators=20, random_state=0),
    HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=5, random_state=0),
    AdaBoostRegressor(n_estimators=5, random_state=0),
]


COUNTS = {
    "check_classifiers_train": "points are no counts: scikit-learn leaves such models out by name",
    "check_decision_proba_consistency": "it fits numbers below zero to whatever decides",
}
"""What models of counts fail, and why."""


_WEIGHTS = "check_classifiers_one_label_sample_weights"
ONE_CLASS = {_WEIGHTS: "it speaks of classes, where weights leave one of them"}
FAILS = {
    **dict.fromkeys((MultinomialNB, ComplementNB), COUNTS),
    **dict.fromkeys((SVC, NuSVC), ONE_CLASS),
}
FAILS[ComplementNB] = COUNTS | {_WEIGHTS: "it predicts the class that weights leave out"}


def name(estimator: Any) -> str:
    return type(estimator).__name__


# Their data are made to be hard, which estimators warn of.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
def test_classifiers(estimator: Any) -> None:
    private = PrivateClassifier(estimator)
    check_estimator(private, expected_failed_checks=FAILS.get(type(estimator)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", REGRESSORS, ids=name)
def test_regressors(estimator: Any) -> None:
    check_estimator(PrivateRegressor(estimator))


def test_every_estimator_is_checked() -> None:
    # What scikit-learn is about to drop warns if it is made.
    taken = (*extraction.CLASSIFIERS, *extraction.REGRESSORS)
    assert {type(x) for x in (*CLASSIFIERS, *REGRESSORS)} >= {
        kind for kind in taken if not kind.__name__.startswith("PassiveAggressive")
    }

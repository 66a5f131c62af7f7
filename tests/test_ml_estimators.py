"""scikit-learn's own checks of estimators, on every estimator that is taken."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Perceptron,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC, LinearSVR
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
    DecisionTreeRegressor(random_state=0),
    RandomForestRegressor(5, random_state=0),
    ExtraTreesRegressor(5, random_state=0),
    GradientBoostingRegressor(n_estimators=20, random_state=0),
    HistGradientBoostingRegressor(max_iter=20, min_samples_leaf=5, random_state=0),
    AdaBoostRegressor(n_estimators=5, random_state=0),
]


def name(estimator: Any) -> str:
    return type(estimator).__name__


# Their data are made to be hard, which estimators warn of.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=name)
def test_classifiers(estimator: Any) -> None:
    check_estimator(PrivateClassifier(estimator))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", REGRESSORS, ids=name)
def test_regressors(estimator: Any) -> None:
    check_estimator(PrivateRegressor(estimator))


def test_every_estimator_is_checked() -> None:
    assert {type(x) for x in CLASSIFIERS} >= set(extraction.CLASSIFIERS)
    assert {type(x) for x in REGRESSORS} >= set(extraction.REGRESSORS)

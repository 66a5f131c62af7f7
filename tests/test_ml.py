"""Private models beside scikit-learn: scores, stated errors, refusals, what is told to whom."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
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
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC, LinearSVR

import hesc
from hesc.ml import (
    ClippedWarning,
    LinearPlan,
    LinearServer,
    Outsourced,
    PrivateClassifier,
    PrivateRegressor,
    Scores,
)
from hesc.models.steps.scaling import projection
from hesc.protocols.measuring import measure
from hesc.protocols.message import Kind, name_of
from hesc.protocols.runs import Session

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y = datasets.load_iris(return_X_y=True)
CLASSIFIERS = {
    "logistic": LogisticRegression(max_iter=1000),
    "svm": LinearSVC(random_state=0),
    "ridge": RidgeClassifier(),
    "sgd": SGDClassifier(loss="log_loss", random_state=0),
    "perceptron": Perceptron(random_state=0),
    "gaussian": GaussianNB(),
    "quadratic": QuadraticDiscriminantAnalysis(reg_param=0.1),
}
REGRESSORS = {
    "least squares": LinearRegression(),
    "ridge": Ridge(),
    "lasso": Lasso(alpha=0.1),
    "elastic net": ElasticNet(alpha=0.01),
    "svm": LinearSVR(random_state=0, max_iter=10000),
    "sgd": SGDRegressor(random_state=0),
}
TRANSFORMS = {
    "nothing": [],
    "standard": [StandardScaler()],
    "no mean": [StandardScaler(with_mean=False)],
    "no deviation": [StandardScaler(with_std=False)],
    "range": [MinMaxScaler((-2, 3))],
    "clipped": [MinMaxScaler(clip=True)],
    "largest": [MaxAbsScaler()],
    "robust": [RobustScaler(unit_variance=True)],
    "not centred": [RobustScaler(with_centering=False)],
    "not scaled": [RobustScaler(with_scaling=False)],
    "two": [RobustScaler(), MinMaxScaler()],
    "skipped": ["passthrough", StandardScaler()],
    "nested": [make_pipeline(StandardScaler(), PCA(3))],
    "squares": [StandardScaler(), PolynomialFeatures(2)],
    "products": [PolynomialFeatures(3, interaction_only=True, include_bias=False), MaxAbsScaler()],
    "whitened": [PCA(3, whiten=True), StandardScaler()],
    "rbf": [StandardScaler(), Nystroem(n_components=20, random_state=0)],
    "polynomial": [
        MinMaxScaler(),
        Nystroem("poly", degree=2, coef0=0.5, n_components=5, random_state=0),
    ],
    "sigmoid": [MinMaxScaler(), Nystroem("sigmoid", gamma=0.1, n_components=5, random_state=0)],
    "linear": [MinMaxScaler(), Nystroem("linear", n_components=4, random_state=0)],
}


def private(**wishes: Any) -> PrivateClassifier:
    made = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y)
    made.plan(X, Scores(**wishes))
    return made


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_score_as_in_the_clear(name: str, classes: int) -> None:
    """A score beyond seven of its errors is one of 10^11; simulated ones obey the same law."""
    kept = np.isin(Y, range(classes))
    rows, labels = X[kept], np.array(["a", "b", "c"])[Y[kept]]
    made = PrivateClassifier(make_pipeline(StandardScaler(), CLASSIFIERS[name])).fit(rows, labels)
    plan = made.plan(rows)
    clear = made.decision_function(rows)
    assert clear.shape == ((len(rows),) if classes == 2 else (len(rows), 3))
    for run in (made.run(rows), made.run(rows, fhe="simulate", random_state=1)):
        assert run.scores.shape == clear.shape
        assert np.abs(run.scores - clear).max() < 7 * run.error
        assert run.error == plan.error
        assert run.sizes == plan.sizes(len(rows))
        assert np.mean(run.predictions == made.predict(rows)) >= 0.97
        assert run.predictions.dtype == labels.dtype
    if plan.link == "none":
        with pytest.raises(hesc.ParameterError, match="no probabilities"):
            plan.probabilities(clear)
    else:
        found = made.predict_proba(rows, fhe="execute")
        assert np.abs(plan.probabilities(clear) - made.predict_proba(rows)).max() < 1e-12
        assert np.abs(found - made.predict_proba(rows)).max() < 7 * run.error
        assert found.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_predict_as_in_the_clear(name: str) -> None:
    rows, target = datasets.load_diabetes(return_X_y=True)
    target = target / target.std()
    made = PrivateRegressor(make_pipeline(StandardScaler(), REGRESSORS[name])).fit(rows, target)
    made.plan(rows, Scores(max_error=0.01))
    found = made.predict(rows, fhe="execute")
    assert found.shape == target.shape
    assert np.abs(found - made.predict(rows)).max() < 0.07


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_those_of_scikit_learn(name: str) -> None:
    """As numbers before encryption, read from the wire by a client without scikit-learn's help."""
    pipeline = make_pipeline(*TRANSFORMS[name], Ridge())
    made = PrivateRegressor(pipeline).fit(X[::2], Y[::2])
    made.plan(X, Scores(max_error=0.01))
    plan = LinearPlan.from_bytes(made.client().plan.to_bytes())
    server = json.loads(made.server().to_bytes())
    assert server["plan"] == plan.to_bytes().decode()
    linear = made._served().linear
    found = plan.prepared(X).features @ linear.weights.T + linear.intercepts
    assert found[:, 0] == pytest.approx(pipeline.fit(X[::2], Y[::2]).predict(X), abs=1e-9)
    assert np.abs(made.predict(X, fhe="execute") - made.predict(X)).max() < 0.07


@pytest.mark.parametrize(
    ("load", "model"),
    [
        (datasets.load_iris, LogisticRegression(max_iter=1000)),
        (datasets.load_wine, LinearSVC(random_state=0)),
        (datasets.load_breast_cancer, LogisticRegression(max_iter=1000)),
        (datasets.load_digits, RidgeClassifier()),
    ],
)
def test_accuracy_over_ten_splits(load: Callable[..., Any], model: Any) -> None:
    """Within 0.01 of the clear model; values beyond the training data's are clipped.

    The clear model sees the values as they are, so that the price of clipping is in it.
    """
    rows, labels = load(return_X_y=True)
    clear, found = [], []
    for seed in range(10):
        train, test, learnt, right = train_test_split(
            rows, labels, test_size=0.3, random_state=seed, stratify=labels
        )
        made = PrivateClassifier(make_pipeline(StandardScaler(), model)).fit(train, learnt)
        plan = made.plan(train)
        ready = plan.prepared(test, clip=True)
        if ready.values:
            with pytest.warns(ClippedWarning, match=f"{ready.values} values in {ready.samples} of"):
                run = made.run(test, clip=True)
        else:
            run = made.run(test)
        assert (run.clipped, run.clipped_samples) == (ready.values, ready.samples)
        clear.append(made.score(test, right))
        found.append(np.mean(run.predictions == right))
    assert abs(np.mean(found) - np.mean(clear)) <= 0.01


def test_diabetes_over_ten_splits() -> None:
    """The share of variance explained, within 0.01 of the clear model's."""
    rows, target = datasets.load_diabetes(return_X_y=True)
    for seed in range(10):
        train, test, learnt, right = train_test_split(rows, target, random_state=seed)
        made = PrivateRegressor(make_pipeline(StandardScaler(), Ridge())).fit(train, learnt)
        made.plan(train, Scores(ranges=(rows.min(axis=0), rows.max(axis=0))))
        run = made.run(test)
        clear = made.score(test, right)
        explained = 1 - np.mean((right - run.predictions) ** 2) / np.var(right)
        assert abs(explained - clear) <= 0.01


def refused_or_right(private: Any, rows: Any, expected: Any, options: Any = None) -> str:
    """Why a model is refused, or nothing, where no score is eight errors off (one of 10^15)."""
    try:
        private.plan(rows, options)
        found = private.run(rows[:1], progress=False)
    except hesc.HescError as problem:
        return str(problem)
    assert np.abs(found.scores - expected[:1]).max() < 8 * found.error
    return ""


@pytest.mark.parametrize(
    "options",
    [Scores(), Scores(hidden=True), Outsourced(), Outsourced(own_model=True)],
    ids=["open", "hidden", "public key", "secret key"],
)
def test_weights_that_cancel_beyond_doubles_are_refused(options: Any) -> None:
    """A whitened column that is constant has a weight of 10^15 and scores of roundings alone."""
    wine = datasets.load_wine().data
    before = make_pipeline(StandardScaler(), PolynomialFeatures(2)).fit(wine)
    squares = PCA(whiten=True).fit(before.transform(wine))
    rng = np.random.default_rng(3)
    constant = rng.normal(size=(50, 4)) * [1e-3, 1, 1, 10] + [70.0, 0, 30, 0]
    constant[:, 0] = constant[0, 0]
    whitened = PCA(whiten=True).fit(constant)
    # As eigenvalues are rounded it may be a little more.
    whitened.explained_variance_[-1] = 0
    for rows, steps, axes in ((wine, before, squares), (constant, "passthrough", whitened)):
        model = LinearRegression().fit(axes.mean_[None], np.zeros((1, len(axes.components_))))
        model.coef_ = projection(axes).matrix
        model.intercept_ = -model.coef_ @ axes.mean_
        private = PrivateRegressor.from_fitted(make_pipeline(steps, model))
        expected = private.predict(rows)
        assert "VarianceThreshold" in refused_or_right(private, rows, expected, options)
    # What cancels within doubles is served.
    far = rng.normal(size=(50, 3)) + 1e6
    ridge = Ridge().fit(far, far @ [1.0, -2, 1])
    private = PrivateRegressor.from_fitted(ridge)
    assert refused_or_right(private, far, ridge.predict(far), options) == ""


@pytest.mark.parametrize("fhe", ["execute", "simulate"])
def test_stated_errors_are_true(fhe: Any) -> None:
    """Errors in units of their own law have a mean square of one.

    Over 6000 normal errors that share a key and features' roundings in threes the mean square has a
    deviation of 0.034, and leaves 0.8 to 1.22 once in 10^8 runs.
    """
    made = private()
    plan, linear = made._served().plan, made._served().linear
    rows = np.random.default_rng(5).uniform(X.min(axis=0), X.max(axis=0), (2000, 4))
    errors = made.decision_function(rows, fhe=fhe) - made.decision_function(rows)
    features = plan.prepared(rows).features
    law = np.array([plan.ring.errors_of(linear.weights, row) for row in features])
    assert law.max() <= plan.error * (1 + 1e-9)
    z = errors / law
    assert 0.8 < np.mean(z**2) < 1.22
    assert abs(np.mean(z)) < 5 / np.sqrt(2000)


def test_servers_keep_the_weights_that_they_were_given() -> None:
    served = private()._served()
    weights = served.linear.weights.copy()
    server = LinearServer(served.plan, weights, served.linear.intercepts)
    written = server.to_bytes()
    weights[:] = 0.0
    assert server.to_bytes() == written


def test_simulations_follow_their_seed() -> None:
    made = private()
    first, again, other = (
        made.decision_function(X, fhe="simulate", random_state=seed) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("seed", range(12))
def test_any_shape(seed: int) -> None:
    """Random features, targets, offsets and sizes of numbers."""
    rng = np.random.default_rng(seed)
    features, outputs = rng.integers(1, 40), rng.integers(1, 6)
    rows = rng.normal(size=(60, features)) * 10.0 ** rng.uniform(-4, 4, features) + rng.normal()
    weights = rng.normal(size=(outputs, features)) / rows.std(axis=0)
    target = rows @ weights.T + rng.normal(size=outputs) + 0.1 * rng.normal(size=(60, outputs))
    target = target[:, 0] if seed % 3 == 0 else target
    made = PrivateRegressor(make_pipeline(StandardScaler(), Ridge())).fit(rows, target)
    plan = made.plan(rows)
    found = made.predict(rows, fhe="execute")
    assert found.shape == made.predict(rows).shape
    assert np.abs(found - made.predict(rows)).max() < 7 * plan.error


def test_agreement_is_what_happens() -> None:
    """Of two classes predicted as it is, of three from below; seeds are fixed.

    Five deviations of a share of 8000 are below 0.02 where less than one in eight changes.
    """
    for kept, most in ((Y > 0, 0.02), (Y >= 0, 0.2)):
        rows, labels = X[kept], Y[kept]
        made = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
        plan = made.fit(rows, labels).plan(rows, Scores(max_error=2.0))
        assert plan.agreement is not None
        runs = [made.predict(rows, fhe="simulate", random_state=seed) for seed in range(80)]
        found = np.mean(runs == made.predict(rows))
        assert plan.agreement - 0.02 < found < plan.agreement + most
        assert found < 0.98


def test_answers_of_other_samples_are_refused() -> None:
    """A server that answers fewer or more samples than it was asked, by every call that knows."""
    made = private()
    client, server = made.client(), made.server()
    answer: bytes = server.answer(client.encrypt(X[:5]).data)
    assert np.array_equal(client.decrypt(answer, samples=5).scores, client.decrypt(answer).scores)
    assert client.probabilities(answer, samples=5).shape == (5, 3)
    for other in (1, 4, 6):
        with pytest.raises(hesc.WireError, match=f"5 samples, the query of {other}"):
            client.decrypt(answer, samples=other)
        with pytest.raises(hesc.WireError, match=f"5 samples, the query of {other}"):
            client.probabilities(answer, samples=other)
    with pytest.raises(hesc.OutOfRangeError, match="samples"):
        client.decrypt(answer, samples=0)

    class Forgetful(LinearServer):
        """Always of five samples."""

        def answer(self, query: bytes) -> bytes:
            five = self.plan.opened(answer, Kind.ANSWER)
            return five._replace(query=name_of(query)).to_bytes()

    forgetful = Forgetful.from_bytes(server.to_bytes())
    session = Session(client, forgetful)
    assert len(session.run(X[:5], clip=False, progress=False).predictions) == 5
    for count in (4, 6):
        with pytest.raises(hesc.WireError, match=f"query of {count}"):
            session.run(X[:count], clip=False, progress=False)
        scores = made.decision_function(X[:count])
        with pytest.raises(hesc.WireError, match=f"query of {count}"):
            measure(client, forgetful, X[:count], scores, made.predict(X[:count]))

"""Private models beside scikit-learn: scores, stated errors, refusals, what is told to whom."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem, RBFSampler
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
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC, LinearSVR

import hesc
from hesc.ml import (
    Client,
    ClippedWarning,
    PrivateClassifier,
    PrivatePlan,
    PrivateRegressor,
    Server,
    planning,
)

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
    made.plan(X, **wishes)
    return made


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_score_as_in_the_clear(name: str, classes: int) -> None:
    """A score beyond seven of its errors is one of 10^11; simulated ones obey the same law."""
    rows, labels = X[Y < classes], np.array(["a", "b", "c"])[Y[Y < classes]]
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
    made.plan(rows, max_error=0.01)
    found = made.predict(rows, fhe="execute")
    assert found.shape == target.shape
    assert np.abs(found - made.predict(rows)).max() < 0.07


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_those_of_scikit_learn(name: str) -> None:
    """As numbers before encryption, read from the wire by a client without scikit-learn's help."""
    pipeline = make_pipeline(*TRANSFORMS[name], Ridge())
    made = PrivateRegressor(pipeline).fit(X[::2], Y[::2])
    made.plan(X, max_error=0.01)
    plan = PrivatePlan.from_bytes(made.client().plan.to_bytes())
    server = json.loads(made.server().to_bytes())
    assert server["plan"] == plan.to_bytes().decode()
    _, linear = made._planned()
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
        made.plan(train, ranges=(rows.min(axis=0), rows.max(axis=0)))
        run = made.run(test)
        clear = made.score(test, right)
        explained = 1 - np.mean((right - run.predictions) ** 2) / np.var(right)
        assert abs(explained - clear) <= 0.01


@pytest.mark.parametrize("fhe", ["execute", "simulate"])
def test_stated_errors_are_true(fhe: Any) -> None:
    """Errors in units of their own law have a mean square of one.

    Over 6000 normal errors that share a key and features' roundings in threes, at least 2000
    independent ones, the mean square leaves 0.85 to 1.15 with a probability below 10^-5.
    """
    made = private()
    plan, linear = made._planned()
    rows = np.random.default_rng(5).uniform(X.min(axis=0), X.max(axis=0), (2000, 4))
    errors = made.decision_function(rows, fhe=fhe) - made.decision_function(rows)
    features = plan.prepared(rows).features
    law = np.array([plan.ring.errors_of(linear.weights, row) for row in features])
    assert law.max() <= plan.error * (1 + 1e-9)
    z = errors / law
    assert 0.85 < np.mean(z**2) < 1.15
    assert abs(np.mean(z)) < 5 / np.sqrt(2000)


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
    """Predicted from below; of 40 runs of 150 rows, within what chance leaves."""
    made = private(max_error=0.5)
    plan, _ = made._planned()
    assert plan.agreement is not None
    runs = [made.predict(X, fhe="simulate", random_state=seed) for seed in range(40)]
    kept = np.mean(runs == made.predict(X))
    # Beyond five deviations of 6000 rows: one in 10^6.
    assert plan.agreement - 0.02 <= kept <= plan.agreement + 0.15
    assert kept < 1


def test_parties_apart(tmp_path: Any) -> None:
    """Bytes alone between them; the client keeps its key."""
    made = private()
    plan = PrivatePlan.from_bytes(made._planned()[0].to_bytes())
    server = Server.from_bytes(made.server().to_bytes())
    client = Client(plan)
    answer = server.answer(client.encrypt(X[:70]).data)
    found = client.decrypt(answer)
    assert np.array_equal(found.predictions, made.predict(X[:70]))
    assert np.abs(found.scores - made.decision_function(X[:70])).max() < 7 * found.error
    assert client.probabilities(answer).shape == (70, 3)
    client.secret.save(tmp_path / "key")
    kept = hesc.LeveledSecretKey.load(plan.ring.params, tmp_path / "key")
    later = Client(plan, secret=kept)
    assert np.array_equal(later.decrypt(answer).scores, found.scores)
    with pytest.raises(hesc.ParameterError, match="without its public one"):
        later.public_keys()
    assert "Client" in repr(client)
    assert "Server" in repr(server)
    assert server.answers_left is None


def test_a_server_needs_no_secrets_and_no_scikit_learn(tmp_path: Any) -> None:
    made = private()
    client = made.client()
    (tmp_path / "server").write_bytes(made.server().to_bytes())
    (tmp_path / "query").write_bytes(client.encrypt(X[:2]).data)
    code = """
import sys
from pathlib import Path
from hesc.ml import Server

folder = Path(sys.argv[1])
server = Server.from_bytes((folder / "server").read_bytes())
(folder / "answer").write_bytes(server.answer((folder / "query").read_bytes()))
assert not {"hesc.secret", "hesc.ml.client", "sklearn"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    found = client.decrypt((tmp_path / "answer").read_bytes())
    assert np.array_equal(found.predictions, made.predict(X[:2]))


def test_private_server_loads_no_secrets() -> None:
    code = """
import sys
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from hesc.ml import PrivateClassifier

X, y = load_iris(return_X_y=True)
private = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, y)
print(private.plan(X))
private.server().to_bytes()
assert "hesc.secret" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_without_scikit_learn_an_error_says_what_to_install() -> None:
    code = """
import sys
sys.modules["sklearn"] = None
import hesc.ml
hesc.ml.Client
try:
    hesc.ml.PrivateClassifier
except ImportError as error:
    assert "pip install 'hesc[ml]'" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_hidden_weights_and_their_count() -> None:
    rows, labels = datasets.load_breast_cancer(return_X_y=True)
    made = PrivateClassifier(make_pipeline(StandardScaler(), RidgeClassifier())).fit(rows, labels)
    plan = made.plan(rows, hidden=True, max_error=0.05)
    assert plan.hidden
    assert "hidden from an honest client" in str(plan)
    assert "30 numbers in all" in str(plan)
    run = made.run(rows[:20])
    assert np.abs(run.scores - made.decision_function(rows[:20])).max() < 7 * plan.error
    with pytest.raises(hesc.ParameterError, match="beyond the 10"):
        made.run(rows[:11])
    client = made.client()
    server = made.server(keys=client.public_keys())
    assert server.answers_left == 30
    again = Server.from_bytes(server.to_bytes(), keys=client.public_keys())
    client.decrypt(again.answer(client.encrypt(rows[:1]).data))
    assert (server.answers_left, again.answers_left) == (30, 29)
    with pytest.raises(hesc.ParameterError, match="client.public_keys"):
        made.server()
    with pytest.raises(hesc.ParameterError, match="31 samples of 1 give the weights"):
        made.plan(rows, hidden=True, max_error=0.05, answers=31)
    assert made.plan(rows, hidden=True, max_error=0.05, answers=5).ring.answers == 5


def test_a_plan_says_who_learns_what() -> None:
    made = PrivateClassifier(
        make_pipeline(StandardScaler(), Nystroem(n_components=8, random_state=0), LinearSVC())
    ).fit(X, Y)
    text = str(made.plan(X))
    for said in (
        "server   ",
        "no sample, no score",
        "THE CLIENT CAN COMPUTE ALL OF THEM",
        "9 samples with their scores give a linear model away",
        "ROWS OF THE TRAINING DATA",
        "root mean square",
        "keep their class",
        "up, ",
    ):
        assert said in text
    assert "PrivatePlan" in repr(made._planned()[0])
    assert "probabilities" not in text
    assert "probabilities" in str(private()._planned()[0])


def test_ranges_are_kept() -> None:
    made = private()
    beyond = X[:3].copy()
    beyond[1, 2] = 100
    with pytest.raises(hesc.OutOfRangeError, match="feature 2 of sample 1 .* 1 values") as caught:
        made.run(beyond)
    assert "100" not in str(caught.value)
    with pytest.warns(ClippedWarning, match="1 values in 1 of 3 samples"):
        run = made.run(beyond, clip=True)
    inside = np.minimum(beyond, X.max(axis=0))
    assert np.abs(run.scores - made.decision_function(inside)).max() < 7 * run.error
    plan = made.plan(X, ranges=(0, 100))
    assert np.array_equal(plan.ring.ranges[1], np.full(4, 100.0))
    assert made.run(beyond).clipped == 0


def test_names_of_features() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c", "d"])
    inner = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, Y)
    for made in (
        PrivateClassifier(clone(inner)).fit(frame, Y),
        PrivateClassifier.from_fitted(inner),
    ):
        plan = made.plan(frame)
        assert plan.names == ["a", "b", "c", "d"]
        assert np.array_equal(made.predict(frame), inner.predict(frame))
        assert np.array_equal(made.predict(frame, fhe="execute"), inner.predict(frame))
        with pytest.raises(ValueError, match="feature names"):
            made.predict(frame[["b", "a", "c", "d"]], fhe="execute")
        client = Client(PrivatePlan.from_bytes(plan.to_bytes()))
        assert client.encrypt(frame).clipped == 0
        with pytest.raises(hesc.ShapeError, match="named otherwise"):
            client.encrypt(frame[["b", "a", "c", "d"]])
        with pytest.raises(hesc.OutOfRangeError, match=r"feature 1 \(b\)"):
            client.encrypt(frame + [0, 100, 0, 0])
    assert hasattr(inner, "feature_names_in_")


def test_progress_counts_samples() -> None:
    made = private()
    rows = np.repeat(X, 100, axis=0)
    seen: list[tuple[int, int]] = []
    made.run(rows, progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 1
    assert seen[-1] == (15000, 15000)
    made.run(X, fhe="simulate", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (150, 150)


def test_plans_and_keys_do_not_travel_with_an_estimator() -> None:
    made = private()
    made.run(X[:1])
    assert set(made.get_params(deep=False)) == {"estimator"}
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    assert np.array_equal(again.predict(X), made.predict(X))
    assert not [
        name for name in vars(again) if name.startswith("_s") and name != "_sklearn_version"
    ]
    for other in (again, private().fit(X, Y)):
        with pytest.raises(hesc.ParameterError, match="no plan"):
            other.run(X)
    with pytest.raises(NotFittedError):
        clone(made).predict(X)
    for party in (made.client(), made.server()):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(party)


def test_forms_that_disagree_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = PrivateRegressor(Ridge()).fit(X, Y)
    made.estimator_.predict = lambda rows: rows @ made.estimator_.coef_
    with pytest.raises(hesc.ParameterError, match="apart from scikit-learn's"):
        made.plan(X)
    assert monkeypatch is not None
    assert planning is not None


class Own(LogisticRegression):
    """A subclass may compute anything."""


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda: PrivateClassifier(RandomForestClassifier()), "Parameter", "RandomForest.*Polynom"),
        (lambda: PrivateClassifier(SVC()), "Parameter", "SVC is not.*LinearSVC.*Nystroem"),
        (lambda: PrivateClassifier(Own()), "Parameter", "Own is not.*nearest: LogisticRegression"),
        (lambda: PrivateClassifier(Ridge()), "Parameter", "Ridge is not.*nearest: LogisticReg"),
        (lambda: PrivateClassifier(None), "Parameter", "NoneType is not"),
        (lambda: PrivateRegressor(KNeighborsRegressor()), "Parameter", "KNeighbors.*hesc.codes"),
        (
            lambda: PrivateClassifier(make_pipeline(RBFSampler(), LinearSVC())),
            "Parameter",
            "RBFSampler is not.*nearest: Nystroem",
        ),
    ],
)
def test_other_estimators_are_refused(act: Callable[[], Any], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act().fit(X, Y)


@pytest.mark.parametrize(
    ("wishes", "error", "text"),
    [
        ({"disclose": "class"}, "Parameter", "sees them.*hesc.gates"),
        ({"disclose": "distances"}, "Parameter", "hesc.codes"),
        ({"disclose": "nothing"}, "Parameter", "no such disclosure"),
        ({"setting": "outsourced"}, "Parameter", "hesc.networks"),
        ({"setting": "many_parties"}, "Parameter", "hesc.linkage"),
        ({"setting": "else"}, "Parameter", "known are client_server"),
        ({"max_error": 0}, "Parameter", "above zero"),
        ({"max_error": [1, 2]}, "Parameter", "above zero"),
        ({"max_error": 1e-14}, "Parameter", "apart from"),
        ({"max_error": 1e-11}, "NoiseBudget", "no set reaches"),
        ({"answers": 5}, "Parameter", "hidden=True"),
        ({"hidden": 1}, "Parameter", "True or False"),
        ({"hidden": True, "answers": 0}, "OutOfRange", "answers"),
        ({"ranges": 3}, "Shape", "a pair"),
        ({"ranges": (0, [1, 2])}, "Shape", "4 numbers"),
        ({"ranges": (1, 0)}, "Parameter", "low at most"),
    ],
)
def test_wishes_that_cannot_be_are_refused(wishes: dict[str, Any], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        private(**wishes)


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda p: p.run(X, fhe="clear"), "Parameter", "simulate or execute"),
        (lambda p: p.predict(X, clip=True), "Parameter", "clip"),
        (lambda p: p.client().encrypt(X[:, :3]), "Shape", "rows of 4 features"),
        (lambda p: p.client().encrypt(X * np.nan), "OutOfRange", "no finite"),
        (lambda p: p.client().encrypt(np.ma.MaskedArray(X, X > 3)), "Shape", "masked"),
        (lambda p: p.client().encrypt(np.repeat(X, 100, 0)), "Shape", "as several"),
        (lambda p: p.client().decrypt(b"x"), "Wire", "bytes"),
        (lambda p: p.server().answer(b"x"), "Wire", "bytes"),
        (lambda p: p.server(keys=p.client().public_keys()), "Parameter", "hides no weights"),
        (lambda p: p.server(keys=5), "Parameter", "keys are bytes"),
        (lambda _: Client(5), "Parameter", "PrivatePlan.from_bytes"),
        (lambda _: Server(5, [1], [1]), "Parameter", "PrivateClassifier.plan"),
        (lambda p: Client(p.client().plan, secret=5), "Parameter", "leveled_keygen"),
    ],
)
def test_parties_refuse(act: Callable[[PrivateClassifier], Any], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act(private())

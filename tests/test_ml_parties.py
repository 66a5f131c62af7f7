"""Private models: their parties apart, what is told to whom, refusals, hostile bytes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc.ml import (
    ClippedWarning,
    LinearClient,
    LinearPlan,
    LinearServer,
    Network,
    Parties,
    PrivateClassifier,
    PrivateRegressor,
    Scores,
    Search,
)
from hesc.protocols.message import Kind

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y = datasets.load_iris(return_X_y=True)


def private(options: Any = None) -> PrivateClassifier:
    made = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y)
    made.plan(X, options)
    return made


def test_parties_apart(tmp_path: Any) -> None:
    """Bytes alone between them; the client keeps its key."""
    made = private()
    plan = LinearPlan.from_bytes(made._served().plan.to_bytes())
    server = LinearServer.from_bytes(made.server().to_bytes())
    client = LinearClient(plan)
    answer = server.answer(client.encrypt(X[:70]).data)
    found = client.decrypt(answer)
    assert np.array_equal(found.predictions, made.predict(X[:70]))
    assert np.abs(found.scores - made.decision_function(X[:70])).max() < 7 * found.error
    assert client.probabilities(answer).shape == (70, 3)
    with pytest.raises(hesc.WireError, match="to another query"):
        client.decrypt(answer, query=client.encrypt(X[:70]).data)
    for samples in (69, 71):
        parts = plan.opened(answer, Kind.ANSWER)._replace(samples=samples)
        with pytest.raises(hesc.WireError, match="the answer is of 70 samples"):
            client.decrypt(parts.to_bytes())
    client.secret.save(tmp_path / "key")
    kept = hesc.SecretKey.load(plan.ring.params, tmp_path / "key")
    later = LinearClient(plan, secret=kept)
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
from hesc.ml import LinearServer

folder = Path(sys.argv[1])
server = LinearServer.from_bytes((folder / "server").read_bytes())
(folder / "answer").write_bytes(server.answer((folder / "query").read_bytes()))
assert not {"hesc.secret", "hesc.protocols.linear.client", "sklearn"} & set(sys.modules)
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
hesc.ml.LinearClient
try:
    hesc.ml.PrivateClassifier
except ImportError as error:
    assert "pip install" in str(error) and "'scikit-learn>=" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_stands_in_for_a_package_is_none() -> None:
    """Without a spec nothing says what it is, and everything else is still imported."""
    code = """
import sys, types
sys.modules["onnx"] = types.ModuleType("onnx")
import hesc.ml
assert "load_onnx" not in hesc.ml.__all__
assert "PrivateClassifier" in hesc.ml.__all__
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("missing", ["onnx", "sklearn"])
def test_a_star_gives_what_is_installed(missing: str) -> None:
    """All other names, and those that are left out still say what to install."""
    code = """
import sys
import hesc.ml
every = set(hesc.ml._LATER) | set(hesc.ml.__all__)
for name in [each for each in sys.modules if each.startswith("hesc.ml")]:
    del sys.modules[name]
sys.modules[sys.argv[1]] = None
given = {}
exec("from hesc.ml import *", given)
left_out = every - set(given)
assert left_out, sys.argv
import hesc.ml
assert set(dir(hesc.ml)) >= every - left_out, "completion lacks names"
for name in left_out:
    try:
        getattr(hesc.ml, name)
    except ImportError as error:
        assert "pip install '" in str(error), error
    else:
        raise AssertionError(name)
assert "load_onnx" in left_out
assert ("PrivateClassifier" in given) == (sys.argv[1] == "onnx")
"""
    subprocess.run([sys.executable, "-c", code, missing], check=True)


def test_hidden_weights_and_their_count() -> None:
    rows, labels = datasets.load_breast_cancer(return_X_y=True)
    made = PrivateClassifier(make_pipeline(StandardScaler(), RidgeClassifier())).fit(rows, labels)
    # One answer along the first axis gives most of it.
    with pytest.raises(hesc.ParameterError, match="hides too little of this model: from 1 sample"):
        made.plan(rows, Scores(hidden=True, max_error=0.05))
    plan = made.plan(rows, Scores(hidden=True, max_error=0.05, answers=29))
    assert plan.hidden
    assert "from 29 samples of its choice" in str(plan)
    assert "hidden from an honest client" in str(plan)
    assert "29 numbers in all" in str(plan)
    assert "down for 29 samples" in str(plan)
    run = made.run(rows[:20])
    assert np.abs(run.scores - made.decision_function(rows[:20])).max() < 7 * plan.error
    with pytest.raises(hesc.ParameterError, match="beyond the 9"):
        made.run(rows[:10])
    client = made.client()
    server = made.server(keys=client.public_keys())
    assert server.answers_left == 9
    again = LinearServer.from_bytes(server.to_bytes(), keys=client.public_keys())
    client.decrypt(again.answer(client.encrypt(rows[:1]).data))
    assert (server.answers_left, again.answers_left) == (8, 8)
    # A message of another number of samples than its ciphertexts is refused, and not counted.
    query = client.encrypt(rows[:1]).data
    for samples in (2, 3):
        lying = plan.opened(query, Kind.QUERY)._replace(samples=samples)
        with pytest.raises(hesc.WireError, match=f"of 1 samples, its message of {samples}"):
            again.answer(lying.to_bytes())
    assert (server.answers_left, again.answers_left) == (8, 8)
    with pytest.raises(hesc.ParameterError, match=r"client\.public_keys"):
        made.server().answer(client.encrypt(rows[:1]).data)
    with pytest.raises(hesc.ParameterError, match="from bytes"):
        made.server(keys=WORD)
    with pytest.raises(hesc.ParameterError, match="vary in 30 directions"):
        made.plan(rows, Scores(hidden=True, max_error=0.05, answers=30))
    assert made.plan(rows, Scores(hidden=True, max_error=0.05, answers=5)).ring.answers == 5


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
    assert "LinearPlan" in repr(made._served().plan)
    assert "probabilities" not in text
    assert "probabilities" in str(private()._served().plan)


def test_ranges_are_kept() -> None:
    made = private()
    beyond = X[:3].copy()
    beyond[1, 2] = 100
    with pytest.raises(
        hesc.OutOfRangeError, match=r"feature 2 of sample 1 .* 1 of 12 values"
    ) as caught:
        made.run(beyond)
    assert "100" not in str(caught.value)
    with pytest.warns(ClippedWarning, match="1 values in 1 of 3 samples"):
        run = made.run(beyond, clip=True)
    inside = np.minimum(beyond, X.max(axis=0))
    assert np.abs(run.scores - made.decision_function(inside)).max() < 7 * run.error
    plan = made.plan(X, Scores(ranges=(0, 100)))
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
        client = LinearClient(LinearPlan.from_bytes(plan.to_bytes()))
        assert client.encrypt(frame).clipped == 0
        with pytest.raises(hesc.ShapeError, match="named otherwise"):
            client.encrypt(frame[["b", "a", "c", "d"]])
        with pytest.raises(hesc.OutOfRangeError, match=r"feature 1 \('b'\)"):
            client.encrypt(frame + np.array([0, 100, 0, 0]))
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
    with pytest.raises(NotFittedError, match=r"PrivateClassifier\.from_fitted\(estimator\)"):
        PrivateClassifier(made.estimator_).predict(X)
    with pytest.raises(NotFittedError, match="not fitted"):
        PrivateClassifier.from_fitted(RidgeClassifier())
    with pytest.raises(NotFittedError, match="not fitted"):
        clone(made).plan(X)
    for party in (made.client(), made.server()):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(party)


def test_forms_that_disagree_are_refused() -> None:
    made = PrivateRegressor(Ridge()).fit(X, Y)
    made.estimator_.predict = lambda rows: rows @ made.estimator_.coef_
    with pytest.raises(hesc.ParameterError, match="apart from scikit-learn's"):
        made.plan(X)


WORD: Any = "x"


def test_other_conclusions_are_refused() -> None:
    """Several labels to a sample have as many scores as classes would."""
    labels = np.column_stack([Y == 0, X[:, 0] > 6, X[:, 1] > 3]).astype(int)
    made = PrivateClassifier.from_fitted(RidgeClassifier().fit(X, labels))
    with pytest.raises(hesc.ParameterError, match="several labels"):
        made.plan(X)


class Own(DecisionTreeClassifier):  # type: ignore[misc]
    """A subclass of trees may compute anything."""


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda: PrivateClassifier(IsolationForest()), "Parameter", "Isolation.*PrivateOutlier"),
        (lambda: PrivateClassifier(SVC()), "Parameter", "this SVC is not.*LinearSVC.*Nystroem"),
        (lambda: PrivateClassifier(Own()), "Parameter", "Own is not.*nearest: DecisionTreeC"),
        (lambda: PrivateClassifier(Ridge()), "Parameter", "Ridge is not.*nearest: PrivateRegr"),
        (lambda: PrivateClassifier(None), "Parameter", "NoneType is not"),
        (lambda: PrivateRegressor(KNeighborsRegressor()), "Parameter", "KNeighbors.*hesc.search"),
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
    ("options", "error", "text"),
    [
        (Search(records="public"), "Parameter", "hesc.search"),
        (Network(), "Parameter", "PrivateMLPClassifier"),
        ("class", "Parameter", "options of a plan are .*Classes"),
        (Parties, "Parameter", "an object, not its class"),
        (Parties({"p": [0]}), "Parameter", "parties are two or more"),
        (Scores(max_error=0), "Parameter", "above zero"),
        (Scores(max_error=True), "Parameter", "above zero"),
        (Scores(max_error=[1, 2]), "Parameter", "above zero"),  # type: ignore[arg-type]
        (Scores(max_error=1e-14), "Parameter", "in double precision, loses"),
        (Scores(max_error=1e-11), "NoiseBudget", "no set reaches"),
        (Scores(answers=5), "Parameter", "hidden=True"),
        (Scores(hidden=1), "Parameter", "True or False"),  # type: ignore[arg-type]
        (Scores(hidden=True, answers=0), "OutOfRange", "answers"),
        (Scores(ranges=3), "Shape", "a pair"),  # type: ignore[arg-type]
        (Scores(ranges=(0, [1, 2])), "Shape", "4 numbers"),
        (Scores(ranges=(1, 0)), "Parameter", "low at most"),
    ],
)
def test_options_that_cannot_be_are_refused(options: Any, error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        private(options)


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda p: p.run(X, fhe="clear"), "Parameter", "simulate or execute"),
        (lambda p: p.predict(X, clip=True), "Parameter", "clip"),
        (lambda p: p.client().encrypt(X[:, :3]), "Shape", "rows of 4 features"),
        (lambda p: p.client().encrypt(X * np.nan), "OutOfRange", "no finite"),
        (lambda p: p.client().encrypt(np.ma.MaskedArray(X, X > 3)), "Shape", "masked"),
        (lambda p: p.client().encrypt(np.repeat(X, 100, 0)), "Shape", "as several"),
        (lambda p: p.client().decrypt(b"x"), "Wire", "no message"),
        (lambda p: p.server().answer(b"x"), "Wire", "no message"),
        (lambda p: p.server(keys=p.client().public_keys()), "Parameter", "needs no keys"),
        (lambda p: p.server(keys=5), "Parameter", "needs no keys"),
        (lambda _: LinearClient(WORD), "Parameter", "LinearPlan.from_bytes"),
        (lambda _: LinearServer(WORD, [1], [1]), "Parameter", "LinearPlan.from_bytes"),
        (lambda p: LinearClient(p.client().plan, secret=WORD), "Parameter", r"SecretKey\.load"),
    ],
)
def test_parties_refuse(act: Callable[[PrivateClassifier], Any], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act(private())


def test_hidden_models_give_fewer_answers_than_features_vary_in_directions() -> None:
    """Constant columns, and kernels of more components than features, are no more unknowns."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 10))
    target = rows @ rng.normal(size=10)
    wide = make_pipeline(Nystroem(kernel="linear", n_components=60, random_state=1), Ridge())
    for model, features in (
        (Ridge(fit_intercept=False), rows),
        (make_pipeline(PolynomialFeatures(1), Ridge()), rows),
        (wide, rows),
        (Ridge(), np.column_stack([rows, np.ones((300, 3))])),
    ):
        made = PrivateRegressor(model).fit(features, target)
        assert made.plan(features, Scores(hidden=True, answers=9)).ring.answers == 9
        with pytest.raises(hesc.ParameterError, match="vary in 10 directions"):
            made.plan(features, Scores(hidden=True, answers=10))
    alone = PrivateRegressor(Ridge()).fit(rows[:, :1], target)
    with pytest.raises(hesc.ParameterError, match="hides nothing"):
        alone.plan(rows[:, :1], Scores(hidden=True))


def test_models_that_changed_are_planned_again() -> None:
    rows, labels = datasets.load_iris(return_X_y=True)
    made = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(rows, labels)
    made.plan(rows)
    made.estimator_.coef_ = -made.estimator_.coef_
    with pytest.raises(hesc.ParameterError, match="has changed"):
        made.predict(rows, fhe="execute")
    made.fit(rows, labels)
    made.plan(rows)
    with pytest.raises(ValueError, match="inconsistent"):
        made.fit(rows, labels[:-1])
    with pytest.raises(NotFittedError):
        made.predict(rows, fhe="execute")


def test_agreement_counts_what_clipping_changes() -> None:
    rows, labels = datasets.load_iris(return_X_y=True)
    made = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(rows, labels)
    with pytest.warns(
        UserWarning, match=r"150 of 150 rows planned with lie beyond .*in feature [01], which is"
    ):
        plan = made.plan(rows, Scores(ranges=(5, 6), max_error=0.01))
    with pytest.warns(ClippedWarning):
        found = made.predict(rows, fhe="simulate", clip=True, random_state=1)
    assert plan.agreement is not None
    assert abs((found == made.predict(rows)).mean() - plan.agreement) < 0.05


def test_texts_and_labels_that_do_not_travel() -> None:
    rows, labels = datasets.load_iris(return_X_y=True)
    made = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(rows, labels)
    made.plan(rows)
    with pytest.raises(hesc.ShapeError, match="some of these are texts") as refused:
        made.predict(np.array([["4111-secret", "1", "2", "3"]]), fhe="execute")
    assert "4111" not in str(refused.value)
    for names in (["a", "a\0"], ["a", "b" * 1001]):
        odd = PrivateClassifier(LogisticRegression(max_iter=1000))
        odd.fit(rows[:100], np.array(names, dtype=object)[labels[:100]])
        with pytest.raises(hesc.ParameterError, match="letters at most"):
            odd.plan(rows[:100])

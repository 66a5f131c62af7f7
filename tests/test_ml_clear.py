"""Models that are nobody's secret: clients compute what scikit-learn does, and nothing is sent."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hesc
from hesc._support import documents
from hesc.cli import files, predicting
from hesc.ml import (
    ClearClient,
    ClearPlan,
    ClientFolder,
    Deployment,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateMLPRegressor,
    PrivateRegressor,
    PrivateTransformer,
)
from hesc.protocols import ways

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X, Y = datasets.load_iris(return_X_y=True)
LABELS = np.array(["p", "q", "r"])[Y]
NAMES = ["a", "b", "c", "d"]
MODELS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())),
    "gaussian": lambda: PrivateClassifier(GaussianNB()),
    "squares": lambda: PrivateClassifier(
        make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression(max_iter=1000))
    ),
    "forest": lambda: PrivateClassifier(RandomForestClassifier(20, random_state=0)),
    "scaled forest": lambda: PrivateClassifier(
        make_pipeline(StandardScaler(), PCA(3), RandomForestClassifier(5, random_state=0))
    ),
    "histograms": lambda: PrivateClassifier(HistGradientBoostingClassifier(max_iter=5)),
    "votes": lambda: PrivateClassifier(AdaBoostClassifier(n_estimators=5, random_state=0)),
    "network": lambda: PrivateMLPClassifier(
        make_pipeline(StandardScaler(), MLPClassifier((6, 5), "tanh", max_iter=200, random_state=0))
    ),
    "ridge": lambda: PrivateRegressor(Ridge()),
    "boosted": lambda: PrivateRegressor(GradientBoostingRegressor(n_estimators=10, random_state=0)),
    "network regressor": lambda: PrivateMLPRegressor(
        MLPRegressor(hidden_layer_sizes=(6,), max_iter=200, random_state=0)
    ),
    "projection": lambda: PrivateTransformer(PCA(2)),
    "one axis": lambda: PrivateTransformer(PCA(1)),
}


def planned(name: str, **wishes: Any) -> Any:
    private = MODELS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        private.fit(X, Y if hasattr(private, "transform") or name in NUMBERS else LABELS)
    private.plan(X, setting="one_side_clear", **wishes)
    return private


NUMBERS = {"ridge", "boosted", "network regressor"}


@pytest.fixture(scope="module")
def forest() -> PrivateClassifier:
    found: PrivateClassifier = planned("forest", names=NAMES)
    return found


@pytest.fixture(scope="module")
def saved(forest: PrivateClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return forest.save(tmp_path_factory.mktemp("clear") / "d")


@pytest.mark.parametrize("name", MODELS)
def test_clients_compute_what_scikit_learn_does(name: str) -> None:
    """From the file alone: predictions, scores and probabilities, up to roundings."""
    private = planned(name)
    plan = private.client().plan
    client = ways.client_of(ways.read_plan(plan.to_bytes()))
    assert isinstance(client, ClearClient)
    found = client.results(X)
    assert found.error is plan.error is None
    if plan.transformer:
        assert found.predictions.shape == private.transform(X).shape
        assert np.allclose(found.predictions, private.transform(X), rtol=0, atol=1e-9)
        assert np.allclose(private.transform(X, fhe="execute"), private.transform(X), atol=1e-9)
        return
    expected = private.predict(X)
    for fhe in ("simulate", "execute"):
        run = private.run(X, fhe=fhe)
        assert np.array_equal(run.predictions, found.predictions)
        assert run.sizes == (0, 0)
    if plan.classes is None:
        assert np.allclose(found.predictions, expected, rtol=1e-9)
        return
    assert np.array_equal(found.predictions, expected)
    assert np.allclose(found.scores, private.decision_function(X), rtol=1e-9, atol=1e-9)
    assert np.allclose(private.decision_function(X, fhe="execute"), found.scores)
    if plan.link == "none":
        with pytest.raises(hesc.ParameterError, match="no probabilities"):
            client.probabilities(X)
        return
    shares = private.predict_proba(X, fhe="execute")
    assert np.allclose(client.probabilities(X), shares)
    assert np.allclose(shares, private.predict_proba(X), atol=1e-9)


def test_a_client_needs_no_scikit_learn_and_no_key(saved: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X[:5])
    code = """
import sys
import numpy as np
from hesc.ml import ClientFolder

client = ClientFolder.open(sys.argv[1]).client()
print(" ".join(client.predict(np.load(sys.argv[2]))))
assert not {"sklearn", "hesc.secret"} & set(sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved / "client"), str(tmp_path / "x.npy")],
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == LABELS[:5].tolist()


def test_there_is_no_server_and_nothing_to_encrypt(forest: PrivateClassifier) -> None:
    client = forest.client()
    acts: list[Callable[[], object]] = [
        forest.server,
        client.public_keys,
        lambda: client.secret,
        lambda: client.encrypt(X),
        lambda: client.encrypted(X),
        lambda: client.decrypt(b""),
        lambda: ClearClient(client.plan, secret=1),
        lambda: ways.client_of(client.plan, secret=1),
        lambda: ways.load_secret(client.plan, "key"),
    ]
    for act in acts:
        with pytest.raises(hesc.ParameterError, match=r"nobody's secret.*hesc predict"):
            act()
    with pytest.raises(hesc.ParameterError, match="leave out keys"):
        ways.client_of(client.plan, keys=b"")
    told = str(client.plan)
    for words in ("one_side_clear", "there is none", "the whole model", "0 up, 0 down"):
        assert words in told


def test_the_class_alone_is_refused(forest: PrivateClassifier) -> None:
    """Who has the model computes its scores: nothing keeps them from it."""
    with pytest.raises(hesc.ParameterError, match=r"has the model, learns more.*'client_server'"):
        forest.plan(X, setting="one_side_clear", disclose="class")
    median = PrivateRegressor(AdaBoostRegressor(n_estimators=3, random_state=0)).fit(X, Y)
    with pytest.raises(hesc.ParameterError, match="AdaBoostRegressor"):
        median.plan(X, setting="one_side_clear")


@pytest.mark.parametrize("name", ["logistic", "forest", "network"])
def test_a_changed_model_is_planned_again(name: str) -> None:
    private = planned(name)
    private.client()
    final = private.estimator_ if name == "forest" else private.estimator_[-1]
    if name == "forest":
        final.estimators_[0].tree_.value[0] += 1
        final.estimators_[0].tree_.value[-1] += 1
    else:
        (final.coef_ if name == "logistic" else final.coefs_[0])[0, 0] += 1e-12
    with pytest.raises(hesc.ParameterError, match="has changed"):
        private.client()


def test_numbers_that_are_not_the_models_are_refused() -> None:
    private = PrivateRegressor(Ridge()).fit(X, Y)
    private.estimator_.predict = lambda rows: rows @ private.estimator_.coef_
    with pytest.raises(hesc.ParameterError, match="apart from its own"):
        private.plan(X, setting="one_side_clear")
    labels = np.column_stack([Y == 0, X[:, 0] > 6, X[:, 1] > 3]).astype(int)
    several = PrivateClassifier.from_fitted(RidgeClassifier().fit(X, labels))
    with pytest.raises(hesc.ParameterError, match="several labels"):
        several.plan(X, setting="one_side_clear")


def test_samples_that_are_none(forest: PrivateClassifier) -> None:
    client = forest.client()
    for wrong in (np.nan, np.inf):
        with pytest.raises(hesc.OutOfRangeError):
            client.predict(np.where(X > 7, wrong, X))
    for rows in (X[:, :3], X[0], X[:0]):
        with pytest.raises(hesc.ShapeError):
            client.predict(rows)
    private = planned("ridge")
    private.estimator_.coef_ = np.sign(private.estimator_.coef_)
    private.plan(X, setting="one_side_clear")
    with pytest.raises(hesc.OutOfRangeError, match="beyond what doubles hold"):
        private.client().predict(1e308 * private.estimator_.coef_[None])


# Folders and commands


def test_what_lies_where(saved: Path, forest: PrivateClassifier) -> None:
    files_there = sorted(
        str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file()
    )
    assert files_there == [
        "client/manifest.json",
        "client/plan.json",
        "manifest.json",
        "report.html",
    ]
    opened = Deployment.open(saved)
    assert opened.client.plan.to_bytes() == forest.client().plan.to_bytes()
    with pytest.raises(hesc.ParameterError, match="no server/"):
        _ = opened.server
    page = (saved / "report.html").read_text()
    assert "hesc predict rows.csv" in page
    assert "(150 of 150)" in page
    for words in ("hesc keygen", "bytes up", "secret key", "Errors against the truth"):
        assert words not in page


def test_commands_compute_or_say_what_does(saved: Path, tmp_path: Path) -> None:
    rows = ",".join(NAMES) + "\n" + "\n".join(",".join(map(str, row)) for row in X.tolist())
    (tmp_path / "rows").write_text(rows)
    client, out = saved / "client", tmp_path / "p"
    predicting.predict(
        tmp_path / "rows", client, out, probabilities=True, json_file=str(tmp_path / "j")
    )
    head, *lines = out.read_text().splitlines()
    assert head.startswith("prediction,score")
    assert [line.split(",")[0] for line in lines] == LABELS.tolist()
    assert json.loads((tmp_path / "j").read_text()) == {"samples": 150}
    key, other = tmp_path / "k", tmp_path / "o"
    acts: list[Callable[[], object]] = [
        lambda: files.keygen(client, key),
        lambda: files.encrypt(tmp_path / "rows", client, key, other),
        lambda: files.evaluate(tmp_path / "rows", saved / "server", other),
        lambda: files.evaluate(tmp_path / "rows", client, other),
        lambda: files.decrypt(tmp_path / "rows", client, key, other),
    ]
    for act in acts:
        with pytest.raises(hesc.ParameterError, match="hesc predict"):
            act()
    assert not key.exists()
    assert not other.exists()
    served = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    served.plan(X)
    at = served.save(tmp_path / "d", sample=0)
    with pytest.raises(hesc.ParameterError, match="hesc keygen, encrypt, eval"):
        predicting.predict(tmp_path / "rows", at / "client", other)
    with pytest.raises(FileNotFoundError):
        files.evaluate(tmp_path / "rows", tmp_path / "nowhere", other)


def test_folders_that_a_plan_does_not_have_are_refused(saved: Path, tmp_path: Path) -> None:
    """With manifests that fit, as a liar would write them: a server where there is none, or none.

    Without its server/ a deployment of a served model is no deployment.
    """
    served = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    served.plan(X)
    at = served.save(tmp_path / "d", sample=0)
    manifest = json.loads((at / "manifest.json").read_text())
    listed = manifest["files"].pop("server/manifest.json")
    (at / "server").rename(tmp_path / "server")
    with pytest.raises(hesc.WireError, match="list of files"):
        Deployment.open(at)
    (at / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(hesc.WireError, match="other folders than its plan"):
        Deployment.open(at)
    copied = shutil.copytree(saved, tmp_path / "c")
    shutil.copytree(tmp_path / "server", copied / "server")
    manifest = json.loads((copied / "manifest.json").read_text())
    manifest["files"]["server/manifest.json"] = listed
    (copied / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(hesc.WireError, match="other folders than its plan"):
        Deployment.open(copied)


# Hostile bytes


def documents_of(name: str) -> tuple[bytes, dict[str, Any]]:
    data: bytes = planned(name).client().plan.to_bytes()
    return data, json.loads(data)


@pytest.mark.parametrize("name", ["scaled forest", "network"])
def test_damaged_plans_are_refused_or_read(name: str) -> None:
    data, _ = documents_of(name)
    rng = np.random.default_rng(0)
    for turn in range(300):
        damaged = bytearray(data)
        damaged[rng.integers(min(len(data), 300) if turn % 2 else len(data))] ^= 1 << rng.integers(
            8
        )
        given = bytes(damaged) if turn % 3 else bytes(damaged[: rng.integers(len(data))])
        try:
            plan = ClearPlan.from_bytes(given)
        except hesc.WireError:
            continue
        try:
            ClearClient(plan).predict(X[:3])
        except hesc.HescError:
            continue


CHANGES: dict[str, Any] = {
    "inputs": (0, 1 << 40, 5, True, 4.0, "4", None),
    "names": (["a"], [1, 2, 3, 4], None),
    "steps": (None, [None], [{"step": "code"}]),
    "model": (None, {}, {"model": "code"}, {"model": "layers", "layers": []}),
    "classes": (None, {"type": "int", "values": [1]}, {"type": "str", "values": ["p", "q"]}),
    "link": ("else", None),
    "transformer": (True, 0, None),
}


@pytest.mark.parametrize("field", CHANGES)
def test_other_values_are_refused(field: str) -> None:
    _, document = documents_of("scaled forest")
    for value in CHANGES[field]:
        changed = document | {field: value}
        # Without classes it is a regressor's plan, and that is a plan.
        if field == "classes" and value is None:
            assert ClearPlan.from_bytes(json.dumps(changed).encode()).classes is None
            continue
        with pytest.raises(hesc.WireError):
            ClearPlan.from_bytes(json.dumps(changed).encode())
    for without in (set(document) - {field}, {*document, "more"}):
        changed = {name: document.get(name, 0) for name in without}
        with pytest.raises(hesc.WireError):
            ClearPlan.from_bytes(json.dumps(changed).encode())


def test_trees_that_go_nowhere_are_refused() -> None:
    """Children before their parents would be walked for ever."""
    from hesc._support import documents

    _, document = documents_of("scaled forest")
    model = document["model"]
    changes: list[Callable[[Any], Any]] = [
        lambda x: x * 0,
        lambda x: x + 0.5,
        lambda x: x + 1e12,
        lambda x: x[:-1],
    ]
    for name in ("left", "right", "roots", "features"):
        for change in changes:
            places = documents.unpacked(model[name], 1, name)
            changed = document | {"model": model | {name: documents.packed(change(places))}}
            with pytest.raises(hesc.WireError):
                ClearPlan.from_bytes(json.dumps(changed).encode())


def test_folders_are_of_one_kind(saved: Path) -> None:
    assert ClientFolder.open(saved / "client").plan.kind == "clear plan"


TIED: dict[str, Callable[[int], Any]] = {
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed, max_depth=4),
    "forest": lambda seed: RandomForestClassifier(4, random_state=seed),
    "many trees": lambda seed: ExtraTreesClassifier(9, bootstrap=True, random_state=seed),
    "votes": lambda seed: AdaBoostClassifier(n_estimators=6, random_state=seed),
    "boosted": lambda seed: GradientBoostingClassifier(n_estimators=4, random_state=seed),
    "stumps": lambda seed: GradientBoostingClassifier(
        n_estimators=2, max_depth=1, learning_rate=1.0, random_state=seed
    ),
    "histograms": lambda seed: HistGradientBoostingClassifier(max_iter=3, random_state=seed),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", TIED)
def test_votes_that_tie_but_for_roundings_go_to_scikit_learns_class(
    name: str, classes: int
) -> None:
    """Few values and labels that do not follow from them: shares of thirds and fifths tie."""
    # Threads that wait for each other take seconds.
    for seed in range(2 if name == "histograms" else 12):
        rng = np.random.default_rng(seed)
        x = np.round(rng.normal(size=(60, 2)) * 2) / 2
        # Rows that are there with every label leave boosted models nothing to say.
        x, y = np.repeat(x, classes, axis=0), np.tile(np.arange(classes), 60)
        if seed % 5 or name == "votes":
            y = rng.integers(0, classes, len(x))
        model = TIED[name](seed).fit(x, y)
        private = PrivateClassifier.from_fitted(model)
        plan = private.plan(x, setting="one_side_clear")
        found = private.run(x, progress=False)
        assert np.array_equal(found.predictions, model.predict(x)), seed
        assert np.array_equal(
            ClearPlan.from_bytes(plan.to_bytes()).predictions(found.scores), found.predictions
        )
        assert np.allclose(found.scores, private.decision_function(x), rtol=0, atol=1e-15)


def test_published_regressors_of_trees_are_scikit_learns_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    x, target = rng.normal(size=(200, 3)), rng.normal(size=200)
    for model in (
        DecisionTreeRegressor(random_state=0),
        RandomForestRegressor(7, random_state=0),
        GradientBoostingRegressor(n_estimators=20, random_state=0),
        HistGradientBoostingRegressor(max_iter=3),
    ):
        private = PrivateRegressor(model).fit(x, target)
        private.plan(x, setting="one_side_clear")
        found = private.predict(x, fhe="execute", progress=False)
        assert np.array_equal(found, private.predict(x))


def test_documents_of_trees_divide_by_one_number_above_zero() -> None:
    model = RandomForestClassifier(3, random_state=0).fit(X, Y)
    private = PrivateClassifier.from_fitted(model)
    document = json.loads(private.plan(X, setting="one_side_clear").to_bytes())
    for numbers in ([], [0.0], [-3.0], [3.0, 3.0], [[3.0]]):
        document["model"]["divisor"] = documents.packed(np.array(numbers))
        with pytest.raises(hesc.WireError):
            ClearPlan.from_bytes(json.dumps(document).encode())

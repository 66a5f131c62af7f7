"""What serves which setting and disclosure: every pair works or is refused with what would do."""

from __future__ import annotations

import copy
import io
import json
import pickle
import re
import warnings
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn import datasets
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc.cli import compiling, files
from hesc.ml import (
    Classes,
    Deployment,
    Network,
    Outsourced,
    Parties,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateMLPRegressor,
    PrivateNeighbours,
    PrivateRegressor,
    PrivateSquareNetwork,
    Scores,
    Search,
    Streams,
    report,
)
from hesc.models.described import Described
from hesc.models.given import GivenClassifier
from hesc.models.transforms import Affine
from hesc.models.trees import TreeEnsemble
from hesc.protocols import backend
from hesc.protocols.classes.planning import held_out
from hesc.protocols.measuring import SAMPLE
from hesc.streams.iris import load_network

X, Y = datasets.load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]


def fitted(estimator: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, Y)


@pytest.fixture(scope="module")
def estimators() -> dict[str, Any]:
    return {
        "classifier": fitted(PrivateClassifier(LogisticRegression(max_iter=1000))),
        "tree": fitted(PrivateClassifier(DecisionTreeClassifier(max_depth=2, random_state=0))),
        "regressor": fitted(PrivateRegressor(Ridge())),
        "streams": PrivateSquareNetwork.from_network(load_network()),
        "neighbours": fitted(PrivateNeighbours(KNeighborsClassifier())),
        "network": fitted(PrivateMLPClassifier(MLPClassifier((4,), max_iter=50, random_state=0))),
        "network regressor": fitted(
            PrivateMLPRegressor(MLPRegressor(hidden_layer_sizes=(4,), max_iter=50, random_state=0))
        ),
    }


NETWORKS = ["network", "network regressor"]
KINDS = ["classifier", "tree", "regressor", "neighbours", *NETWORKS]
OPTIONS: dict[str, Any] = {
    "Scores": Scores(),
    "Classes": Classes(engine="binary"),
    "Outsourced": Outsourced(),
    "Parties": Parties({"p": [0, 1], "q": [2, 3]}),
    "Network": Network(),
    "Search": Search(records="public"),
    "Streams": Streams(),
}
SETTING = {
    "Scores": "client_server",
    "Classes": "client_server",
    "Outsourced": "outsourced",
    "Parties": "many_parties",
    "Search": "client_server",
    "Streams": "outsourced",
}


# Options


def test_options_are_those_of_the_protocols() -> None:
    assert set(backend._REASONS) == set(OPTIONS)


@pytest.mark.parametrize("kind", [*KINDS, "streams"])
def test_all_options_are_served_or_refused(kind: str, estimators: dict[str, Any]) -> None:
    """A plan says its setting in words; a refusal names the options that are served."""
    private = estimators[kind]
    served = {each.__name__ for each in private._backends}
    own = {"neighbours": "Search", "streams": "Streams"}
    assert own.get(kind, "Network" if "network" in kind else "Scores") in served
    for name, options in OPTIONS.items():
        if name in served:
            # What some cannot be planned without.
            refit = kind == "tree" and hasattr(options, "refit")
            plan = private.plan(X, replace(options, refit="additive") if refit else options)
            if name in SETTING:
                assert f"setting {SETTING[name]}" in " ".join(str(plan).split())
            continue
        with pytest.raises(hesc.ParameterError, match=r"not served here: .+Served are") as caught:
            private.plan(X, options)
        assert _listed(caught.value) == served


@pytest.mark.parametrize("kind", [*KINDS, "streams"])
def test_what_is_no_option_lists_what_is_served_here(kind: str, estimators: dict[str, Any]) -> None:
    """And nothing that the same estimator would refuse next."""
    private = estimators[kind]
    served = {each.__name__ for each in private._backends}
    for wrong in ("nothing", 7, ["client_server"], {"hidden": True}):
        with pytest.raises(hesc.ParameterError, match=r"^options of a plan are ") as caught:
            private.plan(X, wrong)
        assert _listed(caught.value) == served
    for each in private._backends:
        with pytest.raises(hesc.ParameterError, match=rf"not its class: {each.__name__}\(\)"):
            private.plan(X, each)


def _listed(error: Exception) -> set[str]:
    """The classes that a refusal lists."""
    found = re.search(r"(?:Served|plan) are ((?:\w+\(\)(?:, )?)+)", str(error))
    assert found is not None
    return {name.removesuffix("()") for name in found[1].rstrip(", ").split(", ")}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_have_pages_and_take_no_others(name: str) -> None:
    """Every option says what it is; one of another class cannot be written."""
    kind: Any = type(OPTIONS[name])
    own = {field.name for field in fields(kind)}
    others = {field.name for each in OPTIONS.values() for field in fields(each)} - own
    given: Any = {"parties": {}} if name == "Parties" else {}
    for other in others:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{other}'"):
            kind(**given, **{other: 1})
    assert kind.__doc__


def test_names_are_as_many_as_features_and_the_models_own(estimators: dict[str, Any]) -> None:
    private = estimators["classifier"]
    for options in (Scores(), Classes()):
        for names in (NAMES[:3], ["a", "a", "b", "c"], [*NAMES, "e"]):
            with pytest.raises(hesc.ParameterError, match="names are 4"):
                private.plan(X, options, names=names)
        with pytest.raises(hesc.ParameterError, match="letters at most"):
            private.plan(X, options, names=["a" * 2000, "b", "c", "d"])
    named = copy.deepcopy(private)
    named.feature_names_in_ = np.array(NAMES, dtype=object)
    with pytest.raises(hesc.ParameterError, match="of other names"):
        named._named(["e", "f", "g", "h"])
    assert named._named([]) == named._named(NAMES) == NAMES


BEFORE = {
    "StandardScaler": StandardScaler(),
    "MinMaxScaler": MinMaxScaler(clip=True),
    "PCA": PCA(3),
    "Nystroem": Nystroem(n_components=4, random_state=0),
}
EDITED: dict[str, tuple[Any, Any]] = {
    "linear": (PrivateClassifier(LogisticRegression(max_iter=1000)), None),
    "classes": (
        PrivateClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)),
        Classes(engine="binary", min_agreement=0),
    ),
    "neighbours": (
        PrivateNeighbours(KNeighborsClassifier()),
        Search(records="public", min_agreement=0),
    ),
    "network": (PrivateMLPClassifier(MLPClassifier((3,), max_iter=50, random_state=0)), None),
    "gaussian": (PrivateClassifier(GaussianNB()), None),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "before"),
    [(name, before) for name in EDITED for before in BEFORE if before != "Nystroem"]
    + [("linear", "Nystroem")],
)
def test_numbers_edited_where_they_lie_are_another_model(name: str, before: str) -> None:
    """Of transforms and of the model: what changes any score is noticed, and the plan stays."""
    model, options = EDITED[name]
    private = clone(model).set_params(estimator=make_pipeline(BEFORE[before], model.estimator))
    private.fit(X, Y)
    plan = private.plan(X, options)
    data, edits = plan.to_bytes(), 0
    for part in private.estimator_:
        for numbers in _floats_of(part):
            place = np.unravel_index(np.abs(numbers).argmax(), numbers.shape)
            kept, scores = numbers[place], _scores(private)
            numbers[place] = kept * 1.01 + 0.001
            changed = not np.array_equal(_scores(private), scores)
            if changed:
                edits += 1
                with pytest.raises(hesc.ParameterError, match="has changed since it was planned"):
                    private.server()
            numbers[place] = kept
            private.client()
            assert plan.to_bytes() == data
    assert edits >= 2


def _floats_of(part: Any) -> list[Any]:
    """What a fitted estimator has learned, where it lies."""
    found = []
    for value in vars(part).values():
        several = value if isinstance(value, list) else [value]
        found += [a for a in several if isinstance(a, np.ndarray) and a.dtype == np.float64]
    return [array for array in found if array.size and array.flags.writeable]


def _scores(private: Any) -> Any:
    """What transforms give, and the model of it."""
    *_, final = private.estimator_
    features = private.estimator_[:-1].transform(X)
    neighbours = isinstance(final, KNeighborsClassifier)
    found = final.kneighbors(features)[0] if neighbours else final.predict_proba(features)
    return np.column_stack([features, found])


def test_a_plan_that_fails_leaves_the_one_before(estimators: dict[str, Any]) -> None:
    private = copy.deepcopy(estimators["tree"])
    plan = private.plan(X, Classes())
    with pytest.raises(hesc.ParameterError):
        private.plan(X, Classes(min_agreement=1, bits=1))
    assert private.client().plan is plan


# Classes alone

CLASSIFIERS = {
    "linear": LinearSVC(random_state=0),
    "two classes": RidgeClassifier(),
    "gaussian": GaussianNB(),
    "projected": make_pipeline(StandardScaler(), PCA(2), SGDClassifier(random_state=0)),
    "kernel": make_pipeline(
        StandardScaler(), Nystroem(n_components=4, random_state=0), LinearSVC()
    ),
    "tree": DecisionTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(3, max_depth=2, random_state=0),
    "extra": ExtraTreesClassifier(3, max_depth=2, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0),
    "histograms": HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=3, random_state=0),
    "votes": AdaBoostClassifier(n_estimators=3, random_state=0),
    "behind transforms": make_pipeline(
        MinMaxScaler(), PCA(2), DecisionTreeClassifier(max_depth=2, random_state=0)
    ),
}
RUN = {"two classes", "tree", "behind transforms"}
"""Those that are encrypted here; circuits are those of the model for all, see the decisions."""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_are_those_of_the_fitted_model(name: str) -> None:
    """As many as the plan says of rows held out; encrypted ones are the simulated ones."""
    labels = np.array(["p", "q", "r"])[Y]
    rows, labels = (X[Y > 0], labels[Y > 0]) if name == "two classes" else (X, labels)
    private = PrivateClassifier(CLASSIFIERS[name]).fit(rows, labels)
    # The other engines take longer to be planned with.
    plan = private.plan(rows, Classes(engine="binary", min_agreement=0.95))
    simulated = private.predict(rows, fhe="simulate")
    clear = private.predict(rows)
    same = simulated == clear
    assert plan.agreement == same[held_out(len(rows))].mean() >= 0.95
    assert same.mean() >= 0.95
    assert simulated.dtype == clear.dtype
    if name in RUN:
        run = private.run(rows, progress=False)
        assert np.array_equal(run.predictions, simulated)
        assert run.scores is run.error is None


@pytest.fixture(scope="module")
def tree() -> PrivateClassifier:
    private = PrivateClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, Y)
    private.plan(X, Classes(engine="binary"), names=NAMES)
    return private


@pytest.mark.parametrize("fhe", ["simulate", "execute"])
def test_scores_that_the_client_does_not_learn_are_refused(
    tree: PrivateClassifier, fhe: Any
) -> None:
    for scores in (tree.decision_function, tree.predict_proba):
        with pytest.raises(hesc.ParameterError, match=r"a class and no score.*Scores"):
            scores(X, fhe=fhe)
        assert len(scores(X)) == len(X)
    with pytest.raises(hesc.ParameterError, match="classes of trees are computed in one way"):
        tree.candidates()


def test_plans_print_their_candidates_to_who_looks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    private.plan(X)
    assert not capsys.readouterr().out
    private.plan(X, table=True)
    printed = capsys.readouterr().out
    assert printed == f"{private.candidates()}\n"
    assert "* ring products" in printed
    assert "not clear: " in printed
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    private.plan(X, Scores(hidden=True, answers=3))
    assert "no candidates: this plan hides" in capsys.readouterr().out
    private.plan(X, Scores(hidden=True, answers=3), table=False)
    assert not capsys.readouterr().out


@pytest.mark.parametrize("stream", ["none", "closed", "bare"])
def test_plans_are_made_where_nothing_can_be_printed(
    stream: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In programs without a window, in the background, and where something only takes texts."""
    closed = io.StringIO()
    closed.close()
    streams = {"none": None, "closed": closed, "bare": SimpleNamespace(write=lambda _: None)}
    monkeypatch.setattr("sys.stdout", streams[stream])
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    assert private.plan(X).error > 0


def test_no_refusal_of_candidates_keeps_a_plan_from_being_made(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise hesc.OutOfRangeError("beyond")

    monkeypatch.setattr("hesc.protocols.linear.backend.ScoreProblem", refuse)
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    assert private.plan(X, table=True).error > 0
    assert capsys.readouterr().out == "no candidates: beyond\n"


def test_samples_of_candidates_are_any_whole_number() -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    private.plan(X)
    three: Any = np.int64(3)
    assert str(private.candidates(samples=three)) == str(private.candidates(samples=3))


def test_candidates_of_classes_alone_keep_what_the_plan_keeps() -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)
    plan = private.plan(X, Classes(engine="binary", min_agreement=0.97))
    found = private.candidates()
    assert {estimate.way for estimate in found.estimates} <= {"integers", "gates"}
    assert all(estimate.sees.learns == "class" for estimate in found.estimates)
    # Of as many rows as the plan has changed, with the confidence of 150.
    stated = 1 - found.chosen.error
    assert plan.agreement - 0.06 < stated < plan.agreement
    assert f"{plan.bits} bits a feature" in found.chosen.parameters
    assert "not ring products, ckks columns" in str(found)
    assert "the client would see scores, and is to see class alone" in str(found)


def test_a_changed_model_is_planned_again() -> None:
    for model in (DecisionTreeClassifier(max_depth=2, random_state=0), RidgeClassifier()):
        private = PrivateClassifier(model).fit(X, Y)
        private.plan(X, Classes(engine="binary"))
        private.client()
        if isinstance(model, RidgeClassifier):
            private.estimator_.coef_[0, 0] += 1e-6
        else:
            private.estimator_.tree_.value[:] = private.estimator_.tree_.value[:, :, ::-1].copy()
        with pytest.raises(hesc.ParameterError, match="has changed"):
            private.client()
        private.fit(X, Y)
        with pytest.raises(hesc.ParameterError, match="no plan"):
            private.run(X)


def test_keys_and_plans_are_never_pickled(tree: PrivateClassifier) -> None:
    tree.run(X[:2], progress=False)
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):  # noqa: S301 - its own
        assert np.array_equal(other.predict(X), tree.predict(X))
        with pytest.raises(hesc.ParameterError, match="unpickled"):
            other.client()
    assert not vars(clone(tree)).keys() - {"estimator"}
    with pytest.raises(TypeError, match="keys"):
        pickle.dumps(tree._served())


def test_several_labels_are_refused() -> None:
    labels = np.column_stack([Y == 0, X[:, 0] > 6, X[:, 1] > 3]).astype(int)
    private = PrivateClassifier.from_fitted(RidgeClassifier().fit(X, labels))
    with pytest.raises(hesc.ParameterError, match="one label to a sample"):
        private.plan(X, Classes())


# Deployments of classes alone


@pytest.mark.parametrize("engine", ["binary", "bootstrapped"])
def test_files_between_two_sides(engine: str, tmp_path: Path) -> None:
    """From a fitted model to a table of classes by commands, in slots and with bits that bootstrap.

    The client of the second encrypts under its public key, and needs it beside the secret one.
    """
    labels = np.array(["p", "q", "r"])[Y]
    private = PrivateClassifier(DecisionTreeClassifier(max_depth=2, random_state=0)).fit(X, labels)
    plan = private.plan(X, Classes(engine=engine, batch=2), names=NAMES)
    at = private.save(tmp_path / "d")
    assert Deployment.open(at).client.plan.to_bytes() == plan.to_bytes()
    rows = X[[0, 60, 140]]
    table = ",".join(NAMES) + "\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist())
    (tmp_path / "rows").write_text(table)
    client, secret, keys = at / "client", tmp_path / "secret", tmp_path / "keys"
    with pytest.raises(hesc.ParameterError, match="--keys"):
        files.keygen(client, secret)
    files.keygen(client, secret, keys)
    query, answer, found = tmp_path / "q", tmp_path / "a", tmp_path / "p"
    if engine == "bootstrapped":
        with pytest.raises(hesc.ParameterError, match="--keys"):
            files.encrypt(tmp_path / "rows", client, secret, query)
        others = tmp_path / "others"
        files.keygen(client, tmp_path / "k", others)
        with pytest.raises(hesc.KeyMismatchError):
            files.encrypt(tmp_path / "rows", client, secret, query, keys=others)
        files.encrypt(tmp_path / "rows", client, secret, query, keys=keys)
    else:
        with pytest.raises(hesc.ParameterError, match="leave out keys"):
            files.encrypt(tmp_path / "rows", client, secret, query, keys=keys)
        files.encrypt(tmp_path / "rows", client, secret, query)
    assert not answer.exists()
    with pytest.raises(hesc.ParameterError, match="--keys"):
        files.evaluate(query, at / "server", answer)
    files.evaluate(query, at / "server", answer, keys=keys)
    with pytest.raises(hesc.ParameterError, match="no probabilities"):
        files.decrypt(answer, client, secret, found, probabilities=True)
    files.decrypt(answer, client, secret, found)
    assert found.read_text().split() == ["prediction", *private.predict(rows).tolist()]


def test_reports_of_classes_have_no_errors(tree: PrivateClassifier, tmp_path: Path) -> None:
    """Agreement as measured, no bars of errors that are not there, one query at most."""
    page = (tree.save(tmp_path / "d") / "report.html").read_text()
    served = tree._served()
    most = min(SAMPLE, len(X), served.plan.rows)
    assert f"Measured on {most} rows" in page
    assert f"({most} of {most})" in page
    assert "Errors against the truth" not in page
    assert "root mean square" not in page
    assert "<svg" not in page
    small = PrivateClassifier(tree.estimator).fit(X, Y)
    plan = small.plan(X, Classes(engine="bootstrapped", batch=3))
    assert small._served().most_measured(None) == 3
    text = report.page(plan, None, name="d", files={}, own=True).decode()
    assert "hesc encrypt rows.csv --client client --secret secret.key --keys client.keys" in text


def test_models_from_files_are_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees with transforms of their own, as an ONNX file has them, by the command."""
    scaler = StandardScaler().fit(X)
    grown = DecisionTreeClassifier(max_depth=2, random_state=0).fit(scaler.transform(X), Y)
    trees = TreeEnsemble.from_sklearn(grown)
    steps: list[Any] = [Affine(scaler.mean_, 1 / scaler.scale_)]
    model = Described(4, [], steps, trees, np.arange(3), "none")
    private = PrivateClassifier.from_fitted(GivenClassifier(model))
    monkeypatch.setattr(compiling, "_loaded", lambda _: private)
    np.savetxt(tmp_path / "t", X, delimiter=",", header=",".join(NAMES), comments="")
    figures = tmp_path / "j"
    compiling.compile_model(
        tmp_path / "m",
        tmp_path / "t",
        tmp_path / "d",
        disclose="class",
        engine="binary",
        feature_bits=4,
        min_agreement=0.9,
        batch=2,
        json_file=str(figures),
    )
    plan = Deployment.open(tmp_path / "d").client.plan
    assert plan.names == NAMES
    expected = grown.predict(scaler.transform(X))
    assert plan.bits == 4
    assert json.loads(figures.read_text())["agreement"] >= 0.9
    assert (private.predict(X, fhe="simulate") == expected).mean() >= 0.9
    assert "centres and scales" in str(plan)


def test_documents_name_all_options_that_are_served() -> None:
    text = (Path(__file__).parents[1] / "docs" / "ml.md").read_text(encoding="utf-8")
    table = text.split("## Settings")[1].split("\n## ")[0]
    named = set(re.findall(r"^\| `(\w+)\(", table, re.MULTILINE))
    kinds = (PrivateClassifier, PrivateMLPClassifier, PrivateNeighbours, PrivateSquareNetwork)
    assert named == {each.__name__ for kind in kinds for each in kind._backends}

"""Laws of all settings of `hesc.ml`: names, ranges, ties, sizes, and where commands write."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from typer.testing import CliRunner

from hesc import CircuitError, OutOfRangeError, ParameterError, ShapeError, WireError
from hesc.cli import app
from hesc.ml import (
    Classes,
    Deployment,
    Outsourced,
    OwnersClient,
    OwnersPlan,
    OwnersServer,
    Parties,
    Party,
    PrivateClassifier,
    PrivateNeighbours,
    Scores,
    Search,
)
from hesc.models.trees import TreeEnsemble
from hesc.protocols import registry
from hesc.protocols.classes.comparisons import Words, cheapest
from hesc.protocols.classes.whole_models import LinearScores, TreeVotes
from tests.test_reports import Page

if TYPE_CHECKING:
    from pathlib import Path

X, Y = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]
SETTINGS: dict[str, Any] = {
    "scores": Scores(),
    "class": Classes(min_agreement=0.9),
    "outsourced": Outsourced(),
    "own model": Outsourced(own_model=True),
    "parties": Parties({"one": [0, 3], "two": [2, 1]}),
}


@pytest.fixture(scope="module")
def private() -> PrivateClassifier:
    return PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, Y)


@pytest.mark.filterwarnings("ignore:X has feature names")
@pytest.mark.parametrize("name", SETTINGS)
def test_rows_planned_with_have_the_columns_that_are_named(
    private: PrivateClassifier, name: str
) -> None:
    table = pytest.importorskip("pandas").DataFrame(X, columns=NAMES)
    options = SETTINGS[name]
    assert private.plan(table, options, names=NAMES).names == NAMES
    with pytest.raises(ShapeError, match="another order"):
        private.plan(table[NAMES[::-1]], options, names=NAMES)


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_neighbours_are_tried_on_the_columns_that_are_named() -> None:
    private = PrivateNeighbours(KNeighborsClassifier()).fit(X, Y)
    table = pytest.importorskip("pandas").DataFrame(X, columns=NAMES)
    assert private.plan(table, Search(records="public"), names=NAMES).names == NAMES
    with pytest.raises(ShapeError, match="another order"):
        private.plan(table[NAMES[::-1]], Search(records="public"), names=NAMES)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(
    "ranges",
    [
        (-1e308, 1e308),
        (1e308, 1.5e308),
        (0, np.inf),
        (np.nan, 1),
        (5, 1),
        (0, 5e-324),
        (0, 1e101),
    ],
)
def test_ranges_that_nobody_computes_with_are_refused(
    private: PrivateClassifier, name: str, ranges: tuple[float, float]
) -> None:
    with pytest.raises(ParameterError, match=r"ranges"):
        private.plan(X, replace(SETTINGS[name], ranges=ranges))


@pytest.mark.parametrize("name", ["class", "parties"])
@pytest.mark.parametrize("ends", [(-1e308, 1e308), (1.0, 0.0), (0.0, 5e-324)])
def test_no_reader_takes_such_ranges(
    private: PrivateClassifier, name: str, ends: tuple[float, float]
) -> None:
    from hesc._support import documents

    given = json.loads(private.plan(X, SETTINGS[name]).to_bytes())
    for field, end in zip(("low", "high"), ends, strict=True):
        given["ranges"][field] = documents.packed(np.full(4, end))
    with pytest.raises(WireError, match="range"):
        registry.read_plan(json.dumps(given).encode())


def test_a_server_of_weights_beyond_all_numbers_is_refused(private: PrivateClassifier) -> None:
    plan = private.plan(X, SETTINGS["parties"])
    assert isinstance(plan, OwnersPlan)
    with pytest.raises(OutOfRangeError, match="plan the model again"):
        OwnersServer(plan, np.full((3, 4), 1e308), np.zeros(3))


@pytest.mark.parametrize("name", ["parties", "neighbours"])
def test_no_plan_has_one_name_for_two_features(private: PrivateClassifier, name: str) -> None:
    plan = (
        private.plan(X, SETTINGS[name], names=NAMES)
        if name == "parties"
        else PrivateNeighbours(KNeighborsClassifier())
        .fit(X, Y)
        .plan(X, Search(records="public"), names=NAMES)
    )
    given = json.loads(plan.to_bytes()) | {"names": ["a", "a", "c", "d"]}
    with pytest.raises(WireError, match="one name for several"):
        registry.read_plan(json.dumps(given).encode())


@pytest.mark.parametrize("made", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("trees", [2, 6, 10, 20, 30])
def test_tied_votes_go_to_the_class_that_scikit_learn_takes(made: Any, trees: int) -> None:
    x, y = load_breast_cancer(return_X_y=True)
    forest = made(trees, random_state=0, max_features=1).fit(x[::3], y[::3])
    rows = np.random.default_rng(0).uniform(x.min(axis=0), x.max(axis=0), (3000, x.shape[1]))
    private = PrivateClassifier.from_fitted(forest)
    votes = forest.predict_proba(rows)
    tied = votes[:, 0] == votes[:, 1]
    assert tied.any()
    second = TreeEnsemble.from_sklearn(forest).scores(rows)[:, 0] > 0
    np.testing.assert_array_equal(forest.classes_[second.astype(int)], forest.predict(rows))
    assert (private.decision_function(rows)[tied] == 0).all()


def test_a_tree_of_weighted_rows_is_decided_by_its_own_margin() -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, size=(400, 2)).astype(float)
    y = rng.integers(0, 2, 400)
    # In every leaf both classes have about as much weight.
    weights = np.empty(400)
    for cell in np.unique(x, axis=0):
        here = (x == cell).all(axis=1)
        for label in (0, 1):
            of = here & (y == label)
            weights[of] = 1 / of.sum()
    tree = DecisionTreeClassifier(random_state=0).fit(x, y, sample_weight=weights)
    second = TreeEnsemble.from_sklearn(tree).scores(x)[:, 0] > 0
    np.testing.assert_array_equal(second, tree.predict(x))


@pytest.mark.parametrize("classes", [2000, 32_768])
def test_models_too_large_for_circuits_are_refused_at_once(classes: int) -> None:
    numbers = np.arange(classes * 4).reshape(classes, 4) % 65_521
    model = LinearScores(numbers, np.zeros(classes, dtype=np.int64))
    assert model.fits(4, classes, 4)
    start = time.perf_counter()
    with pytest.raises(CircuitError, match="fewer classes"):
        cheapest(model, Words(4, 4), engine="binary", batch=1)
    assert time.perf_counter() - start < 2


def test_trees_too_large_for_circuits_are_refused_at_once() -> None:
    inner = 60_000
    nodes = np.full((2 * inner + 1, 4), -1)
    at = np.arange(inner)
    nodes[2 * at] = np.column_stack([at % 4, at % 16, 2 * at + 1, 2 * at + 2])
    nodes[:, 1] = np.maximum(nodes[:, 1], 0)
    votes = np.zeros((len(nodes), 3), dtype=np.int64)
    model = TreeVotes(np.array([0]), nodes, votes, np.zeros(3, dtype=np.int64))
    assert model.fits(4, 3, 4)
    start = time.perf_counter()
    with pytest.raises(CircuitError, match="smaller trees"):
        cheapest(model, Words(4, 4), engine="binary", batch=1)
    assert time.perf_counter() - start < 2


def test_circuits_are_remembered_by_what_models_hold() -> None:
    def plan(weights: np.ndarray, bits: int = 2, batch: int = 1) -> object:
        model = LinearScores(weights, np.zeros(len(weights), dtype=np.int64))
        return cheapest(model, Words(weights.shape[1], bits), engine="bootstrapped", batch=batch)

    weights = np.array([[3, 1, 0, 0], [0, 0, 1, 2], [1, 0, 2, 0]])
    first = plan(weights)
    assert plan(weights.copy()) is first
    assert plan(weights, bits=3) is not first
    assert plan(weights, batch=2) is not first
    # The same numbers are other models in another shape or order.
    assert plan(weights.reshape(2, 6)) is not first
    assert plan(weights[::-1].copy()) is not first
    weights[0, 0] = 2
    assert plan(weights) is not first


def test_many_classes_are_compared_in_rounds() -> None:
    rng = np.random.default_rng(0)
    model = LinearScores(rng.integers(0, 4, (40, 3)), np.zeros(40, dtype=np.int64))
    start = time.perf_counter()
    plan = cheapest(model, Words(3, 3), engine="bootstrapped", batch=1)
    assert time.perf_counter() - start < 20
    assert plan.seconds < 60  # each with each would take minutes


def run(*arguments: object) -> tuple[int, str]:
    found = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return found.exit_code, f"{found.output}{found.exception}"


def refused(*arguments: object) -> None:
    code, text = run(*arguments)
    assert code == 1
    assert "lies in a deployment" in text


def test_no_command_writes_into_a_deployment(private: PrivateClassifier, tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    np.savetxt(rows, X[:5], delimiter=",", header=",".join(NAMES), comments="")

    private.plan(X, SETTINGS["outsourced"], names=NAMES)
    given = private.save(tmp_path / "given")
    keys = tmp_path / "keys"
    made = run("keygen", given / "client", "--secret", tmp_path / "secret", "--keys", keys)
    assert made[0] == 0
    for out in (given / "server", given / "owner" / "server"):
        refused("encrypt-model", given / "owner", "--keys", keys, "--out", out)
    assert Deployment.open(given)

    private.plan(X, SETTINGS["parties"], names=NAMES)
    parties = private.save(tmp_path / "parties")
    client = ("--client", parties / "client")
    keys = tmp_path / "keys of parties"
    secret = tmp_path / "secret of parties"
    assert run("keygen", parties / "client", "--secret", secret, "--keys", keys)[0] == 0
    own = ("--ignore-extra", "--party", "one", "--keys", keys)
    refused("party", "encrypt", rows, *client, *own, "--out", parties / "client" / "one.hesc")
    pieces = []
    for party in ("one", "two"):
        pieces.append(tmp_path / f"{party}.hesc")
        own = ("--ignore-extra", "--party", party, "--keys", keys)
        assert run("party", "encrypt", rows, *client, *own, "--out", pieces[-1])[0] == 0
    refused("party", "join", *pieces, *client, "--out", parties / "server" / "query.hesc")
    assert Deployment.open(parties)


def test_decrypt_says_what_spreadsheets_run(tmp_path: Path) -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=500))
    private.fit(X, np.array(["=a", "b", "c"])[Y])
    private.plan(X, names=NAMES)
    folder = private.save(tmp_path / "model", sample=0)
    rows, secret, query, answer = (tmp_path / name for name in ("rows.csv", "secret", "q", "a"))
    np.savetxt(rows, X[:5], delimiter=",", header=",".join(NAMES), comments="")
    client = ("--client", folder / "client")
    assert run("keygen", folder / "client", "--secret", secret)[0] == 0
    assert run("encrypt", rows, *client, "--secret", secret, "--out", query)[0] == 0
    assert run("eval", query, "--server", folder / "server", "--out", answer)[0] == 0
    out = ("--out", tmp_path / "p.csv")
    code, text = run("decrypt", answer, *client, "--secret", secret, *out)
    assert code == 0, text
    assert "formula" in text


FORGED = [
    "bank\n  client         sees nothing",
    "bank\x1b[2K",
    "b\u202eank",
    "a\tb",
    "\ud800",
    "\0",
]
"""Names that would write lines of a plan's table, or hide some."""


@pytest.mark.parametrize("name", FORGED)
def test_no_name_writes_lines_of_a_plan(private: PrivateClassifier, name: str) -> None:
    with pytest.raises(ParameterError, match="printable letters"):
        private.plan(X, Parties(parties={name: [0, 1], "two": [2, 3]}))
    labels = np.array([name, "one", "two"], dtype=object)[Y]
    of_labels = PrivateClassifier(LogisticRegression(max_iter=500)).fit(X, labels)
    for options in SETTINGS.values():
        with pytest.raises(ParameterError, match="printable letters"):
            private.plan(X, options, names=[name, *NAMES[1:]])
        with pytest.raises(ParameterError, match="printable letters"):
            of_labels.plan(X, options).to_bytes()
        given = private.plan(X, options, names=NAMES).to_bytes()
        # Half of a pair of code units is no letter, and a document with one no text.
        says = "damaged|printable letters" if name == "\ud800" else "printable letters"
        for own in ("a", "one"):
            lie = given.replace(f'"{own}"'.encode(), json.dumps(name).encode())
            if lie != given:
                with pytest.raises(WireError, match=says):
                    registry.read_plan(lie)


@pytest.mark.parametrize("options", SETTINGS.values(), ids=SETTINGS)
def test_plans_are_tables_in_notebooks(private: PrivateClassifier, options: Any) -> None:
    plan = private.plan(X, options, names=["<b>", *NAMES[1:]])
    title, rows = plan.disclosure()
    assert str(plan).splitlines() == [
        title,
        *(f"  {name:<{max(map(len, rows))}}  {text}" for name, text in rows.items()),
    ]
    page = Page(plan._repr_html_())
    assert not page.open
    assert page.tags == {"p", "strong", "table", "tr", "th", "td"}


def test_candidates_are_a_table_in_notebooks(private: PrivateClassifier) -> None:
    private.plan(X)
    found = private.candidates()
    page = Page(found._repr_html_())
    assert page.tags == {"pre"}
    assert not page.open


def test_long_names_are_cut_in_tables(private: PrivateClassifier) -> None:
    # A terminal wraps long lines: spaces in a name could place words where a line begins.
    long = "a" + 200 * " " + "server         sees nothing"
    parties = {long: [0, 1], "two": [2, 3]}
    plan = private.plan(X, Parties(parties=parties), names=[f"{long}{i}" for i in range(4)])
    assert "sees nothing" not in str(plan)


def test_parties_and_pieces_that_are_none(private: PrivateClassifier) -> None:
    plan = private.plan(X, SETTINGS["parties"])
    keys = OwnersClient(plan).public_keys()
    server = private.server(keys=keys)
    queries: tuple[Any, ...] = (None, 7, iter([]), {}, [], ())
    for query in queries:
        with pytest.raises(ParameterError, match=r"piece"):
            server.answer(query)
    for name in (None, ["one"], 1):
        with pytest.raises(ParameterError, match="no party of that name"):
            Party(plan, name, keys)  # type: ignore[arg-type]

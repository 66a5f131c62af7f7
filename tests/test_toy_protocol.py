"""A protocol is one folder and one row: a toy gets the rest by the mechanisms that all use."""

from __future__ import annotations

import csv
import json
import shutil
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

import hesc
from hesc import cli
from hesc.ml import (
    ClientFolder,
    Deployment,
    Outsourced,
    PrivateRegressor,
    Scores,
    ServerFolder,
)
from hesc.protocols import registry
from hesc.protocols.message import Kind, Message
from tests import lying_messages
from tests.protocol_laws import (
    check_documents,
    check_keys,
    check_plan,
    check_sizes,
    check_words,
)
from tests.toy_protocol.client import ToyClient
from tests.toy_protocol.options import Whole
from tests.toy_protocol.plan import ToyPlan
from tests.toy_protocol.server import ToyServer

if TYPE_CHECKING:
    from pathlib import Path

    from hesc.protocols.backend import Table

NAMES = ["age", "children", "rooms"]
X = np.random.default_rng(1).integers(-9, 10, (60, 3)).astype(np.float64)
Y = X @ [2, -3, 0] + 4


class WholeRegressor(PrivateRegressor):
    """A regressor that the toy serves."""

    _backends: ClassVar[Table] = {Whole: "tests.toy_protocol.backend:ToyBackend"}


@pytest.fixture(autouse=True)
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row. Nothing else is told of the toy."""
    monkeypatch.setitem(registry.PROTOCOLS, "toy", registry.Protocol("tests.toy_protocol", "Toy"))


def planned() -> Any:
    private = WholeRegressor(LinearRegression()).fit(X, Y)
    private.plan(X, names=NAMES)
    return private


class Sides(NamedTuple):
    """All that a plan's sides have."""

    private: Any
    plan: ToyPlan
    client: ToyClient
    server: ToyServer


@pytest.fixture
def sides() -> Sides:
    """Each side from the bytes that it was given."""
    private = planned()
    plan = registry.read_plan(private._served().plan.to_bytes())
    server = registry.read_server(private.server().to_bytes())
    client = registry.client_of(plan)
    assert isinstance(plan, ToyPlan)
    assert isinstance(server, ToyServer)
    assert isinstance(client, ToyClient)
    return Sides(private, plan, client, server)


# The estimator


@pytest.mark.parametrize("fhe", ["clear", "simulate", "execute"])
def test_its_estimator_predicts(fhe: str) -> None:
    assert np.allclose(planned().predict(X, fhe=fhe), Y, rtol=0, atol=1e-9)


def test_runs_say_bytes_and_what_was_clipped(sides: Sides) -> None:
    private = sides.private
    with pytest.raises(hesc.OutOfRangeError, match="beyond the plan's range"):
        private.run(X * 2)
    with pytest.raises(hesc.OutOfRangeError, match="whole numbers"):
        private.run(X / 4)
    with pytest.warns(hesc.ml.ClippedWarning):
        run = private.run(X * 2, clip=True)
    assert np.array_equal(run.predictions, np.clip(X * 2, -9, 9) @ [2, -3, 0] + 4)
    assert run.clipped
    assert run.sizes == sides.plan.sizes(len(X))
    assert private.run(X, fhe="simulate").sizes == run.sizes


def test_options_that_it_does_not_take_are_refused_by_name() -> None:
    private = WholeRegressor(LinearRegression()).fit(X, Y)
    for options in (Scores(hidden=True), Outsourced(), "scores"):
        with pytest.raises(hesc.ParameterError, match=r"Whole\(\)"):
            private.plan(X, options)
    with pytest.raises(hesc.ParameterError, match="whole numbers"):
        WholeRegressor(LinearRegression()).fit(X, Y / 7).plan(X)


def test_a_model_that_was_fitted_again_has_no_plan() -> None:
    private = planned()
    private.fit(X, -Y)
    with pytest.raises(hesc.ParameterError, match="there is no plan"):
        private.server()


# Folders, commands and the report


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    return planned().save(tmp_path / "toy", commands=["python toy.py"])  # type: ignore[no-any-return]


def test_its_deployment_is_read_again(saved: Path) -> None:
    found = Deployment.open(saved)
    client, server = found.client.client(), found.server.server()
    assert isinstance(client, ToyClient)
    query = client.encrypt(X[:5]).data
    answer = server.answer(query)
    assert np.array_equal(client.decrypt(answer, query=query).predictions, Y[:5])
    with pytest.raises(hesc.ParameterError, match="needs no keys"):
        found.server.server(keys=b"")
    with pytest.raises(hesc.ParameterError, match="no owner/"):
        _ = found.owner


def test_its_report_says_what_was_planned_and_measured(saved: Path) -> None:
    page = (saved / "report.html").read_text()
    plan = ClientFolder.open(saved / "client").plan
    for text in plan.disclosure().rows.values():
        assert text in page
    for size in plan.sizes(len(X)):
        assert page.count(f"{size:,}") >= 2
    assert "python toy.py" in page


def test_a_folder_of_another_protocol_is_refused(saved: Path, tmp_path: Path) -> None:
    linear = PrivateRegressor(LinearRegression()).fit(X, Y)
    linear.plan(X, names=NAMES)
    linear.save(tmp_path / "linear", sample=0)
    shutil.rmtree(saved / "server")
    shutil.copytree(tmp_path / "linear/server", saved / "server")
    with pytest.raises(hesc.WireError):
        Deployment.open(saved)


def test_a_folder_whose_row_is_gone_is_refused(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(registry.PROTOCOLS, "toy")
    for kind in (ClientFolder, ServerFolder):
        with pytest.raises(hesc.WireError, match="no protocol that this hesc knows"):
            kind.open(saved / ("client" if kind is ClientFolder else "server"))


def run(*words: object) -> str:
    """A command that succeeds, and what it printed."""
    found = CliRunner().invoke(cli.app, [str(word) for word in words], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.output


def test_commands_work_on_its_folders(saved: Path, tmp_path: Path) -> None:
    rows, key, query, answer, out = (
        tmp_path / name for name in ("rows.csv", "k.key", "query.hesc", "answer.hesc", "out.csv")
    )
    np.savetxt(rows, X, delimiter=",", header=",".join(NAMES), comments="", fmt="%d")
    client = ["--client", saved / "client", "--secret", key]
    run("keygen", saved / "client", "--secret", key)
    run("encrypt", rows, *client, "--out", query, "--json", tmp_path / "sent.json")
    run("eval", query, "--server", saved / "server", "--out", answer)
    run("decrypt", answer, *client, "--query", query, "--out", out)
    with out.open() as file:
        found = [float(line["prediction"]) for line in csv.DictReader(file)]
    assert found == Y.tolist()
    plan = ClientFolder.open(saved / "client").plan
    sent = json.loads((tmp_path / "sent.json").read_text())
    assert (sent["samples"], sent["bytes"]) == (len(X), plan.sizes(len(X)).up)
    # What does not apply to its plan is refused by what the plan says.
    with pytest.raises(hesc.ParameterError, match="no probabilities"):
        run("decrypt", answer, *client, "--out", tmp_path / "p.csv", "--probabilities")
    with pytest.raises(hesc.ParameterError, match="needs no keys"):
        run("eval", query, "--server", saved / "server", "--out", tmp_path / "a", "--keys", query)
    with pytest.raises(hesc.ParameterError, match="counts nothing"):
        run("eval", query, "--server", saved / "server", "--out", tmp_path / "b", "--ledger", key)


# Laws, and hostile bytes


def test_the_laws_of_protocols_hold() -> None:
    private = planned()
    check_documents(private)
    check_sizes(private, X)
    plan = private._served().plan
    for check in (check_plan, check_words, check_keys):
        check(plan)


def test_lying_messages_are_refused_or_used(sides: Sides) -> None:
    client, server = sides.client, sides.server
    query = client.encrypt(X[:4]).data
    answer = server.answer(query)
    assert lying_messages.check_reader(query, server.answer) > 150
    assert lying_messages.check_reader(answer, client.decrypt) > 150


def test_messages_longer_than_their_plan_has_any_are_refused(sides: Sides) -> None:
    """Before anything is allocated for them."""
    query = sides.client.encrypt(X[:4]).data
    for kind, read in ((Kind.QUERY, sides.server.answer), (Kind.ANSWER, sides.client.decrypt)):
        longest = sides.plan.longest(kind)
        assert longest < 1 << 20
        data = Message(kind, sides.plan.digest[:16], 1, (bytes(longest),)).to_bytes()
        with pytest.raises(hesc.WireError, match="bytes at most"):
            read(data)
    assert sides.server.answer(query)


def test_messages_of_another_protocol_are_refused(sides: Sides) -> None:
    """Of the same model, whichever side gets them."""
    private = PrivateRegressor(LinearRegression()).fit(X, Y)
    plan = private.plan(X, names=NAMES)
    client, server = private.client(), private.server()
    query = client.encrypt(X[:2]).data
    own = sides.client.encrypt(X[:2]).data
    for wrong in (
        lambda: sides.server.answer(query),
        lambda: server.answer(own),
        lambda: sides.client.decrypt(server.answer(query)),
        lambda: client.decrypt(sides.server.answer(own)),
        lambda: plan.opened(own, Kind.QUERY),
    ):
        with pytest.raises(hesc.WireError, match="another plan"):
            wrong()
    for reader, data in ((ToyPlan, plan.to_bytes()), (ToyServer, server.to_bytes())):
        with pytest.raises(hesc.WireError):
            reader.from_bytes(data)
    for made in (ToyClient, type(client)):
        with pytest.raises((TypeError, hesc.ParameterError)):
            made(plan if made is ToyClient else sides.plan)


def test_answers_go_with_their_queries_and_keys(sides: Sides) -> None:
    client, server = sides.client, sides.server
    query, other = (client.encrypt(rows).data for rows in (X[:2], X[2:4]))
    with pytest.raises(hesc.WireError, match="another query"):
        client.decrypt(server.answer(query), query=other)
    with pytest.raises(hesc.ParameterError, match="no probabilities"):
        client.probabilities(server.answer(query))
    with pytest.raises(hesc.KeyMismatchError):
        registry.client_of(sides.plan).decrypt(server.answer(query))
    with pytest.raises(hesc.ShapeError):
        client.encrypt(np.zeros((sides.plan.rows + 1, 3)))

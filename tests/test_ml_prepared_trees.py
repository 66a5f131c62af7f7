"""Prepared queries of trees: the scores of unprepared ones, and each preparation used once."""

from __future__ import annotations

import csv
import json
import multiprocessing
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import hesc
from hesc._native import ForestClientShare, ForestServerShare, forest_part
from hesc.cli import files, preparing
from hesc.ml import PrivateClassifier, Trees
from hesc.protocols import registry
from hesc.protocols.message import Kind, Message
from hesc.protocols.trees.client import READY
from hesc.protocols.trees.preparations import Preparations

if TYPE_CHECKING:
    from collections.abc import Callable

X, Y = load_breast_cancer(return_X_y=True)
FEW: Final = {"n_estimators": 5, "max_depth": 3, "random_state": 0}
BOTH: Final = ("hidden", "public")


def _sides(structure: Any = "hidden", data: Any = (X, Y)) -> tuple[Any, Any, Any]:
    """A planned model, its client and its server, both with stores in memory."""
    private = PrivateClassifier(RandomForestClassifier(**FEW)).fit(*data)
    private.plan(data[0], Trees(structure=structure), table=False)
    client = private.client()
    server = private.server(keys=client.public_keys())
    server.preparations = Preparations()
    return private, client, server


def _prepare(client: Any, server: Any, count: int) -> None:
    query = client.prepare(count)
    assert client.complete(server.answer(query), query=query) >= count


@pytest.mark.parametrize("structure", BOTH)
@pytest.mark.parametrize("data", [(X, Y), load_iris(return_X_y=True)], ids=["cancer", "iris"])
def test_scores_are_those_of_queries_at_once(structure: str, data: Any) -> None:
    private, client, server = _sides(structure, data)
    rows = data[0][::7][:24]
    _prepare(client, server, len(rows))
    sizes = client.plan.forest.prepared_sizes
    for part in (rows[:1], rows[1:10], rows[10:]):
        query = client.encrypt(part, prepared=True).data
        answer = server.answer(query)
        found = client.decrypt(answer, query=query)
        assert (found.scores == private.run(part, fhe="simulate", progress=False).scores).all()
        assert (found.predictions == private.predict(part)).all()
        for size, kind, message in zip(
            sizes, (Kind.QUERY, Kind.ANSWER), (query, answer), strict=True
        ):
            parts = Message.from_bytes(message, kind, plan=client.plan.digest).parts
            assert [len(each) for each in parts] == [size] * len(part)
    assert client.ready == 0
    # Both kinds go to one server.
    query = client.encrypt(rows[:3]).data
    assert (
        client.decrypt(server.answer(query), query=query).scores
        == private.run(rows[:3], fhe="simulate", progress=False).scores
    ).all()


def test_each_is_used_once_on_both_sides() -> None:
    _, client, server = _sides()
    message = client.prepare(2)
    prepared = server.answer(message)
    # An answer that was lost: another is given, and the one that came first is of no use.
    again = server.answer(message)
    assert again != prepared
    with pytest.raises(hesc.ParameterError, match="1 samples, and 0 prepared queries"):
        client.encrypt(X[:1], prepared=True)
    assert client.complete(again, query=message) == 2
    for late in (prepared, again):
        with pytest.raises(hesc.ParameterError, match="completed before"):
            client.complete(late, query=message)
    with pytest.raises(hesc.ParameterError, match="3 samples, and 2 prepared"):
        client.encrypt(X[:3], prepared=True)
    assert client.ready == 2
    query = client.encrypt(X[:1], prepared=True).data
    answer = server.answer(query)
    # The same query again, and so another sample under the same preparation, which no client makes.
    with pytest.raises(hesc.ParameterError, match="used before"):
        server.answer(query)
    client.decrypt(answer, query=query)
    with pytest.raises(hesc.ParameterError, match="used before"):
        client.decrypt(answer, query=query)
    assert client.ready == 1
    # A sample that is refused uses nothing.
    with pytest.raises(hesc.OutOfRangeError):
        client.encrypt(np.full((1, X.shape[1]), np.nan), prepared=True)
    with pytest.raises(hesc.ShapeError, match="at most"):
        client.encrypt(np.repeat(X[:1], client.plan.rows + 1, axis=0), prepared=True)
    assert client.ready == 1


def test_messages_are_not_taken_for_others() -> None:
    private, client, server = _sides()
    message = client.prepare(1)
    prepared = server.answer(message)
    query = client.encrypt(X[:1]).data
    answer = server.answer(query)
    with pytest.raises(hesc.WireError, match="another query"):
        client.complete(answer, query=message)
    with pytest.raises(hesc.WireError, match="no preparation"):
        client.complete(answer, query=query)
    with pytest.raises(hesc.WireError):
        client.decrypt(prepared, query=message)
    client.complete(prepared, query=message)
    # A server that keeps none, one that lost its store, another client's.
    plain = private.server(keys=client.public_keys())
    with pytest.raises(hesc.ParameterError, match=r"server\.preparations = Preparations"):
        plain.answer(client.prepare(1))
    asked = client.encrypt(X[:1], prepared=True).data
    with pytest.raises(hesc.ParameterError, match="keeps no prepared"):
        plain.answer(asked)
    plain.preparations = Preparations()
    with pytest.raises(hesc.ParameterError, match="not prepared with this store"):
        plain.answer(asked)
    other = private.client()
    with pytest.raises(hesc.KeyMismatchError):
        server.answer(other.prepare(1))
    of_other = private.server(keys=other.public_keys())
    of_other.preparations = server.preparations
    with pytest.raises(hesc.ParameterError, match="not prepared with this store"):
        of_other.answer(asked)
    assert client.decrypt(server.answer(asked), query=asked).predictions == private.predict(X[:1])


def test_a_store_that_is_full_takes_no_more() -> None:
    _, client, server = _sides()
    server.preparations = Preparations(most=2)
    _prepare(client, server, 2)
    with pytest.raises(
        hesc.ParameterError, match="2 prepared queries are kept at most, and 1 more"
    ):
        server.answer(client.prepare(1))
    server.answer(client.encrypt(X[:1], prepared=True).data)
    server.answer(client.prepare(1))
    for most in (0, 1.5, 1 << 21):
        with pytest.raises(hesc.HescError, match="most"):
            Preparations(most=most)  # type: ignore[arg-type]


def test_threads_and_processes_share_a_folder(tmp_path: Path) -> None:
    """Many at once ask for the same preparation: one of them has it."""
    private, client, server = _sides()
    store = Preparations(tmp_path / "kept")
    server.preparations = store
    _prepare(client, server, 12)
    queries = [client.encrypt(X[i : i + 1], prepared=True).data for i in range(12)]
    twin = private.server(keys=client.public_keys())
    twin.preparations = Preparations(tmp_path / "kept")

    def ask(at: int) -> tuple[int, bytes | None]:
        try:
            return at // 4, (server, twin)[at % 2].answer(queries[at // 4])
        except hesc.ParameterError:
            return at // 4, None

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(48)))
    answers = {at: answer for at, answer in found if answer is not None}
    assert sorted(at for at, answer in found if answer is not None) == list(range(12))
    for at, answer in answers.items():
        read = client.decrypt(answer, query=queries[at])
        assert read.predictions == private.predict(X[at : at + 1])
    assert list((tmp_path / "kept").iterdir()) == []


def _forked(store: Preparations, pipe: Any) -> None:
    try:
        store.names("")
    except hesc.ParameterError as error:
        pipe.send(str(error))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_has_no_copy_of_a_store_in_memory() -> None:
    _, client, server = _sides()
    _prepare(client, server, 1)
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(
        target=_forked, args=(server.preparations, there)
    )
    child.start()
    assert here.poll(60)
    assert "forked" in here.recv()
    child.join()


def test_folders_survive_processes_and_are_secret(tmp_path: Path) -> None:
    private, client, server = _sides()
    own, theirs = tmp_path / "client", tmp_path / "server"
    client.preparations, server.preparations = Preparations(own), Preparations(theirs)
    _prepare(client, server, 2)
    for folder in (own, theirs):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()] == [0o600] * 2
    # Made anew of files and a kept key.
    client.secret.save(tmp_path / "key", passphrase=None)
    secret = hesc.SecretKey.load(client.plan.params, tmp_path / "key")
    again = registry.client_of(client.plan, secret=secret)
    again.preparations = Preparations(own)
    anew = registry.read_server(private.server().to_bytes(), keys=client.public_keys())
    anew.preparations = Preparations(theirs)  # type: ignore[attr-defined]
    assert again.ready == 2
    query = again.encrypt(X[:1], prepared=True).data
    answer = anew.answer(query)
    assert client.decrypt(answer, query=query).predictions == private.predict(X[:1])
    # Files that are damaged are errors, and used up.
    (path,) = theirs.iterdir()
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    query = again.encrypt(X[:1], prepared=True).data
    with pytest.raises(hesc.WireError):
        anew.answer(query)
    assert list(theirs.iterdir()) == []
    # A client of another key has none of these.
    assert private.client().ready == 0
    stranger = private.client()
    stranger.preparations = Preparations(own)
    assert stranger.ready == 0


def test_shares_are_used_once_by_the_compiled_part_too() -> None:
    private, client, server = _sides()
    forest, key = client.plan.forest, client.secret.native
    share, part = ForestClientShare.prepare(forest, key)
    kept, answer = server._model.prepare(part, server.keys.public)
    bits = np.zeros(forest.edges, dtype=bool)
    with pytest.raises(hesc.ShapeError):
        ForestClientShare.from_bytes(forest, share.to_bytes()).ask(bits)
    share.complete(key, answer)
    asked = share.ask(bits)
    told = kept.answer(asked)
    # Read again, after an error elsewhere; not asked with again.
    assert (share.read(told) == share.read(told)).all()
    with pytest.raises(hesc.ShapeError):
        share.ask(bits)
    for again in (
        lambda: kept.answer(asked),
        kept.to_bytes,
        lambda: kept.name,
    ):
        with pytest.raises(hesc.ParameterError, match="used before"):
            again()
    share, part = ForestClientShare.prepare(forest, key)
    for each in (share, server._model.prepare(part, server.keys.public)[0]):
        with pytest.raises(TypeError):
            each.__reduce__()
    with pytest.raises(hesc.WireError):
        ForestServerShare.from_bytes(forest, share.to_bytes())
    assert private


def test_ready_ones_of_a_store_are_shared_by_clients(tmp_path: Path) -> None:
    """Two clients of one key and one folder never take the same."""
    _, client, server = _sides()
    client.preparations = Preparations(tmp_path / "kept")
    _prepare(client, server, 40)
    twin = registry.client_of(client.plan, secret=client.secret)
    twin.preparations = Preparations(tmp_path / "kept")

    def ask(at: int) -> bytes:
        each: Any = (client, twin)[at % 2]
        data: bytes = each.encrypt(X[at : at + 1], prepared=True).data
        return data

    with ThreadPoolExecutor(8) as pool:
        queries = list(pool.map(ask, range(40)))
    names = {forest_part(query[52:]) for query in queries}
    assert len(names) == 40
    assert None not in names
    assert not client.preparations.names(f".{READY}")


def test_a_plan_says_what_prepared_queries_cost() -> None:
    _, client, _ = _sides()
    up, down = client.plan.forest.prepared_sizes
    text = str(client.plan)
    assert f"{up + 52} up, {down + 52} down for 1 sample that was prepared" in text
    assert "used once" in text


def test_by_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    private = PrivateClassifier(GradientBoostingClassifier(**FEW)).fit(X, Y)
    private.plan(X, Trees(), table=False)
    desk = private.save(tmp_path / "d")
    client, server = tmp_path / "d/client", tmp_path / "d/server"
    assert desk
    secret, keys, own, theirs = (tmp_path / name for name in ("s.key", "keys", "own", "theirs"))
    files.keygen(client, secret, keys)
    rows = tmp_path / "rows.csv"
    np.savetxt(
        rows,
        X[:70],
        delimiter=",",
        header=",".join("abcdefghijklmnopqrstuvwxyzABCD"),
        comments="",
        fmt="%.17g",
    )
    sides: dict[str, Any] = {"client": client, "secret": secret, "kept": own}
    begun, done = tmp_path / "begun", tmp_path / "done"
    preparing.prepare(70, **sides, out=begun, json_file=str(tmp_path / "json"))
    assert json.loads((tmp_path / "json").read_text())["queries"] == 70
    with pytest.raises(hesc.ParameterError, match="70 samples, and 0 prepared"):
        files.encrypt(rows, client, secret, tmp_path / "q", kept=own)
    with pytest.raises(hesc.ParameterError, match="--kept"):
        files.evaluate(begun, server, done, keys)
    files.evaluate(begun, server, done, keys, kept=theirs)
    preparing.prepare(**sides, answer=done, query=begun)
    query, answer, table = tmp_path / "q", tmp_path / "a", tmp_path / "p.csv"
    files.encrypt(rows, client, secret, query, kept=own)
    assert query.stat().st_size < 70 * 1000
    files.evaluate(query, server, answer, keys, kept=theirs)
    # What goes wrong first does not use up what the answer is read with.
    with pytest.raises(hesc.WireError, match="the answer is to query"):
        files.decrypt(answer, client, secret, table, kept=own, name="0" * 12)
    with pytest.raises(hesc.ParameterError, match="--kept"):
        files.decrypt(answer, client, secret, table)
    with pytest.raises(hesc.HescError, match="deployment"):
        files.decrypt(answer, client, secret, table, kept=client / "own")
    files.decrypt(answer, client, secret, table, kept=own, query=query)
    assert (
        f"each score is off by {private._served().plan.error:.3g} at most"
        in capsys.readouterr().err
    )
    with table.open() as file:
        found = [int(row["prediction"]) for row in csv.DictReader(file)]
    assert found == private.predict(X[:70]).tolist()
    once_more: list[Callable[[], None]] = [
        lambda: files.evaluate(query, server, tmp_path / "a2", keys, kept=theirs),
        lambda: files.decrypt(answer, client, secret, tmp_path / "p2", kept=own),
        lambda: preparing.prepare(**sides, answer=done, query=begun),
    ]
    for again in once_more:
        with pytest.raises(hesc.ParameterError, match="before"):
            again()
    for wrong in ({}, {"count": 3}, {"count": 3, "answer": done, "query": begun}, {"answer": done}):
        with pytest.raises(hesc.ParameterError, match="to begin, or"):
            preparing.prepare(**sides, **wrong)
    with pytest.raises(hesc.HescError, match="deployment"):
        preparing.prepare(1, **sides | {"kept": client / "own"}, out=tmp_path / "b2")


def test_plans_that_prepare_nothing_say_so(tmp_path: Path) -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=5000)).fit(X, Y)
    private.plan(X, table=False)
    private.save(tmp_path / "d")
    files.keygen(tmp_path / "d/client", tmp_path / "s.key")
    with pytest.raises(hesc.ParameterError, match="not prepared: leave out --kept"):
        preparing.prepare(
            1,
            client=tmp_path / "d/client",
            secret=tmp_path / "s.key",
            kept=tmp_path / "kept",
            out=tmp_path / "b",
        )


def test_a_preparation_that_is_sent_again_meets_no_share_twice(tmp_path: Path) -> None:
    """Who replays a preparation while its query is answered gets a share of its own."""
    _, client, server = _sides()
    server.preparations = Preparations(tmp_path / "kept")
    message = client.prepare(1)
    client.complete(server.answer(message), query=message)
    query = client.encrypt(X[:1], prepared=True).data
    (path,) = (tmp_path / "kept").iterdir()
    taken = server.preparations.take(path.name, server._read)
    server.answer(message)
    # The share that was taken is not the one that lies there now, which is under another answer.
    with pytest.raises(hesc.WireError, match="another answer"):
        server.answer(query)
    part = Message.from_bytes(query, Kind.QUERY, plan=client.plan.digest).parts[0]
    assert forest_part(taken.answer(part))


def test_parts_in_another_order_are_refused() -> None:
    for structure in BOTH:
        _, client, server = _sides(structure)
        message = client.prepare(2)
        answer = server.answer(message)
        whole = Message.from_bytes(answer, Kind.ANSWER, plan=client.plan.digest)
        swapped = whole._replace(parts=whole.parts[::-1]).to_bytes()
        with pytest.raises(hesc.WireError, match="another query"):
            client.complete(swapped, query=message)
        client.complete(answer, query=message)
        for prepared in (False, True):
            query = client.encrypt(X[:2], prepared=prepared).data
            whole = Message.from_bytes(server.answer(query), Kind.ANSWER, plan=client.plan.digest)
            swapped = whole._replace(parts=whole.parts[::-1]).to_bytes()
            with pytest.raises(hesc.WireError, match="another query"):
                client.decrypt(swapped, query=query)
            client.decrypt(whole.to_bytes(), query=query)


def test_what_goes_wrong_in_the_middle_can_be_done_again(tmp_path: Path) -> None:
    _, client, server = _sides()
    client.preparations = Preparations(tmp_path / "own")
    message = client.prepare(3)
    whole = Message.from_bytes(server.answer(message), Kind.ANSWER, plan=client.plan.digest)
    damaged = whole.parts[1][:200] + bytes([whole.parts[1][200] ^ 1]) + whole.parts[1][201:]
    lie = whole._replace(parts=(whole.parts[0], damaged, whole.parts[2]))
    with pytest.raises(hesc.WireError):
        client.complete(lie.to_bytes(), query=message)
    assert client.ready == 1
    assert client.complete(whole.to_bytes(), query=message) == 3
    # No room for all of them: none is begun.
    client.preparations = Preparations(tmp_path / "few", most=5)
    with pytest.raises(hesc.ParameterError, match="6 more are too many"):
        client.prepare(6)
    assert client.preparations.names("") == []
    server.preparations = Preparations(tmp_path / "theirs", most=5)
    with pytest.raises(hesc.ParameterError, match="6 more"):
        server.answer(registry.client_of(client.plan, secret=client.secret).prepare(6))
    assert server.preparations.names("") == []


def test_files_that_are_none_are_passed_over(tmp_path: Path) -> None:
    """Copies under other names, links, folders, cut files: never a share twice."""
    private, client, server = _sides()
    folder = tmp_path / "own"
    client.preparations = Preparations(folder)
    _prepare(client, server, 2)
    first, second = sorted(folder.iterdir())
    ending = first.name.partition(".")[2]
    (folder / f"{'0' * 32}.{ending}").write_bytes(first.read_bytes())
    (folder / f"copy of {first.name}").write_bytes(first.read_bytes())
    (folder / f"{'1' * 32}.{ending}").mkdir()
    (folder / f"{'2' * 32}.{ending}").symlink_to(second)
    (folder / f"{'3' * 32}.{ending}").write_bytes(b"")
    (folder / ".left.part").write_bytes(b"")
    before = len(list(Path("/proc/self/fd").iterdir()))
    queries = [client.encrypt(X[i : i + 1], prepared=True).data for i in range(2)]
    assert len({forest_part(query[52:]) for query in queries}) == 2
    for at, query in enumerate(queries):
        found = client.decrypt(server.answer(query), query=query)
        assert found.predictions == private.predict(X[at : at + 1])
    with pytest.raises(hesc.ParameterError, match="prepare"):
        client.encrypt(X[:1], prepared=True)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
    for wrong in ("", "a\0b", 3):
        with pytest.raises(hesc.ParameterError):
            Preparations(wrong)  # type: ignore[arg-type]
    for side in (client, server):
        with pytest.raises(hesc.ParameterError, match="Preparations"):
            side.preparations = str(folder)

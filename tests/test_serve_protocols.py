"""Protocols through a service: encrypted models, columns of several owners, prepared trees."""

from __future__ import annotations

import hashlib
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from hesc.ml import ClientFolder, Outsourced, OwnerFolder, Parties, PrivateClassifier, ServerFolder
from hesc.ml import Party as PartyOf
from hesc.protocols.owners import pieces
from hesc.protocols.trees.preparations import Preparations
from hesc.serve import app
from tests.test_serve_addresses import ask, book

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

X, Y = load_iris(return_X_y=True)


@contextmanager
def served(folder: Path, *servers: Path, **how: Any) -> Iterator[Any]:
    made = app(list(servers), tokens=book(folder), state=folder / "state.db", **how)
    try:
        yield made
    finally:
        made.close()


def answer(service: Any, digest: str, query: bytes, keys: bytes | None = None) -> Any:
    heads = {}
    if keys is not None:
        heads["hesc-keys"] = hashlib.sha256(keys).hexdigest()
        put = ask(service, "PUT", f"/v1/models/{digest}/keys/{heads['hesc-keys']}", content=keys)
        assert put.status_code == 204
    return ask(service, "POST", f"/v1/models/{digest}/answers", content=query, headers=heads)


def test_an_encrypted_model_answers_its_client_alone(tmp_path: Path) -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    private.plan(X, Outsourced())
    saved = private.save(tmp_path / "deployed")
    folder = ClientFolder.open(saved / "client")
    client, other = folder.client(), folder.client()
    OwnerFolder.open(saved / "owner").encrypt_model(tmp_path / "server", keys=client.public_keys())
    digest = folder.plan.digest.hex()
    with served(tmp_path, tmp_path / "server") as service:
        query = client.encrypt(X[::10]).data
        got = answer(service, digest, query)
        found = client.decrypt(got.content, query=query)
        error = np.abs(found.scores - private.decision_function(X[::10])).max()
        assert error < 8 * folder.plan.error
        refused = answer(service, digest, other.encrypt(X[:1]).data)
        assert refused.json()["type"].endswith(("other-keys", "bad-query"))


def test_columns_of_several_owners(tmp_path: Path) -> None:
    """Whoever joins the pieces asks; the client alone reads."""
    private = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    private.plan(X, Parties(parties={"bank": ["d", "a"], "clinic": ["b", "c"]}), names=list("abcd"))
    saved = private.save(tmp_path / "deployed")
    folder = ClientFolder.open(saved / "client")
    client, plan = folder.client(), folder.plan
    keys = client.public_keys()
    bank, clinic = PartyOf(plan, "bank", keys), PartyOf(plan, "clinic", keys)
    query = pieces.joined(
        plan, [bank.encrypt(X[:, [3, 0]]).data, clinic.encrypt(X[:, [1, 2]]).data]
    )
    with served(tmp_path, saved / "server") as service:
        got = answer(service, plan.digest.hex(), query, keys)
        assert got.status_code == 200, got.text
        found = client.decrypt(got.content)
        z = (found.scores - private.decision_function(X)) / plan.error
        assert np.abs(z).max() < 7


def test_prepared_queries_are_used_once_and_outlive_the_service(tmp_path: Path) -> None:
    model = RandomForestClassifier(10, max_depth=4, random_state=0)
    private = PrivateClassifier(model).fit(X, Y)
    private.plan(X)
    saved = private.save(tmp_path / "deployed")
    folder = ClientFolder.open(saved / "client")
    assert folder.plan.prepares
    client, digest = folder.client(), folder.plan.digest.hex()
    client.preparations = Preparations()
    keys = client.public_keys() if folder.plan.needs_keys else None
    assert ServerFolder.open(saved / "server").plan.needs_keys == (keys is not None)
    with served(tmp_path, saved / "server") as service:
        message = client.prepare(2)
        got = answer(service, digest, message, keys)
        assert got.status_code == 200, got.text
        client.complete(got.content, query=message)
    with served(tmp_path, saved / "server") as service:
        for row in (3, 77):
            query = client.encrypt(X[[row]], prepared=True).data
            first = answer(service, digest, query, keys)
            again = answer(service, digest, query, keys)
            assert first.content == again.content
            found = client.decrypt(first.content, query=query)
            assert found.predictions.tolist() == private.predict(X[[row]]).tolist()
        assert not list((tmp_path / "state.db.prepared" / digest).iterdir())
    (tmp_path / "state.db").unlink()
    for name in ("-wal", "-shm", ".seen"):
        (tmp_path / f"state.db{name}").unlink(missing_ok=True)
    with served(tmp_path, saved / "server") as service:
        # The share was used, and is not there for a second answer.
        assert answer(service, digest, query, keys).status_code == 400


@pytest.mark.parametrize("what", ["server.json", "plan.json"])
def test_damaged_folders_are_not_served(tmp_path: Path, what: str) -> None:
    private = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    private.plan(X)
    saved = private.save(tmp_path / "deployed")
    file = saved / "server" / what
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(Exception, match="not what its manifest says"):
        app([saved / "server"], tokens=book(tmp_path), state=tmp_path / "state.db")
    assert not (tmp_path / "state.db").exists()

"""A service that survives: routes, tokens, hostile bodies, exact budgets, and kills."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import io
import json
import logging
import os
import re
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import httpx
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from hesc._native import HescError, ParameterError
from hesc.cli import service
from hesc.ml import (
    ClientFolder,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateNeighbours,
    PrivateRegressor,
    Scores,
    Search,
)
from hesc.serve import app, bodies, responses, tokens
from hesc.serve.key_files import KeyFiles, KeyName
from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from hesc.serve.application import Application

X, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
WIDE = RNG.uniform(-1, 1, (300, 40))
NUMBERS: Final = 30
"""Numbers that the model with hidden weights gives."""
TOKENS: Final = {name: secrets.token_urlsafe(32) for name in ("ann", "bob", "narrow", "watch")}


def hashed(data: bytes | str) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


class Deployed:
    """A deployment's folders, its client, and what its model says in the clear."""

    def __init__(self, folder: Path, clear: Callable[[Any], Any], rows: Any) -> None:
        self.server = folder / "server"
        self.folder = ClientFolder.open(folder / "client")
        self.client, self.clear, self.rows = self.folder.client(), clear, rows
        self.digest: str = self.folder.plan.digest.hex()
        self.keys = self.client.public_keys() if self.folder.plan.needs_keys else b""
        self.heads = {"hesc-keys": hashed(self.keys)} if self.keys else {}

    def query(self, row: int) -> bytes:
        found: bytes = self.client.encrypt(self.rows[[row]]).data
        return found

    def check(self, row: int, query: bytes, answer: bytes) -> None:
        """The answer is to this query, and says what the clear model does."""
        found = self.client.decrypt(answer, query=query)
        if self.folder.plan.classes is None:
            error = 7 * self.folder.plan.error
            assert abs(found.predictions - self.clear(self.rows[[row]])).max() < error
        else:
            assert found.predictions.tolist() == self.clear(self.rows[[row]]).tolist()


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Deployed]:
    folder = tmp_path_factory.mktemp("models")

    def made(name: str, estimator: Any, *options: Any, rows: Any = X, target: Any = Y) -> Deployed:
        estimator.fit(rows, target).plan(rows, *options)
        saved = estimator.save(folder / name)
        return Deployed(saved, estimator.predict, rows)

    hidden = Scores(hidden=True, answers=NUMBERS, max_error=5.0, ranges=(-1, 1))
    return {
        "plain": made("plain", PrivateClassifier(LogisticRegression(max_iter=1000))),
        "hidden": made(
            "hidden",
            PrivateRegressor(LinearRegression()),
            hidden,
            rows=WIDE,
            target=WIDE @ np.arange(1.0, 41),
        ),
        "trees": made("trees", PrivateClassifier(DecisionTreeClassifier(max_depth=2))),
        "near": made("near", PrivateNeighbours(KNeighborsClassifier(3)), Search(records="public")),
    }


def book(folder: Path, deployed: dict[str, Deployed], extra: str = "", **changed: str) -> Path:
    """A file of tokens: two may ask everything, one asks one model, one looks at figures."""
    lines = {
        "ann": 'models = ["*"]\nconcurrent = 16',
        "bob": 'models = ["*"]\nconcurrent = 16',
        "narrow": f'models = ["{deployed["plain"].digest}"]',
        "watch": "models = []\nmetrics = true",
    } | changed
    path = folder / "tokens.toml"
    parts = [f'[tokens.{n}]\nsha256 = "{hashed(TOKENS[n])}"\n{text}' for n, text in lines.items()]
    path.write_text("\n".join([*parts, extra]))
    return path


@contextmanager
def served(
    folder: Path,
    deployed: dict[str, Deployed],
    *names: str,
    book_of: Path | None = None,
    **how: Any,
) -> Iterator[Application]:
    made = app(
        [deployed[name].server for name in names or deployed],
        tokens=book_of or book(folder, deployed),
        state=folder / "state.db",
        **how,
    )
    try:
        yield made
    finally:
        made.close()


def asked(
    application: Application, work: Callable[[httpx.AsyncClient], Awaitable[Any]], who: str = "ann"
) -> Any:
    """What some requests of a holder say, in this process."""

    async def run() -> Any:
        transport = httpx.ASGITransport(app=application, raise_app_exceptions=True)
        heads = {"authorization": f"Bearer {TOKENS[who]}"} if who else {}
        async with httpx.AsyncClient(
            transport=transport, base_url="http://here", headers=heads, timeout=60
        ) as client:
            return await work(client)

    return asyncio.run(run())


def one(
    application: Application, method: str, path: str, who: str = "ann", **more: Any
) -> httpx.Response:
    found: httpx.Response = asked(
        application, lambda client: client.request(method, path, **more), who
    )
    return found


def post(application: Application, model: Deployed, query: bytes, who: str = "ann") -> Any:
    path = f"/v1/models/{model.digest}/answers"
    return one(application, "POST", path, who, content=query, headers=model.heads)


def put(application: Application, model: Deployed, who: str = "ann") -> None:
    path = f"/v1/models/{model.digest}/keys/{hashed(model.keys)}"
    found = one(application, "PUT", path, who, content=model.keys)
    assert found.status_code == 204, found.text


def problem(response: httpx.Response) -> str:
    """The name of a problem, which says what is fixed and nothing else."""
    assert response.headers["content-type"] == "application/problem+json"
    said = response.json()
    name: str = said["type"].removeprefix("urn:hesc:problem:")
    status, text = responses.TEXTS[name]
    assert said == {
        "type": f"urn:hesc:problem:{name}",
        "title": name.replace("-", " "),
        "status": status,
        "detail": text,
    }
    assert response.status_code == status
    return name


# Routes


def test_every_model_is_answered(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    """Four protocols in one service; the same query again is answered byte for byte."""
    with served(tmp_path, deployed) as application:
        for model in deployed.values():
            if model.keys:
                assert problem(post(application, model, b"")) == "keys-missing"
                put(application, model)
            for row in (3, 77):
                query = model.query(row)
                first, second = (post(application, model, query) for _ in range(2))
                assert first.status_code == 200, first.text
                model.check(row, query, first.content)
                assert second.content == first.content
                assert first.headers["hesc-query"] == hashed(query)
                assert [first.headers["hesc-kept"], second.headers["hesc-kept"]] == [
                    "false",
                    "true",
                ]


def test_a_client_is_given_its_folder(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    """What is fetched is a folder client/, of the hashes that are listed."""
    model = deployed["hidden"]
    with served(tmp_path, deployed) as application:
        listed = one(application, "GET", "/v1/models").json()["models"]
        assert {each["digest"] for each in listed} == {each.digest for each in deployed.values()}
        said = one(application, "GET", f"/v1/models/{model.digest}").json()
        assert (said["protocol"], said["takes_keys"]) == ("linear", True)
        assert said["budgets"]["numbers_in_all"] == {"given": 0, "most": NUMBERS}
        (tmp_path / "client").mkdir()
        for name, entry in said["client"].items():
            found = one(application, "GET", f"/v1/models/{model.digest}/client/{name}")
            assert hashed(found.content) == entry["sha256"] == found.headers["hesc-sha256"]
            (tmp_path / "client" / name).write_bytes(found.content)
        assert ClientFolder.open(tmp_path / "client").plan.digest.hex() == model.digest
        other = one(application, "GET", f"/v1/models/{model.digest}/client/server.json")
        assert problem(other) == "not-found"


def test_health_and_figures(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    with served(tmp_path, deployed, "plain") as application:
        post(application, deployed["plain"], deployed["plain"].query(0))
        for path in ("/healthz", "/readyz"):
            assert one(application, "GET", path, who="").status_code == 200
        assert problem(one(application, "GET", "/metrics")) == "not-found"
        assert problem(one(application, "GET", "/metrics", who="")) == "no-token"
        text = one(application, "GET", "/metrics", "watch").text
        label = deployed["plain"].digest[:12]
        assert f'hesc_answers_total{{model="{label}",kind="computed"}} 1\n' in text
        assert "hesc_ready 1\n" in text
        assert all(re.match(r"(# (HELP|TYPE) )?hesc_\w+[ {]", line) for line in text.splitlines())
        for method, path in (("POST", "/v1/models"), ("DELETE", "/healthz")):
            refused = one(application, method, path)
            assert problem(refused) == "wrong-method"
            assert refused.headers["allow"] == "GET"
        for path in ("/", "/v1", "/v1/models/", "/v1/models/xyz", "//healthz", "/v1/models/%2e%2e"):
            assert problem(one(application, "GET", path)) == "not-found"
    assert problem(one(application, "GET", "/v1/models")) == "busy"  # closed


def test_it_is_mounted(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    """Below a path of another application, which hands the whole path on, as ASGI says."""
    with served(tmp_path, deployed, "plain") as application:

        async def outer(scope: Any, receive: Any, send: Any) -> None:
            await application({**scope, "root_path": "/private"}, receive, send)

        found = one(outer, "GET", "/private/v1/models")  # type: ignore[arg-type]
        assert found.status_code == 200


def test_only_what_is_served_is_taken(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    plain = deployed["plain"].server
    how: dict[str, Any] = {"tokens": book(tmp_path, deployed), "state": tmp_path / "state.db"}
    with pytest.raises(ParameterError, match="same plan"):
        app([plain, plain], **how)
    with pytest.raises(ParameterError, match="has a model"):
        app([], **how)
    with pytest.raises(ParameterError, match="in a list"):
        app(plain, **how)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="keeps none of those"):
        app([plain], **how, kept_bytes=100)
    with pytest.raises(ParameterError, match="above 0"):
        app([plain], **how, body_seconds=0)
    assert not (tmp_path / "state.db").exists()


def test_a_network_is_served(tmp_path: Path) -> None:
    estimator = PrivateMLPClassifier(MLPClassifier((4,), max_iter=30, random_state=0))
    with np.errstate(all="ignore"), pytest.warns(Warning, match="."):
        estimator.fit(X, Y)
    estimator.plan(X)
    model = Deployed(estimator.save(tmp_path / "net"), estimator.predict, X)
    models = {"net": model, "plain": model}
    with served(tmp_path, models, "net") as application:
        put(application, model)
        query = model.query(5)
        answer = post(application, model, query)
        assert answer.status_code == 200
        model.check(5, query, answer.content)


# Tokens


def test_tokens(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    plain, hidden = deployed["plain"], deployed["hidden"]
    with served(tmp_path, deployed) as application:
        for head in (None, "", "Bearer", "Bearer ", "Bearer wrong", f"Basic {TOKENS['ann']}"):
            heads = {} if head is None else {"authorization": head}
            refused = one(application, "GET", "/v1/models", who="", headers=heads)
            assert problem(refused) == "no-token"
            assert refused.headers["www-authenticate"] == "Bearer"
        listed = one(application, "GET", "/v1/models", "narrow").json()["models"]
        assert [each["digest"] for each in listed] == [plain.digest]
        # One that is not in the scope looks as one that is not there.
        there = one(application, "GET", f"/v1/models/{hidden.digest}", "narrow")
        nowhere = one(application, "GET", f"/v1/models/{'0' * 64}", "narrow")
        assert problem(there) == "not-found"
        assert there.content == nowhere.content
        assert problem(post(application, hidden, hidden.query(0), "narrow")) == "not-found"
        assert post(application, plain, plain.query(0), "narrow").status_code == 200


def test_tokens_are_revoked_and_rotated_while_it_runs(
    deployed: dict[str, Deployed], tmp_path: Path
) -> None:
    path = book(tmp_path, deployed)
    new = secrets.token_urlsafe(32)
    with served(tmp_path, deployed, "plain", book_of=path) as application:

        def status(token: str) -> int:
            heads = {"authorization": f"bearer {token}"}
            return one(application, "GET", "/v1/models", who="", headers=heads).status_code

        before = path.read_text()
        ann = f'"{hashed(TOKENS["ann"])}"'
        assert (status(TOKENS["ann"]), status(new)) == (200, 401)
        path.write_text(before.replace(ann, f'[{ann}, "{hashed(new)}"]'))
        assert (status(TOKENS["ann"]), status(new)) == (200, 200)
        path.write_text(before.replace(ann, f'"{hashed(new)}"'))
        assert (status(TOKENS["ann"]), status(new)) == (401, 200)
        # A slip of who edits it: what was in force stays so, and the service says it is not well.
        path.write_text("[tokens.ann\n")
        assert status(new) == 200
        assert problem(one(application, "GET", "/readyz", who="")) == "not-ready"
        path.write_text(before.replace(ann, "[]"))
        assert (status(TOKENS["ann"]), status(new)) == (401, 401)
        assert one(application, "GET", "/readyz", who="").status_code == 200


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tokens.a", "no TOML"),
        ("", "no holder"),
        ("x = " + "[" * 5000, "no TOML"),
        ("x = " + "9" * 5000, "no TOML"),
        ("\xff", "no TOML"),
        ("[token.a]", "may have"),
        ("tokens = 3", "a table"),
        ("[tokens]\na = 3", "named by letters"),
        ('[tokens."a b"]\nsha256 = []\nmodels = []', "named by letters"),
        ('[tokens.a]\nmodels = ["*"]', "SHA-256"),
        ('[tokens.a]\nsha256 = "secret"\nmodels = []', "SHA-256"),
        ("[tokens.a]\nsha256 = []", "digests of plans"),
        ('[tokens.a]\nsha256 = []\nmodels = ["credit"]', "digests of plans"),
        ("[tokens.a]\nsha256 = []\nmodels = []\nanswer = 3", "may have"),
        ("[tokens.a]\nsha256 = []\nmodels = []\nanswers = -1", "whole number"),
        ("[tokens.a]\nsha256 = []\nmodels = []\nanswers = true", "whole number"),
        ("[tokens.a]\nsha256 = []\nmodels = []\nmetrics = 1", "true or false"),
        ("[models.credit]\nanswers = 3", "no digest"),
        (f"[models.{'0' * 64}]\nanswer = 3", "may have"),
        (
            "".join(f'[tokens.{n}]\nsha256 = "{"0" * 64}"\nmodels = []\n' for n in "ab"),
            "one token twice",
        ),
    ],
)
def test_wrong_files_of_tokens_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tokens.toml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ParameterError, match=said):
        tokens.read(path)


# Bodies


def test_damaged_queries_are_refused_and_cost_nothing(
    deployed: dict[str, Deployed], tmp_path: Path
) -> None:
    """Every byte of a query's head, some of the rest, other plans' and other clients' queries."""
    with served(tmp_path, deployed) as application:
        for name, model in deployed.items():
            if model.keys:
                put(application, model)
            query = model.query(0)
            bad = [b"", b"x", query[:-1], query + b"\0", query[: len(query) // 2], query * 2]
            places = [*range(0, 42, 6), len(query) // 2, len(query) - 1]
            bad += [query[:at] + bytes([query[at] ^ 1]) + query[at + 1 :] for at in places]
            bad += [other.query(0) for other in deployed.values() if other is not model]
            for each in bad:
                assert problem(post(application, model, each)) in ("bad-query", "too-long"), name
            said = one(application, "GET", f"/v1/models/{model.digest}").json()["budgets"]
            assert said["answers_in_all"]["given"] == 0
        hidden = deployed["hidden"]
        stranger = hidden.folder.client()
        refused = post(application, hidden, stranger.encrypt(WIDE[:1]).data)
        assert problem(refused) == "other-keys"
        plain = deployed["plain"]
        path = f"/v1/models/{hidden.digest}/answers"
        query = hidden.query(0)
        assert problem(one(application, "POST", path, content=query)) == "name-keys"
        for keys in ("", "x", "0" * 63, "G" * 64):
            asked_by = one(application, "POST", f"{path}?keys={keys}x", content=query)
            assert problem(asked_by) == "name-keys"
        by_address = one(application, "POST", f"{path}?keys={hashed(hidden.keys)}", content=query)
        assert by_address.status_code == 200
        path = f"/v1/models/{plain.digest}/answers"
        refused = one(application, "POST", path, content=b"", headers=hidden.heads)
        assert problem(refused) == "no-keys"


def called(
    application: Application, scope: dict[str, Any], events: list[Any], who: str = "ann"
) -> tuple[int, int]:
    """The status of a request whose body comes as told, and how many pieces of it were read."""
    heads = [(b"authorization", f"Bearer {TOKENS[who]}".encode()), *scope.pop("headers", [])]
    taken, sent = [], []

    async def receive() -> dict[str, Any]:
        taken.append(1)
        event = events.pop(0)
        if isinstance(event, float):
            await asyncio.sleep(event)
            return await receive()
        return {"type": "http.request", **event} if "type" not in event else event

    async def send(event: Any) -> None:
        sent.append(event)

    asyncio.run(application({"type": "http", "headers": heads, **scope}, receive, send))
    return sent[0]["status"], len(taken)


def test_bodies_are_judged_before_they_are_read(
    deployed: dict[str, Deployed], tmp_path: Path
) -> None:
    plain, hidden = deployed["plain"], deployed["hidden"]
    answers = {"method": "POST", "path": f"/v1/models/{plain.digest}/answers"}
    keys = {"method": "PUT", "path": f"/v1/models/{hidden.digest}/keys/{'0' * 64}"}
    long = [(b"content-length", str(1 << 40).encode())]
    with served(tmp_path, deployed, body_seconds=0.2) as application:
        for scope in (answers, keys):
            assert called(application, {**scope, "headers": long}, []) == (413, 0)
            for lie in (b"x", b"-1", b"1" * 30):
                heads = [(b"content-length", lie)]
                assert called(application, {**scope, "headers": heads}, []) == (400, 0)
        assert called(application, {**keys}, []) == (411, 0)
        # Without a length: cut where it is too long, dropped where it is too slow or ends.
        piece = {"body": bytes(1 << 17), "more_body": True}
        status, taken = called(application, {**answers}, [piece] * 100)
        assert (status, taken) == (413, app_longest(application, plain) // (1 << 17) + 1)
        slow: list[Any] = [{"body": b"a", "more_body": True}, 0.1] * 10
        assert called(application, {**answers}, slow)[0] == 408
        gone = [{"body": b"a", "more_body": True}, {"type": "http.disconnect"}]
        assert called(application, {**answers}, gone)[0] == 400
        five = [(b"content-length", b"5")]
        for pieces, status in (([b"abc"], 400), ([b"abcdefgh"], 413), ([b"abcde"], 422)):
            events = [{"body": each} for each in pieces]
            assert called(application, {**keys, "headers": five}, events)[0] == status
        assert not list((tmp_path / "state.db.keys").iterdir())
        assert application._shared.admission.taken == 0


def app_longest(application: Application, model: Deployed) -> int:
    found: int = application.models[model.digest].longest_query
    return found


def test_fast_bodies_have_as_long_as_they_are() -> None:
    """A second for every 16 KiB, beside what all have."""

    async def read() -> int:
        count = 0

        async def receive() -> dict[str, Any]:
            nonlocal count
            count += 1
            await asyncio.sleep(0.01)
            return {"type": "http.request", "body": bytes(bodies.SLOWEST), "more_body": count < 20}

        return await bodies.read(receive, 1 << 30, 0.1, lambda _: None)

    assert asyncio.run(read()) == 20 * bodies.SLOWEST


# Keys


def test_keys_that_are_lost_are_sent_again(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    model = deployed["hidden"]
    path = f"/v1/models/{model.digest}/keys/{hashed(model.keys)}"
    with served(tmp_path, deployed, "hidden") as application:
        assert problem(one(application, "GET", path)) == "not-found"
        damaged = model.keys[:-1] + bytes([model.keys[-1] ^ 1])
        refused = one(application, "PUT", path, content=damaged)
        assert problem(refused) == "other-hash"
        other = f"/v1/models/{model.digest}/keys/{hashed(damaged)}"
        assert problem(one(application, "PUT", other, content=damaged)) == "bad-keys"
        put(application, model)
        assert one(application, "GET", path).status_code == 204
        # Another holder has not sent them, and they are not its own.
        assert problem(post(application, model, model.query(0), "bob")) == "keys-missing"
        assert post(application, model, model.query(0)).status_code == 200
        (stored,) = (tmp_path / "state.db.keys").iterdir()
        assert stored.stat().st_mode & 0o777 == 0o600
        stored.unlink()
        assert problem(post(application, model, model.query(1))) == "keys-missing"
        put(application, model)
    (stored,) = (tmp_path / "state.db.keys").iterdir()
    stored.write_bytes(damaged)
    stored.with_name(stored.name + ".part").write_bytes(b"half")
    with served(tmp_path, deployed, "hidden") as application:
        # Damaged on the disk.
        assert problem(post(application, model, model.query(1))) == "keys-missing"
        assert not list((tmp_path / "state.db.keys").iterdir())
        put(application, model)
        assert post(application, model, model.query(1)).status_code == 200
        plain = f"/v1/models/{deployed['plain'].digest}/keys/{'0' * 64}"
        assert problem(one(application, "PUT", plain, content=b"")) == "not-found"


def test_keys_have_quotas_and_the_oldest_go(tmp_path: Path) -> None:
    files = KeyFiles(tmp_path / "keys", most=100)

    def store(holder: str, data: bytes, quota: int = 60) -> KeyName:
        name = KeyName.of(holder, "0" * 64, hashed(data))
        with files.coming(name, len(data), quota) as file:
            file.write(data)
            files.keep(name, file)
        time.sleep(0.01)  # Times of files are of the kernel's clock, which has coarse steps.
        return name

    first, second = store("a", b"1" * 30), store("a", b"2" * 30)
    assert files.has(first)  # used after the second
    third = store("a", b"3" * 30)
    assert [files.has(each) for each in (first, second, third)] == [True, False, True]
    theirs = store("b", b"4" * 40)
    assert files.held == 100
    files.has(first)
    fourth = store("b", b"5" * 20)
    assert [files.has(each) for each in (first, third, theirs, fourth)] == [True, False, True, True]
    with pytest.raises(RefusedError, match="too-long"):
        store("b", b"6" * 61)
    with files.coming(third, 60, 60), pytest.raises(RefusedError, match="busy"):
        store("c", b"7" * 50)
    again = KeyFiles(tmp_path / "keys", most=100)
    assert again.held == files.held
    (tmp_path / "keys" / "stray").write_bytes(b"")
    with pytest.raises(ParameterError, match="no file of keys"):
        KeyFiles(tmp_path / "keys", most=100)


# Budgets


def test_budgets_are_exact_under_eight_clients(
    deployed: dict[str, Deployed], tmp_path: Path
) -> None:
    """Forty queries of two holders, some twice at once, of a model that gives thirty numbers."""
    model = deployed["hidden"]
    queries = [model.query(row) for row in range(40)]
    with served(tmp_path, deployed, "hidden", threads=8, waiting=100) as application:
        put(application, model, "ann")
        put(application, model, "bob")

        async def work(client: httpx.AsyncClient) -> list[httpx.Response]:
            async def each(worker: int) -> list[httpx.Response]:
                who = ("ann", "bob")[worker % 2]
                heads = {**model.heads, "authorization": f"Bearer {TOKENS[who]}"}
                path = f"/v1/models/{model.digest}/answers"
                mine = queries[worker % 4 :: 4]  # each by two clients, one of either holder
                return [await client.post(path, content=q, headers=heads) for q in mine]

            found = await asyncio.gather(*map(each, range(8)))
            return [response for own in found for response in own]

        responses_of = asked(application, work)
        answered: dict[str, set[bytes]] = {}
        for response in responses_of:
            if response.status_code == 200:
                answered.setdefault(response.headers["hesc-query"], set()).add(response.content)
            else:
                assert problem(response) == "budget"
        assert len(answered) == NUMBERS
        assert all(len(contents) == 1 for contents in answered.values())
        assert sum(r.headers.get("hesc-kept") == "false" for r in responses_of) == NUMBERS
        for row, query in enumerate(queries):
            for content in answered.get(hashed(query), ()):
                model.check(row, query, content)
        said = one(application, "GET", f"/v1/models/{model.digest}").json()["budgets"]
        assert said["numbers_in_all"] == {"given": NUMBERS, "most": NUMBERS}
        assert said["answers_in_all"]["given"] == NUMBERS
    # Another run goes on, and answers what it has.
    with served(tmp_path, deployed, "hidden") as application:
        assert problem(post(application, model, model.query(50))) == "budget"
        kept = next(q for q in queries if hashed(q) in answered)
        assert answered[hashed(kept)] == {post(application, model, kept).content}


def test_budgets_of_tokens_and_models(deployed: dict[str, Deployed], tmp_path: Path) -> None:
    plain, near = deployed["plain"], deployed["near"]
    extra = f'[models."{plain.digest}"]\nanswers = 3'
    path = book(tmp_path, deployed, extra, ann='models = ["*"]\nanswers = 2')
    with served(tmp_path, deployed, book_of=path) as application:
        assert post(application, plain, plain.query(0)).status_code == 200
        if near.keys:
            put(application, near)
        assert post(application, near, near.query(0)).status_code == 200
        assert problem(post(application, plain, plain.query(1))) == "budget"
        two = [post(application, plain, plain.query(n), "bob").status_code for n in range(2, 6)]
        assert two == [200, 200, 403, 403]


def test_a_holder_has_so_many_requests_and_overload_is_refused_early(
    deployed: dict[str, Deployed], tmp_path: Path
) -> None:
    plain = deployed["plain"]
    path = f"/v1/models/{plain.digest}/answers"
    book_of = book(tmp_path, deployed, bob='models = ["*"]\nconcurrent = 2')
    with served(tmp_path, deployed, "plain", book_of=book_of, threads=1, waiting=3) as application:

        async def work(client: httpx.AsyncClient) -> list[str]:
            held = asyncio.Event()

            async def body(query: bytes) -> Any:
                yield query[:10]
                await held.wait()
                yield query[10:]

            def begun(row: int, who: str) -> asyncio.Task[httpx.Response]:
                heads = {"authorization": f"Bearer {TOKENS[who]}"}
                content = body(plain.query(row))
                return asyncio.create_task(client.post(path, content=content, headers=heads))

            async def now(who: str) -> httpx.Response:
                heads = {"authorization": f"Bearer {TOKENS[who]}"}
                return await client.post(path, content=b"", headers=heads)

            slow = [begun(0, "bob"), begun(1, "bob")]
            while application._shared.admission.taken < 2:
                await asyncio.sleep(0.01)
            early = [await now("bob")]
            slow += [begun(2, "ann"), begun(3, "ann")]
            while application._shared.admission.taken < 4:
                await asyncio.sleep(0.01)
            early += [await now("ann")]
            held.set()
            assert [(await each).status_code for each in slow] == [200] * 4
            assert all(int(each.headers["retry-after"]) >= 1 for each in early)
            return [problem(each) for each in early]

        assert asked(application, work) == ["too-many", "busy"]
        assert application._shared.admission.taken == 0


# A process


class Process:
    """`hesc serve` as a process of its own, on one port over its lives."""

    def __init__(self, folder: Path, models: list[Deployed], book_of: Path, *options: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = [
            *(sys.executable, "-m", "hesc", "serve", *(str(each.server) for each in models)),
            *("--tokens", str(book_of), "--state", str(folder / "state.db")),
            *("--port", str(self.port), *options),
        ]
        self.log = folder / "log"
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                self._command, stderr=log, stdout=log, env={**os.environ, "COLUMNS": "200"}
            )
        end = time.monotonic() + 60
        with self.client() as client:
            while time.monotonic() < end:
                assert self.running.poll() is None, self.log.read_text()
                with suppress(httpx.TransportError):
                    if client.get("/readyz").status_code == 200:
                        return
                time.sleep(0.05)
        raise AssertionError(self.log.read_text())

    def end(self, number: int) -> int:
        self.running.send_signal(number)
        return self.running.wait(60)

    def client(self, who: str = "ann") -> httpx.Client:
        heads = {"authorization": f"Bearer {TOKENS[who]}"}
        # Reading certificates takes longer than all the rest.
        return httpx.Client(base_url=self.url, headers=heads, timeout=30, verify=False)  # noqa: S501


@contextmanager
def process(*arguments: Any) -> Iterator[Process]:
    made = Process(*arguments)
    try:
        yield made
    finally:
        if made.running.poll() is None:
            made.end(signal.SIGKILL)


def no_secret(text: str, deployed: dict[str, Deployed]) -> None:
    """No token, none of its parts, no key and no weight is in a log, and no trace of a failure."""
    for token in TOKENS.values():
        assert token[:12] not in text
        assert hashed(token)[:12] not in text
    for model in deployed.values():
        server = json.loads((model.server / "server.json").read_text())
        for value in server.values():
            if isinstance(value, str) and len(value) >= 24 and value != server["protocol"]:
                assert value[:24] not in text
    assert "Traceback" not in text
    assert "failed" not in text


def test_slow_cut_and_odd_connections_are_dropped_and_the_end_is_waited_for(
    deployed: dict[str, Deployed], tmp_path: Path
) -> None:
    plain = deployed["plain"]
    with process(tmp_path, [plain], book(tmp_path, deployed), "--body-seconds", "1") as running:
        head = (
            f"POST /v1/models/{plain.digest}/answers HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {TOKENS['ann']}\r\nContent-Length: %d\r\n\r\n"
        ).encode()

        def connected(data: bytes) -> socket.socket:
            made = socket.create_connection(("127.0.0.1", running.port), timeout=20)
            made.sendall(data)
            return made

        def status(made: socket.socket) -> bytes:
            with made:
                return made.recv(12)[-3:]

        slow = connected(head % 1000)
        start = time.monotonic()
        for _ in range(8):
            slow.sendall(b"a")
            time.sleep(0.1)
        assert status(slow) == b"408"
        assert time.monotonic() - start < 10
        connected(head % 1000 + b"cut").close()
        assert status(connected(head % (1 << 40))) == b"413"
        assert status(connected(b"\x16\x03\x01\0\0" * 20 + b"\r\n\r\n")) == b"400"
        # Requests whose answers nobody reads end their connection.
        with connected(b"GET /x HTTP/1.1\r\n\r\n" * 5000) as made:
            made.settimeout(10)
            received = b""
            with suppress(OSError):
                while piece := made.recv(1 << 16):
                    received += piece
            assert received.count(b"HTTP/1.1 404") < 100
        for endless in (b"GET /" + b"a" * 80, b"GET / HTTP/1.1\r\n" + b"x: " + b"a" * 80):
            with connected(endless) as made:
                sent = 0
                with suppress(OSError):
                    while sent < 1 << 26:
                        made.sendall(b"a" * (1 << 14))
                        sent += 1 << 14
                # What the system holds of it on both sides counts as well.
                assert sent < 1 << 25
        with running.client() as client:
            query = plain.query(9)
            found = client.post(f"/v1/models/{plain.digest}/answers", content=query)
            plain.check(9, query, found.content)
        # What is under way is answered, then the process ends well.
        query = plain.query(10)
        last = connected(head % len(query) + query[:50])
        time.sleep(0.2)
        running.running.send_signal(signal.SIGTERM)
        time.sleep(0.3)
        last.sendall(query[50:])
        with last, last.makefile("rb") as answer:
            received = answer.read()
        body = received.split(b"\r\n\r\n", 1)[1]
        plain.check(10, query, body)
        assert running.running.wait(30) == 0
        no_secret(running.log.read_text(), deployed)


class Honest(threading.Thread):
    """A client that asks until it is answered or refused, and holds every answer to the model."""

    def __init__(self, running: Process, model: Deployed, rows: range) -> None:
        super().__init__()
        self._running, self.model, self._rows = running, model, rows
        self.answered: dict[bytes, bytes] = {}
        self.refused: list[str] = []
        self.done = False

    def run(self) -> None:
        with self._running.client() as client:
            for row in self._rows:
                query = self.model.query(row)
                found = self._settled(client, query)
                if found.status_code == 200:
                    self.model.check(row, query, found.content)
                    self.answered[query] = found.content
                else:
                    self.refused.append(problem(found))
        self.done = True

    def _settled(self, client: httpx.Client, query: bytes) -> httpx.Response:
        path = f"/v1/models/{self.model.digest}"
        while True:
            try:
                found = client.post(f"{path}/answers", content=query, headers=self.model.heads)
                if found.status_code == 409:
                    keys = f"{path}/keys/{hashed(self.model.keys)}"
                    client.put(keys, content=self.model.keys)
                elif found.status_code != 503:
                    return found
            except httpx.TransportError:
                pass
            time.sleep(0.02)


def test_kills_lose_no_answer_and_charge_none_twice(
    deployed: dict[str, Deployed], tmp_path: Path
) -> None:
    """Six honest clients, and a server that is killed in their midst four times."""
    plain, hidden = deployed["plain"], deployed["hidden"]
    book_of = book(tmp_path, deployed, f'[models."{plain.digest}"]\nanswers = 20')
    with process(tmp_path, [plain, hidden], book_of, "--threads", "4") as running:
        workers = [Honest(running, hidden, range(n * 10, n * 10 + 10)) for n in range(4)]
        workers += [Honest(running, plain, range(n * 13, n * 13 + 13)) for n in range(2)]
        for each in workers:
            each.start()
        for kill in range(1, 5):
            # Between an answer and the next: in the middle of some.
            while sum(len(each.answered) for each in workers) < 8 * kill:
                assert any(each.is_alive() for each in workers)
                time.sleep(0.001)
            time.sleep(float(RNG.uniform(0, 0.01)))
            running.end(signal.SIGKILL)
            running.start()
        for each in workers:
            each.join(60)
        assert all(each.done for each in workers)
        # Exactly what the budgets have, whoever was killed when.
        assert sum(len(each.answered) for each in workers[:4]) == NUMBERS
        assert sum(len(each.answered) for each in workers[4:]) == 20
        assert [name for each in workers for name in each.refused] == ["budget"] * 16
        with running.client() as client:
            for each in workers:
                path = f"/v1/models/{each.model.digest}/answers"
                for query, answer in each.answered.items():
                    again = client.post(path, content=query, headers=each.model.heads)
                    assert (again.content, again.headers["hesc-kept"]) == (answer, "true")
            said = client.get(f"/v1/models/{hidden.digest}").json()["budgets"]
        assert said["numbers_in_all"] == {"given": NUMBERS, "most": NUMBERS}
        assert said["answers"]["given"] == NUMBERS + 20
        assert running.end(signal.SIGTERM) == 0
        no_secret(running.log.read_text(), deployed)


def test_the_command_says_what_is_missing(
    deployed: dict[str, Deployed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        how: dict[str, Any] = {
            "tokens": book(tmp_path, deployed),
            "state": tmp_path / "state.db",
            "port": other.getsockname()[1],
        }
        with pytest.raises(HescError, match="choose another --host or --port"):
            service.serve([deployed["plain"].server], **how)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.setattr(service, "install_line", lambda extra: f"install {extra}")
    with pytest.raises(HescError, match="runs on uvicorn, which is not installed: install serve"):
        service.serve([deployed["plain"].server], **how)


def test_failures_say_where_and_nothing_else(
    deployed: dict[str, Deployed],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    plain = deployed["plain"]
    with served(tmp_path, deployed, "plain") as application, caplog.at_level(logging.DEBUG):
        model = application.models[plain.digest]

        def broken(*_: object) -> None:
            raise RuntimeError("a weight: 0.123")

        monkeypatch.setattr(model, "evaluate", broken)
        assert problem(post(application, plain, plain.query(0))) == "failed"
        assert "RuntimeError at" in caplog.text
        assert "0.123" not in caplog.text
        assert TOKENS["ann"] not in caplog.text
        monkeypatch.undo()
        assert post(application, plain, plain.query(0)).status_code == 200


class _FullDisk(io.StringIO):
    """A file of the log whose disk is full for a while."""

    full = True

    def write(self, text: str) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(text)


def test_a_full_disk_of_the_log_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither who warns nor the thread that writes: lines are lost until there is room again."""
    log = _FullDisk()
    monkeypatch.setattr(sys, "stderr", log)
    lines = service._Lines()
    logger = logging.Logger("full")
    logger.addHandler(lines)
    logger.error("lost at once")
    logger.info("lost later")
    lines.flush()
    log.full = False
    logger.info("written by the thread")
    end = time.monotonic() + 10
    # Handlers of other tests write here too.
    while "written by the thread\n" not in log.getvalue() and time.monotonic() < end:
        time.sleep(0.02)
    assert "written by the thread\n" in log.getvalue()
    assert "lost" not in log.getvalue()


def test_a_log_that_raises_ends_no_counting(
    deployed: dict[str, Deployed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An application that is mounted has other handlers of the log, and they may raise."""
    plain = deployed["plain"]
    with served(tmp_path, deployed, "plain") as application:

        def full(*_: object, **__: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(application._shared.state._database, "_transaction", full)
        monkeypatch.setattr(logging.getLogger("hesc.serve"), "error", full)
        assert problem(post(application, plain, plain.query(0))) == "not-kept"
        monkeypatch.undo()
        assert post(application, plain, plain.query(0)).status_code == 200

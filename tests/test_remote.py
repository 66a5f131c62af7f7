"""Clients of a service: laws of one exchange, both faces against a running service, and lies."""

from __future__ import annotations

import asyncio
import copy
import csv
import fcntl
import hashlib
import json
import os
import pickle
import secrets
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import httpx
import numpy as np
import pandas as pd
import pytest
import trustme
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from typer.testing import CliRunner

import hesc
from hesc import cli
from hesc._native import DecryptionError, HescError, ParameterError, WireError
from hesc.cli import service
from hesc.cli.partial import PartialTable
from hesc.ml import ClippedWarning, PrivateClassifier, PrivateRegressor, Scores, deployment
from hesc.ml.remote import exchanges
from hesc.ml.remote.drivers import Address
from hesc.ml.remote.exchanges import Asked, Failed, Got, ServiceError, Waited
from hesc.ml.remote.flows import Flows
from hesc.search import Index, SearchPlan, SearchServer
from hesc.serve import app, responses

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

X, Y = load_iris(return_X_y=True)
RNG: Final = np.random.default_rng(3)
WIDE: Final = RNG.uniform(-1, 1, (300, 40))
TOKEN: Final = secrets.token_urlsafe(32)
QUIET: Final[dict[str, Any]] = {"show": None}


# One exchange


class Clock:
    """Time that passes where it is waited."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr("hesc.ml.remote.exchanges.time.monotonic", lambda: self.now)


def played(clock: Clock, outcomes: list[Got | Failed], patience: float) -> tuple[Any, list[float]]:
    """What comes of an exchange with a service that does so, and the waits in it."""
    flow = exchanges.exchange(Asked("GET", "/", 10), patience)
    waits: list[float] = []
    sent: Any = None
    left = iter(outcomes)
    try:
        while True:
            wanted = flow.send(sent)
            sent = None
            if isinstance(wanted, Waited):
                clock.now += wanted.seconds
                waits.append(wanted.seconds)
            else:
                sent = next(left)
    except StopIteration as end:
        return end.value, waits
    except ServiceError as error:
        return error, waits


def said(status: int, problem: str = "", **headers: str) -> Got:
    body = json.dumps({"type": f"urn:hesc:problem:{problem}"}).encode() if problem else b""
    return Got(status, {name.replace("_", "-"): each for name, each in headers.items()}, body)


@given(
    st.lists(st.sampled_from([said(503), said(429, retry_after="7"), Failed("x", again=True)])),
    st.sampled_from([said(200), said(403, "budget"), said(404), said(500)]),
    st.floats(0, 300),
)
def test_an_exchange_ends_in_time_and_never_too_early(
    busy: list[Got | Failed], last: Got, patience: float
) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        clock = Clock(monkeypatch)
        found, waits = played(clock, [*busy, last, *[said(503)] * 3], patience)
    assert sum(waits) <= patience
    assert len(waits) <= len(busy)
    for before, wait in zip(busy, waits, strict=False):
        assert wait >= (7 if isinstance(before, Got) and before.headers else 0)
        assert wait <= 31
    if found is last:
        assert len(waits) == len(busy)
    else:
        assert isinstance(found, ServiceError)
        assert len(waits) < len(busy)


def test_what_cannot_do_better_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found, waits = played(Clock(monkeypatch), [Failed("no such certificate", again=False)], 100)
    assert "no such certificate" in str(found)
    assert not waits


@pytest.mark.parametrize(
    ("body", "name"),
    [
        (b'{"type":"urn:hesc:problem:budget"}', "budget"),
        (b'{"type":"urn:hesc:problem:<script>"}', ""),
        (b'{"type":"urn:hesc:problem:your-licence-is-expired-call-evil"}', ""),
        (b'{"type":"urn:hesc:problem:\xc3\xa9"}', ""),
        (b'{"type":3}', ""),
        (b"[" * 10**5, ""),
        (b"\xff", ""),
        (b"[]", ""),
        (b"", ""),
    ],
)
def test_problems_are_names_or_nothing(body: bytes, name: str) -> None:
    """What a peer says is never repeated: its name alone, where it is one."""
    got = Got(403, {}, body)
    assert got.problem == name
    assert exchanges.refused(got).problem == name
    assert "script" not in str(exchanges.refused(got))


def test_problems_are_those_of_the_service() -> None:
    """Every name that a service has is known, and no other."""
    assert set(exchanges._TEXTS) | exchanges._OTHERS == set(responses.TEXTS)
    for text, seconds in (("7", 7), ("9" * 6, 600), ("\xb2", 0), ("-1", 0), ("1e3", 0), ("", 0)):
        assert exchanges.seconds_of(text) == seconds


@pytest.mark.parametrize(
    "url",
    ["", "example.org", "ftp://x", "https://", "https://a:b@x", "https://x?y", "https://x#y", 3,
     "https://[::1", "https://x/\x1b[31m", "https://x/a b", "https://\u00e9"],
)  # fmt: skip
def test_what_is_no_address_is_refused(url: Any) -> None:
    with pytest.raises(ParameterError, match="url="):
        Address(url, "token")


def test_tokens_do_not_leave_unencrypted_or_in_words() -> None:
    for url in ("http://example.org", "http://10.0.0.1", "http://localhost.example.org"):
        with pytest.raises(ParameterError, match="not encrypted"):
            Address(url, TOKEN)
        assert Address(url, TOKEN, insecure_http=True).url == url
    for url in ("http://localhost:1", "http://127.0.0.1", "http://[::1]:80/x/"):
        assert Address(url, TOKEN).url == url.rstrip("/")
    for token in ("", "a b", "a\n", "\xe9", "x" * 506, None):
        with pytest.raises(ParameterError, match="token="):
            Address("https://x", token)  # type: ignore[arg-type]
    made = hesc.Client("https://x", token=TOKEN)
    assert TOKEN not in repr(made)
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            copied(made)


# A running service


def write_search(folder: Path, index: Index) -> None:
    """A deployment of a search, and the file of its records, where `running` looks for them."""
    index.save(folder / "records.index")
    (folder / "search").mkdir()
    plan = index.plan
    deployment.write_server(folder / "search" / "server", plan, SearchServer(plan).to_bytes())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Deployments of scores, hidden weights, classes with keys, and a search with an index."""
    path = tmp_path_factory.mktemp("deployed")
    scores = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    scores.plan(X)
    scores.save(path / "scores")
    hidden = PrivateRegressor(LinearRegression()).fit(WIDE, WIDE @ np.arange(1.0, 41))
    hidden.plan(WIDE, Scores(hidden=True, answers=30, max_error=5.0, ranges=(-1, 1)))
    hidden.save(path / "hidden")
    vectors = RNG.normal(size=(500, 16))
    plan = SearchPlan.of_vectors(vectors, metric="cosine", bits=6, records="public", keys=True)
    write_search(path, Index(plan, vectors))
    np.save(path / "vectors.npy", vectors)
    from hesc.protocols.folders import PLAN, SERVER

    assert (path / "search" / "server" / PLAN).read_bytes() == plan.to_bytes()
    assert (path / "search" / "server" / SERVER).exists()
    return path


class Running:
    """A service on a port of this machine, in a thread, and what clients need of it."""

    def __init__(self, url: str, application: Any, server: Any) -> None:
        self.url, self.application, self.server = url, application, server

    def client(self, name: str, **how: Any) -> hesc.Client:
        model = {each.plan.protocol: digest for digest, each in self.application.models.items()}
        return hesc.Client(self.url, token=TOKEN, model=model[name], **(QUIET | how))


def book(path: Path, extra: str = "", **fields: Any) -> Path:
    more = "\n".join(f"{name} = {value}" for name, value in fields.items())
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    path.write_text(f'[tokens.ann]\nsha256 = "{digest}"\nmodels = ["*"]\n{more}\n{extra}')
    return path


@contextmanager
def running(
    folder: Path,
    place: Path,
    *names: str,
    certificate: Any = None,
    tokens: Path | None = None,
    **how: Any,
) -> Iterator[Running]:
    indexes = [folder / "records.index"] if "search" in names else []
    application = app(
        [folder / name / "server" for name in names],
        tokens=tokens or book(place / "tokens.toml"),
        state=place / "state.db",
        indexes=indexes,
        **how,
    )
    pem = (None, None) if certificate is None else certificate
    listening = service._listening("127.0.0.1", 0)
    configured = service._configured(uvicorn, application, *pem)
    server = uvicorn.Server(configured)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    scheme = "http" if certificate is None else "https"
    try:
        yield Running(f"{scheme}://127.0.0.1:{listening.getsockname()[1]}", application, server)
    finally:
        server.should_exit = True
        thread.join()
        application.close()
        listening.close()


def clear(name: str) -> Any:
    if name == "hidden":
        return LinearRegression().fit(WIDE, WIDE @ np.arange(1.0, 41)).predict
    return LogisticRegression(max_iter=1000).fit(X, Y).predict


def test_predictions_are_those_of_the_model(folder: Path, tmp_path: Path) -> None:
    shown: list[str] = []
    with running(folder, tmp_path, "scores") as there:
        client = hesc.Client(there.url, token=TOKEN, show=shown.append)
        with client:
            assert "no plan" in repr(client)
            assert client.predict(X).tolist() == clear("scores")(X).tolist()
            model = LogisticRegression(max_iter=1000).fit(X, Y)
            error = 7 * client.plan.error
            assert (
                np.abs(client.decision_function(X[:9]) - model.decision_function(X[:9])).max()
                < error
            )
            assert np.abs(client.predict_proba(X[:9]) - model.predict_proba(X[:9])).max() < error
            with pytest.raises(ParameterError, match="no search"):
                client.search(X[:1])
            frame = pd.DataFrame(X, columns=[f"x{place}" for place in range(4)])
            assert client.predict(frame).tolist() == clear("scores")(X).tolist()
            assert client.predict(X.tolist()).tolist() == clear("scores")(X).tolist()
            with pytest.raises(hesc.ShapeError):
                client.predict(frame[["x1", "x0"]])
            with pytest.raises(hesc.OutOfRangeError):
                client.predict(X * 100)
            with pytest.warns(ClippedWarning, match="12 values in 3 of 3"):
                assert client.predict(X[:3] * 100, clip=True).shape == (3,)
            budgets = client.budgets()
            assert budgets["answers"]["given"] > 0
        assert len(shown) == 1
        assert "server" in shown[0]


def test_keys_are_given_where_they_are_needed_and_again_when_they_are_lost(
    folder: Path, tmp_path: Path
) -> None:
    vectors = np.load(folder / "vectors.npy")
    with running(folder, tmp_path, "search") as there, there.client("search") as client:
        found = client.search(vectors[[7, 450]], 3)
        assert found.indices[:, 0].tolist() == [7, 450]
        assert found.scores.shape == (2, 3)
        keys = tmp_path / "state.db.keys"
        for file in keys.iterdir():
            file.unlink()
        assert client.search(vectors[[9]], 1).indices.tolist() == [[9]]
        assert client.predict(vectors[[11]]).tolist() == [11]


def test_hidden_weights_are_asked_with_keys(folder: Path, tmp_path: Path) -> None:
    tokens = book(tmp_path / "tokens.toml", numbers=5)
    with (
        running(folder, tmp_path, "hidden", tokens=tokens) as there,
        there.client("linear") as mine,
    ):
        found = mine.predict(WIDE[:4])
        assert np.abs(found - clear("hidden")(WIDE[:4])).max() < 7 * mine.plan.error
        assert mine.budgets()["numbers"] == {"given": 4, "most": 5}
        assert mine.budgets()["numbers_in_all"] == {"given": 4, "most": 30}
        with pytest.raises(ServiceError, match="used up"):
            mine.predict(WIDE[:2])


@pytest.mark.parametrize("sealed", [None, "long words"])
def test_a_folder_keeps_plan_and_key(folder: Path, tmp_path: Path, sealed: str | None) -> None:
    """Another client of it is the same client: a query of the one is read by the other."""
    mine = tmp_path / "mine"
    with running(folder, tmp_path, "hidden", "scores") as there:
        with there.client("linear", folder=mine, passphrase=sealed) as client:
            digest = client.plan.digest.hex()
            query = client.local.encrypt(WIDE[:1] if client.plan.inputs == 40 else X[:1]).data
            (answer,) = client.answers([query])
        files = {path.name for path in mine.iterdir()}
        assert files >= {"client", "secret.key"}
        assert (mine / "secret.key").stat().st_mode & 0o777 == 0o600
        shown: list[str] = []
        again: dict[str, Any] = {"token": TOKEN, "folder": mine, "passphrase": sealed}
        with hesc.Client(there.url, **again, show=shown.append) as client:
            assert client.plan.digest.hex() == digest
            assert client.local.decrypt(answer, query=query).predictions.shape == (1,)
            assert client.answers([query]) == [answer]
            assert not shown
        other = "wrong words" if sealed else "words where none are"
        with (
            hesc.Client(there.url, **(again | {"passphrase": other})) as client,
            pytest.raises(DecryptionError),
        ):
            client.local  # noqa: B018
        with pytest.raises(ParameterError, match="another folder="):
            hesc.Client(there.url, **again, model="0" * 64)
        with (
            hesc.Client(there.url, token=TOKEN) as client,
            pytest.raises(ParameterError, match="has 2 models"),
        ):
            client.plan  # noqa: B018


def test_columns_of_other_names_are_refused(tmp_path: Path) -> None:
    """As in another order: who scores them by their places gets other predictions."""
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    made = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(frame, Y)
    made.plan(frame, Scores(ranges=(0, 10)), table=False)
    made.save(tmp_path / "named")
    with running(tmp_path, tmp_path, "named") as there, there.client("linear") as client:
        expected = client.predict(frame).tolist()
        assert client.predict(X).tolist() == expected
        for other in (frame[["d", "c", "b", "a"]], frame.rename(columns={"a": "e"})):
            with pytest.raises(hesc.ShapeError, match="named otherwise"):
                client.predict(other)
        # Names that are no texts are other names too.
        with pytest.raises(hesc.ShapeError, match="named otherwise"):
            client.predict(pd.DataFrame(X))
        table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
        assert client.predict(table).tolist() == expected
        with pytest.raises(hesc.ShapeError, match="named otherwise"):
            client.predict(table.select(["d", "c", "b", "a"]))
        transport = httpx.ASGITransport(there.application)
        other_way = hesc.AsyncClient("http://localhost", token=TOKEN, transport=transport, **QUIET)

        async def asked() -> None:
            async with other_way as asking:
                with pytest.raises(hesc.ShapeError, match="named otherwise"):
                    await asking.predict(frame[["d", "c", "b", "a"]])

        asyncio.run(asked())


def test_more_numbers_than_hidden_weights_give_are_a_budget(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, "hidden") as there, there.client("linear") as client:
        with pytest.raises(ServiceError, match="no room for as many samples") as refused:
            client.predict(WIDE[:31])
        assert refused.value.problem == "budget"
        assert client.predict(WIDE[:20]).shape == (20,)
        with pytest.raises(ServiceError) as refused:
            client.predict(WIDE[20:31])
        assert refused.value.problem == "budget"
        assert client.predict(WIDE[20:30]).shape == (10,)
        assert client.budgets()["numbers_in_all"] == {"given": 30, "most": 30}


def test_a_file_of_tokens_that_is_none_any_more_stops_nobody(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = book(tmp_path / "tokens.toml")
    with (
        running(folder, tmp_path, "scores", tokens=tokens) as there,
        there.client("linear") as client,
    ):
        assert client.predict(X[:2]).shape == (2,)
        whole = tokens.read_text()
        tokens.unlink()
        os.mkfifo(tokens)
        assert client.predict(X[:2]).shape == (2,)
        assert httpx.get(f"{there.url}/readyz").status_code == 503
        assert "no regular file any more" in caplog.text
        tokens.unlink()
        nobody = "0" * 64
        tokens.write_text(f'{whole}\n[models."{nobody}"]\nanswers = 3\n')
        assert httpx.get(f"{there.url}/readyz").status_code == 200
        assert f"the model {nobody}, which is not served here" in caplog.text


def test_what_is_refused_teaches(folder: Path, tmp_path: Path) -> None:
    tokens = book(tmp_path / "tokens.toml", answers=2)
    with running(folder, tmp_path, "scores", tokens=tokens) as there:
        with there.client("linear", at_once=1) as client:
            rows = client.plan.rows
            client.predict(X[:rows]), client.predict(X[:1])
            with pytest.raises(ServiceError, match="used up") as refused:
                client.predict(X[:1])
            assert (refused.value.problem, refused.value.status) == ("budget", 403)
        tokens.write_text(tokens.read_text().replace('sha256 = "', 'sha256 = "' + "0" * 64 + '" #'))
        with there.client("linear") as client, pytest.raises(ServiceError, match="in force"):
            client.plan  # noqa: B018
    with (
        there.client("linear", patience=0.5) as client,
        pytest.raises(ServiceError, match="nobody takes connections"),
    ):
        client.plan  # noqa: B018


def test_a_closed_client_says_so(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, "scores") as there:
        client = there.client("linear")
        assert client.predict(X[:1]).tolist() == [0]
        for _ in range(2):
            client.close()
        with pytest.raises(ParameterError, match="was closed"):
            client.predict(X[:1])


def test_an_event_loop_goes_on(folder: Path, tmp_path: Path) -> None:
    """The other face, without a network, and many at once."""
    with running(folder, tmp_path, "scores", "search") as there:
        models = {each.plan.protocol: d for d, each in there.application.models.items()}

        def made(name: str) -> hesc.AsyncClient:
            transport = httpx.ASGITransport(app=there.application)
            url = "https://anywhere"
            return hesc.AsyncClient(
                url, token=TOKEN, model=models[name], transport=transport, **QUIET
            )

        async def asked() -> None:
            async with made("linear") as scores, made("search") as search:
                vectors = np.load(folder / "vectors.npy")
                found, near, many = await asyncio.gather(
                    scores.predict(X), search.search(vectors[[3]], 2), scores.predict_proba(X[:5])
                )
                assert found.tolist() == clear("scores")(X).tolist()
                assert near.indices[0, 0] == 3
                assert many.shape == (5, 3)
                assert (await scores.plan()).digest.hex() == models["linear"]
                assert (await scores.budgets())["answers"]["given"] >= 1
                assert (await scores.decision_function(X[:2])).shape == (2, 3)

        asyncio.run(asked())


def test_tls(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A certificate of the test's own: trusted where it is given, refused where it is not."""
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    chain, key, trusted = (tmp_path / name for name in ("chain.pem", "key.pem", "ca.pem"))
    chain.write_bytes(b"".join(each.bytes() for each in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    authority.cert_pem.write_to_path(str(trusted))
    with running(folder, tmp_path, "scores", certificate=(chain, key)) as there:
        assert there.url.startswith("https:")
        with there.client("linear", certificates=trusted) as client:
            assert client.predict(X[:5]).tolist() == clear("scores")(X[:5]).tolist()
        with there.client("linear") as client, pytest.raises(ServiceError, match="certificate"):
            client.plan  # noqa: B018
    with pytest.raises(HescError, match="serve no TLS"):
        service._context(chain, trusted)
    with pytest.raises(HescError, match="serve no TLS"):
        service._context(tmp_path / "none.pem", key)
    capfd.readouterr()


# Jobs


def test_jobs_are_answered_once(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, "scores", "search") as there:
        with there.client("linear", jobs=True) as client:
            query = client.local.encrypt(X[:4]).data
            (first,) = client.answers([query])
            (second,) = client.answers([query])
            assert first == second
            assert client.budgets()["answers"]["given"] == 1
            assert client.predict(X).tolist() == clear("scores")(X).tolist()
            assert client.answers([query]) == [first]
        vectors = np.load(folder / "vectors.npy")
        with there.client("search", jobs=True) as client:
            assert client.search(vectors[[5]], 1).indices.tolist() == [[5]]


def test_a_job_outlives_the_service(folder: Path, tmp_path: Path) -> None:
    """Put in the queue, the service ended before it is computed, and fetched from the next one."""
    heads = {"authorization": f"Bearer {TOKEN}"}
    with running(folder, tmp_path, "scores") as there:
        client = there.client("linear")
        query = client.local.encrypt(X[:2]).data
        there.application._jobs._can = lambda _: False
        path = f"/v1/models/{client.plan.digest.hex()}/jobs"
        got = httpx.post(there.url + path, content=query, headers=heads)
        assert got.status_code == 202
        assert int(got.headers["retry-after"]) >= 1
        assert got.json() == {"ahead": 0, "problem": None}
        job = got.headers["location"]
        assert job == f"{path}/{hashlib.sha256(query).hexdigest()}"
        nothing = httpx.get(f"{there.url}{job}/answer", headers=heads)
        assert nothing.status_code == 404
    with running(folder, tmp_path, "scores") as there:
        start = time.monotonic()
        while (got := httpx.get(there.url + job, headers=heads)).status_code == 202:
            assert time.monotonic() - start < 30
            time.sleep(0.05)
        assert got.json() == {"ahead": 0, "problem": None}
        whole = httpx.get(f"{there.url}{job}/answer", headers=heads).content
        size = len(whole)
        pieces = []
        for first in range(0, size, 1000):
            ranged = {"range": f"bytes={first}-{first + 999}"} | heads
            part = httpx.get(f"{there.url}{job}/answer", headers=ranged)
            assert part.status_code == 206
            last = min(first + 999, size - 1)
            assert part.headers["content-range"] == f"bytes {first}-{last}/{size}"
            pieces.append(part.content)
        assert b"".join(pieces) == whole
        beyond = httpx.get(f"{there.url}{job}/answer", headers={"range": f"bytes={size}-"} | heads)
        assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{size}")
        listed = httpx.get(there.url + path, headers=heads).json()["jobs"]
        assert [each["done"] for each in listed] == [True]
        assert client.local.decrypt(whole, query=query).predictions.shape == (2,)
        assert httpx.delete(there.url + job, headers=heads).status_code == 204
        assert httpx.get(there.url + job, headers=heads).status_code == 404
        assert httpx.get(there.url + path, headers=heads).json() == {"jobs": []}
        client.close()


def test_a_job_of_a_revoked_holder_is_not_computed(folder: Path, tmp_path: Path) -> None:
    """Not even where the holder comes back: what ended it is said then."""
    heads = {"authorization": f"Bearer {TOKEN}"}
    tokens = book(tmp_path / "tokens.toml")
    with (
        running(folder, tmp_path, "scores", tokens=tokens) as there,
        there.client("linear") as client,
    ):
        query = client.local.encrypt(X[:2]).data
        jobs = there.application._jobs
        can = jobs._can
        jobs._can = lambda _: False
        path = f"{there.url}/v1/models/{client.plan.digest.hex()}/jobs"
        assert httpx.post(path, content=query, headers=heads).status_code == 202
        before = tokens.read_text()
        digest = hashlib.sha256(TOKEN.encode()).hexdigest()
        tokens.write_text(before.replace(f'"{digest}"', "[]"))
        job = f"{path}/{hashlib.sha256(query).hexdigest()}"
        assert httpx.get(job, headers=heads).status_code == 401
        jobs._can = can
        start = time.monotonic()
        while not there.application._shared.state.jobs("ann", client.plan.digest.hex())[0].done:
            assert time.monotonic() - start < 30
            time.sleep(0.05)
        tokens.write_text(before)
        assert httpx.get(job, headers=heads).json() == {"ahead": 0, "problem": "no-token"}
        assert client.budgets()["answers"]["given"] == 0


def test_a_refused_job_says_so_and_may_be_asked_again(folder: Path, tmp_path: Path) -> None:
    tokens = book(tmp_path / "tokens.toml", answers=1)
    with (
        running(folder, tmp_path, "scores", tokens=tokens) as there,
        there.client("linear", jobs=True, at_once=2) as client,
    ):
        queries = [client.local.encrypt(X[:1]).data for _ in range(2)]
        with pytest.raises(ServiceError, match="used up") as refused:
            client.answers(queries)
        assert refused.value.problem == "budget"
        book(tokens, answers=3)
        assert len(client.answers(queries)) == 2
        damaged = queries[0][:-1] + bytes([queries[0][-1] ^ 1])
        with pytest.raises(ServiceError, match="cannot read"):
            client.answers([damaged])


# Lies


class Liar:
    """A service between a client and a true one, which alters what it is told to."""

    def __init__(self, application: Any, alter: Any) -> None:
        self._application, self._alter = application, alter

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        kept: list[Any] = []

        async def keep(event: Any) -> None:
            kept.append(event)

        await self._application(scope, receive, keep)
        start, body = kept
        status, data = self._alter(scope["path"], start["status"], body["body"])
        heads = [each for each in start["headers"] if each[0] != b"content-length"]
        await send({**start, "status": status, "headers": heads})
        await send({"type": "http.response.body", "body": data})


def lied(there: Running, name: str, alter: Any, work: Any) -> None:
    """What a client does whose answers are altered."""

    async def run() -> None:
        models = {each.plan.protocol: d for d, each in there.application.models.items()}
        transport = httpx.ASGITransport(app=Liar(there.application, alter))
        async with hesc.AsyncClient(
            "https://there", token=TOKEN, model=models[name], transport=transport, patience=0.2,
            **QUIET,
        ) as client:  # fmt: skip
            await work(client)

    asyncio.run(run())


def test_lies_are_refused(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, "scores") as there:

        async def predicts(client: hesc.AsyncClient) -> None:
            await client.predict(X[:3])

        before: list[bytes] = []

        def former(path: str, status: int, body: bytes) -> tuple[int, bytes]:
            """The answer to another query."""
            if not path.endswith("/answers"):
                return status, body
            before.append(body)
            return status, before[0]

        def only(end: str, other: int | None, change: Any) -> Any:
            def alter(path: str, status: int, body: bytes) -> tuple[int, bytes]:
                return (other or status, change(body)) if path.endswith(end) else (status, body)

            return alter

        lied(there, "linear", former, predicts)
        with pytest.raises((WireError, hesc.KeyMismatchError, DecryptionError)):
            lied(there, "linear", former, predicts)
        cases: list[tuple[str, int | None, Any, type[Exception]]] = [
            ("plan.json", None, lambda body: body.replace(b"petal", b"metal") + b" ", WireError),
            ("plan.json", None, lambda body: body[:-1], WireError),
            ("plan.json", 404, bytes, ServiceError),
            ("answers", None, lambda body: body + bytes(1 << 24), ServiceError),
            ("answers", None, lambda body: body[:-1], WireError),
            ("answers", None, lambda _: b"", WireError),
            ("answers", 302, bytes, ServiceError),
            ("answers", 503, bytes, ServiceError),
            ("answers", 204, lambda _: b"", ServiceError),
        ]
        for end, status, change, error in cases:
            with pytest.raises(error):
                lied(there, "linear", only(end, status, change), predicts)


def test_lies_of_jobs_are_refused(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, "scores") as there:
        (model,) = there.application.models
        plan = there.application.models[model].plan

        class Played:
            """Answers of a job, one after the other."""

            def __init__(self, *answers: tuple[int, dict[str, str], bytes]) -> None:
                self.answers = list(answers)

            async def __call__(self, scope: Any, _: Any, send: Any) -> None:
                if scope["path"].endswith("plan.json"):
                    status, body = 200, plan.to_bytes()
                    heads: dict[str, str] = {}
                else:
                    status, heads, body = self.answers.pop(0)
                raw = [(a.encode(), b.encode()) for a, b in heads.items()]
                await send({"type": "http.response.start", "status": status, "headers": raw})
                await send({"type": "http.response.body", "body": body})

        async def run(*answers: Any) -> None:
            transport = httpx.ASGITransport(app=Played(*answers))
            async with hesc.AsyncClient(
                "https://x", token=TOKEN, model=model, transport=transport, jobs=True, **QUIET
            ) as client:
                await client.predict(X[:1])

        state = json.dumps({"ahead": 0, "problem": None}).encode()
        done: tuple[int, dict[str, str], bytes] = (200, {}, state)
        ranges: list[tuple[int, dict[str, str], bytes]] = [
            (200, {}, b"xx"),
            (206, {"content-range": "bytes 0-1/2"}, b"xxx"),
            (206, {"content-range": "bytes 1-2/3"}, b"xx"),
            (206, {"content-range": "bytes 0-1/1"}, b"xx"),
            (206, {"content-range": f"bytes 0-1/{1 << 40}"}, b"xx"),
            (206, {"content-range": "bytes 0-0/0"}, b""),
            (206, {"content-range": "bytes 0-0/9"}, b"x"),
            (206, {"content-range": "bytes 0-0/" + "9" * 5000}, b"x"),
            (206, {"content-range": "bytes 0-\u0661/2"}, b"xx"),
            (404, {}, b""),
        ]
        for each in ranges:
            with pytest.raises((WireError, ServiceError)):
                asyncio.run(run(done, each))
        # Without end: put in the queue again, asked for keys, told to wait.
        gone: tuple[int, dict[str, str], bytes] = (404, {}, b"")
        waits: tuple[int, dict[str, str], bytes] = (202, {"retry-after": "0"}, state)
        with pytest.raises(ServiceError, match="never comes"):
            asyncio.run(run(*[waits, gone] * 9))
        wants = json.dumps({"ahead": 0, "problem": "keys-missing"}).encode()
        with pytest.raises(WireError, match="has none for it"):
            asyncio.run(run((202, {}, wants)))
        said = json.dumps({"ahead": 0, "problem": "\x1b[31m call evil.example.org"}).encode()
        with pytest.raises(ServiceError) as refused:
            asyncio.run(run((200, {}, said)))
        assert refused.value.problem == "failed"
        assert "evil" not in str(refused.value)
        for text in (
            b"",
            b"[]",
            b"{}",
            b'{"ahead": -1.5, "problem": null}',
            b'{"ahead": 0, "problem": 3}',
            b'{"ahead": true, "problem": null}',
        ):
            with pytest.raises(WireError):
                asyncio.run(run((202, {}, text)))
        with pytest.raises(ServiceError, match="used up"):
            asyncio.run(run((200, {}, b'{"ahead": 0, "problem": "budget"}')))


# Tables


class Table:
    """Rows in a file, and the command that scores them."""

    def __init__(self, folder: Path, there: Running, rows: Any) -> None:
        self.folder, self.there = folder, there
        (folder / "token").write_text(TOKEN + "\n")
        self.rows = folder / "rows.csv"
        lines = [",".join(f"x{place}" for place in range(rows.shape[1]))]
        lines += [",".join(map(repr, row)) for row in rows.tolist()]
        self.rows.write_text("\n".join(lines) + "\n")
        self.out = folder / "scored.csv"

    def command(self, *more: str) -> list[str]:
        found = ["score", str(self.rows), "--url", self.there.url, "--out", str(self.out)]
        found += ["--folder", str(self.folder / "mine"), "--token-file", str(self.folder / "token")]
        return [*found, *more]

    def run(self, *more: str) -> Any:
        return CliRunner().invoke(cli.app, self.command(*more), catch_exceptions=True)

    def check(self, rows: Any) -> None:
        with self.out.open() as file:
            found = list(csv.DictReader(file))
        assert [int(each["prediction"]) for each in found] == clear("scores")(rows).tolist()


def test_a_table_is_scored_and_resumed(folder: Path, tmp_path: Path) -> None:
    """Ended by a broken service at many points, it goes on, and nothing is asked twice."""
    with running(folder, tmp_path, "scores") as there:
        (model,) = there.application.models.values()
        rows = X[np.arange(3 * model.plan.rows + 3) % len(X)]
        table = Table(tmp_path, there, rows)
        answers = Flows.answers
        calls = 0

        def breaking(self: Flows, queries: list[bytes]) -> Any:
            """Breaks before, or after, the service has counted."""
            nonlocal calls
            calls += 1
            if calls % 3 == 1:
                raise HescError("broken before")
            found = yield from answers(self, queries)
            if calls % 3 == 2:
                raise HescError("broken after")
            return found

        done_with = PartialTable.done
        ends = 0

        def ended(self: PartialTable, first: int) -> None:
            """Breaks between the rows and the state that counts them."""
            nonlocal ends
            ends += 1
            if ends == 3:
                self.table.flush()
                raise HescError("broken between")
            done_with(self, first)

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(Flows, "answers", breaking)
            monkeypatch.setattr(PartialTable, "done", ended)
            tries = 0
            while (done := table.run("--at-once", "1", "--json", "-")).exit_code:
                assert "broken" in str(done.exception), done.exception
                assert not table.out.exists()
                assert (tmp_path / "scored.csv.partial").stat().st_mode & 0o777 == 0o700
                tries += 1
                assert tries < 1000
        assert tries > 3
        table.check(rows)
        assert not (tmp_path / "scored.csv.partial").exists()
        figures = json.loads(done.stdout)
        assert figures["samples"] == len(rows) == sum(figures["classes"].values())
        with there.client("linear") as client:
            assert client.budgets()["answers"]["given"] == figures["queries"]
        again = table.run()
        assert "exists" in str(again.exception)


def test_answers_that_came_before_a_refusal_are_written(folder: Path, tmp_path: Path) -> None:
    """They are paid for, and a service does not keep them for ever."""
    with running(folder, tmp_path, "scores") as there:
        (model,) = there.application.models.values()
        rows = X[np.arange(4 * model.plan.rows + 3) % len(X)]
        table = Table(tmp_path, there, rows)
        answer, asked = Flows._answer, 0

        def refusing(self: Flows, query: bytes) -> Any:
            nonlocal asked
            asked += 1
            if asked == 3:
                raise exchanges.refusal("budget", 403)
            return (yield from answer(self, query))

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(Flows, "_answer", refusing)
            found = table.run("--at-once", "4")
        assert isinstance(found.exception, ServiceError)
        assert found.exception.problem == "budget"
        done = 2 * model.plan.rows
        assert f"{done} samples are scored so far: the same command goes on" in found.output
        with (tmp_path / "scored.csv.partial/table.csv").open() as file:
            assert len(list(csv.DictReader(file))) == done
        found = table.run("--at-once", "4")
        assert found.exit_code == 0, found.output
        assert f"{done} samples were scored before" in found.output
        table.check(rows)


def test_clipping_is_told(folder: Path, tmp_path: Path) -> None:
    rows = X[:5].copy()
    rows[1, 0] = 1e6
    with running(folder, tmp_path, "scores") as there:
        told = Table(tmp_path, there, rows).run("--clip").output
        assert "1 values in 1 samples were brought within their ranges" in told
        with there.client("linear") as client:
            with pytest.warns(ClippedWarning, match="1 values in 1 of 5 samples"):
                client.predict(rows, clip=True)
            client.predict(X[:5], clip=True)


def test_other_rows_are_not_taken_for_the_same(folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, "scores") as there:
        table = Table(tmp_path, there, np.tile(X, (3, 1)))
        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(
                Flows, "answers", lambda *_: (_ for _ in ()).throw(HescError("off"))
            )
            assert table.run().exit_code
        text = table.rows.read_text()
        table.rows.write_text(text.replace("5.1", "5.2"))
        assert "other rows" in str(table.run().exception)
        table.rows.write_text(text)
        assert "other rows" in str(table.run("--clip").exception)
        partial = tmp_path / "scored.csv.partial"
        partial.chmod(0o755)
        assert "others may read" in str(table.run().exception)
        partial.chmod(0o700)
        held = os.open(partial, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another process" in str(table.run().exception)
        os.close(held)
        for damaged in ("", "[]", '{"belongs": 3}', "{" * 9999):
            (partial / "state.json").write_text(damaged)
            assert "remove it to begin anew" in str(table.run().exception) or "damaged" in str(
                table.run().exception
            )
        (partial / "state.json").unlink()
        assert table.run("--probabilities").exit_code == 0
        table.check(np.tile(X, (3, 1)))


def test_a_table_that_was_altered_is_not_gone_on_with(folder: Path, tmp_path: Path) -> None:
    """Cut, replaced by a link, or made by another; and rows that change while they are read."""
    with running(folder, tmp_path, "scores") as there:
        (model,) = there.application.models.values()
        table = Table(tmp_path, there, X[np.arange(2 * model.plan.rows + 3) % len(X)])
        precious = tmp_path / "precious"
        precious.write_text("mine")
        partial = tmp_path / "scored.csv.partial"

        def stopped(self: PartialTable, first: int, done: Any = PartialTable.done) -> None:
            done(self, first)
            if self.counts["samples"]:
                raise HescError("stopped")

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(PartialTable, "done", stopped)
            assert "stopped" in str(table.run("--at-once", "1").exception)
        made = partial / "table.csv"
        whole = made.read_bytes()
        made.write_bytes(whole[:-1])
        assert "not what was written" in str(table.run().exception)
        made.unlink()
        made.symlink_to(precious)
        assert isinstance(table.run().exception, OSError)
        made.unlink()
        os.link(precious, made)
        assert "not what was written" in str(table.run().exception)
        made.unlink()
        made.write_bytes(whole)
        assert precious.read_text() == "mine"
        answers = Flows.answers

        def editing(self: Flows, queries: list[bytes]) -> Any:
            found = yield from answers(self, queries)
            table.rows.write_text(table.rows.read_text().replace("5.1", "5.2"))
            return found

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(Flows, "answers", editing)
            assert "changed while" in str(table.run("--at-once", "1").exception)
        assert not table.out.exists()


def test_a_wrong_row_is_found_before_anything_is_sent(folder: Path, tmp_path: Path) -> None:
    rows = np.vstack([X, X[:1] * 1000])
    with running(folder, tmp_path, "scores") as there:
        table = Table(tmp_path, there, rows)
        assert isinstance(table.run().exception, hesc.OutOfRangeError)
        with there.client("linear") as client:
            assert client.budgets()["answers"]["given"] == 0
        assert not (tmp_path / "scored.csv.partial").exists()
        (tmp_path / "token").write_text("")
        assert "token=" in str(table.run().exception)


def test_a_search_is_scored(folder: Path, tmp_path: Path) -> None:
    vectors = np.load(folder / "vectors.npy")
    with running(folder, tmp_path, "search") as there:
        table = Table(tmp_path, there, vectors[:7])
        done = table.run("--best", "2")
        assert done.exit_code == 0, done.exception
        with table.out.open() as file:
            found = list(csv.DictReader(file))
        first = [int(each["record"]) for each in found if each["rank"] == "1"]
        assert first == list(range(7))

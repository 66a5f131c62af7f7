"""What a service says of itself, and to whom: addresses, other origins, rates, indexes."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from typer.testing import CliRunner

from hesc import cli
from hesc._native import ParameterError, WireError
from hesc.ml import ClientFolder, PrivateClassifier
from hesc.ml.deployment import write_server
from hesc.search import Index, SearchClient, SearchPlan, SearchServer
from hesc.serve import app, responses, routes
from hesc.serve.admission import Admission
from hesc.serve.cors import Origins
from hesc.serve.responses import RefusedError
from hesc.serve.tokens import Holder

if TYPE_CHECKING:
    from collections.abc import Iterator

X, Y = load_iris(return_X_y=True)
TOKEN: Final = secrets.token_urlsafe(32)
PAGE: Final = "https://page.example.org"


def book(folder: Path, more: str = "") -> Path:
    digest = hashlib.sha256(TOKEN.encode()).hexdigest()
    path = folder / "tokens.toml"
    path.write_text(f'[tokens.ann]\nsha256 = "{digest}"\nmodels = ["*"]\n{more}\n')
    return path


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    private = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    private.plan(X)
    return private.save(tmp_path_factory.mktemp("deployed") / "scores")


@pytest.fixture
def service(scores: Path, tmp_path: Path) -> Iterator[Any]:
    made = app(
        [scores / "server"], tokens=book(tmp_path), state=tmp_path / "state.db", origins=[PAGE]
    )
    yield made
    made.close()


def ask(service: Any, method: str, path: str, **how: Any) -> httpx.Response:
    async def run() -> httpx.Response:
        heads = {"authorization": f"Bearer {TOKEN}"} | how.pop("headers", {})
        transport = httpx.ASGITransport(app=service)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            return await client.request(method, path, headers=heads, **how)

    return asyncio.run(run())


def test_the_document_describes_every_address(service: Any, scores: Path) -> None:
    """All that it lists is there, all that is there is listed, and problems are those there are."""
    found = ask(service, "GET", "/openapi.json", headers={"authorization": ""}).json()
    assert found["openapi"] == "3.1.0"
    paths = found["paths"]
    assert set(paths) == {route.path for route in routes.ROUTES}
    names = found["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]
    assert names == [f"urn:hesc:problem:{name}" for name in responses.TEXTS]
    digest = ClientFolder.open(scores / "client").plan.digest.hex()
    values = {"digest": digest, "sha256": "0" * 64, "file": "plan.json", "page": ""}
    seen = set()
    for path, does in paths.items():
        assert {each["name"] for each in does["parameters"]} == {
            name for name in values if f"{{{name}}}" in path
        }
        methods = {name.upper() for name in does} - {"PARAMETERS"}
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
            got = ask(service, method, path.format(**values))
            assert (got.status_code != 405) == (method in methods), (method, path)
            if method in methods:
                operation = does[method.lower()]
                seen.add(operation["operationId"])
                status = str(got.status_code)
                refused = got.headers.get("content-type") == "application/problem+json"
                assert refused or status in operation["responses"]
                anybody = ask(service, method, path.format(**values), headers={"authorization": ""})
                assert (anybody.status_code == 401) == (operation["security"] != [])
    handlers = {does.handler for route in routes.ROUTES for does in route.methods.values()}
    assert seen == handlers


def test_pages_of_listed_origins_are_let_in_and_no_others(service: Any) -> None:
    asked = {"access-control-request-method": "POST", "access-control-request-headers": "hesc-keys"}
    for origin, allowed in ((PAGE, True), ("https://other.example.org", False), ("null", False)):
        for path in ("/v1/models", "/v1/models/" + "0" * 64, "/nowhere"):
            before = ask(service, "OPTIONS", path, headers={"origin": origin} | asked)
            assert (before.status_code == 204) == allowed
            got = ask(service, "GET", path, headers={"origin": origin})
            for each in (before, got):
                shown = each.headers.get("access-control-allow-origin")
                assert shown == (origin if allowed else None)
                assert "access-control-allow-credentials" not in each.headers
            if allowed:
                assert got.headers["vary"] == "origin"
                assert "authorization" in before.headers["access-control-allow-headers"]
    assert ask(service, "OPTIONS", "/v1/models", headers={"origin": PAGE}).status_code == 405
    assert "access-control-allow-origin" not in ask(service, "GET", "/v1/models").headers


@pytest.mark.parametrize(
    "origin",
    ["*", "null", "page.example.org", PAGE + "/", PAGE.upper(), "", "https://", PAGE + "\n"],
)
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(ParameterError, match="no origin"):
        Origins([origin])
    assert Origins([PAGE, "http://localhost:8080", "http://[::1]:80"])


def test_requests_in_a_second_are_bounded(
    scores: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Never more than the rate allows in any window, and all of it where it is asked."""
    now = 0.0
    monkeypatch.setattr("hesc.serve.admission.time.monotonic", lambda: now)
    admission = Admission(1, 1)
    holder = Holder("ann", (), frozenset(), per_second=5.0)
    given: list[float] = []
    rng = np.random.default_rng(0)
    for _ in range(4000):
        now += float(rng.exponential(0.05))
        with suppress(RefusedError):
            admission.count(holder)
            given.append(now)
    with pytest.raises(RefusedError, match="too-often") as refused:
        any(admission.count(holder) for _ in range(7))  # type: ignore[func-returns-value]
    assert dict(refused.value.headers)["retry-after"] == "1"
    times = np.array(given)
    for window in (0.1, 1, 10):
        most = int(5 * window + 5)
        assert (times[most:] - times[:-most] >= window - 1e-9).all()
    assert len(given) >= 0.95 * 5 * now
    admission.count(Holder("bob", (), frozenset()))
    # Never one more at once.
    whole = Holder("carl", (), frozenset(), per_second=5.0)
    for _ in range(5):
        admission.count(whole)
    with pytest.raises(RefusedError, match="too-often"):
        admission.count(whole)
    monkeypatch.undo()
    tokens = book(tmp_path, "per_second = 2")
    made = app([scores / "server"], tokens=tokens, state=tmp_path / "state.db")
    statuses = [ask(made, "GET", "/v1/models").status_code for _ in range(6)]
    assert statuses[:2] == [200, 200]
    assert 429 in statuses
    made.close()


@pytest.mark.parametrize("rate", ["0", "-1", "true", '"a"', "1e7", "nan", "inf"])
def test_rates_are_numbers(scores: Path, tmp_path: Path, rate: str) -> None:
    with pytest.raises(ParameterError, match="per_second"):
        app(
            [scores / "server"],
            tokens=book(tmp_path, f"per_second = {rate}"),
            state=tmp_path / "state.db",
        )


def test_an_index_is_searched(scores: Path, tmp_path: Path) -> None:
    """The right one: of two plans each takes its own, and kept answers are of these records."""
    rng = np.random.default_rng(1)
    vectors = [rng.normal(size=(300, 8)), rng.normal(size=(200, 12))]
    plans = [SearchPlan.of_vectors(each, records="public", keys=False) for each in vectors]
    how: dict[str, Any] = {"tokens": book(tmp_path), "state": tmp_path / "state.db"}
    folders, files = [], []
    for place, (plan, records) in enumerate(zip(plans, vectors, strict=True)):
        server = SearchServer(plan).to_bytes()
        folders.append(write_server(tmp_path / f"server{place}", plan, server))
        files.append(tmp_path / f"{place}.index")
        Index(plan, records).save(files[-1])
    with pytest.raises(ParameterError, match="file of its own"):
        app(folders, indexes=files[:1], **how)
    with pytest.raises(ParameterError, match="index of none of these plans"):
        app(folders[:1], indexes=files, **how)
    with pytest.raises(ParameterError, match="index of none of these plans"):
        app([scores / "server"], indexes=files, **how)
    with pytest.raises(ParameterError, match="in lists"):
        app(folders, indexes=files[0], **how)  # type: ignore[arg-type]
    (tmp_path / "damaged.index").write_bytes(files[0].read_bytes()[:-1])
    with pytest.raises(WireError):
        app(folders[:1], indexes=[tmp_path / "damaged.index"], **how)

    def asked(query: bytes, index: Any) -> httpx.Response:
        made = app(folders, indexes=[files[1], index], **how)
        path = f"/v1/models/{plans[0].digest.hex()}/answers"
        try:
            return ask(made, "POST", path, content=query)
        finally:
            made.close()

    client = SearchClient(plans[0])
    query = client.encrypt(vectors[0][[250]]).data
    first, again = asked(query, files[0]), asked(query, files[0])
    assert first.content == again.content
    assert again.headers["hesc-kept"] == "true"
    assert client.decrypt(first.content, query=query).best(1).indices.tolist() == [[250]]
    other = tmp_path / "other.index"
    Index(plans[0], vectors[0][::-1]).save(other)
    changed = asked(query, other)
    assert changed.headers["hesc-kept"] == "false"
    assert client.decrypt(changed.content, query=query).best(1).indices.tolist() == [[49]]


def test_a_job_is_of_the_records_that_it_was_asked_about(tmp_path: Path) -> None:
    """Records that are replaced while it waits are others: it says so, and can be forgotten."""
    vectors = np.random.default_rng(1).normal(size=(300, 8))
    plan = SearchPlan.of_vectors(vectors, records="public", keys=False)
    folder = write_server(tmp_path / "server", plan, SearchServer(plan).to_bytes())
    files = [tmp_path / "first.index", tmp_path / "second.index"]
    for file, records in zip(files, (vectors, vectors[::-1]), strict=True):
        Index(plan, records).save(file)
    how: dict[str, Any] = {"tokens": book(tmp_path), "state": tmp_path / "state.db"}
    query = SearchClient(plan).encrypt(vectors[[7]]).data
    path = f"/v1/models/{plan.digest.hex()}/jobs"
    job = f"{path}/{hashlib.sha256(query).hexdigest()}"
    before = app([folder], indexes=files[:1], **how)
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setattr(before._jobs, "_can", lambda _: False)
    assert ask(before, "POST", path, content=query).status_code == 202
    before.close()
    after = app([folder], indexes=files[1:], **how)
    for _ in range(300):
        told = ask(after, "GET", job)
        if told.status_code == 200:
            break
        time.sleep(0.1)
    assert told.json() == {"ahead": 0, "problem": "records-changed"}
    assert ask(after, "DELETE", job).status_code == 204
    assert ask(after, "GET", job).status_code == 404
    assert ask(after, "GET", f"/v1/models/{plan.digest.hex()}").json()["budgets"]["answers"] == {
        "given": 0,
        "most": None,
    }
    after.close()


@pytest.mark.parametrize("file", ["hesc.service", "Containerfile"])
def test_deployed_commands_have_options_that_there_are(file: str) -> None:
    text = (Path(__file__).parents[1] / "deploy" / file).read_text()
    start = text.index("hesc serve " if file == "hesc.service" else '"serve"')
    options = set(re.findall(r"--[a-z-]+", text[start:]))
    known = set(re.findall(r"--[a-z-]+", CliRunner().invoke(cli.app, ["serve", "--help"]).stdout))
    assert {"--tokens", "--state"} <= options <= known

"""The page in a browser, beside Python: same predictions, same keys, and what it refuses.

Chromium runs headless where it is installed, without a driver (`hesc_papers.chromium`).
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import time
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from typer.testing import CliRunner

import hesc
from hesc import cli
from hesc._native import HescError, ParameterError
from hesc.ml import (
    ClientFolder,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateNeighbours,
    PrivateRegressor,
    Search,
    Trees,
    deployment,
)
from hesc.protocols import registry
from hesc.protocols.folders import ServerFolder
from hesc.search import Index, SearchPlan, SearchServer
from hesc.serve import pages
from hesc_papers.chromium import PROGRAM, WAIT, Browser, ScriptError
from hesc_papers.static_site import StaticSite
from tests.test_remote import TOKEN, Running, running
from tests.test_web import NAMES as SCORES
from tests.test_web import _made

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hesc.serve.served_models import Evaluated

ROOT: Final = Path(__file__).parents[1]
seen = pytest.mark.skipif(PROGRAM is None, reason="no chromium")
"""What is seen in a browser."""
NAMES: Final = (*SCORES, "forest", "growth", "votes")
VECTORS: Final = np.random.default_rng(1).normal(size=(50, 16))
MODELS: Final = (*NAMES, "search")
ACROSS: Final = ("iris", "hidden")
"""Models whose clients have keys of different kinds."""


# What is written, and served


@pytest.fixture(scope="module")
def models() -> dict[str, tuple[Any, Any]]:
    """Planned models of every kind that has a page, and rows."""
    found = _made()
    for name, private, load in (
        ("forest", PrivateClassifier(RandomForestClassifier(5, max_depth=3)), load_iris),
        ("growth", PrivateRegressor(GradientBoostingRegressor(n_estimators=8)), load_diabetes),
    ):
        rows, target = load(return_X_y=True)
        private.fit(rows, target).plan(rows, Trees(structure="public"), table=False)
        found[name] = private, rows
    rows, target = load_iris(return_X_y=True)
    votes = PrivateNeighbours(KNeighborsClassifier(3, weights="distance")).fit(rows, target)
    votes.plan(rows, Search(records="public", keys=False, min_agreement=0.5), table=False)
    return found | {"votes": (votes, rows)}


@pytest.fixture(scope="module")
def deployed(models: dict[str, tuple[Any, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages")
    for name, (made, _) in models.items():
        made.save(path / name, sample=0)
    plan = SearchPlan.of_vectors(VECTORS, metric="cosine", records="public", keys=False)
    Index(plan, VECTORS).save(path / "records.index")
    (path / "search").mkdir()
    deployment.write_server(path / "search" / "server", plan, SearchServer(plan).to_bytes())
    return path


def test_files_are_those_that_are_packaged() -> None:
    """Wheels have what a page is made of, of which the tree has one copy."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    patterns = project["tool"]["maturin"]["include"]
    needed = {f"hesc/web/{name}" for name in pages._packed()}
    packaged = {
        str(file.relative_to(ROOT / "python"))
        for folder in ("", "built", "page")
        for file in (ROOT / "python/hesc/web" / folder).iterdir()
        if any(fnmatch(str(file.relative_to(ROOT / "python")), each) for each in patterns)
    }
    assert needed <= packaged
    assert len(needed) > 20


def test_a_page_names_every_file_with_its_digest() -> None:
    made = pages.page()
    document = made.files[pages.INDEX].decode()
    assert not re.search(r"@[\w.]+@", document)
    site = json.loads(re.findall(r'id="site">(.*?)</script>', document)[0])
    assert set(site["files"]) == set(made.files) - {pages.INDEX}
    for name, digest in site["files"].items():
        assert digest == pages._integrity("sha384", made.files[name])
    # Every module is of the page or of the worker, behind what it imports.
    shown = re.findall(r'modulepreload" href="([^"]+)"', document)
    modules = {name for name in site["files"] if name.endswith(".js")}
    assert modules == set(shown) | set(site["worker"])
    assert not set(shown) & set(site["worker"])
    assert site["worker"][-1] == "hesc/page/worker.js"
    assert site["worker"].index("hesc/errors.js") < site["worker"].index("hesc/local.js")
    imports = re.findall(r'type="importmap">(.*?)</script>', document)[0]
    assert pages._integrity("sha256", imports.encode()) in made.policy
    for wanted in ("default-src 'none'", "require-trusted-types-for 'script'", "worker-src blob:"):
        assert wanted in made.policy
        assert wanted in document
    assert "unsafe-inline" not in made.policy
    assert "'unsafe-eval'" not in made.policy


def test_texts_do_not_become_markup() -> None:
    made = pages.page(title='<script>"&')
    document = made.files[pages.INDEX].decode()
    assert "<title>&lt;script&gt;&quot;&amp;</title>" in document
    assert pages._json("</script>") == '"\\u003c/script>"'


def test_services_are_addresses_that_tokens_may_go_to() -> None:
    for service in (
        "https://a.example.org",
        "https://a.example.org:8443/b/c",
        "http://127.0.0.1:8",
    ):
        assert (
            f"connect-src 'self' {'/'.join(service.split('/')[:3])};"
            in pages.page(service=service).policy
        )
    for service in (
        *("http://a.example.org", "https://a.example.org; script-src *", "https://a b", "ftp://a"),
        *("https://A.example.org", "https://a.example.org/?x", "javascript:1", "", "https://u@a"),
    ):
        with pytest.raises(ParameterError, match="no address"):
            pages.page(service=service)


def test_the_command_writes_a_page(deployed: Path, tmp_path: Path) -> None:
    run = CliRunner().invoke
    client, out = deployed / "iris" / "client", tmp_path / "site"
    asked = ["page", str(client), "--out", str(out), "--title", "Flowers"]
    done = run(cli.app, [*asked, "--url", "https://models.example.org/"])
    assert done.exit_code == 0, done.output
    plan = ClientFolder.open(client).plan
    made = pages.page(plan, service="https://models.example.org", title="Flowers")
    written = {
        str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()
    }
    assert written == made.files
    assert hashlib.sha256(written["plan.json"]).digest() == plan.digest
    assert "frame-ancestors 'none'" in done.output
    again = run(cli.app, asked)
    assert isinstance(again.exception, FileExistsError)
    inside = run(cli.app, ["page", str(client), "--out", str(client / "site")])
    assert isinstance(inside.exception, HescError)
    assert not (client / "site").exists()


def test_plans_that_no_page_has_a_client_of_are_refused() -> None:
    plan = SearchPlan.of_vectors(VECTORS, metric="cosine", records="public", keys=True)
    with pytest.raises(ParameterError, match="keys of megabytes, which no page makes"):
        pages.page(plan)
    rows, target = load_iris(return_X_y=True)
    network = PrivateMLPClassifier(MLPClassifier((3,), max_iter=5000, tol=0.01)).fit(rows, target)
    network.plan(rows, table=False)
    with pytest.raises(ParameterError, match="a page has no client of 'networks'"):
        pages.page(network.client().plan)


def test_a_service_gives_the_page_where_it_is_asked_to(deployed: Path, tmp_path: Path) -> None:
    with running(deployed, tmp_path, "iris", page=True) as there:
        made = pages.page(service="..")
        got = httpx.get(f"{there.url}/page/")
        assert got.content == made.files[pages.INDEX]
        assert got.headers["content-security-policy"] == made.policy
        assert pages.HEADS.items() <= dict(got.headers).items()
        wasm = httpx.get(f"{there.url}/page/hesc/built/hesc_wasm_bg.wasm")
        assert wasm.headers["content-type"] == "application/wasm"
        for name in ("nothing.js", "hesc/", "../healthz", "hesc/page/index.html", "plan.json"):
            assert httpx.get(f"{there.url}/page/{name}").status_code in (404, 200)
            assert name not in made.files
        assert httpx.get(f"{there.url}/page/hesc/page/index.html").status_code == 404
        assert httpx.post(f"{there.url}/page/").status_code == 405
    with running(deployed, tmp_path, "iris") as there:
        assert httpx.get(f"{there.url}/page/").status_code == 404


# In a browser


_GIVEN: Final = """
globalThis.given = [];
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => {
  given.push(blob);
  return make.call(URL, blob);
};
"""
"""Has the files that a page gives to be saved."""


class Page:
    """A page that is open in a tab."""

    def __init__(self, browser: Browser, url: str, context: str | None = None) -> None:
        self.tab = browser.tab(context)
        self.tab.before(_GIVEN)
        self.tab.goto(url)

    @classmethod
    def ready(cls, browser: Browser, url: str, context: str | None = None) -> Page:
        """A page whose form is there."""
        made = cls(browser, url, context)
        made.opened()
        return made

    def opened(self) -> None:
        self.tab.until("document.body.dataset.ready")
        self.put("token", TOKEN)

    def put(self, name: str, value: str) -> None:
        self.tab.run(
            f"{{ const it = document.getElementById({json.dumps(name)}); "
            f"it.value = {json.dumps(value)}; it.dispatchEvent(new Event('input')); }}"
        )

    def click(self, name: str) -> None:
        self.tab.run(f"document.getElementById({json.dumps(name)}).click()")

    def text(self, name: str) -> str:
        found: str = self.tab.run(f"document.getElementById({json.dumps(name)}).innerText")
        return found

    def predict(self) -> None:
        """Asks, and waits until it is answered or refused."""
        self.tab.run("document.getElementById('result').hidden = true")
        self.click("predict")
        self.tab.until(
            "!document.body.hasAttribute('data-busy') && ['result', 'wrong'].some("
            "(name) => !document.getElementById(name).hidden)"
        )

    def wrong(self) -> tuple[str, str]:
        """Name and text of the error that is shown; empty where none is."""
        if self.tab.run("document.getElementById('wrong').hidden"):
            return "", ""
        return self.tab.run("document.getElementById('wrong').dataset.name"), self.text("wrong")

    def saved(self, click: Callable[[], None], count: int = 1) -> list[bytes]:
        """Files that the page gives to be saved."""
        self.tab.run("given.length = 0")
        click()
        self.tab.until(f"given.length >= {count}")
        found = self.tab.run(
            "Promise.all(given.map(async (each) => "
            "Array.from(new Uint8Array(await each.arrayBuffer()))))"
        )
        return [bytes(each) for each in found]

    def table(self, rows: pd.DataFrame) -> list[list[str]]:
        """Predictions of rows, as the page writes them into a file."""
        self.click("way-table")
        self.put("pasted", rows.to_csv(index=False))
        self.predict()
        assert self.wrong() == ("", "")
        (text,) = self.saved(lambda: self.click("save"))
        return list(csv.reader(io.StringIO(text.decode())))

    def key(self, path: Path, params: Any, count: int = 1) -> Any:
        """The page's secret key, which it saves and Python reads."""
        self.put("save-words", "long words")
        data, *_ = self.saved(
            lambda: self.tab.run("document.getElementById('key-save').requestSubmit()"), count
        )
        path.touch(0o600)
        path.write_bytes(data)
        return hesc.secret.SecretKey.load(params, path, passphrase="long words")

    def take(self, words: str, **paths: Path) -> None:
        """Gives the page a key of Python."""
        root = self.tab.send("DOM.getDocument")["root"]["nodeId"]
        for name, path in paths.items():
            found = self.tab.send(
                "DOM.querySelector", nodeId=root, selector=f"#{name.replace('_', '-')}"
            )
            self.tab.send("DOM.setFileInputFiles", nodeId=found["nodeId"], files=[str(path)])
        self.put("take-words", words)
        self.tab.run("document.getElementById('key-take').requestSubmit()")
        self.tab.until("!document.body.hasAttribute('data-busy')")

    def kept(self) -> None:
        self.tab.until("document.getElementById('key').dataset.state === 'kept'")

    def clean(self) -> None:
        """Holds that no policy was broken, and nothing went wrong unseen; closes the tab."""
        assert self.tab.run("violations") == []
        assert self.tab.told() == []
        self.tab.close()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as made:
        yield made


@pytest.fixture(scope="module")
def site() -> Iterator[StaticSite]:
    with StaticSite() as made:
        yield made


class Service:
    """A service of all models, and what it was asked and answered."""

    def __init__(self, there: Running, deployed: Path) -> None:
        self.url, self.asked = there.url, list[tuple[bytes, bytes]]()
        self.plans = {name: ServerFolder.open(deployed / name / "server").plan for name in MODELS}
        self.altered: Callable[[bytes], bytes] | None = None
        for model in there.application.models.values():
            model.evaluate = self._evaluating(model.evaluate)

    def _evaluating(self, evaluate: Callable[..., Evaluated]) -> Callable[..., Evaluated]:
        def evaluated(opened: Any, query: bytes) -> Evaluated:
            found = evaluate(opened, query)
            self.asked.append((query, found.answer))
            if self.altered is not None:
                return found._replace(answer=self.altered(found.answer))
            return found

        return evaluated

    def page(self, site: StaticSite, name: str) -> str:
        """The address of a page for a model."""
        site.files.clear()
        site.files.update(pages.page(self.plans[name], service=self.url).files)
        return site.url + "/"


@pytest.fixture(scope="module")
def service(
    deployed: Path, site: StaticSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    place = tmp_path_factory.mktemp("service")
    with running(deployed, place, *MODELS, page=True, origins=[site.url]) as there:
        yield Service(there, deployed)


def frame(plan: Any, rows: Any) -> pd.DataFrame:
    """Rows with the plan's names, in another order than the plan's where it has any."""
    names = plan.names or [f"x{place}" for place in range(plan.inputs)]
    found = pd.DataFrame(np.asarray(rows, dtype=object), columns=names)
    return found[names[::-1]] if plan.names else found


@seen
@pytest.mark.parametrize("name", NAMES)
def test_twenty_rows_are_as_python_finds_them(
    models: dict[str, tuple[Any, Any]],
    service: Service,
    site: StaticSite,
    browser: Browser,
    name: str,
    tmp_path: Path,
) -> None:
    """The page's key is then read in Python, which reads the same answer; and Python's in it."""
    made, rows = models[name]
    plan = service.plans[name]
    page = Page.ready(browser, service.page(site, name), browser.context())
    assert str(plan).splitlines()[0] == page.text("plan-title")
    for about, text in (line.strip().split("  ", 1) for line in str(plan).splitlines()[1:]):
        shown = page.tab.run("document.getElementById('plan').textContent")
        assert text.strip() in shown, about
    first = rows[:20]
    heads, *found = page.table(frame(plan, first))
    query, answer = service.asked[-1]
    secret = page.key(tmp_path / "page.key", plan.params, 2 if plan.needs_keys else 1)
    read = registry.client_of(plan, secret=secret).decrypt(answer, query=query)
    predicted = [each[0] for each in found]
    assert len(predicted) == 20
    # Of several queries the last.
    last = slice(20 - len(read.scores), 20)
    if plan.classes is None:
        assert np.allclose(np.array(predicted, float)[last], read.predictions, rtol=1e-12, atol=0)
        room = 7 * plan.error if plan.error else 1e-6
        room = room if plan.link == "identity" else np.inf
        assert np.abs(np.array(predicted, float) - made.predict(first)).max() < room
    else:
        names = [_shown(each) for each in plan.classes.tolist()]
        assert predicted[last] == [_shown(each) for each in read.predictions.tolist()]
        assert predicted == [_shown(each) for each in made.predict(first).tolist()]
        if len(heads) > 1:
            assert heads[1:] == [f"probability_{each}" for each in names]
            shares = np.array([each[1:] for each in found], float)
            assert np.abs(shares[last] - plan.probabilities(read.scores)).max() < 1e-12
    if name in ACROSS:
        _takes_a_key(page, service, plan, frame(plan, rows[:2]), tmp_path)
    page.clean()


def _takes_a_key(
    page: Page, service: Service, plan: Any, rows: pd.DataFrame, tmp_path: Path
) -> None:
    """Gives the page a key that Python made: what the page asks Python then reads."""
    other = registry.client_of(plan)
    other.secret.save(tmp_path / "python.key", passphrase="other words")
    files = {"key_file": tmp_path / "python.key"}
    if plan.needs_keys:
        (tmp_path / "public.keys").write_bytes(other.public_keys())
        files["public_file"] = tmp_path / "public.keys"
    page.take("wrong words", **files)
    assert page.wrong()[0] == "DecryptionError"
    page.take("other words", **files)
    assert page.wrong() == ("", "")
    page.table(rows)
    query, answer = service.asked[-1]
    assert other.decrypt(answer, query=query).scores.shape[0] == 2


@seen
def test_the_nearest_records_are_as_python_finds_them(
    service: Service, site: StaticSite, browser: Browser, tmp_path: Path
) -> None:
    plan = service.plans["search"]
    page = Page.ready(browser, service.page(site, "search"), browser.context())
    heads, *found = page.table(frame(plan, VECTORS[:7]))
    assert heads == [f"{what}_{rank}" for rank in range(1, 11) for what in ("nearest", "cosine")]
    query, answer = service.asked[-1]
    secret = page.key(tmp_path / "page.key", plan.params)
    best = registry.client_of(plan, secret=secret).decrypt(answer, query=query).best(10)
    numbers = np.array(found, float)
    assert numbers[:, ::2].tolist() == best.indices.tolist()
    assert np.abs(numbers[:, 1::2] - best.scores).max() < 1e-12
    assert numbers[:, 0].tolist() == list(range(7))
    page.click("way-one")
    for place, value in enumerate(VECTORS[9]):
        page.put(f"feature-{place}", repr(float(value)))
    page.predict()
    assert page.text("status").startswith("Nearest: record 9, cosine ")
    rows = page.tab.run("document.querySelectorAll('#prediction .nearest tbody tr').length")
    assert rows == 10
    page.clean()


def _shown(label: object) -> str:
    """A class as JavaScript writes it."""
    return str(label).lower() if isinstance(label, bool) else str(label)


@seen
def test_a_form_is_of_the_plan(
    models: dict[str, tuple[Any, Any]], service: Service, site: StaticSite, browser: Browser
) -> None:
    """Names, ranges, units and words; what is wrong is said beside its field, and not sent."""
    page = Page.ready(browser, service.page(site, "words"), browser.context())
    labels = page.tab.run("[...document.querySelectorAll('#fields label')].map((e) => e.innerText)")
    assert labels == ["age", "city", "paid"]
    options = page.tab.run("[...document.getElementById('feature-1').options].map((e) => e.value)")
    assert options == ["", "Köln", "Oslo", "城"]
    low, high = map(float, re.findall(r"[\d.]+", page.text("feature-0-hint")))
    _, rows = models["words"]
    assert (low, high) == pytest.approx((rows["age"].min(), rows["age"].max()), rel=1e-4)
    before = len(service.asked)
    for age, said in (
        ("", "Fill this in"),
        ("old", "no number"),
        ("30,5", "point"),
        ("9999", "beyond the range"),
    ):
        page.click("fill")
        page.put("feature-0", age)
        page.click("predict")
        page.tab.until("!document.body.hasAttribute('data-busy')")
        assert said in page.text("feature-0-wrong")
        assert page.tab.run("document.activeElement.id") == "feature-0"
        assert page.tab.run("document.getElementById('feature-0').ariaInvalid") == "true"
    assert len(service.asked) == before
    page.click("clip")
    page.predict()
    assert "brought within their ranges: 1" in page.text("moved")
    assert page.text("status").startswith("Prediction: ")
    plan = service.plans["words"]
    query, answer = service.asked[-1]
    assert f"Sent {len(query)} bytes, received {len(answer):,} bytes" in page.text("moved")
    assert (len(query), len(answer)) == plan.sizes(1)
    page.clean()


@seen
def test_tables_are_read_as_the_commands_read_them(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    page = Page.ready(browser, service.page(site, "words"), browser.context())
    page.click("way-table")
    before = len(service.asked)
    for text, said in (
        ("age,city,paid", "a row at least"),
        ("age,city\n30,Oslo", "there is no column “paid”"),
        ("age,age,city,paid\n1,2,Oslo,0", "twice"),
        ("age,city,paid\n30,Oslo", "line 2: it has 2 cells, the header 3"),
        ("age,city,paid\n30,Oslo,0.5\n\n30,Oslo,0.5", "line 3: it is empty"),
        ("age,city,paid\nsecret,Oslo,0.5", "line 2: column 1 holds no number"),
        ('age,city,paid\n30,"Oslo,0.5', "quotes do not match"),
        ("age,city,paid\n30,Atlantis,0.5", "is a word"),
        ("age,city,paid\n99999,Oslo,0.5", "beyond the plan's range"),
    ):
        page.put("pasted", text)
        page.predict()
        assert said in page.wrong()[1].lower()
        assert "secret" not in page.wrong()[1]
    assert len(service.asked) == before
    for text in (
        "age,city,paid\n30,Oslo,0.5\n40,Köln,0.25\n",
        '\ufeffpaid;city;age;note\r\n0,5;"Oslo";30;x\r\n0,25;Köln;40;y\r\n',
        "city\tage\tpaid\nOslo\t30\t0.5\nKöln\t40\t0.25",
    ):
        page.put("pasted", text)
        page.predict()
        assert page.wrong() == ("", "")
        assert page.tab.run("document.querySelectorAll('#prediction tbody tr').length") == 2
        assert ("not used: note" in page.text("moved")) == ("note" in text)
    page.clean()


@seen
def test_every_file_is_fetched_once(service: Service, site: StaticSite, browser: Browser) -> None:
    """All are under way before any of them runs: those of the worker are found as they were."""
    page = Page.ready(browser, service.page(site, "iris"), browser.context())
    found = page.tab.run("performance.getEntriesByType('resource').map((e) => e.name)")
    fetched = [name.removeprefix(f"{site.url}/") for name in found if name.startswith(site.url)]
    assert len(fetched) == len(set(fetched))
    assert set(fetched) >= set(site.files) - {pages.INDEX, "hesc/page/icon.svg"}
    page.clean()


@seen
def test_altered_files_are_refused(service: Service, site: StaticSite, browser: Browser) -> None:
    """One bit of any file that runs, is computed with, or says how things look."""
    address = service.page(site, "iris")
    whole = dict(site.files)
    page = Page(browser, address, browser.context())
    page.tab.until("document.body.dataset.ready")
    before = len(service.asked)
    for name in sorted(set(whole) - {pages.INDEX, "hesc/page/icon.svg"}):
        site.files.update(whole)
        altered = bytearray(whole[name])
        altered[-2] ^= 1
        site.files[name] = bytes(altered)
        told = len(page.tab.told())
        page.tab.goto(address)
        if name.endswith(".css"):
            page.tab.until("document.body.dataset.ready")
            assert page.tab.run("document.styleSheets.length") == 0
            continue
        end = time.monotonic() + WAIT
        while not any(name in each for each in page.tab.told()[told:]):
            assert time.monotonic() < end, name
            time.sleep(0.01)
        page.tab.until("document.readyState === 'complete'")
        if name in pages.ordered(whole, "hesc/page/page.js"):
            assert page.wrong() == ("", "")  # nothing runs at all
        else:
            page.tab.until("!document.getElementById('wrong').hidden")
            assert name in page.wrong()[1]
            assert "do not use this page" in page.wrong()[1]
        assert page.tab.run("document.body.dataset.ready ?? null") is None, name
    assert len(service.asked) == before
    page.tab.close()


@seen
def test_other_origins_are_refused(
    deployed: Path, site: StaticSite, browser: Browser, service: Service, tmp_path: Path
) -> None:
    """By the service where the page is not listed, and by the page where it is not its service."""
    with running(deployed, tmp_path, "iris") as there:
        site.files.clear()
        site.files.update(pages.page(service.plans["iris"], service=there.url).files)
        page = Page.ready(browser, site.url, browser.context())
        page.click("fill")
        # What is refused by its origin looks like a broken connection, which is tried again.
        page.tab.run("document.getElementById('predict').click()")
        page.tab.until("true")
        end = time.monotonic() + WAIT
        while not any("CORS" in each for each in page.tab.told()):
            assert time.monotonic() < end
            time.sleep(0.01)
        assert page.tab.run("document.getElementById('result').hidden")
        page.tab.close()
        # The page asks nobody but its host and its service, and takes no other script.
        page = Page.ready(browser, service.page(site, "iris"), browser.context())
        for script in (
            f"fetch('{there.url}/healthz')",
            "new Function('return 1')()",
            "document.body.innerHTML = '<b>x</b>'",
            "new Worker(URL.createObjectURL(new Blob(['1'])))",
            "new Worker('/hesc/page/worker.js')",
            "trustedTypes.createPolicy('hesc', {})",
        ):
            with pytest.raises(ScriptError):
                page.tab.run(f"(async () => {{ return await ({script}); }})()")
        page.tab.run(
            "{ const it = document.createElement('script'); "
            "try { it.textContent = 'globalThis.ran = 1'; } catch {} document.head.append(it); }"
        )
        assert page.tab.run("globalThis.ran ?? null") is None
        assert len(page.tab.run("violations")) >= 4
        page.tab.close()


@seen
def test_a_plan_that_is_none_is_refused(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    """Damaged, of another protocol, or another one than was said: no form, no query."""
    plan = service.plans["iris"]
    data = plan.to_bytes()

    class Lie:
        protocol = "linear"

        def __init__(self, data: bytes, digest: bytes | None = None) -> None:
            self.data, self.digest = data, digest or hashlib.sha256(data).digest()

        def to_bytes(self) -> bytes:
            return self.data

    context = browser.context()
    for lie in (
        Lie(data[:-5]),
        Lie(data.replace(b'"linear"', b'"trees"')),
        Lie(data.replace(b'"linear"', b'"network"')),
        Lie(b"{}"),
        Lie(data, bytes(32)),
    ):
        site.files.clear()
        site.files.update(pages.page(lie, service=service.url).files)
        page = Page(browser, site.url, context)
        page.tab.until("!document.getElementById('wrong').hidden")
        assert page.wrong()[0] in {"WireError", "ParameterError"}
        assert page.tab.run("document.getElementById('sample').hidden")
        page.clean()


@seen
def test_hostile_answers_are_told_to_the_person_alone(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    page = Page.ready(browser, service.page(site, "iris"), browser.context())
    page.click("fill")
    page.predict()
    first = service.asked[-1][1]
    altered: list[tuple[Callable[[bytes], bytes], str]] = [
        (lambda answer: answer[:-1], "WireError"),
        (lambda answer: answer[:40] + bytes([answer[40] ^ 1]) + answer[41:], "WireError"),
        (lambda answer: answer[:-9] + bytes([answer[-9] ^ 64]) + answer[-8:], "WireError"),
        (lambda _: first, "WireError"),
        (lambda _: b"", "WireError"),
        (lambda answer: answer + bytes(1 << 20), "ServiceError"),
    ]
    try:
        for change, name in altered:
            service.altered = change
            sent = len(page.tab.requests())
            page.predict()
            assert page.wrong()[0] == name
            assert ("Do not tell" in page.wrong()[1]) == (name != "ServiceError")
            assert page.tab.run("document.getElementById('result').hidden")
            time.sleep(0.05)
            # The query and its preflight, and nothing after the answer.
            assert len(page.tab.requests()) - sent <= 2
    finally:
        service.altered = None
    page.predict()
    assert page.wrong() == ("", "")
    page.clean()


@seen
def test_a_reload_and_two_tabs_have_one_key(
    service: Service, site: StaticSite, browser: Browser, tmp_path: Path
) -> None:
    """What the one asked the other reads; neither has it in a form that a script can read."""
    context, address = browser.context(), service.page(site, "iris")
    plan = service.plans["iris"]
    one, two = (Page.ready(browser, address, context) for _ in range(2))
    for page in (one, two):
        page.click("fill")
        page.click("predict")
    for page in (one, two):
        page.tab.until("!document.getElementById('result').hidden")
        page.kept()
    for page in (one, two):
        page.tab.send("Page.reload")
        page.tab.until("document.getElementById('key').dataset.state === 'kept'")
        page.opened()
    one.click("fill")
    one.predict()
    query, answer = service.asked[-1]
    for name, page in (("one", one), ("two", two)):
        secret = page.key(tmp_path / name, plan.params)
        registry.client_of(plan, secret=secret).decrypt(answer, query=query)
    stored = one.tab.run(
        """(async () => {
          const opening = indexedDB.open("hesc");
          await new Promise((done) => { opening.onsuccess = done; });
          const asking = opening.result.transaction("keys").objectStore("keys").getAll();
          await new Promise((done) => { asking.onsuccess = done; });
          const [{ wrapping, box }] = asking.result;
          const said = await crypto.subtle.exportKey("raw", wrapping).then(() => "", (e) => e.name);
          return [asking.result.length, wrapping.extractable, box.byteLength, said];
        })()"""
    )
    assert stored[0] == 1
    assert stored[1] is False
    assert stored[3] == "InvalidAccessError"
    one.click("key-forget")
    one.tab.until("document.getElementById('key').dataset.state === 'new'")
    with pytest.raises(hesc.KeyMismatchError):
        registry.client_of(plan, secret=one.key(tmp_path / "new", plan.params)).decrypt(
            answer, query=query
        )
    one.clean()
    two.clean()


@seen
def test_a_private_window_keeps_nothing(service: Service, site: StaticSite, tmp_path: Path) -> None:
    address = service.page(site, "iris")
    for _ in range(2):
        with Browser(tmp_path / "profile", "--incognito") as private:
            page = Page.ready(private, address)
            assert page.tab.run("document.getElementById('key').dataset.state ?? null") is None
            page.click("fill")
            page.predict()
            assert page.wrong() == ("", "")
            page.kept()
            page.clean()


@seen
def test_without_a_database_the_key_is_of_the_session(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    tab = browser.tab(browser.context())
    tab.send("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)
    page = Page.__new__(Page)
    page.tab = tab
    attached = len(browser.events)
    tab.goto(service.page(site, "iris"))
    worker = None
    end = time.monotonic() + WAIT
    while worker is None and time.monotonic() < end:
        for event in browser.events[attached:]:
            if event["method"] == "Target.attachedToTarget":
                worker = event["params"]["sessionId"]
        time.sleep(0.01)
    hide = "Object.defineProperty(self, 'indexedDB', { value: undefined })"
    browser.send("Runtime.evaluate", worker, expression=hide)
    browser.send("Runtime.runIfWaitingForDebugger", worker)
    page.opened()
    tab.until("document.getElementById('key').dataset.state === 'session'")
    assert "until the page is closed" in page.text("key-state")
    page.click("fill")
    page.predict()
    assert page.wrong() == ("", "")
    page.clean()


@seen
def test_the_service_s_own_page_asks_by_token(
    deployed: Path, browser: Browser, tmp_path: Path
) -> None:
    """One of several models is chosen; a token is kept where that is wanted, in its tab alone."""
    with running(deployed, tmp_path, "iris", "exp", page=True) as there:
        digests = {each.plan.inputs: digest for digest, each in there.application.models.items()}
        page = Page(browser, f"{there.url}/page/", browser.context())
        page.tab.until("document.body.dataset.started")
        assert "Both are the same" in page.text("trust")
        assert page.tab.run("document.getElementById('plan').hidden")
        page.put("token", "x" * 40)
        page.click("open")
        page.tab.until("!document.getElementById('wrong').hidden")
        assert "in force no more" in page.wrong()[1]
        assert page.tab.run("document.activeElement.id") == "token"
        page.put("token", TOKEN)
        page.click("open")
        page.tab.until("document.getElementById('model').options.length === 3")
        page.tab.run(f"document.getElementById('model').value = '{digests[3]}'")
        page.click("open")
        page.tab.until("document.body.dataset.ready")
        page.click("fill")
        page.predict()
        assert page.tab.run("document.querySelectorAll('#prediction .dot').length") == 1
        assert page.tab.run("sessionStorage.length + localStorage.length") == 0
        page.tab.goto("about:blank")
        page.tab.goto(f"{there.url}/page/#{digests[4]}")
        page.tab.until("document.body.dataset.started")
        page.click("remember")
        page.put("token", TOKEN)
        page.click("open")
        page.tab.until("document.body.dataset.ready")
        page.tab.send("Page.reload")
        page.tab.until("document.body.dataset.ready && document.getElementById('token').value")
        page.click("fill")
        page.predict()
        assert page.tab.run("document.querySelectorAll('#prediction tbody tr').length") == 3
        assert page.tab.run("localStorage.length") == 0
        # A token that was refused is an answer of the service, which the browser writes down.
        assert all("401" in each for each in page.tab.told())
        assert page.tab.run("violations") == []


@seen
def test_it_is_read_and_used_without_eyes_or_mouse(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    """What takes the focus has a name; Enter asks; news is in a live region; it fits a phone."""
    page = Page.ready(browser, service.page(site, "words"), browser.context())
    nodes = page.tab.send("Accessibility.getFullAXTree")["nodes"]
    wanted = {"textbox", "button", "checkbox", "radio", "combobox", "MenuListPopup"}
    named = [
        (each["role"]["value"], each.get("name", {}).get("value", ""))
        for each in nodes
        if not each.get("ignored") and each["role"]["value"] in wanted
    ]
    assert len(named) >= 9
    assert [each for each in named if not each[1] and each[0] != "MenuListPopup"] == []
    roles = {each["role"]["value"] for each in nodes if not each.get("ignored")}
    assert {"main", "status", "form", "heading"} <= roles
    page.click("fill")
    page.tab.run("document.getElementById('feature-0').focus()")
    for kind in ("keyDown", "keyUp"):
        page.tab.send("Input.dispatchKeyEvent", type=kind, key="Enter", text="\r",
                      windowsVirtualKeyCode=13)  # fmt: skip
    page.tab.until("!document.getElementById('result').hidden")
    assert page.tab.run("document.getElementById('status').ariaLive") == "polite"
    assert page.text("status").startswith("Prediction: ")
    for scheme in ("light", "dark"):
        page.tab.send(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        for width in (320, 1280):
            page.tab.send(
                "Emulation.setDeviceMetricsOverride",
                width=width, height=800, deviceScaleFactor=1, mobile=False,
            )  # fmt: skip
            assert page.tab.run("document.documentElement.scrollWidth") <= width
        assert page.tab.run(_CONTRAST) >= 4.5
    page.clean()


_CONTRAST: Final = """
(() => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
    const [r, g, b] = parts.map((x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (node) => {
    const own = getComputedStyle(node).backgroundColor;
    return own === "rgba(0, 0, 0, 0)" ? ground(node.parentElement) : own;
  };
  const all = [...document.querySelectorAll("p, label, dt, dd, h1, h2, td, th, button, summary")];
  const shown = all.filter((node) => node.innerText?.trim() && node.offsetParent !== null);
  return Math.min(...shown.map((node) => {
    const [a, b] = [light(getComputedStyle(node).color), light(ground(node))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }));
})()
"""


@seen
def test_nobody_but_host_and_service_is_asked(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    """And the token goes to the service alone, in a head."""
    page = Page.ready(browser, service.page(site, "iris"), browser.context())
    page.click("fill")
    page.predict()
    page.kept()
    for each in page.tab.requests():
        address = each.split(" ", 1)[1]
        assert address.startswith((site.url, service.url, "blob:", "data:")), each
        assert TOKEN not in address
    page.clean()

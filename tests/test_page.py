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
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
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
    Scores,
    Search,
    Trees,
)
from hesc.protocols import registry
from hesc.protocols.folders import ServerFolder
from hesc.search import Index, SearchPlan
from hesc.serve import pages
from hesc_papers.chromium import PROGRAM, WAIT, Browser, ScriptError
from hesc_papers.static_site import StaticSite
from tests.test_remote import TOKEN, Running, book, running, write_search
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
    write_search(path, Index(plan, VECTORS))
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
    assert {name for name in site["files"] if name.endswith(".js")} == set(shown)
    worker = [name for name, _ in json.loads(made.files[pages.WORKER])]
    assert not set(shown) & set(worker)
    whole = {
        f"hesc/{name}": text.decode()
        for name, text in pages._packed().items()
        if name.endswith(".js")
    }
    assert set(whole) == set(shown) | set(worker)
    assert all(whole[name] == text for name, text in json.loads(made.files[pages.WORKER]))
    assert worker[-1] == "hesc/page/worker.js"
    assert worker.index("hesc/errors.js") < worker.index("hesc/local.js")
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
        for name, path in paths.items():
            self.choose(name.replace("_", "-"), path)
        self.put("take-words", words)
        self.tab.run("document.getElementById('key-take').requestSubmit()")
        self.tab.until("!document.body.hasAttribute('data-busy')")

    def choose(self, name: str, path: Path) -> None:
        """Gives the page a file."""
        root = self.tab.send("DOM.getDocument")["root"]["nodeId"]
        found = self.tab.send("DOM.querySelector", nodeId=root, selector=f"#{name}")
        self.tab.send("DOM.setFileInputFiles", nodeId=found["nodeId"], files=[str(path)])

    def asked(self) -> None:
        """Asks, and waits until the page has done with it, whatever it shows."""
        self.click("predict")
        self.tab.until("!document.body.hasAttribute('data-busy')")

    def hidden(self, name: str) -> bool:
        found: bool = self.tab.run(f"document.getElementById({json.dumps(name)}).hidden")
        return found

    def in_view(self, name: str) -> bool:
        found: bool = self.tab.run(
            f"{{ const it = document.getElementById({json.dumps(name)}).getBoundingClientRect(); "
            "it.height > 0 && it.top >= 0 && it.bottom < innerHeight + 1 }"
        )
        return found

    def sized(self, width: int, height: int = 640, *, touched: bool = False) -> None:
        """A window of this size, of a telephone where it is touched."""
        self.tab.sized(width, height, mobile=touched)
        self.tab.send("Emulation.setTouchEmulationEnabled", enabled=touched)

    def fits(self, width: int) -> None:
        """Holds that a window of this width shows all, without being moved sideways."""
        self.sized(width)
        assert self.tab.run("document.documentElement.scrollWidth") <= width
        cut = (
            "{ const it = document.getElementById('prediction'); it.scrollWidth - it.clientWidth }"
        )
        assert self.tab.run(cut) == 0

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


def given(site: StaticSite, page: pages.Page) -> str:
    """The address of a page, which takes the place of all that the site had."""
    site.files.clear()
    site.files.update(page.files)
    return site.url + "/"


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
        return given(site, pages.page(self.plans[name], service=self.url))

    @contextmanager
    def altering(self, change: Callable[[bytes], bytes]) -> Iterator[None]:
        """Whose answers are others meanwhile."""
        self.altered = change
        try:
            yield
        finally:
            self.altered = None


@pytest.fixture(scope="module")
def service(
    deployed: Path, site: StaticSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Service]:
    place = tmp_path_factory.mktemp("service")
    with running(deployed, place, *MODELS, page=True, origins=[site.url]) as there:
        yield Service(there, deployed)


@pytest.fixture
def tabs(service: Service, site: StaticSite, browser: Browser) -> tuple[Page, Page]:
    """Two tabs of one browser with the page of the same model, `iris`."""
    context, address = browser.context(), service.page(site, "iris")
    return Page.ready(browser, address, context), Page.ready(browser, address, context)


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
    page.fits(320)
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
    assert "Do not tell" not in page.wrong()[1]
    if plan.needs_keys:
        (tmp_path / "junk.keys").write_bytes(bytes(100))
        page.take("other words", **files | {"public_file": tmp_path / "junk.keys"})
        assert "none of this model" in page.wrong()[1]
        page.table(rows)  # by the key that was there before
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
    page.fits(320)
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
        ("12,345", "nothing between thousands"),
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
    assert re.search(r"decrypted in [\d.,]+ ms, read in [\d.,]+ ms", page.text("moved"))
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
            assert "do not use this page" in page.text("status")
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
        address = given(site, pages.page(service.plans["iris"], service=there.url))
        page = Page.ready(browser, address, browser.context())
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
        page = Page(browser, given(site, pages.page(lie, service=service.url)), context)
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
    for change, name in altered:
        with service.altering(change):
            sent = len(page.tab.requests())
            page.predict()
            assert page.wrong()[0] == name
            assert ("Do not tell" in page.wrong()[1]) == (name != "ServiceError")
            assert page.tab.run("document.getElementById('result').hidden")
            time.sleep(0.05)
            # The query and its preflight, and nothing after the answer.
            assert len(page.tab.requests()) - sent <= 2
    page.predict()
    assert page.wrong() == ("", "")
    page.clean()


@seen
def test_a_reload_and_two_tabs_have_one_key(
    service: Service, tabs: tuple[Page, Page], tmp_path: Path
) -> None:
    """What the one asked the other reads; neither has it in a form that a script can read."""
    plan = service.plans["iris"]
    one, two = tabs
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
            page.tab.sized(width)
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


# What a stranger found


def odd() -> tuple[Any, pd.DataFrame]:
    """Long names, words and categories that others may stand beside, and classes like formulas."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        {
            "Kraftfahrzeughaftpflichtversicherungsbeitragshöhe (EUR)": rng.uniform(100, 5e3, 90),
            "city": rng.choice(["Köln", "Oslo"], 90),
            "grade": rng.choice([1, 2, 3], 90),
            "level": rng.choice([10, 20], 90),
        }
    )
    columns = make_column_transformer(
        (StandardScaler(), list(rows.columns[:1])),
        (OneHotEncoder(handle_unknown="ignore"), ["city", "grade"]),
        (OneHotEncoder(), ["level"]),
    )
    long = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamter"
    classes = np.where((rows["city"] == "Oslo") ^ (rows["grade"] == 2), long, "=1+1")
    made = PrivateClassifier(make_pipeline(columns, LogisticRegression())).fit(rows, classes)
    made.plan(rows, Scores(), table=False)
    return made, rows


@seen
def test_words_are_those_that_the_model_knows(
    site: StaticSite, browser: Browser, tmp_path: Path
) -> None:
    """Spaces and ways to write an umlaut change no prediction; what is unknown is said before."""
    made, rows = odd()
    made.save(tmp_path / "odd", sample=0)
    with running(tmp_path, tmp_path, "odd", origins=[site.url]) as there:
        address = given(site, pages.page(made.client().plan, service=there.url))
        page = Page.ready(browser, address, browser.context())
        field = "document.getElementById('feature-1')"
        for name in ("autocapitalize", "autocomplete"):
            assert page.tab.run(f"{field}.getAttribute('{name}')") == "off"
        assert page.tab.run(f"{field}.getAttribute('spellcheck')") == "false"
        assert "knows 1, 2, 3" in page.text("feature-2-hint")
        options = "[...document.getElementById('feature-3').options].map((e) => e.value)"
        assert page.tab.run(options) == ["", "10", "20"]
        page.click("fill")
        page.put("feature-0", "1500,5")
        found = {}
        for word in ("Köln", " Ko\u0308ln ", "Oslo", "Atlantis", "oslo"):
            page.put("feature-1", word)
            unknown = word in ("Atlantis", "oslo")
            assert ("does not know" in page.text("feature-1-wrong")) == unknown, word
            page.predict()
            assert page.wrong() == ("", "")
            assert ("does not know" in page.text("feature-1-wrong")) == unknown, word
            shown = "document.querySelector('#prediction tbody .digits').innerText"
            found[word] = float(page.tab.run(shown).rstrip(" %"))
        assert found[" Ko\u0308ln "] == pytest.approx(found["Köln"], abs=2)
        assert found["Atlantis"] == pytest.approx(found["oslo"], abs=2)
        assert abs(found["Köln"] - found["Oslo"]) > 4
        assert abs(found["Köln"] - found["oslo"]) > 4
        page.put("feature-2", "7")
        assert "does not know" in page.text("feature-2-wrong")
        # Long names fit a narrow window, of tables too; what a spreadsheet would run is told.
        page.fits(320)
        assert page.hidden("formulas")
        page.table(rows[:3])
        page.fits(320)
        assert "import the column as text" in page.text("formulas")
        page.clean()


@seen
def test_an_old_prediction_answers_no_new_values(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    """It goes when the next is asked for; what is wrong is in view on a telephone."""
    page = Page.ready(browser, service.page(site, "words"), browser.context())
    page.sized(360)
    page.click("fill")
    page.predict()
    page.put("feature-0", "old")
    page.asked()
    assert page.hidden("result")
    assert page.in_view("feature-0-wrong")
    page.click("fill")
    page.put("token", "")
    page.asked()
    assert page.hidden("result")
    assert "Paste the token" in page.text("token-wrong")
    assert page.in_view("token-wrong")
    assert page.tab.run("document.activeElement.id") == "token"
    page.put("token", "x" * 40)
    page.asked()
    assert "does not take this token" in page.text("token-wrong")
    assert page.in_view("token-wrong")
    page.put("token", TOKEN)
    page.click("way-table")
    page.put("pasted", "age,city\n30,Oslo")
    page.tab.run("scrollTo(0, 0)")
    page.asked()
    assert page.in_view("wrong")
    assert page.text("token-wrong") == ""
    page.tab.close()


@seen
def test_fingers_find_what_they_touch(service: Service, site: StaticSite, browser: Browser) -> None:
    page = Page(browser, "about:blank", browser.context())
    page.sized(360, touched=True)
    page.tab.goto(service.page(site, "words"))
    page.opened()
    small = page.tab.run(
        "[...document.querySelectorAll('button, input, select, textarea, summary, .ways label, "
        ".choice label')].filter((each) => each.checkVisibility() && "
        "!['checkbox', 'radio'].includes(each.type) && "
        "each.getBoundingClientRect().height < 44).map((each) => each.outerHTML)"
    )
    assert small == []
    page.clean()


@seen
def test_files_that_are_no_text_in_utf8_are_refused(
    service: Service, site: StaticSite, browser: Browser, tmp_path: Path
) -> None:
    """And nothing of the file before them is left."""
    page = Page.ready(browser, service.page(site, "words"), browser.context())
    page.click("way-table")
    good, latin, long = (tmp_path / name for name in ("good.csv", "latin.csv", "long.csv"))
    good.write_bytes("age,city,paid\n30,Köln,0.5\n".encode())
    latin.write_bytes("age,city,paid\n30,Köln,0.5\n".encode("latin-1"))
    long.write_bytes(bytes((1 << 24) + 1))
    for bad, said in ((latin, "latin.csv is no text in UTF-8"), (long, "16 MiB")):
        page.choose("table-file", good)
        page.tab.until("document.getElementById('pasted').value !== ''")
        assert page.hidden("wrong")
        page.choose("table-file", bad)
        page.tab.until("!document.getElementById('wrong').hidden")
        assert said.lower() in page.wrong()[1].lower()
        assert page.tab.run("document.getElementById('pasted').value") == ""
        assert page.text("dropped") == ""
    page.clean()


@seen
def test_a_key_is_kept_whatever_came_of_its_query(
    service: Service, site: StaticSite, browser: Browser, tmp_path: Path
) -> None:
    """The next query, after a reload, does not say by another key that an answer failed."""
    page = Page.ready(browser, service.page(site, "iris"), browser.context())
    page.click("fill")
    with service.altering(lambda answer: answer[:-1]):
        page.predict()
        assert page.wrong()[0] == "WireError"
    query, answer = service.asked[-1]
    page.kept()
    page.tab.send("Page.reload")
    page.tab.until("document.getElementById('key').dataset.state === 'kept'")
    plan = service.plans["iris"]
    secret = page.key(tmp_path / "page.key", plan.params)
    registry.client_of(plan, secret=secret).decrypt(answer, query=query)
    page.clean()


@seen
def test_open_tabs_learn_of_keys(service: Service, tabs: tuple[Page, Page], tmp_path: Path) -> None:
    """Of two tabs that are open, the second asks under the key that the first kept or forgot."""
    plan = service.plans["iris"]
    one, two = tabs
    one.click("fill")
    one.predict()
    one.kept()
    two.kept()
    two.click("fill")
    two.predict()
    query, answer = service.asked[-1]
    secret = one.key(tmp_path / "one", plan.params)
    registry.client_of(plan, secret=secret).decrypt(answer, query=query)
    two.click("key-forget")
    one.tab.until("document.getElementById('key').dataset.state === 'new'")
    one.predict()
    query, answer = service.asked[-1]
    with pytest.raises(hesc.KeyMismatchError):
        registry.client_of(plan, secret=secret).decrypt(answer, query=query)
    one.clean()
    two.clean()


@seen
def test_a_key_is_not_forgotten_under_a_query(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    """What is clicked meanwhile has to wait, and is told so."""
    page = Page.ready(browser, service.page(site, "iris"), browser.context())
    page.click("fill")
    page.predict()
    page.kept()

    def slow(answer: bytes) -> bytes:
        time.sleep(0.5)
        return answer

    with service.altering(slow):
        page.click("predict")
        page.click("key-forget")
        assert page.text("status") == "Wait until this is done."
        page.tab.until("!document.getElementById('result').hidden")
    assert page.wrong() == ("", "")
    assert page.tab.run("document.getElementById('key').dataset.state") == "kept"
    page.clean()


@seen
def test_a_kept_key_that_was_damaged_is_told_and_replaced(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    page = Page.ready(browser, service.page(site, "hidden"), browser.context())
    page.click("fill")
    for damage in ("new Uint8Array(it.box)[5] ^= 1", "it.publicKeys[5] ^= 1", "delete it.iv"):
        page.predict()
        assert page.wrong() == ("", "")
        page.kept()
        page.tab.run(
            f"""(async () => {{
              const opening = indexedDB.open("hesc");
              await new Promise((done) => {{ opening.onsuccess = done; }});
              const all = opening.result;
              const store = () => all.transaction("keys", "readwrite").objectStore("keys");
              const of = (asking) =>
                new Promise((done) => {{ asking.onsuccess = () => done(asking.result); }});
              const [[digest], [it]] = [await of(store().getAllKeys()), await of(store().getAll())];
              {damage};
              await of(store().put(it, digest));
              all.close();
            }})()"""
        )
        page.tab.send("Page.reload")
        page.tab.until("document.getElementById('key').dataset.state === 'damaged'")
        assert "was damaged" in page.text("key-state")
        page.opened()
        page.click("fill")
    page.clean()


@seen
def test_a_token_is_kept_for_its_service_alone(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    stored = "JSON.stringify(Object.keys(sessionStorage))"
    page = Page.ready(browser, service.page(site, "words"), browser.context())
    page.click("remember")
    page.click("fill")
    page.predict()
    assert page.tab.run(stored) == json.dumps([f"hesc token {service.url}/"])
    site.files.update(pages.page(service.plans["words"], service="http://127.0.0.1:9").files)
    page.tab.send("Page.reload")
    page.tab.until("document.body.dataset.ready && document.body.dataset.started")
    assert page.tab.run("document.getElementById('token').value") == ""
    service.page(site, "words")
    page.tab.send("Page.reload")
    page.tab.until("document.body.dataset.ready && document.getElementById('token').value")
    page.click("remember")
    assert page.tab.run(stored) == "[]"
    page.clean()


@seen
def test_a_budget_that_ends_in_a_table_leaves_what_was_answered(
    deployed: Path, site: StaticSite, browser: Browser, tmp_path: Path
) -> None:
    """The same rows again are asked by the same queries: no answer is computed twice."""
    tokens = book(tmp_path / "tokens.toml", answers=5)
    with running(deployed, tmp_path, "forest", tokens=tokens, origins=[site.url]) as there:
        (model,) = there.application.models.values()
        computed, evaluate = list[bytes](), model.evaluate

        def evaluated(opened: Any, query: bytes) -> Evaluated:
            computed.append(query)
            found: Evaluated = evaluate(opened, query)
            return found

        model.evaluate = evaluated
        address = given(site, pages.page(model.plan, service=there.url))
        page = Page.ready(browser, address, browser.context())
        # Six queries, several at once: one of the later ones is refused.
        rows = np.resize(load_iris().data, (6 * model.plan.rows, 4))
        page.click("way-table")
        page.put("pasted", frame(model.plan, rows).to_csv(index=False))
        begun = 0
        for _ in range(2):
            page.predict()
            name, text = page.wrong()
            assert name == "ServiceError"
            assert "used up" in text
            told = re.findall(rf"first (\d+) of {len(rows)} rows were answered", text)[0]
            assert int(told) in {count * model.plan.rows for count in range(1, 6)}
            assert f"Predictions of {told} rows" in page.text("prediction")
            # The last one may be computed before those beside it have used the budget up.
            begun = begun or len(computed)
            assert 5 <= begun == len(computed) <= 6
        book(tmp_path / "tokens.toml", answers=9)
        end = time.monotonic() + WAIT
        while page.wrong() != ("", "") and time.monotonic() < end:
            page.predict()
        assert f"Predictions of {len(rows)} rows" in page.text("prediction")
        assert len(set(computed)) == 6
        assert len(computed) == begun + 1
        page.tab.close()


@seen
def test_bytes_that_are_told_have_keys_and_queries_sent_again(
    service: Service, site: StaticSite, browser: Browser
) -> None:
    page = Page.ready(browser, service.page(site, "hidden"), browser.context())
    plan = service.plans["hidden"]
    keys = len(registry.client_of(plan).public_keys())
    for again in (keys + plan.sizes(1)[0], 0):
        page.click("fill")
        page.predict()
        sent = re.findall(r"Sent ([\d,]+) (bytes|kB)", page.text("moved"))[0]
        found = int(sent[0].replace(",", "")) * (1 if sent[1] == "bytes" else 1000)
        assert found == pytest.approx(again + plan.sizes(1)[0], abs=500)
    page.clean()


@seen
def test_a_service_of_any_number_of_models_is_listed(site: StaticSite, browser: Browser) -> None:
    address = given(site, pages.page())
    models = [{"digest": f"{place:064x}"} for place in range(200_000)]
    site.files["v1/models"] = json.dumps({"models": models}).encode()
    page = Page(browser, address, browser.context())
    page.tab.until("document.body.dataset.started")
    page.put("token", TOKEN)
    page.click("open")
    page.tab.until("!document.getElementById('model-field').hidden")
    assert page.tab.run("document.getElementById('model').options.length") == 1001
    assert "The first 1000 of 200000" in page.text("status")
    page.clean()

"""`hesc:page`: the client in a web page: bytes, times beside Python's, and the first prediction."""

from __future__ import annotations

import base64
import json
import os
import shutil
import statistics
import subprocess
import time
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from hesc.serve import pages
from hesc_papers import chromium, plots
from hesc_papers.report import Report
from hesc_papers.serving_run import Book, Deployment, ServerProcess
from hesc_papers.static_site import StaticSite

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:page"
TITLE: Final = "the client in a web page"
PEERS: Final = ()
TARGETS: Final = {"page.brotli_bytes": 160_000.0, "page.first_prediction_ms": 300.0}
"""What was asked for, at most: of a page for scores alone."""
NODE: Final = shutil.which("node")
"""Where Node is, if it is anywhere; it measures, and compresses."""
_PASSPHRASE: Final = "of a measurement"  # noqa: S105 - of nothing
_TIMES: Final = "page_times.mjs"
_BROTLI: Final = """
const z = require("zlib");
const sizes = JSON.parse(require("fs").readFileSync(0)).map((coded) => {
  const data = Buffer.from(coded, "base64");
  const params = { [z.constants.BROTLI_PARAM_SIZE_HINT]: data.length };
  return z.brotliCompressSync(data, { params }).length;
});
console.log(JSON.stringify(sizes));
"""
_REST: Final = 2.0
"""Seconds before and after a visit begins."""
_QUICK_REST: Final = 0.2
_IN_NODE: Final = """
const [, times, client, given, groups] = process.argv;
Promise.all([import(times), import(client)]).then(async ([{ times }, client]) => {
  const read = JSON.parse(require("fs").readFileSync(given));
  console.log(JSON.stringify(await times(client, read, Number(groups))));
});
"""
_FIRST: Final = """
{
  const at = (name) => document.getElementById(name);
  let done = 0;
  const look = () => {
    const { started, ready } = document.body?.dataset ?? {};
    if (done === 0 && started) {
      at("token").value = TOKEN;
      at("open").click();
      done = 1;
    } else if (done === 1 && ready) {
      at("fill").click();
      at("predict").click();
      done = 2;
    } else if (done === 2 && !at("result").hidden) {
      globalThis.first = performance.now();
      return;
    }
    setTimeout(look, 1);
  };
  look();
}
"""
"""A person who types nothing and is never late."""


def reproduce(options: Options) -> Report:
    """Measures on loopback what is installed: Chromium, Node, and Python in any case."""
    groups, visits, rest = (1, 1, _QUICK_REST) if options.quick else (12, 15, _REST)
    others = os.getloadavg()[0]
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    with TemporaryDirectory(prefix="hesc-page-") as name, StaticSite() as site:
        folder = Path(name)
        site.files |= pages.page().files
        browser = None
        if chromium.PROGRAM is not None:
            browser = chromium.Browser(folder / "profile")
        try:
            # Two classes of thirty features take what lies between these two.
            models = ("iris", "digits") if options.quick else ("iris", "breast cancer", "digits")
            for model in options.track(models, "models"):
                rows += _rows(folder, site, browser, model, groups)
            if browser is not None:
                ratios |= _first(folder, browser, visits, rest)
        finally:
            if browser is not None:
                browser.close()
        ratios |= _bytes(site.files)
    for where in ("Chromium", "Node", "Python"):
        for row in rows:
            if row["where, what"] == f"{where}, digits, 1 sample":
                ratios |= {
                    f"page.{what}_ms.{where.lower()}": row[f"{what}, ms"]
                    for what in ("encrypt", "decrypt")
                }
    absent = [
        f"there is no {what} here, whose rows and figures are missing"
        for what, found in (("chromium", chromium.PROGRAM), ("node", NODE))
        if found is None
    ]
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit="one client, one thread",
        rows=rows,
        ratios=ratios,
        parameters={"targets": TARGETS, "load average before": others},
        notes=[
            f"times of rows: the least of {groups} groups; a key is sealed by Argon2id of 64 MiB, "
            "the least of three",
            "brotli_bytes: all that a visit loads, each file compressed by itself at the highest "
            "level; module_brotli_bytes is the compiled part of it",
            f"first_prediction_ms: the median of {visits} visits with nothing in any cache, from "
            "the start of the navigation to a prediction that is shown: document, files, module, "
            "token, plan, key, query, answer; `hesc serve --page` on loopback, digits",
            *absent,
        ],
        repetitions=groups,
    )


def _compressed(site: dict[str, bytes]) -> dict[str, float]:
    """Bytes of each file, all in one process: to begin one takes longer than most files."""
    given = json.dumps([_coded(data) for data in site.values()]).encode()
    command = [NODE or "node", "-e", _BROTLI]
    done = subprocess.run(command, input=given, capture_output=True, check=True)  # noqa: S603
    return dict(zip(site, map(float, json.loads(done.stdout)), strict=True))


def _bytes(site: dict[str, bytes]) -> dict[str, float]:
    """Bytes of a visit."""
    found = {"page.files": float(len(site)), "page.bytes": float(sum(map(len, site.values())))}
    if NODE is None:
        return found
    small = _compressed(site)
    module = sum(size for name, size in small.items() if name.endswith(".wasm"))
    return found | {"page.brotli_bytes": sum(small.values()), "page.module_brotli_bytes": module}


def _data(model: str) -> tuple[Any, Any]:
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris

    loads = {"iris": load_iris, "breast cancer": load_breast_cancer, "digits": load_digits}
    x, y = loads[model](return_X_y=True)
    return x, y


def _rows(
    folder: Path, site: StaticSite, browser: chromium.Browser | None, model: str, groups: int
) -> list[dict[str, Any]]:
    """A row for each place and number of samples."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from threadpoolctl import threadpool_limits

    from hesc.ml import LinearClient, PrivateClassifier
    from hesc.protocols.linear.plan import LinearPlan

    x, y = _data(model)
    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))
    # On small matrices threads wait for each other, for seconds where others compute too.
    with threadpool_limits(1):
        private = PrivateClassifier(fitted).fit(x, y)
    private.plan(x, table=False)
    data = private.client().plan.to_bytes()
    plan = LinearPlan.from_bytes(data)
    client = LinearClient(plan)
    kept = folder / f"{model}.key"
    client.secret.save(kept, passphrase=_PASSPHRASE)
    rows = []
    for samples in (1, 20):
        few = x[:samples]
        query = client.encrypt(few).data
        answer = private.server().answer(query)
        given = {
            "plan": _coded(data),
            "sealed": _coded(kept.read_bytes()),
            "passphrase": _PASSPHRASE,
            "rows": few.tolist(),
            "query": _coded(query),
            "answer": _coded(answer),
        }
        found = {
            "Python": {
                "plan": _least(groups, 3, lambda: LinearPlan.from_bytes(data)),
                "key": _least(groups, 10, lambda: LinearClient(plan)),
                "encrypt": _least(groups, 20, lambda: client.encrypt(few)),  # noqa: B023
                "decrypt": _least(groups, 20, lambda: client.decrypt(answer, query=query)),  # noqa: B023
            }
        }
        if NODE is not None:
            found["Node"] = _in_node(folder, given, groups)
        if browser is not None:
            found["Chromium"] = _in_browser(site, browser, given, groups)
        for where, times in found.items():
            what = f"{where}, {model}, {samples} sample{'s' if samples > 1 else ''}"
            rows.append({"where, what": what} | {f"{k}, ms": v for k, v in times.items()})
    return rows


def _coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _least(groups: int, rounds: int, call: Callable[[], object]) -> float:
    """Milliseconds of a call."""
    found = []
    for _ in range(groups):
        start = time.perf_counter()
        for _ in range(rounds):
            call()
        found.append((time.perf_counter() - start) / rounds * 1e3)
    return min(found)


def _in_node(folder: Path, given: dict[str, Any], groups: int) -> dict[str, float]:
    path = folder / "given.json"
    path.write_text(json.dumps(given))
    with (
        as_file(files("hesc_papers") / _TIMES) as times,
        as_file(files("hesc") / "web" / "index.js") as client,
    ):
        places = [times.resolve().as_uri(), client.resolve().as_uri(), str(path), str(groups)]
        command = [NODE or "node", "-e", _IN_NODE, *places]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _in_browser(
    site: StaticSite, browser: chromium.Browser, given: dict[str, Any], groups: int
) -> dict[str, float]:
    site.files["blank.html"] = b"<!doctype html>"
    site.files[_TIMES] = (files("hesc_papers") / _TIMES).read_bytes()
    modules = {name: text.encode() for name, text in json.loads(site.files[pages.WORKER])}
    site.files |= modules
    tab = browser.tab()
    try:
        tab.goto(f"{site.url}/blank.html")
        script = (
            f"Promise.all([import('/{_TIMES}'), import('/hesc/index.js')])"
            f".then(([{{ times }}, client]) => times(client, {json.dumps(given)}, {groups}))"
        )
        found: dict[str, float] = tab.run(script)
        return found
    finally:
        tab.close()
        for name in ("blank.html", _TIMES, *modules):
            del site.files[name]


def _first(folder: Path, browser: chromium.Browser, visits: int, rest: float) -> dict[str, float]:
    """Milliseconds to the first prediction, each with storage and caches of its own."""
    deployment = Deployment(folder)
    book = Book(folder, visitor=None)
    server = ServerProcess("whole", folder, deployment, book, "--page")
    script = _FIRST.replace("TOKEN", json.dumps(book.tokens["visitor"]))
    try:
        times = []
        for _ in range(visits):
            tab = browser.tab(browser.context(), watched=False)
            tab.before(script)
            # A new window loads pages of the browser's own, and a person's is open already.
            time.sleep(rest)
            tab.goto(f"http://127.0.0.1:{server.port}/page/")
            # Nobody asks it anything while it works.
            time.sleep(rest)
            times.append(float(tab.until("globalThis.first")))
            tab.close()
    finally:
        server.kill()
    return {
        "page.first_prediction_ms": statistics.median(times),
        "page.first_prediction_ms.least": min(times),
        "page.first_prediction_ms.most": max(times),
    }


def plot(report: Report, path: Path) -> None:
    """Milliseconds to encrypt and decrypt one sample, by where."""
    with plots.figure(path, (9, 4.6), (1, 2)) as all_axes:
        rows = [row for row in report.rows if row["where, what"].endswith("1 sample")][::-1]
        names = [row["where, what"].removesuffix(", 1 sample") for row in rows]
        for what, axes in zip(("encrypt", "decrypt"), all_axes, strict=True):
            bars = axes.barh(names, [row[f"{what}, ms"] for row in rows], color="tab:green")
            axes.bar_label(bars, fmt=" %.3g", fontsize=8)
            axes.set_xscale("log")
            axes.set_title(f"{what}, milliseconds")
            axes.margins(x=0.2)

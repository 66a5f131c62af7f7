"""Pictures of the page, in Chromium, to be looked at: `python -m scripts.page_pictures FOLDER`.

A classifier, a regressor and neighbours of scikit-learn's data sets, one sample and a table,
light and dark, wide and narrow.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from hesc.ml import PrivateClassifier, PrivateNeighbours, PrivateRegressor, Scores, Search
from hesc.serve import pages
from hesc_papers.chromium import Browser, Tab
from hesc_papers.serving_run import Book, ServerProcess
from hesc_papers.static_site import StaticSite

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES: Final = {"wide": 1100, "narrow": 360}


def _classifier() -> tuple[Any, Any]:
    iris = load_iris(as_frame=True)
    rows, classes = iris.data, iris.target_names[iris.target]
    made = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(rows, classes)
    made.plan(rows, table=False)
    return made, rows


def _regressor() -> tuple[Any, Any]:
    found = load_diabetes(as_frame=True, scaled=False)
    names = {"age": "age (years)", "bmi": "body mass index (kg/m²)", "bp": "blood pressure (mmHg)"}
    rows = found.data[["age", "sex", "bmi", "bp"]].rename(columns=names)
    rows["sex"] = rows["sex"].map({1.0: "woman", 2.0: "man"})
    columns = make_column_transformer(
        (OneHotEncoder(), ["sex"]), (StandardScaler(), list(names.values()))
    )
    made = PrivateRegressor(make_pipeline(columns, Ridge())).fit(rows, found.target)
    made.plan(rows, Scores(), table=False)
    return made, rows


def _neighbours() -> tuple[Any, Any]:
    iris = load_iris(as_frame=True)
    rows, classes = iris.data, iris.target_names[iris.target]
    made = PrivateNeighbours(KNeighborsClassifier(5)).fit(rows, classes)
    made.plan(rows, Search(records="public", keys=False, min_agreement=0.5), table=False)
    return made, rows


class Deployed:
    """A model as `ServerProcess` serves it."""

    def __init__(self, folder: Path, made: Any) -> None:
        made.save(folder, sample=0)
        self.server = folder / "server"


def _shown(tab: Tab, rows: Any, token: str) -> Iterator[str]:
    """Brings the page into each of its states, and names them."""
    tab.until("document.body.dataset.ready")
    put = "document.getElementById('{}').value = {}"
    tab.run(put.format("token", json.dumps(token)))
    click = "document.getElementById('{}').click()"
    done = "!document.getElementById('result').hidden && !document.body.dataset.busy"
    tab.run(click.format("fill"))
    tab.run(click.format("predict"))
    tab.until(done)
    tab.until("document.getElementById('key').dataset.state")
    yield "one"
    tab.run(click.format("way-table"))
    tab.run(put.format("pasted", json.dumps(rows.iloc[::15].to_csv(index=False))))
    tab.run("document.getElementById('result').hidden = true")
    tab.run(click.format("predict"))
    tab.until(done)
    yield "table"


def pictures(folder: Path) -> None:
    """Writes them into a folder, which is there."""
    with TemporaryDirectory() as name, StaticSite() as site:
        place = Path(name)
        with Browser(place / "profile") as browser:
            for kind, made in (
                ("classes", _classifier()),
                ("numbers", _regressor()),
                ("neighbours", _neighbours()),
            ):
                (place / kind).mkdir()
                private, rows = made
                deployed: Any = Deployed(place / kind / "model", private)
                book = Book(place / kind, reader=None)
                options = ("--origin", site.url)
                server = ServerProcess("whole", place / kind, deployed, book, *options)
                try:
                    plan = private.client().plan
                    title = {
                        "classes": "Which iris is it?",
                        "numbers": "Progression of diabetes",
                        "neighbours": "Irises like this one",
                    }
                    url = f"http://127.0.0.1:{server.port}"
                    site.files |= pages.page(plan, service=url, title=title[kind]).files
                    for size, width in SIZES.items():
                        for scheme in ("light", "dark"):
                            tab = browser.tab(browser.context())
                            tab.send(
                                "Emulation.setEmulatedMedia",
                                features=[{"name": "prefers-color-scheme", "value": scheme}],
                            )
                            tab.sized(width, mobile=size == "narrow")
                            tab.goto(site.url)
                            for state in _shown(tab, rows, book.tokens["reader"]):
                                tab.picture(folder / f"{kind}-{state}-{size}-{scheme}.png")
                            tab.close()
                finally:
                    server.kill()


if __name__ == "__main__":
    chosen = Path(sys.argv[1])
    with suppress(FileExistsError):
        chosen.mkdir()
    pictures(chosen)

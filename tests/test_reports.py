"""Reports of deployments: whole pages that tell what was measured, and no secrets."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge, RidgeClassifier

from hesc.ml import LinearClient, PrivateClassifier, PrivateRegressor, Scores
from hesc.protocols.measuring import measure
from tests.test_deployment import X, Y, planned

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return planned().save(tmp_path_factory.mktemp("deployments") / "iris", sample=40)


class Page(HTMLParser):
    """What a page loads, its open tags, and names of its parts."""

    VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in {"src", "href", "xlink:href"} and not str(value).startswith("#"):
                self.loads.append(str(value))
            if name == "id":
                self.ids.append(str(value))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_reports_are_whole_pages_that_load_nothing(saved: Path) -> None:
    text = (saved / "report.html").read_text()
    page = Page(text)
    assert page.open == []
    assert page.loads == []
    assert "script" not in page.tags
    assert len(set(page.ids)) == len(page.ids)
    assert "@import" not in text
    assert not re.findall(r"url\((?!#)", text)
    assert "prefers-color-scheme: dark" in text
    # Every colour of the pictures is the page's.
    assert not re.findall(r"#0[0-9a-f]0[0-9a-f]0[0-9a-f]\b", text)
    assert page.tags >= {"svg", "table", "dl"}


def test_reports_hold_no_row_score_or_weight(tmp_path: Path) -> None:
    """No number of the data, the scores or the model is in it, to four digits and more."""
    x, y = load_diabetes(return_X_y=True)
    made = PrivateRegressor(Ridge()).fit(x, y)
    made.plan(x, Scores(ranges=(-0.25, 0.25), max_error=0.5))
    text = (made.save(tmp_path / "d") / "report.html").read_text()
    body = re.sub(r"<svg.*?</svg>", "", text, flags=re.DOTALL)
    secrets = [x, made.predict(x), made.estimator_.coef_, np.array([made.estimator_.intercept_])]
    for value in np.abs(np.concatenate([np.ravel(part) for part in secrets])):
        for digits in (4, 5, 6):
            shown = f"{value:.{digits}g}"
            assert len(shown) < 5 or shown not in body


def test_reports_escape_everything(tmp_path: Path) -> None:
    bad = '<script>alert("x")</script>'
    labels = np.array([f"{bad}{n}" for n in range(3)])[Y]
    made = PrivateClassifier(RidgeClassifier()).fit(X, labels)
    made.plan(X, names=[f"{bad}{n}" for n in range(4)])
    text = (made.save(tmp_path / "<b>&", commands=[bad]) / "report.html").read_text()
    page = Page(text)
    assert "script" not in page.tags
    assert "b" not in page.tags
    assert "&lt;b&gt;&amp;" in text
    assert "&lt;script&gt;" in text


def test_measured_figures_are_those_of_the_run() -> None:
    """Agreement, errors and bytes against the same run made by hand; rows beyond are left out."""
    with pytest.warns(UserWarning, match="beyond ranges="):
        made = planned(ranges=([4.5, 2.1, 1.0, 0.0], [7.5, 4.0, 6.5, 2.5]))
    plan = made.client().plan
    client, server = LinearClient(plan), made.server()
    scores, predictions = made.decision_function(X), made.predict(X)
    inside = (np.clip(X, *plan.ring.ranges) == X).all(axis=1)
    assert 100 < inside.sum() < 150
    found = measure(client, server, X, scores, predictions)
    assert found is not None
    assert (found.samples, found.beyond) == (int(inside.sum()), int((~inside).sum()))
    assert found.sizes == plan.sizes(found.samples)
    assert found.same is not None
    assert found.same >= 0.97 * found.samples
    assert measure(client, server, X[~inside], scores[~inside], predictions[~inside]) is None


def test_errors_of_a_run_are_in_stated_units() -> None:
    made = planned()
    client, server = made.client(), made.server()
    scores, predictions = made.decision_function(X), made.predict(X)
    # Scores that are off by ten stated errors are found to be.
    found = measure(client, server, X, scores - 10 * client.plan.error, predictions)
    assert found is not None
    assert found.errors is not None
    assert abs(found.errors.mean() - 10) < 0.5
    assert (np.diff(found.errors) >= 0).all()
    wrong = measure(client, server, X, scores, np.roll(predictions, 50))
    assert wrong is not None
    assert wrong.same is not None
    assert wrong.same < 20
    assert wrong.sizes == client.plan.sizes(len(X))


def test_reports_without_a_run_say_so(tmp_path: Path) -> None:
    text = (planned().save(tmp_path / "d", sample=0) / "report.html").read_text()
    assert "Nothing was measured" in text
    assert "<svg" not in text


def test_saving_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install"):
        planned().save(tmp_path / "d")
    assert not (tmp_path / "d").exists()


def test_reports_without_matplotlib_say_what_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "hesc.ml.plots", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    text = (planned().save(tmp_path / "d") / "report.html").read_text()
    assert "pip install" in text
    assert "matplotlib" in text
    assert "<svg" not in text
    # Figures are there all the same.
    assert "1 stated error" in text

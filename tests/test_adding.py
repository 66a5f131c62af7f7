"""The recipes of docs/adding.md: what they name is there, and four of them are followed."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from typer.testing import CliRunner

import hesc_papers
from hesc import cli
from hesc.ml import PrivateClassifier, PrivateRegressor
from hesc.models import extraction
from hesc.planner import Calibration, ScoreProblem, Task, decide
from hesc.planner.estimates import Estimate
from hesc.planner.work import StageCount, counted
from hesc.protocols.candidates import CANDIDATES
from hesc.protocols.candidates.clear import Clear
from hesc.protocols.registry import PROTOCOLS
from hesc_papers.report import Report

if TYPE_CHECKING:
    from hesc._support.studies import Options
    from hesc.planner.estimates import Infeasible

ROOT: Final = Path(__file__).parents[1]
TEXT: Final = (ROOT / "docs/adding.md").read_text()
RECIPES: Final = dict(re.findall(r"\n## (.+)\n((?:(?!\n## )[\s\S])*)", TEXT))
WANTED: Final = {
    "A scheme",
    "An encoding",
    "A protocol",
    "An estimator",
    "A figure",
    "A command",
    "A candidate of the planner",
}


def test_there_are_seven_recipes() -> None:
    assert set(RECIPES) == WANTED
    assert all(re.search(r"^1\. ", recipe, re.MULTILINE) for recipe in RECIPES.values())


@pytest.mark.parametrize("name", sorted(WANTED))
def test_files_and_rows_of_recipes_are_there(name: str) -> None:
    """`NAME` is new: of its kind there are examples. A word behind a file stands in it."""
    found = re.findall(r"`([\w./]+/[\w./]+)`(?:\s+`(\w+)`)?", RECIPES[name])
    assert len(found) >= 4
    for path, word in found:
        examples = list(ROOT.glob(path.replace("NAME", "*")))
        assert examples, path
        if word:
            assert re.search(rf"\b{word}\b", examples[0].read_text()), (path, word)


def test_estimators_are_named_where_readers_look() -> None:
    """A page has all of them, and the docstrings name the page."""
    page = (ROOT / "docs" / "estimators.md").read_text()
    for private, kinds in (
        (PrivateClassifier, extraction.CLASSIFIERS),
        (PrivateRegressor, extraction.REGRESSORS),
    ):
        for kind in kinds:
            assert kind.__name__ in page
        assert "docs/estimators.md" in str(private.__doc__)


def test_a_protocol_is_the_files_that_its_recipe_names() -> None:
    """`tests/test_toy_protocol.py` adds the row, and shows what follows from it."""
    named = set(re.findall(r"protocols/NAME/(\w+)\.py", RECIPES["A protocol"]))
    there = {path.stem for path in (ROOT / "tests/toy_protocol").glob("*.py")}
    assert named == (there - {"__init__"}) | {"owner"}
    for row in PROTOCOLS.values():
        parts = named - {"options"} - (set() if row.has_owner else {"owner"})
        if not row.has_model:
            assert row.loaded("client").plan_type is row.loaded("plan")
            continue
        assert all(row.loaded(part).__name__.startswith(row.stem) for part in parts)


def _example_study() -> ModuleType:
    module = ModuleType("hesc_papers.example")

    def reproduce(options: Options) -> Report:
        """Measures nothing."""
        rows = [{"candidate": "hesc", "us": 1.0 + number} for number in options.track([0], "one")]
        return Report("hesc:example", module.TITLE, "us", rows)

    module.TITLE = "An example"  # type: ignore[attr-defined]
    module.PEERS = ()  # type: ignore[attr-defined]
    module.reproduce = reproduce  # type: ignore[attr-defined]
    module.plot = lambda _report, path: path.write_bytes(b"")  # type: ignore[attr-defined]
    return module


def test_a_figure_is_a_module_and_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    monkeypatch.setitem(sys.modules, "hesc_papers.example", _example_study())
    monkeypatch.setitem(hesc_papers._MODULES, "hesc:example", "example")
    runner = CliRunner()
    listed = runner.invoke(cli.app, ["reproduce", "--list"]).stdout
    assert "hesc:example" in listed
    assert "An example" in listed
    ran = runner.invoke(cli.app, ["reproduce", "hesc:example", "--quick", "--json", "-"])
    assert json.loads(ran.stdout)["rows"] == [{"candidate": "hesc", "us": 1.0}]
    refused = runner.invoke(cli.app, ["reproduce", "hesc:example", "--peer", "seal"])
    assert refused.exit_code == 2


def test_a_command_is_a_function_and_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def greet(name: str) -> None:
        """Greets.

        Example: hesc greet Ada
        """
        print(f"Hello {name}")

    monkeypatch.setattr(cli.app, "registered_commands", [*cli.app.registered_commands])
    cli.app.command("greet", rich_help_panel=cli._LOOK)(greet)
    runner = CliRunner()
    assert "greet" in runner.invoke(cli.app, ["--help"]).stdout
    assert runner.invoke(cli.app, ["greet", "Ada"]).stdout == "Hello Ada\n"


class _Slow(Clear):
    """As in the clear, by a kernel of its own."""

    name = "slow"

    def consider(self, task: Task) -> Estimate | Infeasible:
        """See `Clear`."""
        found = super().consider(task)
        if not isinstance(found, Estimate):
            return found._replace(way=self.name)
        work = counted(self.name, decrypt=StageCount(1, 0, task.samples))
        return replace(found, way=self.name, work=work)


def test_a_candidate_is_a_class_and_a_row() -> None:
    task = Task(ScoreProblem(np.eye(2, 8), low=0, high=1), "one_side_clear", max_error=0.1)
    everything: Any = (*CANDIDATES, _Slow())
    known = Calibration.shipped()
    decision = decide(task, calibration=known, candidates=everything)
    assert "slow" in decision.explain()
    assert decision.estimates[-1].way == "slow"
    assert decision.estimates[-1].seconds(known.times) is None
    times = dict.fromkeys(decision.estimates[-1].work, 0.0)
    timed = replace(known, times=known.times | times)
    assert decide(task, calibration=timed, candidates=everything).chosen.way == "slow"
    x = np.full((1, 8), 0.5)
    measured = decision.measure(x, repetitions=1).measured["slow"]
    assert measured.values.tolist() == [[0.5, 0.5]]

"""Large models of trees and large tables: what they take, what is shown, which rows count."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

import hesc
from hesc._support import progress
from hesc.ml import PrivateClassifier, PrivateRegressor, Trees
from hesc.protocols.trees import backend, boxes, planning

if TYPE_CHECKING:
    from collections.abc import Iterator

RNG = np.random.default_rng(0)
X = RNG.normal(size=(600, 6))
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)

MEASURED = """
import json, resource
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from hesc.ml import PrivateClassifier

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10

x = np.random.default_rng(0).normal(size=(3000, 20))
y = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int)
model = RandomForestClassifier(40, max_leaf_nodes=100, random_state=0)
private = PrivateClassifier(model).fit(x, y)
private.plan(x[:100], table=False)
many = np.tile(x, (8, 1))
found = [peak()]
plan = private.plan(many, table=False)
found.append(peak())
run = private.run(many, fhe="simulate", progress=False)
found.append(peak())
assert (run.scores[:3000] == run.scores[-3000:]).all()
print(json.dumps([plan.forest.edges, *np.diff(found)]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are in kilobytes on Linux")
def test_tables_take_no_memory_of_rows_times_edges() -> None:
    """24,000 rows on 3,900 edges, which are 90 MiB as bytes and 700 MiB as numbers."""
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURED], capture_output=True, text=True, check=True
    )
    edges, planned, simulated = json.loads(told.stdout)
    assert edges > 3500
    assert planned < 150
    assert simulated < 150


@pytest.mark.parametrize("turn", [1, 7, 64, 1000])
def test_pieces_are_the_whole(turn: int, monkeypatch: pytest.MonkeyPatch) -> None:
    private = PrivateRegressor(RandomForestRegressor(5, max_depth=4, random_state=0)).fit(X, Y)
    plan = private.plan(X, table=False)
    whole = private.run(X, fhe="simulate")
    monkeypatch.setattr(planning, "_BITS_AT_ONCE", turn * plan.forest.edges)
    monkeypatch.setattr(backend, "_AT_ONCE", turn * plan.forest.edges)
    monkeypatch.setattr(boxes, "_AT_ONCE", turn * 40)
    assert private.plan(X, table=False).to_bytes() == plan.to_bytes()
    seen: list[tuple[int, int]] = []
    run = private.run(X, fhe="simulate", progress=lambda done, total: seen.append((done, total)))
    np.testing.assert_array_equal(run.scores, whole.scores)
    np.testing.assert_array_equal(run.predictions, whole.predictions)
    assert seen[-1] == (600, 600)
    assert seen == sorted(seen)
    assert len(seen) == -(-600 // (max(1, turn // 64) * 64))
    # The first piece has no such sample, and the message counts from the second one on.
    far = X.copy()
    far[500, 3] = 1e39
    with pytest.raises(hesc.OutOfRangeError, match="column 3 of sample"):
        private.run(far, fhe="simulate")
    with pytest.warns(match="1 values in 1 of 600"):
        clipped = private.run(far, fhe="simulate", clip=True)
    assert (clipped.clipped, clipped.clipped_samples) == (1, 1)


def test_rows_that_are_looked_at_are_spread_over_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a table in order the last rows count as well as the first."""
    order = np.argsort(X[:, 0])
    forest = RandomForestClassifier(5, max_depth=4, random_state=0)
    private = PrivateClassifier(forest).fit(X[order], Y[order])
    seen: list[Any] = []
    sums = planning._sums

    def seeing(found: Any, steps: Any, rows: Any, width: int) -> Any:
        seen.append(rows)
        return sums(found, steps, rows, width)

    monkeypatch.setattr(planning, "_sums", seeing)
    monkeypatch.setattr(planning, "_AT_ONCE", 1)
    private.plan(X[order], Trees(), table=False)
    (rows,) = seen
    assert len(rows) == 50
    places = np.searchsorted(X[order][:, 0], rows[:, 0])
    assert places[0] == 0
    assert places[-1] > 560
    assert np.diff(places).max() <= 13


@pytest.fixture
def shown() -> Iterator[list[str]]:
    """What `doing` says."""
    found: list[str] = []
    token = progress._SHOWN.set(found.append)
    yield found
    progress._SHOWN.reset(token)


def test_planning_says_what_it_does(shown: list[str]) -> None:
    private = PrivateClassifier(RandomForestClassifier(7, random_state=0)).fit(X, Y)
    private.plan(X, table=False)
    trees = [f"leaves as conditions on bits, {done} of 7 trees" for done in range(7)]
    assert shown == [
        "trees beside their own library",
        *trees,
        "rows through the leaves",
        "a copy of the trees from their scores",
        "what the model concludes from its scores",
    ]


def test_planning_is_shown_on_terminals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    private = PrivateClassifier(RandomForestClassifier(7, random_state=0)).fit(X, Y)
    private.plan(X, table=False)
    assert not capsys.readouterr().err
    monkeypatch.setattr(progress, "_SHORT", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    private.plan(X, table=False)
    found = capsys.readouterr()
    assert "planning" in found.err
    assert not found.out
    assert progress._SHOWN.get() is None

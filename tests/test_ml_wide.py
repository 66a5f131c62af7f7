"""Planning with many categories: rows behind transforms are never in memory all at once."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import hesc
from hesc._support import memory
from hesc.ml import Outsourced, PrivateClassifier, Scores
from hesc.models import extraction, transforms

ROWS = 6000
"""Categories too: as an array they would be 288 MB behind the encoder."""


@pytest.fixture(scope="module")
def made() -> tuple[PrivateClassifier, pd.DataFrame]:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"job": [f"w{i}" for i in range(ROWS)], "age": rng.normal(size=ROWS)})
    encoded = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(encoded, LogisticRegression(max_iter=20))
    return PrivateClassifier(model).fit(table, table["age"] + rng.normal(size=ROWS) > 0), table


@pytest.mark.parametrize("options", [Scores(), Outsourced()], ids=["scores", "outsourced"])
def test_plans_take_rows_in_blocks(made: Any, options: Any) -> None:
    private, table = made
    tracemalloc.start()
    try:
        private.plan(table, options)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert private._served().plan.ring.shape == (1, ROWS + 1)
    # A thousand of the rows are looked at together, for the agreement: 48 MB, a few times.
    assert most < 8 * ROWS * ROWS * 0.75


def test_what_takes_all_rows_at_once_says_how_much_it_takes(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, table = made
    form = extraction.linear_form(private.estimator_)
    rows = private._rows(table)
    monkeypatch.setattr(memory, "free_memory", lambda: 1 << 28)
    words = r"6000 rows of 6001 features, at once, would take 0\.576 GB at least"
    with pytest.raises(MemoryError, match=words):
        transforms.transformed(form.steps, rows)
    words = r"hidden weights of 6001 features would take 0\.576 GB at least"
    with pytest.raises(MemoryError, match=words):
        private.plan(table, Scores(hidden=True, max_error=1e-2))


def test_hidden_weights_are_tried_on_some_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as it takes: the directions of some rows are no more than those of all."""
    from hesc.protocols.linear import planning

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 40))
    private = PrivateClassifier(LogisticRegression()).fit(rows, rows[:, 0] > 0)
    seen: list[int] = []
    directions_of = planning.directions_of

    def counted(x: Any) -> int:
        seen.append(len(x))
        return directions_of(x)

    monkeypatch.setattr(planning, "directions_of", counted)
    whole = private.plan(rows, Scores(hidden=True, max_error=0.1, answers=4))
    monkeypatch.setattr(planning, "_TRIED", 30)
    monkeypatch.setattr(planning, "_NUMBERS", 50 * 40)
    some = private.plan(rows, Scores(hidden=True, max_error=0.1, answers=4))
    assert seen == [300, 50]
    assert whole.samples_in_all == some.samples_in_all == 4
    monkeypatch.setattr(planning, "_NUMBERS", 1)
    with pytest.raises(hesc.ParameterError, match="vary in 29 directions"):
        private.plan(rows, Scores(hidden=True, max_error=0.1, answers=35))

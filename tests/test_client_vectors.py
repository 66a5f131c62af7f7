"""What clients make of tables, held to scikit-learn; and documents that nobody reads.

The tests of the crate `hesc-client` read the same files, which `scripts/client_vectors.py` wrote.
"""

from __future__ import annotations

import base64
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc._native import Steps, check_linear_plan
from hesc._support.strict_json import VALUES
from hesc.ml import PrivateClassifier, PrivateRegressor
from hesc.protocols.linear.plan import LinearPlan
from hesc.protocols.wire import Documented
from tests.lying_documents import lies

STORED = Path(__file__).parents[1] / "vectors/client"
CASES = [
    pytest.param(case, id=f"{name}, {case['name'][:60]}")
    for name in ("numbers", "functions", "words", "texts")
    for case in json.loads((STORED / f"{name}.json").read_text())
]
REFUSED = json.loads((STORED / "refused.json").read_text())


def unpacked(packed: dict[str, Any]) -> Any:
    numbers = np.frombuffer(base64.b64decode(packed["f8"]), dtype="<f8")
    return numbers.reshape(packed["shape"]).copy()


def read(steps: Any, inputs: int) -> Steps:
    return Steps(json.dumps(steps).encode(), inputs)


@pytest.mark.parametrize("case", CASES)
def test_features_are_those_of_scikit_learn(case: dict[str, Any]) -> None:
    steps = read(case["steps"], case["inputs"])
    found = steps.transformed(unpacked(case["numbers"]), case["words"])
    expected = unpacked(case["features"])
    assert found.shape == expected.shape == (len(found), steps.width)
    room = case["tolerance"] * max(1.0, np.abs(expected).max())
    assert np.abs(found - expected).max() <= room
    low, high = steps.limits()
    assert np.all((low <= found) & (found <= high))


def test_lies_are_refused() -> None:
    for case in REFUSED["steps"]:
        if case.get("sound"):
            read(case["steps"], REFUSED["inputs"])
            continue
        with pytest.raises(hesc.WireError):
            read(case["steps"], REFUSED["inputs"])
    for text in [*REFUSED["texts"], "[" + "[]," * VALUES + "[]]"]:
        with pytest.raises(hesc.WireError):
            Steps(text.encode(), REFUSED["inputs"])


def test_tables_of_other_shapes_are_refused() -> None:
    step = {
        "step": "codes",
        "columns": [
            {
                "categories": ["a"],
                "codes": {"shape": [1], "f8": "AAAAAAAA8D8="},
                "unknown": None,
                "missing": None,
            }
        ],
    }
    steps = read([step], 1)
    nothing = np.full((2, 1), np.nan)
    assert steps.kinds == ["word"]
    assert steps.inputs == 1
    assert np.array_equal(steps.transformed(nothing, [["a", "a"]]), [[1.0], [1.0]])
    wrong: list[list[list[str | None]]] = [[], [["a"]], [["a", "a"]] * 2]
    for words in wrong:
        with pytest.raises(hesc.ShapeError, match="rows of 1 features"):
            steps.transformed(nothing, words)
    with pytest.raises(hesc.OutOfRangeError, match="sample 1 in column 0 has no value"):
        steps.transformed(nothing, [["a", None]])
    with pytest.raises(hesc.OutOfRangeError, match="sample 1 in column 'grade' is a word") as error:
        steps.prepared(nothing, [["a", "b"]], ["grade"], np.zeros(1), np.ones(1), False)
    assert "'b'" not in str(error.value)
    with pytest.raises(hesc.ShapeError, match="surrogates"):
        steps.transformed(nothing, [["a", "\ud800"]])
    for inputs in (0, 1 << 17):
        with pytest.raises(hesc.WireError, match="from 1 to 65536"):
            read([], inputs)


@pytest.fixture(scope="module")
def plans() -> list[bytes]:
    """Of a classifier with transforms and names, of one of two classes, and of a regressor."""
    x = np.random.default_rng(3).normal(size=(60, 3))
    y = np.digitize(x[:, 0] + x[:, 1] ** 2, [0.3, 1.5])
    made: list[Any] = [
        PrivateClassifier(
            make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression())
        ).fit(x, y),
        PrivateClassifier(DecisionTreeClassifier(max_depth=1)).fit(x, y > 0),
        PrivateRegressor(LinearRegression()).fit(x, y),
    ]
    return [private.plan(x, names=["a", "b", "it's"]).to_bytes() for private in made]


def refuses(read: Any, data: bytes) -> bool:
    try:
        read(data)
    except hesc.WireError:
        return True
    return False


def test_plans_are_refused_by_all_clients_or_by_none(plans: list[bytes]) -> None:
    """The compiled reader, and the one that all protocols of Python share."""

    def shared(data: bytes) -> Any:
        return Documented.from_bytes.__func__(LinearPlan, data)  # type: ignore[attr-defined]

    for plan in plans:
        check_linear_plan(plan)
        assert LinearPlan.from_bytes(plan).to_bytes() == plan
        for lie in lies(plan, 400):
            assert refuses(check_linear_plan, lie) == refuses(shared, lie), lie


def test_threads_share_steps() -> None:
    """Large tables are computed without the interpreter's lock, by several at once."""
    steps = read([{"step": "function", "inputs": 2, "function": "sqrt"}], 2)
    x = np.random.default_rng(0).random((50_000, 2))
    found: list[Any] = [None] * 4

    def work(place: int) -> None:
        found[place] = steps.transformed(x, [])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(each, np.sqrt(x)) for each in found)

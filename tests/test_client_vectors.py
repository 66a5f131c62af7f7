"""What clients make of tables, held to scikit-learn; and documents that nobody reads.

The tests of the crate `hesc-client` read the same files, which `scripts/client_vectors.py` wrote.
"""

from __future__ import annotations

import base64
import json
import pickle
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import hesc
from hesc._native import ClientPlan, RingProductPlan, Steps
from hesc._support.strict_json import VALUES
from hesc.ml import (
    LinearClient,
    Outsourced,
    PrivateClassifier,
    PrivateRegressor,
    Scores,
)
from hesc.models import conclusions, transforms
from hesc.protocols import labels, wire
from hesc.protocols.linear.plan import LinearPlan
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
def models() -> list[Any]:
    """Planned ones: a classifier with transforms and names, one of two classes, and a regressor."""
    x = np.random.default_rng(3).normal(size=(60, 3))
    y = np.digitize(x[:, 0] + x[:, 1] ** 2, [0.3, 1.5])
    made: list[Any] = [
        PrivateClassifier(
            make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression())
        ).fit(x, y),
        PrivateClassifier(DecisionTreeClassifier(max_depth=1)).fit(x, y > 0),
        PrivateRegressor(LinearRegression()).fit(x, y),
    ]
    for private in made:
        private.plan(x, Scores(), names=["a", "b", "it's"])
    return made


@pytest.fixture(scope="module")
def plans(models: list[Any]) -> list[bytes]:
    return [private.client().plan.to_bytes() for private in models]


def refuses(read: Any, data: bytes) -> bool:
    try:
        read(data)
    except hesc.WireError:
        return True
    return False


@dataclass(frozen=True, eq=False)
class Twin(wire.Documented):
    """A plan of linear scores by the readers of fields that other protocols of Python have."""

    document: ClassVar[str] = "plan"
    protocol: ClassVar[str] = "linear"
    inputs: int = field(metadata=wire.INPUTS)
    names: list[str] = field(metadata=wire.NAMES)
    steps: list[Any] = field(metadata=wire.STEPS)
    ring: RingProductPlan = field(
        metadata=wire.encoded(lambda ring: ring.to_bytes(), RingProductPlan.from_bytes)
    )
    classes: Any = field(metadata=wire.SCORED_CLASSES)
    link: str = field(metadata=wire.LINK)
    calibration: Any = field(metadata=wire.CALIBRATION)
    fidelity: Any = field(metadata=wire.FIDELITY)

    def check(self) -> None:
        outputs, features = self.ring.shape
        if transforms.width(self.steps, self.inputs) != features:
            raise hesc.WireError("another number of features")
        labels.check_scores(self.classes, outputs, self.link, self.calibration)


def test_plans_are_refused_by_all_clients_or_by_none(plans: list[bytes]) -> None:
    """The compiled reader, and those of Python for fields that other protocols have as well."""

    def compiled(data: bytes) -> ClientPlan:
        return ClientPlan(data, "linear")

    for plan in plans:
        assert LinearPlan.from_bytes(plan).to_bytes() == Twin.from_bytes(plan).to_bytes() == plan
        for lie in lies(plan, 400):
            assert refuses(compiled, lie) == refuses(Twin.from_bytes, lie), lie
            assert refuses(compiled, lie) == refuses(LinearPlan.from_bytes, lie), lie


def test_what_is_read_is_what_was_planned() -> None:
    """Every field, calibrations and fidelities among them, of labels of every kind."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(120, 3))
    y = (x[:, 0] + rng.normal(size=120) > 0).astype(int)
    calibrated = CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=2)
    trees = AdaBoostClassifier(n_estimators=5, random_state=0)
    for estimator, classes, options in (
        (calibrated, [False, True], Scores()),
        (LogisticRegression(), [-7, 7], Scores(hidden=True, answers=1)),
        (LogisticRegression(), ["no", "yes"], Outsourced()),
        (trees, [-2.0, 3.0], Scores(bins=4, min_fidelity=0)),
    ):
        made = PrivateClassifier(estimator).fit(x, np.array(classes)[y])
        plan = made.plan(x, options)
        read = type(plan).from_bytes(plan.to_bytes())
        assert read.to_bytes() == plan.to_bytes()
        assert read.core.digest == plan.core.digest == plan.digest
        assert read.classes.tolist() == classes
        assert read.classes.dtype == plan.classes.dtype
        assert (read.names, read.inputs, read.link) == (plan.names, plan.inputs, plan.link)
        assert (read.fidelity, read.rows) == (plan.fidelity, plan.rows)
        assert read.ring.to_bytes() == plan.ring.to_bytes()
        assert (read.calibration is None) == (estimator is not calibrated)
        if estimator is calibrated:
            pairs = zip(read.calibration, plan.calibration, strict=True)
            assert all(np.array_equal(found, given) for found, given in pairs)
        ready = plan.prepared(x[:5], clip=True).features
        assert np.array_equal(read.prepared(x[:5], clip=True).features, ready)
        # What is changed is not what was read.
        with pytest.raises(hesc.WireError, match="link of numbers"):
            type(plan).from_bytes(replace(read, link="exp").to_bytes())


def test_a_plan_in_another_form_is_the_plan_that_it_says(models: list[Any]) -> None:
    """With spaces between its fields: both sides call it by the form that hesc writes."""
    x = np.random.default_rng(5).normal(size=(7, 3))
    for private in models:
        data = private.client().plan.to_bytes()
        spaced = LinearPlan.from_bytes(json.dumps(json.loads(data)).encode())
        plan = LinearPlan.from_bytes(data)
        assert spaced.digest == spaced.core.digest == plan.digest == plan.core.digest
        client = LinearClient(spaced)
        query = client.encrypt(x, clip=True).data
        found = client.decrypt(private.server().answer(query), query=query, samples=7)
        ready = np.ascontiguousarray(plan.prepared(x, clip=True).features)
        linear = private._served().linear
        clear = ready @ linear.weights.T + linear.intercepts
        assert np.abs(found.scores - plan.scores(clear)).max() < 7 * plan.error


def test_the_compiled_client_refuses_what_does_not_fit(models: list[Any]) -> None:
    data = models[0].client().plan.to_bytes()
    plan = LinearPlan.from_bytes(data)
    client, server, width = LinearClient(plan), models[0].server(), plan.ring.shape[1]
    low, _ = plan.ranges
    for wrong in (1, width - 1, width + 1, 2 * width):
        with pytest.raises(hesc.ShapeError, match="features are rows of 10"):
            client.encrypted(np.resize(low, (1, wrong)))
    with pytest.raises(hesc.ShapeError, match="rows of numbers"):
        client.encrypted(low)
    rows = np.tile(low, (plan.rows + 1, 1))
    with pytest.raises(hesc.ShapeError, match="send them as several"):
        client.encrypted(rows)
    for beyond in (low - 1, low * np.nan):
        with pytest.raises(hesc.OutOfRangeError, match="declared range"):
            client.encrypted(beyond[None])
    query = client.encrypted(rows[:3])
    assert query != client.encrypted(rows[:3])
    answer = server.answer(query)
    assert len(client.decrypt(answer, query=query, samples=3).scores) == 3
    with pytest.raises(hesc.WireError, match="of 3 samples, the query of 2"):
        client.decrypt(answer, samples=2)
    with pytest.raises(hesc.WireError, match="an answer is bytes"):
        client.decrypt(bytearray(answer))  # type: ignore[arg-type]
    with pytest.raises(hesc.WireError, match="a query is bytes"):
        client.decrypt(answer, query="query")  # type: ignore[arg-type]
    with pytest.raises(hesc.WireError, match="to another query"):
        client.decrypt(answer, query=client.encrypted(rows[:3]))
    with pytest.raises(hesc.KeyMismatchError):
        LinearClient(plan).decrypt(answer, query=query)
    with pytest.raises(hesc.ParameterError, match="no plan of the protocol"):
        ClientPlan(data, "classes")
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(plan.core)


def test_links_and_limits_are_the_compiled_ones() -> None:
    """By name: what documents of Python and of other clients hold."""
    assert ("none", *conclusions.PROBABILITIES, *conclusions.INVERSES) == conclusions.LINKS
    assert conclusions.is_mean(conclusions.PROBABILITIES[-1])
    assert set(conclusions.PROBABILITIES) >= {"sigmoid", "softmax", "shares", "mean_isotonic"}
    assert set(conclusions.INVERSES) == {"exp", "expm1", "exp2", "square", "sqrt", "sinh", "expit"}


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

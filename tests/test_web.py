"""The package of JavaScript in `web/`, run by Node beside Python: same numbers, same refusals.

What is in `web/built` is held to the sources that it was built from, also where there is no Node.
"""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from scripts import web
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import hesc
from hesc.ml import ClientFolder, LinearClient, PrivateClassifier, PrivateRegressor, Scores
from hesc.ml.remote import exchanges
from hesc.protocols.linear.plan import LinearPlan
from tests.lying_documents import lies
from tests.test_remote import TOKEN, WIDE, book, clear, folder, running

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["folder"]
ROOT: Final = Path(__file__).parents[1]
DRIVER: Final = ROOT / "tests/web/driver.mjs"
X, Y = load_iris(return_X_y=True)
RNG: Final = np.random.default_rng(8)
CASES: Final = [
    pytest.param(case, id=f"{name}, {case['name'][:60]}")
    for name in ("numbers", "functions", "words", "texts")
    for case in json.loads((ROOT / f"vectors/client/{name}.json").read_text())
]


def _node() -> str | None:
    """Node 20 or later."""
    found = shutil.which("node")
    if found is None:
        return None
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    return found if int(said.stdout.removeprefix("v").split(".")[0]) >= 20 else None


NODE: Final = _node()
asked = pytest.mark.skipif(NODE is None, reason="no Node 20")


class RefusedError(Exception):
    """What the package threw."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['name']}: {error['message']}")
        self.name, self.problem = error["name"], error.get("problem")


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


class Node:
    """The package in a process of its own, asked line by line."""

    def __init__(self, *arguments: str) -> None:
        assert NODE is not None
        self.process = subprocess.Popen(
            [NODE, str(DRIVER), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._count = 0

    def ask(self, call: str, *given: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._count += 1
        self.process.stdin.write(json.dumps([self._count, call, given]) + "\n")
        self.process.stdin.flush()
        id_, said = json.loads(self.process.stdout.readline())
        assert id_ == self._count
        if "error" in said:
            raise RefusedError(said["error"])
        return said["found"]

    def query(self, rows: Any, *, clip: bool = False) -> bytes:
        return base64.b64decode(self.ask("encrypt", rows, clip)["data"])

    def close(self) -> None:
        assert self.process.stdin is not None
        with self.process:
            self.process.stdin.close()
            self.process.wait(30)


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    made = Node()
    yield made
    made.close()


# What is kept in the tree


def test_the_module_is_of_these_sources() -> None:
    """Where this fails, sources were changed: `make web` builds the module again."""
    said = json.loads(web.SOURCES.read_text())
    assert said["files"] == web.digests()
    assert said["sources"] == web.sources(), "the module is of other sources: run `make web`"


def test_sources_are_those_of_the_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"hesc-wasm", "hesc-client", "hesc-math"} <= set(web.crates())
    assert "hesc-py" not in web.crates()
    before = web.sources()
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, tmp_path / name)
    shutil.copytree(ROOT / "crates", tmp_path / "crates")
    monkeypatch.setattr(web, "ROOT", tmp_path)
    assert web.sources() == before
    changed = tmp_path / "crates/hesc-math/src/lib.rs"
    changed.write_text(changed.read_text() + "\n")
    assert web.sources() != before


def test_no_path_of_a_builder_is_in_the_module() -> None:
    data = b"".join(file.read_bytes() for file in web.BUILT.iterdir())
    for path in (b"/root/", b"/home/", b"/work/", b"/Users/", b".cargo/registry"):
        assert path not in data


# Plans


def _words() -> tuple[Any, Any]:
    frame = pd.DataFrame(
        {
            "age": RNG.uniform(20, 80, 90).round(),
            "city": np.array(["Köln", "Oslo", "城"])[RNG.integers(0, 3, 90)],
            "paid": RNG.uniform(0, 1, 90).round(3),
        }
    )
    columns = ColumnTransformer(
        [("n", StandardScaler(), ["age", "paid"]), ("w", OneHotEncoder(), ["city"])]
    )
    labels = np.where((frame["age"] > 50) ^ (frame["city"] == "Oslo"), "yes", "nö")
    made = PrivateClassifier(make_pipeline(columns, LogisticRegression())).fit(frame, labels)
    made.plan(frame, Scores(), table=False)
    return made, frame


def _made() -> dict[str, tuple[Any, Any]]:
    """Planned models of every kind that has a plan of scores, and rows."""
    iris = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    iris.plan(X, table=False)
    hidden = PrivateRegressor(LinearRegression()).fit(WIDE, WIDE @ np.arange(1.0, 41))
    hidden.plan(WIDE, Scores(hidden=True, answers=39, max_error=5.0, ranges=(-1, 1)), table=False)
    exp = PrivateRegressor(
        TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)
    ).fit(X[:, :3], np.exp(X[:, 3]))
    exp.plan(X[:, :3], Scores(), names=["a", "b", "it's"], table=False)
    mean = PrivateClassifier(
        CalibratedClassifierCV(LogisticRegression(), method="isotonic", cv=2)
    ).fit(X, Y > 0)
    mean.plan(X, Scores(), table=False)
    trees = PrivateClassifier(AdaBoostClassifier(n_estimators=5, random_state=0)).fit(X, Y > 1)
    trees.plan(X, Scores(bins=4, min_fidelity=0), table=False)
    return {
        "iris": (iris, X),
        "words": _words(),
        "hidden": (hidden, WIDE),
        "exp": (exp, X[:, :3]),
        "mean": (mean, X),
        "trees": (trees, X),
    }


@pytest.fixture(scope="module")
def models() -> dict[str, tuple[Any, Any]]:
    return _made()


NAMES: Final = ("iris", "words", "hidden", "exp", "mean", "trees")


def plan_of(made: Any) -> bytes:
    data: bytes = made.client().plan.to_bytes()
    return data


def rows_of(rows: Any, count: int) -> list[Any]:
    first = rows[:count]
    found: list[Any] = (first.to_numpy() if hasattr(first, "to_numpy") else first).tolist()
    return found


@asked
@pytest.mark.parametrize("name", NAMES)
def test_a_plan_says_what_it_says_to_python(
    node: Node, models: dict[str, tuple[Any, Any]], name: str
) -> None:
    data = plan_of(models[name][0])
    plan = LinearPlan.from_bytes(data)
    said = node.ask("read", coded(data), plan.digest.hex())
    assert said["text"] == str(plan)
    assert said["digest"] == plan.digest.hex()
    assert (said["names"], said["inputs"], said["link"]) == (plan.names, plan.inputs, plan.link)
    assert said["classes"] == (None if plan.classes is None else plan.classes.tolist())
    assert (said["error"], said["deploymentError"]) == (plan.error, plan.deployment_error)
    assert (said["rows"], said["kinds"]) == (plan.rows, list(plan._computed.kinds))
    low, high = plan.ranges
    assert (said["low"], said["high"]) == (low.tolist(), high.tolist())
    from hesc.protocols.message import Kind

    assert said["longest"] == plan.longest(Kind.ANSWER)


@asked
@pytest.mark.parametrize("name", NAMES)
def test_twenty_rows_are_as_python_finds_them(
    node: Node, models: dict[str, tuple[Any, Any]], name: str, tmp_path: Path
) -> None:
    """Its key is then read in Python, which reads the answer to the byte as it did; and back."""
    made, rows = models[name]
    data = plan_of(made)
    plan = LinearPlan.from_bytes(data)
    node.ask("read", coded(data), None)
    public = base64.b64decode(node.ask("generate"))
    server = made.server(keys=public) if plan.hidden else made.server()
    query = node.query(rows_of(rows, 20))
    answer = server.answer(query)
    found = node.ask("decrypt", coded(answer), coded(query))
    sealed = base64.b64decode(node.ask("seal", "long words"))
    (tmp_path / "secret.key").touch(0o600)
    (tmp_path / "secret.key").write_bytes(sealed)
    secret = hesc.secret.SecretKey.load(
        plan.params, tmp_path / "secret.key", passphrase="long words"
    )
    own = LinearClient(plan, secret=secret)
    read = own.decrypt(answer, query=query)
    scores = read.scores.reshape(20, -1)
    assert np.array_equal(found["scores"], scores)
    if plan.classes is None:
        assert np.allclose(found["predictions"], read.predictions, rtol=1e-14, atol=0)
    else:
        assert found["predictions"] == read.predictions.tolist()
    if found["probabilities"] is not None:
        shares = plan.probabilities(read.scores)
        assert np.abs(np.array(found["probabilities"]) - shares).max() < 1e-12
    # Python's query by the same key, whose rows are the same.
    asked = own.encrypt(rows[:9]).data
    again = server.answer(asked)
    there = node.ask("decrypt", coded(again), coded(asked))
    room = 8 * plan.deployment_error
    assert np.abs(np.array(there["scores"]) - scores[:9]).max() < room
    # A key that Python made and sealed.
    if not plan.hidden:
        other = LinearClient(plan)
        other.secret.save(tmp_path / "other.key", passphrase="other words")
        node.ask("open", coded((tmp_path / "other.key").read_bytes()), "other words")
        query = node.query(rows_of(rows, 3))
        assert other.decrypt(server.answer(query), query=query).scores.shape[0] == 3
        with pytest.raises(RefusedError, match="DecryptionError"):
            node.ask("open", coded((tmp_path / "other.key").read_bytes()), "long words")


@asked
@pytest.mark.parametrize("case", CASES)
def test_features_are_those_of_scikit_learn(node: Node, case: dict[str, Any]) -> None:
    """The stored vectors that Python's client and the crate are held to."""
    steps = coded(json.dumps(case["steps"]).encode())
    given = case["numbers"]["f8"]
    found = node.ask("transformed", steps, case["inputs"], given, case["words"])
    numbers = np.frombuffer(base64.b64decode(found), dtype="<f8")
    shape = case["features"]["shape"]
    expected = np.frombuffer(base64.b64decode(case["features"]["f8"]), dtype="<f8")
    room = case["tolerance"] * max(1.0, np.abs(expected).max())
    assert numbers.reshape(shape).shape == tuple(shape)
    assert np.abs(numbers - expected).max() <= room


def _averages() -> Iterator[LinearPlan]:
    """Plans of several models whose probabilities are averaged, by every link."""
    one, other = (LogisticRegression(C=by, max_iter=1000) for by in (1.0, 0.01))
    sigmoid = CalibratedClassifierCV(one, cv=2)
    isotonic = CalibratedClassifierCV(one, method="isotonic", cv=2)
    soft = VotingClassifier([("a", one), ("b", other)], voting="soft")
    for model in (sigmoid, isotonic, soft):
        for labels in (Y > 0, Y):
            made = PrivateClassifier(clone(model)).fit(X, labels)
            made.plan(X, Scores(), table=False)
            yield LinearPlan.from_bytes(plan_of(made))


@asked
def test_what_is_called_sure_is_so_whatever_signs_errors_have(node: Node) -> None:
    """Every corner of errors of four deviations, of all models at once; drawn shares hold two."""
    links = set()
    for plan in _averages():
        links.add(plan.link)
        outputs = node.ask("read", coded(plan.to_bytes()), None)["outputs"]
        error = plan.deployment_error
        spread = np.where(np.arange(200) % 2, 20 * error, 2.0)[:, None]
        scores = RNG.uniform(-spread, spread, (200, outputs))
        classes, shares = plan.predictions(scores), plan.probabilities(scores)
        found = node.ask("readings", scores.tolist(), classes.tolist(), shares.tolist())
        sure = np.array([each["sure"] for each in found])
        assert 20 < sure.sum() < 200
        ends = [[[each[end] for each in one["shares"]] for one in found] for end in ("low", "high")]
        low, high = np.array(ends)
        for signs in itertools.product((-1, 1), repeat=outputs):
            moved = scores + 4 * error * np.array(signs)
            assert (plan.predictions(moved) == classes)[sure].all()
            there = plan.probabilities(scores + 2 * error * np.array(signs))
            assert (low - 1e-12 <= there).all()
            assert (there <= high + 1e-12).all()
    assert links == {"mean_sigmoid", "mean_softmax", "mean_isotonic"}


@asked
def test_a_service_has_the_problems_that_python_knows(node: Node) -> None:
    assert set(node.ask("problems")) == set(exchanges._TEXTS) | exchanges._OTHERS


@asked
def test_lies_are_refused_as_by_python(node: Node, models: dict[str, tuple[Any, Any]]) -> None:
    refused = json.loads((ROOT / "vectors/client/refused.json").read_text())
    for case in refused["steps"]:
        steps = coded(json.dumps(case["steps"]).encode())
        if case.get("sound"):
            continue
        with pytest.raises(RefusedError, match="WireError"):
            node.ask("transformed", steps, refused["inputs"], "", [])
    for name in ("iris", "words"):
        data = plan_of(models[name][0])
        for lie in lies(data, 200):
            try:
                LinearPlan.from_bytes(lie)
            except hesc.WireError:
                with pytest.raises(RefusedError, match="WireError"):
                    node.ask("read", coded(lie), None)
            else:
                node.ask("read", coded(lie), None)
        with pytest.raises(RefusedError, match="not the one that its digest names"):
            node.ask("read", coded(data), "0" * 64)


@asked
def test_what_does_not_belong_together_is_refused(
    node: Node, models: dict[str, tuple[Any, Any]]
) -> None:
    made, rows = models["words"]
    node.ask("read", coded(plan_of(made)), None)
    node.ask("generate")
    server, few = made.server(), rows_of(rows, 2)
    query = node.query(few)
    answer = server.answer(query)
    for place in range(0, len(answer), 37):
        for flip in (1, 128):
            damaged = bytearray(answer)
            damaged[place] ^= flip
            with pytest.raises(RefusedError, match="WireError"):
                node.ask("decrypt", coded(bytes(damaged)), coded(query))
    for wrong in (answer[:-1], answer + b"x", b"", query, bytes(1 << 20)):
        with pytest.raises(RefusedError, match="WireError"):
            node.ask("decrypt", coded(wrong), coded(query))
    again = node.query(few)
    with pytest.raises(RefusedError, match="WireError: the answer is to another query"):
        node.ask("decrypt", coded(answer), coded(again))
    with pytest.raises(RefusedError, match="ShapeError"):
        node.query([])
    with pytest.raises(RefusedError, match="ShapeError: row 0 is no list of 3 cells"):
        node.ask("sparse", 2)
    assert node.ask("encrypt", few, None)["clipped"] == 0
    with pytest.raises(
        RefusedError, match="ShapeError: samples are rows of 3 features; got 2 in row 0"
    ):
        node.query([few[0][:2]])
    with pytest.raises(RefusedError, match="ShapeError: sample 0 has no number in column 0"):
        node.query([["old", *few[0][1:]]])
    with pytest.raises(RefusedError, match="OutOfRangeError: sample 0 in column 'city' is a word"):
        node.query([[few[0][0], "Atlantis", few[0][2]]])
    with pytest.raises(RefusedError, match="surrogates"):
        node.query([[few[0][0], "\ud800", few[0][2]]])
    with pytest.raises(
        RefusedError, match=r"OutOfRangeError: .*'age'.*beyond the plan's range"
    ) as found:
        node.query([[98765.0, *few[0][1:]]])
    assert "98765" not in str(found.value)
    assert node.ask("encrypt", [[98765.0, *few[0][1:]]], True)["clipped"] == 1
    named = dict(zip(["paid", "city", "age"], few[0][::-1], strict=True))
    assert server.answer(node.query([named]))
    with pytest.raises(RefusedError, match="ShapeError"):
        node.query([named | {"more": 1}])
    # Another key's answer, and one that was made for nobody's query.
    node.ask("generate")
    with pytest.raises(RefusedError, match="KeyMismatchError"):
        node.ask("decrypt", coded(answer), coded(query))
    assert TOKEN not in node.ask("shown")
    node.ask("close")
    with pytest.raises(RefusedError, match="closed"):
        node.query(few)


@asked
def test_altered_files_are_not_started(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "web", tmp_path / "web")
    wasm = tmp_path / "web/built/hesc_wasm_bg.wasm"
    data = bytearray(wasm.read_bytes())
    data[len(data) // 2] ^= 1
    wasm.write_bytes(data)
    made = Node(str(tmp_path / "web/index.js"))
    try:
        with pytest.raises(RefusedError, match="not the module of this package"):
            made.ask("read", coded(b"{}"), None)
    finally:
        made.close()


# A service


@asked
def test_a_service_is_asked_as_python_asks(node: Node, folder: Path, tmp_path: Path) -> None:
    with running(folder, tmp_path, "scores", "hidden") as there:
        digests = {len(each.plan.names) + each.plan.inputs: digest
                   for digest, each in there.application.models.items()}  # fmt: skip
        token = {"token": TOKEN}
        node.ask("connect", there.url, token)
        with pytest.raises(RefusedError, match="has 2 models"):
            node.ask("results", X[:2].tolist())
        node.ask("connect", there.url, token | {"model": digests[4]})
        found = node.ask("results", np.tile(X, (9, 1)).tolist())
        assert found["predictions"] == np.tile(clear("scores")(X), 9).tolist()
        node.ask("connect", there.url, token | {"model": digests[40]})
        found = node.ask("results", WIDE[:4].tolist())
        plan = there.application.models[digests[40]].plan
        assert np.abs(found["predictions"] - clear("hidden")(WIDE[:4])).max() < 7 * plan.error
        # Lost keys are given again, and the same bytes are counted once.
        for file in (tmp_path / "state.db.keys").iterdir():
            file.unlink()
        node.ask("adopt")
        query = coded(node.query(WIDE[:1].tolist()))
        (answer,) = node.ask("answers", [query])
        assert node.ask("answers", [query]) == [answer]
        assert node.ask("budgets")["numbers_in_all"] == {"given": 5, "most": 30}
        with pytest.raises(RefusedError, match="beyond the plan's range"):
            node.ask("results", (WIDE[:1] * 100).tolist())
        node.ask("connect", there.url, {"token": "x" * 40, "model": digests[4]})
        with pytest.raises(RefusedError, match="in force no more") as refused:
            node.ask("budgets")
        assert (refused.value.name, refused.value.problem) == ("ServiceError", "no-token")


@asked
def test_a_budget_ends_and_a_kept_key_goes_on(node: Node, folder: Path, tmp_path: Path) -> None:
    tokens = book(tmp_path / "tokens.toml", answers=2)
    client = ClientFolder.open(folder / "scores" / "client").client()
    client.secret.save(tmp_path / "mine.key", passphrase="words")
    kept = {"sealed": coded((tmp_path / "mine.key").read_bytes()), "passphrase": "words"}
    with running(folder, tmp_path, "scores", tokens=tokens) as there:
        node.ask("connect", there.url, {"token": TOKEN, "kept": kept})
        query = client.encrypt(X[:3]).data
        (answer,) = node.ask("answers", [coded(query)])
        node.ask("adopt")
        read = client.decrypt(base64.b64decode(answer), query=query)
        assert np.array_equal(node.ask("decrypt", answer, coded(query))["scores"], read.scores)
        node.ask("results", X[:1].tolist())
        with pytest.raises(RefusedError, match="used up"):
            node.ask("results", X[:1].tolist())
    node.ask("connect", there.url, {"token": TOKEN, "patience": 0.5})
    with pytest.raises(RefusedError, match="nobody takes connections"):
        node.ask("budgets")


@asked
def test_laws_of_an_exchange() -> None:
    """Waits, hostile answers and addresses, by Node's own tests."""
    assert NODE is not None
    files = sorted(str(file) for file in (ROOT / "tests/web").glob("*.test.mjs"))
    done = subprocess.run(
        [NODE, "--test", *files], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr

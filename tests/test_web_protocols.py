"""Trees and open search in the package of JavaScript: the same as Python's clients, to the bit."""

from __future__ import annotations

import base64
import json
import unicodedata
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hesc
from hesc.ml import (
    PrivateClassifier,
    PrivateNeighbours,
    PrivateOutlierDetector,
    PrivateRegressor,
    Search,
    Trees,
)
from hesc.protocols import registry
from hesc.protocols.message import Kind, Message, name_of
from hesc.search import Index, SearchClient, SearchPlan, SearchServer
from tests.lying_documents import lies
from tests.test_remote import TOKEN, running, write_search
from tests.test_web import Node, RefusedError, asked, coded, node

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["node"]
IRIS: Final = load_iris(return_X_y=True)
CANCER: Final = tuple(each[:200] for each in load_breast_cancer(return_X_y=True))
RNG: Final = np.random.default_rng(49)
FEW: Final = {"n_estimators": 5, "max_depth": 3, "random_state": 0}


class Case:
    """A plan as its client is given it, what serves it, rows of its samples, and what saves it."""

    def __init__(self, plan: Any, server: Any, rows: Any, kept: Any) -> None:
        self.data: bytes = plan.to_bytes()
        self.plan: Any = registry.read_plan(self.data)
        self.server = server
        self.rows: Any = rows
        self.kept = kept


def _planned(private: Any, x: Any, y: Any, options: Any) -> Case:
    private.fit(x) if y is None else private.fit(x, y)
    private.plan(x, options, table=False)
    return Case(private.client().plan, lambda keys: private.server(keys=keys), x, private)


def _trees(structure: str) -> dict[str, Case]:
    public = Trees(structure=structure)  # type: ignore[arg-type]  # one of both
    sugar, target = load_diabetes(return_X_y=True)
    sugar = np.where(RNG.random(sugar.shape) < 0.1, np.nan, sugar)
    forest = RandomForestClassifier(**FEW)
    scaled = make_pipeline(StandardScaler(), GradientBoostingClassifier(**FEW))
    missing = HistGradientBoostingRegressor(max_iter=8, max_depth=3, random_state=0)
    outliers = IsolationForest(n_estimators=5, random_state=0)
    return {
        "forest": _planned(PrivateClassifier(forest), IRIS[0], IRIS[1], public),
        "scaled": _planned(PrivateClassifier(scaled), CANCER[0], CANCER[1], public),
        "missing": _planned(PrivateRegressor(missing), sugar, target, public),
        "outliers": _planned(PrivateOutlierDetector(outliers), IRIS[0], None, public),
    }


def _searches() -> dict[str, Case]:
    vectors = RNG.normal(size=(1300, 24))
    found = {}
    for metric in ("inner", "cosine", "euclidean"):
        plan = SearchPlan.of_vectors(vectors, metric=metric, records="public", keys=False)
        index = Index(plan, vectors)
        found[metric] = Case(plan, lambda _, index=index: SearchServer.of(index), vectors, index)
    codes = RNG.integers(0, 2, (70, 64)).astype(float)
    plan = SearchPlan.of_codes(64, records="public", most_records=100, keys=False)
    index = Index(plan, codes)
    found["hamming"] = Case(plan, lambda _: SearchServer.of(index), codes, index)
    return found


def _votes() -> dict[str, Case]:
    found = {}
    digits, which = load_digits(return_X_y=True)
    for name, (x, y), weights in (
        ("votes", IRIS, "uniform"),
        ("two", CANCER, "distance"),
        ("ten", (digits[:300], which[:300]), "distance"),
    ):
        model = make_pipeline(StandardScaler(), KNeighborsClassifier(3, weights=weights))
        options = Search(records="public", keys=False, min_agreement=0.5)
        private = PrivateNeighbours(model).fit(x, y)
        private.plan(x, options, table=False)
        found[name] = Case(private.client().plan, lambda _, own=private: own.server(), x, private)
    return found


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    hidden = {"hidden": _trees("hidden")["forest"]}
    return _trees("public") | hidden | _searches() | _votes()


TREES: Final = ("forest", "scaled", "missing", "outliers", "hidden")
SEARCHES: Final = ("inner", "cosine", "euclidean", "hamming", "votes", "two", "ten")


def cells(rows: Any) -> Any:
    """Rows for JSON, which has no number that is none."""
    return [[None if np.isnan(x) else x for x in row] for row in rows.tolist()]


@asked
@pytest.mark.parametrize("name", TREES + SEARCHES)
def test_a_plan_says_what_it_says_to_python(node: Node, cases: dict[str, Case], name: str) -> None:
    case = cases[name]
    said = node.ask("read", coded(case.data), case.plan.digest.hex())
    assert said["text"] == str(case.plan)
    assert said["protocol"] == case.plan.protocol
    assert (said["rows"], said["longest"]) == (case.plan.rows, case.plan.longest(Kind.ANSWER))
    assert said["needsKeys"] == case.plan.needs_keys
    classes = None if case.plan.classes is None else case.plan.classes.tolist()
    assert said["classes"] == classes
    if case.plan.error is None:
        assert said["error"] is None
    else:
        assert said["error"] == pytest.approx(case.plan.error, rel=1e-14)
    if name in TREES:
        assert (said["trees"], said["finer"]) == (list(case.plan.trees), case.plan.finer)


def exchanged(node: Node, case: Case, rows: Any) -> tuple[bytes, bytes, Any]:
    """A query of Node under a new key, its answer, and what Node reads in it."""
    node.ask("read", coded(case.data), None)
    keys = base64.b64decode(node.ask("generate"))
    return asked_again(node, case.server(keys if case.plan.needs_keys else None), rows)


def asked_again(node: Node, server: Any, rows: Any) -> tuple[bytes, bytes, Any]:
    """The same under the key that Node has."""
    query = node.query(cells(rows))
    answer = server.answer(query)
    return query, answer, node.ask("decrypt", coded(answer), coded(query))


def kept(node: Node, case: Case, tmp_path: Path) -> Any:
    """Python's client with Node's key."""
    file = tmp_path / "secret.key"
    file.touch(0o600)
    file.write_bytes(base64.b64decode(node.ask("seal", "long words")))
    secret = hesc.secret.SecretKey.load(case.plan.params, file, passphrase="long words")
    return registry.client_of(case.plan, secret=secret)


@asked
@pytest.mark.parametrize("name", TREES)
def test_twenty_rows_of_trees_are_as_python_finds_them(
    node: Node, cases: dict[str, Case], name: str, tmp_path: Path
) -> None:
    case = cases[name]
    rows = case.rows[:: len(case.rows) // 20][:20]
    query, answer, found = exchanged(node, case, rows)
    read = kept(node, case, tmp_path).decrypt(answer, query=query)
    assert found["scores"] == read.scores.reshape(20, -1).tolist()
    assert found["predictions"] == read.predictions.tolist()
    # Exact, whoever encrypts and decrypts.
    own: Any = registry.client_of(case.plan)
    server = case.server(own.public_keys())
    sent = own.encrypt(rows).data
    assert (own.decrypt(server.answer(sent), query=sent).scores == read.scores).all()


@asked
@pytest.mark.parametrize("name", SEARCHES)
def test_twenty_rows_of_searches_are_as_python_finds_them(
    node: Node, cases: dict[str, Case], name: str, tmp_path: Path
) -> None:
    case = cases[name]
    assert case.plan.rows >= 10
    server = case.server(None)
    client: Any = None
    for rows in (case.rows[:10], case.rows[10:20]):
        if client is None:
            query, answer, found = exchanged(node, case, rows)
            client = kept(node, case, tmp_path)
        else:
            query, answer, found = asked_again(node, server, rows)
        read = client.decrypt(answer, query=query)
        assert found["values"] == read.values.tolist()
        assert found["indices"] == read.indices.tolist()
        assert found["distances"] == read.distances.tolist()
        assert found["scores"] == read.scores.reshape(10, -1).tolist()
        assert found["predictions"] == read.predictions.tolist()
        best = read.best(7)
        there = node.ask("best", coded(answer), coded(query), 7)
        assert there == {"indices": best.indices.tolist(), "scores": best.scores.tolist()}
        # The numbers are those of vectors as Python rounds them.
        sent = client.encrypt(rows).data
        again = client.decrypt(server.answer(sent), query=sent)
        assert (again.values == read.values).all()
        if found["probabilities"] is not None:
            shares = case.plan.probabilities(read.scores)
            assert np.abs(np.array(found["probabilities"]) - shares).max() < 1e-15


@asked
def test_a_service_of_trees_and_searches_is_asked(
    node: Node, cases: dict[str, Case], tmp_path: Path
) -> None:
    for name in (*TREES, "votes"):
        cases[name].kept.save(tmp_path / name, sample=0)
    near = cases["euclidean"]
    write_search(tmp_path, near.kept)
    with running(tmp_path, tmp_path, *TREES, "votes", "search") as there:

        def connect(name: str) -> None:
            wanted = cases[name].plan.digest.hex()
            node.ask("connect", there.url, {"token": TOKEN, "model": wanted})

        for name in (*TREES, "votes"):
            connect(name)
            rows = np.tile(cases[name].rows[::7][:9], (3, 1))
            found = node.ask("results", cells(rows))
            clear = cases[name].kept.predict(rows)
            assert len(found["predictions"]) == len(rows)
            if name == "votes":
                assert np.mean(np.asarray(found["predictions"]) == clear) > 0.95
            elif cases[name].plan.classes is None:
                assert np.abs(found["predictions"] - clear).max() <= cases[name].plan.error
            else:
                assert found["predictions"] == clear.tolist()
        connect("euclidean")
        found = node.ask("results", near.rows[:50].tolist())
        assert found["predictions"] == list(range(50))
        far = np.linalg.norm(near.rows[:50, None] - near.rows[None], axis=2)
        assert np.abs(np.array(found["scores"]) - far).max() < near.plan.score_error.bound
        with pytest.raises(RefusedError, match="longer after the transforms"):
            node.ask("results", (near.rows[:1] * 1e3).tolist())


@asked
def test_vectors_on_the_edge_are_taken_by_both_or_by_none(node: Node) -> None:
    """Lengths are added up in one order: of vectors that are exactly as long as is declared."""
    for width in (3, 100, 300):
        rows = RNG.normal(size=(8, width))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        plan = SearchPlan.of_vectors(
            rows, metric="inner", records="public", keys=False, norm=1.0, bits=4
        )
        node.ask("read", coded(plan.to_bytes()), None)
        node.ask("generate")
        taken = []
        for row in rows:
            try:
                plan.prepared(row[None])
                taken.append(True)
            except hesc.OutOfRangeError:
                taken.append(False)
            if taken[-1]:
                assert node.query([row.tolist()])
            else:
                with pytest.raises(RefusedError, match="longer after the transforms"):
                    node.query([row.tolist()])
        assert node.ask("encrypt", [(2 * rows[0]).tolist()], True)["clipped"] == width


@asked
@pytest.mark.parametrize("name", ["forest", "missing", "hidden", "cosine", "hamming", "votes"])
def test_lies_are_refused_as_by_python(node: Node, cases: dict[str, Case], name: str) -> None:
    for lie in lies(cases[name].data, 250):
        said = json.loads(lie)
        # Beyond 64 bits a whole number is any number here; and no client here gives keys.
        if 2**70 in said.values() or said.get("expanded") is True:
            continue
        try:
            registry.read_plan(lie)
        except hesc.HescError:
            with pytest.raises(RefusedError, match=r"^(WireError|ParameterError|HescError)"):
                node.ask("read", coded(lie), None)
        else:
            node.ask("read", coded(lie), None)


def changed(data: bytes, **fields: Any) -> bytes:
    """A plan that says something else."""
    return json.dumps(json.loads(data) | fields, separators=(",", ":")).encode()


@asked
def test_well_formed_lies_of_trees_are_refused(node: Node, cases: dict[str, Case]) -> None:
    forest, hidden = cases["forest"].data, cases["hidden"].data
    said = json.loads(forest)
    other = json.loads(cases["scaled"].data)
    for lie, match in (
        (changed(forest, structure="hidden"), "finds leaves where"),
        (changed(hidden, structure="public"), "finds leaves where"),
        (changed(forest, steps=said["steps"][:-1]), "number of bits|finds leaves"),
        (changed(forest, steps=[]), "number of bits"),
        (changed(forest, forest=other["forest"]), "number"),
        (changed(forest, forest=json.loads(hidden)["forest"]), "number|one leaf"),
        (changed(forest, trees=said["trees"][:-1]), "adds up"),
        (changed(hidden, trees=[each + 1 for each in said["trees"]]), "adds up"),
        (changed(forest, classes=None), "finds|classes|scores"),
        (changed(forest, link="exp"), "link of numbers"),
        (changed(forest, link="mean_isotonic"), "calibration"),
        (changed(forest, finer=1001), "from -1000 to 1000"),
        (changed(forest, farthest=1.0), "farthest"),
        (changed(forest, protocol="linear"), "fields"),
        (changed(forest, protocol="search"), "fields"),
        (changed(forest, protocol="classes"), "another protocol|fields"),
    ):
        if json.loads(lie) == said:
            continue
        with pytest.raises(hesc.HescError):
            registry.read_plan(lie)
        with pytest.raises(RefusedError, match=f"WireError: .*({match})"):
            node.ask("read", coded(lie), None)


@asked
def test_well_formed_lies_of_searches_are_refused(node: Node, cases: dict[str, Case]) -> None:
    cosine, votes, codes = (cases[name].data for name in ("cosine", "votes", "hamming"))
    said = json.loads(votes)
    short = coded(base64.b64decode(said["labels"])[:-4])
    far = coded(np.full(said["most_records"], 9, dtype="<u4").tobytes())
    for lie, match in (
        (changed(cosine, norm=2.0), "length 1"),
        (changed(cosine, step=1e-9), "more steps"),
        (changed(cosine, metric="hamming"), "no step"),
        (changed(cosine, signs=coded(bytes(31))), "32 random bytes"),
        (changed(cosine, neighbours=3), "records vote"),
        (changed(cosine, records="private"), "what records are"),
        (changed(cosine, shared=9), "from 1 to 8"),
        (changed(votes, metric="inner", step=1.0, query_step=0.5), "votes are of"),
        (changed(votes, step=1.0, query_step=0.5), "one step"),
        (changed(votes, labels=short), "one for each record"),
        (changed(votes, labels=far), "places of classes"),
        (changed(votes, labels=None), "records vote"),
        (changed(votes, neighbours=said["most_records"]), "fewer records vote"),
        (changed(codes, most_records=0), "most_records"),
    ):
        with pytest.raises(hesc.HescError):
            registry.read_plan(lie)
        with pytest.raises(RefusedError, match=f"WireError: .*({match})"):
            node.ask("read", coded(lie), None)
    # Blocks share parts by keys alone.
    with pytest.raises(RefusedError, match="ParameterError"):
        node.ask("read", coded(changed(cosine, shared=2)), None)
    keyed = SearchPlan.of_vectors(RNG.normal(size=(50, 8)), records="public", keys=True)
    with pytest.raises(RefusedError, match=r"ParameterError: .*keys of megabytes"):
        node.ask("read", coded(keyed.to_bytes()), None)


@asked
@pytest.mark.parametrize("name", ["forest", "hidden", "cosine", "euclidean", "votes"])
def test_hostile_answers_are_refused(node: Node, cases: dict[str, Case], name: str) -> None:
    case = cases[name]
    rows = case.rows[:2]
    query, answer, _ = exchanged(node, case, rows)
    for place in range(0, len(answer), max(1, len(answer) // 60)):
        damaged = bytearray(answer)
        damaged[place] ^= 1
        with pytest.raises(RefusedError, match="WireError"):
            node.ask("decrypt", coded(bytes(damaged)), coded(query))
    digest = case.plan.digest
    sent = Message.from_bytes(query, Kind.QUERY, plan=digest)
    told = Message.from_bytes(answer, Kind.ANSWER, plan=digest)
    plan, named = digest[:16], name_of(query)

    def framed(samples: int, *parts: bytes) -> bytes:
        return Message(Kind.ANSWER, plan, samples, parts, named).to_bytes()

    assert node.ask("decrypt", coded(framed(2, *told.parts)), coded(query))
    refused = r"^(WireError|ParameterError|KeyMismatchError|DecryptionError)"
    lies = [
        framed(2, *told.parts[:1]),
        framed(1, *told.parts[:1]),
        framed(2, *told.parts, told.parts[0]),
        framed(2, *sent.parts),
        framed(2, *(part[:-1] for part in told.parts)),
        framed(2, *(b"" for _ in told.parts)),
        framed(2**32 - 1, *told.parts),
        framed(case.plan.rows + 1, *told.parts),
    ]
    if name in TREES:
        # Answers to two samples, each in the other's place.
        lies.append(framed(2, *told.parts[::-1]))
    for lie in lies:
        with pytest.raises(RefusedError, match=refused):
            node.ask("decrypt", coded(lie), coded(query))
    again = node.query(cells(rows))
    with pytest.raises(RefusedError, match="WireError: the answer is to another query"):
        node.ask("decrypt", coded(answer), coded(again))
    node.ask("generate")
    with pytest.raises(RefusedError, match="KeyMismatchError"):
        node.ask("decrypt", coded(answer), coded(query))


@asked
def test_answers_to_prepared_queries_are_not_read(node: Node, cases: dict[str, Case]) -> None:
    case = cases["forest"]
    node.ask("read", coded(case.data), None)
    keys = base64.b64decode(node.ask("generate"))
    server = case.server(keys)
    query = node.query(cells(case.rows[:1]))
    own: Any = registry.client_of(case.plan)
    begun = own.prepare(1)
    from hesc.protocols.trees.preparations import Preparations

    other = case.server(own.public_keys())
    other.preparations = Preparations()
    with pytest.raises(RefusedError, match="WireError"):
        node.ask("decrypt", coded(other.answer(begun)), coded(query))
    assert node.ask("decrypt", coded(server.answer(query)), coded(query))


@asked
def test_samples_that_trees_do_not_take_are_refused(node: Node, cases: dict[str, Case]) -> None:
    """As Python refuses them: cells that are missing, and numbers beyond those of float32."""
    case = cases["scaled"]
    node.ask("read", coded(case.data), None)
    node.ask("generate")
    row = case.rows[0].tolist()
    large = [1e300, *row[1:]]
    with pytest.raises(hesc.OutOfRangeError, match="too large"):
        case.plan.prepared([large])
    with pytest.raises(RefusedError, match=r"OutOfRangeError: sample 1 in column 0 is too large"):
        node.query([row, large])
    clipped = case.plan.prepared([row, large], clip=True)
    found = node.ask("encrypt", [row, large], True)
    assert (clipped.values, clipped.samples) == (1, 1)
    assert (found["clipped"], found["clippedSamples"]) == (1, 1)
    with pytest.raises(RefusedError, match=r"OutOfRangeError: .*has no value"):
        node.query([[None, *row[1:]]])
    with pytest.raises(RefusedError, match="ShapeError"):
        node.query([row] * (case.plan.rows + 1))


@asked
def test_vectors_that_searches_do_not_take_are_refused(node: Node, cases: dict[str, Case]) -> None:
    for name, row, match in (
        ("cosine", [0.0] * 24, "all zeros"),
        ("hamming", [0.5] * 64, "zeros and ones"),
        ("hamming", [2.0] * 64, "beyond the plan's range"),
        ("inner", [1e200] * 24, "longer"),
        ("euclidean", [9.0] * 24, "longer"),
    ):
        node.ask("read", coded(cases[name].data), None)
        node.ask("generate")
        with pytest.raises(hesc.OutOfRangeError):
            SearchClient(cases[name].plan).encrypt([row])
        with pytest.raises(RefusedError, match=f"OutOfRangeError: .*{match}"):
            node.query([row])


@asked
def test_plans_of_many_sizes_are_derived_alike(node: Node, cases: dict[str, Case]) -> None:
    """What follows from a declaration is held to the byte, logarithms in it among others."""
    said = json.loads(cases["forest"].data)
    count = len(said["trees"])
    several = [(1, 1), (7, 63), (100, 3000)]
    for edges in [*range(61, 90), 100, 333, 1000, 2047, 4097, 20000, 32768]:
        for trees, leaves in several:
            shapes = [(trees, leaves)] * count
            forest = hesc._native.ForestPlan(edges, shapes, leaves // trees, 1 << 15)
            lie = changed(cases["forest"].data, forest=coded(forest.to_bytes()))
            # Not that it does not follow.
            with pytest.raises(RefusedError, match="give another number of bits"):
                node.ask("read", coded(lie), None)


@asked
@pytest.mark.parametrize("accents", [None, "ascii", "unicode"])
def test_letters_are_those_of_unicode(node: Node, accents: str | None) -> None:
    """What the engine knows of letters, of all that Python's Unicode has but ideographs."""
    kinds = ("Cn", "Co", "Cs")
    letters = [chr(code) for code in range(0x80, 0x20000) if not 0x3400 <= code < 0xD7A4]
    cells: list[str | None] = [
        f"A{each}b\u03a3" for each in letters if unicodedata.category(each) not in kinds
    ]
    assert len(cells) > 30_000
    step = {
        "step": "tokens",
        "lowercase": True,
        "accents": accents,
        "analyzer": "word",
        "letters": 1,
        "ngrams": [1, 2],
        "stop_words": [],
        "vocabulary": None,
        "hashed": {"features": 5, "alternate": True},
        "binary": False,
    }
    steps = json.dumps([step]).encode()
    numbers = np.full((len(cells), 1), np.nan)
    found = node.ask("transformed", coded(steps), 1, coded(numbers.tobytes()), [cells])
    own = hesc._native.Steps(steps, 1).transformed(numbers, [cells])
    there = np.frombuffer(base64.b64decode(found)).reshape(own.shape)
    other = [hex(ord(str(cells[at])[1])) for at in np.flatnonzero((own != there).any(axis=1))]
    assert not other

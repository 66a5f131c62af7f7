"""Nearest neighbours by a search: votes, what a plan states, parties, and what is refused."""

from __future__ import annotations

import base64
import csv
import json
import math
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestCentroid,
    RadiusNeighborsClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_estimator

import hesc
from hesc.cli import files
from hesc.codes import sets
from hesc.codes.encrypted_codes import EncryptedCodes
from hesc.codes.secret import encrypt_codes
from hesc.ml import (
    Classes,
    Deployment,
    Outsourced,
    Parties,
    PrivateNeighbours,
    Scores,
    Search,
)
from hesc.protocols.message import Kind, Message, name_of
from hesc.protocols.search import voting
from hesc.search import SearchClient, SearchPlan, SearchServer
from tests.lying_messages import refitted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X, Y = load_wine(return_X_y=True)
XT, XV, YT, YV = train_test_split(X, Y, random_state=0)
SETS = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}


PUBLIC = Search(records="public")


def model(**options: Any) -> Any:
    return make_pipeline(StandardScaler(), KNeighborsClassifier(**options))


@pytest.fixture(scope="module")
def private() -> PrivateNeighbours:
    made = PrivateNeighbours(model()).fit(XT, YT)
    made.plan(XT, PUBLIC, names=[f"f{n}" for n in range(13)])
    return made


Sides = tuple[SearchClient, SearchServer]


@pytest.fixture(scope="module")
def parties(private: PrivateNeighbours) -> Sides:
    client = private.client()
    return client, private.server(keys=client.public_keys())


# Estimators ---------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(),
        make_pipeline(StandardScaler(), KNeighborsClassifier(3, weights="distance")),
        KNeighborsClassifier(metric="cosine"),
    ],
    ids=str,
)
def test_estimators(estimator: Any) -> None:
    check_estimator(PrivateNeighbours(estimator))


# Votes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", voting.WEIGHTS)
@pytest.mark.parametrize("classes", [2, 5])
def test_votes_are_counted_as_scikit_learn_counts_them(weights: str, classes: int) -> None:
    """Of exact distances, zeros among them, shares and classes are scikit-learn's."""
    rng = np.random.default_rng(0)
    records = rng.normal(size=(80, 3))
    labels = rng.integers(0, classes, 80)
    records[10:20] = records[:10]
    exact = KNeighborsClassifier(7, weights=weights).fit(records, labels)
    rows = np.concatenate([rng.normal(size=(50, 3)), records[:30]])
    distances, indices = exact.kneighbors(rows)
    found = voting.shares(indices, distances, labels=labels, classes=classes, weights=weights)
    assert np.allclose(found, exact.predict_proba(rows))
    ordered = np.sort(found, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-9
    predicted = voting.predicted(found, exact.classes_)
    assert (predicted == exact.predict(rows))[clear].all()
    # Votes that are tied go to the first class.
    assert (predicted == exact.classes_[exact.predict_proba(rows).argmax(axis=1)])[~clear].all()
    scores = voting.scores_of(found)
    assert scores.shape == ((80,) if classes == 2 else (80, 5))


def test_every_set_has_its_bytes() -> None:
    """Bytes are those of real messages, and the sets have the room that is stated."""
    for found in (sets.PLAIN, *sets.HIDING):
        params = hesc.Params.preset(found.name)
        secret, public = hesc.keygen(params)
        assert params.ring_degree == found.block
        for samples, records in ((1, 1), (found.block, 257)):
            zeros = np.zeros((records, 1), np.uint64)
            asked = encrypt_codes(secret, np.zeros((samples, 1), np.uint64))
            assert len(asked) == found.up(64)
            read = EncryptedCodes.from_bytes(params, asked)
            assert len(read.distances(zeros).to_bytes()) == found.down(records)
        longest = np.zeros((1, found.bits // 64), np.uint64)
        encrypt_codes(secret, longest)
        with pytest.raises(hesc.ParameterError, match="wrap"):
            encrypt_codes(secret, np.zeros((1, 16 if found is sets.PLAIN else 9 + 6), np.uint64))
        if found.coefficients:
            one = EncryptedCodes.from_bytes(params, encrypt_codes(secret, longest))
            one.hidden_distances(public, longest, coefficients=found.coefficients)
    assert sets.hiding(512, 42_000_000) == sets.HIDING[0]
    assert sets.hiding(512, 42_000_001) == sets.HIDING[1]
    assert sets.hiding(576, 1) is None
    assert sets.hiding(512, (1 << 36) + 1) is None


# What a plan states -------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*were brought within")
@pytest.mark.parametrize("name", SETS)
def test_classes_are_mostly_those_of_exact_neighbours(name: str) -> None:
    """On rows that training has not seen; and the agreement stated is that of such rows."""
    x, y = SETS[name](return_X_y=True)
    stated, found = [], []
    for seed in range(3):
        xt, xv, yt, yv = train_test_split(x, y, random_state=seed)
        made = PrivateNeighbours(KNeighborsClassifier() if name == "digits" else model())
        plan = made.fit(xt, yt).plan(xt, PUBLIC)
        simulated = made.predict(xv, fhe="simulate", clip=True)
        found.append(np.mean(simulated == made.predict(xv)))
        stated.append(plan.agreement or 0.0)
        assert abs(np.mean(simulated == yv) - made.score(xv, yv)) < 0.045
    assert np.mean(found) >= 0.95
    # Shares of 110 rows of three splits at least.
    assert abs(np.mean(stated) - np.mean(found)) < 4 * math.sqrt(0.04 * 0.96 / 110)


@pytest.mark.parametrize("constant", [1e6, 1e6 + 0.3, -1e12 / 7, 1e30, 1e-7])
@pytest.mark.parametrize("scaled", [True, False])
def test_features_that_never_vary_lengthen_no_vector(constant: float, scaled: bool) -> None:
    """However large they are; what is public of them is as coarse as the others vary."""
    rows, labels = load_iris(return_X_y=True)
    wide = np.column_stack([rows, np.full((len(rows), 3), constant)])
    final = KNeighborsClassifier()
    pipe = make_pipeline(StandardScaler(), final) if scaled else final
    bare, found = (
        PrivateNeighbours(clone(pipe)).fit(x, labels).plan(x, PUBLIC) for x in (rows, wide)
    )
    assert found.agreement is not None
    assert bare.agreement is not None
    assert found.agreement > bare.agreement - 0.03
    assert found.norm == pytest.approx(bare.norm, rel=1e-6)


@pytest.mark.parametrize("size", [1e156, 1e300])
@pytest.mark.parametrize("vary", [True, False])
def test_records_without_distances_are_refused(size: float, vary: bool) -> None:
    """Squares beyond all doubles are no lengths, and nothing is wrong with single numbers."""
    rows = np.random.default_rng(0).uniform(-1, 1, (60, 4)) if vary else np.full((60, 4), 0.7)
    with np.errstate(over="ignore"):
        private = PrivateNeighbours(KNeighborsClassifier()).fit(size * rows, np.arange(60) % 2)
        with pytest.raises(hesc.OutOfRangeError, match="scale features"):
            private.plan(size * rows, Search(records="public", min_agreement=0))


def test_no_row_is_its_own_neighbour() -> None:
    """Agreement beside one record left out at a time, by scikit-learn and numpy alone."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 8))
    # Classes of nothing: only a row itself would know its own.
    y = rng.integers(0, 2, 60)
    x[50:] = x[40:50]
    made = PrivateNeighbours(KNeighborsClassifier(1)).fit(x, y)
    plan = made.plan(x, Search(records="public", bits=5, min_agreement=0))
    entries = np.rint((x - x.mean(axis=0)) / plan.step).astype(int)
    same = []
    for row in range(40):
        others = np.arange(60) != row
        exact = KNeighborsClassifier(1).fit(x[others], y[others]).predict(x[[row]])
        nearest = np.square(entries[others] - entries[row]).sum(axis=1).argmin()
        same.append(y[others][nearest] == exact[0])
    # Rows that are there twice have a record of their own left, and it is the nearest by both.
    assert plan.agreement is not None
    assert plan.agreement == pytest.approx((sum(same) + 20) / 60)
    assert plan.agreement < 0.95
    with pytest.raises(hesc.ParameterError, match=r"fewer than min_agreement=0\.99"):
        made.plan(x, Search(records="public", bits=3, min_agreement=0.99))
    # Other rows have no record of their own.
    assert made.plan(x[:40] + 1e-3, PUBLIC).agreement == 1


def test_what_a_plan_says(private: PrivateNeighbours) -> None:
    told = " ".join(str(private._backend.plan).split())
    for words in (
        "PUBLIC, as whoever planned it said: every client can compute all of them",
        "the Euclidean distance of each to EVERY record",
        "the class of each of 133 records",
        "13 samples with their scores give EVERY record away",
        "no sample, no score",
        "IT LEARNS FROM WHAT IS FETCHED AFTERWARDS",
        "centres and scales of the training data",
        "5 nearest of 133, each with one vote",
        "have the class of exact nearest neighbours",
    ):
        assert words in told
    data = private.client().plan.to_bytes()
    assert b"agreement" not in data
    assert b"vectors" not in data
    by_distance = PrivateNeighbours(model(weights="distance")).fit(XT, YT).plan(XT, PUBLIC)
    assert "the inverse of its distance" in str(by_distance)


# Runs ---------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*were brought within")
@pytest.mark.parametrize(
    ("options", "wishes"),
    [
        ({}, {}),
        ({"weights": "distance", "n_neighbors": 1}, {"bits": 4}),
        ({"metric": "cosine", "weights": "distance"}, {}),
        ({"metric": "l2"}, {"bits": 9}),
    ],
)
def test_simulated_runs_are_encrypted_ones(options: Any, wishes: Any) -> None:
    """Exactly: nearest records, distances, votes, classes and bytes."""
    made = PrivateNeighbours(model(**options)).fit(XT, np.array(["a", "b", "c"])[YT])
    plan = made.plan(XT, Search(records="public", min_agreement=0.8, **wishes))
    rows = XV[:20]
    run = made.run(rows, progress=False, clip=True)
    simulated = made.run(rows, fhe="simulate", clip=True)
    for name, found in run._asdict().items():
        assert np.array_equal(found, getattr(simulated, name)), name
    assert run.sizes == plan.sizes(len(rows))
    assert run.error is None
    assert (run.predictions == made.predict(rows)).mean() > 0.8
    assert run.indices.shape == (len(rows), plan.neighbours)
    shares = made.predict_proba(rows, fhe="simulate", clip=True)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (made.classes_[shares.argmax(axis=1)] == run.predictions).all()
    # Most of the nearest are those of exact distances.
    _, exact = made.estimator_[-1].kneighbors(made.estimator_[0].transform(rows))
    assert np.mean([len(set(a) & set(b)) for a, b in zip(exact, run.indices, strict=True)]) > (
        (0.95 if "bits" in wishes and wishes["bits"] > 8 else 0.6) * plan.neighbours
    )


def test_more_samples_than_a_query_has() -> None:
    x, y = load_digits(return_X_y=True)
    made = PrivateNeighbours(make_pipeline(PCA(12), KNeighborsClassifier(3)))
    plan = made.fit(x[:200], y[:200]).plan(x[:400], Search(records="public", bits=5))
    run = made.run(x[:40], progress=False)
    assert plan.rows == 16
    assert np.array_equal(run.indices, made.run(x[:40], fhe="simulate").indices)
    assert run.sizes == plan.sizes(40)


def test_two_classes_have_one_score() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    made = PrivateNeighbours(model()).fit(x[:300], y[:300])
    made.plan(x[300:], PUBLIC)
    run = made.run(x[300:340], progress=False)
    assert run.scores.shape == (40,)
    assert ((run.scores > 0) == run.predictions).all()
    assert np.allclose(made.predict_proba(x[300:340], fhe="simulate")[:, 1] - 0.5, run.scores)
    clear = made.predict_proba(x[300:340])[:, 1] - 0.5
    assert np.array_equal(made.decision_function(x[300:340]), clear)


# Parties ------------------------------------------------------------------------------------------


def test_two_sides_that_share_bytes_alone(private: PrivateNeighbours, tmp_path: Path) -> None:
    plan = SearchPlan.from_bytes(private.client().plan.to_bytes())
    client = SearchClient(plan)
    server_file = private._backend.server().to_bytes()
    keys = client.public_keys()
    server = SearchServer.from_bytes(server_file, keys=keys)
    assert server.to_bytes() == server_file
    rows = XV[:16]
    query = client.encrypt(rows).data
    answer = server.answer(query)
    found = client.decrypt(answer, query=query)
    with pytest.raises(hesc.ParameterError, match="give query="):
        client.decrypt(answer)
    expected = private.run(rows, fhe="simulate")
    assert np.array_equal(found.predictions, expected.predictions)
    assert np.array_equal(found.indices, expected.indices)
    shares = client.probabilities(answer, query=query)
    assert np.array_equal(shares, plan.probabilities(expected.scores))
    client.secret.save(tmp_path / "key", passphrase="words")
    secret = hesc.SecretKey.load(plan.params, tmp_path / "key", passphrase="words")
    kept = SearchClient(plan, secret=secret)
    assert np.array_equal(kept.decrypt(answer, query=query).indices, found.indices)
    assert SearchClient(plan, secret=secret, keys=keys).public_keys() == keys
    with pytest.raises(hesc.ParameterError, match="without its public one"):
        kept.public_keys()
    with pytest.raises(hesc.KeyMismatchError):
        SearchClient(plan).decrypt(answer, query=query)
    other = hesc.keygen(hesc.Params.preset("bfv_1024"))[0]
    with pytest.raises(hesc.ParameterError, match="another's"):
        SearchClient(plan, secret=other)
    with pytest.raises(hesc.ShapeError, match="as several"):
        client.encrypt(np.tile(XV, (30, 1)))
    for party in (client, server):
        with pytest.raises(TypeError):
            pickle.dumps(party)


def test_a_server_needs_no_secrets_and_no_scikit_learn(parties: Sides, tmp_path: Path) -> None:
    client, server = parties
    (tmp_path / "server").write_bytes(server.to_bytes())
    (tmp_path / "query").write_bytes(query := client.encrypt(XV[:2]).data)
    (tmp_path / "keys").write_bytes(client.public_keys())
    code = """
import sys
from pathlib import Path
from hesc.protocols import registry

at = Path(sys.argv[1])
server = registry.read_server((at / "server").read_bytes(), keys=(at / "keys").read_bytes())
(at / "answer").write_bytes(server.answer((at / "query").read_bytes()))
assert not {"hesc.secret", "sklearn"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    found = client.decrypt((tmp_path / "answer").read_bytes(), query=query)
    assert len(found.predictions) == 2


def test_other_plans_are_refused(private: PrivateNeighbours, parties: Sides) -> None:
    client, server = parties
    query = client.encrypt(XV[:2]).data
    other = PrivateNeighbours(model(n_neighbors=3)).fit(XT, YT)
    other.plan(XT, PUBLIC)
    asks = other.client()
    served = other.server(keys=asks.public_keys())
    with pytest.raises(hesc.WireError, match="another plan"):
        served.answer(query)
    with pytest.raises(hesc.WireError, match="another plan"):
        client.decrypt(served.answer(asks.encrypt(XV[:2]).data))
    with pytest.raises(hesc.WireError):
        client.decrypt(query)
    answer = server.answer(query)
    with pytest.raises(hesc.WireError):
        server.answer(answer)
    # Parts of other numbers under the plan's own name.
    name = client.plan.digest[:16]
    sent = client.plan.opened(query, Kind.QUERY).parts
    for samples, parts, words in (
        (1, sent, "a part for each"),
        (3, sent, "a part for each"),
        (17, sent * 9, "16 samples at most"),
        (2, (*sent[:1], sent[1][:-1]), "wire|length"),
    ):
        with pytest.raises(hesc.WireError, match=words):
            server.answer(Message(Kind.QUERY, name, samples, parts).to_bytes())
    told = client.plan.opened(answer, Kind.ANSWER).parts
    few = SearchServer(client.plan, private._backend.entries[:5], keys=client.public_keys())
    fewer = client.plan.opened(few.answer(query), Kind.ANSWER).parts
    for samples, parts, words in (
        (2, fewer, "other records"),
        (2, (*fewer[:1], *told[1:]), "different numbers of records"),
        (2, told[:2], "a part for each"),
        (2, (*told[:2], told[2][:-2]), "other records"),
        (1, (told[0], told[2]), "answer is of 1 samples"),
    ):
        lie = Message(Kind.ANSWER, name, samples, parts, name_of(query)).to_bytes()
        with pytest.raises(hesc.WireError, match=words):
            client.decrypt(lie, query=query)
    parts = (*told[:2], bytes(len(told[2])))
    with pytest.raises(hesc.DecryptionError, match="no records have such distances"):
        client.decrypt(Message(Kind.ANSWER, name, 2, parts, name_of(query)).to_bytes(), query=query)


def test_records_are_not_hidden(parties: Sides) -> None:
    _, server = parties
    assert server.answers_left is None


# Deployments --------------------------------------------------------------------------------------


def test_deployments_and_file_commands(tmp_path: Path) -> None:
    labels = np.array(["barolo", "grignolino", "barbera, =1+1"])
    names = [f"feature {n}" for n in range(13)]
    made = PrivateNeighbours(model()).fit(XT, labels[YT])
    made.plan(XT, PUBLIC, names=names)
    made.save(tmp_path / "d", sample=20)
    Deployment.open(tmp_path / "d")
    report = (tmp_path / "d" / "report.html").read_text()
    assert "it has the model in the clear" in report
    assert "Private nearest neighbours" in report
    assert "of 20)" in report
    client, server = tmp_path / "d" / "client", tmp_path / "d" / "server"
    assert json.loads((client / "plan.json").read_bytes())["protocol"] == "search"
    files.keygen(client, tmp_path / "k", tmp_path / "keys")
    rows = XV[:7]
    with (tmp_path / "r.csv").open("x", newline="") as file:
        csv.writer(file).writerows([names[::-1], *rows[:, ::-1].tolist()])
    files.encrypt(tmp_path / "r.csv", client, tmp_path / "k", tmp_path / "q")
    with pytest.raises(hesc.ParameterError, match="leave out --ledger"):
        files.evaluate(
            tmp_path / "q", server, tmp_path / "a", tmp_path / "keys", tmp_path / "count"
        )
    files.evaluate(tmp_path / "q", server, tmp_path / "a", tmp_path / "keys")
    with pytest.raises(hesc.ParameterError, match="--query"):
        files.decrypt(tmp_path / "a", client, tmp_path / "k", tmp_path / "p")
    files.decrypt(
        tmp_path / "a",
        client,
        tmp_path / "k",
        tmp_path / "p",
        probabilities=True,
        query=tmp_path / "q",
    )
    with (tmp_path / "p").open(newline="") as file:
        header, *found = csv.reader(file)
    told = [f"{what} {name}" for what in ("score", "probability") for name in made.classes_]
    assert header == ["prediction", *told]
    run = made.run(rows, fhe="simulate")
    assert [row[0] for row in found] == run.predictions.tolist()
    assert np.array_equal(np.array([row[1:4] for row in found], dtype=float), run.scores)


# Bytes of others ----------------------------------------------------------------------------------


STRANGE: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    64,
    2**31,
    2**70,
    0.5,
    1e308,
    "",
    "x",
    "AAAA",
    "cosine",
    [],
    {},
    [[]],
    {"a": 1},
    {"shape": [1], "f8": "AAAAAAAA8D8="},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = list(value.items()) if isinstance(value, dict) else []
    # Of long lists the ends.
    items = list(enumerate(value))[:2] if isinstance(value, list) else items
    found = [path] if path else []
    for name, item in items:
        found += places(item, (*path, name))
    return found


@pytest.mark.parametrize("kind", ["euclidean", "cosine"])
def test_strange_plans_are_refused_or_are_plans(kind: str) -> None:
    made = PrivateNeighbours(model(metric=kind)).fit(XT, YT)
    made.plan(XT, PUBLIC)
    good = made.client().plan.to_bytes()
    refused = 0
    for path in places(json.loads(good)):
        for strange in STRANGE:
            document = json.loads(good)
            inside = document
            for name in path[:-1]:
                inside = inside[name]
            inside[path[-1]] = strange
            try:
                found = SearchPlan.from_bytes(json.dumps(document).encode())
            except hesc.HescError:
                refused += 1
                continue
            # What can be read can be written, printed, and used.
            assert SearchPlan.from_bytes(found.to_bytes()).digest == found.digest
            assert str(found)
            assert found.sizes(3).up > 0
            try:
                found.rounded(found.prepared(XV[:1]).features, queries=True)
            except hesc.HescError:
                continue
    assert refused > 300
    for data in (b"", b"{}", good[:-1], good + b" {}", good.replace(b"plan 1", b"plan 2")):
        with pytest.raises(hesc.WireError):
            SearchPlan.from_bytes(data)


def test_plans_whose_parts_do_not_go_together(private: PrivateNeighbours) -> None:
    good = json.loads(private._backend.plan.to_bytes())
    for changed, words in (
        ({"metric": "cosine"}, "length 1"),
        ({"metric": "hamming"}, "no step"),
        ({"neighbours": 133}, "fewer records vote"),
        ({"neighbours": 0}, "one at least"),
        ({"labels": "AAAA"}, "4 bytes each"),
        ({"labels": "AAAAAA=="}, "one for each record"),
        ({"labels": None}, "where there are classes"),
        ({"most_records": 134}, "one for each record"),
        ({"records": "secret"}, "records"),
        ({"query_step": 0.25}, "one step"),
        ({"step": 1e-9, "query_step": 1e-9}, "larger step"),
        ({"expanded": 1}, "true or false"),
        ({"shared": 9}, "from 1 to 8"),
        ({"signs": "AAAA"}, "32 random bytes"),
        ({"answers": None}, "fields"),
        ({"names": ["a"]}, "as many names"),
        ({"inputs": 5}, "as many names"),
        ({"inputs": 5, "names": []}, "transform|features|centre"),
    ):
        with pytest.raises(hesc.WireError, match=words):
            SearchPlan.from_bytes(json.dumps(good | changed).encode())


def test_damaged_bytes(private: PrivateNeighbours, parties: Sides) -> None:
    """Errors of hesc's own, or other distances where residues were changed; nothing else."""
    client, server = parties
    query = client.encrypt(XV[:2]).data
    answer = server.answer(query)
    rng = np.random.default_rng(0)
    readers: list[tuple[bytes, Callable[[bytes], Any], int]] = [
        (private._backend.plan.to_bytes(), SearchPlan.from_bytes, 300),
        (server.to_bytes(), SearchServer.from_bytes, 300),
        (client.public_keys(), lambda data: SearchServer(client.plan, keys=data), 100),
        (query, server.answer, 25),
        (answer, lambda data: client.decrypt(data, query=query), 100),
    ]
    for good, read, times in readers:
        refused = 0
        for turn in range(times):
            damaged = bytearray(good)
            head = min(len(good), 300)
            damaged[rng.integers(head if turn % 2 else len(good))] ^= 1 << rng.integers(8)
            data = bytes(damaged) if turn % 3 else bytes(damaged[: rng.integers(len(good))])
            try:
                read(refitted(data))
            except hesc.HescError:
                refused += 1
        assert refused >= times // 2
    document = json.loads(server.to_bytes())
    for vectors in ("", "AAAA", document["vectors"] + "AAAA", 7):
        with pytest.raises(hesc.WireError):
            SearchServer.from_bytes(json.dumps(document | {"vectors": vectors}).encode())
    longer = np.full((1, 13), 32767, dtype="<i2").tobytes()
    wrong = json.dumps(document | {"vectors": base64.b64encode(longer).decode()}).encode()
    with pytest.raises(hesc.WireError, match="does not fit its plan"):
        SearchServer.from_bytes(wrong)


# Refusals -----------------------------------------------------------------------------------------


class Own(KNeighborsClassifier):  # type: ignore[misc]
    """A subclass may compute anything."""


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (KNeighborsClassifier(p=1), "minkowski with p=1.*nearest: metric='euclidean'"),
        (KNeighborsClassifier(metric="manhattan"), "metric manhattan.*euclidean"),
        (KNeighborsClassifier(metric=np.vdot), "metric a function.*euclidean"),
        (
            KNeighborsClassifier(metric="minkowski", metric_params={"w": np.ones(13)}),
            "metric_params.*behind a scaler",
        ),
        (KNeighborsClassifier(weights=lambda d: d), "function are code.*weights='distance'"),
        (RadiusNeighborsClassifier(), "Radius.*nearest: PrivateNeighbours.KNeighborsClassifier"),
        (KNeighborsRegressor(), "KNeighborsRegressor is not"),
        (NearestCentroid(), "NearestCentroid is not.*nearest: KNeighborsClassifier"),
        (Own(), "Own is not.*nearest: KNeighborsClassifier"),
        (SVC(), "SVC is not.*Taken here.*KNeighborsClassifier"),
        (make_pipeline(KernelCenterer(), KNeighborsClassifier()), "KernelCenterer is not"),
        (None, "NoneType is not"),
    ],
    ids=lambda x: str(x)[:30],
)
def test_other_estimators_are_refused(estimator: Any, words: str) -> None:
    with pytest.raises(hesc.ParameterError, match=words):
        PrivateNeighbours(estimator).fit(XT, YT)


def test_other_classes_name_this_one() -> None:
    with pytest.raises(hesc.ParameterError, match="nearest: PrivateNeighbours"):
        hesc.ml.PrivateClassifier(KNeighborsClassifier()).fit(XT, YT)
    with pytest.raises(hesc.ParameterError, match="PrivateNeighbours"):
        hesc.ml.PrivateClassifier(LogisticRegression(max_iter=9000)).fit(XT, YT).plan(XT, PUBLIC)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        (
            Classes(),
            "Parameter",
            "PrivateClassifier has for linear models and trees.*Served are",
        ),
        (Scores(), "Parameter", "counts votes itself"),
        ("distances", "Parameter", "of hesc.ml; got 'distances'"),
        (Outsourced(), "Parameter", "EncryptedGallery"),
        (Parties({"p": [0]}), "Parameter", "hesc.protocols.linkage"),
        (Search, "Parameter", "an object, not its class"),
        (Search(), "Parameter", "clients of a search can compute every record"),
        (Search(records="secret"), "Parameter", "say so by records='public'"),
        (Search(records="public", bits=1), "OutOfRange", "2 to 14"),
        (Search(records="public", bits=1.5), "Shape", "whole"),  # type: ignore[arg-type]
        (Search(records="public", min_agreement=1.5), "Parameter", "from 0 to 1"),
        (Search(records="public", min_agreement=True), "Parameter", "from 0 to 1"),
        (
            Search(records="public", min_agreement="x"),  # type: ignore[arg-type]
            "Shape",
            "real numbers",
        ),
    ],
)
def test_options_that_cannot_be(options: Any, error: str, words: str) -> None:
    made = PrivateNeighbours(model()).fit(XT, YT)
    with pytest.raises(getattr(hesc, f"{error}Error"), match=words):
        made.plan(XT, options)
    with pytest.raises(hesc.ParameterError, match="no plan"):
        made.client()


def test_names_and_options_of_others_are_refused() -> None:
    made = PrivateNeighbours(model()).fit(XT, YT)
    with pytest.raises(hesc.ParameterError, match="names are 13"):
        made.plan(XT, PUBLIC, names=["a"])
    wrong: Any = {"hidden": True}
    with pytest.raises(TypeError, match="unexpected keyword argument 'hidden'"):
        Search(**wrong)


def test_models_that_cannot_be_planned() -> None:
    with pytest.raises(hesc.ParameterError, match="one class"):
        PrivateNeighbours(KNeighborsClassifier()).fit(XT, np.zeros(len(XT))).plan(XT, PUBLIC)
    with pytest.raises(hesc.ParameterError, match="all of them vote"):
        PrivateNeighbours(model(n_neighbors=133)).fit(XT, YT).plan(XT, PUBLIC)
    several = KNeighborsClassifier().fit(XT, np.column_stack([YT, YT]))
    with pytest.raises(hesc.ParameterError, match="several targets"):
        PrivateNeighbours.from_fitted(several)
    zeros = np.vstack([XT, np.zeros(13)])
    cosines = PrivateNeighbours(KNeighborsClassifier(metric="cosine")).fit(zeros, [*YT, 0])
    with pytest.raises(hesc.OutOfRangeError, match="all zeros, which has no direction"):
        cosines.plan(XT, PUBLIC)


def test_samples_that_are_refused(private: PrivateNeighbours, parties: Sides) -> None:
    client, _ = parties
    secret = XV[:2].copy()
    secret[1, 3] = np.nan
    for bad, error, words in (
        (secret, hesc.OutOfRangeError, "no finite numbers"),
        (np.full((1, 13), np.inf), hesc.OutOfRangeError, "no finite numbers"),
        (np.full((1, 13), 1.7e308), hesc.OutOfRangeError, "finite"),
        (np.zeros((1, 12)), hesc.ShapeError, "rows of 13"),
        (np.zeros((0, 13)), hesc.ShapeError, "rows of 13"),
        (np.array([["x"] * 13]), hesc.ShapeError, "real numbers"),
    ):
        with pytest.raises(error, match=words) as raised:
            client.encrypt(bad)
        assert "1.7e" not in str(raised.value)
    cosines = PrivateNeighbours(KNeighborsClassifier(metric="cosine")).fit(XT, YT)
    plan = cosines.plan(XT, Search(records="public", min_agreement=0.5))
    rows = XV[:3].copy()
    rows[1] = 0
    with pytest.raises(hesc.OutOfRangeError, match="vector 1 is all zeros"):
        plan.prepared(rows)
    with pytest.raises(hesc.OutOfRangeError, match="vector 1 is all zeros"):
        cosines.run(rows, fhe="simulate")
    # Far from all records a sample is refused, or brought nearer in its own direction.
    with pytest.raises(hesc.OutOfRangeError, match="clip=True"):
        private.predict(XV[:1] * 1e6, fhe="simulate")
    with pytest.warns(UserWarning, match="13 values in 1 of 1 samples"):
        assert private.predict(XV[:1] * 1e6, fhe="simulate", clip=True).shape == (1,)


def test_plans_are_of_the_model_as_it_is() -> None:
    made = PrivateNeighbours(model()).fit(XT, YT)
    made.plan(XT, PUBLIC)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - of our own
    for other in (again, clone(made).fit(XT, YT)):
        with pytest.raises(hesc.ParameterError, match="no plan"):
            other.predict(XV, fhe="execute")
    made.estimator_[-1].n_neighbors = 3
    with pytest.raises(hesc.ParameterError, match="changed since"):
        made.predict(XV, fhe="simulate")
    made.plan(XT, PUBLIC)
    made.estimator_[-1]._fit_X[0] += 1
    with pytest.raises(hesc.ParameterError, match="changed since"):
        made.client()
    fitted = PrivateNeighbours.from_fitted(model().fit(XT, YT))
    fitted.plan(XT, PUBLIC)
    assert np.array_equal(fitted.predict(XV), model().fit(XT, YT).predict(XV))


def test_fitted_on_sparse_records() -> None:
    from scipy.sparse import csr_matrix

    x, y = load_digits(return_X_y=True)
    fitted = KNeighborsClassifier().fit(csr_matrix(x[:300]), y[:300])
    made = PrivateNeighbours.from_fitted(fitted)
    plan = made.plan(x[300:400], PUBLIC)
    assert plan.agreement is not None
    assert (made.predict(x[300:400], fhe="simulate") == made.predict(x[300:400])).mean() > 0.9

"""Nearest neighbours by codes: votes, what a plan states, parties, and what is refused."""

from __future__ import annotations

import csv
import json
import math
import pickle
import subprocess
import sys
from dataclasses import replace
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
from hesc.codes import EncryptedCodes, SignProjection, hamming, sets
from hesc.codes.secret import encrypt_codes
from hesc.ml import (
    Classes,
    Deployment,
    Neighbours,
    NeighboursClient,
    NeighboursPlan,
    NeighboursServer,
    Outsourced,
    Parties,
    PrivateNeighbours,
    Scores,
)
from hesc.protocols.message import Kind, Message, name_of
from hesc.protocols.neighbours import voting
from hesc.protocols.neighbours.coding import Coding
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


def model(**options: Any) -> Any:
    return make_pipeline(StandardScaler(), KNeighborsClassifier(**options))


@pytest.fixture(scope="module")
def private() -> PrivateNeighbours:
    made = PrivateNeighbours(model()).fit(XT, YT)
    made.plan(XT, names=[f"f{n}" for n in range(13)])
    return made


Sides = tuple[NeighboursClient, NeighboursServer]


@pytest.fixture(scope="module")
def parties(private: PrivateNeighbours) -> Sides:
    return private.client(), private.server()


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


def test_angles_stand_for_distances_of_vectors_of_one_length() -> None:
    """Chords, and one less the cosine: up to a factor those of vectors with these angles."""
    angles = np.linspace(0, np.pi, 64)
    ends = np.column_stack([np.cos(angles), np.sin(angles)])
    chords = np.linalg.norm(ends - ends[0], axis=1)
    for metric, expected in (("euclidean", chords), ("cosine", 1 - ends @ ends[0])):
        found = voting.apart(angles, metric)
        assert np.allclose(found * expected[-1], expected * found[-1], atol=1e-12)
        assert (np.diff(found) > 0).all()


def test_of_equal_distances_the_earlier_record_is_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    distances = np.array([[5, 3, 5, 3, 0], [2, 2, 2, 2, 2], [9, 8, 7, 6, 6]], dtype=np.uint32)
    found = voting.nearest_of(distances, 3, 64)
    assert found.indices.tolist() == [[4, 1, 3], [0, 1, 2], [3, 4, 2]]
    assert np.allclose(found.angles, np.pi / 64 * np.array([[0, 3, 3], [2, 2, 2], [6, 6, 7]]))
    # In parts it is the same.
    monkeypatch.setattr(voting, "_CELLS", 5)
    assert np.array_equal(voting.nearest_of(distances, 3, 64).indices, found.indices)


# Codes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [True, False])
def test_angles_err_as_their_law_says(lengths: bool) -> None:
    """Over independent projections, each pair of rows has a binomial number of bits that differ."""
    rng = np.random.default_rng(1)
    records = 3 + rng.normal(size=(40, 6)) * [1, 2, 0.1, 1, 1, 5]
    z = []
    for seed in range(60):
        coding = Coding.of_records(records, lengths=lengths, bits=512, seed=seed)
        lifted = records
        if coding.centre is not None:
            lifted = np.column_stack([records - coding.centre, np.full(40, coding.lift)])
        unit = lifted / np.linalg.norm(lifted, axis=1, keepdims=True)
        true = np.arccos(np.clip((unit[:20] * unit[20:]).sum(axis=1), -1, 1))
        codes = coding.encode(records)
        found = np.diagonal(coding.projection.angles(hamming(codes[:20], codes[20:])))
        share = true / np.pi
        z.append((found - true) / (np.pi * np.sqrt(share * (1 - share) / 512)))
    # 1,200 numbers of deviation 1, whose root mean square has one of 0.02.
    assert np.sqrt(np.mean(np.square(z))) == pytest.approx(1, abs=0.1)
    assert abs(np.mean(z)) < 0.15


def test_what_is_public_of_records_is_rounded() -> None:
    rng = np.random.default_rng(2)
    records = np.column_stack([rng.normal(100, 3, 500), rng.normal(0, 0.01, 500), np.full(500, 7)])
    coding = Coding.of_records(records, lengths=True, bits=64, seed=0)
    assert coding.centre is not None
    mean, deviation = records.mean(axis=0), records.std(axis=0)
    assert (np.abs(coding.centre - mean)[:2] <= deviation[:2] / 8).all()
    # Multiples of a quarter to half of an eighth, for deviations of 3 and 0.01.
    assert np.allclose(coding.centre[:2] % [0.5, 2.0**-10], 0)
    assert 0.5 <= coding.lift / np.linalg.norm(deviation) <= 2
    assert np.frexp(coding.lift)[0] == 0.5


def test_a_code_tells_its_record() -> None:
    """What a plan that hides nothing says of records: a linear estimate finds them, roughly."""
    made = PrivateNeighbours(model()).fit(XT, YT)
    plan = made.plan(XT)
    records = StandardScaler().fit(XT).transform(XT)
    codes = made._backend.codes
    drawn = plan.coding.projection
    signs = 2.0 * np.unpackbits(codes.view(np.uint8), axis=1, bitorder="little") - 1
    found = signs @ drawn.projections.T
    assert plan.coding.centre is not None
    found = found[:, :-1] / found[:, -1:] * plan.coding.lift + plan.coding.centre
    left = np.sqrt(np.square(found - records).sum() / np.square(records).sum())
    assert left < 0.4


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


@pytest.mark.parametrize("name", SETS)
def test_classes_are_mostly_those_of_exact_neighbours(name: str) -> None:
    """On rows that training has not seen; and the agreement stated is that of such rows."""
    x, y = SETS[name](return_X_y=True)
    stated, found = [], []
    for seed in range(3):
        xt, xv, yt, yv = train_test_split(x, y, random_state=seed)
        made = PrivateNeighbours(KNeighborsClassifier() if name == "digits" else model())
        plan = made.fit(xt, yt).plan(xt, Neighbours(random_state=seed))
        simulated = made.predict(xv, fhe="simulate")
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
    bare, found = (PrivateNeighbours(clone(pipe)).fit(x, labels).plan(x) for x in (rows, wide))
    assert found.agreement is not None
    assert bare.agreement is not None
    assert found.agreement > bare.agreement - 0.03
    assert found.coding.lift == bare.coding.lift
    assert found.coding.centre is not None
    if not scaled:
        step = rows.std() / 8
        left = np.abs(found.coding.centre[4:] - constant)
        assert (left <= step).all()
        assert left.any() or constant != 1e6 + 0.3


@pytest.mark.parametrize("size", [1e156, 1e300])
@pytest.mark.parametrize("vary", [True, False])
def test_records_without_distances_are_refused(size: float, vary: bool) -> None:
    """Squares beyond all doubles are no lengths, and nothing is wrong with single numbers."""
    rows = np.random.default_rng(0).uniform(-1, 1, (60, 4)) if vary else np.full((60, 4), 0.7)
    with np.errstate(over="ignore"):
        private = PrivateNeighbours(KNeighborsClassifier()).fit(size * rows, np.arange(60) % 2)
        with pytest.raises(hesc.OutOfRangeError, match="scale features"):
            private.plan(size * rows, Neighbours(min_agreement=0))


def test_no_row_is_its_own_neighbour() -> None:
    """Agreement beside one record left out at a time, by scikit-learn and numpy alone."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 8))
    # Classes of nothing: only a row itself would know its own.
    y = rng.integers(0, 2, 60)
    x[50:] = x[40:50]
    made = PrivateNeighbours(KNeighborsClassifier(1)).fit(x, y)
    plan = made.plan(x, Neighbours(min_agreement=0))
    coding = plan.coding
    assert coding.centre is not None
    lifted = np.column_stack([x - coding.centre, np.full(60, coding.lift)])
    codes = SignProjection(9, bits=960, random_state=0).encode(lifted)
    same = []
    for row in range(40):
        others = np.arange(60) != row
        exact = KNeighborsClassifier(1).fit(x[others], y[others]).predict(x[[row]])
        nearest = hamming(codes[[row]], codes[others]).argmin()
        same.append(y[others][nearest] == exact[0])
    # Rows that are there twice have a record of their own left, and it is the nearest by both.
    assert plan.agreement is not None
    assert plan.agreement == pytest.approx((sum(same) + 20) / 60)
    assert plan.agreement < 0.95
    with pytest.raises(hesc.ParameterError, match=r"fewer than min_agreement=0\.99"):
        made.plan(x, Neighbours(min_agreement=0.99))
    # Other rows have no record of their own.
    assert made.plan(x[:40] + 1e-3, Neighbours(min_agreement=0)).agreement == 1


def test_what_a_plan_says(private: PrivateNeighbours) -> None:
    told = " ".join(str(private._backend.plan).split())
    for words in (
        "THE CLIENT CAN COMPUTE EVERY RECORD'S CODE",
        "estimated distance of each to EVERY record",
        "the class of each of 133 records",
        "distances of 14 samples locate every record",
        "no sample, no distance, no class",
        "centres and scales of the training data",
        "5 nearest of 133, each with one vote",
        "have the class of exact nearest neighbours",
    ):
        assert words in told
    data = private.client().plan.to_bytes()
    assert b"agreement" not in data
    assert b"codes" not in data
    by_distance = PrivateNeighbours(model(weights="distance")).fit(XT, YT).plan(XT)
    assert "the inverse of its estimated distance" in str(by_distance)


def test_candidates(private: PrivateNeighbours) -> None:
    found = str(private.candidates(5))
    assert "* codes" in found


# Runs ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "wishes"),
    [
        ({}, {}),
        ({"weights": "distance", "n_neighbors": 1}, {"bits": 256, "random_state": 7}),
        ({"metric": "cosine", "weights": "distance"}, {}),
        ({"metric": "l2"}, {"bits": 512}),
    ],
)
def test_simulated_runs_are_encrypted_ones(options: Any, wishes: Any) -> None:
    """Exactly: nearest records, angles, votes, classes and bytes."""
    made = PrivateNeighbours(model(**options)).fit(XT, np.array(["a", "b", "c"])[YT])
    plan = made.plan(XT, Neighbours(min_agreement=0.8, **wishes))
    rows = XV[: min(20, plan.rows)]
    run = made.run(rows, progress=False)
    simulated = made.run(rows, fhe="simulate")
    for name, found in run._asdict().items():
        assert np.array_equal(found, getattr(simulated, name)), name
    assert run.sizes == plan.sizes(len(rows))
    assert run.error is None
    assert (run.predictions == made.predict(rows)).mean() > 0.8
    assert run.indices.shape == (len(rows), plan.neighbours)
    shares = made.predict_proba(rows, fhe="simulate")
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (made.classes_[shares.argmax(axis=1)] == run.predictions).all()
    # The nearest by codes are near: within the angles that errors of codes explain.
    _, exact = made.estimator_[-1].kneighbors(made.estimator_[0].transform(rows))
    assert np.mean([len(set(a) & set(b)) for a, b in zip(exact, run.indices, strict=True)]) > (
        0.45 * plan.neighbours
    )


def test_more_samples_than_a_query_has() -> None:
    x, y = load_digits(return_X_y=True)
    made = PrivateNeighbours(make_pipeline(PCA(12), KNeighborsClassifier(3)))
    plan = made.fit(x[:200], y[:200]).plan(x[200:400], Neighbours(bits=64, min_agreement=0.5))
    run = made.run(x, progress=False)
    assert np.array_equal(run.indices, made.run(x, fhe="simulate").indices)
    assert run.sizes == plan.sizes(len(x)) == tuple(2 * n for n in plan.sizes(1))


def test_two_classes_have_one_score() -> None:
    x, y = load_breast_cancer(return_X_y=True)
    made = PrivateNeighbours(model()).fit(x[:300], y[:300])
    made.plan(x[300:])
    run = made.run(x[300:340], progress=False)
    assert run.scores.shape == (40,)
    assert ((run.scores > 0) == run.predictions).all()
    assert np.allclose(made.predict_proba(x[300:340], fhe="simulate")[:, 1] - 0.5, run.scores)
    clear = made.predict_proba(x[300:340])[:, 1] - 0.5
    assert np.array_equal(made.decision_function(x[300:340]), clear)


# Parties ------------------------------------------------------------------------------------------


def test_two_sides_that_share_bytes_alone(private: PrivateNeighbours, tmp_path: Path) -> None:
    plan = NeighboursPlan.from_bytes(private.client().plan.to_bytes())
    client = NeighboursClient(plan)
    server_file = private.server().to_bytes()
    server = NeighboursServer.from_bytes(server_file)
    assert server.to_bytes() == server_file
    answer = server.answer(client.encrypt(XV).data)
    found = client.decrypt(answer)
    expected = private.run(XV, fhe="simulate")
    assert np.array_equal(found.predictions, expected.predictions)
    assert np.array_equal(found.indices, expected.indices)
    assert np.array_equal(client.probabilities(answer), plan.probabilities(expected.scores))
    client.secret.save(tmp_path / "key", passphrase="words")
    secret = hesc.SecretKey.load(plan.params, tmp_path / "key", passphrase="words")
    kept = NeighboursClient(plan, secret=secret)
    assert np.array_equal(kept.decrypt(answer).indices, found.indices)
    with pytest.raises(hesc.ParameterError, match="without its public one"):
        kept.public_keys()
    with pytest.raises(hesc.KeyMismatchError):
        NeighboursClient(plan).decrypt(answer)
    other = hesc.keygen(hesc.Params.preset("bfv_1024"))[0]
    with pytest.raises(hesc.ParameterError, match="another's"):
        NeighboursClient(plan, secret=other)
    with pytest.raises(hesc.ShapeError, match="as several"):
        client.encrypt(np.tile(XV, (30, 1)))
    for party in (client, server):
        with pytest.raises(TypeError):
            pickle.dumps(party)


def test_a_server_needs_no_secrets_and_no_scikit_learn(parties: Sides, tmp_path: Path) -> None:
    client, server = parties
    (tmp_path / "server").write_bytes(server.to_bytes())
    (tmp_path / "query").write_bytes(client.encrypt(XV[:2]).data)
    code = """
import sys
from pathlib import Path
from hesc.protocols import registry

at = Path(sys.argv[1])
server = registry.read_server((at / "server").read_bytes())
(at / "answer").write_bytes(server.answer((at / "query").read_bytes()))
assert not {"hesc.secret", "sklearn"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    found = client.decrypt((tmp_path / "answer").read_bytes())
    assert len(found.predictions) == 2


def test_other_plans_are_refused(private: PrivateNeighbours, parties: Sides) -> None:
    client, server = parties
    query = client.encrypt(XV[:2]).data
    other = PrivateNeighbours(model(n_neighbors=3)).fit(XT, YT)
    other.plan(XT)
    with pytest.raises(hesc.WireError, match="another plan"):
        other.server().answer(query)
    with pytest.raises(hesc.WireError, match="another plan"):
        client.decrypt(other.server().answer(other.client().encrypt(XV[:2]).data))
    with pytest.raises(hesc.WireError):
        client.decrypt(query)
    with pytest.raises(hesc.WireError):
        server.answer(server.answer(query))
    # Codes and distances of other shapes under the plan's own name.
    name, params = client.plan.digest[:16], client.plan.params
    for codes, samples, words in (
        (np.zeros((2, 3), np.uint64), 2, "codes of 960 bits"),
        (np.zeros((2, 15), np.uint64), 3, "one for each of its samples"),
        (np.zeros((1025, 15), np.uint64), 1024, "one for each of its samples"),
        (np.zeros((1025, 15), np.uint64), 1025, "1024 samples at most"),
    ):
        asked = encrypt_codes(client.secret, codes)
        with pytest.raises(hesc.WireError, match=words):
            server.answer(Message(Kind.QUERY, name, samples, (asked,)).to_bytes())
    read = EncryptedCodes.from_bytes(params, encrypt_codes(client.secret, codes[:2]))
    for records, samples, words in ((5, 2, "other records"), (133, 1, "answer is of 2 samples")):
        data = read.distances(private._backend.codes[:records]).to_bytes()
        lie = Message(Kind.ANSWER, name, samples, (data,), name_of(query)).to_bytes()
        with pytest.raises(hesc.WireError, match=words):
            client.decrypt(lie)


def test_codes_are_not_hidden_and_servers_take_no_keys(parties: Sides) -> None:
    _, server = parties
    assert server.answers_left is None
    with pytest.raises(hesc.ParameterError, match="leave out keys"):
        NeighboursServer.from_bytes(server.to_bytes(), keys=b"x")


# Deployments --------------------------------------------------------------------------------------


def test_deployments_and_file_commands(tmp_path: Path) -> None:
    labels = np.array(["barolo", "grignolino", "barbera, =1+1"])
    names = [f"feature {n}" for n in range(13)]
    made = PrivateNeighbours(model()).fit(XT, labels[YT])
    made.plan(XT, names=names)
    made.save(tmp_path / "d", sample=20)
    Deployment.open(tmp_path / "d")
    report = (tmp_path / "d" / "report.html").read_text()
    assert "it has the model in the clear" in report
    assert "Private nearest neighbours" in report
    assert "of 20)" in report
    client, server = tmp_path / "d" / "client", tmp_path / "d" / "server"
    assert json.loads((client / "plan.json").read_bytes())["protocol"] == "neighbours"
    files.keygen(client, tmp_path / "k")
    rows = XV[:7]
    with (tmp_path / "r.csv").open("x", newline="") as file:
        csv.writer(file).writerows([names[::-1], *rows[:, ::-1].tolist()])
    files.encrypt(tmp_path / "r.csv", client, tmp_path / "k", tmp_path / "q")
    with pytest.raises(hesc.ParameterError, match="leave out --ledger"):
        files.evaluate(tmp_path / "q", server, tmp_path / "a", None, tmp_path / "count")
    files.evaluate(tmp_path / "q", server, tmp_path / "a")
    files.decrypt(tmp_path / "a", client, tmp_path / "k", tmp_path / "p", probabilities=True)
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
    made.plan(XT)
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
                found = NeighboursPlan.from_bytes(json.dumps(document).encode())
            except hesc.HescError:
                refused += 1
                continue
            # What can be read can be written, printed, and used.
            assert NeighboursPlan.from_bytes(found.to_bytes()).digest == found.digest
            assert str(found)
            assert found.sizes(3).up > 0
            try:
                found.coding.encode(found.prepared(XV[:1]).features)
            except hesc.HescError:
                continue
    assert refused > 300
    for data in (b"", b"{}", good[:-1], good + b" {}", good.replace(b"plan 1", b"plan 2")):
        with pytest.raises(hesc.WireError):
            NeighboursPlan.from_bytes(data)


def test_plans_whose_parts_do_not_go_together(private: PrivateNeighbours) -> None:
    good = json.loads(private._backend.plan.to_bytes())
    for changed, words in (
        ({"metric": "cosine"}, "no centre"),
        ({"neighbours": 133}, "fewer records vote"),
        ({"labels": [0, 1, 3]}, "places of classes"),
        ({"labels": [0] * 65537}, "65536 labels"),
        ({"answers": None}, "fields"),
        ({"names": ["a"]}, "as many names"),
        ({"inputs": 5}, "as many names"),
        ({"inputs": 5, "names": []}, "transform"),
    ):
        with pytest.raises(hesc.WireError, match=words):
            NeighboursPlan.from_bytes(json.dumps(good | changed).encode())
    for coding, words in (
        ({"bits": 100}, "multiple of 64"),
        ({"bits": 1024}, "960 bits at most"),
        ({"bits": 4096, "features": 13}, "960 bits at most"),
        ({"seed": 2**32}, "seed below"),
        ({"lift": 3.0}, "power of two"),
        ({"lift": 0.0}, "or neither"),
        ({"features": 12}, "or neither"),
        ({"digest": "A" * 64}, "hexadecimal"),
    ):
        document = good | {"coding": good["coding"] | coding}
        with pytest.raises(hesc.WireError, match=words):
            NeighboursPlan.from_bytes(json.dumps(document).encode())


def test_projections_that_numpy_draws_otherwise(private: PrivateNeighbours) -> None:
    """Codes would not compare: refused before anything is encrypted."""
    plan = private._backend.plan
    other = replace(plan, coding=replace(plan.coding, digest="0" * 64))
    with pytest.raises(hesc.ParameterError, match="draws other projections"):
        NeighboursClient(other).encrypt(XV[:1])
    assert SignProjection(3, bits=64, random_state=0).digest != plan.coding.digest
    # As numpy's generator gave them when this was written.
    assert SignProjection(2, bits=64, random_state=1).digest.startswith("0e3e7c324641f034")


def test_damaged_bytes(private: PrivateNeighbours, parties: Sides) -> None:
    """Errors of hesc's own, or other distances where residues were changed; nothing else."""
    client, server = parties
    query = client.encrypt(XV[:2]).data
    answer = server.answer(query)
    rng = np.random.default_rng(0)
    readers: list[tuple[bytes, Callable[[bytes], Any], int]] = [
        (private._backend.plan.to_bytes(), NeighboursPlan.from_bytes, 300),
        (server.to_bytes(), NeighboursServer.from_bytes, 300),
        (query, server.answer, 25),
        (answer, client.decrypt, 100),
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
    for codes in ("", "AAAA", document["codes"] + "AAAA", 7, None):
        with pytest.raises(hesc.WireError):
            NeighboursServer.from_bytes(json.dumps(document | {"codes": codes}).encode())


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
        hesc.ml.PrivateClassifier(LogisticRegression(max_iter=9000)).fit(XT, YT).plan(
            XT, Neighbours()
        )


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
        (Neighbours, "Parameter", "an object, not its class"),
        (Neighbours(bits=100), "Parameter", "multiple of 64"),
        (Neighbours(bits=1024), "OutOfRange", "64 to 960"),
        (Neighbours(bits=1.5), "Shape", "whole number"),  # type: ignore[arg-type]
        (Neighbours(min_agreement=1.5), "Parameter", "from 0 to 1"),
        (Neighbours(min_agreement=True), "Parameter", "from 0 to 1"),
        (Neighbours(min_agreement="x"), "Shape", "real numbers"),  # type: ignore[arg-type]
        (Neighbours(random_state=-1), "OutOfRange", "random_state"),
        (Neighbours(random_state=2**32), "OutOfRange", "random_state"),
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
        made.plan(XT, names=["a"])
    assert "most of their variance" in " ".join(str(Neighbours.__doc__).split())
    wrong: Any = {"hidden": True}
    with pytest.raises(TypeError, match="unexpected keyword argument 'hidden'"):
        Neighbours(**wrong)


def test_models_that_cannot_be_planned() -> None:
    with pytest.raises(hesc.ParameterError, match="one class"):
        PrivateNeighbours(KNeighborsClassifier()).fit(XT, np.zeros(len(XT))).plan(XT)
    with pytest.raises(hesc.ParameterError, match="all of them vote"):
        PrivateNeighbours(model(n_neighbors=133)).fit(XT, YT).plan(XT)
    several = KNeighborsClassifier().fit(XT, np.column_stack([YT, YT]))
    with pytest.raises(hesc.ParameterError, match="several targets"):
        PrivateNeighbours.from_fitted(several)
    zeros = np.vstack([XT, np.zeros(13)])
    cosines = PrivateNeighbours(KNeighborsClassifier(metric="cosine")).fit(zeros, [*YT, 0])
    with pytest.raises(hesc.OutOfRangeError, match="zeros has no direction"):
        cosines.plan(XT)


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
    plan = cosines.plan(XT, Neighbours(min_agreement=0.5))
    rows = XV[:3].copy()
    rows[1] = 0
    with pytest.raises(hesc.OutOfRangeError, match="sample 1 is all zeros"):
        plan.prepared(rows)
    with pytest.raises(hesc.OutOfRangeError, match="sample 1 is all zeros"):
        cosines.run(rows, fhe="simulate")
    # Far from all records there are nearest ones too.
    assert private.predict(XV[:1] * 1e6, fhe="simulate").shape == (1,)


def test_plans_are_of_the_model_as_it_is() -> None:
    made = PrivateNeighbours(model()).fit(XT, YT)
    made.plan(XT)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - of our own
    for other in (again, clone(made).fit(XT, YT)):
        with pytest.raises(hesc.ParameterError, match="no plan"):
            other.predict(XV, fhe="execute")
    made.estimator_[-1].n_neighbors = 3
    with pytest.raises(hesc.ParameterError, match="changed since"):
        made.predict(XV, fhe="simulate")
    made.plan(XT)
    made.estimator_[-1]._fit_X[0] += 1
    with pytest.raises(hesc.ParameterError, match="changed since"):
        made.client()
    fitted = PrivateNeighbours.from_fitted(model().fit(XT, YT))
    fitted.plan(XT)
    assert np.array_equal(fitted.predict(XV), model().fit(XT, YT).predict(XV))


def test_fitted_on_sparse_records() -> None:
    from scipy.sparse import csr_matrix

    x, y = load_digits(return_X_y=True)
    fitted = KNeighborsClassifier().fit(csr_matrix(x[:300]), y[:300])
    made = PrivateNeighbours.from_fitted(fitted)
    plan = made.plan(x[300:400])
    assert plan.agreement is not None
    assert (made.predict(x[300:400], fhe="simulate") == made.predict(x[300:400])).mean() > 0.9

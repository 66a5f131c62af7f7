"""Models that their server has under encryption: parties, files, hostile bytes, refusals."""

from __future__ import annotations

import base64
import json
import pickle
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import hesc
from hesc.cli import files, outsourcing
from hesc.ml import (
    ClientFolder,
    Deployment,
    LinearPlan,
    LinearServer,
    Outsourced,
    OutsourcedClient,
    OutsourcedOwner,
    OutsourcedPlan,
    OutsourcedServer,
    OwnerFolder,
    PrivateClassifier,
    PrivateMLPRegressor,
    PrivateRegressor,
    ServerFolder,
)
from hesc.protocols import folders, registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X, Y = load_iris(return_X_y=True)
NAMES = ("a", "b", "c", "d")
RNG = np.random.default_rng(31)


def private(*, own: bool = False, **wishes: Any) -> PrivateClassifier:
    made = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, Y)
    made.plan(X, Outsourced(own_model=own, **wishes), names=NAMES)
    return made


class World(NamedTuple):
    """Everybody's things."""

    made: PrivateClassifier
    client: OutsourcedClient
    owner: OutsourcedOwner
    server: OutsourcedServer


def world(own: bool) -> World:
    made = private(own=own)
    client, owner = made.client(), made.owner()
    data = client.encrypt_model(owner) if own else owner.encrypt_model(client.public_keys())
    return World(made, client, owner, OutsourcedServer.from_bytes(data))


@pytest.fixture(scope="module", params=[False, True], ids=["public", "own"])
def both(request: pytest.FixtureRequest) -> World:
    return world(request.param)


@pytest.fixture(scope="module")
def public() -> World:
    return world(own=False)


def test_stated_errors_are_true(both: World) -> None:
    """Of many samples that fill ciphertexts: z-scores by the law and by the plan's largest error.

    The mean square of 12,000 related normal numbers has a deviation of 0.03, and leaves 0.83 to
    1.19 once in 10^8.
    """
    made, client, owner, server = both
    rows = RNG.uniform(X.min(axis=0), X.max(axis=0), (4000, 4))
    answer = server.answer(client.encrypt(rows).data)
    found = client.decrypt(answer)
    errors = found.scores - made.decision_function(rows)
    plan = client.plan
    law = plan.errors_of(owner.weights.weights, plan.prepared(rows).features)
    assert (law <= plan.error * (1 + 1e-9)).all()
    z = errors / law
    assert 0.83 < np.square(z).mean() < 1.19
    assert np.abs(z).max() < 7
    assert plan.sizes(len(rows)) == (len(client.encrypt(rows).data), len(answer))
    assert (found.predictions == made.predict(rows)).mean() > 0.98


def test_simulated_errors_follow_the_law_of_shared_ciphertexts(both: World) -> None:
    made, client, owner, _ = both
    rows = RNG.uniform(X.min(axis=0), X.max(axis=0), (4000, 4))
    run = made.run(rows, fhe="simulate", random_state=3, progress=False)
    errors = run.scores - made.decision_function(rows)
    plan = client.plan
    z = errors / plan.errors_of(owner.weights.weights, plan.prepared(rows).features)
    assert 0.9 < np.square(z).mean() < 1.1
    # A sample alone in its ciphertext has less noise than one that shares it.
    alone = plan.errors_of(owner.weights.weights, plan.prepared(rows[:1]).features)
    assert (alone < plan.errors_of(owner.weights.weights, plan.prepared(rows).features)[:1]).all()


@pytest.mark.parametrize(
    "made",
    [
        PrivateRegressor(make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge())),
        PrivateClassifier(GradientBoostingClassifier(max_depth=1, n_estimators=9, random_state=0)),
    ],
    ids=["regressor", "scorecard"],
)
@pytest.mark.parametrize("own", [False, True])
def test_all_linear_estimators(made: Any, own: bool) -> None:
    made.fit(X, Y)
    plan = made.plan(X, Outsourced(own_model=own))
    assert isinstance(plan, OutsourcedPlan)
    run = made.run(X, progress=False)
    truth = made._served().truth(X, made._truth(X)[0])
    assert np.abs(run.scores - truth.reshape(run.scores.shape)).max() < 7 * plan.error


def test_nothing_that_a_server_holds_tells_the_weights(both: World) -> None:
    """Two models of one plan differ in ciphertexts alone; weights are in no document of theirs."""
    made, client, owner, server = both
    document = json.loads(server.to_bytes())
    assert set(document) == {"format", "protocol", "plan", "model"}
    clear = json.loads(owner.to_bytes())
    data = server.to_bytes()
    for part in ("weights", "intercepts"):
        assert clear[part]["f8"].encode() not in data
        assert clear[part]["f8"][:11].encode() not in client.plan.to_bytes()
    other = OutsourcedOwner(owner.plan, owner.weights.weights / 2, owner.weights.intercepts / 2)
    assert made._served().sides(server)["owner"]["model.json"] == owner.to_bytes()
    again = (
        client.encrypt_model(other)
        if client.plan.own_model
        else other.encrypt_model(client.public_keys())
    )
    assert len(again) == len(data)
    # Beside the seed or the words, the same: nothing of the weights but ciphertexts.
    first, second = (base64.b64decode(json.loads(d)["model"]) for d in (data, again))
    differ = [at for at, (a, b) in enumerate(zip(first, second, strict=True)) if a != b]
    assert len(differ) > 0.95 * (len(first) - differ[0])


def test_a_plan_says_who_learns_what(public: World) -> None:
    text = str(public.client.plan)
    for said in ("outsourced", "THE CLIENT CAN COMPUTE ALL OF THEM", "bounds of weights", "bytes"):
        assert said in text
    assert "no sample, no weight, no score" in text
    assert "the client itself" in str(world(own=True).client.plan)
    assert repr(public.server).startswith(
        "<hesc.protocols.outsourced.OutsourcedServer: <hesc.ml.Outs"
    )


def test_bounds_are_powers_of_two_and_weights_keep_to_them(public: World) -> None:
    made, client, owner, _ = public
    plan = OutsourcedPlan.from_bytes(client.plan.to_bytes())
    assert plan.to_bytes() == client.plan.to_bytes()
    bounds = hesc.ring_products.Bounds.of_model(
        owner.weights.weights, owner.weights.intercepts, low=plan.ring.ranges[0], high=X.max(axis=0)
    )
    assert all(np.log2(bound) % 1 == 0 for bound in bounds)
    too_large = OutsourcedOwner(plan, owner.weights.weights * 8, owner.weights.intercepts)
    with pytest.raises(hesc.OutOfRangeError, match="declares"):
        too_large.encrypt_model(client.public_keys())
    # Another model within the same bounds is served under the same plan and key.
    halved = OutsourcedOwner(plan, owner.weights.weights / 2, owner.weights.intercepts / 2)
    server = OutsourcedServer.from_bytes(halved.encrypt_model(client.public_keys()))
    found = client.decrypt(server.answer(client.encrypt(X).data))
    assert np.abs(found.scores - made.decision_function(X) / 2).max() < 7 * plan.error


def test_kept_keys_and_other_clients(both: World, tmp_path: Path) -> None:
    client, server = both.client, both.server
    client.secret.save(tmp_path / "key")
    kept = registry.client_of(
        client.plan, secret=hesc.SecretKey.load(client.plan.params, tmp_path / "key")
    )
    answer = server.answer(kept.encrypt(X[:3]).data)
    assert np.array_equal(kept.decrypt(answer).scores, client.decrypt(answer).scores)
    stranger = OutsourcedClient(client.plan)
    with pytest.raises(hesc.KeyMismatchError):
        server.answer(stranger.encrypt(X[:3]).data)
    with pytest.raises(hesc.KeyMismatchError):
        stranger.decrypt(answer)
    for party in (client, both.owner, server):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(party)


@cache
def clear() -> PrivateClassifier:
    made = PrivateClassifier(LogisticRegression(max_iter=1000)).fit(X, Y)
    made.plan(X)
    return made


def clear_client() -> Any:
    return clear().client()


def clear_answer() -> bytes:
    made = clear()
    answer: bytes = made.server().answer(made.client().encrypt(X[:2]).data)
    return answer


def other_keys() -> bytes:
    """Of another set."""
    _, keys = hesc.keygen(hesc.Params.preset("ckks_4096"), products=False)
    return keys.to_bytes()


def relabelled(world: World | None = None) -> bytes:
    """A plan under the other protocol's name."""
    if world is None:
        data: bytes = clear_client().plan.to_bytes()
        return data.replace(b'"linear"', b'"outsourced"')
    return world.client.plan.to_bytes().replace(b'"outsourced"', b'"linear"')


def network() -> PrivateMLPRegressor:
    inner = MLPRegressor(hidden_layer_sizes=(3,), max_iter=2000, random_state=0, tol=1e-2)
    return PrivateMLPRegressor(inner).fit(X / 8, Y)


WORD: Any = "x"


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda w: w.made.server(), "Parameter", r"client\.public_keys"),
        (lambda w: w.client.encrypt_model(w.owner), "Parameter", "somebody else's"),
        (lambda w: w.client.encrypt_model(WORD), "Parameter", "OutsourcedOwner.from_bytes"),
        (lambda w: w.owner.encrypt_model(WORD), "Parameter", "from bytes"),
        (lambda w: w.owner.encrypt_model(b"x" * 50), "Wire", "magic|bytes|kind"),
        (lambda w: w.owner.encrypt_model(other_keys()), "Parameter", "parameters differ"),
        (lambda w: OutsourcedServer.from_bytes(w.server.to_bytes(), keys=b"x"), "Parameter", "lea"),
        (lambda w: w.server.answer(b"x"), "Wire", "no message"),
        (
            lambda w: w.server.answer(clear_client().encrypt(X[:2]).data),
            "Wire",
            "of another plan",
        ),
        (lambda w: w.client.decrypt(clear_answer()), "Wire", "of another plan"),
        (lambda w: LinearPlan.from_bytes(w.client.plan.to_bytes()), "Wire", "another protocol"),
        (
            lambda _: OutsourcedPlan.from_bytes(clear_client().plan.to_bytes()),
            "Wire",
            "another protocol",
        ),
        (lambda _: OutsourcedPlan.from_bytes(relabelled()), "Wire", "in the clear"),
        (lambda w: LinearPlan.from_bytes(relabelled(w)), "Wire", "encrypted ones"),
        (lambda _: OutsourcedClient(clear_client().plan), "Parameter", "OutsourcedPlan"),
        (lambda w: OutsourcedServer(w.client.plan, b"x"), "Wire", "bytes"),
        (lambda w: OutsourcedServer(w.client.plan, WORD), "Parameter", "bytes"),
        (
            lambda w: OutsourcedOwner(clear_client().plan, *w.owner.weights),
            "Parameter",
            "Outsourced",
        ),
        (lambda w: OutsourcedOwner(w.owner.plan, [[1, 2]], 0), "Shape", "of shape"),
        (lambda w: LinearServer(w.owner.plan, *w.owner.weights), "Parameter", "EncryptedModel"),
        (lambda _: clear().owner(), "Parameter", r"Outsourced\(\)"),
        (
            lambda w: registry.read_owner(clear_client().plan, w.owner.to_bytes()),
            "Parameter",
            "clear",
        ),
        (lambda _: private(own=WORD), "Parameter", "own_model is True or False"),
        (lambda _: network().plan(X, Outsourced()), "Parameter", "PrivateSquareNetwork"),
    ],
)
def test_refusals(public: World, act: Callable[[World], object], error: str, text: str) -> None:
    with pytest.raises(getattr(hesc, f"{error}Error"), match=text):
        act(public)


@pytest.mark.parametrize("option", ["hidden", "answers", "parties"])
def test_options_of_others_cannot_be_written(option: str) -> None:
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{option}'"):
        private(**{option: True})


def test_refusals_of_own_models() -> None:
    mine, theirs = world(own=True), world(own=True)
    with pytest.raises(hesc.ParameterError, match=r"client\.encrypt_model"):
        mine.made.server()
    with pytest.raises(hesc.ParameterError, match="the client's own"):
        mine.made.server(keys=mine.client.public_keys())
    other = private(own=True, max_error=0.1)
    with pytest.raises(hesc.ParameterError, match="another plan"):
        mine.client.encrypt_model(other.owner())
    assert mine.client.plan.to_bytes() == theirs.client.plan.to_bytes()
    with pytest.raises(hesc.KeyMismatchError):
        mine.server.answer(theirs.client.encrypt(X[:1]).data)


# Hostile bytes ------------------------------------------------------------------------------------


STRANGE: list[Any] = [None, True, -1, 0, 2**70, 1e308, "", "x", "AAAA", [], {}, [[]], {"a": 1}]


@pytest.mark.parametrize("kind", [OutsourcedPlan, OutsourcedServer, OutsourcedOwner])
def test_documents_with_something_else_in_any_place(public: World, kind: Any) -> None:
    """Refused with an error of ours, or read as what says the same again."""
    given: Any = public.server
    given = {OutsourcedPlan: public.client.plan, OutsourcedOwner: public.owner}.get(kind, given)
    data = given.to_bytes()
    assert kind.from_bytes(data).to_bytes() == data
    refused = 0
    original = json.loads(data)
    for name in original:
        for strange in STRANGE:
            changed = json.dumps(original | {name: strange}, separators=(",", ":")).encode()
            try:
                assert kind.from_bytes(changed).to_bytes() == changed
            except hesc.HescError:
                refused += 1
    assert refused > 3 * len(STRANGE) - 6
    for damaged in (data[:-1], data + b"x", b"", data.replace(b" 1", b" 2", 1), b"[" * 9999):
        with pytest.raises(hesc.WireError):
            kind.from_bytes(damaged)


def test_damaged_models_are_refused_or_answer(public: World) -> None:
    """Bytes of an encrypted model that say something else: errors of ours, or garbage scores."""
    document = json.loads(public.server.to_bytes())
    model = base64.b64decode(document["model"])
    query = public.client.encrypt(X[:2]).data
    for case in range(150):
        changed = bytearray(model)
        at = int(RNG.integers(100 if case % 2 else len(changed)))
        changed[at] ^= 1 << int(RNG.integers(8))
        text = base64.b64encode(bytes(changed)).decode()
        try:
            server = OutsourcedServer.from_bytes(json.dumps(document | {"model": text}).encode())
            public.client.decrypt(server.answer(query))
        except hesc.HescError:
            pass


# Files --------------------------------------------------------------------------------------------


def rows_file(path: Path) -> Path:
    lines = [",".join(repr(float(x)) for x in row) for row in X]
    path.write_text("\n".join([",".join(NAMES), *lines]) + "\n")
    return path


@pytest.mark.parametrize("own", [False, True])
def test_files_from_owner_to_answer(own: bool, tmp_path: Path) -> None:
    made = private(own=own)
    made.save(tmp_path / "d", sample=40)
    names = {str(path.relative_to(tmp_path / "d")) for path in (tmp_path / "d").rglob("*.json")}
    assert "owner/model.json" in names
    assert not any(name.startswith("server") for name in names)
    assert (tmp_path / "d" / "owner").stat().st_mode & 0o077 == 0
    found = Deployment.open(tmp_path / "d")
    assert found.owner.plan.digest == found.client.plan.digest
    with pytest.raises(hesc.ParameterError, match="encrypt-model"):
        _ = found.server
    client, key, keys = found.client.path, tmp_path / "k", tmp_path / "client.keys"
    if own:
        files.keygen(client, key)
        outsourcing.encrypt_model(found.owner.path, tmp_path / "server", secret=key)
    else:
        with pytest.raises(hesc.ParameterError, match="for the model's owner: give --keys"):
            files.keygen(client, key)
        files.keygen(client, key, keys)
        outsourcing.encrypt_model(found.owner.path, tmp_path / "server", keys)
    weights = json.loads((found.owner.path / "model.json").read_bytes())["weights"]["f8"]
    for path in (tmp_path / "server").iterdir():
        assert weights.encode() not in path.read_bytes()
    rows = rows_file(tmp_path / "r.csv")
    files.encrypt(rows, client, key, tmp_path / "q")
    files.evaluate(tmp_path / "q", tmp_path / "server", tmp_path / "a")
    files.decrypt(tmp_path / "a", client, key, tmp_path / "p.csv")
    scores = np.loadtxt(tmp_path / "p.csv", delimiter=",", skiprows=1)[:, 1:4]
    plan = found.client.plan
    assert np.abs(scores - made.decision_function(X)).max() < 7 * plan.error
    page = (tmp_path / "d" / "report.html").read_text()
    assert "hesc encrypt-model owner" in page
    assert "eval query.hesc --server server --out" in page
    with pytest.raises(FileExistsError, match="not overwritten"):
        outsourcing.encrypt_model(found.owner.path, tmp_path / "server", keys)
    # Another key pair's query is refused, and leaves no answer.
    files.keygen(client, tmp_path / "k2", tmp_path / "keys2")
    files.encrypt(rows, client, tmp_path / "k2", tmp_path / "q2")
    with pytest.raises(hesc.KeyMismatchError):
        files.evaluate(tmp_path / "q2", tmp_path / "server", tmp_path / "a2")
    assert not (tmp_path / "a2").exists()


def test_folders_refuse_what_is_not_theirs(tmp_path: Path) -> None:
    made = private()
    made.save(tmp_path / "d", sample=0)
    private(max_error=0.1).save(tmp_path / "e", sample=0)
    clear().save(tmp_path / "c", sample=0)
    owner = OwnerFolder.open(tmp_path / "d" / "owner")
    assert "OwnerFolder" in repr(owner)
    client = ClientFolder.open(tmp_path / "d" / "client").client()
    wrongs: list[Any] = [{}, {"keys": client.public_keys(), "client": client}]
    for wrong in wrongs:
        with pytest.raises(hesc.ParameterError, match="one of them"):
            owner.encrypt_model(tmp_path / "s", **wrong)
    with pytest.raises(hesc.ParameterError, match="somebody else's"):
        owner.encrypt_model(tmp_path / "s", client=client)
    owner.encrypt_model(tmp_path / "s", keys=client.public_keys())
    served = ServerFolder.open(tmp_path / "s")
    with pytest.raises(hesc.ParameterError, match="needs no keys"):
        served.server(keys=client.public_keys())
    with pytest.raises(hesc.ParameterError, match="no owner/"):
        _ = Deployment.open(tmp_path / "c").owner
    with pytest.raises(hesc.WireError, match="is the server folder"):
        OwnerFolder.open(tmp_path / "s")
    with pytest.raises(hesc.WireError, match="is the server folder"):
        OwnerFolder.open(tmp_path / "c" / "server")
    # A model beside another plan, by manifests that fit.
    for name in ("plan.json", "manifest.json"):
        (tmp_path / "d" / "owner" / name).unlink()
    plan = (tmp_path / "e" / "owner" / "plan.json").read_bytes()
    inner = {"plan.json": plan, "model.json": (tmp_path / "d/owner/model.json").read_bytes()}
    (tmp_path / "mixed").mkdir()
    folders.write(tmp_path / "mixed", "owner folder", inner, plan=folders.digest(plan), below={})
    with pytest.raises(hesc.WireError, match="another plan than"):
        OwnerFolder.open(tmp_path / "mixed")


def test_owner_and_server_load_nothing_that_decrypts(tmp_path: Path) -> None:
    made = private()
    client = made.client()
    made.save(tmp_path / "d", sample=0)
    (tmp_path / "keys").write_bytes(client.public_keys())
    (tmp_path / "query").write_bytes(client.encrypt(X[:2]).data)
    code = """
import sys
from pathlib import Path
from hesc.cli import outsourcing
from hesc.ml import ServerFolder
at = Path(sys.argv[1])
outsourcing.encrypt_model(at / "d" / "owner", at / "server", at / "keys")
server = ServerFolder.open(at / "server").server()
(at / "answer").write_bytes(server.answer((at / "query").read_bytes()))
loaded = {"hesc.secret", "hesc.protocols.linear.client", "sklearn"} & set(sys.modules)
assert not loaded, loaded
"""
    command = [sys.executable, "-c", code, str(tmp_path)]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    found = client.decrypt((tmp_path / "answer").read_bytes())
    assert np.array_equal(found.predictions, made.predict(X[:2]))


def test_estimators_are_neither_pickled_nor_printed_with_models() -> None:
    rows, labels = load_breast_cancer(return_X_y=True)
    made = PrivateClassifier(make_pipeline(StandardScaler(), LogisticRegression()))
    made.fit(rows, labels).plan(rows, Outsourced())
    again = pickle.loads(pickle.dumps(made))  # noqa: S301 - our own
    with pytest.raises(hesc.ParameterError, match="no plan"):
        again.owner()
    assert "array" not in repr(made.owner())

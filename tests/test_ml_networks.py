"""Networks on encrypted samples: polynomials, packing, errors, parties, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import polynomial
from sklearn.datasets import load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import hesc
from hesc.ml import (
    Classes,
    ClippedWarning,
    Network,
    NetworkClient,
    NetworkPlan,
    NetworkServer,
    Outsourced,
    PrivateMLPClassifier,
    PrivateMLPRegressor,
)
from hesc.models.described import Described
from hesc.models.given import GivenClassifier
from hesc.models.layers import ACTIVATIONS, Layer
from hesc.models.layers import DenseNetwork as Layers
from hesc.protocols.message import HEAD_BYTES, PART_BYTES, Kind
from hesc.protocols.networks import planning
from hesc.protocols.networks.fits import extremes, farthest, fitted
from hesc.protocols.networks.packing import Packing
from tests import reading
from tests.lying_messages import refitted

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

X, Y = load_digits(return_X_y=True)
XT, YT, XV = X[:1200], Y[:1200], X[1200:1700]


def digits(activation: str = "relu", units: tuple[int, ...] = (16,)) -> PrivateMLPClassifier:
    """A network of digits; of squares one with relu's weights, which nobody trains for less."""
    square = activation == "square"
    model = MLPClassifier(
        units,
        activation="relu" if square else activation,
        alpha=0.1,
        max_iter=60,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(XT / 16, YT)
    if not square:
        return PrivateMLPClassifier.from_fitted(model)
    layers = [
        Layer(w.T.copy(), b.copy(), "square")
        for w, b in zip(model.coefs_, model.intercepts_, strict=True)
    ]
    layers[-1] = Layer(layers[-1].weights, layers[-1].intercepts)
    network = Described(64, [], [], Layers(tuple(layers)), model.classes_, "softmax")
    return PrivateMLPClassifier.from_fitted(GivenClassifier(network))


@pytest.fixture(scope="module")
def private() -> PrivateMLPClassifier:
    found = digits()
    # A ring of 8192 is enough for what is wished.
    found.plan(XT / 16, Network(ranges=(0, 1), max_error=1.5))
    assert found._backend.plan.ring_degree == 8192
    return found


# Estimators


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        # Long steps, and few at the end: better than a guess is enough.
        PrivateMLPClassifier(
            MLPClassifier((20,), max_iter=300, random_state=0, learning_rate_init=0.05, tol=1e-3)
        ),
        PrivateMLPRegressor(
            MLPRegressor(
                hidden_layer_sizes=(20,),
                max_iter=300,
                random_state=0,
                learning_rate_init=0.05,
                tol=1e-3,
            )
        ),
    ],
    ids=lambda x: type(x).__name__,
)
def test_estimators(estimator: Any) -> None:
    check_estimator(estimator)


# Polynomials


@pytest.mark.parametrize("activation", sorted(set(ACTIVATIONS) - {"identity"}))
@pytest.mark.parametrize("degree", [2, 3, 4, 7])
@pytest.mark.parametrize("width", [1.0, 6.0])
def test_how_far_a_fit_is_bounds_what_it_is(activation: str, degree: int, width: float) -> None:
    seen = np.random.default_rng(0).normal(0, 0.2, 500).clip(-1, 1)
    fit = fitted(activation, width, seen, degree)
    v = np.random.default_rng(1).uniform(-1, 1, 20_000)
    apart = np.abs(polynomial.polyval(v, fit) - ACTIVATIONS[activation](width * v)).max()
    bound = farthest(activation, width, fit)
    # Squares are themselves, up to roundings.
    assert apart <= bound + 1e-12 * width**2
    assert bound <= 1.05 * apart + 0.01 * width


@given(
    st.lists(st.floats(-5, 5), min_size=2, max_size=8),
    st.tuples(st.floats(-2, 2), st.floats(-2, 2)),
)
@settings(max_examples=200, deadline=None)
def test_extremes_bound_a_polynomial(coefficients: list[float], ends: tuple[float, float]) -> None:
    low, high = sorted(ends)
    fit = np.array(coefficients)
    least, most = extremes(fit, np.array([low]), np.array([high]))
    values = polynomial.polyval(np.linspace(low, high, 501), fit)
    assert least[0] <= values.min()
    assert values.max() <= most[0]
    # And no more than a finer look at the slope allows.
    slope = np.abs(polynomial.polyval(np.linspace(low, high, 501), polynomial.polyder(fit))).max()
    step = (high - low) / 500
    curve = 2 * step**2 * 2.0**8 * 64 * 5 * 8
    assert most[0] - values.max() <= slope * step + curve + 1e-6 * (1 + np.abs(fit).sum())


def test_fits_are_closer_where_data_lie_and_bounded_elsewhere() -> None:
    seen = np.random.default_rng(0).normal(0, 0.1, 2000)
    fit = fitted("relu", 1.0, seen, 4)
    evenly = fitted("relu", 1.0, np.linspace(-1, 1, 2000), 4)

    def error(coefficients: NDArray[np.float64]) -> float:
        apart = polynomial.polyval(seen, coefficients) - np.maximum(seen, 0)
        return float(np.sqrt(np.square(apart).mean()))

    assert error(fit) < error(evenly) / 1.5
    assert farthest("relu", 1.0, fit) < 0.5


# What a plan says of any sample


@pytest.mark.parametrize(
    ("activation", "following"),
    [
        ("relu", "relu"),
        ("tanh", "tanh"),
        ("logistic", "logistic"),
        ("square", "square"),
        # The second one adds nothing of its own to what the first did.
        ("relu", "square"),
    ],
)
def test_no_sample_in_the_region_is_worse_than_the_worst(activation: str, following: str) -> None:
    """Bounds of sums, of scores and of what polynomials do, on samples as far out as they go."""
    rng = np.random.default_rng(4)
    layers = (
        Layer(rng.normal(size=(5, 6)), rng.normal(size=5), activation),
        Layer(rng.normal(size=(4, 5)), rng.normal(size=4), following),
        Layer(rng.normal(size=(2, 4)), rng.normal(size=2)),
    )
    network = Layers(layers)
    seen = rng.uniform(-1, 1, (200, 6)) * 0.4
    region = planning.Region(np.full(6, 0.25), 1.2)
    ready = planning.prepared(network, region, seen, 3)
    u = rng.normal(size=(20_000, 6))
    u *= (1.2 * rng.uniform(0, 1, (len(u), 1)) ** 0.1) / np.linalg.norm(u, axis=1, keepdims=True)
    u = u + region.centre
    u = u[np.abs(u).max(axis=1) <= 1]
    assert len(u) > 1000
    low, high = region.sums(layers[0].weights, layers[0].intercepts)
    sums = layers[0].sums(u)
    assert (low <= sums).all()
    assert (sums <= high).all()
    found = ready.scores(u)
    apart = np.abs(found - network.scores(u)).max()
    assert apart <= ready.worst + 1e-9
    assert np.abs(found).max() <= ready.unit
    # Every sum that is encrypted is a number of about one, which CKKS's bounds rely on.
    inside = u
    for layer in ready.layers[:-1]:
        between = inside @ layer.weights.T + layer.intercepts
        assert np.abs(between).max() <= 1 + planning._SHIFT
        inside = layer(inside)


# Packing


@pytest.mark.parametrize("widths", [(8, 4), (3, 8), (5, 5), (8, 1), (1, 8), (64, 10)])
def test_matrices_act_on_every_sample(widths: tuple[int, int]) -> None:
    params = hesc.Params.recommended("ckks", encoding="vectors", ring_degree=4096)
    packing = Packing(params.slot_count, widths)
    secret, keys = hesc.keygen(params, rotations=packing.rotations())
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (packing.samples, widths[0]))
    weights = rng.uniform(-1, 1, widths[::-1]) / widths[0]
    vector = reading.vector(keys, secret.encrypt_to_bytes(packing.packed(x)))
    found = packing.times(weights, vector)
    result = packing.unpacked(secret.decrypt(found), len(x))
    assert np.abs(result - x @ weights.T).max() < found.error_bound
    assert found.error_bound < 1e-2
    assert vector.level - found.level == 1


# Errors


@pytest.mark.parametrize(("activation", "wish"), [("relu", None), ("square", None), ("tanh", None)])
def test_stated_errors_are_true(activation: str, wish: float | None) -> None:
    """Encryption's by z-scores, polynomials' on rows that nobody planned with."""
    private = digits(activation, (8,))
    plan = private.plan(XT / 16, Network(ranges=(0, 1), max_error=wish))
    rows = XV[: plan.rows] / 16
    run = private.run(rows, clip=True, progress=False)
    ready = private._backend.layers
    exact = ready.scores(plan.prepared(rows, clip=True).features)
    z = (run.scores - exact) / plan.noise
    assert np.sqrt(np.square(z).mean()) < 1
    assert np.abs(z).max() < 6
    # A bound, and not a void one: CKKS states about a hundred times what there is.
    assert np.sqrt(np.square(z).mean()) > 1e-5
    clear = private.decision_function(rows)
    rms = np.sqrt(np.square(run.scores - clear).mean(axis=0)).max()
    assert rms < 1.5 * plan.error
    assert np.abs(run.scores - clear).max() < plan.worst + 6 * plan.noise
    assert run.sizes == plan.sizes(len(rows))
    assert (run.predictions == private.predict(rows)).mean() > 0.9


def test_simulated_and_executed_runs_agree(private: PrivateMLPClassifier) -> None:
    rows = XV[:70] / 16
    run = private.run(rows, progress=False, clip=True)
    simulated = private.run(rows, fhe="simulate", random_state=0, clip=True)
    noise = private._backend.plan.noise
    assert np.abs(run.scores - simulated.scores).max() < 8 * noise
    assert run.sizes == simulated.sizes
    again = private.run(rows, fhe="simulate", random_state=0, clip=True)
    assert np.array_equal(again.scores, simulated.scores)
    shares = private.predict_proba(rows[:5], fhe="simulate", clip=True)
    assert shares.sum(axis=1) == pytest.approx(1)


def test_a_regressor_behind_a_scaler() -> None:
    x, y = load_diabetes(return_X_y=True)
    model = make_pipeline(
        StandardScaler(),
        MLPRegressor(hidden_layer_sizes=(8, 4), alpha=1, max_iter=150, random_state=0),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        private = PrivateMLPRegressor(model).fit(x, (y - 150) / 77)
    plan = private.plan(x, Network(max_error=0.35))
    assert len(plan.widths) == 4
    found = private.predict(x[:100], fhe="execute", progress=False)
    clear = private.predict(x[:100])
    assert np.sqrt(np.square(found - clear).mean()) < 1.5 * plan.error


# Samples that are refused


def test_samples_beyond_ranges_and_ball(private: PrivateMLPClassifier) -> None:
    plan = private.client().plan
    with pytest.raises(hesc.OutOfRangeError, match="beyond the plan's range"):
        plan.prepared(np.full((1, 64), 1.5))
    # Every value is within its range: a picture that is like no digit.
    odd = np.tile([0.0, 1.0], 32)[np.newaxis]
    with pytest.raises(hesc.OutOfRangeError, match="unlike the data") as raised:
        plan.prepared(odd)
    assert not set("023456789") & set(str(raised.value).replace("sample 0", ""))
    ready = plan.prepared(odd, clip=True)
    assert np.linalg.norm(ready.features - plan.centre) <= plan.radius * (1 + 1e-12)
    assert (ready.values, ready.samples) == (64, 1)
    with pytest.warns(ClippedWarning):
        private.predict(odd, fhe="simulate", clip=True)
    for bad in (np.full((1, 64), np.nan), np.zeros((1, 3)), np.zeros((0, 64))):
        with pytest.raises((hesc.OutOfRangeError, hesc.ShapeError)):
            plan.prepared(bad)


def test_new_samples_are_seldom_refused(private: PrivateMLPClassifier) -> None:
    plan = private._backend.plan
    assert plan.prepared(XV / 16, clip=True).samples <= 0.01 * len(XV)


# Parties


def test_two_sides_that_share_bytes_alone(private: PrivateMLPClassifier) -> None:
    plan = NetworkPlan.from_bytes(private.client().plan.to_bytes())
    client = NetworkClient(plan)
    server_file = private.server().to_bytes()
    server = NetworkServer.from_bytes(server_file, keys=client.public_keys())
    rows = XV[: plan.rows] / 16
    query = client.encrypt(rows, clip=True)
    answer = server.answer(query.data)
    found = client.decrypt(answer)
    assert (found.predictions == private.predict(rows)).mean() > 0.9
    assert client.probabilities(answer).shape == (len(rows), 10)
    assert plan.sizes(len(rows)) == (len(query.data), len(answer))
    assert str(plan).splitlines()[0] == str(private._backend.plan).splitlines()[0]
    # A kept key decrypts too; another one does not.
    kept = NetworkClient(plan, secret=client.secret)
    assert np.array_equal(kept.decrypt(answer).scores, found.scores)
    with pytest.raises(hesc.ParameterError, match="kept secret key"):
        kept.public_keys()
    assert NetworkClient(plan, secret=client.secret, keys=client.public_keys()).public_keys()
    with pytest.raises(hesc.KeyMismatchError):
        NetworkClient(plan).decrypt(answer)
    with pytest.raises(hesc.KeyMismatchError):
        server.answer(NetworkClient(plan).encrypt(rows[:1], clip=True).data)
    with pytest.raises(hesc.ParameterError, match="keys="):
        NetworkServer.from_bytes(server_file).answer(query.data)
    with pytest.raises(hesc.ShapeError, match="at most"):
        client.encrypt(np.repeat(rows, 2, axis=0), clip=True)
    # The server's own query is no answer, nor the other way round.
    with pytest.raises(hesc.WireError):
        client.decrypt(query.data)
    with pytest.raises(hesc.WireError):
        server.answer(answer)
    damage(client, server, query.data, answer)


def damage(client: NetworkClient, server: NetworkServer, query: bytes, answer: bytes) -> None:
    """Messages and keys with something else in any place: an error of ours."""
    rng = np.random.default_rng(0)
    for good, reader in ((query, server.answer), (answer, client.decrypt)):
        for turn in range(60):
            data = bytearray(good)
            at = int(rng.integers(0, 200 if turn % 2 else len(data)))
            data[at] = int(rng.integers(256))
            if bytes(data) == good:
                continue
            told = r"damaged|no message|of version|belongs|another plan"
            with pytest.raises(hesc.WireError, match=told):
                reader(bytes(data))
            lie = refitted(bytes(data))
            if lie == good:
                continue
            try:
                reader(lie)
            except hesc.HescError:
                continue
            # Who knows of the checksum may change an encryption, which decrypts to something, and
            # how many samples there are, or which query was answered.
            assert 22 <= at < 42 or at >= HEAD_BYTES + PART_BYTES
        kind = Kind.QUERY if good is query else Kind.ANSWER
        found = client.plan.opened(good, kind)
        (vector,) = found.parts
        for changed in (
            {"plan": bytes(16)},
            {"samples": 0},
            {"samples": client.plan.rows + 1},
            {"kind": Kind.PIECE},
            {"parts": (b"",)},
            {"parts": (vector[:-1],)},
            {"parts": (vector + bytes(max(client.plan.vectors)),)},
            {"parts": (vector, vector)},
            {"parts": ()},
        ):
            with pytest.raises(hesc.WireError):
                reader(found._replace(**changed).to_bytes())
    packed = np.zeros(client.plan.params.slot_count)
    assert client.keys is not None
    longer = client.keys.encrypt(packed).to_bytes()
    lying = client.plan.opened(query, Kind.QUERY)._replace(parts=(longer,))
    with pytest.raises(hesc.WireError, match="a ciphertext of this plan has up to"):
        server.answer(lying.to_bytes())
    keys = client.public_keys()
    bad: Any
    for bad in (b"", keys[:-1], keys + b"x", keys[:100], keys.replace(b"HESC", b"hesc", 1), 7):
        with pytest.raises((hesc.WireError, hesc.ParameterError)):
            NetworkServer.from_bytes(server.to_bytes(), keys=bad)


STRANGE: list[Any] = [None, True, -1, 0, 2**70, 1e308, "", "x", "AAAA", [], {}, [[]], {"a": 1}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = list(value.items()) if isinstance(value, dict) else []
    items = list(enumerate(value)) if isinstance(value, list) else items
    found = [path] if path else []
    for name, item in items:
        found += places(item, (*path, name))
    return found


@pytest.mark.parametrize("kind", [NetworkPlan, NetworkServer])
def test_documents_with_something_else_in_any_place(
    kind: Any, private: PrivateMLPClassifier
) -> None:
    """Refused with an error of ours, or read as what says the same again."""
    made = private.client().plan if kind is NetworkPlan else private.server()
    data = made.to_bytes()
    assert kind.from_bytes(data).to_bytes() == data
    refused = 0
    for path in places(json.loads(data)):
        for strange in STRANGE:
            document = json.loads(data)
            at = document
            for name in path[:-1]:
                at = at[name]
            at[path[-1]] = strange
            changed = json.dumps(document, separators=(",", ":")).encode()
            try:
                assert kind.from_bytes(changed).to_bytes() == changed
            except hesc.HescError:
                refused += 1
    assert refused > 10 * len(STRANGE)


def test_an_answer_that_errs_more_than_the_plan_is_refused(private: PrivateMLPClassifier) -> None:
    """By what it says of itself: both sides have a plan that states a hundredth of the noise."""
    plan = replace(private._backend.plan, noise=private._backend.plan.noise / 100)
    client = NetworkClient(plan)
    server = NetworkServer(plan, private._backend.layers.layers, keys=client.public_keys())
    query = client.encrypt(XV[:2] / 16, clip=True).data
    with pytest.raises(hesc.WireError, match="another computation"):
        client.decrypt(server.answer(query))


def test_scores_that_no_sample_has_are_refused(private: PrivateMLPClassifier) -> None:
    """A server with other weights, under a plan whose noise has room for what they err."""
    plan = replace(private._backend.plan, noise=private._backend.plan.noise * 1e3)
    client = NetworkClient(plan)
    *layers, last = private._backend.layers.layers
    loud = replace(last, intercepts=last.intercepts + 3)
    server = NetworkServer(plan, (*layers, loud), keys=client.public_keys())
    query = client.encrypt(XV[:20] / 16, clip=True).data
    with pytest.raises(hesc.DecryptionError, match="none that"):
        client.decrypt(server.answer(query))


def test_the_server_imports_nothing_that_decrypts() -> None:
    code = (
        "import sys, hesc.protocols.networks.server, hesc.protocols.registry; "
        "sys.exit('hesc.secret' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_deployment_of_a_network(private: PrivateMLPClassifier, tmp_path: Path) -> None:
    from hesc.ml import Deployment

    private.save(tmp_path / "d", sample=10)
    opened = Deployment.open(tmp_path / "d")
    client = opened.client.client()
    with pytest.raises(hesc.ParameterError, match="keys="):
        opened.server.server()
    server = opened.server.server(keys=client.public_keys())
    rows = XV[:5] / 16
    found = client.decrypt(server.answer(client.encrypt(rows, clip=True).data))
    assert (
        np.abs(found.scores - private.decision_function(rows)).max() < private._backend.plan.worst
    )
    client.secret.save(tmp_path / "key")
    kept = opened.client.client(secret=opened.client.load_secret(tmp_path / "key"))
    query = kept.encrypt(rows, clip=True).data
    assert np.allclose(kept.decrypt(server.answer(query)).scores, found.scores, atol=1e-3)
    page = (tmp_path / "d" / "report.html").read_text()
    assert "at worst" in page
    # Nothing is hidden, so that nothing is counted.
    assert "ledger" not in page.split("<pre>hesc keygen")[1].split("</pre>")[0]


@pytest.mark.parametrize("kind", ["linear", "network"])
def test_a_file_is_compiled(kind: str, tmp_path: Path) -> None:
    """From an ONNX file and a table of data to folders, as the command does it."""
    from skl2onnx import to_onnx
    from sklearn.linear_model import RidgeClassifier

    from hesc.cli import compiling
    from hesc.ml import Deployment

    model = RidgeClassifier().fit(XT, YT) if kind == "linear" else digits(units=(8,)).estimator_
    (tmp_path / "m.onnx").write_bytes(to_onnx(model, XT[:1].astype(np.float32)).SerializeToString())
    header = ",".join(f"pixel {place}" for place in range(64))
    data = tmp_path / "t.csv"
    np.savetxt(data, XT[:400] / 16, delimiter=",", header=header, comments="")
    error = None if kind == "linear" else 3.0
    compiling.compile_model(tmp_path / "m.onnx", data, tmp_path / "d", max_error=error, sample=20)
    plan = Deployment.open(tmp_path / "d").client.plan
    assert plan.protocol == ("linear" if kind == "linear" else "networks")
    assert plan.names[63] == "pixel 63"


# Refusals


def test_models_and_wishes_that_are_refused(private: PrivateMLPClassifier) -> None:
    with pytest.raises(hesc.ParameterError, match="not a network of hidden layers"):
        PrivateMLPClassifier(LogisticRegression()).fit(XT, YT)
    assert "weights are not hidden" in str(Network.__doc__)
    wrong: Any = {"hidden": True}
    with pytest.raises(TypeError, match="unexpected keyword argument 'hidden'"):
        Network(**wrong)
    with pytest.raises(hesc.ParameterError, match="comparisons on the server"):
        private.plan(XT / 16, Classes())
    with pytest.raises(hesc.ParameterError, match="PrivateSquareNetwork"):
        private.plan(XT / 16, Outsourced())
    with pytest.raises(hesc.ParameterError, match="above zero"):
        private.plan(XT / 16, Network(max_error=0))
    with pytest.raises(hesc.ParameterError, match="no plan"):
        digits(units=(2,)).client()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear = MLPClassifier((4,), activation="identity", max_iter=5).fit(XT, YT)
    with pytest.raises(hesc.ParameterError, match="PrivateClassifier"):
        PrivateMLPClassifier.from_fitted(linear).plan(XT)


def test_networks_that_polynomials_change_are_refused() -> None:
    """Sums of which most lie where tanh is flat, and a few where it turns: a step, of noise."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (300, 4))
    layers = (
        Layer(rng.normal(size=(6, 4)) * 200, rng.normal(size=6), "tanh"),
        Layer(rng.normal(size=(1, 6)), np.zeros(1)),
    )
    network = Described(4, [], [], Layers(layers), np.array([0, 1]), "none")
    private = PrivateMLPClassifier.from_fitted(GivenClassifier(network))
    with pytest.raises(hesc.NoiseBudgetError, match="change this network"):
        private.plan(x)


def test_a_model_that_was_changed_is_planned_again() -> None:
    other = digits(units=(4,))
    other.plan(XT / 16, Network(max_error=5))
    other.estimator_.coefs_[0][0, 0] += 1
    with pytest.raises(hesc.ParameterError, match="has changed"):
        other.client()

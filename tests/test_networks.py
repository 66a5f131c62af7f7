"""The Iris network: training, file form, the three ways to evaluate it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split

import hesc
from hesc.streams.iris import load_network, load_split
from hesc.streams.iris.train import HIDDEN, loss, train
from hesc.streams.networks import ModelFormatError, SquareNetwork
from hesc.streams.networks.layered import COPIES, LayeredModel, encrypt_query
from hesc.streams.networks.monomial import MonomialModel
from hesc_papers import conventional

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc.params import StreamParams

NETWORK = load_network()
SPLIT = load_split()
FILE = Path(hesc.__file__).parent / "streams" / "iris" / "network.json"


def test_split_is_the_papers() -> None:
    assert (len(SPLIT.train_classes), len(SPLIT.test_classes)) == (120, 30)
    assert np.bincount(SPLIT.test_classes).tolist() == [10, 10, 10]


def test_the_flowers_are_scikit_learns() -> None:
    flowers = load_iris()
    parts = train_test_split(
        flowers.data, flowers.target, test_size=30, random_state=0, stratify=flowers.target
    )
    ours = (SPLIT.train_features, SPLIT.test_features, SPLIT.train_classes, SPLIT.test_classes)
    for found, expected in zip(ours, parts, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert SPLIT.names == tuple(flowers.target_names)


def test_training_makes_the_shipped_network() -> None:
    """What it computes, on any processor: the order and signs of hidden units are of no account."""
    trained = train()
    assert trained.classes == NETWORK.classes
    for name in ("center", "axes", "scale"):
        np.testing.assert_allclose(getattr(trained, name), getattr(NETWORK, name), atol=2e-6)
    # Between the flowers too.
    anywhere = np.random.default_rng(0).uniform(-1, 1, (1000, 4)) * NETWORK.scale
    for features in (SPLIT.train_features, SPLIT.test_features, NETWORK.center + anywhere):
        np.testing.assert_allclose(trained.values(features), NETWORK.values(features), atol=1e-3)


def test_the_shipped_network_is_right() -> None:
    assert np.mean(NETWORK.predict(SPLIT.test_features) == SPLIT.test_classes) == 1.0
    assert np.mean(NETWORK.predict(SPLIT.train_features) == SPLIT.train_classes) > 0.97


def test_gradient_of_the_loss() -> None:
    z = NETWORK.preprocessing.normalise(SPLIT.train_features)
    theta = np.random.default_rng(0).uniform(-1, 1, HIDDEN * 5 + 3 * (HIDDEN + 1))
    error = check_grad(
        lambda t: loss(t, z, SPLIT.train_classes)[0],
        lambda t: loss(t, z, SPLIT.train_classes)[1],
        theta,
    )
    assert error < 1e-4


def test_coefficients_are_the_network() -> None:
    monomials = NETWORK.preprocessing.monomials(SPLIT.test_features)
    np.testing.assert_allclose(
        monomials @ NETWORK.coefficients().T, NETWORK.values(SPLIT.test_features), atol=1e-12
    )
    assert np.abs(monomials).max() <= 1


def test_files_return(tmp_path: Path) -> None:
    NETWORK.save(tmp_path / "network.json")
    again = SquareNetwork.load(tmp_path / "network.json")
    np.testing.assert_array_equal(
        again.values(SPLIT.test_features), NETWORK.values(SPLIT.test_features)
    )


def _set(key: str, value: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda document: document | {key: value}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: [], "format"),
        (_set("format", "other"), "format"),
        (_set("extra", 1), "unknown"),
        (lambda d: {k: v for k, v in d.items() if k != "scale"}, "missing"),
        (_set("classes", ["a", "b"]), "output_weights has shape"),
        (_set("classes", [1, 2, 3]), "list of names"),
        (_set("classes", []), "at least one output"),
        (_set("hidden_weights", [[0.5]]), "hidden_weights has shape"),
        (_set("hidden_weights", [[0.5], [0.5, 0.5]]), "differ in length"),
        (_set("hidden_weights", "text"), "no finite number"),
        (_set("hidden_bias", [[0.5]]), "hidden_bias must be a vector"),
        (_set("hidden_bias", [2.0, 0, 0, 0]), "outside"),
        (_set("hidden_bias", [True, 0, 0, 0]), "no finite number"),
        (_set("hidden_bias", [float("nan"), 0, 0, 0]), "no finite number"),
        (_set("output_bias", [1e999, 0, 0]), "no finite number"),
        (_set("output_bias", [10**400, 0, 0]), "no finite number"),
        (_set("scale", [1, 1, 1, 0]), "positive"),
        (_set("axes", [[1, 2], [3, 4]]), "axes has shape"),
        (_set("center", []), "center must be a vector|axes has shape"),
    ],
)
def test_bad_model_files_are_refused(
    change: Callable[[dict[str, Any]], Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(change(json.loads(FILE.read_text()))))
    with pytest.raises(ModelFormatError, match=message):
        SquareNetwork.load(path)


@given(data=st.binary(max_size=200))
@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_arbitrary_files_are_refused(tmp_path: Path, data: bytes) -> None:
    """One file again and again, where nobody else writes."""
    path = tmp_path / "arbitrary.json"
    path.write_bytes(data)
    with pytest.raises(ModelFormatError):
        SquareNetwork.load(path)


def test_bad_features_are_refused() -> None:
    with pytest.raises(hesc.ShapeError, match=r"\(samples, 4\)"):
        NETWORK.values([1.0, 2.0, 3.0, 4.0])
    for bad in (np.nan, np.inf, -np.inf):
        with pytest.raises(hesc.OutOfRangeError, match="feature 2 of sample 0"):
            NETWORK.values([[1.0, 2.0, bad, 4.0]])
    assert np.isfinite(NETWORK.values([[1.0, 2.0, 1e300, 4.0]])).all()


@pytest.mark.parametrize(
    "name", ["bfv_1024", "bfv_1024_fusion", "ckks_1024", "gm_3072", "ec_elgamal_secp256r1"]
)
def test_best_mode_equals_float(name: str) -> None:
    """End to end on encrypted queries: every test flower right, errors as short streams have."""
    params = hesc.Params.preset(name)
    secret, public = hesc.keygen(params)
    model = MonomialModel.encrypt(NETWORK, public, random_state=1)
    encryptor = hesc.SecretEncryptor(secret, 64, random_state=2)
    query = encryptor.encrypt(NETWORK.preprocessing.monomials(SPLIT.test_features))
    received = hesc.EncryptedArray.from_bytes(params, query.to_bytes())
    answer = hesc.Answer.from_bytes(params, model.answer(received).to_bytes())
    outputs, errors = hesc.Decryptor(secret).decrypt(answer, return_std=True)
    exact = NETWORK.values(SPLIT.test_features)
    assert np.array_equal(outputs.argmax(axis=1), SPLIT.test_classes)
    assert np.sqrt(np.mean((outputs - exact) ** 2)) < 0.4
    # Monomials are near 0 and 1 more often than values anywhere: errors are less than told.
    z = (outputs - exact) / errors
    assert 0.4 < np.sqrt(np.mean(z**2)) < 1.1
    assert np.mean(np.abs(z) > 2) < 0.05
    with pytest.raises(hesc.ShapeError, match=r"\(samples, 15\)"):
        model.evaluate(received[:, :3])


def test_models_have_outputs_and_monomials() -> None:
    """What is told apart from queries and answers by documents: see test_ml_square."""
    params = hesc.Params.preset("bfv_1024_fusion")
    _, public = hesc.keygen(params)
    model = MonomialModel.encrypt(NETWORK, public)
    read = hesc.EncryptedArray.from_bytes(params, model.coefficients.to_bytes())
    assert MonomialModel(read).coefficients.to_bytes() == model.coefficients.to_bytes()
    with pytest.raises(hesc.ShapeError, match="outputs, monomials"):
        MonomialModel(model.coefficients[0])


def test_best_mode_in_99_of_100_seeds() -> None:
    from hesc_papers.koseki2022hesc_table_4 import accuracy

    assert accuracy(NETWORK, SPLIT.test_features, SPLIT.test_classes) >= 0.99


def layered(params: StreamParams, length: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    secret, public = hesc.keygen(params)

    def encryptor(first_dimension: int, seed: int) -> hesc.Encryptor:
        return hesc.Encryptor(
            public,
            length,
            generator="bernoulli",
            layout="one_per_block",
            first_dimension=first_dimension,
            random_state=seed,
        )

    model = LayeredModel.encrypt(NETWORK, encryptor(COPIES, 5))
    query = encrypt_query(NETWORK, encryptor(0, 6), SPLIT.test_features[:3])
    outputs = model.evaluate(query)
    if length == 1024:
        # 303 for each sample; products of two biases do not depend on the sample.
        shared = (outputs.shape[0] - 1) * (3 * 4 + 3)
        assert outputs.native.blocks == 3 * 303 - shared
    return hesc.Decryptor(secret).decrypt(outputs)


def test_the_papers_algorithm_is_the_same_on_every_scheme() -> None:
    """Equal streams give equal outputs with and without encryption, to the last bit."""
    plain = layered(hesc.Params.insecure_plain(plain_modulus=12289), 1024)
    for name in ("hestd2018_koseki_bfv_1024", "bfv_1024", "ckks_1024", "bfv_2048_slots"):
        np.testing.assert_array_equal(layered(hesc.Params.preset(name), 1024), plain)
    exact = NETWORK.values(SPLIT.test_features[:3])
    # 101 terms of weight up to 1: standard deviation below sqrt(101 / 1024).
    assert np.all(np.abs(plain - exact) < 5 * np.sqrt(101 / 1024))


def test_conventional_sums_are_noisier() -> None:
    secret, public = hesc.keygen(hesc.Params.insecure_plain(plain_modulus=12289))
    options: Any = {"generator": "bernoulli", "layout": "one_per_block"}
    owner = hesc.Encryptor(public, 1024, first_dimension=COPIES, random_state=1, **options)
    client = hesc.Encryptor(public, 1024, random_state=2, **options)
    model = LayeredModel.encrypt(NETWORK, owner)
    query = encrypt_query(NETWORK, client, SPLIT.test_features)
    decryptor = hesc.Decryptor(secret)
    exact = NETWORK.values(SPLIT.test_features)
    concatenated = decryptor.decrypt(model.evaluate(query)) - exact
    multiplexed = decryptor.decrypt(conventional.evaluate(model, query, 1)) - exact
    assert np.sqrt(np.mean(multiplexed**2)) > 5 * np.sqrt(np.mean(concatenated**2))


@pytest.mark.long
def test_conventional_sums_run_encrypted() -> None:
    """Two masks on end need about 100 bits of modulus: N = 4096."""
    params = hesc.Params.lattice(
        "bfv",
        ring_degree=4096,
        coeff_moduli=[67043329, 66994177, 66961409, 66813953],
        packing="slots",
        plain_modulus=40961,
    )
    secret, public = hesc.keygen(params)
    options: Any = {"generator": "bernoulli", "layout": "one_per_block"}
    owner = hesc.Encryptor(public, 4096, first_dimension=COPIES, random_state=1, **options)
    client = hesc.Encryptor(public, 4096, random_state=2, **options)
    model = LayeredModel.encrypt(NETWORK, owner)
    query = encrypt_query(NETWORK, client, SPLIT.test_features[:1])
    outputs = hesc.Decryptor(secret).decrypt(conventional.evaluate(model, query, 1))
    assert np.all(np.abs(outputs - NETWORK.values(SPLIT.test_features[:1])) < 5 * 101 / 64)

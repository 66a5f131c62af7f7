"""What users hand in, what Python and numpy ask of encrypted values, and what mixes."""

from __future__ import annotations

import operator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc._support.inputs import real_array, whole, whole_array
from hesc.gates import (
    EncryptedBits,
    Evaluator,
    concatenate,
    encrypt_bits,
    to_bits,
    to_numbers,
)
from hesc.gates.secret import decrypt_bits
from hesc.streams.encryptor import encrypt_streams

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PARAMS = hesc.Params.preset("bfv_2048_slots")
SECRET, PUBLIC = hesc.keygen(PARAMS, mode="simulate")
DECRYPT = hesc.Decryptor(SECRET).decrypt


def encryptor(first_dimension: int = 0, length: int = 1024, **options: Any) -> Any:
    return hesc.Encryptor(
        PUBLIC,
        length,
        layout="one_per_block",
        first_dimension=first_dimension,
        random_state=1,
        **options,
    )


# Not typed: what is wrong is passed on purpose.
Encoder: Any = hesc.Encoder
Polynomial: Any = hesc.Polynomial
X = encryptor().encrypt([[0.5, -0.25], [1.0, 0.75]])


@cache
def every_kind() -> list[object]:
    """One of each encrypted thing."""
    leveled = hesc.Params.preset("bfv_4096")
    _, keys = hesc.keygen(leveled, products=False)
    _, public = hesc.keygen(hesc.Params.preset("insecure_tfhe_512"))
    seeded = hesc.SecretEncryptor(SECRET, 64).encrypt([0.5])
    vector, bits = keys.encrypt([1, 2]), encrypt_bits(public, [0, 1])
    return [X, X.answer(), seeded, vector, bits]


@pytest.mark.parametrize(
    "operation",
    [
        np.array,
        np.asarray,
        lambda x: np.asarray([x, x]),
        lambda x: np.concatenate([x, x]),
        np.mean,
        bool,
        float,
        int,
        complex,
        abs,
        hash,
        lambda x: x == x,  # noqa: PLR0124
        lambda x: x != 0,
        lambda x: x < 1,
        lambda x: 0.5 >= x,  # noqa: SIM300
        lambda x: 0.5 in x,
        lambda x: [0.5] == x,  # noqa: SIM300
    ],
)
def test_python_and_numpy_get_no_numbers(operation: Callable[[Any], Any]) -> None:
    for encrypted in every_kind():
        with pytest.raises(TypeError):
            operation(encrypted)


def test_arrays_are_sequences_as_numpys_are() -> None:
    assert len(X) == 2
    rows = [DECRYPT(row) for row in X]
    np.testing.assert_array_equal(rows, DECRYPT(X))
    np.testing.assert_array_equal(DECRYPT(+X), DECRYPT(X))
    for ask in (len, list):
        with pytest.raises(TypeError, match="no length"):
            ask(X[0, 0])
    with pytest.raises(TypeError, match="are encrypted"):
        np.array(X)
    streams = hesc.Encoder(64).encode([0.5])
    with pytest.raises(TypeError, match="`values`"):
        np.array(streams)


def test_one_element_broadcasts() -> None:
    w = encryptor(5).encrypt(0.5)
    one = encryptor(6).encrypt([[0.5]])
    found = DECRYPT(X)
    for product in (X * w, w * X, X * one, one * X):
        np.testing.assert_allclose(DECRYPT(product), found / 2, atol=0.02)
    np.testing.assert_allclose(DECRYPT(w + X[0]), found[0] + 0.5, atol=0.01)
    polynomial = hesc.Polynomial([0, 1, 0.5])
    values = np.array([0.5, -1.0, 0.25])
    inputs = polynomial.encrypt_inputs(encryptor(), values)
    model = polynomial.encrypt(encryptor(6))
    np.testing.assert_allclose(DECRYPT(model.evaluate(inputs)), polynomial(values), atol=0.05)
    a = hesc.Encoder(1024, random_state=1).encode([0.5, -0.5])
    b = hesc.Encoder(1024, random_state=1, first_dimension=1).encode(0.5)
    np.testing.assert_allclose((a * b).values, [0.25, -0.25], atol=0.01)
    np.testing.assert_allclose((b * a).values, [0.25, -0.25], atol=0.01)


def unaligned(values: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, Any]:
    raw = np.zeros(values.nbytes + 1, dtype=np.uint8)
    array = raw[1:].view(np.float64).reshape(values.shape)
    array[...] = values
    assert not array.flags.aligned
    return array


@pytest.mark.parametrize(
    "form",
    [
        lambda v: v[::-1][::-1],
        np.asfortranarray,
        lambda v: np.lib.stride_tricks.as_strided(v, writeable=False),
        lambda v: v.astype(">f8"),
        lambda v: v.astype(np.float32),
        lambda v: v.astype(np.float16),
        lambda v: v.astype(np.longdouble),
        lambda v: np.repeat(v, 2, axis=1)[:, ::2],
        lambda v: v.T.copy().T,
        unaligned,
        lambda v: v.tolist(),
    ],
)
def test_numbers_in_any_form_of_memory(form: Callable[[Any], Any]) -> None:
    """Everything that takes numbers takes them in the order and format in which they lie."""
    values = np.array([[0.5, -0.25], [1.0, 0.75]])
    given = form(values)
    first = np.asarray(given)[0]
    np.testing.assert_array_equal(
        DECRYPT(encryptor().encrypt(given)), DECRYPT(encryptor().encrypt(values))
    )
    np.testing.assert_array_equal(DECRYPT(X * given), DECRYPT(X * values))
    np.testing.assert_array_equal(DECRYPT(X + given), DECRYPT(X + values))
    np.testing.assert_array_equal(DECRYPT(X / given), DECRYPT(X / values))
    sums = [X.multiplexed_sum(0, coefficients=c, random_state=3) for c in (first, values[0])]
    np.testing.assert_array_equal(DECRYPT(sums[0]), DECRYPT(sums[1]))
    weighted = [hesc.EncryptedArray.weighted_sum([X, X], c) for c in (first, values[0])]
    np.testing.assert_array_equal(DECRYPT(weighted[0]), DECRYPT(weighted[1]))
    encoder = hesc.Encoder(64, random_state=1)
    np.testing.assert_array_equal(encoder.predicted_error(given), encoder.predicted_error(values))


MASKED: Any = np.ma.masked_array([0.5, 0.25], mask=[True, False])


@pytest.mark.parametrize(
    "call",
    [
        lambda: encryptor().encrypt("0.5"),
        lambda: encryptor().encrypt(MASKED),
        lambda: encryptor().encrypt([0.5j]),
        lambda: encryptor().encrypt([[0.5], [0.5, 0.5]]),
        lambda: encryptor().encrypt(None),
        lambda: X * "2",
        lambda: X * MASKED,
        lambda: X + np.array(["1", "2"]),
        lambda: X - "1",
        lambda: X / "2",
        lambda: X * None,
        lambda: X * 1j,
        lambda: list(encryptor().encrypt_batches(np.zeros(4), -2)),
        lambda: list(encryptor().encrypt_batches(np.zeros(4), 0)),
        lambda: list(encryptor().encrypt_batches(np.zeros(4), 1.5)),
        lambda: list(encryptor().encrypt_batches(0.5, 2)),
        lambda: encryptor().encrypt_copies(0.5, 0),
        lambda: encryptor().encrypt_copies(0.5, 1.5),
        lambda: encryptor().encrypt_copies(0.5, True),
        lambda: X.answer(fuse=-1),
        lambda: X.answer(fuse=0),
        lambda: X.answer(fuse=True),
        lambda: X.answer(fuse=[2.5]),
        lambda: X.answer(fuse=[-3]),
        lambda: X.sum(axis=0.5),
        lambda: X.sum(axis=True),
        lambda: X.reshape(3),
        lambda: X.multiplexed_sum(random_state=-1),
        lambda: X.multiplexed_sum(random_state=1.5),
        lambda: X.multiplexed_sum(random_state=1, coefficients=["1"] * 4),
        lambda: X.allocated_sum(0, coefficients=[1, 1], pieces=[1.5, 2], granularity=4),
        lambda: X.allocated_sum(0, coefficients=[1, 1], pieces=[-1, 2], granularity=4),
        lambda: X.allocated_sum(0, coefficients=[1, 1], pieces=[1, 2], granularity=-4),
        lambda: X.allocated_sum(0, coefficients=[1, 1], pieces=MASKED, granularity=4),
        lambda: hesc.EncryptedArray.weighted_sum([X, X], [1]),
        lambda: hesc.EncryptedArray.weighted_sum([X, X], MASKED),
        lambda: Encoder(0),
        lambda: Encoder(-64),
        lambda: Encoder(64.0),
        lambda: Encoder(2**24 + 1),
        lambda: Encoder(64, first_dimension=-1),
        lambda: Encoder(64, first_dimension=2**32),
        lambda: Encoder(64, factors=0),
        lambda: Encoder(64, random_state=-1),
        lambda: Encoder(64, random_state=2**64),
        lambda: Encoder(64, random_state=0.5),
        lambda: Encoder(64).encode(0.5).shuffled(-1),
        lambda: Encoder(64).encode(0.5).delayed(0.5),
        lambda: Encoder(64).error_bound(-1),
        lambda: Encoder(64).predicted_error(0.5, -1),
        lambda: Encoder(64).encode([0.5]).correlation(Encoder(64).encode(0.5)),
        lambda: Polynomial({(1.5, 1): 1}),
        lambda: Polynomial({(True - 2, 1): 1}),
        lambda: Polynomial({2: 1}),
        lambda: Polynomial({(1,): "2"}),
        lambda: Polynomial(["1", "2"]),
        lambda: Polynomial(MASKED),
        lambda: Polynomial([0, 1]).summation(-64),
        lambda: Polynomial([0, 1]).summation(64, method="mixed", ciphertexts=0),
        lambda: Polynomial([0, 1]).summation(64, method="mixed", ciphertexts=1, granularity=0),
        lambda: Polynomial([0, 1]).summation(64, method="multiplexed", random_state=-1),
        lambda: Polynomial([0, 1]).encrypt_inputs(encryptor(), 0.5, repetitions=-1),
        lambda: Polynomial([0, 1]).encrypt_inputs(encryptor(), "0.5"),
        lambda: Polynomial([0, 1])("0.5"),
    ],
)
def test_what_is_no_number_of_its_kind_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises((hesc.ShapeError, hesc.OutOfRangeError)):
        call()


def test_whole_numbers_and_arrays() -> None:
    assert whole(np.int8(3), "n", 0) == 3
    assert whole_array([1, 2.0], "n").tolist() == [1, 2]
    assert real_array(0.5).shape == ()
    with pytest.raises(hesc.ShapeError, match="filled"):
        real_array(MASKED)


def test_weights_stay_numbers() -> None:
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        X * 1e300
    big = X * 1e100
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        big * 1e100
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        big * (encryptor(9).encrypt(0.5) * 1e100)
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        hesc.EncryptedArray.weighted_sum([big, big], [1e100, 1.0])
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        big.allocated_sum(0, coefficients=[1e100, 1], pieces=[2, 2], granularity=4)
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        big.multiplexed_sum(0, coefficients=[1e100, 1], random_state=1)
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        X + 1e200
    value, error = DECRYPT((X * 1e149).sum(), return_std=True)
    assert np.isfinite(value)
    assert np.isfinite(error)
    with pytest.raises(ZeroDivisionError):
        X / 0


BINARY: list[Callable[[Any, Any], Any]] = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.matmul,
    lambda a, b: hesc.EncryptedArray.concatenate([a, b]),
    lambda a, b: hesc.EncryptedArray.weighted_sum([a, b], [1, 1]),
    lambda a, b: hesc.powers([a, b]),
]


def test_representations_do_not_mix() -> None:
    """A unipolar 0.75 and an inverted-bipolar -0.5 are the same bits."""
    unipolar = hesc.Encoder(64, representation="unipolar").encode([0.75])
    bipolar = hesc.Encoder(64, first_dimension=1).encode([0.5])
    for operation in (operator.mul, operator.xor, operator.and_, operator.or_):
        for a, b in ((unipolar, bipolar), (bipolar, unipolar)):
            with pytest.raises(hesc.ParameterError, match="one representation"):
                operation(a, b)
    for preset in ("bfv_2048_slots", "unipolar_elgamal_ristretto255"):
        _, public = hesc.keygen(hesc.Params.preset(preset), mode="simulate")
        options: Any = {"stream_length": 64, "layout": "one_per_block"}
        up = hesc.Encryptor(public, representation="unipolar", **options).encrypt([0.75])
        ibp = hesc.Encryptor(public, first_dimension=1, **options).encrypt([0.5])
        for mix in BINARY:
            for x, y in ((up, ibp), (ibp, up)):
                with pytest.raises(hesc.ParameterError, match="one representation"):
                    mix(x, y)
        for encrypted, clear in ((up, bipolar), (ibp, unipolar)):
            with pytest.raises(hesc.ParameterError, match="one representation"):
                encrypted.multiply_encoded(clear)


@pytest.mark.parametrize("name", ["bfv_1024", "ckks_1024", "ec_elgamal_ristretto255", "gm_3072"])
def test_key_pairs_do_not_mix(name: str) -> None:
    params = hesc.Params.preset(name)
    one, other = (
        hesc.Encryptor(hesc.keygen(params)[1], 64, first_dimension=d).encrypt([0.5]) for d in (0, 1)
    )
    for mix in BINARY:
        with pytest.raises(hesc.KeyMismatchError):
            mix(one, other)


def test_bits_of_two_keys_do_not_mix() -> None:
    params = hesc.Params.preset("insecure_tfhe_512")
    (secret, one), (_, two) = hesc.keygen(params, bootstrapping=True), hesc.keygen(params)
    a, b = (encrypt_bits(public, [0, 1]) for public in (one, two))
    evaluator = Evaluator(one)
    for mix in (
        lambda: a ^ b,
        lambda: concatenate([a, b]),
        lambda: evaluator.gate("AND", a, b),
        lambda: evaluator.refresh(b),
        lambda: evaluator.answer(b),
        lambda: decrypt_bits(secret, b),
    ):
        with pytest.raises(hesc.KeyMismatchError):
            mix()


def test_bits_of_weighted_streams_are_refused() -> None:
    params = hesc.Params.preset("insecure_tfhe_512")
    _, public = hesc.keygen(params)
    x = hesc.Encryptor(public, 64).encrypt([0.5, -0.25])
    assert EncryptedBits.of_streams(-x).shape == (2, 64)
    assert EncryptedBits.of_streams((x * 2) / 2).shape == (2, 64)
    for weighted in (x * 0.5, x * 2, x.sum() / 2, x * 0.0):
        with pytest.raises(hesc.ShapeError, match="weight"):
            EncryptedBits.of_streams(weighted)


def test_wrong_objects_are_named() -> None:
    with pytest.raises(hesc.ParameterError, match="parameter set"):
        hesc.keygen("bfv")  # type: ignore[arg-type]
    for wrong in (PUBLIC, "key"):
        with pytest.raises(TypeError, match="a secret key is needed"):
            hesc.Decryptor(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="a secret key is needed"):
            hesc.SecretEncryptor(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="SecretEncryptor"):
        hesc.Encryptor(SECRET)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="from_bytes"):
        DECRYPT(X.to_bytes())
    with pytest.raises(TypeError, match="from_bytes"):
        DECRYPT([X])  # type: ignore[call-overload]
    encoded = hesc.Encoder(1024).encode([0.5, 0.5])
    for left, right in ((X, encoded), (encoded, X)):
        for wrong_operation in (operator.mul, operator.add, operator.sub):
            with pytest.raises(TypeError):
                wrong_operation(left, right)
    with pytest.raises(TypeError, match="multiply_encoded"):
        X * encoded
    with pytest.raises(TypeError, match="Encoder"):
        X.multiply_encoded(0.5)
    with pytest.raises(TypeError, match="quotient"):
        X / X


def test_inputs_under_the_secret_key() -> None:
    polynomial = hesc.Polynomial([0.25, 1, -0.5])
    values = np.array([0.5, -0.75])
    client = hesc.SecretEncryptor(
        SECRET, 1024, generator="joint", layout="one_per_block", random_state=1
    )
    inputs = polynomial.encrypt_inputs(client, values)
    np.testing.assert_allclose(DECRYPT(polynomial.evaluate(inputs)), polynomial(values), atol=0.02)
    owner = hesc.SecretEncryptor(SECRET, 1024, first_dimension=9, layout="one_per_block")
    model = polynomial.encrypt(owner)
    np.testing.assert_allclose(DECRYPT(model.evaluate(inputs)), polynomial(values), atol=0.1)
    seeded = client.encrypt([0.5])
    np.testing.assert_allclose(DECRYPT(seeded), 0.5, atol=0.01)
    with pytest.raises(TypeError, match="expand"):
        X * seeded


def test_plans_belong_to_their_polynomial() -> None:
    polynomial, other = hesc.Polynomial([0, 1, 1]), hesc.Polynomial([0, 2, 1])
    inputs = polynomial.encrypt_inputs(encryptor(length=256), 0.5)
    for plan in (other.summation(256), hesc.Polynomial({(1, 0): 1, (0, 1): 1}).summation(256)):
        with pytest.raises(hesc.ParameterError, match="another polynomial"):
            polynomial.evaluate(inputs, plan)
    with pytest.raises(hesc.ShapeError, match="512 bits, these have 256"):
        polynomial.evaluate(inputs, polynomial.summation(512))
    again = hesc.Polynomial([0, 1, 1]).summation(256)
    np.testing.assert_allclose(DECRYPT(polynomial.evaluate(inputs, again)), 0.75, atol=0.05)


@pytest.mark.parametrize(
    "call",
    [
        lambda: to_bits([1], 1.5),  # type: ignore[arg-type]
        lambda: to_bits([1], -1),
        lambda: to_bits([1], True),
        lambda: to_bits(np.ma.masked_array([1, 2], mask=[True, False]), 4),
        lambda: to_numbers([2, 0, 1]),
        lambda: to_numbers([0.5, 0]),
        lambda: to_numbers([-1, 0]),
        lambda: to_numbers(["1", "0"]),
        lambda: to_numbers(1),
    ],
)
def test_bits_are_zeros_and_ones(call: Callable[[], object]) -> None:
    with pytest.raises((hesc.ShapeError, hesc.OutOfRangeError)):
        call()


def test_streams_encrypted_together_have_one_shape() -> None:
    encoder = hesc.Encoder(64)
    arrays = [encoder.encode([0.5]), encoder.encode([0.5, 0.5])]
    for wrong in (arrays, []):
        with pytest.raises(hesc.ShapeError, match="one shape"):
            encrypt_streams(PUBLIC, wrong, "auto")


def test_what_has_no_bytes_is_no_passphrase(tmp_path: Path) -> None:
    secret, _ = hesc.keygen(hesc.Params.preset("bfv_1024"))
    with pytest.raises(hesc.ParameterError) as raised:
        secret.save(tmp_path / "key", passphrase="deep \ud800 secret")
    assert raised.value.__context__ is None
    assert "deep" not in str(raised.value)
    assert not (tmp_path / "key").exists()


@pytest.mark.parametrize("value", [2.0, -1.5, np.nan, np.inf])
def test_errors_are_predicted_for_values_that_there_are(value: float) -> None:
    with pytest.raises(hesc.OutOfRangeError, match="in \\[-1, 1\\]"):
        hesc.Encoder(64).predicted_error([0.5, value])

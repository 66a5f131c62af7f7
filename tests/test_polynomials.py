"""Polynomials through encryption and simulation."""

from __future__ import annotations

import pickle
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import hesc
from hesc.polynomials.plan import best_pieces, kept_pieces, shared_pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

X = np.array([[0.3, -0.7, 0.9], [0.0, 1.0, -1.0]])
Y = np.array([[-0.5, 0.2, 0.6], [1.0, -0.4, 0.1]])


def decrypted(
    params: hesc.Params, polynomial: hesc.Polynomial, *values: object, **options: object
) -> NDArray[np.float64]:
    secret, public = hesc.keygen(params)
    encryptor = hesc.Encryptor(
        public, 1024, generator="joint", layout="one_per_block", random_state=2
    )
    inputs = polynomial.encrypt_inputs(encryptor, *values)  # type: ignore[arg-type]
    plan = polynomial.plan(1024, **options) if options else None  # type: ignore[arg-type]
    return hesc.Decryptor(secret).decrypt(polynomial.evaluate(inputs, plan))


@pytest.mark.parametrize(
    "preset", ["bfv_1024", "bfv_2048_slots", "ckks_1024", "ckks_2048", "bfv_1024_fusion"]
)
def test_one_variable(preset: str) -> None:
    polynomial = hesc.Polynomial([0.25, -3.0, 0.0, 2.0])
    assert (polynomial.degrees, polynomial.scale, polynomial.constant) == ((3,), 3.0, 0.25)
    found = decrypted(hesc.Params.preset(preset), polynomial, X)
    np.testing.assert_allclose(found, 2 * X**3 - 3 * X + 0.25, atol=0.03)


def test_several_variables() -> None:
    polynomial = hesc.Polynomial({(2, 1): 0.5, (0, 3): -1.0, (1, 1): 2.0, (0, 0): 1.0})
    assert polynomial.degrees == (2, 3)
    expected = 0.5 * X**2 * Y - Y**3 + 2 * X * Y + 1
    np.testing.assert_allclose(polynomial(X, Y), expected)
    found = decrypted(hesc.Params.preset("bfv_1024"), polynomial, X, Y)
    # Products of two jointly encoded powers are those of Sobol streams.
    np.testing.assert_allclose(found, expected, atol=0.1)


@pytest.mark.parametrize(
    ("options", "tolerance"),
    [
        ({"method": "concatenated"}, 0.03),
        ({"method": "multiplexed", "random_state": 1}, 1.0),
        ({"method": "mixed", "ciphertexts": 1}, 0.2),
        ({"method": "mixed", "ciphertexts": 2, "granularity": 16}, 0.1),
        ({"method": "mixed", "ciphertexts": 9}, 0.03),
    ],
)
def test_plans_evaluate(options: dict[str, object], tolerance: float) -> None:
    polynomial = hesc.Polynomial([1.0, 2.0, -1.0, 0.5, 1.0])
    params = hesc.Params.preset("bfv_2048_slots")
    found = decrypted(params, polynomial, X, **options)
    np.testing.assert_allclose(found, polynomial(X), atol=tolerance)
    streams = {"concatenated": 4, "multiplexed": 1}
    plan = polynomial.plan(1024, **options)  # type: ignore[arg-type]
    expected = streams.get(str(options["method"]), min(4, int(str(options.get("ciphertexts", 4)))))
    assert plan.streams == expected


def test_the_division_is_the_best_of_all() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        variances = rng.uniform(0.1, 5, 4)
        for ciphertexts in (1, 2, 3):
            pieces = best_pieces(variances, 5, ciphertexts)
            assert pieces.sum() == 5 * ciphertexts
            every = (
                np.sum(variances / kept)
                for kept in product(range(1, 6), repeat=4)
                if sum(kept) == 5 * ciphertexts
            )
            assert np.sum(variances / pieces) == pytest.approx(min(every))
    with pytest.raises(hesc.ShapeError, match="larger granularity"):
        best_pieces(np.ones(9), 4, 2)


def test_more_ciphertexts_are_never_worse() -> None:
    """The curve of the planner falls, and ends at concatenation."""
    x = np.linspace(-1, 1, 201)
    several = {(1, 1): 1.0, (2, 0): -2.0, (0, 3): 1.0}
    one = [hesc.Polynomial(a) for a in (np.ones(11), [0, 3, -1, 0.5, 2, -4])]
    for polynomial in (*one, hesc.Polynomial(several)):
        inputs = (x,) * polynomial.variables
        curve = [
            np.mean(
                polynomial.plan(1024, method="mixed", ciphertexts=count).predicted_error(*inputs)
                ** 2
            )
            for count in range(1, len(polynomial.coefficients) + 1)
        ]
        assert all(after < before for before, after in pairwise(curve))
        whole = np.mean(polynomial.plan(1024).predicted_error(*inputs) ** 2)
        assert curve[-1] == pytest.approx(whole)


def test_repetitions_average() -> None:
    polynomial = hesc.Polynomial([0, 1, 1])
    secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"), mode="simulate")
    x = np.linspace(-0.9, 0.9, 201)

    def error(repetitions: int) -> float:
        encryptor = hesc.Encryptor(
            public, 256, generator="bernoulli", layout="one_per_block", random_state=4
        )
        inputs = polynomial.encrypt_inputs(encryptor, x, repetitions=repetitions)
        y = hesc.Decryptor(secret).decrypt(polynomial.evaluate(inputs))
        return float(np.sqrt(np.mean((y - polynomial(x)) ** 2)))

    assert error(16) == pytest.approx(error(1) / 4, rel=0.3)


def test_coefficients_can_be_encrypted() -> None:
    polynomial = hesc.Polynomial([1.0, 4.0, -2.0])
    secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
    owner = hesc.Encryptor(public, 1024, first_dimension=20, layout="one_per_block")
    client = hesc.Encryptor(public, 1024, generator="joint", layout="one_per_block")
    model = polynomial.encrypt(owner)
    x = np.float64(0.5)
    y = model.evaluate(polynomial.encrypt_inputs(client, x))
    value, error = hesc.Decryptor(secret).decrypt(y, return_std=True)
    assert abs(value - 2.5) < 5 * error
    assert error < 0.2


def test_an_encrypted_polynomial_keeps_no_coefficient_in_the_clear() -> None:
    """Two of one scale, constant and exponents differ in ciphertexts only, whatever is pickled."""
    _, public = hesc.keygen(hesc.Params.preset("bfv_2048_slots"))
    kept = []
    for coefficients in ([1, 0.25, -2], [1, -1.5, 2]):
        model = hesc.Polynomial(coefficients).encrypt(hesc.Encryptor(public, 64))
        clear = {name: value for name, value in vars(model).items() if name != "_coefficients"}
        kept.append(pickle.dumps(clear))
        assert len(vars(model)) == len(clear) + 1
    assert kept[0] == kept[1]


def test_simulation_and_encryption_give_the_same_values() -> None:
    polynomial = hesc.Polynomial([0.5, 1, -1, 1])
    for preset in ("bfv_2048_slots", "bfv_1024", "ckks_1024"):
        results = []
        for mode in ("encrypt", "simulate"):
            params = hesc.Params.preset(preset)
            secret, public = hesc.keygen(params, mode=mode)
            assert secret.params.name.startswith("insecure_") == (mode == "simulate")
            encryptor = hesc.Encryptor(public, 512, random_state=3)
            y = polynomial.evaluate(polynomial.encrypt_inputs(encryptor, X))
            y = hesc.EncryptedArray.from_bytes(secret.params, y.to_bytes())
            results.append(hesc.Decryptor(secret).decrypt(y))
        np.testing.assert_array_equal(results[0], results[1])
    again = hesc.Params.from_bytes(secret.params.to_bytes(), assurance="insecure")
    assert again == secret.params
    with pytest.raises(hesc.ParameterError, match="encrypts nothing"):
        hesc.Params.from_bytes(secret.params.to_bytes())
    with pytest.raises(hesc.ParameterError, match="encrypt or simulate"):
        hesc.keygen(params, mode="dream")  # type: ignore[arg-type]


def test_unipolar_sets_simulate_conjunctions() -> None:
    params = hesc.Params.recommended("unipolar_elgamal")
    secret, public = hesc.keygen(params, mode="simulate")
    encryptor = hesc.Encryptor(
        public, 4096, representation="unipolar", layout="one_per_block", random_state=1
    )
    a, b = encryptor.encrypt([0.5, 0.25]), encryptor.encrypt([0.5, 0.75])
    found = hesc.Decryptor(secret).decrypt(a * b)
    np.testing.assert_allclose(found, [0.25, 0.1875], atol=0.01)


def test_what_is_sent_is_what_is_used() -> None:
    """Copies encrypted in one batch travel alone, and so do selected elements."""
    _, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
    encryptor = hesc.Encryptor(public, 1024, layout="one_per_block", random_state=1)
    copies = encryptor.encrypt_copies([0.5, 0.25], 4)
    alone = encryptor.encrypt([0.5, 0.25])
    assert len(copies[2].to_bytes()) == len(alone.to_bytes())
    assert len(copies[2][:1].to_bytes()) < 0.6 * len(alone.to_bytes())


def test_mistakes_teach() -> None:
    for bad, message in (
        ([1.0], "at least one other monomial"),
        ([[1.0]], "as a list"),
        ({(1,): 1.0, (1, 2): 1.0}, "for each variable"),
        ({(-1,): 1.0}, "exponents"),
    ):
        with pytest.raises(hesc.ShapeError, match=message):
            hesc.Polynomial(bad)
    with pytest.raises(hesc.OutOfRangeError, match="finite"):
        hesc.Polynomial([0, np.inf])
    polynomial = hesc.Polynomial([0, 1, 1])
    with pytest.raises(hesc.ParameterError, match="concatenated, multiplexed, mixed"):
        polynomial.plan(64, method="best")
    with pytest.raises(hesc.ParameterError, match="how many result streams"):
        polynomial.plan(64, method="mixed")
    _, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
    encryptor = hesc.Encryptor(public, 64, layout="one_per_block")
    with pytest.raises(hesc.ShapeError, match="1 variables, not 2"):
        polynomial.encrypt_inputs(encryptor, 0.5, 0.5)
    with pytest.raises(hesc.ShapeError, match="needs 2 copies, got 1"):
        polynomial.evaluate([[encryptor.encrypt_copies(0.5, 1)]])
    inputs = polynomial.encrypt_inputs(encryptor, 0.5)
    with pytest.raises(hesc.ParameterError, match="slot"):
        polynomial.evaluate(inputs, polynomial.plan(64, method="mixed", ciphertexts=1))
    few = hesc.Encryptor(public, 64, generator="rotation", layout="one_per_block")
    plan = polynomial.plan(64, method="mixed", ciphertexts=1, granularity=2)
    inputs = polynomial.encrypt_inputs(few, 0.5)
    with pytest.raises(hesc.ShapeError, match="generator"):
        polynomial.evaluate(inputs, plan)


def test_overlaps_of_pieces_are_counted_without_laying_them_out() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        granularity = int(rng.integers(1, 12))
        pieces = rng.integers(1, granularity + 1, int(rng.integers(1, 6)))
        kept = kept_pieces(pieces, granularity).astype(np.int64)
        np.testing.assert_array_equal(shared_pieces(pieces, granularity), kept @ kept.T)


def test_plans_are_for_streams_that_there_are() -> None:
    with pytest.raises(hesc.OutOfRangeError, match="stream_length"):
        hesc.Polynomial([0, 1, 1]).plan(2**28, method="mixed", ciphertexts=1)

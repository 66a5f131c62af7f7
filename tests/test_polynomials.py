"""Polynomials through encryption and simulation."""

from __future__ import annotations

import pickle
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

import hesc
from hesc.streams.polynomials.measured import Summed, measured_error
from hesc.streams.polynomials.summation import best_pieces, kept_pieces, shared_pieces

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.params import StreamParams

X = np.array([[0.3, -0.7, 0.9], [0.0, 1.0, -1.0]])
Y = np.array([[-0.5, 0.2, 0.6], [1.0, -0.4, 0.1]])


def decrypted(
    params: StreamParams, polynomial: hesc.Polynomial, *values: object, **options: object
) -> NDArray[np.float64]:
    secret, public = hesc.keygen(params)
    encryptor = hesc.Encryptor(
        public, 1024, generator="joint", layout="one_per_block", random_state=2
    )
    inputs = polynomial.encrypt_inputs(encryptor, *values)  # type: ignore[arg-type]
    plan = polynomial.summation(1024, **options) if options else None  # type: ignore[arg-type]
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
    plan = polynomial.summation(1024, **options)  # type: ignore[arg-type]
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
        count = len(polynomial.coefficients)
        plans = [
            polynomial.summation(1024, method="mixed", ciphertexts=k + 1) for k in range(count)
        ]
        plans.append(polynomial.summation(1024))
        *curve, whole = [
            np.mean(plan.predicted_error(*inputs, generator="bernoulli") ** 2) for plan in plans
        ]
        assert all(after < before for before, after in pairwise(curve))
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
    with pytest.raises(hesc.ParameterError, match="choose one of encrypt, simulate"):
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
        polynomial.summation(64, method="best")
    with pytest.raises(hesc.ParameterError, match="how many result streams"):
        polynomial.summation(64, method="mixed")
    _, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
    encryptor = hesc.Encryptor(public, 64, layout="one_per_block")
    with pytest.raises(hesc.ShapeError, match="1 variables, not 2"):
        polynomial.encrypt_inputs(encryptor, 0.5, 0.5)
    with pytest.raises(hesc.ShapeError, match="needs 2 copies, got 1"):
        polynomial.evaluate([[encryptor.encrypt_copies(0.5, 1)]])
    inputs = polynomial.encrypt_inputs(encryptor, 0.5)
    with pytest.raises(hesc.ParameterError, match="slot"):
        polynomial.evaluate(inputs, polynomial.summation(64, method="mixed", ciphertexts=1))
    few = hesc.Encryptor(public, 64, generator="rotation", layout="one_per_block")
    plan = polynomial.summation(64, method="mixed", ciphertexts=1, granularity=2)
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
        hesc.Polynomial([0, 1, 1]).summation(2**28, method="mixed", ciphertexts=1)


def test_copies_are_encoded_jointly_by_default() -> None:
    """The same streams as those of "joint"; arrays by themselves are still Sobol's."""
    polynomial, x = hesc.Polynomial([0.0, 1.0, -1.0, 2.0]), np.linspace(-1, 1, 41)
    secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"), mode="simulate")
    decrypt = hesc.Decryptor(secret).decrypt

    def found(generator: str | None, seed: int = 1) -> NDArray[np.float64]:
        encryptor = hesc.Encryptor(public, 1024, generator=generator, random_state=seed)
        return decrypt(polynomial.evaluate(polynomial.encrypt_inputs(encryptor, x)))

    np.testing.assert_array_equal(found(None), found("joint"))
    for generator in (None, "sobol"):
        mixed = hesc.Encryptor(public, 1024, generator=generator, random_state=1)
        np.testing.assert_array_equal(
            decrypt(mixed.encrypt(x)),
            decrypt(hesc.Encryptor(public, 1024, generator="sobol", random_state=1).encrypt(x)),
        )

    def error(generator: str | None) -> float:
        off = [found(generator, seed) - polynomial(x) for seed in range(20)]
        return float(np.sqrt(np.mean(np.square(off))))

    assert error(None) < error("sobol") / 3
    assert error(None) < error("bernoulli") / 10


def test_draws_of_arrays_and_of_factors_do_not_meet() -> None:
    """One count of dimensions for both: any two calls multiply, none twice."""
    _, public = hesc.keygen(hesc.Params.preset("bfv_1024"), mode="simulate")
    encryptor = hesc.Encryptor(public, 64, random_state=1)
    first = encryptor.encrypt([0.5])
    copies = encryptor.encrypt_copies([0.5], 3)
    assert encryptor.encoder.next_dimension == 4
    last = encryptor.encrypt([0.5])
    arrays = [first, *copies, last]
    for k, x in enumerate(arrays):
        for y in arrays[k + 1 :]:
            x * y
    other = hesc.Encryptor(public, 64, random_state=1)
    other.encrypt_copies([0.5], 3)
    with pytest.raises(hesc.CorrelationError):
        arrays[1] * hesc.Encryptor(public, 64, first_dimension=1).encrypt([0.5])


def test_copies_are_made_where_there_are_no_joint_streams() -> None:
    """Unipolar streams, and more copies than the joint generator has dimensions."""
    x = np.array([0.25, 0.75])
    encoder = hesc.Encoder(256, representation="unipolar", random_state=1)
    a, b = encoder.encode_factors([x, x])
    np.testing.assert_allclose((a * b).values, x**2, atol=0.05)
    with pytest.raises(hesc.ParameterError, match="inverted bipolar only"):
        hesc.Encoder(256, generator="joint", representation="unipolar").encode_factors([x, x])
    late = hesc.Encoder(64, first_dimension=2**31, random_state=1)
    a, b = late.encode_factors([x, x])
    assert late.next_dimension == 2**31 + 2
    # Random arrangements of 64 bits: six deviations.
    np.testing.assert_allclose((a * b).values, x**2, atol=6 / 8)
    with pytest.raises(hesc.CorrelationError):
        hesc.Encoder(64, generator="joint", first_dimension=2**31).encode_factors([x, x])


SUMS = [
    ({"method": "concatenated"}, None, "inverted_bipolar"),
    ({"method": "concatenated"}, "sobol", "inverted_bipolar"),
    ({"method": "concatenated"}, "halton", "inverted_bipolar"),
    ({"method": "mixed", "ciphertexts": 1}, None, "inverted_bipolar"),
    ({"method": "mixed", "ciphertexts": 2}, "exact_weight", "inverted_bipolar"),
    ({"method": "multiplexed", "random_state": 1}, None, "inverted_bipolar"),
    ({"method": "concatenated"}, None, "unipolar"),
    ({"method": "concatenated"}, "bernoulli", "unipolar"),
]


@pytest.mark.parametrize(("options", "generator", "representation"), SUMS)
def test_errors_are_predicted_for_every_encoder(
    options: dict[str, object], generator: str | None, representation: str
) -> None:
    """Beside what simulated encryption gives, in one and in two variables.

    Two root mean squares over some 60 draws of 21 values each. Of twenty others with other seeds
    the largest was at most 1.18 times the smallest, which is three deviations and more to either
    side: to be a quarter off takes six.
    """
    unipolar = representation == "unipolar"
    preset = "unipolar_bfv_4096" if unipolar else "bfv_2048_slots"
    secret, public = hesc.keygen(hesc.Params.preset(preset), mode="simulate")
    x = np.linspace(0 if unipolar else -1, 1, 21)
    one = hesc.Polynomial([1.0, 2.0, -1.0, 0.5])
    two = hesc.Polynomial({(2, 1): 1.0, (0, 3): -0.5, (1, 0): 0.25})
    for polynomial, values in ((one, (x,)), (two, (x, x[::-1]))):
        plan = polynomial.summation(1024, **options)  # type: ignore[arg-type]
        predicted = plan.predicted_error(
            *values, generator=generator, representation=representation
        )
        off = []
        for seed in range(60):
            encryptor = hesc.Encryptor(
                public,
                1024,
                generator=generator,
                representation=representation,
                layout="one_per_block",
                random_state=1000 + seed,
            )
            again = polynomial.summation(1024, **{**options, "random_state": seed})  # type: ignore[arg-type]
            y = polynomial.evaluate(polynomial.encrypt_inputs(encryptor, *values), again)
            off.append(hesc.Decryptor(secret).decrypt(y) - polynomial(*values))
        measured = float(np.sqrt(np.mean(np.square(off))))
        assert np.sqrt(np.mean(predicted**2)) == pytest.approx(measured, rel=0.25)


def test_what_is_measured_is_the_law_where_there_is_one() -> None:
    """Independent bits and random arrangements, measured as if there were no law for them."""
    x = np.linspace(-1, 1, 21)
    polynomial = hesc.Polynomial([0, 2.0, -1.0, 0.5])
    for generator, options in (
        ("bernoulli", {"method": "concatenated"}),
        ("bernoulli", {"method": "mixed", "ciphertexts": 1}),
        ("bernoulli", {"method": "multiplexed"}),
        ("exact_weight", {"method": "concatenated"}),
    ):
        plan = polynomial.summation(256, **options)
        kept = None
        if plan.pieces is not None:
            kept = np.empty((len(plan.order), plan.granularity), dtype=np.bool_)
            kept[plan.order] = kept_pieces(plan.pieces, plan.granularity)
        summed = Summed(
            plan.coefficients, plan.exponents, 256, options["method"] == "multiplexed", kept
        )
        found = measured_error(summed, [x], {"generator": generator, "random_state": 3}, 400)
        law = plan.predicted_error(x, generator=generator)
        # 400 draws each: a figure is off by 3.5% in the mean square, their mean by less.
        assert np.sqrt(np.mean(found**2)) == pytest.approx(np.sqrt(np.mean(law**2)), rel=0.05)
        # Six deviations point by point.
        np.testing.assert_allclose(found, law, rtol=0.22, atol=2e-3)


def test_predictions_are_checked() -> None:
    plan = hesc.Polynomial({(1, 1): 1.0}).summation(64)
    calls: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: plan.predicted_error(0.5), hesc.ShapeError, "2 variables"),
        (lambda: plan.predicted_error([0.5] * 2, [0.5] * 3), hesc.ShapeError, "broadcast"),
        (lambda: plan.predicted_error(0.5, 1.5), hesc.OutOfRangeError, "range|\\[-1, 1\\]"),
        (
            lambda: plan.predicted_error(0.5, 1.5, generator="bernoulli"),
            hesc.OutOfRangeError,
            "scale them",
        ),
        (lambda: plan.predicted_error(0.5, 0.5, draws=1), hesc.OutOfRangeError, "draws"),
        (lambda: plan.predicted_error(0.5, 0.5, random_state=-1), hesc.OutOfRangeError, "random"),
        (lambda: plan.predicted_error(0.5, 0.5, generator="x"), hesc.ParameterError, "sobol"),
    ]
    for call, error, text in calls:
        with pytest.raises(error, match=text):
            call()
    assert plan.predicted_error(0.5, [0.25, 0.5]).shape == (2,)


@pytest.mark.parametrize(
    "kind", ["Polynomial", "Chebyshev", "Legendre", "Laguerre", "Hermite", "HermiteE"]
)
def test_series_of_numpy_keep_their_values(kind: str) -> None:
    """In every basis, and in domains where the series' variable is not x."""
    rng = np.random.default_rng(7)
    series = getattr(np.polynomial, kind)
    for domain in (None, [0, 1], [-3, 2]):
        p = series(rng.uniform(-2, 2, 5), domain=domain)
        np.testing.assert_allclose(hesc.Polynomial(p)(X), p(X), rtol=1e-9, atol=1e-9)


def test_poly1d_has_its_highest_power_first() -> None:
    p = np.poly1d([2.0, 0.0, -1.0, 3.0])
    np.testing.assert_allclose(hesc.Polynomial(p)(X), p(X))


@pytest.mark.parametrize(
    ("coefficients", "text"),
    [
        ([1, -0.5, 0, 2], "1 - 0.5 x + 2 x^3"),
        ([0, -1], "-x"),
        ([0, 0, 1], "x^2"),
        ({(2, 1): 0.5, (0, 0): 1, (0, 3): -1}, "1 + 0.5 x^2 y - y^3"),
        ({(0, 0, 0, 1): 3, (1, 0, 2, 0): 1}, "3 x4 + x1 x3^2"),
        ([1] * 12, "1 + x + x^2 + x^3 + x^4 + x^5 + x^6 + x^7 + ... (12 terms)"),
    ],
)
def test_polynomials_show_themselves(coefficients: object, text: str) -> None:
    assert repr(hesc.Polynomial(coefficients)) == f"<hesc.Polynomial {text}>"  # type: ignore[arg-type]

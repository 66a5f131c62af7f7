"""The rivals of the reproduced tables are given what hesc has, and compute what they claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gmpy2
import numpy as np
import pytest
import seal

import hesc
from hesc.streams.iris import load_network, load_split
from hesc_papers.gmp_peer import EcElgamalPeer, ElgamalPeer
from hesc_papers.hsiao2022sche_figure_2 import binary_error, bits_for
from hesc_papers.report import Report
from hesc_papers.seal_peer.layered import LayeredPeer
from hesc_papers.seal_peer.leveled import LeveledBfv, TunedCkks
from hesc_papers.seal_peer.monomial import MonomialStreams
from hesc_papers.seal_peer.polynomial import (
    Chain,
    IntegerPolynomial,
    LeveledPolynomial,
    StreamPolynomial,
    papers_chain,
    tuned_chain,
)
from hesc_papers.seal_peer.setup import make

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

NETWORK, SPLIT = load_network(), load_split()
Q27, Q54 = 134215681, 18014398509404161


def all_one(x: float, degree: int) -> float:
    return sum(x**power for power in range(degree + 1))


@pytest.mark.parametrize("plain_modulus", [2, 32, 12289])
def test_coefficients_are_packed_without_a_transform(plain_modulus: int) -> None:
    setting = make("bfv", 1024, [Q27], plain_modulus=plain_modulus, packing="coefficients")
    rng = np.random.default_rng(plain_modulus)
    for length in (1, 960, 1024):
        numbers = rng.integers(0, plain_modulus, length)
        numbers[length // 2 :] = 0
        plain = setting.encoder.encode(numbers)
        for encrypt in (setting.encryptor.encrypt, setting.encryptor.encrypt_symmetric):
            found = setting.encoder.decode(setting.decryptor.decrypt(encrypt(plain)))
            assert found.shape == (1024,)
            assert np.array_equal(found[:length], numbers)
            assert not found[length:].any()
    # Additions are those of coefficients: x and x^2, not their values at roots of unity.
    x, x2 = (setting.encoder.encode(np.eye(3, dtype=np.int64)[k]) for k in (1, 2))
    total = setting.evaluator.add(setting.encryptor.encrypt(x), setting.encryptor.encrypt(x2))
    assert list(setting.encoder.decode(setting.decryptor.decrypt(total))[:4]) == [0, 1, 1, 0]


class Counting:
    """SEAL's evaluator, with the calls of each method counted."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator = evaluator
        self.calls: dict[str, int] = {}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls[name] = self.calls.get(name, 0) + 1
            return getattr(self._evaluator, name)(*arguments)

        return call


@pytest.mark.parametrize("degree", range(2, 11))
@pytest.mark.parametrize("chain_of", [tuned_chain, papers_chain])
def test_exact_polynomials_take_few_products(degree: int, chain_of: Callable[[int], Chain]) -> None:
    polynomial = LeveledPolynomial(degree, chain_of(degree))
    work = polynomial.all_one
    counting = Counting(work.setting.evaluator)
    work.setting = work.setting._replace(evaluator=counting)
    for x in (-1.0, 0.3, 1.0):
        _, value = polynomial.run(x)
        # Seven deviations at least, at the ends, where errors are largest.
        assert abs(value - all_one(x, degree)) < 0.1, x
    products = (counting.calls.get("multiply", 0) + counting.calls.get("square", 0)) / 3
    fewest = {2: 1, 3: 2, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 4, 10: 4}
    assert products == fewest[degree]
    # The last product is decrypted as it is.
    assert counting.calls.get("relinearize_inplace", 0) / 3 < products


def test_exact_polynomials_of_many_numbers() -> None:
    x = np.linspace(-1, 1, 201)
    found = LeveledPolynomial(10, papers_chain(10)).values(x)
    assert np.allclose(found, [all_one(value, 10) for value in x], atol=2e-3)


def test_integer_polynomials() -> None:
    for degree in (2, 3):
        polynomial = IntegerPolynomial(degree)
        for x in (-1.0, 0.25, 1.0):
            assert abs(polynomial.run(x)[1] - all_one(x, degree)) < 0.05


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (
            {"scheme": "bfv", "ring_degree": 2048, "coeff_moduli": [Q54], "plain_modulus": 12289},
            0.5,
        ),
        (
            {
                "scheme": "bfv",
                "ring_degree": 2048,
                "coeff_moduli": [Q54],
                "plain_modulus": 12289,
                "packing": "coefficients",
                "encrypt_constant": True,
            },
            0.5,
        ),
        ({"scheme": "ckks", "ring_degree": 2048, "coeff_moduli": [Q54], "scale": 2.0**38}, 0.5),
        # Two blocks a stream, and a stream that fills a quarter of one.
        (
            {
                "scheme": "bfv",
                "ring_degree": 1024,
                "coeff_moduli": [Q27],
                "plain_modulus": 2,
                "packing": "coefficients",
            },
            0.5,
        ),
        (
            {
                "scheme": "bfv",
                "ring_degree": 1024,
                "coeff_moduli": [Q27],
                "plain_modulus": 2,
                "packing": "coefficients",
                "stream_length": 256,
                "generator": "joint",
            },
            0.02,
        ),
    ],
)
def test_seal_computes_with_the_same_streams(options: dict[str, Any], error: float) -> None:
    """Errors are below seven standard deviations of 2048 Bernoulli bits, or a bit of joint ones."""
    candidate = StreamPolynomial(3, **{"stream_length": 2048, **options})
    for x in (-0.6, 0.7):
        stages, value = candidate.run(x)
        assert abs(value - all_one(x, 3)) < error
        assert set(stages) == {"B2S", "Enc", "Eval", "Dec", "S2B"}


@pytest.mark.parametrize("secret_key", [True, False])
def test_seal_has_the_tricks_of_the_best_mode(secret_key: bool) -> None:
    """As accurate as hesc's, in two ciphertexts of one block: Sobol streams, three fused digits."""
    candidate = MonomialStreams(NETWORK, 1024, [Q27], stream_length=64, secret_key=secret_key)
    errors = []
    for flower in range(12):
        sample = SPLIT.test_features[flower : flower + 1]
        errors.append(candidate.run(sample)[1] - NETWORK.values(sample)[0])
    assert np.sqrt(np.mean(np.square(errors))) < 0.4
    assert candidate.bytes_up == candidate.bytes_down < 2 * 8 * 1024 + 200


@pytest.mark.parametrize(
    ("make_candidate", "error"),
    [
        # Scores are off by 0.007: nine of them beyond 0.02 once in 90 runs, and 0.04 in 10^7.
        (lambda: TunedCkks(NETWORK), 0.04),
        (lambda: LeveledBfv(NETWORK, tuned=True), 0.3),
        (lambda: LeveledBfv(NETWORK), 0.3),
    ],
)
def test_leveled_rivals_are_right(make_candidate: Callable[[], Any], error: float) -> None:
    candidate = make_candidate()
    for flower in (0, 15, 29):
        sample = SPLIT.test_features[flower : flower + 1]
        assert np.abs(candidate.run(sample)[1] - NETWORK.values(sample)[0]).max() < error


def test_fused_digits_of_seal_are_separated() -> None:
    """303 results are no multiple of five; outputs are right to five standard deviations."""
    candidate = LayeredPeer(
        NETWORK, "bfv", 2048, [Q54], plain_modulus=12289, digits=5, stream_length=1024
    )
    sample = SPLIT.test_features[:1]
    assert np.abs(candidate.run(sample)[1] - NETWORK.values(sample)[0]).max() < 2
    assert candidate.bytes_down < 62 * 33000


@pytest.mark.parametrize(
    "peer", [lambda: ElgamalPeer(280), EcElgamalPeer], ids=["ffdhe3072", "secp256r1"]
)
def test_tables_of_fixed_bases_give_powers(peer: Callable[[], Any]) -> None:
    made = peer()
    for left, right in ((0, 0), (0, 1), (1, 1)):
        product = made.multiply(made.encrypt(left), made.encrypt(right))
        assert made.decrypt(product) == left + right
    if isinstance(made, ElgamalPeer):
        assert made.powers(12345) == gmpy2.powmod(2, 12345, made.modulus)


def test_pads_do_what_linear_circuits_do() -> None:
    """As README says: products and sums of padded streams; pads come off at the end."""
    rng = np.random.default_rng(5)
    encoder = hesc.Encoder(256)
    x, w = (encoder.encode(values).bits for values in ([0.5, -0.25, 1.0], [0.75, 0.5, -0.5]))
    pads = rng.integers(0, 2, (2, *x.shape), dtype=np.uint8)

    def circuit(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return np.concatenate(list(left ^ right))

    server = circuit(x ^ pads[0], w ^ pads[1])
    assert np.array_equal(server ^ circuit(*pads), circuit(x, w))


def test_binary_numbers_of_equal_error() -> None:
    a, b = np.random.default_rng(0).random((2, 500))
    for bits in (3, 5, 8):
        assert bits_for(binary_error(bits, a, b), a, b) == bits
    assert bits_for(0.0101, a, b) == 5


def test_reports_name_the_rival_its_build_and_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")
    rows: list[dict[str, Any]] = [{"candidate": "hesc: x", "Total": 1.0}]
    alone = Report("id", "title", "ms", rows).made_with()
    assert "SEAL" not in alone
    assert "gmpy2" not in alone
    beside = Report("id", "title", "ms", [*rows, {"candidate": "SEAL: x"}, {"curve": "gmpy2: y"}])
    text = beside.made_with()
    assert seal.__version__ in text
    assert "without Intel HEXL" in text
    assert f"gmpy2 {gmpy2.version()}" in text
    assert beside.machine["processor"] in text
    assert "on 1 of them" in text
    assert "CKKS" not in Report("id", "title", "ms", [{"curve": "CKKS"}]).made_with()
    assert "seal-python" in Report("id", "title", "ms", [{"curve": "CKKS (SEAL)"}]).made_with()

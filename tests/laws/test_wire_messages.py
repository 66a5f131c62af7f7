"""Encrypted bits, networks' messages, encrypted polynomials and keys tell nothing."""

from __future__ import annotations

import dataclasses
import pickle
from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc import gates
from hesc.streams.networks.monomial import MonomialModel
from tests.laws.wire import check_ciphertexts_only, check_no_word_repeats

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

BITS = (np.array([[0, 1, 1, 0, 1]] * 2), np.array([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]]))


class Gates(NamedTuple):
    """A key owner and a server."""

    secret: hesc.SecretKey
    public: hesc.PublicKeys
    server: gates.Evaluator


@cache
def parties() -> Gates:
    secret, public = hesc.keygen(hesc.Params.preset("insecure_tfhe_512"), bootstrapping=True)
    return Gates(secret, public, gates.Evaluator(public))


def test_encrypted_bits_tell_nothing() -> None:
    """Fresh and computed, in blocks and as answers of circuits."""
    _, public, server = parties()

    def evaluated(bits: Any) -> gates.EncryptedBits:
        encrypted = gates.encrypt_bits(public, bits)
        (total,) = server(
            gates.integers.adder(5, adder="ripple"), encrypted, encrypted, progress=False
        )
        return total

    forms: dict[str, Callable[[Any], bytes]] = {
        "fresh": lambda bits: gates.encrypt_bits(public, bits).to_bytes(),
        "inverted": lambda bits: (~gates.encrypt_bits(public, bits)).to_bytes(),
        "parities": lambda bits: (
            gates.encrypt_bits(public, bits) ^ gates.encrypt_bits(public, 1 - bits)
        ).to_bytes(),
        "packed": lambda bits: server.pack(evaluated(bits)).to_bytes(),
        "answer": lambda bits: server.answer(evaluated(bits)).to_bytes(),
        "answer of several": lambda bits: server.answer(
            evaluated(bits), gates.encrypt_bits(public, bits)
        ).to_bytes(),
        "answer of fresh ones": lambda bits: server.answer(
            gates.encrypt_bits(public, bits)
        ).to_bytes(),
    }
    for name, form in forms.items():
        check_ciphertexts_only(name, partial(form, BITS[0]), partial(form, BITS[1]))


@pytest.mark.parametrize("preset", ["bfv_1024_fusion", "ckks_1024"])
def test_messages_of_networks_tell_nothing(preset: str) -> None:
    """Models whose monomials have the same largest sizes, which are public; any queries."""
    from hesc.streams.iris import load_network

    params = hesc.Params.preset(preset)
    secret, public = hesc.keygen(params)
    network = load_network()
    # The same outputs in another order: other coefficients, the same sizes.
    swapped = dataclasses.replace(
        network,
        output_weights=network.output_weights[::-1].copy(),
        output_bias=network.output_bias[::-1].copy(),
    )
    features = (np.zeros((2, 4)), np.array([[5.1, 3.5, 1.4, 0.2], [6.2, 2.9, 4.3, 1.3]]))

    def model(of: Any) -> bytes:
        return MonomialModel.encrypt(of, public, random_state=1).coefficients.to_bytes()

    def query(of: Any) -> Any:
        encryptor = hesc.SecretEncryptor(secret, 64, random_state=1)
        return encryptor.encrypt(network.preprocessing.monomials(of))

    def answer(of: Any, asked: Any) -> bytes:
        read = MonomialModel(hesc.EncryptedArray.from_bytes(params, model(of)))
        return read.answer(query(asked).expand()).to_bytes()

    check_ciphertexts_only("model", partial(model, network), partial(model, swapped))
    check_ciphertexts_only(
        "query", lambda: query(features[0]).to_bytes(), lambda: query(features[1]).to_bytes()
    )
    check_ciphertexts_only(
        "answer", lambda: answer(network, features[0]), lambda: answer(swapped, features[1])
    )


@pytest.mark.parametrize("preset", ["bfv_1024", "ckks_1024", "ec_elgamal_ristretto255"])
def test_encrypted_polynomials_tell_the_largest_coefficient_only(preset: str) -> None:
    """Pickled whole, as they go to servers. The constant, exponents and scale are public."""
    secret, public = hesc.keygen(hesc.Params.preset(preset))
    length = 64
    polynomials = [hesc.Polynomial([0.5, 2.0, b, c]) for b, c in ((0.123456789, -1.5), (1.9, 0.7))]
    assert polynomials[0].scale == polynomials[1].scale

    def by_public(polynomial: hesc.Polynomial) -> bytes:
        encryptor = hesc.Encryptor(public, length, first_dimension=5, random_state=1)
        return pickle.dumps(polynomial.encrypt(encryptor))

    def by_secret(polynomial: hesc.Polynomial) -> bytes:
        encryptor = hesc.SecretEncryptor(secret, length, first_dimension=5, random_state=1)
        return pickle.dumps(polynomial.encrypt(encryptor))

    def value(polynomial: hesc.Polynomial) -> bytes:
        encryptor = hesc.Encryptor(public, length, first_dimension=5, random_state=1)
        inputs = polynomial.encrypt_inputs(
            hesc.SecretEncryptor(secret, length, random_state=1), [0.5]
        )
        return polynomial.encrypt(encryptor).evaluate(inputs).answer().to_bytes()

    forms = {"public": by_public, "secret": by_secret}
    if not preset.startswith("ec_"):
        # Four factors of 64 bits each take seconds on groups.
        forms["value"] = value
    for name, form in forms.items():
        check_ciphertexts_only(name, *(partial(form, each) for each in polynomials))


def test_keys_are_made_of_fresh_randomness() -> None:
    """Nothing of a key stays in the next but its head: no seed, no generator's state."""
    heads = {"bfv_1024": 400, "ckks_2048": 400, "gm_3072": 200, "ec_elgamal_ristretto255": 200}

    def public_key(preset: str) -> bytes:
        return hesc.keygen(hesc.Params.preset(preset))[1].to_bytes()

    def evaluation_key() -> bytes:
        params = hesc.Params.preset("insecure_tfhe_512")
        return hesc.keygen(params, bootstrapping=True)[1].to_bytes()

    for preset, head in heads.items():
        check_no_word_repeats(preset, partial(public_key, preset), head=head)
    check_no_word_repeats("evaluation", evaluation_key, head=400)


def test_sealed_keys_differ_each_time(tmp_path: Path) -> None:
    """One key under one passphrase: salt and nonce are fresh, hence all that follows."""
    secret, _ = hesc.keygen(hesc.Params.preset("bfv_1024"))
    count = iter(range(99))

    def sealed() -> bytes:
        path = tmp_path / f"key-{next(count)}"
        secret.save(path, passphrase="a passphrase")
        return path.read_bytes()

    check_no_word_repeats("sealed", sealed, head=100)

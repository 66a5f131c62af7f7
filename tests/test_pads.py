"""Pads: the bits of the clear, no nonce twice over processes, sizes, and refusals."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc.protocols.streams.staged import Monomial
from hesc.streams.iris import load_network, load_split
from hesc.streams.networks.monomial import MODEL_DIMENSION, QUERY_DIMENSION, MonomialModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARAMS = hesc.Params.recommended("pad")
SECRET, PUBLIC = hesc.keygen(PARAMS)

NONCE = 24


def frame_of(seeded: bytes) -> bytes:
    """The frame of the blocks in that of the streams, in an array."""
    at = [i for i in range(len(seeded)) if seeded[i : i + 4] == b"HESC"]
    return seeded[at[-1] :]


def nonce_of(seeded: bytes) -> bytes:
    """Magic, version, kind, length, two names and the number of blocks are before it."""
    frame = frame_of(seeded)
    return frame[50 : 50 + NONCE]


def test_decrypted_bits_are_those_of_the_clear() -> None:
    """Products and sums of any shape: what a simulation has to the last bit."""
    rng = np.random.default_rng(1)
    simulated = hesc.keygen(PARAMS, mode="simulate")[0]
    for _ in range(20):
        shape = tuple(rng.integers(1, 5, rng.integers(1, 4)))
        values = rng.uniform(-1, 1, (3, *shape))
        length = int(rng.choice([64, 256, 1000]))
        options: dict[str, Any] = {"random_state": int(rng.integers(2**32))}

        def compute(
            secret: hesc.SecretKey,
            values: NDArray[np.float64] = values,
            length: int = length,
            options: dict[str, Any] = options,
        ) -> Any:
            encryptor = hesc.SecretEncryptor(secret, length, **options)
            x, y, z = (encryptor.encrypt(each).expand() for each in values)
            both = x * y * z
            result = (both * 0.5 + 0.25).sum(axis=0) - both[0]
            answer = hesc.Answer.from_bytes(secret.params, result.answer().to_bytes())
            return hesc.Decryptor(secret).decrypt(answer)

        np.testing.assert_array_equal(compute(SECRET), compute(simulated))


def test_iris_takes_a_bit_a_bit() -> None:
    """The network in our best mode, model and queries encrypted by the key owner."""
    split = load_split()
    way = Monomial(load_network(), PARAMS, seed=1)
    outputs = way.run(split.test_features)[1]
    simulated = Monomial(load_network(), PARAMS.simulated(), seed=1)
    np.testing.assert_array_equal(outputs, simulated.run(split.test_features)[1])
    samples, monomials = load_network().preprocessing.monomials(split.test_features).shape
    # A bit for each bit; 8 bytes say where each stream lies.
    assert way.bytes_up < samples * monomials * (64 / 8 + 8) + 30 * 8 + 300


def test_the_server_needs_no_key() -> None:
    """Bytes up, bytes down; the server has the parameters and what the owner sent."""
    network, split = load_network(), load_split()
    own = hesc.SecretEncryptor(SECRET, 64, first_dimension=MODEL_DIMENSION, random_state=1)
    model = MonomialModel.encrypted_by(own, network).coefficients.to_bytes()
    at_server = MonomialModel(hesc.EncryptedArray.from_bytes(PARAMS, model))
    queries = hesc.SecretEncryptor(SECRET, 64, first_dimension=QUERY_DIMENSION, random_state=2)
    monomials = network.preprocessing.monomials(split.test_features)
    query = hesc.EncryptedArray.from_bytes(PARAMS, queries.encrypt(monomials).to_bytes())
    answer = hesc.Answer.from_bytes(PARAMS, at_server.answer(query).to_bytes())
    found, error = hesc.Decryptor(SECRET).decrypt(answer, return_std=True)
    expected = network.values(split.test_features)
    assert np.abs((found - expected) / error).max() < 6


def test_sizes() -> None:
    """Of an upload: a bit for each bit, and a frame of two hundred bytes and some."""
    for count in (1, 16, 1000):
        encryptor = hesc.SecretEncryptor(SECRET, 1024, layout="one_per_block")
        size = len(encryptor.encrypt(np.zeros(count)).to_bytes())
        assert count * 128 < size < count * (128 + 16) + 300


def _nonces(count: int) -> list[bytes]:
    encryptor = hesc.SecretEncryptor(SECRET, 64)
    return [nonce_of(encryptor.encrypt([0.5]).to_bytes()) for _ in range(count)]


def test_nonces_differ_over_forked_processes() -> None:
    """A child inherits key, counter and all; its generator is the system's."""
    before = _nonces(5)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        children = pool.map(_nonces, [50] * 6, chunksize=1)
    nonces = before + _nonces(50) + [nonce for child in children for nonce in child]
    assert len(set(nonces)) == len(nonces) == 355


def test_a_saved_key_reads_what_it_wrote(tmp_path: Any) -> None:
    encrypted = hesc.SecretEncryptor(SECRET, 512).encrypt([0.25, -0.5])
    SECRET.save(tmp_path / "key", passphrase="some words")
    loaded = hesc.SecretKey.load(PARAMS, tmp_path / "key", passphrase="some words")
    expected = hesc.Decryptor(SECRET).decrypt(encrypted.expand())
    np.testing.assert_array_equal(hesc.Decryptor(loaded).decrypt(encrypted.expand()), expected)
    stranger = hesc.keygen(PARAMS)[0]
    with pytest.raises(hesc.KeyMismatchError):
        hesc.Decryptor(stranger).decrypt(encrypted.expand())


def test_what_there_is_not() -> None:
    own = hesc.SecretEncryptor(SECRET, 64)
    x, y = (own.encrypt(np.full(20, 0.5)).expand() for _ in range(2))
    z = hesc.SecretEncryptor(SECRET, 64, layout="one_per_block").encrypt(np.full(3, 0.5)).expand()
    refusals: list[tuple[Any, str]] = [
        (lambda: hesc.Encryptor(PUBLIC, 64).encrypt([0.5]), "the key owner encrypts"),
        (lambda: x.rerandomise(PUBLIC), "nobody but the key owner"),
        (lambda: (x * y).answer(fuse=2), "not on counts"),
        (lambda: z.multiplexed_sum(random_state=1), "whole blocks"),
    ]
    for call, reason in refusals:
        with pytest.raises(hesc.ParameterError, match=reason):
            call()
    with pytest.raises(hesc.ParameterError, match="multiple of 64"):
        hesc.Params.pad(block_length=100)
    own = hesc.SecretEncryptor(SECRET, 64, representation="unipolar")
    x, y = (own.encrypt([0.5]).expand() for _ in range(2))
    with pytest.raises(hesc.ParameterError, match="inverted bipolar"):
        x * y

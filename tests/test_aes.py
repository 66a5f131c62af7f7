"""AES on an encrypted key: bits beside plain Python's and other implementations' AES; refusals."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

import hesc
from hesc import integers, keygen
from hesc.integers import transciphering
from hesc.integers.secret import decrypt_integers
from hesc.integers.transciphering.secret import AesKey
from hesc.packing import EncryptedSlots
from hesc.params import Params, VectorParams
from tests.second_implementation import aes

if TYPE_CHECKING:
    from hesc.integers.transciphering import AesDecipherer

ROUNDS = 2
Party = tuple["AesDecipherer", hesc.SecretKey, hesc.PublicKeys]


def _encrypted(key: bytes, block: bytes, rounds: int = 10) -> bytes:
    blocks = np.frombuffer(block, dtype=np.uint8).reshape(1, 16)
    return aes.encrypt_blocks(key, blocks, rounds).tobytes()


@pytest.fixture(scope="module")
def params() -> VectorParams:
    """A small ring, whose noise is far below its primes."""
    found: VectorParams = Params.cyclotomic(255, [50] * 10, [50], assurance="insecure")
    return found


@pytest.fixture(scope="module")
def party(params: VectorParams) -> Party:
    plan = transciphering.aes_plan("uint8", rounds=ROUNDS, spare=1, params=params)
    return plan, *keygen(params, unpacking="bytes")


@pytest.fixture(scope="module")
def key() -> AesKey:
    return AesKey.from_bytes(bytes(range(16)))


@pytest.fixture(scope="module")
def stored(party: Party, key: AesKey) -> list[EncryptedSlots]:
    plan, secret, public = party
    parts = key.encrypt_to_parts(secret, plan)
    # What the plan said of them, but for the few bytes of frames.
    assert 0 <= sum(map(len, parts)) - plan.key_bytes < 100 * len(parts)
    return [EncryptedSlots.from_bytes(plan.params, part).with_keys(public) for part in parts]


def test_the_clear_cipher_is_that_of_the_standard() -> None:
    """SP 800-38A, F.5.1, of the first block; FIPS 197, C.1; and of other people's library."""
    assert _encrypted(bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")) == (
        bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
    )
    rng = np.random.default_rng(8)
    data, nonce = rng.bytes(16 * 5), rng.bytes(12)
    for rounds in (1, 2, 10):
        own = AesKey.from_bytes(rng.bytes(16))
        stream = b"".join(
            _encrypted(own.secret_bytes(), nonce + i.to_bytes(4, "big"), rounds) for i in range(5)
        )
        expected = bytes(a ^ b for a, b in zip(data, stream, strict=True))
        assert own.with_keystream(nonce, data, rounds) == expected
    ciphers = pytest.importorskip("cryptography.hazmat.primitives.ciphers")
    mode = ciphers.modes.CTR(nonce + bytes(4))
    encryptor = ciphers.Cipher(ciphers.algorithms.AES(own.secret_bytes()), mode).encryptor()
    assert encryptor.update(data) == expected


def test_rows_arrive_and_are_computed_with(
    party: Party, key: AesKey, stored: list[EncryptedSlots]
) -> None:
    """More rows than slots; bytes that another implementation encrypted; a circuit on them."""
    plan, secret, _ = party
    assert (plan.columns, plan.depth, len(plan.key_levels)) == (16, 3 * ROUNDS, ROUNDS + 1)
    assert plan.key_levels[0] > plan.key_levels[-1]
    assert plan.room >= 1
    assert "16 uint8" in repr(plan)
    rows = np.random.default_rng(1).integers(0, 256, (21, 16), dtype=np.uint8)
    nonce = b"never again."
    stream = [
        _encrypted(key.secret_bytes(), nonce + i.to_bytes(4, "big"), ROUNDS) for i in range(21)
    ]
    data = (rows ^ np.frombuffer(b"".join(stream), dtype=np.uint8).reshape(21, 16)).tobytes()
    seen: list[tuple[int, int]] = []
    columns = plan.decipher(stored, nonce, data, progress=lambda *done: seen.append(done))
    found = np.stack([decrypt_integers(secret, column) for column in columns], axis=1)
    assert np.array_equal(found, rows)
    assert seen[-1] == (2 * 16 * ROUNDS, 2 * 16 * ROUNDS)
    both = integers.evaluate(columns[0] & columns[15], progress=False)
    assert np.array_equal(decrypt_integers(secret, both), rows[:, 0] & rows[:, 15])


@pytest.mark.parametrize("dtype", ["bool", "int16", "uint32", "int64"])
def test_other_numbers_arrive(
    params: VectorParams, party: Party, key: AesKey, stored: list[EncryptedSlots], dtype: str
) -> None:
    _, secret, _ = party
    plan = transciphering.aes_plan(dtype, rounds=ROUNDS, params=params)
    kind = integers.kinds.kind_of(dtype)
    rows = np.random.default_rng(2).integers(
        kind.least, kind.most, (3, plan.columns), endpoint=True, dtype=kind.numpy
    )
    nonce, data = key.encrypt(rows, rounds=ROUNDS)
    assert (len(nonce), len(data)) == (12, 48)
    assert np.array_equal(key.decrypt(nonce, data, dtype, rounds=ROUNDS), rows)
    columns = plan.decipher(stored, nonce, data, progress=False)
    found = np.stack([decrypt_integers(secret, column) for column in columns], axis=1)
    assert np.array_equal(found, rows)
    again, other = key.encrypt(rows, rounds=ROUNDS)
    assert again != nonce
    assert other != data


def test_what_cannot_be_is_refused(
    params: VectorParams, party: Party, key: AesKey, stored: list[EncryptedSlots]
) -> None:
    plan, secret, public = party
    nonce, data = b"twelve bytes", bytes(16)
    refused: list[tuple[type[Exception], str, Any]] = [
        (hesc.ShapeError, "fill up", lambda: plan.decipher(stored, nonce, data[:15])),
        (hesc.ShapeError, "rows of 16", lambda: plan.decipher(stored, nonce, b"")),
        (hesc.ParameterError, "12 bytes", lambda: plan.decipher(stored, b"short", data)),
        (hesc.ParameterError, "no parts", lambda: plan.decipher([], nonce, data)),
        (
            hesc.ParameterError,
            "in a list",
            lambda: plan.decipher(cast("Any", stored[0]), nonce, data),
        ),
        (hesc.ParameterError, "all parts", lambda: plan.decipher(stored[:-1], nonce, data)),
        (hesc.ParameterError, "all parts", lambda: plan.decipher(stored[::-1], nonce, data)),
        (
            hesc.ParameterError,
            "unpacking=",
            lambda: plan.decipher(
                [part.with_keys(keygen(params)[1]) for part in stored], nonce, data
            ),
        ),
        (
            hesc.KeyMismatchError,
            "key",
            lambda: plan.decipher(
                [part.with_keys(keygen(params, unpacking="bytes")[1]) for part in stored],
                nonce,
                data,
            ),
        ),
        (hesc.ParameterError, "whole number", lambda: transciphering.aes_plan("uint5")),
        (hesc.OutOfRangeError, "rounds", lambda: transciphering.aes_plan(rounds=11)),
        (
            hesc.CircuitError,
            "no room for 10 rounds of AES, 30 products",
            lambda: transciphering.aes_plan(params=params),
        ),
        (
            hesc.CircuitError,
            "3 products in sequence, with 30 more",
            lambda: transciphering.aes_plan(rounds=1, spare=30, params=params),
        ),
        (
            hesc.ParameterError,
            "slots of GF",
            lambda: transciphering.aes_plan(
                rounds=1, params=Params.cyclotomic(7, [50] * 3, [50], assurance="insecure")
            ),
        ),
        (hesc.ShapeError, "16 uint8", lambda: key.encrypt(np.zeros((2, 15), dtype=np.uint8))),
        (hesc.ShapeError, "table", lambda: key.encrypt(np.zeros(16, dtype=np.uint8))),
        (hesc.ShapeError, "rows of 16", lambda: key.decrypt(nonce, data[:3], "uint8")),
        (hesc.ParameterError, "no whole", lambda: key.decrypt(nonce, data, "uint5")),
        (hesc.OutOfRangeError, "uint8", lambda: key.encrypt(np.full((1, 16), 300), "uint8")),
        (
            hesc.HescError,
            "masked",
            lambda: key.encrypt(np.ma.masked_array(np.zeros((1, 16), np.uint8), mask=True)),
        ),
        *(
            (
                hesc.HescError,
                "rounds",
                lambda rounds=rounds: key.with_keystream(nonce, data, rounds),
            )
            for rounds in (0, 11, 2**40, True, 1.5, None)
        ),
        *(
            (
                hesc.HescError,
                "to_bytes|12 bytes",
                lambda nonce=each: key.with_keystream(nonce, data, 1),
            )
            for each in (b"short", "x" * 12, None)
        ),
        (hesc.ParameterError, "16 bytes", lambda: AesKey.from_bytes(b"short")),
        (TypeError, "secret_bytes", lambda: pickle.dumps(key)),
        (TypeError, "make it again", lambda: pickle.dumps(plan)),
        (hesc.ParameterError, "unpacking is", lambda: keygen(params, unpacking="few")),  # type: ignore[arg-type]
    ]
    for error, words, call in refused:
        with pytest.raises(error, match=words):
            call()
    assert "AesKey object" in repr(key)
    assert AesKey.generate().secret_bytes() != key.secret_bytes()
    assert isinstance(public, hesc.PublicKeys)
    assert isinstance(secret, hesc.SecretKey)

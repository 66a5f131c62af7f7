"""Transciphering: what a server makes of a message is what the client put in; refusals."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import hesc
from hesc import CipherKey, integers, keygen
from hesc.integers import encrypt, transciphering
from hesc.integers.secret import decrypt_integers
from hesc.integers.transciphering import Shape, StreamCipherMessage
from hesc.params import Params, VectorParams

Party = tuple[transciphering.Decipherer, hesc.SecretKey, hesc.PublicKeys]


@pytest.fixture(scope="module")
def params() -> VectorParams:
    """A small ring, whose noise is far below its primes."""
    found: VectorParams
    found = Params.cyclotomic(255, [50] * 16, [50], plain_modulus=2, assurance="insecure")
    return found


@pytest.fixture(scope="module")
def party(params: VectorParams) -> Party:
    return transciphering.plan("int5", bits=17, params=params), *keygen(params)


@pytest.fixture(scope="module")
def key() -> CipherKey:
    return CipherKey.from_bytes(bytes(range(16)))


@pytest.fixture(scope="module")
def stored(party: Party, key: CipherKey) -> integers.EncryptedIntegers:
    read: integers.EncryptedIntegers
    read = integers.read(party[2].params, key.encrypt_to_bytes(party[1]))
    return read.with_keys(party[2])


def test_numbers_arrive_and_are_computed_with(
    party: Party, key: CipherKey, stored: integers.EncryptedIntegers
) -> None:
    plan, secret, _ = party
    assert plan.shape == Shape(16, 3)
    assert plan.levels[0] > plan.levels[-1]
    numbers = np.arange(-16, 16).repeat(2)[:61]
    seen: list[tuple[int, int]] = []
    message = StreamCipherMessage.from_bytes(
        key.encrypt(numbers, "int5", shape=plan.shape).to_bytes()
    )
    assert (message.runs, len(message), str(message.kind)) == (2, 61, "int5")
    found = plan.decipher(stored, message, progress=lambda *done: seen.append(done))
    assert decrypt_integers(secret, found).tolist() == numbers.tolist()
    assert seen[-1] == (2 * plan.products, 2 * plan.products)
    both = integers.evaluate(found & 12, progress=False)
    assert decrypt_integers(secret, both).tolist() == (numbers & 12).tolist()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint3", "uint64", "int200"])
def test_messages_come_back(key: CipherKey, dtype: str) -> None:
    """Of any type, count and shape; the same numbers never look alike."""
    rng = np.random.default_rng(3)
    kind = (
        integers.IntegerKind(1, boolean=True) if dtype == "bool" else integers.kinds.kind_of(dtype)
    )
    for count, shape in ((1, Shape(16, 1)), (16, Shape(16, 2)), (77, Shape(9, 3))):
        numbers: Any = [
            int.from_bytes(rng.bytes(32)) % (kind.most - kind.least + 1) + kind.least
            for _ in range(count)
        ]
        message = key.encrypt(np.array(numbers, dtype=object), kind, shape=shape)
        assert key.decrypt(message).tolist() == numbers
        again = key.encrypt(np.array(numbers, dtype=object), kind, shape=shape)
        assert again.nonce != message.nonce
        copied = pickle.loads(pickle.dumps(message))  # noqa: S301 - our own
        assert copied.to_bytes() == message.to_bytes()
        overhead = len(message.to_bytes()) - -(-count // 8) * kind.width
        assert overhead < 72 + kind.width * (count // shape.slots + 1)


def kreyvium(key: bytes, initial: bytes, count: int) -> list[int]:
    """As in the paper (Canteaut, Carpov and others 2018, section 4), whose first bits are last."""
    first, second = (
        [data[at // 8] >> at % 8 & 1 for at in reversed(range(128))] for data in (key, initial)
    )
    s = [0, *first[:93], *second, *[1] * 66, 0]
    stream = []
    for turn in range(1152 + count):
        k, v = first[turn % 128], second[turn % 128]
        t1, t2, t3 = s[66] ^ s[93], s[162] ^ s[177], s[243] ^ s[288] ^ k
        stream.append(t1 ^ t2 ^ t3)
        t1 ^= s[91] & s[92] ^ s[171] ^ v
        t2 ^= s[175] & s[176] ^ s[264]
        t3 ^= s[286] & s[287] ^ s[69]
        s = [0, t3, *s[1:93], t1, *s[94:177], t2, *s[178:288]]
    return stream[1152:]


def test_the_keystream_is_kreyviums(key: CipherKey) -> None:
    message = key.encrypt(np.zeros(40, dtype=np.uint8), "uint8", shape=Shape(16, 2))
    for slot, run, block in ((5, 0, 1), (3, 1, 0)):
        initial = message.nonce + (16 * run + slot).to_bytes(4, "little")
        expected = kreyvium(key.secret_bytes(), initial, 16)[8 * block :][:8]
        rows = message.public_rows(run)[128 + 8 * block :][:8]
        assert [int(row[slot]) for row in rows] == expected


def test_messages_are_as_long_as_stated(key: CipherKey) -> None:
    """67 bytes, and for each block of slots a row for each bit, rounded up to bytes."""
    for count, dtype, shape in (
        (3, "uint8", (21, 3)),
        (1000, "uint8", (64, 3)),
        (9, "bool", (4, 3)),
    ):
        message = key.encrypt(np.zeros(count, dtype=bool), dtype, shape=Shape(*shape))
        full, rest = divmod(count, shape[0])
        rows = message.kind.width * (full * -(-shape[0] // 8) + -(-rest // 8))
        assert len(message.to_bytes()) == 67 + rows
        with pytest.raises(hesc.OutOfRangeError, match="run"):
            message.public_rows(message.runs)


def test_shapes_are_refused_by_the_limit_that_they_break(key: CipherKey) -> None:
    cases: list[tuple[int, str, tuple[int, int], str]] = [
        (1, "uint256", (8, 17), "bits of a stream is 4352; it must be between 1 and 4096"),
        (5000, "bool", (1, 1), "runs .* is 5000; it must be between 1 and 4096"),
        (1, "uint64", (1 << 16, 8), "bits of all streams"),
    ]
    for count, dtype, shape, message in cases:
        with pytest.raises(hesc.ParameterError, match=message):
            key.encrypt(np.zeros(count, dtype=bool), dtype, shape=Shape(*shape))


def test_what_does_not_fit_is_refused(
    party: Party, params: VectorParams, key: CipherKey, stored: integers.EncryptedIntegers
) -> None:
    plan, _, public = party
    message = key.encrypt([1, 2], "int5", shape=plan.shape)
    with pytest.raises(hesc.ShapeError, match=r"shape=plan\.shape"):
        plan.decipher(stored, key.encrypt([1, 2], "int5", shape=Shape(16, 2)))
    with pytest.raises(hesc.ShapeError, match="uint5"):
        plan.decipher(stored, key.encrypt([1, 2], "uint5", shape=plan.shape))
    with pytest.raises(hesc.ParameterError, match="encrypt_to_bytes"):
        plan.decipher(encrypt(public, [1], "uint8"), message)
    with pytest.raises(hesc.ParameterError, match="message"):
        plan.decipher(stored, message.to_bytes())  # type: ignore[arg-type]
    # Under the public key there is more noise than the plan is for.
    noisy = encrypt(public, np.array([5] * 16, dtype=object), "uint128")
    with pytest.raises(hesc.CircuitError, match="encrypt the inputs again"):
        transciphering.plan("bool", bits=1, params=params, spare=20).decipher(
            noisy, key.encrypt([True], "bool", shape=Shape(16, 1))
        )
    _, other = keygen(params)
    foreign = stored.with_keys(other)
    with pytest.raises(hesc.KeyMismatchError):
        plan.decipher(foreign, message)
    with pytest.raises(hesc.CircuitError, match="products in sequence"):
        transciphering.plan("int5", params=params, spare=200)
    with pytest.raises(hesc.ParameterError, match="bits=64"):
        transciphering.plan("uint64", bits=46)
    with pytest.raises(hesc.ParameterError, match="plaintext modulus 2"):
        transciphering.plan("int5", params=Params.preset("bgv_8192"))


def test_secrets_and_damaged_messages(key: CipherKey) -> None:
    with pytest.raises(TypeError, match="secret_bytes"):
        pickle.dumps(key)
    assert "0x" in repr(key)
    assert key.secret_bytes() not in repr(key).encode()
    with pytest.raises(hesc.ParameterError, match="16 bytes"):
        CipherKey.from_bytes(b"short")
    data = key.encrypt([1, 2, 3], "uint8", shape=Shape(8, 4)).to_bytes()
    for at in range(len(data)):
        with pytest.raises(hesc.WireError):
            StreamCipherMessage.from_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises(hesc.OutOfRangeError):
        key.encrypt([300], "uint8", shape=Shape(8, 4))


@pytest.mark.long
def test_presets_have_room_for_what_is_said_of_them() -> None:
    """40 bits of keystream at depth 12 and 120 at depth 13, on sets of 128 bits of security."""
    for bits, dtype, depth in ((40, "uint20", 12), (120, "uint24", 13)):
        plan = transciphering.plan(dtype, bits=bits)
        assert plan.depth == depth
        secret, public = keygen(plan.params)
        key = CipherKey.generate()
        stored = integers.read(public.params, key.encrypt_to_bytes(secret)).with_keys(public)
        numbers = np.random.default_rng(1).integers(0, 1 << 20, plan.shape.slots * 2)
        message = key.encrypt(numbers, dtype, shape=plan.shape)
        found = plan.decipher(stored, message, progress=False)
        assert (decrypt_integers(secret, found) == numbers).all()

"""Damaged and lying files and messages: readers raise errors of hesc, or give right numbers."""

from __future__ import annotations

import io
import json
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import hesc
from hesc.protocols.message import HEAD_BYTES, Kind, Message, MessageWriter, read_messages
from hesc.protocols.streams.options import Streams
from hesc.protocols.streams.plan import StreamPlan
from hesc.protocols.streams.planning import make
from hesc.streams.iris import load_network
from hesc.streams.networks import SquareNetwork
from hesc.streams.networks.monomial import MonomialModel
from tests.second_implementation.blake3 import blake3

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator

# Nothing is encrypted: readers check the same numbers, and objects are small.
PARAMS = hesc.Params.insecure_plain(block_length=64, plain_modulus=32)
SECRET, PUBLIC = hesc.keygen(PARAMS)
LEVELED = hesc.Params.preset("bfv_4096")
NETWORK = load_network()
LENGTH = 40
PLAN = bytes(range(16))
HEADER, CHECKSUM = 14, 16
# The checksum of a longer object takes this file's BLAKE3 too long.
SHORT = 2000


class Reader(NamedTuple):
    """Valid bytes, and what reads and uses bytes like these."""

    data: bytes
    read: Callable[[bytes], object]


def _use(array: Any) -> None:
    """Operations and decryption: every result is a finite number."""
    for result in (array, array.sum(), -array, array * 0.5):
        values, errors = hesc.Decryptor(SECRET).decrypt(result, return_std=True)
        assert np.isfinite(values).all()
        assert np.isfinite(errors).all()
        assert (errors >= 0).all()


def _use_answer(answer: Any) -> None:
    values, errors = hesc.Decryptor(SECRET).decrypt(answer, return_std=True)
    assert np.isfinite(values).all()
    assert np.isfinite(errors).all()
    assert (errors >= 0).all()


def _encrypted(values: Any, first_dimension: int = 0) -> Any:
    options: Any = {"first_dimension": first_dimension, "random_state": 1}
    return hesc.Encryptor(PUBLIC, LENGTH, layout="one_per_block", **options).encrypt(values)


def _message(part: bytes) -> bytes:
    return Message(Kind.QUERY, PLAN, 1, (part,)).to_bytes()


def _readers() -> dict[str, Reader]:
    x = _encrypted([0.5, -0.25])
    product = x * _encrypted([0.75, 0.5], 1) + 2.0
    seeded = hesc.SecretEncryptor(SECRET, LENGTH).encrypt([0.5, 0.25])
    model = MonomialModel.encrypt(NETWORK, PUBLIC, stream_length=LENGTH)
    _, keys = hesc.keygen(LEVELED, products=False)
    vector = keys.encrypt([1, 2, 3])

    def model_read(data: bytes) -> object:
        return MonomialModel(hesc.EncryptedArray.from_bytes(PARAMS, data))

    return {
        "params": Reader(
            PARAMS.to_bytes(), lambda b: hesc.Params.from_bytes(b, assurance="insecure")
        ),
        "params of vectors": Reader(
            LEVELED.to_bytes(), lambda b: hesc.Params.from_bytes(b, assurance="insecure")
        ),
        "public key": Reader(PUBLIC.to_bytes(), lambda b: hesc.PublicKeys.from_bytes(PARAMS, b)),
        "array": Reader(x.to_bytes(), lambda b: _use(hesc.EncryptedArray.from_bytes(PARAMS, b))),
        "product": Reader(
            product.to_bytes(), lambda b: _use(hesc.EncryptedArray.from_bytes(PARAMS, b))
        ),
        "seeded": Reader(
            seeded.to_bytes(), lambda b: _use(hesc.EncryptedArray.from_bytes(PARAMS, b))
        ),
        "answer": Reader(
            product.answer().to_bytes(), lambda b: _use_answer(hesc.Answer.from_bytes(PARAMS, b))
        ),
        "model": Reader(model.coefficients.to_bytes(), model_read),
        "vector": Reader(
            vector.to_bytes(), lambda b: hesc.EncryptedVector.from_bytes(keys.params, b)
        ),
        "query": Reader(
            _message(x.to_bytes()),
            lambda b: _use(
                hesc.EncryptedArray.from_bytes(
                    PARAMS, Message.from_bytes(b, Kind.QUERY, plan=PLAN).parts[0]
                )
            ),
        ),
    }


READERS = _readers()
NUMBERS = [0, 1, 2, 255, 2**31, 2**32 - 1, 2**62, 2**63, 2**64 - 1]
DOUBLES = [0.0, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1e150, 1.1e150, 1e308, -1.0]


def _head(data: bytes) -> int:
    """Where the frame begins: arrays have a shape before it, messages a label."""
    return data.find(b"HESC\x01")


def _damaged(data: bytes, rng: Generator) -> bytes:
    """Other bits, bytes, numbers and lengths; for short objects under a checksum that fits."""
    changed = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(changed)))
        match rng.integers(6):
            case 0:
                changed[at] ^= 1 << int(rng.integers(8))
            case 1:
                changed[at] = int(rng.integers(256))
            case 2:
                del changed[at + 1 :]
            case 3:
                changed.insert(at, int(rng.integers(256)))
            case 4:
                changed[at : at + 8] = struct.pack("<Q", NUMBERS[rng.integers(len(NUMBERS))])
            case _:
                changed[at : at + 8] = struct.pack("<d", DOUBLES[rng.integers(len(DOUBLES))])
    head = _head(bytes(changed))
    length = len(changed) - head
    if head >= 0 and HEADER + CHECKSUM <= length <= SHORT and rng.integers(8):
        struct.pack_into("<Q", changed, head + 6, length - HEADER - CHECKSUM)
        changed[-CHECKSUM:] = blake3(bytes(changed[head:-CHECKSUM]))[:CHECKSUM]
    return bytes(changed)


@pytest.mark.parametrize("name", READERS)
def test_damaged_objects_are_refused_or_used(name: str) -> None:
    """Any other exception than one of hesc's own is a failure."""
    data, read = READERS[name]
    read(data)
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(1000):
        try:
            read(_damaged(data, rng))
        except hesc.HescError:
            refused += 1
    assert refused > 300


# Files of numbers ---------------------------------------------------------------------------------

LEAVES: list[Any] = [
    *(0, -1, 1.0, -0.0, 1e308, -1e308, 5e-324, 1e-320, float("nan"), float("inf")),
    *(10**400, -(10**30), True, None, "x", "\ud800", "\x1b[31m", [], {}, [[]], {"a": 1}),
]


def _lying(document: Any, rng: Generator) -> Any:
    """The document with other values in a few places."""
    changed = json.loads(json.dumps(document))
    for _ in range(rng.integers(1, 4)):
        key = list(changed)[rng.integers(len(changed))]
        at, place = changed, key
        while isinstance(at[place], list) and at[place] and rng.integers(4):
            at, place = at[place], int(rng.integers(len(at[place])))
        match rng.integers(5):
            case 0:
                del at[place]
            case 1 if isinstance(at, list):
                at.append(at[place])
            case 2:
                depth = int(rng.integers(1, 3000))
                for _ in range(depth):
                    at[place] = [at[place]]
            case _:
                at[place] = LEAVES[rng.integers(len(LEAVES))]
        if not changed:
            break
    return changed


def _text(document: Any) -> str:
    """As JSON, however deep it is."""
    if isinstance(document, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {_text(v)}" for k, v in document.items()) + "}"
    opened = 0
    while isinstance(document, list) and len(document) == 1:
        document, opened = document[0], opened + 1
    inner = (
        "[" + ", ".join(map(_text, document)) + "]"
        if isinstance(document, list)
        else json.dumps(document)
    )
    return "[" * opened + inner + "]" * opened


def _check_network(network: SquareNetwork, features: Any) -> None:
    assert np.isfinite(network.values(features)).all()
    assert np.isfinite(network.coefficients()).all()


def _check_plan(plan: StreamPlan, features: Any) -> None:
    monomials = plan.prepared(features, clip=True).features
    assert (np.abs(monomials) <= 1).all()
    assert np.isfinite([plan.error, *plan.sizes()]).all()


@pytest.mark.parametrize("kind", ["network", "plan"])
def test_lying_models_are_refused_or_used(kind: str, tmp_path: Path) -> None:
    """What is read gives numbers within their range."""
    path = tmp_path / "file.json"
    is_network = kind == "network"
    if is_network:
        NETWORK.save(path)
    else:
        path.write_bytes(make(NETWORK, np.zeros((1, 4)), Streams(), names=[]).to_bytes())
    document, original = json.loads(path.read_text()), path.read_bytes()
    rng = np.random.default_rng(2)
    refused = 0
    for case in range(1000):
        data = _text(_lying(document, rng)).encode("utf-8", "surrogatepass")
        if case % 4 == 0:
            data = _damaged(original, rng)
        path.write_bytes(data)
        try:
            if is_network:
                network = SquareNetwork.load(path)
                _check_network(network, rng.uniform(-9, 9, (3, network.preprocessing.inputs)))
            else:
                plan = StreamPlan.from_bytes(path.read_bytes())
                _check_plan(plan, rng.uniform(-9, 9, (3, plan.inputs)))
        except hesc.HescError:
            refused += 1
    assert 250 < refused < 1000


# Files of messages --------------------------------------------------------------------------------


def test_damaged_files_of_messages_are_refused_or_the_same(tmp_path: Path) -> None:
    """Bytes come back as they were written, in whole messages, or not at all."""
    whole = io.BytesIO()
    writer = MessageWriter(whole, PLAN)
    for part in (b"first", b"second" * 9, b"3"):
        writer.write(_message(part))
    writer.finish()
    path = tmp_path / "messages"
    rng = np.random.default_rng(3)
    refused = 0
    for _ in range(2000):
        data = _damaged(whole.getvalue(), rng)
        path.write_bytes(data)
        with path.open("rb") as file:
            try:
                found = list(read_messages(file, Kind.QUERY, PLAN))
                assert sum(map(len, found)) == len(data) - HEAD_BYTES
            except hesc.HescError:
                refused += 1
    assert refused > 1000


# Key files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("passphrase", [None, "correct horse"])
def test_damaged_key_files_are_refused(passphrase: str | None, tmp_path: Path) -> None:
    """Under a passphrase every change is noticed; without one the form is checked."""
    path = tmp_path / "secret.key"
    SECRET.save(path, passphrase=passphrase)
    original = path.read_bytes()
    assert hesc.SecretKey.load(PARAMS, path, passphrase=passphrase) is not None
    rng = np.random.default_rng(4)
    refused = tried = 0
    # A guess costs 64 MiB and a fraction of a second.
    while tried < (10 if passphrase else 500):
        data = _damaged(original, rng)
        if data == original or (passphrase and blake3(data[:-16])[:16] != data[-16:]):
            continue
        tried += 1
        path.write_bytes(data)
        try:
            hesc.SecretKey.load(PARAMS, path, passphrase=passphrase)
        except hesc.HescError:
            refused += 1
    assert refused == tried if passphrase else refused > 250

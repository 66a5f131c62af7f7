"""Public keys on the wire: every part comes back, and what no honest writer sends is refused."""

from __future__ import annotations

import itertools
import struct
from functools import cache
from typing import Any

import numpy as np
import pytest

import hesc
from hesc import _native, gates
from hesc.vectors.keys import PARTS
from tests.second_implementation import wire

SETS = {
    "bfv_1024": ("public",),
    "gm_3072": ("public",),
    "pad_1024": ("public",),
    "insecure_tfhe_512": ("public", "bootstrapping"),
    "vectors": ("public", "relinearisation", "rotations"),
}
SMALL = [name for name in SETS if name != "insecure_tfhe_512"]
"""Keys whose frames plain Python makes anew in no time."""


@cache
def pair(name: str, number: int = 0) -> tuple[Any, hesc.PublicKeys]:
    """One of several key pairs of a set, with all parts that it has."""
    assert number < 2
    if name == "vectors":
        primes = _native.primes_of_bits(512, [41, 36, 36])
        params = hesc.Params.lattice(
            "bfv", 256, primes[1:], special_moduli=primes[:1],
            plain_modulus=_native.primes_of_bits(512, [17])[0], assurance="insecure",
        )  # fmt: skip
        return hesc.keygen(params, rotations=[1])
    bootstrapping = "bootstrapping" in SETS[name]
    return hesc.keygen(hesc.Params.preset(name), bootstrapping=bootstrapping)


def parts_of(data: bytes) -> list[tuple[int, bytes]]:
    """The number and the bytes of each part, by the format alone."""
    body = wire.open_frame(data, "public keys")
    found, at = [], 1
    for _ in range(body[0]):
        (size,) = struct.unpack_from("<Q", body, at + 1)
        found.append((body[at], body[at + 9 : at + 9 + size]))
        at += 9 + size
    assert at == len(body)
    return found


def frame(parts: list[tuple[int, bytes]], count: int | None = None, after: bytes = b"") -> bytes:
    """A frame of any parts, honest or not."""
    body = bytes([len(parts) if count is None else count])
    for number, data in parts:
        body += bytes([number]) + struct.pack("<Q", len(data)) + data
    return wire.frame("public keys", body + after)


@pytest.mark.parametrize("name", SETS)
def test_parts_come_back_by_name(name: str) -> None:
    _, public = pair(name)
    data = public.to_bytes()
    assert public.parts == SETS[name]
    again = hesc.PublicKeys.from_bytes(public.params, data)
    assert again.parts == public.parts
    assert again.to_bytes() == data
    if name in SMALL:
        assert data == frame(parts_of(data))
        assert [PARTS[number - 1] for number, _ in parts_of(data)] == list(public.parts)
    for wanted in itertools.chain.from_iterable(
        itertools.combinations(public.parts[1:], count) for count in range(len(public.parts))
    ):
        some = hesc.PublicKeys.from_bytes(public.params, data, parts=wanted)
        assert some.parts == ("public", *wanted)
        assert some.to_bytes() == public.only(*wanted).to_bytes()
        with pytest.raises(hesc.ParameterError, match="needed"):
            hesc.PublicKeys.from_bytes(public.params, some.to_bytes(), parts=PARTS)


@pytest.mark.parametrize("name", SMALL)
def test_what_no_honest_writer_sends_is_refused(name: str) -> None:
    (_, public), (_, stranger) = pair(name), pair(name, 1)
    params, honest = public.params, parts_of(public.to_bytes())
    first, last = honest[0], honest[-1]
    other = parts_of(stranger.to_bytes())
    lies: list[tuple[bytes, type[Exception]]] = [
        (frame([]), hesc.WireError),
        (frame(honest[1:]), hesc.WireError),
        (frame([first, first]), hesc.WireError),
        (frame([*honest, last]), hesc.WireError),
        (frame([*honest, (5, last[1])]), hesc.WireError),
        (frame([(0, first[1]), *honest[1:]]), hesc.WireError),
        (frame([(2, first[1])]), hesc.WireError),
        (frame([first, (2, first[1])]), hesc.WireError),
        (frame([first, (3, first[1])]), hesc.WireError),
        (frame([first, (4, first[1])]), hesc.WireError),
        (frame([first, (4, b"")]), hesc.WireError),
        (frame([first, (4, first[1][:60])]), hesc.WireError),
        (frame(honest, len(honest) + 1), hesc.WireError),
        (frame(honest, len(honest) - 1), hesc.WireError),
        (frame(honest, 255), hesc.WireError),
        (frame(honest, after=b"\0"), hesc.WireError),
        (frame([(1, first[1][:-1] + bytes([first[1][-1] ^ 1])), *honest[1:]]), hesc.WireError),
        (first[1], hesc.WireError),
        (public.to_bytes()[:-1], hesc.WireError),
        (b"", hesc.WireError),
    ]
    if len(honest) > 1:
        lies.append((frame([*honest[::-1]]), hesc.WireError))
        lies.append((frame([first, *other[1:]]), hesc.KeyMismatchError))
    for data, refusal in lies:
        with pytest.raises(refusal):
            hesc.PublicKeys.from_bytes(params, data)
    with pytest.raises((hesc.ParameterError, hesc.WireError)):
        hesc.PublicKeys.from_bytes(hesc.Params.preset("bfv_1024_fusion"), public.to_bytes())


def test_flipped_bytes_are_noticed() -> None:
    _, public = pair("vectors")
    data = public.to_bytes()
    rng = np.random.default_rng(0)
    for at in [*range(60), *rng.integers(0, len(data), 40).tolist()]:
        damaged = bytearray(data)
        damaged[at] ^= 1 << int(rng.integers(8))
        with pytest.raises(hesc.WireError):
            hesc.PublicKeys.from_bytes(public.params, bytes(damaged))


def test_missing_parts_are_named_with_a_remedy() -> None:
    _, streams = pair("insecure_tfhe_512")
    with pytest.raises(hesc.ParameterError, match="bootstrapping=True"):
        gates.Evaluator(streams.only("public"))
    _, vectors = pair("vectors")
    with pytest.raises(hesc.ParameterError, match="rotations is needed"):
        vectors.only("relinearisation").only("rotations")
    with pytest.raises(hesc.ParameterError, match="a part"):
        vectors.only("secret")
    with pytest.raises(hesc.ParameterError, match='no key "secret"'):
        _native.join_keys([("secret", b"")])
    with pytest.raises(hesc.WireError, match="missing"):
        _native.join_keys([("rotations", vectors.galois.to_bytes() if vectors.galois else b"")])


def test_keys_of_another_encoding_are_refused() -> None:
    _, streams = pair("bfv_1024")
    _, vectors = pair("vectors")
    with pytest.raises(hesc.ParameterError, match="Encryptor"):
        streams.encrypt([1, 2])
    with pytest.raises(hesc.ParameterError):
        hesc.Encryptor(vectors)
    with pytest.raises(hesc.ParameterError):
        gates.encrypt_bits(vectors, [0, 1])

"""What an answer tells of the selection behind it, and what it carries along."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

import hesc
from tests.second_implementation.blake3 import blake3

if TYPE_CHECKING:
    from numpy.typing import NDArray

LENGTH = 16
VALUES = np.array([0.75, -0.5, 0.25, -1.0])
GROUPS = ("ec_elgamal_ristretto255", "ec_elgamal_secp256r1", "insecure_gm_2048")


class Parts(NamedTuple):
    """An answer's wire form, taken apart."""

    shape: bytes
    frame: bytes
    parts: int
    """How many ciphertexts follow; 0 for a compact one."""
    ciphertexts: list[bytes]
    plan: bytes


def taken_apart(data: bytes) -> Parts:
    axes = 1 + 4 * data[0]
    shape, frame = data[:axes], data[axes : axes + 6]
    body = data[axes + 14 : -16]
    (count,) = struct.unpack_from("<I", body)
    at, found = 4, []
    for _ in range(max(count, 1)):
        (length,) = struct.unpack_from("<Q", body, at)
        found.append(body[at + 8 : at + 8 + length])
        at += 8 + length
    return Parts(shape, frame, count, found, body[at:])


def looking_at(data: bytes, offset: int) -> bytes:
    """The answer of one stream at another place of its block; whoever reads it can write that."""
    parts = taken_apart(data)
    plan = bytearray(parts.plan)
    # Length, representation, largest count, blocks, bases, elements, terms; a term's block.
    struct.pack_into("<I", plan, 4 + 1 + 8 + 4 + 4 + 4 + 4 + 4, offset)
    nested = b"".join(struct.pack("<Q", len(part)) + part for part in parts.ciphertexts)
    body = struct.pack("<I", parts.parts) + nested + bytes(plan)
    framed = parts.frame + struct.pack("<Q", len(body)) + body
    return parts.shape + framed + blake3(framed)[:16]


def encrypted(preset: str) -> tuple[hesc.SecretKey, hesc.PublicKeys, hesc.EncryptedArray]:
    params = hesc.Params.preset(preset)
    secret, public = hesc.keygen(params)
    representation = "unipolar" if preset.startswith("unipolar") else "inverted_bipolar"
    values = np.abs(VALUES) if representation == "unipolar" else VALUES
    encryptor = hesc.Encryptor(public, LENGTH, representation=representation, random_state=0)
    return secret, public, encryptor.encrypt(values)


@pytest.mark.parametrize("preset", [*GROUPS, "unipolar_elgamal_ristretto255"])
def test_a_rerandomised_selection_holds_itself_alone(preset: str) -> None:
    secret, public, x = encrypted(preset)
    decryptor = hesc.Decryptor(secret)
    for i in range(4):
        data = x[i : i + 1].rerandomise(public).answer().to_bytes()
        answer = hesc.Answer.from_bytes(x.params, data)
        np.testing.assert_array_equal(decryptor.decrypt(answer), decryptor.decrypt(x)[i : i + 1])
        for offset in (LENGTH, 2 * LENGTH, 3 * LENGTH):
            other = hesc.Answer.from_bytes(x.params, looking_at(data, offset))
            # What adding leaves as it is: the value one in both representations.
            assert decryptor.decrypt(other)[0] == 1
    # As it is without: the whole block goes along, as SECURITY.md says.
    plain = looking_at(x[:1].answer().to_bytes(), LENGTH)
    left = decryptor.decrypt(hesc.Answer.from_bytes(x.params, plain))[0]
    assert left == decryptor.decrypt(x)[1]


Select = Callable[[hesc.EncryptedArray], hesc.EncryptedArray]


def element(i: int) -> Select:
    return lambda x: x[i]


SELECTIONS: list[tuple[Select, ...]] = [
    tuple(element(i) for i in range(4)),
    (lambda x: x[[0, 1]], lambda x: x[[3, 0]], lambda x: x[[2, 2]], lambda x: x[1::2]),
    (lambda x: x[[0, 1]].sum(), lambda x: x[[3, 2]].sum(), lambda x: x[[1, 1]].sum()),
    (lambda x: x.reshape(2, 2), lambda x: x.reshape(2, 2).T, lambda x: x[[[3, 1], [1, 0]]]),
]


@pytest.mark.parametrize("preset", ["ec_elgamal_ristretto255", "insecure_gm_2048"])
@pytest.mark.parametrize("alternatives", SELECTIONS)
def test_rerandomised_selections_look_alike(
    preset: str,
    alternatives: tuple[Select, ...],
) -> None:
    secret, public, x = encrypted(preset)
    decryptor = hesc.Decryptor(secret)
    seen = set()
    for select in alternatives:
        chosen = select(x)
        answer = chosen.rerandomise(public).answer()
        np.testing.assert_allclose(decryptor.decrypt(answer), decryptor.decrypt(chosen))
        parts = taken_apart(answer.to_bytes())
        # Tag, bound and number of blocks stand before the elements.
        heads = tuple((len(part), part[: 14 + 44]) for part in parts.ciphertexts)
        seen.add((heads, parts.plan))
    assert len(seen) == 1


def test_sums_by_chance_look_alike() -> None:
    secret, public, _ = encrypted("ec_elgamal_ristretto255")
    rows = hesc.Encryptor(public, LENGTH).encrypt(np.array([VALUES, VALUES[::-1]]).T)
    seen = set()
    for first, seed in ((0, 1), (2, 2), (1, 3)):
        chosen = rows[first : first + 2, 1:].multiplexed_sum(axis=0, random_state=seed)
        answer = chosen.rerandomise(public).answer()
        found, expected = (hesc.Decryptor(secret).decrypt(sums) for sums in (answer, chosen))
        np.testing.assert_array_equal(found, expected)
        seen.add(taken_apart(answer.to_bytes()).plan)
    assert len(seen) == 1


def test_what_was_joined_and_selected_shows_no_bound_of_its_own() -> None:
    """A fresh element and a product, joined: which one was taken shows in no count."""
    secret, public, x = encrypted("ec_elgamal_ristretto255")
    y = hesc.Encryptor(public, LENGTH, first_dimension=1).encrypt(VALUES)
    joined = hesc.EncryptedArray.concatenate([x * y, x])
    plans = set()
    for i in (0, 5):
        parts = taken_apart(joined[i].rerandomise(public).answer().to_bytes())
        plans.add((parts.plan, *(part[: 14 + 44] for part in parts.ciphertexts)))
    assert len(plans) == 1
    found = hesc.Decryptor(secret).decrypt(joined[5].rerandomise(public))
    assert found == hesc.Decryptor(secret).decrypt(x)[1]


def test_rerandomised_arrays_still_align() -> None:
    secret, public, x = encrypted("ec_elgamal_ristretto255")
    y = hesc.Encryptor(public, LENGTH, first_dimension=1).encrypt(VALUES)
    expected = hesc.Decryptor(secret).decrypt(x * y)
    np.testing.assert_array_equal(
        hesc.Decryptor(secret).decrypt(x.rerandomise(public) * y), expected
    )
    long = hesc.Encryptor(public, 100).encrypt([0.5, -0.25])
    fresh = long.rerandomise(public)
    decrypt = hesc.Decryptor(secret).decrypt
    np.testing.assert_array_equal(decrypt(fresh[::-1]), decrypt(long)[::-1])


@pytest.mark.parametrize(
    ("preset", "size"), [("ec_elgamal_ristretto255", 32), ("insecure_gm_2048", 256)]
)
def test_selected_sums_are_choices_of_ciphertexts(preset: str, size: int) -> None:
    """No arithmetic: a position holds what one summand had there, and counts do not grow."""
    params = hesc.Params.preset(preset)
    secret, public = hesc.keygen(params)
    # More summands than ElGamal counts, each in a block.
    x = hesc.Encryptor(public, 64, random_state=0).encrypt(np.linspace(-1, 1, 65))
    total = x.multiplexed_sum(random_state=1)

    def elements(array: hesc.EncryptedArray) -> NDArray[np.uint8]:
        """By block and position: 64, and twice as many of ElGamal."""
        (part,) = taken_apart(array.answer(compact=False).to_bytes()).ciphertexts
        blocks, positions = array.native.blocks, 128 if size == 32 else 64
        # Before the digest.
        words = np.frombuffer(part[:-16], dtype=np.uint8)[-blocks * positions * size :]
        return words.reshape(blocks, positions, size)

    same = (elements(total) == elements(x)).all(axis=2)
    assert same.any(axis=0).all()
    assert not same.all(axis=1).any()
    assert abs(hesc.Decryptor(secret).decrypt(total)) <= 65

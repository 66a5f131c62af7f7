"""Nothing that stream schemes send depends on what is encrypted, but for ciphertexts' words."""

from __future__ import annotations

import pickle
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from tests.laws.wire import check_ciphertexts_only

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc.params import StreamParams

DATA = ([0.123456789, 0.0, 0.96], [1.0, 0.5, 0.0])
PRESETS = (
    *("bfv_1024", "bfv_1024_fusion", "bfv_2048_slots", "ckks_1024", "ckks_1024_slots", "ckks_2048"),
    *("hestd2018_koseki_ckks_2048", "gm_3072", "ec_elgamal_ristretto255", "insecure_tfhe_512"),
    *("unipolar_elgamal_ristretto255", "unipolar_bfv_4096", "unipolar_bgv_4096"),
    "unipolar_bgv_4369",
)


def values_of(preset: str) -> int:
    """How many numbers are encrypted: groups take their time for each bit."""
    return 1 if "ristretto" in preset else 3


# Wishes that these sets were made for.
MUST_HAVE = {
    ("bfv_1024_fusion", "fused"),
    ("bfv_2048_slots", "multiplexed"),
    ("ckks_1024", "compact"),
}


def messages(params: StreamParams) -> dict[str, Callable[[list[float]], bytes]]:
    """Everything that parties send each other, for data of one shape and one layout."""
    secret, public = hesc.keygen(params)
    representation = "unipolar" if params.name.startswith("unipolar") else "inverted_bipolar"
    options: Any = {"representation": representation, "random_state": 1}

    def seeded(values: list[float]) -> hesc.EncryptedArray:
        encryptor = hesc.SecretEncryptor(secret, 64, first_dimension=2, **options)
        return encryptor.encrypt(values).expand()

    def public_form(values: list[float]) -> hesc.EncryptedArray:
        return hesc.Encryptor(public, 64, **options).encrypt(values)

    def apart(values: list[float]) -> hesc.EncryptedArray:
        return hesc.Encryptor(public, 64, layout="one_per_block", **options).encrypt(values)

    def product(values: list[float]) -> hesc.EncryptedArray:
        return (public_form(values) * seeded(values)).sum() * 0.5 + 1

    return {
        "public": lambda values: public_form(values).to_bytes(),
        "seeded": lambda values: (
            hesc.SecretEncryptor(secret, 64, **options).encrypt(values).to_bytes()
        ),
        "expanded": lambda values: seeded(values).to_bytes(),
        "product": lambda values: product(values).to_bytes(),
        "answer": lambda values: product(values).answer().to_bytes(),
        "rerandomised": lambda values: public_form(values).rerandomise(public).to_bytes(),
        "selected": lambda values: public_form(values)[::-1].answer().to_bytes(),
        "pickled": lambda values: pickle.dumps(public_form(values).answer()),
        **wished_for(params, apart, product),
    }


def wished_for(
    params: StreamParams,
    apart: Callable[[list[float]], hesc.EncryptedArray],
    product: Callable[[list[float]], hesc.EncryptedArray],
) -> dict[str, Callable[[list[float]], bytes]]:
    """Answers that only some sets have: fused, compact, of a multiplexed sum."""
    wishes: dict[str, Callable[[list[float]], hesc.Answer]] = {
        "fused": lambda values: apart(values).answer(fuse=2),
        "compact": lambda values: product(values).answer(compact=True),
        "multiplexed": lambda values: apart(values).multiplexed_sum(random_state=1).answer(),
    }
    found: dict[str, Callable[[list[float]], bytes]] = {}
    for name, wish in wishes.items():
        try:
            wish(DATA[0][: values_of(params.name)])
        except hesc.HescError:
            assert (params.name, name) not in MUST_HAVE
        else:
            found[name] = partial(lambda wish, values: wish(values).to_bytes(), wish)
    return found


@pytest.mark.parametrize("preset", PRESETS)
def test_messages_differ_in_ciphertext_words_only(preset: str) -> None:
    count = values_of(preset)
    one, other = (values[:count] for values in DATA)
    for name, message in messages(hesc.Params.preset(preset)).items():
        check_ciphertexts_only(name, partial(message, one), partial(message, other))


def patched(data: bytes, old: float, new: float) -> bytes:
    """A message in which a number was replaced, under a checksum of its own."""
    from tests.second_implementation.blake3 import blake3

    wanted, found = np.float64(new).tobytes(), data.rfind(np.float64(old).tobytes())
    assert found > 0
    changed = data[:found] + wanted + data[found + 8 :]
    shape = 1 + 4 * data[0]
    framed = changed[shape:-16]
    return changed[:shape] + framed + blake3(framed)[:16]


@pytest.mark.parametrize("preset", ["gm_3072", "unipolar_elgamal_ristretto255"])
def test_rerandomised_selections_do_not_tell_what_was_selected(preset: str) -> None:
    """With a ciphertext for each bit: which element, and whether a product or a factor."""
    params = hesc.Params.preset(preset)
    secret, public = hesc.keygen(params)
    representation: Any = "unipolar" if preset.startswith("unipolar") else "inverted_bipolar"
    options: Any = {"representation": representation, "random_state": 1}
    x = hesc.Encryptor(public, 16, **options).encrypt([0.5, 0.25])
    y = hesc.SecretEncryptor(secret, 16, first_dimension=2, **options).encrypt([0.5, 0.75])
    both = hesc.EncryptedArray.concatenate([x, x * y.expand()])

    def sent(chosen: hesc.EncryptedArray) -> bytes:
        return chosen.rerandomise(public).answer().to_bytes()

    for name, place in (("second", 1), ("product", 2), ("last", 3)):
        other = both[place : place + 1]
        check_ciphertexts_only(name, partial(sent, both[:1]), partial(sent, other))


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 1e300, -1e151])
def test_numbers_of_a_peer_are_bounded(number: float) -> None:
    params = hesc.Params.preset("bfv_1024")
    _, public = hesc.keygen(params)
    x = hesc.Encryptor(public, 64).encrypt([0.5])
    for weighted in (x * 0.12345, x + 0.12345):
        for reader, data in (
            (hesc.EncryptedArray, weighted.to_bytes()),
            (hesc.Answer, weighted.answer().to_bytes()),
        ):
            assert reader.from_bytes(params, patched(data, 0.12345, 2.0)).shape == (1,)
            with pytest.raises(hesc.WireError):
                reader.from_bytes(params, patched(data, 0.12345, number))

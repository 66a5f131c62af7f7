"""Nothing that travels depends on what is encrypted, but for the words of ciphertexts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Encryptions of each data set.
RUNS = 12
DATA = ([0.123456789, 0.0, 0.96], [1.0, 0.5, 0.0])
PRESETS = (
    *("bfv_1024", "bfv_1024_fusion", "bfv_2048_slots", "ckks_1024", "ckks_1024_slots", "ckks_2048"),
    *("hestd2018_koseki_ckks_2048", "gm_3072", "ec_elgamal_ristretto255", "insecure_tfhe_512"),
    *("unipolar_elgamal_ristretto255", "unipolar_bfv_4096"),
)


def messages(params: hesc.Params) -> dict[str, Callable[[list[float]], bytes]]:
    """Everything that parties send each other, for data of one shape and one layout."""
    secret, public = hesc.keygen(params)
    representation = "unipolar" if params.name.startswith("unipolar") else "inverted_bipolar"
    options: Any = {"representation": representation, "random_state": 1}

    def seeded(values: list[float]) -> hesc.EncryptedArray:
        encryptor = hesc.SecretEncryptor(secret, 64, first_dimension=2, **options)
        return encryptor.encrypt(values).expand()

    def public_form(values: list[float]) -> hesc.EncryptedArray:
        return hesc.Encryptor(public, 64, **options).encrypt(values)

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
    }


@pytest.mark.parametrize("preset", PRESETS)
def test_messages_differ_in_ciphertext_words_only(preset: str) -> None:
    """Bytes that stay as they are from one encryption of some data to the next are no ciphertext.

    They must be the same for other data. A byte of a ciphertext with two values, each with a half,
    would stay for both and differ with probability 2^-23; there are a few hundred such.
    """
    # Groups take their time for each bit.
    count = 1 if "ristretto" in preset else 3
    for name, message in messages(hesc.Params.preset(preset)).items():
        seen: list[NDArray[np.uint8]] = []
        for values in (data[:count] for data in DATA):
            sent = [message(values) for _ in range(RUNS)]
            assert len({len(data) for data in sent}) == 1, name
            seen.append(np.array([np.frombuffer(data, dtype=np.uint8) for data in sent]))
        first, second = seen
        assert first.shape == second.shape, name
        constant = [np.all(runs == runs[0], axis=0) for runs in seen]
        told = constant[0] & constant[1] & (first[0] != second[0])
        assert not told.any(), (name, np.flatnonzero(told))
        # Headers are there, and ciphertexts are most of it.
        assert 20 < np.count_nonzero(constant[0]) < first.shape[1] / 2 + 4096, name


def patched(data: bytes, old: float, new: float) -> bytes:
    """A message in which a number was replaced, under a checksum of its own."""
    from tests.second_implementation.blake3 import blake3

    wanted, found = np.float64(new).tobytes(), data.rfind(np.float64(old).tobytes())
    assert found > 0
    changed = data[:found] + wanted + data[found + 8 :]
    shape = 1 + 4 * data[0]
    framed = changed[shape:-16]
    return changed[:shape] + framed + blake3(framed)[:16]


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

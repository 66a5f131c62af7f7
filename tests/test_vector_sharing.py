"""CKKS results for others than the key's owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc import _native
from tests.second_implementation import vectors, wire
from tests.vector_cases import Keys, precise_keys

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


@pytest.fixture(scope="module")
def precise() -> Keys:
    return precise_keys()


def vector_of(
    public: hesc.PublicKeys, ciphertext: bytes, length: int, *, complex_values: bool = False
) -> hesc.EncryptedVector:
    native = _native.Ciphertext.from_bytes(public.params, ciphertext)
    return hesc.EncryptedVector(public.params, native, length, complex_values=complex_values)


def test_shared_numbers_are_hidden_by_noise(precise: Keys, tmp_path: Path) -> None:
    """1024 normal numbers: their deviation leaves 12 per cent once in 10^7 runs, 10 in 2 * 10^5."""
    secret, public = precise
    numbers = np.linspace(-1, 1, 512) * 0.9
    zeros = np.zeros(512, dtype=np.complex128)
    expected, vector = public.encrypt(zeros), public.encrypt(numbers * np.exp(1j))
    values, deviation = secret.decrypt_shared(vector, expected=expected, answers=2048)
    assert deviation >= np.sqrt(12 * 2048) * 2**20 * expected.error_bound * (1 - 1e-9)
    noise = values - numbers * np.exp(1j)
    scatter = np.concatenate([noise.real, noise.imag]).std()
    assert 0.88 < scatter / deviation < 1.12
    # Each part of each number has a draw of its own: six deviations.
    parts = np.concatenate([noise.real, noise.imag])
    for lag in (1, 2, len(noise)):
        related = (parts[lag:] * parts[:-lag]).mean() / deviation**2
        assert abs(related) < 6 / np.sqrt(len(parts) - lag)
    # No digits below the noise, where doubles would show what it was added to.
    grid = 2.0 ** (np.floor(np.log2(deviation)) - 10)
    np.testing.assert_array_equal(values.real / grid, np.round(values.real / grid))
    assert secret.shared == 0.25
    # What is counted is counted for the key, whoever asks and however.
    for _ in range(3):
        secret.decrypt_shared(vector, expected=expected, answers=2048)
    for answers in (2048, 10**8):
        with pytest.raises(hesc.ParameterError, match="new key"):
            hesc.SecretKey(secret.params, secret._native).decrypt_shared(
                vector, expected=expected, answers=answers
            )
    secret.save(tmp_path / "key")
    again = hesc.SecretKey.load(secret.params, tmp_path / "key", shared=secret.shared)
    assert again.shared == 1.0
    for wrong, error in (
        (-0.1, hesc.ParameterError),
        (1.1, hesc.ParameterError),
        (np.nan, hesc.OutOfRangeError),
    ):
        with pytest.raises(error, match="shared"):
            hesc.SecretKey.load(secret.params, tmp_path / "key", shared=wrong)


def test_what_is_shared_follows_the_owners_bounds(precise: Keys) -> None:
    params = precise[0].params
    secret, public = hesc.keygen(params)

    def program(x: hesc.EncryptedVector) -> hesc.EncryptedVector:
        return x * x + x

    expected, vector = program(public.encrypt([0.0])), program(public.encrypt([0.5]))
    value, deviation = secret.decrypt_shared(vector, expected=expected, answers=4)
    assert abs(value[0] - 0.75) < 6 * deviation
    # Another program's result, whatever it claims.
    for other in (public.encrypt([0.5]), vector.mod_switch_to(1), vector * 0.5):
        with pytest.raises(hesc.HescError):
            secret.decrypt_shared(other, expected=expected, answers=4)
    # Its numbers do not change the noise.
    levels = wire.level_moduli(params.to_bytes())
    head, parts = wire.read_vector_ciphertext(vector.to_bytes(), params.ring_degree, levels)
    for factor in (2.0, 0.9):
        lie = (*head[:5], *(number * factor for number in head[5:9]), head[9])
        lying = vector_of(public, wire.write_vector_ciphertext(lie, parts, levels), 1)
        assert secret.decrypt_shared(lying, expected=expected, answers=4).deviation == deviation
    # Nor do its words about which slots it fills and whether with complex numbers.
    for length, complex_values in ((128, False), (1, True)):
        label = hesc.EncryptedVector(
            public.params, vector.native, length, complex_values=complex_values
        )
        with pytest.raises(hesc.ParameterError, match="another program"):
            secret.decrypt_shared(label, expected=expected, answers=4)
    with pytest.raises(TypeError, match="EncryptedVectors"):
        secret.decrypt_shared(vector, expected=None, answers=4)  # type: ignore[arg-type]
    with pytest.raises(hesc.OutOfRangeError, match="answers"):
        secret.decrypt_shared(vector, expected=expected, answers=-1)
    with pytest.raises(hesc.ParameterError, match="not the vector"):
        secret.decrypt_shared(vector, expected=vector, answers=4)
    with pytest.raises(hesc.ParameterError, match="40"):
        secret.decrypt_shared(vector, expected=expected, answers=4, statistical_bits=39)
    with pytest.raises(hesc.ParameterError, match="in all"):
        secret.decrypt_shared(vector, expected=expected, answers=0)
    two = program(public.encrypt([0.5, 0.0]))
    with pytest.raises(hesc.ParameterError, match="alone"):
        secret.decrypt_shared(two, expected=program(public.encrypt([0.0, 0.0])), answers=1)
    # Numbers beyond the program's bound, and sets without room for the noise.
    far = public.encrypt([9.0], bound=16.0)
    with pytest.raises(hesc.DecryptionError):
        secret.decrypt_shared(far, expected=public.encrypt([1.0]), answers=10**6)
    with pytest.raises(hesc.ParameterError, match="exceed the numbers"):
        secret.decrypt_shared(far, expected=public.encrypt([0.0]), answers=10**18)
    small, keys = hesc.keygen(hesc.Params.recommended("ckks", encoding="vectors"), products=False)
    with pytest.raises(hesc.ParameterError, match="exceed the numbers"):
        small.decrypt_shared(keys.encrypt([1]), expected=keys.encrypt([0]), answers=1)
    assert small.shared == 0.0
    exact, keys = hesc.keygen(hesc.Params.recommended("bfv", encoding="vectors"), products=False)
    with pytest.raises(hesc.ParameterError, match="exact"):
        exact.decrypt_shared(keys.encrypt([1]), expected=keys.encrypt([1]), answers=1)


def test_a_crafted_ciphertext_of_the_review_shows_no_secret(precise: Keys) -> None:
    """`c_0 = 0`, `c_1 = 2^30` under an honest header: what comes back is noise.

    A random guess is right in a third of 1024 coefficients, 425 or more times once in 10^7 runs.
    """
    params = precise[0].params
    secret, public = hesc.keygen(params, products=False)
    honest = public.encrypt(np.zeros(512, dtype=np.complex128))
    levels = wire.level_moduli(params.to_bytes())
    head, parts = wire.read_vector_ciphertext(honest.to_bytes(), params.ring_degree, levels)
    crafted = np.zeros_like(parts)
    crafted[1, :, 0] = 2**30
    data = wire.write_vector_ciphertext(head, crafted, levels)
    vector = vector_of(public, data, 512, complex_values=True)
    own = secret.decrypt(vector)
    shared = secret.decrypt_shared(vector, expected=honest, answers=512).values

    def ternary(slots: NDArray[Any]) -> NDArray[np.float64]:
        coefficients = vectors.coefficients(slots, params.ring_degree)
        return np.asarray(np.clip(np.round(coefficients * 2.0**25), -1, 1))

    truth = ternary(own)
    assert set(np.unique(truth)) == {-1, 0, 1}
    assert np.sum(ternary(shared) == truth) < 425

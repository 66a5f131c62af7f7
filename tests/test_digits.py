"""Digits of numbers modulo prime powers in slots, beside numpy's; refusals."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

import hesc
from hesc import keygen
from hesc.packing import EncryptedSlots
from hesc.packing.secret import decrypt_slots, encrypt_slots
from hesc.params import Params, VectorParams

if TYPE_CHECKING:
    from numpy.typing import NDArray


def digits_of(numbers: NDArray[np.int64], base: int, count: int) -> NDArray[np.int64]:
    """Rows of digits, the lowest first: 0 and 1, or centred; all modulo the base."""
    rows, rest = [], numbers.copy()
    for _ in range(count):
        low = rest % base
        if base > 2:
            low = np.where(low > base // 2, low - base, low)
        rows.append(low % base)
        rest = (rest - low) // base
    return np.array(rows)


def made(scheme: str, index: int, modulus: int, primes: int) -> VectorParams:
    found: VectorParams = Params.cyclotomic(
        index, [45] * primes, [45], plain_modulus=modulus, scheme=scheme, assurance="insecure"
    )
    return found


@pytest.mark.parametrize("scheme", ["bfv", "bgv"])
@pytest.mark.parametrize(
    ("index", "base", "count", "primes"), [(255, 2, 4, 8), (85, 3, 3, 10), (51, 5, 2, 8)]
)
def test_digits_are_those_of_numpy(
    scheme: str, index: int, base: int, count: int, primes: int
) -> None:
    params = made(scheme, index, base**count, primes)
    secret, public = keygen(params)
    numbers = np.random.default_rng(index).integers(0, base**count, params.slot_count)
    numbers[: base**count][: params.slot_count] = np.arange(min(base**count, params.slot_count))
    upload = encrypt_slots(secret, numbers, content="numbers")
    found = EncryptedSlots.from_bytes(params, upload).with_keys(public).digits()
    assert params.digit_depths == [i * int(np.ceil(np.log2(base))) for i in range(count)]
    expected = digits_of(numbers, base, count)
    assert np.array_equal([decrypt_slots(secret, digit) for digit in found], expected)
    # Factors of further products, and what the key owner reads.
    low = params.with_plain_modulus(base)
    assert low == found[0].params
    product = (found[0] * found[-1]).to_bytes()
    read = EncryptedSlots.from_bytes(low, product)
    assert np.array_equal(decrypt_slots(secret, read), expected[0] * expected[-1] % base)


def test_packed_numbers_have_digits() -> None:
    """Coordinates modulo 8 are unpacked, and their bits taken apart."""
    params = made("bgv", 51, 8, 10)
    secret, public = keygen(params, unpacking=True)
    rows = np.random.default_rng(2).integers(0, 8, (params.slot_count, params.slot_degree or 0))
    packed = EncryptedSlots.from_bytes(params, encrypt_slots(secret, rows)).with_keys(public)
    third = packed.unpack([2])[0].digits()
    assert all(secret.noise_budget(bit) >= bit.noise_budget for bit in third)
    assert np.array_equal(
        [decrypt_slots(secret, bit) for bit in third], digits_of(rows[:, 2], 2, 3)
    )


def test_what_has_no_digits_is_refused() -> None:
    params = made("bgv", 51, 8, 3)
    secret, public = keygen(params)
    numbers = EncryptedSlots.from_bytes(params, encrypt_slots(secret, [1, 2, 3], content="numbers"))
    with pytest.raises(hesc.ParameterError, match="with_keys"):
        numbers.digits()
    packed = EncryptedSlots.from_bytes(params, encrypt_slots(secret, [1, 2, 3])).with_keys(public)
    with pytest.raises(hesc.ParameterError, match="unpack first"):
        packed.digits()
    small = made("bgv", 51, 1024, 2)
    secret, public = keygen(small)
    numbers = EncryptedSlots.from_bytes(small, encrypt_slots(secret, [1, 2, 3], content="numbers"))
    with pytest.raises(hesc.NoiseBudgetError):
        numbers.with_keys(public).digits()
    large = made("bfv", 85, 19 * 19, 3)
    secret, public = keygen(large)
    numbers = EncryptedSlots.from_bytes(large, encrypt_slots(secret, [1], content="numbers"))
    with pytest.raises(hesc.ParameterError, match="13 is the largest"):
        numbers.with_keys(public).digits()
    for modulus in (3, 16):
        with pytest.raises(hesc.ParameterError, match="divisor"):
            params.with_plain_modulus(modulus)
    # Neither another key nor one that is not sent.
    first, second = keygen(params)
    numbers = EncryptedSlots.from_bytes(params, encrypt_slots(first, [1, 2], content="numbers"))
    digit = numbers.with_keys(second).digits()[1]
    with pytest.raises(hesc.KeyMismatchError):
        decrypt_slots(keygen(params)[0], digit)
    with pytest.raises(TypeError, match="to_bytes"):
        pickle.dumps(digit)

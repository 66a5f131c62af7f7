"""What follows from seeds: other seeds, and uniform polynomials."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.second_implementation import transform
from tests.second_implementation.aes import key_stream

if TYPE_CHECKING:
    from numpy.typing import NDArray


@cache
def root_of(modulus: int, degree: int) -> int:
    """The root of unity of order `2 degree` whose odd powers uniform polynomials are drawn at.

    -1, of which square roots are taken again and again by Tonelli and Shanks, with the smallest
    number that is no square: what the transform of hesc takes (crate tfhe-ntt, `roots.rs`).
    """
    odd, twos = modulus - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    other = next(z for z in range(2, modulus) if pow(z, (modulus - 1) // 2, modulus) != 1)
    root = modulus - 1
    for _ in range((2 * degree).bit_length() - 2):
        order, c, t = twos, pow(other, odd, modulus), pow(root, odd, modulus)
        root = pow(root, (odd + 1) // 2, modulus)
        while t != 1:
            power, square = 0, t
            while square != 1:
                power, square = power + 1, square * square % modulus
            b = pow(c, 1 << (order - power - 1), modulus)
            order, c = power, b * b % modulus
            t, root = t * c % modulus, root * b % modulus
    assert pow(root, degree, modulus) == modulus - 1
    return root


def evaluations(coefficients: NDArray[Any], modulus: int) -> NDArray[Any]:
    """The transform with `root_of`."""
    return transform.forward(coefficients, modulus, root_of(modulus, len(coefficients)))


def coefficients(values: NDArray[Any], modulus: int) -> NDArray[Any]:
    """Its inverse."""
    return transform.inverse(values, modulus, root_of(modulus, len(values)))


def seeds(seed: bytes, count: int) -> list[bytes]:
    """Seeds that follow from one."""
    stream = key_stream(seed, 32 * count)
    return [stream[at : at + 32] for at in range(0, 32 * count, 32)]


def uniform(seed: bytes, modulus: int, degree: int) -> NDArray[Any]:
    """Words of the key stream, cut to the bits of the modulus, less those that are not below it."""
    share = 2 ** modulus.bit_length() / modulus
    words = np.frombuffer(key_stream(seed, 8 * int(1.2 * share * degree + 200)), "<u8")
    masked = words & np.uint64(2 ** modulus.bit_length() - 1)
    taken: NDArray[Any] = masked[masked < modulus][:degree].astype(object)
    assert len(taken) == degree
    return taken


def encrypted(
    message: NDArray[np.int64], seed: bytes, secret: NDArray[np.int64], modulus: int, noise: Any
) -> NDArray[np.int64]:
    """`c_0 = -(a s) + e + m` for the `a` of a seed, as coefficients."""
    a = uniform(seed, modulus, len(message))
    masks = coefficients(a * evaluations(secret, modulus) % modulus, modulus)
    return np.asarray((message + noise - masks) % modulus).astype(np.int64)


def decrypted(
    parts: list[NDArray[Any]], secret: NDArray[np.int64], modulus: int
) -> NDArray[np.int64]:
    """`c_0 + c_1 s + c_2 s^2`, centred, of parts as evaluations."""
    power: Any = 1
    total: Any = 0
    values = evaluations(secret, modulus)
    for part in parts:
        total = (total + part * power) % modulus
        power = power * values % modulus
    found = coefficients(total, modulus).astype(np.int64)
    return np.where(found > modulus // 2, found - modulus, found)

"""Decryption of BFV, BGV and CKKS over many primes, with Python's integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.second_implementation import transform

if TYPE_CHECKING:
    from numpy.typing import NDArray


def phase(
    parts: NDArray[np.int64], ternary: NDArray[np.int64], moduli: list[int]
) -> tuple[list[int], int]:
    """`c_0 + c_1 s + c_2 s^2`, centred, and the modulus: parts (parts, primes, degree)."""
    used = moduli[: parts.shape[1]]
    modulus = 1
    for q in used:
        modulus *= q
    total = [0] * len(ternary)
    for i, q in enumerate(used):
        secret = transform.forward(ternary, q)
        power: Any = np.ones(len(ternary), dtype=object)
        limb: Any = np.zeros(len(ternary), dtype=object)
        for part in parts[:, i]:
            limb = (limb + transform.forward(part, q) * power) % q
            power = power * secret % q
        lift = modulus // q * pow(modulus // q, -1, q)
        for k, x in enumerate(transform.inverse(limb, q)):
            total[k] = (total[k] + int(x) * lift) % modulus
    return [x - modulus if 2 * x > modulus else x for x in total], modulus


def _bit_reversed(i: int, degree: int) -> int:
    bits = degree.bit_length() - 1
    return int(f"{i:0{bits}b}"[::-1], 2)


def integers(coefficients: list[int], plain_modulus: int, count: int) -> list[int]:
    """The first slots, centred: slot j is the value at root^(3^j)."""
    degree = len(coefficients)
    values = transform.forward(np.array(coefficients, dtype=object), plain_modulus)
    places = [_bit_reversed(pow(3, j, 2 * degree) // 2, degree) for j in range(count)]
    slots = [int(values[place]) for place in places]
    return [x - plain_modulus if 2 * x > plain_modulus else x for x in slots]


def decrypt_bfv(x: list[int], modulus: int, plain_modulus: int, count: int) -> list[int]:
    """`round(t x / Q)`."""
    t = plain_modulus
    rounded = [(2 * t * value + modulus) // (2 * modulus) % t for value in x]
    return integers(rounded, t, count)


def decrypt_bgv(x: list[int], factor: int, plain_modulus: int, count: int) -> list[int]:
    """`x / factor` modulo t."""
    inverse = pow(factor, -1, plain_modulus)
    return integers([value * inverse % plain_modulus for value in x], plain_modulus, count)


def decrypt_ckks(x: list[int], scale: float, count: int) -> NDArray[np.complex128]:
    """The values at exp(i pi 3^j / N), divided by the scale."""
    degree = len(x)
    exponents = np.array([pow(3, j, 2 * degree) for j in range(count)])
    powers = np.exp(1j * np.pi * np.outer(exponents, np.arange(degree)) / degree)
    return np.asarray(powers @ np.array([float(value) for value in x]) / scale)


def coefficients(slots: NDArray[np.complex128], degree: int) -> NDArray[np.float64]:
    """The inverse of `decrypt_ckks` for all slots, at scale 1."""
    exponents = np.array([pow(3, j, 2 * degree) for j in range(degree // 2)])
    powers = np.exp(-1j * np.pi * np.outer(np.arange(degree), exponents) / degree)
    return np.asarray(2 / degree * (powers @ slots).real)

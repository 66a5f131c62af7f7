"""The paper's basic schemes with its own tool, gmpy2: what table 2 is measured against.

Written as one would who knows gmpy2: reduced residues, `powmod`, Jacobian coordinates with
windowed non-adjacent forms, and tables for powers of fixed bases, as hesc has them. One bit at a
time, as in koseki2022hesc, and not in constant time.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, Protocol

from hesc._native import HescError

try:
    import gmpy2
    from gmpy2 import mpz
except ImportError as error:
    raise HescError("gmpy2 is an optional peer: pip install './papers[peers]'") from error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class BitPeer(Protocol):
    """An encryption of bits that adds."""

    def encrypt(self, bit: int) -> Any:
        """A ciphertext."""

    def multiply(self, a: Any, b: Any) -> Any:
        """The stochastic product: a ciphertext of the sum of both bits."""

    def decrypt(self, ciphertext: Any) -> int:
        """A bit, or a small count."""


def _prime(bits: int, residue: int) -> Any:
    """A prime of exactly `bits` bits, its two highest set, with this residue modulo 4."""
    while True:
        candidate = mpz(secrets.randbits(bits) | 3 << (bits - 2))
        prime = gmpy2.next_prime(candidate)
        if prime % 4 == residue and prime.bit_length() == bits:
            return prime


class _FixedBase:
    """Powers of one element by a table: a product for each byte of the exponent."""

    def __init__(self, base: Any, bits: int, one: Any, multiply: Callable[[Any, Any], Any]) -> None:
        self._multiply, self._one, self._rows = multiply, one, []
        for _ in range(-(-bits // 8)):
            row = [one]
            for _ in range(255):
                row.append(multiply(row[-1], base))
            self._rows.append(row)
            base = multiply(row[-1], base)

    def replace(self, element: Callable[[Any], Any]) -> None:
        """Writes every element of the table in another form."""
        self._rows = [[row[0], *map(element, row[1:])] for row in self._rows]

    def __call__(self, exponent: int) -> Any:
        """The power."""
        result = self._one
        for row, digit in zip(
            self._rows, exponent.to_bytes(len(self._rows), "little"), strict=True
        ):
            if digit:
                result = self._multiply(result, row[digit])
        return result


class GmPeer:
    """Goldwasser-Micali."""

    def __init__(self, modulus_bits: int) -> None:
        self._p, q = _prime(modulus_bits // 2, 3), _prime(modulus_bits // 2, 3)
        self._n = self._p * q
        self._random = gmpy2.random_state(secrets.randbits(128))

    def encrypt(self, bit: int) -> Any:
        """A random square, times -1 for a one: a non-square modulo both primes."""
        r = gmpy2.mpz_random(self._random, self._n)
        square = r * r % self._n
        return self._n - square if bit else square

    def multiply(self, a: Any, b: Any) -> Any:
        """A product of residues."""
        return a * b % self._n

    def decrypt(self, ciphertext: Any) -> int:
        """Legendre's symbol."""
        return int(gmpy2.legendre(ciphertext, self._p) != 1)


class ElgamalPeer:
    """Lifted ElGamal modulo the safe prime ffdhe3072, with exponents of full length or shorter."""

    def __init__(self, exponent_bits: int | None = None) -> None:
        # RFC 7919, appendix A.2: 2^3072 - 2^3008 + (floor(2^2942 e) + 2625351) 2^64 - 1.
        with gmpy2.context(precision=3200):
            euler = int(gmpy2.floor(gmpy2.exp(gmpy2.mpfr(1)) * mpz(2) ** 2942))
        prime = 2**3072 - 2**3008 + (euler + 2625351) * 2**64 - 1
        self.modulus, self._g = mpz(prime), mpz(2)
        self._bound = prime >> 1 if exponent_bits is None else 1 << exponent_bits
        self._s = secrets.randbelow(self._bound)
        self.powers, self._shared = (
            _FixedBase(base, self._bound.bit_length(), mpz(1), lambda a, b: a * b % self.modulus)
            for base in (self._g, gmpy2.powmod(self._g, self._s, self.modulus))
        )

    def encrypt(self, bit: int) -> Any:
        """`(g^r, h^r g^b)`."""
        r = secrets.randbelow(self._bound)
        second = self._shared(r)
        if bit:
            second = second * self._g % self.modulus
        return self.powers(r), second

    def multiply(self, a: Any, b: Any) -> Any:
        """Products of both parts."""
        return a[0] * b[0] % self.modulus, a[1] * b[1] % self.modulus

    def decrypt(self, ciphertext: Any) -> int:
        """The power of the generator."""
        power, m = gmpy2.powmod(ciphertext[0], self._s, self.modulus), 0
        while power != ciphertext[1]:
            power, m = power * self._g % self.modulus, m + 1
        return m


_P: Final = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N: Final = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_GX: Final = 0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296
_GY: Final = 0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5
_WIDTH: Final = 5


class EcElgamalPeer:
    """Lifted ElGamal over secp256r1 in Jacobian coordinates."""

    def __init__(self) -> None:
        self._p = mpz(_P)
        one = mpz(1)
        self._g = (mpz(_GX), mpz(_GY), one)
        self._neutral = (one, one, mpz(0))
        self._s = secrets.randbelow(_N)
        h = self._times(self._odd(self._g), self._s)
        self._powers, self._shared = (
            _FixedBase(base, 256, self._neutral, self._add) for base in (self._g, h)
        )
        # Sums with points whose third coordinate is one are cheaper.
        for table in (self._powers, self._shared):
            table.replace(self._affine)

    def _affine(self, a: Any) -> Any:
        x, y, z = a
        inverse = gmpy2.invert(z, self._p)
        square = inverse * inverse % self._p
        return x * square % self._p, y * square * inverse % self._p, mpz(1)

    def _double(self, a: Any) -> Any:
        """dbl-2001-b of the Explicit-Formulas Database."""
        x, y, z = a
        p = self._p
        delta, gamma = z * z % p, y * y % p
        beta = x * gamma % p
        alpha = 3 * (x - delta) * (x + delta) % p
        x3 = (alpha * alpha - 8 * beta) % p
        z3 = ((y + z) ** 2 - gamma - delta) % p
        return x3, (alpha * (4 * beta - x3) - 8 * gamma * gamma) % p, z3

    def _add(self, a: Any, b: Any) -> Any:
        """add-2007-bl, with the cases that it leaves out; madd-2007-bl where it applies."""
        (x1, y1, z1), (x2, y2, z2) = a, b
        if not z1:
            return b
        if not z2:
            return a
        p = self._p
        z1z1 = z1 * z1 % p
        u2, s2 = x2 * z1z1 % p, y2 * z1 * z1z1 % p
        if z2 == 1:
            u1, s1, z2z2 = x1, y1, z2
        else:
            z2z2 = z2 * z2 % p
            u1, s1 = x1 * z2z2 % p, y1 * z2 * z2z2 % p
        h, r = (u2 - u1) % p, 2 * (s2 - s1) % p
        if not h:
            return self._double(a) if not r else self._neutral
        i = 4 * h * h % p
        j, v = h * i % p, u1 * i % p
        x3 = (r * r - j - 2 * v) % p
        y3 = (r * (v - x3) - 2 * s1 * j) % p
        return x3, y3, ((z1 + z2) ** 2 - z1z1 - z2z2) * h % p

    def _odd(self, a: Any) -> list[Any]:
        """The odd multiples that a windowed non-adjacent form needs."""
        twice, multiples = self._double(a), [a]
        for _ in range(2 ** (_WIDTH - 2) - 1):
            multiples.append(self._add(multiples[-1], twice))
        return multiples

    def _times(self, odd: list[Any], scalar: int) -> Any:
        digits = []
        while scalar:
            digit = 0
            if scalar & 1:
                digit = scalar % 2**_WIDTH
                digit -= 2**_WIDTH if digit >= 2 ** (_WIDTH - 1) else 0
                scalar -= digit
            digits.append(digit)
            scalar >>= 1
        result = self._neutral
        for digit in reversed(digits):
            result = self._double(result)
            if digit:
                x, y, z = odd[abs(digit) // 2]
                result = self._add(result, (x, y if digit > 0 else self._p - y, z))
        return result

    def encrypt(self, bit: int) -> Any:
        """`(r G, r H + b G)`."""
        r = secrets.randbelow(_N)
        second = self._shared(r)
        return self._powers(r), self._add(second, self._g) if bit else second

    def multiply(self, a: Any, b: Any) -> Any:
        """Sums of both parts."""
        return self._add(a[0], b[0]), self._add(a[1], b[1])

    def decrypt(self, ciphertext: Any) -> int:
        """The multiple of the generator."""
        first, (x, y, z) = ciphertext
        shared = self._times(self._odd(first), self._s)
        rest = self._add((x, y, z), (shared[0], self._p - shared[1], shared[2]))
        multiple, m = self._neutral, 0
        while not self._equal(multiple, rest):
            multiple, m = self._add(multiple, self._g), m + 1
        return m

    def _equal(self, a: Any, b: Any) -> bool:
        (x1, y1, z1), (x2, y2, z2) = a, b
        if not z1 or not z2:
            return bool(z1 == z2)
        p = self._p
        same_x = (x1 * z2 * z2 - x2 * z1 * z1) % p == 0
        return bool(same_x and (y1 * z2**3 - y2 * z1**3) % p == 0)


def select(a: list[Any], b: list[Any], choices: Iterable[bool]) -> list[Any]:
    """The stochastic sum, algorithm 3: at each position the bit of one operand."""
    return [x if choice else y for x, y, choice in zip(a, b, choices, strict=True)]

"""The schemes with a ciphertext for each bit, decrypted in plain Python integers.

From the definitions: Euler's criterion for Goldwasser-Micali, affine formulas for secp256r1, the
decoding of RFC 9496 for ristretto255, and the prime of RFC 7919 from its formula.
"""

from __future__ import annotations

import struct
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, TypeVar

from tests.second_implementation.wire import open_frame

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK_LENGTH = 64
E = TypeVar("E")


def read_key(data: bytes, kind: str) -> bytes:
    """What is inside a key: 32 bytes of names and a length come first."""
    body = open_frame(data, kind)
    (length,) = struct.unpack("<Q", body[32:40])
    assert len(body) == 40 + length
    return body[40:]


def read_blocks(data: bytes, context: int) -> tuple[int, bytes]:
    """The bound on counts and the blocks of a batch, after `context` bytes."""
    body = open_frame(data, "ciphertexts")
    (bound,) = struct.unpack("<Q", body[32:40])
    return bound, body[44 + context :]


def chunks(data: bytes, size: int) -> list[bytes]:
    """Pieces of a size."""
    return [data[i : i + size] for i in range(0, len(data), size)]


# Goldwasser-Micali.


def gm_counts(secret: bytes, public: bytes, batch: bytes) -> list[int]:
    """Parities by Euler's criterion modulo both primes, which must agree."""
    key, modulus = read_key(secret, "secret"), read_key(public, "public")
    primes = [int.from_bytes(part, "big") for part in chunks(key, len(key) // 2)]
    assert primes[0] * primes[1] == int.from_bytes(modulus, "big")
    assert [prime % 8 for prime in primes] == [3, 7]
    _, residues = read_blocks(batch, len(modulus))

    def parity(residue: int) -> int:
        squares = {pow(residue, prime // 2, prime) == 1 for prime in primes}
        assert len(squares) == 1
        return int(not squares.pop())

    return [parity(int.from_bytes(part, "big")) for part in chunks(residues, len(modulus))]


# ElGamal over any group.


def elgamal_counts(
    batch: bytes,
    element_bytes: int,
    read: Callable[[bytes], E],
    shared: Callable[[E], E],
    times_generator: Callable[[E], E],
) -> list[int]:
    """`m` with `second = shared(first) g^m`; blocks hold 64 first and then 64 second elements."""
    bound, data = read_blocks(batch, 0)
    counts = []
    for block in chunks(data, 2 * BLOCK_LENGTH * element_bytes):
        elements = [read(part) for part in chunks(block, element_bytes)]
        for first, second in zip(elements[:BLOCK_LENGTH], elements[BLOCK_LENGTH:], strict=True):
            power, m = shared(first), 0
            while power != second:
                power, m = times_generator(power), m + 1
                assert m <= bound
            counts.append(m)
    return counts


# The safe prime ffdhe3072 of RFC 7919, appendix A.2.


def ffdhe3072() -> int:
    """2^3072 - 2^3008 + (floor(2^2942 e) + 2625351) 2^64 - 1."""
    with localcontext() as context:
        context.prec = 1000
        euler = int(Decimal(1).exp() * 2**2942)
    return int(2**3072 - 2**3008 + (euler + 2625351) * 2**64 - 1)


def ffdhe_counts(secret: bytes, public: bytes, batch: bytes) -> list[int]:
    """Lifted ElGamal with generator 2."""
    p = ffdhe3072()
    s = int.from_bytes(read_key(secret, "secret"), "big")
    assert int.from_bytes(read_key(public, "public"), "big") == pow(2, s, p)
    return elgamal_counts(
        batch, 384, lambda b: int.from_bytes(b, "big"), lambda c: pow(c, s, p), lambda c: 2 * c % p
    )


# secp256r1, SEC 2.

Point = tuple[int, int] | None
P = 2**256 - 2**224 + 2**192 + 2**96 - 1
B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
G: Point = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)


def p256_read(data: bytes) -> Point:
    """A compressed point; zeros for the neutral one."""
    if not any(data):
        return None
    x = int.from_bytes(data[1:], "big")
    y = pow(x**3 - 3 * x + B, (P + 1) // 4, P)
    assert (y * y - x**3 + 3 * x - B) % P == 0
    return x, y if y % 2 == data[0] - 2 else P - y


def p256_add(a: Point, b: Point) -> Point:
    """The chord or the tangent."""
    if a is None or b is None:
        return b if a is None else a
    (ax, ay), (bx, by) = a, b
    if ax == bx and (ay + by) % P == 0:
        return None
    slope = (3 * ax * ax - 3) * pow(2 * ay, -1, P) if a == b else (by - ay) * pow(bx - ax, -1, P)
    x = (slope * slope - ax - bx) % P
    return x, (slope * (ax - x) - ay) % P


def p256_multiply(point: Point, scalar: int) -> Point:
    """Double and add."""
    result: Point = None
    for bit in f"{scalar:b}":
        result = p256_add(result, result)
        if bit == "1":
            result = p256_add(result, point)
    return result


def p256_counts(secret: bytes, public: bytes, batch: bytes) -> list[int]:
    """Lifted ElGamal over secp256r1."""
    s = int.from_bytes(read_key(secret, "secret"), "big")
    assert p256_read(read_key(public, "public")) == p256_multiply(G, s)
    return elgamal_counts(
        batch, 33, p256_read, lambda c: p256_multiply(c, s), lambda c: p256_add(c, G)
    )


def p256_conjunctions(secret: bytes, public: bytes, batch: bytes) -> list[int]:
    """Multiplicative ElGamal over secp256r1: ones are neutral elements."""
    s = int.from_bytes(read_key(secret, "secret"), "big")
    assert p256_read(read_key(public, "public")) == p256_multiply(G, s)
    _, data = read_blocks(batch, 0)
    bits = []
    for block in chunks(data, 2 * BLOCK_LENGTH * 33):
        points = [p256_read(part) for part in chunks(block, 33)]
        for first, second in zip(points[:BLOCK_LENGTH], points[BLOCK_LENGTH:], strict=True):
            bits.append(int(p256_multiply(first, s) == second))
    return bits


# ristretto255, RFC 9496.

Q = 2**255 - 19
D = -121665 * pow(121666, -1, Q) % Q
ROOT = pow(2, (Q - 1) // 4, Q)


class Ristretto:
    """An element: a point of edwards25519 up to points of order four."""

    def __init__(self, x: int, y: int) -> None:
        self.x, self.y = x, y

    def __eq__(self, other: object) -> bool:
        """Section 4.3.3."""
        assert isinstance(other, Ristretto)
        crossed = (self.x * other.y - self.y * other.x) % Q
        return crossed == 0 or (self.y * other.y - self.x * other.x) % Q == 0

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: Ristretto) -> Ristretto:
        product = D * self.x * other.x * self.y * other.y
        x = (self.x * other.y + self.y * other.x) * pow(1 + product, -1, Q)
        y = (self.y * other.y + self.x * other.x) * pow(1 - product, -1, Q)
        return Ristretto(x % Q, y % Q)

    def __rmul__(self, scalar: int) -> Ristretto:
        result = Ristretto(0, 1)
        for bit in f"{scalar:b}":
            result += result
            if bit == "1":
                result += self
        return result


def ristretto_read(data: bytes) -> Ristretto:
    """Section 4.3.1."""
    s = int.from_bytes(data, "little")
    assert s < Q
    assert s % 2 == 0
    u1, u2 = 1 - s * s, 1 + s * s
    v = (-D * u1 * u1 - u2 * u2) % Q
    # The inverse of a root of v u2^2; its sign is settled below.
    square = pow(v * u2 * u2, -1, Q)
    inverse = pow(square, (Q + 3) // 8, Q)
    if inverse * inverse % Q != square:
        inverse = inverse * ROOT % Q
    assert inverse * inverse % Q == square
    den_x = inverse * u2
    x = 2 * s * den_x % Q
    x = Q - x if x % 2 else x
    y = u1 * inverse * den_x * v % Q
    assert x * y % Q % 2 == 0
    assert y != 0
    return Ristretto(x, y)


def ristretto_counts(secret: bytes, public: bytes, batch: bytes) -> list[int]:
    """Lifted ElGamal over ristretto255."""
    generator = ristretto_read(
        bytes.fromhex("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76")
    )
    s = int.from_bytes(read_key(secret, "secret"), "little")
    assert ristretto_read(read_key(public, "public")) == s * generator
    return elgamal_counts(batch, 32, ristretto_read, lambda c: s * c, lambda c: c + generator)


COUNTS = {
    "insecure_gm_2048": gm_counts,
    "gm_3072": gm_counts,
    "elgamal_ffdhe3072": ffdhe_counts,
    "ec_elgamal_ristretto255": ristretto_counts,
    "ec_elgamal_secp256r1": p256_counts,
    "unipolar_elgamal_secp256r1": p256_conjunctions,
}

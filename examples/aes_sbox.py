"""The S-box of AES on encrypted bytes: a product in a field, then a circuit on its bits.

Each slot of `bgv_13107` holds an element of the field with 2^16 elements, of which 256 are AES's
bytes. The
server inverts all bytes at once by four products in the field, takes the bits of the inverses
apart, and finishes with exclusive ors, which cost nothing, and a conjunction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import hesc
from hesc import packing
from hesc._native import GaloisRing
from hesc.packing.secret import decrypt_slots, encrypt_slots

if TYPE_CHECKING:
    from hesc.params import VectorParams

Bits = NDArray[np.uint8]

# x^8 + x^4 + x^3 + x + 1, by its exponents; and the affine map of FIPS 197, section 5.1.1.
AES_POLYNOMIAL = (8, 4, 3, 1, 0)
AFFINE = np.array(
    [[(row - column) % 8 in {0, 1, 2, 3, 4} for column in range(8)] for row in range(8)]
)
CONSTANT = np.array([1, 1, 0, 0, 0, 1, 1, 0], dtype=np.uint8)


def field_of(params: VectorParams) -> GaloisRing:
    """The field that every slot is a copy of."""
    return GaloisRing(params.ring_index, 2, 1)


def power(field: GaloisRing, element: NDArray[np.uint64], exponent: int) -> NDArray[np.uint64]:
    """An element multiplied by itself, by squaring."""
    result: NDArray[np.uint64] = np.eye(1, field.degree, dtype=np.uint64)[0]
    for bit in f"{exponent:b}":
        result = field.multiply(result, result)
        if bit == "1":
            result = field.multiply(result, element)
    return result


def byte_basis(field: GaloisRing) -> Bits:
    """The coordinates of AES's `1, x, ..., x^7` in the normal basis of slots, a row each."""
    rng = np.random.default_rng(0)
    while True:
        # The 257th power of an element is one of the smaller field.
        element = power(field, rng.integers(0, 2, field.degree).astype(np.uint64), 257)
        powers = [power(field, element, i) for i in range(9)]
        if not np.any(sum(powers[i] for i in AES_POLYNOMIAL) % 2):
            break
    _, dual = field.normal_basis()
    duals = [dual]
    for _ in range(field.degree - 1):
        duals.append(field.frobenius(duals[-1]))
    rows = [[field.trace(field.multiply(x, d)) for d in duals] for x in powers[:8]]
    return np.array(rows, dtype=np.uint8)


def inverse_modulo_2(matrix: Bits) -> tuple[list[int], Bits]:
    """Eight columns that are independent, and the inverse of what they make."""
    chosen: list[int] = []
    for column in range(matrix.shape[1]):
        if rank(matrix[:, [*chosen, column]]) > len(chosen):
            chosen.append(column)
    square = matrix[:, chosen].astype(np.int64)
    # Gauss and Jordan modulo 2.
    both = np.hstack([square, np.eye(8, dtype=np.int64)])
    for i in range(8):
        pivot = next(row for row in range(i, 8) if both[row, i])
        both[[i, pivot]] = both[[pivot, i]]
        for row in range(8):
            if row != i and both[row, i]:
                both[row] ^= both[i]
    return chosen, both[:, 8:].astype(np.uint8)


def rank(matrix: Bits) -> int:
    """The rank modulo 2."""
    rows = [int("".join(map(str, row)), 2) for row in matrix]
    found = 0
    while rows:
        top = max(rows)
        rows.remove(top)
        if top:
            found += 1
            rows = [min(row, row ^ top) for row in rows]
    return found


def exclusive_or(
    bits: list[packing.EncryptedSlots], which: NDArray[np.bool_]
) -> packing.EncryptedSlots:
    """The sum of some of them."""
    chosen = [bit for bit, taken in zip(bits, which, strict=True) if taken]
    total = chosen[0]
    for bit in chosen[1:]:
        total = total + bit
    return total


def main() -> None:
    """Encrypts 512 bytes, has them substituted, and compares."""
    params = hesc.Params.preset("bgv_13107")
    secret, keys = hesc.keygen(params, unpacking=True)
    basis = byte_basis(field_of(params))
    chosen, back = inverse_modulo_2(basis)

    # The client: a byte a slot, the lowest bit first.
    data = np.random.default_rng(1).integers(0, 256, params.slot_count, dtype=np.uint8)
    bits = np.unpackbits(data[:, None], axis=1, bitorder="little")
    upload = encrypt_slots(secret, bits @ basis % 2)

    # The server: x^254, the inverse, by four products; Frobenius maps are squares.
    x = packing.EncryptedSlots.from_bytes(keys.params, upload).with_keys(keys)
    x2 = x.frobenius()
    x3 = x * x2
    x12 = x3.frobenius(2)
    inverse = (x3 * x12).frobenius(4) * (x12 * x2)
    # Its bits, and from here on a circuit.
    columns = inverse.unpack(chosen)
    matrix = AFFINE @ back.T.astype(np.int64) % 2 == 1
    output = [exclusive_or(columns, row) + int(c) for row, c in zip(matrix, CONSTANT, strict=True)]
    both_ends = output[0] * output[7]
    answer = packing.pack([bit.mod_switch_to(1) for bit in [*output, both_ends]]).to_bytes()

    # The client again.
    found = decrypt_slots(secret, packing.EncryptedSlots.from_bytes(keys.params, answer))
    substituted = np.packbits(found[:, :8].astype(np.uint8), axis=1, bitorder="little")[:, 0]
    print(f"S-box of {data[:4]}: {substituted[:4]}")
    expected = np.array([sbox(int(byte)) for byte in data])
    if not np.array_equal(substituted, expected):
        raise SystemExit("a byte was substituted wrongly")
    if not np.array_equal(found[:, 8], expected >> 7 & expected & 1):
        raise SystemExit("a conjunction is wrong")
    print(f"{params.slot_count} bytes substituted, {len(upload)} bytes up, {len(answer)} down")


def sbox(byte: int) -> int:
    """The table's entry, by its definition in FIPS 197."""

    def times(a: int, b: int) -> int:
        product = 0
        for i in range(8):
            product ^= (b >> i & 1) * a << i
        for i in range(14, 7, -1):
            product ^= (product >> i & 1) * (0x11B << (i - 8))
        return product

    inverse = 1
    for _ in range(254):
        inverse = times(inverse, byte)
    rotated = [inverse << k | inverse >> (8 - k) for k in range(5)]
    return (rotated[0] ^ rotated[1] ^ rotated[2] ^ rotated[3] ^ rotated[4] ^ 0x63) & 0xFF


if __name__ == "__main__":
    main()

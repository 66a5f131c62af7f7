"""Encrypted integers: a ciphertext for each bit, a number in each slot. Nothing can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc import _native
from hesc._native import DecryptionError, ParameterError, ShapeError
from hesc.inputs import of_kind
from hesc.integers.expressions import Integers
from hesc.integers.kinds import Kind, check_range, kind_of
from hesc.leveled.keys import PublicKeys

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from hesc.leveled.params import LeveledParams

Block = list[_native.LeveledCiphertext]
"""The bits of as many numbers as there are slots, the lowest first."""


class EncryptedIntegers(Integers):
    """`count` encrypted integers of one kind. Operators build expressions: see `Integers`.

    Make them with `encrypt` or `read`, or as results of plans.
    """

    def __init__(self, keys: PublicKeys, kind: Kind, count: int, blocks: list[Block]) -> None:
        super().__init__(kind)
        self.keys = keys
        self.count = count
        self.blocks = blocks

    def __len__(self) -> int:
        return self.count

    def __reduce__(self) -> tuple[Any, ...]:
        return read, (self.keys, self.to_bytes())

    def __repr__(self) -> str:
        bits = self.bits()
        level = min(bit.level for bit in bits)
        budget = min(bit.noise_budget for bit in bits)
        return (
            f"EncryptedIntegers({self.count} of {self.dtype}, {self.params.name}, level={level}, "
            f"noise_budget={budget:.1f} bits)"
        )

    @property
    def params(self) -> LeveledParams:
        """The parameter set."""
        return self.keys.params

    def bits(self) -> list[_native.LeveledCiphertext]:
        """All ciphertexts."""
        return [bit for block in self.blocks for bit in block]

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(bit.nbytes for bit in self.bits())

    def to_bytes(self) -> bytes:
        """The wire form, with type and count, which are public."""
        native = self.params.native
        return native.integers_to_bytes(
            self.bits(), self.count, self.kind.width, self.kind.signed, self.kind.boolean
        )


def read(keys: PublicKeys, data: bytes) -> EncryptedIntegers:
    """Integers from their wire form; strict.

    That slots hold bits is the sender's word: others give results that decrypt to nonsense, or to
    an error.

    Raises:
        WireError: damaged bytes, or another object's.
        ParameterError, NoiseBudgetError: of other parameters, or without room.

    """
    of_kind(keys, "keys", PublicKeys, "leveled_keygen returns them")
    native = keys.params.native
    bits, count, width, signed, boolean = native.integers_from_bytes(data)
    blocks = [bits[first : first + width] for first in range(0, len(bits), width)]
    return EncryptedIntegers(keys, Kind(width, signed, boolean), count, blocks)


def encrypt(
    keys: PublicKeys, numbers: ArrayLike, dtype: DTypeLike | Kind | None = None
) -> EncryptedIntegers:
    """Encrypts a row of integers, bit by bit, `params.slot_count` of them in each ciphertext.

    Args:
        keys: the public keys, of a set of BGV with bits in slots (`plan.params`).
        numbers: one or more; within the type, nothing wraps.
        dtype: "uint24", numpy.int8, "bool" ...; that of the array by default.

    Raises:
        OutOfRangeError: numbers beyond the type, or none.
        ShapeError: no row, or an empty one.

    """
    of_kind(keys, "keys", PublicKeys, "leveled_keygen returns them")
    kind, count, bits = plain_bits(keys.params, numbers, dtype)
    encrypted = [keys.public.encrypt(bit) for bit in bits]
    width = kind.width
    blocks = [encrypted[at : at + width] for at in range(0, len(encrypted), width)]
    return EncryptedIntegers(keys, kind, count, blocks)


def plain_bits(
    params: LeveledParams, numbers: ArrayLike, dtype: DTypeLike | Kind | None
) -> tuple[Kind, int, list[_native.LeveledPlaintext]]:
    """What is encrypted: the kind, the count, and the bits of each block, the lowest first."""
    kind, array = numbers_in(numbers, dtype)
    if params.scheme != "bgv":
        raise ParameterError(
            f"{params.name} is of {params.scheme}; bits in slots take BGV: see plan.params"
        )
    plain: list[_native.LeveledPlaintext] = []
    for first in range(0, array.size, params.slot_count):
        rows = bits_of(array[first : first + params.slot_count], kind)
        plain.extend(params.native.encode_integers(row, False) for row in rows)
    return kind, array.size, plain


def numbers_in(numbers: ArrayLike, dtype: DTypeLike | Kind | None) -> tuple[Kind, NDArray[Any]]:
    """A row of numbers within a type."""
    kind = kind_of(np.asarray(numbers).dtype if dtype is None else dtype)
    shape = np.shape(numbers)
    if len(shape) != 1 or not shape[0]:
        raise ShapeError(f"integers are a row of at least one; got shape {shape}")
    return kind, check_range(numbers, kind, "numbers")


def bits_of(numbers: NDArray[Any], kind: Kind) -> NDArray[np.int64]:
    """Row `i` has bit `i` of each number."""
    mask = (1 << kind.width) - 1
    words = [int(number) & mask for number in numbers]
    size = -(-kind.width // 8)
    data = np.frombuffer(b"".join(word.to_bytes(size, "little") for word in words), dtype=np.uint8)
    rows = np.unpackbits(data.reshape(len(words), size), axis=1, bitorder="little")
    return np.ascontiguousarray(rows[:, : kind.width].T, dtype=np.int64)


def numbers_of(rows: NDArray[np.int64], kind: Kind) -> NDArray[Any]:
    """What `bits_of` was given; the inverse."""
    if rows.size and bool(np.any((rows != 0) & (rows != 1))):
        raise DecryptionError(
            "slots hold other numbers than bits: the integers were damaged, or encrypted as others"
        )
    size = 8 * -(-kind.width // 8)
    bits = np.zeros((rows.shape[1], size), dtype=np.uint8)
    bits[:, : kind.width] = rows.T
    data = np.packbits(bits, axis=1, bitorder="little")
    words = [int.from_bytes(row.tobytes(), "little") for row in data]
    signed = [word - (1 << kind.width) if word > kind.most else word for word in words]
    return np.array(signed, dtype=kind.numpy)

"""Integers on their way in: encrypted, or read from their wire form."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from hesc._native import ParameterError
from hesc.encryptor import PublicKey
from hesc.integers.arrays import EncryptedIntegers, plain_bits
from hesc.integers.bootstrapped import BootstrappedIntegers
from hesc.leveled.keys import PublicKeys

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from hesc.integers.kinds import Kind


@overload
def read(keys: PublicKeys, data: bytes) -> EncryptedIntegers: ...
@overload
def read(keys: PublicKey, data: bytes) -> BootstrappedIntegers: ...
def read(keys: PublicKeys | PublicKey, data: bytes) -> EncryptedIntegers | BootstrappedIntegers:
    """Integers from their wire form; strict.

    That slots hold bits is the sender's word: others give results that decrypt to nonsense, or to
    an error.

    Raises:
        WireError: damaged bytes, or another object's.
        ParameterError, NoiseBudgetError: of other parameters, or without room.

    """
    if isinstance(keys, PublicKey):
        return BootstrappedIntegers.from_bytes(keys.params, data)
    return EncryptedIntegers.from_bytes(_checked(keys), data)


@overload
def encrypt(
    keys: PublicKeys, numbers: ArrayLike, dtype: DTypeLike | Kind | None = None
) -> EncryptedIntegers: ...
@overload
def encrypt(
    keys: PublicKey, numbers: ArrayLike, dtype: DTypeLike | Kind | None = None
) -> BootstrappedIntegers: ...
def encrypt(
    keys: PublicKeys | PublicKey, numbers: ArrayLike, dtype: DTypeLike | Kind | None = None
) -> EncryptedIntegers | BootstrappedIntegers:
    """Encrypts a row of integers, bit by bit.

    Args:
        keys: the public keys of `plan.params`: of `hesc.leveled_keygen` for a set of BGV, which has
            `params.slot_count` numbers in the slots of each ciphertext, or of `hesc.keygen` for one
            of "tfhe", whose bits bootstrap.
        numbers: one or more; within the type, nothing wraps.
        dtype: "uint24", numpy.int8, "bool" ...; that of the array by default.

    Raises:
        OutOfRangeError: numbers beyond the type, or none.
        ShapeError: no row, or an empty one.

    """
    if isinstance(keys, PublicKey):
        return BootstrappedIntegers.encrypt(keys, numbers, dtype)
    kind, count, bits = plain_bits(_checked(keys).params, numbers, dtype)
    encrypted = [keys.public.encrypt(bit) for bit in bits]
    width = kind.width
    blocks = [encrypted[at : at + width] for at in range(0, len(encrypted), width)]
    return EncryptedIntegers(keys, kind, count, blocks)


def _checked(keys: object) -> PublicKeys:
    if not isinstance(keys, PublicKeys):
        raise ParameterError(
            f"keys is {type(keys).__name__}; integers take the public keys of "
            "hesc.leveled_keygen(plan.params), or of hesc.keygen for bits that bootstrap"
        )
    return keys

"""Integers under the secret key: encrypted for the way up, and decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._support.inputs import of_kind
from hesc.gates.secret import decrypt_bits
from hesc.integers.bits import numbers_of
from hesc.integers.bootstrapped import BootstrappedIntegers, IntegerAnswer
from hesc.integers.encrypted_integers import EncryptedIntegers, described
from hesc.integers.layouts import PackedIntegers, SlotwiseArray, check_layout, plaintexts
from hesc.integers.slotwise import SlotwiseIntegers, SlotwiseTruths
from hesc.packing.messages import NUMBERS
from hesc.packing.secret import decrypt_slots
from hesc.packing.slots import EncryptedSlots
from hesc.secret.secret_key import SecretKey, for_vectors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from hesc.integers.kinds import IntegerKind


def encrypt_integers(
    secret: SecretKey,
    numbers: ArrayLike,
    dtype: DTypeLike | IntegerKind | None = None,
    *,
    layout: str = "sliced",
) -> bytes:
    """Encrypts a row of integers for the way up: half the bytes of `integers.encrypt`.

    `hesc.integers.read` is what the other side calls. `layout` as for `integers.encrypt`.
    """
    params = for_vectors(secret)
    check_layout(layout)
    kind, count, plain = plaintexts(params, numbers, dtype, layout)
    found: bytes = secret.native.encrypt_integers_to_bytes(plain, described(count, kind), layout)
    return found


def decrypt_integers(
    secret: SecretKey,
    integers: EncryptedIntegers
    | SlotwiseArray
    | PackedIntegers
    | BootstrappedIntegers
    | IntegerAnswer,
) -> NDArray[Any]:
    """The numbers, in numpy's type of the same name or the next wider one.

    Raises:
        KeyMismatchError, ParameterError: integers of another key or parameter set.
        DecryptionError: altered ciphertexts; slots that hold other numbers than bits.

    """
    if isinstance(integers, BootstrappedIntegers | IntegerAnswer):
        return numbers_of(decrypt_bits(secret, integers.bits).T.astype(np.int64), integers.kind)
    if isinstance(integers, SlotwiseArray):
        return _decrypt_blocks(secret, integers)
    if isinstance(integers, PackedIntegers):
        rows = _unpacked_rows(secret, integers)
    else:
        remedy = "evaluate expressions first: hesc.integers.evaluate"
        of_kind(integers, "integers", EncryptedIntegers, remedy)
        for_vectors(secret)
        rows = [secret.native.decrypt(bit).decode_integers(False) for bit in integers.bits()]
    width, count = integers.kind.width, len(integers)
    blocks = [np.stack(rows[at : at + width]) for at in range(0, len(rows), width)]
    return numbers_of(np.concatenate(blocks, axis=1)[:, :count], integers.kind)


def _decrypt_blocks(secret: SecretKey, integers: SlotwiseArray) -> NDArray[Any]:
    numbers = []
    for block, count in zip(integers.blocks, integers.counts(), strict=True):
        row = decrypt_slots(secret, EncryptedSlots(integers.params, block, NUMBERS))
        lying, truths = integers.lying, integers.kind.boolean
        numbers.append((lying.truths_of if truths else lying.numbers_of)(row, count))
    return np.concatenate(numbers)


def _unpacked_rows(secret: SecretKey, integers: PackedIntegers) -> list[NDArray[np.int64]]:
    wanted = integers.kind.width * -(-len(integers) // secret.params.slot_count)
    columns = [column for slots in integers.packed for column in decrypt_slots(secret, slots).T]
    return [np.asarray(column, dtype=np.int64) for column in columns[:wanted]]


def decrypt_slotwise(
    secret: SecretKey, integers: SlotwiseIntegers | SlotwiseTruths
) -> NDArray[Any]:
    """The numbers, or truth values, that lie along the slots of one ciphertext.

    Raises:
        KeyMismatchError, ParameterError: integers of another key or parameter set.

    """
    if isinstance(integers, SlotwiseTruths):
        return integers.layout.truths_of(decrypt_slots(secret, integers.slots), len(integers))
    of_kind(integers, "integers", SlotwiseIntegers, "hesc.integers.Slotwise encrypts them")
    return integers.layout.numbers_of(decrypt_slots(secret, integers.slots), len(integers))

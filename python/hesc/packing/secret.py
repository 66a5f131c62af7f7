"""Slots of odd rings under the secret key: messages packed and encrypted, slots decrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._support.inputs import of_kind, whole
from hesc.packing.messages import NORMAL, decoded, encoded
from hesc.packing.slots import EncryptedSlots
from hesc.secret.secret_key import SecretKey, for_vectors, native_in

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def encrypt_slots(
    secret: SecretKey, messages: ArrayLike, *, content: str = NORMAL, level: int | None = None
) -> bytes:
    """Messages into the slots of an odd ring, encrypted: the seeded wire form.

    `EncryptedSlots.from_bytes` reads it.

    Args:
        secret: the key.
        messages: whole numbers from 0 to below the plaintext modulus: up to `phi(m)` of them
            one after the other, message `k` becoming coordinate `k % d` of slot `k // d`; or
            rows of up to `d`, one for a slot; with `content="numbers"` a number for each slot.
        content: "normal" or "powers" for coordinates, "numbers" for numbers.
        level: which of `params.levels`; a lower one takes fewer bytes and leaves room for fewer
            products. The highest by default.

    """
    params = for_vectors(secret)
    plaintext = encoded(params, messages, content)
    highest = len(params.levels)
    level = highest if level is None else whole(level, "level", 1, highest)
    found: bytes = secret.native.encrypt_slots_to_bytes(plaintext, content, level)
    return found


def decrypt_slots(secret: SecretKey, slots: EncryptedSlots) -> NDArray[Any]:
    """What slots hold, from 0 to below the plaintext modulus: a number or coordinates each.

    Slots of `EncryptedSlots.digits` too, by the key of the set that they are digits in.

    Raises:
        DecryptionError: noise that fills the modulus. Tell nobody who made it.
        ParameterError: slots that are said to hold numbers and do not.

    """
    for_vectors(secret)
    of_kind(slots, "slots", EncryptedSlots, "EncryptedSlots.from_bytes reads them")
    plaintext = native_in(secret, slots.params).decrypt(slots.native)
    return np.asarray(decoded(slots.params, plaintext, slots.content))

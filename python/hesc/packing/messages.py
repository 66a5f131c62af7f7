"""Messages in the clear on their way into slots, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import one_name
from hesc.vectors.numbers import plain_array
from hesc.vectors.steps import degree_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc.params.vectors import VectorParams

NUMBERS: Final = "numbers"
"""Each slot holds a number below the plaintext modulus."""
NORMAL: Final = "normal"
"""Slots hold values whose coordinates belong to an element and its Frobenius images."""
POWERS: Final = "powers"
"""Slots hold values whose coordinates belong to `1, X, X^2, ...`, `X` another root in each slot."""


def coordinates_of(params: VectorParams, messages: ArrayLike) -> NDArray[np.uint64]:
    """Messages as coordinates: all of a slot, then those of the next.

    Args:
        params: a set with an odd ring.
        messages: whole numbers from 0 to below the plaintext modulus; up to `phi(m)` of them one
            after the other, or rows of up to `d`, one for a slot. What is missing is zero.

    Raises:
        ShapeError: more messages, slots or coordinates than there are.
        OutOfRangeError: other numbers, or what is none.

    """
    d, slots = degree_of(params), params.slot_count
    array = plain_array(messages)
    t = params.plain_modulus
    if array.size > slots * d:
        raise ShapeError(
            f"{array.size} messages are more than the {slots * d} that {params.name} packs into a "
            f"ciphertext ({slots} slots of {d}); use several ciphertexts"
        )
    if array.dtype.kind not in "biu":
        raise OutOfRangeError(f"messages are whole numbers of up to 64 bits; got {array.dtype}")
    if t is None or (array.size and bool(np.any((array < 0) | (array >= t)))):
        raise OutOfRangeError(
            f"messages lie in 0..{(t or 1) - 1}, below the plaintext modulus; cut larger ones into "
            "digits (numpy.unpackbits) or take a larger plain_modulus"
        )
    if array.ndim == 2:
        if array.shape[0] > slots or array.shape[1] > d:
            raise ShapeError(
                f"{params.name} has {slots} slots of {d} coordinates; got shape {array.shape}"
            )
        rows = np.zeros((array.shape[0], d), dtype=np.uint64)
        rows[:, : array.shape[1]] = array
        array = rows.reshape(-1)
    elif array.ndim != 1:
        raise ShapeError(f"messages are a row, or rows of a slot each; got shape {array.shape}")
    return np.ascontiguousarray(array, dtype=np.uint64)


def residues(params: VectorParams, values: ArrayLike) -> NDArray[np.int64]:
    """Numbers for slots, centred: given from minus half of the plaintext modulus to below it.

    Raises:
        OutOfRangeError: other numbers, or what is none.

    """
    degree_of(params)
    array = plain_array(values)
    if array.dtype.kind not in "biu":
        raise OutOfRangeError(f"slots hold whole numbers; got {array.dtype}")
    t, (smallest, half) = params.plain_modulus or 1, params.integer_range
    if array.size and bool(np.any((array < -half) | (array >= t))):
        raise OutOfRangeError(
            f"numbers in slots lie in 0..{t - 1}, or in {-half}..-1 for those above half; others "
            "would act as different ones"
        )
    numbers = array.astype(np.int64)
    # Minus half of an even modulus is half of it.
    numbers[numbers < smallest] += t
    numbers[numbers > half] -= t
    return numbers


def encoded(params: VectorParams, messages: ArrayLike, content: str) -> _native.Plaintext:
    """A plaintext of messages: numbers, one a slot, or coordinates in a basis."""
    if one_name(content, "content", (NUMBERS, NORMAL, POWERS)) != NUMBERS:
        return _native.Plaintext.encode_slots(params, coordinates_of(params, messages), content)
    slots = params.slot_count
    array = residues(params, messages)
    if array.ndim != 1 or len(array) > slots:
        raise ShapeError(f"numbers are a row of up to {slots}, one a slot; got shape {array.shape}")
    return _native.Plaintext.encode_integers(params, array, False)


def decoded(params: VectorParams, plaintext: _native.Plaintext, content: str) -> Any:
    """What a plaintext's slots hold: numbers, or a row of coordinates for each slot."""
    if content == NUMBERS:
        return plaintext.decode_integers(False) % (params.plain_modulus or 1)
    return plaintext.decode_slots(content).reshape(params.slot_count, degree_of(params))

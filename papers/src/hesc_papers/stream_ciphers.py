"""Trivium and Kreyvium in numpy, as their papers write them: what circuits are compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

WARM_UP = 1152


def insecure_trivium(
    key: NDArray[np.uint8], initial: NDArray[np.uint8], count: int
) -> NDArray[np.uint8]:
    """Rows of keystream, a column for each stream, of rows of 80 bits.

    De Cannière and Preneel 2005, section 2; bits are those of bytes, the lowest first.
    """
    state = np.zeros((288, initial.shape[1]), dtype=np.uint8)
    state[:80], state[93:173], state[285:] = key[::-1], initial[::-1], 1
    return _clocked(state, count)


def kreyvium(key: NDArray[np.uint8], initial: NDArray[np.uint8], count: int) -> NDArray[np.uint8]:
    """Rows of keystream, a column for each stream, of rows of 128 bits.

    Canteaut, Carpov and others 2018, section 4; bits are those of bytes, the lowest first.
    """
    key, initial = key[::-1], initial[::-1]
    state = np.ones((288, initial.shape[1]), dtype=np.uint8)
    state[:93], state[93:221], state[287] = key[:93], initial, 0
    return _clocked(state, count, (key, initial))


def _clocked(
    s: NDArray[np.uint8],
    count: int,
    added: tuple[NDArray[np.uint8], NDArray[np.uint8]] | None = None,
) -> NDArray[np.uint8]:
    stream: list[Any] = []
    for turn in range(WARM_UP + count):
        first, second, third = s[65] ^ s[92], s[161] ^ s[176], s[242] ^ s[287]
        if added:
            third = third ^ added[0][turn % 128]
        stream.append(first ^ second ^ third)
        first = first ^ (s[90] & s[91]) ^ s[170]
        if added:
            first = first ^ added[1][turn % 128]
        second = second ^ (s[174] & s[175]) ^ s[263]
        third = third ^ (s[285] & s[286]) ^ s[68]
        s[1:] = s[:-1].copy()
        s[0], s[93], s[177] = third, first, second
    return np.array(stream[WARM_UP:])

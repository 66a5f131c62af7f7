"""The negacyclic transform in SEAL's order, with Python's integers.

Place `i` holds the value at `root^(2 bitrev(i) + 1)`, `root` the smallest primitive `2N`-th root of
unity, or another one that is given.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@cache
def _powers(modulus: int, degree: int, root: int | None) -> tuple[list[int], NDArray[np.intp]]:
    """A root's powers, by default the smallest one's, and the bit reversals."""
    step = (modulus - 1) // (2 * degree)
    some = next(
        root
        for root in (pow(g, step, modulus) for g in range(2, 100))
        if pow(root, degree, modulus) == modulus - 1
    )
    square = some * some % modulus
    odd = [some]
    for _ in range(degree - 1):
        odd.append(odd[-1] * square % modulus)
    root = min(odd) if root is None else root
    powers = [1]
    for _ in range(2 * degree - 1):
        powers.append(powers[-1] * root % modulus)
    bits = degree.bit_length() - 1
    reversals = [int(f"{i:0{bits}b}"[::-1], 2) for i in range(degree)]
    return powers, np.array(reversals)


def forward(coefficients: NDArray[Any], modulus: int, root: int | None = None) -> NDArray[Any]:
    """Coefficients to evaluations: a recursion on even and odd coefficients, for all at once."""
    degree = len(coefficients)
    powers, reversals = _powers(modulus, degree, root)
    # Row i has the coefficients k with k = bitrev(i) modulo the number of rows.
    values = np.array(coefficients, dtype=object)[reversals].reshape(degree, 1)
    while values.shape[1] < degree:
        width = values.shape[1]
        # Values of even and odd halves at the 2 width odd powers of a root of this size.
        even, odd = values[0::2], values[1::2]
        step = degree // (2 * width)
        twists = np.array([powers[step * (2 * j + 1)] for j in range(width)], dtype=object)
        turned = odd * twists % modulus
        values = np.concatenate([(even + turned) % modulus, (even - turned) % modulus], axis=1)
    # values[0][j] is the value at root^(2 j + 1).
    return np.asarray(values[0][reversals])


def inverse(evaluations: NDArray[Any], modulus: int, root: int | None = None) -> NDArray[Any]:
    """Evaluations to coefficients: the transform with the root's inverse, divided by the degree."""
    degree = len(evaluations)
    powers, reversals = _powers(modulus, degree, root)
    ordered = np.array(evaluations, dtype=object)[reversals]
    # a_k = 1/N sum_j v_j root^(-k (2 j + 1)): a cyclic transform and a twist.
    values = ordered[reversals].reshape(degree, 1)
    while values.shape[1] < degree:
        width = values.shape[1]
        even, odd = values[0::2], values[1::2]
        step = degree // width
        twists = np.array([powers[-step * j % (2 * degree)] for j in range(width)], dtype=object)
        turned = odd * twists % modulus
        values = np.concatenate([(even + turned) % modulus, (even - turned) % modulus], axis=1)
    scale = pow(degree, -1, modulus)
    twists = np.array([powers[-k % (2 * degree)] * scale for k in range(degree)], dtype=object)
    return np.asarray(values[0] * twists % modulus)

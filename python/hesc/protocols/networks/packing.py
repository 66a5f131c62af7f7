"""Many samples in one ciphertext, and matrices in the clear times all of them at once.

Value `j` of sample `s` is in slot `j * samples + s`. A rotation by `k * samples` moves the values
of every sample by `k` and mixes no two samples, so that a matrix costs the same for one sample as
for as many as fit. Products go along diagonals with baby and giant steps (Halevi and Shoup 2014,
section 3); a matrix with fewer rows than columns has as many diagonals as rows, and partial sums
are then added up by rotations (Juvekar, Vaikuntanathan and Chandrakasan 2018, section 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hesc.vectors.numbers import encode_operand, period_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.vectors.encrypted_vectors import EncryptedVector

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class Packing:
    """How samples of a network lie in slots."""

    slots: int
    """Slots of a ciphertext."""
    widths: tuple[int, ...]
    """Features, units of each hidden layer, outputs."""

    @property
    def period(self) -> int:
        """Slots of a sample: a power of two that the widest layer fits."""
        return period_of(max(self.widths))

    @property
    def samples(self) -> int:
        """Samples of one ciphertext."""
        return self.slots // self.period

    def rotations(self) -> list[int]:
        """Steps that all layers need keys for."""
        found: set[int] = set()
        for columns, rows in self._sides():
            baby, giants = _steps(min(rows, columns))
            found |= {*range(1, baby), *(baby * giant for giant in range(1, giants))}
            found |= set(_folds(rows, columns))
        return [step * self.samples for step in sorted(found)]

    def _sides(self) -> list[tuple[int, int]]:
        """Columns and rows of each layer, as powers of two."""
        sides = [period_of(width) for width in self.widths]
        return list(pairwise(sides))

    def packed(self, values: Array) -> Array:
        """Slots of samples, a row for each, in copies; zeros where there are none."""
        side = period_of(values.shape[1])
        found = np.zeros((side, self.samples))
        found[: values.shape[1], : len(values)] = values.T
        return np.tile(found, (self.period // side, 1)).reshape(-1)

    def unpacked(self, slots: Array, samples: int) -> Array:
        """A row of outputs for each sample."""
        found = slots.reshape(self.period, self.samples)
        return np.ascontiguousarray(found[: self.widths[-1], :samples].T)

    def spread(self, numbers: Array) -> Array:
        """One number for each unit, in the slots of all samples and copies."""
        side = period_of(len(numbers))
        padded = np.zeros(side)
        padded[: len(numbers)] = numbers
        return np.repeat(np.tile(padded, self.period // side), self.samples)

    def times(self, weights: Array, vector: EncryptedVector) -> EncryptedVector:
        """A matrix, a row for each output, times the values of every sample.

        Values have a period of their number's next power of two, and so has the result. One level;
        as many products with plaintexts as the shorter side has (as a power of two), and about two
        times its root and the logarithm of both sides' quotient in rotations.
        """
        rows, columns = (period_of(side) for side in weights.shape)
        padded = np.zeros((rows, columns))
        padded[: weights.shape[0], : weights.shape[1]] = weights
        places = np.arange(self.period)
        baby, giants = _steps(min(rows, columns))
        turned = vector.rotate_many([self.samples * step for step in range(baby)])
        scale, level = vector.native.operand_scale, vector.level
        parts = []
        for giant in range(giants):
            first = giant * baby
            pieces = []
            for step in range(baby):
                diagonal = padded[places % rows, (places + first + step) % columns]
                slots = np.repeat(np.roll(diagonal, first), self.samples)
                operand = encode_operand(vector.params, slots, self.slots, scale=scale, level=level)
                pieces.append(turned[step].native.multiply_plain(operand))
            part = vector._with(reduce(lambda a, b: a.add(b), pieces))  # noqa: SLF001 - not rescaled
            parts.append(part.rotate(first * self.samples) if first else part)
        total = reduce(lambda a, b: a + b, parts)
        total = vector._with(total.native.settled())  # noqa: SLF001 - rescaled once
        for step in _folds(rows, columns):
            total = total + total.rotate(step * self.samples)
        return total


def _steps(diagonals: int) -> tuple[int, int]:
    """Baby and giant steps."""
    baby = 1 << (diagonals.bit_length() // 2)
    return baby, diagonals // baby


def _folds(rows: int, columns: int) -> list[int]:
    """Rotations that add up the partial sums of a wide matrix."""
    found = []
    while columns > rows:
        columns //= 2
        found.append(columns)
    return found

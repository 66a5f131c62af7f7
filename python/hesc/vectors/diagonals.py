"""A matrix in the clear times an encrypted one: diagonals, by small steps and large ones.

Halevi and Shoup 2014 (HElib), with all columns of the encrypted matrix side by side: an entry's row
is its place in the vector, its column the place within it, so that one rotation moves all columns.
Both sides are filled up to powers of two; a matrix has as many diagonals as its smaller side.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.vectors.grids import MatrixWork
from hesc.vectors.numbers import period_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc import _native
    from hesc.params.vectors import VectorParams
    from hesc.vectors.grids import MatrixOperations, MatrixShape


class ClearDiagonals:
    """The layout of products of a matrix in the clear and an encrypted one.

    Args:
        params: the parameter set.
        shape: of the product.
        small: diagonals that share a large step, a power of two.

    """

    plain: Final = True

    def __init__(self, params: VectorParams, shape: MatrixShape, small: int) -> None:
        self.params, self.shape = params, shape
        row = params.ring_degree // 2
        self.height, self.inner = min(shape.rows, row), min(shape.inner, row)
        #: Both sides of a block of the matrix in the clear, filled up.
        self.filled = period_of(self.height), period_of(self.inner)
        self.diagonals = min(self.filled)
        self.small = min(small, self.diagonals)
        self.period = max(self.filled)
        self.width = min(period_of(shape.columns), row // self.period)
        both = not params.is_approximate and shape.columns > row // self.period
        self.rows_of_slots = 2 if both else 1
        columns = self.width * self.rows_of_slots
        self.down, self.groups = -(-shape.rows // self.height), -(-shape.inner // self.inner)
        self.across = -(-shape.columns // columns)
        length = (self.filled[1] * self.width, self.filled[0] * self.width)
        self.right_length, self.result_length = (params.slot_count,) * 2 if both else length
        self.lengths = (0, self.right_length)
        alike = self.width, self.rows_of_slots, self.across, shape.columns
        #: How the encrypted matrix lies in its vectors, and how the product does.
        self.right_layout = (shape.inner, self.inner, self.filled[1], self.groups, *alike)
        self.result_layout = (shape.rows, self.height, self.filled[0], self.down, *alike)
        large = range(0, self.diagonals, self.small)
        steps = {*range(self.small), *large}
        fold = self.filled[0]
        while fold < self.filled[1]:
            steps.add(fold)
            fold *= 2
        self.rotations = sorted(step * self.width for step in steps if step)
        self.swaps = False
        #: Vectors of the matrix in the clear, of so many numbers.
        self.vectors = self.down * self.groups * self.diagonals, self.period * self.width
        results = self.down * self.across
        folds = max(0, self.filled[1].bit_length() - self.filled[0].bit_length())
        self.work = MatrixWork(
            left=0,
            right=self.groups * self.across,
            results=results,
            hoisted=self.groups * self.across * (self.small - 1),
            rotations=results * (self.groups * (len(large) - 1) + folds),
            products=results * self.groups * self.diagonals,
            masks=0,
            relinearisations=0,
            held=self.groups * self.across * self.small + results,
        )

    @classmethod
    def all(cls, params: VectorParams, shape: MatrixShape) -> Iterator[ClearDiagonals]:
        """The layouts worth comparing: by how many diagonals share a large step."""
        small, found = 1, cls(params, shape, 1)
        while small <= found.diagonals:
            yield found
            small *= 2
            found = cls(params, shape, small)

    def left(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """The diagonals, each as many numbers as there are filled entries of a column."""
        tall, wide = self.filled
        places = np.arange(self.period)
        found = []
        for i in range(self.down):
            for q in range(self.groups):
                block = np.zeros(self.filled, dtype=values.dtype)
                part = values[
                    i * self.height : (i + 1) * self.height, q * self.inner : (q + 1) * self.inner
                ]
                block[: part.shape[0], : part.shape[1]] = part
                for diagonal in range(self.diagonals):
                    entries = block[places % tall, (places + diagonal) % wide]
                    # Before the large step that it shares.
                    back = diagonal - diagonal % self.small
                    found.append(np.repeat(np.roll(entries, back), self.width))
        return found

    def right(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """The encrypted matrix as it is encrypted."""
        wide, columns = self.filled[1], self.width * self.rows_of_slots
        filled = np.zeros((self.groups * wide, self.across * columns), dtype=values.dtype)
        for q in range(self.groups):
            part = values[q * self.inner : (q + 1) * self.inner]
            filled[q * wide : q * wide + len(part), : part.shape[1]] = part
        found = []
        for j in range(self.across):
            for q in range(self.groups):
                block = filled[q * wide : (q + 1) * wide, j * columns : (j + 1) * columns]
                rows = [half.reshape(-1) for half in np.split(block, self.rows_of_slots, axis=1)]
                copies = self.right_length // (self.rows_of_slots * rows[0].size)
                found.append(np.concatenate([np.tile(row, copies) for row in rows]))
        return found

    def product(
        self, left: list[Any], right: list[_native.Ciphertext], operations: MatrixOperations
    ) -> Iterator[_native.Ciphertext]:
        """The blocks of the product, column by column as those of the encrypted matrix come.

        Those of the matrix in the clear are encoded.
        """
        small = [step * self.width for step in range(self.small)]
        turned = [operations.turned(native, small) for native in right]
        for j in range(self.across):
            for i in range(self.down):
                parts = [
                    self._block(
                        left[(i * self.groups + q) * self.diagonals :][: self.diagonals],
                        turned[j * self.groups + q],
                        operations,
                    )
                    for q in range(self.groups)
                ]
                total = reduce(lambda one, other: one.add(other), parts).settled()
                yield operations.folded(
                    total, self.filled[1] * self.width, self.diagonals * self.width
                )

    def _block(
        self,
        diagonals: list[NDArray[Any]],
        turned: list[_native.Ciphertext],
        operations: MatrixOperations,
    ) -> _native.Ciphertext:
        parts = []
        for large in range(0, self.diagonals, self.small):
            total = operations.scaled(list(zip(diagonals[large:], turned, strict=False)))
            parts.append(operations.turned(total, [large * self.width])[0])
        return reduce(lambda one, other: one.add(other), parts)

    def matrix(self, vectors: list[NDArray[Any]]) -> NDArray[Any]:
        """The product from its decrypted vectors."""
        tall, columns = self.filled[0], self.width * self.rows_of_slots
        found = np.zeros((self.down * self.height, self.across * columns), dtype=vectors[0].dtype)
        for at, vector in enumerate(vectors):
            j, i = divmod(at, self.down)
            halves = [
                half.reshape(-1, self.width)[:tall] for half in np.split(vector, self.rows_of_slots)
            ]
            block = np.concatenate(halves, axis=1)[: self.height]
            found[i * self.height : (i + 1) * self.height, j * columns : (j + 1) * columns] = block
        return found[: self.shape.rows, : self.shape.columns]

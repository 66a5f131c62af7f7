"""Two matrices entry on entry in slots: one product of ciphertexts, and sums by rotations.

A row of `parts` pieces, each a grid of rows and columns of the result. In piece `p`, at row `i` and
column `j`, lie after a rotation by `t` the entries `A[i, l]` and `B[l, j]` with `l = p steps + (i +
j + t) mod steps`: the diagonals of Jiang, Kim, Lauter and Song 2018 (section 3), put there by
whoever encrypts, each row and column continued by `steps - 1` entries. So no mask is needed where
they rotate, and the product takes one level instead of three. Pieces are summed by rotations; with
one step and as many pieces as there are inner entries nothing rotates before the product. A left
matrix in the clear is laid out in the same way.

A piece that fills all slots that go round needs no rows that continue, and holds twice as much; its
columns, if they do not continue either, are put together from two rotations by masks (Jiang, Kim,
Lauter and Song's step 2), at a level.
"""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import _native
from hesc.vectors.numbers import encode_operand, period_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams

TOGETHER: Final = 64
"""Products that are summed before they are relinearised: what is summed is in memory at once."""


class MatrixShape(NamedTuple):
    """A product of `rows` by `inner` times `inner` by `columns`."""

    rows: int
    inner: int
    columns: int


class MatrixWork(NamedTuple):
    """What a product of matrices takes, counted."""

    left: int
    """Ciphertexts of the left matrix; none if it is in the clear."""
    right: int
    """Ciphertexts of the right one."""
    results: int
    """Ciphertexts of the product."""
    hoisted: int
    """Rotations that share the digits of what they rotate."""
    rotations: int
    """All others, exchanges of rows among them."""
    products: int
    """Products of ciphertexts, or of ciphertexts and plaintexts."""
    masks: int
    """Products with masks, beside these."""
    relinearisations: int
    held: int
    """Ciphertexts in memory at once: operands, what they are rotated to, and results."""


class MatrixOperations:
    """What products of matrices are made of, under somebody's keys.

    Args:
        params: the parameter set.
        relin: the key that sums of products need.
        galois: the keys that rotations need.

    """

    def __init__(
        self,
        params: VectorParams,
        relin: _native.RelinKey | None,
        galois: _native.GaloisKeys | None,
    ) -> None:
        self._params, self._relin, self._galois = params, relin, galois
        # Slots of a row, which rotate round.
        self._row = params.ring_degree // 2

    def turned(self, native: _native.Ciphertext, steps: list[int]) -> list[_native.Ciphertext]:
        """A ciphertext rotated by each of the steps, which share its digits."""
        if self._galois is None or not any(steps):
            return [native for _ in steps]
        return native.rotate_many(steps, self._galois)

    def swapped(self, native: _native.Ciphertext) -> _native.Ciphertext:
        """The two rows of BFV and BGV exchanged."""
        assert self._galois is not None  # noqa: S101 - layouts that need it say so
        return native.swap_or_conjugate(self._galois)

    def summed(
        self, pairs: list[tuple[_native.Ciphertext, _native.Ciphertext]]
    ) -> _native.Ciphertext:
        """The sum of products, `TOGETHER` of them relinearised at once."""
        chunks = [pairs[start : start + TOGETHER] for start in range(0, len(pairs), TOGETHER)]
        return reduce(lambda one, other: one.sum(other, False), map(self.relinearised, chunks))

    def relinearised(
        self, pairs: list[tuple[_native.Ciphertext, _native.Ciphertext]]
    ) -> _native.Ciphertext:
        """The sum of few products."""
        assert self._relin is not None  # noqa: S101 - layouts that need it say so
        return _native.sum_of_products([(a, b) for a, b in pairs], [], self._relin)

    def weighed(self, pairs: list[tuple[NDArray[Any], _native.Ciphertext]]) -> _native.Ciphertext:
        """The sum of products with numbers in the clear, CKKS's divided by a prime once."""
        return self.scaled(pairs).settled()

    def scaled(self, pairs: list[tuple[NDArray[Any], _native.Ciphertext]]) -> _native.Ciphertext:
        """The same sum before it is divided."""
        return reduce(lambda one, other: one.add(other), (self.product(*pair) for pair in pairs))

    def product(self, numbers: NDArray[Any], native: _native.Ciphertext) -> _native.Ciphertext:
        """One product with numbers in the clear."""
        scale, level = native.operand_scale, native.level
        plaintext = encode_operand(self._params, numbers, len(numbers), scale=scale, level=level)
        return native.multiply_plain(plaintext)

    def folded(self, native: _native.Ciphertext, period: int, onto: int) -> _native.Ciphertext:
        """The sum of all pieces of `onto` slots in a period, in each of them."""
        while period > onto:
            period //= 2
            whole = period >= self._row
            native = native.add(self.swapped(native) if whole else self.turned(native, [period])[0])
        return native


class BlankOperations(MatrixOperations):
    """The same on blanks: what is alike is computed once, since only its claims are looked at."""

    def __init__(self, params: VectorParams) -> None:
        super().__init__(params, *params.blank_keys([1]))
        self._known: dict[tuple[int, ...], _native.Ciphertext] = {}
        # Whoever is in a key by its address must not go.
        self._kept: list[object] = []

    def _once(
        self, key: tuple[int, ...], of: object, make: Callable[[], _native.Ciphertext]
    ) -> _native.Ciphertext:
        if key not in self._known:
            self._kept.append(of)
            self._known[key] = make()
        return self._known[key]

    def turned(self, native: _native.Ciphertext, steps: list[int]) -> list[_native.Ciphertext]:
        """The ciphertext for steps of none, one that was rotated once for all others."""
        turned = super().turned
        key = (id(native), 1)
        return [
            self._once(key, native, lambda: turned(native, [1])[0]) if step else native
            for step in steps
        ]

    def swapped(self, native: _native.Ciphertext) -> _native.Ciphertext:
        """A rotation in the place of the exchange of rows: its claims are the same."""
        return self.turned(native, [1])[0]

    def relinearised(
        self, pairs: list[tuple[_native.Ciphertext, _native.Ciphertext]]
    ) -> _native.Ciphertext:
        """The sum of few products."""
        relinearised = super().relinearised
        key = tuple(id(native) for pair in pairs for native in pair)
        return self._once(key, pairs, lambda: relinearised(pairs))

    def product(self, numbers: NDArray[Any], native: _native.Ciphertext) -> _native.Ciphertext:
        """One product with numbers in the clear."""
        product = super().product
        key = (id(native), id(numbers), 0)
        return self._once(key, (numbers, native), lambda: product(numbers, native))


class MatrixGrids:
    """The layout of products of two matrices, the left one encrypted or not.

    Args:
        shape: of the product.
        block: rows and columns of the result in one ciphertext.
        parts: pieces side by side, a power of two.
        steps: diagonals of each piece.
        row: slots of a row.
        plain: whether the left matrix is in the clear; for one step.
        round_width: columns of pieces whose rows and columns go round, a power of two and at least
            `steps`; None where rows and columns continue.

    """

    def __init__(
        self,
        shape: MatrixShape,
        block: tuple[int, int],
        parts: int,
        steps: int,
        row: int,
        *,
        plain: bool,
        round_width: int | None = None,
    ) -> None:
        self.plain = plain
        self.shape, self.block, self.parts, self.steps = shape, block, parts, steps
        self.height, self.width = (side + steps - 1 for side in block)
        #: Whether columns that go round are put together by masks.
        self.masked = round_width is not None and round_width < self.width
        if round_width is not None:
            self.height, self.width = period_of(max(block[0], steps)), round_width
        self.piece = period_of(self.height * self.width)
        self.groups = -(-shape.inner // (parts * steps))
        self.down, self.across = -(-shape.rows // block[0]), -(-shape.columns // block[1])
        self.lengths = (parts * self.piece, parts * self.piece)
        #: Vectors of the left matrix, of so many numbers, encrypted or not.
        self.vectors = self.down * self.groups, parts * self.piece
        self.result_length = self.piece
        #: An operand has copies that a product has not: none is that of another product.
        self.right_layout: tuple[int, ...] | None = None
        self.result_layout = (shape.rows, shape.columns, *block, self.height, self.width)
        ahead = list(range(1, steps))
        #: Rotations of the left matrix: those back follow those ahead.
        self._left = ahead + [turn - steps for turn in ahead] * self.masked
        self._right = [turn * self.width for turn in range(steps)]
        folds = [self.piece << bit for bit in range((parts - 1).bit_length())]
        self.rotations = sorted(
            {*self._left, *self._right[1:], *(fold for fold in folds if fold < row)}
        )
        self.swaps = any(fold >= row for fold in folds)
        results = self.down * self.across
        chunks = -(-self.groups * steps // TOGETHER)
        self.work = MatrixWork(
            left=0 if plain else self.vectors[0],
            right=self.groups * self.across,
            results=results,
            hoisted=self.groups * (self.down * len(self._left) + self.across * (steps - 1)),
            rotations=results * len(folds),
            products=results * self.groups * steps,
            masks=self.down * self.groups * len(self._left) * self.masked,
            relinearisations=0 if plain else results * chunks,
            held=self.groups * (self.across + (0 if plain else self.down)) * steps + results,
        )

    @classmethod
    def all(cls, shape: MatrixShape, row: int, slots: int, *, plain: bool) -> Iterator[MatrixGrids]:
        """The layouts worth comparing: pieces and steps by powers of two, blocks of each height."""
        most = 1 << (shape.inner - 1).bit_length()
        for parts in _powers(min(slots, most)):
            # Pieces that fill both rows are exchanged with them, and those of one row rotate.
            piece = row if parts == 1 else slots // parts
            for steps in [1] if plain else _powers(min(shape.inner, most // parts, piece)):
                for down in sorted({*_powers(shape.rows), shape.rows}):
                    height = -(-shape.rows // down)
                    widest = piece // (height + steps - 1) - steps + 1
                    if widest >= 1:
                        across = -(-shape.columns // min(widest, shape.columns))
                        block = height, -(-shape.columns // across)
                        yield cls(shape, block, parts, steps, row, plain=plain)
        if not plain:
            yield from cls._round(shape, row, slots)

    @classmethod
    def _round(cls, shape: MatrixShape, row: int, slots: int) -> Iterator[MatrixGrids]:
        """Layouts whose pieces go round: one in each row of slots, with masks or without."""
        for parts, steps in product(_powers(slots // row), _powers(shape.inner)[1:]):
            for down in sorted({*_powers(shape.rows), shape.rows}):
                height = -(-shape.rows // down)
                widest = row // period_of(max(height, steps))
                for most in (widest, widest - steps + 1):
                    if widest < steps or most < 1:
                        continue
                    across = -(-shape.columns // min(most, shape.columns))
                    block = height, -(-shape.columns // across)
                    needed = max(block[1] + (widest - most), steps)
                    width = widest if parts > 1 else period_of(needed)
                    yield cls(shape, block, parts, steps, row, plain=False, round_width=width)

    def left(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """The left matrix as it is encrypted, a vector for each ciphertext."""
        rows = np.arange(self.height)[:, np.newaxis]
        return [
            self._laid(values, group, block * self.block[0] + rows, rows < self.block[0])
            for block in range(self.down)
            for group in range(self.groups)
        ]

    def right(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """The right matrix."""
        columns = np.arange(self.width)
        return [
            self._laid(values.T, group, block * self.block[1] + columns, columns < self.block[1])
            for block in range(self.across)
            for group in range(self.groups)
        ]

    def _laid(
        self,
        values: NDArray[Any],
        group: int,
        outer: NDArray[Any],
        inside: NDArray[Any],
    ) -> NDArray[Any]:
        """Entries at `outer` and the inner index of each slot, zeros where there are none."""
        pieces = np.arange(self.parts)[:, np.newaxis, np.newaxis] + group * self.parts
        diagonal = np.add.outer(np.arange(self.height), np.arange(self.width)) % self.steps
        inner = pieces * self.steps + diagonal
        there = inside & (outer < values.shape[0]) & (inner < values.shape[1])
        # A continued row has entries of its own matrix only, and is as long as the grid.
        found = values[
            np.minimum(outer, values.shape[0] - 1), np.minimum(inner, values.shape[1] - 1)
        ]
        laid = np.zeros((self.parts, self.piece), dtype=values.dtype)
        laid[:, : self.height * self.width] = np.where(there, found, found.dtype.type(0)).reshape(
            self.parts, -1
        )
        return laid.reshape(-1)

    def product(
        self, left: list[Any], right: list[_native.Ciphertext], operations: MatrixOperations
    ) -> Iterator[_native.Ciphertext]:
        """The blocks of the product, row by row; of vectors in the clear or of ciphertexts."""
        a = [[vector] if self.plain else self._turned(vector, operations) for vector in left]
        b = [operations.turned(native, self._right) for native in right]
        for i in range(self.down):
            for j in range(self.across):
                pairs = [
                    pair
                    for group in range(self.groups)
                    for pair in zip(
                        a[i * self.groups + group], b[j * self.groups + group], strict=True
                    )
                ]
                total = operations.weighed(pairs) if self.plain else operations.summed(pairs)
                yield operations.folded(total, self.lengths[0], self.piece)

    def _turned(
        self, native: _native.Ciphertext, operations: MatrixOperations
    ) -> list[_native.Ciphertext]:
        """A left vector with its columns moved on by each number of steps."""
        moved = operations.turned(native, [0, *self._left])
        if not self.masked:
            return moved
        ahead, back = moved[1 : self.steps], moved[self.steps :]
        columns = np.tile(np.arange(self.width), self.lengths[0] // self.width)
        found = [native]
        for turn, pair in enumerate(zip(ahead, back, strict=True), 1):
            inside = (columns < self.width - turn).astype(np.int64)
            found.append(operations.weighed([(inside, pair[0]), (1 - inside, pair[1])]))
        return found

    def matrix(self, vectors: list[NDArray[Any]]) -> NDArray[Any]:
        """The product from its decrypted vectors."""
        found = np.zeros((self.shape.rows, self.shape.columns), dtype=vectors[0].dtype)
        height, width = self.block
        for at, vector in enumerate(vectors):
            i, j = divmod(at, self.across)
            grid = vector[: self.height * self.width].reshape(self.height, self.width)
            target = found[i * height : (i + 1) * height, j * width : (j + 1) * width]
            target[:] = grid[: target.shape[0], : target.shape[1]]
        return found


def _powers(most: int) -> list[int]:
    """Powers of two from 1 to `most`."""
    return [1 << bit for bit in range(most.bit_length())]

"""Plans of searches, their parties and drawn vectors: what studies of search share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc import _native

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SIGNS: Final = bytes(range(32))
BITS: Final = 6
SQUARE: Final = 80
"""The declared square of a vector's length, for each dimension."""
LENGTH: Final = 0.97
"""The drawn square of a vector's length over the declared one: rounding adds some."""
CHUNK: Final = 1 << 15
"""Records that are drawn at once."""


class Case(NamedTuple):
    """What a plan is made of."""

    name: str
    dimensions: int
    codes: bool
    """Signs, or numbers of six bits."""
    expanded: bool
    """Whether the server has keys, and queries are short."""
    shared: int = 1
    """Blocks that share a second part."""

    def words(self) -> list[str]:
        """What `read` makes it of again."""
        return [self.name, *(str(int(value)) for value in self[1:])]

    @classmethod
    def read(cls, words: Sequence[str]) -> Case:
        """The case of its words."""
        name, *numbers = words
        dimensions, codes, expanded, shared = map(int, numbers)
        return cls(name, dimensions, bool(codes), bool(expanded), shared)

    def plan(self, records: int) -> _native.SearchPlan:
        """The plan for so many records."""
        square = SQUARE * self.dimensions
        entries = None if self.codes else (BITS, BITS, square, square)
        return _native.SearchPlan(
            self.dimensions, entries, records, self.expanded, self.shared, SIGNS
        )

    def vectors(self, count: int, rng: np.random.Generator) -> NDArray[np.int8]:
        """Vectors nearly as long as the plan allows: where noise is largest."""
        shape = (count, self.dimensions)
        if self.codes:
            return 2 * rng.integers(0, 2, shape, dtype=np.int8) - 1
        rows = rng.standard_normal(shape, dtype=np.float32)
        square = SQUARE * self.dimensions
        rows *= np.float32((LENGTH * square) ** 0.5) / np.linalg.norm(rows, axis=1, keepdims=True)
        whole = np.clip(np.rint(rows), -31, 31)
        # What rounding made too long, few entries do, is rounded to zero.
        long = np.square(whole).sum(axis=1, keepdims=True) > square
        return np.where(long, np.trunc(rows), whole).astype(np.int8)

    def chunks(self, count: int, seed: int = 1) -> Iterator[NDArray[np.int8]]:
        """So many vectors, some at a time."""
        rng = np.random.default_rng(seed)
        for start in range(0, count, CHUNK):
            yield self.vectors(min(CHUNK, count - start), rng)


DENSE: Final = Case("128x6", 128, codes=False, expanded=True, shared=4)
CODES: Final = Case("codes512_keyless", 512, codes=True, expanded=False)


class Party:
    """A client, and the keys that the server has of it."""

    def __init__(self, plan: _native.SearchPlan) -> None:
        self.plan = plan
        self.secret, _ = _native.VectorSecretKey.generate(plan.params)
        self.shared = _native.SearchSecrets(plan, self.secret)
        self.keys: _native.SearchKeys | None = None
        if plan.expanded:
            data = _native.search_keys(plan, self.secret, self.shared)
            self.keys = _native.SearchKeys(plan, data)

    def asks(self, vector: NDArray[np.int8]) -> tuple[bytes, _native.SearchKeys | None]:
        """A query, beside the keys."""
        return _native.encrypt_vector(self.plan, self.secret, vector.astype(np.int16)), self.keys

    def reads(self, answer: bytes) -> NDArray[np.int64]:
        """All scores."""
        return _native.decrypt_search(self.plan, self.secret, self.shared, answer)

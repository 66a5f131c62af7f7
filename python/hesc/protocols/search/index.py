"""The records of a search as its server has them, in memory or in a file that is mapped there."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Never, Self

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ParameterError, ShapeError, WireError
from hesc._support.inputs import of_kind, real_array, whole
from hesc._support.memory import make_room
from hesc._support.new_files import new_files, path_of
from hesc._support.progress import Bar
from hesc.models.tables import forms
from hesc.protocols.search.plan import SearchPlan

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from numpy.typing import NDArray

    from hesc.models.tables.forms import Samples

_HEAD: Final = struct.Struct("<8s32xQ8x")
"""The mark of an index's file and its number of blocks, as `search/file.rs` writes them."""
_DIGEST: Final = 16
"""Bytes of a block's digest, and of the head's own."""
_CELLS: Final = 1 << 23
"""Features of records that are rounded and packed at a time."""


class Index:
    """Records that encrypted queries are compared with. Not pickled or copied.

    Any threads may ask its servers while one changes records: each answer is of the records of one
    moment.

    Args:
        plan: what both sides agreed upon.
        vectors: a row of features for each record, such as an array that is mapped from a file;
            they are read in pieces. None begins without records.
        progress: a bar, or what is called with the records that are packed and all.

    Raises:
        MemoryError: there is not enough for so many records. Nothing was allocated.
        OutOfRangeError, ShapeError: as `append`.

    >>> import numpy as np
    >>> from hesc.search import Index, SearchClient, SearchPlan, SearchServer
    >>> vectors = np.random.default_rng(0).normal(size=(500, 16))
    >>> index = Index(SearchPlan.of_vectors(vectors, records="public", keys=True), vectors)
    >>> client = SearchClient(index.plan)
    >>> server = SearchServer.of(index, keys=client.public_keys())
    >>> query = client.encrypt(vectors[[123]]).data
    >>> found = client.decrypt(server.answer(query), query=query)
    >>> found.best(1).indices.tolist()
    [[123]]

    """

    def __init__(
        self,
        plan: SearchPlan,
        vectors: Samples | None = None,
        *,
        progress: bool | Callable[[int, int], object] = False,
    ) -> None:
        self.plan = of_kind(plan, "plan", SearchPlan, "SearchPlan.of_vectors makes one")
        """What both sides agreed upon."""
        empty = np.empty(0, dtype=np.uint64)
        # Put in place at once, so that no reader and no interrupt finds half of a change.
        self._held = _Held(_native.SearchIndex(plan.native), empty)
        self._changing = Lock()
        self._is_part = False
        if vectors is not None:
            self.append(vectors, progress=progress)

    @classmethod
    def open(
        cls, plan: SearchPlan, path: str | PathLike[str], *, part: tuple[int, int] = (0, 1)
    ) -> Self:
        """Records in a file that `save` wrote, where they lie: they are read as they are needed.

        The file is checked whole, once. **Nobody may change it while it is open.** The first change
        of a record copies all of them into memory.

        Args:
            plan: that of the file.
            path: the file.
            part: which part of the records, from 0 on, and of how many: about equally many blocks,
                which alone are read and checked. What parts answer `joined` makes one answer. The
                records of a part of several are not changed.

        Raises:
            WireError: a file that is damaged, cut off, or none of an index.
            ParameterError: another plan's; more parts than there are blocks of records.
            OSError: there is none, or it may not be read.

        """
        which, of = _part(part)
        made = cls(plan)
        file = path_of(path)
        if not file.is_file():
            raise FileNotFoundError(2, "there is no such file", str(file))
        if not file.stat().st_size:
            raise WireError(f"{file} is empty: it is no index; get it again")
        data = np.memmap(file, np.uint8, "r")
        try:
            opened = _native.SearchFile(plan.native, data, (which, of))
        except WireError as error:
            raise WireError(f"{file}: {error}") from error
        squares = opened.squares()
        if len(squares) and int(squares.max()) > plan.most_square:
            raise WireError(f"{file} has records that are longer than the plan declares")
        made._held = _Held(opened, squares if plan.squares is not None else squares[:0])
        made._is_part = of > 1
        return made

    def __len__(self) -> int:
        return self._held.records

    @property
    def is_mapped(self) -> bool:
        """Whether the records are in a file that is mapped, and none of them was changed."""
        return isinstance(self._held.native, _native.SearchFile)

    @property
    def memory(self) -> int:
        """Bytes of the packed records, in memory or in the file: whole blocks of them."""
        return self.plan.native.index_sizes(len(self))[1]

    def __repr__(self) -> str:
        return f"<hesc.search.Index: {len(self)} records, {self.memory} bytes>"

    def __reduce__(self) -> Never:
        raise TypeError("an Index is not pickled or copied; save it to a file")

    def append(
        self, vectors: Samples, *, progress: bool | Callable[[int, int], object] = False
    ) -> None:
        """Adds records behind those that are there.

        Args:
            vectors: a row of features for each.
            progress: a bar, or what is called with the records that are packed and all.

        Cost: a transform for each feature of each `plan.native.block` records.

        Raises:
            OutOfRangeError: more than the plan declares, longer than it declares, zeros that have
                no cosine, what is no number. **Pieces before the one that is refused stay.**
            ShapeError: rows of another length.
            MemoryError: there is not enough for them; nothing was added.

        """
        shape = getattr(vectors, "shape", None)
        if shape is None:
            vectors = real_array(vectors, "records")  # type: ignore[arg-type]  # no table
            shape = vectors.shape
        rows: Any = vectors
        count = int(shape[0]) if len(shape) == 2 else 0
        if not count:
            raise ShapeError(
                f"records are rows of {self.plan.inputs} features; got the shape {tuple(shape)}"
            )
        before, block = len(self), self.plan.native.block
        self._check_room(before + count)
        memory = self.plan.native.index_sizes(before + count)[1]
        make_room(memory - self.memory, f"{count:,} records")
        each = block * max(1, _CELLS // (self.plan.dimensions * block))
        # From the second piece on they are whole blocks.
        starts = [0, *range(min(count, each - before % block), count, each)]
        with Bar("records packed", progress) as bar:
            for start, end in zip(starts, [*starts[1:], count], strict=True):
                piece = rows.iloc[start:end] if hasattr(rows, "iloc") else rows[start:end]
                self._add(piece, start)
                bar.show(end, count)

    def append_entries(self, entries: NDArray[np.int16]) -> None:
        """Adds records that are whole numbers already, as `plan.records_of` makes them.

        Raises:
            OutOfRangeError: more than the plan declares, or longer than it declares.
            ShapeError: rows of another length.

        """
        of_kind(entries, "entries", np.ndarray, "plan.records_of makes them")
        width = self.plan.dimensions
        shaped = entries.ndim == 2 and entries.shape[1] == width and len(entries) > 0
        if not shaped or entries.dtype != np.int16:
            raise ShapeError(
                f"records are rows of {width} whole numbers of 16 bits, as plan.records_of makes "
                f"them; got the shape {entries.shape} of {entries.dtype}"
            )
        squares = self._squares_of(entries)
        with self._changing:
            self._check_room(len(self) + len(entries))
            native = self._branch()
            native.append(np.ascontiguousarray(entries).ravel())
            self._held = _Held(native, np.concatenate([self._held.squares, squares]))

    def _add(self, piece: Any, place: int) -> None:
        """Records of a piece, whose first has this place among those that are given."""
        try:
            self.append_entries(self.plan.records_of(piece))
        except (OutOfRangeError, ShapeError) as error:
            if not place:
                raise
            raise type(error)(f"{error} (records counted from {place})") from error

    def replace(self, record: int, vector: Samples) -> None:
        """Puts another vector in the place of a record. Cost: two transforms for each feature.

        Raises:
            OutOfRangeError, ShapeError: no such record; a vector that the plan does not declare.

        """
        row: Any = vector
        if not forms.is_table(vector):
            row = real_array(vector, "a record")  # type: ignore[arg-type]  # no table
            if row.shape not in {(self.plan.inputs,), (1, self.plan.inputs)}:
                raise ShapeError(
                    f"a record has {self.plan.inputs} features; got the shape {row.shape}"
                )
            row = row.reshape(1, -1)
        entries = self.plan.records_of(row)
        if len(entries) != 1:
            raise ShapeError(f"a record is one row; got {len(entries)}")
        more = self._squares_of(entries)
        with self._changing:
            place = self._place(record)
            native, squares = self._branch(), self._held.squares.copy()
            native.replace(place, entries[0])
            squares[place : place + 1] = more
            self._held = _Held(native, squares)

    def remove(self, record: int) -> None:
        """Removes a record: **the last one takes its place**, and all others keep theirs.

        Raises:
            OutOfRangeError: no such record.

        """
        with self._changing:
            place = self._place(record)
            native, squares = self._branch(), self._held.squares.copy()
            native.remove(place)
            if len(squares):
                squares[place] = squares[-1]
            self._held = _Held(native, squares[:-1])

    def vector(self, record: int) -> NDArray[np.float64]:
        """A record as it is compared: rounded, after the transforms. Cost: a transform a feature.

        Raises:
            OutOfRangeError: no such record.

        """
        place, native = self._place(record), self._held.native
        if isinstance(native, _native.SearchFile):
            raise ParameterError("records of a file are read by who wrote it; change one first")
        entries = native.vector(place).astype(np.float64)
        if self.plan.metric == "hamming":
            return (1 - entries) / 2
        return entries * self.plan.step

    def save(self, path: str | PathLike[str]) -> Path:
        """Writes a new file **with the records**, which `open` maps: whole or not at all.

        Raises:
            OSError: something of that name is there, or the disk is full.

        """
        native = self._held.native
        if isinstance(native, _native.SearchFile):
            raise ParameterError("these records are in a file already; copy the file")
        with new_files(path_of(path)) as parts:
            native.save(Path(parts[0]))
        return Path(path)

    def answers(
        self, queries: list[tuple[bytes, _native.SearchKeys | None]]
    ) -> tuple[list[bytes], NDArray[np.uint64]]:
        """Encrypted scores for queries, and the records' sums of squares at that moment.

        Raises:
            WireError, ParameterError, KeyMismatchError: damaged bytes, a query for another plan or
                under another key.
            ShapeError: there is no record.

        """
        held = self._held
        return held.native.answer(queries), held.squares

    def _branch(self) -> _native.SearchIndex:
        """The records for who changes them: in memory, and of nobody who answers from them now."""
        native = self._held.native
        if self._is_part:
            raise ParameterError("a part of an index is not changed: open all of it, part=(0, 1)")
        if isinstance(native, _native.SearchFile):
            make_room(self.memory, f"{len(self):,} records of a file that is changed")
            return native.to_index()
        return native.branch()

    def _squares_of(self, entries: NDArray[np.int16]) -> NDArray[np.uint64]:
        if self.plan.squares is None:
            return self._held.squares[:0]
        wide = entries.astype(np.int64)
        return np.asarray(np.square(wide).sum(axis=1), dtype=np.uint64)

    def _check_room(self, records: int) -> None:
        if records > self.plan.most_records:
            raise OutOfRangeError(
                f"{records} records, and the plan declares {self.plan.most_records}; plan for more "
                f"by most_records="
            )

    def _place(self, record: int) -> int:
        if not len(self):
            raise OutOfRangeError("the index has no record; append some")
        return whole(record, "record", 0, len(self) - 1)


def records_digest(path: str | PathLike[str]) -> str:
    """SHA-256 of the head of an index's file, which has the digests of all blocks of its records.

    Blocks are not read: `Index.open` holds them against their digests.

    Raises:
        WireError: no index.
        OSError: it may not be read.

    """
    file = path_of(path)
    with file.open("rb") as data:
        begin = data.read(_HEAD.size)
        magic, blocks = _HEAD.unpack(begin) if len(begin) == _HEAD.size else (b"", 0)
        length = _DIGEST * (blocks + 1)
        if magic != b"HESCINDX" or _HEAD.size + length > file.stat().st_size:
            raise WireError(f"{file} is no index of a search, or cut off; get it again")
        return hashlib.sha256(begin + data.read(length)).hexdigest()


def joined(plan: SearchPlan, answers: list[tuple[bytes, ...]]) -> list[bytes]:
    """The parts of the answer of a whole index, of those of the answers of its parts.

    Args:
        plan: of the search.
        answers: what each part of the index answered to one query, in their order: of each sample a
            part, and where distances are told the records' sums of squares behind them.

    Raises:
        WireError: answers of other numbers of samples, or in another order.
        KeyMismatchError: answers under several keys.

    """
    if len({len(parts) for parts in answers}) != 1:
        raise WireError("the parts of an index answer one query, and these are of several")
    *scores, last = zip(*answers, strict=True)
    if plan.squares is None:
        scores.append(last)
    found = [_native.join_search_answers(plan.native, list(each)) for each in scores]
    return found if plan.squares is None else [*found, b"".join(last)]


def _part(part: object) -> tuple[int, int]:
    if not isinstance(part, tuple) or len(part) != 2:
        raise ParameterError("part= is two numbers: which part, from 0 on, and of how many")
    of = whole(part[1], "parts", 1, 1 << 32)
    return whole(part[0], "part", 0, of - 1), of


class _Held(NamedTuple):
    """The records of one moment."""

    native: _native.SearchIndex | _native.SearchFile
    squares: NDArray[np.uint64]
    """Sums of squares of the records, where Euclidean distances are told."""

    @property
    def records(self) -> int:
        """How many there are."""
        native = self.native
        return native.records if isinstance(native, _native.SearchFile) else native.size[0]

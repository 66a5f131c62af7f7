"""Tables of Parquet in pieces: a file's rows a few at a time, and results that are put together."""

from __future__ import annotations

import hashlib
import json
import re
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import HescError
from hesc._support.inputs import whole
from hesc._support.new_files import for_owner, new_file, sha256_of
from hesc._support.partial_folder import PartialFolder
from hesc.batch.table_step import ANSWER, QUERY, arrow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

_PART: Final = re.compile(r"part-([0-9]{8})-([0-9a-f]{64})\.parquet")
_UNFINISHED: Final = re.compile(
    r"next\.parquet|\.[0-9a-f]{16}\.part\.parquet|\.state\.json\.[0-9a-f]{16}"
)
"""What a run that was killed may leave."""


class RowPiece(NamedTuple):
    """Some rows of a table."""

    number: int
    """Which piece, from 0 on."""
    first: int
    """Rows before its own."""
    table: Any
    """The rows, a table of Arrow."""


class ParquetPieces:
    """The rows of a Parquet file, in pieces that are the same in every run.

    Args:
        path: the file.
        rows: of a piece, at most; pieces end where row groups do.

    Raises:
        HescError: no such file, or a damaged one.
        ImportError: pyarrow is missing.

    """

    def __init__(self, path: Path, rows: int) -> None:
        self._path, self._rows = path, whole(rows, "rows", 1, 1 << 31)
        with self._opened() as file:
            meta = file.metadata
            self._groups = [meta.row_group(at).num_rows for at in range(meta.num_row_groups)]
        self.rows = sum(self._groups)
        """Rows of all pieces."""
        if not self.rows:
            raise HescError(f"{path}: it has no row")

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        pa = arrow()
        from pyarrow import parquet

        if not self._path.is_file():
            raise HescError(
                f"{self._path} is no file: rows are read several times, a pipe will not do"
            )
        try:
            # Without the buffer a whole column of a row group would be in memory.
            with parquet.ParquetFile(self._path, buffer_size=1 << 20, pre_buffer=False) as file:
                yield file
        except (pa.ArrowException, OSError) as error:
            raise HescError(f"{self._path} is no table of Parquet, or damaged") from error

    @property
    def digest(self) -> str:
        """SHA-256 of the file. Cost: a pass over it."""
        return sha256_of(self._path)

    @property
    def seen(self) -> tuple[int, ...]:
        """What changes where the file does."""
        found = self._path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns

    def pieces(self, done: Collection[int]) -> Iterator[RowPiece]:
        """All pieces but some, in their order.

        Args:
            done: numbers of those that are not read.

        Raises:
            HescError: the file is damaged.

        """
        number = first = 0
        with self._opened() as file:
            for group, count in enumerate(self._groups):
                numbers = range(number, number + -(-count // self._rows))
                if not all(each in done for each in numbers):
                    for piece in self._of_group(file, group, number, first):
                        if piece.number not in done:
                            yield piece
                number, first = number + len(numbers), first + count

    def _of_group(self, file: Any, group: int, number: int, first: int) -> Iterator[RowPiece]:
        pa = arrow()
        waiting: list[Any] = []
        held = 0
        for batch in file.iter_batches(batch_size=self._rows, row_groups=[group]):
            waiting.append(batch)
            held += batch.num_rows
            while held >= self._rows:
                table = pa.Table.from_batches(waiting)
                yield RowPiece(number, first, table.slice(0, self._rows))
                number, first, held = number + 1, first + self._rows, held - self._rows
                waiting = table.slice(self._rows).to_batches() if held else []
        if held:
            yield RowPiece(number, first, pa.Table.from_batches(waiting))


class PartialParts(PartialFolder):
    """Results of pieces so far: a file for each, whose name has its number and a digest.

    The digest is of what the result is made of, the number and the bytes: the part of another run,
    or of another piece, is not taken.

    Arguments and errors are those of `PartialFolder`.
    """

    def __init__(self, out: Path, belongs: dict[str, Any]) -> None:
        super().__init__(out, belongs)
        self.done: dict[int, Path] = {}
        """Files of the pieces that are done, by their numbers."""
        self.rows = 0
        """Rows of their results."""

    def begin(self, state: dict[str, Any] | None) -> None:
        """Takes up the files that are whole; others of this module's go.

        Raises:
            HescError: something is there that nobody here put there.

        """
        super().begin(state)
        from pyarrow import parquet

        for path in sorted(self.folder.iterdir()):
            name = _PART.fullmatch(path.name)
            if path.name == "state.json":
                continue
            if not (name or _UNFINISHED.fullmatch(path.name)) or path.is_dir():
                raise HescError(
                    f"{path} is not of this run: move it away, or remove {self.folder} to begin "
                    f"anew"
                )
            number = int(name[1]) if name else -1
            # What is no file may keep whoever opens it waiting.
            whole_one = name and stat.S_ISREG(path.lstat().st_mode)
            if not whole_one or self._digest(number, path) != (name and name[2]):
                path.unlink()
                continue
            self.done[number] = path
            self.rows += parquet.read_metadata(path).num_rows

    def _digest(self, number: int, path: Path) -> str:
        found = hashlib.sha256(json.dumps([self._belongs, number], sort_keys=True).encode())
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
        return found.hexdigest()

    def keep(self, number: int, table: Any) -> None:
        """Keeps the result of a piece; on the disk when this returns.

        Raises:
            OSError: the disk is full.

        """
        made = self.folder / "next.parquet"
        with suppress(FileNotFoundError):
            made.unlink()
        with new_file(made) as part:
            _write(part, [table])
            path = self.folder / f"part-{number:08}-{self._digest(number, part)}.parquet"
        made.rename(path)
        self.done[number] = path
        self.rows += table.num_rows

    def finish(self) -> None:
        """Puts the results together in a file of the wanted name; what lay beside it goes.

        Raises:
            HescError: results of several kinds of columns.
            OSError: something of that name is there, or the disk is full.

        """
        from pyarrow import parquet

        def tables() -> Iterator[Any]:
            for _, path in sorted(self.done.items()):
                with parquet.ParquetFile(path) as file:
                    for group in range(file.num_row_groups):
                        yield file.read_row_group(group)

        with new_file(self.out) as part:
            _write(part, tables())
        self.remove()


def _write(part: Path, tables: Any) -> None:
    """Tables into a new file of Parquet for its owner alone, a row group for each."""
    from pyarrow import parquet

    writer: Any = None
    with open(part, "xb", opener=for_owner) as file:
        try:
            for table in tables:
                if writer is None:
                    # What is encrypted is as long compressed as it is.
                    plain = [name for name in table.column_names if name not in {QUERY, ANSWER}]
                    codecs = dict.fromkeys(table.column_names, "NONE")
                    codecs |= dict.fromkeys(plain, "ZSTD")
                    writer = parquet.ParquetWriter(
                        file,
                        table.schema,
                        compression=codecs,
                        use_dictionary=plain,
                        write_statistics=plain,
                    )
                if table.schema != writer.schema:
                    raise HescError(
                        f"pieces have several kinds of columns, {writer.schema.names[:8]} and "
                        f"{table.schema.names[:8]} among them, or of several types"
                    )
                if table.num_rows:
                    writer.write_table(table, row_group_size=table.num_rows)
        finally:
            if writer is not None:
                writer.close()

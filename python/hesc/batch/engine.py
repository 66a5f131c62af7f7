"""Tables through callables, over processes of one machine or a cluster, resumed where it was ended.

This process reads pieces, gives each to a worker, and keeps what comes back: a file for each piece,
in a folder beside the result, until all are there. So workers need neither the rows' file nor the
result's, what is counted is counted here, before a result is kept, and a killed run goes on from
the pieces that are whole. No more pieces are in memory than are under way.
"""

from __future__ import annotations

import os
import pickle
import signal
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection, get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from hesc._native import HescError, ParameterError
from hesc._support.inputs import whole
from hesc._support.progress import Bar
from hesc.batch.on_ray import hesc_error, joined_cluster
from hesc.batch.parquet_pieces import PartialParts
from hesc.batch.step_files import check_same, named
from hesc.batch.table_step import TableStep, counted_from

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from hesc.batch.parquet_pieces import RowPiece

_DEATHS: Final = 3
"""Times that a piece is tried again after its worker's process ended."""


class Pieces(Protocol):
    """What is worked on, in pieces that are the same in every run."""

    rows: int
    """Rows of all pieces."""

    def pieces(self, done: Collection[int]) -> Iterator[RowPiece]:
        """All pieces but those of some numbers."""


class Work(NamedTuple):
    """What workers do with a table: steps, one after the other.

    A step is a class of callables from tables of Arrow to such tables, as `TableStep`, that can be
    imported, and its arguments by name: paths, numbers and words, never a key.
    """

    steps: tuple[tuple[Callable[..., Callable[[Any], Any]], dict[str, Any]], ...]

    def made_of(self) -> list[dict[str, Any]]:
        """Names and arguments of the steps: of files and folders what is in them.

        Raises:
            OSError, WireError: a file that may not be read, or is no index.

        """
        found = []
        for make, options in self.steps:
            # Of others nobody knows which arguments are paths.
            own = isinstance(make, type) and issubclass(make, TableStep)
            name = make.__name__
            found.append(named(name, options) if own else {"step": name, **options})
        return found

    def begun(self) -> bytes:
        """The work as workers are given it: with what it is made of, which they compare.

        So work with other files at the same paths is other work, for a worker that has either.
        """
        return pickle.dumps((self, self.made_of()))

    def made(self) -> Callable[[Any], Any]:
        """The steps, made in this process.

        Raises:
            HescError, OSError: as their constructors.

        """
        steps = [make(**options) for make, options in self.steps]

        def all_of(table: Any) -> Any:
            for step in steps:
                table = step(table)
            return table

        return all_of


class Counting(Protocol):
    """What this process does before a piece is worked on, and before its result is kept."""

    def before(self, table: Any) -> Any:
        """The table that a worker is given."""

    def after(self, table: Any) -> Any:
        """What is kept of a worker's result."""


class BatchRun(NamedTuple):
    """What a run did."""

    rows: int
    """Rows of the result."""
    pieces: int
    resumed: int
    """Pieces that an earlier run had done."""
    seconds: float


def run(
    work: Work,
    source: Pieces,
    out: Path,
    *,
    belongs: dict[str, Any],
    workers: int | None = None,
    ray: str | None = None,
    counting: Counting | None = None,
    unchanged: Callable[[], bool] = lambda: True,
    progress: bool | Callable[[int, int], object] = False,
) -> BatchRun:
    """Works on all pieces that are not done, and writes the table of all results.

    Args:
        work: what is done with a piece.
        source: the pieces.
        out: the result, a new file of Parquet, which is there whole or not at all.
        belongs: what the result is made of, as JSON has it: digests of rows and keys, and wishes.
            A run that was ended is gone on with where it is the same.
        workers: pieces under way at once; of processes by default one for each processor, in a
            cluster two for each.
        ray: the address of a cluster of Ray, `auto` for the one that runs here; processes of this
            machine without it.
        counting: what is counted in this process.
        unchanged: whether what is worked on is still what `belongs` says, asked at the end.
        progress: a bar, or what is called with the rows that are done and all.

    Raises:
        HescError: a row that is refused, named by its number; workers that cannot be made, or whose
            processes end again and again; another run's folder. What is done so far is kept.
        OSError: the result cannot be written.

    """
    start = time.perf_counter()
    most = None if workers is None else whole(workers, "workers", 1, 1 << 16)
    with PartialParts(out, belongs) as parts, Bar("rows", progress) as bar:
        resumed, done = len(parts.done), 0
        todo = source.pieces(frozenset(parts.done))
        with _pool(work.begun(), most, ray) as pool:
            for piece, table in _results(pool, todo, counting):
                kept = table if counting is None else counting.after(table)
                parts.keep(piece.number, kept)
                done += piece.table.num_rows
                bar.show(done, source.rows)
        if not unchanged():
            raise HescError(
                f"what is worked on was changed meanwhile: remove {parts.folder} and begin anew"
            )
        found = BatchRun(parts.rows, len(parts.done), resumed, time.perf_counter() - start)
        parts.finish()
    return found


class _Pool(Protocol):
    """Workers, and how many pieces they have at once."""

    most: int

    def submit(self, piece: RowPiece) -> None:
        """Gives a piece to a worker."""

    def finished(self) -> list[tuple[RowPiece, Any]]:
        """Waits for results; at least one."""


def _results(
    pool: _Pool, todo: Iterator[RowPiece], counting: Counting | None
) -> Iterator[tuple[RowPiece, Any]]:
    """Results in the order in which they come; as many pieces are read as are under way."""
    under_way = 0
    left = True
    while left or under_way:
        while left and under_way < pool.most:
            piece = next(todo, None)
            left = piece is not None
            if piece is not None:
                if counting is not None:
                    piece = piece._replace(table=counting.before(piece.table))
                pool.submit(piece)
                under_way += 1
        if under_way:
            for result in pool.finished():
                under_way -= 1
                yield result


@contextmanager
def _pool(work: bytes, most: int | None, ray: str | None) -> Iterator[_Pool]:
    if ray is not None:
        yield _Cluster(joined_cluster(ray), work, most)
        return
    pool = _Processes(work, most or os.cpu_count() or 1)
    try:
        yield pool
    finally:
        # What workers do now they do to its end.
        pool.executor.shutdown(wait=True, cancel_futures=True)


_MADE: Final[dict[bytes, Callable[[Any], Any]]] = {}
"""What this process works by: models and keys are loaded once."""


def _worked(work: bytes, first: int, table: Any) -> Any:
    """What a worker does, in its own process."""
    if work not in _MADE:
        steps: Work
        steps, made_of = pickle.loads(work)  # noqa: S301 - of who began the run, on his own machines
        _MADE.clear()
        made = steps.made()
        # Behind: what was replaced meanwhile may be what was read.
        check_same(steps.made_of(), made_of)
        _MADE[work] = made
    with counted_from(first, "rows"):
        return _MADE[work](table)


class _Cluster:
    """Workers are tasks of Ray, which go to any machine that has room, and again to another one."""

    def __init__(self, ray: Any, work: bytes, most: int | None) -> None:
        self._ray = ray
        self.most = most or max(2, 2 * int(ray.cluster_resources().get("CPU", 1)))
        self._work = work
        self._task = ray.remote(_worked).options(
            num_cpus=1, max_retries=_DEATHS, scheduling_strategy="SPREAD"
        )
        self._waiting: dict[Any, RowPiece] = {}

    def submit(self, piece: RowPiece) -> None:
        """Gives a piece to a worker."""
        self._waiting[self._task.remote(self._work, piece.first, piece.table)] = piece

    def finished(self) -> list[tuple[RowPiece, Any]]:
        """Waits for a result."""
        (reference,), _ = self._ray.wait(list(self._waiting), num_returns=1)
        piece = self._waiting.pop(reference)
        try:
            return [(piece, self._ray.get(reference))]
        except self._ray.exceptions.RayTaskError as error:
            raise hesc_error(error) from error
        except self._ray.exceptions.RayError as error:
            raise _ended(_DEATHS + 1, piece.first) from error


class _Processes:
    """Workers are processes of this machine."""

    def __init__(self, work: bytes, workers: int) -> None:
        self._workers, self._work = workers, work
        # One more waits for each, so that none has nothing to do while a result is kept.
        self.most = 2 * workers
        self._waiting: dict[Future[Any], RowPiece] = {}
        self._deaths = 0
        self.executor = self._begun()

    def _begun(self) -> ProcessPoolExecutor:
        # Of threads that a fork would leave behind locks are held for ever.
        return ProcessPoolExecutor(
            self._workers, mp_context=get_context("spawn"), initializer=_follow_parent
        )

    def submit(self, piece: RowPiece) -> None:
        """Gives a piece to a worker."""
        try:
            future = self.executor.submit(_worked, self._work, piece.first, piece.table)
        except BrokenProcessPool as error:
            # A process ended on a piece before this one, and nobody has looked since.
            self._again(error, piece)
        else:
            self._waiting[future] = piece

    def finished(self) -> list[tuple[RowPiece, Any]]:
        """Waits for results."""
        while True:
            done, _ = wait(self._waiting, return_when=FIRST_COMPLETED)
            found = []
            try:
                for future in done:
                    found.append((self._waiting[future], future.result()))
                    del self._waiting[future]
            except BrokenProcessPool as error:
                self._again(error)
            if found:
                self._deaths = 0
                return found

    def _again(self, error: BrokenProcessPool, *more: RowPiece) -> None:
        """Begins new processes after one of them ended, which ends the others."""
        self._deaths += 1
        lost = sorted([*self._waiting.values(), *more])
        if self._deaths > _DEATHS:
            raise _ended(self._deaths, lost[0].first) from error
        self.executor.shutdown(wait=True, cancel_futures=True)
        self._waiting = {}
        self.executor = self._begun()
        for piece in lost:
            self.submit(piece)


def _ended(times: int, first: int) -> HescError:
    return HescError(
        f"a worker's process ended {times} times without a result, the last time with rows from "
        f"{first} on: is there enough memory? Take fewer --workers, or fewer --rows. What is done "
        f"is kept"
    )


def _follow_parent() -> None:
    """A worker ends when the process that gives it work does, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is None:
        raise ParameterError("a worker is a process that another one began")

    def follow() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    Thread(target=follow, name="hesc parent", daemon=True).start()

"""Jobs: queries whose answers are computed later, and who computes which of them.

Jobs are taken holder by holder, in turn, and of each holder in the order of their arrival: one with
ten thousand of them does not keep another's only one waiting. Turns are each process's own.
"""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc.serve.responses import RefusedError
from hesc.serve.state.settling import counters, evicted, in_jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hesc.serve.state.database import Database, SqlRows

_JOBS: Final = (
    "SELECT place, name, holder, model, keys, query_sha256, bytes, made, problem, waits = 0 "
    "FROM jobs WHERE"
)
_AT_ONCE: Final = 100
"""Jobs that are looked at together."""


class Job(NamedTuple):
    """A query that is answered later."""

    place: int
    """In the order of arrival; no other job has it."""
    name: bytes
    """What the answer is settled by."""
    holder: str
    """Whose token it came by."""
    model: str
    """Digest of the plan."""
    keys: str | None
    """SHA-256 of the client's keys."""
    query_sha256: str
    bytes: int
    """Length of the query."""
    made: float
    """Seconds since 1970."""
    problem: str | None
    """What it was refused with in the end; None where it waits or is answered."""
    done: bool
    """Whether its answer is kept, for as long as the job is there, or it has a problem."""


class JobStore:
    """Jobs of a state. The answer that a job names does not go before the job does.

    Where nothing can be read or written, each method refuses with `not-kept`.

    Args:
        database: where they lie.
        kept: bytes of answers that no job names, at most.

    """

    def __init__(self, database: Database, kept: int) -> None:
        self._database, self._kept = database, kept
        self._claiming = Lock()
        self._claimed: dict[bytes, int] = {}
        self._turns: dict[str, int] = {}

    def add_job(
        self,
        holder: str,
        model: str,
        keys: str | None,
        query_sha256: str,
        name: bytes,
        query: bytes,
        *,
        longest_answer: int,
        room: tuple[int, int],
        now: float,
    ) -> Job:
        """Keeps a query to be answered later; on the disk when this returns.

        Args:
            holder: who asks.
            model: digest of the plan.
            keys: SHA-256 of the keys to compute with.
            query_sha256: of the query.
            name: of the answer.
            query: what came.
            longest_answer: bytes that are held for the answer, beside the query's, until the job
                goes.
            room: bytes of a holder's jobs, and of all jobs, at most.
            now: seconds since 1970.

        Returns:
            The job; where this holder has one of the name already, that one, be it refused: to ask
            again, drop it first.

        Raises:
            RefusedError: there is no room, or nothing can be written.

        """
        size = len(query) + longest_answer

        def added(rows: SqlRows) -> Job:
            _, kept, arrived = counters(rows)
            before = _job(rows, holder, name)
            if before is not None:
                return before
            taken = "SELECT CAST(coalesce(sum(room), 0) AS BIGINT) FROM jobs"
            of_holder = rows.one(f"{taken} WHERE holder = ?", holder)
            if of_holder + size > room[0] or rows.one(taken) + size > room[1]:
                raise RefusedError("busy", ("retry-after", "60"))
            answer = rows.one("SELECT place FROM answers WHERE name = ?", name)
            if answer is not None:
                held = rows.one("SELECT bytes FROM spare WHERE place = ?", answer) or 0
                rows.do("DELETE FROM spare WHERE place = ?", answer)
                kept -= held
            place, waits = arrived + 1, int(answer is None)
            rows.do("UPDATE state SET arrived = ?, kept = ?", place, kept)
            rows.do(
                "INSERT INTO jobs (place, name, holder, model, keys, query_sha256, bytes, made, "
                "waits, room) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                *(place, name, holder, model, keys, query_sha256, len(query), now, waits, size),
            )
            if waits:
                rows.do("INSERT INTO queries (place, query) VALUES (?, ?)", place, query)
            return Job(
                place, name, holder, model, keys, query_sha256, len(query), now, None, not waits
            )

        return self._database.transaction(added)

    def job(self, holder: str, name: bytes) -> Job | None:
        """A holder's job of that name."""
        return self._database.read(partial(_job, holder=holder, name=name))

    def jobs(self, holder: str, model: str) -> list[Job]:
        """A holder's jobs of a model, in the order of their arrival."""
        query = f"{_JOBS} holder = ? AND model = ? ORDER BY place"
        found = self._database.read(lambda rows: rows.all(query, holder, model))
        return [_of(row) for row in found]

    def ahead(self, job: Job) -> int:
        """How many jobs without an answer come before this one, at most, where holders take turns.

        Those that are computed now are among them. None comes before one that is done.
        """

        def counted(rows: SqlRows) -> int:
            if not rows.one("SELECT waits FROM jobs WHERE place = ?", job.place):
                return 0
            before = "SELECT count(*) FROM jobs WHERE waits = 1 AND holder = ? AND place < ?"
            own = int(rows.one(before, job.holder, job.place))
            others = rows.all(
                "SELECT count(*) FROM jobs WHERE waits = 1 AND holder <> ? GROUP BY holder",
                job.holder,
            )
            return own + sum(min(int(count), own + 1) for (count,) in others)

        return self._database.read(counted)

    def claim(self, can: Callable[[Job], bool]) -> tuple[Job, bytes] | None:
        """A job that waits, and its query, for this caller alone until it finishes or releases it.

        It is nobody's again when the process dies. The holder who was served longest ago comes
        first, and of jobs of one name one at a time. Where a connection to PostgreSQL was lost,
        another process may compute the same job: its answer is counted once.

        Args:
            can: whether a job can be computed here; asked in that order, and asks for no job.

        """
        with self._claiming:
            for holder in self._holders():
                for job in self._waiting(holder):
                    if job.name in self._claimed or not can(job):
                        continue
                    query = self._taken(job)
                    if query is not None:
                        self._turns[holder] = max(self._turns.values(), default=0) + 1
                        return job, query
        return None

    def finish(self, job: Job, problem: str | None) -> None:
        """Gives a job back that was claimed: it is refused, or its answer was settled.

        One without a problem whose answer is not kept waits as it did.
        """
        if problem is not None:

            def ended(rows: SqlRows) -> None:
                counters(rows)
                statement = "UPDATE jobs SET waits = 0, problem = ? WHERE place = ? AND waits = 1"
                if rows.do(statement, problem, job.place):
                    rows.do("DELETE FROM queries WHERE place = ?", job.place)

            try:
                self._database.transaction(ended)
            finally:
                self.release(job)
        else:
            self.release(job)

    def release(self, job: Job) -> None:
        """Gives a job back that was claimed and was not computed: it waits as it did."""
        with self._claiming:
            if self._claimed.get(job.name) == job.place:
                del self._claimed[job.name]
                self._database.let_go(job.name)

    def drop_job(self, holder: str, name: bytes) -> bool:
        """Forgets a job, be it under way: its answer is then kept as others are. Whether it was."""
        where = "holder = ? AND name = ?"
        return self._database.transaction(partial(self._gone, where, (holder, name))) > 0

    def expire(self, before: float) -> int:
        """Forgets jobs that were made before that time; how many."""
        return self._database.transaction(partial(self._gone, "made < ?", (before,)))

    def _gone(self, where: str, values: tuple[object, ...], rows: SqlRows) -> int:
        """Deletes jobs; answers that no other job names may go from now on, by their places."""
        kept = counters(rows).kept
        jobs = [_of(row) for row in rows.all(f"{_JOBS} {where}", *values)]
        places = [(job.place,) for job in jobs]
        rows.many("DELETE FROM queries WHERE place = ?", places)
        rows.many("DELETE FROM jobs WHERE place = ?", places)
        names = list({job.name for job in jobs})
        for at in range(0, len(names), _AT_ONCE):
            some = names[at : at + _AT_ONCE]
            answers = rows.among("SELECT name, place, bytes FROM answers WHERE name IN", some)
            others = in_jobs(rows, some)
            spare = [(place, size) for name, place, size in answers if name not in others]
            rows.many("INSERT INTO spare (place, bytes) VALUES (?, ?)", spare)
            kept += sum(size for _, size in spare)
        if jobs:
            rows.do("UPDATE state SET kept = ?", evicted(rows, kept, self._kept))
        return len(jobs)

    def _holders(self) -> list[str]:
        """Holders whose jobs wait: first who was served longest ago, or never."""
        query = "SELECT holder, min(place) FROM jobs WHERE waits = 1 GROUP BY holder"
        found = self._database.read(lambda rows: rows.all(query))
        return [
            holder for holder, _ in sorted(found, key=lambda of: (self._turns.get(of[0], 0), of[1]))
        ]

    def _waiting(self, holder: str) -> Iterator[Job]:
        """A holder's jobs that wait, in their order."""
        query = f"{_JOBS} waits = 1 AND holder = ? AND place > ? ORDER BY place LIMIT {_AT_ONCE}"
        last, more = 0, True
        while more:

            def page(rows: SqlRows, after: int = last) -> list[Any]:
                return rows.all(query, holder, after)

            found = self._database.read(page)
            for row in found:
                yield _of(row)
                last = row[0]
            more = len(found) == _AT_ONCE

    def _taken(self, job: Job) -> bytes | None:
        """The query of a job that is this process's now; None where another was first."""
        if not self._database.hold(job.name):
            return None
        # Another process may have finished it in between.
        query: bytes | None = None
        try:
            query = self._database.read(
                lambda rows: rows.one("SELECT query FROM queries WHERE place = ?", job.place)
            )
        finally:
            if query is None:
                self._database.let_go(job.name)
        if query is not None:
            self._claimed[job.name] = job.place
        return query


def _job(rows: SqlRows, holder: str, name: bytes) -> Job | None:
    found = rows.all(f"{_JOBS} holder = ? AND name = ?", holder, name)
    return _of(found[0]) if found else None


def _of(row: Any) -> Job:
    return Job._make((*row[:-1], bool(row[-1])))

"""What a service must not forget: the same laws for a file of SQLite and for PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hesc._native import HescError, ParameterError, WireError
from hesc.serve.responses import RefusedError
from hesc.serve.state import seen as seen_module
from hesc.serve.state import service_state, settling
from hesc.serve.state.jobs import Job
from hesc.serve.state.service_state import ServiceState, beside
from hesc.serve.state.settling import Charge
from tests.postgres_server import PostgresServer
from tests.state_worker import COST, name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT: Final = Path(__file__).parents[1]
OLD: Final = ROOT / "tests/states/version1.sql"
BOTH: Final = ["sqlite", "postgres"]


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    made = PostgresServer.or_skip()
    yield made
    made.close()


class Place:
    """Where a state lies, and how it is opened."""

    def __init__(self, where: str, folder: Path) -> None:
        self.where, self.files = where, folder / "state.db"
        self.seen = folder / "state.db.seen"

    @property
    def is_file(self) -> bool:
        return not self.where.startswith("postgresql:")

    def open(self, kept: int = 1 << 30, **how: Any) -> ServiceState:
        return ServiceState.open(self.where, kept=kept, **{"files": self.files, **how})

    def empty(self) -> None:
        """Makes room for another state."""
        self.seen.unlink(missing_ok=True)
        if self.is_file:
            for each in self.files.parent.glob("state.db*"):
                each.unlink()
        else:
            self.sql("DROP SCHEMA IF EXISTS hesc CASCADE")

    def sql(self, statement: str) -> list[tuple[Any, ...]]:
        """A statement from outside."""
        if self.is_file:
            with contextlib.closing(sqlite3.connect(self.where, isolation_level=None)) as db:
                return db.execute(statement).fetchall()
        import psycopg

        with psycopg.connect(self.where, autocommit=True) as connection:
            connection.execute("SET search_path TO hesc")
            found = connection.execute(statement)
            return found.fetchall() if found.description else []


@pytest.fixture(params=BOTH)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return Place(str(tmp_path / "state.db"), tmp_path)
    return Place(request.getfixturevalue("server").database(), tmp_path)


@pytest.fixture
def shared(server: PostgresServer, tmp_path: Path) -> Place:
    return Place(server.database(), tmp_path)


@pytest.fixture
def file(tmp_path: Path) -> Place:
    return Place(str(tmp_path / "state.db"), tmp_path)


@contextlib.contextmanager
def opened(place: Place, kept: int = 1 << 30, **how: Any) -> Iterator[ServiceState]:
    state = place.open(kept, **how)
    try:
        yield state
    finally:
        state.close()


CHARGE: Final = [Charge("token", "a", 1, None)]
ROOM: Final = (1 << 30, 1 << 30)


def added(state: ServiceState, holder: str, name: bytes, query: bytes = b"q", **how: Any) -> Job:
    given_too = {"longest_answer": 10, "room": ROOM, "now": 1.0, **how}
    return state.add_job(holder, "model", "keys", name.hex(), name, query, **given_too)


def anything(_: Job) -> bool:
    return True


# Answers and budgets


def test_the_state_counts_exactly(place: Place) -> None:
    """Eight threads, each name by several of them, with amounts that do not divide the budget."""
    state = place.open()
    names = [bytes([n]) for n in range(60)]

    def settle(seed: int) -> list[tuple[bytes, bytes]]:
        found = []
        for at in np.random.default_rng(seed).permutation(60):
            name = names[at]
            charges = [Charge("token", "a", 3, 100), Charge("model", "m", 1, None)]
            with contextlib.suppress(RefusedError):
                answer, _ = state.settle(name, name + bytes([seed]), charges)
                found.append((name, answer))
        return found

    with ThreadPoolExecutor(8) as pool:
        found = [pair for each in pool.map(settle, range(8)) for pair in each]
    assert len(dict(found)) == len(set(found)) == 33
    assert (state.given("token", "a"), state.given("model", "m")) == (99, 33)
    state.close()
    state.close()
    with pytest.raises(RefusedError, match="not-kept"):
        state.settle(b"", b"", [])
    with opened(place) as again:
        assert all(again.find(name) == answer for name, answer in found)
        assert again.given("token", "a") == 99


def test_what_is_called_off_in_time_is_not_counted(place: Place) -> None:
    """And never ends the thread that writes."""
    with opened(place) as state:
        outcomes = [state.submit(name_of(n), b"x", CHARGE) for n in range(100)]
        gone = sum(each.cancel() for each in outcomes[::2])
        assert state.settle(name_of(100), b"x", CHARGE) == (b"x", False)
        assert state.given("token", "a") == 101 - gone
        assert [each.cancelled() for each in outcomes].count(True) == gone


def test_files_are_one_process_s(place: Place) -> None:
    with opened(place):
        for _ in range(2):
            with pytest.raises(ParameterError, match="another process"):
                place.open()
        if place.is_file:
            assert Path(place.where).stat().st_mode & 0o777 == 0o600
    place.open().close()


def test_the_oldest_answers_go_and_count_again(place: Place) -> None:
    with opened(place, kept=100) as state:
        for name in (b"1", b"2", b"3"):
            state.settle(name, name * 40, CHARGE)
        assert [state.find(name) is None for name in (b"1", b"2", b"3")] == [True, False, False]
        assert state.settle(b"1", b"x" * 40, CHARGE) == (b"x" * 40, False)
        assert state.settle(b"3", b"x" * 40, CHARGE) == (b"3" * 40, True)
        assert state.given("token", "a") == 4


def test_one_answer_with_two_charges_of_a_budget_takes_both(place: Place) -> None:
    with opened(place) as state:
        twice = [Charge("token", "a", 2, 5), Charge("token", "a", 2, 5)]
        state.settle(b"1", b"", twice)
        with pytest.raises(RefusedError, match="budget"):
            state.settle(b"2", b"", twice)
        assert state.given("token", "a") == 4


def test_what_fails_halfway_is_not_there(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the answer nor its cost, where writing ends between the two and the disk's word."""
    state = place.open()

    def broken(*arguments: Any, **more: Any) -> None:
        settling.settled(*arguments, **more)
        raise sqlite3.OperationalError("disk I/O error")

    charge = [Charge("token", "a", 1, 10)]
    monkeypatch.setattr(service_state, "settled", broken)
    with pytest.raises(RefusedError, match="not-kept"):
        state.settle(b"1", b"first", charge)
    assert not state.works
    monkeypatch.undo()
    assert (state.given("token", "a"), state.find(b"1")) == (0, None)
    assert state.settle(b"1", b"second", charge) == (b"second", False)
    assert (state.given("token", "a"), state.works) == (1, True)
    state.close()


def test_a_full_disk_gives_nothing_and_passes(file: Place) -> None:
    with opened(file) as state:
        db = state._database._writing  # type: ignore[attr-defined]
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 2}")
        charge = [Charge("token", "a", 1, 10)]
        for refused in (
            lambda: state.settle(b"1", bytes(1 << 16), charge),
            lambda: added(state, "a", b"2", bytes(1 << 16)),
        ):
            with pytest.raises(RefusedError, match="not-kept"):
                refused()
            assert not state.works
        assert (state.given("token", "a"), state.find(b"1"), state.job("a", b"2")) == (
            0,
            None,
            None,
        )
        db.execute("PRAGMA max_page_count = 100000")
        assert state.settle(b"1", bytes(1 << 16), charge) == (bytes(1 << 16), False)
        assert (state.works, state.given("token", "a")) == (True, 1)


def test_one_that_did_not_work_finds_out_by_itself(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody may ask a service that says that it is not ready."""
    monkeypatch.setattr(service_state, "_PROBE", 0.01)
    with opened(place) as state:
        state._database.works = False
        until(lambda: state.works)


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


# A plain model


class Model:
    """What a state is, in dictionaries."""

    def __init__(self, kept: int) -> None:
        self.kept = kept
        self.given: Counter[tuple[str, str]] = Counter()
        self.answers: dict[bytes, bytes] = {}
        """In the order in which they were settled."""
        self.jobs: dict[tuple[str, bytes], Job] = {}
        self.room: dict[tuple[str, bytes], int] = {}
        self.queries: dict[int, bytes] = {}
        self.arrived = 0
        self.claimed: set[int] = set()
        self.turns: dict[str, int] = {}

    def reopen(self) -> None:
        self.claimed, self.turns = set(), {}

    def evict(self) -> None:
        named = {name for _, name in self.jobs}
        spare = [name for name in self.answers if name not in named]
        while sum(len(self.answers[name]) for name in spare) > self.kept:
            del self.answers[spare.pop(0)]

    def settle(self, name: bytes, answer: bytes, charges: list[Charge]) -> Any:
        if name in self.answers:
            return self.answers[name], True
        for kind, of, amount, most in charges:
            if most is not None and self.given[kind, of] + amount > most:
                return "budget"
        for kind, of, amount, _ in charges:
            self.given[kind, of] += amount
        self.answers[name] = answer
        for key, job in self.jobs.items():
            if job.name == name:
                self.jobs[key] = job._replace(done=True)
        self.evict()
        return answer, False

    def add(self, holder: str, name: bytes, query: bytes, room: tuple[int, int], now: float) -> Any:
        key = holder, name
        if key in self.jobs:
            return self.jobs[key]
        size = len(query) + 10
        own = sum(size for (of, _), size in self.room.items() if of == holder)
        if own + size > room[0] or sum(self.room.values()) + size > room[1]:
            return "busy"
        self.arrived += 1
        job = Job(
            self.arrived, name, holder, "model", "keys", name.hex(), len(query), now, None,
            name in self.answers,
        )  # fmt: skip
        self.jobs[key], self.room[key], self.queries[job.place] = job, size, query
        return job

    def drop(self, keys: list[tuple[str, bytes]]) -> int:
        for key in keys:
            del self.jobs[key], self.room[key]
        self.evict()
        return len(keys)

    def waiting(self) -> list[Job]:
        return sorted(job for job in self.jobs.values() if not job.done)

    def claim(self, models: int) -> Any:
        waiting = self.waiting()
        holders = {job.holder: job.place for job in reversed(waiting)}
        names = {job.name for job in self.jobs.values() if job.place in self.claimed}
        names |= {self.names[place] for place in self.claimed}
        for holder in sorted(holders, key=lambda of: (self.turns.get(of, 0), holders[of])):
            for job in waiting:
                if job.holder == holder and job.name not in names and job.place % models:
                    self.turns[holder] = max(self.turns.values(), default=0) + 1
                    self.claimed.add(job.place)
                    self.names[job.place] = job.name
                    return job, self.queries[job.place]
        return None

    names: dict[int, bytes]

    def finish(self, job: Job, problem: str | None) -> None:
        self.claimed.discard(job.place)
        key = job.holder, job.name
        if problem and key in self.jobs and self.jobs[key] == job:
            self.jobs[key] = job._replace(problem=problem, done=True)

    def ahead(self, job: Job) -> int:
        waiting = self.waiting()
        if job not in waiting:
            return 0
        own = sum(each.holder == job.holder and each.place < job.place for each in waiting)
        others = Counter(each.holder for each in waiting if each.holder != job.holder)
        return own + sum(min(count, own + 1) for count in others.values())


NAMES: Final = st.integers(0, 5).map(name_of)
HOLDERS: Final = st.sampled_from(["ann", "bob", "eve"])
SIZES: Final = st.integers(0, 40)
STEPS: Final = st.one_of(
    st.tuples(st.just("settle"), NAMES, SIZES, HOLDERS, st.integers(1, 5)),
    st.tuples(st.just("settle"), NAMES, SIZES, HOLDERS, st.integers(1, 5)),
    st.tuples(st.just("add"), HOLDERS, NAMES, SIZES, st.integers(0, 9)),
    st.tuples(st.just("add"), HOLDERS, NAMES, SIZES, st.integers(0, 9)),
    st.tuples(st.just("drop"), HOLDERS, NAMES),
    # Times go forth and back, as clocks do.
    st.tuples(st.just("expire"), st.integers(0, 9)),
    st.tuples(st.just("claim"), st.sampled_from([2, 3, 100])),
    st.tuples(st.just("claim"), st.just(100)),
    st.tuples(st.just("finish"), st.integers(0, 9), st.sampled_from([None, "bad-query"])),
    st.tuples(st.just("release"), st.integers(0, 9)),
    st.tuples(st.just("reopen")),
)


def tried(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except RefusedError as refused:
        return refused.name


class Both:
    """A state and its model, which are told the same."""

    def __init__(self, place: Place, kept: int) -> None:
        self._place, self._kept = place, kept
        self.state, self.model = place.open(kept), Model(kept)
        self.model.names = {}
        self._mine: list[Job] = []
        self._count = 0

    def do(self, step: tuple[Any, ...]) -> None:
        getattr(self, f"_{step[0]}")(*step[1:])
        self._same()

    def _same(self) -> None:
        for name in map(name_of, range(6)):
            assert self.state.find(name) == self.model.answers.get(name)
            for holder in ("ann", "bob", "eve"):
                job = self.model.jobs.get((holder, name))
                assert self.state.job(holder, name) == job
                if job is not None:
                    assert self.state.ahead(job) == self.model.ahead(job)
        for holder in ("ann", "bob", "eve"):
            assert self.state.given("token", holder) == self.model.given["token", holder]
            own = sorted(job for job in self.model.jobs.values() if job.holder == holder)
            assert self.state.jobs(holder, "model") == own
            assert self.state.jobs(holder, "other") == []

    def _settle(self, name: bytes, size: int, holder: str, amount: int) -> None:
        self._count += 1
        answer = self._count.to_bytes(2, "big") * size
        charges = [Charge("token", holder, amount, 12), Charge("model", "m", 1, None)]
        expected = self.model.settle(name, answer, charges)
        assert tried(lambda: self.state.settle(name, answer, charges)) == expected
        over = self.model.given["token", holder] + amount > 12
        assert tried(lambda: self.state.check(charges)) == ("budget" if over else None)

    def _add(self, holder: str, name: bytes, size: int, now: int) -> None:
        query, room = os.urandom(size), (80, 150)
        expected = self.model.add(holder, name, query, room, float(now))
        found = tried(lambda: added(self.state, holder, name, query, room=room, now=float(now)))
        assert found == expected

    def _drop(self, holder: str, name: bytes) -> None:
        there = (holder, name) in self.model.jobs
        if there:
            self.model.drop([(holder, name)])
        assert self.state.drop_job(holder, name) is there

    def _expire(self, before: int) -> None:
        keys = [key for key, job in self.model.jobs.items() if job.made < before]
        assert self.state.expire(float(before)) == self.model.drop(keys)

    def _claim(self, models: int) -> None:
        expected = self.model.claim(models)
        assert self.state.claim(lambda job: bool(job.place % models)) == expected
        if expected:
            self._mine.append(expected[0])

    def _finish(self, at: int, problem: str | None) -> None:
        if self._mine:
            job = self._mine.pop(at % len(self._mine))
            self.model.finish(job, problem)
            self.state.finish(job, problem)

    def _release(self, at: int) -> None:
        if self._mine:
            job = self._mine.pop(at % len(self._mine))
            self.model.finish(job, None)
            self.state.release(job)
            self.state.release(job)

    def _reopen(self) -> None:
        self.state.close()
        self.model.reopen()
        self._mine.clear()
        self.state = self._place.open(self._kept)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=40), kept=st.sampled_from([100, 10000]))
def test_a_state_is_what_its_model_is(place: Place, steps: list[Any], kept: int) -> None:
    """Answers, budgets and jobs, over any steps, and closings in between."""
    place.empty()
    both = Both(place, kept)
    try:
        for step in steps:
            both.do(step)
    finally:
        both.state.close()
    # Nothing stays behind: queries of what waits alone, and sums that are of what is there.
    waits = sorted(job.place for job in both.model.waiting())
    assert [row[0] for row in place.sql("SELECT place FROM queries ORDER BY place")] == waits
    named = {job.name for job in both.model.jobs.values()}
    spare = sum(len(a) for name, a in both.model.answers.items() if name not in named)
    assert place.sql("SELECT kept FROM state") == [(spare,)]
    assert (place.sql("SELECT coalesce(sum(bytes), 0) FROM spare")[0][0]) == spare


# Jobs


def test_jobs_of_one_holder_keep_no_other_waiting(place: Place) -> None:
    with opened(place) as state:
        many = [added(state, "many", name_of(n)) for n in range(150)]
        few = [added(state, "few", name_of(1000 + n)) for n in range(2)]
        assert [state.ahead(job) for job in (many[0], many[3], many[149], *few)] == [
            1, 5, 151, 1, 3,
        ]  # fmt: skip
        claimed = [state.claim(anything) for _ in range(6)]
        assert [each[0] for each in claimed if each] == [
            many[0], few[0], many[1], few[1], many[2], many[3],
        ]  # fmt: skip
        # The last of them alone, behind more than are looked at together.
        assert state.claim(lambda job: job == many[149]) == (many[149], b"q")
        assert state.claim(lambda job: job.holder == "few") is None


def test_jobs_have_room_of_their_holder_and_in_all(place: Place) -> None:
    """Of the query, and of the longest answer, until the job goes."""

    def add(who: str, name: bytes) -> Any:
        return tried(lambda: added(state, who, name, bytes(10), room=(30, 45)))

    with opened(place) as state:
        first = add("ann", b"1")
        assert add("ann", b"2") == "busy"
        assert add("ann", b"1") == first
        state.settle(b"1", b"answer", CHARGE)
        assert add("bob", b"1").done
        assert add("eve", b"1") == "busy"
        assert state.drop_job("ann", b"1")
        assert add("eve", b"3").place == first.place + 2


def test_an_answer_stays_as_long_as_its_job(place: Place) -> None:
    with opened(place, kept=100) as state:
        job = added(state, "ann", b"1")
        assert state.settle(b"1", b"a" * 90, CHARGE) == (b"a" * 90, False)
        state.finish(job, None)
        for name in (b"2", b"3"):
            state.settle(name, bytes(90), CHARGE)
        assert state.find(b"1") == b"a" * 90
        assert state.job("ann", b"1") == job._replace(done=True)
        assert state.drop_job("ann", b"1")
        # It is the oldest that no job names.
        assert [state.find(name) is None for name in (b"1", b"2", b"3")] == [True, True, False]


def test_a_dropped_job_is_computed_to_its_end_and_kept(place: Place) -> None:
    with opened(place) as state:
        added(state, "ann", b"1")
        claimed = state.claim(anything)
        assert claimed is not None
        assert state.drop_job("ann", b"1")
        state.settle(b"1", b"answer", CHARGE)
        state.finish(claimed[0], "failed")
        assert (state.find(b"1"), state.job("ann", b"1")) == (b"answer", None)
        assert added(state, "ann", b"1").done


def test_one_query_of_two_holders_is_computed_once(place: Place) -> None:
    with opened(place) as state:
        ann, bob = added(state, "ann", b"1"), added(state, "bob", b"1")
        assert state.claim(anything) == (ann, b"q")
        assert state.claim(anything) is None
        state.release(ann)
        assert state.claim(anything) == (bob, b"q")
        # What is given back again is not the other's claim.
        state.release(ann)
        assert state.claim(anything) is None
        state.settle(b"1", b"answer", CHARGE)
        state.finish(bob, None)
        assert state.claim(anything) is None
        assert [state.job(who, b"1") for who in ("ann", "bob")] == [
            ann._replace(done=True),
            bob._replace(done=True),
        ]


def test_threads_claim_each_job_once(place: Place) -> None:
    with opened(place) as state:
        for n in range(40):
            added(state, ("ann", "bob", "eve")[n % 3], name_of(n), bytes([n]))
        start = Barrier(8)

        def work(_: int) -> list[tuple[Job, bytes]]:
            start.wait()
            mine = []
            while (found := state.claim(anything)) is not None:
                mine.append(found)
                state.settle(found[0].name, found[1], CHARGE)
                if found[0].place % 2:
                    state.finish(found[0], None)
                else:
                    state.release(found[0])
            return mine

        with ThreadPoolExecutor(8) as pool:
            found = [each for mine in pool.map(work, range(8)) for each in mine]
        assert sorted(query for _, query in found) == [bytes([n]) for n in range(40)]
        assert state.given("token", "a") == 40


def test_a_claim_ends_with_its_process(place: Place) -> None:
    with opened(place) as state:
        job = added(state, "ann", b"1")
    with worker(place, 0, 0, 0) as running:
        assert [running.line(), running.line()] == ["ready", "claimed"]
        if not place.is_file:
            with opened(place) as other:
                assert other.claim(anything) is None
        running.kill()
    with opened(place) as state:
        found: list[Any] = []

        def claimed() -> bool:
            found[:] = [state.claim(anything)]
            return found[0] is not None

        # The server notices that a connection has ended, in a moment.
        until(claimed)
        assert found == [(job, b"q")]


def test_services_share_jobs(shared: Place, tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    with opened(shared) as one, opened(shared, files=tmp_path / "two/state") as two:
        jobs_of = [added(one, "ann", name_of(n)) for n in range(3)]
        assert two.jobs("ann", "model") == jobs_of
        first, second = one.claim(anything), two.claim(anything)
        assert (first, second) == ((jobs_of[0], b"q"), (jobs_of[1], b"q"))
        one.finish(jobs_of[0], "bad-query")
        assert two.job("ann", jobs_of[0].name) == jobs_of[0]._replace(
            problem="bad-query", done=True
        )
        two.release(jobs_of[1])
        assert one.claim(anything) == (jobs_of[1], b"q")
        # A connection that is lost gives what it had; when it is there again, it has it again.
        terminate(shared)
        until(lambda: two.claim(lambda job: job == jobs_of[1]) is not None)
        assert one.claim(lambda job: job == jobs_of[1]) is None


def test_services_decide_one_after_another(
    shared: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one has decided is written before the other looks."""
    (tmp_path / "two").mkdir()
    decided = settling._decided

    def slowly(*arguments: Any) -> Any:
        found = decided(*arguments)
        time.sleep(0.3)
        return found

    monkeypatch.setattr(settling, "_decided", slowly)
    last = [Charge("token", "a", 1, 1)]
    with opened(shared) as one, opened(shared, files=tmp_path / "two/state") as two:
        with ThreadPoolExecutor(2) as pool:
            found = [
                pool.submit(tried, partial(state.settle, name, name, last))
                for state, name in ((one, b"1"), (two, b"2"))
            ]
        outcomes = [each.result() for each in found]
        assert "budget" in outcomes
        assert (b"1", False) in outcomes or (b"2", False) in outcomes
        assert one.given("token", "a") == 1


def terminate(place: Place) -> None:
    """Ends all other connections to the database."""
    place.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


# Processes, kills and restarts


class Worker:
    """A process of tests/state_worker.py."""

    def __init__(self, place: Place, seed: int, names: int, budget: int) -> None:
        files = place.files if place.is_file else place.files.with_name(f"worker{seed}")
        arguments = [place.where, str(files), *(str(each) for each in (seed, names, budget))]
        self.running = subprocess.Popen(
            [sys.executable, "-m", "tests.state_worker", *arguments],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )
        self.said: list[tuple[int, str]] = []
        self.done = False

    def line(self) -> str:
        assert self.running.stdout is not None
        return self.running.stdout.readline().removesuffix("\n")

    def read(self, lines: int = 1 << 30) -> None:
        """Takes in what it says, up to its end or so many lines."""
        while len(self.said) < lines and (line := self.line()):
            number, _, said = line.partition(" ")
            if said:
                self.said.append((int(number), said))
            self.done = line == "done"

    def kill(self) -> None:
        self.running.send_signal(signal.SIGKILL)
        self.read()
        self.running.wait(60)


@contextlib.contextmanager
def worker(place: Place, *arguments: int) -> Iterator[Worker]:
    made = Worker(place, *arguments)
    try:
        yield made
    finally:
        made.running.kill()
        made.running.wait(60)
        assert made.running.stdout is not None
        made.running.stdout.close()


def held(place: Place, workers: list[Worker], names: int, budget: int) -> None:
    """What somebody was given is what is kept and was counted, once; the budget is used up."""
    answers: dict[int, set[str]] = {}
    for each in workers:
        for number, said in each.said:
            if said != "budget":
                answers.setdefault(number, set()).add(said)
    with opened(place) as state:
        for number, texts in answers.items():
            (text,) = texts  # of whoever was first
            assert state.find(name_of(number)) == bytes.fromhex(text)
        kept = sum(state.find(name_of(number)) is not None for number in range(names))
        counted = state.given("token", "clinic"), state.given("model", "m")
    assert counted == (COST * kept, kept)
    assert kept <= budget // COST
    if any(each.done for each in workers):
        assert kept == min(names, budget // COST)


def test_kills_lose_no_answer_and_charge_none_twice(place: Place) -> None:
    workers = []
    for seed in range(0, 50, 10):
        with worker(place, seed, 120, 250) as running:
            workers.append(running)
            assert running.line() == "ready"
            if seed < 40:
                running.read(random.Random(seed).randrange(1, 40))  # noqa: S311
                running.kill()
            else:
                running.read()
        held(place, workers, 120, 250)
    assert workers[-1].done


def test_processes_share_budgets_exactly(shared: Place) -> None:
    """Four of them, on the same names with other answers; one is killed."""
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(worker(shared, 10 * n, 100, 202)) for n in range(4)]
        workers[0].read(30)
        workers[0].kill()
        for each in workers[1:]:
            each.read()
            assert each.done
    held(shared, workers, 100, 202)
    refused = [said for each in workers for _, said in each.said if said == "budget"]
    assert refused


@pytest.fixture
def own_server() -> Iterator[PostgresServer]:
    made = PostgresServer.or_skip()
    yield made
    made.close()


def test_a_server_that_is_restarted_loses_and_charges_nothing(
    own_server: PostgresServer, tmp_path: Path
) -> None:
    """Crashes of PostgreSQL in the midst of what two processes settle."""
    place = Place(own_server.database(), tmp_path)
    with contextlib.ExitStack() as stack:
        workers = [stack.enter_context(worker(place, 10 * n, 240, 650)) for n in range(2)]
        for crash in range(1, 4):
            for each in workers:
                each.read(crash * 40)
            own_server.control("restart", "immediate")
        for each in workers:
            each.read()
            assert each.done
    held(place, workers, 240, 650)


def test_while_a_server_is_away_nothing_is_given(
    own_server: PostgresServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = Place(own_server.database(), tmp_path)
    with opened(place) as state:
        state.settle(b"1", b"one", CHARGE)
        job = added(state, "ann", b"2")
        own_server.control("stop", "immediate")
        for asked in (
            lambda: state.settle(b"2", b"two", CHARGE),
            lambda: state.find(b"1"),
            lambda: state.given("token", "a"),
            lambda: state.job("ann", b"2"),
            lambda: added(state, "ann", b"3"),
            lambda: state.finish(job, "failed"),
        ):
            start = time.monotonic()
            with pytest.raises(RefusedError, match="not-kept"):
                asked()
            assert time.monotonic() - start < 10
        assert not state.works
        own_server.control("start")
        until(lambda: state.works)
        assert tried(lambda: state.settle(b"2", b"two", CHARGE)) == (b"two", False)
        assert state.find(b"1") == b"one"
        assert state.given("token", "a") == 2
        assert state.job("ann", b"2") == job._replace(done=True)
    assert str(own_server.folder) not in caplog.text


def test_a_commit_whose_outcome_is_unknown_is_read_again(
    shared: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection ends before the transaction, in its midst, before its commit or after it."""
    from hesc.serve.state import postgres

    once = postgres.PostgresDatabase._once
    with opened(shared) as state:
        for number, when in enumerate(["before", "within", "at the end", "after"]):
            ends = [when]

            def lost(database: Any, work: Any, ends: list[str] = ends) -> Any:
                at = ends.pop() if ends else ""

                def cut(rows: Any) -> Any:
                    if at == "within":
                        terminate(shared)
                    found = work(rows)
                    if at == "at the end":
                        terminate(shared)
                    return found

                if at == "before":
                    terminate(shared)
                found = once(database, cut)
                if at == "after":
                    terminate(shared)
                    raise postgres._LostError
                return found

            monkeypatch.setattr(postgres.PostgresDatabase, "_once", lost)
            name = name_of(number)
            assert state.settle(name, name, CHARGE)[0] == name
            assert not ends
            assert state.given("token", "a") == number + 1
            job = added(state, "ann", name)
            monkeypatch.undo()
            assert state.job("ann", name) == job


# Restored copies, versions and damage


def copied(place: Place, name: str) -> Any:
    """A copy of a closed state, as a backup has it."""
    if place.is_file:
        return shutil.copy(place.where, place.files.with_name(name))
    tables = ("answers", "given", "state", "spare", "salt")
    return {table: place.sql(f"TABLE {table}") for table in tables}


def restored(place: Place, copy: Any) -> None:
    if place.is_file:
        shutil.copy(copy, place.where)
        return
    import psycopg

    with psycopg.connect(place.where) as connection:
        for table, rows in copy.items():
            connection.execute(f"TRUNCATE hesc.{table}")
            with connection.cursor().copy(f"COPY hesc.{table} FROM STDIN") as rows_in:
                for row in rows:
                    rows_in.write_row(row)


def test_an_old_copy_is_refused(place: Place) -> None:
    with opened(place) as state:
        for n in range(3):
            state.settle(name_of(n), b"x", CHARGE)
    copy = copied(place, "copy")
    with opened(place) as state:
        state.settle(name_of(3), b"x", CHARGE)
    newest = copied(place, "newest")
    restored(place, copy)
    for _ in range(2):
        with pytest.raises(ParameterError, match=r"answer 3, and 4 were.*token a: 3") as old:
            place.open()
        assert "--accept-restored-state" in str(old.value)
    # Who restores the newest is not asked.
    restored(place, newest)
    with opened(place) as state:
        assert state.given("token", "a") == 4
    restored(place, copy)
    with opened(place, accept_restored=True) as state:
        assert state.given("token", "a") == 3
        assert state.find(name_of(3)) is None
        state.settle(name_of(9), b"y", CHARGE)
    # It goes on from where the lost one was: the same copy again is old again, and so the lost.
    restored(place, copy)
    with pytest.raises(ParameterError, match="ends with answer 3, and 5 were"):
        place.open()


def test_a_mark_is_exact_after_an_end(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_module, "_LAG", 600)
    with opened(place) as state:
        for n in range(5):
            state.settle(name_of(n), b"x", CHARGE)
    assert int(place.seen.read_bytes().split()[-1]) == 5


def test_a_copy_is_found_after_a_kill(place: Place) -> None:
    """The mark follows by itself, and is never ahead of the state."""
    with opened(place) as state:
        state.settle(b"1", b"x", CHARGE)
    copy = copied(place, "copy")
    with worker(place, 0, 30, 1000) as running:
        running.read(30)
        seen = place.seen if place.is_file else place.files.with_name("worker0.seen")
        until(lambda: int(seen.read_bytes().split()[-1]) > 1)
        running.kill()
    if not place.is_file:
        place.seen.write_bytes(seen.read_bytes())
    place.open().close()
    for each in place.files.parent.glob("state.db-*"):
        each.unlink()
    restored(place, copy)
    with pytest.raises(ParameterError, match="is an old copy: it ends with answer 1"):
        place.open()


def test_a_state_whose_file_is_gone_counts_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is written to a file without a name would be lost when the process ends."""
    file = tmp_path / "state.db"
    with contextlib.closing(ServiceState.open(file, kept=1 << 30)) as state:
        state.settle(b"1", b"x", CHARGE)
        file.rename(tmp_path / "away")
        with pytest.raises(RefusedError, match="not-kept"):
            state.settle(b"2", b"x", CHARGE)
        assert not state.works
        assert "the state's file is gone, or another is in its place" in caplog.text
        shutil.copy(tmp_path / "away", file)
        with pytest.raises(RefusedError, match="not-kept"):
            state.settle(b"2", b"x", CHARGE)
        (tmp_path / "away").rename(file)
        state.settle(b"2", b"x", CHARGE)
        assert state.works


def test_another_state_in_its_place_is_refused(place: Place) -> None:
    with opened(place) as state:
        state.settle(b"1", b"x", CHARGE)
        salt = state.salt
    mark = place.seen.read_bytes()
    place.empty()
    place.seen.write_bytes(mark)
    for _ in range(2):
        with pytest.raises(ParameterError, match=r"there is no state in .*accept-restored"):
            place.open()
    place.seen.unlink()
    for told in ("nothing given", "token a: 2"):
        place.seen.unlink(missing_ok=True)
        with opened(place) as state:
            if told != "nothing given":
                # More than the other had.
                state.settle(b"2", b"x", CHARGE)
                state.settle(b"3", b"x", CHARGE)
        place.seen.write_bytes(mark)
        with pytest.raises(ParameterError, match=f"is not the state .*{told}"):
            place.open()
    with opened(place, accept_restored=True) as state:
        assert state.salt != salt
    place.open().close()


@pytest.mark.parametrize("data", [b"", b"hesc state 0 1\n", b"\0" * 60, b"x" * 1000])
def test_a_damaged_mark_is_no_mark(file: Place, data: bytes) -> None:
    file.open().close()
    good = file.seen.read_bytes()
    for each in (data, good[:-1], good.replace(b" 0", b" -")):
        file.seen.write_bytes(each)
        with pytest.raises(HescError, match="mark of a state"):
            file.open()
    file.open(accept_restored=True).close()
    assert file.seen.read_bytes() == good


def test_a_state_that_goes_back_while_it_runs_gives_nothing(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """A database that is restored, or another machine's that lags behind, under a service."""
    with opened(place) as state:
        state.settle(b"1", b"x", CHARGE)
        place.sql("UPDATE state SET serial = 0")
        with pytest.raises(RefusedError, match="not-kept"):
            state.settle(b"2", b"x", CHARGE)
        assert not state.works
        assert "an old one is in its place" in caplog.text
        place.sql("UPDATE state SET serial = 1")
        state.settle(b"2", b"x", CHARGE)


def test_a_mark_that_cannot_be_written_is_said(
    file: Place, caplog: pytest.LogCaptureFixture
) -> None:
    folder = file.files.parent / "marks"
    folder.mkdir()
    with opened(file, files=folder / "state") as state:
        folder.rename(file.files.parent / "away")
        state.settle(b"1", b"x", CHARGE)
        until(lambda: not state.works)
        assert "state.seen cannot be written: No such file" in caplog.text
        (file.files.parent / "away").rename(folder)
        until(lambda: state.works)
    assert int((folder / "state.seen").read_bytes().split()[-1]) == 1


def old_file(path: Path) -> None:
    """A state as version 1 wrote it, with budgets and three answers, one of which has gone."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.executescript(OLD.read_text())


def test_version_1_is_brought_to_this_one(file: Place) -> None:
    old_file(Path(file.where))
    with opened(file, kept=50) as state:
        assert state.salt == "5a" * 32
        assert (state.given("token", "clinic"), state.given("weights", "w")) == (3, 12)
        assert [state.find(name_of(n)) for n in (1, 2, 3)] == [None, b"second", b"third"]
        state.settle(name_of(4), bytes(40), CHARGE)
        # Of 51 bytes the oldest go.
        assert [state.find(name_of(n)) for n in (2, 3)] == [None, b"third"]
        added(state, "ann", name_of(5))
    assert int(file.seen.read_bytes().split()[-1]) == 4
    assert file.sql("PRAGMA user_version") == [(2,)]
    with opened(file) as state:
        assert state.given("token", "clinic") == 3
    other = Place(str(file.files.with_name("new.db")), file.files.parent)
    other.open(files=file.files.with_name("new")).close()
    schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name"
    assert file.sql(schema) == other.sql(schema)


def test_a_migration_that_fails_leaves_the_old_state(
    file: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    old_file(Path(file.where))
    from hesc.serve.state import tables

    steps = dict(tables.SQLITE)
    broken = steps[2].replace("CREATE TABLE queries", "CREATE TABLE jobs")
    monkeypatch.setitem(tables.SQLITE, 2, broken)
    with pytest.raises(WireError, match="damaged"):
        file.open()
    monkeypatch.undo()
    assert file.sql("PRAGMA user_version") == [(1,)]
    with opened(file) as state:
        assert state.find(name_of(3)) == b"third"


def test_every_version_has_a_step() -> None:
    from hesc.serve.state.tables import POSTGRES, SQLITE, VERSION

    assert sorted(SQLITE) == list(range(1, VERSION + 1))
    assert sorted(POSTGRES) == list(range(2, VERSION + 1))


def test_a_later_version_is_refused(place: Place) -> None:
    place.open().close()
    place.sql("PRAGMA user_version = 3" if place.is_file else "UPDATE version SET version = 3")
    for _ in range(2):
        with pytest.raises(ParameterError, match="version 3, and this hesc knows up to 2: take"):
            place.open()


@pytest.mark.parametrize(
    "what", ["empty", "text", "other", "unversioned", "table", "trigger", "cut", "page"]
)
def test_other_files_are_no_state(file: Place, what: str) -> None:
    path = Path(file.where)
    if what in ("empty", "text"):
        path.write_text("" if what == "empty" else "no database" * 100)
    elif what == "other":
        file.sql("CREATE TABLE x (y)")
    else:
        with opened(file) as state:
            for n in range(50):
                state.settle(name_of(n), bytes(5000), [Charge("token", f"{n}" * 60, 1, None)])
        statements = {
            "unversioned": "PRAGMA user_version = 0",
            "table": "ALTER TABLE given ADD COLUMN more INTEGER",
            "trigger": "CREATE TRIGGER t AFTER INSERT ON given BEGIN DELETE FROM given; END",
        }
        if what in statements:
            file.sql(statements[what])
        else:
            data = path.read_bytes()
            root = file.sql("SELECT rootpage FROM sqlite_schema WHERE name = 'given'")[0][0]
            at = 4096 * (root - 1)
            path.write_bytes(
                data[:6000] if what == "cut" else data[:at] + bytes(4096) + data[at + 4096 :]
            )
    before = path.read_bytes()
    for _ in range(2):
        with pytest.raises(WireError, match=r"no state of a service|damaged state"):
            file.open()
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", range(40))
def test_damage_is_refused_or_shows_in_nothing(file: Place, damage: int) -> None:
    """Bytes that are changed anywhere: an error, a refusal, or what was there; no crash."""
    with opened(file) as state:
        for n in range(4):
            state.settle(name_of(n), bytes([n]) * 3000, CHARGE)
    path, draw = Path(file.where), random.Random(damage)  # noqa: S311
    data = bytearray(path.read_bytes())
    for _ in range(3):
        data[draw.randrange(len(data) if damage % 2 else 8192)] = draw.randrange(256)
    path.write_bytes(data)
    # Kinds of errors that `open` has, and no other.
    with contextlib.suppress(HescError, OSError), opened(file) as state:
        for n in range(6):
            found = tried(partial(state.settle, name_of(n), b"new", CHARGE))
            assert found == "not-kept" or len(found) == 2


def test_another_schema_is_no_state(shared: Place) -> None:
    for statement in (
        "CREATE SCHEMA hesc",
        "CREATE TABLE hesc.version (version BIGINT)",
        "INSERT INTO hesc.version VALUES (1)",
    ):
        shared.sql(statement)
        with pytest.raises(WireError, match="no state of a service"):
            shared.open()
    assert [shared.sql("SELECT version FROM version"), shared.seen.exists()] == [[(1,)], False]


# Addresses


def test_what_is_no_address_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg", reason="psycopg is not installed (the extra `postgres`)")
    how: dict[str, Any] = {"kept": 1, "files": tmp_path / "state"}
    for text in (
        "pass-word@h:port/x",
        "pass-word@h/x?nothing=1",
        "p@pass@h/x",
        "p/pass@h/x",
        "1/pass@h/x",
    ):
        with pytest.raises(ParameterError, match="cannot be read: postgresql://") as refused:
            ServiceState.open(f"postgresql://a:{text}", **how)
        shown = "".join(traceback.format_exception(refused.value))
        assert not [word for word in ("pass@", "pass-word") if word in shown]
    nobody = f"postgresql://a:pass%2Dword@/x?host={tmp_path}"
    with pytest.raises(HescError, match="the database x is no state of a service at") as away:
        ServiceState.open(nobody, **how)
    assert "pass" not in str(away.value)
    assert away.value.__suppress_context__
    with pytest.raises(ParameterError, match="say by `--files`"):
        ServiceState.open(nobody, kept=1)
    with pytest.raises(ParameterError, match="is text, not a path"):
        ServiceState.open(Path("postgresql://x"), **how)
    assert beside(tmp_path / "a") == tmp_path / "a"
    assert beside("postgres://h/x", "y") == Path("y")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "hesc.serve.state.postgres", raising=False)
    monkeypatch.setattr(service_state, "install_line", lambda extra: f"install {extra}")
    with pytest.raises(HescError, match="psycopg, which is not installed: install postgres"):
        ServiceState.open(nobody, **how)


def test_nothing_is_taken_of_psycopg_without_an_address(tmp_path: Path) -> None:
    code = (
        "import sys; from hesc.serve.state.service_state import ServiceState; "
        f"ServiceState.open({str(tmp_path / 'state.db')!r}, kept=1).close(); "
        "assert 'psycopg' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_state_has_one_name(tmp_path: Path) -> None:
    """By a link or another name two processes would each have a lock, and count apart."""
    where = tmp_path / "state.db"
    with_link, with_name = tmp_path / "link.db", tmp_path / "name.db"
    state = ServiceState.open(where, kept=100)
    with_link.symlink_to(where)
    with pytest.raises(ParameterError, match="another process"):
        ServiceState.open(with_link, kept=100)
    state.close()
    os.link(where, with_name)
    for each in (where, with_name):
        with pytest.raises(ParameterError, match="another name"):
            ServiceState.open(each, kept=100)


def test_files_of_a_state_are_their_owner_s(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        ServiceState.open(tmp_path / "state.db", kept=100).close()
    finally:
        os.umask(before)
    for file in tmp_path.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file


@pytest.mark.parametrize(
    "where",
    [
        "POSTGRESQL://u:SECRET@h/db",
        " postgresql://u:SECRET@h/db",
        "postgresql+psycopg://u:SECRET@h/db",
        "dbname=x password=SECRET",
    ],
)
def test_what_looks_like_an_address_is_no_file(where: str, tmp_path: Path) -> None:
    """Nor is it repeated: it may hold a password."""
    with pytest.raises(ParameterError, match="begins with postgresql://") as refused:
        ServiceState.open(where, kept=100, files=tmp_path / "files")
    assert "SECRET" not in str(refused.value)

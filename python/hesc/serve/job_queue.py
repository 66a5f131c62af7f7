"""Jobs: queries that are computed when it is their turn, by threads of their own.

A job is in the state until its holder deletes it or it is too old, so it outlives the service and
the connection. It is answered as every query is: counted once, and kept.
"""

from __future__ import annotations

import logging
import math
import time
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Final

from hesc.serve.answering import Asking
from hesc.serve.key_files import KeyName
from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from hesc.serve.answering import Answering
    from hesc.serve.shared import Shared
    from hesc.serve.state.jobs import Job

_LOG: Final = logging.getLogger("hesc.serve")
_LOOK: Final = 1.0
"""Seconds between two looks for jobs, which other machines may add."""
_EXPIRE: Final = 60.0
"""Seconds between two looks for jobs that are too old."""
_WEIGHT: Final = 0.2
_LATER: Final = ("not-kept", "busy", "keys-missing", "not-ready")
"""Problems after which a job waits on."""


class JobQueue:
    """Jobs, and the threads that compute them.

    Args:
        shared: what all parts share; a holder whose tokens are revoked gets nothing more.
        answering: computes, counts and keeps.
        threads: jobs that are computed at once; with none they wait for another machine.
        room: bytes of queries and answers of all jobs, at most.
        seconds: after which a job goes, done or not.

    """

    def __init__(
        self,
        shared: Shared,
        answering: Answering,
        *,
        threads: int,
        room: int,
        seconds: float,
    ) -> None:
        self._models, self._tokens, self._state, self._keys, _, self._figures = shared
        self._answering = answering
        self._room, self._seconds = room, seconds
        self._lock, self._wake, self._closed = Lock(), Event(), False
        self._usual, self._now = 1.0, 0
        self._expired = time.monotonic()
        self._threads = [
            Thread(target=self._run, name=f"hesc job {place}", daemon=True)
            for place in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def computed_now(self) -> int:
        """Jobs that are computed at the moment, by this process."""
        with self._lock:
            return self._now

    def seconds(self, ahead: int) -> int:
        """How long a job of so many ahead may take, at least a second."""
        with self._lock:
            return max(1, math.ceil(self._usual * (ahead + 1) / max(1, len(self._threads))))

    def has_keys(self, job: Job) -> bool:
        """Whether a job could be computed here."""
        return job.keys is None or self._keys.has(KeyName.of(job.holder, job.model, job.keys))

    def add(self, asking: Asking) -> Job:
        """Puts a query in the queue; the same query again is the same job.

        Raises:
            RefusedError: keys that are not here, a budget that is used up, or no room.

        """
        holder, model, name = asking.holder, asking.model, asking.name
        found = self._state.job(holder.name, name)
        if found is not None and found.problem is None:
            return found
        if asking.kept_keys is not None and not self._keys.has(asking.kept_keys):
            raise RefusedError("keys-missing")
        if self._state.find(name) is None:
            self._answering.check(holder, model, asking.most)
        if found is not None:
            # What was refused before may be given now.
            self._state.drop_job(holder.name, name)
        job = self._state.add_job(
            holder.name,
            model.digest,
            asking.keys,
            asking.asked,
            name,
            asking.query,
            longest_answer=model.longest_answer,
            room=(min(holder.job_bytes, self._room), self._room),
            now=time.time(),
        )
        self._figures.add("hesc_jobs_total", 1, (model.label,))
        self._wake.set()
        return job

    def close(self) -> None:
        """Ends when what is computed is kept; what waits is computed after the next start."""
        self._closed = True
        self._wake.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        while not self._closed:
            try:
                if not self._one():
                    self._wake.clear()
                    if not self._closed:
                        self._wake.wait(_LOOK)
            except Exception as error:
                # The state may be away for a while; whatever it is, the next job is not lost by it.
                _LOG.error("jobs: %s", type(error).__name__)
                self._wake.wait(_LOOK)

    def _one(self) -> bool:
        """Computes the job whose turn it is; whether there was one."""
        self._expire()
        claimed = self._state.claim(self._can)
        if claimed is None:
            return False
        job, query = claimed
        start = time.perf_counter()
        with self._lock:
            self._now += 1
        done = False
        try:
            self._state.finish(job, self._outcome(job, query))
            done = True
        except RefusedError:
            _LOG.info("a job waits on")
            time.sleep(_LOOK)
        finally:
            if not done:
                self._state.release(job)
            took = time.perf_counter() - start
            with self._lock:
                self._now -= 1
                self._usual += _WEIGHT * (took - self._usual)
        return True

    def _can(self, job: Job) -> bool:
        return job.model in self._models and self.has_keys(job)

    def _outcome(self, job: Job, query: bytes) -> str | None:
        """The problem that a job ends with; None where its answer is kept.

        Raises:
            RefusedError: it can be computed later.

        """
        book = self._tokens.book()
        holder = next((each for each in book.holders if each.name == job.holder), None)
        if holder is None or not holder.hashes or not holder.may(job.model):
            return "no-token"
        model, most = self._models[job.model], book.budgets.get(job.model)
        asking = Asking.of(holder, model, most, job.keys, query)
        if asking.name != job.name:
            return "records-changed"
        try:
            self._answering.answer(asking)
        except RefusedError as refused:
            if refused.name in _LATER:
                raise
            return refused.name
        except Exception as error:
            _LOG.error("a job failed: %s", type(error).__name__)
            return "failed"
        return None

    def _expire(self) -> None:
        now = time.monotonic()
        with self._lock:
            if now - self._expired < _EXPIRE:
                return
            self._expired = now
        gone = self._state.expire(time.time() - self._seconds)
        if gone:
            _LOG.info("%d jobs were too old", gone)

"""A client process that loads a service, and holds every answer to the model in the clear.

It speaks HTTP/1.1 over plain sockets, so that it takes a small part of what a server takes.
Queries are encrypted before they are due; answers are decrypted afterwards, or while nothing is
due.
"""

from __future__ import annotations

import json
import random
import select
import socket
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc.ml import ClientFolder

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAR: Final = "clear.npz"
"""Beside the folders of a deployment: rows, and what the model says of them in the clear."""
STATED: Final = 7
"""Stated errors that a score may be off by; a normal one is further off once in 10^11."""
QUANTILES: Final = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
_END: Final = b"\r\n\r\n"
_AHEAD: Final = 256
"""Queries that are ready while time is left to encrypt them."""
_LEFT: Final = 4e-4
"""Seconds until the next arrival in which one query may be encrypted or one answer decrypted."""
_SAMPLE: Final = 500
"""Answers that are kept to ask for them again."""


class Target(NamedTuple):
    """What is asked, and as whom."""

    port: int
    path: str
    token: str

    def request(self, query: bytes) -> bytes:
        """The bytes of a request, head and body."""
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Length: {len(query)}\r\n\r\n"
        )
        return head.encode() + query


class Query(NamedTuple):
    """A row of the data, encrypted."""

    row: int
    data: bytes


class Given(NamedTuple):
    """What came back."""

    query: Query
    status: int
    heads: bytes
    body: bytes


class Connection:
    """One connection, with at most one request under way."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._came = bytearray()
        self._whole = 0
        self.query: Query | None = None
        self.due = 0.0

    def fileno(self) -> int:
        """What `select` waits for."""
        return self._socket.fileno()

    def ask(self, request: bytes, query: Query, due: float) -> None:
        """Sends a request, which counts from when it was due."""
        self.query, self.due = query, due
        self._socket.sendall(request)

    def read(self) -> Given | None:
        """The answer, when all of it is there.

        Raises:
            ConnectionError: the server has closed the connection.

        """
        piece = self._socket.recv(1 << 16)
        if not piece:
            raise ConnectionError("the server has closed the connection")
        self._came += piece
        if not self._whole:
            head = self._came.find(_END)
            if head < 0:
                return None
            found = self._came[:head].lower().split(b"content-length:")[1]
            self._whole = head + len(_END) + int(found.split(b"\r\n")[0])
        if len(self._came) < self._whole or self.query is None:
            return None
        heads, body = bytes(self._came).split(_END, 1)
        given = Given(self.query, int(heads[9:12]), heads, body)
        self._came.clear()
        self._whole, self.query = 0, None
        return given

    def close(self) -> None:
        """Ends it."""
        self._socket.close()


@dataclass
class Run:
    """What a run of load found."""

    latencies: list[float] = field(default_factory=list)
    """Seconds, of each answer, from when its request was due."""
    late: list[float] = field(default_factory=list)
    """Seconds by which requests left after they were due, also for want of a connection."""
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: float = 0.0
    busy: float = 0.0
    """The part of the time that this process computed."""
    broken: int = 0
    fresh: int = 0
    """Queries that had to be encrypted while one was due."""

    def summary(self) -> dict[str, Any]:
        """Figures of it, times in microseconds."""
        found: dict[str, Any] = {
            "answers": self.statuses[200],
            "refused": self.statuses.total() - self.statuses[200],
            "broken": self.broken,
            "a second": self.statuses[200] / self.seconds,
            "load busy": self.busy,
            "fresh": self.fresh,
        }
        if self.late:
            found["late"] = 1e6 * float(np.median(self.late))
        if self.latencies:
            of = np.quantile(self.latencies, list(QUANTILES.values()))
            found |= {name: 1e6 * float(each) for name, each in zip(QUANTILES, of, strict=True)}
        return found


class Loader:
    """Honest clients of one deployment.

    Args:
        folder: of the deployment, with `CLEAR` in it.

    """

    def __init__(self, folder: Path) -> None:
        opened = ClientFolder.open(folder / "client")
        self.client, self._error = opened.client(), opened.plan.error
        clear = np.load(folder / CLEAR)
        self._rows, self._scores, self._classes = clear["rows"], clear["scores"], clear["classes"]
        self._next = 0
        self._ready: deque[Query] = deque()
        self._unchecked: deque[Given] = deque()
        self._sample: list[Given] = []
        self.checked = self.wrong = 0

    def prepare(self, count: int) -> int:
        """Encrypts queries until so many are ready."""
        while len(self._ready) < count:
            self._encrypt()
        return len(self._ready)

    def _encrypt(self) -> None:
        row = self._next % len(self._rows)
        self._next += 1
        self._ready.append(Query(row, self.client.encrypt(self._rows[[row]]).data))

    def closed(
        self, target: Target, connections: int, seconds: float, *, same: bool = False
    ) -> Run:
        """So many clients, each of which asks when it has been answered.

        Where all ask the `same`, answers are of no model, and nobody looks at them.
        """
        return self._run(target, connections, None, seconds, same=same)

    def open(self, target: Target, connections: int, rate: float, seconds: float, seed: int) -> Run:
        """Arrivals by a Poisson process, which wait for no answer; latency is from the arrival."""
        drawn = random.Random(seed)  # noqa: S311 - arrivals, no secrets
        due, at = [], 0.0
        while (at := at + drawn.expovariate(rate)) < seconds:
            due.append(at)
        return self._run(target, connections, due, seconds)

    def _run(
        self,
        target: Target,
        connections: int,
        due: Sequence[float] | None,
        seconds: float,
        *,
        same: bool = False,
    ) -> Run:
        found = Run()
        free = [Connection(target.port) for _ in range(connections)]
        busy: set[Connection] = set()
        number, computed, start = 0, time.process_time(), time.perf_counter()
        while True:
            now = time.perf_counter() - start
            while free and (now < seconds if due is None else number < len(due)):
                at = now if due is None else due[number]
                if at > now:
                    break
                found.late.append(now - at)
                self._send(target, free.pop(), busy, start + at, found, same=same)
                number += 1
                now = time.perf_counter() - start
            if not busy and (now >= seconds if due is None else number == len(due)):
                break
            wait = 60.0
            if due is not None and free and number < len(due):
                wait = max(0.0, due[number] - now)
                if wait > _LEFT and self._between():
                    wait = 0.0
            for connection in select.select(busy, (), (), wait)[0]:
                self._read(target, connection, busy, free, found)
        found.seconds = time.perf_counter() - start
        found.busy = (time.process_time() - computed) / found.seconds
        for connection in free:
            connection.close()
        if same:
            self._unchecked.clear()
        return found

    def _send(
        self,
        target: Target,
        connection: Connection,
        busy: set[Connection],
        due: float,
        found: Run,
        *,
        same: bool,
    ) -> None:
        if not self._ready:
            self._encrypt()
            found.fresh += 1
        query = self._ready[0] if same else self._ready.popleft()
        request = target.request(query.data)
        try:
            connection.ask(request, query, due)
        except ConnectionError:
            connection.close()
            found.broken += 1
            connection = Connection(target.port)
            connection.ask(request, query, due)
        busy.add(connection)

    def _read(
        self,
        target: Target,
        connection: Connection,
        busy: set[Connection],
        free: list[Connection],
        found: Run,
    ) -> None:
        try:
            given = connection.read()
        except ConnectionError:
            # Servers close connections that were idle for seconds, also while a request is on
            # its way: the same bytes again, and as late as it is.
            busy.discard(connection)
            connection.close()
            found.broken += 1
            if connection.query is not None:
                other, query = Connection(target.port), connection.query
                other.ask(target.request(query.data), query, connection.due)
                busy.add(other)
            return
        if given is None:
            return
        found.latencies.append(time.perf_counter() - connection.due)
        found.statuses[given.status] += 1
        busy.discard(connection)
        free.append(connection)
        if given.status == 200:
            self._unchecked.append(given)

    def _between(self) -> bool:
        """Work that is not due: one answer is checked, or one query encrypted."""
        if len(self._unchecked) > _AHEAD:
            self._check(self._unchecked.popleft())
            return True
        if len(self._ready) < _AHEAD:
            self._encrypt()
            return True
        return False

    def check(self) -> None:
        """Holds all answers that have come to the model in the clear."""
        while self._unchecked:
            self._check(self._unchecked.popleft())

    def _check(self, given: Given) -> None:
        self.checked += 1
        row = given.query.row
        try:
            said = self.client.decrypt(given.body, query=given.query.data)
            off = np.abs(said.scores[0] - self._scores[row]).max()
            self.wrong += int(
                said.predictions[0] != self._classes[row] or off > STATED * self._error
            )
        except ValueError:
            self.wrong += 1
        if len(self._sample) < _SAMPLE:
            self._sample.append(given)
        else:
            # The last ones: older answers may have gone.
            self._sample[self.checked % _SAMPLE] = given

    def again(self, target: Target) -> dict[str, int]:
        """Asks for answers a second time: how many, and how many are other ones now."""
        connection = Connection(target.port)
        lost = 0
        for given in self._sample:
            connection.ask(target.request(given.query.data), given.query, 0.0)
            came = None
            while came is None:
                came = connection.read()
            kept = b"hesc-kept: true" in came.heads.lower()
            lost += not (came.status == 200 and kept and came.body == given.body)
        connection.close()
        return {"asked": len(self._sample), "lost": lost}


def _done(loader: Loader, told: dict[str, Any]) -> dict[str, Any]:
    """Does what a line says."""
    what = told.pop("do")
    if what == "prepare":
        return {"ready": loader.prepare(told["count"])}
    target = Target(**told.pop("target"))
    if what == "again":
        return loader.again(target)
    run = loader.closed(target, **told) if what == "closed" else loader.open(target, **told)
    wrong = loader.wrong
    loader.check()
    return run.summary() | {"wrong": loader.wrong - wrong, "wrong in all": loader.wrong}


if __name__ == "__main__":
    LOADER = Loader(Path(sys.argv[1]))
    for line in sys.stdin:
        if line.strip():
            sys.stdout.write(json.dumps(_done(LOADER, json.loads(line))) + "\n")
            sys.stdout.flush()

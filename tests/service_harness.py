"""A service among honest and hostile clients, on a disk that is full for a while, and killed.

Honest clients hold every prediction to the model in the clear (`hesc_papers.serving_kills`).
Hostile ones know what each of their requests has to come to. In the end the service's counts are
compared with what clients have, its memory and open files with the beginning, and its log is
searched for secrets.
"""

from __future__ import annotations

import base64
import json
import random
import resource
import socket
import time
from contextlib import closing, suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from hesc.ml import ClientFolder, PrivateClassifier
from hesc_papers.serving_kills import Audit, HonestClient, audit, budgets
from hesc_papers.serving_run import Book, Deployment, ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

BODY_SECONDS: Final = 1.0
"""What a slow body is given."""
_PIECE: Final = 16
"""Bytes of a query that are looked for in logs."""
_ROW: Final = 6
"""Features of a row that are looked for in logs, one after the other."""
_CONNECTIONS: Final = 4
_LATER: Final = 2
"""Files that SQLite opens with the first answers."""


def foreign_query() -> bytes:
    """A query of another plan."""
    rows, classes = load_iris(return_X_y=True)
    private = PrivateClassifier(LogisticRegression(max_iter=500)).fit(rows, classes)
    private.plan(rows, table=False)
    found: bytes = private.client().encrypt(rows[:1]).data
    return found


class Hostile(Thread):
    """Sends what no honest client sends, one kind after the other.

    Args:
        server: whom.
        deployment: what it asks about.
        book: who may ask.
        victims: honest clients, whose queries it sends again.
        seed: of what it sends.

    """

    def __init__(
        self,
        server: ServerProcess,
        deployment: Deployment,
        book: Book,
        victims: Sequence[HonestClient],
        seed: int,
    ) -> None:
        super().__init__(daemon=True)
        self._server, self._deployment, self._victims = server, deployment, victims
        self._token = book.tokens["hostile"]
        self._client = ClientFolder.open(deployment.folder / "client").client()
        self._foreign = foreign_query()
        self._drawn = random.Random(seed)  # noqa: S311 - what is sent, no secret
        self.ended = Event()
        self.surprises: list[str] = []
        """What came back where something else had to."""
        self.sent: set[bytes] = set()
        """Whole queries, which may have been answered and counted."""
        self.answered: dict[bytes, bytes] = {}
        self.tried: dict[str, int] = {}
        """How often each kind was sent."""

    def run(self) -> None:
        attacks: list[Callable[[], str]] = [
            self._damaged,
            self._shortened,
            self._cut_off,
            self._too_long,
            self._too_long_unstated,
            self._foreign_plan,
            self._without_token,
            self._garbage,
            self._cancelled,
            self._replayed,
            self._at_once,
            self._slow,
        ]
        while not self.ended.is_set():
            for attack in attacks:
                if self.ended.is_set():
                    break
                name = attack.__name__.strip("_")
                try:
                    said = attack()
                except OSError:
                    continue  # the service was killed, or has closed the connection
                self.tried[name] = self.tried.get(name, 0) + 1
                if said:
                    self.surprises.append(f"{name}: {said}")

    def _query(self) -> bytes:
        row = self._drawn.randrange(len(self._deployment.rows))
        found: bytes = self._client.encrypt(self._deployment.rows[[row]]).data
        return found

    def _connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._server.port), timeout=30)

    def _head(self, *lines: str, token: str | None = None) -> bytes:
        heads = [
            f"POST {self._deployment.path} HTTP/1.1",
            "Host: localhost",
            f"Authorization: Bearer {self._token if token is None else token}",
            "Connection: close",
            *lines,
        ]
        return "\r\n".join([*heads, "", ""]).encode()

    def _status(self, data: bytes) -> int:
        """The status of what is sent on a connection of its own."""
        with self._connected() as connection:
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(data)
            return int(connection.recv(12)[9:12] or 0)

    def _asked(self, query: bytes, *, token: str | None = None) -> bytes:
        return self._head(f"Content-Length: {len(query)}", token=token) + query

    def _whole(self, query: bytes) -> tuple[int, bytes, bytes]:
        """Status, heads and body of the answer to a query."""
        self.sent.add(query)
        with self._connected() as connection:
            connection.sendall(self._asked(query))
            came = b""
            while piece := connection.recv(1 << 16):
                came += piece
        heads, _, body = came.partition(b"\r\n\r\n")
        status = int(heads[9:12] or 0)
        if status == 200:
            self.answered[query] = body
        return status, heads.lower(), body

    def _damaged(self) -> str:
        query = bytearray(self._query())
        query[self._drawn.randrange(len(query))] ^= 1 << self._drawn.randrange(8)
        return _unless(self._status(self._asked(bytes(query))), 400)

    def _shortened(self) -> str:
        query = self._query()
        return _unless(self._status(self._asked(query[: self._drawn.randrange(len(query))])), 400)

    def _cut_off(self) -> str:
        with self._connected() as connection:
            connection.sendall(self._asked(self._query())[:-100])
        return ""

    def _too_long(self) -> str:
        return _unless(self._status(self._head(f"Content-Length: {1 << 40}") + b"x"), 413)

    def _too_long_unstated(self) -> str:
        piece = b"10000\r\n" + bytes(0x10000) + b"\r\n"
        head = self._head("Transfer-Encoding: chunked")
        with self._connected() as connection:
            with suppress(BrokenPipeError, ConnectionResetError):
                for _ in range(64):
                    connection.sendall(head + piece)
                    head = b""
            with suppress(ConnectionResetError):
                return _unless(int(connection.recv(12)[9:12] or 413), 413)
        return ""

    def _foreign_plan(self) -> str:
        return _unless(self._status(self._asked(self._foreign)), 400)

    def _without_token(self) -> str:
        token = self._drawn.choice(["", "x", "Bearer", self._token[:-1], self._token + "x"])
        return _unless(self._status(self._asked(self._query(), token=token)), 401)

    def _garbage(self) -> str:
        data = self._drawn.randbytes(self._drawn.randrange(1, 2000)) + b"\r\n\r\n"
        return _unless(self._status(data), 400)

    def _cancelled(self) -> str:
        query = self._query()
        self.sent.add(query)
        with self._connected() as connection:
            connection.sendall(self._asked(query))
        return ""

    def _replayed(self) -> str:
        """An honest client's query, by another token: the same answer."""
        old = list(self._drawn.choice(self._victims).answered.items())
        if not old:
            return ""
        query, answer = self._drawn.choice(old)
        status, heads, body = self._whole(query)
        self.sent.discard(query)
        self.answered.pop(query, None)
        if status == 503:
            return ""
        if b"hesc-kept: true" not in heads:
            return "an answer was given anew"
        return "" if body == answer else "another answer"

    def _at_once(self) -> str:
        """A query by several connections: one answer."""
        query = self._query()
        found: list[tuple[int, bytes, bytes]] = []

        def ask() -> None:
            with suppress(OSError):
                found.append(self._whole(query))

        threads = [Thread(target=ask) for _ in range(_CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answers = {body for status, _, body in found if status == 200}
        if len(answers) > 1:
            return "several answers"
        odd = {status for status, *_ in found} - {0, 200, 503, 429}
        return f"status {odd}" if odd else ""

    def _slow(self) -> str:
        with self._connected() as connection:
            connection.sendall(self._head("Content-Length: 1000"))
            end = time.monotonic() + BODY_SECONDS + 10
            connection.settimeout(0.2)
            while time.monotonic() < end:
                connection.sendall(b"a")
                with suppress(TimeoutError):
                    return _unless(int(connection.recv(12)[9:12] or 0), 408)
        return "a slow body was waited for"


def _unless(status: int, wanted: int) -> str:
    """What is surprising of a status. Where nothing can be counted all is refused; 0 is a kill."""
    return "" if status in (wanted, 503, 429, 0) else f"status {status}, not {wanted}"


def secrets_of(
    deployment: Deployment, book: Book, queries: Sequence[bytes]
) -> Iterator[tuple[str, bytes]]:
    """What no log may have, by what it is: texts of 12 bytes and more."""
    for name, token in book.tokens.items():
        for start in range(0, len(token) - 12, 6):
            yield f"token of {name}", token[start : start + 12].encode()
    for query in queries:
        # Behind the head, which is the same in all.
        for start in (len(query) // 2, len(query) - _PIECE):
            piece = query[start : start + _PIECE]
            yield "query", piece
            yield "query, hex", piece.hex().encode()
            yield "query, escaped", repr(piece)[2:-1].encode()
            for shift in range(3):
                yield "query, base64", base64.b64encode(piece[shift:])[:-4]
    for row in deployment.rows[::50]:
        at = int(row.argmax())
        values = row[at : at + _ROW].tolist()
        if len(values) == _ROW:
            for shown in (values, [int(value) for value in values]):
                yield "features", ", ".join(map(str, shown)).encode()
                yield "features", " ".join(map(str, shown)).encode()
    server = json.loads((deployment.server / "server.json").read_text())
    for name, value in server.items():
        if isinstance(value, dict) and "f8" in value:
            numbers = np.frombuffer(base64.b64decode(value["f8"]))
            for number in numbers[numbers != 0][::20].tolist():
                # Eight digits, as any form of it begins with.
                yield f"model: {name}", f"{number:.17f}"[:10].encode()
            if len(numbers) > 3 * _PIECE:
                yield f"model: {name}", value["f8"][len(value["f8"]) // 2 :][:24].encode()


def leaks(log: bytes, secrets: Iterator[tuple[str, bytes]]) -> list[str]:
    """What a log says and may not."""
    found = {what for what, secret in secrets if secret in log}
    found |= {"a trace of a failure" for word in (b"Traceback", b"failed:") if word in log}
    return sorted(found)


@dataclass
class Findings:
    """What a run found."""

    audit: Audit
    surprises: list[str] = field(default_factory=list)
    """What hostile clients were answered and should not have been."""
    leaks: list[str] = field(default_factory=list)
    grown: float = 0.0
    """Bytes of memory beyond what there were at the beginning, over these."""
    files: int = 0
    """Files and connections that stay open, more than before the first client."""
    hostile_charges: int = 0
    """Answers that were counted of hostile clients beyond their whole queries."""
    tried: dict[str, int] = field(default_factory=dict)
    kills: int = 0
    was_full: bool = False

    def faults(self, *, growth: float) -> dict[str, Any]:
        """What has to be nothing, and is not.

        Args:
            growth: by how much memory may have grown, over what it was.

        """
        found: dict[str, Any] = dict(self.audit.faults)
        if self.grown > growth:
            found["memory"] = self.grown
        found |= {f"leaks: {what}": True for what in self.leaks}
        more = {
            "surprises": self.surprises,
            "files": self.files,
            "hostile_charges": self.hostile_charges,
        }
        return found | {name: value for name, value in more.items() if value}


def under_fire(
    folder: Path,
    deployment: Deployment,
    *,
    seconds: float,
    kills: int = 0,
    full_disk: bool = False,
    faults: Sequence[str] = (),
    tight: int = 60,
) -> Findings:
    """A service among honest and hostile clients, then killed among honest ones.

    Args:
        folder: an empty one, for state and log.
        deployment: what is served.
        seconds: how long hostile clients are there; memory and files are compared over them.
        kills: how often the service is killed afterwards.
        full_disk: whether nothing can be written for a while.
        faults: of `tests.sabotaged_service`.
        tight: the budget that is used up on the way.

    """
    book = Book(folder, wide=None, tight=tight, hostile=None)
    options = ("--body-seconds", str(BODY_SECONDS), "--threads", "2")
    how: dict[str, Any] = {"module": "tests.sabotaged_service"} if faults else {}
    server = ServerProcess(",".join(faults) or "whole", folder, deployment, book, *options, **how)
    drawn = random.Random(seconds)  # noqa: S311 - when it is killed
    honest = [
        HonestClient(server, deployment, name, book.tokens[name], seed)
        for seed, name in enumerate(("wide", "wide", "tight", "tight"))
    ]
    hostile = [Hostile(server, deployment, book, honest[:2], seed) for seed in range(2)]
    try:
        _until(lambda: _ready(server) == 200, ())
        files = server.files + _LATER
        for client in [*honest, *hostile]:
            client.start()
        _until(lambda: _answers(honest) > 20, honest)
        time.sleep(seconds / 4)
        memory = server.memory
        was_full = full_disk and _full(server, honest)
        time.sleep(3 * seconds / 4)
        for each in hostile:
            each.ended.set()
        for each in hostile:
            each.join(60)
        grown = server.memory / memory - 1
        for _ in range(kills):
            wanted = _answers(honest) + drawn.randrange(4, 40)
            _until(lambda wanted=wanted: _answers(honest) >= wanted, honest)  # type: ignore[misc]
            time.sleep(drawn.uniform(0, 0.01))
            server.kill()
            server.start()
        for client in honest:
            client.ended.set()
        for client in honest:
            client.join(60)
        found = audit(server, deployment, book, honest, others=["hostile"])
        given = budgets(server, deployment.digest, book.tokens["hostile"])["answers"]["given"]
        left = _left_open(server, files)
    finally:
        for ended in [each.ended for each in honest] + [each.ended for each in hostile]:
            ended.set()
        server.kill()
    sent = set[bytes]().union(*(each.sent for each in hostile))
    answered = set[bytes]().union(*(set(each.answered) for each in hostile))
    queries = [*list(honest[0].answered)[:20], *list(sent)[:20]]
    return Findings(
        audit=found,
        surprises=[text for each in hostile for text in each.surprises],
        leaks=leaks(server.log.read_bytes(), secrets_of(deployment, book, queries)),
        grown=grown,
        files=left,
        hostile_charges=max(0, given - len(sent), len(answered) - given),
        tried={
            name: sum(each.tried.get(name, 0) for each in hostile)
            for name in {name for each in hostile for name in each.tried}
        },
        kills=kills,
        was_full=was_full,
    )


def _left_open(server: ServerProcess, before: int) -> int:
    """Files that are open beyond those before, when connections have had time to end."""
    end = time.monotonic() + 3
    while server.files > before and time.monotonic() < end:
        time.sleep(0.05)
    return max(0, server.files - before)


def _answers(clients: Sequence[HonestClient]) -> int:
    return sum(len(client.answered) + client.refused for client in clients)


def _until(met: Callable[[], bool], clients: Sequence[HonestClient]) -> None:
    end = time.monotonic() + 60
    while not met():
        if time.monotonic() > end or (clients and not any(c.is_alive() for c in clients)):
            raise AssertionError(f"nobody is answered: {[c.errors for c in clients]}")
        time.sleep(0.002)


def _full(server: ServerProcess, honest: Sequence[HonestClient]) -> bool:
    """A disk that takes no more for a while; whether the service said that it was not ready.

    Neither the state nor the log can be written: no file may grow beyond what the log has.
    """
    log = server.log.stat().st_size
    before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (log, before[1]))
    end, seen = time.monotonic() + 10, False
    while not seen and time.monotonic() < end:
        seen = _ready(server) == 503
        time.sleep(0.02)
    time.sleep(0.2)
    resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)
    answers = _answers(honest[:2])
    _until(lambda: _answers(honest[:2]) > answers + 5, honest)
    return seen


def _ready(server: ServerProcess) -> int:
    with closing(socket.create_connection(("127.0.0.1", server.port), timeout=30)) as connection:
        connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return int(connection.recv(12)[9:12] or 0)

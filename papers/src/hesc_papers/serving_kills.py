"""Honest clients of a service that is killed in their midst, and what its counts say in the end."""

from __future__ import annotations

import http.client
import json
import random
import time
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc.ml import ClientFolder
from hesc_papers.serving_load import STATED, Connection, Given, Query, Target
from hesc_papers.serving_run import Book, ServerProcess

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hesc_papers.serving_run import Deployment

_REPLAYS: Final = 8
"""One query in so many is an old one."""
_PATIENCE: Final = 120.0
_AGAIN: Final = (409, 429, 503)
"""What a client answers with the same bytes, later."""


class HonestClient(Thread):
    """Asks until it is told to stop, each query until it is answered or a budget is used up.

    Every answer is held to the model in the clear; now and then an old query is sent again, whose
    answer has to be the old one.

    Args:
        server: whom it asks.
        deployment: what it asks about.
        name: whose budget it is.
        token: the token of that name.
        seed: of its rows, and of when it asks again.

    """

    def __init__(
        self, server: ServerProcess, deployment: Deployment, name: str, token: str, seed: int
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._server, self._deployment, self._token = server, deployment, token
        opened = ClientFolder.open(deployment.folder / "client")
        self._client, self._error = opened.client(), opened.plan.error
        self._drawn = random.Random(seed)  # noqa: S311 - which row, no secret
        self._connection: Connection | None = None
        self.ended = Event()
        self.answered: dict[bytes, bytes] = {}
        """Queries and their answers."""
        self.wrong = self.changed = self.refused = self.broken = 0
        self.errors: list[str] = []
        """What no client may see."""

    def run(self) -> None:
        """Asks."""
        old: list[bytes] = []
        while not self.ended.is_set():
            if old and self._drawn.random() * _REPLAYS < 1:
                data = self._drawn.choice(old)
                given = self._settled(Query(-1, data))
                if given is not None:
                    self.changed += given.status != 200 or given.body != self.answered[data]
                continue
            row = self._drawn.randrange(len(self._deployment.rows))
            query = Query(row, self._client.encrypt(self._deployment.rows[[row]]).data)
            given = self._settled(query)
            if given is None:
                continue
            if given.status == 200:
                self.answered[query.data] = given.body
                old.append(query.data)
                self.wrong += not self._is_right(given)
            elif given.status == 403:
                self.refused += 1
            else:
                self.errors.append(f"status {given.status}")

    def _is_right(self, given: Given) -> bool:
        row, of = given.query.row, self._deployment
        try:
            said = self._client.decrypt(given.body, query=given.query.data)
        except ValueError:
            return False
        off = np.abs(said.scores[0] - of.scores[row]).max()
        return bool(said.predictions[0] == of.classes[row] and off < STATED * self._error)

    def _settled(self, query: Query) -> Given | None:
        """What a query comes to in the end; None where nobody answers for very long."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            given = self._once(query)
            if given is not None and given.status not in _AGAIN:
                return given
            time.sleep(0.005)
        self.errors.append("nobody answers")
        return None

    def _once(self, query: Query) -> Given | None:
        """What comes back, or None where the connection breaks."""
        try:
            if self._connection is None:
                self._connection = Connection(self._server.port)
            target = Target(self._server.port, self._deployment.path, self._token)
            self._connection.ask(target.request(query.data), query, 0.0)
            given = None
            while given is None:
                given = self._connection.read()
        except OSError:
            self.broken += 1
            if self._connection is not None:
                self._connection.close()
                self._connection = None
            return None
        if b"connection: close" in given.heads.lower():
            self._connection.close()
            self._connection = None
        return given

    def again(self) -> int:
        """Asks for all its answers once more: how many are other ones now, or cost anew."""
        lost = 0
        for data, answer in self.answered.items():
            given = self._settled(Query(-1, data))
            kept = given is not None and b"hesc-kept: true" in given.heads.lower()
            lost += not (kept and given is not None and given.body == answer)
        return lost

    def close(self) -> None:
        """Ends its connection."""
        if self._connection is not None:
            self._connection.close()


class Audit(NamedTuple):
    """What clients saw beside what the service has counted."""

    answers: int
    """Queries that were answered, each counted once."""
    lost: int
    """Answers that the same query does not give any more."""
    wrong: int
    """Predictions or scores that are not those of the model in the clear."""
    over_budget: int
    """Answers beyond what a name may have."""
    charged_twice: int
    """Answers that the service counts, and nobody has asked for."""
    uncounted: int
    """Answers that clients have, and the service does not count."""
    errors: tuple[str, ...]
    """What no client may see."""

    @property
    def faults(self) -> dict[str, int]:
        """Those of its figures that have to be 0, and are not."""
        found = self._asdict() | {"errors": len(self.errors)}
        return {name: count for name, count in found.items() if name != "answers" and count}


def budgets(server: ServerProcess, digest: str, token: str) -> dict[str, Any]:
    """What the service says of budgets to a holder of a token."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    heads = {"Authorization": f"Bearer {token}"}
    connection.request("GET", f"/v1/models/{digest}", headers=heads)
    response = connection.getresponse()
    found: dict[str, Any] = json.loads(response.read())
    connection.close()
    if response.status != 200:
        raise RuntimeError(f"budgets are not told: {found}")
    counts: dict[str, Any] = found["budgets"]
    return counts


def audit(
    server: ServerProcess,
    deployment: Deployment,
    book: Book,
    clients: Sequence[HonestClient],
    others: Sequence[str] = (),
) -> Audit:
    """Compares what clients have with what is counted, when all of them have ended.

    Args:
        server: the service, which runs.
        deployment: what is served.
        book: who may ask, and how much.
        clients: all that asked for answers.
        others: names whose answers nobody has counted here; their own counts are not judged.

    """
    lost = sum(client.again() for client in clients)
    for client in clients:
        client.close()
    distinct = {name: set[bytes]() for name in book.tokens}
    for client in clients:
        distinct[client.name] |= set(client.answered)
    over = twice = missing = counted = 0
    in_all = 0
    for name, token in book.tokens.items():
        told = budgets(server, deployment.digest, token)
        in_all = told["answers_in_all"]["given"]
        given, most = told["answers"]["given"], book.answers[name]
        counted += given
        if most is not None:
            over += max(0, given - most, len(distinct[name]) - most)
        if name not in others:
            twice += max(0, given - len(distinct[name]))
            missing += max(0, len(distinct[name]) - given)
    # Each answer is of one token and of the model.
    twice, missing = twice + max(0, in_all - counted), missing + max(0, counted - in_all)
    return Audit(
        answers=len(set().union(*distinct.values())),
        lost=lost + sum(client.changed for client in clients),
        wrong=sum(client.wrong for client in clients),
        over_budget=over,
        charged_twice=twice,
        uncounted=missing,
        errors=tuple(error for client in clients for error in client.errors),
    )


def killed(folder: Path, deployment: Deployment, kills: int, seed: int = 0) -> dict[str, Any]:
    """Kills a service under load so many times, and audits it.

    Four clients ask, two of them by a token whose budget is used up on the way.
    """
    book = Book(folder, wide=None, tight=4 * kills)
    drawn = random.Random(seed)  # noqa: S311 - when it is killed
    server = ServerProcess("whole", folder, deployment, book)
    names = ("wide", "wide", "tight", "tight")
    clients = [
        HonestClient(server, deployment, name, book.tokens[name], seed + place)
        for place, name in enumerate(names)
    ]
    restarts = []
    try:
        for client in clients:
            client.start()
        for _ in range(kills):
            wanted = _done(clients) + drawn.randrange(4, 40)
            _wait(lambda wanted=wanted: _done(clients) >= wanted)
            time.sleep(drawn.uniform(0, 0.01))
            server.kill()
            start = time.perf_counter()
            server.start()
            restarts.append(time.perf_counter() - start)
        for client in clients:
            client.ended.set()
        for client in clients:
            client.join(_PATIENCE)
        found = audit(server, deployment, book, clients)
        used = budgets(server, deployment.digest, book.tokens["tight"])["answers"]
    finally:
        server.kill()
    return {
        "kills": kills,
        "audit": found,
        "used up": used["given"] == used["most"],
        "refused": sum(client.refused for client in clients),
        "broken": sum(client.broken for client in clients),
        "restart, s": float(np.median(restarts)),
    }


def _done(clients: Sequence[HonestClient]) -> int:
    """Answers and refusals so far."""
    return sum(len(client.answered) + client.refused for client in clients)


def _wait(met: Any) -> None:
    end = time.monotonic() + _PATIENCE
    while not met():
        if time.monotonic() > end:
            raise RuntimeError("the service answers nobody any more")
        time.sleep(0.001)

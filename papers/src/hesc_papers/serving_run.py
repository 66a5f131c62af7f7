"""Processes of a study of the service: a deployment of digits, servers, and a client process."""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc_papers.other_process import OtherProcess
from hesc_papers.serving_echo import BYTES
from hesc_papers.serving_load import CLEAR, STATED

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT: Final = re.compile(rb"serving at http://\S+:(\d+)")
_START: Final = 60
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class Deployment:
    """Logistic regression of scikit-learn's digits, saved.

    Args:
        folder: where; an empty one.

    """

    def __init__(self, folder: Path) -> None:
        from sklearn.datasets import load_digits
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits

        from hesc.ml import PrivateClassifier

        rows, classes = load_digits(return_X_y=True)
        # On small matrices threads wait for each other, for seconds where others compute too.
        with threadpool_limits(1):
            private = PrivateClassifier(LogisticRegression(max_iter=5000)).fit(rows, classes)
        plan = private.plan(rows, table=False)
        self.folder = folder / "digits"
        private.save(self.folder, sample=0)
        scores = private.decision_function(rows)
        best = np.sort(scores, axis=1)
        # Rows whose class no error of scores that is looked for turns into another.
        sure = best[:, -1] - best[:, -2] > 2 * STATED * plan.error
        self.rows, self.scores = rows[sure], scores[sure]
        self.classes = private.predict(rows)[sure]
        np.savez(self.folder / CLEAR, rows=self.rows, scores=self.scores, classes=self.classes)
        self.server, self.digest = self.folder / "server", plan.digest.hex()
        self.path = f"/v1/models/{self.digest}/answers"


class Book:
    """A file of tokens, whose names are those of budgets.

    Args:
        folder: where it is written.
        answers: for each name answers in all, or None.

    """

    def __init__(self, folder: Path, **answers: int | None) -> None:
        self.answers = answers
        self.tokens = {name: secrets.token_urlsafe(32) for name in answers}
        self.path = folder / "tokens.toml"
        parts = []
        for name, most in answers.items():
            hashed = hashlib.sha256(self.tokens[name].encode()).hexdigest()
            budget = "" if most is None else f"answers = {most}\n"
            parts.append(
                f'[tokens.{name}]\nsha256 = "{hashed}"\nmodels = ["*"]\nconcurrent = 1000\n{budget}'
            )
        self.path.write_text("\n".join(parts))


class ServerProcess:
    """`hesc serve`, or what is compared with it, on a port over its lives.

    Args:
        what: `whole`, `unkept`, `echo` or `bare`, as `serving_echo` has it.
        folder: where state and log are.
        deployment: what is served.
        book: who may ask.
        options: of `hesc serve`.
        echo: bytes of an answer of `echo` and `bare`.
        module: what starts it.

    """

    def __init__(
        self,
        what: str,
        folder: Path,
        deployment: Deployment,
        book: Book,
        *options: str,
        echo: int = 0,
        module: str = "hesc_papers.serving_echo",
    ) -> None:
        self._environment = {**os.environ, BYTES: str(echo), "COLUMNS": "200"}
        self._arguments = [
            *(sys.executable, "-m", module, what, str(deployment.server)),
            *("--tokens", str(book.path), "--state", str(folder / "state.db"), *options),
        ]
        self.log, self.port = folder / "log", 0
        self.start()

    def start(self) -> None:
        """Starts it; returns when it listens.

        Raises:
            RuntimeError: it ended, and the log says why.

        """
        with self.log.open("ab") as log:
            before = log.tell()
            self._running = subprocess.Popen(  # noqa: S603 - our own module
                [*self._arguments, "--port", str(self.port)],
                stdout=log,
                stderr=log,
                env=self._environment,
            )
        end = time.monotonic() + _START
        while time.monotonic() < end and self.alive:
            found = _AT.search(self.log.read_bytes()[before:])
            if found is not None:
                self.port = int(found[1])
                return
            time.sleep(0.005)
        raise RuntimeError(f"the server did not start: {self.log.read_text()[-2000:]}")

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._running.pid

    @property
    def memory(self) -> int:
        """Bytes that it has in memory."""
        return _PAGE * int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])

    @property
    def files(self) -> int:
        """Files and connections that it has open."""
        return len(list(Path(f"/proc/{self.pid}/fd").iterdir()))

    @property
    def cpu(self) -> float:
        """Seconds that it has computed."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """Ends it as the kernel does, without a word."""
        self._end(signal.SIGKILL)

    def end(self) -> int:
        """Ends it when all is answered; what it returns."""
        return self._end(signal.SIGTERM)

    def _end(self, number: signal.Signals) -> int:
        self._running.send_signal(number)
        return self._running.wait(90)

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._running.poll() is None


@contextmanager
def served(*arguments: Any, **options: Any) -> Iterator[ServerProcess]:
    """A server process, which is ended with the block."""
    made = ServerProcess(*arguments, **options)
    try:
        yield made
    finally:
        if made.alive:
            made.end()


class LoadProcess:
    """Clients in a process of their own; what they can decrypt with is there alone."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._process = OtherProcess("hesc_papers.serving_load", str(deployment.folder), threads=1)

    def __enter__(self) -> LoadProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.close()

    def prepare(self, count: int) -> None:
        """Encrypts so many queries before they are due."""
        self._ask({"do": "prepare", "count": count})

    def closed(
        self, server: ServerProcess, token: str, connections: int, seconds: float, **more: Any
    ) -> dict[str, Any]:
        """So many clients, each of which asks when it has been answered."""
        told = {"connections": connections, "seconds": seconds, **more}
        return self._ask({"do": "closed", "target": self._target(server, token), **told})

    def open(
        self, server: ServerProcess, token: str, rate: float, seconds: float, seed: int = 0
    ) -> dict[str, Any]:
        """Arrivals by a Poisson process."""
        told = {"connections": 32, "rate": rate, "seconds": seconds, "seed": seed}
        return self._ask({"do": "open", "target": self._target(server, token), **told})

    def again(self, server: ServerProcess, token: str) -> dict[str, Any]:
        """Asks for some answers a second time."""
        return self._ask({"do": "again", "target": self._target(server, token)})

    def _target(self, server: ServerProcess, token: str) -> dict[str, Any]:
        return {"port": server.port, "path": self._deployment.path, "token": token}

    def _ask(self, told: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._process.ask(json.dumps(told)))
        return found


def in_process(deployment: Deployment, rounds: int) -> tuple[float, int]:
    """Microseconds of the server's call without HTTP, the median; and bytes of an answer."""
    from hesc.ml import ClientFolder, ServerFolder

    client = ClientFolder.open(deployment.folder / "client").client()
    server = ServerFolder.open(deployment.server).server()
    queries = [
        client.encrypt(deployment.rows[[n % len(deployment.rows)]]).data for n in range(rounds)
    ]
    times = []
    for query in queries:
        start = time.perf_counter()
        answer = server.answer(query)
        times.append(time.perf_counter() - start)
    return 1e6 * float(np.median(times)), len(answer)

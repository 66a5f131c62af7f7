"""The ASGI application: what is asked, by whom, and what it is told; `app` makes one."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from hesc._native import ParameterError
from hesc.serve import pages
from hesc.serve.admission import Admission
from hesc.serve.answering import Answering
from hesc.serve.bodies import SLOWEST
from hesc.serve.cors import Origins
from hesc.serve.figures import Figures
from hesc.serve.handlers import Handlers
from hesc.serve.job_queue import JobQueue
from hesc.serve.key_files import KeyFiles
from hesc.serve.responses import RefusedError, Response
from hesc.serve.routes import routed
from hesc.serve.served_models import served
from hesc.serve.shared import Shared
from hesc.serve.state.service_state import ServiceState, beside
from hesc.serve.tokens import TokenFile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping
    from os import PathLike

    from hesc.serve.pages import Page
    from hesc.serve.routes import Receive, Scope
    from hesc.serve.tokens import Holder

    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_LOG: Final = logging.getLogger("hesc.serve")
_PIECE: Final = 1 << 18
"""Bytes of an answer that are handed over at once."""
_FAILED: Final = RefusedError("failed").response()
_UNSAID: Final = ("healthz", "readyz", "metrics")
"""Addresses whose requests are logged for who looks for faults alone: they come all the time."""


class Application:
    """A service, as ASGI has it; `app` makes one.

    It needs no event of its server's life: mounted in another application it is ready at once, and
    `close` ends it.
    """

    def __init__(
        self,
        shared: Shared,
        origins: Origins,
        page: Page | None,
        *,
        threads: int,
        body_seconds: float,
        keys_in_memory: int,
        job_threads: int,
        job_bytes: int,
        job_seconds: float,
    ) -> None:
        self.models = shared.models
        """What is served, by the digests of plans."""
        self._shared, self._origins = shared, origins
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="hesc serve")
        answering = Answering(shared, keys_in_memory)
        self._jobs = JobQueue(
            shared, answering, threads=job_threads, room=job_bytes, seconds=job_seconds
        )
        self._handlers = Handlers(shared, answering, self._jobs, self._pool, page, body_seconds)
        self._closed, self._seconds = False, body_seconds

    def close(self) -> None:
        """Ends when what is computed is kept. Nothing is answered afterwards."""
        self._closed = True
        self._jobs.close()
        self._pool.shutdown()
        self._shared.state.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or the life of a server."""
        if scope["type"] == "lifespan":
            await self._life(receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:
            await send({"type": "websocket.close"})

    async def _life(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await asyncio.to_thread(self.close)
        await send({"type": "lifespan.shutdown.complete"})

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        headers = dict(scope["headers"])
        seen, response = _LogLine(), _FAILED
        try:
            response = await self._handled(scope, receive, headers, seen)
        except RefusedError as refused:
            response = refused.response()
        except Exception as error:
            # What an error says may be of a client or a model; where it was is enough to look.
            at = error.__traceback__
            while at is not None and at.tb_next is not None:
                at = at.tb_next
            where = "" if at is None else f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}"
            _LOG.error("failed: %s at %s", type(error).__name__, where)
        try:
            whole = response.and_heads(*self._origins.shown(headers))
            if len(response.body) <= _PIECE:
                # A server takes that much at once, read or not.
                await _send(whole, send)
            else:
                async with asyncio.timeout(self._seconds + len(response.body) / SLOWEST):
                    await _send(whole, send)
        except TimeoutError:
            # Who does not read it ends with its connection, which the server closes.
            seen.route = "unread"
        finally:
            for holder in seen.places:
                self._shared.admission.leave(holder)
            # Nobody waits for this.
            self._note(seen, scope["method"], response, time.perf_counter() - start)

    def _note(self, seen: _LogLine, method: str, response: Response, seconds: float) -> None:
        """Counts a request, and writes a line of it."""
        labels = ("route", seen.route), ("status", str(response.status))
        self._shared.figures.add("hesc_requests_total", 1, labels)
        self._shared.figures.add("hesc_sent_bytes_total", len(response.body))
        _LOG.log(
            logging.DEBUG if seen.route in _UNSAID else logging.INFO,
            "%s %s %s %s %d bytes %.1f ms",
            seen.who,
            method if seen.route != "other" else "-",
            seen.route,
            response.status,
            len(response.body),
            1000 * seconds,
        )

    async def _handled(
        self, scope: Scope, receive: Receive, headers: dict[bytes, bytes], seen: _LogLine
    ) -> Response:
        """The response; who asks what is noted as soon as it is known.

        Raises:
            RefusedError: as it says.

        """
        preflight = self._origins.preflight(scope["method"], headers)
        if preflight is not None:
            seen.route = "preflight"
            return preflight
        route, request = routed(scope, receive, headers)
        seen.route, seen.places = route.name, request.places
        if self._closed:
            raise RefusedError("busy", ("retry-after", "5"))
        handler = route.methods[request.method].handler
        if route.is_open:
            return self._handlers.unasked(handler, request)
        holder = self._shared.tokens.holder(headers.get(b"authorization"))
        seen.who = holder.name
        self._shared.admission.count(holder)
        return await self._handlers.asked(handler, holder, request)


class _LogLine:
    """What is known of a request so far, for its line in the log."""

    who = "-"
    route = "other"

    def __init__(self) -> None:
        self.places: list[Holder] = []


async def _send(response: Response, send: Send) -> None:
    headers = [
        *response.headers,
        ("content-length", str(len(response.body))),
        ("cache-control", "no-store"),
        ("x-content-type-options", "nosniff"),
    ]
    if response.status == 204:
        headers.remove(("content-length", "0"))
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": response.status, "headers": raw})
    # Piece by piece: a server takes the next when the one before is on its way.
    for first in range(0, max(1, len(response.body)), _PIECE):
        last = first + _PIECE
        more = last < len(response.body)
        piece = response.body[first:last]
        await send({"type": "http.response.body", "body": piece, "more_body": more})


def app(
    servers: Iterable[str | PathLike[str]],
    *,
    tokens: str | PathLike[str],
    state: str | PathLike[str],
    files: str | PathLike[str] | None = None,
    accept_restored: bool = False,
    indexes: Iterable[str | PathLike[str]] = (),
    origins: Iterable[str] = (),
    page: bool = False,
    threads: int | None = None,
    waiting: int = 32,
    body_seconds: float = 60.0,
    kept_bytes: int = 1 << 30,
    key_bytes: int = 1 << 32,
    keys_in_memory: int = 8,
    job_threads: int = 1,
    job_bytes: int = 1 << 30,
    job_hours: float = 24.0,
) -> Application:
    """An ASGI application that answers encrypted queries by deployments' servers.

    Args:
        servers: folders `server/` of deployments; one that holds a model under a client's key
            answers that client alone.
        tokens: a file in TOML of who may ask; see docs/serving.md.
        state: a file of SQLite with answers, counts and jobs, made where there is none, which one
            process has at a time; or `postgresql://user@host/database`, which several share.
        files: what names of this machine's files begin with, where the state is no file: folders of
            public keys, `.keys`, and of prepared queries, `.prepared`, and `.seen`, which says how
            far the state had come. They lie beside a state that is a file.
        accept_restored: whether a state is taken that had come further: an old copy of it, from
            which budgets begin anew.
        indexes: files of records, of `hesc index build`, for searches that have theirs apart.
        origins: pages that browsers let ask, as `https://example.org`.
        page: whether a page for browsers is served at `/page/`, to anybody; what it asks takes a
            token. Whoever serves it can serve another one, so it is for tries.
        threads: queries that are computed at once; as many as there are processors.
        waiting: requests with a body beside these, at most. More are refused at once.
        body_seconds: what a body is given to come, beside a second for every 16 KiB of it.
        kept_bytes: bytes of answers that are kept, at most; the oldest go first, and their queries
            count again.
        key_bytes: bytes of public keys that are kept, at most.
        keys_in_memory: clients whose keys are kept ready.
        job_threads: jobs that are computed at once, beside `threads`.
        job_bytes: bytes of jobs, of their queries and answers, at most.
        job_hours: after which a job goes, done or not.

    Raises:
        ParameterError: an index that is missing or of no plan, a file of tokens that says something
            else, too little room for an answer, a state that another process has or that is an old
            copy.
        WireError: folders or a state that are damaged.
        OSError: files that may not be read or written.

    """
    if isinstance(servers, str | os.PathLike):
        raise ParameterError("servers are folders, in a list")
    if isinstance(indexes, str | os.PathLike) or isinstance(origins, str):
        raise ParameterError("indexes are files and origins are texts, in lists")
    threads = threads or os.cpu_count() or 1
    if not (threads > 0 <= waiting and body_seconds > 0 and keys_in_memory > 0):
        raise ParameterError(
            "threads, body_seconds and keys_in_memory are above 0, waiting from 0 on"
        )
    if not (job_threads > 0 and job_hours > 0 <= job_bytes):
        raise ParameterError("job_threads and job_hours are above 0, job_bytes from 0 on")
    allowed = Origins(origins)
    models = served(servers, indexes)
    longest = max(model.longest_answer for model in models.values())
    if kept_bytes < longest:
        raise ParameterError(
            f"answers of these models have up to {longest} bytes, and kept_bytes={kept_bytes} "
            f"keeps none of those: give at least that"
        )
    book = TokenFile(tokens, models)
    opened = ServiceState.open(state, kept=kept_bytes, files=files, accept_restored=accept_restored)
    try:
        place = beside(state, files)
        keys = KeyFiles(place.with_name(place.name + ".keys"), most=key_bytes)
        for model in models.values():
            model.prepare_in(place.with_name(place.name + ".prepared"))
        return Application(
            Shared(models, book, opened, keys, Admission(threads, waiting), Figures()),
            allowed,
            pages.page(service="..") if page else None,
            threads=threads,
            body_seconds=body_seconds,
            keys_in_memory=keys_in_memory,
            job_threads=job_threads,
            job_bytes=job_bytes,
            job_seconds=3600 * job_hours,
        )
    except BaseException:
        opened.close()
        raise

"""The ASGI application: routes, tokens, bodies, and threads that compute beside the event loop."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc._native import ParameterError
from hesc.serve import bodies
from hesc.serve.admission import Admission
from hesc.serve.answering import Answering
from hesc.serve.figures import CONTENT, Figures
from hesc.serve.key_files import KeyFiles, KeyName
from hesc.serve.responses import RefusedError, Response
from hesc.serve.served_models import ServedModel, served
from hesc.serve.state import ServiceState, beside
from hesc.serve.tokens import HASH, TokenFile

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, MutableMapping
    from os import PathLike

    from hesc.serve.answering import GivenAnswer
    from hesc.serve.tokens import Holder

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_LOG: Final = logging.getLogger("hesc.serve")
_DIGEST: Final = "(?P<digest>[0-9a-f]{64})"
_ROUTES: Final = (
    ("/healthz", "healthz", {"GET": "healthz"}),
    ("/readyz", "readyz", {"GET": "readyz"}),
    ("/metrics", "metrics", {"GET": "metrics"}),
    ("/v1/models", "models", {"GET": "models"}),
    (f"/v1/models/{_DIGEST}", "model", {"GET": "model"}),
    (
        f"/v1/models/{_DIGEST}/client/(?P<file>[a-z]+\\.json)",
        "client",
        {"GET": "client_file"},
    ),
    (
        f"/v1/models/{_DIGEST}/keys/(?P<sha256>[0-9a-f]{{64}})",
        "keys",
        {"GET": "has_keys", "PUT": "put_keys"},
    ),
    (f"/v1/models/{_DIGEST}/answers", "answers", {"POST": "answers"}),
)
_ADDRESSES: Final = [(re.compile(path), name, methods) for path, name, methods in _ROUTES]
"""Addresses, what logs call them, and what answers each method."""


class _Request(NamedTuple):
    """What a request says before its body."""

    method: str
    path: str
    query: bytes
    headers: dict[bytes, bytes]
    receive: Receive
    parts: dict[str, str]

    @property
    def keys(self) -> str | None:
        """The keys that a query names, by its head or by its address."""
        found = self.headers.get(b"hesc-keys")
        if found is None and self.query:
            found = self.query.removeprefix(b"keys=")
        if found is None:
            return None
        text = found.decode("latin-1")
        if HASH.fullmatch(text) is None:
            raise RefusedError("name-keys")
        return text


class Application:
    """A service, as ASGI has it; `app` makes one.

    It needs no event of its server's life: mounted in another application it is ready at once, and
    `close` ends it.
    """

    def __init__(
        self,
        models: dict[str, ServedModel],
        tokens: TokenFile,
        state: ServiceState,
        keys: KeyFiles,
        *,
        threads: int,
        waiting: int,
        body_seconds: float,
        keys_in_memory: int,
    ) -> None:
        self.models = models
        """What is served, by the digests of plans."""
        self._tokens, self._state, self._keys = tokens, state, keys
        self._admission, self._figures = Admission(threads, waiting), Figures()
        self._seconds = body_seconds
        self._answering = Answering(
            models, state, keys, self._admission, self._figures, keys_in_memory
        )
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="hesc serve")
        self._closed = False

    def close(self) -> None:
        """Ends when what is computed is kept. Nothing is answered afterwards."""
        self._closed = True
        self._pool.shutdown()
        self._state.close()

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
        who: list[str] = []
        name, response = "other", RefusedError("failed").response()
        try:
            name, request, method = _routed(scope, receive)
            response = await self._handled(method, request, who)
        except RefusedError as refused:
            response = refused.response()
        except Exception as error:
            # What an error says may be of a client or a model; where it was is enough to look.
            at = error.__traceback__
            while at is not None and at.tb_next is not None:
                at = at.tb_next
            where = "" if at is None else f"{at.tb_frame.f_code.co_filename}:{at.tb_lineno}"
            _LOG.error("failed: %s at %s", type(error).__name__, where)
        self._figures.add("hesc_requests_total", route=name, status=str(response.status))
        self._figures.add("hesc_sent_bytes_total", len(response.body))
        level = logging.DEBUG if name in ("healthz", "readyz", "metrics") else logging.INFO
        taken = 1000 * (time.perf_counter() - start)
        _LOG.log(
            level,
            "%s %s %s %s %d bytes %.1f ms",
            who[0] if who else "-",
            scope["method"] if name != "other" else "-",
            name,
            response.status,
            len(response.body),
            taken,
        )
        await _send(response, send)

    async def _handled(self, method: str, request: _Request, who: list[str]) -> Response:
        """The response; who asks is said as soon as it is known."""
        if self._closed:
            raise RefusedError("busy", ("retry-after", "5"))
        if method in ("healthz", "readyz"):
            return self._health(ready=method == "readyz")
        holder = self._tokens.holder(request.headers.get(b"authorization"))
        who.append(holder.name)
        if method == "metrics":
            return self._metrics(holder)
        if method == "models":
            mine = [m for m in self.models.values() if holder.may(m.digest)]
            return Response.of_json({"models": [_described(model) for model in mine]})
        return await self._of_model(method, holder, request)

    async def _of_model(self, method: str, holder: Holder, request: _Request) -> Response:
        model = self.models.get(request.parts["digest"])
        if model is None or not holder.may(model.digest):
            # One that is not there and one that is not for this token look the same.
            raise RefusedError("not-found")
        if method == "model":
            return self._model(holder, model)
        if method == "client_file":
            return _file(model, request.parts["file"])
        if method == "answers":
            return await self._answer(holder, model, request)
        return await self._key_request(method, holder, model, request)

    def _metrics(self, holder: Holder) -> Response:
        if not holder.metrics:
            raise RefusedError("not-found")
        text = self._figures.text(self._now()).encode()
        return Response(200, text, (("content-type", CONTENT),))

    def _health(self, *, ready: bool) -> Response:
        if ready and not self._ready:
            raise RefusedError("not-ready", ("retry-after", "5"))
        return Response.of_json({"status": "ready" if ready else "alive"})

    @property
    def _ready(self) -> bool:
        return self._state.works and self._tokens.whole

    def _now(self) -> dict[str, float]:
        return {
            "hesc_requests_under_way": self._admission.taken,
            "hesc_key_bytes": self._keys.held,
            "hesc_ready": self._ready,
        }

    def _model(self, holder: Holder, model: ServedModel) -> Response:
        files = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in model.files.items()
        }
        most = self._tokens.book().budgets.get(model.digest)
        budgets = self._answering.budgets(holder, model, most)
        return Response.of_json({**_described(model), "client": files, "budgets": budgets})

    async def _answer(self, holder: Holder, model: ServedModel, request: _Request) -> Response:
        keys = request.keys
        if model.takes_keys != (keys is not None):
            raise RefusedError("name-keys" if model.takes_keys else "no-keys")
        if (bodies.stated(request.headers) or 0) > model.longest_query:
            raise RefusedError("too-long", ("connection", "close"))
        most = self._tokens.book().budgets.get(model.digest)
        self._admission.enter(holder)
        try:
            taken = bodies.pieces(request.receive, model.longest_query, self._seconds)
            query = b"".join([piece async for piece in taken])
            self._figures.add("hesc_received_bytes_total", len(query))
        except BaseException:
            self._admission.leave(holder)
            raise

        def work() -> GivenAnswer:
            try:
                return self._answering.answer(holder, model, most, keys, query)
            finally:
                self._admission.leave(holder)

        given = await self._in_a_thread(work)
        heads = ("hesc-query", given.query), ("hesc-kept", "true" if given.kept else "false")
        return Response.of_bytes(given.answer, *heads)

    async def _in_a_thread(self, work: Callable[[], Any]) -> Any:
        """The result of what runs to its end, also where nobody waits for it any more."""
        job = asyncio.get_running_loop().run_in_executor(self._pool, work)
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            await asyncio.wait([job])
            raise

    async def _key_request(
        self, method: str, holder: Holder, model: ServedModel, request: _Request
    ) -> Response:
        if not model.takes_keys:
            raise RefusedError("not-found")
        sha256 = request.parts["sha256"]
        here = self._answering.has_keys(holder, model, sha256)
        if method == "has_keys":
            if not here:
                raise RefusedError("not-found")
            return Response.of_bytes(b"", status=204)
        size = bodies.stated(request.headers)
        if size is None:
            raise RefusedError("no-length", ("connection", "close"))
        if size > holder.key_bytes:
            raise RefusedError("too-long", ("connection", "close"))
        self._admission.enter(holder)
        try:
            await self._put_keys(holder, model, sha256, size, request.receive)
        finally:
            self._admission.leave(holder)
        return Response.of_bytes(b"", status=204)

    async def _put_keys(
        self, holder: Holder, model: ServedModel, sha256: str, size: int, receive: Receive
    ) -> None:
        name = KeyName.of(holder.name, model.digest, sha256)
        with self._keys.coming(name, size, holder.key_bytes) as file:
            found = hashlib.sha256()
            async for piece in bodies.pieces(receive, size, self._seconds):
                found.update(piece)
                file.write(piece)
            if file.tell() != size:
                raise RefusedError("cut-off", ("connection", "close"))
            self._figures.add("hesc_received_bytes_total", size)

            def work() -> None:
                self._answering.keep_keys(name, model, file, found.hexdigest())

            await self._in_a_thread(work)


def _routed(scope: Scope, receive: Receive) -> tuple[str, _Request, str]:
    """What an address is called, the request, and what answers it.

    Raises:
        RefusedError: there is no such address, or it takes another method.

    """
    root, path = scope.get("root_path", ""), scope["path"]
    path = path.removeprefix(root) if root else path
    for address, name, methods in _ADDRESSES:
        found = address.fullmatch(path)
        if found is not None:
            method = scope["method"]
            if method not in methods:
                raise RefusedError("wrong-method", ("allow", ", ".join(methods)))
            headers = dict(scope["headers"])
            query = scope.get("query_string", b"")
            request = _Request(method, path, query, headers, receive, found.groupdict())
            return name, request, methods[method]
    raise RefusedError("not-found")


def _described(model: ServedModel) -> dict[str, Any]:
    """What a list says of a model: nothing that its plan does not."""
    return {
        "digest": model.digest,
        "protocol": model.plan.protocol,
        "samples": model.plan.rows,
        "takes_keys": model.takes_keys,
        "query_bytes": model.longest_query,
        "answer_bytes": model.longest_answer,
    }


def _file(model: ServedModel, name: str) -> Response:
    data = model.files.get(name)
    if data is None:
        raise RefusedError("not-found")
    found = hashlib.sha256(data).hexdigest()
    kind = (("content-type", "application/json"), ("etag", f'"{found}"'), ("hesc-sha256", found))
    return Response(200, data, kind)


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
    await send({"type": "http.response.body", "body": response.body})


def app(
    servers: Iterable[str | PathLike[str]],
    *,
    tokens: str | PathLike[str],
    state: str | PathLike[str],
    threads: int | None = None,
    waiting: int = 32,
    body_seconds: float = 60.0,
    kept_bytes: int = 1 << 30,
    key_bytes: int = 1 << 32,
    keys_in_memory: int = 8,
) -> Application:
    """An ASGI application that answers encrypted queries by deployments' servers.

    Args:
        servers: folders `server/` of deployments of scores, classes, networks, trees or
            neighbours.
        tokens: a file in TOML of who may ask; see docs/serving.md.
        state: a file of SQLite with answers and counts, made where there is none. Beside it lies a
            folder of public keys, whose name ends with `.keys`. One process has it at a time.
        threads: queries that are computed at once; as many as there are processors.
        waiting: requests with a body beside these, at most. More are refused at once.
        body_seconds: what a body is given to come, beside a second for every 16 KiB of it.
        kept_bytes: bytes of answers that are kept, at most; the oldest go first, and their queries
            count again.
        key_bytes: bytes of public keys that are kept, at most.
        keys_in_memory: clients whose keys are kept ready.

    Raises:
        ParameterError: a plan that is not served, a file of tokens that says something else, too
            little room for an answer, or a state that another process has.
        WireError: folders or a state that are damaged.
        OSError: files that may not be read or written.

    """
    if isinstance(servers, str | os.PathLike):
        raise ParameterError("servers are folders, in a list")
    threads = threads or os.cpu_count() or 1
    if not (threads > 0 <= waiting and body_seconds > 0 and keys_in_memory > 0):
        raise ParameterError(
            "threads, body_seconds and keys_in_memory are above 0, waiting from 0 on"
        )
    models = served(servers)
    longest = max(model.longest_answer for model in models.values())
    if kept_bytes < longest:
        raise ParameterError(
            f"answers of these models have up to {longest} bytes, and kept_bytes={kept_bytes} "
            f"keeps none of those: give at least that"
        )
    book = TokenFile(tokens)
    opened = ServiceState.open(state, kept=kept_bytes)
    try:
        place = beside(state)
        keys = KeyFiles(place.with_name(place.name + ".keys"), most=key_bytes)
        return Application(
            models,
            book,
            opened,
            keys,
            threads=threads,
            waiting=waiting,
            body_seconds=body_seconds,
            keys_in_memory=keys_in_memory,
        )
    except BaseException:
        opened.close()
        raise

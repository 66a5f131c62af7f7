"""What requests of each address do, once it is known who asks."""

from __future__ import annotations

import asyncio
import hashlib
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from hesc.serve import bodies
from hesc.serve.answering import Asking, answer_name
from hesc.serve.figures import CONTENT
from hesc.serve.key_files import KeyName
from hesc.serve.responses import RefusedError, Response
from hesc.serve.routes import openapi

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from concurrent.futures import ThreadPoolExecutor

    from hesc.serve.answering import Answering
    from hesc.serve.job_queue import JobQueue
    from hesc.serve.pages import Page
    from hesc.serve.routes import HttpRequest, Receive
    from hesc.serve.served_models import ServedModel
    from hesc.serve.shared import Shared
    from hesc.serve.state.jobs import Job
    from hesc.serve.tokens import Holder

    Does = Callable[[Holder, ServedModel, HttpRequest], Awaitable[Response]]

ResultT = TypeVar("ResultT")
_CLOSE: Final = ("connection", "close")
_RANGE: Final = re.compile(r"bytes=(\d{1,18})-(\d{1,18})?")
_LOOK_AGAIN: Final = 600


class Handlers:
    """Does what requests ask for.

    Args:
        shared: what all parts share.
        answering: computes, counts and keeps.
        jobs: what waits to be computed.
        pool: threads for what takes more than a moment.
        page: for browsers, if there is one.
        body_seconds: what a body is given to come.

    """

    def __init__(
        self,
        shared: Shared,
        answering: Answering,
        jobs: JobQueue,
        pool: ThreadPoolExecutor,
        page: Page | None,
        body_seconds: float,
    ) -> None:
        (
            self._models,
            self._tokens,
            self._state,
            self._keys,
            self._admission,
            self._figures,
        ) = shared
        self._answering, self._jobs, self._pool = answering, jobs, pool
        self._page, self._seconds = page, body_seconds
        self._of_model: dict[str, Does] = {
            "model": self._model,
            "client_file": self._client_file,
            "has_keys": self._has_keys,
            "put_keys": self._put_keys,
            "answers": self._answer,
            "jobs": self._list_jobs,
            "post_job": self._post_job,
            "job": self._job,
            "delete_job": self._delete_job,
            "job_answer": self._job_answer,
        }

    def unasked(self, handler: str, request: HttpRequest) -> Response:
        """What needs no token.

        Raises:
            RefusedError: as it says.

        """
        if handler == "page":
            if self._page is None:
                raise RefusedError("not-found")
            return self._page.response(request.parts["page"])
        if handler == "openapi":
            return Response.of_json(openapi())
        if handler == "readyz" and not self._ready:
            raise RefusedError("not-ready", ("retry-after", "5"))
        return Response.of_json({"status": "ready" if handler == "readyz" else "alive"})

    async def asked(self, handler: str, holder: Holder, request: HttpRequest) -> Response:
        """What a holder of a token asks for.

        Raises:
            RefusedError: as it says.

        """
        if handler == "metrics":
            return self._metrics(holder)
        if handler == "models":
            mine = [m for m in self._models.values() if holder.may(m.digest)]
            return Response.of_json({"models": [_described(model) for model in mine]})
        model = self._models.get(request.parts["digest"])
        if model is None or not holder.may(model.digest):
            # One that is not there and one that is not for this token look the same.
            raise RefusedError("not-found")
        return await self._of_model[handler](holder, model, request)

    @property
    def _ready(self) -> bool:
        return self._state.works and self._tokens.whole

    def _metrics(self, holder: Holder) -> Response:
        if not holder.metrics:
            raise RefusedError("not-found")
        now = {
            "hesc_requests_under_way": self._admission.taken,
            "hesc_key_bytes": self._keys.held,
            "hesc_jobs_computed_now": self._jobs.computed_now,
            "hesc_ready": self._ready,
        }
        return Response(200, self._figures.text(now).encode(), (("content-type", CONTENT),))

    def _most(self, model: ServedModel) -> int | None:
        """Answers that a model gives in all, as the file said when the token was looked for."""
        return self._tokens.seen.budgets.get(model.digest)

    async def _model(self, holder: Holder, model: ServedModel, request: HttpRequest) -> Response:
        del request
        files = {
            name: {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in model.files.items()
        }
        most = self._most(model)
        budgets = await self._in_a_thread(lambda: self._answering.budgets(holder, model, most))
        return Response.of_json({**_described(model), "client": files, "budgets": budgets})

    async def _client_file(
        self, holder: Holder, model: ServedModel, request: HttpRequest
    ) -> Response:
        del holder
        data = model.files.get(request.parts["file"])
        if data is None:
            raise RefusedError("not-found")
        found = hashlib.sha256(data).hexdigest()
        kind = ("content-type", "application/json")
        return Response(200, data, (kind, ("etag", f'"{found}"'), ("hesc-sha256", found)))

    async def _answer(self, holder: Holder, model: ServedModel, request: HttpRequest) -> Response:
        keys, most = _named_keys(model, request), self._most(model)
        self._enter(holder, request)
        asking = Asking.of(holder, model, most, keys, await self._query(model, request))
        given = await self._answering.answer_here(asking)
        if given is None:
            given = await self._in_a_thread(partial(self._answering.answer, asking))
        heads = ("hesc-query", given.query), ("hesc-kept", "true" if given.kept else "false")
        return Response.of_bytes(given.answer, *heads)

    def _enter(self, holder: Holder, request: HttpRequest) -> None:
        """Takes a place for a request, which it has until its answer is out.

        Raises:
            RefusedError: there is none.

        """
        self._admission.enter(holder)
        request.places.append(holder)

    async def _query(self, model: ServedModel, request: HttpRequest) -> bytes:
        """The body of a request that has a place."""
        if (bodies.stated(request.headers) or 0) > model.longest_query:
            raise RefusedError("too-long", _CLOSE)
        taken: list[bytes] = []
        size = await bodies.read(request.receive, model.longest_query, self._seconds, taken.append)
        self._figures.add("hesc_received_bytes_total", size)
        return taken[0] if len(taken) == 1 else b"".join(taken)

    async def _in_a_thread(self, work: Callable[[], ResultT]) -> ResultT:
        """The result of what runs to its end, also where nobody waits for it any more."""
        job = asyncio.get_running_loop().run_in_executor(self._pool, work)
        try:
            return await asyncio.shield(job)
        except asyncio.CancelledError:
            await asyncio.wait([job])
            raise

    async def _list_jobs(
        self, holder: Holder, model: ServedModel, request: HttpRequest
    ) -> Response:
        del request
        found = await self._in_a_thread(lambda: self._state.jobs(holder.name, model.digest))
        listed = [
            {
                "query": job.query_sha256,
                "keys": job.keys,
                "bytes": job.bytes,
                "made": round(job.made),
                "done": job.done,
                "problem": job.problem,
            }
            for job in found
        ]
        return Response.of_json({"jobs": listed})

    async def _post_job(self, holder: Holder, model: ServedModel, request: HttpRequest) -> Response:
        keys, most = _named_keys(model, request), self._most(model)
        self._enter(holder, request)
        asking = Asking.of(holder, model, most, keys, await self._query(model, request))
        job = await self._in_a_thread(partial(self._jobs.add, asking))
        return await self._in_a_thread(lambda: self._told(model, job))

    async def _job(self, holder: Holder, model: ServedModel, request: HttpRequest) -> Response:
        job = await self._found(holder, model, request)
        return await self._in_a_thread(lambda: self._told(model, job))

    async def _found(self, holder: Holder, model: ServedModel, request: HttpRequest) -> Job:
        keys, asked = _named_keys(model, request), request.parts["sha256"]
        found = await self._in_a_thread(lambda: self._known(holder, model, keys, asked))
        if found is None:
            raise RefusedError("not-found")
        return found

    def _known(
        self, holder: Holder, model: ServedModel, keys: str | None, asked: str
    ) -> Job | None:
        found = self._state.job(holder.name, answer_name(model, keys, asked))
        if found is not None:
            return found
        # One that was put in the queue when a search had other records has another name.
        jobs = reversed(self._state.jobs(holder.name, model.digest))
        return next((job for job in jobs if (job.query_sha256, job.keys) == (asked, keys)), None)

    def _told(self, model: ServedModel, job: Job) -> Response:
        """How far a job is: 202 while it waits, with when to look again, 200 when it is done."""
        path = f"/v1/models/{model.digest}/jobs/{job.query_sha256}"
        if job.done:
            made = Response.of_json({"ahead": 0, "problem": job.problem})
            return made.and_heads(("location", path))
        ahead = self._state.ahead(job)
        problem = None if self._jobs.has_keys(job) else "keys-missing"
        wait = min(self._jobs.seconds(ahead), _LOOK_AGAIN)
        made = Response.of_json({"ahead": ahead, "problem": problem})._replace(status=202)
        return made.and_heads(("location", path), ("retry-after", str(wait)))

    async def _delete_job(
        self, holder: Holder, model: ServedModel, request: HttpRequest
    ) -> Response:
        job = await self._found(holder, model, request)
        await self._in_a_thread(lambda: self._state.drop_job(holder.name, job.name))
        return Response.of_bytes(b"", status=204)

    async def _job_answer(
        self, holder: Holder, model: ServedModel, request: HttpRequest
    ) -> Response:
        self._enter(holder, request)
        job = await self._found(holder, model, request)
        answer: bytes | None = None
        if job.done and job.problem is None:
            answer = await self._in_a_thread(lambda: self._state.find(job.name))
        if answer is None:
            raise RefusedError("not-found")
        return _ranged(answer, request.headers.get(b"range"))

    async def _has_keys(self, holder: Holder, model: ServedModel, request: HttpRequest) -> Response:
        if not model.takes_keys:
            raise RefusedError("not-found")
        name = KeyName.of(holder.name, model.digest, request.parts["sha256"])
        if not await self._in_a_thread(lambda: self._keys.has(name)):
            raise RefusedError("not-found")
        return Response.of_bytes(b"", status=204)

    async def _put_keys(self, holder: Holder, model: ServedModel, request: HttpRequest) -> Response:
        if not model.takes_keys:
            raise RefusedError("not-found")
        size = bodies.stated(request.headers)
        if size is None:
            raise RefusedError("no-length", _CLOSE)
        if size > min(holder.key_bytes, model.longest_keys):
            raise RefusedError("too-long", _CLOSE)
        self._enter(holder, request)
        await self._keep_keys(holder, model, request.parts["sha256"], size, request.receive)
        return Response.of_bytes(b"", status=204)

    async def _keep_keys(
        self, holder: Holder, model: ServedModel, sha256: str, size: int, receive: Receive
    ) -> None:
        name = KeyName.of(holder.name, model.digest, sha256)
        with self._keys.coming(name, size, holder.key_bytes) as file:
            found = hashlib.sha256()

            def take(piece: bytes) -> None:
                found.update(piece)
                file.write(piece)

            if await bodies.read(receive, size, self._seconds, take) != size:
                raise RefusedError("cut-off", _CLOSE)
            self._figures.add("hesc_received_bytes_total", size)

            def work() -> None:
                self._answering.keep_keys(name, model, file, found.hexdigest())

            await self._in_a_thread(work)


def _named_keys(model: ServedModel, request: HttpRequest) -> str | None:
    """The keys that a request names, where its model takes any.

    Raises:
        RefusedError: none of a model that takes keys, or some of one that takes none.

    """
    keys = request.keys
    if model.takes_keys != (keys is not None):
        raise RefusedError("name-keys" if model.takes_keys else "no-keys")
    return keys


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


def _ranged(answer: bytes, head: bytes | None) -> Response:
    """An answer, or the one range of it that is asked for (RFC 9110, section 14)."""
    found = None if head is None else _RANGE.fullmatch(head.decode("latin-1"))
    whole = ("accept-ranges", "bytes")
    if found is None:
        return Response.of_bytes(answer, whole)
    first = int(found[1])
    last = min(len(answer) - 1, len(answer) if found[2] is None else int(found[2]))
    if first > last:
        raise RefusedError("no-range", ("content-range", f"bytes */{len(answer)}"))
    stated = ("content-range", f"bytes {first}-{last}/{len(answer)}")
    return Response.of_bytes(answer[first : last + 1], whole, stated, status=206)

"""What a client of a service does, as flows: fetch the plan, give keys, ask, wait for jobs."""

from __future__ import annotations

import hashlib
import re
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support import documents
from hesc._support.inputs import real, several, whole, wire_bytes
from hesc._support.progress import Bar, doing
from hesc.ml.remote.client_folder import KeptClient, read_plan
from hesc.ml.remote.exchanges import (
    Asked,
    Flow,
    Got,
    ServiceError,
    Together,
    Waited,
    document,
    exchange,
    known,
    refusal,
    refused,
    seconds_of,
)
from hesc.models.samples import check_names, warn_of_clipped
from hesc.models.tables import forms
from hesc.protocols import registry
from hesc.protocols.message import Kind
from hesc.protocols.runs import prepared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hesc.models.tables.forms import Samples

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_SMALL: Final = 1 << 20
"""Bytes of an answer that is a document or a problem, at most."""
_FILE: Final = documents.LARGEST
_LONG: Final = 5.0
"""Predicted seconds of a query from which it goes as a job."""
_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)
_JOB_SECONDS: Final = 172_800.0
"""Seconds after which a job is given up: two days, twice what a service keeps one by default."""
_REPEATED: Final = 3
"""Times that a job is put in the queue again, or its keys are sent."""
_PIECE: Final = 1 << 23
"""Bytes of a job's answer in one request."""
_LONGEST: Final = 1e9
"""Seconds that a service is waited for, at most."""
_SHORTEST: Final = 0.1
"""Seconds between two looks at a job."""
_NO_KEYS: Final = "keys-missing"


class Flows:
    """One model of a service, and a client of it.

    Args:
        kept: plan and keys.
        model: digest of the plan; None where the token has one model.
        patience: seconds that a busy or silent service is waited for.
        at_once: queries under way at once.
        jobs: whether queries go as jobs; None where the plan decides.
        show: what is called with the plan in words when it was fetched, before anything is asked.

    Raises:
        ParameterError: what is no digest, or less than one query at once.

    """

    def __init__(
        self,
        kept: KeptClient,
        *,
        model: str | None,
        patience: float,
        at_once: int,
        jobs: bool | None,
        show: Callable[[str], object] | None,
    ) -> None:
        if model is not None and (not isinstance(model, str) or not _DIGEST.fullmatch(model)):
            raise ParameterError("model= is a plan's digest, 64 digits 0-9 and a-f")
        if jobs is not None and not isinstance(jobs, bool):
            raise ParameterError("jobs= is True, False, or None where the plan decides")
        if show is not None and not callable(show):
            raise ParameterError("show= is called with the plan in words, or None")
        self.kept, self._model = kept, model
        self._patience = real(patience, "patience", 0, _LONGEST)
        self.at_once = whole(at_once, "at_once", 1, 64)
        self._jobs, self._show = jobs, show
        if model is not None:
            kept.check(model)

    def ready(self) -> Flow[Any]:
        """The plan, fetched where it is not here yet; the client has a key then.

        Raises:
            ServiceError: it is not given.
            ParameterError: the token has several models, and none was named.
            WireError: another plan than its digest names.

        """
        if self.kept.plan is None:
            digest = self._model or (yield from self._only_model())
            path = f"/v1/models/{digest}/client/plan.json"
            got = yield from self._exchange(Asked("GET", path, _FILE))
            if got.status != 200:
                raise refused(got)
            plan = read_plan(got.body, digest)
            if self.kept.take(plan) and self._show is not None:
                self._show(str(plan))
        return self.kept.plan

    def _only_model(self) -> Flow[str]:
        listed = document(
            (yield from self._exchange(Asked("GET", "/v1/models", _FILE))), {"models"}
        )
        models = listed["models"]
        if not isinstance(models, list):
            raise WireError("the service lists no models; is this a hesc service?")
        found = [each.get("digest") for each in models if isinstance(each, dict)]
        if not all(isinstance(each, str) and _DIGEST.fullmatch(each) for each in found):
            raise WireError("the service names a model by what is no digest")
        if len(found) != 1:
            some = ", ".join(map(str, found[:4])) + ", ..." * (len(found) > 4)
            raise ParameterError(
                f"this token has {len(found)} models: give model= (--model), the digest of one"
                + (f", of {some}" if found else "")
            )
        return str(found[0])

    def _exchange(self, asked: Asked) -> Flow[Got]:
        return exchange(asked, self._patience)

    @property
    def _path(self) -> str:
        return f"/v1/models/{self.kept.digest}"

    def budgets(self) -> Flow[dict[str, Any]]:
        """What was given of each budget, and what may be in all."""
        yield from self.ready()
        got = yield from self._exchange(Asked("GET", self._path, _SMALL))
        budgets = document(got, {"budgets"})["budgets"]
        if not isinstance(budgets, dict):
            raise WireError("the service states no budgets")
        return budgets

    def results(
        self, samples: Samples, *, clip: bool, progress: bool | Callable[[int, int], object]
    ) -> Flow[list[Any]]:
        """Results of all samples, one for each query.

        Raises:
            ServiceError: a query was not answered; those before it were, and are lost here.
            What `ModelPlan.prepared` and `ModelClient.decrypt` raise.

        """
        plan = yield from self.ready()
        client, found, done = self.kept.client, [], 0
        clipped = clipped_samples = 0
        check_names(samples, plan.names)
        if not (isinstance(samples, np.ndarray) and samples.ndim == 2):
            samples = forms.read(samples)
        with Bar("samples scored", progress) as bar:
            for ready in prepared(plan, samples, clip=clip):
                features = ready.features
                clipped += ready.values
                clipped_samples += ready.samples
                for first in range(0, len(features), plan.rows * self.at_once):
                    many = features[first : first + plan.rows * self.at_once]
                    queries = [
                        client.encrypted(many[at : at + plan.rows])
                        for at in range(0, len(many), plan.rows)
                    ]
                    answers = yield from self.answers(queries)
                    found += self.read(queries, answers)
                    done += len(many)
                    bar.show(done, len(samples))
        warn_of_clipped(clipped, clipped_samples, len(samples))
        return found

    def answers(self, queries: Iterable[bytes]) -> Flow[list[bytes]]:
        """Answers to queries, in their order.

        Raises:
            ServiceError: one of them was not answered; it has the answers to those before.

        """
        many = several(queries, "queries", "they are messages, in a list")
        sent = [wire_bytes(query) for query in many]
        if len(sent) == 1:
            return [(yield from self._answer(sent[0]))]
        outcomes: list[Any] = yield Together([self._answer(query) for query in sent])
        for place, each in enumerate(outcomes):
            if isinstance(each, ServiceError):
                each.answered = tuple(outcomes[:place])
            if isinstance(each, BaseException):
                raise each
        return outcomes

    def read(self, queries: Iterable[bytes], answers: Iterable[bytes]) -> list[Any]:
        """What answers say, each held against its query.

        Raises:
            What `ModelClient.decrypt` raises.

        """
        client = self.kept.client
        return [client.decrypt(a, query=q) for q, a in zip(queries, answers, strict=True)]

    def _answer(self, query: bytes) -> Flow[bytes]:
        plan = self.kept.plan
        as_job = self._jobs
        if as_job is None:
            as_job = plan.seconds is not None and plan.seconds >= _LONG
        if as_job:
            return (yield from self._by_job(query))
        longest = plan.longest(Kind.ANSWER)
        got = yield from self._with_keys("answers", query, longest)
        if got.status != 200:
            raise refused(got)
        return got.body

    def _with_keys(self, to: str, query: bytes, longest: int) -> Flow[Got]:
        """A query and what came of it; keys are sent where the service lacks them."""
        asked = Asked("POST", f"{self._path}/{to}", longest, query, self._heads())
        got = yield from self._exchange(asked)
        if got.problem == _NO_KEYS:
            yield from self._give_keys()
            got = yield from self._exchange(asked)
        return got

    def _heads(self) -> dict[str, str]:
        if not registry.server_takes_keys(self.kept.plan):
            return {}
        return {"hesc-keys": self.kept.keys_sha256}

    def _give_keys(self) -> Flow[None]:
        if not registry.server_takes_keys(self.kept.plan):
            raise WireError("the service asks for keys, and this plan has none for it")
        doing("sending public keys")
        path = f"{self._path}/keys/{self.kept.keys_sha256}"
        got = yield from self._exchange(Asked("PUT", path, _SMALL, self.kept.public_keys()))
        if got.status != 204:
            raise refused(got)

    def _by_job(self, query: bytes) -> Flow[bytes]:
        """The answer to a query that the service computes when it is its turn."""
        path = f"{self._path}/jobs/{hashlib.sha256(query).hexdigest()}"
        got = yield from self._with_keys("jobs", query, _SMALL)
        end, repeated = time.monotonic() + _JOB_SECONDS, 0
        while got.status == 202:
            state = _JobState.of(got)
            doing("computing" if not state.ahead else f"{state.ahead} jobs ahead")
            if time.monotonic() > end or repeated > _REPEATED:
                raise ServiceError(
                    "the service never comes to compute this query: ask whoever runs it"
                )
            if state.problem == _NO_KEYS:
                repeated += 1
                yield from self._give_keys()
            yield Waited(max(_SHORTEST, seconds_of(got.headers.get("retry-after", "1"))))
            got = yield from self._exchange(Asked("GET", path, _SMALL, headers=self._heads()))
            if got.status == 404:
                # It was too old, or the machine is another: nothing is charged twice.
                repeated += 1
                got = yield from self._with_keys("jobs", query, _SMALL)
        if got.status != 200:
            raise refused(got)
        if problem := _JobState.of(got).problem:
            raise refusal(problem, got.status)
        answer = yield from self._by_ranges(f"{path}/answer")
        yield from self._exchange(Asked("DELETE", path, _SMALL, headers=self._heads()))
        return answer

    def _by_ranges(self, path: str) -> Flow[bytes]:
        """An answer in pieces: one that breaks off costs that piece alone."""
        longest, found = self.kept.plan.longest(Kind.ANSWER), b""
        while True:
            heads = self._heads() | {"range": f"bytes={len(found)}-{len(found) + _PIECE - 1}"}
            got = yield from self._exchange(Asked("GET", path, _PIECE, headers=heads))
            stated = _RANGE.fullmatch(got.headers.get("content-range", ""))
            if got.status != 206 or stated is None:
                raise refused(got)
            first, last, size = (int(each) for each in stated.groups())
            right = first == len(found) and last - first + 1 == len(got.body)
            whole_piece = len(got.body) == min(_PIECE, size - first) > 0
            if not right or not whole_piece or size > longest:
                raise WireError("the service gives other bytes of an answer than were asked for")
            found += got.body
            if len(found) >= size:
                return found


class _JobState(NamedTuple):
    """What a service says of a job."""

    ahead: int
    problem: str

    @classmethod
    def of(cls, got: Got) -> Self:
        """What is said of it, in an answer of status 200 or 202."""
        found = document(got._replace(status=200), {"ahead", "problem"})
        ahead, problem = found["ahead"], found["problem"]
        if type(ahead) is not int or not (problem is None or isinstance(problem, str)):
            raise WireError("the service says of a job what is no state of one")
        return cls(ahead, known(problem or "") or ("failed" if problem else ""))


def together(results: list[Any], part: str) -> Any:
    """One array of all results' parts.

    Raises:
        ParameterError: a model whose answers have no such part.

    """
    parts = [getattr(each, part) for each in results]
    if any(each is None for each in parts):
        raise ParameterError(
            f"answers of this model have no {part}: it tells classes alone, by predict"
        )
    return np.concatenate(parts)

"""One request and its answer, with what is done where there is none: no network is touched here.

A flow is a generator. It gives what has to be done (a request, a wait, several flows at once) and
is sent what came of it; `hesc.ml.remote.drivers` do it, waiting or not. So everything that a client
decides stands once, and is tested without a network.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from hesc._native import HescError, WireError
from hesc._support.strict_json import parsed

if TYPE_CHECKING:
    from collections.abc import Mapping

_FIRST_WAIT: Final = 0.25
_LONGEST_WAIT: Final = 30.0
_LONGEST_PAUSE: Final = 600.0
"""Seconds that a service may ask for between two requests, as many as it says itself."""
_PROBLEM: Final = "urn:hesc:problem:"
_BUSY: Final = (408, 429, 502, 503, 504)
"""Statuses after which the same request may do better: nothing is charged twice by it."""
_PROBLEM_BYTES: Final = 1 << 16

_RAN_BY: Final = "ask whoever runs the service"
_TEXTS: Final = {
    "no-token": f"this token is in force no more, or never was: {_RAN_BY} for another",
    "not-found": (
        "the service has no such model for this token, or the address has a path too many: look "
        f"at `GET /v1/models`, or {_RAN_BY} for the address and the digest"
    ),
    "budget": (
        f"a budget is used up, or has no room for as many samples at once: {_RAN_BY}, or ask for "
        f"fewer. What was answered before is not lost: the same query again costs nothing while "
        f"its answer is kept"
    ),
    "too-long": "what was sent is longer than the service takes: send fewer samples at once",
    "bad-query": (
        "the service cannot read the query: it serves another plan under this digest, or another "
        "version of hesc"
    ),
    "other-keys": "the query is under another key than the public keys that it names",
    "bad-keys": "the service cannot read the public keys: make new ones, with another folder=",
    "records-changed": (
        "the service's records were replaced while the query waited: ask again, by the same call"
    ),
}
"""What is said of problems, by their names: a peer's own words are not repeated."""


_OTHERS: Final = frozenset(
    (
        "bad-keys", "busy", "cut-off", "failed", "keys-missing", "name-keys", "no-keys",
        "no-length", "no-range", "not-kept", "not-ready", "other-hash", "slow-body", "too-many",
        "too-often", "wrong-method",
    )
)  # fmt: skip
"""Names of problems of which no more is said."""


def known(name: str) -> str:
    """The name of a problem, or nothing where a service has none of that name."""
    return name if name in _TEXTS or name in _OTHERS else ""


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    longest: int
    """Bytes of the answer that are read, at most."""
    content: bytes = b""
    headers: Mapping[str, str] = {}


class Got(NamedTuple):
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def problem(self) -> str:
        """The name of the problem that it states; empty where it states none."""
        try:
            found = json.loads(self.body[:_PROBLEM_BYTES])["type"]
        except (ValueError, TypeError, KeyError, RecursionError):
            return ""
        return known(found.removeprefix(_PROBLEM) if isinstance(found, str) else "")


class Failed(NamedTuple):
    """What came instead of an answer."""

    said: str
    again: bool
    """Whether the same request may do better."""


class Waited(NamedTuple):
    """A wait."""

    seconds: float


class Together(NamedTuple):
    """Flows that may run at once. Results or exceptions are sent back, in their order."""

    flows: list[Flow[Any]]


ResultT = TypeVar("ResultT")
Flow = Generator[Asked | Waited | Together, Any, ResultT]


class ServiceError(HescError):
    """What a service refuses, or does not do.

    Args:
        said: what to do.
        problem: what the service calls it, such as "budget" or "no-token"; empty where it said
            nothing.
        status: of HTTP; 0 where no answer came.

    """

    def __init__(self, said: str, *, problem: str = "", status: int = 0) -> None:
        super().__init__(said)
        self.problem, self.status = problem, status
        self.answered: tuple[bytes, ...] = ()
        """Answers that came to queries of the same call, before the one that was refused."""


def refused(got: Got) -> ServiceError:
    """What is said of an answer that is none."""
    return refusal(got.problem, got.status)


def refusal(problem: str, status: int) -> ServiceError:
    """What is said of a problem, by its name."""
    said = _TEXTS.get(problem)
    if said is None:
        named = f", {problem!r}" if problem else ""
        said = f"the service refuses this request: status {status}{named}; {_RAN_BY}"
    return ServiceError(said, problem=problem, status=status)


def exchange(asked: Asked, patience: float) -> Flow[Got]:
    """A request until it is answered; what may do better is asked again after growing waits.

    Args:
        asked: the request. It is one that may come twice: the service names queries by their bytes.
        patience: seconds in all after which nothing is asked again.

    Raises:
        ServiceError: no answer came.

    """
    start, wait = time.monotonic(), _FIRST_WAIT
    while True:
        found = yield asked
        if isinstance(found, Got) and found.status not in _BUSY:
            return found
        left = patience - (time.monotonic() - start)
        # Several clients that were refused at once do not come back at once.
        pause = max(wait * random.uniform(0.5, 1), _retry_after(found))  # noqa: S311 - no secret
        if left < pause or (isinstance(found, Failed) and not found.again):
            raise _given_up(found, time.monotonic() - start)
        yield Waited(pause)
        wait = min(2 * wait, _LONGEST_WAIT)


def _given_up(found: Got | Failed, seconds: float) -> ServiceError:
    if isinstance(found, Failed):
        return ServiceError(f"the service does not answer: {found.said}")
    problem = found.problem or "nothing said"
    return ServiceError(
        f"the service was busy, or failed, for {seconds:.0f} seconds (status {found.status}, "
        f"{problem}): come again later; the same query is not counted twice",
        problem=found.problem,
        status=found.status,
    )


def _retry_after(found: Got | Failed) -> float:
    if isinstance(found, Failed):
        return 0.0
    return seconds_of(found.headers.get("retry-after", ""))


def seconds_of(text: str) -> float:
    """Seconds of a head, no more than a client waits; 0 of what is no number of them."""
    digits = text.isascii() and text.isdigit()
    return min(float(text), _LONGEST_PAUSE) if digits and len(text) <= 6 else 0.0


def document(got: Got, fields: set[str]) -> dict[str, Any]:
    """The object of an answer in JSON, which has these fields and may have others.

    Raises:
        ServiceError: a refusal.
        WireError: another answer.

    """
    if got.status != 200:
        raise refused(got)
    try:
        found = parsed(got.body)
    except ValueError:
        raise WireError("the service's answer is no document; is this a hesc service?") from None
    if not isinstance(found, dict) or not fields <= set(found):
        raise WireError("the service's answer lacks what it should have; is this a hesc service?")
    return found

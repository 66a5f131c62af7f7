"""Addresses of a service: what each is, which methods it takes, and the document that says so."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc.serve.responses import TEXTS, RefusedError
from hesc.serve.tokens import HASH

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping

    from hesc.serve.tokens import Holder

    Scope = MutableMapping[str, Any]
    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]


class Does(NamedTuple):
    """What a method of an address does."""

    handler: str
    """Name of the function that does it."""
    summary: str
    gives: Mapping[int, str]
    """What it gives by status, beside problems."""
    body: str = ""
    """What it takes; empty where it takes nothing."""


class Route(NamedTuple):
    """An address."""

    path: str
    """With names in braces for what differs."""
    name: str
    """What logs and figures call it."""
    methods: Mapping[str, Does]
    is_open: bool = False
    """Whether it needs no token."""


_MODEL: Final = "/v1/models/{digest}"
_JSON: Final = "application/json"
_BYTES: Final = "application/octet-stream"
_ANY: Final = "*/*"
_EMPTY: Final = ""
_PARTS: Final = {
    "digest": HASH.pattern,
    "sha256": HASH.pattern,
    "file": r"[a-z]+\.json",
    "page": r"(?:[a-z]+/)*(?:[a-z_]+\.[a-z]+)?",
}
ROUTES: Final = (
    # Looked for from the first on.
    Route(
        _MODEL + "/answers",
        "answers",
        {"POST": Does("answers", "The answer to a query", {200: _BYTES}, _BYTES)},
    ),
    Route(
        "/healthz",
        "healthz",
        {"GET": Does("healthz", "Whether the process answers", {200: _JSON})},
        is_open=True,
    ),
    Route(
        "/readyz",
        "readyz",
        {"GET": Does("readyz", "Whether answers are counted and tokens read", {200: _JSON})},
        is_open=True,
    ),
    Route(
        "/openapi.json",
        "openapi",
        {"GET": Does("openapi", "This document", {200: _JSON})},
        is_open=True,
    ),
    Route(
        "/page/{page}",
        "page",
        {"GET": Does("page", "A file of the page for browsers, if there is one", {200: _ANY})},
        is_open=True,
    ),
    Route(
        "/metrics",
        "metrics",
        {"GET": Does("metrics", "Figures of the service for Prometheus", {200: "text/plain"})},
    ),
    Route(
        "/v1/models", "models", {"GET": Does("models", "Models in the token's scope", {200: _JSON})}
    ),
    Route(
        _MODEL,
        "model",
        {"GET": Does("model", "A model, hashes of its client folder, and budgets", {200: _JSON})},
    ),
    Route(
        _MODEL + "/client/{file}",
        "client",
        {"GET": Does("client_file", "A file of the folder client/", {200: _JSON})},
    ),
    Route(
        _MODEL + "/keys/{sha256}",
        "keys",
        {
            "GET": Does("has_keys", "Whether public keys are kept", {204: _EMPTY}),
            "PUT": Does("put_keys", "Keeps public keys", {204: _EMPTY}, _BYTES),
        },
    ),
    Route(
        _MODEL + "/jobs",
        "jobs",
        {
            "GET": Does("jobs", "Jobs of this token", {200: _JSON}),
            "POST": Does("post_job", "Puts a query in the queue", {202: _JSON, 200: _JSON}, _BYTES),
        },
    ),
    Route(
        _MODEL + "/jobs/{sha256}",
        "job",
        {
            "GET": Does("job", "How far a job is", {202: _JSON, 200: _JSON}),
            "DELETE": Does("delete_job", "Forgets a job", {204: _EMPTY}),
        },
    ),
    Route(
        _MODEL + "/jobs/{sha256}/answer",
        "job_answer",
        {"GET": Does("job_answer", "The answer of a job, or a range", {200: _BYTES, 206: _BYTES})},
    ),
)
"""All of them."""


def _pattern(path: str) -> re.Pattern[str]:
    pieces = re.split(r"\{(\w+)\}", path)
    named = [f"(?P<{each}>{_PARTS[each]})" for each in pieces[1::2]]
    texts = [re.escape(each) for each in pieces[::2]]
    return re.compile("".join(a + b for a, b in zip(texts, [*named, ""], strict=True)))


_ADDRESSES: Final = [(_pattern(route.path), route) for route in ROUTES]


class HttpRequest(NamedTuple):
    """What a request says before its body."""

    method: str
    query: bytes
    headers: dict[bytes, bytes]
    receive: Receive
    parts: Mapping[str, str]
    places: list[Holder]
    """Holders whose places this request has, until its answer is out."""

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


def routed(
    scope: Scope, receive: Receive, headers: dict[bytes, bytes]
) -> tuple[Route, HttpRequest]:
    """The address of a request, and what the request says.

    Args:
        scope: of ASGI.
        receive: what gives the pieces of the body.
        headers: those of the scope, by name.

    Raises:
        RefusedError: there is no such address, or it takes another method.

    """
    root, path = scope.get("root_path", ""), scope["path"]
    path = path.removeprefix(root) if root else path
    route, parts = _address(path)
    method = scope["method"]
    if method not in route.methods:
        raise RefusedError("wrong-method", ("allow", ", ".join(route.methods)))
    query = scope.get("query_string", b"")
    return route, HttpRequest(method, query, headers, receive, parts, [])


@lru_cache(256)
def _address(path: str) -> tuple[Route, Mapping[str, str]]:
    """The address of a path, and what differs in it.

    Raises:
        RefusedError: there is no such address.

    """
    for address, route in _ADDRESSES:
        found = address.fullmatch(path)
        if found is not None:
            return route, found.groupdict()
    raise RefusedError("not-found")


def openapi() -> dict[str, Any]:
    """The document of OpenAPI 3.1 that describes all addresses."""
    paths: dict[str, Any] = {}
    for route in ROUTES:
        names = re.findall(r"\{(\w+)\}", route.path)
        paths[route.path] = {
            "parameters": [
                {
                    "name": name,
                    "in": "path",
                    "required": True,
                    "schema": {"type": "string", "pattern": f"^{_PARTS[name]}$"},
                }
                for name in names
            ],
            **{
                method.lower(): _operation(does, is_open=route.is_open)
                for method, does in route.methods.items()
            },
        }
    problem = {
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"enum": [f"urn:hesc:problem:{name}" for name in TEXTS]},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "hesc", "version": version("hesc")},
        "paths": paths,
        "components": {
            "schemas": {"Problem": problem},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(does: Does, *, is_open: bool) -> dict[str, Any]:
    gives = {str(status): _content(kind, "Given") for status, kind in does.gives.items()}
    refused: dict[str, Any] = {"schema": {"$ref": "#/components/schemas/Problem"}}
    found: dict[str, Any] = {
        "operationId": does.handler,
        "summary": does.summary,
        "security": [] if is_open else [{"token": []}],
        "responses": gives
        | {
            "default": {
                "description": "Refused",
                "content": {"application/problem+json": refused},
            }
        },
    }
    if does.body:
        found["requestBody"] = {"required": True, "content": {does.body: {}}}
    return found


def _content(kind: str, said: str) -> dict[str, Any]:
    return {"description": said} | ({"content": {kind: {}}} if kind else {})

"""Responses: what is refused, as problem+json (RFC 9457), and what is given.

Texts are fixed. They say what to do, and nothing of what was decrypted, computed or compared.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple, Self

TEXTS: Final = {
    "no-token": (401, "Give a token that is in force: `Authorization: Bearer ...`."),
    "not-found": (404, "There is nothing here, or nothing for this token."),
    "wrong-method": (405, "This address takes other methods: see `Allow`."),
    "slow-body": (408, "The body came too slowly. Send it again on a better line."),
    "keys-missing": (
        409,
        "The keys of this name are not here, or no longer: send them again by PUT, then the query.",
    ),
    "other-keys": (409, "The query is under another key than the keys that it names."),
    "no-length": (411, "Say how long the keys are: `Content-Length`."),
    "too-long": (413, "The body is longer than any that is taken here."),
    "bad-keys": (
        422,
        "These are no keys for this model, or they are damaged: make or send others.",
    ),
    "other-hash": (422, "The bytes have another SHA-256 than their address: send them again."),
    "name-keys": (
        400,
        "This model computes with the client's keys: name their SHA-256 by `Hesc-Keys`.",
    ),
    "no-keys": (400, "This model takes no keys: send the query alone."),
    "bad-query": (400, "This is no query for this model, or it is damaged: encrypt it anew."),
    "cut-off": (400, "The body ended before its end: send it again."),
    "budget": (403, "A budget of answers is used up: ask whoever runs this service."),
    "records-changed": (
        409,
        "The records of this model were replaced since the job was put in the queue: send the "
        "query again.",
    ),
    "no-range": (416, "The answer has no such range: `Content-Range` says how long it is."),
    "too-often": (429, "This token asks more often than it may: come again later."),
    "too-many": (429, "This token has as many requests under way as it may: wait for one."),
    "busy": (503, "As much waits here as may: come again later."),
    "not-kept": (503, "Nothing can be counted at the moment, so nothing is answered: come later."),
    "not-ready": (503, "This service is not ready: its log says why."),
    "failed": (500, "Something failed here, and nothing was given."),
}
"""Statuses and texts by what problems are called."""


class Response(NamedTuple):
    """What is sent back."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...]

    @classmethod
    def of_json(cls, value: Any) -> Self:
        """A document."""
        body = json.dumps(value, separators=(",", ":")).encode()
        return cls(200, body, (("content-type", "application/json"),))

    @classmethod
    def of_bytes(cls, body: bytes, *headers: tuple[str, str], status: int = 200) -> Self:
        """Bytes as they are."""
        kind = () if status == 204 else (("content-type", "application/octet-stream"),)
        return cls(status, body, (*kind, *headers))

    def and_heads(self, *headers: tuple[str, str]) -> Self:
        """The same, with more heads."""
        return self._replace(headers=(*self.headers, *headers))


class RefusedError(Exception):
    """What a request is refused with.

    Args:
        name: one of the problems that there are.
        headers: of the response, beside its kind.

    """

    def __init__(self, name: str, *headers: tuple[str, str]) -> None:
        super().__init__(name)
        self.name, self.headers = name, headers
        self.status, self.text = TEXTS[name]

    def response(self) -> Response:
        """The response, which says no more than its name does."""
        title = self.name.replace("-", " ")
        problem = {
            "type": f"urn:hesc:problem:{self.name}",
            "title": title,
            "status": self.status,
            "detail": self.text,
        }
        body = json.dumps(problem, separators=(",", ":")).encode()
        kind = (("content-type", "application/problem+json"),)
        return Response(self.status, body, (*kind, *self.headers))

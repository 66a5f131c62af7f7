"""Pages of other origins that browsers let ask this service: those that are listed, and no others.

Tokens are no cookies, so a page has to have one; what is listed bounds which pages can use it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from hesc._native import ParameterError
from hesc.serve.responses import Response

if TYPE_CHECKING:
    from collections.abc import Iterable

_ORIGIN: Final = re.compile(r"https?://[a-z0-9.-]+(:\d{1,5})?|https?://\[[0-9a-f:]+\](:\d{1,5})?")
_SHOWN: Final = (
    "hesc-query, hesc-kept, hesc-sha256, retry-after, content-range, location, www-authenticate"
)
_SECONDS: Final = "600"


class Origins:
    """Origins that are let in.

    Args:
        listed: each a scheme, a host and perhaps a port, as browsers write them.

    Raises:
        ParameterError: what is no origin; `*` too, which would let every page in.

    """

    def __init__(self, listed: Iterable[str]) -> None:
        self._listed = frozenset(listed)
        for each in self._listed:
            if not isinstance(each, str) or _ORIGIN.fullmatch(each) is None:
                raise ParameterError(
                    f"{each!r:.80} is no origin: give a scheme, a host in small letters and a port "
                    f"where it is not the usual one, as https://example.org"
                )

    def preflight(self, method: str, headers: dict[bytes, bytes]) -> Response | None:
        """What a browser is told before the request itself; None of what is no such question."""
        if method != "OPTIONS" or not self.shown(headers):
            return None
        if b"access-control-request-method" not in headers:
            return None
        allowed = (
            ("access-control-allow-methods", "GET, POST, PUT, DELETE"),
            ("access-control-allow-headers", "authorization, content-type, hesc-keys, range"),
            ("access-control-max-age", _SECONDS),
        )
        return Response(204, b"", allowed)

    def shown(self, headers: dict[bytes, bytes]) -> tuple[tuple[str, str], ...]:
        """Heads that let a page of a listed origin read a response."""
        origin = headers.get(b"origin", b"").decode("latin-1")
        if origin not in self._listed:
            return ()
        return (
            ("access-control-allow-origin", origin),
            ("access-control-expose-headers", _SHOWN),
            ("vary", "origin"),
        )

"""Bodies of requests, read piece by piece: no longer than was said, and no slower than is usual."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from hesc.serve.responses import RefusedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

SLOWEST: Final = 1 << 14
"""Bytes in a second that a body has to keep up, after a time that is given to all."""
_CLOSE: Final = ("connection", "close")


def stated(headers: dict[bytes, bytes]) -> int | None:
    """Bytes that a body will have, where its head says so.

    Raises:
        RefusedError: what is no number.

    """
    value = headers.get(b"content-length")
    if value is None:
        return None
    if not value.isdigit() or len(value) > len(str(1 << 62)):
        raise RefusedError("cut-off", _CLOSE)
    return int(value)


async def read(receive: Receive, most: int, seconds: float, take: Callable[[bytes], object]) -> int:
    """Reads a body piece by piece; the bytes that it had.

    Args:
        receive: what gives the pieces, of the ASGI server.
        most: bytes of all of them.
        seconds: what every body is given; one of many bytes has more, by `SLOWEST`.
        take: what is called with each piece.

    Raises:
        RefusedError: one that is too long, too slow, or ends before its end.

    """
    start, received, more = asyncio.get_running_loop().time(), 0, True
    try:
        async with asyncio.timeout_at(start + seconds) as limit:
            while more:
                event = await receive()
                if event["type"] != "http.request":
                    raise RefusedError("cut-off", _CLOSE)
                piece, more = event.get("body", b""), event.get("more_body", False)
                received += len(piece)
                if received > most:
                    raise RefusedError("too-long", _CLOSE)
                take(piece)
                if more:
                    limit.reschedule(start + seconds + received / SLOWEST)
    except TimeoutError:
        raise RefusedError("slow-body", _CLOSE) from None
    return received

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
    received, more = 0, True
    limit = _Limit(seconds)
    try:
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
                limit.reschedule(seconds + received / SLOWEST)
    except asyncio.CancelledError:
        if limit.is_why():
            raise RefusedError("slow-body", _CLOSE) from None
        raise
    finally:
        limit.reschedule(None)
    return received


class _Limit:
    """Cancels this task after some seconds: `asyncio.timeout`, for a third of what that takes.

    Args:
        seconds: from now on.

    """

    def __init__(self, seconds: float) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._start, self._passed = self._loop.time(), False
        self._timer = self._loop.call_at(self._start + seconds, self._pass)

    def _pass(self) -> None:
        if self._task is not None:
            self._passed = True
            self._task.cancel()

    def reschedule(self, seconds: float | None) -> None:
        """Takes another time, from the same beginning; None ends it."""
        self._timer.cancel()
        if seconds is not None:
            self._timer = self._loop.call_at(self._start + seconds, self._pass)

    def is_why(self) -> bool:
        """Whether a cancellation that has come is this one's, and nobody else wants it."""
        return self._passed and self._task is not None and self._task.uncancel() == 0

"""Connections whose heads are bounded: the compiled parser takes heads of any length.

It is a module of its own, since uvicorn's class is there only where httptools is installed.
"""

from __future__ import annotations

from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_LONGEST: Final = 1 << 16
"""Bytes of a head, at most; those of trailers and of what stands between chunks too."""
_QUEUED: Final = 8
"""Requests that wait for the one before them on their connection, at most."""


class BoundedConnection(HttpToolsProtocol):
    """A connection that ends where bytes come that are neither a whole head nor of a body.

    It ends too where requests come that nobody reads the answers to.
    """

    _unspent = 0

    def data_received(self, data: bytes) -> None:
        """Takes bytes of a connection."""
        self._unspent += len(data)
        super().data_received(data)
        if self._unspent > _LONGEST and not self.transport.is_closing():
            self.send_400_response("The head is too long.")

    def on_headers_complete(self) -> None:
        """Begins a request.

        Raises:
            ValueError: too many wait; the parser makes a bad request of it, which ends all.

        """
        if len(self.pipeline) >= _QUEUED:
            raise ValueError
        self._unspent = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Takes a piece of a body, which the application bounds."""
        self._unspent = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Ends a request."""
        self._unspent = 0
        super().on_message_complete()

"""A host of static files on a port of this machine, for pages that browsers open."""

from __future__ import annotations

import posixpath
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final, Self

from hesc.serve import pages

_KINDS: Final = {**pages.KINDS, ".mjs": "text/javascript; charset=utf-8"}


class StaticSite:
    """Serves `files` by their paths until it is closed; they may be changed meanwhile."""

    def __init__(self) -> None:
        files: dict[str, bytes] = {}
        self.files = files
        """Contents by path; the empty path is `index.html`."""

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                name = self.path.partition("?")[0].removeprefix("/") or pages.INDEX
                found = files.get(name)
                kind = _KINDS.get(posixpath.splitext(name)[1], "text/plain")
                self.send_response(404 if found is None else 200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(found or b"")))
                self.send_header("cache-control", "no-store")
                self.end_headers()
                self.wfile.write(found or b"")

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        """Its origin."""
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def close(self) -> None:
        """Ends it."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

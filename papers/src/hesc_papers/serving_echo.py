"""`hesc serve` with a part taken out, for comparison: it computes nothing, or keeps nothing.

`python -m hesc_papers.serving_echo WHAT ARGUMENTS...` takes the arguments of `hesc serve`. The
server and its settings are those of the command in each case; WHAT is `echo`, which answers fixed
bytes (so many as HESC_ECHO_BYTES says) to every body, `unkept`, which computes and keeps nothing,
or `whole`, which is the command. With `compiled` before that the server has the parser httptools
and the event loop uvloop, which have to be installed.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

import hesc.serve
from hesc.cli import main
from hesc.serve.state import ServiceState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hesc.serve.state import Charge

BYTES: Final = "HESC_ECHO_BYTES"
"""Variable of the environment: bytes of an answer."""
COMPILED: Final = "compiled "
"""What a server with compiled parts is called with first."""


class Echo:
    """A bare ASGI application: reads a body and answers fixed bytes. It looks at no token."""

    models: Final[dict[str, Any]] = {}

    def __init__(self, size: int) -> None:
        self._body = bytes(size)
        self._heads = [
            (b"content-type", b"application/octet-stream"),
            (b"content-length", str(size).encode()),
        ]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers one request."""
        more = scope["type"] == "http"
        while more:
            event = await receive()
            more = event.get("more_body", False)
        await send({"type": "http.response.start", "status": 200, "headers": self._heads})
        await send({"type": "http.response.body", "body": self._body})

    def close(self) -> None:
        """There is nothing to end."""


def _unkept() -> None:
    """Makes a state forget: no budget is exact, and the same query is computed again."""

    def submit(
        _: ServiceState, __: bytes, answer: bytes, ___: Sequence[Charge]
    ) -> Future[tuple[bytes, bool]]:
        found: Future[tuple[bytes, bool]] = Future()
        found.set_result((answer, False))
        return found

    ServiceState.find = lambda *_: None  # type: ignore[method-assign]
    ServiceState.given = lambda *_: 0  # type: ignore[method-assign]
    ServiceState.submit = submit  # type: ignore[method-assign]


def _compiled() -> None:
    """Puts compiled parts into the server's settings."""
    import uvicorn

    made = uvicorn.Config

    def config(*arguments: Any, **options: Any) -> Any:
        return made(*arguments, **options | {"http": "httptools", "loop": "uvloop"})

    uvicorn.Config = config  # type: ignore[assignment,misc]


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what.startswith(COMPILED):
        _compiled()
        what = what.removeprefix(COMPILED)
    if what == "echo":
        hesc.serve.app = lambda *_, **__: Echo(int(os.environ[BYTES]))  # type: ignore[assignment]
    elif what == "unkept":
        _unkept()
    sys.argv = ["hesc", "serve", *rest]
    main()

"""`hesc serve` with a part taken out, for comparison: it computes nothing, or keeps nothing.

`python -m hesc_papers.serving_echo WHAT ARGUMENTS...` takes the arguments of `hesc serve`. The
server and its settings are those of the command in each case; WHAT is `bare`, an application that
answers fixed bytes (so many as HESC_ECHO_BYTES says) to every body, `echo`, the service that
computes and keeps nothing and answers these, `unkept`, which computes and keeps nothing, or
`whole`, which is the command. With `pure` before that the server has the parser h11 and the
event loop of asyncio, where the command takes httptools and uvloop.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import hesc.serve
from hesc.cli import main
from hesc.serve import application
from hesc.serve.served_models import Evaluated, ServedModel
from hesc.serve.state.service_state import ServiceState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from hesc.serve.state.jobs import Job
    from hesc.serve.state.settling import Charge

BYTES: Final = "HESC_ECHO_BYTES"
"""Variable of the environment: bytes of an answer."""
PURE: Final = "pure "
"""What a server without compiled parts is called with first."""


class Bare:
    """A bare ASGI application: reads a body and answers fixed bytes. It looks at no token."""

    models: Final[dict[str, Any]] = {}

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._heads = [
            (b"content-type", b"application/octet-stream"),
            (b"content-length", str(len(body)).encode()),
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


class _Given(NamedTuple):
    """An outcome that is there at once."""

    outcome: tuple[bytes, bool]

    def done(self) -> bool:
        """It is there."""
        return True

    def result(self) -> tuple[bytes, bool]:
        """The outcome."""
        return self.outcome


class Unkept(ServiceState):
    """A state that remembers nothing: no budget is exact, and the same query is computed again."""

    def __init__(self) -> None:
        self.salt, self.reads_here = "0" * 64, True

    @classmethod
    def open(cls, *_: object, **__: object) -> Self:
        """One that is nowhere."""
        return cls()

    @property
    def works(self) -> bool:
        """It does not fail."""
        return True

    def find(self, name: bytes) -> bytes | None:  # noqa: ARG002 - as the state has it
        """None is kept."""
        return None

    def given(self, kind: str, name: str) -> int:  # noqa: ARG002 - as the state has it
        """Nothing is counted."""
        return 0

    def submit(
        self,
        name: bytes,  # noqa: ARG002 - as the state has it
        answer: bytes,
        charges: Sequence[Charge],  # noqa: ARG002 - as the state has it
    ) -> Any:
        """The answer as it is."""
        return _Given((answer, False))

    def claim(self, can: Callable[[Job], bool]) -> tuple[Job, bytes] | None:  # noqa: ARG002
        """There is no job."""
        return None

    def expire(self, before: float) -> int:  # noqa: ARG002 - as the state has it
        """There is no job."""
        return 0

    def close(self) -> None:
        """There is nothing to end."""


def _pure() -> None:
    """Takes compiled parts out of the server's settings."""
    import uvicorn

    made = uvicorn.Config

    def config(*arguments: Any, **options: Any) -> Any:
        return made(*arguments, **options | {"http": "h11", "loop": "asyncio"})

    uvicorn.Config = config  # type: ignore[assignment,misc]


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what.startswith(PURE):
        _pure()
        what = what.removeprefix(PURE)
    fixed = bytes(int(os.environ[BYTES]))
    if what == "bare":
        hesc.serve.app = lambda *_, **__: Bare(fixed)  # type: ignore[assignment]
    if what == "echo":
        ServedModel.evaluate = lambda *_: Evaluated(fixed, 0)  # type: ignore[method-assign]
    if what in ("echo", "unkept"):
        application.ServiceState = Unkept  # type: ignore[assignment,attr-defined]
    sys.argv = ["hesc", "serve", *rest]
    main()

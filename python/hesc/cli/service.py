"""`hesc serve`: deployments over HTTP, by uvicorn."""

from __future__ import annotations

import logging
import socket
import sys
from pathlib import Path  # noqa: TC003 - typer reads annotations
from typing import Annotated, Any, Final

import typer

from hesc._native import HescError
from hesc._support.extras import install_line
from hesc.cli.terminal import printable, say

_MIB: Final = 1 << 20
_DRAIN: Final = 60
"""Seconds that requests under way have when the service is ended."""
_CONNECTIONS: Final = 1000


def serve(
    servers: Annotated[list[Path], typer.Argument(help="Folders server/ of deployments.")],
    tokens: Annotated[Path, typer.Option(help="File in TOML of who may ask (docs/serving.md).")],
    state: Annotated[
        Path, typer.Option(help="File that keeps answers and counts; made where there is none.")
    ],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one, which is printed.")] = 8000,
    threads: Annotated[
        int | None, typer.Option(help="Queries computed at once; as many as processors.", min=1)
    ] = None,
    waiting: Annotated[
        int, typer.Option(help="Requests beside these, at most; more are refused.", min=0)
    ] = 32,
    body_seconds: Annotated[
        float, typer.Option(help="Seconds for a body, beside one for every 16 KiB of it.", min=0.1)
    ] = 60.0,
    kept_mib: Annotated[
        int, typer.Option(help="MiB of answers that are kept, at most.", min=1)
    ] = 1024,
    keys_mib: Annotated[
        int, typer.Option(help="MiB of public keys that are kept, at most.", min=1)
    ] = 4096,
) -> None:
    """Serves deployments over HTTP, to holders of tokens. SIGTERM ends it when all is answered.

    Example: hesc serve credit/server --tokens tokens.toml --state state.db --port 8000

    Connections are not encrypted here: beyond one machine, put a proxy with TLS before it.
    """
    try:
        import uvicorn
    except ImportError:
        raise HescError(
            f"`hesc serve` runs on uvicorn, which is not installed: {install_line('serve')}"
        ) from None
    from hesc.serve import app

    _log_lines()
    application = app(
        servers,
        tokens=tokens,
        state=state,
        threads=threads,
        waiting=waiting,
        body_seconds=body_seconds,
        kept_bytes=kept_mib * _MIB,
        key_bytes=keys_mib * _MIB,
    )
    try:
        listening = _listening(host, port)
        at = listening.getsockname()
        shown = f"[{at[0]}]" if ":" in at[0] else at[0]
        models = [f"  {digest} {each.plan.protocol}" for digest, each in application.models.items()]
        say(f"serving at http://{shown}:{at[1]}, until SIGTERM or Ctrl-C", *models)
        runner = uvicorn.Server(_configured(uvicorn, application))
        try:
            runner.run(sockets=[listening])
        except (SystemExit, KeyboardInterrupt):
            # The signal again, which uvicorn repeats when all is answered.
            if not runner.started:
                raise
    finally:
        application.close()
    if runner.force_exit:
        raise HescError("ended before all was answered")


def _configured(uvicorn: Any, application: Any) -> Any:
    return uvicorn.Config(
        application,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_DRAIN,
    )


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=_CONNECTIONS)
    except (OSError, OverflowError) as error:
        said = getattr(error, "strerror", None) or "there is no such port"
        raise HescError(f"{host} port {port}: {said}; choose another --host or --port") from error
    # Connections inherit it: asyncio sets it only where a socket's protocol is spelt out, and an
    # answer behind its head would wait 40 ms for the client's acknowledgement.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


class _Printable(logging.Formatter):
    """Lines in which nothing that came from outside begins another line."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        return printable(super().format(record))


def _log_lines() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Printable("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (("hesc.serve", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.addHandler(handler)
        logger.propagate = False

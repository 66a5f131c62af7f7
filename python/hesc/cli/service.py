"""`hesc serve`: deployments over HTTP, by uvicorn."""

from __future__ import annotations

import gc
import ipaddress
import logging
import socket
import ssl
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path  # noqa: TC003 - typer reads annotations
from threading import Thread
from typing import Annotated, Any, Final

import typer

from hesc._native import HescError
from hesc._support.extras import install_line
from hesc.cli.terminal import printable, say

_MIB: Final = 1 << 20
_DRAIN: Final = 60
"""Seconds that requests under way have when the service is ended."""
_CONNECTIONS: Final = 1000
_SWITCH: Final = 1e-3
"""Seconds that a thread goes on while another waits for Python's lock."""
_LINES_WAIT: Final = 0.2
"""Seconds that lines of the log wait for others."""


def serve(
    servers: Annotated[list[Path], typer.Argument(help="Folders server/ of deployments.")],
    tokens: Annotated[Path, typer.Option(help="File in TOML of who may ask (docs/serving.md).")],
    state: Annotated[
        str,
        typer.Option(
            help="File that keeps answers, counts and jobs, made where there is none; or "
            "postgresql://..., which several machines share."
        ),
    ],
    files: Annotated[
        Path | None,
        typer.Option(
            help="What names of this machine's files begin with, where the state is no file."
        ),
    ] = None,
    accept_restored: Annotated[
        bool,
        typer.Option(
            "--accept-restored-state",
            help="Take a state that is an old copy: its budgets begin anew from there.",
        ),
    ] = False,
    index: Annotated[
        list[Path] | None,
        typer.Option(help="The file of a search's records, of hesc index; may be repeated."),
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one, which is printed.")] = 8000,
    certificate: Annotated[
        Path | None, typer.Option(help="Chain of certificates in PEM, for https.")
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option(help="The certificate's private key in PEM, unsealed.")
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(help="A page that browsers let ask, https://host; may be repeated."),
    ] = None,
    page: Annotated[
        bool,
        typer.Option("--page", help="Serve a page for browsers at /page/ too, for tries."),
    ] = False,
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
    job_threads: Annotated[int, typer.Option(help="Jobs computed at once.", min=1)] = 1,
    jobs_mib: Annotated[
        int, typer.Option(help="MiB of jobs, of queries and answers, at most.", min=0)
    ] = 1024,
    job_hours: Annotated[
        float, typer.Option(help="Hours after which a job goes, done or not.", min=0.01)
    ] = 24.0,
) -> None:
    """Serves deployments over HTTP, to holders of tokens. SIGTERM ends it when all is answered.

    Example: hesc serve credit/server --tokens tokens.toml --state state.db --port 8000

    Beyond one machine give --certificate and --certificate-key, or put a proxy with TLS before it:
    without either, whoever is between reads the tokens.
    """
    if (certificate is None) != (certificate_key is None):
        raise HescError("--certificate and --certificate-key are given together")
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
        files=files,
        accept_restored=accept_restored,
        indexes=index or (),
        origins=origin or (),
        page=page,
        threads=threads,
        waiting=waiting,
        body_seconds=body_seconds,
        kept_bytes=kept_mib * _MIB,
        key_bytes=keys_mib * _MIB,
        job_threads=job_threads,
        job_bytes=jobs_mib * _MIB,
        job_hours=job_hours,
    )
    try:
        listening = _listening(host, port)
        at = listening.getsockname()
        shown = f"[{at[0]}]" if ":" in at[0] else at[0]
        models = [
            f"  {digest} {each.plan.protocol} {each.path}"
            for digest, each in application.models.items()
        ]
        configured = _configured(uvicorn, application, certificate, certificate_key)
        scheme = "http" if certificate is None else "https"
        say(f"serving at {scheme}://{shown}:{at[1]}, until SIGTERM or Ctrl-C", *models)
        if certificate is None and not ipaddress.ip_address(at[0]).is_loopback:
            say("other machines reach it unencrypted: a proxy that has the certificate goes before")
        if page:
            say(f"the page, for tries: {scheme}://{shown}:{at[1]}/page/")
        runner = uvicorn.Server(configured)
        _settle()
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


def _settle() -> None:
    """Lets no request wait for what is there for good, nor long for another thread.

    Collections of garbage pass over what was made so far. The thread that writes counts holds
    Python's lock for a millisecond at most where the event loop wants it, instead of five.
    """
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(_SWITCH)


def _configured(
    uvicorn: Any, application: Any, certificate: Path | None, certificate_key: Path | None
) -> Any:
    """How uvicorn runs it.

    Raises:
        HescError: a certificate or a key that cannot be read, or that do not belong together.

    """
    if certificate is not None and certificate_key is not None:
        # Before uvicorn reads them, who would ask on the terminal for a passphrase.
        _context(certificate, certificate_key)
    made = uvicorn.Config(
        application,
        ssl_certfile=certificate,
        ssl_keyfile=certificate_key,
        http=_parser(),
        loop="auto",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_graceful_shutdown=_DRAIN,
    )
    if certificate is not None and certificate_key is not None:
        made.load()
        made.ssl = _context(certificate, certificate_key)
    return made


def _parser() -> Any:
    """The compiled parser with bounds of ours, where it is installed, else h11, which has its own.

    h11 takes three times as long.
    """
    if find_spec("httptools") is None:
        return "h11"
    from hesc.cli.connections import BoundedConnection

    return BoundedConnection


def _context(certificate: Path, certificate_key: Path) -> ssl.SSLContext:
    """TLS 1.2 or newer with this certificate.

    Raises:
        HescError: files that cannot be read, a sealed key, or two that do not belong together.

    """
    found = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    found.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        found.load_cert_chain(certificate, certificate_key, password=lambda: b"")
    except OSError as error:
        said = getattr(error, "reason", None) or error.strerror or "they are something else"
        raise HescError(
            f"{certificate} and {certificate_key} serve no TLS ({said}): give a chain of "
            f"certificates and the key of the first, unsealed, both in PEM"
        ) from error
    return found


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

    _second, _text = -1, ""

    def format(self, record: logging.LogRecord) -> str:
        """One line. What it says of an error is in its message: there is no traceback."""
        second = int(record.created)
        if second != self._second:
            # Once a second: a date takes longer than the rest of a line.
            self._second, self._text = second, self.formatTime(record, "%Y-%m-%d %H:%M:%S")
        at = f"{self._text},{int(record.msecs):03}"
        return printable(f"{at} {record.levelname} {record.getMessage()}")


class _Lines(logging.Handler):
    """Lines on standard error, several at once: one by one they take as long as an answer.

    Those of a fifth of a second wait, unless one of them warns.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[str] = []
        self._writer = Thread(target=self._write, name="hesc log", daemon=True)
        self._writer.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a line."""
        self._waiting.append(self.format(record))
        if record.levelno >= logging.WARNING:
            self.flush()

    def flush(self) -> None:
        """Writes what waits; at the end of the process too."""
        self.acquire()
        try:
            lines, self._waiting = self._waiting, []
            # Where the log's disk is full its lines are lost: whoever logs goes on.
            with suppress(OSError):
                if lines:
                    sys.stderr.write("\n".join(lines) + "\n")
                    sys.stderr.flush()
        finally:
            self.release()

    def _write(self) -> None:
        while True:
            time.sleep(_LINES_WAIT)
            self.flush()


def _log_lines() -> None:
    # Nothing of these is in a line, and finding them takes longer than the line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging._srcfile = None  # noqa: SLF001 - as logging's docs say
    handler = _Lines()
    handler.setFormatter(_Printable())
    for name, level in (("hesc.serve", logging.INFO), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.setLevel(level)
        logger.addHandler(handler)
        logger.propagate = False

"""The command `hesc`."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import version
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from hesc._native import HescError
from hesc.cli import (
    batching,
    calibrate,
    compiling,
    demo,
    doctor,
    files,
    outsourcing,
    params,
    parties,
    preparing,
    reproduce,
    scoring,
    searching,
    service,
    web_page,
)
from hesc.cli.terminal import printable


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"hesc {version('hesc')}")
        raise typer.Exit


app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def hesc(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Prints the version."),
    ] = False,
) -> None:
    """Predictions and arithmetic on data that the server cannot read.

    Example: hesc demo iris

    Models of scikit-learn are planned and saved from Python (docs/ml.md), ONNX files by compile.
    """


_MODELS: Final = "A model as files, in the order of their use (docs/deploy.md)"
_LOOK: Final = "To look around and to measure"

app.command("compile", rich_help_panel=_MODELS)(compiling.compile_model)
app.command("keygen", rich_help_panel=_MODELS)(files.keygen)
app.command("encrypt-model", rich_help_panel=_MODELS)(outsourcing.encrypt_model)
app.command("prepare", rich_help_panel=_MODELS)(preparing.prepare)
app.command("encrypt", rich_help_panel=_MODELS)(files.encrypt)
app.add_typer(parties.app, name="party", rich_help_panel=_MODELS)
app.add_typer(searching.app, name="index", rich_help_panel=_MODELS)
app.command("search", rich_help_panel=_MODELS)(searching.search)
app.command("eval", rich_help_panel=_MODELS)(files.evaluate)
app.command("decrypt", rich_help_panel=_MODELS)(files.decrypt)
app.command("serve", rich_help_panel=_MODELS)(service.serve)
app.command("page", rich_help_panel=_MODELS)(web_page.page)
app.command("score", rich_help_panel=_MODELS)(scoring.score)
app.add_typer(batching.app, name="batch", rich_help_panel=_MODELS)
app.add_typer(demo.app, name="demo", rich_help_panel=_LOOK)
app.command("params", rich_help_panel=_LOOK)(params.params)
app.command("calibrate", rich_help_panel=_LOOK)(calibrate.calibrate)
app.command("doctor", rich_help_panel=_LOOK)(doctor.doctor)
app.command("reproduce", rich_help_panel=_LOOK)(reproduce.reproduce)


def _told(error: Exception) -> str:
    """An error in words, without the system's number."""
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str):
        return f"{error.filename}: {error.strerror}"
    return str(error) or "there is not enough memory"


def main() -> None:
    """Runs the command; what hesc or the system refuses becomes one line and exit status 1."""
    # Half-written files go, key material among them, when a service manager ends the command too,
    # or the terminal goes. Who ignores a signal (nohup) goes on.
    for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
        # Windows has the first alone.
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        app()
    except (HescError, OSError, MemoryError) as error:
        # No markup: names of files and classes may hold brackets.
        console = Console(stderr=True)
        words = printable(_told(error))
        console.print(Text.assemble(("error: ", "bold red"), words), soft_wrap=True)
        sys.exit(1)

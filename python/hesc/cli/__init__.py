"""The command `hesc`."""

from __future__ import annotations

import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from hesc._native import HescError
from hesc.cli import (
    calibrate,
    compiling,
    demo,
    files,
    network,
    outsourcing,
    params,
    parties,
    predicting,
    reproduce,
)


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
    """Computing on encrypted data with stochastic numbers."""


app.add_typer(demo.app, name="demo")
app.command("reproduce")(reproduce.reproduce)
app.command("params")(params.params)
app.command("calibrate")(calibrate.calibrate)
app.command("compile")(compiling.compile_model)
app.command("keygen")(files.keygen)
app.command("encrypt-model")(outsourcing.encrypt_model)
app.command("encrypt")(files.encrypt)
app.command("eval")(files.evaluate)
app.command("decrypt")(files.decrypt)
app.command("predict")(predicting.predict)
app.add_typer(parties.app, name="party")
app.add_typer(network.app, name="network")


def main() -> None:
    """Runs the command; what hesc or the system refuses becomes one line and exit status 1."""
    # Half-written files go, key material among them, when a service manager ends the command too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        app()
    except (HescError, OSError) as error:
        # No markup: names of files and classes may hold brackets.
        console = Console(stderr=True)
        console.print(Text.assemble(("error: ", "bold red"), str(error)), soft_wrap=True)
        sys.exit(1)

"""The command `hesc`."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from hesc._native import HescError
from hesc.cli import demo, files, reproduce

app = typer.Typer(
    help="Computing on encrypted data with stochastic numbers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.add_typer(demo.app, name="demo")
app.command("reproduce")(reproduce.reproduce)
app.command("keygen")(files.keygen)
app.command("encrypt-model")(files.encrypt_model)
app.command("encrypt")(files.encrypt)
app.command("eval")(files.evaluate)
app.command("decrypt")(files.decrypt)


def main() -> None:
    """Runs the command; what hesc or the system refuses becomes one line and exit status 1."""
    try:
        app()
    except (HescError, OSError) as error:
        Console(stderr=True).print(f"[bold red]error:[/] {error}", highlight=False)
        sys.exit(1)

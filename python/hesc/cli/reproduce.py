"""`hesc reproduce`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from hesc._support.new_files import check_new, new_file
from hesc._support.studies import Options, identifiers, study
from hesc.cli.terminal import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable


def reproduce(
    identifier: Annotated[
        str | None, typer.Argument(metavar="ID", help="Table or figure; see --list.")
    ] = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all IDs and stop.")] = False,
    quick: Annotated[bool, typer.Option(help="Fewer repetitions: a look only.")] = False,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            help="A peer measured in the same run: seal, lattigo, tenseal, tfhe, concrete-ml; "
            "repeatable."
        ),
    ] = None,
    json_file: Annotated[
        str | None, typer.Option("--json", help="Write the report to this new file, - for stdout.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw it into this new PNG file.")] = None,
) -> None:
    """Measures a table or figure of the papers again and prints it beside the paper's figures.

    Example: hesc reproduce koseki2022hesc:table-4 --peer seal --json table-4.json
    """
    console = Console(stderr=json_file == "-")
    if list_all or identifier is None:
        table = Table("ID", "what")
        for name in identifiers():
            table.add_row(name, study(name).TITLE)
        console.print(table)
        return
    chosen = study(identifier)
    peers = getattr(chosen, "PEERS", ("seal",))
    asked = tuple(peer or ())
    if not set(asked) <= set(peers):
        raise typer.BadParameter(
            f"{identifier} is measured beside {' or '.join(peers) or 'no peer'}",
            param_hint="--peer",
        )
    _check_outputs(json_file, plot)
    # SEAL works on one thread; so do we, before the first parallel call makes the pool.
    os.environ["RAYON_NUM_THREADS"] = "1"

    def bar(items: Iterable[Any], title: str) -> Iterable[Any]:
        return track(list(items), description=title, console=console, transient=True)

    report = chosen.reproduce(Options(quick=quick, peers=asked, track=bar))
    report.show(console)
    write_text(json_file, report.to_json())
    if plot is not None:
        with new_file(plot) as part:
            chosen.plot(report, part)
        console.print(Text(f"plot written to {plot}"), soft_wrap=True)


def _check_outputs(json_file: str | None, plot: Path | None) -> None:
    """Refuses before minutes of measurement what would fail after them."""
    outputs: dict[str, Path] = {}
    if json_file not in (None, "-"):
        outputs["--json"] = Path(json_file)
    if plot is not None:
        if plot.suffix.lower() != ".png":
            raise typer.BadParameter(f"{plot} does not end in .png", param_hint="--plot")
        outputs["--plot"] = plot
    check_new(outputs)

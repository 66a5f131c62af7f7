"""`hesc params`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from hesc.cli.terminal import standard_output
from hesc.params import Params

if TYPE_CHECKING:
    from hesc.params.presets import Preset


# Characters from which all columns have room.
_WIDE = 140


def params(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Only names that contain it: ckks, 8192.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Lists the named parameter sets: what they hold, how large it is, what they are for.

    `hesc.Params.preset` makes all of them; the depth of sets of numbers is how many products in a
    row they have room for.

    Example: hesc params ckks
    """
    tables = (("bits", Params.presets("streams")), ("numbers", Params.presets("vectors")))
    presets = [
        (contents, preset) for contents, rows in tables for preset in rows if text in preset.name
    ]
    if as_json:
        with standard_output() as out:
            json.dump([_record(*found) for found in presets], out, indent=2)
            out.write("\n")
        return
    console = Console()
    table = Table(title="named parameter sets", title_justify="left")
    # What they are for stands below names where there is no room beside them.
    wide = console.width >= _WIDE
    table.add_column("name" if wide else "name, and what for", no_wrap=wide)
    for column in ("ring", *(("security",) if wide else ()), "slots", "depth"):
        table.add_column(column, justify="left" if column == "security" else "right", no_wrap=True)
    table.add_column("ciphertext,\nbytes", justify="right", no_wrap=True)
    if wide:
        table.add_column("switching key,\nbytes", justify="right", no_wrap=True)
        table.add_column("for")
    for contents, preset in presets:
        ring = "" if preset.ring_degree is None else str(preset.ring_degree)
        slots = f"{preset.slots} {contents}"
        depth = "" if preset.depth is None else str(preset.depth)
        size = f"{preset.ciphertext_bytes:,}"
        if wide:
            key = f"{preset.switching_key_bytes:,}" if preset.switching_key_bytes else ""
            table.add_row(preset.name, ring, preset.security, slots, depth, size, key, preset.about)
        else:
            about = f"[bold]{preset.name}[/]\n{escape(preset.about)}"
            table.add_row(about, ring, slots, depth, size)
    console.print(table)


def _record(contents: str, preset: Preset) -> dict[str, object]:
    return {"contents": contents, **asdict(preset)}

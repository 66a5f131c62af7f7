"""`hesc params`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from hesc.leveled.params import LeveledParams
from hesc.params import Params

if TYPE_CHECKING:
    from hesc.presets import Preset


def params(
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="Only names that contain it: ckks, 8192.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
) -> None:
    """Lists the named parameter sets: what they hold, how large it is, what they are for.

    Sets of bits are for `hesc.Params.preset`, sets of numbers for `hesc.LeveledParams.preset`;
    their depth is how many products in a row they have room for.

    Example: hesc params ckks
    """
    tables = (("bits", Params.presets()), ("numbers", LeveledParams.presets()))
    presets = [
        (contents, preset) for contents, rows in tables for preset in rows if text in preset.name
    ]
    if as_json:
        json.dump([_record(*found) for found in presets], sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    table = Table(title="named parameter sets", title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("ring", justify="right")
    table.add_column("security")
    table.add_column("slots", justify="right")
    table.add_column("depth", justify="right")
    for column in ("ciphertext", "switching key"):
        table.add_column(f"{column}, bytes", justify="right")
    table.add_column("for")
    for contents, preset in presets:
        table.add_row(
            preset.name,
            "" if preset.ring_degree is None else str(preset.ring_degree),
            preset.security,
            f"{preset.slots} {contents}",
            "" if preset.depth is None else str(preset.depth),
            f"{preset.ciphertext_bytes:,}",
            f"{preset.switching_key_bytes:,}" if preset.switching_key_bytes else "",
            preset.about,
        )
    Console().print(table)


def _record(contents: str, preset: Preset) -> dict[str, object]:
    return {"contents": contents, **asdict(preset)}

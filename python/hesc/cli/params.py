"""`hesc params`."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from hesc import _native
from hesc.leveled.params import LeveledParams


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
    presets = [preset for preset in _native.presets() if text in preset.name]
    if as_json:
        json.dump([_record(preset) for preset in presets], sys.stdout, indent=2)
        sys.stdout.write("\n")
        return
    table = Table(title="named parameter sets", title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("slots", justify="right")
    table.add_column("depth", justify="right")
    for column in ("ciphertext", "switching key"):
        table.add_column(f"{column}, bytes", justify="right")
    table.add_column("for")
    for preset in presets:
        table.add_row(
            preset.name,
            f"{preset.slots} {_contents(preset)}",
            "" if (depth := _depth(preset)) is None else str(depth),
            f"{preset.ciphertext_bytes:,}",
            f"{preset.switching_key_bytes:,}" if preset.switching_key_bytes else "",
            preset.about,
        )
    Console().print(table)


def _contents(preset: _native.Preset) -> str:
    return "numbers" if preset.is_for_vectors else "bits"


def _depth(preset: _native.Preset) -> int | None:
    return LeveledParams.preset(preset.name).depth if preset.is_for_vectors else None


def _record(preset: _native.Preset) -> dict[str, object]:
    return {
        "name": preset.name,
        "contents": _contents(preset),
        "slots": preset.slots,
        "depth": _depth(preset),
        "ciphertext_bytes": preset.ciphertext_bytes,
        "switching_key_bytes": preset.switching_key_bytes,
        "about": preset.about,
    }

"""The folder in which one side keeps prepared queries, as an option of commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from hesc._native import ParameterError
from hesc.protocols.trees.preparations import Preparations

_MOST: Final = 10_000
"""Prepared queries that a folder holds, at most."""

_OPTION = typer.Option("--kept", help="Folder of this side's prepared queries, each used once.")
Kept = Annotated[Path, _OPTION]
KeptIfAny = Annotated[Path | None, _OPTION]


def kept_in(side: Any, folder: Path) -> Any:
    """A client or a server that keeps prepared queries in a folder.

    Raises:
        ParameterError: a plan whose queries cannot be prepared.

    """
    if not side.plan.prepares:
        raise ParameterError("queries of this plan are not prepared: leave out --kept")
    side.preparations = Preparations(folder, most=_MOST)
    return side

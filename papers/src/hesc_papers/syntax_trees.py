"""Files of other packages as syntax trees: data of studies are read from them."""

from __future__ import annotations

import ast
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def parsed(path: Path) -> ast.Module:
    """The tree of a file; nothing in it is run."""
    # The collector would go through a tree many times while it grows: half of all the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        return ast.parse(path.read_bytes())
    finally:
        if collects:
            gc.enable()

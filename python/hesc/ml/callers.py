"""Where a warning points to: at the line that called hesc, however deep it arises."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

_OWN: Final = str(Path(__file__).parent.parent)


def callers_level() -> int:
    """The `stacklevel` of `warnings.warn`, in who calls this, that names the first foreign line."""
    level = 1
    frame = sys._getframe(1)  # noqa: SLF001 - as the module warnings does
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
        level += 1
    return level

"""How much memory there is."""

from __future__ import annotations

import os
import sys


def machine_memory() -> int:
    """Bytes of this machine's memory, where the system says so."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return sys.maxsize

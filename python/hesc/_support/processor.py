"""Which processor this is."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """What the system calls it."""
    return cpuinfo("model name") or platform.processor() or platform.machine()


def cpuinfo(field: str) -> str:
    """A line of the first processor, where the system has such a list; empty elsewhere."""
    try:
        with Path("/proc/cpuinfo").open() as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == field:
                    return value.strip()
    except OSError:
        pass
    return ""

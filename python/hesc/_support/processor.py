"""Which processor this is."""

from __future__ import annotations

import platform
from pathlib import Path


def processor() -> str:
    """What the system calls it."""
    return cpuinfo("model name") or platform.processor() or platform.machine()


def kernels() -> str:
    """The vector instructions that kernels are compiled for, of those chosen at run time."""
    flags = set(cpuinfo("flags").split())
    if "avx512f" in flags:
        return "avx512-ifma" if "avx512ifma" in flags else "avx512"
    return "avx2" if "avx2" in flags else "portable"


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

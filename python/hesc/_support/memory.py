"""How much memory there is, and refusals of what it has no room for.

The compiled part cannot go on where the system gives it no memory: the process ends. What takes
much is therefore asked for first, by what it will need at least.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

# What is less is taken without a look: a look takes a tenth of the time that the memory takes.
_SMALL: Final = 1 << 26
# Of what is free this part is left for what nobody counted.
_SPARE: Final = 16
_GROUPS: Final = Path("/sys/fs/cgroup")


def machine_memory() -> int:
    """Bytes that this process may have in all, where the system says so.

    Those of the machine, or of a smaller limit: of the process, or of a container that it is in.
    """
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        machine = sys.maxsize
    return min([machine, *_limits().values(), *(most for most, _ in _groups())])


def free_memory() -> int:
    """Bytes that this process could have more than it has, where the system says so."""
    free = [sys.maxsize]
    known = _fields("/proc/meminfo")
    if "MemAvailable" in known:
        free.append(1024 * (known["MemAvailable"] + known.get("SwapFree", 0)))
    limits = _limits()
    status = _fields("/proc/self/status") if limits else {}
    # Both in kilobytes.
    for limit, field in (("Max address space", "VmSize"), ("Max data size", "VmData")):
        if field in status and limit in limits:
            free.append(limits[limit] - 1024 * status[field])
    free += [most - used for most, used in _groups()]
    return max(0, min(free))


def make_room(needed: int, what: str) -> None:
    """Refuses what there is no memory for, before anything of it is allocated.

    Args:
        needed: bytes that it takes at least.
        what: takes them, in the error.

    Raises:
        MemoryError: naming what there is and what it takes. Nothing has been done.

    """
    if needed < _SMALL:
        return
    free = free_memory()
    if needed > free - free // _SPARE:
        raise MemoryError(
            f"{what} would take {needed / 1e9:.3g} GB at least, and {free / 1e9:.3g} GB are free; "
            "take fewer or shorter ones at a time"
        )


def _fields(path: str) -> dict[str, int]:
    """The numbers of lines as "name: number unit"; nothing on other systems."""
    found = {}
    for line in _text(Path(path)).splitlines():
        name, _, rest = line.partition(":")
        number = rest.split()
        if number and number[0].isdecimal():
            found[name] = int(number[0])
    return found


def _limits() -> dict[str, int]:
    """Limits of this process, as `ulimit` sets them; those that are none are left out."""
    found = {}
    for line in _text(Path("/proc/self/limits")).splitlines():
        for name in ("Max address space", "Max data size"):
            soft = line.removeprefix(name).split()
            if line.startswith(name) and soft[0].isdecimal():
                found[name] = int(soft[0])
    return found


def _groups() -> Iterator[tuple[int, int]]:
    """Limits of the control groups that this process is in, and what of each is in use."""
    for line in _text(Path("/proc/self/cgroup")).splitlines():
        _, controllers, place = [*line.split(":", 2), "", ""][:3]
        if not controllers:
            root, most, used = _GROUPS, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root = _GROUPS / "memory"
            most, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        inner = root / place.lstrip("/")
        # Those above have limits too. A container sees its own group as the first.
        for folder in (inner, *inner.parents):
            if folder.is_relative_to(root):
                limit, taken = _text(folder / most).strip(), _text(folder / used).strip()
                if limit.isdecimal() and taken.isdecimal():
                    yield int(limit), max(0, int(taken) - _cached(folder))


def _cached(folder: Path) -> int:
    """What of a group's memory the system gives back when it is asked for: pages of files."""
    for line in _text(folder / "memory.stat").splitlines():
        name, _, number = line.partition(" ")
        if name in {"inactive_file", "total_inactive_file"} and number.isdecimal():
            return int(number)
    return 0


def _text(path: Path) -> str:
    """A file of the system, empty where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""

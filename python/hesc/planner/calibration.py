"""How long kernels take on this processor: kept, and read again.

`hesc.planner.calibrating` measures them. As many threads as the process has: `hesc calibrate` takes
one, as `hesc reproduce` does, or those that it is told to.
"""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Self

from hesc import _native
from hesc._native import HescError, WireError
from hesc._support.new_files import read_whole, replace_file
from hesc._support.processor import cpuinfo, processor
from hesc._support.strict_json import parsed

_FORMAT: Final = "hesc calibration 3"
_LONGEST: Final = 1 << 20
_MOST: Final = 1e6
"""Seconds of a kernel: more is no measurement."""
_NAME: Final = 200
"""Letters of a name."""
_DIGITS: Final = 9
_THREADS: Final = 1 << 16
"""At most."""


@dataclass(frozen=True)
class Calibration:
    """Seconds of kernels, by name, and where they come from."""

    times: dict[str, float]
    source: str
    """Processor and version of hesc."""
    reference: float
    """Seconds that `hesc.planner.reference` took while they were measured."""
    threads: int = 1
    """On which they were measured."""

    @classmethod
    def load(cls, threads: int | None = None) -> Self:
        """The calibration of this processor and build, from `hesc calibrate`, or the shipped one.

        Args:
            threads: how many. None takes those of this process, or where these were not measured
                one. `source` and `threads` say which it is.

        Raises:
            WireError: the stored file is damaged; `hesc calibrate --again` writes it anew.
            HescError: the stored file is longer than any calibration.

        """
        for count in [own_threads(), 1] if threads is None else [threads]:
            stored = cache_file(count)
            if stored is None or not stored.is_file() or not os.access(stored, os.R_OK):
                continue
            found = cls.from_json(read_whole(stored, _LONGEST, "a calibration"))
            if found.threads != count:
                raise WireError(f"{stored} is of other threads than its name says: {_AGAIN}")
            return found
        return cls.shipped()

    @classmethod
    def shipped(cls) -> Self:
        """The calibration of another machine, in `source`: good for comparing, not for promises."""
        found = cls.from_json((files("hesc.planner") / "shipped.json").read_bytes())
        return replace(
            found, source=f"{found.source} (shipped with hesc: hesc calibrate times this)"
        )

    def at(self, reference: float) -> float:
        """What to multiply times by while the reference kernel takes so many seconds."""
        return reference / self.reference

    def store(self) -> Path:
        """Writes it into the cache, in place of what was there.

        Raises:
            HescError: there is no cache folder.
            OSError: it cannot be written; what was there still is.

        """
        path = cache_file(self.threads)
        if path is None:
            raise HescError("this user has no home folder; name a cache folder in XDG_CACHE_HOME")
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, self.to_json().encode())
        return path

    def to_json(self) -> str:
        """The calibration as the text of a file."""
        times = dict(sorted(self.times.items()))
        fields: dict[str, Any] = {"source": self.source, "threads": self.threads}
        fields |= {"reference": self.reference, "seconds": times}
        return json.dumps({"format": _FORMAT} | fields, indent=1, allow_nan=False)

    @classmethod
    def from_json(cls, data: str | bytes) -> Self:
        """Reads that form; strict.

        Raises:
            WireError: damaged, of another version, or times that no kernel takes.

        """
        if not isinstance(data, str | bytes) or len(data) > _LONGEST:
            raise WireError(f"a calibration is a text of up to {_LONGEST} letters: {_AGAIN}")
        try:
            found = parsed(data)
        except ValueError as error:
            raise WireError(f"no calibration: {_AGAIN}") from error
        names = {"format", "source", "threads", "reference", "seconds"}
        if not isinstance(found, dict) or set(found) != names:
            raise WireError(f"no calibration of this version: {_AGAIN}")
        source, threads, times = found["source"], found["threads"], found["seconds"]
        reference = found["reference"]
        known = found["format"] == _FORMAT and isinstance(source, str) and isinstance(times, dict)
        known = known and _is_time(reference) and bool(reference)
        counted = type(threads) is int and 1 <= threads <= _THREADS
        if not known or not counted or not _is_name(source):
            raise WireError(f"a calibration of another version, or a damaged one: {_AGAIN}")
        if not all(_is_name(name) and _is_time(value) for name, value in times.items()):
            raise WireError(f"a calibration of kernels that cannot be: {_AGAIN}")
        seconds = {name: float(value) for name, value in times.items()}
        return cls(seconds, source, float(reference), threads)


_AGAIN: Final = "`hesc calibrate --again` measures and writes a new one"


def machine() -> str:
    """Processor and version of hesc."""
    name = f"{processor()}, hesc {version('hesc')}"[:_NAME]
    return "".join(letter for letter in name if letter.isprintable())


def own_threads() -> int:
    """Threads that this process computes on, by the rules of the pool that it has."""
    wanted = os.environ.get("RAYON_NUM_THREADS", "")
    if wanted.isascii() and wanted.isdecimal() and len(wanted) <= _DIGITS and int(wanted):
        return min(int(wanted), _THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def cache_file(threads: int) -> Path | None:
    """Where the calibration of this processor, this build and so many threads is kept.

    In the user's cache folder; None for a user who has none.
    """
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The standard says to pass over relative ones.
    if not base.is_absolute():
        try:
            base = Path.home() / ".cache"
        except RuntimeError:
            return None
    if not base.is_absolute():
        return None
    return base / "hesc" / f"calibration-{_machine_hash()}-{threads}.json"


@cache
def _machine_hash() -> str:
    """The hash of what decides times: processor, its vector extensions, and the compiled code."""
    parts = (cpuinfo("model name") or platform.processor(), platform.machine(), _extensions())
    code = sha256(Path(_native.__file__).read_bytes()).hexdigest()
    return sha256("\n".join([*parts, code]).encode()).hexdigest()[:16]


def _extensions() -> str:
    """Vector extensions, and nothing else that a kernel of the system adds to its list."""
    flags = (cpuinfo("flags") or cpuinfo("Features")).split()
    known = ("avx", "sse", "fma", "bmi", "asimd", "sve", "aes", "vaes", "adx")
    return " ".join(sorted(flag for flag in flags if flag.startswith(known)))


def _is_name(text: str) -> bool:
    """Whether a terminal shows it as it is."""
    return len(text) <= _NAME and text.isprintable()


def _is_time(value: Any) -> bool:
    return type(value) in {int, float} and 0 <= value < _MOST

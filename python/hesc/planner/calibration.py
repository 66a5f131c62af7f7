"""How long kernels take on this processor: measured once, kept, and read again.

Contenders run their own smallest tasks, stage by stage; times of kernels are what explains these
runs best (`hesc.planner.work.fitted`). All on one thread, as `hesc reproduce` measures.
"""

from __future__ import annotations

import json
import math
import os
import platform
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Never, Self

from hesc._native import WireError
from hesc.new_files import read_whole, replace_file
from hesc.planner.offers import measure
from hesc.planner.probes import probes
from hesc.planner.work import STAGES, fitted
from hesc.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc.planner.work import Work

_FORMAT: Final = "hesc calibration 1"
_LONGEST: Final = 1 << 20
_MOST: Final = 1e6
"""Seconds of a kernel: more is no measurement."""
_NAME: Final = 200


@dataclass(frozen=True)
class Calibration:
    """Seconds of kernels, by name, and where they come from."""

    times: dict[str, float]
    source: str
    """Processor and version of hesc."""

    @classmethod
    def load(cls) -> Self:
        """That of this processor, which `hesc calibrate` has stored, or else the shipped one.

        Raises:
            WireError: the stored file is damaged; `hesc calibrate --again` writes it anew.

        """
        stored = cache_file()
        if stored.exists():
            return cls.from_json(read_whole(stored, _LONGEST, "a calibration").decode())
        return cls.shipped()

    @classmethod
    def shipped(cls) -> Self:
        """That of another machine, which `source` names: good for comparing, not for promises."""
        return cls.from_json((files("hesc.planner") / "shipped.json").read_text())

    @classmethod
    def measure(cls, *, progress: bool | Callable[[int, int], object] = True) -> Self:
        """Measures all kernels, some seconds."""
        runs: dict[str, list[tuple[Work, float]]] = {}
        todo = probes()
        with Bar("kernels timed", progress) as bar:
            for done, (offer, task, x) in enumerate(todo):
                found = measure(offer, task, x, repetitions=3)
                for stage in STAGES:
                    part = {k: n for k, n in offer.work.items() if k.split(".")[-2] == stage}
                    if part:
                        group = next(iter(part)).rsplit(".", 1)[0]
                        runs.setdefault(group, []).append((part, found.stages[stage]))
                bar.show(done + 1, len(todo))
        times: dict[str, float] = {}
        for timed in runs.values():
            times |= fitted(timed)
        return cls(times, machine())

    def store(self) -> Path:
        """Writes it into the cache, in place of what was there."""
        path = cache_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, self.to_json().encode())
        return path

    def to_json(self) -> str:
        """Its form as a file."""
        times = dict(sorted(self.times.items()))
        return json.dumps({"format": _FORMAT, "source": self.source, "seconds": times}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Reads that form; strict.

        Raises:
            WireError: damaged, of another version, or times that no kernel takes.

        """
        try:
            found = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise WireError(f"no calibration: {_AGAIN}") from error
        if not isinstance(found, dict) or set(found) != {"format", "source", "seconds"}:
            raise WireError(f"no calibration: {_AGAIN}")
        source, times = found["source"], found["seconds"]
        known = found["format"] == _FORMAT and isinstance(source, str) and isinstance(times, dict)
        if not known or len(source) > _NAME or not all(map(_is_time, times.values())):
            raise WireError(f"a calibration of another version, or a damaged one: {_AGAIN}")
        return cls({name: float(seconds) for name, seconds in times.items()}, source)


_AGAIN: Final = "`hesc calibrate --again` measures and writes a new one"


def machine() -> str:
    """Processor, threads and version of hesc."""
    threads = os.environ.get("RAYON_NUM_THREADS") or str(os.cpu_count())
    return f"{_processor()}, threads: {threads}, hesc {version('hesc')}"[:_NAME]


def cache_file() -> Path:
    """Where this processor's calibration is kept: in the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    name = sha256(f"{_processor()} hesc {version('hesc')}".encode()).hexdigest()[:16]
    return Path(base) / "hesc" / f"calibration-{name}.json"


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _is_time(value: Any) -> bool:
    number = type(value) in {int, float}
    return number and math.isfinite(value) and 0 <= value < _MOST


def _no_number(_: str) -> Never:
    raise ValueError("no number")

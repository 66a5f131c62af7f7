"""Reports: what a study measured, how it is printed and stored, and how candidates take turns."""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from hesc._support.processor import cpuinfo, processor
from hesc_papers import lattigo_peer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rich.console import Console


# The rivals, by how their rows name them.
_RIVALS = {"SEAL": "seal-python", "TenSEAL": "tenseal", "gmpy2": "gmpy2", "Lattigo": "lattigo"}
_INSTRUCTIONS = ("avx512ifma", "avx512f", "avx2")


def _machine() -> dict[str, str]:
    """Where a report was made, and with what."""
    info = {
        "processor": processor(),
        "instructions": next(
            (name for name in _INSTRUCTIONS if name in cpuinfo("flags").split()), "others"
        ),
        "cores": str(os.cpu_count()),
        "threads": os.environ.get("RAYON_NUM_THREADS", str(os.cpu_count())),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    for package in ("hesc", "numpy", "seal-python", "tenseal", "gmpy2"):
        try:
            info[package] = version(package)
        except PackageNotFoundError:
            info[package] = "absent"
    if info["seal-python"] != "absent":
        info["seal-python"] += f", the wheel, {_hexl()} Intel HEXL, one thread"
    if info["gmpy2"] != "absent":
        info["gmpy2"] += ", the wheel, one thread"
    info["lattigo"] = lattigo_peer.version()
    return info


def _hexl() -> str:
    """Whether the installed SEAL was built with Intel's library of vector kernels."""
    spec = find_spec("seal")
    if spec is None or spec.origin is None:
        return "perhaps with"
    return "with" if b"hexl" in Path(spec.origin).read_bytes().lower() else "without"


@dataclass
class Report:
    """A table or the data of a figure."""

    identifier: str
    title: str
    unit: str
    rows: list[dict[str, Any]]
    """A column for each key; missing ones stay empty."""
    ratios: dict[str, float] = field(default_factory=dict)
    """The figures that documents quote, by name."""
    parameters: dict[str, Any] = field(default_factory=dict)
    series: dict[str, list[float]] = field(default_factory=dict)
    """Curves of a figure, by name: for plots and JSON, not for the terminal."""
    notes: list[str] = field(default_factory=list)
    repetitions: int = 1
    machine: dict[str, str] = field(default_factory=_machine)

    def to_json(self) -> str:
        """The whole report."""
        return json.dumps(asdict(self), indent=1) + "\n"

    def show(self, console: Console) -> None:
        """Prints tables for a terminal."""
        columns = list(dict.fromkeys(key for row in self.rows for key in row))
        cells = {column: [_cell(row.get(column)) for row in self.rows] for column in columns}
        widths = {column: max(map(len, [column, *cells[column]])) + 3 for column in columns}
        first, *rest = columns
        title: str | None = f"{self.title} [{self.unit}]"
        # As many tables as the terminal is too narrow for, each with the first column.
        while rest:
            shown, room = [first], console.width - widths[first] - 1
            while rest and (len(shown) == 1 or widths[rest[0]] <= room):
                room -= widths[rest[0]]
                shown.append(rest.pop(0))
            table = Table(title=title, title_justify="left")
            title = None
            for column in shown:
                table.add_column(column, justify="left" if column == first else "right")
            for row in zip(*(cells[column] for column in shown), strict=True):
                table.add_row(*row)
            console.print(table)
        if self.ratios:
            ratios = Table(title="ratios, same run", title_justify="left")
            ratios.add_column("name")
            ratios.add_column("value", justify="right")
            for name, value in self.ratios.items():
                ratios.add_row(name, _cell(value))
            console.print(ratios)
        for note in self.notes:
            console.print(f"- {note}", highlight=False)
        console.print(self.made_with(), highlight=False)

    def made_with(self) -> str:
        """The machine, the threads, and the version and build of every rival among the rows."""
        names = [str(next(iter(row.values()))) for row in self.rows]
        rivals = [
            f"; {rival} is {package} {self.machine[package]}"
            for rival, package in _RIVALS.items()
            if any(name.startswith(f"{rival}:") or f"({rival})" in name for name in names)
        ]
        of = self.machine
        return (
            f"medians of {self.repetitions} repetitions on {of['processor']} "
            f"({of['instructions']}), {of['cores']} cores; hesc {of['hesc']} on "
            f"{of['threads']} of them where nothing else is said" + "".join(rivals)
        )


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return str(value)


TURN = 0.02
TURN_QUICK = 0.004
MOST_RUNS = 20


def alternating(
    candidates: Mapping[str, Callable[[int], Mapping[str, float]]],
    rounds: Iterable[int],
    *,
    quick: bool = False,
) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Runs every candidate in each round, so that all see the same noise of the machine.

    A candidate's turn is a few runs (up to `TURN` seconds, or `TURN_QUICK`), the first of which
    only brings its code and data back into the caches and is not counted.
    """
    seconds = TURN_QUICK if quick else TURN
    for number in rounds:
        for name, run in candidates.items():
            run(number)
            end = time.perf_counter() + seconds
            for turn in range(MOST_RUNS):
                yield name, run(number + turn)
                if time.perf_counter() > end:
                    break

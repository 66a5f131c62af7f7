"""The tables and figures of the five papers, measured again: `hesc reproduce ID`.

One module for each or for several of a kind, found by the ID, `<citation key>:<table-or-figure>`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final, Protocol

from hesc._native import HescError

if TYPE_CHECKING:
    from pathlib import Path

    from hesc.papers.report import Options, Report

# A module, or one of several studies in a module: `module:key`.
_MODULES: Final = {
    **{
        f"babenko2020ckksbfv:table-{table}": f"hesc.papers.babenko2020ckksbfv:table-{table}"
        for table in range(2, 14)
    },
    **{
        f"hsiao2022sche:figure-{figure}": f"hesc.papers.hsiao2022sche_figure_{figure}"
        for figure in range(2, 6)
    },
    "koseki2022hesc:figure-1": "hesc.papers.koseki2022hesc_figure_1",
    "koseki2022hesc:figure-2": "hesc.papers.koseki2022hesc_figure_2",
    "koseki2022hesc:figure-3": "hesc.papers.koseki2022hesc_figure_3",
    "koseki2022hesc:figure-5": "hesc.papers.koseki2022hesc_figure_5",
    "koseki2022hesc:figure-6": "hesc.papers.koseki2022hesc_figure_6",
    "koseki2022hesc:figure-7": "hesc.papers.koseki2022hesc_figure_7",
    "koseki2022hesc:figure-8": "hesc.papers.koseki2022hesc_figure_8",
    "koseki2022hesc:figure-9": "hesc.papers.koseki2022hesc_figure_9",
    "koseki2022hesc:table-2": "hesc.papers.koseki2022hesc_table_2",
    "koseki2022hesc:table-3": "hesc.papers.koseki2022hesc_table_3",
    "koseki2022hesc:table-4": "hesc.papers.koseki2022hesc_table_4",
    "koseki2022hesc:table-5": "hesc.papers.koseki2022hesc_table_5",
}


class Study(Protocol):
    """What the study of a table or figure has."""

    TITLE: str

    def reproduce(self, options: Options) -> Report:
        """Measures."""

    def plot(self, report: Report, path: Path) -> None:
        """Draws the report into a file."""


def identifiers() -> list[str]:
    """All IDs."""
    return list(_MODULES)


def study(identifier: str) -> Study:
    """The study of an ID."""
    if identifier not in _MODULES:
        raise HescError(f"no study {identifier!r}; choose one of {', '.join(_MODULES)}")
    name, _, key = _MODULES[identifier].partition(":")
    module = import_module(name)
    found: Study = module.STUDIES[key] if key else module
    return found

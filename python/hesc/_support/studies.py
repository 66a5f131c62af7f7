"""Studies, which `hesc reproduce` runs. Packages bring them, hesc itself has none.

A package names a module as entry point of the group `hesc.studies`; it has the functions of
`Collection`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, Final, Protocol

from hesc._native import HescError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from rich.console import Console

GROUP: Final = "hesc.studies"


def _no_bar(items: Iterable[Any], _title: str) -> Iterable[Any]:
    return items


@dataclass(frozen=True)
class Options:
    """What the command line asks for."""

    quick: bool = False
    """Fewer repetitions: a look, not a measurement."""
    peers: tuple[str, ...] = ()
    """`"seal"`, or what `PEERS` of the study names: measured in the same run."""
    track: Callable[[Iterable[Any], str], Iterable[Any]] = field(default=_no_bar)
    """Wraps a loop with a progress bar of this title."""


class Report(Protocol):
    """What a study found."""

    def to_json(self) -> str:
        """All of it."""

    def show(self, console: Console) -> None:
        """Prints it for a terminal."""


class Study(Protocol):
    """A table or figure that is measured again."""

    TITLE: str

    def reproduce(self, options: Options) -> Report:
        """Measures."""

    def plot(self, report: Any, path: Path) -> None:
        """Draws a report of this study into a file."""


class Collection(Protocol):
    """The studies of a package."""

    def identifiers(self) -> list[str]:
        """The names of all, `<citation key>:<table-or-figure>`."""

    def study(self, identifier: str) -> Study:
        """The study of a name."""


def _installed() -> dict[str, Collection]:
    """Where each study is."""
    found: dict[str, Collection] = {}
    for entry_point in entry_points(group=GROUP):
        collection: Collection = entry_point.load()
        found |= dict.fromkeys(collection.identifiers(), collection)
    if not found:
        raise HescError(
            "the tables and figures come with the package hesc-papers: "
            "pip install ./papers in hesc's source tree (make setup does it)"
        )
    return found


def identifiers() -> list[str]:
    """The names of all studies that are installed.

    Raises:
        HescError: there are none; the message says how to install them.

    """
    return list(_installed())


def study(identifier: str) -> Study:
    """The study of a name.

    Raises:
        HescError: no study has this name, or none is installed.

    """
    collections = _installed()
    if identifier not in collections:
        raise HescError(f"no study {identifier!r}; choose one of {', '.join(collections)}")
    return collections[identifier].study(identifier)

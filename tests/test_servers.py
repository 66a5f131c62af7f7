"""What a server imports cannot decrypt: kept by the names of files, over all that there are."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Final

import grimp
import pytest
from scripts.house import KEEPERS

UPPER: Final = ("hesc.cli", "hesc.planner", "hesc.protocols.candidates", "hesc.ml")
"""Rooms where both sides of a computation are made: commands, the planner, estimators."""
BOTH: Final = {
    # Files of a protocol that play both sides, to plan, to measure or to show it.
    "backend", "block_runs", "demonstration", "planning", "staged",
}  # fmt: skip


@cache
def graph() -> grimp.ImportGraph:
    """Imports that load something inside hesc, but for those of the face, which loads lazily."""
    found = grimp.build_graph("hesc", cache_dir=None, exclude_type_checking_imports=True)
    for importer in found.find_modules_that_directly_import("hesc"):
        found.remove_import(importer=importer, imported="hesc")
    return found


def decrypts(module: str) -> bool:
    """Whether a module may hold a secret key, by its name."""
    return module.startswith("hesc.secret") or module.rpartition(".")[2] in KEEPERS


def has_both_sides(module: str) -> bool:
    """Whether a module plays both sides, by its name."""
    if module in ("hesc", "hesc.__main__") or module.startswith(UPPER):
        return True
    return module.startswith("hesc.protocols.") and module.rpartition(".")[2] in BOTH


def test_nothing_that_a_server_imports_reaches_a_secret_key() -> None:
    modules = graph().modules
    holders = {module for module in modules if decrypts(module)}
    assert {
        "hesc.secret.secret_key",
        "hesc.packing.secret",
        "hesc.protocols.linear.client",
    } <= holders
    reached: set[str] = set()
    for holder in holders:
        reached |= graph().find_downstream_modules(holder)
    wrong = sorted(
        module for module in reached if not decrypts(module) and not has_both_sides(module)
    )
    assert not wrong, f"these reach a file that holds secret keys: {wrong}"


def test_the_exceptions_are_all_needed() -> None:
    """A room or a name that no longer reaches a secret key has to go from the lists above."""
    reached = graph().find_downstream_modules("hesc.secret", as_package=True)
    for room in UPPER:
        assert any(module.startswith(room) for module in reached), room
    for name in BOTH:
        assert any(module.rpartition(".")[2] == name for module in reached), name


@pytest.mark.parametrize(
    "module",
    [
        "hesc",
        "hesc.integers",
        "hesc.packing",
        "hesc.gates",
        "hesc.codes",
        "hesc.protocols.registry",
        "hesc.serve",
    ],
)
def test_importing_a_server_s_module_loads_no_secret(module: str) -> None:
    code = f"import sys, {module}; sys.exit(any(m.split('.')[-1] == 'secret' for m in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Imports run downwards: between crates, and between the modules of each crate.

What Python's modules import is said in pyproject.toml and checked by `make lint`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
CRATES = sorted(path.parents[1] for path in ROOT.glob("crates/*/src/lib.rs"))
# What a crate builds on.
BELOW = {
    "hesc-kernels": set[str](),
    "hesc-math": {"hesc-kernels"},
    "hesc-stochastic": {"hesc-kernels"},
    "hesc-schemes": {"hesc-math", "hesc-kernels"},
    "hesc-circuits": {"hesc-schemes", "hesc-stochastic", "hesc-kernels"},
    "hesc-client": {"hesc-circuits", "hesc-schemes", "hesc-kernels"},
    "hesc-py": {
        "hesc-client",
        "hesc-circuits",
        "hesc-schemes",
        "hesc-stochastic",
        "hesc-math",
        "hesc-kernels",
    },
}

Module = tuple[str, ...]
PATH = re.compile(r"\b(?:crate|self|super)(?=::)")
NAME = re.compile(r"\w+")
USE = re.compile(r"^ *(?:pub(?:\([\w: ]+\))? +)?use ([^;]+);", re.MULTILINE)


def leaves(text: str) -> list[list[str]]:
    """The paths of a tree such as `a::{b, c::{d, e as f}}` that `text` begins with."""
    name = NAME.match(text)
    if name is None:
        return []
    rest = text[name.end() :]
    if not rest.startswith("::"):
        return [[name[0]]]
    rest = rest[2:].lstrip()
    if not rest.startswith("{"):
        return [[name[0], *path] for path in leaves(rest) or [[]]]
    branches, depth, start = [], 0, 1
    for end, letter in enumerate(rest):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if (letter == "," and depth == 1) or depth == 0:
            branches.append(rest[start:end].strip())
            start = end + 1
        if depth == 0:
            break
    return [[name[0], *path] for branch in branches for path in leaves(branch)]


def block_end(text: str, start: int) -> int:
    """Behind the brace that closes the first one after `start`."""
    depth = 0
    for found in re.compile("[{}]").finditer(text, start):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return len(text)


class Crate:
    """The modules of a crate, and which of them each names."""

    def __init__(self, folder: Path) -> None:
        self.texts: dict[Module, str] = {}
        for file in sorted(folder.glob("src/**/*.rs")):
            parts = file.relative_to(folder / "src").with_suffix("").parts
            module = parts[:-1] if parts[-1] in {"lib", "mod"} else parts
            self.texts[module] = self.code(file.read_text())
        self.exported = {module: dict(self.exports(module)) for module in self.texts}

    @staticmethod
    def code(text: str) -> str:
        """Without comments, and without tests, which may use everything."""
        text = re.sub(r"//.*", "", text)
        while found := re.search(r"#\[cfg\(test\)\]\s*(?:pub(?:\([\w: ]+\))? )?mod \w+ \{", text):
            text = text[: found.start()] + text[block_end(text, found.start()) :]
        return text

    def exports(self, module: Module) -> Iterator[tuple[str, list[str]]]:
        """What a module has from elsewhere, by the path that leads there."""
        for use in USE.finditer(self.texts[module]):
            for path in leaves(use[1]):
                yield path[-1], path

    def home(self, module: Module, path: list[str], most: int = 8) -> Module | None:
        """The module that holds what `path` names in `module`; nothing outside of the crate."""
        first, *rest = path
        if first == "crate":
            at: Module = ()
        elif first == "super":
            at = module[:-1]
        elif first == "self":
            at = module
        elif (*module, first) in self.texts:
            at = (*module, first)
        else:
            return None
        for name in rest:
            if name == "super":
                at = at[:-1]
            elif (*at, name) in self.texts:
                at = (*at, name)
            elif most and (further := self.exported[at].get(name)):
                return self.home(at, further, most - 1) or at
            else:
                break
        return at

    def named(self, module: Module) -> set[Module]:
        """The other modules whose contents a module names."""
        text = self.texts[module]
        inner = [
            (found.start(), block_end(text, found.start()))
            for found in re.finditer(r"\bmod \w+ \{", text)
        ]
        homes = set()
        for found in PATH.finditer(text):
            depth = sum(start < found.start() < end for start, end in inner)
            for path in leaves(text[found.start() :]):
                # Modules inside a file count as the file.
                ups = min(depth, sum(name == "super" for name in path))
                homes.add(self.home(module, path[ups:] if path[0] == "super" else path))
        for use in USE.finditer(text):
            homes |= {self.home(module, path) for path in leaves(use[1])}
        return {home for home in homes if home is not None and home != module}

    def circles(self) -> set[frozenset[str]]:
        """Modules of a folder that reach each other, with all that is inside them."""
        arrows: defaultdict[Module, set[Module]] = defaultdict(set)
        for module in self.texts:
            # An error shows values of the types that it is about, which return it.
            if module[-1:] == ("error",):
                continue
            for home in self.named(module):
                shared = 0
                while module[shared : shared + 1] == home[shared : shared + 1] != ():
                    shared += 1
                # Within a module and what is inside it there are no neighbours.
                if shared < min(len(module), len(home)):
                    arrows[module[: shared + 1]].add(home[: shared + 1])
        reached = {module: self.reached(arrows, module) for module in list(arrows)}
        return {
            frozenset("::".join(other) for other in found if module in reached.get(other, ()))
            for module, found in reached.items()
            if module in found
        }

    @staticmethod
    def reached(arrows: dict[Module, set[Module]], start: Module) -> set[Module]:
        """Where arrows lead to from a module, by one or more steps."""
        found: set[Module] = set()
        ahead = [start]
        while ahead:
            following = arrows.get(ahead.pop(), set()) - found
            found |= following
            ahead += following
        return found


@pytest.mark.parametrize("folder", CRATES, ids=lambda folder: folder.name)
def test_modules_of_a_crate_make_no_circle(folder: Path) -> None:
    assert not Crate(folder).circles()


def test_paths_are_read() -> None:
    """Each way to name a module leads to it, re-exports and modules inside a file included."""
    crate = Crate(ROOT / "crates/hesc-circuits")
    beside = {("streams", "plan"), ("streams", "errors_of_sums")}
    assert beside <= crate.named(("streams", "readout"))
    assert leaves("crate::{a::X, b::{self, c::*}, d as e}; rest") == [
        ["crate", "a", "X"],
        ["crate", "b", "self"],
        ["crate", "b", "c"],
        ["crate", "d"],
    ]
    # By its name in the crate's root.
    assert crate.home(("streams", "wire"), ["crate", "Answer"]) == ("streams", "answer")
    assert crate.home(("gates", "program"), ["super", "Netlist"]) == ("gates", "netlist")


@pytest.mark.parametrize("folder", CRATES, ids=lambda folder: folder.name)
def test_crates_build_on_those_below(folder: Path) -> None:
    manifest = tomllib.loads((folder / "Cargo.toml").read_text())
    named = {name for name in manifest["dependencies"] if name.startswith("hesc-")}
    assert named == BELOW[folder.name]


def test_the_package_is_not_its_own_user() -> None:
    """What import contracts cannot tell from the compiled module: names from the package's root."""
    for file in ROOT.glob("python/hesc/**/*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "hesc":
                modules = {"_native"} | {p.stem for p in ROOT.glob("python/hesc/*")}
                assert {alias.name for alias in node.names} <= modules, file

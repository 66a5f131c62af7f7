"""Imports run downwards: between crates, and between the modules of each."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
CRATES = sorted(path.parents[1] for path in ROOT.glob("crates/*/src/lib.rs"))
# What a crate builds on stands to its right.
LAYERS = ["hesc-py", "hesc-circuits", "hesc-schemes", "hesc-stochastic", "hesc-math"]

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
        while found := re.search(r"#\[cfg\(test\)\]\s*mod \w+ \{", text):
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

    def circles(self) -> set[tuple[Module, ...]]:
        """Circles between neighbours in a folder, with all that is inside them."""
        arrows: defaultdict[Module, set[Module]] = defaultdict(set)
        for module in self.texts:
            for home in self.named(module):
                shared = 0
                while module[: shared + 1] == home[: shared + 1]:
                    shared += 1
                    if shared in {len(module), len(home)}:
                        break
                one, other = module[: shared + 1], home[: shared + 1]
                if len(one) == len(other) and one != other:
                    arrows[one].add(other)
        return {
            tuple(sorted(circle))
            for start in list(arrows)
            if (circle := self.way_back(arrows, start))
        }

    @staticmethod
    def way_back(arrows: dict[Module, set[Module]], start: Module) -> list[Module] | None:
        """The shortest way from a module to itself."""
        ways = [[start]]
        seen = set()
        for way in ways:
            for following in sorted(arrows.get(way[-1], ())):
                if following == start:
                    return way
                if following not in seen:
                    seen.add(following)
                    ways.append([*way, following])
        return None


if __name__ == "__main__":
    for folder in CRATES:
        crate = Crate(folder)
        print(folder.name, len(crate.texts))
        for c in sorted(crate.circles()):
            print("  ", [ "::".join(m) for m in c])
        strict = {m: crate.named(m) for m in crate.texts}
        for m in sorted(strict):
            for h in sorted(strict[m]):
                if m in strict[h] and m < h: print("      mutual", "::".join(m) or "lib", "::".join(h) or "lib")

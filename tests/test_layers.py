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
    "hesc-circuits": {"hesc-schemes", "hesc-stochastic", "hesc-math", "hesc-kernels"},
    "hesc-client": {"hesc-circuits", "hesc-schemes", "hesc-kernels"},
    "hesc-wasm": {"hesc-client", "hesc-circuits", "hesc-schemes", "hesc-math"},
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


CLIENT = ROOT / "crates/hesc-client"
# What a client takes of the standard library: data, and nothing of the machine that it runs on.
PLAIN = {"array", "borrow", "collections", "fmt", "hash", "iter", "sync"}
# What it builds on beside our own crates: forms of data, sums, and threads where there are any.
TAKEN = {
    "base64",
    "crc32fast",
    "rand_core",  # which names generators, and has none
    "rayon",
    "serde",
    "serde_json",
    "sha2",
    "thiserror",
    "unicode-normalization",
    "unicode-properties",
    "zeroize",
}
MACHINE = re.compile(
    r"\b(?:(?:e?print|e?println|dbg|env|option_env|include|include_str|include_bytes)!"
    r"|(?:getrandom|OsRng|SysRng|from_os|from_entropy|SystemTime|Instant)\b)"
)


def outside(text: str) -> set[str]:
    """What code names of the machine: modules of the standard library, and what prints or draws."""
    paths = (
        path
        for at in re.finditer(r"\b(?:std|core|alloc)::", text)
        for path in leaves(text[at.start() :])
    )
    return {path[1] for path in paths} - PLAIN | set(MACHINE.findall(text))


def test_a_client_has_no_input_output_clock_or_randomness() -> None:
    """All that it computes follows from its arguments, in whatever it runs: a page, a phone."""
    for module, text in Crate(CLIENT).texts.items():
        assert module[-1:] == ("tests",) or not outside(text), module
    manifest = tomllib.loads((CLIENT / "Cargo.toml").read_text())
    others = {name for name in manifest["dependencies"] if not name.startswith("hesc-")}
    assert others == TAKEN
    # Crates below have their generators from the system only where somebody asks for it.
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
    assert workspace["hesc-math"]["default-features"] is False
    schemes = tomllib.loads((ROOT / "crates/hesc-schemes/Cargo.toml").read_text())
    assert schemes["dependencies"]["hesc-math"] == {"workspace": True}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("use std::fmt;\nlet x = std::iter::repeat(0);", set()),
        ("use std::{fmt, fs::File};", {"fs"}),
        ("fn f() { core::time::Duration::ZERO; std::thread::spawn(g); }", {"time", "thread"}),
        ('println!("{x}"); write!(f, "x");', {"println!"}),
        ("let rng = AesCtrRng::from_os()?; Instant::now();", {"from_os", "Instant"}),
        ('const KEY: &str = env!("KEY"); let printed = 1;', {"env!"}),
    ],
)
def test_what_is_of_the_machine_is_found(text: str, found: set[str]) -> None:
    assert outside(text) == found


def test_the_package_is_not_its_own_user() -> None:
    """What import contracts cannot tell from the compiled module: names from the package's root."""
    for file in ROOT.glob("python/hesc/**/*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "hesc":
                modules = {"_native"} | {p.stem for p in ROOT.glob("python/hesc/*")}
                assert {alias.name for alias in node.names} <= modules, file

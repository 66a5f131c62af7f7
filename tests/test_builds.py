"""Crates that we build on are compiled once, for Python's module and for Rust's tests."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from typing import Final

from scripts import house

MODULE: Final = "--package hesc-py --features peers"
"""Arguments of what `make setup` builds."""
TESTS: Final = r"^RUST_TESTS := cargo test .*?\$\(CHECKED\) (.*)$"
"""The line of the Makefile with the arguments of Rust's tests."""
OURS: Final = "hesc-"
SMALL: Final = {"chacha20"}
"""What else may differ: it compiles in a second, and nothing large is built on it."""


def _features(arguments: str) -> dict[tuple[str, str], set[str]]:
    """With which features a build compiles each crate, by its name and version."""
    command = [
        "cargo",
        "tree",
        "--locked",
        "--no-dedupe",
        "--prefix",
        "none",
        "--format",
        "{p}|{f}",
    ]
    said = subprocess.run(
        [*command, *arguments.split()], cwd=house.ROOT, check=True, capture_output=True, text=True
    ).stdout
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for line in filter(None, said.splitlines()):
        crate, _, features = line.removesuffix(" (*)").partition("|")
        name, version = crate.split()[:2]
        found[name, version].add(features)
    return found


def test_tests_build_on_what_was_compiled_for_the_module() -> None:
    """Features that differ make a crate, and all that is built on it, compile a second time.

    `tfhe`, for one. Where this fails, the workspace asks for the union: see `num-integer` there.
    """
    (given,) = re.findall(TESTS, (house.ROOT / "Makefile").read_text(), re.MULTILINE)
    module = _features(f"{MODULE} --edges normal,build")
    tests = _features(f"{given} --edges normal,build,dev")
    both = {crate for crate in module.keys() & tests.keys() if not crate[0].startswith(OURS)}
    assert {name for name, _ in both} >= {"tfhe", "rustfft", "syn", *SMALL}
    differing = {crate for crate in both if module[crate] != tests[crate]}
    assert {name for name, _ in differing} <= SMALL

"""Licences and sources of the crates that hesc is built on, by `deny.toml`: a part of `make lint`.

cargo-deny reads the same file, and takes minutes to compile: `make audit`, which needs its
advisories, has it. What is checked here needs no more than what cargo says of the crates.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
_CRATES_IO: Final = "registry+https://github.com/rust-lang/crates.io-index"
_TOKENS: Final = re.compile(r"\(|\)|/|[^\s()/]+(?:\s+WITH\s+[^\s()/]+)?")


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether an SPDX expression leaves a choice of licences that are all allowed.

    `/` is the `OR` of older crates; `AND` binds more strongly than `OR`.

    Raises:
        ValueError: an expression that is none.

    """
    tokens = [re.sub(r"\s+", " ", token) for token in _TOKENS.findall(expression)]

    def one_of() -> bool:
        found = all_of()
        while tokens and tokens[0] in {"OR", "/"}:
            tokens.pop(0)
            found = all_of() or found
        return found

    def all_of() -> bool:
        found = single()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            found = single() and found
        return found

    def single() -> bool:
        word = tokens.pop(0) if tokens else ")"
        if word == "(":
            found = one_of()
            if not tokens or tokens.pop(0) != ")":
                raise ValueError(f"no licence expression: {expression!r}")
            return found
        if word in {")", "OR", "AND", "/"}:
            raise ValueError(f"no licence expression: {expression!r}")
        return word in allowed

    found = one_of()
    if tokens:
        raise ValueError(f"no licence expression: {expression!r}")
    return found


def refused(metadata: dict[str, Any], rules: dict[str, Any]) -> list[str]:
    """What `deny.toml` does not allow of the crates that `cargo metadata` names, a line each."""
    allowed = set(rules["licenses"]["allow"])
    lines = []
    for package in metadata["packages"]:
        name = f"{package['name']} {package['version']}"
        if package["license"] is None or not is_allowed(package["license"], allowed):
            lines.append(f"{name}: licence {package['license']}, which is not allowed")
        if package["source"] not in {None, _CRATES_IO}:
            lines.append(f"{name}: from {package['source']}, not from crates.io")
        lines += [
            f"{name}: takes any version of {dependency['name']}"
            for dependency in package["dependencies"]
            if package["source"] is None and dependency["req"] == "*"
        ]
    return lines


def main() -> int:
    """Prints what is refused; 1 if anything is."""
    command = ("cargo", "metadata", "--format-version", "1", "--locked", "--all-features")
    found = subprocess.run(  # noqa: S603
        command, cwd=ROOT, capture_output=True, text=True, check=True
    )
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    lines = refused(json.loads(found.stdout), rules)
    for line in lines:
        print(line)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())

"""Which licences and sources of crates `make lint` takes."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from scripts.crates import ROOT, is_allowed, refused

ALLOWED = {"MIT", "BSD-3-Clause", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"}
RULES = {"licenses": {"allow": sorted(ALLOWED)}}


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("MIT OR GPL-3.0", True),
        ("Unlicense/MIT", True),
        ("MIT AND GPL-3.0", False),
        ("(GPL-3.0 OR MIT) AND Unicode-3.0", True),
        ("GPL-3.0 OR MIT AND Unicode-3.0", True),
        ("GPL-3.0 AND MIT OR Unlicense", False),
        ("MIT OR Unlicense AND GPL-3.0", True),
        ("Apache-2.0", False),
        ("Apache-2.0  WITH  LLVM-exception OR GPL-3.0", True),
        ("MIT WITH LLVM-exception", False),
    ],
)
def test_a_choice_of_licences_is_enough(expression: str, allowed: bool) -> None:
    assert is_allowed(expression, ALLOWED) == allowed


@pytest.mark.parametrize(
    "expression", ["", "MIT OR", "AND MIT", "(MIT", "MIT)", "MIT MIT", "()", "OR", "MIT OR OR MIT"]
)
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(ValueError, match="no licence expression"):
        is_allowed(expression, ALLOWED)


def _package(**fields: object) -> dict[str, Any]:
    usual = {"name": "a", "version": "1", "license": "MIT", "source": None, "dependencies": []}
    return {"packages": [usual | fields]}


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"license": None}, "a 1: licence None"),
        ({"license": "GPL-3.0"}, "a 1: licence GPL-3.0"),
        ({"source": "registry+https://example.org/index"}, "not from crates.io"),
        ({"source": "git+https://github.com/a/a"}, "not from crates.io"),
        ({"dependencies": [{"name": "b", "req": "*"}]}, "takes any version of b"),
    ],
)
def test_what_is_not_allowed_is_named(fields: dict[str, object], says: str) -> None:
    (line,) = refused(_package(**fields), RULES)
    assert says in line


def test_what_is_allowed_is_not() -> None:
    index = "registry+https://github.com/rust-lang/crates.io-index"
    others = [{"name": "b", "req": "*"}]
    assert not refused(_package(), RULES)
    assert not refused(_package(source=index, dependencies=others), RULES)
    assert not refused(_package(dependencies=[{"name": "b", "req": "^1"}]), RULES)


def test_the_rules_are_those_that_cargo_deny_reads() -> None:
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    assert rules["bans"] == {"multiple-versions": "allow", "wildcards": "deny"}
    assert rules["sources"] == {"unknown-registry": "deny", "unknown-git": "deny"}

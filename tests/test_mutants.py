"""The lists of slips fit the code: each puts one mistake where it says."""

from __future__ import annotations

import pytest
from scripts.mutants.slips import ROOT, Slip, all_switched, read_all, switched

LISTS = sorted(ROOT.glob("slips/*.toml"))


def test_every_slip_has_its_place() -> None:
    slips = read_all(LISTS)
    assert len(slips) >= 2
    assert all(slip.harmless is None or len(slip.harmless) > 20 for slip in slips)
    assert len(all_switched(slips)) > 2


@pytest.mark.parametrize(
    ("old", "new", "brackets"),
    [("a + b", "a", True), ("check(a)?;", "", False), ("if a { return Err(b); }", "", False)],
)
def test_switches_are_expressions_or_statements(old: str, new: str, brackets: bool) -> None:
    slip = Slip("math", "x", "crates/hesc-math/src/a.rs", old, "", new, harmless=None, python=False)
    code = switched(slip, 7)
    assert code.startswith("(") == code.endswith(")") == brackets
    assert f"{{ {old} }}" in code
    assert '"7"' in code

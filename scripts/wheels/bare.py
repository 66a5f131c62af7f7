"""Bare virtual environments, filled from a folder of wheels: no toolchain, no index, no network."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
_UNUSUAL: Final = {"PYTHONPATH", "PIP_COMPILE"}
INDEX: Final = ROOT / "target" / "index"


def wheel() -> Path:
    """The wheel that `make wheel` left."""
    (found,) = (ROOT / "target" / "dist").glob("*.whl")
    return found


def local_index(*wanted: str) -> Path:
    """A folder with the wheel of hesc and all that the named requirements take."""
    INDEX.mkdir(parents=True, exist_ok=True)
    for old in INDEX.glob("hesc-*.whl"):
        old.unlink()
    (INDEX / wheel().name).write_bytes(wheel().read_bytes())
    _pip(
        "download", "--only-binary=:all:", "--dest", str(INDEX), "--find-links", str(INDEX), *wanted
    )
    return INDEX


class Bare:
    """A virtual environment with nothing in it, not even pip."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, clear=True, symlinks=True)
        self.python = folder / "bin" / "python"
        self.packages = next((folder / "lib").glob("python*")) / "site-packages"

    def install(self, *wanted: str) -> float:
        """Installs from the local index and nowhere else; gives the seconds that it took."""
        started = time.perf_counter()
        _pip(
            *("--python", str(self.python), "install", "--no-index", "--find-links", str(INDEX)),
            *wanted,
        )
        return time.perf_counter() - started

    def size(self) -> int:
        """Bytes of everything that is installed, what Python compiled of it included."""
        return sum(path.stat().st_size for path in self.packages.rglob("*") if path.is_file())

    def run(self, *arguments: str, under: tuple[str, ...] = ()) -> tuple[float, str]:
        """Runs Python with no toolchain to be found; gives seconds and what it printed."""
        clean = {"PATH": str(self.python.parent), "HOME": str(self.packages)}
        started = time.perf_counter()
        done = subprocess.run(
            [*under, str(self.python), *arguments],
            env=clean,
            cwd=self.packages,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return time.perf_counter() - started, done.stdout


def _pip(*arguments: str) -> None:
    quiet = ("--quiet", "--disable-pip-version-check")
    # By the one pip would take this project for installed; by the other it compiles nothing.
    clean = {name: value for name, value in os.environ.items() if name not in _UNUSUAL}
    subprocess.run([sys.executable, "-m", "pip", *quiet, *arguments], env=clean, check=True)

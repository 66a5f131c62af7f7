"""Measures what a newcomer waits for, from a bare virtual environment on: `make newcomer`.

For hesc alone and with each extra: bytes of the wheels, bytes installed, seconds to install from a
local index, seconds to the first decrypted prediction, with Python's start and all imports, and
the seconds of processor that both took, which other programs on a busy machine change little.
Exit status 1 where the first is above 150 MB or both times together above 20 seconds.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from scripts.wheels.bare import INDEX, ROOT, Bare, local_index, wheel

PROGRAMS: Final = {
    "": "program.py",
    "[ml]": "model.py",
    "[ml,plots]": "model.py",
    "[onnx]": "program.py",
    "[ml,onnx,plots]": "model.py",
}
MOST_SECONDS: Final = 20.0
MOST_BYTES: Final = 150_000_000


def downloaded(wanted: str) -> int:
    """Bytes of all wheels that a requirement takes."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--quiet", "--no-index", "--find-links", str(INDEX), "--dest", folder)
        subprocess.run([sys.executable, "-m", "pip", "download", *options, wanted], check=True)
        return sum(path.stat().st_size for path in Path(folder).iterdir())


def _processor() -> float:
    """Seconds of processor that programs started from here have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    """Prints a table in Markdown."""
    local_index(*(f"{wheel()}{extra}" for extra in PROGRAMS))
    print(
        "| | wheels, MB | installed, MB | install, s | to the first prediction, s | of processor |"
    )
    print("|---|---|---|---|---|---|")
    missed = False
    for extra, program in PROGRAMS.items():
        with tempfile.TemporaryDirectory() as folder:
            size, bare = downloaded(f"hesc{extra}"), Bare(Path(folder))
            used = _processor()
            installing = bare.install(f"hesc{extra}")
            there = bare.size()
            running, _ = bare.run(str(ROOT / "tests" / "wheel" / program))
            used = _processor() - used
        whole = installing + running
        print(
            f"| `hesc{extra}` | {size / 1e6:.0f} | {there / 1e6:.0f} | {installing:.1f} "
            f"| {whole:.1f} | {used:.1f} |",
            flush=True,
        )
        missed |= extra in {"", "[ml]"} and (size > MOST_BYTES or whole > MOST_SECONDS)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())

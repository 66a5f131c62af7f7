"""Tests the wheel in a bare virtual environment with no toolchain in PATH: `make wheel-test`.

Keys, a prediction, a gate and `hesc doctor`; then the same on kernels without AVX, by an emulated
processor that has none, where qemu-user is installed.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from scripts.wheels.bare import ROOT, Bare, local_index, wheel

PROGRAM: Final = str(ROOT / "tests" / "wheel" / "program.py")
WITHOUT_AVX: Final = ("-cpu", "Nehalem")
QUICK: Final = "insecure_tfhe_512"
"""An emulator computes doubles one by one: the gate has a small set there."""


def main() -> int:
    """Prints a line for each step."""
    local_index(str(wheel()))
    with tempfile.TemporaryDirectory() as folder:
        bare = Bare(Path(folder))
        print(f"installed in {bare.install('hesc'):.1f} s, {bare.size() / 1e6:.0f} MB")
        seconds, said = bare.run(PROGRAM)
        print(f"{said.strip()} in {seconds:.1f} s")
        seconds, said = bare.run("-m", "hesc", "doctor", "--json", "-")
        found = json.loads(said)
        states = {test["scheme"]: test["status"] for test in found["self_tests"]}
        assert set(states.values()) == {"ok"}, states  # noqa: S101 - this is a test
        print(f"hesc doctor: {len(states)} schemes on {found['kernels']} in {seconds:.1f} s")
        emulator = shutil.which("qemu-x86_64")
        if emulator is None:
            print("NOT RUN: kernels without AVX; install qemu-user")
            return 0
        seconds, said = bare.run(PROGRAM, QUICK, under=(emulator, *WITHOUT_AVX))
        print(f"without AVX: {said.strip()} in {seconds:.1f} s, emulated")
    return 0


if __name__ == "__main__":
    sys.exit(main())

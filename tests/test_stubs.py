"""`_native.pyi` against the binary, by mypy's stubtest.

Classes, methods, properties, functions, names of parameters and their defaults are compared. Types
are not: the binary does not know them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hesc import _native

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT: Final = Path(__file__).parents[1]
STUB: Final = ROOT / "python/hesc/_native.pyi"
# PyO3 lists all public names there, and the stub is that list.
ALLOWED: Final = ["hesc._native.__all__"]
# Only builds of `make peers` have these two.
PEERS: Final = ["TfheIntegers", "time_tfhe_kreyvium"]


def _differences(where: Path, folder: Path, allowed: Sequence[str]) -> str:
    """What stubtest says of the stub in this folder of packages; nothing where it agrees.

    Disjoint bases are left out: no class of the binary can be a base, and the stub calls all final.
    """
    (where / "mypy.ini").write_text("[mypy]\n")
    (where / "allowed").write_text("\n".join(allowed))
    command = [
        *(sys.executable, "-m", "mypy.stubtest", "hesc._native", "--concise"),
        *("--ignore-disjoint-bases", "--mypy-config-file", str(where / "mypy.ini")),
        *("--allowlist", str(where / "allowed")),
    ]
    paths = {"MYPYPATH": str(folder)}
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=where, env=os.environ | paths
    )
    assert bool(result.stdout) == bool(result.returncode), result.stderr
    return result.stdout


def _allowed() -> list[str]:
    absent = [name for name in PEERS if not hasattr(_native, name)]
    return ALLOWED + [f"hesc._native.{name}" for name in absent]


def test_the_stub_describes_the_binary(tmp_path: Path) -> None:
    assert not _differences(tmp_path, ROOT / "python", _allowed())


def test_a_stub_that_differs_is_noticed(tmp_path: Path) -> None:
    text = STUB.read_text()
    for true, false in {
        "def words(self)": "def letters(self)",
        "def scc(a: BitStreams,": "def scc(c: BitStreams,",
        "def approximate_parallel_count(self, group: int)": (
            "def approximate_parallel_count(self, group: int = ...)"
        ),
        "def sobol_points(": "def halton_points(",
        "class Selector:": "class Chooser: ...\n\n@final\nclass Selector:",
    }.items():
        assert text.count(true) == 1, true
        text = text.replace(true, false)
    package = tmp_path / "packages" / "hesc"
    package.mkdir(parents=True)
    (package / "__init__.pyi").touch()
    (package / "_native.pyi").write_text(text)
    found = _differences(tmp_path, package.parent, _allowed())
    for name in (
        *("BitStreams.words", "BitStreams.letters", "BitStreams.approximate_parallel_count"),
        *("scc", "sobol_points", "halton_points", "Chooser"),
    ):
        assert f"hesc._native.{name} " in found, name

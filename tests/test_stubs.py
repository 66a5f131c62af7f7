"""`_native.pyi` against the binary, by mypy's stubtest.

Classes, methods, properties, functions, names of parameters and their defaults are compared. Types
are not: the binary does not know them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from hesc import _native

ROOT: Final = Path(__file__).parents[1]
STUB: Final = ROOT / "python/hesc/_native.pyi"
# PyO3 lists all public names there, and the stub is that list.
ALLOWED: Final = ["__all__"]
# Only builds of `make peers` have these two.
PEERS: Final = ["TfheIntegers", "time_tfhe_kreyvium"]
# The package that has the binary beside a stub that differs.
OTHER: Final = "hesc_beside"


def _differences(where: Path, stubs: str) -> tuple[str, str]:
    """What stubtest says of the stub that is shipped, and of these: nothing where one agrees.

    Both in one run, which reads the stubs of numpy once: for the second the binary has another
    name. Disjoint bases are left out: no class of the binary can be a base, and the stub calls all
    final.
    """
    other = where / OTHER
    other.mkdir()
    (other / "__init__.pyi").touch()
    (other / "_native.pyi").write_text(stubs)
    alias = f'sys.modules["{OTHER}._native"] = _native'
    (other / "__init__.py").write_text(f"import sys\nfrom hesc import _native\n{alias}\n")
    (where / "mypy.ini").write_text("[mypy]\n")
    allowed = [f"{name}._native.{each}" for name in ("hesc", OTHER) for each in _allowed()]
    (where / "allowed").write_text("\n".join(allowed))
    command = [
        *(sys.executable, "-m", "mypy.stubtest", "hesc._native", f"{OTHER}._native", "--concise"),
        *("--ignore-disjoint-bases", "--mypy-config-file", str(where / "mypy.ini")),
        *("--allowlist", str(where / "allowed")),
    ]
    python = os.pathsep.join(filter(None, (str(where), os.environ.get("PYTHONPATH"))))
    paths = {"MYPYPATH": os.pathsep.join((str(ROOT / "python"), str(where))), "PYTHONPATH": python}
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=where, env=os.environ | paths
    )
    assert bool(result.stdout) == bool(result.returncode), result.stderr
    lines = result.stdout.splitlines()
    own, others = ([x for x in lines if x.startswith(OTHER) is of] for of in (False, True))
    return "\n".join(own), "\n".join(others)


def _allowed() -> list[str]:
    absent = [name for name in PEERS if not hasattr(_native, name)]
    return [*ALLOWED, *absent]


def test_the_stub_describes_the_binary_and_one_that_differs_is_noticed(tmp_path: Path) -> None:
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
    differs, found = _differences(tmp_path, text)
    assert not differs
    for name in (
        *("BitStreams.words", "BitStreams.letters", "BitStreams.approximate_parallel_count"),
        *("scc", "sobol_points", "halton_points", "Chooser"),
    ):
        assert f"{OTHER}._native.{name} " in found, name

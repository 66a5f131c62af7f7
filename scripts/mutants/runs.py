"""Tests, run with one slip switched on until one fails: in Rust those only that reach its place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from scripts.mutants import slips
from scripts.mutants.slips import REACHED, ROOT, SWITCH

if TYPE_CHECKING:
    from scripts.mutants.slips import Slip

# Where cargo builds: dependencies are those of the tests, built once.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
FAILED = re.compile(r"^FAILED (?P<test>\S+)")
# A slip may make a loop endless: a test has so many times its own time, and so many seconds more.
PATIENCE, GRACE = 20, 60
# For all of Python's tests.
SECONDS = 1800


class Killer(NamedTuple):
    """The test that noticed a slip, and how."""

    test: str
    how: str = "failed"


@dataclass(frozen=True)
class Program:
    """A Rust test program."""

    name: str
    path: str
    folder: Path

    def tests(self) -> list[str]:
        """The names of its tests, without those that are ignored."""
        ignored = set(self._listed("--ignored"))
        return [name for name in self._listed() if name not in ignored]

    def _listed(self, *options: str) -> list[str]:
        """The tests that it names with these options."""
        listed = subprocess.run(
            (self.path, "--list", "--format=terse", *options),
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
        )
        names = (line for line in listed.stdout.splitlines() if line.endswith(": test"))
        return [name.removesuffix(": test") for name in names]


@dataclass(frozen=True)
class RustTest:
    """One test of a program, how long it takes and the slips whose places it reaches."""

    program: Program
    name: str
    seconds: float
    reached: frozenset[int]
    passes: bool

    def __str__(self) -> str:
        return f"{self.program.name}: {self.name}"

    def killer(self, number: int) -> Killer | None:
        """Whether the test notices this slip."""
        seconds = GRACE + PATIENCE * self.seconds
        code = run_test(self.program, self.name, {SWITCH: str(number)}, seconds)
        if code == 0:
            return None
        return Killer(str(self), "endless" if code is None else "failed")


def run_test(
    program: Program, test: str, environment: dict[str, str], seconds: float
) -> int | None:
    """The exit status of one test in a process of its own; None if it took longer."""
    process = subprocess.Popen(
        (program.path, "--exact", test, "--test-threads=1"),
        cwd=program.folder,
        env={**os.environ, "RAYON_NUM_THREADS": "2", **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def watched(program: Program, test: str, place: Path) -> RustTest:
    """Runs a test with no slip on and notes which it reaches."""
    reached = place / f"{program.name}-{test}".replace("::", "-")
    reached.touch()
    begun = time.monotonic()
    code = run_test(program, test, {REACHED: str(reached)}, 1200)
    numbers = frozenset(int(line) for line in reached.read_text().splitlines())
    return RustTest(program, test, time.monotonic() - begun, numbers, passes=code == 0)


@dataclass(frozen=True)
class PythonRun:
    """Python's tests on a copy of the package."""

    command: tuple[str, ...]
    folder: Path
    environment: dict[str, str]

    def killer(self, number: int | None, only: str | None = None) -> Killer | None:
        """The first test that fails, or None; without a number no slip is switched on."""
        # Laws first; no test runs twice. The lists themselves do not fit code with a slip in it.
        tests = ("--ignore=tests/test_mutants.py", "tests/laws", "tests")
        process = subprocess.Popen(
            (*self.command, *(tests if only is None else (only,))),
            cwd=self.folder,
            env={**os.environ, **self.environment, SWITCH: str(number)},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        watch = threading.Timer(SECONDS, process.kill)
        watch.start()
        begun, failed = time.monotonic(), None
        for line in process.stdout or ():
            if match := FAILED.match(line):
                failed = Killer(match["test"])
                process.kill()
                break
        code = process.wait()
        watch.cancel()
        if failed is None and code:
            hung = time.monotonic() - begun >= SECONDS
            failed = Killer("?", "endless" if hung else f"died with {code}")
        return failed


def rust_programs(tree: Path) -> list[Program]:
    """The test programs of all crates but the bindings, built once with every slip in them."""
    built = _cargo(
        tree,
        *("test", "--no-run", "--lib", "--tests", "--release", "--config", ".cargo/tests.toml"),
        *("--workspace", "--exclude", "hesc-py", "--exclude", "hesc-wasm"),
        *("--exclude", "hesc-bench"),
        *("--features", "hesc-circuits/tfhe"),
        "--message-format=json-render-diagnostics",
    )
    programs = []
    for line in built.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact" or not message.get("executable"):
            continue
        crate = message["target"]["src_path"].removeprefix(f"{tree / slips.CRATES}/").split("/")[0]
        if message["profile"]["test"]:
            name = f"{crate}::{message['target']['name']}"
            folder = tree / slips.CRATES / crate
            programs.append(Program(name, message["executable"], folder))
    return programs


def build_python(tree: Path) -> Path:
    """The Python module with every Rust slip in it."""
    _cargo(tree, *("build", "--release", "--package", "hesc-py", "--features", "peers"))
    return TARGET / "release/lib_native.so"


def _cargo(tree: Path, *arguments: str) -> str:
    """What cargo says of the tree with every slip in it, of whose warnings there are thousands.

    Raises:
        RuntimeError: slips that do not compile, with the compiler's errors.

    """
    built = subprocess.run(
        ["cargo", *arguments],
        cwd=tree,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        check=False,
        capture_output=True,
        text=True,
    )
    if built.returncode:
        found = re.findall(r"^error.*?(?=^\S|\Z)", built.stderr, re.MULTILINE | re.DOTALL)
        raise RuntimeError("slips that do not compile:\n" + "\n".join(found))
    return built.stdout


def python_run(tree: Path, place: Path, slip: Slip | None, native: Path) -> PythonRun:
    """Python's tests on a copy of the package, with the slip as plain text if it is in Python."""
    shutil.rmtree(place, ignore_errors=True)
    for folder in (
        "python",
        "papers",
        "tests",
        "scripts",
        "docs",
        "examples",
        "vectors",
        "slips",
        "web",
    ):
        shutil.copytree(tree / folder, place / folder)
    shutil.copytree(tree / slips.CRATES, place / "crates")
    for file in (*tree.glob("*.md"), *tree.glob("*.toml"), tree / "Makefile"):
        shutil.copy(file, place)
    shutil.copy(native, place / "python/hesc/_native.abi3.so")
    if slip is not None and not slip.rust:
        file = place / slip.file
        file.write_text(file.read_text().replace(slip.place, slip.new + slip.followed_by))
    pytest = (sys.executable, "-m", "pytest", "-x", "-q", "-m", "not long", "-rf")
    paths = (place / "python", place / "papers/src", place)
    environment = {"PYTHONPATH": ":".join(map(str, paths))}
    return PythonRun(pytest, place, environment)

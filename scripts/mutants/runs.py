"""Test programs, run with one slip switched on, until one of their tests fails."""

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
from typing import TYPE_CHECKING

from scripts.mutants import slips
from scripts.mutants.slips import ROOT, SWITCH

if TYPE_CHECKING:
    from scripts.mutants.slips import Slip

# Where cargo builds: dependencies are those of the tests, built once.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
# From the bottom up: a slip is noticed by its own crate, or by one above.
CRATES = ("hesc-math", "hesc-stochastic", "hesc-schemes", "hesc-circuits")
FAILED = re.compile(r"^(?:test (?P<rust>.+) \.\.\. FAILED|FAILED (?P<python>\S+))")
STATED = re.compile(r"^test (?P<name>.+?) \.\.\. ")
# A slip may make a loop endless.
SECONDS = 1200


@dataclass(frozen=True)
class Run:
    """One test program and how it is called."""

    name: str
    command: tuple[str, ...]
    folder: Path
    environment: dict[str, str]
    # Arguments that choose its tests; all of them if there are none.
    tests: tuple[str, ...] = ()
    # The crate of a Rust program.
    crate: str | None = None

    def killer(self, number: int | None, only: str | None = None) -> str | None:
        """The first test that fails, or None; without a number no slip is switched on."""
        tests = self.tests if only is None else self.one(only)
        environment = {**os.environ, **self.environment, SWITCH: str(number)}
        process = subprocess.Popen(
            (*self.command, *tests),
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        watch = threading.Timer(SECONDS, process.kill)
        watch.start()
        begun, failed = time.monotonic(), None
        running = "?"
        for line in process.stdout or ():
            if match := STATED.match(line):
                running = match["name"]
            if match := FAILED.match(line):
                failed = match["rust"] or match["python"]
                process.kill()
                break
        code = process.wait()
        watch.cancel()
        if failed is None and code:
            hung = time.monotonic() - begun >= SECONDS
            failed = f"{running} ({'endless' if hung else f'died with {code}'})"
        return None if failed is None else f"{self.name}: {failed}"

    def one(self, only: str) -> tuple[str, ...]:
        """Arguments that choose one test."""
        return ("--exact", only) if self.crate else (only,)


def rust_runs(tree: Path) -> list[Run]:
    """The test programs of all crates but the bindings, built once with every slip in them."""
    built = subprocess.run(
        [
            *("cargo", "test", "--no-run", "--lib", "--tests"),
            *("--workspace", "--exclude", "hesc-py"),
            "--message-format=json-render-diagnostics",
        ],
        cwd=tree,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        check=False,
        capture_output=True,
        text=True,
    )
    if built.returncode:
        found = re.findall(r"^error.*?(?=^\S|\Z)", built.stderr, re.MULTILINE | re.DOTALL)
        raise RuntimeError("slips that do not compile:\n" + "\n".join(found))
    runs = []
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") != "compiler-artifact" or not message.get("executable"):
            continue
        crate = message["target"]["src_path"].removeprefix(f"{tree / slips.CRATES}/").split("/")[0]
        target = message["target"]["name"]
        if crate in CRATES and message["profile"]["test"]:
            folder = tree / slips.CRATES / crate
            command = (message["executable"], "--test-threads=1")
            runs.append(Run(f"{crate}::{target}", command, folder, {}, crate=crate))
    # Laws before the tests inside a crate.
    return sorted(
        runs, key=lambda run: (CRATES.index(run.crate or ""), not run.name.endswith("laws"))
    )


def rust_runs_for(slip: Slip, runs: list[Run]) -> list[Run]:
    """The programs that can notice a slip: its own crate's first."""
    return [run for run in runs if CRATES.index(run.crate or "") >= CRATES.index(slip.crate)]


def build_python(tree: Path) -> Path:
    """The Python module with every Rust slip in it."""
    subprocess.run(
        ["cargo", "build", "--quiet", "--release", "--package", "hesc-py"],
        cwd=tree,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET)},
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return TARGET / "release/lib_native.so"


def python_run(tree: Path, place: Path, slip: Slip | None, native: Path) -> Run:
    """Python's tests on a copy of the package, with the slip as plain text if it is in Python."""
    shutil.rmtree(place, ignore_errors=True)
    for folder in ("python", "tests", "scripts", "docs", "examples", "vectors", "slips"):
        shutil.copytree(tree / folder, place / folder)
    shutil.copytree(tree / slips.CRATES, place / "crates")
    for file in (*tree.glob("*.md"), *tree.glob("*.toml"), tree / "Makefile"):
        shutil.copy(file, place)
    shutil.copy(native, place / "python/hesc/_native.abi3.so")
    if slip is not None and not slip.rust:
        file = place / slip.file
        file.write_text(file.read_text().replace(slip.old, slip.new))
    pytest = (sys.executable, "-m", "pytest", "-x", "-q", "-m", "not long", "-rf")
    environment = {"PYTHONPATH": f"{place / 'python'}:{place}"}
    # Laws first; no test runs twice. The lists themselves do not fit code with a slip in it.
    tests = ("--ignore=tests/test_mutants.py", "tests/laws", "tests")
    return Run("python", pytest, place, environment, tests)

"""`hesc doctor`: what it says of this machine, and that a failed test is not passed over."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from hesc._support import extras
from hesc.cli import app, doctor, self_tests

if TYPE_CHECKING:
    from pathlib import Path

SCHEMES = dict(self_tests.SCHEMES)


def _told(*arguments: str) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["doctor", "--json", "-", *arguments])
    return result.exit_code, json.loads(result.stdout)


def test_every_scheme_gives_its_known_answer() -> None:
    code, found = _told()
    assert code == 0, found["self_tests"]
    assert {test["scheme"]: test["status"] for test in found["self_tests"]} == dict.fromkeys(
        SCHEMES, "ok"
    )
    assert found["packages"]["numpy"] == version("numpy")
    assert found["kernels"] in {"avx512-ifma", "avx512", "avx2", "portable"}
    assert found["memory_bytes"] > found["free_memory_bytes"] > 0
    assert "no patent rights" in found["licences"]


def test_a_wrong_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong() -> None:
        self_tests._same([1.0, 2.0], [1.0, 3.0], 0.5)

    monkeypatch.setattr(self_tests, "SCHEMES", {"wrong": wrong, "right": lambda: None})
    code, found = _told()
    assert code == 1
    first, second = found["self_tests"]
    assert first["status"] == "failed", first
    assert first["error"] == "ArithmeticError: computed [1.0, 2.0], and [1.0, 3.0] is right"
    assert (second["status"], second["error"]) == ("ok", None)


def test_the_terminal_shows_what_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise MemoryError("none [left]")

    monkeypatch.setattr(self_tests, "SCHEMES", {"broken": broken})
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "MemoryError: none [left]" in result.stdout
    assert "no patent rights" in result.stdout


def test_gates_may_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_tests, "SCHEMES", {self_tests.GATES: SCHEMES[self_tests.GATES]})
    monkeypatch.setattr(self_tests, "has_gates", lambda: False)
    code, found = _told()
    assert code == 0
    assert found["self_tests"][0]["status"] == "left out"
    assert any(line.startswith("gates: ") for line in found["faster"])


@pytest.mark.parametrize(
    ("kernels", "fewer", "says"),
    [
        ("portable", True, "unset it"),
        ("portable", False, "several times as fast"),
        ("avx2", False, "AVX-512 is faster"),
        ("avx512-ifma", False, None),
    ],
)
def test_what_would_be_faster(
    monkeypatch: pytest.MonkeyPatch, kernels: str, fewer: bool, says: str | None
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    of = {"threads": 2, "processors": 2, "calibrated": True, "free_memory_bytes": None}
    said = doctor._faster(of | {"kernels": kernels, "fewer_kernels": fewer, "gates": True})
    assert len(said) == (says is not None)
    assert says is None or says in said[0]


def test_threads_memory_and_calibration_are_told() -> None:
    of = {
        "kernels": "avx512",
        "fewer_kernels": False,
        "gates": True,
        "threads": 1,
        "processors": 8,
        "calibrated": False,
    }
    said = doctor._faster(of | {"free_memory_bytes": 1 << 30})
    assert [line.partition(":")[0] for line in said] == ["threads", "planner", "memory"]
    assert "hesc calibrate --threads 1" in said[1]


def test_figures_replace_no_file(tmp_path: Path) -> None:
    there = tmp_path / "there.json"
    there.write_text("mine")
    assert CliRunner().invoke(app, ["doctor", "--json", str(there)]).exit_code == 1
    assert there.read_text() == "mine"


@pytest.mark.parametrize("extra", ["ml", "onnx", "plots"])
def test_lines_that_install_work(extra: str) -> None:
    """Without asking any index: what they name is what is here."""
    pip, *arguments = shlex.split(extras.install_line(extra))
    assert pip == "pip"
    command = [sys.executable, "-m", pip, *arguments, "--dry-run", "--no-index"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert not extras.missing(extra)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "extras", lambda: {"some": {"no-such-package": ">=1"}})
    assert extras.missing("some") == ["no-such-package"]
    assert extras.install_line("some") == "pip install 'no-such-package>=1'"
    assert "dev" not in extras.extras()

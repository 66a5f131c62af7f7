"""Wheels: their licences, what is taken out of them, and workflows that build them."""

from __future__ import annotations

import re
import tomllib
import zipfile
from pathlib import Path

import pytest
from scripts.wheels import build, licences, twice

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))


def test_licences_are_those_of_what_is_linked() -> None:
    """Names, versions, licences and texts, by `python -m scripts.wheels.licences`."""
    assert licences.FILE.read_text(encoding="utf-8") == licences.document()
    locked = {
        f"{package['name']} {package['version']}"
        for package in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    }
    linked = set(licences.crates())
    assert linked <= locked
    assert {name.split()[0] for name in linked} >= {"tfhe", "tfhe-ntt", "rustfft", "pyo3"}
    assert not any(name.startswith("hesc") for name in linked)


def _wheel(path: Path, listed: str, time: tuple[int, ...] = (2026, 1, 1, 0, 0, 0)) -> Path:
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in {
            "hesc/__init__.py": "",
            "hesc.dist-info/sboms/hesc.json": listed,
            "hesc.dist-info/RECORD": (
                "hesc/__init__.py,sha256=x,0\nhesc.dist-info/sboms/hesc.json,sha256=y,1\n"
                "hesc.dist-info/RECORD,,\n"
            ),
        }.items():
            packed.writestr(zipfile.ZipInfo(name, (*time,)), text)  # type: ignore[arg-type]
    return path


def test_folders_are_taken_out(tmp_path: Path) -> None:
    one = _wheel(tmp_path / "a.whl", f'"{Path("/home/me/hesc").as_uri()}/crates"')
    other = _wheel(tmp_path / "b.whl", f'"{Path("/tmp/x").as_uri()}/crates"')  # noqa: S108
    assert twice.differences(one, other) == ["hesc.dist-info/sboms/hesc.json"]
    build.without_folders(one, Path("/home/me/hesc"))
    build.without_folders(other, Path("/tmp/x"))  # noqa: S108
    assert twice.differences(one, other) == []
    with zipfile.ZipFile(one) as packed:
        assert packed.read("hesc.dist-info/sboms/hesc.json") == b'"file:///hesc/crates"'
        record = packed.read("hesc.dist-info/RECORD").decode().splitlines()
    assert record[0] == "hesc/__init__.py,sha256=x,0"
    assert re.fullmatch(r"hesc.dist-info/sboms/hesc.json,sha256=[\w-]{43},21", record[1])


def test_differences_have_names(tmp_path: Path) -> None:
    one = _wheel(tmp_path / "a.whl", "x")
    later = _wheel(tmp_path / "b.whl", "x", (2026, 1, 2, 0, 0, 0))
    assert "hesc/__init__.py (its time)" in twice.differences(one, later)


@pytest.mark.parametrize(
    ("target", "system"),
    [
        ("x86_64-unknown-linux-gnu", "manylinux_2_17"),
        ("aarch64-unknown-linux-musl", "musllinux_1_2"),
    ],
)
def test_oldest_systems(target: str, system: str) -> None:
    assert build.compatibility(target) == system


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_name_versions(workflow: Path) -> None:
    """Actions by a whole version, commands that there are, rights by name."""
    text = workflow.read_text()
    for action in re.findall(r"uses: (\S+)", text):
        assert re.fullmatch(r"[\w-]+/[\w/-]+@v\d+\.\d+\.\d+", action), action
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in re.findall(r"make ([a-z-]+)", text):
        assert target in targets, target
    assert "permissions:" in text


def test_the_oldest_rust_is_tried() -> None:
    oldest = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"][
        "rust-version"
    ]
    assert f"+{oldest} check" in (ROOT / ".github/workflows/ci.yml").read_text()

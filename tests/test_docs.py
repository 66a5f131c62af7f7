"""Documents are tested: code runs, links lead somewhere, stubs describe the binary."""

from __future__ import annotations

import doctest
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import hesc

ROOT = Path(__file__).parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SNIPPETS = {
    document: re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    for document in DOCUMENTS
}


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if SNIPPETS[d]], ids=lambda d: d.name)
def test_snippets_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other, as who reads the document would, in a folder of their own."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in SNIPPETS[document]:
        exec(compile(code, document.name, "exec"), names)  # noqa: S102 - our own documents


MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(hesc.__path__, "hesc.")
    if found.name not in {"hesc._native", "hesc.__main__"}
)


def test_examples_of_docstrings_are_true() -> None:
    tried = 0
    for name in MODULES:
        found = doctest.testmod(import_module(name))
        assert not found.failed, name
        tried += found.attempted
    assert tried >= 60


def test_there_are_snippets() -> None:
    assert sum(map(len, SNIPPETS.values())) >= 2


def _anchors(document: Path) -> set[str]:
    """What links to headings of a document end with, as the usual hosts make them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", document.read_text()):
        if not target.startswith(("http:", "https:")):
            place = document.parent / target if target else document
            assert place.exists(), target
            assert not anchor or anchor in _anchors(place), f"{target}#{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_figure_is_to_be_filled_in(document: Path) -> None:
    assert not re.findall(r"@[A-Z]+@|TODO|XXX", document.read_text())


def test_public_names_are_documented() -> None:
    for name in hesc.__all__:
        assert getattr(hesc, name).__doc__, name


def test_architecture_names_every_module() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for entry in (ROOT / "python/hesc").iterdir():
        if entry.suffix in {".py", ""} and not entry.name.startswith("_"):
            assert entry.name in text, entry.name
    for crate in (ROOT / "crates").iterdir():
        assert crate.name in text, crate.name


def test_walks_pass_what_there_is() -> None:
    """Every step of the walks names a file and a function in it."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    walks = text.split("## Two walks")[1].split("\n## ")[0]
    steps = re.findall(r"`([\w/.-]+\.(?:py|rs))`\s+`(\w+)`", walks)
    assert len(steps) >= 20
    for path, function in steps:
        assert re.search(rf"\b(?:fn|def) {function}\b", (ROOT / path).read_text()), (path, function)


@pytest.mark.parametrize(
    ("example", "arguments", "expected"),
    [
        ("aes_sbox.py", [], "512 bytes substituted"),
        ("salary_statistics.py", ["--firms", "3", "--jobs", "20"], "in the clear: yes"),
        ("compare_encoders.py", ["--seeds", "2"], "sobol"),
        ("plan_a_sum.py", ["--length", "256", "--seeds", "1"], "at random"),
        ("compile_circuits.py", ["--width", "4"], "multiplier"),
        ("private_diagnosis.py", ["--patients", "1", "--length", "4"], "encrypted"),
        ("compare_schemes.py", ["--length", "64"], "ec_elgamal_ristretto255"),
        ("choose_length.py", ["--draws", "4", "--length", "64"], "gm_3072"),
    ],
)
def test_examples_run(example: str, arguments: list[str], expected: str) -> None:
    command = [sys.executable, str(ROOT / "examples" / example), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert expected in result.stdout


def test_every_example_is_run() -> None:
    text = Path(__file__).read_text()
    assert all(example.name in text for example in (ROOT / "examples").glob("*.py"))

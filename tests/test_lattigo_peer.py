"""Lattigo's program: what it computes is checked, and where it cannot be built it says what to do.

Where there is no Go, or no way to Lattigo's sources, tests that need them are skipped and say so.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hesc import HescError
from hesc._support.studies import Options
from hesc_papers import lattigo_peer
from hesc_papers.babenko2020ckksbfv import STUDIES
from hesc_papers.other_process import AnsweringProcess
from hesc_papers.vector_operations import OPERATIONS, our_params, seals_params

if TYPE_CHECKING:
    from collections.abc import Iterable

needs_go = pytest.mark.skipif(not lattigo_peer.is_there(), reason="the peer Lattigo needs Go")
QUESTION: dict[str, Any] = {
    "scheme": "ckks",
    "log_degree": 12,
    "primes": our_params("ckks", 4096).coeff_moduli,
    "special": our_params("ckks", 4096).special_moduli,
    "log_scale": 30,
    "operation": "add",
    "lengths": [4],
}


@pytest.fixture(scope="module")
def program() -> Path:
    try:
        lattigo_peer.download()
    except HescError as error:
        pytest.skip(f"the peer Lattigo: {error}")
    return lattigo_peer.built()


@needs_go
@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("make", [our_params, seals_params])
@pytest.mark.parametrize("scheme", ["bfv", "bgv", "ckks"])
def test_every_operation_is_right_and_timed(scheme: str, make: Any) -> None:
    """The program compares every slot itself: of short vectors, a full row and, in BFV, two."""
    lengths = (1, 128, 2048) if scheme == "ckks" else (1, 128, 2048, 2500, 4096)
    for operation in OPERATIONS:
        with closing(lattigo_peer.Lattigo(make(scheme, 4096), operation, lengths)) as peer:
            for _ in range(2):
                times = peer.run(0)
                assert set(times) == set(map(str, lengths))
                assert all(0 < time < 1e6 for time in times.values())


@needs_go
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        # Errors are larger than numbers at a scale of 2^2.
        (json.dumps({**QUESTION, "log_scale": 2}), "slot 0 is"),
        (json.dumps({**QUESTION, "operation": "divide"}), "divide of 4 numbers"),
        (json.dumps({**QUESTION, "scheme": "tfhe"}), 'no scheme "tfhe"'),
        (json.dumps({**QUESTION, "lengths": [4096]}), "add of 4096 numbers"),
        (json.dumps({**QUESTION, "primes": [4]}), "cannot"),
        ("[]", "not as expected"),
        ("", "not as expected"),
    ],
)
def test_wrong_results_and_questions_are_errors(program: Path, line: str, problem: str) -> None:
    with closing(AnsweringProcess([str(program)])) as process:
        assert problem in json.loads(process.ask(line))["error"]


@needs_go
@pytest.mark.usefixtures("program")
def test_what_is_built_is_what_reports_name() -> None:
    with closing(lattigo_peer.Lattigo(our_params("bfv", 4096), "encode", (128,))) as peer:
        lattigo, go = peer.made_with["lattigo"], peer.made_with["go"]
    assert lattigo_peer.version() == f"{lattigo.removeprefix('v')}, built by {go}, one thread"


@needs_go
@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("table", [7, 12, 13])
def test_tables_have_its_rows_without_seal(table: int) -> None:
    def all_of(items: Iterable[Any], _title: str) -> Iterable[Any]:
        return items

    report = STUDIES[f"table-{table}"].reproduce(
        Options(quick=True, peers=("lattigo",), track=all_of)
    )
    sets = [f"{scheme}, log N = {d}" for scheme in ("bfv", "bgv", "ckks") for d in (12, 13)]
    names = {row["candidate"] for row in report.rows}
    assert {f"Lattigo: {of}" for of in sets} <= names
    assert not any(name.startswith("SEAL") for name in names)
    keys = {of.replace(", log N = ", ".") + ".vs_lattigo" for of in sets}
    assert keys <= set(report.ratios)
    if table == 12:
        # Plaintexts modulo q: as hesc's in CKKS, two and four times as long at these sets in BFV.
        assert report.ratios["ckks.12.vs_lattigo"] == pytest.approx(1, abs=0.01)
        assert report.ratios["bfv.13.vs_lattigo"] == pytest.approx(0.25, abs=0.01)


@needs_go
def test_sources_are_formatted() -> None:
    folder = Path(lattigo_peer.__file__).parent
    gofmt = shutil.which("gofmt")
    if gofmt is None:
        pytest.skip("this Go has no gofmt")
    done = subprocess.run([gofmt, "-l", folder], capture_output=True, text=True, check=True)
    assert not done.stdout


def test_without_go_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert lattigo_peer.version() == "absent"
    with pytest.raises(HescError, match=r"https://go\.dev/dl"):
        lattigo_peer.download()


@needs_go
def test_without_its_sources_it_says_how_they_come(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GOPROXY", "off")
    monkeypatch.setenv("GOMODCACHE", str(tmp_path))
    with pytest.raises(HescError, match="GOPROXY"):
        lattigo_peer.download()

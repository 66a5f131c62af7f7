"""Times of kernels: fitted from runs, kept for one machine, and read strictly."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from hesc import HescError, WireError, _native
from hesc.cli import app
from hesc.integers import candidates as integers
from hesc.planner import Calibration, calibrating, calibration
from hesc.planner.calibrating import probes
from hesc.planner.calibration import cache_file, own_threads
from hesc.planner.candidate import Candidate
from hesc.planner.estimates import Estimate, Infeasible
from hesc.planner.tasks import Task
from hesc.planner.work import seconds
from hesc.protocols.candidates import CANDIDATES

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


SHIPPED = Calibration.shipped()
MINE = Calibration({"a.b.encrypt.calls": 1e-6}, "here", 4e-5)
# What a terminal shows as it is.
LETTERS = st.characters(codec="utf-8", categories=["L", "N", "P", "S"], include_characters=" ")
TIMES = st.dictionaries(st.text(LETTERS, max_size=30), st.floats(0, 1e5), max_size=8)


@pytest.fixture(autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("RAYON_NUM_THREADS", "1")


def stored(threads: int = 1) -> Path:
    path = cache_file(threads)
    assert path is not None
    return path


@given(times=TIMES, source=st.text(LETTERS, max_size=200), threads=st.integers(1, 1 << 16))
def test_what_is_written_is_read(times: dict[str, float], source: str, threads: int) -> None:
    made = Calibration(times, source, 4e-5, threads)
    assert Calibration.from_json(made.to_json()) == made
    # Twice written is once written: names have an order.
    assert Calibration.from_json(made.to_json()).to_json() == made.to_json()


def test_times_are_those_of_a_calibration_at_its_speed() -> None:
    assert MINE.at(MINE.reference) == 1
    assert MINE.at(3 * MINE.reference) == pytest.approx(3)


@given(
    counts=st.lists(st.integers(0, 10**6), min_size=3, max_size=3),
    more=st.lists(st.integers(0, 10**6), min_size=3, max_size=3),
    times=st.lists(st.floats(0, 10), min_size=3, max_size=3),
)
def test_seconds_add_up(counts: list[int], more: list[int], times: list[float]) -> None:
    names = ("a.calls", "a.numbers", "a.bytes")
    known = dict(zip(names, times, strict=True))
    one, other = (dict(zip(names, map(float, row), strict=True)) for row in (counts, more))
    together = {name: one[name] + other[name] for name in names}
    parts = seconds(one, known), seconds(other, known)
    assert None not in parts
    assert seconds(together, known) == pytest.approx(sum(filter(None, parts)), rel=1e-12)


@pytest.fixture(scope="module")
def all_probes() -> list[tuple[Estimate, NDArray[Any]]]:
    """Planned once: circuits of integers take seconds."""
    return probes()


def test_every_kernel_that_is_measured_is_shipped(
    all_probes: list[tuple[Estimate, NDArray[Any]]],
) -> None:
    counted = {name for estimate, _ in all_probes for name in estimate.work}
    assert counted == set(SHIPPED.times)
    assert all(seconds(estimate.work, SHIPPED.times) for estimate, _ in all_probes)


def test_kernels_that_are_run_have_times(
    all_probes: list[tuple[Estimate, NDArray[Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of some ways; the study of the planner, not its quick one, measures all."""
    some = [
        (one, x) for one, x in all_probes if one.way in {"ckks rows", "codes", "stream sums pad"}
    ]
    monkeypatch.setattr(calibrating, "probes", lambda: some)
    found = calibrating.calibrate(progress=False)
    assert set(found.times) == {name for one, _ in some for name in one.work}
    assert Calibration.from_json(found.to_json()) == found
    # Each stage takes time, and so does the reference.
    assert all(seconds(one.work, found.times) for one, _ in some)
    assert found.reference > 0
    assert (found.source, found.threads) == (calibration.machine(), own_threads())


def test_a_cache_is_of_its_threads_and_replaced_whole() -> None:
    assert Calibration.load() == SHIPPED
    path = MINE.store()
    assert path == stored()
    assert Calibration.load() == Calibration.load(1) == MINE
    Calibration({}, "there", 4e-5).store()
    assert Calibration.load().source == "there"
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    # Of two threads there is none: asked for, it is the shipped one, not that of one.
    assert Calibration.load(2) == SHIPPED


def test_a_process_takes_its_own_threads_or_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", "3")
    MINE.store()
    assert (own_threads(), Calibration.load()) == (3, MINE)
    three = Calibration({}, "here", 4e-5, 3)
    three.store()
    assert Calibration.load() == three


@pytest.mark.parametrize("text", ["", "0", "-1", "x", "1_0", "²"])
def test_threads_that_are_no_number_are_all(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("RAYON_NUM_THREADS", text)
    assert own_threads() == len(os.sched_getaffinity(0))


def test_another_processor_extension_or_build_reads_another_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def name() -> str:
        calibration._machine_hash.cache_clear()
        return stored().name

    cpu = {"model name": "one", "flags": "avx2 avx512ifma lahf_lm"}
    monkeypatch.setattr(calibration, "cpuinfo", lambda field: cpu.get(field, ""))
    first = name()
    cpu["flags"] = "constant_tsc avx512ifma avx2"
    assert name() == first
    cpu["flags"] = "avx2"
    second = name()
    cpu["model name"] = "other"
    third = name()
    other = tmp_path / "native"
    other.write_bytes(b"another build")
    monkeypatch.setattr(_native, "__file__", str(other))
    assert len({first, second, third, name()}) == 4
    calibration._machine_hash.cache_clear()


def test_relative_cache_folders_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert stored().is_relative_to(tmp_path / ".cache")


def test_who_has_no_home_plans_with_the_shipped_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "nowhere")
    assert Calibration.load() == SHIPPED
    with pytest.raises(HescError, match="XDG_CACHE_HOME"):
        MINE.store()


@pytest.mark.parametrize("data", [b"{", b"\xff\xfe\xff", MINE.to_json().encode("utf-16")[:-1]])
def test_damaged_caches_are_said(data: bytes) -> None:
    MINE.store().write_bytes(data)
    with pytest.raises(WireError, match="--again"):
        Calibration.load()


def test_a_cache_that_was_moved_is_said() -> None:
    stored(2).parent.mkdir()
    stored(2).write_text(MINE.to_json())
    with pytest.raises(WireError, match="other threads"):
        Calibration.load(2)


def test_a_cache_that_never_ends_is_not_read() -> None:
    MINE.store().write_bytes(b" " * (1 << 21))
    with pytest.raises(HescError, match="longer"):
        Calibration.load()


DOCUMENT = json.loads(MINE.to_json())


@pytest.mark.parametrize(
    "change",
    [
        {"format": "hesc calibration 2"},
        {"reference": 0},
        {"reference": -1.0},
        {"reference": "1"},
        {"source": 3},
        {"source": "x" * 201},
        {"threads": 0},
        {"threads": True},
        {"threads": 1.0},
        {"threads": 1 << 17},
        {"seconds": []},
        {"seconds": {"a": math.nan}},
        {"seconds": {"a": math.inf}},
        {"seconds": {"a": -1}},
        {"seconds": {"a": 1e300}},
        {"seconds": {"a": 10**400}},
        {"seconds": {"a": True}},
        {"seconds": {"a": "1"}},
        {"seconds": {"a" * 201: 1}},
        {"more": 1},
    ],
)
def test_documents_that_cannot_be(change: dict[str, object]) -> None:
    with pytest.raises(WireError, match="--again"):
        Calibration.from_json(json.dumps(DOCUMENT | change))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[" * 100_000,
        '{"format": "hesc calibration 3", "source": "x", "threads": 1}',
        '{"format": "hesc calibration 3", "source": "x", "threads": 1, "reference": 1, '
        '"seconds": {"a": 1e999}}',
        '{"format": "hesc calibration 3", "source": "x", "threads": 1, "reference": 1, '
        '"seconds": {"a": 1, "a": 2}}',
    ],
)
def test_texts_that_are_none(text: str) -> None:
    with pytest.raises(WireError, match="--again"):
        Calibration.from_json(text)


@given(st.binary(max_size=200))
def test_hostile_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(WireError):
        Calibration.from_json(data)


def test_the_command_measures_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured: list[int] = []

    def measure(*_: object, **__: object) -> Calibration:
        measured.append(own_threads())
        return Calibration({"a.b.encrypt.calls": 1e-6}, "here", 4e-5, own_threads())

    monkeypatch.setattr(calibrating, "calibrate", measure)
    runner = CliRunner()
    for arguments, times in (([], 1), ([], 1), (["--again"], 2), (["--threads", "2"], 3)):
        assert runner.invoke(app, ["calibrate", *arguments]).exit_code == 0
        assert len(measured) == times
    assert measured == [1, 1, 2]
    file = tmp_path / "times.json"
    assert runner.invoke(app, ["calibrate", "--json", str(file)]).exit_code == 0
    assert Calibration.from_json(file.read_text()) == MINE
    assert runner.invoke(app, ["calibrate", "--threads", "0"]).exit_code == 2


def test_a_candidate_without_probes_cannot_be_made() -> None:
    class Untimed(Candidate[Task]):
        name = "untimed"

        def consider(self, task: Task) -> Estimate | Infeasible:
            del task
            return Infeasible(self.name, "never")

    with pytest.raises(TypeError, match="probes"):
        Untimed()  # type: ignore[abstract]


def test_every_candidate_offers_something_for_its_probes(
    all_probes: list[tuple[Estimate, NDArray[Any]]],
) -> None:
    timed = {estimate.way for estimate, _ in all_probes}
    names = [candidate.name for candidate in CANDIDATES]
    names += [candidate.name for candidate in integers.CANDIDATES]
    assert timed == set(names)

"""The planner at its edges: errors of any size, many probes, arrays that change, damaged caches."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from hesc.codes import GalleryPlan
from hesc.codes.secret import encrypt_probes
from hesc.planner import (
    Calibration,
    ClassProblem,
    DistanceProblem,
    ProductProblem,
    ScoreProblem,
    Task,
    decide,
)
from hesc.planner import calibration as calibrating
from hesc.planner.deciding import _apart
from hesc.planner.estimates import Estimate
from hesc.planner.tasks import rounded_up
from hesc.planner.timing import measure
from hesc.protocols.candidates.codes import EncryptedRecords, most_probes
from hesc.secret import keygen

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = Calibration.shipped()
RNG = np.random.default_rng(0)


def codes(records: int, bits: int) -> Any:
    return RNG.integers(0, 1 << 63, (records, bits // 64), dtype=np.uint64)


def scores(features: int, outputs: int = 1) -> ScoreProblem:
    return ScoreProblem(RNG.normal(size=(outputs, features)) / np.sqrt(features), low=-1, high=1)


# Times --------------------------------------------------------------------------------------------

TASKS = {
    "large rings, in the clear": Task(scores(100, 100), max_error=0.1),
    "large rings, encrypted": Task(scores(100, 100), "outsourced", max_error=0.1),
    "large rings, own": Task(scores(100, 100), "outsourced", max_error=0.1, own_model=True),
    "the largest, in the clear": Task(scores(20000), max_error=0.1),
    "the largest, encrypted": Task(scores(20000), "outsourced", max_error=0.1),
    "the largest, own": Task(scores(20000), "outsourced", max_error=0.1, own_model=True),
    "the smallest, encrypted": Task(scores(8), "outsourced", max_error=0.5),
    "fine logarithms": Task(ProductProblem(2), "many_parties", max_error=1e-5),
    "many logarithms": Task(ProductProblem(64), "many_parties", max_error=0.01),
    "records in the clear": Task(DistanceProblem(codes(9, 256)), "one_side_clear", "distances"),
    "records": Task(DistanceProblem(codes(9, 512)), "client_server", "distances"),
    "own records": Task(DistanceProblem(codes(9, 4096)), "outsourced", "distances", own_model=True),
    "products": Task(scores(100), disclose="products", max_error=0.5),
    "own products": Task(scores(8), "outsourced", "products", 0.5, own_model=True),
    "a class": Task(ClassProblem([[1.0, -1]], low=-1, high=1), disclose="class", max_error=0.2),
}


@pytest.mark.parametrize("name", TASKS)
def test_every_kernel_of_an_offer_was_timed(name: str) -> None:
    """What was not stands last in a table, however fast it is."""
    decision = decide(TASKS[name], calibration=SHIPPED)
    assert decision.estimates
    untimed = [way for way in decision.estimates if way.seconds(SHIPPED.times) is None]
    assert not untimed
    assert "not timed" not in str(decision)


def test_it_says_that_times_are_another_machines() -> None:
    task = Task(scores(4))
    assert "shipped with hesc" in str(decide(task, calibration=SHIPPED))
    own = Calibration.from_json(SHIPPED.to_json().encode().replace(b"(shipped", b"(or"))
    assert "shipped with hesc" not in str(decide(task, calibration=own))


def test_a_pipe_in_the_cache_is_no_calibration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    stored = calibrating.cache_file(1)
    assert stored is not None
    stored.parent.mkdir(parents=True)
    os.mkfifo(stored)
    assert "shipped" in Calibration.load(1).source
    stored.unlink()
    stored.mkdir()
    assert "shipped" in Calibration.load(1).source


# Errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [2, 10, 1e200, 1e-200, 5e-324, np.float32(1e-30), np.float16(1e-5), 1.5, 1.0]
)
def test_errors_of_any_size_are_decided(error: Any) -> None:
    for task in (
        Task(ProductProblem(2), "many_parties", max_error=error),
        Task(scores(2), disclose="products", max_error=error),
        Task(scores(2), max_error=error),
    ):
        for estimate in decide(task, calibration=SHIPPED).estimates:
            assert estimate.error <= float(error) * (1 + 1e-9)


@pytest.mark.parametrize("preset", ["pad", "bfv"])
def test_sums_of_streams_count_what_doubles_round(preset: str) -> None:
    large = ScoreProblem([[3.0, -2.7]], low=1e15, high=1e15 + 2)
    for error in (0.1, 1e5):
        task = Task(large, disclose="products", max_error=error, samples=64)
        decision = decide(task, calibration=SHIPPED)
        way = f"stream sums {preset}"
        estimates = [estimate for estimate in decision.estimates if estimate.way == way]
        if not estimates:
            assert error == 0.1
            assert "doubles round" in str(decision)
            continue
        assert estimates[0].error > 1e-12 * large.largest
        x = np.array([[1e15 + 2, 1e15]] * 64)
        assert measure(estimates[0], task, x, repetitions=1).error <= estimates[0].error


def test_printed_errors_are_no_less_than_stated() -> None:
    for error in (0.000174565, 0.025516, 0.5, 1e-300, 0.1, 1.0, 9.99, 2.5e-10, 123.4):
        assert error * (1 - 1e-9) <= float(rounded_up(error)) <= error * 1.1 + 1e-300
    assert rounded_up(0.0) == "0"
    assert rounded_up(math.inf) == "inf"
    rows = np.concatenate([np.full(20_000, 0.5), [1e-9]])[:, None]
    task = Task(ClassProblem([[1.0]], low=-1, high=1, rows=rows), max_error=0.001)
    assert "100.00 %" not in str(decide(task, calibration=SHIPPED)).split("\n")[2]


# Problems -----------------------------------------------------------------------------------------


def test_problems_are_not_the_callers_to_change() -> None:
    """What was decided is of the numbers as they were, and remembered for them."""
    weights, low, high = np.array([[1.0, -2.0]]), np.full(2, -1.0), np.full(2, 1.0)
    rows = RNG.uniform(-1, 1, (200, 2))
    for problem in (
        ScoreProblem(weights, low=low, high=high),
        ClassProblem(weights, low=low, high=high, rows=rows),
    ):
        task = Task(problem, max_error=0.1)
        before = problem.exact(rows)
        decision = decide(task, calibration=SHIPPED)
        x = rows[:1].copy()
        np.negative(weights, out=weights)
        np.negative(rows, out=rows)
        low[:], high[:] = -1.5, 0.5
        assert np.array_equal(problem.exact(-rows), before)
        for estimate in decision.estimates if isinstance(problem, ScoreProblem) else []:
            assert measure(estimate, task, x, repetitions=1).error <= 7 * estimate.error
        np.negative(weights, out=weights)
        np.negative(rows, out=rows)
        low[:], high[:] = -1, 1
    kept = ScoreProblem(weights, low=low, high=high)
    with pytest.raises(ValueError, match="read-only"):
        kept.weights[0, 0] = 3


@pytest.mark.parametrize(
    ("low", "high"), [(1.7e308, 1.7e308), (-1.7e308, -1e308), (0, 1e101), (-1e101, 0)]
)
def test_features_beyond_all_numbers_are_refused(low: float, high: float) -> None:
    with pytest.raises(hesc.OutOfRangeError, match="1e100"):
        ScoreProblem([[1e-300, 1e-300]], low=low, high=high)


@pytest.mark.parametrize("rows", [[[1, 1], [1]], range(10**9), [], [[]], "rows", [[math.nan, 1]]])
def test_rows_that_are_none_are_refused(rows: Any) -> None:
    with pytest.raises(hesc.HescError):
        ClassProblem([[1.0, 2]], low=0, high=1, rows=rows)


@pytest.mark.parametrize("setting", ["client_server", "outsourced"])
def test_a_hidden_model_is_not_shown_product_by_product(setting: str) -> None:
    task = Task(scores(2), setting, "products", 0.5, hide_model=True)
    decision = decide(task, calibration=SHIPPED)
    assert not [estimate for estimate in decision.estimates if "stream" in estimate.way]
    assert "hence the weight" in str(decision)


def test_logarithms_say_what_zeros_tell() -> None:
    decision = decide(Task(ProductProblem(3), "many_parties", max_error=0.01), calibration=SHIPPED)
    line = next(line for line in str(decision).split("\n") if "logarithms" in line)
    assert "of a product with zeros how many and what the others make" in line


# Galleries ----------------------------------------------------------------------------------------


def offered(records: Any, probes: int) -> tuple[Task, Estimate]:
    task = Task(DistanceProblem(records), "outsourced", "distances", samples=probes, own_model=True)
    found = EncryptedRecords().distances(task, task.problem)  # type: ignore[arg-type]
    assert isinstance(found, Estimate)
    return task, found


@pytest.mark.parametrize(
    ("bits", "records", "probes"),
    [(128, 17_000, 3), (4096, 1, 600), (4096, 3, 513), (128, 8192, 2), (128, 8193, 2)],
)
def test_galleries_run_and_are_as_large_as_said(bits: int, records: int, probes: int) -> None:
    """More probes than a message takes, more records than a part of an answer."""
    task, estimate = offered(codes(records, bits), probes)
    found = measure(estimate, task, codes(probes, bits), repetitions=1)
    assert found.error == 0
    assert (found.up, found.down, found.held) == (estimate.up, estimate.down, estimate.held)


@pytest.mark.parametrize("bits", [64, 1024, 4096])
def test_messages_to_galleries_are_as_long_as_they_may_be(bits: int) -> None:
    plan = GalleryPlan(bits)
    secret, _ = keygen(plan.params, products=False)
    most = most_probes(plan)
    if bits == 4096:
        assert encrypt_probes(secret, plan, codes(most, bits))
    with pytest.raises(hesc.ParameterError, match="several messages"):
        encrypt_probes(secret, plan, codes(most + 1, bits))


def test_a_limit_is_shown_as_the_errors_within_it() -> None:
    """What is within a limit never looks larger than it, and what is beyond it always does."""
    for most in (2.0**-6, 0.0151, 0.5, 1e-9, 3.0):
        for error in (most, most * 0.999, most * 0.97):
            assert float(rounded_up(error)) <= float(rounded_up(most))
        for error in (most * 1.0001, most * 1.5):
            shown, limit = _apart(error, most).split(", above ")
            assert float(shown) > float(limit) >= most * (1 - 1e-9)

"""The planner: roles before speed, predictions beside runs, infeasible with their reasons."""

from __future__ import annotations

import hashlib
import itertools
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from hesc import HescError, OutOfRangeError, ParameterError, ShapeError
from hesc._support.shares import surprise
from hesc.codes import SignProjection
from hesc.planner import (
    Calibration,
    ClassProblem,
    DistanceProblem,
    ProductProblem,
    ScoreProblem,
    Task,
    decide,
    reference,
    timing,
)
from hesc.planner.decision import objective
from hesc.planner.roles import DISCLOSURES, SETTINGS, Sees, objection
from hesc.planner.timing import measure
from hesc.planner.work import StageCount, counted, fitted, seconds
from hesc.protocols.candidates import CANDIDATES
from hesc_papers.planner_problems import made
from hesc_papers.planner_tasks import FIRST, HELD_OUT, LATER, later, names, part_of

if TYPE_CHECKING:
    from collections.abc import Callable

SHIPPED = Calibration.shipped()


def scores(features: int = 12, outputs: int = 3, seed: int = 0) -> ScoreProblem:
    rng = np.random.default_rng(seed)
    return ScoreProblem(
        rng.normal(size=(outputs, features)), [1, -2, 0.5][:outputs], low=-2, high=3
    )


def codes(bits: int, count: int) -> np.ndarray:
    coder = SignProjection(8, bits=bits, random_state=1)
    return coder.encode(np.random.default_rng(2).normal(size=(count, 8)))


def classes(features: int = 4, outputs: int = 1, seed: int = 0) -> ClassProblem:
    rng = np.random.default_rng(seed)
    return ClassProblem(rng.normal(size=(outputs, features)), 0.25, low=-2, high=3)


TASKS = {
    "scores": Task(scores(), max_error=0.05, samples=7),
    "many scores": Task(scores(), max_error=0.05, samples=300, objective="throughput"),
    "outsourced": Task(scores(), "outsourced", max_error=0.1, samples=5, objective="memory"),
    "own, outsourced": Task(scores(), "outsourced", max_error=0.1, samples=5, own_model=True),
    "summands": Task(scores(3, 2), disclose="products", max_error=0.5, samples=9),
    "outsourced summands": Task(scores(3, 2), "outsourced", "products", 0.5, 9),
    "own summands": Task(scores(3, 2), "outsourced", "products", 0.5, 9, own_model=True),
    "classes": Task(classes(2, 3), max_error=0.2, samples=3),
    "class alone": Task(classes(), disclose="class", max_error=0.2, samples=2),
    "clear": Task(scores(), "one_side_clear", max_error=0.05, samples=4),
    "products": Task(
        ProductProblem(3), "many_parties", max_error=0.1, samples=9, objective="bytes"
    ),
    "own products": Task(
        ProductProblem(2), "many_parties", max_error=0.1, samples=3, own_model=True
    ),
    "distances": Task(DistanceProblem(codes(128, 300)), disclose="distances", samples=2),
    "gallery": Task(
        DistanceProblem(codes(128, 60)), "outsourced", "distances", samples=2, own_model=True
    ),
}


def data(task: Task) -> np.ndarray:
    rng = np.random.default_rng(3)
    problem = task.problem
    if isinstance(problem, ScoreProblem | ClassProblem):
        scores = problem if isinstance(problem, ScoreProblem) else problem.scores
        return rng.uniform(scores.low, scores.high, (task.samples, scores.features))
    if isinstance(problem, ProductProblem):
        return rng.uniform(-1, 1, (problem.factors, task.samples))
    assert isinstance(problem, DistanceProblem)
    return codes(problem.bits, task.samples)


@pytest.mark.parametrize("name", TASKS)
def test_every_way_does_what_it_offers(name: str) -> None:
    task = TASKS[name]
    decision = decide(task, calibration=SHIPPED)
    x = data(task)
    assert decision.chosen is decision.estimates[0]
    assert len(decision.estimates) + len(decision.infeasible) == len(CANDIDATES)
    for estimate in decision.estimates:
        if estimate.way in {"streams gm", "streams ec_elgamal"}:
            continue
        found = measure(estimate, task, x, repetitions=1)
        assert (found.up, found.down, found.held) == (estimate.up, estimate.down, estimate.held), (
            estimate.way
        )
        exact = task.problem.exact(x)
        assert found.values.shape == exact.shape
        assert estimate.error <= task.max_error
        assert found.error == pytest.approx(task.problem.error(found.values, x))
        if isinstance(task.problem, ClassProblem):
            # One in a million, by the share that is stated.
            assert found.error <= estimate.error or surprise(
                found.error, task.samples, estimate.error
            ) <= math.log(1e6)
            continue
        # Seven deviations of a single number; stated errors are at most what is allowed.
        assert np.abs(found.values - exact).max() <= 7 * estimate.error, estimate.way


@pytest.mark.parametrize(
    ("setting", "disclose"),
    [("client_server", "scores"), ("client_server", "products"), ("outsourced", "scores")],
)
def test_errors_are_in_the_units_of_scores(setting: str, disclose: str) -> None:
    """A model whose scores are so many times as large errs as much more, in every way."""
    given = scores(3, 2)

    def estimates(by: float) -> dict[str, float]:
        problem = ScoreProblem(
            given.weights * by, given.intercepts * by, low=given.low, high=given.high
        )
        task = Task(problem, setting, disclose, 0.3 * by, 5)
        return {
            estimate.way: estimate.error for estimate in decide(task, calibration=SHIPPED).estimates
        }

    once = estimates(1)
    assert once
    for by in (2.0**-7, 2.0**7):
        assert estimates(by) == pytest.approx({way: by * error for way, error in once.items()})


def test_measured_figures_stand_in_the_table() -> None:
    task = TASKS["scores"]
    decision = decide(task, calibration=SHIPPED)
    before = decision.explain()
    assert "measured" not in before
    after = decision.measure(data(task), repetitions=1).explain()
    assert after.count("measured") == len(decision.estimates)
    ways = [estimate.way for estimate in decision.estimates]
    ways += [one.way for one in decision.infeasible]
    assert all(way in before for way in ways)


@pytest.mark.parametrize("name", TASKS)
def test_offers_are_ranked_by_the_objective(name: str) -> None:
    decision = decide(TASKS[name], calibration=SHIPPED)
    costs = [decision.cost(estimate) for estimate in decision.estimates]
    assert costs == sorted(costs)
    assert costs[0] < math.inf


def test_more_disclosure_refuses_nothing() -> None:
    for setting in ("client_server", "outsourced", "one_side_clear"):
        found = []
        for disclose in ("class", "scores", "products"):
            task = Task(scores(), setting, disclose, max_error=0.05)
            found.append({estimate.way for estimate in decide(task, calibration=SHIPPED).estimates})
        assert found[0] <= found[1] <= found[2]
        assert not found[0]


def test_what_no_role_may_see_is_refused_in_every_setting() -> None:
    for setting, disclose, own in itertools.product(SETTINGS, DISCLOSURES, (False, True)):
        against = partial(objection, setting=setting, disclose=disclose, own_model=own)
        assert "samples" in against(Sees("class", data_at_server=True))
        assert bool(against(Sees("class", model_at_client=True))) == (setting != "one_side_clear")
        hidden = setting in {"outsourced", "many_parties"}
        assert bool(against(Sees("class", model_at_server=True))) == hidden
        assert bool(against(Sees("class", one_encryptor=True))) == (not own)
        assert bool(against(Sees("products"))) == (disclose != "products")
        noisy = Sees("class", noise_tells="the factors")
        assert bool(against(noisy)) == (setting == "many_parties" and not own)
        assert "noise" in against(noisy, hide_model=True)


def test_nothing_admissible_says_why() -> None:
    task = Task(scores(), disclose="class")
    with pytest.raises(ParameterError, match="is to see class alone"):
        _ = decide(task, calibration=SHIPPED).chosen
    tight = Task(scores(), max_error=1e-30)
    with pytest.raises(ParameterError, match="no candidate does this task"):
        _ = decide(tight, calibration=SHIPPED).chosen
    hidden = Task(scores(), max_error=0.05, hide_model=True)
    with pytest.raises(ParameterError, match="hidden=True"):
        _ = decide(hidden, calibration=SHIPPED).chosen
    small = decide(Task(scores(), memory=1.0), calibration=SHIPPED)
    assert not small.estimates


@pytest.mark.parametrize("name", ["scores", "outsourced", "products"])
def test_messages_are_part_of_what_a_server_holds(name: str) -> None:
    """Predicted, measured and where a task limits it: a byte less than that is refused."""
    task = TASKS[name]
    for estimate in decide(task, calibration=SHIPPED).estimates:
        assert estimate.memory == estimate.held + estimate.up + estimate.down
        assert estimate.up > 0
        assert objective(replace(task, objective="memory"), 1.0, estimate) == estimate.memory
        for less, there in ((0, True), (1, False)):
            limited = decide(replace(task, memory=estimate.memory - less), calibration=SHIPPED)
            assert (estimate.way in {other.way for other in limited.estimates}) == there
    run = measure(estimate, task, data(task), repetitions=1)
    assert run.memory == run.held + run.up + run.down
    assert objective(replace(task, objective="memory"), run.seconds, run) == run.memory


def test_pads_are_for_one_encryptor() -> None:
    own = decide(TASKS["own products"], calibration=SHIPPED)
    others = decide(TASKS["products"], calibration=SHIPPED)
    assert "streams pad" in {estimate.way for estimate in own.estimates}
    reasons = {one.way: one.reason for one in others.infeasible}
    assert "encrypts everything" in reasons["streams pad"]


def test_counts_and_noise_tell_of_factors() -> None:
    reasons = {
        one.way: one.reason for one in decide(TASKS["products"], calibration=SHIPPED).infeasible
    }
    assert "noise" in reasons["ckks products"]
    assert "products" in reasons["streams ec_elgamal"]
    own = decide(TASKS["own products"], calibration=SHIPPED)
    assert "ckks products" in {estimate.way for estimate in own.estimates}


def test_wishes_that_cannot_be() -> None:
    problem = scores()
    for wrong in (
        {"max_error": math.nan},
        {"max_error": 0},
        {"max_error": math.inf},
        {"max_error": True},
        {"bandwidth": -1.0},
        {"memory": math.nan},
        {"failure": 0},
        {"failure": 1.5},
        {"failure": math.nan},
        {"samples": 0},
        {"samples": 2.5},
        {"setting": "nowhere"},
        {"disclose": "all"},
        {"objective": "beauty"},
        {"own_model": 1},
        {"hide_model": None},
        {"setting": "many_parties"},
    ):
        with pytest.raises(HescError):
            Task(problem, **wrong)
    with pytest.raises(ParameterError):
        Task(ProductProblem(2))
    with pytest.raises(OutOfRangeError):
        ScoreProblem([[math.nan]], low=0, high=1)
    with pytest.raises(OutOfRangeError):
        ScoreProblem([[1.0]], low=1, high=0)
    with pytest.raises(ShapeError):
        ScoreProblem([[1.0, 2.0]], low=[0, 0, 0], high=1)
    decision = decide(Task(problem, max_error=0.05), calibration=SHIPPED)
    with pytest.raises(OutOfRangeError):
        decision.measure(np.full((1, 12), 99.0))
    with pytest.raises(ShapeError):
        decision.measure(np.zeros((2, 12)))
    with pytest.raises(OutOfRangeError):
        decide(TASKS["products"], calibration=SHIPPED).measure(np.full((3, 9), 1.5))
    with pytest.raises(OutOfRangeError):
        decision.measure(np.full((1, 12), math.nan))


def test_kernels_are_found_again() -> None:
    rng = np.random.default_rng(4)
    times = {"a.calls": 3e-5, "a.ciphertexts": 2e-6, "a.numbers": 0.0}
    runs = []
    for _ in range(12):
        work = {name: float(rng.integers(1, 1000)) for name in times}
        runs.append((work, sum(work[name] * times[name] for name in times)))
    found = fitted(runs)
    assert found.keys() == times.keys()
    for name, value in times.items():
        assert found[name] == pytest.approx(value, rel=1e-6, abs=1e-12)
    assert all(value >= 0 for value in fitted([({"x": 1.0, "y": 2.0}, 1.0)]).values())


def test_work_adds_up() -> None:
    work = counted("way.set", encrypt=StageCount(1, 2, 0), answer=StageCount(3, 0, 4, 5))
    assert work == {
        "way.set.encrypt.calls": 1,
        "way.set.encrypt.ciphertexts": 2,
        "way.set.answer.calls": 3,
        "way.set.answer.numbers": 4,
        "way.set.answer.bytes": 5,
    }
    assert seconds(work, dict.fromkeys(work, 2.0)) == 30
    assert seconds(work, {}) is None


def test_kernels_that_were_never_timed_are_no_promise() -> None:
    nothing = Calibration({}, "nowhere", 1.0)
    decision = decide(TASKS["scores"], calibration=nothing)
    assert all(math.isinf(decision.cost(estimate)) for estimate in decision.estimates)
    assert "not timed" in decision.explain()
    bytes_only = Task(scores(), max_error=0.05, objective="bytes")
    assert decide(bytes_only, calibration=nothing).chosen.way == "ring products"


@pytest.mark.parametrize("slower", [1.0, 2.5])
def test_predictions_follow_the_processors_speed(
    slower: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = slower * SHIPPED.reference
    monkeypatch.setattr(timing, "reading", lambda *_: now)
    decision = decide(TASKS["scores"], calibration=SHIPPED)
    chosen = decision.chosen
    assert decision.expected(chosen) is None
    decision.measure(data(TASKS["scores"]), repetitions=2)
    # Medians of stages do not quite add up to medians of runs.
    found = decision.measured[chosen.way].reference
    assert found == pytest.approx(now, rel=0.3)
    predicted = chosen.seconds(SHIPPED.times)
    assert predicted is not None
    assert decision.expected(chosen) == pytest.approx(found / SHIPPED.reference * predicted)
    assert f"at {SHIPPED.reference / found:.2f} times the speed" in decision.explain()


def test_the_reference_kernel_is_work() -> None:
    # A median of some round trips, none of which takes no time or a tenth of a second.
    assert 1e-6 < reference.reading() < 0.1


def test_objectives_of_measured_figures() -> None:
    task = TASKS["scores"]
    decision = decide(task, calibration=SHIPPED)
    found = measure(decision.chosen, task, data(task), repetitions=1)
    total = found.up + found.down
    assert objective(task, 1.0, found) == pytest.approx(1 + total / task.bandwidth)


def test_the_tasks_and_their_parts_stay_as_they_were() -> None:
    """Whoever changes a list, or which of its tasks are kept apart, changes what was measured."""
    everything = [*names(), *later()]
    parts = {
        part: [name for name in everything if part_of(name) == part]
        for part in (FIRST, HELD_OUT, LATER)
    }
    assert {part: len(found) for part, found in parts.items()} == {
        FIRST: 182,
        HELD_OUT: 48,
        LATER: 97,
    }
    assert parts[LATER] == later()
    assert len(set(everything)) == len(everything)
    digest = hashlib.sha256("\n".join(everything).encode()).hexdigest()
    assert digest[:16] == "092e9f89c9402b31"
    for name in [*parts[FIRST][::17], *parts[LATER][::13]]:
        task, x = made(name)
        task.problem.checked(x, task.samples)
        assert isinstance(task.problem, ClassProblem) == name.startswith("class/")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Task("scores"),  # type: ignore[arg-type]
        lambda: Task(ScoreProblem([[1.0]], low=0, high=1), max_error=10**400),
        lambda: Task(ScoreProblem([[1.0]], low=0, high=1), bandwidth=10**400),
        lambda: Task(ScoreProblem([[1.0]], low=0, high=1), memory=float("nan")),
        lambda: ScoreProblem(np.full((2, 3), 1e308), low=-1, high=1),
        lambda: ScoreProblem([[1.0]], low=-1e308, high=1e308),
        lambda: decide("a task"),  # type: ignore[arg-type]
        lambda: decide(Task(ScoreProblem([[1.0]], low=0, high=1)), calibration="mine"),  # type: ignore[arg-type]
        lambda: decide(Task(ScoreProblem([[1.0]], low=0, high=1))).measure([[0.5]], repetitions=0),
        lambda: decide(Task(ScoreProblem([[1.0]], low=0, high=1))).measure(
            [[0.5]], most=float("nan")
        ),
        lambda: decide(Task(ScoreProblem([[1.0]], low=0, high=1))).measure([[0.5]], most="long"),  # type: ignore[arg-type]
    ],
)
def test_entry_points_refuse_by_errors_of_hesc(wrong: Callable[[], object]) -> None:
    with pytest.raises(HescError):
        wrong()


def test_numbers_of_numpy_are_numbers() -> None:
    wishes: dict[str, Any] = {"max_error": np.float32(0.1), "bandwidth": np.int64(10**6)}
    task = Task(ScoreProblem([[1.0]], low=0, high=1), **wishes)
    assert decide(task).chosen.error <= np.float32(0.1)

"""A service under fire: nothing wrong, lost, charged twice, over budget, leaked or left open."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Final

import pytest

from hesc_papers.serving import TARGETS, endured
from hesc_papers.serving_kills import killed
from hesc_papers.serving_run import Book, Deployment, LoadProcess
from tests.sabotaged_service import FAULTS
from tests.service_harness import leaks, secrets_of, under_fire

if TYPE_CHECKING:
    from pathlib import Path

GROWTH: Final = 0.25
"""Memory in seconds, in which arenas are still filled; ten minutes are held to less."""


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Deployment:
    return Deployment(tmp_path_factory.mktemp("deployment"))


def test_nothing_is_lost_wrong_or_charged_twice_under_fire(
    deployment: Deployment, tmp_path: Path
) -> None:
    """Hostile clients, a full disk, and kills, beside honest clients that check everything."""
    found = under_fire(tmp_path, deployment, seconds=6, kills=5, full_disk=True)
    assert found.faults(growth=GROWTH) == {}
    assert found.was_full
    assert found.audit.answers > 100
    assert len(found.tried) == 12
    assert all(found.tried.values())


NOTICED: Final = (
    {
        "charges_twice": "charged_twice",
        "loses_answers": "lost",
        "takes_damaged": "hostile_charges",
        "logs_tokens": "leaks: token of wide",
        "keeps_files_open": "files",
    },
    {
        "forgets_to_charge": "uncounted",
        "answers_others": "wrong",
        "logs_queries": "leaks: query, hex",
        "grows": "memory",
    },
    {
        "answers_afresh": "lost",
        "goes_over_budgets": "over_budget",
        "trusts_everybody": "surprises",
    },
)
"""Faults that are put into one service, and what says that each is there."""


@pytest.mark.parametrize("faults", NOTICED, ids=lambda faults: next(iter(faults)))
def test_faults_are_noticed(faults: dict[str, str], deployment: Deployment, tmp_path: Path) -> None:
    """Each by a finding of its own, so that none hides another."""
    found = under_fire(tmp_path, deployment, seconds=1, faults=list(faults), tight=15)
    assert set(faults.values()) <= set(found.faults(growth=GROWTH))


def test_all_faults_are_tried() -> None:
    assert sorted(FAULTS) == sorted(fault for faults in NOTICED for fault in faults)


def test_secrets_are_found_in_logs(deployment: Deployment, tmp_path: Path) -> None:
    """Every kind of secret, in each form in which a log would have it."""
    book = Book(tmp_path, ann=None)
    query = bytes(range(256))
    secrets = list(secrets_of(deployment, book, [query]))
    kinds = {kind for kind, _ in secrets}
    assert kinds >= {"token of ann", "query", "query, hex", "query, base64", "features"}
    assert any(kind.startswith("model: ") for kind in kinds)
    for kind, secret in secrets:
        assert kind in leaks(b"12:00:00 INFO " + secret + b"\n", iter(secrets))
    assert leaks(b"12:00:00 INFO ann POST answers 200\n", iter(secrets)) == []
    lines = [str(query), repr(query[100:200]), query.hex(), base64.b64encode(query).decode()]
    for line in [*lines, f"token {book.tokens['ann']}", str(deployment.rows[0].tolist())]:
        assert leaks(line.encode(), iter(secrets)) != []
    assert leaks(b"Traceback (most recent call last)", iter(())) == ["a trace of a failure"]


@pytest.mark.long
def test_ten_minutes_at_four_fifths_of_the_capacity(deployment: Deployment, tmp_path: Path) -> None:
    """Arrivals that wait for nobody; docs/benchmarks.md has the last result."""
    with LoadProcess(deployment) as load:
        found = endured(tmp_path, deployment, load, minutes=10)
    print(json.dumps(found, indent=1))  # The result to write down.
    assert found["serving.rss_growth"] <= TARGETS["serving.rss_growth"]
    for name in ("files_growth", "long_refused", "long_wrong", "long_lost", "long_miscounted"):
        assert found[f"serving.{name}"] == 0, name


@pytest.mark.long
def test_minutes_under_fire(deployment: Deployment, tmp_path: Path) -> None:
    found = under_fire(tmp_path, deployment, seconds=120, kills=20, full_disk=True, tight=2000)
    assert found.faults(growth=TARGETS["serving.rss_growth"]) == {}
    assert found.was_full


@pytest.mark.long
def test_a_hundred_kills(deployment: Deployment, tmp_path: Path) -> None:
    found = killed(tmp_path, deployment, kills=100)
    assert found["audit"].faults == {}
    assert found["used up"]
    assert found["audit"].answers > 1000

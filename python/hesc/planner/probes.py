"""The small tasks that contenders are timed on: each set and stage at sizes far apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc.codes import SignProjection
from hesc.planner.contenders import CONTENDERS
from hesc.planner.offers import Offer
from hesc.planner.tasks import Distances, Products, Scores, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Probe = tuple[Offer, Task, NDArray[Any]]


def probes() -> list[Probe]:
    """Offers, tasks and data. Cost: plans, and keys for those that learn sizes by trying."""
    rng = np.random.default_rng(1)
    found: list[Probe] = []
    for task, x, ways in _tasks(rng):
        for contender in CONTENDERS:
            if contender.name in ways:
                offer = contender.consider(task)
                if isinstance(offer, Offer):
                    found.append((offer, task, x))
    return found


def _tasks(rng: np.random.Generator) -> Iterator[tuple[Task, NDArray[Any], set[str]]]:
    for setting in ("client_server", "outsourced"):
        for ring in (1024, 2048, 4096, 8192):
            for features, outputs, samples in (
                (ring // 2 + 8, 1, 1),
                (ring // 2 + 8, 1, 6),
                (ring // 20, 10, 1),
                (ring // 20, 10, 6),
                (8, 1, 2 * ring // 8),
            ):
                for error in (0.05, 1e-4):
                    yield _scores(
                        rng, features, outputs, samples, error, setting, {"ring products"}
                    )
    for features, outputs, samples in ((4, 1, 1), (16, 2, 64), (16, 4, 2048), (4, 1, 2048)):
        yield _scores(rng, features, outputs, samples, 0.01, "client_server", {"ckks columns"})
    for features, outputs, samples in ((4, 1, 4), (64, 1, 1), (64, 10, 1), (256, 10, 1)):
        yield _scores(rng, features, outputs, samples, 0.01, "client_server", {"ckks rows"})
    for features, outputs, samples in (
        (4, 1, 1),
        (16, 2, 1),
        (512, 10, 1),
        (64, 10, 100),
        (64, 10, 1000),
        (256, 1, 1000),
    ):
        yield _scores(rng, features, outputs, samples, 0.01, "one_side_clear", {"clear"})
    for factors, samples in ((2, 1), (8, 1), (4, 256), (8, 2048), (2, 1024)):
        x = rng.uniform(-1, 1, (factors, samples))
        for error in (0.1, 0.01, 0.001):
            task = Task(Products(factors), "many_parties", max_error=error, samples=samples)
            yield task, x, {"logarithms"}
        task = Task(Products(factors), "many_parties", max_error=0.01, samples=samples)
        yield task, x, {"ckks products"}
    for factors, samples in ((2, 1), (3, 16), (2, 64), (2, 256)):
        x = rng.uniform(-1, 1, (factors, samples))
        task = Task(Products(factors), "many_parties", max_error=0.03, samples=samples)
        yield task, x, {"streams bfv", "streams pad"}
    for factors, error in ((2, 0.12), (3, 0.06)):
        x = rng.uniform(-1, 1, (factors, 1))
        task = Task(Products(factors), "many_parties", max_error=error, samples=1)
        yield task, x, {"streams gm", "streams ec_elgamal"}
    for bits, records, samples in (
        (128, 256, 1),
        (512, 256, 1),
        (128, 1024, 16),
        (512, 1024, 16),
        (256, 2048, 1),
    ):
        coder = SignProjection(32, bits=bits, random_state=1)
        codes = coder.encode(rng.normal(size=(records, 32)))
        x = coder.encode(rng.normal(size=(samples, 32)))
        for setting, own in (("client_server", False), ("outsourced", True)):
            task = Task(Distances(codes), setting, "distances", samples=samples, own_model=own)
            yield task, x, {"galleries" if own else "codes"}


def _scores(
    rng: np.random.Generator,
    features: int,
    outputs: int,
    samples: int,
    error: float,
    setting: str,
    ways: set[str],
) -> tuple[Task, NDArray[Any], set[str]]:
    weights = rng.normal(size=(outputs, features)) / np.sqrt(features)
    problem = Scores(weights, low=-1.0, high=1.0)
    x = rng.uniform(-1, 1, (samples, features))
    return Task(problem, setting, max_error=error, samples=samples), x, ways

"""Small tasks that candidates are timed on: makers of tasks with data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.codes import SignProjection
from hesc.planner.tasks import ClassProblem, DistanceProblem, ProductProblem, ScoreProblem, Task

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Probe = tuple[Task, NDArray[Any]]

OWNERS: Final = (("client_server", False), ("outsourced", False), ("outsourced", True))
"""Settings of weights: in the clear, encrypted by their owner, and by the key owner."""
COLUMNS: Final = ((4, 1, 1), (16, 2, 64), (16, 4, 2048), (4, 1, 2048), (4, 10, 16), (64, 1, 1))
"""Features, outputs and samples of sums over columns in slots."""
CODES: Final = ((128, 256, 1), (512, 256, 1), (128, 1024, 16), (512, 1024, 16), (256, 2048, 1))
"""Bits, records and probes of distances."""


def classes(features: int, samples: int, error: float) -> Probe:
    """Classes of a linear model with one output, of features in [-1, 1]."""
    # A generator of their own: what a circuit takes depends on weights.
    rng = np.random.default_rng(features)
    problem = ClassProblem(rng.normal(size=(1, features)), low=-1.0, high=1.0)
    x = rng.uniform(-1, 1, (samples, features))
    return Task(problem, disclose="class", max_error=error, samples=samples), x


def products(rng: np.random.Generator, factors: int, samples: int, error: float) -> Probe:
    """Products of factors in [-1, 1]."""
    task = Task(ProductProblem(factors), "many_parties", max_error=error, samples=samples)
    return task, rng.uniform(-1, 1, (factors, samples))


def distances(
    rng: np.random.Generator, bits: int, records: int, samples: int, setting: str
) -> Probe:
    """Distances of codes of random vectors."""
    coder = SignProjection(32, bits=bits, random_state=1)
    codes = coder.encode(rng.normal(size=(records, 32)))
    x = coder.encode(rng.normal(size=(samples, 32)))
    own = setting == "outsourced"
    return Task(DistanceProblem(codes), setting, "distances", samples=samples, own_model=own), x


def scores(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    error: float,
    setting: str,
    *,
    own: bool = False,
    disclose: str = "scores",
) -> Probe:
    """Scores of a linear model: features in [-1, 1], outputs and samples of a shape."""
    features, outputs, samples = shape
    weights = rng.normal(size=(outputs, features)) / np.sqrt(features)
    problem = ScoreProblem(weights, low=-1.0, high=1.0)
    x = rng.uniform(-1, 1, (samples, features))
    return Task(problem, setting, disclose, error, samples, own_model=own), x

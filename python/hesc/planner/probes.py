"""The small tasks that contenders are timed on: each set and stage at sizes far apart."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.codes import SignProjection
from hesc.planner.contenders import CONTENDERS
from hesc.planner.contenders.decisions import Decisions
from hesc.planner.offers import Offer
from hesc.planner.tasks import Classes, Distances, Products, Scores, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.planner.contenders import Contender

    Probe = tuple[Offer, NDArray[Any]]
    Asked = tuple[Task, NDArray[Any], set[str]]


def probes() -> list[Probe]:
    """Offers and data. Cost: plans, and keys for those that learn sizes by trying."""
    rng = np.random.default_rng(1)
    found: list[Probe] = []
    for task, x, ways in _tasks(rng):
        for way in sorted(ways):
            offer = _WAYS[way].consider(task)
            if isinstance(offer, Offer):
                found.append((offer, x))
    # What slows the processor for a second is then no one way's.
    return [found[at] for at in rng.permutation(len(found))]


_WAYS: Final[dict[str, Contender]] = {contender.name: contender for contender in CONTENDERS} | {
    # One engine each: to plan circuits for all of them takes longer than to run these.
    engine: Decisions("integers", (engine,))
    for engine in ("binary", "prime")
}

# In the clear, encrypted by their owner, and by the key owner.
_WEIGHTS: Final = (("client_server", False), ("outsourced", False), ("outsourced", True))
_RINGS: Final = (1024, 2048, 4096, 8192)
# Rings that few tasks need.
_LARGE: Final = (16384, 32768)
# Features, outputs and samples.
_COLUMNS: Final = ((4, 1, 1), (16, 2, 64), (16, 4, 2048), (4, 1, 2048), (4, 10, 16), (64, 1, 1))
_ROWS: Final = ((4, 1, 4), (8, 4, 1), (64, 1, 1), (64, 10, 1), (256, 10, 1))
_CLEAR: Final = (
    (4, 1, 1),
    (4, 3, 1000),
    (16, 2, 1),
    (512, 10, 1),
    (64, 10, 100),
    (256, 1, 1000),
    (256, 10, 1000),
)
# Of weights that are encrypted too: features, outputs, samples, and errors for either set.
_ENCRYPTED: Final = ((2, 1, 1), (6, 2, 64), (2, 2, 3000), (32, 1, 1))
# Features, outputs and samples of sums of streams, and errors: short streams, and long ones.
_SUMS: Final = (
    (2, 1, 1, 0.1),
    (8, 2, 16, 0.3),
    (32, 4, 16, 0.5),
    (16, 1, 40, 0.2),
    (4, 1, 1, 0.01),
    (16, 4, 1, 0.03),
    (64, 10, 1, 0.08),
)
# Features and samples of two classes: in slots of small sets, and on bits that bootstrap.
_CLASSES: Final = {
    "binary": ((8, 1), (12, 1), (5, 1000)),
    "prime": ((2, 1), (4, 100), (8, 1)),
    "gates": ((1, 1), (2, 1)),
}
# Factors and samples.
_FACTORS: Final = ((2, 1), (8, 1), (4, 256), (8, 2048), (2, 1024))
_STREAMS: Final = ((2, 1), (3, 16), (2, 64), (2, 256), (2, 1000))
_DISTANCES: Final = {
    "client_server": "codes",
    "outsourced": "galleries",
    "one_side_clear": "clear",
}
# Bits, records and probes.
_CODES: Final = ((128, 256, 1), (512, 256, 1), (128, 1024, 16), (512, 1024, 16), (256, 2048, 1))

# As many probes as share a block.
_MANY: Final = (256, 500, 1000)


def _tasks(rng: np.random.Generator) -> Iterator[Asked]:
    yield from _ring_products(rng)
    for ways, setting, shapes in (
        ({"ckks columns", "bfv columns"}, "client_server", _COLUMNS),
        ({"ckks rows"}, "client_server", _ROWS),
        ({"clear"}, "one_side_clear", _CLEAR),
    ):
        for features, outputs, samples in shapes:
            yield _scores(rng, features, outputs, samples, 0.01, setting, ways)
    for features, outputs, samples in _ENCRYPTED:
        for error in (1.0, 1e-4):
            ways = {"ckks encrypted columns"}
            yield _scores(rng, features, outputs, samples, error, "outsourced", ways)
    yield from _sums(rng)
    for way, asked in _CLASSES.items():
        for features, samples in asked:
            yield _classes(features, samples, 0.05 if way == "gates" else 0.2, {way})
    for factors, samples in _FACTORS:
        for error in (0.1, 0.01, 0.001, 1e-5):
            yield _products(rng, factors, samples, error, {"logarithms"})
        yield _products(rng, factors, samples, 0.01, {"ckks products"})
    for factors, samples in _STREAMS:
        yield _products(rng, factors, samples, 0.03, {"streams bfv", "streams pad"})
    for error in (0.12, 0.06):
        yield _products(rng, 2, 1, error, {"streams gm", "streams ec_elgamal"})
    for bits, records, samples in _CODES:
        for setting, way in _DISTANCES.items():
            yield _distances(rng, bits, records, samples, setting, way)
    yield _distances(rng, *_MANY, "client_server", "codes")


def _ring_products(rng: np.random.Generator) -> Iterator[Asked]:
    for (setting, own), error in product(_WEIGHTS, (0.05, 1e-4)):
        # Features and outputs that one of the rings is the smallest for, and those that all have
        # room for.
        shapes = [(8, 1, 1), (32, 2, 10)]
        for ring in _RINGS:
            shapes += [(ring // 2 + 8, 1, 1), (8, 1, ring // 4)]
            shapes += [(ring // 16, 10, samples) for samples in (1, 20)]
        for features, outputs, samples in shapes:
            yield _scores(
                rng, features, outputs, samples, error, setting, {"ring products"}, own=own
            )
    for setting, own in _WEIGHTS:
        for ring in _LARGE:
            shapes = [(ring // 2 + 8, 1, 1), (8, 1, ring // 4), (ring // 40, 25, 4)]
            for features, outputs, samples in shapes:
                yield _scores(
                    rng, features, outputs, samples, 0.05, setting, {"ring products"}, own=own
                )
    # The smallest ring has no room for finer errors of weights under the public key.
    for features, outputs, samples in ((8, 1, 1), (64, 10, 1), (64, 10, 20), (8, 1, 256)):
        yield _scores(rng, features, outputs, samples, 0.5, "outsourced", {"ring products"})


def _sums(rng: np.random.Generator) -> Iterator[Asked]:
    for setting, own in _WEIGHTS:
        for features, outputs, samples, error in _SUMS:
            ways = {"stream sums bfv", "stream sums pad"}
            shape = features, outputs, samples
            yield _scores(rng, *shape, error, setting, ways, own=own, disclose="products")


def _classes(features: int, samples: int, error: float, ways: set[str]) -> Asked:
    # Of their own: what a circuit takes depends on weights.
    rng = np.random.default_rng(features)
    problem = Classes(rng.normal(size=(1, features)), low=-1.0, high=1.0)
    x = rng.uniform(-1, 1, (samples, features))
    return Task(problem, disclose="class", max_error=error, samples=samples), x, ways


def _products(
    rng: np.random.Generator, factors: int, samples: int, error: float, ways: set[str]
) -> Asked:
    task = Task(Products(factors), "many_parties", max_error=error, samples=samples)
    return task, rng.uniform(-1, 1, (factors, samples)), ways


def _distances(
    rng: np.random.Generator, bits: int, records: int, samples: int, setting: str, way: str
) -> Asked:
    coder = SignProjection(32, bits=bits, random_state=1)
    codes = coder.encode(rng.normal(size=(records, 32)))
    x = coder.encode(rng.normal(size=(samples, 32)))
    own = setting == "outsourced"
    task = Task(Distances(codes), setting, "distances", samples=samples, own_model=own)
    return task, x, {way}


def _scores(
    rng: np.random.Generator,
    features: int,
    outputs: int,
    samples: int,
    error: float,
    setting: str,
    ways: set[str],
    *,
    own: bool = False,
    disclose: str = "scores",
) -> Asked:
    weights = rng.normal(size=(outputs, features)) / np.sqrt(features)
    problem = Scores(weights, low=-1.0, high=1.0)
    x = rng.uniform(-1, 1, (samples, features))
    task = Task(problem, setting, disclose, error, samples, own_model=own)
    return task, x, ways

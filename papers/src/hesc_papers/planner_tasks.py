"""The tasks that the planner is judged by: their names, and which of them are looked at once.

A name says everything: problem, data, setting, disclosure, error, samples, objective, bandwidth.
The first list and the fifth of it that is held out were fixed before there was a cost model. That
fifth was looked at in every run since, so `later` names others, of other models, sizes, errors and
numbers of samples, that were drawn when the cost model stood and are to be looked at once. `fresh`
names three sets of sixty that were drawn when candidates got sizes and kernels from one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from itertools import product
from typing import Final, TypeVar

MODELS: Final = (
    "iris-logistic",
    "iris-naive_bayes",
    "iris-qda",
    "wine-logistic",
    "wine-svm",
    "wine-pca",
    "breast_cancer-logistic",
    "breast_cancer-ridge",
    "breast_cancer-nystroem",
    "digits-logistic",
    "digits-ridge",
    "digits-pca",
    "diabetes-ridge",
    "diabetes-polynomial",
    "linnerud-linear",
    *(
        f"synthetic-{features}x{outputs}"
        for features in (4, 8, 16, 32, 64, 128, 256, 512)
        for outputs in (1, 10)
    ),
)
"""Linear scores: scikit-learn's bundled sets with a model, and random weights."""

LATER_MODELS: Final = (
    "iris-ridge",
    "wine-naive_bayes",
    "wine-qda",
    "wine-nystroem",
    "breast_cancer-naive_bayes",
    "breast_cancer-svm",
    "breast_cancer-pca",
    "digits-nystroem",
    "diabetes-linear",
    *(
        f"synthetic-{features}x{outputs}"
        for features in (6, 12, 24, 48, 96, 200, 384)
        for outputs in (3, 25)
    ),
)
"""Linear scores of the later tasks: no model and no shape of `MODELS`."""

FRESH_MODELS: Final = (
    "iris-svm",
    "iris-linear",
    "wine-ridge",
    "digits-svm",
    *(
        f"synthetic-{features}x{outputs}"
        for features in (5, 10, 20, 40, 80, 160, 320)
        for outputs in (2, 5, 15)
    ),
)
"""Linear scores of the fresh tasks: no model and no shape of the others."""

T = TypeVar("T")

FIRST: Final = ""
HELD_OUT: Final = "held out"
LATER: Final = "drawn later"
FRESH: Final = ("fresh 1", "fresh 2", "fresh 3")
PARTS: Final = (FIRST, HELD_OUT, LATER, *FRESH)
"""Figures are of each part by itself."""

_WANTED: Final = ((3, "latency"), (20, "bytes"), (200, "throughput"))
_FIFTH: Final = 5
"""One of the first tasks in so many is held out."""
# The wishes that a linear task is drawn from, by the hash of model and number.
_SETTINGS: Final = (
    "client_server",
    "client_server",
    "client_server",
    "outsourced",
    "one_side_clear",
)
_DISCLOSURES: Final = ("scores", "scores", "products")
_OBJECTIVES: Final = ("latency", "latency", "throughput", "bytes", "memory")


@dataclass(frozen=True)
class _Wishes:
    """What tasks of linear scores are drawn from, beside setting, disclosure and objective."""

    models: tuple[str, ...]
    variants: int
    errors: tuple[str, ...]
    samples: tuple[int, ...]
    bandwidths: tuple[str, ...]


_FIRST: Final = _Wishes(
    MODELS, 5, ("0.1", "0.03", "0.01", "0.003"), (1, 1, 16, 256, 1000), ("1e6", "1e7", "1e8")
)
_FRESH: Final = _Wishes(
    FRESH_MODELS, 12, ("0.07", "0.015", "0.004"), (1, 9, 100, 500), ("2e6", "2e7", "5e7")
)
_LATER: Final = _Wishes(LATER_MODELS, 3, ("0.05", "0.02", "0.005"), (1, 5, 64, 700), ("3e6", "3e7"))


@dataclass(frozen=True)
class Wish:
    """What a name says, in parts."""

    problem: str
    """"scores", "class", "products" or "distances"."""
    data: str
    """One of `MODELS`; "4" factors; "512x4096" bits and records."""
    setting: str
    disclose: str
    error: float
    """Relative to the spread of results; 0 where they are exact."""
    samples: int
    objective: str
    bandwidth: float
    """Bytes a second."""


def wish(name: str) -> Wish:
    """A task's name, read."""
    problem, data, setting, disclose, error, samples, objective, bandwidth = name.split("/")
    return Wish(
        problem, data, setting, disclose, float(error), int(samples), objective, float(bandwidth)
    )


def part_of(name: str) -> str:
    """Which part of the list a task is in, one of `PARTS`."""
    for part in FRESH:
        if name in _names_of(part):
            return part
    if name in _names_of(LATER):
        return LATER
    return HELD_OUT if _hash(name, "held out") % _FIFTH == 0 else FIRST


@cache
def _names_of(part: str) -> frozenset[str]:
    return frozenset(later() if part == LATER else fresh()[part])


def names() -> list[str]:
    """The first tasks, in a fixed order."""
    return [
        *_scores(_FIRST),
        *_classes(
            ("iris-logistic", "wine-logistic", "breast_cancer-logistic", "synthetic-16x1"),
            (1, 256),
            "1e7",
        ),
        *_products(
            (2, 3, 4, 8),
            ("0.1", "0.01", "0.001"),
            ((1, "latency"), (64, "bytes"), (1024, "throughput")),
            "1e7",
        ),
        *_distances((128, 256, 512), (256, 4096), ((1, "latency"), (16, "bytes")), "1e7"),
    ]


def later() -> list[str]:
    """The later tasks, in a fixed order; none is among the first."""
    return [
        *_scores(_LATER),
        *_classes(("wine-naive_bayes", "breast_cancer-svm", "synthetic-24x1"), (1, 64), "3e7"),
        *_products((5, 6), ("0.03", "0.003"), ((8, "latency"), (300, "throughput")), "3e6"),
        *_distances((192, 384), (1000,), ((1, "throughput"), (5, "latency")), "3e7"),
    ]


@cache
def fresh() -> dict[str, list[str]]:
    """Three sets of sixty tasks, drawn from all that their wishes make, by the hash of names."""
    pools = (
        (_scores(_FRESH), 42),
        (_classes(("iris-svm", "synthetic-20x1", "synthetic-10x1"), (1, 4, 100), "2e7"), 6),
        (_products((2, 4, 7), ("0.05", "0.005"), _WANTED, "2e7"), 6),
        (_distances((64, 320, 448), (500, 3000), ((1, "latency"), (9, "throughput")), "2e7"), 6),
    )
    found: dict[str, list[str]] = {part: [] for part in FRESH}
    for names_of_kind, many in pools:
        drawn = sorted(names_of_kind, key=lambda name: _hash(name, "fresh"))
        for at, part in enumerate(FRESH):
            found[part] += drawn[at * many : (at + 1) * many]
    return found


def _scores(wishes: _Wishes) -> list[str]:
    found = []
    for model, variant in product(wishes.models, range(wishes.variants)):
        setting = _draw(_SETTINGS, model, variant, "setting")
        parts = (
            "scores",
            model,
            setting,
            _draw(_DISCLOSURES, model, variant, "disclose"),
            _draw(wishes.errors, model, variant, "error"),
            str(_draw(wishes.samples, model, variant, "samples")),
            _draw(_OBJECTIVES, model, variant, "objective"),
            _draw(wishes.bandwidths, model, variant, "bandwidth"),
        )
        found.append("/".join(parts))
    return list(dict.fromkeys(found))


def _classes(models: tuple[str, ...], samples: tuple[int, ...], bandwidth: str) -> list[str]:
    return [
        f"class/{model}/client_server/class/0.1/{many}/{objective}/{bandwidth}"
        for model, many, objective in product(models, samples, ("latency", "throughput"))
    ]


def _products(
    factors: tuple[int, ...],
    errors: tuple[str, ...],
    wanted: tuple[tuple[int, str], ...],
    bandwidth: str,
) -> list[str]:
    return [
        f"products/{many}/many_parties/scores/{error}/{samples}/{objective}/{bandwidth}"
        for many, error, (samples, objective) in product(factors, errors, wanted)
    ]


def _distances(
    bits: tuple[int, ...],
    records: tuple[int, ...],
    wanted: tuple[tuple[int, str], ...],
    bandwidth: str,
) -> list[str]:
    return [
        f"distances/{long}x{many}/{setting}/distances/0/{probes}/{objective}/{bandwidth}"
        for long, many, setting, (probes, objective) in product(
            bits, records, ("client_server", "outsourced"), wanted
        )
    ]


def _draw(choices: tuple[T, ...], model: str, variant: int, what: str) -> T:
    return choices[_hash(f"{model} {variant}", what) % len(choices)]


def _hash(name: str, purpose: str) -> int:
    return int.from_bytes(blake2b(f"{purpose}: {name}".encode(), digest_size=8).digest(), "little")

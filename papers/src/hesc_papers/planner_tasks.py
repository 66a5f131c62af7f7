"""The tasks that the planner is judged by: their names, and which of them are looked at once.

A name says everything: problem, data, setting, disclosure, error, samples, objective, bandwidth.
The list and the fifth that is held out were fixed before there was a cost model.
"""

from __future__ import annotations

from dataclasses import dataclass
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

T = TypeVar("T")

_PARTS: Final = 5
"""One part in so many is held out."""
# The wishes that a linear task is drawn from, by the hash of model and number.
_SETTINGS: Final = (
    "client_server",
    "client_server",
    "client_server",
    "outsourced",
    "one_side_clear",
)
_DISCLOSURES: Final = ("scores", "scores", "products")
_ERRORS: Final = ("0.1", "0.03", "0.01", "0.003")
_SAMPLES: Final = (1, 1, 16, 256, 1000)
_OBJECTIVES: Final = ("latency", "latency", "throughput", "bytes", "memory")
_BANDWIDTHS: Final = ("1e6", "1e7", "1e8")
_VARIANTS: Final = 5


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


def held_out(name: str) -> bool:
    """Whether a task is one of the fifth that no figure was fitted to."""
    return _hash(name, "held out") % _PARTS == 0


def names() -> list[str]:
    """All tasks, in a fixed order."""
    return [*_scores(), *_classes(), *_products(), *_distances()]


def _scores() -> list[str]:
    found = []
    for model, variant in product(MODELS, range(_VARIANTS)):
        setting = _draw(_SETTINGS, model, variant, "setting")
        parts = (
            "scores",
            model,
            setting,
            _draw(_DISCLOSURES, model, variant, "disclose"),
            _draw(_ERRORS, model, variant, "error"),
            str(_draw(_SAMPLES, model, variant, "samples")),
            _draw(_OBJECTIVES, model, variant, "objective"),
            _draw(_BANDWIDTHS, model, variant, "bandwidth"),
        )
        found.append("/".join(parts))
    return list(dict.fromkeys(found))


def _classes() -> list[str]:
    models = ("iris-logistic", "wine-logistic", "breast_cancer-logistic", "synthetic-16x1")
    return [
        f"class/{model}/client_server/class/0.1/{samples}/{objective}/1e7"
        for model, samples, objective in product(models, (1, 256), ("latency", "throughput"))
    ]


def _products() -> list[str]:
    return [
        f"products/{factors}/many_parties/scores/{error}/{samples}/{objective}/1e7"
        for factors, error, (samples, objective) in product(
            (2, 3, 4, 8),
            ("0.1", "0.01", "0.001"),
            ((1, "latency"), (64, "bytes"), (1024, "throughput")),
        )
    ]


def _distances() -> list[str]:
    return [
        f"distances/{bits}x{records}/{setting}/distances/0/{probes}/{objective}/1e7"
        for bits, records, setting, (probes, objective) in product(
            (128, 256, 512),
            (256, 4096),
            ("client_server", "outsourced"),
            ((1, "latency"), (16, "bytes")),
        )
    ]


def _draw(choices: tuple[T, ...], model: str, variant: int, what: str) -> T:
    return choices[_hash(f"{model} {variant}", what) % len(choices)]


def _hash(name: str, purpose: str) -> int:
    return int.from_bytes(blake2b(f"{purpose}: {name}".encode(), digest_size=8).digest(), "little")

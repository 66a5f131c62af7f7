"""A plan for classes alone: bits by agreement, then the engine by predicted time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import CircuitError, ParameterError
from hesc.inputs import one_name, real_array, whole
from hesc.integers import ENGINES
from hesc.leveled.params import LeveledParams
from hesc.ml import transforms
from hesc.ml.decisions.circuits import Words, cheapest, names_of
from hesc.ml.decisions.models import BITS
from hesc.ml.decisions.plans import ClassPlan
from hesc.ml.decisions.quantisation import fewest_bits, linear, trees
from hesc.ml.extraction import Linear
from hesc.ml.planning import ranges_of, spread_out

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from hesc import integers
    from hesc.ml.decisions.models import Scores
    from hesc.ml.transforms import Transform
    from hesc.ml.trees import TreeEnsemble

_BOOTSTRAPPED: Final = 16
"""Samples of a query whose bits bootstrap, at most: each takes its own time."""


class Wishes(NamedTuple):
    """What is asked of a plan for classes."""

    min_agreement: float = 0.99
    bits: int | None = None
    engine: str | None = None
    batch: int = 1


def make(
    form: Linear | tuple[list[Transform], TreeEnsemble],
    x: NDArray[np.float64],
    clear: NDArray[np.int64],
    *,
    names: list[str],
    classes: NDArray[Any],
    ranges: tuple[ArrayLike, ArrayLike] | None,
    wishes: Wishes,
) -> tuple[ClassPlan, Scores]:
    """The plan, and the model for the server.

    Args:
        form: a linear model, or transforms and trees.
        x: rows of features before the transforms.
        clear: the places of their classes by scikit-learn.
        names: of the features, or none.
        classes: all of them.
        ranges: the least and greatest values of features after the transforms; None for those in
            `x`.
        wishes: agreement, bits, engine and samples of a query.

    Raises:
        ParameterError: wishes that cannot be.
        CircuitError: no set has room for the circuit.

    """
    agreement = real_array(wishes.min_agreement, "min_agreement")
    if agreement.shape or not 0 <= agreement <= 1:
        raise ParameterError("min_agreement is a share of rows, from 0 to 1")
    bits = None if wishes.bits is None else whole(wishes.bits, "bits", 1, BITS)
    batch = whole(wishes.batch, "batch", 1, 1 << 16)
    if wishes.engine is not None:
        one_name(wishes.engine, "engine", tuple(ENGINES))
    steps = form[0]
    features = transforms.transformed(steps, x)
    low, high = ranges_of(features, ranges, computed=bool(steps))
    if (low > high).any():
        raise ParameterError("ranges are pairs of the least and the greatest value, in this order")
    places = spread_out(len(features))
    made = partial(linear, form) if isinstance(form, Linear) else partial(trees, form[1])
    found = fewest_bits(
        lambda of_features, of_numbers: made((low, high), of_features, of_numbers),
        np.clip(features[places], low, high),
        clear[places],
        (low, high),
        bits=bits,
        least=float(agreement),
    )
    words = Words(features.shape[1], found.bits)
    engine, circuit = _chosen(found.model, words, wishes.engine, batch)
    row = circuit.chosen
    # A block of slots takes the same time however many of them are used.
    rows = min(batch, _BOOTSTRAPPED) if engine == "bootstrapped" else row.slots
    plan = ClassPlan(
        list(steps),
        x.shape[1],
        names,
        classes,
        (low, high),
        found.bits,
        engine,
        row.params,
        rows,
        _costs(circuit, words, rows, len(classes)),
        found.agreement,
        row.latency * (rows if engine == "bootstrapped" else 1),
    )
    return plan, found.model


def _chosen(
    model: Scores, words: Words, engine: str | None, batch: int
) -> tuple[str, integers.Plan]:
    """The engine that takes least time for a batch."""
    found: list[tuple[str, integers.Plan]] = []
    reason: CircuitError | None = None
    for name in ENGINES if engine is None else [engine]:
        count = min(batch, _BOOTSTRAPPED) if name == "bootstrapped" else batch
        try:
            found.append((name, cheapest(model, words, engine=name, batch=count)))
        except CircuitError as error:
            reason = reason or error
    if not found:
        raise reason or CircuitError("no engine was tried")
    return min(found, key=lambda pair: pair[1].chosen.seconds / pair[1].count * batch)

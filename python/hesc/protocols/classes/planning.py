"""A plan for classes alone: bits by agreement, then the engine by predicted time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import CircuitError, ParameterError
from hesc._support import shares
from hesc._support.inputs import one_name, real_array, whole
from hesc.integers import ENGINES
from hesc.models.linear.simple import Linear
from hesc.models.samples import spread_out
from hesc.protocols.classes.comparisons import Words, bytes_of, cheapest, key_bytes
from hesc.protocols.classes.plan import ClassPlan, Counted
from hesc.protocols.classes.quantisation import fewest_bits, linear
from hesc.protocols.classes.whole_models import BITS
from hesc.protocols.classes.whole_trees import trees
from hesc.protocols.linear.features import Features
from hesc.protocols.linear.ranges import ranges_of
from hesc.protocols.message import message_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc import integers
    from hesc.models.tables.forms import Rows
    from hesc.models.transforms import Transform
    from hesc.models.trees import TreeEnsemble
    from hesc.protocols.classes.options import Classes
    from hesc.protocols.classes.quantisation import Quantised
    from hesc.protocols.classes.whole_models import WholeModel

_BOOTSTRAPPED: Final = 16
"""Samples of a query whose bits bootstrap, at most: each takes its own time."""
_FEW: Final = 20
"""Rows below which none are held out."""
_BANDWIDTH: Final = 12.5e6
"""Bytes a second that time is weighed with: 100 Mbit/s."""


def make(
    form: Linear | TreeEnsemble,
    x: Rows,
    clear: NDArray[np.int64],
    *,
    steps: list[Transform],
    names: list[str],
    classes: NDArray[Any],
    options: Classes,
) -> tuple[ClassPlan, WholeModel]:
    """The plan, and the model for the server.

    Args:
        form: a linear model, or trees, of features after the transforms.
        x: rows of features before the transforms.
        clear: the places of their classes by scikit-learn.
        steps: transforms that the client computes.
        names: of the features, or none.
        classes: all of them.
        options: ranges, agreement, bits, engine and samples of a query.

    Raises:
        ParameterError: options that cannot be.
        CircuitError: no set has room for the circuit.

    """
    agreement = real_array(options.min_agreement, "min_agreement")
    if agreement.shape or isinstance(options.min_agreement, bool) or not 0 <= agreement <= 1:
        raise ParameterError("min_agreement is a share of rows, from 0 to 1")
    bits = options.bits
    bits = None if bits is None else whole(bits, "bits", 1, BITS)
    batch = whole(options.batch, "batch", 1, 1 << 16)
    if options.engine is not None:
        one_name(options.engine, "engine", tuple(ENGINES))
    features = Features.of(steps, x)
    low, high = ranges_of(
        features,
        options.ranges,
        steps=steps,
        inputs=x.shape[1],
        names=names,
        computed=bool(steps),
    )
    places = spread_out(features.shape[0])
    held = held_out(len(places))
    made = (
        partial(linear, form.weights, form.intercepts)
        if isinstance(form, Linear)
        else partial(trees, form)
    )
    found = fewest_bits(
        lambda of_features, of_numbers: made((low, high), of_features, of_numbers),
        np.clip(features.at(places), low, high),
        clear[places],
        (low, high),
        bits=bits,
        least=float(agreement),
        held=held,
    )
    words = Words(features.shape[1], found.bits)
    engine, circuit = _chosen(found.model, words, options.engine, batch)
    rows = _rows(engine, batch, circuit.chosen.slots)
    up, down = _costs(circuit, words, rows, len(classes))
    plan = ClassPlan(
        inputs=x.shape[1],
        names=names,
        steps=list(steps),
        classes=classes,
        ranges=(low, high),
        bits=found.bits,
        engine=engine,
        preset=circuit.params.name,
        rows=rows,
        costs={"keys": key_bytes(circuit), "up": up, "down": down},
        counted=_counted(found, held),
        seconds=circuit.latency * (rows if engine == "bootstrapped" else 1),
    )
    return plan, found.model


def held_out(rows: int) -> NDArray[np.bool_] | None:
    """Which of so many rows bits are not chosen on: a quarter, or none of few.

    Drawn once for all, since rows may come in an order.
    """
    if rows < _FEW:
        return None
    found: NDArray[np.bool_] = np.random.default_rng(0).permutation(rows) < rows // 4
    return found


def _counted(found: Quantised[Any], held: NDArray[np.bool_] | None) -> Counted:
    if held is None:
        return Counted(found.agreement, None, None)
    rows = int(held.sum())
    misses = round((1 - found.agreement) * rows)
    return Counted(found.agreement, rows, 1 - shares.most(misses, rows, tried=found.among))


def _chosen(
    model: WholeModel, words: Words, engine: str | None, batch: int
) -> tuple[str, integers.IntegerPlan]:
    """The engine that takes least time for a batch, with its bytes on the way."""
    found: list[tuple[float, str, integers.IntegerPlan]] = []
    reason: CircuitError | None = None
    for name in ENGINES if engine is None else [engine]:
        try:
            circuit = cheapest(model, words, engine=name, batch=batch)
        except CircuitError as error:
            reason = reason or error
            continue
        rows = _rows(name, batch, circuit.chosen.slots)
        queries = -(-batch // rows)
        costs = _costs(circuit, words, rows, len(model.offsets))
        found.append((circuit.seconds + queries * sum(costs) / _BANDWIDTH, name, circuit))
    if not found:
        raise reason or CircuitError("no engine was tried")
    return min(found, key=lambda each: each[0])[1:]


def _rows(engine: str, batch: int, slots: int) -> int:
    """Samples of a query: all of a block of slots, or as many as are asked for."""
    return min(batch, _BOOTSTRAPPED) if engine == "bootstrapped" else slots


def _costs(circuit: integers.IntegerPlan, words: Words, rows: int, classes: int) -> tuple[int, int]:
    """Bytes of a full query and of its answer."""
    up, down = bytes_of(circuit, words, rows, classes)
    return up + message_size([0] * len(words.kinds)), down + message_size([0])

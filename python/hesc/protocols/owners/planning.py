"""A plan of a linear model whose features have several owners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import NoiseBudgetError, ParameterError
from hesc.models.conclusions import is_mean
from hesc.models.fidelity import kept
from hesc.params import wire_sizes
from hesc.protocols.linear import planning
from hesc.protocols.owners import columns
from hesc.protocols.owners.column_sets import SETS, noise_of, params_of
from hesc.protocols.owners.plan import MOST_FEATURES, ROOM, SHARE, OwnersPlan, beyond

if TYPE_CHECKING:
    from hesc.models.fidelity import Fidelity
    from hesc.models.linear.simple import Linear
    from hesc.protocols.backend import PlanRequest

_PRODUCTS = 1 << 15
"""Products of weights and ciphertexts, at most: more take minutes."""


def make(model: Linear, request: PlanRequest, fidelity: Fidelity | None) -> OwnersPlan:
    """The plan of a linear form whose columns have owners.

    Args:
        model: transforms and weights.
        request: rows, names, and the options `parties`, `ranges` and `max_error`.
        fidelity: how near the linear form comes to the scores, if it does not give them.

    Raises:
        ParameterError: options that cannot be; transforms that mix columns; an error as large as
            scores.
        NoiseBudgetError: an error that no set reaches.

    """
    if is_mean(model.link):
        raise ParameterError(
            "several owners' columns are scored by one model, and this one averages probabilities "
            "of several: fit one, as by CalibratedClassifierCV(ensemble=False, method='sigmoid')"
        )
    inputs = request.rows.shape[1]
    parties = columns.resolved(request.options.parties, request.names, inputs)
    for name, own in parties.items():
        if not columns.restricted(model.steps, own)[1]:
            raise ParameterError(
                f"the model uses no column of party {name!r}: leave the party and its columns out"
            )
    features, low, high, error = planning.grounds(
        model,
        request.rows,
        request.clear,
        names=request.names,
        ranges=request.options.ranges,
        max_error=request.options.max_error,
        margins=request.classes is not None,
        fidelity=fidelity,
    )
    outputs, count = model.weights.shape
    if count > MOST_FEATURES or outputs > MOST_FEATURES or count * outputs > _PRODUCTS:
        raise ParameterError(
            f"{count} encrypted features and {outputs} scores are {count * outputs} products of "
            f"ciphertexts; several parties have up to {_PRODUCTS}, and {MOST_FEATURES} features: "
            f"take fewer features or bins"
        )
    scale = _scale(model, low, high)
    name = _set(scale, error)
    plan = OwnersPlan(
        inputs=inputs,
        names=request.names,
        steps=model.steps,
        parties=parties,
        ranges=(low, high),
        outputs=outputs,
        scale=scale,
        error=error,
        set=name,
        costs=costs_of(name),
        classes=request.classes,
        link=model.link,
        fidelity=fidelity,
    )
    if request.classes is None:
        return plan
    rows, places = planning.typical(features, low, high)
    scores = rows @ model.weights.T + model.intercepts
    agreement = kept(scores, np.full(scores.shape, error), request.clear[places])
    return replace(plan, agreement=agreement)


def _scale(model: Linear, low: Any, high: Any) -> float:
    """A power of two that twice the largest score is not beyond."""
    reach = np.abs(model.weights) @ ((high - low) / 2)
    middle = np.abs(model.weights @ ((low + high) / 2) + model.intercepts)
    # Sums in another order are a little larger.
    most = float((reach + middle).max()) * (1 + 1e-9)
    if not 2.0**-490 < most < 2.0**490:
        raise ParameterError("the model's scores are all zero, or too large; nothing to encrypt")
    return float(2.0 ** np.ceil(np.log2(2 * most)))


def _set(scale: float, error: float) -> str:
    for name in SETS:
        if not beyond(scale, error, name):
            return name
    least, most = ROOM * noise_of(SETS[-1]) * scale, scale / SHARE
    if error > most:
        raise ParameterError(
            f"an error of {error:.3g} is as large as the scores, which stay within "
            f"{scale / 2:.3g}: write max_error={most:.2g} or less"
        )
    raise NoiseBudgetError(
        f"no set reaches an error of {error:.3g} for scores up to {scale / 2:.3g}; write "
        f"max_error={least:.2g} or more, or narrower ranges="
    )


def costs_of(name: str) -> dict[str, int]:
    """Bytes of a set's public key, and of ciphertexts before and after a product with a weight."""
    params = params_of(name)
    return {
        "keys": wire_sizes.keys(params, products=False),
        "column": wire_sizes.vector(params),
        "score": wire_sizes.vector(params, level=len(params.levels) - 1),
    }

"""A network's plan: which samples it is for, polynomials for its activations, and a trial run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc._native import NoiseBudgetError, ParameterError, ShapeError
from hesc._support.inputs import real_array
from hesc.models import transforms
from hesc.models.fidelity import typical_of
from hesc.models.layers import DenseNetwork, is_proportional, steepest
from hesc.params import wire_sizes
from hesc.protocols.linear.features import Features
from hesc.protocols.linear.ranges import ranges_of
from hesc.protocols.networks.fits import extremes, farthest, fitted
from hesc.protocols.networks.plan import DEVIATIONS, KEYS, NetworkPlan, middle_and_half
from hesc.protocols.networks.server import SQUARE, Served, evaluated
from hesc.vectors.blanks import blank

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.described import Described
    from hesc.models.tables.forms import Rows
    from hesc.protocols.linear.ranges import Ranges

    Array = NDArray[np.float64]

_RINGS: Final = {8192: (2,), 16384: (2, 3, 4), 32768: (2, 3, 4, 5, 7)}
"""Degrees of polynomials that are tried in each ring, the cheapest first."""
_USUAL: Final = 16384
"""The largest ring that is taken where nobody said which error is wanted."""
_MARGIN: Final = 1.25
"""By how much the ball is larger than the farthest row planned with."""
_STEP: Final = 4
"""The centre of the ball is in multiples of one over this, so that it says little of the data."""
_KEPT: Final = 0.9
"""The share of rows whose class has to stay where nobody said which error is wanted."""
_UP: Final = 1 + 1e-9
"""Sums in another order are a little larger."""
_SHIFT: Final = 4.0
"""How far a square may be completed; farther would cost more bits than it saves products."""


class Prepared(NamedTuple):
    """A network as a server computes it."""

    layers: tuple[Served, ...]
    unit: float
    """What the last layer's outputs are multiplied with to be scores."""
    worst: float
    """How far a score is from the network's at most, over all samples within the region."""

    def scores(self, u: Array) -> Array:
        """In the clear, of features in [-1, 1]: what encryption adds errors to."""
        for layer in self.layers:
            u = layer(u)
        return u * self.unit


@dataclass(frozen=True, eq=False)
class Region:
    """Samples that are accepted: features in [-1, 1], in a ball."""

    centre: Array
    radius: float

    def sums(self, weights: Array, intercepts: Array) -> tuple[Array, Array]:
        """The least and greatest sums: within both what the box and what the ball allow."""
        wide = np.abs(weights).sum(axis=1)
        middle = intercepts + weights @ self.centre
        across = self.radius * np.linalg.norm(weights, axis=1)
        low = np.maximum(intercepts - wide, middle - across)
        high = np.minimum(intercepts + wide, middle + across)
        room = 1e-9 * (wide + np.abs(intercepts) + across)
        return low - room, high + room


def prepared(network: DenseNetwork, region: Region, seen: Array, degree: int) -> Prepared:
    """Polynomials for activations, and weights for numbers of about 1.

    Args:
        network: on features in [-1, 1].
        region: of the samples that are accepted.
        seen: rows of features that polynomials are fitted to.
        degree: of polynomials, but of squares.

    """
    first = network.layers[0]
    low, high = region.sums(first.weights, first.intercepts)
    weights, intercepts, rows = first.weights, first.intercepts, seen
    apart = np.zeros(weights.shape[1])
    layers = []
    for layer, following in zip(network.layers, network.layers[1:], strict=False):
        sums = rows @ weights.T + intercepts
        apart = np.abs(weights) @ apart
        sizes = np.maximum(np.maximum(-low, high), np.finfo(np.float64).tiny)
        kind = layer.activation
        each = is_proportional(kind) or kind == "square"
        # Of an activation that scales with its argument each unit has a scale of its own.
        sizes = sizes if each else np.full(len(sizes), sizes.max())
        width = 1.0 if each else float(sizes[0])
        scale = sizes ** (2.0 if kind == "square" else float(is_proportional(kind)))
        fit = fitted(kind, width, (sums / sizes[:, None].T).reshape(-1), degree)
        fit, shift, factor, added = _completed(fit)
        layers.append(Served(weights / sizes[:, None], intercepts / sizes + shift, fit))
        least, most = extremes(fit, low / sizes + shift, high / sizes + shift)
        least, most = np.sort([factor * least + added, factor * most + added], axis=0)
        full = factor * fit
        full[0] += added
        far = farthest(kind, width, _unshifted(full, shift))
        apart = scale * far + _carried(kind, sizes, apart)
        # Where a square was completed, the rest of its polynomial is part of the next layer.
        weights = following.weights * scale
        intercepts = following.intercepts + added * weights.sum(axis=1)
        middle, half = scale * (least + most) / 2, scale * (most - least) / 2
        across = np.abs(following.weights) @ half
        centre = following.weights @ middle + following.intercepts
        room = 1e-9 * (np.abs(following.weights) @ np.abs(middle) + across + np.abs(centre))
        low, high = centre - across - room, centre + across + room
        apart = apart / scale
        rows = layers[-1](rows)
        weights = weights * factor
        apart = apart / abs(factor)
    worst = np.abs(weights) @ apart
    unit = float(2.0 ** np.ceil(np.log2(max(float(np.abs([low, high]).max()), 1e-30))))
    layers.append(Served(weights / unit, intercepts / unit, np.array([0.0, 1.0])))
    return Prepared(tuple(layers), unit, float(worst.max()))


def _completed(fit: Array) -> tuple[Array, float, float, float]:
    """A polynomial as `factor * p(v + shift) + added`, `p` a square if it has degree two."""
    if len(fit) != 3 or not abs(fit[1]) <= 2 * _SHIFT * abs(fit[2]) or fit[2] == 0:
        return fit, 0.0, 1.0, 0.0
    shift = fit[1] / (2 * fit[2])
    return np.array(SQUARE), float(shift), float(fit[2]), float(fit[0] - fit[2] * shift**2)


def _unshifted(fit: Array, shift: float) -> Array:
    """The coefficients of `fit` at `v + shift`; of degree two where it is shifted."""
    if shift == 0:
        return fit
    return np.array([fit[0] + fit[2] * shift**2, 2 * fit[2] * shift, fit[2]])


def _carried(activation: str, sizes: Array, apart: Array) -> Array:
    """How far results are apart whose sums are, by the activation's slope."""
    if activation == "square":
        return (2 * sizes + apart) * apart
    return steepest(activation) * apart


def make(
    model: Described,
    x: Rows,
    clear: Array,
    *,
    names: list[str],
    max_error: float | None,
    ranges: Ranges | None,
) -> tuple[NetworkPlan, Prepared]:
    """The plan of a network and the layers that its server computes.

    Args:
        model: transforms and layers, folded.
        x: rows of features before the transforms.
        clear: the model's own scores of them.
        names: of the features, or none.
        max_error: the root mean square that is wanted, over rows like these; None takes the first
            that is a hundredth of the median margin (or deviation), or the best of rings up to
            16384.
        ranges: the least and greatest values of features after the transforms.

    Raises:
        ParameterError: a model that is linear, or no network; scores that disagree, or are all
            alike where nobody said which error is wanted.
        NoiseBudgetError: no set reaches this error, or keeps nine classes in ten.

    """
    network = model.model
    if not isinstance(network, DenseNetwork) or network.is_linear:
        raise ParameterError(
            "this model has no hidden layer with an activation: PrivateClassifier and "
            "PrivateRegressor take linear ones, which are exacter and faster"
        )
    wanted = _wanted(max_error)
    # What is small beside the scores is not bought with a larger ring.
    usual = typical_of(clear, margins=model.classes is not None) / 100 if wanted is None else 0.0
    features = transforms.transformed(model.steps, x)
    if not np.abs(network.scores(features) - clear).max() <= 1e-6 * (1 + np.abs(clear).max()):
        raise ParameterError("layers read off this model give other scores than it does itself")
    low, high = ranges_of(
        Features([features], features.shape),
        ranges,
        steps=model.steps,
        inputs=x.shape[1],
        names=names,
        computed=True,
    )
    middle, half = middle_and_half(low, high)
    u = np.clip((features - middle) / half, -1, 1)
    centre = np.round(u.mean(axis=0) * _STEP) / _STEP
    radius = max(_MARGIN * float(np.linalg.norm(u - centre, axis=1).max()), 1e-3)
    region = Region(centre, radius * _UP)
    first = network.layers[0]
    scaled = replace(
        first, weights=first.weights * half, intercepts=first.intercepts + first.weights @ middle
    )
    inner = DenseNetwork((scaled, *network.layers[1:]))
    widths = (network.inputs, *(len(layer.intercepts) for layer in network.layers))
    best: tuple[NetworkPlan, Prepared] | None = None
    for degree, ring in _candidates(inner, ring_limit=None if wanted else _USUAL):
        if max(widths) > ring // 2:
            continue
        ready = prepared(inner, region, u, degree)
        found = ready.scores(u)
        fit = float(np.sqrt(np.square(found - clear).mean(axis=0)).max())
        plan = NetworkPlan(
            inputs=x.shape[1],
            names=names,
            steps=model.steps,
            classes=model.classes,
            link=model.link,
            ring_degree=ring,
            widths=widths,
            ranges=(low, high),
            centre=centre,
            radius=radius,
            unit=ready.unit,
            noise=0.0,
            fit=fit,
            worst=ready.worst,
            vectors=(1, 1),
            agreement=_agreement(found, clear, model),
        )
        if plan.key_bytes > KEYS or (best is not None and not fit < best[0].error):
            continue
        tried = _tried(plan, ready)
        if tried is None:
            continue
        if best is None or tried.error < best[0].error:
            best = tried, ready
        if best[0].error <= (wanted or usual):
            return best
    return _accepted(best, wanted, clear)


def _accepted(
    best: tuple[NetworkPlan, Prepared] | None, wanted: float | None, clear: Array
) -> tuple[NetworkPlan, Prepared]:
    remedy = (
        "train it with smaller weights (alpha=), scale its features, take fewer layers, or an "
        "activation that is nearer to a polynomial: tanh before relu, squares exactly"
    )
    if best is None:
        raise NoiseBudgetError(f"no set of parameters has room for these layers; {remedy}")
    plan = best[0]
    if wanted is not None:
        raise NoiseBudgetError(
            f"no set reaches max_error={wanted:.3g}: the best has {plan.error:.3g}; {remedy}"
        )
    kept = plan.agreement
    if kept is None:
        kept = 1 - float((plan.fit / float(clear.std(axis=0).min())) ** 2)
    if kept < _KEPT:
        raise NoiseBudgetError(
            f"polynomials of degrees that are cheap enough change this network: {100 * kept:.1f} % "
            f"of its classes (or variance) stay, with an error of {plan.error:.3g}. Say "
            f"max_error= to have larger rings tried or to take that; or {remedy}"
        )
    return best


def _wanted(max_error: float | None) -> float | None:
    if max_error is None:
        return None
    error = real_array(max_error, "max_error")
    if error.shape or isinstance(max_error, bool) or not 0 < error < np.inf:
        raise ParameterError("max_error is a number above zero, in units of the scores")
    return float(error)


def _candidates(network: DenseNetwork, *, ring_limit: int | None) -> list[tuple[int, int]]:
    """Degrees and rings, the cheapest first."""
    squares = all(layer.activation == "square" for layer in network.layers[:-1])
    return [
        (degree, ring)
        for ring, degrees in _RINGS.items()
        if ring_limit is None or ring <= ring_limit
        for degree in (degrees[:1] if squares else degrees)
    ]


def _agreement(found: Array, clear: Array, model: Described) -> float | None:
    if model.classes is None:
        return None
    if found.shape[1] == 1:
        return float(((found > 0) == (clear > 0)).mean())
    return float((found.argmax(axis=1) == clear.argmax(axis=1)).mean())


def _tried(plan: NetworkPlan, ready: Prepared) -> NetworkPlan | None:
    """The plan with the noise and sizes of a trial on a blank vector; None if there is no room."""
    params, packing = plan.params, plan.packing
    try:
        vector = blank(params, rotations=packing.rotations())
        found = evaluated(packing, ready.layers, vector)
    except (NoiseBudgetError, ShapeError):
        return None
    noise = found.error_bound / DEVIATIONS * ready.unit
    up, down = wire_sizes.vector(params, seeded=True), wire_sizes.vector(params, level=found.level)
    return replace(plan, noise=noise, vectors=(up, down))

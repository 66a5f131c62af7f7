"""Samples through a plan of linear scores, simulated: nothing is encrypted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._support.inputs import whole
from hesc._support.progress import Bar
from hesc.protocols.runs import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.protocols.linear.plan import LinearPlan
    from hesc.protocols.runs import Progress

_TURNS = 64
"""How often the progress of a simulation is shown."""


def simulate(
    plan: LinearPlan,
    weights: NDArray[np.float64],
    intercepts: NDArray[np.float64],
    samples: Rows,
    *,
    clip: bool,
    random_state: int | None,
    progress: Progress,
) -> Run:
    """Scores with errors drawn from the plan's law; nothing is encrypted.

    Each error is normal with the deviation that the law has for its sample and output. Errors of
    different outputs of a sample are drawn apart, where those of real ones are a little related.
    """
    seed = None if random_state is None else whole(random_state, "random_state", 0)
    rng = np.random.default_rng(seed)
    ready = plan.prepared(samples, clip=clip)
    errors = np.empty((len(samples), len(weights)))
    # Whole ciphertexts: where weights are encrypted samples that share one share its noise.
    size = plan.ring.capacity
    turn = -(-len(samples) // (_TURNS * size)) * size
    with Bar("samples simulated", progress) as bar:
        for first in range(0, len(samples), turn):
            rows = ready.features[first : first + turn]
            errors[first : first + turn] = plan.errors_of(weights, rows)
            bar.show(first + len(rows), len(samples))
    raw = ready.features @ weights.T + intercepts + rng.standard_normal(errors.shape) * errors
    scores = plan.scores(raw)
    sizes = plan.sizes(len(samples))
    predictions = plan.predictions(scores)
    return Run(predictions, scores, plan.error, sizes, ready.values, ready.samples)

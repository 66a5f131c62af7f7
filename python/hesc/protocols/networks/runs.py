"""Samples through a network's plan, simulated or encrypted, both parties in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc._support.inputs import whole
from hesc.protocols.runs import Run

if TYPE_CHECKING:
    from hesc.models.tables.forms import Rows
    from hesc.protocols.networks.plan import NetworkPlan
    from hesc.protocols.networks.planning import Prepared


def simulate(
    plan: NetworkPlan,
    layers: Prepared,
    samples: Rows,
    *,
    clip: bool,
    random_state: int | None,
) -> Run:
    """Scores of the polynomials, with normal errors of the plan's noise; nothing is encrypted."""
    seed = None if random_state is None else whole(random_state, "random_state", 0)
    rng = np.random.default_rng(seed)
    ready = plan.prepared(samples, clip=clip)
    raw = layers.scores(ready.features)
    scores = plan.scores(raw + plan.noise * rng.standard_normal(raw.shape))
    predictions = plan.predictions(scores)
    sizes = plan.sizes(len(samples))
    return Run(predictions, scores, plan.error, sizes, ready.values, ready.samples)

"""Samples through a network's plan, simulated or encrypted, both parties in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc.inputs import whole
from hesc.ml.mlp.client import NetworkClient
from hesc.ml.mlp.server import NetworkServer
from hesc.ml.runs import Run
from hesc.progress import Bar
from hesc.ring_products.plans import Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.ml.mlp.planning import Prepared
    from hesc.ml.mlp.plans import NetworkPlan
    from hesc.ml.runs import Progress


class Session:
    """A client and a server of one plan, whose keys stay."""

    def __init__(self, plan: NetworkPlan, ready: Prepared) -> None:
        self._client = NetworkClient(plan)
        self._server = NetworkServer(plan, ready.layers, keys=self._client.public_keys())

    def run(self, samples: NDArray[np.float64], *, clip: bool, progress: Progress) -> Run:
        """Samples encrypted, evaluated and decrypted."""
        plan = self._client.plan
        ready = plan.prepared(samples, clip=clip)
        up = down = 0
        found = []
        with Bar("samples scored", progress) as bar:
            for first in range(0, len(samples), plan.rows):
                rows = ready.features[first : first + plan.rows]
                query = self._client.encrypted(rows)
                answer = self._server.answer(query)
                found.append(self._client.decrypt(answer).scores)
                up, down = up + len(query), down + len(answer)
                bar.show(first + len(rows), len(samples))
        scores = np.concatenate(found)
        sizes = Sizes(up, down)
        predictions = plan.predictions(scores)
        return Run(predictions, scores, plan.error, sizes, ready.values, ready.samples)


def simulate(
    plan: NetworkPlan,
    layers: Prepared,
    samples: NDArray[np.float64],
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

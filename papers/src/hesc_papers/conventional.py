"""Layers of `hesc.streams.networks.layered` with sums by random selection: koseki2022hesc figure 9.

That is the figure's "conventional SC".
Streams stay as long as they are and errors grow with every sum. Masks multiply twice, which needs
a scheme with room for it: the one without encryption, or a modulus of about 100 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc.streams.arrays import EncryptedArray

if TYPE_CHECKING:
    from hesc.streams.networks.layered import LayeredModel


def evaluate(model: LayeredModel, query: list[EncryptedArray], random_state: int) -> EncryptedArray:
    """Outputs (samples, outputs) of a network.

    `random_state` seeds the selections; three consecutive ones are used.
    """
    first, second = (
        terms.multiplexed_sum(axis=-1, random_state=random_state + copy)
        for copy, terms in enumerate(model.hidden(query))
    )
    # Sums over inputs + 1 terms: each has that weight, which the last selection takes over.
    weight = (model.hidden_weights[0].shape[1] + 1) ** 2
    squares = first * second / weight
    products = squares[:, np.newaxis] * model.output_weights[np.newaxis]
    samples, outputs, hidden = products.shape
    bias = model.output_bias[:, np.newaxis].broadcast_to((samples, outputs, 1))
    terms = EncryptedArray.concatenate([products, bias], axis=-1)
    coefficients = [float(weight)] * hidden + [1.0]
    return terms.multiplexed_sum(axis=-1, coefficients=coefficients, random_state=random_state + 2)

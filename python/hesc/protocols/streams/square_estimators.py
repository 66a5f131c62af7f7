"""Networks of one square layer as estimators that are fitted already."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hesc.models.described import Described
from hesc.models.given import GivenClassifier
from hesc.models.layers import DenseNetwork, Layer
from hesc.models.transforms import Clip, Monomials, Projection

if TYPE_CHECKING:
    from hesc.models.transforms import Transform
    from hesc.streams.networks import Preprocessing, SquareNetwork


class GivenSquareNetwork(GivenClassifier):
    """A classifier that is what a network of one square layer computes."""

    def __init__(self, network: SquareNetwork) -> None:
        super().__init__(described(network))
        self.network = network


def described(network: SquareNetwork) -> Described:
    """What a network computes: its public transforms, two layers, a class for each output."""
    layers = (
        Layer(network.hidden_weights, network.hidden_bias, "square"),
        Layer(network.output_weights, network.output_bias, "identity"),
    )
    public = network.preprocessing
    classes = np.array(network.classes)
    return Described(public.inputs, [], scaling(public), DenseNetwork(layers), classes, "none")


def scaling(public: Preprocessing) -> list[Transform]:
    """The transforms that bring features into [-1, 1]."""
    ends = np.ones(public.inputs)
    return [Projection(public.center, public.axes / public.scale[:, None]), Clip(-ends, ends)]


def products(public: Preprocessing) -> Monomials:
    """The transform after them: all products of two of (1, z_1, ...), in their order."""
    # A factor that is 1 is none, which is -1.
    factors = np.column_stack(public.exponents) - 1
    return Monomials(public.inputs, factors.astype(np.float64))

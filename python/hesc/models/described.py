"""Models as numbers, wherever they come from: public transforms, then layers or trees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hesc._native import ParameterError
from hesc.models import transforms
from hesc.models.layers import DenseNetwork, Layer
from hesc.models.transforms import folded
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.tables.forms import Rows
    from hesc.models.transforms import Transform


class Described(NamedTuple):
    """What a model computes, without whoever trained it."""

    inputs: int
    """Features of a sample."""
    names: list[str]
    """Names of the features, or none."""
    steps: list[Transform]
    """Which a client computes."""
    model: DenseNetwork | TreeEnsemble
    """What makes scores of the features after them."""
    classes: NDArray[Any] | None
    """A classifier's classes; of two, one score is above zero where the second is predicted."""
    link: str
    """How scores become probabilities: one of `hesc.models.conclusions.LINKS`."""

    def scores(self, samples: Rows) -> NDArray[np.float64]:
        """A row of outputs for each sample, in double precision."""
        if not self.steps and isinstance(samples, np.ndarray):
            # Steps give no missing cell to what comes after them.
            return self.model.scores(samples)
        return self.model.scores(transforms.transformed(self.steps, samples))

    @property
    def takes_missing(self) -> bool:
        """Whether cells of samples may be missing."""
        return isinstance(self.model, TreeEnsemble) and self.model.takes_missing and not self.steps

    def with_one_score(self) -> Described:
        """The same with one score where there are two classes: the second's less the first's.

        Raises:
            ParameterError: both are those of an activation.

        """
        if self.classes is None or self.model.outputs != 2:
            return self
        # Of two probabilities that were normalised apart nothing follows from the difference.
        link = "sigmoid" if self.link == "softmax" else "none"
        return self._replace(model=_difference(self.model), link=link)

    def folded(self) -> Described:
        """The same with trailing scalers as parts of the first layer, and as few layers."""
        if not isinstance(self.model, DenseNetwork):
            return self
        layers = list(self.model.folded().layers)
        steps = list(self.steps)
        with np.errstate(over="ignore", invalid="ignore"):
            steps, weights, intercepts = folded(steps, layers[0].weights, layers[0].intercepts)
        layers[0] = Layer(weights, intercepts, layers[0].activation)
        return self._replace(steps=steps, model=DenseNetwork(tuple(layers)))


def _difference(model: DenseNetwork | TreeEnsemble) -> DenseNetwork | TreeEnsemble:
    """The model whose one output is the second less the first: it says less than both."""
    if isinstance(model, TreeEnsemble):
        values = model.values[:, 1:] - model.values[:, :1]
        return replace(model, values=values, offset=model.offset[1:] - model.offset[:1])
    *before, last = model.layers
    if last.activation != "identity":
        raise ParameterError("classes by the higher of two activations; end in sums or Softmax")
    weights = last.weights[1:] - last.weights[:1]
    return DenseNetwork((*before, Layer(weights, last.intercepts[1:] - last.intercepts[:1])))

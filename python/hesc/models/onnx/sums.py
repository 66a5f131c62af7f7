"""Sums and means of what several operators of an ONNX graph make of the same features."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc.models.layers import Layer
from hesc.models.onnx.values import Chain, Conclusion, is_sum
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from hesc.models.onnx.values import Value


def added(parts: list[Any], factor: float = 1.0) -> Value | None:
    """A number times a sum: of trees, or of layers, behind the same operators; None of others."""
    if all(isinstance(part, Conclusion) for part in parts):
        return _of_trees(parts, factor)
    if all(isinstance(part, Chain) for part in parts):
        return _of_layers(parts, factor)
    return None


def _of_trees(parts: list[Conclusion], factor: float) -> Conclusion | None:
    models = [part.scored.model for part in parts]
    first = parts[0].scored
    trees = [model for model in models if isinstance(model, TreeEnsemble)]
    alike = all(
        part.what == "values"
        and part.scored.steps == first.steps
        and model.outputs == models[0].outputs
        for part, model in zip(parts, models, strict=True)
    )
    if not alike or len(trees) < len(models):
        return None
    model = TreeEnsemble.summed(trees)
    model = replace(model, values=model.values * factor, offset=model.offset * factor)
    return replace(parts[0], scored=replace(first, model=model))


def _of_layers(parts: list[Chain], factor: float) -> Chain | None:
    first = parts[0]
    alike = all(
        is_sum(part)
        and part.width == first.width
        and part.steps == first.steps
        and part.layers[:-1] == first.layers[:-1]
        for part in parts
    )
    if not alike:
        return None
    lasts = [part.layers[-1] for part in parts]
    weights = factor * np.sum([layer.weights for layer in lasts], axis=0)
    layer = Layer(weights, factor * np.sum([layer.intercepts for layer in lasts], axis=0))
    return replace(first, layers=(*first.layers[:-1], layer))

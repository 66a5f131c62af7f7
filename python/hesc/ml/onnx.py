"""Models from ONNX files, for samples that the server never sees.

    private = load_onnx("model.onnx")
    print(private.plan(X, Scores(ranges=(0, 16))))

Needs the extra `onnx`. A file is read as numbers: nothing in it runs, no other file is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hesc.models.given import GivenClassifier, GivenRegressor
from hesc.models.onnx import read
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor
    from hesc.ml.mlp import PrivateMLPClassifier, PrivateMLPRegressor

__all__ = ["load_onnx"]


def load_onnx(
    source: str | Path | bytes,
    *,
    verify: bool | None = None,
    classes: Sequence[Any] | None = None,
) -> PrivateClassifier | PrivateRegressor | PrivateMLPClassifier | PrivateMLPRegressor:
    """The model of an ONNX file, ready to be planned; arguments, errors: `models.onnx.read`.

    Linear models and trees become a `PrivateClassifier` or `PrivateRegressor`, networks with hidden
    layers a `PrivateMLPClassifier` or `PrivateMLPRegressor`. `predict` in the clear is numpy's, in
    double precision. Trees are computed in public bins: see `bins`, `refit` and `min_fidelity` of
    `PrivateClassifier.plan`.
    """
    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor
    from hesc.ml.mlp import PrivateMLPClassifier, PrivateMLPRegressor

    model = read(source, verify=verify, classes=classes)
    linear = isinstance(model.model, TreeEnsemble) or model.model.is_linear
    if model.classes is None:
        regressor = PrivateRegressor if linear else PrivateMLPRegressor
        return regressor.from_fitted(GivenRegressor(model))
    classifier = PrivateClassifier if linear else PrivateMLPClassifier
    return classifier.from_fitted(GivenClassifier(model))

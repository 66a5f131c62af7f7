"""Models from ONNX files, for samples that the server never sees.

    private = load_onnx("model.onnx")
    print(private.plan(X, ranges=(0, 16)))

Needs the extra `onnx`. A file is read as numbers: nothing in it runs, no other file is opened.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from hesc._native import ParameterError
from hesc.ml.callers import usual_floats
from hesc.ml.given import GivenClassifier, GivenRegressor
from hesc.ml.onnx import checks, files, graphs
from hesc.ml.trees import TreeEnsemble

if TYPE_CHECKING:
    from pathlib import Path

    from hesc.ml.described import Described
    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor
    from hesc.ml.mlp.estimators import PrivateMLPClassifier, PrivateMLPRegressor

__all__ = ["load_onnx", "read"]


@usual_floats
def read(source: str | Path | bytes, *, verify: bool | None = None) -> Described:
    """What an ONNX file computes: transforms, then layers or trees, and classes.

    Weights are float32 in most files. They are taken as the doubles that they are, and everything
    is computed in double precision from there; thresholds of trees become the doubles that send
    every double the way that comparison in float32 does. Scalers before a model, which a file
    applies in float32, are applied in double precision: close to a threshold a row may go another
    way.

    Args:
        source: a path, or the bytes of a file, 64 MiB at most.
        verify: compare with onnxruntime on random rows, see `hesc.ml.onnx.checks.check`. None does
            so where onnxruntime is installed.

    Raises:
        WireError: damaged or hostile bytes.
        ParameterError: operators that are not computed here, with what comes nearest; what
            onnxruntime computes otherwise; onnxruntime is wanted and missing.
        OutOfRangeError: weights that are not finite.

    """
    if verify not in {None, True, False}:
        raise ParameterError(f"verify is True, False or None; got {verify!r}")
    there = find_spec("onnxruntime") is not None
    if verify and not there:
        raise ParameterError("verify=True needs onnxruntime: pip install 'hesc[onnx]'")
    graph = files.read(source)
    model = graphs.described(graph)
    if there if verify is None else verify:
        checks.check(graph, model)
    return model


def load_onnx(
    source: str | Path | bytes, *, verify: bool | None = None
) -> PrivateClassifier | PrivateRegressor | PrivateMLPClassifier | PrivateMLPRegressor:
    """The model of an ONNX file, ready to be planned: see `read` for arguments and errors.

    Linear models and trees become a `PrivateClassifier` or `PrivateRegressor`, networks with hidden
    layers a `PrivateMLPClassifier` or `PrivateMLPRegressor`. `predict` in the clear is numpy's, in
    double precision. Trees are computed in public bins: see `bins`, `refit` and `min_fidelity` of
    `PrivateClassifier.plan`.
    """
    from hesc.ml.estimators import PrivateClassifier, PrivateRegressor
    from hesc.ml.mlp.estimators import PrivateMLPClassifier, PrivateMLPRegressor

    model = read(source, verify=verify)
    linear = isinstance(model.model, TreeEnsemble) or model.model.is_linear
    if model.classes is None:
        regressor = PrivateRegressor if linear else PrivateMLPRegressor
        return regressor.from_fitted(GivenRegressor(model))
    classifier = PrivateClassifier if linear else PrivateMLPClassifier
    return classifier.from_fitted(GivenClassifier(model))

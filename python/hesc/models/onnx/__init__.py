"""Models from ONNX files, as arrays.

Needs the extra `onnx`. A file is read as numbers: nothing in it runs, no other file is opened.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import ParameterError, WireError
from hesc._support.callers import usual_floats
from hesc._support.extras import install_line
from hesc.models.onnx import checks, endings, graphs, onnx_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hesc.models.described import Described

__all__ = ["read"]


@usual_floats
def read(
    source: str | Path | bytes,
    *,
    verify: bool | None = None,
    classes: Sequence[Any] | None = None,
) -> Described:
    """What an ONNX file computes: transforms, then layers or trees, and classes.

    Weights are float32 in most files. They are taken as the doubles that they are, and everything
    is computed in double precision from there; thresholds of trees become the doubles that send
    every double the way that comparison in float32 does. Scalers before a model, which a file
    applies in float32, are applied in double precision: close to a threshold a row may go another
    way.

    Args:
        source: a path, or the bytes of a file, 64 MiB at most.
        verify: compare with onnxruntime on random rows, see `hesc.models.onnx.checks.check`. None
            does so where onnxruntime is installed.
        classes: labels of a classifier whose file names none, in the order of its outputs, such as
            a network's that PyTorch exported without its softmax. Of one output there are two.
            Outputs that are no probabilities are taken for logits.

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
        raise ParameterError(f"verify=True needs onnxruntime: {install_line('onnx')}")
    graph = onnx_files.read(source)
    model = graphs.described(graph)
    if there if verify is None else verify:
        checks.check(graph, model)
    return model if classes is None else named(model, list(classes))


def named(model: Described, classes: list[Any]) -> Described:
    """A model with these classes.

    Raises:
        ParameterError: other classes than a file names, or more or fewer than it has outputs.

    """
    if model.classes is not None:
        count, own = len(model.classes), model.classes.tolist()
        if own not in (list(range(count)), classes):
            raise ParameterError(f"this file names its classes itself, {own[:4]}; leave classes=")
    else:
        count = max(model.model.outputs, 2)
    if len(classes) != count:
        raise ParameterError(f"classes= are {count}, one for each output, or two for one output")
    try:
        labels = np.array(endings.labels_of(classes))
    except (WireError, TypeError) as error:
        raise ParameterError("classes= are two or more names or numbers, each another") from error
    link = model.link
    if model.classes is None:
        link = "sigmoid" if model.model.outputs == 1 else "softmax"
    return model._replace(classes=labels, link=link).with_one_score().folded()

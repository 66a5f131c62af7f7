"""Models from ONNX files, as arrays.

Needs the extra `onnx`. A file is read as numbers: nothing in it runs, no other file is opened.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from hesc._native import ParameterError
from hesc._support.callers import usual_floats
from hesc._support.extras import install_line
from hesc.models.onnx import checks, files, graphs

if TYPE_CHECKING:
    from pathlib import Path

    from hesc.models.described import Described

__all__ = ["read"]


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
        verify: compare with onnxruntime on random rows, see `hesc.models.onnx.checks.check`. None
            does so where onnxruntime is installed.

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
    graph = files.read(source)
    model = graphs.described(graph)
    if there if verify is None else verify:
        checks.check(graph, model)
    return model

"""ONNX files as plain data: bounded, without subgraphs, external data or anything to run.

Whatever a file holds, reading it takes memory in proportion to its own bytes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import numpy_helper

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support.new_files import read_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LARGEST: Final = 1 << 26
"""Bytes of a file."""
_NODES: Final = 1 << 12
"""Operators of a graph."""
WIDEST: Final = 1 << 16
"""Features of a sample."""
_DOMAINS: Final = {"": "", "ai.onnx": "", "ai.onnx.ml": "ai.onnx.ml"}
_OLDEST: Final = 7
"""Version of ai.onnx: before it Add and others line up shapes by attributes."""
_WHOLE: Final = (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
_REAL: Final = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
_KINDS: Final = (*_WHOLE, *_REAL, onnx.TensorProto.STRING)


class Input(NamedTuple):
    """Columns of a sample."""

    name: str
    width: int
    single: bool
    """Whether they are float32."""
    one_row: bool = False
    """Whether a batch has one row, as PyTorch exports without dynamic axes."""


class Node(NamedTuple):
    """An operator where it stands."""

    operator: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any]
    """Numbers, texts, lists of them and arrays."""


class Graph(NamedTuple):
    """What a file says."""

    inputs: list[Input]
    constants: dict[str, NDArray[Any]]
    nodes: list[Node]
    """In an order in which each stands behind what it takes."""
    outputs: list[str]
    data: bytes
    """The file."""


def read(source: str | Path | bytes) -> Graph:
    """The graph of a file.

    Args:
        source: a path, or the bytes of a file.

    Raises:
        WireError: damaged or hostile bytes, or more than `LARGEST` of them.
        ParameterError: what is no path or bytes; subgraphs, functions, tensors in other files.
        OutOfRangeError: a constant that is no finite number.
        OSError: a path that cannot be read.

    """
    if isinstance(source, str | Path):
        source = read_whole(source, LARGEST, "an ONNX file")
    if not isinstance(source, bytes):
        raise ParameterError(f"load_onnx takes a path or bytes, not {type(source).__name__}")
    if len(source) > LARGEST:
        raise WireError(f"an ONNX file has {LARGEST} bytes at most here; this has {len(source)}")
    try:
        model = onnx.ModelProto.FromString(source)
    except (DecodeError, ValueError, RecursionError) as error:
        raise WireError("this is no ONNX file: it is damaged, or something else") from error
    _refuse_strangers(model)
    try:
        onnx.checker.check_model(model)
    except (onnx.checker.ValidationError, ValueError, RuntimeError) as error:
        # What it says may repeat parts of the file.
        raise WireError("onnx.checker finds this file invalid; export it again") from error
    graph = model.graph
    constants = {tensor.name: _array(tensor, "a constant") for tensor in graph.initializer}
    nodes = [_node(node) for node in graph.node]
    defined = [*constants, *(name for node in nodes for name in node.outputs if name)]
    if len(set(defined)) != len(defined):
        raise WireError("a name of an ONNX graph is given twice")
    inputs = [_input(value) for value in graph.input if value.name not in constants]
    if not inputs or not graph.output:
        raise WireError("an ONNX graph has inputs and outputs")
    return Graph(inputs, constants, nodes, [value.name for value in graph.output], source)


def _refuse_strangers(model: Any) -> None:
    """What nothing here reads, before anything looks into it."""
    graph = model.graph
    if len(graph.node) > _NODES:
        raise WireError(f"{len(graph.node)} operators; {_NODES} are read at most")
    imported = [given for given in model.opset_import if _DOMAINS.get(given.domain) == ""]
    if any(given.version < _OLDEST for given in imported):
        raise ParameterError(
            f"this file is for an ai.onnx before version {_OLDEST}, whose operators mean something "
            f"else; export it again with target_opset={_OLDEST} or later"
        )
    attributes = [attribute for node in graph.node for attribute in node.attribute]
    # The checker looks for the files that parts of sparse tensors may name.
    sparse = any(a.HasField("sparse_tensor") or a.sparse_tensors for a in attributes)
    if model.functions or model.training_info or graph.sparse_initializer or sparse:
        raise ParameterError(
            "functions, training and sparse tensors are not read from ONNX files; export for "
            "inference, with dense tensors"
        )
    kinds = {onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS}
    if any(a.type in kinds or a.HasField("g") or a.graphs for a in attributes):
        raise ParameterError(
            "subgraphs (If, Loop, Scan) are not computed here; export without control flow"
        )
    tensors = [*graph.initializer, *(a.t for a in attributes)]
    tensors += [tensor for a in attributes for tensor in a.tensors]
    external = onnx.TensorProto.EXTERNAL
    if any(t.data_location == external or t.external_data for t in tensors):
        raise ParameterError(
            "this file says that its numbers lie in other files, which are not opened: save it "
            "whole (onnx.save_model without save_as_external_data)"
        )


def _input(value: Any) -> Input:
    if len(value.name) > 1000:
        raise WireError("a name of an ONNX graph has 1000 letters at most")
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or kind.elem_type not in _REAL:
        raise ParameterError(
            "samples are tensors of float or double here; export with FloatTensorType, and encode "
            "texts and whole numbers before"
        )
    sizes = kind.shape.dim
    known = len(sizes) == 2 and sizes[1].HasField("dim_value")
    if not known or not 0 < sizes[1].dim_value <= WIDEST:
        raise ParameterError(
            f"samples are rows of a known number of features, {WIDEST} at most; export with "
            "FloatTensorType([None, features])"
        )
    batch = sizes[0].dim_value if sizes[0].HasField("dim_value") else 0
    if batch > 1:
        raise ParameterError(
            f"this file takes batches of {batch} samples alone; export it for any number of them "
            f"(dynamic_axes of torch.onnx.export)"
        )
    single = kind.elem_type == onnx.TensorProto.FLOAT
    return Input(value.name, int(sizes[1].dim_value), single, one_row=batch == 1)


def _node(node: Any) -> Node:
    if node.domain not in _DOMAINS:
        raise ParameterError(
            f"operator {node.op_type[:40]} of another domain than ai.onnx and ai.onnx.ml is not "
            "computed here"
        )
    attributes = {a.name: _attribute(a) for a in node.attribute}
    if len(attributes) != len(node.attribute):
        raise WireError("an attribute of an ONNX operator is given twice")
    return Node(node.op_type, list(node.input), list(node.output), attributes)


def _attribute(attribute: Any) -> Any:
    kinds = onnx.AttributeProto
    readers: dict[int, Callable[[Any], Any]] = {
        kinds.FLOAT: lambda a: float(a.f),
        kinds.INT: lambda a: int(a.i),
        kinds.STRING: lambda a: _text(a.s),
        kinds.FLOATS: lambda a: np.array(a.floats, dtype=np.float64),
        kinds.INTS: lambda a: np.array(a.ints, dtype=np.int64),
        kinds.STRINGS: lambda a: [_text(text) for text in a.strings],
        kinds.TENSOR: lambda a: _array(a.t, "an attribute"),
    }
    if attribute.type not in readers:
        raise WireError("an attribute of an ONNX operator is of a type that is not read")
    return readers[attribute.type](attribute)


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise WireError("a text of an ONNX file is no UTF-8") from error


def _array(tensor: Any, what: str) -> NDArray[Any]:
    """Numbers as doubles or 64-bit integers, texts as they are."""
    if tensor.data_type not in _KINDS:
        raise ParameterError(
            f"{what} of an ONNX file is of a type that is not read; floats, doubles, int32, int64 "
            "and texts are"
        )
    # An empty tensor may have any shape; one that is not holds as many numbers as its shape says.
    if len(tensor.dims) > 4 or any(not 0 < size <= LARGEST for size in tensor.dims):
        raise WireError(f"{what} of an ONNX file has a shape that is not read")
    if math.prod(tensor.dims) > LARGEST:
        raise WireError(f"{what} of an ONNX file says that it is larger than the file")
    try:
        array = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, OverflowError) as error:
        raise WireError(
            f"{what} of an ONNX file holds other numbers than its shape says"
        ) from error
    if tensor.data_type == onnx.TensorProto.STRING:
        # Not those of numpy's array, which lacks zeros at the end.
        texts = [_text(text) for text in tensor.string_data]
        # As objects: one long text would make all of an array of texts as long.
        return np.array(texts, dtype=object).reshape(array.shape)
    if tensor.data_type in _WHOLE:
        return np.asarray(array, dtype=np.int64)
    numbers = np.asarray(array, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise OutOfRangeError(f"{what} of this ONNX file has numbers that are not finite")
    return numbers

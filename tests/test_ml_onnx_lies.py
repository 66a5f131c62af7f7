"""ONNX files that are well-formed and lie: read as onnxruntime computes them, or refused by name.

None of this relies on onnxruntime being installed: files are read with `verify=False`, and what is
read is held against it here.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import hesc
from hesc.models.conclusions import predictions, probabilities
from hesc.models.onnx import read
from tests.test_ml_onnx import NETWORKS, TREES, TWO, B, W, X, Y, disturbed, graph_bytes, written

if TYPE_CHECKING:
    from collections.abc import Callable

node = helper.make_node
SQUARE = np.array([[1, 2, 3], [0, -1, 1], [2, 0, -2]], np.float32)
CONSTANTS = {"w": SQUARE, "b": np.array([0.1, 0.2, 0.3], np.float32)}
DENSE = node("Gemm", ["x", "w", "b"], ["h"], transB=1)


def linear(**change: Any) -> Any:
    fields: dict[str, Any] = {
        "coefficients": SQUARE.reshape(-1).tolist(),
        "intercepts": [0.1, 0.2, 0.3],
        "classlabels_ints": [3, 4, 5],
        "post_transform": "SOFTMAX",
    }
    return node("LinearClassifier", ["x"], ["l", "p"], domain="ai.onnx.ml", **(fields | change))


def trees(kind: str = "class", **change: Any) -> Any:
    """A tree of three leaves."""
    fields: dict[str, Any] = {
        "nodes_treeids": [0] * 5,
        "nodes_nodeids": [0, 1, 2, 3, 4],
        "nodes_featureids": [0, 1, 0, 0, 0],
        "nodes_values": [0.5, 0.5, 0.0, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 2, 0, 0, 0],
        "nodes_falsenodeids": [4, 3, 0, 0, 0],
        f"{kind}_treeids": [0] * 3,
        f"{kind}_nodeids": [2, 3, 4],
        f"{kind}_ids": [0, 0, 0],
        f"{kind}_weights": [-3.0, -0.4, 2.0],
    }
    if kind == "class":
        fields |= {"classlabels_int64s": [10, 20], "post_transform": "NONE"}
    name = {"class": "TreeEnsembleClassifier", "target": "TreeEnsembleRegressor"}[kind]
    outputs = ["l", "p"] if kind == "class" else ["v"]
    return node(name, ["x"], outputs, domain="ai.onnx.ml", **(fields | change))


def typed(**kinds: int) -> Callable[[Any], None]:
    """Outputs of these types, of one axis where they are labels."""

    def change(model: Any) -> None:
        for value in model.graph.output:
            if value.name in kinds:
                value.CopyFrom(helper.make_tensor_value_info(value.name, kinds[value.name], [None]))

    return change


LABEL = typed(l=TensorProto.INT64, y=TensorProto.INT64)


def opset(model: Any) -> None:
    model.opset_import[0].version = 6


def named(name: str, *labels: Any) -> Any:
    fields: dict[str, Any] = {f"classlabels_{name}": labels}
    return node("ZipMap", ["p"], ["z"], domain="ai.onnx.ml", **fields)


def graph(*nodes: Any, change: Any = LABEL, outputs: Any = ("y",), **more: Any) -> bytes:
    return graph_bytes(list(nodes), constants=CONSTANTS | more, outputs=outputs, change=change)


REFUSED: dict[str, tuple[bytes, str]] = {
    "products of probabilities": (
        graph(
            trees(post_transform="LOGISTIC"),
            node("Mul", ["p", "b1"], ["y"]),
            b1=np.array([0.5], dtype=np.float32),
        ),
        r"operator Mul is not computed of what trees give and numbers of the file, or not with "
        r"these attributes; nearest: linear models, networks of Gemm or MatMul, trees, with "
        r"nothing behind their scores but what makes classes of them$",
    ),
    "softmax of an activation": (
        graph(DENSE, node("Relu", ["h"], ["r"]), node("Softmax", ["r"], ["y"])),
        "Softmax of activations",
    ),
    "labels as truth values": (
        graph(linear(), node("Cast", ["l"], ["y"], to=TensorProto.BOOL)),
        "operator Cast",
    ),
    "labels as texts": (
        graph(linear(), node("Cast", ["l"], ["y"], to=TensorProto.STRING)),
        "operator Cast",
    ),
    "labels as short numbers": (
        graph(linear(), node("Cast", ["l"], ["y"], to=TensorProto.UINT8)),
        "operator Cast",
    ),
    "probabilities as whole numbers": (
        graph(linear(), node("Cast", ["p"], ["y"], to=TensorProto.INT64)),
        "operator Cast",
    ),
    "numbers of trees as whole numbers": (
        graph(trees("target"), node("Cast", ["v"], ["y"], to=TensorProto.INT64)),
        "operator Cast",
    ),
    "numbers of trees normalised": (
        graph(
            trees("target"),
            node("Normalizer", ["v"], ["y"], norm="L1", domain="ai.onnx.ml"),
        ),
        "operator Normalizer",
    ),
    "a row of labels for all": (
        graph(linear(), node("Reshape", ["l", "s"], ["y"]), s=np.array([1, -1])),
        "operator Reshape",
    ),
    "all probabilities in a row": (
        graph(linear(), node("Flatten", ["p"], ["y"], axis=0), change=lambda _: None),
        "operator Flatten",
    ),
    "another row than columns": (
        graph(
            linear(classlabels_ints=[0, 1], coefficients=[1, 2, 3.0], intercepts=[0.0]),
            node("Gather", ["p", "i"], ["y"]),
            change=lambda _: None,
            i=np.array([1]),
        ),
        "operator Gather",
    ),
    "labels in a column": (
        graph(
            DENSE,
            node("ArgMax", ["h"], ["a"], axis=1, keepdims=0),
            node("ArrayFeatureExtractor", ["n", "a"], ["y"], domain="ai.onnx.ml"),
            n=np.array([[7], [8], [9]]),
        ),
        "operator ArrayFeatureExtractor",
    ),
    "an operator of before": (
        graph(DENSE, node("Add", ["h", "b"], ["y"]), change=opset),
        "before version 7",
    ),
    "other labels in two outputs": (
        graph(linear(), named("int64s", 5, 4, 3), outputs=("l", "z")),
        "different classes",
    ),
    "a class beyond two": (
        graph(trees(class_ids=[7, 7, 7]), outputs=("l", "p")),
        "trees of two classes",
    ),
    "both of two classes": (
        graph(trees(class_ids=[0, 1, 1]), outputs=("l", "p")),
        "trees of two classes",
    ),
    "the second of two classes from a number on": (
        graph(trees(class_ids=[1, 1, 1], base_values=[1.5]), outputs=("l", "p")),
        "trees of two classes",
    ),
    "classes that leaves leave out": (
        graph(trees(class_ids=[0, 1, 2], classlabels_int64s=[1, 2, 3]), outputs=("l", "p")),
        "leave out classes",
    ),
    "a name that arrays cut": (
        graph(
            DENSE,
            node("ArgMax", ["h"], ["a"], axis=1, keepdims=0),
            node("Gather", ["n", "a"], ["y"]),
            n=np.array(["a", "b", "c\0"], dtype=object),
            change=typed(y=TensorProto.STRING),
        ),
        "a name that is too long",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_runtimes_compute_otherwise_is_refused(name: str) -> None:
    data, words = REFUSED[name]
    for verify in (False, True):
        with pytest.raises((hesc.ParameterError, hesc.WireError), match=words):
            read(data, verify=verify)


READ = {
    "labels as shorter numbers": graph(
        linear(), node("Cast", ["l"], ["y"], to=TensorProto.INT32), change=typed(y=6)
    ),
    "probabilities in doubles": graph(
        linear(), node("Cast", ["p"], ["q"], to=TensorProto.DOUBLE), outputs=("l",)
    ),
    "labels in a column": graph(
        linear(),
        node("Reshape", ["l", "s"], ["y"]),
        change=lambda model: model.graph.output[0].CopyFrom(
            helper.make_tensor_value_info("y", TensorProto.INT64, [None, 1])
        ),
        s=np.array([-1, 1]),
    ),
    "the second of two classes": graph(trees(class_ids=[1, 1, 1]), outputs=("l", "p")),
    "the second under the first one's number": graph(
        trees(base_values=[0.5], post_transform="LOGISTIC"), outputs=("l", "p")
    ),
}


@pytest.mark.parametrize("name", READ)
def test_what_they_compute_alike_is_read(name: str) -> None:
    found, runtime = read(READ[name], verify=True), session(READ[name])
    rows = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    labels = runtime.run(None, {"x": rows})[0].reshape(-1)
    assert np.array_equal(concluded(found, rows), labels)


def test_a_softmax_of_two_opposite_scores_is_a_sigmoid_of_their_difference() -> None:
    both = [1.0, -2, 3, -1, 2, -3]
    data = graph(
        linear(classlabels_ints=[0, 1], coefficients=both, intercepts=[0.5, -0.5]),
        outputs=("l", "p"),
    )
    found = read(data, verify=True)
    rows = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    shares = probabilities(found.link, found.scores(rows.astype(np.float64))[:, 0])
    expected = session(data).run(None, {"x": rows})[1]
    assert shares == pytest.approx(expected, abs=1e-5)


def test_small_files_make_no_large_numbers() -> None:
    """Outer products and thousands of copies take memory that the file's length does not have."""
    wide = np.ones((3000, 1), np.float32)
    outer = [node("MatMul", ["x", "c"], ["g"]), node("MatMul", ["g", "r"], ["y"])]

    def widened(model: Any) -> None:
        model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 6000

    data = graph(*outer, c=np.repeat(wide, 2, axis=0), r=wide.T.copy(), change=widened)
    with pytest.raises(hesc.ParameterError, match="6000 numbers"):
        read(data, verify=False)
    copies = [node("Mul", [f"h{n}" if n else "h", "k"], [f"h{n + 1}"]) for n in range(1500)]
    first = node("MatMul", ["x", "a"], ["h"])
    matrix = np.ones((3, 1 << 14), np.float32)
    data = graph(first, *copies, a=matrix, k=np.float32(1.01), outputs=("h1500",))
    with pytest.raises(hesc.WireError, match="more numbers than its length"):
        read(data, verify=False)


def test_numbers_that_overflow_are_no_weights() -> None:
    """By an error of hesc's, and no warning of numpy's."""
    matrix = np.full((3, 3), 1e308)
    nodes = [node("MatMul", ["x", "m"], ["h"]), node("MatMul", ["h", "m"], ["y"])]
    with pytest.raises(hesc.OutOfRangeError):
        read(graph(*nodes, m=matrix, change=lambda _: None), verify=False)


def session(data: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def concluded(found: Any, rows: Any) -> Any:
    scores = found.scores(rows.astype(np.float64))
    return predictions(found.classes, scores[:, 0] if scores.shape[1] == 1 else scores)


def lying(model: Any, rng: np.random.Generator) -> None:
    """A whole attribute that is another one: what was written for another runtime, or by a liar."""
    here = model.graph.node[rng.integers(len(model.graph.node))]
    attributes = {attribute.name: attribute for attribute in here.attribute}
    kind = rng.integers(5)
    if kind == 0 and here.op_type.startswith("TreeEnsemble"):
        if "base_values" in attributes:
            here.attribute.remove(attributes["base_values"])
        numbers = rng.normal(size=rng.choice([1, 2, 3])).tolist()
        here.attribute.append(helper.make_attribute("base_values", numbers))
    elif kind == 1 and "post_transform" in attributes:
        kinds = [b"NONE", b"LOGISTIC", b"SOFTMAX", b"SOFTMAX_ZERO", b"PROBIT"]
        attributes["post_transform"].s = kinds[rng.integers(5)]
    elif kind == 2:
        for name in attributes.keys() & {"class_weights", "coefficients"}:
            floats = attributes[name].floats
            floats[:] = [number * rng.choice([-1, 1]) for number in floats]
    elif kind == 3 and "class_ids" in attributes:
        ids = attributes["class_ids"].ints
        ids[rng.integers(len(ids))] = int(rng.integers(3))
    elif "nodes_modes" in attributes:
        others = [b"BRANCH_LT", b"BRANCH_GT", b"BRANCH_GTE", b"BRANCH_LEQ"]
        modes = attributes["nodes_modes"].strings
        modes[:] = [m if m == b"LEAF" else others[rng.integers(4)] for m in modes]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_whatever_is_read_has_the_runtime_s_labels() -> None:
    """Lies of one or two attributes, on rows that the reader never saw."""
    rng = np.random.default_rng(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        files = [written(model.fit(X, Y)) for model in (TREES[1], TREES[3], NETWORKS[0])]
        two = [TREES[0], TREES[3]]
        files += [written(model.fit(X, TWO.astype(np.int64))) for model in two]
    rows = X + rng.normal(size=X.shape)
    taken = 0
    for turn in range(500):
        model = onnx.ModelProto.FromString(files[turn % len(files)])
        for _ in range(int(rng.integers(1, 3))):
            (lying if rng.random() < 0.7 else disturbed)(model, rng)
        data = model.SerializeToString()
        try:
            found = read(data, verify=False)
            outputs = session(data).run(None, {"X": rows.astype(np.float32)})
        except hesc.HescError:
            continue
        # Of files that the runtime itself refuses nothing follows; its errors have no common class.
        except Exception:  # noqa: S112
            continue
        labels = np.asarray(outputs[0])
        if found.classes is None or labels.dtype.kind not in "iO" or labels.size != len(rows):
            continue
        taken += 1
        same = concluded(found, rows.astype(np.float32)) == labels.reshape(-1)
        # But for scores that are as close to each other as roundings are.
        assert same.mean() > 0.98, turn
    assert taken > 100


def test_the_check_survives_any_output() -> None:
    """What a file gives may have any shape and type: it agrees, or it is refused."""
    from hesc.models.onnx import checks, graphs, onnx_files

    data = graph(linear(), outputs=("l", "p"))
    given = onnx_files.read(data)
    model = graphs.described(given)
    rows = 200
    strange: list[Any] = [
        np.zeros(()),
        np.zeros(0),
        np.zeros(7),
        np.zeros((rows, 0)),
        np.zeros((rows, 2)),
        np.zeros((1, 3 * rows)),
        np.zeros((rows, 3, 1)),
        np.zeros((rows, 3), dtype=bool),
        np.full((rows, 3), np.nan),
        np.zeros((rows, 3)),
        np.full(rows, "3"),
        [{7: 0.5}] * rows,
        [],
        ["3"] * rows,
    ]

    class Fake:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def run(self, *_: Any) -> list[Any]:
            return self.answer

        answer: list[Any]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("onnxruntime.InferenceSession", Fake)
        for answer in strange:
            Fake.answer = [answer]
            with pytest.raises(hesc.ParameterError, match="something else"):
                checks.check(given, model)


def test_constants_are_shared_and_stay_as_they_are() -> None:
    nodes = [
        node("MatMul", ["x", "w"], ["g"]),
        node("Mul", ["g", "b"], ["m"]),
        node("MatMul", ["m", "w"], ["n"]),
        node("Add", ["n", "b"], ["y"]),
    ]
    found = read(graph(*nodes, change=lambda _: None), verify=True)
    rows = np.random.default_rng(1).normal(size=(9, 3))
    b = CONSTANTS["b"]
    assert found.scores(rows) == pytest.approx((rows @ SQUARE * b) @ SQUARE + b)
    assert numpy_helper.to_array(numpy_helper.from_array(W)).tolist() == W.tolist()
    assert B.tolist() == [1, 1]

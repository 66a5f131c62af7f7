"""ONNX files as PyTorch, LightGBM's and CatBoost's exporters write them, against onnxruntime.

Graphs are made by hand, operator by operator as torch.onnx writes them.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestRegressor, VotingRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.tree import DecisionTreeRegressor

import hesc
from hesc.ml import (
    Network,
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateMLPRegressor,
    PrivateRegressor,
    Scores,
    load_onnx,
)
from hesc.models.conclusions import probabilities
from hesc.models.layers import STEEPEST, DenseNetwork, activated, is_proportional, leaky, steepest
from hesc.models.onnx import read
from hesc.models.trees import TreeEnsemble
from hesc.protocols.networks.fits import farthest, fitted
from tests.test_ml_onnx import disturbed
from tests.test_ml_onnx_lies import trees

if TYPE_CHECKING:
    from collections.abc import Sequence

node = helper.make_node
RNG: Final = np.random.default_rng(3)
FEATURES: Final = 5
ROWS: Final = RNG.normal(size=(200, FEATURES))


class Torch:
    """A graph of `nn.Sequential`, named as torch.onnx names it."""

    def __init__(self, *, opset: int = 17, batch: str | int = "batch") -> None:
        self.nodes: list[Any] = []
        self.weights: dict[str, Any] = {}
        self.width, self.last = FEATURES, "input"
        self.opset, self.batch = opset, batch
        self.rng = np.random.default_rng(5)

    def add(self, operator: str, *inputs: str, **options: Any) -> str:
        name = f"/{operator}_{len(self.nodes)}_output_0"
        self.nodes.append(node(operator, list(inputs), [name], **options))
        self.last = name
        return name

    def constant(self, value: Any) -> str:
        name = f"/Constant_{len(self.nodes)}_output_0"
        tensor = numpy_helper.from_array(np.asarray(value, np.float32))
        self.nodes.append(node("Constant", [], [name], value=tensor))
        return name

    def numbers(self, *shape: int, low: float = -1.0, high: float = 1.0) -> str:
        name = f"{len(self.weights)}.weight"
        self.weights[name] = self.rng.uniform(low, high, shape).astype(np.float32)
        return name

    def linear(self, width: int) -> Torch:
        inputs = self.last, self.numbers(width, self.width), self.numbers(width)
        self.add("Gemm", *inputs, alpha=1.0, beta=1.0, transB=1)
        self.width = width
        return self

    def norm(self) -> Torch:
        parts = [self.numbers(self.width) for _ in range(3)]
        variance = self.numbers(self.width, low=0.5, high=2.0)
        options = {"epsilon": 1e-5, "momentum": 0.9, "training_mode": 0}
        self.add("BatchNormalization", self.last, *parts, variance, **options)
        return self

    def act(self, kind: str) -> Torch:
        x = self.last
        if kind == "silu":
            self.add("Mul", x, self.add("Sigmoid", x))
        elif kind == "gelu":
            root = self.constant(2**0.5)
            erf = self.add("Erf", self.add("Div", x, root))
            one = self.constant(1.0)
            product = self.add("Mul", x, self.add("Add", erf, one))
            half = self.constant(0.5)
            self.add("Mul", product, half)
        elif kind == "leaky_relu":
            self.add("LeakyRelu", x, alpha=0.01)
        else:
            self.add({"relu": "Relu", "tanh": "Tanh", "logistic": "Sigmoid"}[kind], x)
        return self

    def bytes(self, *, widths: Sequence[int | None] | None = None) -> bytes:
        x = helper.make_tensor_value_info("input", TensorProto.FLOAT, [self.batch, FEATURES])
        shape = [self.batch, self.width] if widths is None else widths
        y = helper.make_tensor_value_info(self.last, TensorProto.FLOAT, shape)
        tensors = [numpy_helper.from_array(value, name) for name, value in self.weights.items()]
        graph = helper.make_graph(self.nodes, "main_graph", [x], [y], tensors)
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        onnx.checker.check_model(model)
        data: bytes = model.SerializeToString()
        return data


def run(data: bytes, rows: Any = ROWS) -> Any:
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    return session.run(None, {"input": rows.astype(np.float32)})[0]


KINDS: Final = ("relu", "leaky_relu", "tanh", "logistic", "silu", "gelu")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layers", [1, 2])
def test_logits_with_classes_that_the_caller_names(kind: str, layers: int) -> None:
    """A network as PyTorch exports it ends in sums; no class has a name."""
    torch = Torch()
    for _ in range(layers):
        torch.linear(6).act(kind)
    data = torch.linear(3).bytes()
    found = read(data, verify=True, classes=["a", "b", "c"])
    assert isinstance(found.model, DenseNetwork)
    assert [layer.activation for layer in found.model.layers[:-1]] == [kind] * layers
    assert found.classes is not None
    assert (found.classes.tolist(), found.link) == (["a", "b", "c"], "softmax")
    assert found.scores(ROWS) == pytest.approx(run(data), abs=1e-5)
    assert read(data).classes is None
    assert isinstance(load_onnx(data, classes="abc"), PrivateMLPClassifier)
    assert isinstance(load_onnx(data), PrivateMLPRegressor)


def test_two_classes_of_one_logit_or_of_two() -> None:
    one = Torch().linear(4).act("relu").linear(1).bytes()
    found = read(one, verify=True, classes=[False, True])
    assert (found.model.outputs, found.link) == (1, "sigmoid")
    two = Torch().linear(4).act("relu").linear(2).bytes()
    both = read(two, verify=True, classes=[7, 9])
    assert (both.model.outputs, both.link) == (1, "sigmoid")
    logits = run(two)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares = powers / powers.sum(axis=1, keepdims=True)
    assert probabilities("sigmoid", both.scores(ROWS)[:, 0]) == pytest.approx(shares, abs=1e-5)


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (["a", "b"], "classes= are 3"),
        (["a", "a", "b"], "each another"),
        ([["a"], "b", "c"], "each another"),
        (["a", "b", "\n" * 2000], "names or numbers"),
    ],
)
def test_classes_that_are_none(classes: list[Any], words: str) -> None:
    data = Torch().linear(4).act("relu").linear(3).bytes()
    with pytest.raises(hesc.ParameterError, match=words):
        read(data, verify=False, classes=classes)


def test_classes_that_a_file_names_itself() -> None:
    torch = Torch().linear(3)
    torch.add("Softmax", torch.last, axis=1)
    data = torch.bytes()
    found = read(data, verify=True, classes=["x", "y", "z"])
    assert found.classes is not None
    assert (found.classes.tolist(), found.link) == (["x", "y", "z"], "softmax")
    private: Any = load_onnx(data, classes=["x", "y", "z"])
    private.plan(ROWS, Scores(max_error=1e-3))
    assert isinstance(private, PrivateClassifier)
    named = lightgbm_s(zipmap=False)
    with pytest.raises(hesc.ParameterError, match="names its classes itself"):
        read(named, verify=False, classes=["x", "y"])
    assert read(named, verify=False, classes=[10, 20]).classes is not None


def test_batch_normalization_is_part_of_the_layer_before() -> None:
    """Behind an activation it is part of the layer that follows, and alone a scaler."""
    before = Torch().linear(6).norm().act("relu").linear(3)
    behind = Torch().linear(6).act("relu").norm().linear(3)
    first = Torch().norm().linear(6).act("tanh").linear(2)
    for torch in (before, behind, first):
        data = torch.bytes()
        found = read(data, verify=True)
        assert isinstance(found.model, DenseNetwork)
        assert len(found.model.layers) == 2
        assert not found.steps
        assert found.scores(ROWS) == pytest.approx(run(data), abs=1e-5)


def test_dropout_and_flatten_change_nothing() -> None:
    torch = Torch()
    torch.add("Flatten", torch.last, axis=1)
    torch.linear(4).act("relu")
    torch.add("Dropout", torch.last)
    data = torch.linear(2).bytes()
    assert read(data, verify=True).scores(ROWS) == pytest.approx(run(data), abs=1e-5)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_as_one_operator(approximate: str) -> None:
    torch = Torch(opset=20).linear(4)
    torch.add("Gelu", torch.last, approximate=approximate)
    data = torch.linear(2).bytes()
    found = read(data, verify=True)
    assert found.scores(ROWS) == pytest.approx(run(data), abs=1e-5)


def test_batches_of_one_and_of_more() -> None:
    """What torch.onnx.export writes without dynamic axes."""
    data = Torch(batch=1).linear(4).act("relu").linear(2).bytes()
    rows = np.concatenate([run(data, row) for row in ROWS[:, None]])
    assert read(data, verify=True).scores(ROWS) == pytest.approx(rows, abs=1e-5)
    with pytest.raises(hesc.ParameterError, match="dynamic_axes"):
        read(Torch(batch=8).linear(2).bytes())


def skipped() -> bytes:
    """A residual connection: two layers that do not stand behind the same operators."""
    torch = Torch().linear(4)
    before = torch.last
    torch.act("relu").linear(4)
    torch.add("Add", before, torch.last)
    return torch.linear(2).bytes()


def refused() -> dict[str, tuple[bytes, str]]:
    slopes, log, elu = Torch().linear(4), Torch().linear(3), Torch().linear(4)
    slopes.add("PRelu", slopes.last, slopes.numbers(4))
    log.add("LogSoftmax", log.last, axis=1)
    elu.add("Elu", elu.last)
    ending = Torch().linear(4).act("silu")
    erf, product, other = Torch().linear(4), Torch().linear(4), Torch().linear(4)
    erf.add("Erf", erf.last)
    # Sigmoids of something else gate nothing.
    before = product.last
    product.linear(4)
    product.add("Mul", before, product.add("Sigmoid", product.last))
    third = other.constant(1.5)
    other.add("Erf", other.add("Div", other.last, third))
    trained = Torch().linear(4)
    parts = [trained.numbers(4) for _ in range(4)]
    trained.add("BatchNormalization", trained.last, *parts, training_mode=0, epsilon=0.0)
    return {
        "several slopes": (slopes.linear(2).bytes(), "PRelu of several slopes"),
        "a sum of a layer and itself behind an activation": (skipped(), "operator Add"),
        "logarithms": (log.bytes(), "LogSoftmax.*classes="),
        "another activation": (elu.linear(2).bytes(), "Elu.*GELU"),
        "an activation last": (ending.bytes(), "leave it off"),
        "half of GELU": (erf.bytes(), "Erf.*as PyTorch writes it"),
        "a gate of another layer": (product.bytes(), "operator Mul"),
        "Erf of something else": (other.bytes(), "operator Erf"),
        "negative variances": (trained.bytes(), "negative variances"),
    }


@pytest.mark.parametrize("name", refused())
def test_refusals_name_the_reason(name: str) -> None:
    data, words = refused()[name]
    with pytest.raises((hesc.ParameterError, hesc.OutOfRangeError), match=words):
        read(data, verify=False)


@pytest.mark.parametrize("alpha", [0.3, -0.5, 1.5])
@pytest.mark.parametrize("operator", ["LeakyRelu", "PRelu"])
def test_slopes_below_zero_are_any(operator: str, alpha: float) -> None:
    """PReLU of PyTorch has learnt one for all units."""
    torch = Torch().linear(6)
    if operator == "PRelu":
        torch.add(operator, torch.last, torch.constant(alpha))
    else:
        torch.add(operator, torch.last, alpha=alpha)
    data = torch.linear(3).bytes()
    found = read(data, verify=True)
    assert found.scores(ROWS) == pytest.approx(run(data), abs=1e-5)
    private: Any = load_onnx(data)
    plan = private.plan(ROWS, Network(max_error=1.0))
    scores = private.run(ROWS[:50], clip=True).scores
    assert np.sqrt(((scores - private.predict(ROWS[:50])) ** 2).mean()) < 2 * plan.error


@pytest.mark.parametrize("kind", [*sorted(STEEPEST), leaky(0.3), leaky(-1.5)])
def test_slopes_are_no_steeper_than_said(kind: str) -> None:
    """And fits are no farther than said, in any width."""
    x = np.linspace(-20, 20, 400_001)
    values = activated(kind, x)
    assert np.abs(np.diff(values) / np.diff(x)).max() <= steepest(kind) * (1 + 1e-9)
    if is_proportional(kind):
        assert activated(kind, 3 * x) == pytest.approx(3 * values)
    fit = fitted(kind, 6.0, np.linspace(-0.5, 0.5, 100), 3)
    v = np.linspace(-1, 1, 77_777)
    apart = np.abs(np.polynomial.polynomial.polyval(v, fit) - activated(kind, 6 * v)).max()
    assert apart <= farthest(kind, 6.0, fit)


@pytest.mark.parametrize("kind", ["leaky_relu", "silu", "gelu"])
def test_networks_of_pytorch_are_served(kind: str) -> None:
    data = Torch().linear(8).norm().act(kind).linear(3).bytes()
    private: Any = load_onnx(data, classes=["a", "b", "c"])
    plan = private.plan(ROWS, Network(max_error=0.3))
    found = private.run(ROWS[:50], clip=True)
    expected = private.decision_function(ROWS[:50])
    assert np.sqrt(((found.scores - expected) ** 2).mean()) < 2 * plan.error
    assert (found.predictions == private.predict(ROWS[:50])).mean() > 0.75


def test_two_hidden_layers_are_served_or_refused_with_the_reason() -> None:
    """Relu of degree two has room for a second layer; others name what would do."""
    two: Any = load_onnx(Torch().linear(8).act("relu").linear(6).act("relu").linear(2).bytes())
    plan = two.plan(ROWS, Network(max_error=1.5))
    assert np.abs(two.predict(ROWS[:20], fhe="execute") - two.predict(ROWS[:20])).max() < 5
    assert plan.error <= 1.5
    four = Torch()
    for _ in range(4):
        four.linear(8).act("silu")
    deep: Any = load_onnx(four.linear(2).bytes())
    with pytest.raises(hesc.NoiseBudgetError, match="take fewer layers"):
        deep.plan(ROWS, Network(max_error=1e-3))


# Trees as exporters of boosting libraries write them


def tree_graph(nodes: list[Any], outputs: dict[str, Any], **constants: Any) -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3])
    ys = [
        helper.make_tensor_value_info(name, kind, [None] if name == "l" else [None, None])
        for name, kind in outputs.items()
    ]
    tensors = [numpy_helper.from_array(np.asarray(v, np.float32), k) for k, v in constants.items()]
    graph = helper.make_graph(nodes, "g", [x], ys, tensors)
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 3)]
    data: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return data


def lightgbm_s(*, zipmap: bool) -> bytes:
    """onnxmltools: probabilities times one where it makes no mapping of them."""
    classifier = trees(post_transform="LOGISTIC")
    nodes = [
        classifier,
        node("Identity", ["l"], ["label1"]),
        node("Identity", ["label1"], ["label2"]),
        node("Cast", ["label2"], ["label"], to=TensorProto.INT64),
    ]
    if zipmap:
        ending = node("ZipMap", ["p"], ["z"], domain="ai.onnx.ml", classlabels_int64s=[10, 20])
        return tree_graph([*nodes, ending], {"label": TensorProto.INT64, "z": TensorProto.FLOAT})
    nodes.append(node("Mul", ["p", "one"], ["probabilities"]))
    outputs = {"label": TensorProto.INT64, "probabilities": TensorProto.FLOAT}
    return tree_graph(nodes, outputs, one=[1.0])


def test_lightgbm_s_products_and_casts() -> None:
    found = read(lightgbm_s(zipmap=False), verify=True)
    assert isinstance(found.model, TreeEnsemble)
    assert found.classes is not None
    assert (found.classes.tolist(), found.link) == ([10, 20], "sigmoid")
    other = read(lightgbm_s(zipmap=True), verify=False)
    rows = np.random.default_rng(0).normal(size=(50, 3))
    assert np.array_equal(found.scores(rows), other.scores(rows))


@pytest.mark.parametrize(
    ("operator", "number", "change"),
    [
        ("Mul", 0.25, lambda v: v * 0.25),
        ("Div", 4.0, lambda v: v / 4),
        ("Add", 2.5, lambda v: v + 2.5),
        ("Sub", 2.5, lambda v: v - 2.5),
    ],
)
def test_sums_of_trees_times_a_number(operator: str, number: float, change: Any) -> None:
    """A forest of LightGBM has means."""
    nodes = [trees("target", n_targets=1), node(operator, ["v", "n"], ["y"])]
    data = tree_graph(nodes, {"y": TensorProto.FLOAT}, n=[number])
    plain = tree_graph([trees("target", n_targets=1)], {"v": TensorProto.FLOAT})
    rows = np.random.default_rng(0).normal(size=(50, 3))
    found = read(data, verify=True)
    assert found.scores(rows) == pytest.approx(change(read(plain).scores(rows)))
    assert isinstance(load_onnx(data), PrivateRegressor)


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ([trees(post_transform="LOGISTIC"), node("Mul", ["p", "n"], ["y"])], "operator Mul"),
        ([trees("target", n_targets=1), node("Div", ["v", "zero"], ["y"])], "finite"),
        ([trees("target", n_targets=1), node("Div", ["n", "v"], ["y"])], "operator Div"),
    ],
)
def test_products_that_are_none_of_these(nodes: list[Any], words: str) -> None:
    data = tree_graph(nodes, {"y": TensorProto.FLOAT}, n=[0.5], zero=[0.0])
    with pytest.raises((hesc.ParameterError, hesc.OutOfRangeError), match=words):
        read(data, verify=False)


def test_catboost_s_two_classes_are_refused_with_what_reads_them() -> None:
    """Leaves of both classes, which runtimes do not agree about."""
    both = trees(class_ids=[0, 1, 0], post_transform="LOGISTIC")
    data = tree_graph([both], {"l": TensorProto.INT64, "p": TensorProto.FLOAT})
    with pytest.raises(hesc.ParameterError, match="load_booster"):
        read(data, verify=False)


def test_networks_that_lie_are_read_as_onnxruntime_computes_them() -> None:
    """One or two things of a file are others: it is refused, or says the same to both."""
    rng = np.random.default_rng(11)
    kinds = [Torch().linear(6).norm().act(kind).linear(5).norm().linear(3) for kind in KINDS]
    files, taken = [torch.bytes() for torch in kinds], 0
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    for turn in range(900):
        model = onnx.ModelProto.FromString(files[turn % len(files)])
        for _ in range(int(rng.integers(1, 3))):
            # Constants have no inputs that could be others.
            with suppress(ValueError):
                disturbed(model, rng)
        data = model.SerializeToString()
        try:
            found = read(data, verify=False)
        except hesc.HescError:
            continue
        rows = ROWS[:20, : found.inputs]
        try:
            session = onnxruntime.InferenceSession(
                data, options, providers=["CPUExecutionProvider"]
            )
            given = np.asarray(session.run(None, {"input": rows.astype(np.float32)})[0])
        # What the runtime refuses says nothing; its errors have no common class.
        except Exception:  # noqa: S112
            continue
        scores = found.scores(rows)
        if found.classes is None:
            taken += 1
            assert given.shape == scores.shape, turn
            assert given == pytest.approx(scores, rel=1e-3, abs=1e-3), turn
    assert taken > 50


def grown(name: str, values: list[float]) -> Any:
    """A regressor of trees, of one comparison."""
    return node(
        "TreeEnsembleRegressor",
        ["x"],
        [name],
        domain="ai.onnx.ml",
        n_targets=1,
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[0, 0, 0],
        nodes_values=[values[0], 0.0, 0.0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        target_treeids=[0, 0],
        target_nodeids=[1, 2],
        target_ids=[0, 0],
        target_weights=values[1:],
    )


TREES: Final = [grown("a", [0.25, 1.0, -2.0]), grown("b", [-0.5, 3.0, 4.5])]


@pytest.mark.parametrize("operator", ["Sum", "Mean", "Add"])
def test_sums_of_trees(operator: str) -> None:
    scaled = [node("Mul", ["a", "half"], ["c"]), node("Flatten", ["b"], ["d"])]
    nodes = [*TREES, *scaled, node(operator, ["c", "d"], ["y"])]
    data = tree_graph(nodes, {"y": TensorProto.FLOAT}, half=[0.5])
    found = read(data, verify=True)
    assert isinstance(found.model, TreeEnsemble)
    assert len(found.model.roots) == 2
    rows = np.random.default_rng(0).normal(size=(50, 3))
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": rows.astype(np.float32)})
    assert found.scores(rows) == pytest.approx(expected, abs=1e-6)
    private: Any = load_onnx(data)
    plan = private.plan(rows, Scores(bins="thresholds", max_error=1e-2))
    assert np.abs(private.predict(rows, fhe="execute") - private.predict(rows)).max() < 1
    assert plan.fidelity is not None
    assert plan.fidelity.apart < 1e-9


def test_votes_of_regressors_as_skl2onnx_writes_them() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 3))
    for models in (
        [DecisionTreeRegressor(max_depth=1), RandomForestRegressor(3, max_depth=1)],
        [Ridge(), Lasso(0.1)],
    ):
        votes = VotingRegressor([(str(i), model) for i, model in enumerate(models)])
        votes.fit(rows, rows[:, 0] * 3 + rows[:, 1])
        found = read(to_onnx(votes, rows[:1].astype(np.float32)).SerializeToString(), verify=True)
        expected = votes.predict(rows)
        assert found.scores(rows)[:, 0] == pytest.approx(expected, abs=1e-5)


def test_sums_that_are_none_of_one_model_are_refused() -> None:
    moved = [node("Sub", ["x", "half"], ["z"]), node("Sum", ["a", "b"], ["y"])]
    other = grown("b", [0.0, 1.0, 2.0])
    other.input[0] = "z"
    data = tree_graph([TREES[0], moved[0], other, moved[1]], {"y": TensorProto.FLOAT}, half=[0.5])
    with pytest.raises(hesc.ParameterError, match=r"Sum is not computed .*same operators"):
        read(data, verify=False)
    data = tree_graph([TREES[0], node("Sum", ["a", "x"], ["y"])], {"y": TensorProto.FLOAT})
    with pytest.raises(hesc.ParameterError, match="Sum is not computed of"):
        read(data, verify=False)


def test_sums_of_sums_take_no_more_than_their_file_accounts_for() -> None:
    names = ["a", *(f"s{i}" for i in range(40))]
    sums = [node("Sum", [before] * 2, [after]) for before, after in pairwise(names)]
    data = tree_graph([TREES[0], *sums], {names[-1]: TensorProto.FLOAT})
    with pytest.raises(hesc.WireError, match="more numbers than its length accounts for"):
        read(data, verify=False)


def test_gemm_of_a_number_is_no_layer() -> None:
    nodes = [node("Gemm", ["x", "half", "half"], ["y"])]
    data = tree_graph(nodes, {"y": TensorProto.FLOAT}, half=0.5)
    with pytest.raises(hesc.WireError, match="Gemm takes a matrix"):
        read(data, verify=False)

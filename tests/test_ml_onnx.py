"""ONNX files: what skl2onnx writes, against scikit-learn and onnxruntime; damage and hostility."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import hesc
from hesc.ml import (
    PrivateClassifier,
    PrivateMLPClassifier,
    PrivateMLPRegressor,
    PrivateRegressor,
    Scores,
    load_onnx,
)
from hesc.models.layers import DenseNetwork
from hesc.models.onnx import read
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FLOWERS = load_iris(return_X_y=True)
PATIENTS = load_diabetes(return_X_y=True)
# As the files see them, so that both sides decide about the same numbers.
X, Y = FLOWERS[0].astype(np.float32).astype(np.float64), FLOWERS[1]
XR, YR = PATIENTS[0].astype(np.float32).astype(np.float64), PATIENTS[1]
TWO = Y > 0


def written(model: Any, x: Any = X, **options: Any) -> bytes:
    """What skl2onnx makes of a fitted model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from skl2onnx import to_onnx

        data: bytes = to_onnx(model, x[:1].astype(np.float32), **options).SerializeToString()
    return data


LINEAR: list[Any] = [
    LogisticRegression(),
    make_pipeline(StandardScaler(), LogisticRegression()),
    make_pipeline(MaxAbsScaler(), RobustScaler(), PCA(2), LogisticRegression()),
    make_pipeline(SimpleImputer(), MinMaxScaler(), RidgeClassifier()),
    RidgeClassifier(),
]
TREES: list[Any] = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(5, random_state=0),
    ExtraTreesClassifier(5, random_state=0),
    GradientBoostingClassifier(n_estimators=5, random_state=0),
]
NETWORKS: list[Any] = [
    MLPClassifier((5, 3), max_iter=20, random_state=0),
    MLPClassifier((5,), max_iter=20, activation="tanh", random_state=0),
    make_pipeline(
        StandardScaler(), MLPClassifier((4,), max_iter=20, activation="logistic", random_state=0)
    ),
]
REGRESSORS: list[Any] = [
    LinearRegression(),
    Lasso(),
    make_pipeline(StandardScaler(), Ridge()),
    DecisionTreeRegressor(random_state=0),
    RandomForestRegressor(5, random_state=0),
    GradientBoostingRegressor(n_estimators=5, random_state=0),
    MLPRegressor(hidden_layer_sizes=(5, 4), max_iter=20, random_state=0),
]


def name(model: Any) -> str:
    steps = getattr(model, "steps", [("", model)])
    return "-".join(type(step).__name__ for _, step in steps)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("zipmap", [False, True])
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("model", [*LINEAR, *TREES, *NETWORKS], ids=name)
def test_classifiers_are_those_of_scikit_learn(model: Any, two: bool, zipmap: bool) -> None:
    """Classes of all rows, and probabilities up to float32 weights; onnxruntime agrees on load."""
    y = TWO if two else Y
    model.fit(X, y.astype(np.int64))
    ridge = isinstance(getattr(model, "steps", [("", model)])[-1][1], RidgeClassifier)
    options = {} if zipmap or ridge else {"options": {"zipmap": False}}
    found = read(written(model, **options), verify=True)
    assert found.classes is not None
    scores = found.scores(X)
    assert scores.shape == (len(X), 1 if two else 3)
    best = (scores[:, 0] > 0).astype(int) if two else scores.argmax(axis=1)
    assert (found.classes[best] == model.predict(X)).mean() > 0.99
    if found.link != "none":
        from hesc.models.conclusions import probabilities

        shares = probabilities(found.link, scores[:, 0] if two else scores)
        assert shares == pytest.approx(model.predict_proba(X), abs=1e-4)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", REGRESSORS, ids=name)
def test_regressors_are_those_of_scikit_learn(model: Any) -> None:
    model.fit(XR, YR)
    found = read(written(model, XR), verify=True)
    assert found.classes is None
    assert found.scores(XR)[:, 0] == pytest.approx(model.predict(XR), rel=1e-4, abs=1e-4)


def test_texts_are_classes_and_columns_have_names() -> None:
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType

    texts = np.array(["a", "b", "c"])[Y]
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, texts)
    columns = [(f"x{i}", FloatTensorType([None, 1])) for i in range(4)]
    given = to_onnx(model, initial_types=columns, options={"zipmap": False})
    found = read(given.SerializeToString(), verify=True)
    assert found.names == ["x0", "x1", "x2", "x3"]
    assert found.classes is not None
    assert found.classes.tolist() == ["a", "b", "c"]


def test_which_estimator_comes_out(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(written(RidgeClassifier().fit(X, Y)))
    assert type(load_onnx(path)) is type(load_onnx(str(path))) is PrivateClassifier
    assert type(load_onnx(written(Ridge().fit(XR, YR), XR))) is PrivateRegressor
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        network = MLPClassifier((4,), max_iter=5).fit(X, Y)
        numbers = MLPRegressor(hidden_layer_sizes=(4,), max_iter=5).fit(XR, YR)
        linear = MLPClassifier((4, 4), activation="identity", max_iter=5).fit(X, Y)
    assert type(load_onnx(written(network))) is PrivateMLPClassifier
    assert type(load_onnx(written(numbers, XR))) is PrivateMLPRegressor
    # Layers without activations are one matrix, for ring products.
    assert type(load_onnx(written(linear))) is PrivateClassifier
    assert type(load_onnx(written(DecisionTreeClassifier().fit(X, Y)))) is PrivateClassifier
    assert type(load_onnx(written(DecisionTreeRegressor().fit(XR, YR), XR))) is PrivateRegressor


def test_a_linear_model_from_a_file_is_served() -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    private = load_onnx(written(model))
    assert isinstance(private, PrivateClassifier)
    private.plan(X, Scores(ranges=(0, 10)))
    assert (private.predict(X, fhe="execute") == model.predict(X)).mean() > 0.98
    assert private.predict_proba(X) == pytest.approx(model.predict_proba(X), abs=1e-5)
    with pytest.raises(hesc.ParameterError, match="comes fitted"):
        private.fit(X, Y)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (make_pipeline(Normalizer(), RidgeClassifier()), "Normalizer.*client can apply"),
        (make_pipeline(PolynomialFeatures(2), RidgeClassifier()), "ArrayFeatureExtractor"),
        (SGDClassifier(loss="log_loss"), "Exp.*raw_scores"),
    ],
)
def test_refusals_name_the_operator_and_what_is_near(model: Any, words: str) -> None:
    with pytest.raises(hesc.ParameterError, match=words):
        read(written(model.fit(X, Y)))


STUMPS = GradientBoostingClassifier(max_depth=1, n_estimators=12, random_state=0)


@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("scaled", [False, True])
def test_stumps_from_a_file_are_served(two: bool, scaled: bool) -> None:
    """Probabilities are onnxruntime's within the plan's error, at thresholds as well.

    Behind a scaler, which a file applies in float32, rows on thresholds may go either way.
    """
    import onnxruntime

    model = make_pipeline(StandardScaler(), clone(STUMPS)) if scaled else clone(STUMPS)
    model.fit(X, (TWO if two else Y).astype(np.int64))
    data = written(model, options={"zipmap": False})
    private = load_onnx(data, verify=True)
    assert isinstance(private, PrivateClassifier)
    plan = private.plan(X, Scores(bins="thresholds", max_error=1e-4))
    assert plan.fidelity is not None
    assert plan.fidelity.apart < 1e-9
    rows = X
    if not scaled:
        trees = read(data).model
        assert isinstance(trees, TreeEnsemble)
        inner = np.flatnonzero(~trees.leaves)
        rows = np.repeat(X[:2], len(inner), axis=0)
        rows[np.arange(len(rows)), np.tile(trees.features[inner], 2)] = np.concatenate(
            [trees.thresholds[inner], np.nextafter(trees.thresholds[inner], np.inf)]
        )
        rows = np.concatenate([X, rows])
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    classes, shares = session.run(None, {"X": rows.astype(np.float32)})
    found = private.predict_proba(rows, fhe="execute")
    # A share changes by half as much as a score does, at most; float32 has seven digits.
    assert np.abs(found - shares).max() < 7 * plan.error + 1e-5
    margin = np.diff(np.sort(shares, axis=1)[:, -2:]).ravel()
    same = private.predict(rows, fhe="execute") == classes
    assert same[margin > 14 * plan.error + 1e-5].all()


def test_deeper_trees_from_a_file_are_fitted_again_or_refused() -> None:
    model = RandomForestClassifier(20, random_state=0).fit(X, Y)
    private: Any = load_onnx(written(model))
    with pytest.raises(hesc.ParameterError, match=r"trees of this model .*refit='additive'"):
        private.plan(X, Scores())
    plan = private.plan(X, Scores(refit="additive", min_fidelity=0.8))
    assert plan.fidelity.unseen
    same = private.predict(X, fhe="execute") == model.predict(X)
    assert same.mean() > plan.fidelity.share - 0.1
    numbers: Any = load_onnx(written(RandomForestRegressor(9, max_depth=1).fit(XR, YR), XR))
    plan = numbers.plan(XR, Scores(bins="thresholds"))
    assert np.abs(numbers.predict(XR, fhe="execute") - numbers.predict(XR)).max() < 7 * plan.error


# Trees and the precision of features


def test_rows_at_thresholds_go_where_onnxruntime_sends_them() -> None:
    import onnxruntime

    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 3)).astype(np.float32).astype(np.float64)
    data = written(DecisionTreeRegressor(random_state=0).fit(x, rng.normal(size=400)), x)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = read(data).model
    assert isinstance(found, TreeEnsemble)
    inside = np.flatnonzero(~found.leaves)
    rows = x[rng.integers(0, 400, 3 * len(inside))]
    steps = (-np.inf, np.inf)
    for place, node in enumerate(np.repeat(inside, 3)):
        near = np.float32(found.thresholds[node])
        number = near if place % 3 == 2 else np.nextafter(near, np.float32(steps[place % 3]))
        rows[place, found.features[node]] = number
    expected = session.run(None, {"X": rows.astype(np.float32)})[0]
    assert np.array_equal(found.scores(rows).astype(np.float32), expected)


# Files made by hand


def graph_bytes(
    nodes: list[Any],
    *,
    constants: dict[str, Any] | None = None,
    outputs: tuple[str, ...] = ("y",),
    change: Callable[[Any], None] = lambda _: None,
) -> bytes:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 3])
    ys = [helper.make_tensor_value_info(y, TensorProto.FLOAT, [None, None]) for y in outputs]
    tensors = [
        numpy_helper.from_array(np.asarray(value), name)
        for name, value in (constants or {}).items()
    ]
    graph = helper.make_graph(nodes, "g", [x], ys, tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    change(model)
    data: bytes = model.SerializeToString()
    return data


def gemm(**options: Any) -> Any:
    return helper.make_node("Gemm", ["x", "w", "b"], ["y"], **options)


W = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.ones(2, dtype=np.float32)


def test_a_network_as_others_export_it() -> None:
    """Gemm with all its options, squares by both operators, scaling of what an activation gives."""
    nodes = [
        helper.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1, alpha=0.5, beta=2.0),
        helper.make_node("Mul", ["h", "h"], ["s"]),
        helper.make_node("Mul", ["s", "k"], ["t"]),
        helper.make_node("MatMul", ["t", "v"], ["m"]),
        helper.make_node("Pow", ["m", "two"], ["p"]),
        helper.make_node("Gemm", ["p", "u"], ["y"], transB=1),
    ]
    v, k = np.array([[1.0, -1], [0.5, 2]], np.float32), np.array([0.25, 3], np.float32)
    u, two = np.array([[1.0, -2]], np.float32), np.array(2.0, np.float32)
    data = graph_bytes(nodes, constants={"w": W, "b": B, "k": k, "v": v, "two": two, "u": u})
    found = read(data, verify=True)
    assert isinstance(found.model, DenseNetwork)
    assert [layer.activation for layer in found.model.layers] == ["square", "square", "identity"]
    x = np.random.default_rng(0).normal(size=(5, 3))
    expected = ((((0.5 * x @ W.T + 2 * B) ** 2 * k) @ v) ** 2) @ u.T
    assert found.scores(x) == pytest.approx(expected)
    assert type(load_onnx(data)) is PrivateMLPRegressor


def test_opaque_ends_are_refused() -> None:
    for operator in ("Relu", "Sigmoid"):
        nodes = [
            helper.make_node("Gemm", ["x", "w", "b"], ["h"], transB=1),
            helper.make_node(operator, ["h"], ["y"]),
        ]
        with pytest.raises(hesc.ParameterError, match="ends in an activation"):
            read(graph_bytes(nodes, constants={"w": W, "b": B}))


def external(model: Any) -> None:
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "/etc/passwd"


def huge(model: Any) -> None:
    model.graph.initializer[0].dims[:] = [1 << 40, 1 << 40]


def larger(model: Any) -> None:
    model.graph.initializer[0].dims[:] = [1 << 12, 1 << 13]


def wide(model: Any) -> None:
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 1 << 40


def branches(model: Any) -> None:
    inner = helper.make_graph([], "inner", [], [])
    node = helper.make_node("If", ["x"], ["z"], then_branch=inner, else_branch=inner)
    model.graph.node.append(node)


def backwards(model: Any) -> None:
    model.graph.node[0].input[0] = "y"


def twice(model: Any) -> None:
    model.graph.node.append(model.graph.node[0])


def absent(model: Any) -> None:
    model.graph.node[0].input[1] = "nowhere"


def many(model: Any) -> None:
    for place in range(5000):
        model.graph.node.append(helper.make_node("Identity", ["x"], [f"i{place}"]))


def stranger(model: Any) -> None:
    model.graph.node[0].domain = "com.example"
    model.opset_import.append(helper.make_opsetid("com.example", 1))


def functions(model: Any) -> None:
    function = model.functions.add()
    function.name, function.domain = "f", "d"


@pytest.mark.parametrize(
    "change",
    [
        external,
        huge,
        larger,
        wide,
        branches,
        backwards,
        twice,
        absent,
        many,
        stranger,
        functions,
    ],
)
def test_hostile_files(change: Callable[[Any], None]) -> None:
    good = graph_bytes([gemm(transB=1)], constants={"w": W, "b": B})
    assert read(good).inputs == 3
    bad = graph_bytes([gemm(transB=1)], constants={"w": W, "b": B}, change=change)
    # Others are refused by protobuf, by the checker or here, whichever is first.
    words = "lie in other files" if change is external else None
    with pytest.raises((hesc.WireError, hesc.ParameterError), match=words):
        read(bad)


def paths_to_tensors(kind: Any, deep: int) -> Iterator[tuple[Any, ...]]:
    """Fields of a message, of what they hold, and so on to each place that a tensor may be in."""
    for field in kind.fields:
        if field.message_type is None:
            continue
        if field.message_type.name == "TensorProto":
            yield (field,)
        elif deep:
            for rest in paths_to_tensors(field.message_type, deep - 1):
                yield (field, *rest)


def test_no_tensor_anywhere_names_a_file_that_is_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The checker would look whether the file is there; what it says would tell."""
    monkeypatch.setattr(onnx.checker, "check_model", lambda _: pytest.fail("the checker ran"))
    good = onnx.load_from_string(graph_bytes([gemm(transB=1)], constants={"w": W, "b": B}))
    places = list(paths_to_tensors(onnx.ModelProto.DESCRIPTOR, 5))
    names = {".".join(field.name for field in path) for path in places}
    assert {"graph.initializer", "graph.node.attribute.sparse_tensor.indices"} <= names
    for path in places:
        model = onnx.ModelProto()
        model.CopyFrom(good)
        message: Any = model
        for field in path:
            held = getattr(message, field.name)
            many = isinstance(held, Sequence)
            message = (held[0] if len(held) else held.add()) if many else held
        message.name, message.data_type = message.name or "elsewhere", TensorProto.FLOAT
        message.ClearField("raw_data")
        message.data_location = TensorProto.EXTERNAL
        entry = message.external_data.add()
        entry.key, entry.value = "location", "secrets.bin"
        with pytest.raises(hesc.ParameterError):
            read(model.SerializeToString())


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_no_numbers(number: float) -> None:
    weights = W.copy()
    weights[0, 0] = number
    with pytest.raises(hesc.OutOfRangeError, match="this ONNX file has numbers"):
        read(graph_bytes([gemm(transB=1)], constants={"w": weights, "b": B}))


def tree(**change: Any) -> bytes:
    fields: dict[str, Any] = {
        "nodes_treeids": [0, 0, 0],
        "nodes_nodeids": [0, 1, 2],
        "nodes_featureids": [0, 0, 0],
        "nodes_values": [0.5, 0.0, 0.0],
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"],
        "nodes_truenodeids": [1, 0, 0],
        "nodes_falsenodeids": [2, 0, 0],
        "target_treeids": [0, 0],
        "target_nodeids": [1, 2],
        "target_ids": [0, 0],
        "target_weights": [1.0, 2.0],
        "n_targets": 1,
    }
    fields |= change
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **fields)
    return graph_bytes([node])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("BRANCH_LEQ", 1), ("BRANCH_LT", 2), ("BRANCH_GTE", 1), ("BRANCH_GT", 2)],
)
def test_every_comparison_at_its_threshold(mode: str, expected: float) -> None:
    found = read(tree(nodes_modes=[mode, "LEAF", "LEAF"]), verify=True)
    below, above = np.nextafter(np.float32(0.5), [-np.inf, np.inf], dtype=np.float32)
    rows = [[value, 0.0, 0.0] for value in (0.5, float(below), float(above))]
    ends = [1, 2] if "L" in mode else [2, 1]
    assert found.scores(np.array(rows))[:, 0].tolist() == [expected, *ends]


@pytest.mark.parametrize(
    "change",
    [
        {"nodes_truenodeids": [0, 0, 0]},
        {"nodes_truenodeids": [2, 0, 0]},
        {"nodes_truenodeids": [9, 0, 0]},
        {"nodes_nodeids": [0, 1, 1]},
        {"nodes_featureids": [7, 0, 0]},
        {"nodes_featureids": [-1, 0, 0]},
        {"nodes_values": [0.5]},
        {"nodes_values": [float("nan"), 0.0, 0.0]},
        {"nodes_modes": ["BRANCH_EQ", "LEAF", "LEAF"]},
        {"nodes_modes": ["LEAF"]},
        {"nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"], "nodes_truenodeids": [1, 1, 0]},
        {"target_ids": [0, 5]},
        {"target_nodeids": [0, 2]},
        {"target_weights": [float("inf"), 1.0]},
        {"target_weights": [1.0]},
        {"n_targets": 1 << 40},
        {"n_targets": 0},
        {"aggregate_function": "MAX"},
        {"post_transform": "PROBIT"},
        {"base_values": [1.0, 2.0, 3.0]},
    ],
    ids=str,
)
def test_trees_that_are_none(change: dict[str, Any]) -> None:
    with pytest.raises(hesc.HescError):
        read(tree(**change))


def test_a_chain_of_nodes_is_read_without_recursion() -> None:
    depth = 20_000
    nodes = 2 * depth + 1
    inside = np.arange(nodes) < depth
    # Node i leads to i + 1 and to a leaf of its own.
    true = np.where(inside, np.arange(nodes) + 1, 0)
    false = np.where(inside, nodes - 1 - np.arange(nodes), 0)
    data = tree(
        nodes_treeids=[0] * nodes,
        nodes_nodeids=list(range(nodes)),
        nodes_featureids=[0] * nodes,
        nodes_values=np.where(inside, -np.arange(nodes), 0).astype(float).tolist(),
        nodes_modes=["BRANCH_LEQ" if x else "LEAF" for x in inside],
        nodes_truenodeids=true.tolist(),
        nodes_falsenodeids=false.tolist(),
        target_treeids=[0],
        target_nodeids=[nodes - 1],
        target_ids=[0],
        target_weights=[1.0],
    )
    found = read(data, verify=False)
    assert found.scores(np.array([[1.0, 0, 0], [-3.0, 0, 0]]))[:, 0].tolist() == [1.0, 0.0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_random_damage() -> None:
    """Bytes changed, cut out, doubled or moved: an error of ours, or a model of finite numbers."""
    rng = np.random.default_rng(0)
    models = [LINEAR[2], TREES[3], NETWORKS[0]]
    files = [written(model.fit(X, Y)) for model in models]
    refused = 0
    for turn in range(1500):
        data = bytearray(files[turn % len(files)])
        for _ in range(int(rng.integers(1, 4))):
            first, last = sorted(rng.integers(0, len(data), 2))
            kind = turn // len(files) % 4
            if kind == 0:
                data[first] = rng.integers(256)
            elif kind == 1:
                data[first] ^= 1 << int(rng.integers(8))
            elif kind == 2:
                del data[first : min(last, first + 8)]
            else:
                data[last:last] = data[first : min(last, first + 8)]
        try:
            found = read(bytes(data), verify=False)
        except hesc.HescError:
            refused += 1
        else:
            scores = found.scores(np.zeros((1, found.inputs)))
            assert not np.isnan(scores).any()
    assert 300 < refused < 1500


STRANGE = [0, 1, -1, 2, 255, -(1 << 63), (1 << 63) - 1]


def disturbed(model: Any, rng: np.random.Generator) -> None:
    """One thing of a file that is well-formed otherwise: what a liar would write."""
    node = model.graph.node[rng.integers(len(model.graph.node))]
    kind = rng.integers(6)
    if kind == 0 and node.attribute:
        attribute = node.attribute[rng.integers(len(node.attribute))]
        numbers = next((f for f in (attribute.ints, attribute.floats) if len(f)), None)
        if numbers is None:
            attribute.i = int(rng.choice(STRANGE))
        else:
            numbers[rng.integers(len(numbers))] = int(rng.choice(STRANGE))
    elif kind == 1 and node.attribute:
        attribute = node.attribute[rng.integers(len(node.attribute))]
        for numbers in (attribute.ints, attribute.floats, attribute.strings):
            del numbers[len(numbers) // 2 :]
    elif kind == 2 and node.attribute:
        del node.attribute[rng.integers(len(node.attribute))]
    elif kind == 3:
        others = list({name for n in model.graph.node for name in (*n.input, *n.output)})
        node.input[rng.integers(len(node.input))] = others[rng.integers(len(others))]
    elif kind == 4:
        node.op_type = model.graph.node[rng.integers(len(model.graph.node))].op_type
    elif model.graph.initializer:
        tensor = model.graph.initializer[rng.integers(len(model.graph.initializer))]
        tensor.dims[:] = [int(x) for x in rng.choice([1, 2, 4, 5, 1 << 20, 0], rng.integers(4))]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_well_formed_lies() -> None:
    rng = np.random.default_rng(1)
    files = [written(model.fit(X, Y)) for model in (LINEAR[2], TREES[1], TREES[3], *NETWORKS[:2])]
    refused = 0
    for turn in range(1500):
        model = onnx.ModelProto.FromString(files[turn % len(files)])
        disturbed(model, rng)
        try:
            found = read(model.SerializeToString(), verify=False)
        except hesc.HescError:
            refused += 1
        else:
            assert not np.isnan(found.scores(np.zeros((1, found.inputs)))).any()
    assert 500 < refused < 1500


@pytest.mark.parametrize("data", [b"", b"\xff" * 100, b"{}", 7, None])
def test_what_is_no_file(data: Any) -> None:
    with pytest.raises((hesc.WireError, hesc.ParameterError)):
        load_onnx(data)


def test_files_that_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hesc.models.onnx.onnx_files.LARGEST", 100)
    with pytest.raises(hesc.WireError, match="100 bytes"):
        read(graph_bytes([gemm(transB=1)], constants={"w": W, "b": B}))


def test_what_onnxruntime_computes_otherwise_is_not_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The check itself is checked: weights that are a little wrong are noticed."""
    from hesc.models.onnx import graphs

    data = written(LogisticRegression().fit(X, Y))
    right = graphs.described

    def wrong(graph: Any) -> Any:
        found: Any = right(graph)
        layer = found.model.layers[0]
        layer.weights[0, 0] *= 1 + 1e-3
        return found

    monkeypatch.setattr(graphs, "described", wrong)
    assert read(data, verify=False).inputs == 4
    with pytest.raises(hesc.ParameterError, match="computes something else"):
        read(data)

"""What the operators of an ONNX graph compute together: transforms, layers or trees, classes.

Each tensor of the graph is known by what it is made of, and an operator that makes something else
of it than a model's parts is refused by its name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc.models.described import Described
from hesc.models.layers import SLOPE, DenseNetwork, leaky
from hesc.models.onnx import endings
from hesc.models.onnx.gates import gated
from hesc.models.onnx.sums import added
from hesc.models.onnx.values import (
    BEFORE,
    NEAREST,
    SINGLE,
    Budget,
    Chain,
    Complement,
    Conclusion,
    Gate,
    InputColumns,
    Scored,
    Value,
    ends_in_logistic,
    is_sum,
    joined,
    kinds_of,
    layered,
    scaled,
    scored_of,
    shapes_of,
    softmaxed,
    with_activation,
)
from hesc.models.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.models.onnx.onnx_files import Graph, Node
    from hesc.models.transforms import Transform

_ACTIVATIONS: Final = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "logistic"}
_GELUS: Final = {"none": "gelu", "tanh": "gelu_tanh"}
_ROOT: Final = 2**0.5
_SINGLE: Final = 1e-6
"""What a number in float32 may be from one in double precision, relative."""
_EPSILON: Final = 1e-5
"""What BatchNormalization adds to variances unless it says otherwise."""
_PASSED_ON: Final = ("Identity", "Cast", "Reshape", "Squeeze", "Flatten", "Dropout")


def described(graph: Graph) -> Described:
    """The model that a graph computes.

    Raises:
        ParameterError: an operator that is not computed here, with what comes nearest.
        WireError: operators that do not fit together.
        OutOfRangeError: numbers that are not finite.

    """
    reader = _Reader(graph)
    for node in graph.nodes:
        reader.step(node)
    return reader.conclusion()


class _Reader:
    """Values by the names of tensors."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._budget = Budget(len(graph.data))
        self._values: dict[str, Value | Any] = dict(graph.constants)
        self._rooted: dict[str, Chain] = {}
        """Layers by the names of what they are over the root of two."""
        first = 0
        for given in graph.inputs:
            self._values[given.name] = InputColumns(first, first + given.width, given.single)
            first += given.width
        self._inputs = first
        self._operators: dict[str, Callable[[Node], None]] = {
            "Concat": self._concat,
            "Constant": self._constant,
            "FeatureVectorizer": self._vectorizer,
            "Scaler": self._scaler,
            "Imputer": self._imputer,
            "Normalizer": self._normalizer,
            "Sub": self._elementwise,
            "Add": self._elementwise,
            "Mul": self._elementwise,
            "Div": self._elementwise,
            "Pow": self._power,
            "BatchNormalization": self._normalised,
            "LeakyRelu": self._leaky,
            "PRelu": self._learnt_slope,
            "Sum": self._sum,
            "Mean": self._sum,
            "Gelu": self._gelu,
            "Erf": self._erf,
            "MatMul": self._matmul,
            "Gemm": self._gemm,
            "Softmax": self._softmax,
            "ArgMax": self._argmax,
            "ArrayFeatureExtractor": self._extractor,
            "Gather": self._extractor,
            "ZipMap": self._zipmap,
            "LinearClassifier": self._linear_classifier,
            "LinearRegressor": self._linear_regressor,
            "TreeEnsembleClassifier": self._tree_classifier,
            "TreeEnsembleRegressor": self._tree_regressor,
        }
        self._operators |= dict.fromkeys(_ACTIVATIONS, self._activation)
        self._operators |= dict.fromkeys(_PASSED_ON, self._pass_on)

    def step(self, node: Node) -> None:
        """One operator."""
        if node.operator not in self._operators:
            raise ParameterError(self._refusal(node))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            self._operators[node.operator](node)

    def conclusion(self) -> Described:
        """What the outputs of the graph say."""
        found = [self._values.get(name) for name in self._graph.outputs]
        concluded = [value for value in found if isinstance(value, Conclusion)]
        if concluded:
            labels = next((c.scored.labels for c in concluded if c.scored.labels), None)
            scored = concluded[0].scored
            if any(c.scored.labels not in {None, labels} for c in concluded):
                raise WireError("the outputs of this ONNX graph name different classes")
            if len(found) == 1 and concluded[0].what == "values":
                return self._made(scored.steps, scored.model, None, "none")
            if len(found) != len(concluded) or any(
                c.scored.model is not scored.model for c in concluded
            ):
                raise ParameterError("the outputs of this ONNX graph are not of one model")
            return self._classifier(scored, labels)
        chain = found[0]
        if len(found) != 1 or not isinstance(chain, Chain) or not chain.layers:
            raise ParameterError(
                "the outputs of this ONNX graph are no scores; there is one output of a regressor, "
                "or labels and probabilities of a classifier"
            )
        if chain.layers[-1].activation != "identity":
            raise ParameterError(
                "this ONNX graph ends in an activation, which no side computes on encrypted "
                "scores; leave it off and name the classes by classes=, or add ArgMax and labels "
                "for a classifier"
            )
        return self._made(chain.steps, DenseNetwork(chain.layers), None, "none")

    def _classifier(self, scored: Scored, labels: tuple[Any, ...] | None) -> Described:
        count = 2 if scored.model.outputs == 1 else scored.model.outputs
        labels = tuple(range(count)) if labels is None else labels
        if len(labels) != count:
            raise WireError(f"{len(labels)} labels of an ONNX graph for {count} classes")
        return self._made(scored.steps, scored.model, np.array(labels), scored.link)

    def _made(
        self,
        steps: tuple[Transform, ...],
        model: DenseNetwork | TreeEnsemble,
        classes: NDArray[Any] | None,
        link: str,
    ) -> Described:
        names = [given.name for given in self._graph.inputs]
        names = names if len(names) == self._inputs and len(names) > 1 else []
        made = Described(self._inputs, names, list(steps), model, classes, link)
        return made.with_one_score().folded()

    # Reading operands

    def _refusal(self, node: Node) -> str:
        nearest = NEAREST.get(node.operator, "linear models, networks of Gemm or MatMul, trees")
        if node.operator in self._operators:
            operands = dict.fromkeys(self._named(name) for name in node.inputs if name)
            return (
                f"operator {node.operator} is not computed of {' and '.join(operands)}, or not "
                f"with these attributes; nearest: {nearest}, with nothing behind their scores but "
                f"what makes classes of them"
            )
        return (
            f"operator {node.operator[:40]} is not computed on encrypted features; nearest: "
            f"{nearest}. Taken here: {', '.join(sorted(self._operators))}"
        )

    def _named(self, tensor: str) -> str:
        """What a tensor is, for a refusal."""
        match self._values.get(tensor):
            case np.ndarray():
                return "numbers of the file"
            case InputColumns():
                return "features"
            case Chain(layers=()):
                return "transformed features"
            case Chain():
                return "what layers give"
            case Conclusion(scored=scored):
                trees = isinstance(scored.model, TreeEnsemble)
                return "what trees give" if trees else "what a classifier gives"
            case _:
                return "a probability"

    def _operand(self, node: Node, place: int) -> Value | Any:
        name = node.inputs[place] if place < len(node.inputs) else ""
        if name not in self._values:
            raise WireError(f"operator {node.operator} takes what no operator before it gives")
        return self._values[name]

    def _chain(self, node: Node, place: int = 0) -> Chain:
        value = self._operand(node, place)
        if isinstance(value, InputColumns) and (value.first, value.last) == (0, self._inputs):
            return Chain(self._inputs, value.single)
        if isinstance(value, Chain):
            return value
        raise ParameterError(self._refusal(node))

    def _numbers(self, node: Node, place: int) -> NDArray[np.float64]:
        value = self._operand(node, place)
        if not isinstance(value, np.ndarray) or value.dtype == object:
            raise ParameterError(self._refusal(node))
        return np.asarray(value, dtype=np.float64)

    def _row(self, node: Node, numbers: NDArray[np.float64], width: int) -> NDArray[np.float64]:
        """Numbers that are added to, or multiplied with, each row."""
        flat = numbers.reshape(-1)
        if len(flat) not in {1, width} or numbers.shape[:-1] not in {(), (1,)}:
            raise WireError(f"operator {node.operator} meets rows of {width} with another shape")
        return np.broadcast_to(flat, (width,)).copy()

    def _give(self, node: Node, *values: Value | Any) -> None:
        if len(node.outputs) > len(values):
            raise ParameterError(self._refusal(node))
        for name, value in zip(node.outputs, values, strict=False):
            if name:
                self._budget.spend(value)
                self._values[name] = value

    # Operators

    def _constant(self, node: Node) -> None:
        value = node.attributes.get("value")
        if value is None or len(node.attributes) != 1:
            raise ParameterError(self._refusal(node))
        self._give(node, value)

    def _pass_on(self, node: Node) -> None:
        value = self._operand(node, 0)
        if isinstance(value, np.ndarray) or not self._is_kept(node, value):
            raise ParameterError(self._refusal(node))
        if isinstance(value, InputColumns | Chain) and node.operator == "Cast":
            # What was rounded once stays rounded.
            single = value.single or node.attributes.get("to") == SINGLE
            value = replace(value, single=single)
        self._give(node, value)

    def _is_kept(self, node: Node, value: Value) -> bool:
        """Whether it stays what it is: of a type that holds it, a row for each sample."""
        if node.operator == "Cast":
            return node.attributes.get("to") in kinds_of(value)
        if node.operator == "Reshape":
            return self._numbers(node, 1).tolist() in shapes_of(value)
        if isinstance(value, InputColumns | Chain):
            flat = node.operator == "Flatten" and node.attributes.get("axis", 1) == 1
            # Without a third input it is not training.
            dropped = node.operator == "Dropout" and len(node.inputs) < 3
            return node.operator == "Identity" or flat or dropped
        return node.operator != "Flatten" or node.attributes.get("axis", 1) == 1

    def _concat(self, node: Node) -> None:
        if node.attributes.get("axis") not in {1, -1}:
            raise ParameterError(self._refusal(node))
        match [self._operand(node, place) for place in range(len(node.inputs))]:
            case [Complement(of=chain), Chain() as other] if chain is other:
                self._give(node, Conclusion("probabilities", scored_of(chain)))
            case parts:
                self._give(node, joined(parts))

    def _vectorizer(self, node: Node) -> None:
        parts = [self._operand(node, place) for place in range(len(node.inputs))]
        widths = node.attributes.get("inputdimensions")
        if not isinstance(widths, np.ndarray) or len(widths) != len(parts):
            raise WireError("a FeatureVectorizer names the width of each input")
        columns = joined(parts)
        if [p.last - p.first for p in parts if isinstance(p, InputColumns)] != widths.tolist():
            raise WireError("a FeatureVectorizer names other widths than its inputs have")
        # It gives float32 whatever it takes.
        self._give(node, replace(columns, single=True))

    def _scaler(self, node: Node) -> None:
        chain = self._chain(node)
        offset, scale = (node.attributes.get(name) for name in ("offset", "scale"))
        if not isinstance(offset, np.ndarray) or not isinstance(scale, np.ndarray):
            raise WireError("a Scaler has offsets and scales")
        centre = self._row(node, offset, chain.width)
        factor = self._row(node, scale, chain.width)
        self._give(node, scaled(chain, factor, -centre * factor, centre))

    def _imputer(self, node: Node) -> None:
        replaced = node.attributes.get("replaced_value_float")
        if not isinstance(replaced, float) or not np.isnan(replaced):
            raise ParameterError(f"Imputer of another value than NaN: {BEFORE}")
        # Of samples that are finite nothing is replaced, and others are refused.
        self._give(node, self._chain(node))

    def _normalizer(self, node: Node) -> None:
        value = self._operand(node, 0)
        probable = isinstance(value, Conclusion) and value.what == "probabilities"
        if not probable or node.attributes.get("norm") != "L1":
            raise ParameterError(self._refusal(node))
        self._give(node, value)

    def _elementwise(self, node: Node) -> None:
        left, right = (self._operand(node, place) for place in (0, 1))
        operator = node.operator
        found = gated(operator, left, right) or self._adjusted(node, left, right)
        if found is None and operator == "Add":
            found = self._added([left, right])
        if found is not None:
            self._give(node, found)
            return
        if isinstance(left, np.ndarray):
            chain, place = self._chain(node, 1), 0
            if operator == "Sub" and np.all(left == 1) and ends_in_logistic(chain):
                self._give(node, Complement(chain))
                return
            if operator == "Div":
                raise ParameterError(self._refusal(node))
        else:
            chain, place = self._chain(node), 1
            if operator == "Mul" and right is left:
                self._give(node, self._activated(node, chain, "square"))
                return
        numbers = self._row(node, self._numbers(node, place), chain.width)
        ones, zeros = np.ones(chain.width), np.zeros(chain.width)
        if operator == "Sub" and place == 0:
            found = scaled(chain, -ones, numbers)
        elif operator in {"Add", "Sub"}:
            shift = numbers if operator == "Add" else -numbers
            found = scaled(chain, ones, shift, -shift)
        else:
            found = scaled(chain, numbers if operator == "Mul" else 1 / numbers, zeros)
            divided = numbers if operator == "Div" else 1 / numbers
            if (np.abs(divided - _ROOT) < _SINGLE * _ROOT).all() and is_sum(chain):
                self._rooted[node.outputs[0]] = chain
        self._give(node, found)

    def _sum(self, node: Node) -> None:
        parts = [self._operand(node, place) for place in range(len(node.inputs))]
        factor = 1 / len(parts) if parts and node.operator == "Mean" else 1.0
        found = self._added(parts, factor) if parts else None
        if found is None:
            raise ParameterError(self._refusal(node))
        self._give(node, found)

    def _added(self, parts: list[Value | Any], factor: float = 1.0) -> Value | None:
        """A number times a sum of trees or of layers; None of others."""
        found = added(parts, factor)
        if isinstance(found, Conclusion) and isinstance(found.scored.model, TreeEnsemble):
            self._budget.count(found.scored.model.values.size)
        return found

    def _adjusted(self, node: Node, left: Value | Any, right: Value | Any) -> Value | None:
        """Sums of trees times a number, as LightGBM's forests have them; None of others."""
        if not isinstance(left, Conclusion) or not isinstance(right, np.ndarray):
            return None
        if left.what == "probabilities" and node.operator in {"Mul", "Div"} and np.all(right == 1):
            return left
        model = left.scored.model
        if left.what != "values" or not isinstance(model, TreeEnsemble):
            return None
        numbers = self._row(node, self._numbers(node, 1), model.outputs)
        if node.operator in {"Add", "Sub"}:
            sign = 1.0 if node.operator == "Add" else -1.0
            model = replace(model, offset=model.offset + sign * numbers)
        else:
            factor = numbers if node.operator == "Mul" else 1 / numbers
            self._budget.count(model.values.size)
            model = replace(model, values=model.values * factor, offset=model.offset * factor)
        return replace(left, scored=replace(left.scored, model=model))

    def _normalised(self, node: Node) -> None:
        chain, options = self._chain(node), node.attributes
        least = options.get("epsilon", _EPSILON)
        if options.get("training_mode", 0) != 0 or not isinstance(least, float):
            raise ParameterError(self._refusal(node))
        scale, shift, mean, variance = (
            self._row(node, self._numbers(node, place), chain.width) for place in range(1, 5)
        )
        if not (variance + least > 0).all():
            raise OutOfRangeError("a BatchNormalization of this ONNX file has negative variances")
        factor = scale / np.sqrt(variance + least)
        self._give(node, scaled(chain, factor, shift - mean * factor))

    def _leaky(self, node: Node) -> None:
        self._leaked(node, node.attributes.get("alpha", SLOPE))

    def _learnt_slope(self, node: Node) -> None:
        slopes = np.unique(self._numbers(node, 1))
        if len(slopes) != 1:
            raise ParameterError(
                "PRelu of several slopes is not computed; take one for all units, as PyTorch's "
                "PReLU() has"
            )
        self._leaked(node, float(slopes[0]))

    def _leaked(self, node: Node, slope: object) -> None:
        if not isinstance(slope, float) or not np.isfinite(slope):
            raise ParameterError(self._refusal(node))
        # Files hold the nearest float32.
        slope = SLOPE if abs(slope - SLOPE) <= _SINGLE * SLOPE else slope
        self._give(node, self._activated(node, self._chain(node), leaky(slope)))

    def _gelu(self, node: Node) -> None:
        kind = node.attributes.get("approximate", "none")
        if kind not in _GELUS:
            raise ParameterError(self._refusal(node))
        self._give(node, self._activated(node, self._chain(node), _GELUS[kind]))

    def _erf(self, node: Node) -> None:
        before = self._rooted.get(node.inputs[0])
        if before is None:
            raise ParameterError(self._refusal(node))
        self._give(node, Gate(before, "erf"))

    def _power(self, node: Node) -> None:
        if self._numbers(node, 1).reshape(-1).tolist() != [2.0]:
            raise ParameterError(self._refusal(node))
        self._give(node, self._activated(node, self._chain(node), "square"))

    def _activation(self, node: Node) -> None:
        activated = self._activated(node, self._chain(node), _ACTIVATIONS[node.operator])
        self._give(node, activated)

    def _activated(self, node: Node, chain: Chain, activation: str) -> Chain:
        if not is_sum(chain):
            raise ParameterError(self._refusal(node))
        return with_activation(chain, activation)

    def _matmul(self, node: Node) -> None:
        chain, matrix = self._chain(node), self._numbers(node, 1)
        self._give(node, layered(chain, matrix.T, None))

    def _gemm(self, node: Node) -> None:
        chain, matrix = self._chain(node), self._numbers(node, 1)
        options = node.attributes
        alpha, beta = options.get("alpha", 1.0), options.get("beta", 1.0)
        flags = options.get("transA", 0), options.get("transB", 0)
        if not (isinstance(alpha, float) and isinstance(beta, float)):
            raise WireError("alpha and beta of Gemm are numbers")
        if flags not in {(0, 0), (0, 1)}:
            raise ParameterError(self._refusal(node))
        if matrix.ndim != 2:
            raise WireError("Gemm takes a matrix")
        rows = alpha * (matrix if flags[1] else matrix.T)
        added = None
        if len(node.inputs) > 2 and node.inputs[2]:
            added = beta * self._row(node, self._numbers(node, 2), len(rows))
        self._give(node, layered(chain, rows, added))

    def _softmax(self, node: Node) -> None:
        chain = self._chain(node)
        if node.attributes.get("axis", -1) not in {1, -1} or chain.width < 2 or not chain.layers:
            raise ParameterError(self._refusal(node))
        self._give(node, Conclusion("probabilities", softmaxed(chain)))

    def _argmax(self, node: Node) -> None:
        value = self._operand(node, 0)
        if isinstance(value, Chain) and value.layers and value.width > 1:
            value = Conclusion("probabilities", scored_of(value))
        first = node.attributes.get("select_last_index", 0) == 0
        known = isinstance(value, Conclusion) and value.what == "probabilities" and first
        if not known or node.attributes.get("axis", 0) not in {1, -1}:
            raise ParameterError(self._refusal(node))
        self._give(node, replace(value, what="place"))

    def _extractor(self, node: Node) -> None:
        array, place = (self._operand(node, place) for place in (0, 1))
        # Gather takes along the first axis unless it says otherwise, the other along the last one.
        axis = node.attributes.get("axis", 0) if node.operator == "Gather" else -1
        if (
            isinstance(array, np.ndarray)
            and isinstance(place, Conclusion)
            and place.what == "place"
        ):
            flat = array.ndim == 1 or (node.operator != "Gather" and array.shape[:-1] == (1,))
            if not flat or axis not in {0, -1}:
                raise ParameterError(self._refusal(node))
            scored = replace(place.scored, labels=endings.labels_of(array.reshape(-1).tolist()))
            self._give(node, Conclusion("label", scored))
            return
        # skl2onnx: of two scores of which one is the other's negative, the second.
        both = isinstance(array, Conclusion) and array.scored.model.outputs == 1
        second = isinstance(place, np.ndarray) and place.reshape(-1).tolist() == [1]
        if not both or not second or axis not in {1, -1}:
            raise ParameterError(self._refusal(node))
        self._give(node, array)

    def _zipmap(self, node: Node) -> None:
        value = self._operand(node, 0)
        if isinstance(value, Chain) and ends_in_logistic(value, several=True):
            value = Conclusion("probabilities", scored_of(value))
        if not isinstance(value, Conclusion) or value.what != "probabilities":
            raise ParameterError(self._refusal(node))
        labels = endings.named_labels(node.attributes, "int64s")
        self._give(node, replace(value, scored=replace(value.scored, labels=labels)))

    def _linear_classifier(self, node: Node) -> None:
        scored = endings.linear_classifier(self._chain(node), node.attributes)
        self._give(node, Conclusion("label", scored), Conclusion("probabilities", scored))

    def _linear_regressor(self, node: Node) -> None:
        self._give(node, endings.linear_regressor(self._chain(node), node.attributes))

    def _tree_classifier(self, node: Node) -> None:
        scored = endings.tree_classifier(self._chain(node), node.attributes)
        self._give(node, Conclusion("label", scored), Conclusion("probabilities", scored))

    def _tree_regressor(self, node: Node) -> None:
        scored = endings.tree_regressor(self._chain(node), node.attributes)
        self._give(node, Conclusion("values", scored))

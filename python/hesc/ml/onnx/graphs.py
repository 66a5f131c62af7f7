"""What the operators of an ONNX graph compute together: transforms, layers or trees, classes.

Each tensor of the graph is known by what it is made of, and an operator that makes something else
of it than a model's parts is refused by its name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError, OutOfRangeError, ParameterError, WireError
from hesc.ml.described import Described
from hesc.ml.documents import is_name
from hesc.ml.layers import Layer, Network
from hesc.ml.onnx.ensembles import ensemble
from hesc.ml.transforms import Affine, Transform
from hesc.ml.trees import TreeEnsemble

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc.ml.onnx.files import Graph, Node

_FLOAT: Final = 1
_DOUBLE: Final = 11
_CLASSES: Final = 1 << 12
"""Classes of a model."""
_SQUARE: Final = 1 << 20
"""Numbers of a layer that only scales."""
_ACTIVATIONS: Final = {"Relu": "relu", "Tanh": "tanh", "Sigmoid": "logistic"}
_PASSED_ON: Final = ("Identity", "Cast", "Reshape", "Squeeze", "Flatten", "Dropout")
_BEFORE: Final = "leave it out of the file; the client can apply it before"
# What comes nearest to operators that are met and not computed.
_NEAREST: Final = {
    "Normalizer": _BEFORE,
    "OneHotEncoder": _BEFORE,
    "LabelEncoder": _BEFORE,
    "Binarizer": _BEFORE,
    "ReduceProd": "PolynomialFeatures work in a Pipeline of scikit-learn, see PrivateClassifier",
    "SVMClassifier": "LinearSVC or Nystroem before a linear model",
    "SVMRegressor": "LinearSVR or Nystroem before a linear model",
    "Conv": "layers as Gemm or MatMul, with Relu, Tanh, Sigmoid or squares",
    "TreeEnsemble": "TreeEnsembleClassifier and TreeEnsembleRegressor, ai.onnx.ml below 5",
    "Exp": "a link by Sigmoid or Softmax; skl2onnx writes scores alone with raw_scores=True",
}


@dataclass(frozen=True, eq=False)
class _Columns:
    """Columns of samples as they come, from one place to before another."""

    first: int
    last: int
    single: bool


@dataclass(frozen=True, eq=False)
class _Chain:
    """Transforms of samples, and layers behind them."""

    width: int
    single: bool
    steps: tuple[Transform, ...] = ()
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True, eq=False)
class _Scored:
    """Scores that classes are taken by."""

    steps: tuple[Transform, ...]
    model: Network | TreeEnsemble
    link: str
    labels: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False)
class _Concluded:
    """What is made of scores: probabilities, the place of the highest, or its label."""

    what: str
    scored: _Scored


@dataclass(frozen=True, eq=False)
class _Complement:
    """One less a probability."""

    of: _Chain


_Value = _Columns | _Chain | _Concluded | _Complement
_Array = Any


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
        self._values: dict[str, _Value | _Array] = dict(graph.constants)
        first = 0
        for given in graph.inputs:
            self._values[given.name] = _Columns(first, first + given.width, given.single)
            first += given.width
        self._inputs = first
        self._operators: dict[str, Callable[[Node], None]] = {
            "Concat": self._concat,
            "Constant": self._constant,
            "Scaler": self._scaler,
            "Imputer": self._imputer,
            "Normalizer": self._normalizer,
            "Sub": self._elementwise,
            "Add": self._elementwise,
            "Mul": self._elementwise,
            "Div": self._elementwise,
            "Pow": self._power,
            "MatMul": self._matmul,
            "Gemm": self._gemm,
            "Softmax": self._softmax,
            "ArgMax": self._argmax,
            "ArrayFeatureExtractor": self._extractor,
            "Gather": self._extractor,
            "ZipMap": self._zipmap,
            "LinearClassifier": self._linear_classifier,
            "LinearRegressor": self._linear_regressor,
            "TreeEnsembleClassifier": self._trees,
            "TreeEnsembleRegressor": self._trees,
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
        concluded = [value for value in found if isinstance(value, _Concluded)]
        if concluded:
            labels = next((c.scored.labels for c in concluded if c.scored.labels), None)
            scored = concluded[0].scored
            if len(found) != len(concluded) or any(
                c.scored.model is not scored.model for c in concluded
            ):
                raise ParameterError("the outputs of this ONNX graph are not of one model")
            return self._classifier(scored, labels)
        chain = found[0]
        if len(found) != 1 or not isinstance(chain, _Chain) or not chain.layers:
            raise ParameterError(
                "the outputs of this ONNX graph are no scores; there is one output of a regressor, "
                "or labels and probabilities of a classifier"
            )
        if chain.layers[-1].activation != "identity":
            raise ParameterError(
                "this ONNX graph ends in an activation, which no side computes on encrypted "
                "scores; leave it off, or add ArgMax and labels for a classifier"
            )
        return self._made(chain.steps, Network(chain.layers), None, "none")

    def _classifier(self, scored: _Scored, labels: tuple[Any, ...] | None) -> Described:
        count = 2 if scored.model.outputs == 1 else scored.model.outputs
        labels = tuple(range(count)) if labels is None else labels
        if len(labels) != count:
            raise WireError(f"{len(labels)} labels of an ONNX graph for {count} classes")
        model, link = scored.model, scored.link
        if model.outputs == 2:
            model = _difference(model)
            # Of two probabilities that were normalised apart nothing follows from the difference.
            link = "sigmoid" if link == "softmax" else "none"
        return self._made(scored.steps, model, np.array(labels), link)

    def _made(
        self,
        steps: tuple[Transform, ...],
        model: Network | TreeEnsemble,
        classes: NDArray[Any] | None,
        link: str,
    ) -> Described:
        names = [given.name for given in self._graph.inputs]
        names = names if len(names) == self._inputs and len(names) > 1 else []
        return Described(self._inputs, names, list(steps), model, classes, link).folded()

    # Reading operands

    def _refusal(self, node: Node) -> str:
        nearest = _NEAREST.get(node.operator, "linear models, networks of Gemm or MatMul, trees")
        return (
            f"operator {node.operator[:40]} is not computed on encrypted features; nearest: "
            f"{nearest}. Taken here: {', '.join(sorted(self._operators))}"
        )

    def _operand(self, node: Node, place: int) -> _Value | _Array:
        name = node.inputs[place] if place < len(node.inputs) else ""
        if name not in self._values:
            raise WireError(f"operator {node.operator} takes what no operator before it gives")
        return self._values[name]

    def _chain(self, node: Node, place: int = 0) -> _Chain:
        value = self._operand(node, place)
        if isinstance(value, _Columns) and (value.first, value.last) == (0, self._inputs):
            return _Chain(self._inputs, value.single)
        if isinstance(value, _Chain):
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

    def _give(self, node: Node, *values: _Value | _Array) -> None:
        if len(node.outputs) > len(values):
            raise ParameterError(self._refusal(node))
        for name, value in zip(node.outputs, values, strict=False):
            if name:
                self._values[name] = value

    # Operators

    def _constant(self, node: Node) -> None:
        value = node.attributes.get("value")
        if value is None or len(node.attributes) != 1:
            raise ParameterError(self._refusal(node))
        self._give(node, value)

    def _pass_on(self, node: Node) -> None:
        value = self._operand(node, 0)
        if isinstance(value, _Columns | _Chain):
            kept = node.operator in {"Identity", "Cast"}
            if node.operator == "Reshape":
                shape = self._numbers(node, 1).tolist()
                width = value.width if isinstance(value, _Chain) else 0
                kept = shape == [-1, width] or (width == 1 and shape == [-1])
            to = node.attributes.get("to") if node.operator == "Cast" else None
            if not kept or to not in {None, _FLOAT, _DOUBLE}:
                raise ParameterError(self._refusal(node))
            if to is not None:
                # What was rounded once stays rounded.
                value = replace(value, single=value.single or to == _FLOAT)
        elif isinstance(value, np.ndarray):
            raise ParameterError(self._refusal(node))
        self._give(node, value)

    def _concat(self, node: Node) -> None:
        parts = [self._operand(node, place) for place in range(len(node.inputs))]
        if node.attributes.get("axis") not in {1, -1}:
            raise ParameterError(self._refusal(node))
        match parts:
            case [_Complement(of=chain), _Chain() as other] if chain is other:
                self._give(node, _Concluded("probabilities", _of_logistic(chain)))
                return
        places = [(p.first, p.last) for p in parts if isinstance(p, _Columns)]
        ends = [0, *(last for _, last in places)]
        if len(places) != len(parts) or [a for a, _ in places] != ends[:-1]:
            raise ParameterError(
                "Concat joins the inputs of a graph in their order here, or a probability and its "
                "complement"
            )
        single = any(p.single for p in parts if isinstance(p, _Columns))
        self._give(node, _Columns(0, ends[-1], single))

    def _scaler(self, node: Node) -> None:
        chain = self._chain(node)
        offset, scale = (node.attributes.get(name) for name in ("offset", "scale"))
        if not isinstance(offset, np.ndarray) or not isinstance(scale, np.ndarray):
            raise WireError("a Scaler has offsets and scales")
        centre = self._row(node, offset, chain.width)
        factor = self._row(node, scale, chain.width)
        self._give(node, _scaled(chain, factor, -centre * factor, centre))

    def _imputer(self, node: Node) -> None:
        replaced = node.attributes.get("replaced_value_float")
        if not isinstance(replaced, float) or not np.isnan(replaced):
            raise ParameterError(f"Imputer of another value than NaN: {_BEFORE}")
        # Of samples that are finite nothing is replaced, and others are refused.
        self._give(node, self._chain(node))

    def _normalizer(self, node: Node) -> None:
        value = self._operand(node, 0)
        if not isinstance(value, _Concluded) or node.attributes.get("norm") != "L1":
            raise ParameterError(self._refusal(node))
        self._give(node, value)

    def _elementwise(self, node: Node) -> None:
        left, right = (self._operand(node, place) for place in (0, 1))
        operator = node.operator
        if isinstance(left, np.ndarray):
            chain, place = self._chain(node, 1), 0
            if operator == "Sub" and np.all(left == 1) and _ends_in_logistic(chain):
                self._give(node, _Complement(chain))
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
            scaled = _scaled(chain, -ones, numbers)
        elif operator in {"Add", "Sub"}:
            shift = numbers if operator == "Add" else -numbers
            scaled = _scaled(chain, ones, shift, -shift)
        else:
            scaled = _scaled(chain, numbers if operator == "Mul" else 1 / numbers, zeros)
        self._give(node, scaled)

    def _power(self, node: Node) -> None:
        if self._numbers(node, 1).reshape(-1).tolist() != [2.0]:
            raise ParameterError(self._refusal(node))
        self._give(node, self._activated(node, self._chain(node), "square"))

    def _activation(self, node: Node) -> None:
        activated = self._activated(node, self._chain(node), _ACTIVATIONS[node.operator])
        self._give(node, activated)

    def _activated(self, node: Node, chain: _Chain, activation: str) -> _Chain:
        if not chain.layers or chain.layers[-1].activation != "identity":
            raise ParameterError(
                f"operator {node.operator} of what is no sum with weights; {self._refusal(node)}"
            )
        *before, last = chain.layers
        return replace(chain, layers=(*before, replace(last, activation=activation)))

    def _matmul(self, node: Node) -> None:
        chain, matrix = self._chain(node), self._numbers(node, 1)
        self._give(node, self._layer(node, chain, matrix.T, None))

    def _gemm(self, node: Node) -> None:
        chain, matrix = self._chain(node), self._numbers(node, 1)
        options = node.attributes
        alpha, beta = options.get("alpha", 1.0), options.get("beta", 1.0)
        flags = options.get("transA", 0), options.get("transB", 0)
        if not (isinstance(alpha, float) and isinstance(beta, float)):
            raise WireError("alpha and beta of Gemm are numbers")
        if flags not in {(0, 0), (0, 1)}:
            raise ParameterError(self._refusal(node))
        rows = alpha * (matrix if flags[1] else matrix.T)
        added = None
        if len(node.inputs) > 2 and node.inputs[2]:
            added = beta * self._row(node, self._numbers(node, 2), len(rows))
        self._give(node, self._layer(node, chain, rows, added))

    def _layer(
        self,
        node: Node,
        chain: _Chain,
        rows: NDArray[np.float64],
        added: NDArray[np.float64] | None,
    ) -> _Chain:
        if rows.ndim != 2 or rows.shape[1] != chain.width:
            raise WireError(f"{node.operator} meets rows of {chain.width} with another shape")
        layer = Layer(rows, np.zeros(len(rows)) if added is None else added)
        return replace(chain, width=len(rows), layers=(*chain.layers, layer))

    def _softmax(self, node: Node) -> None:
        chain = self._chain(node)
        if node.attributes.get("axis", -1) not in {1, -1} or chain.width < 2 or not chain.layers:
            raise ParameterError(self._refusal(node))
        scored = _Scored(chain.steps, Network(chain.layers), "softmax")
        self._give(node, _Concluded("probabilities", scored))

    def _argmax(self, node: Node) -> None:
        value = self._operand(node, 0)
        if isinstance(value, _Chain) and value.layers and value.width > 1:
            value = _Concluded("probabilities", _of_logistic(value))
        first = node.attributes.get("select_last_index", 0) == 0
        known = isinstance(value, _Concluded) and value.what == "probabilities" and first
        if not known or node.attributes.get("axis", 0) not in {1, -1}:
            raise ParameterError(self._refusal(node))
        self._give(node, replace(value, what="place"))

    def _extractor(self, node: Node) -> None:
        array, place = (self._operand(node, place) for place in (0, 1))
        if isinstance(array, np.ndarray) and isinstance(place, _Concluded) and place.what == "place":
            scored = replace(place.scored, labels=_labels(array.reshape(-1).tolist()))
            self._give(node, _Concluded("label", scored))
            return
        # skl2onnx: of two scores of which one is the other's negative, the second.
        both = isinstance(array, _Concluded) and array.scored.model.outputs == 1
        if not both or not isinstance(place, np.ndarray) or place.reshape(-1).tolist() != [1]:
            raise ParameterError(self._refusal(node))
        self._give(node, array)

    def _zipmap(self, node: Node) -> None:
        value = self._operand(node, 0)
        if isinstance(value, _Chain) and _ends_in_logistic(value, several=True):
            value = _Concluded("probabilities", _of_logistic(value))
        if not isinstance(value, _Concluded) or value.what != "probabilities":
            raise ParameterError(self._refusal(node))
        labels = _named_labels(node.attributes, "int64s")
        self._give(node, replace(value, scored=replace(value.scored, labels=labels)))

    def _linear_classifier(self, node: Node) -> None:
        chain, options = self._chain(node), node.attributes
        labels = _named_labels(options, "ints")
        rows, added = _coefficients(options, chain.width)
        link = _link(options)
        if len(rows) not in {1, len(labels)} or (len(rows) == 1 and len(labels) != 2):
            raise WireError("a LinearClassifier has a row of weights for each of its classes")
        if len(rows) == 2 and np.array_equal(rows[0], -rows[1]) and added[0] == -added[1]:
            rows, added = rows[1:], added[1:]
            link = "sigmoid" if link == "one_against_rest" else "none"
        elif len(rows) == 1:
            link = "sigmoid" if link == "one_against_rest" else "none"
        layered = self._layer(node, chain, rows, added)
        scored = _Scored(chain.steps, Network(layered.layers), link, labels)
        self._give(node, _Concluded("label", scored), _Concluded("probabilities", scored))

    def _linear_regressor(self, node: Node) -> None:
        chain, options = self._chain(node), node.attributes
        if _link(options) != "none":
            raise ParameterError("LinearRegressor with a post_transform; leave it off")
        self._give(node, self._layer(node, chain, *_coefficients(options, chain.width)))

    def _trees(self, node: Node) -> None:
        chain, options = self._chain(node), node.attributes
        if chain.layers:
            raise ParameterError("trees behind a matrix or a layer are not computed here")
        if node.operator == "TreeEnsembleRegressor":
            raise_on = _link(options) != "none"
            count = options.get("n_targets", 1)
            if raise_on or type(count) is not int or not 0 < count <= _CLASSES:
                raise ParameterError(
                    f"TreeEnsembleRegressor has from 1 to {_CLASSES} targets, and no post_transform"
                )
            model = ensemble(options, "target", chain.width, outputs=count, single=chain.single)
            scored = _Scored(chain.steps, model, "none", ())
            self._give(node, _Concluded("values", scored))
            return
        labels = _named_labels(options, "int64s")
        link = _link(options)
        # onnxruntime: one output for two classes, which is above zero for the second, or above
        # a half where no value is negative.
        ids = options.get("class_ids")
        one = len(labels) == 2 and isinstance(ids, np.ndarray) and len(np.unique(ids)) == 1
        if one:
            options = options | {"class_ids": np.zeros_like(ids)}
        outputs = 1 if one else len(labels)
        model = ensemble(options, "class", chain.width, outputs=outputs, single=chain.single)
        if one and (model.values >= 0).all():
            if link != "none":
                raise ParameterError("trees of positive values with a post_transform are not read")
            model = replace(model, offset=model.offset - 0.5)
        elif one:
            link = "sigmoid" if link == "one_against_rest" else "none"
        scored = _Scored(chain.steps, model, link, labels)
        self._give(node, _Concluded("label", scored), _Concluded("probabilities", scored))


def _scaled(
    chain: _Chain,
    factor: NDArray[np.float64],
    shift: NDArray[np.float64],
    centre: NDArray[np.float64] | None = None,
) -> _Chain:
    """`factor * x + shift`, which is `factor * (x - centre)` where that is known."""
    if not (np.isfinite(factor).all() and np.isfinite(shift).all()):
        raise OutOfRangeError("a scaler of this ONNX file has numbers that are not finite")
    if not chain.layers:
        if centre is None:
            with_zeros = np.divide(-shift, factor, out=np.zeros_like(shift), where=factor != 0)
            if (shift[factor == 0] != 0).any():
                raise ParameterError("an operator of this ONNX file replaces a feature; leave it")
            centre = with_zeros
        return replace(chain, steps=(*chain.steps, Affine(centre, factor)))
    *before, last = chain.layers
    if last.activation == "identity":
        weights = last.weights * factor[:, None]
        layer = Layer(weights, last.intercepts * factor + shift)
        return replace(chain, layers=(*before, layer))
    if chain.width**2 > _SQUARE:
        raise ParameterError(f"scaling of {chain.width} units behind an activation; {_BEFORE}")
    return replace(chain, layers=(*chain.layers, Layer(np.diag(factor), shift)))


def _ends_in_logistic(chain: _Chain, *, several: bool = False) -> bool:
    last = chain.layers[-1].activation if chain.layers else "identity"
    return last == "logistic" and (several or chain.width == 1)


def _of_logistic(chain: _Chain) -> _Scored:
    """The scores before a last sigmoid, if there is one."""
    *before, last = chain.layers
    link = "sigmoid" if chain.width == 1 else "one_against_rest"
    if last.activation == "identity":
        return _Scored(chain.steps, Network(chain.layers), "none")
    if last.activation != "logistic":
        raise ParameterError(
            f"classes by the highest of activations ({last.activation}); end in sums, Sigmoid or "
            "Softmax"
        )
    layers = (*before, replace(last, activation="identity"))
    return _Scored(chain.steps, Network(layers), link)


def _difference(model: Network | TreeEnsemble) -> Network | TreeEnsemble:
    """Of two outputs the second less the first, which says less than both."""
    if isinstance(model, TreeEnsemble):
        values = model.values[:, 1:] - model.values[:, :1]
        return replace(model, values=values, offset=model.offset[1:] - model.offset[:1])
    *before, last = model.layers
    if last.activation != "identity":
        raise ParameterError("classes by the higher of two activations; end in sums or Softmax")
    weights = last.weights[1:] - last.weights[:1]
    return Network((*before, Layer(weights, last.intercepts[1:] - last.intercepts[:1])))


def _coefficients(
    options: dict[str, Any], width: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    found, added = options.get("coefficients"), options.get("intercepts")
    if not isinstance(found, np.ndarray) or found.dtype != np.float64 or len(found) % width:
        raise WireError(f"a linear model has rows of {width} coefficients")
    rows = found.reshape(-1, width)
    added = np.zeros(len(rows)) if added is None else added
    if not isinstance(added, np.ndarray) or added.dtype != np.float64 or len(added) != len(rows):
        raise WireError("a linear model has an intercept for each row of coefficients")
    if not len(rows) or not (np.isfinite(rows).all() and np.isfinite(added).all()):
        raise OutOfRangeError("coefficients of this ONNX file are not finite numbers")
    return rows, added


def _link(options: dict[str, Any]) -> str:
    links = {"NONE": "none", "LOGISTIC": "one_against_rest", "SOFTMAX": "softmax"}
    found = options.get("post_transform", "NONE")
    if not isinstance(found, str) or found not in links:
        raise ParameterError(f"post_transform is one of {', '.join(links)} here")
    return links[found]


def _named_labels(options: dict[str, Any], kind: str) -> tuple[Any, ...]:
    numbers, texts = options.get(f"classlabels_{kind}"), options.get("classlabels_strings")
    if isinstance(numbers, np.ndarray) and numbers.dtype == np.int64 and len(numbers):
        return _labels(numbers.tolist())
    if not isinstance(texts, list):
        raise WireError("a classifier of an ONNX file names its classes")
    return _labels(texts)


def _labels(found: list[Any]) -> tuple[Any, ...]:
    if not 2 <= len(found) <= _CLASSES or len(set(found)) != len(found):
        raise WireError(f"a classifier has from 2 to {_CLASSES} classes, each another")
    if any(isinstance(text, str) and not is_name(text) for text in found):
        raise WireError("a class of an ONNX file has a name that is too long")
    return tuple(found)

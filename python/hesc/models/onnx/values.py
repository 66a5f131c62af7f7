"""What tensors of an ONNX graph are made of, as far as a model's parts go."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc.models.layers import DenseNetwork, Layer
from hesc.models.transforms import Affine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.models.transforms import Transform
    from hesc.models.trees import TreeEnsemble

CLASSES: Final = 1 << 12
"""Classes of a model, and targets of trees."""
BEFORE: Final = "leave it out of the file; the client can apply it before"
_ACTIVATED: Final = "Relu, LeakyRelu, Tanh, Sigmoid, SiLU, GELU or squares"
NEAREST: Final = {
    "Normalizer": BEFORE,
    "OneHotEncoder": BEFORE,
    "LabelEncoder": BEFORE,
    "Binarizer": BEFORE,
    "ReduceProd": "PolynomialFeatures work in a Pipeline of scikit-learn, see PrivateClassifier",
    "SVMClassifier": "LinearSVC or Nystroem before a linear model",
    "SVMRegressor": "LinearSVR or Nystroem before a linear model",
    "Conv": "layers as Gemm or MatMul, with Relu, Tanh, Sigmoid or squares",
    "Erf": "GELU, as PyTorch writes it",
    **dict.fromkeys(("Sum", "Mean"), "trees, or layers, behind the same operators"),
    "LogSoftmax": "leave it off, and name the classes of what is before it by classes=",
    **dict.fromkeys(("Elu", "Selu", "Celu", "Softplus", "HardSwish"), _ACTIVATED),
    "TreeEnsemble": "TreeEnsembleClassifier and TreeEnsembleRegressor, ai.onnx.ml below 5",
    "Exp": "a link by Sigmoid or Softmax; skl2onnx writes scores alone with raw_scores=True",
}
"""What comes nearest to operators that are met and not computed."""
_SQUARE: Final = 1 << 20
"""Numbers of a layer that only scales."""
_BESIDE: Final = 1 << 20
"""Numbers that operators may make beside those that a file's bytes account for."""
_COPIES: Final = 2
"""Numbers that operators may make for each byte of a file."""


@dataclass(frozen=True, eq=False)
class InputColumns:
    """Columns of samples as they come, from one place to before another."""

    first: int
    last: int
    single: bool


@dataclass(frozen=True, eq=False)
class Chain:
    """Transforms of samples, and layers behind them."""

    width: int
    single: bool
    steps: tuple[Transform, ...] = ()
    layers: tuple[Layer, ...] = ()


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores that classes are taken by."""

    steps: tuple[Transform, ...]
    model: DenseNetwork | TreeEnsemble
    link: str
    labels: tuple[Any, ...] | None = None


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What is made of scores: probabilities, the place of the highest, or its label."""

    what: str
    scored: Scored


@dataclass(frozen=True, eq=False)
class Complement:
    """One less a probability."""

    of: Chain


@dataclass(frozen=True, eq=False)
class Gate:
    """What GELU is made of, step by step: a layer, and what was done with it."""

    of: Chain
    done: str
    """One of erf, plus and times: `erf(x / sqrt 2)`, one more than it, and that times `x`."""


Value = InputColumns | Chain | Conclusion | Complement | Gate


SINGLE: Final = 1
"""ONNX's number of float32."""
_FLOATS: Final = {SINGLE, 11}
_WHOLES: Final = {6, 7}
_TEXTS: Final = {8}


def kinds_of(value: Value) -> set[int]:
    """ONNX's types that hold what is concluded as it is: float or double, int32 or int64, text."""
    if not isinstance(value, Conclusion) or value.what in {"probabilities", "values"}:
        return _FLOATS
    labels = value.scored.labels if value.what == "label" else None
    return _TEXTS if labels is not None and isinstance(labels[0], str) else _WHOLES


def shapes_of(value: Value) -> list[list[int]]:
    """Shapes in which a value has a row for each sample, as it had."""
    if isinstance(value, InputColumns | Chain):
        width = value.width if isinstance(value, Chain) else value.last - value.first
        return [[-1, width], *[[-1]] * (width == 1)]
    if not isinstance(value, Conclusion) or value.what in {"label", "place"}:
        return [[-1], [-1, 1]]
    outputs = value.scored.model.outputs
    return [[-1, 2 if value.what == "probabilities" and outputs == 1 else outputs]]


class Budget:
    """Numbers that the operators of a file make, in proportion to its bytes.

    Each operator makes weights of its own, so that a small file of many operators could otherwise
    take any memory.
    """

    def __init__(self, length: int) -> None:
        self._left = _BESIDE + _COPIES * length

    def spend(self, value: Value | Any) -> None:
        """Counts the numbers of what an operator made.

        Raises:
            WireError: they are too many for the file.

        """
        if isinstance(value, Chain):
            self.count(value.layers[-1].weights.size if value.layers else value.width)

    def count(self, numbers: int) -> None:
        """Counts so many numbers.

        Raises:
            WireError: they are too many for the file.

        """
        self._left -= numbers
        if self._left < 0:
            raise WireError(
                "the operators of this ONNX file make more numbers than its length accounts for; "
                "simplify it (onnxsim) or export it again"
            )


def scaled(
    chain: Chain,
    factor: NDArray[np.float64],
    shift: NDArray[np.float64],
    centre: NDArray[np.float64] | None = None,
) -> Chain:
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
        raise ParameterError(f"scaling of {chain.width} units behind an activation; {BEFORE}")
    return replace(chain, layers=(*chain.layers, Layer(np.diag(factor), shift)))


def is_sum(chain: Chain) -> bool:
    """Whether a layer comes last that has no activation yet."""
    return bool(chain.layers) and chain.layers[-1].activation == "identity"


def with_activation(chain: Chain, activation: str) -> Chain:
    """The same with this activation of its last layer, which has none."""
    *before, last = chain.layers
    return replace(chain, layers=(*before, replace(last, activation=activation)))


def is_logistic_of(chain: Chain, before: Chain) -> bool:
    """Whether this is the sigmoid of another chain, which ends in sums."""
    if not is_sum(before) or not ends_in_logistic(chain, several=True):
        return False
    same = chain.steps == before.steps and chain.layers[:-1] == before.layers[:-1]
    return same and chain.layers[-1].weights is before.layers[-1].weights


def ends_in_logistic(chain: Chain, *, several: bool = False) -> bool:
    """Whether a sigmoid comes last: of one score, or of several too."""
    last = chain.layers[-1].activation if chain.layers else "identity"
    return last == "logistic" and (several or chain.width == 1)


def scored_of(chain: Chain) -> Scored:
    """The scores before a last sigmoid, if there is one."""
    *before, last = chain.layers
    link = "sigmoid" if chain.width == 1 else "one_against_rest"
    if last.activation == "identity":
        return Scored(chain.steps, DenseNetwork(chain.layers), "none")
    if last.activation != "logistic":
        raise ParameterError(
            f"classes by the highest of activations ({last.activation}); end in sums, Sigmoid or "
            "Softmax"
        )
    layers = (*before, replace(last, activation="identity"))
    return Scored(chain.steps, DenseNetwork(layers), link)


def softmaxed(chain: Chain) -> Scored:
    """The scores before a softmax.

    Raises:
        ParameterError: they are those of an activation.

    """
    last = chain.layers[-1].activation
    if last != "identity":
        raise ParameterError(
            f"Softmax of activations ({last}), which no side computes on encrypted scores; leave "
            f"them off, or add a layer of sums"
        )
    return Scored(chain.steps, DenseNetwork(chain.layers), "softmax")


def layered(
    chain: Chain, rows: NDArray[np.float64], added: NDArray[np.float64] | None = None
) -> Chain:
    """Another layer of these weights, a row for each output."""
    if rows.ndim != 2 or not rows.size or rows.shape[1] != chain.width:
        raise WireError(f"weights of an ONNX graph meet rows of {chain.width} in another shape")
    layer = Layer(rows, np.zeros(len(rows)) if added is None else added)
    return replace(chain, width=len(rows), layers=(*chain.layers, layer))


def joined(parts: list[Any]) -> InputColumns:
    """The inputs of a graph, in their order, as one."""
    places = [(part.first, part.last) for part in parts if isinstance(part, InputColumns)]
    ends = [0, *(last for _, last in places)]
    if not places or len(places) != len(parts) or [a for a, _ in places] != ends[:-1]:
        raise ParameterError(
            "columns are joined where they are the inputs of a graph in their order, or a "
            "probability and its complement"
        )
    return InputColumns(0, ends[-1], single=any(part.single for part in parts))

"""What transformers of single numbers, and of the lengths of rows, do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from scipy import special

from hesc._native import ParameterError
from hesc.models.steps.scaling import bins
from hesc.models.tables.table_steps import Branch, Branches, Function, Normalise, Power, Quantiles
from hesc.models.transforms import Standard

if TYPE_CHECKING:
    from hesc.models.transforms import Transform

_FUNCTIONS: Final = {
    np.abs: "abs",
    np.fabs: "abs",
    np.arctan: "arctan",
    np.cbrt: "cbrt",
    np.cos: "cos",
    np.exp: "exp",
    np.expm1: "expm1",
    np.log: "log",
    np.log10: "log10",
    np.log1p: "log1p",
    np.log2: "log2",
    np.negative: "negative",
    np.reciprocal: "reciprocal",
    np.sin: "sin",
    np.sqrt: "sqrt",
    np.square: "square",
    np.tan: "tan",
    np.tanh: "tanh",
    special.expit: "sigmoid",
    special.logit: "logit",
}
"""What a client computes, by the function of numpy or scipy."""


def function(part: Any) -> list[Transform]:
    """What a `FunctionTransformer` does.

    Raises:
        ParameterError: a function that no client computes.

    """
    check_function(part)
    if part.func is None:
        return []
    return [Function(part.n_features_in_, _FUNCTIONS[part.func])]


def check_function(part: Any) -> None:
    """Refuses functions that are code.

    Raises:
        ParameterError: naming what a client computes.

    """
    if part.func is None:
        return
    known = part.func in _FUNCTIONS if isinstance(part.func, np.ufunc) else False
    if known and not part.kw_args:
        return
    name = str(getattr(part.func, "__name__", "a function"))
    called = "a lambda" if name == "<lambda>" else name[:80]
    names = ", ".join(f"numpy.{each.__name__}" for each in _FUNCTIONS if each.__name__ in dir(np))
    raise ParameterError(
        f"FunctionTransformer({called}) is code, which no client is sent; a client computes "
        f"{names}, scipy.special.expit and logit, without kw_args. Others it can apply before "
        f"hesc.ml sees the table"
    )


def power(part: Any) -> list[Transform]:
    """What a fitted `PowerTransformer` does."""
    steps: list[Transform] = [
        Power(part.method.replace("-", "_"), np.array(part.lambdas_, dtype=np.float64))
    ]
    if part.standardize:
        scaler = part._scaler  # noqa: SLF001 - scikit-learn has no other name for it
        steps.append(
            Standard(*(np.array(each, dtype=np.float64) for each in (scaler.mean_, scaler.scale_)))
        )
    return steps


def quantiles(part: Any) -> list[Transform]:
    """What a fitted `QuantileTransformer` does."""
    references, found = (
        np.array(each, dtype=np.float64) for each in (part.references_, part.quantiles_)
    )
    return [Quantiles(references, found, part.output_distribution)]


def normalise(part: Any) -> list[Transform]:
    """What a `Normalizer` does."""
    return [Normalise(part.n_features_in_, part.norm)]


def binarise(part: Any) -> list[Transform]:
    """What a `Binarizer` does: the upper one of two bins."""
    count = part.n_features_in_
    edges = np.array([part.threshold], dtype=np.float64)
    upper = tuple(range(1, 2 * count, 2))
    return [
        bins(count, [((place, edges), None) for place in range(count)]),
        Branches(2 * count, (Branch(upper, ()),)),
    ]

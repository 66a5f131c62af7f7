"""Networks with one hidden layer and the activation x^2, and their file form."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError, OutOfRangeError, ShapeError

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

_FORMAT: Final = "hesc square network 1"
_MAX_FILE = 1 << 24


class ModelFormatError(HescError):
    """A model file of the wrong shape; the message names the field."""


@dataclass(frozen=True)
class SquareNetwork:
    """`values = output_weights @ (hidden_weights @ z + hidden_bias)^2 + output_bias`.

    `z = clip(input_axes @ (x - input_center) / input_scale, -1, 1)`: the client's own
    preprocessing, part of the public side of the model. All weights and biases lie in [-1, 1], so
    that each is a stochastic number (koseki2022hesc section 4.3).
    """

    input_center: NDArray[np.float64]
    """(inputs,)"""
    input_axes: NDArray[np.float64]
    """(inputs, inputs)"""
    input_scale: NDArray[np.float64]
    """(inputs,), positive"""
    hidden_weights: NDArray[np.float64]
    """(hidden, inputs)"""
    hidden_bias: NDArray[np.float64]
    """(hidden,)"""
    output_weights: NDArray[np.float64]
    """(outputs, hidden)"""
    output_bias: NDArray[np.float64]
    """(outputs,)"""
    classes: tuple[str, ...]
    """A name for each output."""

    def __post_init__(self) -> None:
        if self.hidden_weights.ndim != 2 or self.hidden_weights.size == 0:
            raise ModelFormatError(
                f"hidden_weights must be a matrix, hidden by inputs, not shape "
                f"{self.hidden_weights.shape}"
            )
        hidden, inputs = self.hidden_weights.shape
        outputs = len(self.classes)
        shapes = {
            "input_center": (inputs,),
            "input_axes": (inputs, inputs),
            "input_scale": (inputs,),
            "hidden_bias": (hidden,),
            "output_weights": (outputs, hidden),
            "output_bias": (outputs,),
        }
        for name, shape in shapes.items():
            found = getattr(self, name).shape
            if found != shape:
                raise ModelFormatError(
                    f"{name} has shape {found}, but {shape} follows from hidden_weights "
                    f"{self.hidden_weights.shape} and {outputs} classes"
                )
        for name in ("input_center", "input_axes", "input_scale"):
            if not np.isfinite(getattr(self, name)).all():
                raise ModelFormatError(f"{name} must be finite")
        if not (self.input_scale > 0).all():
            raise ModelFormatError("input_scale must be positive")
        for name in ("hidden_weights", "hidden_bias", "output_weights", "output_bias"):
            # The comparison is false for NaN.
            if not (np.abs(getattr(self, name)) <= 1).all():
                raise ModelFormatError(f"{name} holds values outside [-1, 1]; clip or rescale them")

    @property
    def inputs(self) -> int:
        """Number of features."""
        return int(self.hidden_weights.shape[1])

    # In the clear -----------------------------------------------------------------------------

    def normalise(self, features: ArrayLike) -> NDArray[np.float64]:
        """Features (samples, inputs) scaled into [-1, 1] and clipped there."""
        x = np.asarray(features, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != self.inputs:
            raise ShapeError(f"features must have shape (samples, {self.inputs}), not {x.shape}")
        if not np.isfinite(x).all():
            row, column = np.argwhere(~np.isfinite(x))[0]
            raise OutOfRangeError(f"feature {column} of sample {row} is {x[row, column]}; fill it")
        z = (x - self.input_center) @ self.input_axes.T
        z /= self.input_scale
        # numpy's clip costs more than both of these on a single sample.
        np.maximum(z, -1, out=z)
        return np.minimum(z, 1, out=z)

    def values(self, features: ArrayLike) -> NDArray[np.float64]:
        """Outputs (samples, outputs) in floating point."""
        hidden = self.normalise(features) @ self.hidden_weights.T + self.hidden_bias
        result: NDArray[np.float64] = hidden**2 @ self.output_weights.T + self.output_bias
        return result

    def predict(self, features: ArrayLike) -> NDArray[np.intp]:
        """The index of the class of each sample, in floating point."""
        index: NDArray[np.intp] = self.values(features).argmax(axis=1)
        return index

    # As a quadratic polynomial ------------------------------------------------------------------

    @cached_property
    def exponents(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The two factors of each monomial: indices into (1, z_1, ..., z_inputs)."""
        return np.triu_indices(self.inputs + 1)

    def monomials(self, features: ArrayLike) -> NDArray[np.float64]:
        """All products of two of (1, z_1, ...): (samples, monomials), each in [-1, 1]."""
        z = self.normalise(features)
        ones = np.ones((len(z), self.inputs + 1))
        ones[:, 1:] = z
        left, right = self.exponents
        result: NDArray[np.float64] = ones[:, left] * ones[:, right]
        return result

    def coefficients(self) -> NDArray[np.float64]:
        """`values = monomials @ coefficients.T`: (outputs, monomials), of any size."""
        affine = np.column_stack([self.hidden_bias, self.hidden_weights])
        forms = np.einsum("oh,hi,hj->oij", self.output_weights, affine, affine)
        forms[:, 0, 0] += self.output_bias
        left, right = self.exponents
        result: NDArray[np.float64] = forms[:, left, right] * np.where(left == right, 1.0, 2.0)
        return result

    # File ---------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the network as JSON."""
        fields = {
            name: getattr(self, name).tolist()
            for name in self.__dataclass_fields__
            if name != "classes"
        }
        document = {"format": _FORMAT, "classes": list(self.classes), **fields}
        Path(path).write_text(json.dumps(document, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SquareNetwork:
        """Reads a file that `save` wrote; strict.

        Raises:
            ModelFormatError: no JSON, other fields, wrong shapes, values out of range.

        """
        with Path(path).open("rb") as file:
            data = file.read(_MAX_FILE + 1)
        if len(data) > _MAX_FILE:
            raise ModelFormatError(f"{path} is larger than any model; is it the right file?")
        try:
            document = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ModelFormatError(f"{path} is no JSON file: {error}") from error
        return cls.from_document(document)

    @classmethod
    def from_document(cls, document: Any) -> SquareNetwork:
        """The network of a parsed file; see `load`."""
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise ModelFormatError(f"this is no model: its format is not {_FORMAT!r}")
        expected = {"format", *cls.__dataclass_fields__}
        if set(document) != expected:
            raise ModelFormatError(
                f"wrong fields: missing {sorted(expected - set(document))}, "
                f"unknown {sorted(set(document) - expected)}"
            )
        classes = document["classes"]
        if not (
            isinstance(classes, list) and classes and all(isinstance(name, str) for name in classes)
        ):
            raise ModelFormatError("classes must be a list of names")
        arrays = {name: _numbers(name, document[name]) for name in expected - {"format", "classes"}}
        return cls(classes=tuple(classes), **arrays)


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    def check(item: Any) -> None:
        if isinstance(item, list):
            for entry in item:
                check(entry)
        elif isinstance(item, bool) or not isinstance(item, int | float) or not math.isfinite(item):
            raise ModelFormatError(f"{name} holds {item!r}, which is no finite number")

    check(values)
    try:
        return np.array(values, dtype=np.float64)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError(f"{name} is no array: its rows differ in length") from error

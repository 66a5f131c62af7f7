"""Networks with one hidden layer and the activation x^2, and their file form."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import HescError, OutOfRangeError, ShapeError
from hesc._support.inputs import real_array, several, written
from hesc._support.new_files import new_file, read_whole
from hesc._support.strict_json import parsed

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import ArrayLike, NDArray

_FORMAT: Final = "hesc square network 1"
_MAX_FILE = 1 << 24
_MOST_AXES: Final = 2


class ModelFormatError(HescError):
    """A model file of the wrong shape; the message names the field."""


@dataclass(frozen=True)
class Preprocessing:
    """The public side of a network: what a client needs to prepare its features.

    `z = clip(axes @ (x - center) / scale, -1, 1)`.
    """

    center: NDArray[np.float64]
    """(inputs,)"""
    axes: NDArray[np.float64]
    """(inputs, inputs)"""
    scale: NDArray[np.float64]
    """(inputs,), positive"""
    classes: tuple[str, ...]
    """A name for each output."""

    def __post_init__(self) -> None:
        _take_arrays(self)
        inputs = len(self.center) if self.center.ndim == 1 else 0
        if not inputs:
            raise ModelFormatError(f"center must be a vector, not of shape {self.center.shape}")
        _check_shapes(self, {"axes": (inputs, inputs), "scale": (inputs,)}, "center")
        for name in ("center", "axes", "scale"):
            if not np.isfinite(getattr(self, name)).all():
                raise ModelFormatError(f"{name} must be finite")
        if not (self.scale > 0).all():
            raise ModelFormatError("scale must be positive")
        if not all(np.isfinite(part).all() for part in self._affine):
            raise ModelFormatError(
                "axes over scale is beyond what doubles hold; rescale the features"
            )
        if not self.classes:
            raise ModelFormatError("classes must name at least one output")
        # They come from the model's owner and go to the client's terminal.
        if not all(name.isprintable() for name in self.classes):
            raise ModelFormatError("classes must be printable text, without control characters")

    @property
    def inputs(self) -> int:
        """Number of features."""
        return len(self.center)

    def normalise(self, features: ArrayLike) -> NDArray[np.float64]:
        """Features (samples, inputs) scaled into [-1, 1] and clipped there."""
        x = real_array(features, "features")
        if x.ndim != 2 or x.shape[1] != self.inputs:
            raise ShapeError(f"features must have shape (samples, {self.inputs}), not {x.shape}")
        matrix, offset = self._affine
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            z = x @ matrix
            z += offset
            # One sum tells that all is finite: a single sample costs little more than its checks.
            finite = math.isfinite(z.sum())
        if not finite and not np.isfinite(x).all():
            row, column = np.argwhere(~np.isfinite(x))[0]
            raise OutOfRangeError(f"feature {column} of sample {row} is {x[row, column]}; fill it")
        np.maximum(z, -1, out=z)
        return np.minimum(z, 1, out=z)

    @cached_property
    def _affine(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """`z = x @ matrix + offset` before the clip."""
        # What overflows is refused when the object is made.
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            matrix = self.axes.T / self.scale
            return matrix, -self.center @ matrix

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
        result = ones.take(left, axis=1)
        result *= ones.take(right, axis=1)
        return result


@dataclass(frozen=True)
class SquareNetwork:
    """`values = output_weights @ (hidden_weights @ z + hidden_bias)^2 + output_bias`.

    `z` comes from the `preprocessing`. All weights and biases lie in [-1, 1], so that each is a
    stochastic number (koseki2022hesc section 4.3).
    """

    center: NDArray[np.float64]
    """(inputs,), see `Preprocessing`"""
    axes: NDArray[np.float64]
    """(inputs, inputs)"""
    scale: NDArray[np.float64]
    """(inputs,)"""
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
        _take_arrays(self)
        inputs, outputs = self.preprocessing.inputs, len(self.classes)
        hidden = len(self.hidden_bias) if self.hidden_bias.ndim == 1 else 0
        if not hidden:
            raise ModelFormatError(
                f"hidden_bias must be a vector, not of shape {self.hidden_bias.shape}"
            )
        shapes = {
            "hidden_weights": (hidden, inputs),
            "output_weights": (outputs, hidden),
            "output_bias": (outputs,),
        }
        _check_shapes(self, shapes, "center, hidden_bias and classes")
        for name in ("hidden_weights", "hidden_bias", "output_weights", "output_bias"):
            # The comparison is false for NaN.
            if not (np.abs(getattr(self, name)) <= 1).all():
                raise ModelFormatError(f"{name} holds values outside [-1, 1]; clip or rescale them")

    @cached_property
    def preprocessing(self) -> Preprocessing:
        """The public side."""
        return Preprocessing(self.center, self.axes, self.scale, self.classes)

    # In the clear -----------------------------------------------------------------------------

    def values(self, features: ArrayLike) -> NDArray[np.float64]:
        """Outputs (samples, outputs) in floating point."""
        z = self.preprocessing.normalise(features)
        # Squares of small numbers are nothing beside the bias.
        with np.errstate(under="ignore"):
            hidden = z @ self.hidden_weights.T + self.hidden_bias
            result: NDArray[np.float64] = hidden**2 @ self.output_weights.T + self.output_bias
        return result

    def predict(self, features: ArrayLike) -> NDArray[np.intp]:
        """The index of the class of each sample, in floating point."""
        index: NDArray[np.intp] = self.values(features).argmax(axis=1)
        return index

    # As a quadratic polynomial ------------------------------------------------------------------

    def coefficients(self) -> NDArray[np.float64]:
        """`values = monomials @ coefficients.T`: (outputs, monomials), of any size."""
        affine = np.column_stack([self.hidden_bias, self.hidden_weights])
        forms = np.einsum("oh,hi,hj->oij", self.output_weights, affine, affine)
        forms[:, 0, 0] += self.output_bias
        left, right = self.preprocessing.exponents
        result: NDArray[np.float64] = forms[:, left, right] * np.where(left == right, 1.0, 2.0)
        return result

    # File ---------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the network as JSON, whole or not at all.

        Raises:
            OSError: something of that name is there, which is not overwritten, or the disk is full.

        """
        arrays = {
            field.name: getattr(self, field.name).tolist()
            for field in fields(self)
            if field.name != "classes"
        }
        document = {"format": _FORMAT, "classes": list(self.classes), **arrays}
        with new_file(path) as part:
            part.write_text(json.dumps(document, indent=1) + "\n")

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SquareNetwork:
        """Reads a file that `save` wrote; strict.

        Raises:
            ModelFormatError: no JSON, other fields, wrong shapes, values out of range.

        """
        names, arrays = _fields(_load(path))
        return cls(classes=names, **arrays)


def _take_arrays(of: Preprocessing | SquareNetwork) -> None:
    """Refuses what are no arrays of numbers, and no names."""
    for field in fields(of):
        if field.name != "classes":
            object.__setattr__(of, field.name, real_array(getattr(of, field.name), field.name))
    names = several(of.classes, "classes", "give a name for each output")
    object.__setattr__(of, "classes", tuple(written(name, "a name of a class") for name in names))


def _check_shapes(of: object, shapes: dict[str, tuple[int, ...]], given: str) -> None:
    for name, shape in shapes.items():
        found = getattr(of, name).shape
        if found != shape:
            raise ModelFormatError(f"{name} has shape {found}, but {shape} follows from {given}")


def _load(path: str | PathLike[str]) -> Any:
    data = read_whole(path, _MAX_FILE, "a model")
    try:
        return parsed(data)
    except ValueError as error:
        raise ModelFormatError(f"{path} is no JSON file: {error}") from error


def _fields(document: Any) -> tuple[tuple[str, ...], dict[str, NDArray[np.float64]]]:
    """The classes and the arrays of a parsed file."""
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise ModelFormatError(f"the file's format is not {_FORMAT!r}")
    expected = {"format", *(field.name for field in fields(SquareNetwork))}
    if set(document) != expected:
        raise ModelFormatError(
            f"wrong fields: missing {sorted(expected - set(document))}, "
            f"unknown {sorted(set(document) - expected)}"
        )
    classes = document["classes"]
    if not (isinstance(classes, list) and all(isinstance(name, str) for name in classes)):
        raise ModelFormatError("classes must be a list of names")
    arrays = {name: _numbers(name, document[name]) for name in expected - {"format", "classes"}}
    return tuple(classes), arrays


def _is_finite(number: float) -> bool:
    """Whether a double holds it; integers of a file may have any length."""
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _numbers(name: str, values: Any) -> NDArray[np.float64]:
    def check(item: Any, axes: int) -> None:
        # No deeper: a file may nest lists as deep as it is long.
        if isinstance(item, list) and axes > 0:
            for entry in item:
                check(entry, axes - 1)
        elif isinstance(item, bool) or not isinstance(item, int | float) or not _is_finite(item):
            shown = repr(item) if isinstance(item, str | float) else type(item).__name__
            raise ModelFormatError(f"{name} holds {shown[:40]}, which is no finite number")

    check(values, _MOST_AXES)
    try:
        return np.array(values, dtype=np.float64)
    except (ValueError, OverflowError) as error:
        raise ModelFormatError(f"{name} is no array: its rows differ in length") from error

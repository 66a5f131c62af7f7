"""What one side multiplies with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import one_name, real_array, whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

SOURCES: Final = ("secret", "public", "clear")
AXES: Final = 8
ELEMENTS: Final = 2**20


class Factor:
    """The numbers of one side: their shape and bounds, and how they come. Public.

    Args:
        shape: of the numbers of one sample: a length, or axes; `()` for one number.
        bound: the largest absolute value, of each number or one for all. It is declared: numbers
            beyond are refused when they are encrypted, and whoever takes it from data to be hidden
            publishes what he saw. The wider, the larger the errors.
        source: "secret" for numbers that the key owner encrypts, "public" for those that others
            encrypt under his public keys, "clear" for those that whoever computes knows; these
            serve all samples.
        shared: whether one set of numbers serves all samples, such as a model's weights.

    Raises:
        ParameterError: another source.
        ShapeError, OutOfRangeError: shapes or bounds that cannot be.

    """

    def __init__(
        self,
        shape: int | tuple[int, ...] = (),
        *,
        bound: ArrayLike = 1.0,
        source: str = "secret",
        shared: bool = False,
    ) -> None:
        axes = shape if isinstance(shape, tuple) else (shape,)
        if len(axes) > AXES:
            raise ShapeError(f"a factor has {AXES} axes at most; got the shape {axes}")
        self.shape = tuple(whole(axis, "an axis of the shape", 1, ELEMENTS) for axis in axes)
        self.source = one_name(source, "source", SOURCES)
        if not isinstance(shared, bool | np.bool_):
            raise ParameterError(f"shared is True or False, not {type(shared).__name__}")
        self.shared = bool(shared) or source == "clear"
        bounds = real_array(bound, "bound")
        if bounds.shape not in {(), self.shape}:
            raise ShapeError(
                f"bound is a number, or one for each of the shape {self.shape}; got {bounds.shape}"
            )
        if np.prod(self.shape, dtype=np.float64) > ELEMENTS:
            raise ShapeError(f"a factor has {ELEMENTS} numbers at most; got the shape {self.shape}")
        # A copy: what was declared is not the caller's to change.
        self.bounds: NDArray[np.float64] = np.broadcast_to(np.array(bounds), self.shape)

    def __repr__(self) -> str:
        shared = ", shared" if self.shared else ""
        return f"<hesc.logarithms.Factor: shape {self.shape}, {self.source}{shared}>"


def rows_of(factor: Factor, values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Numbers one after the other: those of one sample, or of samples along a further axis.

    Raises:
        ShapeError: another shape.

    """
    array = real_array(values, name)
    axes = len(factor.shape)
    one = array.shape == factor.shape
    samples = not factor.shared and array.ndim == axes + 1 and array.shape[1:] == factor.shape
    if not (one or samples):
        before = "" if factor.shared else ", or that of samples before it"
        raise ShapeError(f"{name} has the shape {factor.shape}{before}; got {array.shape}")
    return array.reshape(-1)

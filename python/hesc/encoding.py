"""Numbers to streams and back, with shapes."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import numpy as np

from hesc import _native
from hesc._native import ShapeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Estimates(NamedTuple):
    """Decoded values and their standard errors, arrays of one shape."""

    value: NDArray[np.float64]
    standard_error: NDArray[np.float64]


class EncodedArray(NamedTuple):
    """Streams in the clear, one for each value of an array of `shape`."""

    streams: _native.BitStreams
    shape: tuple[int, ...]

    def decode(self) -> Estimates:
        """The values that the streams hold, with standard errors."""
        values, errors = self.streams.decode()
        return Estimates(values.reshape(self.shape), errors.reshape(self.shape))


class EncoderOptions(TypedDict, total=False):
    """The keyword arguments of `Encoder`."""

    generator: str
    representation: str
    first_dimension: int
    random_state: int | None


class Encoder:
    """Turns numbers into bit streams; knows no keys.

    Each call takes a new dimension of the generator (or a new draw), so that streams of different
    calls are independent and may be multiplied.

    Args:
        stream_length: bits of a stream, 1 to 2^24; powers of two serve best.
        generator: "sobol" (least error, 1024 dimensions), "bernoulli", "exact_weight", "lfsr".
        representation: "inverted_bipolar" for values in [-1, 1] (products on schemes that add) or
            "unipolar" for [0, 1].
        first_dimension: dimension of the first call. Two encoders whose streams are to be
            multiplied start at different ones.
        random_state: seed, numpy style; None draws one from the operating system.

    """

    def __init__(
        self,
        stream_length: int = 256,
        *,
        generator: str = "sobol",
        representation: str = "inverted_bipolar",
        first_dimension: int = 0,
        random_state: int | None = None,
    ) -> None:
        self._native = _native.Encoder(
            generator=generator,
            representation=representation,
            stream_length=stream_length,
            first_dimension=first_dimension,
            random_state=secrets.randbits(64) if random_state is None else random_state,
        )
        self.stream_length = stream_length

    @property
    def next_dimension(self) -> int:
        """The dimension or draw of the next call."""
        return self._native.next_dimension

    def encode(self, values: ArrayLike) -> EncodedArray:
        """One stream for each value.

        Raises:
            OutOfRangeError: a value outside the range, or NaN; nothing is encoded.
            ShapeError: an empty array, or an impossible stream length.
            CorrelationError: all dimensions of the generator are used.

        """
        array = np.asarray(values)
        if array.dtype.kind not in "buif":
            raise ShapeError(
                f"values must be real numbers, got dtype {array.dtype}; convert them to float"
            )
        array = np.ascontiguousarray(array, dtype=np.float64)
        return EncodedArray(self._native.encode(array.reshape(-1)), array.shape)

"""Numbers to streams and back, with shapes, and what circuits do to streams in the clear."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Never, TypedDict

import numpy as np

from hesc import _native
from hesc._native import OutOfRangeError, ShapeError
from hesc._support.inputs import (
    INDEX,
    LONGEST,
    WORD,
    flat,
    of_kind,
    real,
    real_array,
    whole,
    written,
)
from hesc._support.memory import make_room

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Never, Self

    from numpy.typing import ArrayLike, NDArray


class Estimates(NamedTuple):
    """Decoded values and their standard errors, arrays of one shape."""

    value: NDArray[np.float64]
    standard_error: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EncodedArray:
    """Streams in the clear, one for each value of an array of `shape`.

    `x * y` is the product of the representation (AND for unipolar, XOR for inverted bipolar) and
    refuses streams of one draw; `&`, `|`, `^` and `~` are the gates, whatever the correlation. The
    sums work over the last axis; products take them in a new order only, `shuffled`. Only what an
    `Encoder` returned can be encrypted.
    """

    streams: _native.BitStreams
    shape: tuple[int, ...]

    # numpy arrays on the left defer to the operators here.
    __array_ufunc__ = None

    def __array__(self, dtype: object = None, copy: object = None) -> Never:
        raise TypeError("streams are no numpy array; take their `values` or their `bits`")

    def decode(self) -> Estimates:
        """The values that the streams hold, with standard errors by the encoder's law."""
        values, errors = self.streams.decode()
        return Estimates(values.reshape(self.shape), errors.reshape(self.shape))

    @property
    def values(self) -> NDArray[np.float64]:
        """The values that the streams hold."""
        return self.streams.values().reshape(self.shape)

    @property
    def bits(self) -> NDArray[np.uint8]:
        """Zeros and ones, one a byte, along a new last axis of `stream_length`."""
        make_room(len(self.streams) * self.streams.stream_length, "bits, a byte each,")
        words = self.streams.words().astype("<u8", copy=False)
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")
        length = self.streams.stream_length
        return bits.reshape(len(self.streams), -1)[:, :length].reshape(*self.shape, length)

    def _with(
        self,
        other: EncodedArray,
        operation: Callable[[_native.BitStreams, _native.BitStreams], _native.BitStreams],
    ) -> EncodedArray:
        own = np.arange(len(self.streams)).reshape(self.shape)
        others = np.arange(len(other.streams)).reshape(other.shape)
        try:
            left, right = np.broadcast_arrays(own, others)
        except ValueError as error:
            raise ShapeError(f"shapes {self.shape} and {other.shape} do not broadcast") from error
        _room_for_streams(left.size, self.streams.stream_length)
        a = self.streams if left.shape == self.shape else self.streams.select(flat(left))
        b = other.streams if right.shape == other.shape else other.streams.select(flat(right))
        return EncodedArray(operation(a, b), left.shape)

    def _operand(
        self,
        other: Any,
        operation: Callable[[_native.BitStreams, _native.BitStreams], _native.BitStreams],
    ) -> EncodedArray:
        return self._with(other, operation) if isinstance(other, EncodedArray) else NotImplemented

    def __mul__(self, other: EncodedArray) -> EncodedArray:
        return self._operand(other, _native.BitStreams.multiply)

    def __xor__(self, other: EncodedArray) -> EncodedArray:
        return self._operand(other, _native.BitStreams.xor)

    def __and__(self, other: EncodedArray) -> EncodedArray:
        return self._operand(other, _native.BitStreams.and_)

    def __or__(self, other: EncodedArray) -> EncodedArray:
        return self._operand(other, _native.BitStreams.or_)

    def __invert__(self) -> EncodedArray:
        return EncodedArray(self.streams.complement(), self.shape)

    def correlation(self, other: EncodedArray) -> NDArray[np.float64]:
        """Stochastic cross-correlation (SCC) with the streams of an array of the same shape."""
        of_kind(other, "other", EncodedArray, "Encoder.encode returns streams")
        if self.shape != other.shape:
            raise ShapeError(f"shapes {self.shape} and {other.shape} differ")
        return _native.scc(self.streams, other.streams).reshape(self.shape)

    def delayed(self, positions: int) -> EncodedArray:
        """Every stream turned around by some positions, backwards if negative: an isolator.

        For circuits that compare or add two drawn streams ("bernoulli", "exact_weight") bit by bit,
        see `scc`. It remains the same stream to products, which refuse it beside itself: the bits
        of such a product are not independent. `shuffled` makes a factor of it.
        """
        turned = whole(positions, "positions", -WORD) % self.streams.stream_length
        return EncodedArray(self.streams.delayed(turned), self.shape)

    def shuffled(self, random_state: int) -> EncodedArray:
        """Every stream in a random order of its own: independent of all others.

        Another `random_state` for every array that is to be multiplied.
        """
        seed = whole(random_state, "random_state", 0, WORD)
        return EncodedArray(self.streams.shuffled(seed), self.shape)

    def _last_axis(self) -> tuple[int, tuple[int, ...]]:
        if not self.shape:
            raise ShapeError("an array without axes has nothing to sum")
        return self.shape[-1], self.shape[:-1]

    def concatenated_sum(self) -> EncodedArray:
        """The mean over the last axis, exactly, in streams as long as all operands together."""
        group, shape = self._last_axis()
        return EncodedArray(self.streams.concatenated_sum(group), shape)

    def multiplexed_sum(
        self, *, probabilities: ArrayLike | None = None, random_state: int
    ) -> EncodedArray:
        """The weighted mean over the last axis by random selection; equal weights if not given."""
        group, shape = self._last_axis()
        weights = np.ones(group) if probabilities is None else real_array(probabilities)
        if weights.shape != (group,):
            raise ShapeError(f"{group} probabilities are needed, got shape {weights.shape}")
        selector = _native.Selector(whole(random_state, "random_state", 0, WORD))
        return EncodedArray(self.streams.multiplexed_sum(weights, selector), shape)

    def scaled_sum(self) -> EncodedArray:
        """The mean over the last axis by an accumulator: exact to a bit, for clear streams only.

        Its bits follow the accumulator: products take the sum in a new order, `shuffled`.
        """
        group, shape = self._last_axis()
        return EncodedArray(self.streams.scaled_sum(group), shape)

    def saturating_sum(self) -> EncodedArray:
        """The sum over the last axis, cut to the range, for clear streams only."""
        group, shape = self._last_axis()
        return EncodedArray(self.streams.saturating_sum(group), shape)

    def approximate_parallel_count(self) -> NDArray[np.float64]:
        """Sums over the last axis by an approximate parallel counter: values, not streams."""
        group, shape = self._last_axis()
        return self.streams.approximate_parallel_count(group).reshape(shape)


def _room_for_streams(streams: int, stream_length: int) -> None:
    """Refuses streams that there is no memory for."""
    needed = 8 * streams * -(-stream_length // 64)
    make_room(needed, f"{streams:,} streams of {stream_length:,} bits")


class EncoderOptions(TypedDict, total=False):
    """The keyword arguments of `Encoder`."""

    generator: str | None
    representation: str
    first_dimension: int
    factors: int
    random_state: int | None


class Encoder(_native.Encoder):
    """Turns numbers into bit streams; knows no keys.

    Each call takes a new dimension of the generator (or a new draw), so that streams of different
    calls are independent and may be multiplied.

    Args:
        stream_length: bits of a stream, 1 to 2^24; powers of two serve best.
        generator: None (the default) is "sobol" for each array and "joint" for the factors of one
            `encode_factors`, of inverted-bipolar streams: the least error of both. "sobol" (least
            error between parties; 6 dimensions for 64 bits, 8 for 256, 10 for 1024, 12 for 4096,
            and random arrangements behind them), "joint" (least error where one party encodes all
            factors, see `encode_factors`; single arrays ten times as slow as "sobol"), "halton",
            "hammersley", "lattice", "plain_sobol" (not scrambled), "lfsr", "exact_weight",
            "bernoulli" (independent bits); for deterministic exact products "clock_division",
            "rotation" (lengths n^factors) and "coprime_lengths" (products of coprime numbers).
        representation: "inverted_bipolar" for values in [-1, 1] (products on schemes that add) or
            "unipolar" for [0, 1].
        first_dimension: dimension of the first call. Two encoders whose streams are to be
            multiplied start at different ones.
        factors: factors of a product of the deterministic generators; they have as many dimensions.
        random_state: seed, numpy style; None draws one from the operating system.

    """

    stream_length: int
    _representation: str
    _jointly: bool

    def __new__(
        cls,
        stream_length: int = 256,
        *,
        generator: str | None = None,
        representation: str = "inverted_bipolar",
        first_dimension: int = 0,
        factors: int = 2,
        random_state: int | None = None,
    ) -> Self:
        """An encoder, which begins at its first dimension."""
        length = whole(stream_length, "stream_length", 0)
        if not 1 <= length <= LONGEST:
            raise ShapeError(f"stream_length {stream_length} is not in [1, {LONGEST}]")
        for name, value in (("generator", generator), ("representation", representation)):
            if value is not None or name == "representation":
                of_kind(value, name, str, "it is a name; help(hesc.Encoder) lists them")
                written(value, name)
        made = super().__new__(
            cls,
            generator="sobol" if generator is None else generator,
            representation=representation,
            stream_length=length,
            first_dimension=whole(first_dimension, "first_dimension", 0, INDEX),
            factors=whole(factors, "factors", 1, INDEX),
            random_state=secrets.randbits(64)
            if random_state is None
            else whole(random_state, "random_state", 0, WORD),
        )
        made.stream_length = length
        made._representation = representation
        # Conjunctions have no joint streams.
        made._jointly = generator is None and representation == "inverted_bipolar"
        return made

    def __reduce__(self) -> Never:
        raise TypeError(
            "an encoder, and what holds one, is not pickled or copied: both would take the same "
            "dimensions and draws; make one in each process, each with a first_dimension of its own"
        )

    def encode(self, values: ArrayLike) -> EncodedArray:
        """One stream for each value.

        Raises:
            OutOfRangeError: a value outside the range, or NaN; nothing is encoded.
            ShapeError: an empty array, or values that are no real numbers.
            CorrelationError: all dimensions of the generator are used; Sobol's never are: random
                arrangements of exact weight take their place.
            MemoryError: streams that there is no memory for.

        """
        array = real_array(values)
        _room_for_streams(array.size, self.stream_length)
        return EncodedArray(self.streams_of(array.reshape(-1)), array.shape)

    def encode_factors(self, values: ArrayLike) -> list[EncodedArray]:
        """The factors of products: `values[k]` holds the k-th factor of each.

        The generator "joint", which is the default for these, lays the streams of each product over
        one another so that every prefix `x_1 ... x_k` has the right number of ones: the error of a
        product of any number of factors is a bit or so. Products with streams of other calls are as
        good as those of "sobol", other products of the same factors (`x_1 x_3`) two to four times
        worse than those: for such products choose "sobol". For the other generators this is a call
        of `encode` for each factor; so it is by default for unipolar streams, and for more factors
        than "joint" has dimensions.

        >>> import numpy as np
        >>> x = np.linspace(-1, 1, 9)
        >>> a, b, c = Encoder(1024, random_state=0).encode_factors([x, x, x])
        >>> bool(np.all(np.abs((a * b * c).values - x**3) <= 3 * 2 / 1024))
        True
        """
        array = real_array(values)
        if array.ndim == 0:
            raise ShapeError("give the factors along the first axis")
        _room_for_streams(array.size, self.stream_length)
        encoded = self.factors_of(
            array.reshape(-1), len(array), jointly=self._jointly and len(array) > 1
        )
        return [EncodedArray(streams, array.shape[1:]) for streams in encoded]

    def error_bound(self, factors: int = 1, *, failure_probability: float = 1e-9) -> float | None:
        """A proved bound on the error of a product of the streams of the next `factors` calls.

        Certain for structured generators; for "bernoulli" and "exact_weight" it holds with
        probability `1 - failure_probability`. None where nothing below the range is proved. For
        "joint" it holds for prefixes of one `encode_factors`.
        """
        count = whole(factors, "factors", 1, INDEX)
        return self.proved_bound(count, real(failure_probability, "failure_probability"))

    def predicted_error(self, values: ArrayLike, factors: int = 1) -> NDArray[np.float64]:
        """The standard deviation of products with these values, by the generator's law.

        It is that of the streams of the next `factors` calls of `encode`, or, for "joint", of the
        prefixes of one `encode_factors`. Exact for independent bits; for
        exact weights the mean over factors that are spread evenly and have this product (equal
        ones err up to a quarter more); measured for the very dimensions of structured generators,
        which takes milliseconds the first time.

        Raises:
            OutOfRangeError: for values that the representation does not have.

        """
        array = real_array(values)
        lowest = 0.0 if self._representation == "unipolar" else -1.0
        if not np.all((array >= lowest) & (array <= 1)):
            raise OutOfRangeError(f"values of products are in [{lowest:g}, 1]")
        count = whole(factors, "factors", 1, INDEX)
        return self.expected_error(array.reshape(-1), count).reshape(array.shape)

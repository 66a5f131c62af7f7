"""Encrypted arrays and the answers that go back. Nothing here can decrypt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hesc import _native
from hesc._native import NoiseBudgetError, ParameterError, ShapeError, WireError
from hesc._support.inputs import (
    INDEX,
    WORD,
    flat,
    of_kind,
    real_array,
    several,
    whole,
    whole_array,
    wire_bytes,
)
from hesc._support.memory import make_room
from hesc._support.opaque import Opaque
from hesc._support.pickling import ByWireForm
from hesc.params.stream_params import StreamParams, checked_params
from hesc.streams.encoding import EncodedArray
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from numpy.typing import ArrayLike, NDArray


_MAX_DIMENSIONS = 8
# Memory beside ciphertexts: positions and a number of an element; weight and place of a term.
_ELEMENT_BYTES, _TERM_BYTES = 24, 32
# Pairs of blocks that take little memory whatever the set.
_FEW = 256
# Bytes of a frame before its body.
_BODY = 14


def shape_to_bytes(shape: tuple[int, ...]) -> bytes:
    """Number of axes, then each length as four bytes."""
    if len(shape) > _MAX_DIMENSIONS:
        raise ShapeError(f"{len(shape)} axes are too many to send; reshape to {_MAX_DIMENSIONS}")
    return bytes([len(shape)]) + np.asarray(shape, dtype="<u4").tobytes()


def shape_from_bytes(data: bytes) -> tuple[tuple[int, ...], bytes]:
    """The shape and what follows it."""
    data = wire_bytes(data)
    axes = data[0] if data else _MAX_DIMENSIONS + 1
    end = 1 + 4 * axes
    if axes > _MAX_DIMENSIONS or len(data) < end:
        raise WireError("cannot read an array: its shape is damaged or truncated")
    return tuple(int(n) for n in np.frombuffer(data[1:end], dtype="<u4")), data[end:]


def check_elements(shape: tuple[int, ...], elements: int) -> None:
    """Refuses a shape that does not belong to the elements behind it."""
    if math.prod(shape) != elements:
        raise WireError(f"cannot read an array: shape {shape} does not hold {elements} elements")


def answer_claims(data: bytes) -> tuple[tuple[int, ...], int]:
    """Shape and stream length of an answer, by its bytes alone: nothing is read of ciphertexts.

    Raises:
        WireError: bytes that end before these.

    """
    shape, body = shape_from_bytes(data)
    at = _BODY + 4
    # Compact ciphertexts are one object, which the number 0 stands for.
    for _ in range(max(1, int.from_bytes(body[_BODY:at], "little"))):
        at += 8 + int.from_bytes(body[at : at + 8], "little")
        if at + 4 > len(body):
            raise WireError("cannot read an answer: it ends before its ciphertexts do")
    return shape, int.from_bytes(body[at : at + 4], "little")


class Answer(_native.Answer, ByWireForm, Opaque):
    """What goes back to the key owner: only ciphertexts in use, perhaps fused, mostly compact."""

    params: StreamParams
    shape: tuple[int, ...]

    def __new__(cls, params: StreamParams, native: _native.Answer, shape: tuple[int, ...]) -> Self:
        """A compiled answer and its shape."""
        made = super().__new__(cls, native)
        made.params, made.shape = params, shape
        return made

    def to_bytes(self) -> bytes:
        """The wire form."""
        return shape_to_bytes(self.shape) + super().to_bytes()

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> Self:  # type: ignore[override]
        """Reads the wire form; strict."""
        shape, body = shape_from_bytes(data)
        native = _native.Answer.from_bytes(checked_params(params), body)
        check_elements(shape, native.elements)
        return cls(params, native, shape)


class SeededArray(ByWireForm, Opaque):
    """An array encrypted under the secret key: half the bytes, the random half being a seed."""

    def __init__(
        self, params: StreamParams, native: _native.SeededArray, shape: tuple[int, ...]
    ) -> None:
        self.params = params
        self.native = native
        self.shape = shape

    def expand(self) -> EncryptedArray:
        """The form that can be computed on; the receiver does this."""
        return EncryptedArray(self.params, self.native.expand(), self.shape)

    def to_bytes(self) -> bytes:
        """The wire form."""
        return shape_to_bytes(self.shape) + self.native.to_bytes()

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> SeededArray:
        """Reads the wire form as it is; `EncryptedArray.from_bytes` expands it as well. Strict."""
        shape, body = shape_from_bytes(data)
        native = _native.SeededArray.from_bytes(checked_params(params), body)
        check_elements(shape, native.elements)
        return cls(params, native, shape)


def _meeting(
    left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[int, ...]]:
    """Pairs of elements that a matrix product multiplies, and its shape.

    Along the last axis of the pairs lie the terms of an entry.
    """
    rows = left[np.newaxis] if left.ndim == 1 else left
    columns = right[:, np.newaxis] if right.ndim == 1 else right
    if rows.ndim != 2 or columns.ndim != 2 or rows.shape[1] != columns.shape[0]:
        raise ShapeError(f"shapes {left.shape} and {right.shape} do not multiply")
    first, second = np.broadcast_arrays(rows[:, np.newaxis, :], columns.T[np.newaxis, :, :])
    return first, second, left.shape[:-1] + right.shape[1:]


def row_length(shape: tuple[int, ...]) -> int:
    """Streams that share blocks: those of the last axis."""
    return shape[-1] if shape else 1


class EncryptedArray(ByWireForm, Opaque):
    """An array of encrypted stochastic numbers, with numpy's shapes and broadcasting.

    `x * y` multiplies (one homomorphic addition), `x + y` and `x.sum()` concatenate (free, exact),
    `x * 0.5` scales by a public constant (free, exact), `x @ y` is both. The products of arrays
    that share a draw are refused: a stream times itself is no square.
    """

    def __init__(self, params: StreamParams, native: _native.Array, shape: tuple[int, ...]) -> None:
        self.params = params
        self.native = native
        self.shape = shape
        #: Number of elements.
        self.size = native.elements
        #: Bits of a stream.
        self.stream_length = native.stream_length
        #: Bits of room before decryption would fail; each product costs about one at first.
        self.noise_budget = native.noise_budget

    # Shape ------------------------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("an array without axes has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[EncryptedArray]:
        """The entries along the first axis."""
        return (self[index] for index in range(len(self)))

    def __repr__(self) -> str:
        return (
            f"<hesc.EncryptedArray shape={self.shape}, stream_length={self.stream_length}, "
            f"ciphertexts={self.native.blocks}, noise_budget={self.noise_budget:.1f} bits>"
        )

    def positions(self) -> NDArray[np.int64]:
        """The index of each element among all, in the array's shape."""
        return np.arange(self.size, dtype=np.int64).reshape(self.shape)

    def _room(self, elements: int) -> None:
        """Refuses results of so many elements that there is no memory for."""
        terms = self.native.terms_per_element
        what = f"an array of {elements:,} elements" + (f" of {terms:,} terms" if terms > 1 else "")
        make_room(elements * (_ELEMENT_BYTES + terms * _TERM_BYTES), what)

    def _taken(self, positions: NDArray[np.int64]) -> EncryptedArray:
        self._room(positions.size)
        native = self.native.select(flat(positions))
        return EncryptedArray(self.params, native, positions.shape)

    def __getitem__(self, key: Any) -> EncryptedArray:
        try:
            chosen = self.positions()[key]
        except ValueError as error:  # An index out of range is Python's own error, as of lists.
            raise ShapeError(f"nothing is chosen from shape {self.shape}: {error}") from error
        return self._taken(np.asarray(chosen))

    def reshape(self, *shape: int) -> EncryptedArray:
        """The same elements in another shape; free."""
        try:
            found = self.positions().reshape(*shape).shape
        except (TypeError, ValueError, OverflowError) as error:
            raise ShapeError(f"shape {self.shape} becomes no other: {error}") from error
        return EncryptedArray(self.params, self.native, found)

    def ravel(self) -> EncryptedArray:
        """All elements along one axis, the last axis fastest; free."""
        return EncryptedArray(self.params, self.native, (self.size,))

    def broadcast_to(self, shape: tuple[int, ...]) -> EncryptedArray:
        """The elements repeated to fill a shape; free."""
        try:
            positions = np.broadcast_to(self.positions(), shape)
        except (TypeError, ValueError, OverflowError) as error:
            raise ShapeError(f"shape {self.shape} does not broadcast to what is given") from error
        return self._taken(positions)

    @property
    def T(self) -> EncryptedArray:  # noqa: N802 - numpy's name
        """The transpose; free."""
        return self._taken(self.positions().T)

    # Arithmetic -------------------------------------------------------------------------------

    def _pairs(
        self, other: EncryptedArray, check: Callable[[int], None]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[int, ...]]:
        if self.shape == other.shape:
            check(self.size)
            same = np.arange(self.size, dtype=np.int64)
            return same, same, self.shape
        try:
            left, right = np.broadcast_arrays(self.positions(), other.positions())
        except ValueError as error:
            raise ShapeError(f"shapes {self.shape} and {other.shape} do not broadcast") from error
        check(left.size)
        return flat(left), flat(right), left.shape

    def _room_for_products(self, other: EncryptedArray, elements: int) -> None:
        """Refuses products of so many elements: a block of each pair of blocks that meet."""
        pairs = elements * self.native.terms_per_element * other.native.terms_per_element
        if pairs < _FEW:
            return
        together = max(-(-array.size // max(1, array.native.blocks)) for array in (self, other))
        needed = pairs * _TERM_BYTES + elements * _ELEMENT_BYTES
        needed += pairs // max(1, together) * self.params.block_bytes
        make_room(needed, f"products of {elements:,} elements")

    def _combine(
        self,
        other: EncryptedArray,
        operation: Callable[[_native.Array, NDArray[np.int64], NDArray[np.int64]], _native.Array],
        check: Callable[[int], None],
    ) -> EncryptedArray:
        left, right, shape = self._pairs(other, check)
        return EncryptedArray(self.params, operation(other.native, left, right), shape)

    def __mul__(self, other: EncryptedArray | ArrayLike) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            room = partial(self._room_for_products, other)
            return self._combine(other, self.native.multiply, room)
        taken, factors = self._with_numbers(other)
        return EncryptedArray(self.params, taken.native.scale(factors), taken.shape)

    __rmul__ = __mul__

    def __truediv__(self, other: ArrayLike) -> EncryptedArray:
        if isinstance(other, Opaque):
            raise TypeError("streams have no quotient; decrypt first, or multiply by an inverse")
        divisors = real_array(other)
        if not np.all(divisors):
            raise ZeroDivisionError("a division by zero has no value")
        # What overflows is refused by the product.
        with np.errstate(over="ignore", under="ignore"):
            factors = 1.0 / divisors
        return self * factors

    def __pos__(self) -> EncryptedArray:
        return self

    def __neg__(self) -> EncryptedArray:
        return self * -1.0

    def __add__(self, other: EncryptedArray | ArrayLike) -> EncryptedArray:
        if isinstance(other, EncryptedArray):
            return self._combine(other, self.native.add, self._room)
        # A public constant: exact, free, and visible to whoever holds the array.
        taken, constants = self._with_numbers(other)
        return EncryptedArray(self.params, taken.native.add_constants(constants), taken.shape)

    __radd__ = __add__

    def __sub__(self, other: EncryptedArray | ArrayLike) -> EncryptedArray:
        return self + (-other if isinstance(other, EncryptedArray) else -self._numbers(other))

    def __rsub__(self, other: ArrayLike) -> EncryptedArray:
        return -self + other

    @staticmethod
    def _numbers(numbers: ArrayLike) -> NDArray[np.float64]:
        """Public numbers; streams and what is encrypted in another way are told apart."""
        if isinstance(numbers, EncodedArray):
            raise TypeError("streams in the clear multiply by `multiply_encoded`")
        if isinstance(numbers, SeededArray):
            raise TypeError("an upload is computed on after `expand`")
        return real_array(numbers)

    def _with_numbers(self, numbers: ArrayLike) -> tuple[EncryptedArray, NDArray[np.float64]]:
        """The array and public numbers, broadcast to one shape; the numbers flat."""
        array = self._numbers(numbers)
        if array.ndim == 0:
            return self, np.full(self.size, array)
        try:
            positions, array = np.broadcast_arrays(self.positions(), array)
        except ValueError as error:
            raise ShapeError(f"shapes {self.shape} and {array.shape} do not broadcast") from error
        taken = self if positions.shape == self.shape else self._taken(positions)
        return taken, np.ascontiguousarray(array).reshape(-1)

    def __pow__(self, exponent: int) -> EncryptedArray:
        count = whole(exponent, "the exponent of **", 0)
        if count == 1:
            return self
        if count == 0:
            raise ShapeError("a power of 0 is one everywhere and needs no encryption; add 1")
        raise ShapeError(
            f"a stream times itself is no square: powers need independent copies of values. Use "
            f"hesc.powers(encryptor.encrypt_copies(values, {count}))[-1], or hesc.Polynomial"
        )

    def __matmul__(self, other: EncryptedArray | ArrayLike) -> EncryptedArray:
        """Matrix product `self @ other`, numpy's rules for one and two axes.

        With streams side by side the factors align along the rows of both: write `x @ w.T` for
        weights `w` encrypted as (outputs, inputs). Numbers are public weights, exact and free, of
        either side, and need no order. An entry errs as its terms do together, whose sum is a
        concatenation: near the root of the inner length times the error of one product. Whoever
        decrypts sees every term, where `hesc.vectors.MatrixProduct` shows the product alone.

        >>> import hesc
        >>> secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
        >>> x = hesc.Encryptor(public, 64).encrypt([[1.0, -1.0], [1.0, 1.0]])
        >>> hesc.Decryptor(secret).decrypt(x @ [[2, 0], [3, 1]]).tolist()
        [[-1.0, -1.0], [5.0, 1.0]]
        """
        if isinstance(other, EncryptedArray):
            left, right, shape = _meeting(self.positions(), other.positions())
            self._room_for_products(other, left.size)
            native = self.native.multiply(other.native, flat(left), flat(right))
        else:
            weights = self._numbers(other)
            places = np.arange(weights.size, dtype=np.int64).reshape(weights.shape)
            left, right, shape = _meeting(self.positions(), places)
            self._room(left.size)
            native = self.native.select(flat(left)).scale(weights.reshape(-1)[flat(right)])
        product = EncryptedArray(self.params, native, left.shape).sum(axis=-1)
        return EncryptedArray(self.params, product.native, shape)

    def __rmatmul__(self, other: ArrayLike) -> EncryptedArray:
        return (self.T @ self._numbers(other).T).T

    def multiply_encoded(self, constants: EncodedArray) -> EncryptedArray:
        """Multiplies by streams in the clear, of the same shape.

        In contrast to `x * 0.5`, who decrypts the result does not see the constants themselves.
        """
        if not isinstance(constants, EncodedArray):
            raise TypeError(
                "multiply_encoded takes what an Encoder returns; numbers multiply by `*`"
            )
        if constants.shape != self.shape:
            raise ShapeError(f"shapes {self.shape} and {constants.shape} differ")
        return EncryptedArray(self.params, self.native.multiply_bits(constants.streams), self.shape)

    def _groups_last(self, axis: int | None) -> tuple[EncryptedArray, int, tuple[int, ...]]:
        """The array with one axis (or all) last, its length, and the shape of the rest."""
        if axis is None:
            return self, self.size, ()
        axis = whole(axis, "axis", -INDEX)
        if not -self.ndim <= axis < self.ndim:
            raise ShapeError(f"axis {axis} does not exist in shape {self.shape}")
        axis %= self.ndim
        moved = np.moveaxis(self.positions(), axis, -1)
        taken = self if axis == self.ndim - 1 else self._taken(moved)
        return taken, moved.shape[-1], moved.shape[:-1]

    def sum(self, axis: int | tuple[int, ...] | None = None) -> EncryptedArray:
        """Sums by concatenation: exact, free, and as long as all summands together.

        Args:
            axis: the axis or axes to sum over; None sums everything.

        """
        taken, group, shape = self._axes_last(axis)
        return EncryptedArray(self.params, taken.native.sum_groups(group), shape)

    def mean(self, axis: int | tuple[int, ...] | None = None) -> EncryptedArray:
        """The mean over an axis, several or all: a sum and a public factor, exact and free.

        As long as all summands together; `multiplexed_sum` is no longer than one of them.

        >>> import hesc
        >>> secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
        >>> x = hesc.Encryptor(public, 64).encrypt([[1.0, -1.0], [1.0, 1.0]])
        >>> hesc.Decryptor(secret).decrypt(x.mean(axis=(0, 1))).item()
        0.5
        """
        _, group, _ = self._axes_last(axis)
        return self.sum(axis) / group

    def _axes_last(
        self, axis: int | tuple[int, ...] | None
    ) -> tuple[EncryptedArray, int, tuple[int, ...]]:
        """The elements of several axes side by side, as `_groups_last` has those of one axis."""
        if not isinstance(axis, tuple):
            return self._groups_last(axis)
        axes = [whole(each, "axis", -INDEX) for each in axis]
        if not all(-self.ndim <= each < self.ndim for each in axes):
            raise ShapeError(f"axes {axis} do not exist in shape {self.shape}")
        axes = [each % self.ndim for each in axes]
        if len(set(axes)) != len(axes):
            raise ShapeError(f"axes {axis} name one twice")
        kept = [each for each in range(self.ndim) if each not in axes]
        moved = self.positions().transpose(*kept, *axes)
        shape = moved.shape[: len(kept)]
        return self._taken(moved), math.prod(moved.shape[len(kept) :]), shape

    @classmethod
    def weighted_sum(
        cls, arrays: Sequence[EncryptedArray | SeededArray], weights: ArrayLike
    ) -> EncryptedArray:
        """`sum_k weights[k] * arrays[k]` of arrays of one shape: concatenation, exact and free."""
        given = several(arrays, "arrays", "give a list of encrypted arrays")
        if not given:
            raise ShapeError("nothing to sum; give at least one array")
        first, *rest = map(expanded, given)
        if any(array.shape != first.shape for array in rest):
            raise ShapeError("arrays of a weighted sum have one shape; broadcast_to makes it so")
        numbers = real_array(weights, "weights")
        if numbers.shape != (len(given),):
            raise ShapeError(f"{len(given)} weights are needed, got shape {numbers.shape}")
        native = first.native.weighted_sum([array.native for array in rest], numbers)
        return cls(first.params, native, first.shape)

    def multiplexed_sum(
        self,
        axis: int | None = None,
        *,
        coefficients: ArrayLike | None = None,
        random_state: int,
    ) -> EncryptedArray:
        """Sums by random selection, the conventional way: no longer than one summand, but noisy.

        At each position the bit of one summand passes, chosen with a probability in proportion to
        its coefficient's size. Needs slot packing, for a product with a mask for each summand, or a
        ciphertext for each bit (Goldwasser-Micali, ElGamal), of which the chosen ones are copied.

        Args:
            axis: the axis to sum over; None sums everything.
            coefficients: one for each summand, all 1 if not given.
            random_state: seed of the selection; use another for every sum that is multiplied or
                added later.

        """
        taken, group, shape = self._groups_last(axis)
        weights = np.ones(group) if coefficients is None else real_array(coefficients)
        if weights.shape != (group,):
            raise ShapeError(f"{group} coefficients are needed, got shape {weights.shape}")
        selector = _native.Selector(whole(random_state, "random_state", 0, WORD))
        native = taken.native.multiplexed(weights, selector)
        return EncryptedArray(self.params, native, shape)

    def allocated_sum(
        self,
        axis: int | None = None,
        *,
        coefficients: ArrayLike,
        pieces: ArrayLike,
        granularity: int,
    ) -> EncryptedArray:
        """Sums that keep of each operand a length of its own.

        Streams are cut into `granularity` pieces of equal length; operand `k` keeps `pieces[k]` of
        them, and its coefficient weighs their mean. The sum takes `ceil(sum(pieces) / granularity)`
        times the ciphertexts of one operand: all pieces of all operands is concatenation. Needs
        slot packing. `hesc.Polynomial.summation` chooses the pieces.

        Args:
            axis: the axis to sum over; None sums everything.
            coefficients: one for each summand.
            pieces: how many pieces each summand keeps, 1 to `granularity`.
            granularity: pieces of a stream; divides the stream length.

        """
        taken, group, shape = self._groups_last(axis)
        weights, kept = real_array(coefficients), whole_array(pieces, "pieces")
        if weights.shape != (group,) or kept.shape != (group,):
            raise ShapeError(
                f"{group} coefficients and pieces are needed, got {weights.shape}, {kept.shape}"
            )
        if np.any(kept < 1):
            raise ShapeError(f"each operand keeps a piece at least, got {kept}")
        count = whole(granularity, "granularity", 1)
        return EncryptedArray(self.params, taken.native.allocated(weights, kept, count), shape)

    def rerandomise(self, public: PublicKeys) -> EncryptedArray:
        """The same streams in fresh ciphertexts: an encryption and an addition for each.

        With a ciphertext for each bit ("gm", "elgamal", "ec_elgamal", "unipolar_elgamal") they also
        move to the places of a fresh array of this shape. Whoever knows the operands of a selection
        (`x[i]`, `multiplexed_sum`), the key owner included, can then tell which of them it took by
        its values, weights and constants alone, and elements that were left behind are not in it.

        With blocks of many streams ("bfv", "ckks", "unipolar_bfv", "tfhe") none of that holds:
        streams stay where they lie, which the server and the key owner see, elements that share a
        block with a selected one go with it, and the noise remembers what was added.

        Call it last: what is selected afterwards is in sight again.
        """
        of_kind(public, "public", PublicKeys, "hesc.keygen gives public keys")
        checked_params(public.params)
        native = public.public.rerandomise(self.native, row_length(self.shape))
        return EncryptedArray(self.params, native, self.shape)

    @classmethod
    def concatenate(
        cls, arrays: Sequence[EncryptedArray | SeededArray], axis: int = 0
    ) -> EncryptedArray:
        """Joins arrays along an axis, as numpy does. No ciphertext moves."""
        given = several(arrays, "arrays", "give a list of encrypted arrays")
        if not given:
            raise ShapeError("nothing to concatenate; give at least one array")
        first, *rest = map(expanded, given)
        native, positions = first.native, [first.positions()]
        for array in rest:
            positions.append(native.elements + array.positions())
            native = native.append(array.native)
        try:
            joined = np.concatenate(positions, axis=whole(axis, "axis", -_MAX_DIMENSIONS))
        except ValueError as error:
            raise ShapeError(f"these arrays do not concatenate: {error}") from error
        return EncryptedArray(first.params, native, (native.elements,))[joined]

    # Leaving ----------------------------------------------------------------------------------

    def answer(
        self, *, fuse: int | Sequence[int] | None = None, compact: bool | None = None
    ) -> Answer:
        """What to send to the key owner: as small as it still decrypts, unless told otherwise.

        >>> import hesc
        >>> secret, public = hesc.keygen(hesc.Params.preset("bfv_1024"))
        >>> x = hesc.Encryptor(public, 64).encrypt([0.5])
        >>> len(x.answer(compact=False).to_bytes()) // len(x.answer().to_bytes())
        3

        Args:
            fuse: pack several ciphertexts into one (koseki2022hesc section 3.3). A list gives the
                base below each digit but the first, `[3, 3]` three digits; a number asks for that
                many digits in the smallest base that holds the counts.
            compact: switch to the smallest modulus that still decrypts, which takes one pass. By
                default where there is one: some sets, and arrays with little room left, have none
                and go as they are. True insists on it; False keeps the full modulus, and with it
                the room that noise has. What decides are parameters and noise bounds, which are
                public.

        Raises:
            FusionError: digits that the plaintext modulus cannot hold.
            NoiseBudgetError: no room for the fusion; with `compact=True` no smaller modulus.

        """
        if compact is not None and not isinstance(compact, bool):
            raise ParameterError(
                f"compact is True, False, or None for where there is a smaller modulus; got "
                f"{type(compact).__name__}"
            )
        bases = None
        if isinstance(fuse, int | np.integer):
            digits = whole(fuse, "the number of digits to fuse", 1, INDEX)
            # More digits than ciphertexts are not needed.
            bases = [self.native.max_count + 1] * (min(digits, self.native.blocks) - 1)
        elif fuse is not None:
            given = several(fuse, "bases", "give the base below each digit but the first")
            bases = [whole(base, "a base", 1, WORD) for base in given]
        try:
            native = self.native.answer(bases=bases, compact=compact is not False)
        except NoiseBudgetError:
            if compact:
                raise
            # No smaller modulus; or no room for the fusion, which is refused once more.
            native = self.native.answer(bases=bases, compact=False)
        return Answer(self.params, native, self.shape)

    def to_bytes(self) -> bytes:
        """The wire form."""
        return shape_to_bytes(self.shape) + self.native.to_bytes()

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> EncryptedArray:
        """Reads the wire form of an array or of a `SeededArray`, which it expands; strict."""
        shape, body = shape_from_bytes(data)
        native = _native.Array.from_bytes(checked_params(params), body)
        check_elements(shape, native.elements)
        return cls(params, native, shape)


def expanded(array: EncryptedArray | SeededArray) -> EncryptedArray:
    """The form that can be computed on, whichever key encrypted it.

    Raises:
        TypeError: what is neither; bytes are read first.

    """
    if isinstance(array, SeededArray):
        return array.expand()
    if not isinstance(array, EncryptedArray):
        raise TypeError(
            f"an encrypted array is needed, not {type(array).__name__}; bytes are read with "
            f"hesc.EncryptedArray.from_bytes"
        )
    return array


def powers(copies: Sequence[EncryptedArray | SeededArray]) -> list[EncryptedArray]:
    """`[x, x^2, x^3, ...]` from independent encryptions of the same values, prefixes shared.

    Cost: one product for each copy after the first.
    """
    if not isinstance(copies, Sequence) or isinstance(copies, str | bytes):
        raise ParameterError(
            f"powers are of a list of encryptions, not of {type(copies).__name__}; see "
            "Encryptor.encrypt_copies"
        )
    if not copies:
        raise ShapeError("powers need at least one encryption; see Encryptor.encrypt_copies")
    first, *rest = map(expanded, copies)
    if any(copy.shape != first.shape for copy in rest):
        raise ShapeError(f"copies have one shape, not {sorted({copy.shape for copy in copies})}")
    products = first.native.prefix_products([copy.native for copy in rest])
    return [EncryptedArray(first.params, native, first.shape) for native in products]

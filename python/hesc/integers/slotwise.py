"""Integers whose bits lie beside each other in one ciphertext: few numbers, quickly.

Where `EncryptedIntegers` take a ciphertext for each bit and compute on as many numbers as there are
slots, here a ciphertext has all bits of a few numbers, and carries move along the slots by
rotations (xu2016integers, "SIMD inside one integer", which the paper leaves to the future). Bits do
not notice what rotations of an odd ring do to values that come around, so that a circle of 128
slots holds two numbers of 64 bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hesc import _native
from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, unmasked, whole
from hesc._support.opaque import Opaque
from hesc.integers.bits import bits_of, numbers_of
from hesc.integers.inside import added, divided, moved_by, multiple, product, shifted
from hesc.integers.kinds import BOOL, IntegerKind, check_range, kind_of
from hesc.integers.prefixes import chosen, equal, less
from hesc.integers.ranked import in_order
from hesc.packing.messages import NUMBERS
from hesc.packing.slots import EncryptedSlots
from hesc.packing.slots import encrypt as encrypt_slots
from hesc.params.vectors import VectorParams
from hesc.vectors.keys import PublicKeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from hesc.vectors.evaluation import EvaluationKeys


class Slotwise:
    """Where the bits of numbers of one type lie in the slots of a set.

    Args:
        params: a set of an odd ring with plaintext modulus 2, as preset `bgv_13107`.
        dtype: of the numbers: "uint64", numpy.int8 ... as many bits as a circle has slots at most.

    """

    def __init__(self, params: VectorParams, dtype: DTypeLike | IntegerKind) -> None:
        of_kind(params, "params", VectorParams, "hesc.Params.preset makes a set for vectors")
        if params.plain_modulus != 2 or not params.dimensions:
            raise ParameterError(
                f"{params.name} has no bits in circles of slots; take a preset of an odd ring: "
                "bgv_13107, bgv_21845 ..."
            )
        self.params = params
        self.kind = kind_of(dtype)
        if self.kind.boolean:
            raise ParameterError("truth values have no sums; take uint1")
        circle = params.dimensions[0].length
        width = self.kind.width
        if width > circle:
            raise ParameterError(
                f"{self.kind} has more bits than a circle of {params.name} has slots ({circle})"
            )
        self._lanes = params.slot_count // circle
        self._each = circle // width
        # A mask for each pair of bits, and for each choice of numbers that is asked for.
        self._masks: dict[tuple[object, ...], _native.Plaintext] = {}

    @property
    def capacity(self) -> int:
        """Numbers in a ciphertext."""
        return self._each * self._lanes

    @property
    def steps(self) -> list[int]:
        """How far carries move, from one step to the next."""
        steps = [1]
        while 2 * steps[-1] < self.kind.width:
            steps.append(2 * steps[-1])
        return steps

    @property
    def slot_rotations(self) -> list[tuple[int, int]]:
        """The keys that sums and comparisons need: `keygen(params, slot_rotations=...)`."""
        return [(0, -step) for step in self.steps]

    @property
    def rotations(self) -> list[tuple[int, int]]:
        """All rotations that any operation takes: plans say which of them a computation does."""
        named = [*self.slot_rotations, *self.choice_rotations]
        every = [
            (dimension, sign * step)
            for dimension, of in enumerate(self.params.dimensions)
            for step in range(1, of.length)
            for sign in (-1, 1)
        ]
        return [*named, *(along for along in every if along not in named)]

    @property
    def choice_rotations(self) -> list[tuple[int, int]]:
        """The keys that choices need beside them: of `SlotwiseTruths.where`, minima, maxima."""
        return [(0, step) for step in self.steps]

    def slots_of(self, numbers: ArrayLike) -> NDArray[np.int64]:
        """A row of bits, one for each slot."""
        shape = unmasked(numbers, "numbers").shape
        if len(shape) != 1 or not 1 <= shape[0] <= self.capacity:
            raise ShapeError(
                f"a ciphertext takes a row of 1 to {self.capacity} numbers of {self.kind}; got "
                f"shape {shape}"
            )
        bits = bits_of(check_range(numbers, self.kind, "numbers"), self.kind)
        filled = np.zeros((self.kind.width, self.capacity), dtype=np.int64)
        filled[:, : shape[0]] = bits
        row = np.zeros((self.params.dimensions[0].length, self._lanes), dtype=np.int64)
        blocks = filled.reshape(self.kind.width, self._each, self._lanes).transpose(1, 0, 2)
        row[: self._each * self.kind.width] = blocks.reshape(-1, self._lanes)
        return row.reshape(-1)

    def numbers_of(self, row: NDArray[Any], count: int) -> NDArray[Any]:
        """What `slots_of` was given; the inverse."""
        width, count = self.kind.width, self._count(count)
        bits = self._row(row).reshape(-1, self._lanes)[: self._each * width]
        blocks = bits.reshape(self._each, width, self._lanes).transpose(1, 0, 2)
        return numbers_of(blocks.reshape(width, -1)[:, :count], self.kind)

    def encrypt(self, keys: PublicKeys, numbers: ArrayLike) -> SlotwiseIntegers:
        """Encrypts up to `capacity` numbers into one ciphertext."""
        of_kind(keys, "keys", PublicKeys, "keygen returns them")
        slots = encrypt_slots(keys, self.slots_of(numbers), content=NUMBERS)
        return SlotwiseIntegers(self, slots, np.size(numbers))

    def read(self, data: bytes, count: int) -> SlotwiseIntegers:
        """Numbers from the wire form of their slots; without keys, see `with_keys`.

        `SlotwiseIntegers.to_bytes` makes it, and, half as long, `hesc.packing.secret.encrypt_slots`
        of `slots_of(numbers)` with `content="numbers"`.
        """
        slots = EncryptedSlots.from_bytes(self.params, data)
        if slots.content != NUMBERS:
            raise ParameterError("these slots hold coordinates, not bits: unpack them first")
        return SlotwiseIntegers(self, slots, self._count(count))

    def _count(self, count: int) -> int:
        """How many numbers a ciphertext has."""
        if not 1 <= whole(count, "count", 0) <= self.capacity:
            raise ShapeError(f"a ciphertext has 1 to {self.capacity} numbers; got {count}")
        return count

    def _row(self, row: NDArray[Any]) -> NDArray[Any]:
        """A row of bits, one for each slot."""
        array = unmasked(row, "a row of slots")
        if array.dtype.kind not in "bui" or array.size != self.params.slot_count:
            raise ShapeError(
                f"a row has {self.params.slot_count} bits, one for each slot; got shape "
                f"{array.shape} of {array.dtype}"
            )
        return array

    def inner(self, slots: EncryptedSlots) -> EncryptedSlots:
        """All bits but the highest of each number; zero there: no carry leaves it."""
        return self.part(slots, 0, self.kind.width - 1)

    def highest(self, slots: EncryptedSlots) -> EncryptedSlots:
        """The highest bit of each number; zero elsewhere."""
        return self.part(slots, self.kind.width - 1, self.kind.width)

    def part(self, slots: EncryptedSlots, first: int, end: int) -> EncryptedSlots:
        """The bits from `first` on and before `end` of each number; zero elsewhere."""
        if (first, end) not in self._masks:
            row = self.every((1 << end) - (1 << first))
            self._masks[first, end] = _native.Plaintext.encode_integers(self.params, row, False)
        return slots.masked(self._masks[first, end])

    def only(
        self, slots: EncryptedSlots, numbers: Sequence[int], *, top: bool = False
    ) -> EncryptedSlots:
        """These numbers, or the highest bit of each; zero elsewhere."""
        key = ("numbers", *numbers, top)
        if key not in self._masks:
            row = self.where(numbers, top=top)
            self._masks[key] = _native.Plaintext.encode_integers(self.params, row, False)
        return slots.masked(self._masks[key])

    def every(self, bits: int) -> NDArray[np.int64]:
        """A row of slots in which each number has these bits."""
        width = self.kind.width
        row = np.zeros((self.params.dimensions[0].length, self._lanes), dtype=np.int64)
        number = [bits >> bit & 1 for bit in range(width)]
        row[: self._each * width] = np.tile(number, self._each)[:, None]
        return row.reshape(-1)

    def where(self, numbers: Sequence[int], *, top: bool = False) -> NDArray[np.int64]:
        """A row that is one in the bits of these numbers, or in the highest, and zero elsewhere."""
        width = self.kind.width
        row = np.zeros((self.params.dimensions[0].length, self._lanes), dtype=np.int64)
        for number in numbers:
            block, lane = divmod(number, self._lanes)
            row[block * width + (width - 1 if top else 0) : (block + 1) * width, lane] = 1
        return row.reshape(-1)

    def turns(self, origin: int, place: int) -> tuple[int, ...]:
        """Steps along each dimension that bring one number to the place of another."""
        lengths = [dimension.length for dimension in self.params.dimensions]
        steps = []
        for length in reversed(lengths[1:]):
            steps.append(_shorter(origin - place, length))
            origin, place = origin // length, place // length
        steps.append(_shorter((origin - place) * self.kind.width, lengths[0]))
        return tuple(reversed(steps))

    def truths_row(self, truths: ArrayLike, count: int) -> NDArray[np.int64]:
        """A row of slots with truth values where `highest` leaves bits."""
        if isinstance(truths, SlotwiseIntegers):
            raise ParameterError(
                "truth values go with truth values, not with numbers: compare them"
            )
        count = self._count(count)
        array = unmasked(truths, "public truth values")
        if array.dtype.kind != "b":
            raise ParameterError(f"truth values go with truth values, not with {array.dtype}")
        if array.shape not in {(), (count,)}:
            raise ShapeError(f"public truth values are one, or a row of {count}; got {array.shape}")
        row = np.broadcast_to(array, (count,))
        width, signed = self.kind.width, self.kind.signed
        set_bit = self.kind.least if signed else 1 << (width - 1)
        return self.slots_of(np.array([set_bit if x else 0 for x in row], dtype=object))

    def truths_of(self, row: NDArray[Any], count: int) -> NDArray[np.bool_]:
        """The truth values that `highest` left."""
        width, count = self.kind.width, self._count(count)
        bits = self._row(row).reshape(-1, self._lanes)[: self._each * width]
        highest = bits.reshape(self._each, width, self._lanes)[:, -1]
        return np.asarray(highest.reshape(-1)[:count], dtype=bool)


def _shorter(steps: int, length: int) -> int:
    """The same turn of a circle, the short way: different keys take it the other way."""
    return (steps + length // 2) % length - length // 2


class _AlongSlots(Opaque):
    """So many numbers, or truth values of numbers, in one ciphertext."""

    def __init__(self, layout: Slotwise, slots: EncryptedSlots, count: int) -> None:
        self.layout = layout
        self.slots = slots
        self.count = count

    def __len__(self) -> int:
        return self.count

    def with_keys(self: AlongT, keys: EvaluationKeys) -> AlongT:
        """The same numbers, to be computed with under these keys: `hesc.PublicKeys`."""
        return type(self)(self.layout, self.slots.with_keys(keys), self.count)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.count} of {self.layout.kind}, {self.slots.params.name}, "
            f"level={self.slots.level}, noise_budget={self.slots.noise_budget:.1f} bits)"
        )


AlongT = TypeVar("AlongT", bound=_AlongSlots)


class SlotwiseIntegers(_AlongSlots):
    """Encrypted integers in one ciphertext; `+ - ~ & | ^` and comparisons as numpy has them.

    A sum or comparison of `width` bits takes `2 log2(width)` products and rotations, and
    `1 + log2(width)` products in sequence. Public numbers are rows of as many, or one for all.
    """

    def to_bytes(self) -> bytes:
        """The wire form of the slots; layout and count are for both sides to know."""
        return self.slots.to_bytes()

    def _with(self, slots: EncryptedSlots) -> SlotwiseIntegers:
        return SlotwiseIntegers(self.layout, slots, self.count)

    def slots_beside(
        self, other: SlotwiseIntegers | ArrayLike
    ) -> EncryptedSlots | NDArray[np.int64]:
        """Another operand: its slots, or a row of bits."""
        return self._other(other)

    def _other(self, other: SlotwiseIntegers | ArrayLike) -> EncryptedSlots | NDArray[np.int64]:
        if isinstance(other, SlotwiseIntegers):
            if other.layout.kind != self.layout.kind or other.count != self.count:
                raise ShapeError(
                    f"{self.count} of {self.layout.kind} and {other.count} of {other.layout.kind} "
                    "do not go together"
                )
            return other.slots
        numbers = unmasked(other, "public numbers")
        if numbers.shape not in {(), (1,), (self.count,)}:
            raise ShapeError(
                f"public numbers are one, or a row of {self.count}; got {numbers.shape}"
            )
        return self.layout.slots_of(np.broadcast_to(numbers, (self.count,)))

    def __invert__(self) -> SlotwiseIntegers:
        return self._with(self.slots + 1)

    def __xor__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        return self._with(self.slots + self._other(other))

    __rxor__ = __xor__

    def __and__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        return self._with(self.slots * self._other(other))

    __rand__ = __and__

    def __or__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        second = self._other(other)
        inverse = second + 1 if isinstance(second, EncryptedSlots) else 1 - second
        return ~self._with((self.slots + 1) * inverse)

    __ror__ = __or__

    def __add__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        """Carries by Kogge and Stone (1973): each step doubles how far they have come."""
        return self._with(added(self.layout, self.slots, self._other(other)))

    __radd__ = __add__

    def __sub__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        # ~a + b is b - a - 1, and its complement a - b.
        return ~(~self + other)

    def __rsub__(self, other: ArrayLike) -> SlotwiseIntegers:
        return ~(self + self._complement(other))

    def __neg__(self) -> SlotwiseIntegers:
        return 0 - self

    def __mul__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        """`width` products of bits, `width - 2` of carries, and a sum; fewer by a public number."""
        if not isinstance(other, SlotwiseIntegers):
            numbers = {int(number) for number in self._checked(other).reshape(-1)}
            if len(numbers) == 1:
                return self._with(multiple(self.layout, self.slots, numbers.pop()))
        return self._with(product(self.layout, self.slots, self._lifted(other)))

    __rmul__ = __mul__

    def __lshift__(self, places: SlotwiseIntegers | int) -> SlotwiseIntegers:
        """By public places a rotation; by encrypted ones a product for each bit of the places."""
        return self._shifted(places, left=True)

    def __rshift__(self, places: SlotwiseIntegers | int) -> SlotwiseIntegers:
        """By public or encrypted places; signs stay where there are some."""
        return self._shifted(places, left=False)

    def __rlshift__(self, other: ArrayLike) -> SlotwiseIntegers:
        return self.public(other) << self

    def __rrshift__(self, other: ArrayLike) -> SlotwiseIntegers:
        return self.public(other) >> self

    def _shifted(self, places: SlotwiseIntegers | ArrayLike, *, left: bool) -> SlotwiseIntegers:
        if isinstance(places, SlotwiseIntegers) or np.ndim(places):
            self._unsigned("shifts by encrypted places, or by rows of them")
            by = self._lifted(places)
            return self._with(shifted(self.layout, self.slots, by, left=left))
        count = min(whole(places, "the number of places", 0), self.layout.kind.width)
        return self._with(moved_by(self.layout, self.slots, count if left else -count))

    def divided(
        self, other: SlotwiseIntegers | ArrayLike, *, digit: int = 2, rest: bool = True
    ) -> tuple[SlotwiseIntegers, SlotwiseIntegers | None]:
        """Quotient and remainder of numbers without sign, by digits of so many bits.

        By zero all ones, and the dividend. Digits of `d` bits take `2**d - 1` comparisons side by
        side; fewer digits follow each other. Without `rest` there is no remainder.
        """
        self._unsigned("divisions")
        digit = whole(digit, "digit", 1, 8)
        found, left = divided(self.layout, self.slots, self._lifted(other), digit, rest=rest)
        return self._with(found), None if left is None else self._with(left)

    def __floordiv__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        return self.divided(other, rest=False)[0]

    def __rfloordiv__(self, other: ArrayLike) -> SlotwiseIntegers:
        return self.public(other) // self

    def __divmod__(
        self, other: SlotwiseIntegers | ArrayLike
    ) -> tuple[SlotwiseIntegers, SlotwiseIntegers]:
        quotient, left = self.divided(other)
        assert left is not None  # noqa: S101 - it is asked for
        return quotient, left

    def __mod__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseIntegers:
        return divmod(self, other)[1]

    def __rmod__(self, other: ArrayLike) -> SlotwiseIntegers:
        return self.public(other) % self

    def public(self, numbers: ArrayLike) -> SlotwiseIntegers:
        """Public numbers beside these, as slots that are computed with: added to zero."""
        return self._with(self._lifted(numbers))

    def ordered(self) -> SlotwiseIntegers:
        """The numbers in ascending order: `numpy.sort`. Needs rotations that a plan names."""
        return self._with(in_order(self.layout, self.slots, self.count))

    def _unsigned(self, what: str) -> None:
        if self.layout.kind.signed:
            raise ParameterError(
                f"{what} along slots are of numbers without sign; these are {self.layout.kind}"
            )

    def _checked(self, numbers: ArrayLike) -> NDArray[Any]:
        return np.asarray(check_range(numbers, self.layout.kind, "public numbers"))

    def _lifted(self, other: SlotwiseIntegers | ArrayLike) -> EncryptedSlots:
        """Another operand as slots that are encrypted: public ones are added to zero."""
        slots = self._other(other)
        return slots if isinstance(slots, EncryptedSlots) else self.slots + self.slots + slots

    def __lt__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseTruths:  # type: ignore[override]
        return self._truths(less(self.layout, self.slots, self._other(other)))

    def __gt__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseTruths:  # type: ignore[override]
        return self._truths(less(self.layout, self._other(other), self.slots))

    def __le__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseTruths:  # type: ignore[override]
        return ~(self > other)

    def __ge__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseTruths:  # type: ignore[override]
        return ~(self < other)

    def __eq__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseTruths:  # type: ignore[override]
        return self._truths(equal(self.layout, self.slots, self._other(other)))

    def __ne__(self, other: SlotwiseIntegers | ArrayLike) -> SlotwiseTruths:  # type: ignore[override]
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]

    def _truths(self, slots: EncryptedSlots) -> SlotwiseTruths:
        return SlotwiseTruths(self.layout, slots, self.count)

    def _complement(self, other: ArrayLike) -> NDArray[Any]:
        """`~other` of public numbers, which subtracts from the sum of the ends."""
        numbers = check_range(other, self.layout.kind, "public numbers")
        ends = self.layout.kind.least + self.layout.kind.most
        complement = [ends - int(number) for number in numbers.reshape(-1)]
        return np.array(complement, dtype=object).reshape(numbers.shape)


class SlotwiseTruths(_AlongSlots):
    """Encrypted truth values of `SlotwiseIntegers`, each where the highest bit of a number lies.

    `& | ^ ~` as numpy has them; `where` chooses numbers by them.
    """

    kind = BOOL

    def _with(self, slots: EncryptedSlots) -> SlotwiseTruths:
        return SlotwiseTruths(self.layout, slots, self.count)

    def _other(self, other: SlotwiseTruths | ArrayLike) -> EncryptedSlots | NDArray[np.int64]:
        if isinstance(other, SlotwiseTruths):
            if other.layout.kind != self.layout.kind or other.count != self.count:
                raise ShapeError(
                    f"truth values of {self.count} {self.layout.kind} and of {other.count} "
                    f"{other.layout.kind} do not go together"
                )
            return other.slots
        return self.layout.truths_row(other, self.count)

    def __invert__(self) -> SlotwiseTruths:
        return self._with(self.slots + self.layout.truths_row(True, self.count))

    def __xor__(self, other: SlotwiseTruths | ArrayLike) -> SlotwiseTruths:
        return self._with(self.slots + self._other(other))

    __rxor__ = __xor__

    def __and__(self, other: SlotwiseTruths | ArrayLike) -> SlotwiseTruths:
        return self._with(self.slots * self._other(other))

    __rand__ = __and__

    def __or__(self, other: SlotwiseTruths | ArrayLike) -> SlotwiseTruths:
        second = self._other(other)
        return self._with(self.slots * second + self.slots + second)

    __ror__ = __or__

    def where(
        self, one: SlotwiseIntegers | ArrayLike, zero: SlotwiseIntegers | ArrayLike
    ) -> SlotwiseIntegers:
        """`one` where they are set, `zero` elsewhere: `numpy.where`."""
        beside = SlotwiseIntegers(self.layout, self.slots, self.count)
        slots = chosen(self.layout, self.slots, beside.slots_beside(one), beside.slots_beside(zero))
        return SlotwiseIntegers(self.layout, slots, self.count)

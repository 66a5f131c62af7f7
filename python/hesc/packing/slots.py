"""Ciphertexts of the slots of an odd ring. Nothing here can decrypt."""

from __future__ import annotations

import operator
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from hesc import _native
from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, whole, wholes, wire_bytes
from hesc._support.opaque import Opaque
from hesc.packing.messages import NORMAL, NUMBERS, POWERS, encoded
from hesc.params.vectors import VectorParams
from hesc.vectors.evaluation import EvaluationKeys, OneCiphertext, galois_of, keys_of, relin_of
from hesc.vectors.keys import PublicKeys
from hesc.vectors.numbers import plain_array
from hesc.vectors.steps import degree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

T = TypeVar("T")

_KEYS = "the public keys that keygen returns"
_MOST_BASE = 13


class EncryptedSlots(OneCiphertext, Opaque):
    """Encrypted values in the slots of one ciphertext: `params.slot_count` of them.

    `+`, `-` and `*` act slot by slot on values: with plaintext modulus 2 a sum is an exclusive or
    and a product of numbers a conjunction. Operands in the clear are a number for all slots, a row
    of numbers, or rows of coordinates. Products are relinearised and brought down to the level at
    which the next one has the most room.

    Args:
        params: the parameter set.
        native: the ciphertext.
        content: what slots hold, "numbers", or values by coordinates in a "normal" basis or in
            "powers" of X. It travels with the ciphertext.
        keys: what it is bound to; see `with_keys`.

    """

    def __init__(
        self,
        params: VectorParams,
        native: _native.Ciphertext,
        content: str,
        keys: EvaluationKeys | None = None,
    ) -> None:
        super().__init__(params, native, keys)
        self.content = content

    def __len__(self) -> int:
        return self.params.slot_count

    def __repr__(self) -> str:
        return (
            f"EncryptedSlots({self.params.name}, {len(self)} slots of {self.content}, "
            f"level={self.level}, noise_budget={self.noise_budget:.1f} bits)"
        )

    def _with(
        self,
        native: _native.Ciphertext,
        content: str | None = None,
        others: Iterable[EncryptedSlots] = (),
    ) -> EncryptedSlots:
        content = self.content if content is None else content
        return EncryptedSlots(self.params, native, content, keys_of(self, *others))

    # Sums and products

    def _plain(self, values: ArrayLike) -> tuple[_native.Plaintext, str]:
        """An operand in the clear and what its slots hold."""
        array = plain_array(values)
        if array.ndim == 2:
            content = NORMAL if self.content == NUMBERS else self.content
            return encoded(self.params, array, content), content
        if array.ndim == 0:
            array = np.full(len(self), array)
        elif len(array) != len(self):
            raise ShapeError(
                f"operands in the clear are one number, a row of {len(self)}, or rows of "
                f"coordinates; got shape {array.shape}"
            )
        return encoded(self.params, array, NUMBERS), NUMBERS

    def __add__(self, other: EncryptedSlots | ArrayLike) -> EncryptedSlots:
        if isinstance(other, EncryptedSlots):
            native = self.native.sum(other.native, False)
            return self._with(native, _joint([self, other]), [other])
        return self._plus_plain(other)

    def _plus_plain(self, values: ArrayLike) -> EncryptedSlots:
        plaintext, content = self._plain(values)
        return self._with(self.native.add_plain(plaintext), _joined(self.content, content))

    __radd__ = __add__

    def __neg__(self) -> EncryptedSlots:
        return self._with(self.native.negate())

    def __sub__(self, other: EncryptedSlots | ArrayLike) -> EncryptedSlots:
        if isinstance(other, EncryptedSlots):
            native = self.native.sum(other.native, True)
            return self._with(native, _joint([self, other]), [other])
        return -((-self)._plus_plain(other))

    def __rsub__(self, other: ArrayLike) -> EncryptedSlots:
        return (-self)._plus_plain(other)

    def __mul__(self, other: EncryptedSlots | ArrayLike) -> EncryptedSlots:
        if isinstance(other, EncryptedSlots):
            return sum_of_products([(self, other)])
        plaintext, content = self._plain(other)
        native = self.native.multiply_plain(plaintext)
        return self._with(native, _joined(self.content, content))

    __rmul__ = __mul__

    def masked(self, mask: _native.Plaintext) -> EncryptedSlots:
        """The product with numbers in the clear that are encoded already."""
        return self._with(self.native.multiply_plain(mask))

    def summed(
        self,
        pairs: Sequence[tuple[EncryptedSlots, EncryptedSlots]],
        others: Sequence[EncryptedSlots],
        content: str,
    ) -> EncryptedSlots:
        """`sum_of_products` of what has been checked, this one among it."""
        everything = [*(slots for pair in pairs for slots in pair), *others]
        native = _native.sum_of_products(
            [(a.native, None if a is b else b.native) for a, b in pairs],
            [other.native for other in others],
            relin_of(everything),
        )
        return self._with(native, content, everything)

    def carried(
        self, passes: EncryptedSlots, elements: Sequence[int], remedy: str
    ) -> EncryptedSlots:
        """`carries`, of this one as what generates."""
        relin = relin_of([self, passes])
        galois = self._galois(elements, remedy, [passes])
        native = _native.carries(self.native, passes.native, list(elements), relin, galois)
        return self._with(native, _joint([self, passes]), [passes])

    def __xor__(self, other: EncryptedSlots | ArrayLike) -> EncryptedSlots:
        self._bits("^", "+ adds modulo the plaintext modulus")
        return self + other

    __rxor__ = __xor__

    def __and__(self, other: EncryptedSlots | ArrayLike) -> EncryptedSlots:
        self._bits("&", "* multiplies modulo the plaintext modulus")
        return self * other

    __rand__ = __and__

    def _bits(self, operator: str, instead: str) -> None:
        if self.content != NUMBERS or self.params.plain_modulus != 2:
            raise TypeError(f"{operator} is for numbers that are bits (plain_modulus=2); {instead}")

    def square(self) -> EncryptedSlots:
        """`self * self`. With plaintext modulus 2 `frobenius` is cheaper and has no depth."""
        return self * self

    # Slots and coordinates moved

    def rotate(self, steps: int, dimension: int = 0) -> EncryptedSlots:
        """Values moved along a dimension of `params.dimensions`: slot `i` gets that of `i + steps`.

        Needs a key: `keygen(..., slot_rotations=[(dimension, steps)])`.

        Raises:
            ParameterError: no such dimension or key; values that would come around changed (a
                dimension with a twist moves their coordinates on) or are given by powers of X.

        """
        steps = whole(steps, "steps", -(2**31), 2**31 - 1)
        dimensions = self.params.dimensions
        dimension = whole(dimension, "dimension", 0)
        if dimension >= len(dimensions):
            raise ParameterError(
                f"{self.params.name} has {len(dimensions)} dimensions of slots; "
                f"dimension {dimension} is none of them: see params.dimensions"
            )
        twist = dimensions[dimension].twist
        if self.content == POWERS or (self.content == NORMAL and twist):
            raise ParameterError(
                f"a rotation along dimension {dimension} would change values that are given by "
                f"{self.content}: unpack first, numbers rotate unchanged"
            )
        element = self.params.dimension_element(dimension, steps)
        return self._moved(element, f"slot_rotations=[({dimension}, {steps})]")

    def frobenius(self, times: int = 1) -> EncryptedSlots:
        """Each value `v` becomes `v**(p**times)`, `p` the prime of the plaintext modulus.

        Coordinates in the normal basis move on by as many places, numbers stay. Needs keys:
        `keygen(..., unpacking=True)`.
        """
        if self.content == POWERS:
            raise ParameterError(
                "a Frobenius map takes powers of X to others, which are no basis: unpack first"
            )
        times = whole(times, "times", -(2**31), 2**31 - 1)
        element = self.params.frobenius_element(times)
        return self._moved(element, "unpacking=True")

    def _moved(self, element: int, remedy: str) -> EncryptedSlots:
        """An image under an automorphism; none needs no key."""
        if element == 1 % self.params.ring_index:
            return self._with(self.native)
        return self._with(self.native.apply_galois(element, self._galois([element], remedy)))

    def _galois(
        self, elements: Sequence[int], remedy: str, others: Sequence[EncryptedSlots] = ()
    ) -> _native.GaloisKeys:
        galois = galois_of([self, *others], f"keygen(..., {remedy})")
        present = set(galois.elements)
        if any(element not in present for element in elements if element != 1):
            raise ParameterError(
                f"there is no key for this automorphism; make the keys with keygen(..., {remedy})"
            )
        return galois

    # Packed coordinates

    def unpack(
        self, outputs: Sequence[int] | None = None, *, level: int | None = None
    ) -> list[EncryptedSlots]:
        """Coordinates of the values, each in a ciphertext of its own whose slots hold numbers.

        Needs keys: `keygen(..., unpacking=True)`. All Frobenius images are made once, then
        each output costs `2 d` products with constants and a division; for one or two of many
        coordinates `extract` is cheaper and has less noise.

        Args:
            outputs: which coordinates; all by default.
            level: where they come to, at most this one's level; by default where the next product
                has the most room.

        Raises:
            ParameterError: slots that hold numbers, missing keys.
            NoiseBudgetError: no room: unpack at a higher level.

        """
        basis = self._basis("unpack")
        chosen = chosen_outputs(self.params, outputs)
        elements = self.params.unpacking_elements()
        galois = self._galois(elements, "unpacking=True")
        if level is None:
            level = self.native.unpacking_level(basis)
        level = whole(level, "level", 1, self.level)
        # Repeated ones are made once.
        once = sorted(set(chosen))
        natives = dict(zip(once, self.native.unpack(basis, once, galois, level), strict=True))
        return [self._with(natives[output], NUMBERS) for output in chosen]

    def extract(self, output: int) -> EncryptedSlots:
        """One coordinate as `unpack` gives it, by Frobenius images of a product.

        A product with a constant and up to `2 log2(d)` automorphisms, which have keys by
        `keygen(..., unpacking=True)` or, fewer of them, `unpacking="extract"`. Its noise is
        smaller by what constants make of that of the keys.
        """
        basis, d = self._basis("extract"), degree_of(self.params)
        output = whole(output, "output", 0, d - 1)
        elements = self.params.extraction_elements()
        galois = self._galois(elements, 'unpacking="extract"')
        return self._with(self.native.extract(basis, output, galois), NUMBERS)

    def digits(self) -> list[EncryptedSlots]:
        """The digits in base `p` of numbers modulo `p^r`, the lowest first: slots for each.

        Digits are 0 and 1 modulo 2, and from `-(p - 1) / 2` to `(p - 1) / 2` otherwise, modulo `p`:
        of the set `params.with_plain_modulus(p)`, in which they are factors of further products
        under the same keys, and which the key owner reads and decrypts them by. Which products in
        sequence each takes says `params.digit_depths`: `r - 1` for all bits modulo `2^r` (Halevi
        and Shoup 2015, section 5). Cost: a polynomial of degree `p` for each pair of digits.

        Raises:
            ParameterError: slots of coordinates, no keys, a base above 13.
            NoiseBudgetError: more digits than there is room for.

        """
        if self.content != NUMBERS:
            raise ParameterError(
                f"digits are of numbers; these slots hold values by {self.content}: unpack first"
            )
        relin = relin_of([self])
        t = self.params.plain_modulus or 1
        base = next((p for p in range(2, _MOST_BASE + 1) if t % p == 0), t)
        natives = self.native.digits(relin)
        params = self.params.with_plain_modulus(base)
        keys = _KeysOfDigits(params, relin.in_set(params))
        return [EncryptedSlots(params, native, NUMBERS, keys) for native in natives]

    def _basis(self, operation: str) -> str:
        if self.content == NUMBERS:
            raise ParameterError(
                f"{operation} takes values by coordinates; these slots hold numbers already"
            )
        return self.content

    # Levels and bytes

    def mod_switch_to(self, level: int) -> EncryptedSlots:
        """The same values at a lower level, at least 1: smaller and faster."""
        level = whole(level, "level", 1, self.level)
        return self._with(self.native.mod_switch_to(level))

    @classmethod
    def from_bytes(
        cls, params: VectorParams, data: bytes | bytearray | memoryview
    ) -> EncryptedSlots:
        """Slots from their wire form, or from `SecretKey.pack`; without keys.

        What slots hold stands in the bytes. That is the sender's word, as the values are.

        Raises:
            WireError: damaged bytes, or another object's.
            ParameterError: another parameter set's, or a power-of-two ring's.

        """
        of_kind(params, "params", VectorParams, "hesc.Params.preset makes a set for vectors")
        degree_of(params)
        native, content = _native.Ciphertext.slots_from_bytes(params, wire_bytes(data))
        return cls(params, native, content)

    def to_bytes(self) -> bytes:
        """The wire form, with what the slots hold."""
        return _native.Ciphertext.slots_to_bytes(self.native, self.content)


class _KeysOfDigits(EvaluationKeys):
    """The key of a set that serves another, whose plaintext modulus is a divisor."""

    def __init__(self, params: VectorParams, relin: _native.RelinKey) -> None:
        self.params = params
        self.relin = relin
        self.galois = None

    def __reduce__(self) -> Any:
        raise TypeError("keys of digits are not pickled; send the digits by their to_bytes")


def several(values: Iterable[T], name: str) -> Iterable[T]:
    """What can be iterated over; a ciphertext alone is refused by what was meant."""
    if isinstance(values, EncryptedSlots) or not hasattr(values, "__iter__"):
        raise ParameterError(f"{name} are several, in a list; got {type(values).__name__}")
    return values


def chosen_outputs(params: VectorParams, outputs: Sequence[int] | None) -> list[int]:
    """Coordinates of a slot's value, all if none are named.

    Raises:
        ShapeError: others than there are.

    """
    d = degree_of(params)
    chosen = list(range(d)) if outputs is None else wholes(several(outputs, "outputs"), "outputs")
    if any(output >= d for output in chosen):
        raise ShapeError(f"a value has the coordinates 0..{d - 1}; got outputs {chosen[:8]}")
    return chosen


def _joined(one: str, other: str) -> str:
    """What the slots of a sum or product hold."""
    if other in {one, NUMBERS}:
        return one
    if one == NUMBERS:
        return other
    raise ParameterError(
        "values by powers of X and by a normal basis do not go together: results would have "
        "coordinates in neither of what was meant; unpack first"
    )


def _joint(slots: Sequence[EncryptedSlots]) -> str:
    content = slots[0].content
    for other in slots[1:]:
        content = _joined(content, other.content)
    return content


def _of_slots(value: object, name: str) -> EncryptedSlots:
    remedy = "EncryptedSlots.from_bytes or packing.encrypt makes them"
    return of_kind(value, name, EncryptedSlots, remedy)


def sum_of_products(
    products: Sequence[tuple[EncryptedSlots, EncryptedSlots]],
    others: Sequence[EncryptedSlots] = (),
) -> EncryptedSlots:
    """`sum(a * b for a, b in products) + sum(others)`, relinearised and brought down once.

    Cheaper than single products, and with less noise. A pair of the same object is a square.

    Raises:
        ParameterError: nothing to sum, missing keys, values in different bases.
        NoiseBudgetError: no room for a product.

    """
    given = [tuple(several(pair, "factors")) for pair in several(products, "products")]
    if any(len(pair) != 2 for pair in given):
        raise ShapeError("products are pairs of two factors; chain longer ones by `*`")
    pairs = [(_of_slots(a, "a factor"), _of_slots(b, "a factor")) for a, b in given]
    rest = [_of_slots(other, "a summand") for other in several(others, "others")]
    everything = [*(slots for pair in pairs for slots in pair), *rest]
    if not everything:
        raise ParameterError("there is nothing to sum; give at least one product or ciphertext")
    if not pairs:
        return reduce(operator.add, rest)
    return everything[0].summed(pairs, rest, _joint(everything))


def carries(
    generates: EncryptedSlots, passes: EncryptedSlots, steps: Sequence[int]
) -> EncryptedSlots:
    """Which bits along dimension 0 have a carry, of those that generate one and that pass one on.

    Each step, in turn, brings the carries that have come so far by as many slots: `1, 2, 4 ...` for
    the sum of bits beside each other (Kogge and Stone 1973).

    Raises:
        ParameterError: no keys; keygen(..., slot_rotations=[(0, -step), ...]) makes them.
        NoiseBudgetError: more steps than there is room for.

    """
    params = generates.params
    elements = [params.dimension_element(0, -step) for step in steps]
    remedy = f"slot_rotations={[(0, -step) for step in steps]}"
    return generates.carried(passes, elements, remedy)


def pack(columns: Sequence[EncryptedSlots]) -> EncryptedSlots:
    """One ciphertext of up to `d` whose slots hold numbers: `sum(X**j * columns[j])`.

    Coordinates are those of powers of X, so that `decrypt_slots(...)[:, j]` is `columns[j]`.
    Monomials add no noise. All are brought to the lowest level among them; for the way down take
    level 1.

    Raises:
        ParameterError: slots that hold no numbers; nothing to pack.
        ShapeError: more ciphertexts than a value has coordinates.

    """
    slots = [_of_slots(column, "a column") for column in several(columns, "columns")]
    if not slots:
        raise ParameterError("there is nothing to pack; give at least one ciphertext")
    params = slots[0].params
    if len(slots) > degree_of(params):
        raise ShapeError(
            f"{len(slots)} ciphertexts are more than the {degree_of(params)} coordinates of a "
            f"slot of {params.name}; pack them into several"
        )
    if any(column.content != NUMBERS for column in slots):
        raise ParameterError("only slots of numbers are packed; unpack values first")
    level = min(column.level for column in slots)
    natives = [
        column.native if column.level == level else column.native.mod_switch_to(level)
        for column in slots
    ]
    packed = _native.pack(params, natives)
    return EncryptedSlots(params, packed, POWERS, keys_of(*slots))


def encrypt(keys: PublicKeys, messages: ArrayLike, *, content: str = NORMAL) -> EncryptedSlots:
    """Encrypts under the public key; `SecretKey.pack` takes half the bytes and less noise.

    Args:
        keys: the public keys.
        messages: as `SecretKey.pack` takes them.
        content: "normal" or "powers" for coordinates, "numbers" for a number in each slot.

    """
    keys = of_kind(keys, "keys", PublicKeys, f"give {_KEYS}")
    plaintext = encoded(keys.params, messages, content)
    return EncryptedSlots(keys.params, keys.public.encrypt(plaintext), content, keys)

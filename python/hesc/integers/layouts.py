"""Encrypted integers in other layouts: along slots, and packed for the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from hesc import _native
from hesc._native import NoiseBudgetError, ParameterError
from hesc._support.inputs import one_name, wire_bytes
from hesc._support.opaque import Opaque
from hesc.integers.bits import bits_of, numbers_in
from hesc.integers.encrypted_integers import EncryptedIntegers, described, plain_bits
from hesc.integers.expressions import Integers
from hesc.integers.kinds import IntegerKind
from hesc.integers.slotwise import Slotwise
from hesc.packing.messages import NORMAL, NUMBERS, POWERS, encoded
from hesc.packing.slots import EncryptedSlots, pack
from hesc.vectors.evaluation import Bindable, EvaluationKeys
from hesc.vectors.steps import degree_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike

    from hesc.params.vectors import VectorParams

SLICED: Final = "sliced"
"""A ciphertext for each bit, a number in each slot."""
SLOTWISE: Final = "slotwise"
"""All bits of a number along the slots of one ciphertext."""
PACKED: Final = "packed"
"""On the way: the ciphertexts of "sliced", as many in one as slots have coordinates."""
LAYOUTS: Final = (SLICED, SLOTWISE, PACKED)


class SlotwiseArray(Bindable, Integers):
    """`count` encrypted integers of one kind, their bits along slots. Operators build expressions.

    `encrypt` and `read` make them with the layout "slotwise", or they are results of such plans.
    Truth values lie where the highest bits of the numbers do that they were made of.
    """

    layout: Final = SLOTWISE

    def __init__(
        self,
        params: VectorParams,
        kind: IntegerKind,
        count: int,
        blocks: list[_native.Ciphertext],
        lying: Slotwise,
        keys: EvaluationKeys | None = None,
    ) -> None:
        super().__init__(kind)
        self.params = params
        self.keys = keys
        self.count = count
        self.blocks = blocks
        self.lying = lying

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        level = min(block.level for block in self.blocks)
        budget = min(block.noise_budget for block in self.blocks)
        return (
            f"SlotwiseArray({self.count} of {self.dtype}, {self.params.name}, level={level}, "
            f"noise_budget={budget:.1f} bits)"
        )

    def to_bytes(self) -> bytes:
        """The wire form, with type, count and layout, which are public."""
        of = (self.count, self.lying.kind.width, self.kind.signed, self.kind.boolean)
        return _native.Ciphertext.integers_to_bytes(self.params, self.blocks, of, SLOTWISE)

    @classmethod
    def from_bytes(cls, params: VectorParams, data: bytes) -> Encrypted:
        """Reads what `to_bytes` wrote, or the key owner's shorter form; strict."""
        return read_layout(params, data, SLOTWISE)

    def counts(self) -> list[int]:
        """Numbers in each ciphertext."""
        capacity = self.lying.capacity
        return [min(capacity, self.count - at) for at in range(0, self.count, capacity)]


class PackedIntegers(Bindable, Opaque):
    """Encrypted integers on their way, the bits of several in one ciphertext: `ceil(width / d)`.

    Plans with `upload="packed"` take them; those with `answer="packed"` give them.
    """

    layout: Final = PACKED

    def __init__(
        self,
        params: VectorParams,
        kind: IntegerKind,
        count: int,
        packed: list[EncryptedSlots],
        keys: EvaluationKeys | None = None,
    ) -> None:
        self.params = params
        self.keys = keys
        self.kind = kind
        self.count = count
        self.packed = packed

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        return (
            f"PackedIntegers({self.count} of {self.dtype}, {self.params.name}, in "
            f"{len(self.packed)} ciphertexts)"
        )

    @property
    def dtype(self) -> str:
        """The type's name."""
        return str(self.kind)

    @classmethod
    def from_bytes(cls, params: VectorParams, data: bytes) -> Encrypted:
        """Reads what `to_bytes` wrote, or the key owner's shorter form; strict."""
        return read_layout(params, data, PACKED)

    def to_bytes(self) -> bytes:
        """The wire form, with type, count and layout, which are public."""
        layout = PACKED if self.packed[0].content == NORMAL else _BY_POWERS
        natives = [slots.native for slots in self.packed]
        of = described(self.count, self.kind)
        return _native.Ciphertext.integers_to_bytes(self.params, natives, of, layout)

    def unpack(self, level: int | None = None) -> EncryptedIntegers:
        """A ciphertext for each bit, to compute with: all Frobenius images, and a sum for a bit.

        Needs keys: `keygen(..., unpacking=True)`.

        Args:
            level: where bits come to; by default where a product of them has the most room.

        """
        width, degree = self.kind.width, degree_of(self.params)
        wanted = width * -(-self.count // self.params.slot_count)
        bits: list[_native.Ciphertext] = []
        for slots in self.packed:
            outputs = range(min(degree, wanted - len(bits)))
            bound = slots if self.keys is None else slots.with_keys(self.keys)
            bits += [bit.native for bit in bound.unpack(outputs, level=level)]
        blocks = [bits[at : at + width] for at in range(0, wanted, width)]
        return EncryptedIntegers(self.params, self.kind, self.count, blocks, self.keys)


Encrypted = EncryptedIntegers | SlotwiseArray | PackedIntegers
"""Integers in slots, of any layout."""

_BY_POWERS: Final = "packed by powers"


def packed(integers: EncryptedIntegers) -> PackedIntegers:
    """Integers for the way back: as many bits in a ciphertext as slots have coordinates.

    At the lowest level that has room: what the noise is told by, which is public.

    Raises:
        NoiseBudgetError: no room: results with some to spare have it.

    """
    params, degree = integers.params, degree_of(integers.params)
    bits = [EncryptedSlots(params, bit, NUMBERS) for bit in integers.bits()]
    together = [pack(bits[at : at + degree]) for at in range(0, len(bits), degree)]
    lowest = [_lowest(slots) for slots in together]
    return PackedIntegers(params, integers.kind, len(integers), lowest, integers.keys)


def _lowest(slots: EncryptedSlots) -> EncryptedSlots:
    for level in range(1, slots.level):
        try:
            return slots.mod_switch_to(level)
        except NoiseBudgetError:
            continue
    return slots


def plaintexts(
    params: VectorParams, numbers: ArrayLike, dtype: DTypeLike | IntegerKind | None, layout: str
) -> tuple[IntegerKind, int, list[_native.Plaintext]]:
    """What is encrypted: the kind, the count, and the plaintexts of a layout."""
    if layout == SLICED:
        return plain_bits(params, numbers, dtype)
    check_layout(layout)
    kind, array = numbers_in(numbers, dtype)
    if layout == SLOTWISE:
        lying = Slotwise(params, kind)
        parts = [array[at : at + lying.capacity] for at in range(0, array.size, lying.capacity)]
        rows = [lying.slots_of(part) for part in parts]
        return kind, array.size, [encoded(params, row, NUMBERS) for row in rows]
    _check_packs(params)
    slots, degree = params.slot_count, degree_of(params)
    blocks = []
    for at in range(0, array.size, slots):
        bits = bits_of(array[at : at + slots], kind)
        blocks.append(np.pad(bits, ((0, 0), (0, slots - bits.shape[1]))))
    columns = np.concatenate(blocks)
    groups = [columns[at : at + degree].T for at in range(0, len(columns), degree)]
    return kind, array.size, [encoded(params, group, NORMAL) for group in groups]


def _check_packs(params: VectorParams) -> None:
    if params.plain_modulus != 2 or not params.dimensions:
        raise ParameterError(
            f"{params.name} has no bits to pack into slots; take a preset of an odd ring: "
            'bgv_13107, bgv_21845 ..., or layout="sliced"'
        )


def check_layout(layout: object) -> None:
    """Refuses what is none."""
    one_name(layout, "layout", LAYOUTS)


def made(
    params: VectorParams,
    kind: IntegerKind,
    count: int,
    ciphertexts: Sequence[_native.Ciphertext],
    layout: str,
    width: int | None = None,
) -> Encrypted:
    """Integers of their ciphertexts."""
    if layout == SLICED:
        size = kind.width
        blocks = [list(ciphertexts[at : at + size]) for at in range(0, len(ciphertexts), size)]
        return EncryptedIntegers(params, kind, count, blocks)
    if layout == SLOTWISE:
        lying = Slotwise(params, IntegerKind(width or 1) if kind.boolean else kind)
        return SlotwiseArray(params, kind, count, list(ciphertexts), lying)
    content = NORMAL if layout == PACKED else POWERS
    slots = [EncryptedSlots(params, ciphertext, content) for ciphertext in ciphertexts]
    return PackedIntegers(params, kind, count, slots)


def read_layout(params: VectorParams, data: bytes, layout: str) -> Encrypted:
    """Integers of a layout from their wire form, or the key owner's shorter one; strict."""
    ciphertexts, of, found = _native.Ciphertext.integers_from_bytes(params, wire_bytes(data))
    count, width, signed, boolean = of
    if found.split(" ")[0] != layout:
        name = found.split(" ")[0]
        raise ParameterError(
            f"these integers are {name}, and {layout} ones are expected: encrypt with layout= as "
            f'the plan has it (plan.upload, plan.answer), or read with layout="{name}"'
        )
    if layout == PACKED:
        _check_packs(params)
    kind = IntegerKind(1 if boolean else width, signed, boolean)
    return made(params, kind, count, ciphertexts, found, width)

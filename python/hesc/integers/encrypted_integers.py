"""Encrypted integers: a ciphertext for each bit, a number in each slot. Nothing can decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind, wire_bytes
from hesc._support.memory import make_room
from hesc.integers.bits import bits_of, numbers_in
from hesc.integers.expressions import Integers
from hesc.integers.kinds import IntegerKind
from hesc.params.vectors import VectorParams
from hesc.vectors.evaluation import Bindable, EvaluationKeys

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

Block = list[_native.Ciphertext]
"""The bits of as many numbers as there are slots, the lowest first."""


class EncryptedIntegers(Bindable, Integers):
    """`count` encrypted integers of one kind. Operators build expressions: see `Integers`.

    Make them with `encrypt` or `read`, or as results of plans.
    """

    layout: Final = "sliced"

    def __init__(
        self,
        params: VectorParams,
        kind: IntegerKind,
        count: int,
        blocks: list[Block],
        keys: EvaluationKeys | None = None,
    ) -> None:
        super().__init__(kind)
        self.params = params
        self.keys = keys
        self.count = count
        self.blocks = blocks

    def __len__(self) -> int:
        return self.count

    def __repr__(self) -> str:
        bits = self.bits()
        level = min(bit.level for bit in bits)
        budget = min(bit.noise_budget for bit in bits)
        return (
            f"EncryptedIntegers({self.count} of {self.dtype}, {self.params.name}, level={level}, "
            f"noise_budget={budget:.1f} bits)"
        )

    @classmethod
    def from_bytes(cls, params: VectorParams, data: bytes) -> EncryptedIntegers:
        """Reads what `to_bytes` wrote, or the key owner's shorter form; strict."""
        of_kind(params, "params", VectorParams, "hesc.Params.preset makes a set for vectors")
        bits, of, layout = _native.Ciphertext.integers_from_bytes(params, wire_bytes(data))
        count, width, signed, boolean = of
        if layout != cls.layout:
            raise ParameterError(
                f'these integers are {layout}, not "{cls.layout}"; take hesc.integers.read, which '
                "reads all layouts"
            )
        blocks = [bits[first : first + width] for first in range(0, len(bits), width)]
        return cls(params, IntegerKind(width, signed, boolean), count, blocks)

    def bits(self) -> list[_native.Ciphertext]:
        """All ciphertexts."""
        return [bit for block in self.blocks for bit in block]

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return sum(bit.nbytes for bit in self.bits())

    def to_bytes(self) -> bytes:
        """The wire form, with type and count, which are public."""
        of = described(self.count, self.kind)
        return _native.Ciphertext.integers_to_bytes(self.params, self.bits(), of, self.layout)


def described(count: int, kind: IntegerKind) -> tuple[int, int, bool, bool]:
    """What the wire form says of numbers."""
    return count, kind.width, kind.signed, kind.boolean


def plain_bits(
    params: VectorParams, numbers: ArrayLike, dtype: DTypeLike | IntegerKind | None
) -> tuple[IntegerKind, int, list[_native.Plaintext]]:
    """What is encrypted: the kind, the count, and the bits of each block, the lowest first."""
    kind, array = numbers_in(numbers, dtype)
    if params.scheme != "bgv":
        raise ParameterError(
            f"{params.name} is of {params.scheme}; bits in slots take BGV: see plan.params"
        )
    count = -(-array.size // params.slot_count) * kind.width
    needed = 16 * count * params.ring_degree * len(params.coeff_moduli)
    make_room(needed, f"{count:,} ciphertexts of bits")
    plain: list[_native.Plaintext] = []
    for first in range(0, array.size, params.slot_count):
        rows = bits_of(array[first : first + params.slot_count], kind)
        plain.extend(_native.Plaintext.encode_integers(params, row, False) for row in rows)
    return kind, array.size, plain

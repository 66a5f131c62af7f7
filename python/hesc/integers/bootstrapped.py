"""Integers on bits that bootstrap (scheme "tfhe"): the same circuits, of any depth.

`hsiao2022sche` has such gates; a full adder's sum and carry are one bootstrap here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc import _native
from hesc._native import ParameterError
from hesc._support.inputs import of_kind, wire_bytes
from hesc._support.opaque import Opaque
from hesc._support.pickling import ByWireForm
from hesc.gates.answers import BitAnswer
from hesc.gates.encrypted import EncryptedBits, Evaluator, encrypt_bits
from hesc.integers.bits import bits_of, numbers_in
from hesc.integers.expressions import Integers
from hesc.integers.kinds import IntegerKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from hesc.gates.circuit import Circuit
    from hesc.integers.expressions import PublicIntegers
    from hesc.params.stream_params import StreamParams
    from hesc.vectors.keys import PublicKeys


class BootstrappedIntegers(ByWireForm, Integers):
    """Encrypted integers of one kind, as bits that bootstrap. Operators build expressions.

    `encrypt` and `read` make them with the public key of `hesc.keygen(plan.params)`, or they are
    results of plans.
    """

    layout: Final = "sliced"

    def __init__(self, kind: IntegerKind, bits: EncryptedBits) -> None:
        super().__init__(kind)
        if len(bits.shape) != 2 or bits.shape[1] != kind.width:
            raise ParameterError(f"bits of {kind} are (count, {kind.width}); got {bits.shape}")
        self.bits = bits
        self.params = bits.params

    @classmethod
    def encrypt(
        cls, key: PublicKeys, numbers: ArrayLike, dtype: DTypeLike | IntegerKind | None = None
    ) -> BootstrappedIntegers:
        """Encrypts integers, each bit by itself, as `hesc.integers.encrypt` does."""
        kind, array = numbers_in(numbers, dtype)
        return cls(kind, encrypt_bits(key, bits_of(array, kind).T))

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> BootstrappedIntegers:
        """Reads what `to_bytes` wrote; strict."""
        native, signed, boolean = _native.EncryptedBits.integers_from_bytes(
            params, wire_bytes(data)
        )
        bits = EncryptedBits(params, native)
        return cls(IntegerKind(bits.shape[1], signed, boolean), bits)

    def to_bytes(self) -> bytes:
        """The wire form, 16 bytes a bit in whole blocks, with the type; results are packed first.

        Raises:
            ParameterError: bits that lie one by one.

        """
        data = self.bits.native.integers_to_bytes(self.kind.signed, self.kind.boolean)
        if data is None:
            raise ParameterError(
                "these integers' bits lie one by one, 16 kB each; take .pack(server), or send "
                ".answer(server) to the key owner"
            )
        return data

    def pack(self, server: Evaluator) -> BootstrappedIntegers:
        """The same with their bits in blocks, to be stored or sent to servers."""
        return BootstrappedIntegers(self.kind, _evaluator(server).pack(self.bits))

    def answer(self, server: Evaluator) -> IntegerAnswer:
        """What goes back to the key owner: under three bytes a bit, in whole blocks."""
        return IntegerAnswer(self.kind, _evaluator(server).answer(self.bits))

    def __len__(self) -> int:
        return self.bits.shape[0]

    def __repr__(self) -> str:
        return f"BootstrappedIntegers({len(self)} of {self.dtype}, {self.params})"


class IntegerAnswer(ByWireForm, Opaque):
    """Integers that only the key owner can use; `BootstrappedIntegers.answer` makes them."""

    def __init__(self, kind: IntegerKind, bits: BitAnswer) -> None:
        self.kind = kind
        self.bits = bits
        self.params = bits.params

    def __len__(self) -> int:
        return self.bits.shape[0]

    @classmethod
    def from_bytes(cls, params: StreamParams, data: bytes) -> IntegerAnswer:
        """Reads what `to_bytes` wrote; strict."""
        native, signed, boolean = _native.BitAnswer.integers_from_bytes(params, wire_bytes(data))
        bits = BitAnswer(params, native)
        return cls(IntegerKind(bits.shape[1], signed, boolean), bits)

    def to_bytes(self) -> bytes:
        """The wire form, with the type."""
        return self.bits.native.integers_to_bytes(self.kind.signed, self.kind.boolean)


def run(
    circuit: Circuit,
    roots: Sequence[Integers],
    numbers: Sequence[BootstrappedIntegers],
    publics: Sequence[PublicIntegers],
    server: Evaluator | None,
    progress: bool | Callable[[int, int], object],
) -> list[BootstrappedIntegers]:
    """The circuit's outputs as integers of the roots' kinds; as many numbers in all of them."""
    evaluator = _evaluator(server)
    first = numbers[0].bits
    inputs = [given.bits for given in numbers]
    for public in publics:
        rows = _bytes_of(public)
        inputs.append(
            EncryptedBits(first.params, first.native.public(rows.reshape(-1), list(rows.shape)))
        )
    outputs = evaluator(circuit, *inputs, progress=progress)
    return [
        BootstrappedIntegers(root.kind, bits) for root, bits in zip(roots, outputs, strict=True)
    ]


def _bytes_of(public: PublicIntegers) -> NDArray[np.uint8]:
    """Bits as (count, width)."""
    return np.ascontiguousarray(bits_of(public.numbers, public.kind).T, dtype=np.uint8)


def _evaluator(server: Any) -> Evaluator:
    remedy = "give server=hesc.gates.Evaluator(key), key made by SecretKey.evaluation_key"
    return of_kind(server, "server", Evaluator, remedy)

"""AES-128 instead of a cipher made for the purpose: what data of others may be under already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Never

from hesc import _native
from hesc._native import CircuitError, NoiseBudgetError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, whole, wire_bytes
from hesc._support.progress import Bar
from hesc.integers.encrypted_integers import EncryptedIntegers
from hesc.integers.kinds import IntegerKind, kind_of
from hesc.packing import EncryptedSlots
from hesc.packing.slots import several
from hesc.params.parameter_set import Params
from hesc.params.vectors import VectorParams
from hesc.vectors.evaluation import galois_of, relin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import DTypeLike

ROUNDS: Final = 10
"""Rounds of AES-128."""
BLOCK: Final = 16
"""Bytes of a block."""
PRESET: Final = "bgv_65535_deep"
"""The parameters that all rounds fit into."""

_MOST_BLOCKS: Final = 1 << 32


class AesDecipherer(_native.AesDecipherer):
    """What turns bytes under AES-128 into encrypted integers; `aes_plan` makes one."""

    kind: IntegerKind
    params: VectorParams

    def __new__(cls, kind: IntegerKind, params: VectorParams, rounds: int, spare: int) -> Self:
        """The rounds of the cipher, for the slots of a set."""
        made = super().__new__(cls, params, rounds, spare)
        made.kind, made.params = kind, params
        return made

    def __reduce__(self) -> Never:
        raise TypeError(
            "an AesDecipherer is not pickled or copied; make it again from what it was made from"
        )

    def __repr__(self) -> str:
        return (
            f"<hesc.integers.transciphering.AesDecipherer: {self.params.name}, "
            f"{self.params.slot_count} rows of {self.columns} {self.kind}, {self.rounds} rounds, "
            f"depth {self.depth}, {self.seconds:.3g} s a run>"
        )

    @property
    def columns(self) -> int:
        """Numbers of a row, which is a block of the cipher."""
        return 8 * BLOCK // self.kind.width

    def decipher(
        self,
        key: Sequence[EncryptedSlots],
        nonce: bytes,
        data: bytes,
        *,
        progress: bool | Callable[[int, int], object] = True,
    ) -> list[EncryptedIntegers]:
        """The numbers of a message, encrypted, column by column; nothing is decrypted on the way.

        Args:
            key: the cipher's key, as `AesKey.encrypt_to_parts` made it: each part read by
                `EncryptedSlots.from_bytes` and bound to keys of `keygen(..., unpacking="bytes")`.
            nonce: twelve bytes, never the same twice under a key.
            data: AES-128 in counter mode, of rows of 16 bytes each: the counter of row `i` is the
                nonce and `i`, in four bytes, the highest first. Any implementation makes it.
            progress: whether to show a bar, or what to call with the inverses done and all.

        Another key than the encrypted one gives numbers without meaning, as do parts of one round
        in another order: the cipher cannot tell. Cost: `seconds` for as many rows as there are
        slots.

        Raises:
            ParameterError: parts that are missing, in another round's place or of another plan; no
                keys.
            ShapeError: bytes that are no rows.

        """
        parts = list(several(key, "the parts of a key"))
        for part in parts:
            of_kind(part, "a part of the key", EncryptedSlots, "EncryptedSlots.from_bytes reads it")
        data = wire_bytes(data)
        rows = len(data) // BLOCK
        if not 0 < rows <= _MOST_BLOCKS or len(data) % BLOCK:
            raise ShapeError(
                f"a message is rows of {BLOCK} bytes, one at least; got {len(data)} bytes: fill up "
                "the last row before it is encrypted"
            )
        if not parts:
            raise ParameterError("the key has no parts: AesKey.encrypt_to_parts makes them")
        relin = relin_of(parts)
        galois = galois_of(parts, 'keygen(..., unpacking="bytes")')
        natives, slots = [part.native for part in parts], self.params.slot_count
        runs = range(0, rows, slots)
        width, blocks = self.kind.width, list[list[_native.Ciphertext]]()
        with Bar("inverses", progress) as bar:
            for run, first in enumerate(runs):

                def report(done: int, total: int, run: int = run) -> None:
                    bar.show(run * total + done, len(runs) * total)

                some = data[first * BLOCK : (first + slots) * BLOCK]
                blocks.append(
                    super().deciphered_bits(
                        relin, galois, natives, wire_bytes(nonce), first, some, report
                    )
                )
        return [
            EncryptedIntegers(
                self.params,
                self.kind,
                rows,
                [bits[at : at + width] for bits in blocks],
                parts[0].keys,
            )
            for at in range(0, self.columns * width, width)
        ]


def aes_plan(
    dtype: DTypeLike | IntegerKind = "uint8",
    *,
    rounds: int = ROUNDS,
    spare: int = 0,
    params: VectorParams | None = None,
) -> AesDecipherer:
    """How data under AES-128 become encrypted integers (carpov2016packing, section 1.1).

    Args:
        dtype: of the numbers in rows of 16 bytes, little-endian: "uint8" for 16 of them, "uint32"
            for four, "bool" for 128.
        rounds: of the cipher. Fewer than ten are no AES, and protect nothing: for measurements.
        spare: further products in sequence that the numbers are to have room for.
        params: a set of one's own: plaintext modulus 2, slots of a multiple of 8 bits. `PRESET` by
            default.

    Cost: seconds.

    Raises:
        ParameterError: numbers of which rows have no whole number, slots without bytes.
        CircuitError: too deep for the set.

    """
    kind = kind_of(dtype)
    if 8 * BLOCK % kind.width:
        raise ParameterError(
            f"rows of {8 * BLOCK} bits hold no whole number of {kind}: take a type of 1, 2, 4, ... "
            f"{8 * BLOCK} bits"
        )
    rounds, spare = whole(rounds, "rounds", 1, ROUNDS), whole(spare, "spare", 0, 255)
    chosen = Params.preset(PRESET) if params is None else params
    of_kind(chosen, "params", VectorParams, "Params.preset(name) makes it")
    try:
        return AesDecipherer(kind, chosen, rounds, spare)
    except NoiseBudgetError as error:
        more = f", with {spare} more for the numbers" if spare else ""
        raise CircuitError(
            f"{chosen.name} has no room for {rounds} rounds of AES, {3 * rounds} products in "
            f"sequence{more}: {str(error).split(';', maxsplit=1)[0]}. Take a set with a larger "
            "modulus, or less spare"
        ) from None

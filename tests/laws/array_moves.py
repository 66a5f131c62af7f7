"""Rules that move encrypted elements, send them or decrypt them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import hesc
from tests.laws.array_programs import ArrayProgram, Made, lengths_differ
from tests.laws.programs import FLAG, OPERAND, one_of, operation

if TYPE_CHECKING:
    from collections.abc import Callable

INDICES = (0, -1, 1, 7, slice(None, None, -1), slice(0, 2), slice(5, 5), None, ..., [1, 0, 0], True)


class MovingArrays(ArrayProgram):
    """Indexing, shapes, joins, wire forms and answers."""

    @operation(a=OPERAND, index=one_of(*INDICES))
    def take(self, a: int, index: Any) -> None:
        x = self.pick(a)
        self.step(
            lambda: x.array[index],
            lambda: Made(np.asarray(x.values[index]), x.draws, x.constants, x.reach),
            (x,),
        )

    @operation(
        a=OPERAND,
        how=one_of("T", "flat", "ravel", "wide", "odd", "broadcast", "narrow", "rows", "again"),
    )
    def shapes(self, a: int, how: str) -> None:
        x = self.pick(a)
        calls: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "T": (lambda: x.array.T, lambda: x.values.T),
            "flat": (lambda: x.array.reshape(-1), lambda: x.values.reshape(-1)),
            "ravel": (x.array.ravel, x.values.ravel),
            "wide": (lambda: x.array.reshape(1, -1, 1), lambda: x.values.reshape(1, -1, 1)),
            "odd": (lambda: x.array.reshape(7, 2), lambda: x.values.reshape(7, 2)),
            "broadcast": (
                lambda: x.array.broadcast_to((2, *x.array.shape)),
                lambda: np.broadcast_to(x.values, (2, *x.values.shape)),
            ),
            "narrow": (
                lambda: x.array.broadcast_to((9, 4)),
                lambda: np.broadcast_to(x.values, (9, 4)),
            ),
            "rows": (lambda: list(x.array)[-1], lambda: x.values[-1]),
            "again": (
                lambda: x.array.rerandomise(self.world.owner.public),
                lambda: x.values,
            ),
        }
        compute, expected = calls[how]
        if how == "rows" and x.values.ndim == 0:
            self.refused(compute, TypeError)
            return
        if x.values.size > 60:
            return
        self.step(
            compute,
            lambda: Made(np.asarray(expected()), x.draws, x.constants, x.reach),
            (x,),
            must={hesc.ParameterError}
            if how == "again" and not self.world.has_public_key
            else None,
            may={hesc.NoiseBudgetError},
        )

    @operation(a=OPERAND, b=OPERAND, axis=one_of(0, -1, 1), thrice=FLAG)
    def join(self, a: int, b: int, axis: int, thrice: bool) -> None:
        x, y = self.pick(a), self.pick(b)
        last = [x] if thrice else []
        if x.values.size + y.values.size > 60:
            return
        same = x.array.native.terms_per_element == y.array.native.terms_per_element
        self.step(
            lambda: hesc.EncryptedArray.concatenate(
                [kept.array for kept in (x, y, *last)], axis=axis
            ),
            lambda: Made(
                np.concatenate([kept.values for kept in (x, y, *last)], axis=axis),
                x.draws | y.draws,
                x.constants or y.constants,
                max(x.reach, y.reach),
            ),
            (x, y),
            must=lengths_differ(x, y),
            may=set() if same else {hesc.ShapeError},
        )

    # Leaving

    @operation(a=OPERAND)
    def travel(self, a: int) -> None:
        x = self.pick(a)
        data = x.array.to_bytes()
        read = hesc.EncryptedArray.from_bytes(x.array.params, data)
        if x.values.ndim:
            # The first axis, the shape's first number, one longer and one shorter.
            for length in (x.values.shape[0] + 1, x.values.shape[0] - 1):
                lie = data[:1] + bytes([length]) + data[2:]
                with pytest.raises(hesc.WireError):
                    hesc.EncryptedArray.from_bytes(x.array.params, lie)
        np.testing.assert_array_equal(self.decrypted(read).value, x.found)
        self.keep(x._replace(array=read))

    @operation(
        a=OPERAND,
        fuse=one_of(None, None, 1, 2, 3, [3], [3, 3], [2], [1]),
        compact=one_of(None, False, True),
    )
    def answer(self, a: int, fuse: Any, compact: bool | None) -> None:
        """Answers, fused and compact, travel and say what the array says."""
        x = self.pick(a)
        native = x.array.native
        digits = min(fuse, x.array.native.blocks) if isinstance(fuse, int) else 0
        fits = digits and (native.max_count + 1) ** digits - 1 <= native.capacity
        try:
            sent = x.array.answer(fuse=fuse, compact=compact)
        except hesc.ParameterError:
            # Pads have no counts.
            if self.world.has_public_key or fuse is None:
                raise
            self.unchanged([x])
            return
        except (hesc.FusionError, hesc.NoiseBudgetError) as error:
            # What was asked for has no room; a plain answer always has, and digits that fit do.
            if (fuse is None and not compact) or (fits and isinstance(error, hesc.FusionError)):
                raise
            self.counts["no room"] += 1
            self.unchanged([x])
            return
        read = hesc.Answer.from_bytes(x.array.params, sent.to_bytes())
        found = self.check(read, x)
        if fuse != [1]:
            # Added ones are no longer told apart: the total alone is what it was.
            np.testing.assert_allclose(found, x.found, atol=1e-9 * max(1, x.reach))
        with pytest.raises(hesc.KeyMismatchError):
            hesc.Decryptor(self.world.owner.stranger).decrypt(read)
        self.agreed()

    @operation(a=OPERAND)
    def still(self, a: int) -> None:
        self.unchanged([self.pick(a)])
        self.agreed()

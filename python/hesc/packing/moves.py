"""One message to a ciphertext, and back: rotations in two steps."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc._native import ParameterError, ShapeError
from hesc._support.inputs import of_kind, whole
from hesc.packing.messages import NORMAL, NUMBERS, encoded
from hesc.packing.slots import EncryptedSlots, chosen_outputs, several
from hesc.vectors.evaluation import galois_of
from hesc.vectors.keys import PublicKeys
from hesc.vectors.steps import TwoSteps, degree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hesc import _native

_KEYS: Final = "keygen(..., unpacking=True, spreading=True)"


def _keys(steps: TwoSteps, galois: _native.GaloisKeys | None) -> _native.GaloisKeys:
    """The keys, if they are all there."""
    if galois is None or not set(steps.elements()) <= set(galois.elements):
        raise ParameterError(f"keys for rotations are missing; make the keys with {_KEYS}")
    return galois


class Spread:
    """Every message in a ciphertext of its own, in slot 0; other slots hold others.

    Iterating yields `(message, ciphertext)`. Messages count as `SecretKey.pack` takes them:
    the coordinate `c` of slot `s` is `s * d + c`. They come coordinate after coordinate, in the
    order of the rotations; one at a time is held. Two automorphisms at most each, of which the
    expensive part of the second is shared.

    Args:
        slots: packed values, or slots that hold numbers.
        outputs: which coordinates; all by default.
        level: where messages come to before they are moved, as for `unpack`.

    """

    def __init__(
        self,
        slots: EncryptedSlots,
        outputs: Sequence[int] | None = None,
        *,
        level: int | None = None,
    ) -> None:
        slots = of_kind(slots, "slots", EncryptedSlots, "EncryptedSlots.from_bytes reads them")
        self._steps = TwoSteps(slots.params)
        self._galois = _keys(self._steps, galois_of([slots], _KEYS))
        self._slots = slots
        self._level = None if level is None else whole(level, "level", 1, slots.level)
        d = degree_of(slots.params)
        if slots.content == NUMBERS:
            if outputs is not None:
                raise ParameterError("numbers have no coordinates to choose; leave out outputs")
            self._outputs = [0]
            self._degree = 1
        else:
            self._outputs = chosen_outputs(slots.params, outputs)
            self._degree = d

    def __len__(self) -> int:
        return len(self._outputs) * self._slots.params.slot_count

    def __iter__(self) -> Iterator[tuple[int, EncryptedSlots]]:
        slots = self._slots
        if slots.content == NUMBERS:
            columns = [slots if self._level is None else slots.mod_switch_to(self._level)]
        else:
            columns = slots.unpack(self._outputs, level=self._level)
        steps = self._steps
        long = [steps.element(place) for place in steps.long]
        for output, column in zip(self._outputs, columns, strict=True):
            # The first of the long ones moves nothing.
            for place, element in zip(steps.long, long, strict=True):
                moved = column.native.apply_galois(element, self._galois)
                short = [step for step in steps.short if steps.inside(place, step)]
                elements = [steps.element([step]) for step in short]
                images = _few(moved, elements, self._galois)
                for step, image in zip(short, images, strict=True):
                    at = place if not place else (place[0] + step, *place[1:])
                    message = steps.slot(at) * self._degree + output
                    yield message, EncryptedSlots(slots.params, image, NUMBERS, slots.keys)


def _few(
    native: _native.Ciphertext, elements: list[int], galois: _native.GaloisKeys
) -> Iterator[_native.Ciphertext]:
    """Images of one ciphertext, some at a time: digits are shared, memory is bounded."""
    rest = iter(elements)
    while some := list(islice(rest, 64)):
        yield from native.apply_galois_many(some, galois)


def gather(ciphertexts: Iterable[EncryptedSlots], keys: PublicKeys) -> EncryptedSlots:
    """Messages in slot 0 of a ciphertext each back into one, as `SecretKey.pack` packs them.

    The `k`-th ciphertext's message becomes coordinate `k % d` of slot `k // d`. Each is multiplied
    with
    a mask, then all of a slot are moved together. Ciphertexts are taken one at a time, so that a
    generator of them needs no memory.

    Raises:
        ParameterError: keys that are missing, slots that hold no numbers, nothing to gather.
        ShapeError: more than `phi(m)` ciphertexts.
        NoiseBudgetError: no room for masks: gather at a higher level.

    """
    keys = of_kind(keys, "keys", PublicKeys, "give the public keys that keygen returns")
    params = keys.params
    d, count = degree_of(params), params.slot_count
    steps, source = TwoSteps(params), iter(several(ciphertexts, "ciphertexts"))
    galois = _keys(steps, keys.galois)
    masks: dict[int, _native.Plaintext] = {}
    long_sums: dict[int, dict[int, _native.Ciphertext]] = {}
    for slot in range(count):
        messages = list(islice(source, d))
        if not messages:
            break
        long, short, shift = _way_back(steps, slot)
        moved = None
        for coordinate, given in enumerate(messages):
            message = of_kind(given, "a message", EncryptedSlots, "Spread yields them")
            if message.content != NUMBERS:
                raise ParameterError("only messages that are numbers are gathered; unpack first")
            # The automorphism moves coordinates on by as many places as it winds around.
            at = (coordinate - shift) % d
            mask = masks.get(at)
            if mask is None:
                row = np.zeros((1, d), dtype=np.uint64)
                row[0, at] = 1
                mask = masks[at] = encoded(params, row, NORMAL)
            term = message.native.multiply_plain(mask)
            moved = term if moved is None else moved.sum(term, False)
        if moved is None:
            break
        sums = long_sums.setdefault(long, {})
        sums[short] = moved if short not in sums else sums[short].sum(moved, False)
    if next(source, None) is not None:
        raise ShapeError(f"more than {count * d} messages do not fit one ciphertext")
    total = None
    for long, sums in long_sums.items():
        inner = None
        for short, moved in sums.items():
            image = moved.apply_galois(short, galois)
            inner = image if inner is None else inner.sum(image, False)
        if inner is not None:
            image = inner.apply_galois(long, galois)
            total = image if total is None else total.sum(image, False)
    if total is None:
        raise ParameterError("there is nothing to gather; give at least one ciphertext")
    return EncryptedSlots(params, total, NORMAL, keys)


def _way_back(steps: TwoSteps, slot: int) -> tuple[int, int, int]:
    """Two automorphisms that move slot 0 to another, and how far they move coordinates on."""
    places = []
    rest = slot
    for length in reversed(steps.lengths):
        places.append(rest % length)
        rest //= length
    places.reverse()
    unit = steps.element(places)
    back = [-place % length for place, length in zip(places, steps.lengths, strict=True)]
    short = back[0] % steps.short_count if back else 0
    long = (back[0] - short, *back[1:]) if back else ()
    elements = steps.element(long), steps.element([short])
    around = unit * elements[0] * elements[1] % steps.index
    prime = steps.params.frobenius_element(1)
    shift, power = 0, 1 % steps.index
    while power != around:
        power = power * prime % steps.index
        shift += 1
    return elements[0], elements[1], shift

"""Products, shifts, quotients and order inside one ciphertext: what they take, checked."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import hesc
from hesc import integers
from hesc.integers.secret import decrypt_integers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hesc_papers.clock import Clock


class Inside(NamedTuple):
    """Something that is computed of two rows of numbers without sign.

    Attributes:
        name: in words.
        bits: of each number.
        row: numbers of an input, as many as a ciphertext of the smallest set holds, or fewer.
        function: of integers that are computed later.
        expected: the same of two numbers, or of two rows where it is of rows.

    """

    name: str
    bits: int
    row: int
    function: Callable[..., Any]
    expected: Callable[[list[int], list[int]], list[list[int]]]


def _pairs(bits: int, function: Callable[[int, int], Sequence[int]]) -> Any:
    def expected(a: list[int], b: list[int]) -> list[list[int]]:
        mask = (1 << bits) - 1
        rows = [[each & mask for each in function(x, y)] for x, y in zip(a, b, strict=True)]
        return [list(row) for row in zip(*rows, strict=True)]

    return expected


def _product(bits: int) -> Inside:
    expected = _pairs(bits, lambda x, y: [x * y])
    return Inside(f"multiplication {bits}", bits, 8, operator.mul, expected)


def _shift(bits: int) -> Inside:
    expected = _pairs(bits, lambda x, y: [x << y if y < bits else 0])
    return Inside(f"shift by encrypted places {bits}", bits, 8, operator.lshift, expected)


def _division(bits: int) -> Inside:
    def expected(x: int, y: int) -> Sequence[int]:
        return divmod(x, y) if y else (-1, x)

    return Inside(f"division {bits}", bits, 8, divmod, _pairs(bits, expected))


def _sorting(bits: int, count: int) -> Inside:
    return Inside(
        f"sort of {count} numbers {bits}",
        bits,
        count,
        lambda a, _: integers.sort(a),
        lambda a, _: [sorted(a)],
    )


QUICK: Final = (_shift(8),)
ALL: Final = (
    _product(8),
    _product(16),
    _product(32),
    _shift(8),
    _shift(64),
    _division(4),
    _division(8),
    _sorting(8, 8),
    _sorting(16, 8),
    _sorting(16, 16),
)


def measured(inside: Inside, clock: Clock) -> dict[str, Any]:
    """What a plan states and what is measured, once what is decrypted is as in the clear."""
    dtype = f"uint{inside.bits}"
    plan = integers.plan(inside.function, dtype, dtype, count=inside.row, layout="slotwise")
    computation: Any = plan.chosen.computation
    secret, keys = hesc.keygen(plan.params, **plan.keys)
    rng = np.random.default_rng(0)
    most = (1 << inside.bits) - 1
    a = rng.integers(0, most, inside.row, dtype=np.uint64, endpoint=True)
    b = rng.integers(0, min(most, 2 * inside.bits), inside.row, dtype=np.uint64)
    a[0], b[0], b[1] = most, 0, most
    given = [integers.encrypt(keys, row, dtype, layout="slotwise") for row in (a, b)]
    found: list[Any] = []

    def run() -> None:
        found[:] = [plan(*given, progress=False)]

    timing = clock.time(run)
    results = found[0] if isinstance(found[0], tuple) else found
    decrypted = [decrypt_integers(secret, each).tolist() for each in results]
    if decrypted != inside.expected(a.tolist(), b.tolist()):
        raise RuntimeError(f"inside one ciphertext, {inside.name} is another than in the clear")
    return {
        "what": f"{inside.name}: inside one ciphertext",
        "set": plan.params.name,
        "security": plan.params.assurance,
        "bits of modulus": sum(q.bit_length() for q in plan.params.coeff_moduli),
        "numbers": computation.lying.capacity,
        "products": plan.chosen.products,
        "rotations": computation.rotations,
        "keys": len(computation.elements),
        "depth": plan.chosen.depth,
        "seconds": timing.seconds,
        "predicted / measured": computation.seconds / timing.seconds,
    }

"""The multiplier of the paper (xu2016integers, algorithm 3).

`hesc.gates.integers.multiplier` computes the same with fewer products behind each other.
"""

from __future__ import annotations

from hesc import gates
from hesc.gates import integers


def multiplier_by_rows(width: int, *, adder: str = "ripple") -> gates.Circuit:
    """`a * b` modulo `2**width`: shifted rows, added in pairs by adders of the bits left to add."""
    builder = gates.Builder(width, width)
    a, b = builder.inputs
    # Each row behind the weight of its lowest bit.
    rows = [
        (shift, [builder.gate("AND", wire, digit) for wire in a[: width - shift]])
        for shift, digit in enumerate(b)
    ]
    while len(rows) > 1:
        pairs = zip(rows[::2], rows[1::2], strict=False)
        odd = rows[len(rows) // 2 * 2 :]
        rows = [_added(builder, adder, low, high) for low, high in pairs] + odd
    return builder.finish(rows[0][1]).simplified()


def _added(
    builder: gates.Builder, adder: str, low: tuple[int, list[int]], high: tuple[int, list[int]]
) -> tuple[int, list[int]]:
    """The sum of two rows without its carry; the lower one keeps the bits below the higher one."""
    (shift, lower), (start, higher) = low, high
    below, above = lower[: start - shift], lower[start - shift :]
    (total,) = builder.append(integers.adder(len(higher), adder=adder), [*above, *higher])
    return shift, [*below, *total[:-1]]

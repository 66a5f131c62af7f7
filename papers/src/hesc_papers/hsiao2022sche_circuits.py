"""Binary arithmetic gate by gate, as the paper counts it (hsiao2022sche, section 2).

`hesc.gates.integers` computes the same with fewer products.
"""

from __future__ import annotations

from hesc import gates


def ripple_carry_adder(width: int) -> gates.Circuit:
    """`a + b` of `width` bits each, with one bit more: `5 width` gates.

    The longest path has `2 width + 1` of them (the paper allows `3 width`).
    """
    builder = gates.Builder(width, width)
    a, b = builder.inputs
    sums, carry = _added(builder, a, b, builder.constant(False))
    return builder.finish([*sums, carry])


def array_multiplier(width: int) -> gates.Circuit:
    """`a * b` of `width` bits each, with twice as many: `6 width**2` gates.

    A square of cells with a product and a full adder in each. The longest path has `5 width - 1`
    gates (the paper allows `8 width`).
    """
    builder = gates.Builder(width, width)
    a, b = builder.inputs
    product: list[int] = []
    zero = builder.constant(False)
    sums = [zero] * width
    for digit in b:
        row = [builder.gate("AND", wire, digit) for wire in a]
        (lowest, *rest), carry = _added(builder, row, sums, zero)
        product.append(lowest)
        sums = [*rest, carry]
    return builder.finish([*product, *sums])


def comparator(width: int) -> gates.Circuit:
    """Whether `a < b` of `width` bits each: two gates a bit, the highest difference decides."""
    builder = gates.Builder(width, width)
    less = builder.constant(False)
    for a, b in zip(*builder.inputs, strict=True):
        less = builder.mux(builder.gate("XOR", a, b), b, less)
    return builder.finish([less])


def _added(builder: gates.Builder, a: list[int], b: list[int], carry: int) -> tuple[list[int], int]:
    """Full adders of five gates, one behind the other: sums and the last carry."""
    sums = []
    for left, right in zip(a, b, strict=True):
        differ = builder.gate("XOR", left, right)
        sums.append(builder.gate("XOR", differ, carry))
        both, passed = builder.gate("AND", left, right), builder.gate("AND", differ, carry)
        carry = builder.gate("OR", both, passed)
    return sums, carry

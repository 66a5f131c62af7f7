"""Expressions as circuits: which adder, multiplier and divider, and what is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hesc.gates import integers as circuits
from hesc.gates.circuit import Builder, Circuit
from hesc.integers.expressions import PublicIntegers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hesc.integers.expressions import Integers
    from hesc.integers.kinds import IntegerKind

Wires = list[int]


class Given(NamedTuple):
    """What is computed: expressions, what stands in them for inputs, and these."""

    roots: Sequence[Integers]
    leaves: Sequence[Integers]
    numbers: Sequence[Any]
    publics: Sequence[PublicIntegers]


@dataclass(frozen=True)
class Style:
    """How circuits are made: their depth and products depend on it, what they compute does not."""

    adder: str = "sklansky"
    rows: str = "bits"
    digit: int = 2
    table: bool = False
    ranks: bool = False

    def __str__(self) -> str:
        parts = [
            self.adder,
            f"rows of {self.rows}",
            f"digits of {self.digit} bits" + (" after a table" if self.table else ""),
            "ranks" if self.ranks else "network",
        ]
        return ", ".join(parts)


_ADDERS: Final = ("sklansky", "ladner_fischer", "brent_kung", "ripple")
_TABLES: Final = (2, 4, 6, 8, 10)
_MOST_RANKED: Final = 64
# Wider divisions are too deep for slots in any way: one is enough to say so.
_WIDEST_TRIED: Final = 64


def styles(roots: Sequence[Integers]) -> list[Style]:
    """What is worth trying for an expression, the least depth first."""
    nodes = list(in_order(roots))
    found = {node.operation for node in nodes}
    adds = found & {"add", "subtract", "multiply", "quotient", "remainder", "total", "absolute"}
    multiplies = "multiply" in found
    divisions = [
        node.operands[0].kind.width for node in nodes if node.operation in {"quotient", "remainder"}
    ]
    if max(divisions, default=0) > _WIDEST_TRIED:
        return [Style(adder="ripple", digit=1)]
    tables = [True, False] if any(width in _TABLES for width in divisions) else [False]
    digits = (2, 1) if divisions else (2,)
    many = max((len(node.operands) for node in nodes if node.operation == "sorted"), default=0)
    # Ranks compare each with each: netlists of many would be larger than memory.
    ranks = (True, False) if 0 < many <= _MOST_RANKED else (False,)
    return [
        Style(adder, rows, digit, table, by_ranks)
        for by_ranks in ranks
        for adder in (_ADDERS if adds else _ADDERS[:1])
        for rows in (("digits", "bits") if multiplies else ("bits",))
        for digit in digits
        for table in tables
    ]


def in_order(roots: Sequence[Integers]) -> Iterator[Integers]:
    """Each node once, after its operands; expressions may be deep."""
    seen: set[int] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, ready = stack.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((operand, False) for operand in reversed(node.operands))


def publics_of(roots: Sequence[Integers]) -> list[PublicIntegers]:
    """The rows of public numbers that expressions use, which come after all other inputs."""
    return [node for node in in_order(roots) if isinstance(node, PublicIntegers)]


def circuit_of(roots: Sequence[Integers], leaves: Sequence[Integers], style: Style) -> Circuit:
    """The circuit of some expressions on these inputs, one group of outputs for each."""
    builder = Builder(*(leaf.kind.width for leaf in leaves))
    made = _Making(builder, style)
    for leaf, wires in zip(leaves, builder.inputs, strict=True):
        made.wires[id(leaf)] = wires
    for node in in_order(roots):
        if id(node) not in made.wires:
            made.wires[id(node)] = made.node(node)
    return builder.finish(*(made.wires[id(root)] for root in roots))


class _Making:
    """Expressions on their way to wires."""

    def __init__(self, builder: Builder, style: Style) -> None:
        self.builder = builder
        self.style = style
        self.wires: dict[int, Wires] = {}
        self.known: dict[tuple[object, ...], list[Wires]] = {}
        self.zero = builder.constant(False)

    def apply(self, circuit: Circuit, *numbers: Wires) -> list[Wires]:
        return self.builder.append(circuit, [wire for number in numbers for wire in number])

    def constant(self, value: int, width: int) -> Wires:
        bits = (value >> bit & 1 for bit in range(width))
        return [self.builder.constant(True) if bit else self.zero for bit in bits]

    def select(self, choice: int, one: Wires, zero: Wires) -> Wires:
        return [self.builder.mux(choice, x, y) for x, y in zip(one, zero, strict=True)]

    def negated(self, number: Wires) -> Wires:
        return self.apply(circuits.negation(len(number), adder=self.style.adder), number)[0]

    def absolute(self, number: Wires) -> Wires:
        return self.apply(circuits.absolute(len(number), adder=self.style.adder), number)[0]

    def any_of(self, number: Wires) -> int:
        return self.tree("OR", number)

    def node(self, node: Integers) -> Wires:
        """The wires of a node whose operands have theirs."""
        return _RULES[node.operation](self, node, *(self.wires[id(x)] for x in node.operands))

    def extended(self, number: Wires, width: int, sign: int | None = None) -> Wires:
        behind = self.zero if sign is None else sign
        return (number + [behind] * width)[:width]

    def converted(self, number: Wires, old: IntegerKind, new: IntegerKind) -> Wires:
        if new.boolean:
            return [self.any_of(number)]
        return self.extended(number, new.width, number[-1] if old.signed else None)

    def divided(self, a: Wires, b: Wires, kind: IntegerKind) -> list[Wires]:
        """Both results of a division, made once."""
        key = ("divided", kind.signed, *a, *b)
        if key not in self.known:
            self.known[key] = self.signed_division(a, b) if kind.signed else self.division(a, b)
        return self.known[key]

    def division(self, a: Wires, b: Wires) -> list[Wires]:
        style, width = self.style, len(a)
        table = style.table and width in _TABLES
        divider = circuits.divider(width, digit=style.digit, table=table, adder=style.adder)
        return self.apply(divider, a, b)

    def signed_division(self, a: Wires, b: Wires) -> list[Wires]:
        """The quotient rounded down, as numpy has it; the remainder has the divisor's sign."""
        size = self.absolute(b)
        quotient, remainder = self.division(self.absolute(a), size)
        differ = self.builder.gate("XOR", a[-1], b[-1])
        left = self.any_of(remainder)
        # Rounded towards zero, quotients below are one too large where something is left: -q - 1.
        down = self.builder.gate("AND", differ, left)
        none = self.extended([self.builder.invert(left)], len(a))
        inverse = [self.builder.invert(wire) for wire in quotient]
        adder = circuits.adder(len(a), adder=self.style.adder)
        below = self.apply(adder, inverse, none)[0][: len(a)]
        subtractor = circuits.subtractor(len(a), adder=self.style.adder)
        rest = self.select(down, self.apply(subtractor, size, remainder)[0], remainder)
        return [
            self.select(differ, below, quotient),
            self.select(b[-1], self.negated(rest), rest),
        ]

    # What each operation is. Operands of most have one kind.

    def add(self, _node: Integers, a: Wires, b: Wires) -> Wires:
        return self.apply(circuits.adder(len(a), adder=self.style.adder), a, b)[0][: len(a)]

    def subtract(self, _node: Integers, a: Wires, b: Wires) -> Wires:
        return self.apply(circuits.subtractor(len(a), adder=self.style.adder), a, b)[0]

    def multiply(self, node: Integers, a: Wires, b: Wires) -> Wires:
        """The product of two numbers, at the widths that they had before they were widened."""
        width = len(a)
        for number, factor in ((a, node.operands[1]), (b, node.operands[0])):
            if factor.operation == "constant":
                return self.multiple(number, factor.argument & (1 << width) - 1)
        short = [self.without_zeros(a), self.without_zeros(b)]
        signed = max(map(len, short)) == width
        if signed:
            short = [_without_copies(a), _without_copies(b)]
        inside = max(map(len, short))
        wide = [self.extended(x, inside, x[-1] if signed else None) for x in short]
        result = min(width, 2 * inside)
        style = self.style
        circuit = circuits.multiplier(
            inside, result, signed=signed, adder=style.adder, rows=style.rows
        )
        product = self.apply(circuit, *wide)[0]
        return self.extended(product, width, product[-1] if signed else None)

    def multiple(self, number: Wires, factor: int) -> Wires:
        """The sum of shifted copies, one for each bit of a public factor."""
        width = len(number)
        copies = [
            [self.zero] * place + number[: width - place]
            for place in range(width)
            if factor >> place & 1
        ]
        if len(copies) < 2:
            return copies[0] if copies else [self.zero] * width
        summed = circuits.total(len(copies), width, adder=self.style.adder)
        return self.apply(summed, *copies)[0][:width]

    def without_zeros(self, number: Wires) -> Wires:
        """Up to the highest bit that may be set; at least one bit."""
        width = len(number)
        while width > 1 and number[width - 1] == self.zero:
            width -= 1
        return number[:width]

    def quotient(self, node: Integers, a: Wires, b: Wires) -> Wires:
        return self.divided(a, b, node.kind)[0]

    def remainder(self, node: Integers, a: Wires, b: Wires) -> Wires:
        return self.divided(a, b, node.kind)[1]

    def less(self, node: Integers, a: Wires, b: Wires) -> Wires:
        return self.apply(circuits.less(len(a), signed=_signed(node)), a, b)[0]

    def greater(self, node: Integers, a: Wires, b: Wires) -> Wires:
        return self.less(node, b, a)

    def equal(self, _node: Integers, a: Wires, b: Wires) -> Wires:
        return self.apply(circuits.equal(len(a)), a, b)[0]

    def bitwise(self, node: Integers, a: Wires, b: Wires) -> Wires:
        name = node.operation.upper()
        return [self.builder.gate(name, x, y) for x, y in zip(a, b, strict=True)]

    def invert(self, _node: Integers, a: Wires) -> Wires:
        return [self.builder.invert(wire) for wire in a]

    def where(self, _node: Integers, choice: Wires, one: Wires, zero: Wires) -> Wires:
        return self.select(choice[0], one, zero)

    def minimum(self, node: Integers, a: Wires, b: Wires) -> Wires:
        return self.apply(circuits.minimum(len(a), signed=_signed(node)), a, b)[0]

    def maximum(self, node: Integers, a: Wires, b: Wires) -> Wires:
        return self.apply(circuits.maximum(len(a), signed=_signed(node)), a, b)[0]

    def count(self, node: Integers, a: Wires) -> Wires:
        counted = self.apply(circuits.bit_count(len(a), adder=self.style.adder), a)[0]
        return self.extended(counted, node.kind.width)

    def place(self, node: Integers, *several: Wires) -> Wires:
        key = ("sorted", _signed(node), *map(tuple, several))
        if key not in self.known and self.style.ranks:
            self.known[key] = self.by_ranks(several, signed=_signed(node))
        elif key not in self.known:
            sorter = circuits.sorter(len(several), len(several[0]), signed=_signed(node))
            self.known[key] = self.apply(sorter, *several)
        return self.known[key][node.argument]

    def by_ranks(self, several: Sequence[Wires], *, signed: bool) -> list[Wires]:
        """Sorted by how many come before each: all comparisons at once, so that depth is small."""
        count, gate = len(several), self.builder.gate
        if count == 1:
            return list(several)
        less = circuits.less(len(several[0]), signed=signed)
        # Of equal ones the first comes first.
        later = {
            (i, j): self.apply(less, several[j], several[i])[0][0]
            for i in range(count)
            for j in range(i + 1, count)
        }
        ranks = []
        for i in range(count):
            before = [
                later[i, j] if j > i else self.builder.invert(later[j, i])
                for j in range(count)
                if j != i
            ]
            counter = circuits.bit_count(len(before), adder=self.style.adder)
            ranks.append(self.apply(counter, before)[0])
        places: list[Wires] = []
        for place in range(count):
            # One of all has this rank: what is chosen are sums of products.
            bits: list[Wires] = []
            for number, rank in zip(several, ranks, strict=True):
                here = self.equals(rank, place)
                bits.append([gate("AND", here, wire) for wire in number])
            places.append([self.parity(column) for column in zip(*bits, strict=True)])
        return places

    def equals(self, number: Wires, value: int) -> int:
        """Whether it is a public number."""
        bits = [
            wire if value >> at & 1 else self.builder.invert(wire) for at, wire in enumerate(number)
        ]
        return self.tree("AND", bits)

    def parity(self, bits: Sequence[int]) -> int:
        return self.tree("XOR", bits)

    def tree(self, gate: str, bits: Sequence[int]) -> int:
        level = list(bits)
        while len(level) > 1:
            pairs = zip(level[::2], level[1::2], strict=False)
            rest = level[-1:] if len(level) % 2 else []
            level = [self.builder.gate(gate, a, b) for a, b in pairs] + rest
        return level[0]

    def total(self, node: Integers, *several: Wires) -> Wires:
        short = [self.without_zeros(number) for number in several]
        inside = max(map(len, short))
        summed = circuits.total(len(several), inside, adder=self.style.adder)
        wide = [self.extended(number, inside) for number in short]
        return self.extended(self.apply(summed, *wide)[0], node.kind.width)

    def left_by(self, node: Integers, a: Wires) -> Wires:
        return self.constant(0, node.argument) + a[: len(a) - node.argument]

    def right_by(self, node: Integers, a: Wires) -> Wires:
        sign = a[-1] if node.kind.signed else self.zero
        return a[node.argument :] + [sign] * node.argument

    def left(self, _node: Integers, a: Wires, places: Wires) -> Wires:
        inside, beyond = self.split(places, len(a))
        shifted = self.apply(circuits.left_shifter(len(a), len(inside)), a, inside)[0]
        return self.select(beyond, [self.zero] * len(a), shifted)

    def right(self, node: Integers, a: Wires, places: Wires) -> Wires:
        signed = node.kind.signed
        inside, beyond = self.split(places, len(a))
        shifter = circuits.right_shifter(len(a), len(inside), signed=signed)
        shifted = self.apply(shifter, a, inside)[0]
        return self.select(beyond, [a[-1] if signed else self.zero] * len(a), shifted)

    def split(self, places: Wires, width: int) -> tuple[Wires, int]:
        """The bits of a number of places up to the width, and whether any other is set."""
        low = min(len(places), width.bit_length())
        return places[:low], self.any_of(places[low:]) if places[low:] else self.zero


def _without_copies(number: Wires) -> Wires:
    """Up to the first copy of the sign."""
    width = len(number)
    while width > 1 and number[width - 2] == number[-1]:
        width -= 1
    return number[:width]


def _signed(node: Integers) -> bool:
    """Whether its operands have signs; truth values of them have none."""
    return node.operands[0].kind.signed


_RULES: Final[dict[str, Callable[..., Wires]]] = {
    "constant": lambda making, node: making.constant(node.argument, node.kind.width),
    "convert": lambda making, node, a: making.converted(a, node.operands[0].kind, node.kind),
    "absolute": lambda making, _node, a: making.absolute(a),
    "add": _Making.add,
    "subtract": _Making.subtract,
    "multiply": _Making.multiply,
    "quotient": _Making.quotient,
    "remainder": _Making.remainder,
    "less": _Making.less,
    "greater": _Making.greater,
    "equal": _Making.equal,
    "and": _Making.bitwise,
    "or": _Making.bitwise,
    "xor": _Making.bitwise,
    "invert": _Making.invert,
    "where": _Making.where,
    "minimum": _Making.minimum,
    "maximum": _Making.maximum,
    "count": _Making.count,
    "sorted": _Making.place,
    "total": _Making.total,
    "left by": _Making.left_by,
    "right by": _Making.right_by,
    "left": _Making.left,
    "right": _Making.right,
}

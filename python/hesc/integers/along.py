"""Expressions of integers whose bits lie along slots: which can be, tried, and computed."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import CircuitError, NoiseBudgetError, ParameterError, ShapeError
from hesc._support.progress import Bar
from hesc.integers.circuits import in_order
from hesc.integers.expressions import ROW_SORTED, PublicIntegers
from hesc.integers.layouts import SLOTWISE, SlotwiseArray
from hesc.integers.slotwise import Slotwise, SlotwiseIntegers, SlotwiseTruths
from hesc.packing.dry_runs import DryRun, DrySlots
from hesc.packing.messages import NUMBERS
from hesc.packing.slots import EncryptedSlots
from hesc.vectors.evaluation import galois_of, keys_of, relin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from hesc.gates.encrypted import Evaluator
    from hesc.integers.circuits import Given
    from hesc.integers.expressions import Integers
    from hesc.integers.kinds import IntegerKind
    from hesc.params.vectors import VectorParams

Value = Any
"""`SlotwiseIntegers`, `SlotwiseTruths`, or a row of public numbers or truth values."""


def _less(a: Value, b: Value) -> SlotwiseTruths:
    """One of both may be public: numpy's arrays would compare element by element."""
    found: SlotwiseTruths = a < b if isinstance(a, SlotwiseIntegers) else b > a
    return found


def _product(a: Value, b: Value) -> SlotwiseIntegers:
    found: SlotwiseIntegers = a * b if isinstance(a, SlotwiseIntegers) else b * a
    return found


def _left(a: Value, b: Value) -> SlotwiseIntegers:
    found: SlotwiseIntegers = a << b if isinstance(a, SlotwiseIntegers) else b.__rlshift__(a)
    return found


def _right(a: Value, b: Value) -> SlotwiseIntegers:
    found: SlotwiseIntegers = a >> b if isinstance(a, SlotwiseIntegers) else b.__rrshift__(a)
    return found


_NUMBERS: Final[dict[str, Callable[..., Value]]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "invert": operator.invert,
    "less": _less,
    "greater": lambda a, b: _less(b, a),
    "equal": lambda a, b: a == b if isinstance(a, SlotwiseIntegers) else b == a,
    "minimum": lambda a, b: _less(a, b).where(a, b),
    "maximum": lambda a, b: _less(a, b).where(b, a),
    "where": lambda choice, one, zero: choice.where(one, zero),
    "multiply": _product,
    "left": _left,
    "right": _right,
    ROW_SORTED: lambda a: a.ordered(),
}
_MOVED: Final[dict[str, Callable[..., Value]]] = {
    "left by": operator.lshift,
    "right by": operator.rshift,
}
_DIVIDED: Final = {"quotient", "remainder"}
_DIGITS: Final = (1, 2, 3, 4)
_TRUTHS: Final = {"and", "or", "xor", "invert"}
_PUBLIC: Final = {"public", "constant"}
_LEAVES: Final = _PUBLIC | {"input"}


def obstacle(roots: Sequence[Integers], leaves: Sequence[Integers]) -> str | None:
    """Why these are not computed along slots, if so."""
    kind = leaves[0].kind
    if any(leaf.kind != kind for leaf in leaves):
        return "inputs of several types"
    if kind.boolean:
        return "inputs are truth values, not numbers"
    public: set[int] = set()
    for node in in_order(roots):
        known = [id(operand) in public for operand in node.operands]
        if node.operation in _PUBLIC or (node.operation == "convert" and all(known)):
            public.add(id(node))
        elif node.operation in _LEAVES:
            continue
        else:
            reason = _obstacle(node, known, kind)
            if reason:
                return reason
    if any(id(root) in public for root in roots):
        return "a result that is public"
    return None


def _obstacle(node: Integers, known: list[bool], kind: IntegerKind) -> str | None:
    operation = node.operation
    kinds = {operand.kind for operand in node.operands[operation == "where" :]}
    logic = operation in _TRUTHS and len(kinds) == 1 and all(x.boolean for x in kinds)
    if operation == "convert":
        return f"conversion of {node.operands[0].dtype} to {node.dtype}"
    if all(known):
        return f"{operation!r} of public numbers alone, which goes in the clear"
    if operation == "where" and known[0]:
        return "a choice by public truth values, which goes in the clear"
    if operation in _DIVIDED and kind.signed:
        return "divisions of numbers with sign"
    computed = operation in _NUMBERS or operation in _MOVED or operation in _DIVIDED
    if computed and (logic or kinds == {kind}):
        return None
    return f"operation {operation!r} of {', '.join(operand.dtype for operand in node.operands)}"


def _converted(row: NDArray[Any], kind: IntegerKind) -> NDArray[Any]:
    """Public numbers as another type, wrapping as numpy does."""
    if kind.boolean:
        return np.array([bool(x) for x in row])
    span = kind.most - kind.least + 1
    return np.array([(int(x) - kind.least) % span + kind.least for x in row], dtype=object)


class _Block(NamedTuple):
    """What is computed at once: a ciphertext of each input, and its numbers."""

    slots: list[EncryptedSlots]
    first: int
    size: int
    digit: int


def _computed(
    roots: Sequence[Integers],
    leaves: Sequence[Integers],
    lying: Slotwise,
    block: _Block,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Value]:
    """The results of a block; nodes are counted as they are made."""
    values: dict[int, Value] = {
        id(leaf): SlotwiseIntegers(lying, slots, block.size)
        for leaf, slots in zip(leaves, block.slots, strict=True)
    }
    uses: dict[int, int] = {id(root): 1 for root in roots}
    nodes = list(in_order(roots))
    for node in nodes:
        for operand in node.operands:
            uses[id(operand)] = uses.get(id(operand), 0) + 1
    divisions: dict[tuple[int, ...], list[Integers]] = {}
    for node in nodes:
        if node.operation in _DIVIDED:
            divisions.setdefault(_pair(node), []).append(node)
    for at, node in enumerate(nodes):
        if id(node) not in values:
            if node.operation in _DIVIDED:
                values |= _divided(divisions[_pair(node)], values, block.digit)
            else:
                values[id(node)] = _value(node, values, block)
        for operand in node.operands:
            uses[id(operand)] -= 1
            if not uses[id(operand)]:
                values.pop(id(operand), None)
        advance(at)
    return [values[id(root)] for root in roots]


def _pair(division: Integers) -> tuple[int, ...]:
    return tuple(id(operand) for operand in division.operands)


def _divided(nodes: Sequence[Integers], values: dict[int, Value], digit: int) -> dict[int, Value]:
    """All quotients and remainders of the same two numbers, which are found together."""
    a, b = (values[id(operand)] for operand in nodes[0].operands)
    if not isinstance(a, SlotwiseIntegers):
        a = b.public(a)
    rest = any(node.operation == "remainder" for node in nodes)
    found = dict(zip(("quotient", "remainder"), a.divided(b, digit=digit, rest=rest), strict=True))
    return {id(node): found[node.operation] for node in nodes}


def _value(node: Integers, values: dict[int, Value], block: _Block) -> Value:
    if isinstance(node, PublicIntegers):
        return node.numbers[block.first : block.first + block.size]
    if node.operation == "constant":
        row = np.full(block.size, node.argument, dtype=object)
        return row.astype(bool) if node.kind.boolean else row
    operands = [values[id(operand)] for operand in node.operands]
    if node.operation == "convert":
        return _converted(operands[0], node.kind)
    if node.operation in _MOVED:
        return _MOVED[node.operation](*operands, node.argument)
    return _NUMBERS[node.operation](*operands)


@dataclass(frozen=True, eq=False)
class AlongSlots:
    """A computation on blocks of as many numbers as one ciphertext has, bits along its slots."""

    engine: ClassVar = "binary"
    steps: ClassVar = "products"
    layout: ClassVar = SLOTWISE
    upload: ClassVar = SLOTWISE
    answer: ClassVar = SLOTWISE
    takes: ClassVar = SlotwiseArray
    params: VectorParams
    lying: Slotwise
    slot_rotations: list[tuple[int, int]]
    elements: list[int]
    digit: int
    sorts: int | None
    products: int
    rotations: int
    depth: int
    seconds: float
    peak_bytes: int
    level: int

    @property
    def keys(self) -> dict[str, Any]:
        """The rotations that carries move by, for `hesc.keygen(params, **keys)`."""
        return {"slot_rotations": list(self.slot_rotations)}

    @property
    def levels(self) -> list[int]:
        """The levels of inputs and of results."""
        return [len(self.params.levels), self.level]

    def run(
        self,
        given: Given,
        _server: Evaluator | None,
        progress: bool | Callable[[int, int], object],
    ) -> list[SlotwiseArray]:
        """The results, encrypted; nothing is begun that has no room."""
        roots, leaves, numbers, _ = given
        if self.sorts not in {None, len(numbers[0])}:
            raise ShapeError(
                f"the plan sorts rows of {self.sorts}, and these are {len(numbers[0])}: rotations "
                "depend on their count; make a plan for it"
            )
        keys, counts = keys_of(*numbers), numbers[0].counts()
        relin = relin_of(numbers)
        made = f"slot_rotations={self.slot_rotations}"
        rotations = f"keygen(plan.params, **plan.keys): {made}"
        there = set(galois_of(numbers, rotations).elements) if self.elements else set()
        if not there.issuperset(self.elements):
            raise ParameterError(
                f"these keys have not the rotations that the plan needs; make them with {rotations}"
            )
        DryRun(self.params).native.check(relin, [x for number in numbers for x in number.blocks])
        blocks = [
            _Block(
                [
                    EncryptedSlots(number.params, number.blocks[at], NUMBERS, keys)
                    for number in numbers
                ],
                at * self.lying.capacity,
                count,
                self.digit,
            )
            for at, count in enumerate(counts)
        ]
        # All of them before any is computed: blocks of others may differ.
        public = any(isinstance(node, PublicIntegers) for node in in_order(roots))
        tried: set[object] = set()
        for block in blocks:
            known = tuple((x.level, x.noise_budget) for x in block.slots)
            if public or known not in tried:
                tried.add(known)
                _dry_run(self.params, roots, leaves, self.lying, block, 0)
        steps = sum(1 for _ in in_order(roots))
        results: list[list[Any]] = [[] for _ in roots]
        with Bar("steps", progress) as bar:
            for at, block in enumerate(blocks):

                def advance(node: int, before: int = at) -> None:
                    bar.show(before * steps + node + 1, len(blocks) * steps)

                found = _computed(roots, leaves, self.lying, block, advance)
                for result, value in zip(results, found, strict=True):
                    result.append(value.slots.native)
        return [
            SlotwiseArray(self.params, root.kind, len(numbers[0]), natives, self.lying, keys)
            for root, natives in zip(roots, results, strict=True)
        ]


def _dry_run(
    params: VectorParams,
    roots: Sequence[Integers],
    leaves: Sequence[Integers],
    lying: Slotwise,
    block: _Block,
    spare: int,
) -> tuple[DryRun, list[DrySlots], float]:
    """Without ciphertexts: on what those of a block have of level and noise, or on fresh ones.

    Raises:
        CircuitError: no room.

    """
    run = DryRun(params)
    slots: list[EncryptedSlots] = [run.input(given) for given in block.slots]
    # Fresh encryptions where none are given.
    slots = slots or [run.input() for _ in leaves]
    block = block._replace(slots=slots)
    try:
        results = [value.slots for value in _computed(roots, leaves, lying, block)]
        seconds = run.native.seconds()
        for result in results:
            product = result
            for _ in range(spare):
                product = product * product
    except NoiseBudgetError as error:
        more = f", with {spare} more for its results" if spare else ""
        raise CircuitError(
            f"too deep for the room that there is along slots{more}: take a larger set, "
            'layout="sliced", which needs less, or decrypt between two parts'
        ) from error
    return run, results, seconds


def along_slots(
    params: VectorParams,
    roots: Sequence[Integers],
    leaves: Sequence[Integers],
    count: int,
    spare: int,
    given: Sequence[SlotwiseArray] | None = None,
) -> AlongSlots:
    """What it takes, on fresh encryptions or on what is given.

    Raises:
        CircuitError: no room.
        ParameterError: what is not computed along the slots of this set.

    """
    reason = obstacle(roots, leaves)
    if reason:
        raise ParameterError(f"{reason}: not along slots")
    lying = Slotwise(params, leaves[0].kind)
    operations = {node.operation for node in in_order(roots)}
    sorts = count if ROW_SORTED in operations else None
    if sorts is not None and sorts > lying.capacity:
        raise CircuitError(
            f"a ciphertext has {lying.capacity} of these numbers, and rows are sorted inside of one"
        )
    slots = [EncryptedSlots(x.params, x.blocks[0], NUMBERS) for x in given or ()]
    block = _Block(slots, 0, min(count, lying.capacity), 1)
    found: list[AlongSlots] = []
    refused: CircuitError | None = None
    width = lying.kind.width
    for digit in _DIGITS[:width] if operations & _DIVIDED else (1,):
        try:
            found.append(
                _tried(params, roots, leaves, lying, block._replace(digit=digit), spare, sorts)
            )
        except CircuitError as error:
            refused = error
    if not found and refused is not None:
        raise refused
    return min(found, key=attrgetter("seconds"))


def _tried(
    params: VectorParams,
    roots: Sequence[Integers],
    leaves: Sequence[Integers],
    lying: Slotwise,
    block: _Block,
    spare: int,
    sorts: int | None,
) -> AlongSlots:
    """What it takes with divisions by digits of so many bits.

    Raises:
        CircuitError: no room.

    """
    run, results, seconds = _dry_run(params, roots, leaves, lying, block, spare)
    wanted = set(run.native.elements)
    keys: dict[int, tuple[int, int]] = {}
    for along in lying.rotations:
        element = params.dimension_element(*along)
        if element in wanted:
            keys.setdefault(element, along)
    nodes = sum(1 for _ in in_order(roots))
    return AlongSlots(
        params=params,
        lying=lying,
        slot_rotations=list(keys.values()),
        elements=sorted(wanted),
        digit=block.digit,
        sorts=sorts,
        products=run.native.products,
        rotations=run.rotations,
        depth=max(result.depth for result in results),
        seconds=seconds,
        # At most: those that wait, and what one operation makes on its way.
        peak_bytes=(nodes + _held(roots, lying, block)) * run.native.ciphertext_bytes,
        level=min(result.level for result in results),
    )


def _held(roots: Sequence[Integers], lying: Slotwise, block: _Block) -> int:
    """Ciphertexts that one operation makes on its way, at most."""
    width, most = lying.kind.width, 6
    for node in in_order(roots):
        if node.operation in _DIVIDED:
            # Multiples, whether they are within the type, differences, answers and what changes.
            most = max(most, 6 * (1 << block.digit) + 8)
        elif node.operation == "multiply":
            most = max(most, 2 * width + 6)
        elif node.operation == ROW_SORTED:
            # Comparisons with all others, ranks twice over, and what goes to each place.
            most = max(most, 5 * block.size + 6)
    return most

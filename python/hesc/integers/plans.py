"""Which engine, ring and circuit compute an expression: chosen by counting, before it runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, Never

from hesc import _native
from hesc._native import CircuitError, NoiseBudgetError, ParameterError, ShapeError
from hesc.inputs import of_kind, whole
from hesc.integers.arrays import EncryptedIntegers
from hesc.integers.circuits import Style, circuit_of, in_order, styles
from hesc.integers.expressions import Integers
from hesc.integers.kinds import Kind, kind_of
from hesc.leveled.params import LeveledParams
from hesc.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from hesc.gates.circuit import Circuit

ENGINES: Final = {
    "binary": (
        ("bgv_13107", "bgv_13107_circuits"),
        ("bgv_21845_circuits", "bgv_21845_deep"),
        ("bgv_65535",),
    ),
    "prime": (("bgv_8192",), ("bgv_16384",), ("bgv_32768",)),
}
"""The presets of each engine, for each ring from the smallest. "binary" has plaintext modulus 2,
where exclusive ors cost nothing, and 512 to 2048 slots; "prime" 65537, where they take a product
unless gates show that both bits are never set, and 8192 to 32768 slots."""


@dataclass(frozen=True)
class Contender:
    """One way to compute an expression.

    Attributes:
        engine: "binary" or "prime".
        params: the preset's name.
        slots: numbers in a ciphertext.
        style: how circuits are made; None where none fits.
        products: relinearisations for one block of numbers.
        depth: products in sequence.
        seconds: for all numbers, on one thread, as counted.
        latency: for one block.
        bytes_in: of a block of inputs, freshly encrypted.
        peak_bytes: memory of a block's computation.
        reason: why it is not possible, if so.

    """

    engine: str
    params: str
    slots: int
    style: Style | None
    products: int = 0
    depth: int = 0
    seconds: float = float("inf")
    latency: float = float("inf")
    bytes_in: int = 0
    peak_bytes: int = 0
    reason: str = ""


class Plan:
    """What computes a function of integers; `plan` makes one. Call it on encrypted integers."""

    def __init__(
        self,
        leaves: Sequence[Integers],
        roots: Sequence[Integers],
        single: bool,
        chosen: tuple[Contender, LeveledParams, _native.SlotPlan],
        contenders: list[Contender],
        count: int,
    ) -> None:
        self._leaves = list(leaves)
        self._roots = list(roots)
        self._single = single
        self._chosen = chosen
        self.contenders = contenders
        self.count = count

    @property
    def params(self) -> LeveledParams:
        """The parameter set: make keys for it with `hesc.leveled_keygen(plan.params)`."""
        return self._chosen[1]

    @property
    def engine(self) -> str:
        """Of plaintexts: "binary" or "prime"."""
        return self._chosen[0].engine

    @property
    def chosen(self) -> Contender:
        """The cheapest contender."""
        return self._chosen[0]

    @property
    def levels(self) -> list[int]:
        """The level before each product, and that of the results."""
        return self._chosen[2].levels

    def __reduce__(self) -> Never:
        raise TypeError(
            "a Plan is not pickled or copied; make it again from the function, with params= set to "
            "this one's parameters"
        )

    def __repr__(self) -> str:
        best = self.chosen
        return (
            f"<hesc.integers.Plan: {best.params}, {best.products} products of depth {best.depth}, "
            f"{best.seconds:.3g} s for {self.count} numbers>"
        )

    def explain(self) -> str:
        """A table of all contenders: what each would take, or why it cannot."""
        lines = [
            f"{'engine':8} {'parameters':20} {'slots':>6} {'products':>8} {'depth':>5} "
            f"{'block':>9} {'all':>9} {'MB in':>7}  circuit, or why not"
        ]
        for row in self.contenders:
            mark = "*" if row == self.chosen else " "
            if row.style is None:
                figures = f"{'-':>8} {'-':>5} {'-':>9} {'-':>9} {'-':>7}  {row.reason}"
            else:
                figures = (
                    f"{row.products:8} {row.depth:5} {row.latency:8.3f}s {row.seconds:8.3f}s "
                    f"{row.bytes_in / 1e6:7.2f}  {row.style}"
                )
            lines.append(f"{row.engine:8} {row.params:20} {row.slots:6} {figures} {mark}".rstrip())
        lines.append(
            f"* chosen for {self.count} numbers: the least time on one thread, by operations "
            "counted and their measured speed; blocks follow one another"
        )
        return "\n".join(lines)

    def __call__(
        self,
        *numbers: EncryptedIntegers,
        progress: bool | Callable[[int, int], object] = True,
    ) -> Any:
        """The function of encrypted integers: `EncryptedIntegers`, or a tuple of them.

        Cost: `chosen.latency` for each block of `params.slot_count` numbers, shared among cores.

        Raises:
            CircuitError: inputs that have less room than fresh encryptions, or share their noise:
                results, or the same encryption twice.
            KeyMismatchError, ParameterError, ShapeError: other keys, parameters, types or counts.

        """
        if len(numbers) != len(self._leaves):
            raise ShapeError(f"the plan takes {len(self._leaves)} inputs; got {len(numbers)}")
        for given, leaf in zip(numbers, self._leaves, strict=True):
            if not isinstance(given, EncryptedIntegers):
                raise ParameterError("plans take encrypted integers; evaluate expressions first")
            if given.kind != leaf.kind:
                raise ParameterError(
                    f"the plan is for {leaf.dtype}, these are {given.dtype}; convert in the plan"
                )
        results = run(self._chosen[2], self._roots, numbers, progress)
        return results[0] if self._single else tuple(results)


def run(
    native: _native.SlotPlan,
    roots: Sequence[Integers],
    numbers: Sequence[EncryptedIntegers],
    progress: bool | Callable[[int, int], object],
) -> list[EncryptedIntegers]:
    """Computes block after block; memory is that of one."""
    keys = numbers[0].keys
    if keys.relin is None:
        raise ParameterError("products need the relinearisation key: leveled_keygen makes it")
    counts = {len(given) for given in numbers}
    if len(counts) != 1:
        raise ShapeError(f"inputs have as many numbers each; got {sorted(counts)}")
    widths = [root.kind.width for root in roots]
    results: list[list[list[_native.LeveledCiphertext]]] = [[] for _ in roots]
    blocks = [
        [bit for bits in block for bit in bits]
        for block in zip(*(given.blocks for given in numbers), strict=True)
    ]
    # All of them before any is computed: blocks of others may differ.
    for block in blocks:
        native.check(keys.relin, block)
    with Bar("products", progress) as bar:
        for at, inputs in enumerate(blocks):

            def report(done: int, total: int, before: int = at) -> None:
                bar.show(before * total + done, len(blocks) * total)

            bits = iter(native.evaluate(keys.relin, inputs, report))
            for result, width in zip(results, widths, strict=True):
                result.append([next(bits) for _ in range(width)])
    return [
        EncryptedIntegers(keys, root.kind, counts.copy().pop(), blocks_of)
        for root, blocks_of in zip(roots, results, strict=True)
    ]


def plan(
    function: Callable[..., Any],
    *dtypes: DTypeLike | Kind,
    count: int = 1,
    engine: str | None = None,
    params: LeveledParams | None = None,
    spare: int = 0,
) -> Plan:
    """Chooses how a function of integers is computed, by predicted time for `count` numbers.

    Args:
        function: takes `Integers`, one for each type, and returns one or several.
        *dtypes: of its inputs: "uint64", numpy.int8, "bool" ...
        count: how many numbers each input will have.
        engine: "binary" or "prime"; both by default.
        params: a set of one's own; the presets by default.
        spare: further products in sequence that results are to have room for.

    Raises:
        CircuitError: too deep for every set, with what each has room for.

    """
    kinds = [kind_of(dtype) for dtype in dtypes]
    if not kinds:
        raise ParameterError("give the types of the function's inputs")
    leaves = [Integers(kind) for kind in kinds]
    found = function(*leaves)
    single = isinstance(found, Integers)
    roots = [found] if single else list(found) if isinstance(found, list | tuple) else []
    if not roots or not all(isinstance(root, Integers) for root in roots):
        raise ParameterError("the function returns integers, one or several")
    foreign = [
        node
        for node in in_order(roots)
        if node.operation == "input" and all(node is not leaf for leaf in leaves)
    ]
    if foreign:
        raise ParameterError("the function uses integers that are none of its inputs")
    count, spare = whole(count, "count", 1), whole(spare, "spare", 0, 255)
    sets = _sets(engine, params)
    circuits = [(style, circuit_of(roots, leaves, style)) for style in styles(roots)]
    contenders: list[Contender] = []
    best: tuple[Contender, LeveledParams, _native.SlotPlan] | None = None
    fitted: set[str] = set()
    for name, rings in sets:
        for of_ring in rings:
            # A larger ring offers no more room that is needed, and a longer way for each number.
            if name in fitted:
                break
            for params_of in of_ring:
                row, native = _contender(name, params_of(), circuits, count, spare)
                contenders.append(row)
                if native is not None:
                    fitted.add(name)
                    if best is None or row.seconds < best[0].seconds:
                        best = row, params_of(), native
    if best is None:
        reasons = "; ".join(f"{row.params}: {row.reason}" for row in contenders)
        raise CircuitError(
            f"no set has room for this: {reasons}. Compute it in parts, decrypting between them, "
            "or on bits that bootstrap (hesc.gates), which have no such limit"
        )
    return Plan(leaves, roots, single, best, contenders, count)


Sets = list[tuple[str, list[list["Callable[[], LeveledParams]"]]]]


def _sets(engine: str | None, params: LeveledParams | None) -> Sets:
    """By engine, for each ring the sets to try, made when they are."""
    if engine is not None and engine not in ENGINES:
        raise ParameterError(f"there is no engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if params is not None:
        given = of_kind(params, "params", LeveledParams, "LeveledParams.preset(name) makes it")
        if engine not in {None, _engine_of(given)}:
            raise ParameterError(f"{given.name} is for the engine {_engine_of(given)!r}")
        return [(_engine_of(given), [[lambda: given]])]
    chosen = ENGINES if engine is None else {engine: ENGINES[engine]}
    return [
        (name, [[partial(_preset, preset) for preset in ring] for ring in rings])
        for name, rings in chosen.items()
    ]


@cache
def _preset(name: str) -> LeveledParams:
    return LeveledParams.preset(name)


def _engine_of(params: LeveledParams) -> str:
    return "binary" if params.plain_modulus == 2 else "prime"


def _contender(
    engine: str,
    params: LeveledParams,
    circuits: Sequence[tuple[Style, Circuit]],
    count: int,
    spare: int,
    inputs: Sequence[_native.LeveledCiphertext] | None = None,
) -> tuple[Contender, _native.SlotPlan | None]:
    """The cheapest circuit in one set."""
    slots, reason = params.slot_count, ""
    best: tuple[Style, _native.SlotPlan] | None = None
    for style, circuit in circuits:
        try:
            native = _native.SlotPlan(circuit.native, params.native, spare, inputs)
        except (CircuitError, NoiseBudgetError) as error:
            more = f", with {spare} more for its results" if spare else ""
            reason = reason or str(error).split(":", maxsplit=1)[0] + more
            continue
        if best is None or native.seconds < best[1].seconds:
            best = style, native
    if best is None:
        return Contender(engine, params.name, slots, None, reason=reason), None
    style, native = best
    bits = 2 * params.ring_degree * sum(q.bit_length() for q in params.coeff_moduli)
    fresh = bits // 8 * sum(circuits[0][1].inputs)
    row = Contender(
        engine=engine,
        params=params.name,
        slots=slots,
        style=style,
        products=native.products,
        depth=native.depth,
        seconds=native.seconds * -(-count // slots),
        latency=native.seconds,
        bytes_in=fresh,
        peak_bytes=native.peak_bytes,
    )
    return row, native


def evaluate(
    *expressions: Integers,
    spare: int = 0,
    progress: bool | Callable[[int, int], object] = True,
) -> Any:
    """Computes expressions of encrypted integers, common parts once.

    Args:
        *expressions: what operators have built.
        spare: further products in sequence that results are to have room for.
        progress: whether to show a bar, or what to call with the products done and all.

    Raises:
        CircuitError: too deep for the inputs' parameters and noise: plan the whole function
            first, with `plan`, which chooses parameters that have room.

    """
    if not expressions or not all(isinstance(root, Integers) for root in expressions):
        raise ParameterError("evaluate takes expressions of encrypted integers")
    nodes = [node for node in in_order(expressions) if node.operation == "input"]
    leaves = [node for node in nodes if isinstance(node, EncryptedIntegers)]
    if not nodes:
        raise ParameterError("these expressions are public numbers: there is nothing to evaluate")
    if len(leaves) != len(nodes):
        raise ParameterError("these expressions have inputs that are not encrypted integers")
    params, slots = leaves[0].params, leaves[0].params.slot_count
    circuits = [(style, circuit_of(expressions, leaves, style)) for style in styles(expressions)]
    engine = _engine_of(params)
    # Blocks of one input are alike: they were made in the same way.
    inputs = [bit for leaf in leaves for bit in leaf.blocks[0]]
    row, native = _contender(engine, params, circuits, slots, whole(spare, "spare", 0, 255), inputs)
    if native is None:
        raise CircuitError(
            f"{row.reason}; plan the whole function before you encrypt: hesc.integers.plan chooses "
            "parameters that have room"
        )
    results = run(native, expressions, leaves, progress)
    return results[0] if len(results) == 1 else tuple(results)

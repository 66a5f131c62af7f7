"""The ways to compute an expression, what each would take, and the cheapest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import _native
from hesc._native import CircuitError, NoiseBudgetError, ParameterError
from hesc.gates.circuit import Builder, Circuit, Precision
from hesc.integers import bootstrapped
from hesc.integers.arrays import EncryptedIntegers
from hesc.integers.bits import bits_of
from hesc.integers.circuits import Style, circuit_of, styles
from hesc.leveled.params import LeveledParams
from hesc.params import Params
from hesc.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from hesc.gates.encrypted import Evaluator
    from hesc.integers.expressions import Integers, PublicIntegers

ENGINES: Final = {
    "binary": (
        ("bgv_13107_shallow", "bgv_13107", "bgv_13107_circuits"),
        ("bgv_21845_circuits", "bgv_21845_deep"),
        ("bgv_65535",),
    ),
    "prime": (("bgv_8192",), ("bgv_16384",), ("bgv_32768",)),
    "bootstrapped": (("tfhe_2048",),),
}
"""The presets of each engine, for each ring from the smallest. "binary" has plaintext modulus 2,
where exclusive ors cost nothing, and 512 to 2048 slots; "prime" 65537, where they take a product
unless gates show that both bits are never set, and 8192 to 32768 slots; "bootstrapped" one number
at a time, of any depth."""

# Bootstraps take bits of any depth, so that the circuits with the fewest gates are the cheapest.
_FEWEST: Final = Style(adder="ripple", rows="bits", digit=1)
# A bootstrap in products of bgv_8192, whose speed is measured: `hesc reproduce hesc:integers`.
_BOOTSTRAP: Final = 40
# Of a bit between bootstraps, bytes.
_SAMPLE: Final = 16_392
# And of one that travels, beside those of its block.
_BIT: Final = 16


@dataclass(frozen=True)
class Contender:
    """One way to compute an expression.

    Attributes:
        engine: "binary", "prime" or "bootstrapped".
        params: the preset's name.
        slots: numbers in a block.
        style: how circuits are made; None where none fits.
        products: relinearisations, or bootstraps, for one block of numbers.
        depth: of them in sequence.
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


@dataclass(frozen=True)
class Asked:
    """What is to be computed.

    Attributes:
        roots: the expressions.
        leaves: their encrypted inputs, or what stands for them.
        publics: their rows of public numbers.
        count: numbers in each.
        spare: further products in sequence that results are to have room for.

    """

    roots: Sequence[Integers]
    leaves: Sequence[Integers]
    publics: Sequence[PublicIntegers]
    count: int
    spare: int

    def circuit(self, style: Style) -> Circuit:
        """One way to compute it."""
        return circuit_of(self.roots, [*self.leaves, *self.publics], style)

    def circuits(self) -> list[tuple[Style, Circuit]]:
        """All that are worth trying in slots."""
        return [(style, self.circuit(style)) for style in styles(self.roots)]


class OnSlots(NamedTuple):
    """A way to compute: blocks of as many numbers as there are slots."""

    params: LeveledParams
    native: _native.SlotPlan

    def run(
        self,
        roots: Sequence[Integers],
        numbers: Sequence[Any],
        publics: Sequence[PublicIntegers],
        _server: Evaluator | None,
        progress: bool | Callable[[int, int], object],
    ) -> Sequence[Integers]:
        """The results, encrypted."""
        return _run(self.native, roots, numbers, publics, progress)


class OnBits(NamedTuple):
    """Another: number by number, on bits that bootstrap."""

    params: Params
    circuit: Circuit

    def run(
        self,
        roots: Sequence[Integers],
        numbers: Sequence[Any],
        publics: Sequence[PublicIntegers],
        server: Evaluator | None,
        progress: bool | Callable[[int, int], object],
    ) -> Sequence[Integers]:
        """The results, encrypted; `server` bootstraps."""
        return bootstrapped.run(self.circuit, roots, numbers, publics, server, progress)


def _run(
    native: _native.SlotPlan,
    roots: Sequence[Integers],
    numbers: Sequence[EncryptedIntegers],
    publics: Sequence[PublicIntegers],
    progress: bool | Callable[[int, int], object],
) -> list[EncryptedIntegers]:
    """Computes block after block; memory is that of one."""
    keys = numbers[0].keys
    if keys.relin is None:
        raise ParameterError("products need the relinearisation key: leveled_keygen makes it")
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

            rows = _rows(publics, at * keys.params.slot_count, keys.params.slot_count)
            bits = iter(native.evaluate(keys.relin, inputs, report, rows))
            for result, width in zip(results, widths, strict=True):
                result.append([next(bits) for _ in range(width)])
    return [
        EncryptedIntegers(keys, root.kind, len(numbers[0]), blocks_of)
        for root, blocks_of in zip(roots, results, strict=True)
    ]


def _rows(publics: Sequence[PublicIntegers], first: int, slots: int) -> NDArray[np.uint8] | None:
    """The bits of a block of public numbers, a row for each wire; zeros behind the last."""
    if not publics:
        return None
    wires = []
    for public in publics:
        bits = bits_of(public.numbers[first : first + slots], public.kind)
        wires.append(np.pad(bits.astype(np.uint8), ((0, 0), (0, slots - bits.shape[1]))))
    return np.concatenate(wires)


Sets = list[tuple[str, list[list["Callable[[], Any]"]]]]


def sets_of(engine: str | None, params: LeveledParams | Params | None) -> Sets:
    """By engine, for each ring the sets to try, made when they are."""
    if engine is not None and engine not in ENGINES:
        raise ParameterError(f"there is no engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if params is not None:
        if not isinstance(params, LeveledParams | Params):
            raise ParameterError(
                f"params is {type(params).__name__}; integers take LeveledParams.preset(name), or "
                'Params.preset("tfhe_2048")'
            )
        given = params
        if engine not in {None, _engine_of(given)}:
            raise ParameterError(f"{given.name} is for the engine {_engine_of(given)!r}")
        return [(_engine_of(given), [[lambda: given]])]
    chosen = {engine: ENGINES[engine]} if engine else dict(ENGINES)
    if engine is None and not hasattr(_native, "Evaluator"):
        # A build for the demo, without gates on encrypted bits.
        del chosen["bootstrapped"]
    return [
        (name, [[partial(_preset, preset) for preset in ring] for ring in rings])
        for name, rings in chosen.items()
    ]


@cache
def _preset(name: str) -> LeveledParams | Params:
    return Params.preset(name) if name.startswith("tfhe") else LeveledParams.preset(name)


def _engine_of(params: LeveledParams | Params) -> str:
    if isinstance(params, Params):
        return "bootstrapped"
    return "binary" if params.plain_modulus == 2 else "prime"


@cache
def _bootstrap_seconds() -> float:
    """Of one bootstrap on one thread, by the speed of products that is measured anyway."""
    builder = Builder(1, 1)
    ((a,), (b,)) = builder.inputs
    circuit = builder.finish([builder.gate("AND", a, b)])
    params = LeveledParams.preset("bgv_8192")
    return _BOOTSTRAP * _native.SlotPlan(circuit.native, params.native, 0).seconds


def _on_bits(params: Params, asked: Asked) -> tuple[Contender, OnBits | None]:
    """The circuit on bits that bootstrap."""
    circuit, count = asked.circuit(_FEWEST), asked.count
    try:
        program = circuit.compile(Precision.of(params))
    except NoiseBudgetError as error:
        return Contender("bootstrapped", params.name, 1, None, reason=str(error)), None
    seconds = program.bootstraps * _bootstrap_seconds()
    row = Contender(
        engine="bootstrapped",
        params=params.name,
        slots=1,
        style=_FEWEST,
        products=program.bootstraps,
        depth=len(program.layers),
        seconds=seconds * count,
        latency=seconds,
        bytes_in=_BIT * sum(circuit.inputs),
        peak_bytes=count * (program.bootstraps + sum(circuit.inputs)) * _SAMPLE,
    )
    return row, OnBits(params, circuit)


def _on_slots(
    engine: str,
    params: LeveledParams,
    circuits: Sequence[tuple[Style, Circuit]],
    asked: Asked,
    inputs: Sequence[_native.LeveledCiphertext] | None = None,
) -> tuple[Contender, OnSlots | None]:
    """The cheapest circuit in one set."""
    slots, reason, spare = params.slot_count, "", asked.spare
    public = sum(row.kind.width for row in asked.publics)
    best: tuple[Style, _native.SlotPlan] | None = None
    for style, circuit in circuits:
        try:
            native = _native.SlotPlan(circuit.native, params.native, spare, inputs, public=public)
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
    fresh = bits // 8 * (sum(circuits[0][1].inputs) - public)
    row = Contender(
        engine=engine,
        params=params.name,
        slots=slots,
        style=style,
        products=native.products,
        depth=native.depth,
        seconds=native.seconds * -(-asked.count // slots),
        latency=native.seconds,
        bytes_in=fresh,
        peak_bytes=native.peak_bytes,
    )
    return row, OnSlots(params, native)


def compare(
    asked: Asked, sets: Sets
) -> tuple[list[Contender], tuple[Contender, OnSlots | OnBits] | None]:
    """What every set would take, and the cheapest."""
    slots = any(engine != "bootstrapped" for engine, _ in sets)
    circuits = asked.circuits() if slots else []
    contenders: list[Contender] = []
    fitting: list[tuple[Contender, OnSlots | OnBits]] = []
    for engine, rings in sets:
        for of_ring in rings:
            tried = [_contender(engine, params_of(), circuits, asked) for params_of in of_ring]
            contenders += [row for row, _ in tried]
            fitted = [(row, way) for row, way in tried if way is not None]
            fitting += fitted
            # A larger ring offers room that is not needed, and a longer way for each number.
            if fitted:
                break
    best = min(fitting, key=lambda pair: pair[0].seconds, default=None)
    return contenders, best


def _contender(
    engine: str, params: Any, circuits: Sequence[tuple[Style, Circuit]], asked: Asked
) -> tuple[Contender, OnSlots | OnBits | None]:
    if engine == "bootstrapped":
        return _on_bits(params, asked)
    return _on_slots(engine, params, circuits, asked)


def for_ciphertexts(asked: Asked) -> OnSlots | OnBits:
    """The cheapest way for ciphertexts that are there, `asked.leaves`.

    Raises:
        CircuitError: too deep for their parameters and noise.

    """
    leaves: Sequence[Any] = asked.leaves
    params = leaves[0].params
    if isinstance(params, Params):
        return OnBits(params, asked.circuit(_FEWEST))
    # Blocks of one input are alike: they were made in the same way.
    inputs = [bit for leaf in leaves for bit in leaf.blocks[0]]
    row, way = _on_slots(_engine_of(params), params, asked.circuits(), asked, inputs)
    if way is None:
        raise CircuitError(
            f"{row.reason}; plan the whole function before you encrypt: hesc.integers.plan chooses "
            "parameters that have room"
        )
    return way

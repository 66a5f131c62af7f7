"""The ways to compute an expression, what each would take, and the cheapest."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from hesc import _native
from hesc._native import CircuitError, NoiseBudgetError, ParameterError
from hesc._support.memory import machine_memory
from hesc.gates.circuit import Builder, Circuit, Precision
from hesc.integers.along import obstacle, on_slotwise
from hesc.integers.circuits import Style, circuit_of, styles
from hesc.integers.layouts import PACKED, SLICED, SLOTWISE, SlotwiseArray
from hesc.integers.ways import AlongSlots, OnBits, OnSlots, Way
from hesc.params import Params, sizes
from hesc.params.streams import StreamParams
from hesc.params.vectors import VectorParams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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
_BOOTSTRAP: Final = 28


@dataclass(frozen=True)
class Considered:
    """One way to compute an expression.

    Attributes:
        engine: "binary", "prime" or "bootstrapped".
        params: the preset's name.
        slots: numbers in a block.
        style: how circuits are made; None where none fits, "prefixes" along slots.
        products: relinearisations, or bootstraps, for one block of numbers.
        depth: of them in sequence.
        seconds: for all numbers, on one thread, as counted.
        latency: for one block.
        bytes_in: of a block of inputs, freshly encrypted under the public key.
        bytes_out: of a block of results.
        peak_bytes: memory of a block's computation.
        reason: why it is not possible, if so.
        layout: where bits lie: "sliced" or "slotwise".

    """

    engine: str
    params: str
    slots: int
    style: Style | str | None
    products: int = 0
    depth: int = 0
    seconds: float = float("inf")
    latency: float = float("inf")
    bytes_in: int = 0
    peak_bytes: int = 0
    reason: str = ""
    layout: str = SLICED
    bytes_out: int = 0


@dataclass(frozen=True)
class Asked:
    """What is to be computed.

    Attributes:
        roots: the expressions.
        leaves: their encrypted inputs, or what stands for them.
        publics: their rows of public numbers.
        count: numbers in each.
        spare: further products in sequence that results are to have room for.
        layout: "sliced" or "slotwise" where one is asked for.
        counted: whether the count is known, so that the layout is chosen by it.
        upload: how inputs come: "sliced" or "packed".
        answer: and how results go.
        memory: bytes that ciphertexts of a block may take at once.

    """

    roots: Sequence[Integers]
    leaves: Sequence[Integers]
    publics: Sequence[PublicIntegers]
    count: int
    spare: int
    layout: str | None = None
    counted: bool = True
    upload: str = SLICED
    answer: str = SLICED
    memory: int = field(default_factory=machine_memory)

    def circuit(self, style: Style) -> Circuit:
        """One way to compute it."""
        return circuit_of(self.roots, [*self.leaves, *self.publics], style)

    def packed_inputs(self, degree: int) -> int:
        """Ciphertexts of a block of inputs whose slots have so many bits."""
        return sum(-(-leaf.kind.width // degree) for leaf in self.leaves)

    def too_large(self, peak_bytes: int) -> str:
        """Why something is not computed that takes so much at once."""
        return (
            f"{peak_bytes / 1e9:.3g} GB of ciphertexts at once are more than the "
            f"{self.memory / 1e9:.3g} GB that there are"
        )

    def circuits(self) -> list[tuple[Style, Circuit]]:
        """All that are worth trying in slots."""
        return [(style, self.circuit(style)) for style in styles(self.roots)]


Sets = list[tuple[str, list[list["Callable[[], Any]"]]]]


def sets_of(engine: str | None, params: VectorParams | StreamParams | None) -> Sets:
    """By engine, for each ring the sets to try, made when they are.

    Raises:
        CircuitError: an engine that this build does not have.
        ParameterError: no engine, or a set of another one.

    """
    if engine is not None and engine not in ENGINES:
        raise ParameterError(f"there is no engine {engine!r}; choose one of {', '.join(ENGINES)}")
    if params is not None:
        if not isinstance(params, VectorParams | StreamParams):
            raise ParameterError(
                f"params is {type(params).__name__}; integers take Params.preset(name), or "
                'Params.preset("tfhe_2048")'
            )
        given = params
        if engine not in {None, _engine_of(given)}:
            raise ParameterError(f"{given.name} is for the engine {_engine_of(given)!r}")
        return [(_engine_of(given), [[lambda: given]])]
    chosen = {engine: ENGINES[engine]} if engine else dict(ENGINES)
    # A build for the demo is without gates on encrypted bits.
    if not hasattr(_native, "Evaluator"):
        chosen.pop("bootstrapped", ())
    if not chosen:
        raise CircuitError(
            "this build of hesc has no gates on encrypted bits: build it with the feature tfhe "
            "(make setup), or take another engine"
        )
    return [
        (name, [[partial(_preset, preset) for preset in ring] for ring in rings])
        for name, rings in chosen.items()
    ]


@cache
def _preset(name: str) -> VectorParams | StreamParams:
    found: VectorParams | StreamParams = Params.preset(name)
    return found


def _engine_of(params: VectorParams | StreamParams) -> str:
    if isinstance(params, StreamParams):
        return "bootstrapped"
    return "binary" if params.plain_modulus == 2 else "prime"


@cache
def _bootstrap_seconds() -> float:
    """Seconds of one bootstrap on one thread, from the speed of products, which is measured."""
    builder = Builder(1, 1)
    ((a,), (b,)) = builder.inputs
    circuit = builder.finish([builder.gate("AND", a, b)])
    params = Params.preset("bgv_8192")
    return _BOOTSTRAP * _native.SlotPlan(circuit.native, params.native, 0).seconds


def _on_bits(params: StreamParams, asked: Asked) -> tuple[Considered, OnBits | None]:
    """The circuit on bits that bootstrap."""
    circuit, count = asked.circuit(_FEWEST), asked.count
    try:
        program = circuit.compile(Precision.of(params))
    except NoiseBudgetError as error:
        return Considered("bootstrapped", params.name, 1, None, reason=str(error)), None
    seconds = program.bootstraps * _bootstrap_seconds()
    up = sum(sizes.bits(params, count, leaf.kind.width) for leaf in asked.leaves)
    down = sum(sizes.bit_answer(params, count, root.kind.width) for root in asked.roots)
    # Words of a bit between bootstraps, of eight bytes.
    sample = 8 * ((params.ring_degree or 0) + 1)
    row = Considered(
        engine="bootstrapped",
        params=params.name,
        slots=1,
        style=_FEWEST,
        products=program.bootstraps,
        depth=len(program.layers),
        seconds=seconds * count,
        latency=seconds,
        # Numbers share blocks.
        bytes_in=-(-up // count),
        bytes_out=-(-down // count),
        peak_bytes=count * (program.bootstraps + sum(circuit.inputs)) * sample,
    )
    return row, OnBits(params, circuit)


def _planned(
    circuit: Circuit,
    params: VectorParams,
    asked: Asked,
    inputs: Sequence[_native.LeveledCiphertext] | None,
) -> _native.SlotPlan:
    """A circuit on a set; results that are packed have room for that.

    Raises:
        CircuitError, NoiseBudgetError: no room.

    """
    public, degree = sum(row.kind.width for row in asked.publics), params.slot_degree or 1
    coming = asked.packed_inputs(degree) if asked.upload == PACKED else 0
    if asked.answer == SLICED:
        return _native.SlotPlan(
            circuit.native, params.native, asked.spare, inputs, public=public, packed=coming
        )
    # Bits of several blocks lie together: as many as a slot has.
    bits, _ = params.native.packing(degree, 1)
    # Room for a product is more than packing takes: the second try.
    for spare in (asked.spare, asked.spare + 1):
        native = _native.SlotPlan(
            circuit.native, params.native, spare, inputs, public=public, packed=coming
        )
        if native.room >= bits:
            return native
    raise CircuitError("results have no room to be packed")


def _travelling(
    params: VectorParams, numbers: Sequence[Integers], layout: str, level: int | None = None
) -> int:
    """Bytes of a block of numbers at a level, by default as they are encrypted."""
    return sum(
        sizes.integers(params, number.kind, layout=layout, level=level) for number in numbers
    )


def _on_slots(
    engine: str,
    params: VectorParams,
    circuits: Sequence[tuple[Style, Circuit]],
    asked: Asked,
    inputs: Sequence[_native.LeveledCiphertext] | None = None,
) -> tuple[Considered, OnSlots | None]:
    """The cheapest circuit in one set."""
    slots, reason, spare = params.slot_count, "", asked.spare
    if PACKED in {asked.upload, asked.answer} and engine != "binary":
        reason = "its slots have one bit: nothing is packed"
        return Considered(engine, params.name, slots, None, reason=reason), None
    best: tuple[Style, _native.SlotPlan] | None = None
    for style, circuit in circuits:
        try:
            native = _planned(circuit, params, asked, inputs)
        except (CircuitError, NoiseBudgetError) as error:
            more = f", with {spare} more for its results" if spare else ""
            reason = reason or str(error).split(":", maxsplit=1)[0] + more
            continue
        if native.peak_bytes > asked.memory:
            reason = asked.too_large(native.peak_bytes)
        elif best is None or native.seconds < best[1].seconds:
            best = style, native
    if best is None:
        return Considered(engine, params.name, slots, None, reason=reason), None
    style, native = best
    last, seconds, degree = native.levels[-1], native.seconds, params.slot_degree or 1
    if asked.answer == PACKED:
        widths = [root.kind.width for root in asked.roots]
        groups = [min(degree, width - at) for width in widths for at in range(0, width, degree)]
        seconds += sum(params.native.packing(group, last)[1] for group in groups)
    row = Considered(
        engine=engine,
        params=params.name,
        slots=slots,
        style=style,
        products=native.products,
        depth=native.depth,
        seconds=seconds * -(-asked.count // slots),
        latency=seconds,
        bytes_in=_travelling(params, asked.leaves, asked.upload),
        peak_bytes=native.peak_bytes,
        bytes_out=_travelling(params, asked.roots, asked.answer, last),
    )
    return row, OnSlots(params, native, asked.upload, asked.answer)


def _along_slots(
    engine: str, params: VectorParams, asked: Asked
) -> tuple[Considered, AlongSlots | None]:
    """The same with the bits of a number along the slots of one ciphertext."""
    row = Considered(engine, params.name, 0, None, layout=SLOTWISE)
    try:
        tried = on_slotwise(params, asked.roots, asked.leaves, asked.count, asked.spare)
    except (CircuitError, ParameterError) as error:
        return replace(row, reason=str(error).split(":", maxsplit=1)[0]), None
    if tried.peak_bytes > asked.memory:
        return replace(row, reason=asked.too_large(tried.peak_bytes)), None
    slots = tried.lying.capacity
    row = replace(
        row,
        slots=slots,
        style="prefixes along slots",
        products=tried.products,
        depth=tried.depth,
        seconds=tried.seconds * -(-asked.count // slots),
        latency=tried.seconds,
        bytes_in=_travelling(params, asked.leaves, SLOTWISE),
        peak_bytes=tried.peak_bytes,
        bytes_out=_travelling(params, asked.roots, SLOTWISE, tried.level),
    )
    return row, AlongSlots(params, tried)


def compare(
    asked: Asked, sets: Sets
) -> tuple[list[Considered], tuple[Considered, Way] | None, OnSlots | None]:
    """What every set would take, the cheapest, and what it is for inputs that are sliced."""
    packs = PACKED in {asked.upload, asked.answer}
    circuits: list[tuple[Style, Circuit]] = []
    if asked.layout != SLOTWISE and any(engine != "bootstrapped" for engine, _ in sets):
        circuits = asked.circuits()
    candidates: list[Considered] = []
    fitting: list[tuple[Considered, Way]] = []

    def weigh(rings: list[list[Callable[[], Any]]], way_of: Callable[[Any], Any]) -> None:
        for of_ring in rings:
            tried = [way_of(params_of()) for params_of in of_ring]
            candidates.extend(row for row, _ in tried)
            fitted = [(row, way) for row, way in tried if way is not None]
            chosen_from = asked.counted or asked.layout is not None
            fitting.extend(pair for pair in fitted if chosen_from or pair[0].layout == SLICED)
            # A larger ring offers room that is not needed, and a longer way for each number.
            if fitted:
                break

    for engine, rings in sets:
        if asked.layout != SLOTWISE:
            if engine != "bootstrapped":
                weigh(rings, partial(_on_slots, engine, circuits=circuits, asked=asked))
            elif not packs:
                weigh(rings, partial(_on_bits, asked=asked))
        if asked.layout != SLICED and engine == "binary" and not packs:
            reason = obstacle(asked.roots, asked.leaves)
            if reason:
                candidates.append(
                    Considered(engine, "any", 0, None, reason=reason, layout=SLOTWISE)
                )
            else:
                weigh(rings, partial(_along_slots, engine, asked=asked))
    best = min(fitting, key=lambda pair: pair[0].seconds, default=None)
    return candidates, best, None if best is None else _beside(best, asked, fitting, circuits)


def _beside(
    best: tuple[Considered, Way],
    asked: Asked,
    fitting: Sequence[tuple[Considered, Way]],
    circuits: Sequence[tuple[Style, Circuit]],
) -> OnSlots | None:
    """For inputs that are sliced, where another layout was chosen for them and not asked for."""
    row, way = best
    if not isinstance(way, AlongSlots) or asked.layout is not None:
        return None
    for other, sliced in fitting:
        if isinstance(sliced, OnSlots) and other.params == row.params:
            return sliced
    return _on_slots(row.engine, way.params, circuits, asked)[1]


def for_ciphertexts(asked: Asked) -> Way:
    """The cheapest way for ciphertexts that are there, `asked.leaves`.

    Raises:
        CircuitError: too deep for their parameters and noise.

    """
    leaves: Sequence[Any] = asked.leaves
    params = leaves[0].params
    if isinstance(params, StreamParams):
        return OnBits(params, asked.circuit(_FEWEST))
    if isinstance(leaves[0], SlotwiseArray):
        reason = obstacle(asked.roots, leaves)
        if reason:
            raise ParameterError(
                f'{reason}: this is not computed along slots; encrypt with layout="sliced"'
            )
        tried = on_slotwise(params, asked.roots, leaves, asked.count, asked.spare, leaves)
        return AlongSlots(params, tried)
    # Blocks of one input are alike: they were made in the same way.
    inputs = [bit for leaf in leaves for bit in leaf.blocks[0]]
    row, way = _on_slots(_engine_of(params), params, asked.circuits(), asked, inputs)
    if way is None:
        raise CircuitError(
            f"{row.reason}; plan the whole function before you encrypt: hesc.integers.plan chooses "
            "parameters that have room"
        )
    return way

"""The engines that compute an expression: what each estimates for a plan request, or why not."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hesc import _native
from hesc._native import CircuitError, HescError, NoiseBudgetError, ParameterError
from hesc._support.memory import machine_memory
from hesc.gates.circuit import Builder, Circuit, Precision
from hesc.integers.along import along_slots, obstacle
from hesc.integers.circuits import Style, circuit_of, in_order, styles
from hesc.integers.computations import Computation, OnBits, OnSlots
from hesc.integers.expressions import ROW_SORTED, Integers
from hesc.integers.kinds import IntegerKind
from hesc.integers.layouts import PACKED, SLICED, SLOTWISE, SlotwiseArray
from hesc.params import Params, wire_sizes
from hesc.params.stream_params import StreamParams
from hesc.params.vectors import VectorParams
from hesc.planner.candidate import Candidate
from hesc.planner.decision import objective
from hesc.planner.estimates import LATTICE, Estimate, Infeasible, Sides
from hesc.planner.roles import Sees
from hesc.planner.work import StageCount, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from hesc.integers.expressions import PublicIntegers

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


@dataclass(frozen=True, eq=False)
class IntegerRequest:
    """A plan request: what is to be computed, and what is to be least."""

    roots: Sequence[Integers]
    """The expressions."""
    leaves: Sequence[Integers]
    """Encrypted inputs, or what stands for them."""
    publics: Sequence[PublicIntegers] = ()
    """Rows of public numbers."""
    samples: int = 1
    """Numbers in each."""
    spare: int = 0
    """Further products in sequence that results are to have room for."""
    engine: str | None = None
    """One of `ENGINES` where one is asked for."""
    params: VectorParams | StreamParams | None = None
    """A set of one's own."""
    layout: str | None = None
    """Sliced or slotwise, where one is asked for."""
    counted: bool = True
    """Whether the count is known, so that the layout is chosen by it."""
    upload: str = SLICED
    """How inputs come: "sliced" or "packed"."""
    answer: str = SLICED
    """How results go."""
    memory: int = field(default_factory=machine_memory)
    """Bytes that ciphertexts of a block may take at once."""
    objective: str = "throughput"
    """One of `hesc.planner.OBJECTIVES`."""
    bandwidth: float = 1e7
    """Bytes a second between the sides."""
    error_name: ClassVar = "error"

    @property
    def title(self) -> str:
        """The first line of a table."""
        return f"integers, {self.samples} of each input"

    def shown(self, error: float) -> str:
        """An error for a table: results are exact."""
        return f"{error:g}"

    def circuit(self, style: Style) -> Circuit:
        """A circuit for it, in a style.

        Raises:
            CircuitError: a row that is sorted, whose numbers a circuit does not have side by side.

        """
        if any(node.operation == ROW_SORTED for node in in_order(self.roots)):
            raise CircuitError(
                'rows are sorted inside one ciphertext: with count=, and layout="slotwise"'
            )
        return circuit_of(self.roots, [*self.leaves, *self.publics], style)

    @cached_property
    def circuits(self) -> list[tuple[Style, Circuit]]:
        """All that are worth trying in slots."""
        return [(style, self.circuit(style)) for style in styles(self.roots)]

    @property
    def widths(self) -> list[int]:
        """Bits of each result."""
        return [root.kind.width for root in self.roots]

    def packed_inputs(self, degree: int) -> int:
        """Ciphertexts of a block of inputs whose slots have so many bits."""
        return sum(-(-leaf.kind.width // degree) for leaf in self.leaves)

    def blocks(self, slots: int) -> int:
        """How many blocks the numbers of an input take."""
        return -(-self.samples // slots)

    def too_large(self, peak_bytes: int) -> str:
        """Why something is not computed that takes so much at once; nothing where it is."""
        if peak_bytes <= self.memory:
            return ""
        return (
            f"{peak_bytes / 1e9:.3g} GB of ciphertexts at once are more than the "
            f"{self.memory / 1e9:.3g} GB that there are"
        )


@dataclass(frozen=True, eq=False)
class CircuitEstimate(Estimate):
    """What an engine estimates for a plan request, with the computation that it is of."""

    computation: Computation
    """What runs."""
    slots: int
    """Numbers in a block."""
    products: int
    """Relinearisations, or bootstraps, for one block of numbers."""
    depth: int
    """How many of them follow each other."""
    peak_bytes: int
    """Memory of a block's computation."""
    steps: float
    """What a block's computation takes: bootstraps, or as many products of two ciphertexts."""

    def latency(self, times: Mapping[str, float]) -> float:
        """Seconds of one block's computation; infinite where a kernel was never timed."""
        return self.steps * times.get(f"{_kernels(self.computation)}.answer.ciphertexts", math.inf)


class Engine(Candidate[IntegerRequest]):
    """An engine with the layout of its bits: the cheapest of its sets in the smallest ring."""

    def __init__(self, engine: str, layout: str) -> None:
        self.name = f"{engine}, {layout}"
        self.engine, self.layout = engine, layout

    @abstractmethod
    def on(self, params: Any, request: IntegerRequest) -> CircuitEstimate:
        """What it takes on a set.

        Raises:
            CircuitError, NoiseBudgetError, ParameterError: no room, or not so.

        """

    def fits(self, request: IntegerRequest) -> bool:
        """Whether the request asks for nothing else."""
        given = request.params
        packs = self.engine == "bootstrapped" or self.layout == SLOTWISE
        return (
            request.engine in {None, self.engine}
            and request.layout in {None, self.layout}
            and (given is None or _engine_of(given) == self.engine)
            and not (packs and PACKED in {request.upload, request.answer})
            # A build for the demo is without gates on encrypted bits.
            and (self.engine != "bootstrapped" or hasattr(_native, "Evaluator"))
        )

    def consider(self, task: IntegerRequest) -> Estimate | Infeasible:
        """See `Candidate`."""
        reasons = []
        for ring in [[task.params]] if task.params else ENGINES[self.engine]:
            found: list[CircuitEstimate] = []
            for given in ring:
                params = _preset(given) if isinstance(given, str) else given
                try:
                    found.append(self.on(params, task))
                except (CircuitError, NoiseBudgetError, ParameterError) as error:
                    reasons.append(f"{params.name}: {str(error).split(':', maxsplit=1)[0]}")
            # A larger ring offers room that is not needed, and takes longer for each number.
            if found:
                return min(found, key=partial(_cost, task))
        return Infeasible(self.name, "; ".join(reasons))

    def probes(self, rng: np.random.Generator) -> Iterator[tuple[IntegerRequest, NDArray[Any]]]:
        """See `Candidate`."""
        for width, count in self.probed:
            a, b = Integers(IntegerKind(width)), Integers(IntegerKind(width))
            yield (
                IntegerRequest([a + b], [a, b], samples=count),
                rng.integers(0, 1 << width, (2, count)),
            )

    probed: tuple[tuple[int, int], ...] = ((2, 1), (4, 700))
    """Bits and numbers of the sums that it is timed on."""

    def estimate(
        self, request: IntegerRequest, of: Computation, *, told: str, **figures: Any
    ) -> CircuitEstimate:
        """An estimate from what a block takes."""
        blocks = request.blocks(figures["slots"])
        up, down = _travelling(of, request)
        inputs, results, samples = len(request.leaves), len(request.roots), request.samples
        bits = sum(leaf.kind.width for leaf in request.leaves)
        one_by_one = isinstance(of, OnBits)
        work = counted(
            _kernels(of),
            encrypt=StageCount(inputs, 0, samples * (bits if one_by_one else inputs), up),
            answer=StageCount(1, blocks * figures["steps"], 0, 0 if one_by_one else up + down),
            decrypt=StageCount(results, 0, samples * results, down),
        )
        return CircuitEstimate(
            way=self.name,
            parameters=f"{of.params.name}, {figures['products']:,} {of.steps} of depth "
            f"{figures['depth']} for {figures['slots']:,} at once; {told}",
            work=work,
            up=up,
            down=down,
            held=figures["peak_bytes"],
            error=0.0,
            sees=Sees("results"),
            prepare=partial(_parties, of, request),
            computation=of,
            **figures,
        )


class SlicedEngine(Engine):
    """Circuits in slots, a ciphertext for each bit."""

    def __init__(self, engine: str) -> None:
        super().__init__(engine, SLICED)

    def on(
        self,
        params: VectorParams,
        request: IntegerRequest,
        inputs: Sequence[_native.Ciphertext] | None = None,
    ) -> CircuitEstimate:
        """See `Engine`; of all circuits the cheapest, on fresh encryptions or on these."""
        if PACKED in {request.upload, request.answer} and self.engine != "binary":
            raise CircuitError("its slots have one bit, and nothing is packed")
        reason, spare = "", request.spare
        found: list[CircuitEstimate] = []
        for style, circuit in request.circuits:
            try:
                native = _planned(circuit, params, request, inputs)
            except (CircuitError, NoiseBudgetError) as error:
                more = f", with {spare} more for its results" if spare else ""
                reason = reason or str(error).split(":", maxsplit=1)[0] + more
                continue
            large = request.too_large(native.peak_bytes)
            if large:
                reason = large
            else:
                found.append(self._of(params, request, style, native))
        if not found:
            raise CircuitError(reason)
        return min(found, key=partial(_cost, request))

    def _of(
        self, params: VectorParams, request: IntegerRequest, style: Style, native: _native.SlotPlan
    ) -> CircuitEstimate:
        last, latency, degree = native.levels[-1], native.seconds, params.slot_degree or 1
        if request.answer == PACKED:
            groups = [
                min(degree, width - at)
                for width in request.widths
                for at in range(0, width, degree)
            ]
            latency += sum(_native.packing_cost(params, group, last)[1] for group in groups)
        return self.estimate(
            request,
            OnSlots(params, native, request.upload, request.answer),
            told=str(style),
            steps=latency / _product_seconds(),
            slots=params.slot_count,
            products=native.products,
            depth=native.depth,
            failure=request.samples * LATTICE,
            peak_bytes=native.peak_bytes,
        )


class SlotwiseEngine(Engine):
    """The same with the bits of a number along the slots of one ciphertext."""

    def __init__(self) -> None:
        super().__init__("binary", SLOTWISE)

    def consider(self, task: IntegerRequest) -> Estimate | Infeasible:
        """See `Candidate`."""
        reason = obstacle(task.roots, task.leaves)
        return Infeasible(self.name, reason) if reason else super().consider(task)

    def on(self, params: VectorParams, request: IntegerRequest) -> CircuitEstimate:
        """See `Engine`."""
        tried = along_slots(params, request.roots, request.leaves, request.samples, request.spare)
        reason = request.too_large(tried.peak_bytes)
        if reason:
            raise CircuitError(reason)
        return self.estimate(
            request,
            tried,
            told=f"{tried.rotations:,} rotations along slots",
            steps=tried.seconds / _product_seconds(),
            slots=tried.lying.capacity,
            products=tried.products,
            depth=tried.depth,
            failure=request.samples * LATTICE,
            peak_bytes=tried.peak_bytes,
        )


class BootstrappedEngine(Engine):
    """The circuit on bits that bootstrap, number by number."""

    probed = ((2, 1), (3, 1))

    def __init__(self) -> None:
        super().__init__("bootstrapped", SLICED)

    def on(self, params: StreamParams, request: IntegerRequest) -> CircuitEstimate:
        """See `Engine`."""
        circuit = request.circuit(_FEWEST)
        program = circuit.compile(Precision.of(params))
        wires = program.bootstraps + sum(circuit.inputs)
        return self.estimate(
            request,
            OnBits(params, circuit),
            told=str(_FEWEST),
            steps=program.bootstraps,
            slots=1,
            products=program.bootstraps,
            depth=len(program.layers),
            failure=request.samples * 2.0**program.log2_failure,
            # Words of a bit between bootstraps, of eight bytes.
            peak_bytes=request.samples * wires * 8 * ((params.ring_degree or 0) + 1),
        )


CANDIDATES: Final[tuple[Engine, ...]] = (
    SlicedEngine("binary"),
    SlotwiseEngine(),
    SlicedEngine("prime"),
    BootstrappedEngine(),
)
"""All of them."""


def against(estimate: Estimate, request: IntegerRequest) -> str:
    """Why an estimate is not taken, if so."""
    if request.counted or request.layout is not None or SLOTWISE not in estimate.way:
        return ""
    return 'count= was not given, so that the layout is "sliced", which is for many numbers'


def _cost(request: IntegerRequest, estimate: CircuitEstimate) -> tuple[float, float]:
    """What is least of an engine's own: the objective, then the operations."""
    steps = request.blocks(estimate.slots) * estimate.steps
    return objective(request, steps, estimate), steps


def _parties(computation: Computation, request: IntegerRequest) -> Sides:
    """Both sides: what decrypts is loaded where they are wanted."""
    found: Sides = import_module("hesc.integers.client").IntegerParties(computation, request)
    return found


def _kernels(computation: Computation) -> str:
    """What the names of its kernels begin with."""
    return "integers.bits" if isinstance(computation, OnBits) else "integers.slots"


@cache
def _product_seconds() -> float:
    """Seconds of a product of two ciphertexts of `bgv_8192`, by the count of its operations.

    Other operations on slots are counted in these: their speed is measured when they are planned,
    and the calibration's processor has its own.
    """
    builder = Builder(1, 1)
    ((a,), (b,)) = builder.inputs
    circuit = builder.finish([builder.gate("AND", a, b)])
    return _native.SlotPlan(circuit, Params.preset("bgv_8192"), 0).seconds


@cache
def _preset(name: str) -> VectorParams | StreamParams:
    found: VectorParams | StreamParams = Params.preset(name)
    return found


def _engine_of(params: VectorParams | StreamParams) -> str:
    if isinstance(params, StreamParams):
        return "bootstrapped"
    return "binary" if params.plain_modulus == 2 else "prime"


def check_sets(engine: str | None, params: object) -> None:
    """Whether there is such an engine, and a set is one of its own.

    Raises:
        CircuitError: an engine that this build does not have.
        ParameterError: a set of another one, or what is none.

    """
    if params is not None and not isinstance(params, VectorParams | StreamParams):
        raise ParameterError(
            f"params is {type(params).__name__}; integers take Params.preset(name), or "
            'Params.preset("tfhe_2048")'
        )
    if isinstance(params, VectorParams) and params.scheme != "bgv":
        raise ParameterError(f"{params.name} is a set of {params.scheme}; integers take one of BGV")
    if params is not None and engine not in {None, _engine_of(params)}:
        raise ParameterError(f"{params.name} is for the engine {_engine_of(params)!r}")
    if engine == "bootstrapped" and not hasattr(_native, "Evaluator"):
        raise CircuitError(
            "this build of hesc has no gates on encrypted bits: build it with the feature tfhe "
            "(make setup), or take another engine"
        )


def _planned(
    circuit: Circuit,
    params: VectorParams,
    request: IntegerRequest,
    inputs: Sequence[_native.Ciphertext] | None,
) -> _native.SlotPlan:
    """A circuit on a set; results that are packed have room for that.

    Raises:
        CircuitError, NoiseBudgetError: no room.

    """
    public, degree = sum(row.kind.width for row in request.publics), params.slot_degree or 1
    coming = request.packed_inputs(degree) if request.upload == PACKED else 0
    if request.answer == SLICED:
        return _slot_plan(circuit, params, request.spare, inputs, public=public, packed=coming)
    # Bits of several blocks lie together: as many as a slot has.
    bits, _ = _native.packing_cost(params, degree, 1)
    # Room for a product is more than packing takes: the second try.
    for spare in (request.spare, request.spare + 1):
        native = _slot_plan(circuit, params, spare, inputs, public=public, packed=coming)
        if native.room >= bits:
            return native
    raise CircuitError("results have no room to be packed")


def _slot_plan(
    circuit: Circuit,
    params: VectorParams,
    spare: int,
    inputs: Sequence[_native.Ciphertext] | None,
    *,
    public: int,
    packed: int,
) -> _native.SlotPlan:
    """On fresh encryptions it is found once: other counts and objectives have the same circuits."""
    text = circuit.to_bristol() if inputs is None else ""
    if not 0 < len(text) <= _KEPT:
        return _native.SlotPlan(circuit, params, spare, inputs, public=public, packed=packed)
    found = _on_fresh(_Written(text, circuit), params, spare, public, packed)
    if isinstance(found, HescError):
        raise type(found)(*found.args)
    return found


@dataclass(frozen=True)
class _Written:
    """A circuit that is equal to one of the same gates."""

    text: str
    circuit: Circuit = field(compare=False)


_KEPT: Final = 16_000
"""Letters of the largest circuit whose plans are kept: sums of 64 bits have fewer, and a plan of
them takes 2 MB."""


@lru_cache(maxsize=24)
def _on_fresh(
    written: _Written, params: VectorParams, spare: int, public: int, packed: int
) -> _native.SlotPlan | HescError:
    """A plan, or why there is none."""
    try:
        return _native.SlotPlan(written.circuit, params, spare, public=public, packed=packed)
    except (CircuitError, NoiseBudgetError) as error:
        return error.with_traceback(None)


def _travelling(of: Computation, request: IntegerRequest) -> tuple[int, int]:
    """Bytes of inputs from the key owner, and of results."""
    params: Any = of.params
    inputs = [leaf.kind for leaf in request.leaves]
    results, count = [root.kind for root in request.roots], request.samples
    if isinstance(of, OnBits):
        up = sum(wire_sizes.bits(params, count, kind.width) for kind in inputs)
        return up, sum(wire_sizes.bit_answer(params, count, kind.width) for kind in results)
    up, level = 0, of.levels[-1]
    for kind in inputs:
        up += wire_sizes.integers(params, kind, count, layout=of.upload, seeded=True)
    return up, sum(
        wire_sizes.integers(params, kind, count, layout=of.answer, level=level) for kind in results
    )


def for_ciphertexts(request: IntegerRequest) -> Computation:
    """The cheapest computation on ciphertexts that are there, `request.leaves`.

    Raises:
        CircuitError: too deep for their parameters and noise.

    """
    leaves: Sequence[Any] = request.leaves
    params = leaves[0].params
    if isinstance(params, StreamParams):
        return OnBits(params, request.circuit(_FEWEST))
    if isinstance(leaves[0], SlotwiseArray):
        reason = obstacle(request.roots, leaves)
        if reason:
            raise ParameterError(
                f'{reason}: this is not computed along slots; encrypt with layout="sliced"'
            )
        return along_slots(params, request.roots, leaves, request.samples, request.spare, leaves)
    # Blocks of one input are alike: they were made in the same way.
    inputs = [bit for leaf in leaves for bit in leaf.blocks[0]]
    try:
        return SlicedEngine(_engine_of(params)).on(params, request, inputs).computation
    except CircuitError as error:
        raise CircuitError(
            f"{error}; plan the whole function before you encrypt: hesc.integers.plan chooses "
            "parameters that have room"
        ) from None

"""Which engine, ring and circuit compute an expression: chosen by counting, before it runs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Never

from hesc._native import CircuitError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, one_name, whole
from hesc._support.memory import machine_memory
from hesc.gates.encrypted import Evaluator
from hesc.integers.along import AlongSlots, obstacle
from hesc.integers.bootstrapped import BootstrappedIntegers
from hesc.integers.candidates import (
    CANDIDATES,
    ENGINES,
    CircuitEstimate,
    IntegerRequest,
    SlicedEngine,
    against,
    check_sets,
    for_ciphertexts,
)
from hesc.integers.circuits import Given, in_order, publics_of
from hesc.integers.computations import OnSlots
from hesc.integers.encrypted_integers import EncryptedIntegers
from hesc.integers.expressions import ROW_SORTED, Integers
from hesc.integers.kinds import IntegerKind, kind_of
from hesc.integers.layouts import PACKED, SLICED, SLOTWISE, PackedIntegers, SlotwiseArray
from hesc.planner.decision import compared
from hesc.planner.tasks import OBJECTIVES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from hesc.integers.expressions import PublicIntegers
    from hesc.params.stream_params import StreamParams
    from hesc.params.vectors import VectorParams
    from hesc.planner.decision import Decision
    from hesc.planner.estimates import Estimate, Infeasible


class IntegerPlan:
    """What computes a function of integers; `plan` makes one. Call it on encrypted integers.

    Attributes:
        params: the parameter set: `hesc.keygen(plan.params, **plan.keys)` makes keys. It is one for
            vectors or, for the engine "bootstrapped", one of bits that bootstrap.
        keys: what that has to make beside the usual.
        engine: one of `ENGINES`: "binary", "prime" or "bootstrapped".
        layout: where bits lie while it computes: "sliced" or "slotwise".
        upload: how inputs are encrypted: `hesc.integers.encrypt(..., layout=plan.upload)`.
        answer: how results come: `hesc.integers.read(..., layout=plan.answer)`.
        levels: the level before each product, and that of the results; none where bits bootstrap.
            Along slots those of inputs and of results.
        count: numbers of each input.
        latency: seconds of a block's computation, on one thread.
        seconds: of computing all numbers; blocks follow one another.
        decision: the planner's, on all engines: print it.

    """

    def __init__(
        self,
        request: IntegerRequest,
        single: bool,
        decision: Decision[IntegerRequest],
        sliced: OnSlots | None,
    ) -> None:
        self.decision, self.count = decision, request.samples
        self._leaves, self._roots = list(request.leaves), list(request.roots)
        self._single, self._sliced = single, sliced
        of = self._computation = self.chosen.computation
        self.params: Any = of.params
        self.engine, self.layout = of.engine, of.layout
        self.upload, self.answer = of.upload, of.answer
        self.keys, self.levels = of.keys, of.levels
        self.latency = self.chosen.latency(decision.calibration.times)
        self.seconds = self.latency * request.blocks(self.chosen.slots)

    @property
    def chosen(self) -> CircuitEstimate:
        """The best estimate by the objective."""
        found = self.decision.chosen
        assert isinstance(found, CircuitEstimate)  # noqa: S101 - all of engines are
        return found

    @property
    def candidates(self) -> list[Estimate | Infeasible]:
        """What each engine would take, the best first, or why it does not compute it."""
        return [*self.decision.estimates, *self.decision.infeasible]

    def __reduce__(self) -> Never:
        raise TypeError(
            "a plan is not pickled or copied; make it again from the function, with params= set to "
            "this one's parameters"
        )

    def __repr__(self) -> str:
        best = self.chosen
        return (
            f"<hesc.integers.IntegerPlan: {self.params.name}, {best.products} "
            f"{self._computation.steps} of depth {best.depth}, {self.seconds:.3g} s for "
            f"{self.count} numbers>"
        )

    def __call__(
        self,
        *numbers: Integers | PackedIntegers,
        server: Evaluator | None = None,
        progress: bool | Callable[[int, int], object] = True,
    ) -> Any:
        """The function of encrypted integers, encrypted, or a tuple where it gives several.

        Integers that are sliced are computed so, also where the plan chose another layout for their
        number, unless it was asked for; those of different layouts do not go together.

        Args:
            *numbers: as many of each as there are public ones beside them, if there are.
            server: what bootstraps, `hesc.gates.Evaluator(key)`, for the engine "bootstrapped".
            progress: whether to show a bar, or what to call with the products done and all.

        Cost: `latency` for each block of `chosen.slots` numbers, shared among cores.

        Raises:
            CircuitError: inputs that have less room than fresh encryptions, or share their noise:
                results, or the same encryption twice.
            KeyMismatchError, ParameterError, ShapeError: other keys, parameters, types or counts.

        """
        if len(numbers) != len(self._leaves):
            raise ShapeError(f"the plan takes {len(self._leaves)} inputs; got {len(numbers)}")
        _check_server(server)
        computation = self._computation
        if self._sliced and all(isinstance(given, EncryptedIntegers) for given in numbers):
            computation = self._sliced
        expected = computation.takes
        for number, leaf in zip(numbers, self._leaves, strict=True):
            if not isinstance(number, expected):
                self._refuse(number, expected)
            if number.kind != leaf.kind:
                raise ParameterError(
                    f"the plan is for {leaf.dtype}, these are {number.dtype}; convert in the plan"
                )
        publics = publics_of(self._roots)
        check_counts(numbers, publics)
        given = Given(self._roots, self._leaves, numbers, publics)
        results = computation.run(given, server, progress)
        return results[0] if self._single else tuple(results)

    def _refuse(self, given: object, expected: type) -> Never:
        layout = getattr(given, "layout", None)
        if layout is not None and layout != self.upload:
            raise ParameterError(
                f"the plan takes integers that are {self.upload}, and these are {layout}: encrypt "
                f"with layout=plan.upload, or make the plan for them: "
                + ('upload="packed"' if layout == PACKED else f'layout="{layout}"')
            )
        raise ParameterError(
            f"plans for the engine {self.engine!r} take {expected.__name__}, not "
            f"{type(given).__name__}: encrypt with the keys of plan.params; evaluate "
            "expressions first"
        )


def check_counts(numbers: Sequence[Any], publics: Sequence[PublicIntegers]) -> int:
    """How many numbers there are in each; refused if not as many in all."""
    counts = {len(given) for given in (*numbers, *publics)}
    if len(counts) != 1:
        raise ShapeError(
            f"inputs, and public numbers beside them, have as many each; got {sorted(counts)}"
        )
    return counts.pop()


def plan(
    function: Callable[..., Any],
    *dtypes: DTypeLike | IntegerKind,
    count: int | None = None,
    engine: str | None = None,
    params: VectorParams | StreamParams | None = None,
    spare: int = 0,
    layout: str | None = None,
    upload: str | None = None,
    answer: str | None = None,
    memory: int | None = None,
    objective: str = "throughput",
) -> IntegerPlan:
    """Chooses how a function of integers is computed, by what it is predicted to take.

    Args:
        function: takes `Integers`, one for each type, and returns one or several.
        *dtypes: of its inputs: "uint64", numpy.int8, "bool" ...
        count: how many numbers each input will have. Without it the layout is "sliced", which is
            for many.
        engine: "binary", "prime" or "bootstrapped"; the cheapest by default.
        params: a set of one's own; the presets by default.
        spare: further products in sequence that results are to have room for.
        layout: "sliced", a ciphertext for each bit with a number in each slot, or "slotwise", the
            bits of a number along the slots of one, which is for few; the cheaper by default.
        upload: "packed" for inputs that take `ceil(width / d)` ciphertexts instead of `width`,
            which the server takes apart first: `d` is 16 in the sets of "binary".
        answer: "packed" for results that are put together in the same way.
        memory: bytes that ciphertexts of a block may take at once; what this machine has by
            default. Circuits that would take more are not chosen.
        objective: what is to be least for `count` numbers, one of `hesc.planner.OBJECTIVES`.

    Raises:
        CircuitError: too deep, or too large, for every set, with what each has room for.
        ParameterError: a layout that the function, or the engine, has not.

    """
    _check_layouts(layout, upload, answer, engine)
    one_name(objective, "objective", tuple(OBJECTIVES))
    counted = count is not None
    kinds = [kind_of(dtype) for dtype in dtypes]
    if not kinds:
        raise ParameterError("give the types of the function's inputs")
    leaves = [Integers(kind) for kind in kinds]
    found = _traced(function, leaves)
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
    count = whole(1 if count is None else count, "count", 1)
    spare = whole(spare, "spare", 0, 255)
    if any(node.operation == ROW_SORTED for node in in_order(roots)):
        if not counted or layout == SLICED or engine not in {None, "binary"}:
            raise ParameterError(
                "an array is sorted along its row inside one ciphertext: give count=, the layout "
                '"slotwise" or none, and no other engine than "binary"'
            )
        layout = SLOTWISE
    publics = publics_of(roots)
    if publics and check_counts((), publics) != count:
        raise ShapeError(
            f"public numbers are {len(publics[0])}, and the plan is for {count}: give count="
        )
    forms = (upload or SLICED, answer or SLICED)
    most = machine_memory() if memory is None else whole(memory, "memory", 1)
    request = IntegerRequest(
        roots,
        leaves,
        publics,
        count,
        spare,
        engine,
        params,
        layout,
        counted,
        *forms,
        most,
        objective,
    )
    check_sets(engine, params)
    reason = obstacle(roots, leaves)
    if layout == SLOTWISE and reason:
        raise ParameterError(
            f"this is not computed along slots ({reason}): there are + - * << >> & | ^ ~, // and "
            "% without sign, comparisons, minima, maxima, where and sort of one array, all of one "
            'type; take layout="sliced"'
        )
    engines = [candidate for candidate in CANDIDATES if candidate.fits(request)]
    decision = compared(request, engines, None, against)
    if not decision.estimates:
        reasons = "; ".join(infeasible.reason for infeasible in decision.infeasible)
        if layout == SLOTWISE:
            raise CircuitError(
                f'no set has room for this along slots: {reasons}. Take layout="sliced", which '
                "needs less, or compute it in parts"
            )
        if forms != (SLICED, SLICED):
            raise CircuitError(
                f"no set has room for this with what is packed: {reasons}. Leave out upload= or "
                "answer=, or compute it in parts"
            )
        raise CircuitError(
            f"no set has room for this: {reasons}. Compute it in parts, decrypting between them, "
            'or take engine="bootstrapped", which has no such limit'
        )
    return IntegerPlan(request, single, decision, _beside(decision))


def _beside(decision: Decision[IntegerRequest]) -> OnSlots | None:
    """For inputs that are sliced, where another layout was chosen for them and not asked for."""
    request, chosen = decision.task, decision.chosen
    of = chosen.computation if isinstance(chosen, CircuitEstimate) else None
    if not isinstance(of, AlongSlots) or request.layout is not None:
        return None
    try:
        found = SlicedEngine("binary").on(of.params, request).computation
    except CircuitError:
        return None
    return found if isinstance(found, OnSlots) else None


def _traced(function: object, leaves: Sequence[Integers]) -> Any:
    """What the function makes of its inputs; its own errors stay what they are."""
    if not callable(function):
        raise ParameterError(
            f"plan takes a function of integers first; got what is of the type "
            f"{type(function).__name__}"
        )
    try:
        inspect.signature(function).bind(*leaves)
    except TypeError as error:
        raise ParameterError(
            f"the function does not take {len(leaves)} inputs, one for each type: {error}"
        ) from None
    except ValueError:
        # Functions of compiled modules do not say what they take.
        pass
    return function(*leaves)


def _check_server(server: object) -> None:
    if server is not None:
        of_kind(server, "server", Evaluator, "give hesc.gates.Evaluator(key), or leave it out")


def _check_layouts(layout: Any, upload: Any, answer: Any, engine: Any) -> None:
    if layout is not None:
        one_name(layout, "layout", (SLICED, SLOTWISE))
    if engine is not None:
        one_name(engine, "engine", tuple(ENGINES))
    for name, form in (("upload", upload), ("answer", answer)):
        if form is not None:
            one_name(form, name, (SLICED, PACKED))
        if form == PACKED and (layout == SLOTWISE or engine not in {None, "binary"}):
            raise ParameterError(
                f'{name}="packed" is for the engine "binary" and the layout "sliced": along slots, '
                "and in other rings, slots have no more than one bit"
            )
    if layout == SLOTWISE and engine not in {None, "binary"}:
        raise ParameterError(f'the engine {engine!r} has no layout "slotwise"; "binary" has')


def evaluate(
    *expressions: Integers,
    spare: int = 0,
    server: Evaluator | None = None,
    progress: bool | Callable[[int, int], object] = True,
) -> Any:
    """Computes expressions of encrypted integers, common parts once.

    Args:
        *expressions: what operators have built.
        spare: further products in sequence that results are to have room for.
        server: what bootstraps, `hesc.gates.Evaluator(key)`, for integers whose bits do.
        progress: whether to show a bar, or what to call with the products done and all.

    Raises:
        CircuitError: too deep for the inputs' parameters and noise: plan the whole function
            first, with `plan`, which chooses parameters that have room.

    """
    _check_server(server)
    if not expressions or not all(isinstance(root, Integers) for root in expressions):
        raise ParameterError("evaluate takes expressions of encrypted integers")
    nodes = [node for node in in_order(expressions) if node.operation == "input"]
    leaves = [
        node
        for node in nodes
        if isinstance(node, EncryptedIntegers | SlotwiseArray | BootstrappedIntegers)
    ]
    if not nodes:
        raise ParameterError("these expressions are public numbers: there is nothing to evaluate")
    if len(leaves) != len(nodes):
        raise ParameterError("these expressions have inputs that are not encrypted integers")
    if len({type(leaf) for leaf in leaves}) > 1:
        if any(isinstance(leaf, BootstrappedIntegers) for leaf in leaves):
            raise ParameterError(
                "these expressions mix integers in slots with others whose bits bootstrap; encrypt "
                "all with the same keys"
            )
        raise ParameterError(
            "these expressions mix integers that are sliced with others that are slotwise; encrypt "
            "all with the same layout="
        )
    publics = publics_of(expressions)
    check_counts(leaves, publics)
    spare = whole(spare, "spare", 0, 255)
    computation = for_ciphertexts(
        IntegerRequest(expressions, leaves, publics, len(leaves[0]), spare)
    )
    results = computation.run(Given(expressions, leaves, leaves, publics), server, progress)
    return results[0] if len(results) == 1 else tuple(results)

"""Which engine, ring and circuit compute an expression: chosen by counting, before it runs."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Never

from hesc._native import CircuitError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, one_name, whole
from hesc._support.memory import machine_memory
from hesc.gates.encrypted import Evaluator
from hesc.integers.arrays import EncryptedIntegers
from hesc.integers.bootstrapped import BootstrappedIntegers
from hesc.integers.candidates import ENGINES, Asked, Considered, compare, for_ciphertexts, sets_of
from hesc.integers.circuits import in_order, publics_of
from hesc.integers.expressions import Integers
from hesc.integers.kinds import Kind, kind_of
from hesc.integers.layouts import PACKED, SLICED, SLOTWISE, PackedIntegers, SlotwiseArray
from hesc.integers.ways import AlongSlots, Given, OnBits, OnSlots, Way

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import DTypeLike

    from hesc.integers.expressions import PublicIntegers
    from hesc.params.streams import StreamParams
    from hesc.params.vectors import VectorParams


class Plan:
    """What computes a function of integers; `plan` makes one. Call it on encrypted integers."""

    def __init__(
        self,
        leaves: Sequence[Integers],
        roots: Sequence[Integers],
        single: bool,
        chosen: tuple[Considered, Way],
        candidates: list[Considered],
        asked: Asked,
        sliced: OnSlots | None,
    ) -> None:
        self._leaves = list(leaves)
        self._roots = list(roots)
        self._single = single
        self._chosen = chosen
        self._sliced = sliced
        self.candidates = candidates
        self.count = asked.count
        self._counted = asked.counted or asked.layout is not None

    @property
    def params(self) -> Any:
        """The parameter set.

        `hesc.keygen(plan.params, **plan.keys)` makes keys. It is a set for vectors or, for the
        engine "bootstrapped", one of bits that bootstrap.
        """
        return self._chosen[1].params

    @property
    def engine(self) -> str:
        """One of `ENGINES`: "binary", "prime" or "bootstrapped"."""
        return self._chosen[0].engine

    @property
    def layout(self) -> str:
        """Where bits lie while it computes: "sliced" or "slotwise"."""
        return self._chosen[0].layout

    @property
    def upload(self) -> str:
        """How inputs are encrypted: `hesc.integers.encrypt(..., layout=plan.upload)`."""
        way = self._chosen[1]
        return way.upload if isinstance(way, OnSlots) else self.layout

    @property
    def answer(self) -> str:
        """How results come: `hesc.integers.read(..., layout=plan.answer)`."""
        way = self._chosen[1]
        return way.answer if isinstance(way, OnSlots) else self.layout

    @property
    def keys(self) -> dict[str, Any]:
        """What `hesc.keygen(plan.params, **plan.keys)` has to make beside the usual."""
        way = self._chosen[1]
        if isinstance(way, AlongSlots):
            return {"slot_rotations": list(way.tried.slot_rotations)}
        return {"unpacking": True} if self.upload == PACKED else {}

    @property
    def chosen(self) -> Considered:
        """The cheapest candidate."""
        return self._chosen[0]

    @property
    def levels(self) -> list[int]:
        """The level before each product, and that of the results; none where bits bootstrap.

        Along slots those of inputs and of results.
        """
        way = self._chosen[1]
        if isinstance(way, AlongSlots):
            return [len(way.params.levels), way.tried.level]
        return way.native.levels if isinstance(way, OnSlots) else []

    def __reduce__(self) -> Never:
        raise TypeError(
            "a Plan is not pickled or copied; make it again from the function, with params= set to "
            "this one's parameters"
        )

    def __repr__(self) -> str:
        best = self.chosen
        return (
            f"<hesc.integers.Plan: {best.params}, {best.products} {_steps(best.engine)} of depth "
            f"{best.depth}, "
            f"{best.seconds:.3g} s for {self.count} numbers>"
        )

    def explain(self) -> str:
        """A table of all candidates: what each would take, or why it cannot."""
        lines = [
            f"{'engine':12} {'layout':8} {'parameters':20} {'slots':>6} {'products':>8} "
            f"{'depth':>5} {'block':>9} {'all':>9} {'kB up':>9} {'down':>8}  circuit, or why not"
        ]
        for row in self.candidates:
            mark = "*" if row == self.chosen else " "
            if row.style is None:
                figures = f"{'-':>8} {'-':>5} {'-':>9} {'-':>9} {'-':>9} {'-':>8}  {row.reason}"
            else:
                blocks = -(-self.count // row.slots)
                up, down = (blocks * x / self.count / 1e3 for x in (row.bytes_in, row.bytes_out))
                figures = (
                    f"{row.products:8} {row.depth:5} {row.latency:8.3f}s {row.seconds:8.3f}s "
                    f"{up:9.3g} {down:8.3g}  {row.style}"
                )
            lines.append(
                f"{row.engine:12} {row.layout:8} {row.params:20} {row.slots or '-':>6} {figures} "
                f"{mark}".rstrip()
            )
        lines.append(
            f"* chosen for {self.count} numbers: the least time on one thread, by operations "
            "counted and their measured speed; blocks follow one another. Products of "
            '"bootstrapped" are bootstraps: it has no limit of depth. Bytes are of a number, '
            "encrypted under the public key; the key owner's uploads in slots have half of them"
        )
        if not self._counted:
            lines.append(
                'count= was not given, so that the layout is "sliced", which is for many numbers'
            )
        return "\n".join(lines)

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

        Cost: `chosen.latency` for each block of `chosen.slots` numbers, shared among cores.

        Raises:
            CircuitError: inputs that have less room than fresh encryptions, or share their noise:
                results, or the same encryption twice.
            KeyMismatchError, ParameterError, ShapeError: other keys, parameters, types or counts.

        """
        if len(numbers) != len(self._leaves):
            raise ShapeError(f"the plan takes {len(self._leaves)} inputs; got {len(numbers)}")
        _check_server(server)
        way = self._chosen[1]
        if self._sliced and all(isinstance(given, EncryptedIntegers) for given in numbers):
            way = self._sliced
        expected = _class_of(way)
        for given, leaf in zip(numbers, self._leaves, strict=True):
            if not isinstance(given, expected):
                self._refuse(given, expected)
            if given.kind != leaf.kind:
                raise ParameterError(
                    f"the plan is for {leaf.dtype}, these are {given.dtype}; convert in the plan"
                )
        publics = publics_of(self._roots)
        check_counts(numbers, publics)
        results = way.run(Given(self._roots, self._leaves, numbers, publics), server, progress)
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


def _class_of(way: Way) -> type:
    """The class of the encrypted integers that a way takes."""
    if isinstance(way, OnBits):
        return BootstrappedIntegers
    if isinstance(way, AlongSlots):
        return SlotwiseArray
    return PackedIntegers if way.upload == PACKED else EncryptedIntegers


def _steps(engine: str) -> str:
    return "bootstraps" if engine == "bootstrapped" else "products"


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
    *dtypes: DTypeLike | Kind,
    count: int | None = None,
    engine: str | None = None,
    params: VectorParams | StreamParams | None = None,
    spare: int = 0,
    layout: str | None = None,
    upload: str | None = None,
    answer: str | None = None,
    memory: int | None = None,
) -> Plan:
    """Chooses how a function of integers is computed, by predicted time for `count` numbers.

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

    Raises:
        CircuitError: too deep, or too large, for every set, with what each has room for.
        ParameterError: a layout that the function, or the engine, has not.

    """
    _check_layouts(layout, upload, answer, engine)
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
    publics = publics_of(roots)
    if publics and check_counts((), publics) != count:
        raise ShapeError(
            f"public numbers are {len(publics[0])}, and the plan is for {count}: give count="
        )
    forms = (upload or SLICED, answer or SLICED)
    most = machine_memory() if memory is None else whole(memory, "memory", 1)
    asked = Asked(roots, leaves, publics, count, spare, layout, counted, *forms, most)
    candidates, best, sliced = compare(asked, sets_of(engine, params))
    if best is None:
        reasons = "; ".join(f"{row.params}: {row.reason}" for row in candidates)
        if layout == SLOTWISE and any(row.params == "any" for row in candidates):
            raise ParameterError(
                f"this is not computed along slots ({candidates[-1].reason}): there are + - & | ^ "
                '~, comparisons, minima, maxima and where of one type; take layout="sliced"'
            )
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
    return Plan(leaves, roots, single, best, candidates, asked, sliced)


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
    way = for_ciphertexts(Asked(expressions, leaves, publics, len(leaves[0]), spare))
    results = way.run(Given(expressions, leaves, leaves, publics), server, progress)
    return results[0] if len(results) == 1 else tuple(results)

"""Classes and nothing else: the server compares scores, on encrypted integers of few bits.

In slots, as many samples beside each other as there are; or sample by sample on bits that
bootstrap. What both compute is the model in whole numbers, exactly: an error is what rounding
features and weights does to classes, counted on the problem's rows.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import CircuitError, ParameterError
from hesc._support import shares
from hesc.params.vectors import VectorParams
from hesc.planner import probes
from hesc.planner.candidate import Candidate
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.tasks import ClassProblem, Task
from hesc.planner.work import StageCount, counted, parts_of
from hesc.protocols.classes.comparisons import Words, bytes_of, cheapest, key_bytes
from hesc.protocols.classes.quantisation import MODELS, fewest_bits, linear, quantised

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc import integers
    from hesc.planner.probes import Probe
    from hesc.planner.work import Work
    from hesc.protocols.classes.quantisation import Quantised
    from hesc.protocols.classes.whole_models import LinearScores

_MOST: Final = 1 << 12
"""Additions of encrypted bits, at most: circuits of more take minutes to be planned."""

_TOGETHER: Final = 64
"""Samples of a query whose bits bootstrap: each takes memory."""
_PROBES: Final = {
    "binary": ((8, 1), (12, 1), (5, 1000)),
    "prime": ((2, 1), (4, 100), (8, 1)),
    "bootstrapped": ((1, 1), (2, 1)),
}
"""Features and samples of two classes that an engine is timed on: those of small sets."""


class Decisions(Candidate[Task]):
    """The largest of a linear model's scores, or the sign of one, by comparisons."""

    def __init__(self, name: str, engines: tuple[str, ...]) -> None:
        self.name = name
        self._engines = engines

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        del rng
        error = 0.05 if "bootstrapped" in self._engines else 0.2
        for engine in self._engines:
            for features, samples in _PROBES[engine]:
                yield probes.classes(features, samples, error)

    def timed_as(self) -> tuple[Candidate[Task], ...]:
        """One engine each: to plan circuits for all of them takes longer than to run these."""
        return tuple(Decisions(self.name, (engine,)) for engine in self._engines)

    def work_of(self, plan: Any, samples: int, seconds: float) -> Work:
        """See `Candidate`: of a model of any kind, in words of its features."""
        words = Words(len(plan.ranges[0]), plan.bits)
        queries, size = -(-samples // plan.rows), plan.sizes(samples)
        slotted = isinstance(plan.params, VectorParams)
        numbers = samples * words.inputs * (1 if slotted else words.bits)
        spread = size.up + size.down if slotted else 0
        return counted(
            "integers.slots" if slotted else "integers.bits",
            encrypt=StageCount(queries * len(words.kinds), 0, numbers, size.up),
            answer=StageCount(queries, 0, 0, spread, counted=seconds),
            decrypt=StageCount(queries, 0, samples, size.down),
        )

    def consider(self, task: Task) -> Estimate | Infeasible:
        """See `Candidate`."""
        problem = task.problem
        if not isinstance(problem, ClassProblem):
            return Infeasible(
                self.name,
                f"it compares scores bit by bit and answers with a class; {problem.name} take no "
                f"comparison, and sums of bits cost far more than sums of numbers",
            )
        if task.setting == "outsourced":
            return Infeasible(
                self.name, "its weights are in the clear, and the model comes encrypted"
            )
        lost = shares.misses(task.max_error, len(problem.rows), tried=MODELS)
        if lost < 0:
            return Infeasible(
                self.name,
                f"{len(problem.rows)} rows are too few to tell a share of {task.max_error:.2g}: "
                f"give more rows=",
            )
        found = _whole(problem, 1 - lost / len(problem.rows))
        if found is None:
            return Infeasible(
                self.name,
                f"whole numbers of ten bits change the class of more than {lost} of "
                f"{len(problem.rows)} rows: allow more, or declare narrower ranges",
            )
        size = found.bits * sum(w.bit_count() for w in found.model.weights.ravel().tolist())
        if size > _MOST:
            return Infeasible(
                self.name,
                f"{size:,} additions of encrypted bits are more than the {_MOST:,} whose circuits "
                f"are planned for a comparison",
            )
        circuit = _circuit(problem, found.bits, found.model, self._engines, task.samples)
        slotted = isinstance(circuit.params, VectorParams)
        costs = (_in_slots if slotted else _on_bits)(task.samples, found, circuit)
        rows = len(problem.rows)
        return Estimate(
            way=self.name,
            parameters=f"{circuit.params.name}, {found.bits} bits a feature",
            work=costs.work,
            up=costs.up,
            down=costs.down,
            held=costs.keys + found.model.weights.nbytes + found.model.offsets.nbytes,
            error=shares.most(round((1 - found.agreement) * rows), rows, tried=found.among),
            failure=task.samples * LATTICE,
            sees=Sees("class", model_at_server=True, noise_tells="the model"),
            prepare=partial(
                _DecisionSides,
                problem,
                found,
                circuit,
                circuit.chosen.slots if slotted else _TOGETHER,
            ),
        )


@lru_cache(maxsize=32)
def _whole(problem: ClassProblem, agreement: float) -> Quantised[LinearScores] | None:
    """The model of the fewest bits that keeps so many classes of the problem's rows."""
    scores = problem.scores
    ranges = scores.low, scores.high
    try:
        return fewest_bits(
            lambda of_features, of_numbers: linear(
                scores.weights, scores.intercepts, ranges, of_features, of_numbers
            ),
            problem.rows,
            problem.exact(problem.rows).astype(np.int64),
            ranges,
            bits=None,
            least=agreement,
        )
    except ParameterError:
        return None


def _circuit(
    problem: ClassProblem, bits: int, model: LinearScores, engines: tuple[str, ...], samples: int
) -> integers.IntegerPlan:
    """The cheapest circuit of these engines for so many samples."""
    words = Words(problem.features, bits)
    found: list[integers.IntegerPlan] = []
    reasons: list[CircuitError] = []
    for engine in engines:
        try:
            found.append(cheapest(model, words, engine=engine, batch=samples))
        except CircuitError as error:
            reasons.append(error)
    if not found:
        raise reasons[0]
    return min(found, key=lambda plan: plan.seconds)


class _Costs(NamedTuple):
    """What samples take."""

    work: Work
    up: int
    down: int
    keys: int
    """Bytes of keys at the server."""


def _in_slots(
    samples: int, found: Quantised[LinearScores], circuit: integers.IntegerPlan
) -> _Costs:
    words = _words(found)
    slots = circuit.chosen.slots
    queries = -(-samples // slots)
    up, down = bytes_of(circuit, words, slots, len(found.model.offsets))
    count, numbers = queries * len(words.kinds), samples * words.inputs
    work = counted(
        "integers.slots",
        encrypt=StageCount(count, 0, numbers, queries * up),
        answer=StageCount(queries, queries * circuit.chosen.steps, 0, queries * (up + down)),
        decrypt=StageCount(queries, 0, samples, queries * down),
    )
    return _Costs(work, queries * up, queries * down, key_bytes(circuit))


def _on_bits(samples: int, found: Quantised[LinearScores], circuit: integers.IntegerPlan) -> _Costs:
    words = _words(found)
    parts = parts_of(samples, _TOGETHER)
    each = [bytes_of(circuit, words, count, len(found.model.offsets)) for count in parts]
    up, down = map(sum, zip(*each, strict=True))
    work = counted(
        "integers.bits",
        encrypt=StageCount(
            len(parts) * len(words.kinds), 0, samples * words.inputs * words.bits, up
        ),
        answer=StageCount(len(parts), samples * circuit.chosen.steps, 0),
        decrypt=StageCount(len(parts), 0, samples, down),
    )
    return _Costs(work, up, down, key_bytes(circuit))


def _words(found: Quantised[LinearScores]) -> Words:
    """How a sample's features lie in encrypted words."""
    return Words(found.model.weights.shape[1], found.bits)


class _DecisionSides:
    """Both sides of a decision: samples as words of quantised features up, places of classes down.

    The model is at the server; so many samples at most go together.
    """

    def __init__(
        self,
        problem: ClassProblem,
        found: Quantised[LinearScores],
        circuit: integers.IntegerPlan,
        most: int,
    ) -> None:
        self._ranges = problem.scores.low, problem.scores.high
        self._bits, self._words, self._most = found.bits, _words(found), most
        self._integers = circuit.chosen.prepare()
        self._model = found.model.weights.nbytes + found.model.offsets.nbytes

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All words of some samples, then of the next."""
        up = []
        for first in range(0, len(x), self._most):
            steps = quantised(x[first : first + self._most], self._ranges, self._bits)
            up += self._integers.encrypt(self._words.numbers(steps))
        return up

    def answer(self, up: list[bytes]) -> list[bytes]:
        """Places of classes."""
        count = len(self._words.kinds)
        queries = (up[at : at + count] for at in range(0, len(up), count))
        return [data for query in queries for data in self._integers.answer(query)]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Classes."""
        found = [self._integers.decrypt([data])[0] for data in down]
        return np.concatenate(found).astype(np.float64)

    def held(self) -> int:
        """Keys and model."""
        return self._integers.held() + self._model

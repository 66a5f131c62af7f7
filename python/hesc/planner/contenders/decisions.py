"""Classes and nothing else: the server compares scores, on encrypted integers of few bits.

In slots, as many samples beside each other as there are; or sample by sample on bits that
bootstrap. What both compute is the model in whole numbers, exactly: an error is what rounding
features and weights does to classes, counted on the problem's rows.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Final

import numpy as np

from hesc import integers
from hesc._native import CircuitError, ParameterError
from hesc.decisions.circuits import BLOCK, EVALUATION, Words, cheapest
from hesc.decisions.models import index_kind
from hesc.decisions.quantisation import fewest_bits, linear
from hesc.integers import EncryptedIntegers, Kind
from hesc.leveled.params import LeveledParams
from hesc.planner import shares
from hesc.planner.contenders.deciding import TOGETHER, Bits, Slots
from hesc.planner.offers import LATTICE, Offer, Refusal
from hesc.planner.roles import Sees
from hesc.planner.tasks import Classes
from hesc.planner.work import Count, counted, parts_of
from hesc.secret import leveled_keygen

if TYPE_CHECKING:
    from hesc.decisions.models import LinearScores
    from hesc.decisions.quantisation import Quantised
    from hesc.planner.tasks import Task

_MOST: Final = 1 << 12
"""Additions of encrypted bits, at most: circuits of more take minutes to be planned."""
_HEAD: Final = 185
"""Bytes of a query of such bits before its blocks."""
_DOWN: Final = 5_802
"""Bytes of an answer, one block of such bits."""


class Decisions:
    """The largest of a linear model's scores, or the sign of one, by comparisons."""

    def __init__(self, name: str, engines: tuple[str, ...]) -> None:
        self.name = name
        self._engines = engines

    def consider(self, task: Task) -> Offer | Refusal:
        """See `Contender`."""
        problem = task.problem
        if not isinstance(problem, Classes):
            return Refusal(
                self.name,
                f"it compares scores bit by bit and answers with a class; {problem.name} take no "
                f"comparison, and sums of bits cost far more than sums of numbers",
            )
        if task.setting == "outsourced":
            return Refusal(self.name, "its weights are in the clear, and the model comes encrypted")
        lost = shares.misses(task.max_error, len(problem.rows))
        if lost < 0:
            return Refusal(
                self.name,
                f"{len(problem.rows)} rows are too few to tell a share of {task.max_error:.2g}: "
                f"give more rows=",
            )
        found = _whole(problem, 1 - lost / len(problem.rows))
        if found is None:
            return Refusal(
                self.name,
                f"whole numbers of ten bits change the class of more than {lost} of "
                f"{len(problem.rows)} rows: allow more, or declare narrower ranges",
            )
        size = found.bits * sum(w.bit_count() for w in found.model.weights.ravel().tolist())
        if size > _MOST:
            return Refusal(self.name, f"{size:,} additions of encrypted bits are too many")
        circuit = _circuit(problem, found.bits, found.model, self._engines)
        error = shares.most(round((1 - found.agreement) * len(problem.rows)), len(problem.rows))
        offer = _in_slots if isinstance(circuit.params, LeveledParams) else _on_bits
        return offer(self.name, task, problem, found, circuit, error)


@lru_cache(maxsize=32)
def _whole(problem: Classes, agreement: float) -> Quantised[LinearScores] | None:
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


@lru_cache(maxsize=32)
def _circuit(
    problem: Classes, bits: int, model: LinearScores, engines: tuple[str, ...]
) -> integers.Plan:
    """The cheapest circuit of these engines for one block."""
    words = Words(problem.features, bits)
    found: list[integers.Plan] = []
    reasons: list[CircuitError] = []
    for engine in engines:
        try:
            found.append(cheapest(model, words, engine=engine, batch=1))
        except CircuitError as error:
            reasons.append(error)
    if not found:
        raise reasons[0]
    return min(found, key=lambda plan: plan.chosen.seconds)


def _kinds(problem: Classes) -> tuple[int, Kind]:
    """Classes, and the type of a place among them."""
    count = max(2, problem.scores.outputs)
    return count, index_kind(count)


def _in_slots(
    name: str,
    task: Task,
    problem: Classes,
    found: Quantised[LinearScores],
    circuit: integers.Plan,
    error: float,
) -> Offer:
    words, (classes, kind) = Words(problem.features, found.bits), _kinds(problem)
    row = circuit.chosen
    queries = -(-task.samples // row.slots)
    up, down = sizes(row.params, circuit.upload, tuple(words.kinds), kind, circuit.levels[-1])
    kept = keys(row.params, circuit.upload) + 8 * classes * (problem.features + 1)
    return Offer(
        way=name,
        parameters=f"{row.params}, {found.bits} bits a feature",
        work=counted(
            "decisions.slots",
            encrypt=Count(
                queries * len(words.kinds), 0, task.samples * problem.features, queries * up
            ),
            answer=Count(queries, 0, 0, counted=queries * row.latency),
            decrypt=Count(queries, 0, task.samples, queries * down),
        ),
        up=queries * up,
        down=queries * down,
        held=kept,
        error=error,
        failure=task.samples * LATTICE,
        sees=Sees("class", model_at_server=True, noise_tells="the model"),
        prepare=partial(Slots, problem, found, circuit),
    )


def _on_bits(
    name: str,
    task: Task,
    problem: Classes,
    found: Quantised[LinearScores],
    circuit: integers.Plan,
    error: float,
) -> Offer:
    words, (classes, kind) = Words(problem.features, found.bits), _kinds(problem)
    parts = parts_of(task.samples, TOGETHER)
    up = sum(_bytes(count * kind.width) for count in parts for kind in words.kinds)
    down = _DOWN * len(parts)
    bootstraps = task.samples * circuit.chosen.products
    bits = task.samples * problem.features * found.bits
    return Offer(
        way=name,
        parameters=f"{circuit.params.name}, {found.bits} bits a feature",
        work=counted(
            "decisions.bits",
            encrypt=Count(len(parts) * len(words.kinds), 0, bits, up),
            answer=Count(len(parts), bootstraps, 0),
            decrypt=Count(len(parts), 0, task.samples, down),
        ),
        up=up,
        down=down,
        held=EVALUATION + 8 * classes * (problem.features + 1),
        error=error,
        failure=task.samples * LATTICE,
        sees=Sees("class", model_at_server=True, noise_tells="the model"),
        prepare=partial(Bits, problem, found, circuit),
    )


def _bytes(bits: int) -> int:
    """Of a query on its way up: sixteen for each place of its blocks."""
    return _HEAD + -(-bits // BLOCK) * 16 * BLOCK


@cache
def keys(preset: str, upload: str) -> int:
    """Bytes of the public keys that a server is given.

    Large sets have hundreds of megabytes of them: what a key for each power of Frobenius takes is
    the relinearisation key's size, and heads are those of the smallest set.
    """
    params = LeveledParams.preset(preset)
    forms = leveled_keygen(params)[1].to_bytes()
    size = len(forms["public"]) + len(forms["relin"])
    if upload != "packed":
        return size
    small = LeveledParams.preset("bgv_13107_shallow")
    made = leveled_keygen(small, unpacking=True)[1].to_bytes()
    heads = ((small.slot_degree or 1) - 1) * len(made["relin"]) - len(made["galois"])
    return size + ((params.slot_degree or 1) - 1) * len(forms["relin"]) - heads


@cache
def sizes(
    preset: str, upload: str, kinds: tuple[Kind, ...], answer: Kind, level: int
) -> tuple[int, int]:
    """Bytes of a query and its answer, of zeros under a key that is thrown away."""
    params = LeveledParams.preset(preset)
    secret, public = leveled_keygen(params, products=False)
    up = sum(len(secret.encrypt_integers_to_bytes([0], str(kind), layout=upload)) for kind in kinds)
    fresh = integers.encrypt(public, [0], answer)
    blocks = [[bit.mod_switch_to(level) for bit in block] for block in fresh.blocks]
    return up, len(EncryptedIntegers(public, answer, 1, blocks).to_bytes())

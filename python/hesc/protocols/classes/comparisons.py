"""Plans of `hesc.integers` for a model's decision: which engine, how the largest is found."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import integers
from hesc._native import CircuitError
from hesc.integers import ENGINES, IntegerKind
from hesc.params import wire_sizes
from hesc.protocols.classes.whole_models import ARGMAX, LinearScores, function, index_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from hesc.params.stream_params import StreamParams
    from hesc.params.vectors import VectorParams
    from hesc.protocols.classes.whole_models import WholeModel

_WIDEST: Final = 256
"""Bits of an encrypted word, which holds the features of a sample side by side."""
UPLOADS: Final = {"binary": "packed", "prime": "sliced", "bootstrapped": "sliced"}
"""How words come: slots of "binary" have room for sixteen of their bits."""
_LARGEST: Final = 1 << 20
"""Gates of a circuit, about: more take minutes to plan and hours to compute."""
_PAIRS: Final = 24
"""Classes of which each may be compared with each: planning takes minutes from there on."""


class Words(NamedTuple):
    """How a sample's features lie in words."""

    inputs: int
    """Features of a sample."""
    bits: int
    """Bits of each feature."""

    @property
    def per_word(self) -> int:
        """Features of a word."""
        return _WIDEST // self.bits

    @property
    def kinds(self) -> list[IntegerKind]:
        """The type of each word."""
        places = range(0, self.inputs, self.per_word)
        return [
            IntegerKind(self.bits * min(self.per_word, self.inputs - first)) for first in places
        ]

    def numbers(self, steps: NDArray[np.int64]) -> list[NDArray[Any]]:
        """Rows of quantised features as numbers of these kinds, the first feature lowest."""
        rows = steps.tolist()
        return [
            np.array(
                [_joined(row[first : first + self.per_word], self.bits) for row in rows],
                dtype=object,
            )
            for first in range(0, self.inputs, self.per_word)
        ]


def _joined(numbers: Sequence[int], bits: int) -> int:
    return sum(number << bits * at for at, number in enumerate(numbers))


def names_of(engine: str) -> list[str]:
    """The sets of an engine."""
    return [name for ring in ENGINES[engine] for name in ring]


_KEPT: Final = 32
"""Plans that are remembered."""


class _ByContent:
    """A model whose equals hold the same numbers, as they are now."""

    def __init__(self, model: WholeModel) -> None:
        self.model = model
        parts = [getattr(model, part.name) for part in fields(model)]
        self._content = model.name, *((part.shape, part.tobytes()) for part in parts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


def cheapest(
    model: WholeModel,
    words: Words,
    *,
    engine: str,
    batch: int,
    params: VectorParams | StreamParams | None = None,
) -> integers.IntegerPlan:
    """The circuit that takes least of an engine's sets, or of one set.

    The last ones are remembered: a table of candidates asks for those of the plan again.

    Args:
        model: what the server knows.
        words: how features come.
        engine: one of `hesc.integers.ENGINES`.
        batch: samples that go together.
        params: the set that is agreed upon.

    Raises:
        CircuitError: too deep, or too large, for every set.

    """
    return _cheapest(_ByContent(model), words, engine, batch, params)


@lru_cache(maxsize=_KEPT)
def _cheapest(
    of: _ByContent,
    words: Words,
    engine: str,
    batch: int,
    params: VectorParams | StreamParams | None,
) -> integers.IntegerPlan:
    model = of.model
    found: list[integers.IntegerPlan] = []
    reason: CircuitError | None = None
    classes = len(model.offsets)
    gates = _gates(model, words.bits)
    if gates > _LARGEST:
        raise CircuitError(
            f"comparisons of this model take about {gates} gates on bits, and {_LARGEST} at most "
            f"are computed here: take fewer classes, features or trees, or smaller trees"
        )
    # Two are one pair.
    tried = ARGMAX[:1] if classes == 2 else ARGMAX if classes <= _PAIRS else ARGMAX[1:]
    for argmax in tried:
        decide = function(model, words.bits, words.per_word, words.inputs, argmax)
        try:
            plan = integers.plan(
                decide,
                *words.kinds,
                count=batch,
                engine=engine,
                params=params,
                layout="sliced",
                upload=UPLOADS[engine],
            )
        except CircuitError as error:
            reason = reason or error
        else:
            found.append(plan)
    if not found:
        raise reason or CircuitError("no circuit was tried")
    return min(found, key=lambda plan: plan.seconds)


def _gates(model: WholeModel, bits: int) -> int:
    """About how many gates a decision takes: five for each bit of a sum, two of a comparison."""
    classes = len(model.offsets)
    width = int(model.most(bits).max()).bit_length()
    largest = classes * width * 4
    if isinstance(model, LinearScores):
        ones: int = sum(weight.bit_count() for weight in model.weights.ravel().tolist())
        return 5 * ones * width + largest
    nodes = len(model.nodes)
    if len(model.roots) == 1:
        return nodes * (2 * bits + index_kind(classes).width)
    leaf = int(model.values.max()).bit_length()
    return nodes * (2 * bits + classes * leaf) + 5 * len(model.roots) * classes * width + largest


def bytes_of(
    circuit: integers.IntegerPlan, words: Words, rows: int, classes: int
) -> tuple[int, int]:
    """Bytes of the words of so many samples, and of the places of their classes."""
    params: Any = circuit.params
    answer = index_kind(classes)
    if circuit.engine == "bootstrapped":
        up = sum(wire_sizes.bits(params, rows, kind.width) for kind in words.kinds)
        return up, wire_sizes.bit_answer(params, rows, answer.width)
    up = sum(
        wire_sizes.integers(params, kind, layout=circuit.upload, seeded=True)
        for kind in words.kinds
    )
    return up, wire_sizes.integers(params, answer, level=circuit.levels[-1])


def key_bytes(circuit: integers.IntegerPlan) -> int:
    """Bytes of the public keys that a server is given."""
    params: Any = circuit.params
    return wire_sizes.made_keys(params, unpacking=circuit.upload == "packed")

"""Plans of `hesc.integers` for a model's decision: which engine, how the largest is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from hesc import integers
from hesc._native import CircuitError
from hesc.decisions.models import ARGMAX, function
from hesc.integers import ENGINES, Kind
from hesc.leveled.params import LeveledParams
from hesc.params import Params

if TYPE_CHECKING:
    from hesc.decisions.models import Scores

_WIDEST: Final = 256
"""Bits of an encrypted word, which holds the features of a sample side by side."""
UPLOADS: Final = {"binary": "packed", "prime": "sliced", "bootstrapped": "sliced"}
"""How words come: slots of "binary" have room for sixteen of their bits."""


class Words(NamedTuple):
    """How a sample's features lie in words."""

    inputs: int
    """Features of a sample."""
    bits: int
    """Of each."""

    @property
    def per_word(self) -> int:
        """Features of a word."""
        return _WIDEST // self.bits

    @property
    def kinds(self) -> list[Kind]:
        """The type of each word."""
        places = range(0, self.inputs, self.per_word)
        return [Kind(self.bits * min(self.per_word, self.inputs - first)) for first in places]


def preset(engine: str, name: str) -> LeveledParams | Params:
    """A parameter set by its name."""
    return Params.preset(name) if engine == "bootstrapped" else LeveledParams.preset(name)


def names_of(engine: str) -> list[str]:
    """The sets of an engine."""
    return [name for ring in ENGINES[engine] for name in ring]


def cheapest(
    model: Scores,
    words: Words,
    *,
    engine: str,
    batch: int,
    params: LeveledParams | Params | None = None,
) -> integers.Plan:
    """The circuit that takes least of an engine's sets, or of one set.

    Args:
        model: what the server knows.
        words: how features come.
        engine: one of `hesc.integers.ENGINES`.
        batch: samples that go together.
        params: the set that is agreed upon.

    Raises:
        CircuitError: too deep, or too large, for every set.

    """
    found: list[integers.Plan] = []
    reason: CircuitError | None = None
    several = len(model.offsets) > 2
    for argmax in ARGMAX if several else ARGMAX[:1]:
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
    return min(found, key=lambda plan: plan.chosen.seconds)

"""Features that the library of a model of trees refuses as too large, since it compares float32."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hesc._native import OutOfRangeError
from hesc.models import samples, transforms
from hesc.models.samples import Clipped
from hesc.models.tables.forms import column
from hesc.models.tables.table_steps import Branches, Fill
from hesc.models.transforms import Exceeds
from hesc.models.trees import NEVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from hesc._native import Steps
    from hesc.models.tables.forms import Samples
    from hesc.models.transforms import Transform


def before_bits(steps: list[Transform]) -> list[Transform]:
    """The transforms of a plan that make the features which its bits are of."""
    makers = [at for at, step in enumerate(steps) if isinstance(step, Exceeds | Branches)]
    return steps[: max(makers, default=len(steps))]


def naming(steps: list[Transform], inputs: int, names: list[str]) -> Callable[[int], str]:
    """What features after transforms are called: by the column that each is made of.

    Args:
        steps: the transforms.
        inputs: columns.
        names: of the columns, or none.

    """
    behind = transforms.columns_of(steps, inputs, made=True)

    def called(place: int) -> str:
        own = behind[place]
        return column(own, names) if own >= 0 else f"feature {place} behind the transforms"

    return called


def compared(steps: list[Transform], inputs: int, farthest: float) -> Steps | None:
    """What makes features to look at, with zeros for missing ones; None where none is too large.

    Args:
        steps: of a plan.
        inputs: columns.
        farthest: the largest absolute value that the library takes.

    """
    if farthest == NEVER:
        return None
    before = before_bits(steps)
    low, high = transforms.limits(before, inputs)
    if max(-low.min(), high.max()) <= farthest:
        return None
    return transforms.compiled([*before, Fill((0.0,) * len(low), None)], inputs)


def checked(plan: Any, steps: Steps, given: Samples, ready: Clipped, *, clip: bool) -> Clipped:
    """Bits of samples whose features are not too large, or are counted as clipped.

    Args:
        plan: whose samples they are, a `TreesPlan`.
        steps: what `compared` gave.
        given: a row of cells for each.
        ready: their bits.
        clip: whether features that are too large count as the largest ones, whose bits are theirs.

    Raises:
        OutOfRangeError: naming a feature that is too large.

    """
    ends = np.full(steps.width, NEVER)
    found = samples.prepared(given, names=plan.names, steps=steps, ranges=(-ends, ends), clip=clip)
    beyond = np.abs(found.features) > plan.farthest
    if beyond.any() and not clip:
        row, place = np.argwhere(beyond)[0].tolist()
        called = naming(before_bits(plan.steps), plan.inputs, plan.names)(place)
        raise OutOfRangeError(
            f"{called} of sample {row} is too large: this model's library compares float32, and "
            f"refuses what is beyond {plan.farthest:.5g}. clip=True, or --clip, takes "
            f"the largest number that it compares"
        )
    return Clipped(ready.features, int(beyond.sum()), np.asarray(beyond.any(axis=1)))

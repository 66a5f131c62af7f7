"""What may be asked of a plan of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hesc.protocols.linear.ranges import Ranges


@dataclass(frozen=True, kw_only=True, eq=False)
class Network:
    """The client learns scores of a network, and the server knows it.

    A network's weights are not hidden from the client: no added noise hides what an answer's noise
    says of them, and no bound on answers is known below which they stay unknown. A linear model can
    be hidden for few answers: see `Scores`.
    """

    ranges: Ranges | None = None
    """A pair: the least and the greatest values of what is encrypted, each one number or one for
    each; of features after the client's transforms. **They are public**; None takes those of the
    training data."""
    max_error: float | None = None
    """The root mean square of a score's error over rows like the training data, in units of
    `decision_function` or of a regressor's target. None takes the first plan that has a hundredth
    of the median margin between classes, or of the deviation of a regressor's predictions, or else
    the best of rings up to 16384."""

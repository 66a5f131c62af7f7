"""What may be asked of a plan whose client learns classes alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hesc.protocols.linear.ranges import Ranges


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """The client learns a class and no score, by comparisons on the server.

    No score leaves the server that weights could be computed of, but no noise hides what
    ciphertexts tell of the model, as the plan says; nothing counts classes, so that whoever
    runs the server has to limit queries. Trees are compared as they are.
    """

    ranges: Ranges | None = None
    """A pair: the least and the greatest values of what is encrypted, each one number or one for
    each; of features after the client's transforms. **They are public**; None takes those of the
    training data."""
    min_agreement: float = 0.99
    """The least share of a thousand rows whose class quantisation keeps: of those that bits are
    chosen on, and of those that are held out."""
    bits: int | None = None
    """Bits of an encrypted feature, which is a whole number of equal steps in its range; None takes
    those of the cheapest circuit that keeps as many classes as `min_agreement` says."""
    engine: str | None = None
    """One of `hesc.integers.ENGINES`; None takes that of the least predicted time, with bytes at
    100 Mbit/s."""
    batch: int = 1
    """Samples that are to go together; a query in slots takes as long for one as for all it has
    room for."""

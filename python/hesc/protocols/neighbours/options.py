"""What may be asked of a plan of nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class Neighbours:
    """The client learns distances to **every record**, as codes tell them, and the classes.

    Nothing hides records: within any number of answers that is of use a client that follows the
    protocol finds most of their variance from distances alone, whatever noise hides the codes. Of a
    linear model fitted to the same data weights can be hidden for a few answers: see `Scores`.
    """

    bits: int | None = None
    """Bits of a code, a multiple of 64, up to 960. None takes as many. Bytes up are proportional to
    it, and more bits tell angles more finely."""
    min_agreement: float = 0.9
    """The least share of the rows tried that have the class of exact neighbours; less is
    refused."""
    random_state: int = 0
    """What the public projections are drawn from."""

"""What may be asked of a plan of nearest neighbours."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """The client learns distances to **every record**, and the records' classes.

    Nothing hides records: as many samples as there are features give all of them away, whatever
    encrypts samples. Of a linear model fitted to the same data weights can be hidden for a few
    answers: see `Scores`.
    """

    records: str | None = None
    """What records are: "public", such as every client may have. Without it no plan is made."""
    bits: int | None = None
    """Bits of an entry up to four times a record's root mean square entry. None takes as few as
    keep the class of 98 in 100 of the rows tried, to a quarter, or the best of up to 14."""
    keys: bool | None = None
    """Whether clients give the server keys, once, by which queries are short, and each takes the
    server longer. None takes what has fewer bytes for a client of a hundred queries."""
    min_agreement: float = 0.9
    """The least share of the rows tried that have the class of exact neighbours; less is
    refused."""

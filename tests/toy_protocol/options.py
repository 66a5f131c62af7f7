"""What may be asked of a plan of the toy: nothing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)
class Whole:
    """The client learns scores of weights that are whole numbers."""

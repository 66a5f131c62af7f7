"""What may be asked of a plan for columns of several owners."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hesc.protocols.linear.options import ScoreOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True, eq=False)
class Parties(ScoreOptions):
    """Features have several owners, each of whom encrypts its own columns.

    They do so under the key of the client, who has no samples and learns the scores, and from whom
    nothing hides weights.
    """

    parties: Mapping[str, Sequence[str | int]] = field(kw_only=False)
    """The columns of each owner, by names or numbers, such as
    `{"bank": ["income", "debt"], "clinic": ["age"]}`."""

"""The ways to compute a task, one module each: what each takes, says, shows, and how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from hesc.planner.contenders.clear import Clear
from hesc.planner.contenders.codes import ClearRecords, EncryptedRecords
from hesc.planner.contenders.columns import ApproximateColumns
from hesc.planner.contenders.decisions import Decisions
from hesc.planner.contenders.encrypted_columns import EncryptedColumns
from hesc.planner.contenders.factors import LeveledFactors
from hesc.planner.contenders.logarithms import Logarithms
from hesc.planner.contenders.ring_products import RingProducts
from hesc.planner.contenders.rows import Rows
from hesc.planner.contenders.stream_sums import StreamSums
from hesc.planner.contenders.streams import StreamFactors
from hesc.planner.contenders.whole_columns import WholeColumns

if TYPE_CHECKING:
    from hesc.planner.offers import Offer, Refusal
    from hesc.planner.tasks import Task


class Contender(Protocol):
    """One way."""

    name: str

    def consider(self, task: Task) -> Offer | Refusal:
        """What it takes for a task, or why it does not compute it.

        Raises:
            HescError: as the ways' own plans refuse; taken as a reason against it.

        """


CONTENDERS: Final[tuple[Contender, ...]] = (
    Clear(),
    RingProducts(),
    ApproximateColumns("ckks_4096"),
    WholeColumns("bfv_4096"),
    EncryptedColumns(),
    Rows("ckks_8192"),
    StreamSums("bfv_1024"),
    StreamSums("pad_1024"),
    Decisions("integers", ("binary", "prime")),
    Decisions("gates", ("bootstrapped",)),
    Logarithms(),
    LeveledFactors("ckks_8192"),
    StreamFactors("bfv_1024"),
    StreamFactors("gm_3072"),
    StreamFactors("ec_elgamal_ristretto255"),
    StreamFactors("pad_1024"),
    ClearRecords(),
    EncryptedRecords(),
)
"""All of them."""

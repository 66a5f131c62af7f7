"""The ways to compute a task, one module each: what each takes, says, shows, and how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hesc.protocols.candidates.ckks_rows import Rows
from hesc.protocols.candidates.clear import Clear
from hesc.protocols.candidates.codes import ClearRecords, EncryptedRecords, IndexedRecords
from hesc.protocols.candidates.columns import ApproximateColumns
from hesc.protocols.candidates.decisions import Decisions
from hesc.protocols.candidates.encrypted_columns import EncryptedColumns
from hesc.protocols.candidates.factors import CkksFactors
from hesc.protocols.candidates.logarithms import Logarithms
from hesc.protocols.candidates.ring_products import RingProducts
from hesc.protocols.candidates.stream_sums import StreamSums
from hesc.protocols.candidates.streams import StreamFactors
from hesc.protocols.candidates.whole_columns import WholeColumns

if TYPE_CHECKING:
    from hesc.planner.candidate import Candidate
    from hesc.planner.tasks import Task


CANDIDATES: Final[tuple[Candidate[Task], ...]] = (
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
    CkksFactors("ckks_8192"),
    StreamFactors("bfv_1024"),
    StreamFactors("gm_3072"),
    StreamFactors("ec_elgamal_ristretto255"),
    StreamFactors("pad_1024"),
    ClearRecords(),
    IndexedRecords(keys=False),
    IndexedRecords(keys=True),
    EncryptedRecords(),
)
"""All of them."""

"""The ways to compute a task, one module each: what each takes, says, shows, and how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

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
from hesc.planner.offers import Offer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.planner.contenders.candidate import Candidate


CONTENDERS: Final[tuple[Candidate, ...]] = (
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


def probes() -> list[tuple[Offer, NDArray[Any]]]:
    """Offers and data that times are measured with, of all candidates in an order by chance.

    Cost: plans, and keys for those that learn sizes by trying.
    """
    rng = np.random.default_rng(1)
    found: list[tuple[Offer, NDArray[Any]]] = []
    for candidate in CONTENDERS:
        asked = list(candidate.probes(rng))
        for one in candidate.timed_as():
            offers = ((one.consider(task), x) for task, x in asked)
            found += [(offer, x) for offer, x in offers if isinstance(offer, Offer)]
    # What slows the processor for a second is then no one way's.
    return [found[at] for at in rng.permutation(len(found))]

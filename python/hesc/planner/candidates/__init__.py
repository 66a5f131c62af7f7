"""The ways to compute a task, one module each: what each takes, says, shows, and how it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.planner.candidates.clear import Clear
from hesc.planner.candidates.codes import ClearRecords, EncryptedRecords
from hesc.planner.candidates.columns import ApproximateColumns
from hesc.planner.candidates.decisions import Decisions
from hesc.planner.candidates.encrypted_columns import EncryptedColumns
from hesc.planner.candidates.factors import LeveledFactors
from hesc.planner.candidates.logarithms import Logarithms
from hesc.planner.candidates.ring_products import RingProducts
from hesc.planner.candidates.rows import Rows
from hesc.planner.candidates.stream_sums import StreamSums
from hesc.planner.candidates.streams import StreamFactors
from hesc.planner.candidates.whole_columns import WholeColumns
from hesc.planner.estimates import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.planner.candidates.candidate import Candidate


CANDIDATES: Final[tuple[Candidate, ...]] = (
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


def probes() -> list[tuple[Estimate, NDArray[Any]]]:
    """Estimates and data that times are measured with, of all candidates in an order by chance.

    Cost: plans, and keys for those that learn sizes by trying.
    """
    rng = np.random.default_rng(1)
    found: list[tuple[Estimate, NDArray[Any]]] = []
    for candidate in CANDIDATES:
        asked = list(candidate.probes(rng))
        for one in candidate.timed_as():
            estimates = ((one.consider(task), x) for task, x in asked)
            found += [(estimate, x) for estimate, x in estimates if isinstance(estimate, Estimate)]
    # What slows the processor for a second is then no one way's.
    return [found[at] for at in rng.permutation(len(found))]

"""What the parties of a linkage agree on: sizes, parameters, bytes, and what each learns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support.inputs import one_name, real, several, whole, wholes
from hesc.codes.sets import DistanceSet, hiding
from hesc.params import Params
from hesc.protocols import wire
from hesc.protocols.disclosure import Disclosure, secure
from hesc.protocols.linkage.blocking import (
    BLOCKING,
    DELTA,
    MOST,
    SIZES,
    WITHIN,
    Blocking,
    Pass,
    Within,
    check_passes,
    place_of,
)
from hesc.protocols.message import Kind, Message, message_size
from hesc.protocols.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hesc.params.stream_params import StreamParams

FIRST: Final = 4
"""Bytes of the number of a message's first record, which begins queries and pieces."""
_BATCH: Final = 1 << 14
"""Records that a message of the sender has, at most: whole blocks of every set."""
_ROWS: Final = 512
"""Records of the comparer's that a piece has, at most: two groups of the compiled part's."""
_WIDEST: Final = 32
"""Blocks of the sender's records up to which pieces have so many rows; beyond it they have fewer,
so that a piece stays short."""
_STATISTICAL_BITS: Final = 40
_PLACES: Final = 1 << 28
"""Places for records that all blocks have, at most."""


class LinkageSizes(NamedTuple):
    """Bytes of all messages of a linkage."""

    queries: int
    """Encrypted codes, from the sender to the comparer."""
    pieces: int
    """Distances, from the comparer to the matcher."""
    answer: int
    """Matches, from the matcher to both, at most."""


@dataclass(frozen=True)
class LinkagePlan(Plan):
    """Public, and the same for all three parties: how many records there are, and how long codes.

    Print it to read who holds and learns what. `of_blocks` makes a plan whose records are compared
    block by block: then `sent` and `compared` are places for records in all blocks, and each block
    is linked by the plan that `block` gives.
    """

    protocol: ClassVar[str] = "linkage"
    roles: ClassVar[tuple[str, ...]] = ("sender", "comparer", "matcher")
    needs_keys: ClassVar[bool] = True
    sent: int = field(metadata=wire.whole(1, _PLACES))
    """Records of the party that encrypts."""
    compared: int = field(metadata=wire.whole(1, _PLACES))
    """Records of the party that compares."""
    bits: int = field(default=512, metadata=wire.whole(64, 1 << 16))
    """Bits of a code, a multiple of 64."""

    blocking: Blocking | None = field(default=None, metadata=BLOCKING)
    """All blocks, of a plan that has some."""
    within: Within | None = field(default=None, metadata=WITHIN)
    """Which block of another plan this is the plan of."""

    def __post_init__(self) -> None:
        most = MOST if self.blocking is None else _PLACES
        whole(self.sent, "sent", 1, most)
        whole(self.compared, "compared", 1, most)
        whole(self.bits, "bits", 64, 1 << 16)
        if self.bits % 64:
            raise ParameterError(f"bits is {self.bits}; codes have a multiple of 64")
        if self.blocking is not None:
            sums = sum(self.blocking.sent), sum(self.blocking.compared)
            if sums != (self.sent, self.compared) or self.within is not None:
                raise ParameterError(
                    f"blocks have {sums[0]} and {sums[1]} places for records, and the plan "
                    f"{self.sent} and {self.compared}; LinkagePlan.of_blocks makes one that fits"
                )
        if self.within is not None and self.within.coefficients < self._shown:
            raise ParameterError("a block shows more than all blocks of its plan; make both anew")
        self.distance_set  # noqa: B018 - it refuses what no set has room for

    @classmethod
    def of_blocks(
        cls,
        passes: Iterable[Pass],
        sizes: str,
        sent: Iterable[int],
        compared: Iterable[int],
        *,
        bits: int = 512,
        epsilon: float = 1.0,
        delta: float = DELTA,
    ) -> LinkagePlan:
        """A plan whose records are compared block by block.

        Args:
            passes: what keys are made of, and over how many blocks they are spread.
            sizes: how sizes were made: one of `hesc.protocols.linkage.blocking.SIZES`.
            sent: places of each block for the sender's records, one pass after the other:
                `BlockedRecords.told_sizes` gives them.
            compared: the same of the comparer's.
            bits: of a code.
            epsilon: of private sizes; nothing elsewhere.
            delta: of private sizes.

        Raises:
            ParameterError, OutOfRangeError: sizes that are not those of the passes; nothing to
                compare; more than any set has room for.

        """
        remedy = "give a size for each block, as told_sizes does"
        own, theirs = (
            tuple(wholes(several(each, name, remedy), name))
            for name, each in (("sent", sent), ("compared", compared))
        )
        private = one_name(sizes, "sizes", SIZES) == "private"
        noise = real(epsilon, "epsilon"), real(delta, "delta")
        blocking = Blocking(
            check_passes(several(passes, "passes", "give a list of Pass(key, blocks)")),
            sizes,
            own,
            theirs,
            *(noise if private else (0.0, 0.0)),
        )
        if not any(map(all, zip(own, theirs, strict=True))):
            raise ParameterError(
                "no block has records of both parties, and there is nothing to compare: check that "
                "both have one key of codes and the same passes"
            )
        return cls(sum(own), sum(theirs), bits, blocking)

    @property
    def agreed_blocks(self) -> Blocking:
        """The blocks of a plan that has some.

        Raises:
            ParameterError: a plan without blocks.

        """
        if self.blocking is None:
            raise ParameterError(
                "this plan compares all records with all; LinkagePlan.of_blocks makes one of blocks"
            )
        return self.blocking

    @cached_property
    def blocks(self) -> list[int]:
        """Numbers of the blocks in which there is something to compare, in order."""
        both = zip(self.agreed_blocks.sent, self.agreed_blocks.compared, strict=True)
        return [number for number, sizes in enumerate(both) if all(sizes)]

    def block(self, number: int) -> LinkagePlan:
        """The plan that one block is linked by; its messages are of no other block or linkage.

        Raises:
            ParameterError: a plan without blocks, a block in which there is nothing to compare.
            OutOfRangeError: a block that is not there.

        """
        blocking = self.agreed_blocks
        place_of(blocking.passes, number)
        sizes = blocking.sent[number], blocking.compared[number]
        if not all(sizes):
            raise ParameterError(f"in block {number} there is nothing to compare; leave it out")
        within = Within(self.digest.hex(), number, self.coefficients)
        return LinkagePlan(*sizes, self.bits, within=within)

    def check_undivided(self) -> None:
        """Refuses a plan of blocks, where one that is linked as a whole belongs.

        Raises:
            ParameterError: saying what gives the plan of a block.

        """
        if self.blocking is not None:
            raise ParameterError(
                "this plan is of blocks, each of which is linked by itself: give "
                "plan.block(number), for each number in plan.blocks"
            )

    @property
    def _shown(self) -> int:
        return -(-self.sent // 4096) * 4096 * self.compared

    @cached_property
    def coefficients(self) -> int:
        """Coefficients that are shown to who decrypts: those of whole rings, of all blocks."""
        if self.within is not None:
            return self.within.coefficients
        if self.blocking is None:
            return self._shown
        both = zip(self.blocking.sent, self.blocking.compared, strict=True)
        return sum(-(-sent // 4096) * 4096 * compared for sent, compared in both)

    @property
    def statistical_bits(self) -> int:
        """Bits of statistical security of hidden noise: 40, `2**-23` as a statistical distance."""
        return _STATISTICAL_BITS

    @cached_property
    def distance_set(self) -> DistanceSet:
        """The smallest set with room for all distances and for the noise that hides codes.

        Raises:
            OutOfRangeError: codes, or numbers of pairs, that no set has room for.

        """
        found = hiding(self.bits, self.coefficients)
        if found is not None:
            return found
        raise OutOfRangeError(
            f"codes of {self.bits} bits, {self.sent} by {self.compared}, have no parameters: take "
            f"512 bits at most and link parts of the records, under keys of their own"
        )

    @cached_property
    def params(self) -> StreamParams:
        """The parameters of the matcher's keys."""
        found: StreamParams = Params.preset(self.distance_set.name)
        return found

    @property
    def batches(self) -> list[int]:
        """Numbers of records of the sender's messages, in their order."""
        whole_ones, rest = divmod(self.sent, _BATCH)
        return [_BATCH] * whole_ones + [rest] * bool(rest)

    @property
    def rows(self) -> int:
        """Records of the comparer's that a piece has; the last one may have fewer."""
        return max(1, _ROWS * _WIDEST // max(_WIDEST, self._blocks(self.sent)))

    def count(self, kind: Kind, first: int) -> int:
        """Records of the query or piece that begins with this one."""
        if kind is Kind.QUERY:
            return min(_BATCH, self.sent - first)
        return min(self.rows, self.compared - first)

    def lengths(self, kind: Kind, first: int) -> list[int]:
        """Bytes of each ciphertext of the query or piece that begins with this record."""
        count = self.count(kind, first)
        if kind is Kind.QUERY:
            return [self.distance_set.encrypted(self.bits, self._blocks(count))]
        return [self.distance_set.down(count, self._blocks(batch)) for batch in self.batches]

    def _blocks(self, records: int) -> int:
        """Blocks that so many of the sender's records take."""
        return -(-records // self.distance_set.block)

    def sizes(self) -> LinkageSizes:
        """Bytes of all messages; of matches, as many as there may be."""
        if self.blocking is not None:
            blocks = [self.block(number).sizes() for number in self.blocks]
            return LinkageSizes(*np.sum(blocks, axis=0, dtype=object))
        starts = range(0, self.sent, _BATCH)
        queries = sum(message_size([FIRST, *self.lengths(Kind.QUERY, at)]) for at in starts)
        full, rest = divmod(self.compared, self.rows)
        pieces = full * message_size([FIRST, *self.lengths(Kind.PIECE, 0)])
        if rest:
            pieces += message_size([FIRST, *self.lengths(Kind.PIECE, full * self.rows)])
        return LinkageSizes(queries, pieces, message_size([8 * min(self.sent, self.compared)]))

    def opened(self, data: bytes, kind: Kind, parts: int | None = None) -> Message:
        """A message of this plan from its wire form; see `hesc.protocols.linkage.pieces`.

        Raises:
            WireError: damaged bytes, another kind or plan, other parts or numbers of records.

        """
        found = super().opened(data, kind, parts)
        most = {Kind.QUERY: min(_BATCH, self.sent), Kind.PIECE: self.rows}.get(kind, self.sent)
        if found.samples > most:
            raise WireError(
                f"{kind.description} of this plan is of {most} records at most; this one says "
                f"{found.samples}"
            )
        return found

    def disclosure(self) -> Disclosure:
        """Who holds and learns what, with bytes."""
        size = self.sizes()
        pairs = f"{self.sent} by {self.compared}"
        whose, seen = "how many the {} has", f"the distances of all {pairs} pairs"
        if self.blocking is not None:
            whose = "what sizes of blocks tell of the {}'s"
            seen = "the distances of all pairs in a block"
        own = "its own records, which of them match"
        rows = {
            "setting": "linkage: sender and comparer hold records and the key of codes, the "
            "matcher the secret key of the encryption",
            "sender": f"sees {own}, {whose.format('comparer')}",
            "comparer": f"sees {own}, {whose.format('sender')}, and the sender's codes under the "
            "matcher's key",
            "matcher": f"sees {seen}, in orders that it does not know, "
            "the threshold and the matches; no name, no key of codes. DISTANCES TELL MUCH: of "
            "thousands of records the codes follow up to the order and sign of bits, and families "
            "are recognised by who is near whom",
            "together": "matcher and sender have ALL CODES of the comparer, matcher and comparer "
            "all of the sender's: with the key of codes they try names on them. The sender's "
            "messages are for the comparer alone",
            "hidden": f"the comparer's codes behind noise, for {self.coefficients} numbers in all, "
            f"{self.statistical_bits} bits of statistical security: it compares once. Linkages of "
            "the same records add up",
            **({} if self.blocking is None else self.blocking.rows(self.bits)),
            "bytes": f"{size.queries} from the sender, {size.pieces} from the comparer, up to "
            f"{size.answer} from the matcher to each of both",
            "ring": f"{self.params.name}, N = {self.params.ring_degree}, "
            f"{secure(self.params.assurance)}",
        }
        what = "records"
        if self.blocking is not None:
            what = f"places for records in {len(self.blocking.sent)} blocks"
        elif self.within is not None:
            what = f"records of block {self.within.number} of {self.within.plan[:16]}"
        return Disclosure(
            f"Private record linkage: {pairs} {what}, codes of {self.bits} bits", rows
        )

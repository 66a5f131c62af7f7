"""What the parties of a linkage agree on: sizes, parameters, bytes, and what each learns."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support.inputs import whole
from hesc.codes.sets import DistanceSet, hiding
from hesc.params import Params
from hesc.protocols import wire
from hesc.protocols.disclosure import Disclosure, secure
from hesc.protocols.message import Kind, Message, message_size
from hesc.protocols.plan import Plan

if TYPE_CHECKING:
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
_MOST: Final = 1 << 24


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

    Print it to read who holds and learns what.
    """

    protocol: ClassVar[str] = "linkage"
    roles: ClassVar[tuple[str, ...]] = ("sender", "comparer", "matcher")
    needs_keys: ClassVar[bool] = True
    sent: int = field(metadata=wire.whole(1, _MOST))
    """Records of the party that encrypts."""
    compared: int = field(metadata=wire.whole(1, _MOST))
    """Records of the party that compares."""
    bits: int = field(default=512, metadata=wire.whole(64, 1 << 16))
    """Bits of a code, a multiple of 64."""

    def __post_init__(self) -> None:
        whole(self.sent, "sent", 1, _MOST)
        whole(self.compared, "compared", 1, _MOST)
        whole(self.bits, "bits", 64, 1 << 16)
        if self.bits % 64:
            raise ParameterError(f"bits is {self.bits}; codes have a multiple of 64")
        self.distance_set  # noqa: B018 - it refuses what no set has room for

    @property
    def coefficients(self) -> int:
        """Coefficients that are shown to who decrypts: those of whole rings."""
        return -(-self.sent // 4096) * 4096 * self.compared

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

    @property
    def preset(self) -> str:
        """The name of the parameters."""
        return self.distance_set.name

    @cached_property
    def params(self) -> StreamParams:
        """The parameters of the matcher's keys."""
        found: StreamParams = Params.preset(self.preset)
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
        own = "its own records, which of them match"
        rows = {
            "setting": "linkage: sender and comparer hold records and the key of codes, the "
            "matcher the secret key of the encryption",
            "sender": f"sees {own}, how many the comparer has",
            "comparer": f"sees {own}, how many the sender has, and the sender's codes under the "
            "matcher's key",
            "matcher": f"sees the distances of all {pairs} pairs, in orders that it does not know, "
            "the threshold and the matches; no name, no key of codes. DISTANCES TELL MUCH: of "
            "thousands of records the codes follow up to the order and sign of bits, and families "
            "are recognised by who is near whom",
            "together": "matcher and sender have ALL CODES of the comparer, matcher and comparer "
            "all of the sender's: with the key of codes they try names on them. The sender's "
            "messages are for the comparer alone",
            "hidden": f"the comparer's codes behind noise, for {self.coefficients} numbers in all, "
            f"{self.statistical_bits} bits of statistical security: it compares once. Linkages of "
            "the same records add up",
            "bytes": f"{size.queries} from the sender, {size.pieces} from the comparer, up to "
            f"{size.answer} from the matcher to each of both",
            "ring": f"{self.preset}, N = {self.params.ring_degree}, "
            f"{secure(self.params.assurance)}",
        }
        return Disclosure(
            f"Private record linkage: {pairs} records, codes of {self.bits} bits", rows
        )

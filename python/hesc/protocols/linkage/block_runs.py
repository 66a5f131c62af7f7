"""All three parties of a linkage of blocks, on one machine: block by block, a pass at a time.

`LinkBlocks` links tables of blocks, and is what an engine maps over them: with codes and a plan in
it, and a key pair of the matcher's that it makes itself, for each process its own. It is for
measuring and for trying out: who has all of it has no need of encryption.
"""

from __future__ import annotations

import time
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hesc.codes.rows import hamming
from hesc.protocols.linkage.blocking import place_of
from hesc.protocols.linkage.client import Matcher
from hesc.protocols.linkage.matching import MutualNearest
from hesc.protocols.linkage.party import Sender
from hesc.protocols.linkage.plan import LinkagePlan
from hesc.protocols.linkage.server import Comparer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from hesc.protocols.linkage.blocks import BlockedRecords

    Engine = Callable[[Iterable[pa.Table]], Iterable[pa.Table]]
    """Maps a `LinkBlocks` or a `ClearBlocks` over tables, in whichever order."""

STEPS: Final = ("sender encrypts", "comparer adds and hides", "matcher decrypts")
"""What each party does, of which seconds and bytes are told."""
_ROWS: Final = 512


class Linked(NamedTuple):
    """A block that was linked."""

    sent: NDArray[np.int64]
    """Rows of the sender's codes that match."""
    compared: NDArray[np.int64]
    """Rows of the comparer's, in the same order."""
    seconds: tuple[float, ...]
    """Seconds that each of `STEPS` took."""
    bytes: tuple[int, ...]
    """Bytes that each of `STEPS` sent."""


class LinkBlocks:
    """Links blocks: calls map a table of codes to one of matches, a row for each block.

    Args:
        plan: the wire form of a plan of blocks.
        threshold: a distance up to which records match.

    """

    def __init__(self, plan: bytes, threshold: int) -> None:
        self._plan = LinkagePlan.from_bytes(plan)
        self._threshold = threshold
        self.matcher = Matcher(self._plan)

    def __call__(self, table: pa.Table) -> pa.Table:
        """Matches of each block, with seconds and bytes.

        Args:
            table: as `tables_of` makes it.

        """
        import pyarrow as pa

        rows = table.to_pylist()
        words = self._plan.bits // 64
        linked = [
            self.link(
                row["block"],
                *(np.frombuffer(row[s], "<u8").reshape(-1, words) for s in ("sent", "compared")),
            )
            for row in rows
        ]
        columns = {name: [getattr(each, name) for each in linked] for name in Linked._fields}
        return pa.table({"block": [row["block"] for row in rows]} | columns)

    def link(self, number: int, sent: NDArray[np.uint64], compared: NDArray[np.uint64]) -> Linked:
        """One block, with every message as bytes, made and read."""
        matcher = self.matcher.block(number)
        plan, keys = matcher.plan, matcher.public_keys()
        marks, sizes = [time.perf_counter()], []
        sender = Sender(plan, keys, sent)
        messages = list(sender.messages())
        marks.append(time.perf_counter())
        sizes.append(sum(map(len, messages)))
        comparer = Comparer(plan, keys, compared)
        pieces = list(comparer.pieces(messages))
        marks.append(time.perf_counter())
        sizes.append(sum(map(len, pieces)))
        for piece in pieces:
            matcher.read(piece)
        answer = matcher.answer(self._threshold)
        found = sender.matched(answer), comparer.matched(answer)
        marks.append(time.perf_counter())
        sizes.append(len(answer))
        return Linked(*found, tuple(np.diff(marks).tolist()), tuple(sizes))


class ClearBlocks(LinkBlocks):
    """The same in the clear: equal matches, by the same distances, and bytes of none."""

    def __init__(self, plan: bytes, threshold: int) -> None:
        self._plan = LinkagePlan.from_bytes(plan)
        self._threshold = threshold

    def link(self, number: int, sent: NDArray[np.uint64], compared: NDArray[np.uint64]) -> Linked:
        """One block."""
        start = time.perf_counter()
        nearest = MutualNearest(self._plan.block(number).sent)
        for first in range(0, len(compared), _ROWS):
            nearest.add(hamming(compared[first : first + _ROWS], sent))
        pairs, distances = nearest.pairs()
        left, right = pairs[distances <= self._threshold].T
        return Linked(left, right, (0.0, time.perf_counter() - start, 0.0), (0, 0, 0))


class BlockRun(NamedTuple):
    """What a linkage of blocks found, and what it took."""

    matches: NDArray[np.int64]
    """Rows of both parties' tables; random codes that matched are left out."""
    stray: int
    """Matches of random codes, which their party leaves out."""
    seconds: dict[str, float]
    """Seconds that each of `STEPS` took, summed over processes."""
    bytes: dict[str, int]
    """Bytes that each of `STEPS` sent."""
    blocks: int
    """How many were linked."""


def tables_of(
    plan: LinkagePlan, numbers: Iterable[int], sender: BlockedRecords, comparer: BlockedRecords
) -> Iterator[pa.Table]:
    """A table of one row for each block: its number and both parties' codes, as bytes."""
    import pyarrow as pa

    for number in numbers:
        codes = [party.codes(plan, number).astype("<u8").tobytes() for party in (sender, comparer)]
        yield pa.table({"block": [number], "sent": codes[:1], "compared": codes[1:]})


def link_blocks(
    plan: LinkagePlan, sender: BlockedRecords, comparer: BlockedRecords, engine: Engine
) -> BlockRun:
    """Links all blocks, pass after pass; those of a pass in whichever order the engine likes.

    Args:
        plan: of blocks, with the sizes that both told.
        sender: the sender's records.
        comparer: the comparer's.
        engine: what maps tables of blocks: `partial(map, LinkBlocks(plan.to_bytes(), threshold))`
            in this process.

    """
    matches, stray, blocks = [np.zeros((0, 2), dtype=np.int64)], 0, 0
    seconds, sizes = np.zeros(len(STEPS)), np.zeros(len(STEPS), dtype=np.int64)
    passes = plan.agreed_blocks.passes
    for _, numbers in groupby(plan.blocks, lambda number: place_of(passes, number).at):
        for table in engine(tables_of(plan, numbers, sender, comparer)):
            for row in table.to_pylist():
                pairs = np.stack(
                    [
                        sender.found(row["block"], np.array(row["sent"], dtype=np.int64)),
                        comparer.found(row["block"], np.array(row["compared"], dtype=np.int64)),
                    ],
                    axis=1,
                )
                real = (pairs >= 0).all(axis=1)
                matches.append(pairs[real])
                stray += int((~real).sum())
                seconds += row["seconds"]
                sizes += row["bytes"]
                blocks += 1
    return BlockRun(
        np.concatenate(matches),
        stray,
        dict(zip(STEPS, seconds.tolist(), strict=True)),
        dict(zip(STEPS, sizes.tolist(), strict=True)),
        blocks,
    )

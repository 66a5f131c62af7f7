"""All three parties of a linkage in one process, on FEBRL's people or more like them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._support.progress import Bar
from hesc.codes import HashKey, RecordCoder
from hesc.protocols.linkage import febrl
from hesc.protocols.linkage.block_runs import BlockRun, LinkBlocks, link_blocks
from hesc.protocols.linkage.blocks import BlockedRecords, ChosenPasses, choose_passes
from hesc.protocols.linkage.client import Matcher
from hesc.protocols.linkage.matching import Quality, Threshold, choose_threshold, quality
from hesc.protocols.linkage.party import Sender
from hesc.protocols.linkage.plan import LinkagePlan
from hesc.protocols.linkage.server import Comparer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from hesc.codes.records import Table

CANDIDATES: Final = (
    "date_of_birth",
    "postcode",
    "suburb",
    "address_1",
    "surname:soundex",
    "given_name:soundex",
    "surname:soundex+given_name:soundex",
)
"""Keys of blocks that passes are chosen from."""
COVERAGE: Final = 0.98
"""Share of known pairs that passes are chosen to find."""
_KNOWN: Final = 1000
"""FEBRL's own pairs, whose matches count as known where others like them are linked."""
_OTHERS: Final = 4096
"""Records of a block of the sender's own, at most, beside which a threshold is chosen."""


@dataclass(frozen=True)
class Step:
    """What was done, how long it took, and the bytes that it sent, if any."""

    name: str
    seconds: float
    sent: int | None = None


@dataclass
class LinkageRun:
    """A linkage with all that it cost."""

    plan: LinkagePlan
    threshold: Threshold
    training: int
    tested: int
    steps: list[Step] = field(default_factory=list)
    found: Quality = field(default=Quality(0.0, 0.0, 0.0))
    matches: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))

    @property
    def seconds(self) -> float:
        """All steps."""
        return sum(step.seconds for step in self.steps)

    @property
    def sent(self) -> int:
        """Bytes of all messages."""
        return sum(step.sent or 0 for step in self.steps)

    def figures(self) -> dict[str, Any]:
        """For files."""
        return {
            "parameters": self.plan.params.name,
            "sent": self.plan.sent,
            "compared": self.plan.compared,
            "threshold": self.threshold.distance,
            "precision": self.found.precision,
            "recall": self.found.recall,
            "f1": self.found.f1,
            "seconds": self.seconds,
            "bytes": self.sent,
            "steps": {
                step.name: {"seconds": step.seconds, "bytes": step.sent} for step in self.steps
            },
        }


def subset(table: Table, rows: NDArray[np.int64]) -> dict[str, list[Any]]:
    """Some records of a table."""
    columns = {each.name: list(table[each.name]) for each in febrl.FIELDS}
    return {name: [values[row] for row in rows] for name, values in columns.items()}


def _people(records: int) -> tuple[list[dict[str, list[Any]]], NDArray[np.int64]]:
    """Tables of both, and the rows of each person, those to train on first."""
    people = febrl.load()
    pairs = febrl.split(people, records // 5)
    used = np.concatenate([pairs.training, pairs.test])[:records]
    # Neither table tells by its order who is who.
    rng = np.random.default_rng(2)
    orders = [rng.permutation(records) for _ in range(2)]
    tables = [
        subset(table, used[order, side])
        for side, (table, order) in enumerate(zip(people[:2], orders, strict=True))
    ]
    return tables, np.stack([np.argsort(order) for order in orders], axis=1)


def link(
    records: int = 5000, *, progress: bool | Callable[[int, int], object] = False
) -> LinkageRun:
    """Links the first `records` pairs of people in a random order: every one with every other.

    A fifth of them chose the threshold; quality is that on the others. Every message is bytes,
    made and read.
    """
    tables, true = _people(records)
    key, plan = HashKey.generate(), LinkagePlan(records, records)
    steps: list[Step] = []

    def step(name: str, start: float, sent: int | None = None) -> None:
        steps.append(Step(name, time.perf_counter() - start, sent))

    start = time.perf_counter()
    coder = RecordCoder(key, febrl.FIELDS, bits=plan.bits)
    codes = [coder.encode(table) for table in tables]
    step("codes of both", start)

    start = time.perf_counter()
    known, rest = true[: records // 5], true[records // 5 :]
    chosen = [codes[side][known[:, side]] for side in range(2)]
    again = np.arange(len(known)).repeat(2).reshape(-1, 2)
    threshold = choose_threshold(chosen[0], chosen[1], again)
    step("threshold", start)

    start = time.perf_counter()
    matcher = Matcher(plan)
    keys = matcher.public_keys()
    step("keys", start, len(keys))

    start = time.perf_counter()
    sender = Sender(plan, keys, codes[0])
    messages = list(sender.messages())
    step("sender encrypts", start, sum(map(len, messages)))

    comparer = Comparer(plan, keys, codes[1])
    comparing = reading = 0.0
    sent = 0
    start = time.perf_counter()
    for piece in comparer.pieces(messages, progress=progress):
        comparing += time.perf_counter() - start
        sent += len(piece)
        start = time.perf_counter()
        matcher.read(piece)
        reading += time.perf_counter() - start
        start = time.perf_counter()
    steps.append(Step("comparer adds and hides", comparing, sent))
    start = time.perf_counter()
    answer = matcher.answer(threshold.distance)
    reading += time.perf_counter() - start
    steps.append(Step("matcher decrypts", reading, len(answer)))

    start = time.perf_counter()
    found = np.stack([sender.matched(answer), comparer.matched(answer)], axis=1)
    step("parties look up", start)
    # Out of sample: pairs in which neither side was trained on.
    trained = [set(known[:, side].tolist()) for side in range(2)]
    kept = [not any(int(pair[side]) in trained[side] for side in range(2)) for pair in found]
    run = LinkageRun(plan, threshold, len(known), len(rest), steps, matches=found)
    run.found = quality(found[np.array(kept, dtype=bool)], rest)
    return run


class PreparedRun(NamedTuple):
    """A linkage of blocks, ready to run."""

    plan: LinkagePlan
    choice: ChosenPasses
    threshold: Threshold
    sender: BlockedRecords
    comparer: BlockedRecords
    true: NDArray[np.int64]
    """Rows of people whom both have."""
    steps: list[Step]


def prepare_people(
    records: int,
    sizes: str,
    *,
    epsilon: float = 1.0,
    overlap: float = 1.0,
    random_state: int = 1,
) -> PreparedRun:
    """Made-up people in blocks, and the plan of their linkage.

    Passes and threshold are chosen by pairs of FEBRL's fourth data set, which are not linked, and
    by the sender's own records; never by who matches whom among those that are linked.

    Args:
        records: of either party.
        sizes: one of `hesc.protocols.linkage.blocking.SIZES`.
        epsilon: of private sizes.
        overlap: share of people whom both have, which the parties expect.
        random_state: the seed that people are made from; keys are new ones each time.

    """
    steps: list[Step] = []
    start = time.perf_counter()

    def step(name: str, sent: int | None = None) -> None:
        nonlocal start
        steps.append(Step(name, time.perf_counter() - start, sent))
        start = time.perf_counter()

    people = febrl.load()
    made = febrl.more(people, records, overlap=overlap, random_state=random_state)
    pairs = febrl.split(people, _KNOWN).training
    known = subset(people.sent, pairs[:, 0]), subset(people.compared, pairs[:, 1])
    step("people")
    key = HashKey.generate()
    coder = RecordCoder(key, febrl.FIELDS)
    codes = [coder.encode(table) for table in (made.sent, made.compared)]
    step("codes of both")
    choice = choose_passes(
        key,
        made.sent,
        known,
        CANDIDATES,
        others=records,
        sizes=sizes,
        epsilon=epsilon,
        coverage=COVERAGE,
    )
    step("passes")
    parties = [
        BlockedRecords(key, table, own_codes, choice.passes, role=role)
        for table, own_codes, role in zip(
            (made.sent, made.compared), codes, ("sender", "comparer"), strict=True
        )
    ]
    told = [party.told_sizes(sizes, epsilon=epsilon) for party in parties]
    plan = LinkagePlan.of_blocks(choice.passes, sizes, *told, bits=coder.bits, epsilon=epsilon)
    step("blocks", len(plan.to_bytes()))
    # Records of one block are near each other. Some of them stand for people whom only the
    # comparer has, as many as are expected: what they match is wrong.
    near = codes[0][parties[0].rows_of(plan.blocks[0])[:_OTHERS]]
    absent = min(len(near) // 2, round(_KNOWN * (1 / overlap - 1)))
    threshold = choose_threshold(
        np.concatenate([coder.encode(known[0]), near[absent:]]),
        np.concatenate([coder.encode(known[1]), near[:absent]]),
        np.arange(_KNOWN).repeat(2).reshape(-1, 2),
    )
    step("threshold")
    return PreparedRun(plan, choice, threshold, parties[0], parties[1], made.true, steps)


def link_people(
    prepared: PreparedRun, *, progress: bool | Callable[[int, int], object] = False
) -> LinkageRun:
    """Links made-up people block by block, under encryption; quality is that on all of them."""
    plan, threshold = prepared.plan, prepared.threshold
    steps = list(prepared.steps)
    start = time.perf_counter()
    linker = LinkBlocks(plan.to_bytes(), threshold.distance)
    steps.append(Step("keys", time.perf_counter() - start, len(linker.matcher.public_keys())))
    with Bar("blocks linked", progress) as bar:
        done = count(1)

        def engine(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
            for table in map(linker, tables):
                yield table
                bar.show(next(done), len(plan.blocks))

        found = link_blocks(plan, prepared.sender, prepared.comparer, engine)
    return run_of(prepared, found, steps)


def run_of(prepared: PreparedRun, found: BlockRun, steps: list[Step]) -> LinkageRun:
    """What a linkage of blocks found, as a run."""
    steps = steps + [Step(name, found.seconds[name], found.bytes[name]) for name in found.seconds]
    run = LinkageRun(
        prepared.plan,
        prepared.threshold,
        _KNOWN,
        len(prepared.true),
        steps,
        matches=found.matches,
    )
    run.found = quality(found.matches, prepared.true)
    return run

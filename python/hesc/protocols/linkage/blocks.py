"""A party's records in blocks: only records that share a key are compared, a pass for each key.

A key is made of a record's own values: a date of birth, a surname as it sounds. Keys are
*quasi-identifiers*: who knows how many records have one knows something of those people. A pass
spreads its keys over blocks by a hash under the key of codes, so that the matcher cannot tell which
keys are in a block; parties with records can. What sizes of blocks tell to whom stands in a
`LinkagePlan` of blocks; `hesc.protocols.linkage.blocking.SIZES` are the choices.
"""

from __future__ import annotations

import secrets
import unicodedata
from fractions import Fraction
from itertools import combinations
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, Never

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, ShapeError
from hesc._support.inputs import of_kind, one_name, real, several, whole, whole_array
from hesc._support.one_process import OneProcess
from hesc.codes.records import Field, HashKey, values_of
from hesc.codes.rows import checked
from hesc.protocols.linkage.blocking import (
    DELTA,
    MOST_PASSES,
    SIZES,
    Pass,
    check_passes,
    noise_shift,
    place_of,
)
from hesc.protocols.linkage.plan import LinkagePlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from hesc.codes.records import Table

_SOUNDS: Final = {
    letter: digit
    for digit, letters in enumerate(("bfpv", "cgjkqsxz", "dt", "l", "mn", "r"), start=1)
    for letter in letters
}
_SOUNDEX: Final = 4
_RING: Final = 4096
"""Records that are compared at the price of one."""
_STEP: Final = 256
"""Places by which capacities of equal blocks grow."""
_TOLD_TWICE: Final = (
    "sizes of these blocks were told already, and a second draw of noise tells more; keep what "
    "told_sizes gave"
)
_KNOWN: Final = "known pairs are two tables of the same people, row by row"
_FILLED: Final = tuple(share / 16 for share in range(4, 17))
"""How full blocks may be in the mean, of those that are tried."""
_ALIKE: Final = 1.02
"""Costs that count as alike: then fewer blocks tell less."""


def soundex(name: str) -> str:
    """How a name sounds, as the United States' census has it: a letter and three digits.

    Marks of letters do not count. A name without letters of the Latin alphabet is its own sound.
    """
    plain = unicodedata.normalize("NFKD", name).casefold()
    letters = [each for each in plain if "a" <= each <= "z"]
    if not letters:
        return name
    code, last = letters[0].upper(), _SOUNDS.get(letters[0])
    for letter in letters[1:]:
        sound = _SOUNDS.get(letter)
        if sound is not None and sound != last:
            code += str(sound)
        # Two of one sound around an h or a w count as one, around a vowel as two.
        if letter not in "hw":
            last = sound
    return code[:_SOUNDEX].ljust(_SOUNDEX, "0")


def keys_of(table: Table, key: str) -> list[str]:
    """The key of each record in a pass; an empty text for one that lacks a value of it.

    Args:
        table: columns by name.
        key: as `Pass.key` has it.

    Raises:
        ParameterError: a column that is not there, a key of another form.
        OutOfRangeError: a value that is neither text nor missing.
        ShapeError: columns of different lengths.

    """
    columns = []
    for column, how in Pass(key, 1).parts:
        field, known = Field(column), dict[str, str]()
        values = values_of(table, field)
        for value in values:
            if value not in known:
                known[value] = _part(field.text(value), how)
        columns.append([known[value] for value in values])
    if len({len(column) for column in columns}) != 1:
        raise ShapeError(f"the columns of the key {key} have different lengths")
    # Lengths part one value from the next.
    return [
        "".join(f"{len(part)} {part}" for part in parts) if all(parts) else ""
        for parts in zip(*columns, strict=True)
    ]


def _part(text: str, how: str) -> str:
    """What of a value counts; nothing of one that is shorter than it has to be."""
    if how == "soundex":
        return soundex(text) if text else ""
    return text if not how else text[: int(how)] * (len(text) >= int(how))


def _hashes(key: HashKey, table: Table, passed: str) -> tuple[NDArray[np.uint64], NDArray[np.bool]]:
    """A hash of each record's key under the key of codes, and whether it has one."""
    known: dict[str, int] = {}
    keys = keys_of(table, passed)
    for each in keys:
        if each not in known:
            digest = key.digest(f"block {len(passed)} {passed}{each}".encode())
            known[each] = int.from_bytes(digest[:8], "little")
    hashes = np.array([known[each] for each in keys], dtype=np.uint64)
    return hashes, np.array([bool(each) for each in keys])


class _ToldSizes(NamedTuple):
    """What a party told of its blocks."""

    kind: str
    noise: tuple[float, float]
    """Epsilon and delta."""
    sizes: tuple[int, ...]


class BlockedRecords:
    """A party's records in the blocks of a linkage. It holds codes, and is not printed or copied.

    In every pass a record is in the one block of its key, or in none where it lacks a value of
    that. What matched in a pass takes no part in the next ones, so that no record matches twice.
    Its places there, and all places of a block beyond its records, are filled with codes of random
    bits, which match nobody: see `hesc.protocols.linkage.blocking.stray_matches`.

    Args:
        key: the key of codes, which both parties have and the matcher has not.
        table: columns by name.
        codes: those of the table's records.
        passes: what both parties agreed on.
        role: "sender" or "comparer".

    Raises:
        ParameterError, OutOfRangeError: as `keys_of`.
        ShapeError: codes of another number than the records.

    """

    def __init__(
        self, key: HashKey, table: Table, codes: ArrayLike, passes: Iterable[Pass], *, role: str
    ) -> None:
        of_kind(key, "key", HashKey, "HashKey.generate() makes one")
        self._side = ("sender", "comparer").index(one_name(role, "role", ("sender", "comparer")))
        self.passes = check_passes(several(passes, "passes", "give a list of Pass(key, blocks)"))
        self._codes = checked(codes)
        self._blocks: list[NDArray[np.int64]] = []
        for each in self.passes:
            hashes, present = _hashes(key, table, each.key)
            if len(hashes) != len(self._codes):
                raise ShapeError(
                    f"the table has {len(hashes)} records, and there are {len(self._codes)} codes"
                )
            blocks = (hashes % np.uint64(each.blocks)).astype(np.int64)
            self._blocks.append(np.where(present, blocks, -1))
        self._matched = np.zeros(len(self._codes), dtype=bool)
        self._given: dict[int, NDArray[np.int64]] = {}
        self._found: set[int] = set()
        self._told: _ToldSizes | None = None
        self._giving = Lock()
        self._counts = OneProcess(
            "these BlockedRecords", "Tell sizes and give blocks in the process that made them"
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self._codes)} records, {len(self.passes)} passes>"

    def __reduce__(self) -> Never:
        raise TypeError(f"{type(self).__name__} holds codes, and is not pickled or copied")

    @property
    def counts(self) -> list[NDArray[np.int64]]:
        """Records in each block of each pass: the party's own secret; `told_sizes` is for all."""
        return [
            np.bincount(blocks[blocks >= 0], minlength=each.blocks)
            for blocks, each in zip(self._blocks, self.passes, strict=True)
        ]

    def rows_of(self, number: int) -> NDArray[np.int64]:
        """Rows of all records that belong into a block, matched or not: the party's own secret.

        Raises:
            OutOfRangeError: a block that is not there.

        """
        at, block = place_of(self.passes, number)
        return np.flatnonzero(self._blocks[at] == block)

    def told_sizes(
        self, sizes: str, *, epsilon: float = 1.0, delta: float = DELTA
    ) -> NDArray[np.int64]:
        """Places of all blocks, one pass after the other, for the plan. Once: noise is drawn.

        Args:
            sizes: "told": as many as there are records. "padded": the capacity of the pass.
                "private": as many as there are records, and noise that is never negative.
            epsilon: of private sizes: whether one record is there changes the odds of what is told
                of all passes by `exp(epsilon)` at most, but for `delta`.
            delta: of private sizes; see there.

        Raises:
            OutOfRangeError: more records in a block than its pass has capacity for.
            ParameterError: a second time: two draws of noise tell more than one; in a process that
                was forked since.

        """
        kind = one_name(sizes, "sizes", SIZES)
        shift = noise_shift(len(self.passes), epsilon, delta)
        self._counts.check()
        told = self.counts
        if kind == "padded":
            for each, own in zip(self.passes, told, strict=True):
                if own.max() > each.capacity:
                    raise OutOfRangeError(
                        f"a block of the pass by {each.key} has more than {each.capacity} records, "
                        f"its capacity: give the pass more blocks or capacity"
                    )
                own[:] = each.capacity
        elif kind == "private":
            for own in told:
                own += [max(0, shift + drawn) for drawn in laplace(epsilon, self.passes, len(own))]
        found = np.concatenate(told)
        noise = (float(epsilon), float(delta)) if kind == "private" else (0.0, 0.0)
        with self._giving:
            if self._told is not None:
                raise ParameterError(_TOLD_TWICE)
            self._told = _ToldSizes(kind, noise, tuple(found.tolist()))
        return found

    def codes(self, plan: LinkagePlan, number: int) -> NDArray[np.uint64]:
        """The codes of one block, for its `Sender` or `Comparer`; random ones fill it up.

        Args:
            plan: with blocks, as `LinkagePlan.of_blocks` makes it.
            number: one of `plan.blocks`, each once, the passes in their order.

        Raises:
            ParameterError: a plan of other passes, or of other sizes than `told_sizes` gave, or
                made in another way; a block that was given, or of a pass before whose end the
                matches of others are not known.

        """
        blocking = of_kind(plan, "plan", LinkagePlan, "LinkagePlan.of_blocks").agreed_blocks
        if blocking.passes != self.passes:
            raise ParameterError("the plan has other passes than these records were put into")
        at = place_of(self.passes, number).at
        part = plan.block(number)
        size = (part.sent, part.compared)[self._side]
        own = (blocking.sent, blocking.compared)[self._side]
        # Whatever of it differs: which block it is would say how many records are there.
        if self._told != _ToldSizes(blocking.sizes, (blocking.epsilon, blocking.delta), own):
            raise ParameterError(
                "the plan does not say of these records what told_sizes told: give the plan its "
                "sizes, and the same sizes=, epsilon= and delta= as told_sizes"
            )
        belong = self.rows_of(number)
        self._counts.check()
        if number in self._given:
            raise ParameterError(
                f"block {number} was given already, and twice its codes show more than was planned"
            )
        open_ones = {each for each in plan.blocks if each < blocking.starts[at]} - self._found
        if open_ones:
            raise ParameterError(
                f"block {number} is of pass {at + 1}, and matches of block {min(open_ones)} of an "
                f"earlier one are not known yet: give them to found first"
            )
        rows = belong[~self._matched[belong]]
        if self._given.setdefault(number, rows) is not rows:
            raise ParameterError(f"block {number} was given to another thread")
        words = self._codes.shape[1]
        random = np.frombuffer(secrets.token_bytes(8 * words * (size - len(rows))), np.uint64)
        return np.concatenate([self._codes[rows], random.reshape(-1, words)])

    def found(self, number: int, rows: ArrayLike) -> NDArray[np.int64]:
        """The party's own records of a block's matches; -1 where a random code matched.

        They take no part in later passes.

        Args:
            number: of the block.
            rows: what `Sender.matched` or `Comparer.matched` gave: rows of the block's codes.

        Raises:
            ParameterError: a block that was not given, or whose matches are known.
            OutOfRangeError: rows that are not there.

        """
        number = whole(number, "number", 0)
        own = self._given.get(number)
        if own is None or number in self._found:
            raise ParameterError(
                f"block {number} was not given, or its matches are known already; give those of "
                f"each block once, after codes"
            )
        places = whole_array(rows, "rows")
        if places.ndim != 1:
            raise ShapeError("rows of a block are numbers in a line, as `matched` gives them")
        told = self._told.sizes[number] if self._told is not None else 0
        if places.size and not 0 <= places.min() <= places.max() < told:
            raise OutOfRangeError(f"rows of block {number} are numbered from 0 to {told - 1}")
        found = np.full(places.size, -1, dtype=np.int64)
        real_ones = places < len(own)
        found[real_ones] = own[places[real_ones]]
        self._matched[found[real_ones]] = True
        self._found.add(number)
        return found


def laplace(epsilon: float, passes: Sequence[Pass], count: int) -> list[int]:
    """Discrete Laplace noise of the passes' share of epsilon each, from the system's generator.

    Exactly so distributed: by whole numbers alone (Canonne, Kamath and Steinke 2020, "The discrete
    Gaussian for differential privacy", algorithm 2).

    Args:
        epsilon: for all passes together.
        passes: that it is spread over.
        count: numbers to draw.

    """
    # The very number that `noise_shift` goes by: rounded down it would be noisier, and more often
    # below zero than delta allows.
    share = Fraction(real(epsilon, "epsilon", 0.01, 100.0)) / len(passes)
    below = secrets.randbelow
    drawn: list[int] = []
    while len(drawn) < count:
        start = below(share.denominator)
        if not _survives(Fraction(start, share.denominator)):
            continue
        whole_ones = 0
        while _survives(Fraction(1)):
            whole_ones += 1
        size = (start + share.denominator * whole_ones) // share.numerator
        negative = below(2)
        if size or not negative:
            drawn.append(-size if negative else size)
    return drawn


def _survives(rate: Fraction) -> bool:
    """True with the probability `exp(-rate)`, for a rate from 0 to 1."""
    step = 1
    while secrets.randbelow(rate.denominator * step) < rate.numerator:
        step += 1
    return step % 2 == 1


class ChosenPasses(NamedTuple):
    """Passes, and what they are expected to find and to cost, before anything is linked."""

    passes: tuple[Pass, ...]
    coverage: float
    """Share of the known pairs that share a block in one pass at least."""
    coefficients: int
    """Distances that are computed, of whole rings: what time and bytes grow with."""


def choose_passes(
    key: HashKey,
    table: Table,
    known: tuple[Table, Table],
    candidates: Iterable[str],
    *,
    others: int,
    sizes: str = "private",
    epsilon: float = 1.0,
    delta: float = DELTA,
    coverage: float = 0.99,
    most: int = 3,
) -> ChosenPasses:
    """The cheapest passes that should find so many of the pairs.

    It looks at one party's own records and at pairs whose match is known, such as those that the
    threshold is chosen on, and never at the records that are linked beside each other: the other
    party's are taken to have keys as often. **What it chooses tells of these records**, beyond any
    epsilon: how many there are, and with "padded" how large the largest block is. Choose on other
    records, or round the passes, where that counts. Every set of candidates is tried, and for each
    the number of blocks that costs least.

    Args:
        key: the key of codes.
        table: the party's own records.
        known: two tables, row by row of the same people.
        candidates: keys, as `Pass.key` has them.
        others: records of the other party.
        sizes: how sizes of blocks will be told.
        epsilon: of private sizes.
        delta: of private sizes.
        coverage: share of known pairs that have to share a block in one pass at least.
        most: passes, at most.

    Raises:
        OutOfRangeError: candidates that do not reach the coverage; it says what they reach.
        ParameterError, ShapeError: candidates that are no keys, tables without their columns.

    """
    names = several(candidates, "candidates", "give a list of keys")
    most = whole(most, "most", 1, MOST_PASSES)
    pairs = several(known, "known", "give two tables of the same people, row by row")
    if len(pairs) != 2:
        raise ShapeError(_KNOWN)
    one_name(sizes, "sizes", SIZES)
    others = whole(others, "others", 1, 1 << 24)
    goal = real(coverage, "coverage", 0.0, 1.0)
    shared, hashes = {}, {}
    for name in names:
        left, right = (keys_of(each, name) for each in pairs)
        if len(left) != len(right) or not left:
            raise ShapeError(_KNOWN)
        # Keys that differ and share a block by their hash are not counted on.
        shared[name] = np.array([bool(a) and a == b for a, b in zip(left, right, strict=True)])
        found, present = _hashes(key, table, name)
        hashes[name] = found[present]
    best: ChosenPasses | None = None
    reached = 0.0
    for count in range(1, min(most, len(names)) + 1):
        shift = noise_shift(count, epsilon, delta) if sizes == "private" else 0
        tried = {
            name: _cheapest(name, hashes[name], others / max(1, len(hashes[name])), sizes, shift)
            for name in names
        }
        for chosen in combinations(names, count):
            found_share = float(np.mean(np.any([shared[name] for name in chosen], axis=0)))
            reached = max(reached, found_share)
            cost = sum(tried[name][1] for name in chosen)
            if found_share >= goal and (best is None or cost < best.coefficients):
                best = ChosenPasses(tuple(tried[name][0] for name in chosen), found_share, cost)
    if best is None:
        raise OutOfRangeError(
            f"these candidates reach {reached:.4f} of the known pairs in {most} passes, not "
            f"{goal}: give others or more passes, or ask for less"
        )
    return best


def _cheapest(
    name: str, hashes: NDArray[np.uint64], ratio: float, sizes: str, shift: int
) -> tuple[Pass, int]:
    """The number of blocks with the fewest coefficients, by a party's own keys."""
    tried = []
    for filled in _FILLED:
        blocks = max(1, -(-len(hashes) // int(_RING * filled)))
        counts = np.bincount((hashes % np.uint64(blocks)).astype(np.int64), minlength=blocks)
        capacity = 0
        if sizes == "padded":
            # The other party's largest block is about as large.
            largest = int(counts.max() * max(1.0, ratio))
            capacity = -(-int(largest + 6 * largest**0.5) // _STEP) * _STEP
            counts[:] = capacity
        own = counts + shift
        theirs = own if sizes == "padded" else counts * ratio + shift
        cost = int((-(-own // _RING) * _RING * theirs).sum())
        tried.append((cost, Pass(name, blocks, capacity)))
    least = min(cost for cost, _ in tried) * _ALIKE
    cost, best = min((each for each in tried if each[0] <= least), key=lambda each: each[1].blocks)
    return best, cost

"""What a plan says of blocks: passes and their keys, sizes, and what these tell."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from hesc._native import OutOfRangeError, ParameterError, WireError
from hesc._support import documents
from hesc._support.inputs import of_kind, one_name, real, whole, written
from hesc.protocols import wire

SIZES: Final = ("told", "padded", "private")
"""How many records a block is said to have: as many as there are; as many as every other block of
its pass; as many as there are and noise, by differential privacy."""
DELTA: Final = 2.0**-40
"""The probability that differential privacy of sizes leaves out, where no other is asked for."""
MOST: Final = 1 << 24
"""Records, or places for them, that a linkage or a block has, at most."""
MOST_PASSES: Final = 8
"""Passes of a linkage, at most."""
_MOST_BLOCKS: Final = 1 << 16
_LETTERS: Final = 200
_FEW: Final = 5
"""Records of a block below which its size counts as one of few people."""


@dataclass(frozen=True)
class Pass:
    """Who is compared to whom: records of one key, and others that a hash puts beside them.

    Attributes:
        key: columns, with a plus between two. `surname` is the whole value, `surname:soundex` how
            it sounds, `date_of_birth:4` its first four letters. Upper and lower case are alike, and
            so are all ways to write a letter, as in codes.
        blocks: how many the keys are spread over.
        capacity: records that each block has room for, where all have equal sizes; 0 elsewhere.

    """

    key: str
    blocks: int
    capacity: int = 0

    def __post_init__(self) -> None:
        written(of_kind(self.key, "key", str, "name columns"), "the key of a pass")
        whole(self.blocks, "blocks", 1, _MOST_BLOCKS)
        whole(self.capacity, "capacity", 0, MOST)
        if len(self.key) > _LETTERS or not self.key.isprintable():
            # It stands in the plan's table, whoever wrote the plan.
            raise ParameterError(f"the key of a pass has {_LETTERS} printable letters at most")
        self.parts  # noqa: B018 - it refuses a key of another form

    @property
    def parts(self) -> list[tuple[str, str]]:
        """Columns, and of each what counts: "" for all of it, "soundex", or a number of letters.

        Raises:
            ParameterError: a key of another form.

        """
        found = []
        for part in self.key.split("+"):
            column, _, how = part.partition(":")
            digits = how.isascii() and how.isdigit() and 1 <= int(how) <= _LETTERS
            if not column or (how not in {"", "soundex"} and not digits):
                raise ParameterError(
                    f"{self.key!r} is no key of a pass: name columns, as in surname:soundex or "
                    f"postcode+date_of_birth:4, whose names have no plus and no colon"
                )
            found.append((column, how))
        return found


class Place(NamedTuple):
    """Where a block is."""

    at: int
    """Number of its pass."""
    block: int
    """Number of the block in that pass."""


@dataclass(frozen=True)
class Blocking:
    """All blocks of a linkage, numbered from 0, one pass after the other.

    Attributes:
        passes: at least one. What matched in one takes no part in the next ones.
        sizes: one of `SIZES`.
        sent: places of each block for the sender's records.
        compared: places of each block for the comparer's.
        epsilon: of private sizes, for each party's own; 0 elsewhere.
        delta: of private sizes.

    """

    passes: tuple[Pass, ...]
    sizes: str
    sent: tuple[int, ...]
    compared: tuple[int, ...]
    epsilon: float = 0.0
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_passes(self.passes)
        one_name(self.sizes, "sizes", SIZES)
        for name in ("sent", "compared"):
            sizes = getattr(self, name)
            if len(sizes) != self.starts[-1]:
                raise ParameterError(
                    f"{name} has sizes of {len(sizes)} blocks, and the passes have "
                    f"{self.starts[-1]}: give one for each, in order"
                )
            for size in sizes:
                whole(size, f"a size of {name}", 0, MOST)
        if self.sizes == "padded":
            full = tuple(p.capacity for p in self.passes for _ in range(p.blocks))
            if self.sent != full or self.compared != full:
                raise ParameterError(
                    "padded blocks have as many places as the capacity of their pass"
                )
        if self.sizes == "private":
            noise_shift(len(self.passes), self.epsilon, self.delta)
        elif self.epsilon or self.delta:
            raise ParameterError("epsilon and delta are of private sizes alone; leave them 0")

    @cached_property
    def starts(self) -> list[int]:
        """Number of the first block of each pass, and of all blocks."""
        return [0, *accumulate(each.blocks for each in self.passes)]

    def rows(self, bits: int) -> dict[str, str]:
        """What the blocks tell to whom, for the table of a plan."""
        keys = "; ".join(
            f"pass {at}: {each.key} in {each.blocks} blocks"
            for at, each in enumerate(self.passes, start=1)
        )
        sides = [np.array(side, dtype=np.int64) for side in (self.sent, self.compared)]
        known = " and ".join(
            f"{_bits_of(side, self.starts):.1f} bits of each of {whose} records"
            for side, whose in zip(sides, ("the sender's", "the comparer's"), strict=True)
        )
        pairs = int(sides[0] @ sides[1])
        rows = {
            "keys": f"{keys}. They are QUASI-IDENTIFIERS: both parties with records can tell which "
            "values of a key are in which block, the matcher cannot, without the key of codes",
            "sizes": _SAID[self.sizes].format(
                epsilon=self.epsilon,
                delta=self.delta,
                passes=len(self.passes),
                each=self.epsilon / len(self.passes),
                count=len(self.sent),
                few=_FEW,
                small=int(sum(((side > 0) & (side < _FEW)).sum() for side in sides)),
                least=min(int(side.min()) for side in sides),
            ),
            "blocks tell": f"the matcher which records share a block, without its key: {known}, "
            "over all passes; and how many match in each",
            "pairs": f"{pairs} are compared; a pair whose keys differ in every pass is never found",
        }
        threshold = bits * 5 // 16
        stray = stray_matches(bits, threshold, pairs)
        rows["padding"] = (
            f"{_PADDED[self.sizes]}Random codes take the places of records that matched before, "
            f"and are within a distance of {threshold} of any code at all with a probability "
            f"below {stray:.1g}. THE MATCHER CAN TELL THEM by distances of about {bits // 2}, and "
            "so knows how many records are in a block"
        )
        return rows


_SAID: Final = {
    "told": "EXACT: each party learns how many records the other one has in each of {count} "
    "blocks, whose keys it knows; the smallest has {least}, and {small} have from 1 to "
    "fewer than {few}",
    "padded": "equal in each pass, whatever records there are: they tell nothing of them but that "
    "no block has more",
    "private": "each block's records and noise that is never negative, of each party's own: "
    "epsilon {epsilon:g} and delta {delta:.2g} for all {passes} passes together, {each:.3g} "
    "for each, over all that adding or leaving out one record changes: one block of each pass",
}
_PADDED: Final = {
    "told": "",
    "padded": "Random codes fill blocks up. ",
    "private": "Random codes are the noise. ",
}


def _bits_of(sizes: np.ndarray[Any, np.dtype[np.int64]], starts: list[int]) -> float:
    """Bits that the block of a record tells of it, in the mean, over all passes."""
    total = 0.0
    for first, end in pairwise(starts):
        shares = sizes[first:end] / max(1, int(sizes[first:end].sum()))
        shares = shares[shares > 0]
        total -= float((shares * np.log2(shares)).sum())
    return total


def stray_matches(bits: int, threshold: int, pairs: int = 1) -> float:
    """How many of these pairs of a random code and any other are within a distance, at most.

    Random bits differ from those of any code that does not depend on them with probability one
    half each, whatever that code is: the distance is binomial.

    Raises:
        OutOfRangeError: a threshold beyond the code's bits.

    """
    bits = whole(bits, "bits", 1, 1 << 16)
    threshold = whole(threshold, "threshold", 0, bits)
    # Of numbers of thousands of digits each follows from the one before it.
    ways = near = 1
    for distance in range(threshold):
        ways = ways * (bits - distance) // (distance + 1)
        near += ways
    return pairs * (near / (1 << bits))


def noise_shift(passes: int, epsilon: float, delta: float) -> int:
    """What is added to noise so that it is negative with a probability that delta covers.

    As He, Machanavajjhala, Flynn and Srivastava 2017 ("Composing differential privacy and secure
    computation: a case study on scaling private record linkage") add it to blocks, so that no
    record is left out. The noise of a block is discrete Laplace, `P(z)` proportional to
    `a**abs(z)` with `a = exp(-epsilon / passes)`, and this is added; what is below zero becomes
    zero. One record more is one more in one block of each pass. In each that costs `epsilon /
    passes`, and no more than `a**shift / (1 + a)`, the probability of noise that became zero, of
    delta.

    Args:
        passes: of the linkage.
        epsilon: for all of them together, from 0.01 to 100.
        delta: for all of them together, from `2**-100` to 0.01.

    """
    whole(passes, "passes", 1, MOST_PASSES)
    epsilon = real(epsilon, "epsilon", 0.01, 100.0)
    delta = real(delta, "delta", 2.0**-100, 0.01)
    each = epsilon / passes
    return max(0, math.ceil(math.log(passes / (delta * (1 + math.exp(-each)))) / each))


def place_of(passes: tuple[Pass, ...], number: int) -> Place:
    """The pass of a block, and its place there.

    Raises:
        OutOfRangeError: a block that is not there.

    """
    starts = [0, *accumulate(each.blocks for each in passes)]
    number = whole(number, "number", 0, starts[-1] - 1)
    at = bisect_right(starts, number) - 1
    return Place(at, number - starts[at])


def check_passes(passes: object) -> tuple[Pass, ...]:
    """Passes, of which no two are alike.

    Raises:
        ParameterError: none, too many, or what is none.

    """
    if not isinstance(passes, tuple | list) or not 1 <= len(passes) <= MOST_PASSES:
        raise ParameterError(
            f"passes are from 1 to {MOST_PASSES}: give a list of Pass(key, blocks)"
        )
    found = tuple(of_kind(each, "a pass", Pass, "Pass(key, blocks) is one") for each in passes)
    if len({each.key for each in found}) != len(found):
        raise ParameterError("each pass has a key of its own; a second one finds nothing")
    return found


def _write(blocking: Blocking | None) -> dict[str, Any] | None:
    if blocking is None:
        return None
    sizes = {
        name: documents.base64_of(np.array(getattr(blocking, name), dtype="<u4").tobytes())
        for name in ("sent", "compared")
    }
    return sizes | {
        "passes": [[each.key, each.blocks, each.capacity] for each in blocking.passes],
        "sizes": blocking.sizes,
        "epsilon": blocking.epsilon,
        "delta": blocking.delta,
    }


def _read(value: Any, what: str, _: wire.Earlier) -> Blocking | None:
    if value is None:
        return None
    names = {"passes", "sizes", "sent", "compared", "epsilon", "delta"}
    given = documents.exactly(value, names, what)
    passes = given["passes"]
    if not isinstance(passes, list) or not all(
        isinstance(each, list) and list(map(type, each)) == [str, int, int] for each in passes
    ):
        raise WireError(f"{what} has passes of a key, a number of blocks and a capacity")
    if not all(type(given[name]) is float for name in ("epsilon", "delta")):
        raise WireError(f"{what} has numbers for epsilon and delta")
    sides: dict[str, tuple[int, ...]] = {}
    for name in ("sent", "compared"):
        data = documents.bytes_of(given[name], what)
        if len(data) % 4:
            raise WireError(f"{what} has sizes of four bytes each")
        sides[name] = tuple(np.frombuffer(data, dtype="<u4").tolist())
    try:
        return Blocking(
            tuple(Pass(*each) for each in passes),
            given["sizes"],
            **sides,
            epsilon=given["epsilon"],
            delta=given["delta"],
        )
    except (ParameterError, OutOfRangeError) as error:
        raise WireError(f"{what} does not fit: {error}") from error


BLOCKING: Final = wire.declared(wire.Codec(_write, _read))
"""All blocks of a plan, or None."""


class Within(NamedTuple):
    """Which block of another plan a plan is of."""

    plan: str
    """The other plan's digest, in hexadecimal digits."""
    number: int
    """The block's."""
    coefficients: int
    """What all blocks show to who decrypts: the noise is for all of them."""


def _read_within(value: Any, what: str, _: wire.Earlier) -> Within | None:
    if value is None:
        return None
    if not isinstance(value, list) or list(map(type, value)) != [str, int, int]:
        raise WireError(f"{what} is a digest, a number and a number of coefficients")
    found = Within(*value)
    digits = len(found.plan) == 64 and set(found.plan) <= set("0123456789abcdef")
    most = _MOST_BLOCKS * MOST_PASSES
    if not digits or not 0 <= found.number < most or not 1 <= found.coefficients < 1 << 62:
        raise WireError(f"{what} is a digest, a number and a number of coefficients")
    return found


WITHIN: Final = wire.declared(
    wire.Codec(lambda value: None if value is None else list(value), _read_within)
)
"""Which block of another plan a plan is of, or None."""

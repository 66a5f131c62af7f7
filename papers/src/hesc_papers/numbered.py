"""Every numbered table, figure, algorithm and statement of the five papers, and what shows it.

Most are studies of their own. The others are shown by another study, whose command `Elsewhere`
names with what of it to look at. A test fails while one has neither.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Numbered(NamedTuple):
    """How many a paper numbers, each kind from 1 on."""

    tables: int
    figures: int
    algorithms: int
    statements: tuple[str, ...] = ()
    """Propositions, lemmas and corollaries by their names."""


class Elsewhere(NamedTuple):
    """Why something that a paper numbers has no study of its own."""

    study: str
    """The study that shows what there is to show."""
    why: str


PAPERS: Final = {
    "koseki2022hesc": Numbered(tables=5, figures=9, algorithms=4, statements=("proposition-1",)),
    "babenko2020ckksbfv": Numbered(tables=13, figures=12, algorithms=0),
    "hsiao2022sche": Numbered(tables=0, figures=5, algorithms=0),
    "carpov2016packing": Numbered(
        tables=2, figures=4, algorithms=0, statements=("lemma-1", "corollary-1")
    ),
    "xu2016integers": Numbered(tables=1, figures=2, algorithms=3),
}

_TABLE_2: Final = "koseki2022hesc:table-2"
_INTEGERS: Final = "xu2016integers:table-1"
ELSEWHERE: Final = {
    "koseki2022hesc:table-1": Elsewhere(
        _TABLE_2, "parameters, no result: `--json` has those of the run beside the paper's sets"
    ),
    "koseki2022hesc:figure-4": Elsewhere(
        "koseki2022hesc:table-5", "a drawing of fusion and separation, which are columns there"
    ),
    "koseki2022hesc:algorithm-1": Elsewhere(_TABLE_2, "no result: encryption, a column there"),
    "koseki2022hesc:algorithm-2": Elsewhere(_TABLE_2, "no result: decryption, a column there"),
    "koseki2022hesc:algorithm-3": Elsewhere(_TABLE_2, "no result: the sum, a column there"),
    "koseki2022hesc:algorithm-4": Elsewhere(_TABLE_2, "no result: the product, a column there"),
    "koseki2022hesc:proposition-1": Elsewhere(
        "koseki2022hesc:figure-2",
        "no result: errors of concatenated sums, a curve there; `hesc.streams.theory` corrects it",
    ),
    "babenko2020ckksbfv:table-1": Elsewhere(
        "babenko2020ckksbfv:table-2", "parameters, no result: `--json` has the primes of every set"
    ),
    **{
        f"babenko2020ckksbfv:figure-{figure}": Elsewhere(
            f"babenko2020ckksbfv:table-{figure + 1}", "the curves of this table: `--plot`"
        )
        for figure in range(1, 13)
    },
    "hsiao2022sche:figure-1": Elsewhere(
        "hsiao2022sche:figure-2", "a drawing of the system, which runs as a whole there"
    ),
    "carpov2016packing:lemma-1": Elsewhere(
        "carpov2016packing:figure-1", "no result: all columns from the first, a curve there"
    ),
    "carpov2016packing:corollary-1": Elsewhere(
        "carpov2016packing:figure-2", "no result: the same in Galois rings, a curve there"
    ),
    "xu2016integers:figure-1": Elsewhere(_INTEGERS, "a drawing of the adder in its rows CLA"),
    "xu2016integers:figure-2": Elsewhere(
        _INTEGERS, "an example by hand of the multiplier in its rows of multiplication"
    ),
    "xu2016integers:algorithm-1": Elsewhere(_INTEGERS, "no result: the adder in its rows RCA"),
    "xu2016integers:algorithm-2": Elsewhere(_INTEGERS, "no result: the adder in its rows CLA"),
    "xu2016integers:algorithm-3": Elsewhere(
        _INTEGERS, "no result: the multiplier in its rows of multiplication"
    ),
}


def numbered(paper: str) -> Iterator[str]:
    """The identifiers of all that a paper numbers: tables, figures, algorithms, statements."""
    of = PAPERS[paper]
    kinds = (("table", of.tables), ("figure", of.figures), ("algorithm", of.algorithms))
    counted = (
        f"{paper}:{kind}-{number}" for kind, count in kinds for number in range(1, count + 1)
    )
    return chain(counted, (f"{paper}:{name}" for name in of.statements))

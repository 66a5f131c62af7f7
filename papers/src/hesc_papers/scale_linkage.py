"""`hesc:linkage_scale`: record linkage of blocks, of ten thousand to a million people.

The matches of all blocks are computed in the clear, by the same distances; blocks that are drawn at
random are linked under encryption too, and every match of them is held against the clear distances.
`--peer long` links all blocks under encryption.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc.codes import hamming
from hesc.protocols.linkage import quality
from hesc.protocols.linkage.block_runs import STEPS, ClearBlocks, LinkBlocks, link_blocks
from hesc.protocols.linkage.blocking import SIZES, stray_matches
from hesc.protocols.linkage.demonstration import prepare_people
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from hesc._support.studies import Options
    from hesc.protocols.linkage.demonstration import PreparedRun

IDENTIFIER: Final = "hesc:linkage_scale"
TITLE: Final = "Record linkage by the million: blocks of people like FEBRL's"
PEERS: Final = ("long",)
LEAST: Final = {"scale.linkage_1e6.f1": 0.97}
"""What was asked for, at least."""


class Size(NamedTuple):
    """How many people are linked."""

    people: tuple[int, ...]
    choices: int
    """People for whom all ways to tell sizes are planned."""
    half: int
    """People of whom each party has half alone."""
    sample: int
    """Blocks of each linkage that are encrypted."""


QUICK: Final = Size((1000,), 1000, 1000, 1)
FULL: Final = Size((10_000, 100_000, 1_000_000), 100_000, 100_000, 4)
_LARGE: Final = 10_000_000


@dataclass
class _Checked:
    """An engine that links all blocks in the clear and some under encryption too."""

    prepared: PreparedRun
    chosen: frozenset[int]
    coefficients: int = 0
    seconds: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros(len(STEPS)))
    bytes: int = 0
    blocks: int = 0
    wrong: int = 0

    def __post_init__(self) -> None:
        plan, threshold = self.prepared.plan, self.prepared.threshold.distance
        self.clear = ClearBlocks(plan.to_bytes(), threshold)
        self.linker = LinkBlocks(plan.to_bytes(), threshold)

    def __call__(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for table in tables:
            (number,) = table.column("block").to_pylist()
            if number not in self.chosen:
                yield self.clear(table)
                continue
            linked = self.linker(table)
            (row,) = linked.to_pylist()
            part = self.prepared.plan.block(number)
            self.coefficients += -(-part.sent // 4096) * 4096 * part.compared
            self.seconds += row["seconds"]
            self.bytes += sum(row["bytes"])
            self.blocks += 1
            self.wrong += self._wrong(table, row)
            yield linked

    def _wrong(self, table: pa.Table, row: dict[str, Any]) -> int:
        """Matches that clear distances deny, and those of them that are missing.

        Of equal distances either may match: parties shuffle their codes.
        """
        words = self.prepared.plan.bits // 64
        (codes,) = table.to_pylist()
        sent, compared = (
            np.frombuffer(codes[side], "<u8").reshape(-1, words) for side in ("sent", "compared")
        )
        distances = hamming(compared, sent)
        low = distances <= self.prepared.threshold.distance
        nearest = low & (distances == distances.min(axis=1)[:, None])
        nearest &= distances == distances.min(axis=0)
        found = np.zeros_like(nearest)
        found[row["compared"], row["sent"]] = True
        alone = nearest & ((distances == distances.min(axis=1)[:, None]).sum(axis=1) == 1)[:, None]
        alone &= (distances == distances.min(axis=0)).sum(axis=0) == 1
        return int((found & ~nearest).sum() + (alone & ~found).sum())


def linkages(size: Size, options: Options) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Rows of a table, and figures by name, of `scale.linkage_*`."""
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    for sizes in SIZES:
        plan = prepare_people(size.choices, sizes).plan
        name = f"{size.choices:,} people, sizes {sizes}: the plan"
        rows.append(
            {
                "what": name,
                "blocks": len(plan.blocks),
                "distances": float(plan.coefficients),
                "GB": sum(plan.sizes()) / 1e9,
            }
        )
        ratios[f"scale.linkage_{sizes}.gigabytes"] = rows[-1]["GB"]
    for people in options.track(size.people, "people"):
        row, found = _linked(people, 1.0, size.sample, every="long" in options.peers)
        rows.append(row)
        ratios |= {f"scale.linkage_{_short(people)}.{name}": each for name, each in found.items()}
    row, found = _linked(size.half, 0.5, 0, every=False)
    rows.append(row)
    ratios |= {
        f"scale.linkage_{_short(size.half)}.half_absent.{name}": found[name]
        for name in ("f1", "precision", "recall")
    }
    # Ten times as many people have ten times as many blocks of the same size.
    largest = _short(size.people[-1])
    times = _LARGE / size.people[-1]
    for name in ("minutes", "gigabytes"):
        ratios[f"scale.linkage_1e7.{name}_extrapolated"] = (
            times * ratios[f"scale.linkage_{largest}.{name}"]
        )
    return rows, ratios


def _linked(
    people: int, overlap: float, sample: int, *, every: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    prepared = prepare_people(people, "private", overlap=overlap)
    plan = prepared.plan
    drawn = np.random.default_rng(people).permutation(plan.blocks)[:sample].tolist()
    engine = _Checked(prepared, frozenset(plan.blocks if every else drawn))
    start = time.perf_counter()
    run = link_blocks(plan, prepared.sender, prepared.comparer, engine)
    seconds = time.perf_counter() - start
    found = quality(run.matches, prepared.true)
    figures = {
        **found._asdict(),
        "gigabytes": sum(plan.sizes()) / 1e9,
        "blocks": float(len(plan.blocks)),
        "stray": float(run.stray),
        "stray_expected": stray_matches(
            plan.bits,
            prepared.threshold.distance,
            sum(a * b for a, b in zip(*_sides(prepared), strict=True)),
        ),
        "threshold": float(prepared.threshold.distance),
        "coverage_of_known": prepared.choice.coverage,
        "preparing_minutes": sum(step.seconds for step in prepared.steps) / 60,
        "all_seconds": seconds,
    }
    if engine.blocks:
        share = engine.coefficients / plan.coefficients
        figures |= {
            "encrypted_share": share,
            "wrong": float(engine.wrong),
            "minutes": float(engine.seconds.sum()) / share / 60,
            "ns_a_distance": 1e9 * float(engine.seconds.sum()) / engine.coefficients,
        }
    row = {
        "what": f"{people:,} by {people:,} people, {100 * overlap:.0f} % of them shared",
        "blocks": len(plan.blocks),
        "distances": float(plan.coefficients),
        "GB": figures["gigabytes"],
        "minutes": figures.get("minutes"),
        "encrypted blocks": engine.blocks,
        "precision": found.precision,
        "recall": found.recall,
        "F1": found.f1,
    }
    return {name: each for name, each in row.items() if each is not None}, figures


def _sides(prepared: PreparedRun) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Places of all blocks, for the sender and the comparer."""
    blocking = prepared.plan.agreed_blocks
    return blocking.sent, blocking.compared


def _short(people: int) -> str:
    """A number as figures' names have it: 1e6."""
    return f"{people:.0e}".replace("e+0", "e")


def reproduce(options: Options) -> Report:
    """Measures; matches under encryption are held against clear distances."""
    others = os.getloadavg()[0]
    rows, ratios = linkages(QUICK if options.quick else FULL, options)
    return Report(
        IDENTIFIER,
        TITLE,
        "minutes of all three parties in one process",
        rows,
        ratios=ratios,
        parameters={"at least": LEAST, "load average before": others},
        notes=[
            "people: drawn from the columns of FEBRL's fourth data set, errors those of its pairs; "
            "seed 1. Both parties have all of them where no other share is said",
            "passes and threshold: chosen by 1,000 pairs of that data set and the sender's own "
            "records, never by who matches whom here",
            "sizes of blocks: private, epsilon 1 and delta 2^-40 for both passes together",
            "precision, recall and F1: of the matches of all blocks. Those of encrypted blocks "
            "are the encrypted linkage's, the others are computed in the clear, by the same "
            "distances; wrong counts encrypted matches that clear distances deny or miss",
            "minutes: of the encrypted blocks, over their share of all distances: extrapolated "
            "where not all blocks are encrypted (encrypted_share), on the threads of this process",
            "ten million: ten times as many blocks of the same size, so ten times the minutes and "
            "bytes; noise for so many distances takes several plans with keys of their own",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Bytes of each linkage, and of each way to tell sizes."""
    from hesc_papers.plots import figure

    with figure(path, (9, 3.6)) as axes:
        rows = report.rows[::-1]
        axes.barh([row["what"] for row in rows], [row["GB"] for row in rows], color="tab:green")
        axes.set_xscale("log")
        axes.set_xlabel("gigabytes sent")

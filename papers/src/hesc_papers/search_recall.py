"""`hesc:search_recall`: how many of the nearest ten passages small numbers, and clusters, find."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from hesc.search import SearchPlan
from hesc_papers.plots import figure
from hesc_papers.report import Report
from hesc_papers.search_clusters import Clusters
from hesc_papers.search_passages import LIBRARIES, QUERIES, WORDS, Embedded, embedded, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:search_recall"
TITLE: Final = "recall of searches in passages: bits, rotations, clusters"
NEAREST: Final = 10
BITS: Final = (4, 6, 8)
LARGEST: Final = {"the largest": None, "4 deviations": 4.0, "3 deviations": 3.0}
"""The largest number that is kept: of all there are, or deviations of all."""
DIMENSIONS: Final = (64, 128, 384)
SHORTER: Final = 30
"""Words of a passage of the larger set."""
BLOCKS: Final = (1024, 2048, 4096)
PROBES: Final = (1, 2, 4, 8, 16)


def rotated(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Signs, then Walsh-Hadamard transforms of the first and of the last entries.

    The rotation is public, and every entry becomes a sum of many.
    """
    turned = rows * np.where(np.random.default_rng(7).random(rows.shape[1]) < 0.5, -1, 1).astype(
        np.float32
    )
    most = 1 << (rows.shape[1].bit_length() - 1)
    turned[:, :most] = _hadamard(turned[:, :most])
    if most < rows.shape[1]:
        turned[:, -most:] = _hadamard(turned[:, -most:])
    return turned


def _hadamard(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    count, size = rows.shape
    half = 1
    while half < size:
        pairs = rows.reshape(count, -1, 2, half)
        rows = np.stack([pairs[:, :, 0] + pairs[:, :, 1], pairs[:, :, 0] - pairs[:, :, 1]], axis=2)
        rows = rows.reshape(count, size)
        half *= 2
    scaled: NDArray[np.float32] = rows / np.float32(size**0.5)
    return scaled


def rounded(vectors: Embedded, bits: int) -> Embedded:
    """Whole numbers as hesc takes them: larger entries than usual ones have more bits."""
    plan = SearchPlan.of_vectors(vectors.records, bits=bits, records="public")
    records, queries = (rows.astype(np.float64) for rows in vectors)
    return Embedded(
        plan.rounded(records).astype(np.float32),
        plan.rounded(queries, queries=True).astype(np.float32),
    )


def clipped(vectors: Embedded, deviations: float | None, bits: int) -> Embedded:
    """Whole numbers of so many bits and no more, by one step for records and queries."""
    records = vectors.records
    most = 2 ** (bits - 1) - 1
    largest = np.abs(records).max() if deviations is None else deviations * records.std()
    return Embedded(*(np.clip(np.rint(rows * (most / largest)), -most, most) for rows in vectors))


def nearest(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The records with the highest scores of each query, the first ones of equals."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :NEAREST]


def _recall(found: NDArray[np.int64], exact: NDArray[np.int64]) -> float:
    pairs = zip(found, exact, strict=True)
    return float(np.mean([len(set(own) & set(true)) / NEAREST for own, true in pairs]))


def _scores(vectors: Embedded) -> NDArray[np.float32]:
    # Whole numbers too are exact: sums are below 2^24.
    return vectors.queries @ vectors.records.T


def _by_bits(vectors: Embedded, name: str, *, all_ways: bool) -> Iterator[dict[str, Any]]:
    exact = nearest(_scores(vectors))

    def row(way: str, whole: Callable[[int], Embedded]) -> dict[str, Any]:
        found = {f"{bits} bits": _recall(nearest(_scores(whole(bits))), exact) for bits in BITS}
        return {"what": f"{name}, {way}"} | found

    yield row("hesc", partial(rounded, vectors))
    if all_ways:
        turned = Embedded(rotated(vectors.records), rotated(vectors.queries))
        for way, own in {"clipped": vectors, "rotated and clipped": turned}.items():
            for largest, deviations in LARGEST.items():
                yield row(f"{way} at {largest}", partial(clipped, own, deviations))


def _by_clusters(vectors: Embedded, name: str) -> Iterator[dict[str, Any]]:
    """The ten best of six bits in the blocks that are asked for."""
    exact = nearest(_scores(vectors))
    scores = _scores(rounded(vectors, 6))
    for block in BLOCKS:
        clusters = Clusters(vectors.records, block)
        count = len(clusters.centres)
        row: dict[str, Any] = {"what": f"{name}, blocks of {block}", "blocks": count}
        for probes in PROBES:
            if probes < count:
                held = clusters.holds(vectors.queries, probes)
                found = nearest(np.where(held, scores, -np.inf))
                row[f"{probes} asked"] = _recall(found, exact)
        yield row


def reproduce(options: Options) -> Report:
    """Reads passages, makes vectors of them, and searches by whole numbers and in blocks."""
    # Threads of numpy wait for each other where little is to be done.
    with threadpool_limits(1 if options.quick else None):
        return _reproduced(options)


def _reproduced(options: Options) -> Report:
    libraries, queries = (LIBRARIES[:1], 60) if options.quick else (LIBRARIES, QUERIES)
    found = texts(libraries, queries=queries)
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {"search_recall.passages": float(len(found.passages))}
    sizes = (128,) if options.quick else DIMENSIONS
    middle = embedded(found, 128)
    for size in options.track(sizes, "dimensions"):
        own = middle if size == 128 else embedded(found, size)
        rows += _by_bits(own, f"{size} dimensions", all_ways=size == 128)
    for size, row in zip(sizes, (row for row in rows if row["what"].endswith("hesc")), strict=True):
        ratios |= {f"search_recall.{size}x{bits}": row[f"{bits} bits"] for bits in BITS}
    sets = {f"{len(middle.records):,} passages": middle}
    if not options.quick:
        more = embedded(texts(libraries, words=SHORTER, queries=queries), 128)
        sets[f"{len(more.records):,} passages"] = more
    for name, own in options.track(sets.items(), "clusters"):
        rows += _by_clusters(own, name)
    return Report(
        identifier=IDENTIFIER,
        title=TITLE,
        unit=f"share of the {NEAREST} nearest by exact cosines",
        rows=rows,
        ratios=ratios,
        parameters={"libraries": libraries, "queries": len(middle.queries)},
        notes=[
            f"passages: lines of docstrings of {', '.join(libraries)}, of at least {WORDS} words "
            f"where there are so many, of {SHORTER} in the larger set; words by their frequencies, "
            "reduced to dimensions by a singular value decomposition",
            f"queries: {len(middle.queries)} first sentences of docstrings, taken out of what is "
            "searched; queries and records have the same bits",
            "hesc: an entry of four times the root mean square one has the bits named, larger ones "
            "have more; clipped: none has more, and the largest is that named",
            "blocks: balanced clusters whose centres everybody knows; a client asks for the blocks "
            "nearest to its query, and finds the ten best of hesc's six bits in them",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Recall against blocks that are asked for."""
    with figure(path, (9, 5)) as axes:
        for row in report.rows:
            probes = [probes for probes in PROBES if f"{probes} asked" in row]
            if probes:
                found = [row[f"{probes} asked"] for probes in probes]
                axes.plot(probes, found, "o-", label=f"{row['what']}, {row['blocks']}")
        axes.axhline(0.9, color="black", linewidth=1)
        axes.set_xscale("log", base=2)
        axes.set_xticks(PROBES, [str(probes) for probes in PROBES])
        axes.set_xlabel("blocks that are asked for")
        axes.set_ylabel(f"recall of the {NEAREST} nearest")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=7)
        axes.set_title(report.title)

"""Searches in a process of its own: it has the threads, the kernels and the memory of one case.

Each line that it reads is what is asked, and is answered with a line of JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from threadpoolctl import threadpool_limits

from hesc import _native
from hesc_papers.clock import Clock, Timing
from hesc_papers.other_process import OtherProcess
from hesc_papers.search_cases import CHUNK, Case, Party

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

MOST: Final = 1_000_000
"""Records that plans are for, where no other number is said."""
DRAWN: Final = 4099
"""Vectors that come again and again where an index grows."""
QUERIES: Final = 8
"""Queries of a key whose noise is measured."""
BATCH: Final = 10
"""Queries whose scores are computed in the clear at once."""


class OwnClock(Clock):
    """Counts what the process computes: with one thread, that is its time if nobody else works."""

    def unit(self) -> float:
        """Seconds of one transform."""
        start = time.process_time()
        self._unit.seconds(100)
        return (time.process_time() - start) / 100

    def once(self, call: Callable[[], object]) -> Timing:
        """One call, between two times of the unit."""
        before = self.unit()
        start = time.process_time()
        call()
        seconds = time.process_time() - start
        return Timing(seconds, 2 * seconds / (before + self.unit()))


class World:
    """An index of drawn records, and a client."""

    def __init__(self, case: Case, records: int, *, quick: bool, most: int = MOST) -> None:
        self.case = case
        self.plan = case.plan(most)
        self.party = Party(self.plan)
        self.rng = np.random.default_rng(2)
        self.clock = OwnClock(quick=quick)
        self.records = records
        self.index = _native.SearchIndex(self.plan)
        self.asked = self.party.asks(case.vectors(1, self.rng)[0])

    def fill(self) -> float:
        """Appends all records; seconds of that, drawing them left out."""
        seconds = 0.0
        for rows in self.case.chunks(self.records):
            start = time.perf_counter()
            self.index.append(rows.astype(np.int16).ravel())
            seconds += time.perf_counter() - start
        return seconds

    def repeat(self, rows: NDArray[np.int16]) -> None:
        """Appends the same vectors again and again."""
        for place in range(0, self.records, len(rows)):
            self.index.append(rows[: self.records - place].ravel())

    def answer(self) -> bytes:
        """One query's answer."""
        return self.index.answer([self.asked])[0]


def _whole(case: Case, records: int, queries: int, *, quick: bool) -> dict[str, Any]:
    """Times, bytes, and scores beside those of numpy."""
    world = World(case, records, quick=quick)
    packing = world.fill()
    rows = np.concatenate(list(case.chunks(records)))
    wrong = 0
    for start in range(0, queries, BATCH):
        asked = case.vectors(min(BATCH, queries - start), world.rng)
        exact = _products(rows, asked)
        for query, scores in zip(asked, exact.T, strict=True):
            found = world.party.reads(world.index.answer([world.party.asks(query)])[0])
            wrong += int((found != scores).sum())
    timing = world.clock.time(world.answer)
    answer = world.answer()
    row = {
        "server_T": timing.units,
        "server, ms": 1e3 * timing.seconds,
        "keys": world.plan.sizes[0],
        "up_bytes": len(world.asked[0]),
        "down_bytes": len(answer),
        "scores": queries * records,
        "wrong": wrong,
        "MB packed": world.index.size[1] / 1e6,
        "packing, s": packing,
        "encrypt, ms": 1e3 * world.clock.time(lambda: world.party.asks(rows[0])).seconds,
        "decrypt, ms": 1e3 * world.clock.time(lambda: world.party.reads(answer)).seconds,
    }
    clear, vector = rows.astype(np.float32), rows[0].astype(np.float32)
    with threadpool_limits(1):
        row["numpy, ms"] = 1e3 * world.clock.time(lambda: clear @ vector).seconds
    return row


def _products(rows: NDArray[np.int8], queries: NDArray[np.int8]) -> NDArray[np.int64]:
    """All scores in the clear, in whole numbers of 64 bits."""
    by = queries.T.astype(np.int64)
    parts = [
        rows[start : start + CHUNK].astype(np.int64) @ by for start in range(0, len(rows), CHUNK)
    ]
    return np.concatenate(parts)


def _memory(case: Case, records: int) -> dict[str, Any]:
    """What an index, and an answer of it, took at most beyond what there was before."""
    world = World(case, records, quick=True)
    rows = case.vectors(DRAWN, world.rng).astype(np.int16)
    before = _resident("VmRSS")
    world.repeat(rows)
    world.answer()
    return {"grown": _resident("VmHWM") - before, "packed": world.index.size[1]}


def _noise(case: Case, keys: int) -> dict[str, Any]:
    """Noise of scores over the law's with so many keys: of spread records, and of equal ones."""
    plan, rng = case.plan(MOST), np.random.default_rng(3)
    spread = case.vectors(plan.block, rng).astype(np.int16)
    ratios: dict[str, list[float]] = {}
    for name, rows in (("spread", spread), ("equal", np.tile(spread[:1], (plan.block, 1)))):
        index = _native.SearchIndex(plan)
        index.append(rows.ravel())
        ratios[name] = []
        for _ in range(keys):
            party = Party(plan)
            squares = []
            for vector in case.vectors(QUERIES, rng):
                query, known = party.asks(vector)
                squares.append(index.noise_over_law(query, known, party.secret) ** 2)
            ratios[name].append(float(np.sqrt(np.mean(squares))))
    return ratios


def _resident(field: str) -> int:
    """Bytes of this process in memory: now, or the most that there were."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _scale(case: Case, records: int, *, quick: bool) -> dict[str, Any]:
    """Times and bytes, of a few thousand vectors again and again: drawing takes longest."""
    world = World(case, records, quick=quick, most=records)
    some = case.vectors(DRAWN, np.random.default_rng(1))
    query = case.vectors(1, world.rng)
    world.asked = world.party.asks(query[0])
    whole = some.astype(np.int16)
    before = _resident("VmRSS")
    start = time.process_time()
    world.repeat(whole)
    packing = time.process_time() - start
    world.answer()
    grown = _resident("VmHWM") - before
    timing = world.clock.time(world.answer)
    answer = world.answer()
    exact = np.resize(_products(some, query)[:, 0], records)
    return {
        "server, ms": 1e3 * timing.seconds,
        "server_T": timing.units,
        "decrypt, ms": 1e3 * world.clock.time(lambda: world.party.reads(answer)).seconds,
        "keys": world.plan.sizes[0],
        "up_bytes": len(world.asked[0]),
        "down_bytes": len(answer),
        "MB packed": world.index.size[1] / 1e6,
        "MB grown": grown / 1e6,
        "packing, s": packing,
        "ring degree": world.plan.block,
        "word bits": world.plan.word_bits,
        "wrong": int((world.party.reads(answer) != exact).sum()),
    }


def process(
    case: Case, records: int, *, quick: bool, threads: int = 1, kernels: str = ""
) -> OtherProcess:
    """A process that searches: with other kernels than the processor's if they are named."""
    return OtherProcess(
        __name__,
        *case.words(),
        str(records),
        "quick" if quick else "whole",
        threads=threads,
        environment={"HESC_KERNELS": kernels} if kernels else {},
    )


def _serve(case: Case, records: int, *, quick: bool) -> None:
    world: World | None = None
    for line in sys.stdin:
        task, *numbers = line.split()
        found: dict[str, Any]
        if task == "whole":
            found = _whole(case, records, int(numbers[0]), quick=quick)
        elif task == "noise":
            found = _noise(case, int(numbers[0]))
        elif task == "memory":
            found = _memory(case, records)
        elif task == "scale":
            found = _scale(case, records, quick=quick)
        else:
            if world is None:
                world = World(case, records, quick=quick)
                world.fill()
                world.answer()
            start = time.perf_counter()
            world.answer()
            found = {"seconds": time.perf_counter() - start}
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    *words, count, speed = sys.argv[1:]
    _serve(Case.read(words), int(count), quick=speed == "quick")

"""`hesc:rings`: what rings of odd index cost, in transforms of 8192 points."""

from __future__ import annotations

import statistics
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc import _native, packing
from hesc.packing.secret import decrypt_slots, encrypt_slots
from hesc_papers.clock import UNIT, Clock, Timing
from hesc_papers.report import Report
from hesc_papers.vandermonde_times import DUAL_BASIS, invert

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.params import VectorParams

IDENTIFIER: Final = "hesc:rings"
TITLE: Final = "Rings of odd index: transforms, products, unpacking, expansion"

# Products in sequence that uploads leave room for after unpacking.
LEVELS_LEFT: Final = 7
# Index, primes before and after, what was asked for.
UNPACKED: Final = ((13107, 3, 2, 800), (8191, 3, 2, 1100), (6529, 2, 1, 8000))
PRODUCTS: Final = ((1, 18), (2, 28), (3, 50), (4, 75))
TRANSFORMS: Final = ((13107, 8192), (21845, 16384))
# Sets for little upload: index, sizes of primes for ciphertexts and for keys, how many are large.
SMALL_UPLOADS: Final = (
    (13107, (46, 30, 30, 30, 28), (50,), 0),
    (13107, (41, 32, 29, 28, 26), (50,), 0),
    (21845, (46, 46, 30, 30, 30, 28), (50,), 2),
)


class World:
    """Keys of a parameter set and a packed upload."""

    def __init__(self, params: VectorParams) -> None:
        self.params = params
        self.secret, self.keys = hesc.keygen(params, unpacking=True)
        shape = (params.slot_count, params.slot_degree or 1)
        self.rows = np.random.default_rng(0).integers(0, 2, shape)

    def upload(self, level: int) -> tuple[packing.EncryptedSlots, float]:
        """Packed messages at a level, and how many bits each has on the wire."""
        data = encrypt_slots(self.secret, self.rows, level=level)
        read = packing.EncryptedSlots.from_bytes(self.keys.params, data)
        return read.with_keys(self.keys), 8 * len(data) / self.rows.size

    def level(self, primes: int) -> int:
        """The highest level with so many primes."""
        levels = enumerate(self.params.levels, 1)
        return max(level for level, places in levels if len(places) == primes)

    def check(self, slots: packing.EncryptedSlots, expected: Any, what: str) -> None:
        """Refuses to report times of wrong results."""
        if not np.array_equal(decrypt_slots(self.secret, slots), expected):
            raise RuntimeError(f"{what} gave another result than arithmetic in the clear")


def products(world: World, clock: Clock) -> list[dict[str, Any]]:
    """Product, relinearisation and the way down to one prime fewer, by the primes before it."""
    relin = world.keys.relin
    if relin is None:
        raise RuntimeError("the keys are made with products")
    top, _ = world.upload(len(world.params.levels))
    numbers = top.unpack([0, 1])
    rows = []
    for primes, asked in PRODUCTS:
        level = world.level(primes)
        below = world.level(max(primes - 1, 1))
        a, b = (number.mod_switch_to(min(number.level, level)).native for number in numbers)

        product = partial(_product, a, b, relin, below)
        found = packing.EncryptedSlots(world.keys.params, product(), packing.NUMBERS)
        world.check(found, world.rows[:, 0] & world.rows[:, 1], "a product")
        timing = clock.time(product)
        rows.append(
            _row(f"product.13107.{primes}", timing, asked)
            | {"note": f"level {level} to {below}: {primes} primes to {max(primes - 1, 1)}"}
        )
    return rows


def _product(
    a: _native.Ciphertext, b: _native.Ciphertext, key: _native.RelinKey, below: int
) -> _native.Ciphertext:
    return a.multiply(b).relinearise_to(key, below)


def unpacking(
    index: int, before: int, after: int, asked: float, clock: Clock
) -> list[dict[str, Any]]:
    """All coordinates of one ciphertext."""
    world = World(hesc.Params.preset(f"bgv_{index}"))
    slots, _ = world.upload(world.level(before))
    level = world.level(after)
    for column, expected in zip(slots.unpack(level=level), world.rows.T, strict=True):
        world.check(column, expected, "unpacking")
    timing = clock.time(partial(slots.unpack, level=level))
    bits = [round(world.params.level_bits[x - 1]) for x in (slots.level, level)]
    note = f"{world.rows.shape[1]} outputs, {before} primes to {after}, {bits[0]} to {bits[1]} bits"
    return [_row(f"unpack.{index}", timing, asked) | {"note": note}]


def products_after(world: World, level: int, wanted: int) -> int:
    """How many products in a row an upload at a level has room for after it is unpacked.

    Unpacking brings messages down to the level where they have most room, which need not be the
    one from which most products follow; all are tried.
    """
    slots, _ = world.upload(level)
    most = 0
    for below in (None, *range(level, 0, -1)):
        most = max(most, products_from(world, slots, below, wanted))
        if most == wanted:
            break
    return most


def products_from(
    world: World, slots: packing.EncryptedSlots, level: int | None, wanted: int
) -> int:
    """How many products in a row there is room for, unpacked to a level."""
    try:
        number, other = slots.unpack([0, 1], level=level)
    except hesc.NoiseBudgetError:
        return 0
    value, factor = world.rows[:, 0], world.rows[:, 1]
    for done in range(wanted):
        try:
            number = packing.sum_of_products([(number, number)], [other] if done == 0 else [])
        except hesc.NoiseBudgetError:
            return done
        value = value ^ factor if done == 0 else value
    world.check(number, value, "products after unpacking")
    return wanted


def expansion(*, quick: bool) -> list[dict[str, Any]]:
    """Bits on the wire for a bit of message: up with products left after unpacking, and down."""
    named = [(name, hesc.Params.preset(name)) for name in ("bgv_13107", "bgv_21845")]
    sized = [
        (
            f"{index}: {'+'.join(map(str, coeff))}",
            hesc.Params.cyclotomic(index, coeff, special, large=large),
        )
        for index, coeff, special, large in SMALL_UPLOADS
    ]
    rows = []
    for name, params in named[:1] if quick else named + sized:
        world = World(params)
        enough = None
        for level in range(1, len(params.levels) + 1):
            if products_after(world, level, LEVELS_LEFT) == LEVELS_LEFT:
                enough = level
                break
        up = world.upload(enough)[1] if enough else None
        columns = world.upload(len(params.levels))[0].unpack(level=1)
        packed = packing.pack(columns)
        world.check(packed, world.rows, "packing")
        rows.append(
            {
                "what": f"expansion, {name}",
                "bits up": up,
                "bits down": 8 * len(packed.to_bytes()) / world.rows.size,
            }
        )
    return rows


def _row(what: str, timing: Timing, asked: float) -> dict[str, Any]:
    return {
        "what": what,
        "us": 1e6 * timing.seconds,
        "in T": timing.units,
        "asked": asked,
    }


def reproduce(options: Options) -> Report:
    """Measures on one thread; every result is decrypted and compared."""
    clock = Clock(quick=options.quick)
    sliced = World(hesc.Params.preset("bgv_13107"))
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    unpacked = UNPACKED[: 1 if options.quick else None]
    jobs: list[Callable[[], list[dict[str, Any]]]] = [
        *(partial(_transform, index, points, clock) for index, points in TRANSFORMS),
        partial(products, sliced, clock),
        *(partial(unpacking, *case, clock) for case in unpacked),
        partial(expansion, quick=options.quick),
    ]
    for job in options.track(jobs, "rings"):
        rows += job()
    for row in rows:
        if "in T" in row:
            ratios[row["what"]] = row.get("ratio", row["in T"])
    ups = [row["bits up"] for row in rows if row.get("bits up")]
    downs = [row["bits down"] for row in rows if row.get("bits down")]
    if ups:
        ratios["expansion.up"] = min(ups)
    ratios["expansion.down"] = min(downs)
    index = 29 if options.quick else 149
    inversions = invert(_native.GaloisRing(index, 1033, 1), quick=options.quick)
    ratios[f"inverse.{index}"] = inversions.ratio(DUAL_BASIS)
    return Report(
        IDENTIFIER,
        TITLE,
        "microseconds, and T, one transform of 8192 points",
        rows,
        ratios=ratios,
        parameters={"T_us": 1e6 * statistics.median(clock.unit() for _ in range(25))},
        notes=[
            "T is the transform of the tfhe-ntt crate of 8192 points modulo a 50-bit prime, "
            "taken in turns with what is measured; one thread",
            "transform.m is over that crate's transform of the power of two next to the degree; "
            "product.m.k and unpack.m are in T; inverse.n is Gaussian elimination over the dual "
            "basis",
            "expansion.up: bits of a seeded upload for each bit of message, at the lowest level "
            f"that leaves room for {LEVELS_LEFT} products in a row after unpacking; the paper "
            "340. expansion.down: bits of packed answers at level 1",
            "HElib's m = 8191, measured on another machine of this kind: 245 ms to unpack, 31 to "
            "44 ms for a product; its 6529 2.5 s, the paper's 167.6 s",
        ],
    )


def _transform(index: int, points: int, clock: Clock) -> list[dict[str, Any]]:
    odd, even = _native.Transform(index, UNIT[1]), _native.Transform(2 * points, UNIT[1])
    timing = clock.time(partial(odd.seconds, 1))
    ratios = [odd.seconds(50) / even.seconds(50) for _ in range(25)]
    return [
        _row(f"transform.{index}", timing, 2.0)
        | {
            "ratio": statistics.median(ratios),
            "note": f"asked: times the transform of {points} points",
        }
    ]


def plot(report: Report, path: Path) -> None:
    """What was measured as a share of what was asked for, and expansions."""
    from hesc_papers.plots import shares

    timed = [row for row in report.rows if "in T" in row]
    shares(
        report, path, [(row["what"], row.get("ratio", row["in T"]), row["asked"]) for row in timed]
    )

"""`hesc:integers`: arithmetic on encrypted integers, in transforms of 8192 points."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc import integers
from hesc.integers import transciphering
from hesc.integers.secret import decrypt_integers, decrypt_slotwise
from hesc_papers import tfhe_peer
from hesc_papers.clock import Clock
from hesc_papers.integer_circuits import OPERATIONS, Slots, prepare
from hesc_papers.other_process import OtherProcess
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.params import VectorParams

IDENTIFIER: Final = "hesc:integers"
TITLE: Final = "Encrypted integers: sums, comparisons, products, quotients"

PEERS: Final = ("tfhe",)

# Products in sequence that numbers have room for after 13 of Kreyvium, and the name of the ratio.
LEFT: Final = {0: "kreyvium13.none_left", 7: "kreyvium13"}
# Streams that its transforms are stated for; there are as many as slots.
STREAMS: Final = 1024
# What both cores are shown on.
SHARED: Final = "add64.sliced"
QUICK: Final = ("add64.sliced", "mul8", "div4")


def reproduce(options: Options) -> Report:
    """Measures on one thread, but for one ratio; every result is decrypted and compared."""
    clock = Clock(quick=options.quick)
    # Before minutes of measurement: the build may lack it.
    peer = tfhe_peer.measured(options) if "tfhe" in options.peers else None
    chosen = [op for op in OPERATIONS if not options.quick or op.name in QUICK]
    sets: dict[str, Slots] = {}
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    for operation in options.track(chosen, "integers"):
        if operation.params not in sets:
            sets[operation.params] = Slots(hesc.Params.preset(operation.params))
        slots = sets[operation.params]
        measured = prepare(operation, slots)
        timing = clock.time(measured.run)
        per = slots.count if operation.each else 1
        ratios[operation.name] = timing.units / per
        plan, params = measured.plan, slots.params
        rows.append(
            {
                "what": operation.name,
                "computes": operation.what,
                "parameters": params.name,
                "numbers": slots.count,
                "products": plan.products,
                "depth": plan.depth,
                "ms": 1e3 * timing.seconds,
                "predicted / measured": plan.seconds / timing.seconds,
                "ms each": 1e3 * timing.seconds / slots.count,
                "in T": timing.units / per,
                "asked": operation.asked,
                "MB at once": plan.peak_bytes / 1e6,
                "kB each in": _bytes_in(params, operation.circuits()[0].inputs) / slots.count / 1e3,
                "MB key": len(slots.relin.to_bytes()) / 1e6,
                "note": f"T {'a number' if operation.each else 'in all'}",
            }
        )
    predicted = [row["predicted / measured"] for row in rows]
    ratios["predicted.median"] = statistics.median(predicted)
    ratios["predicted.least"], ratios["predicted.most"] = min(predicted), max(predicted)
    row = inside_one(clock)
    rows.append(row)
    ratios[row["what"]] = row["in T"]
    if not options.quick:
        for spare, name in options.track(LEFT.items(), "transciphering"):
            row = keystream(clock, spare, name)
            rows.append(row)
            ratios[row["what"]] = row["in T"]
        ratios["threads.two"] = two_threads()
    notes = []
    if peer is not None:
        ratios |= beside(peer, {row["what"]: row for row in rows})
        rows += peer.rows()
        notes.append(
            f"tfhe: the crate {tfhe_peer.version()}, FheUint8 to FheUint64, one thread, one number "
            "at a time; ratios are its seconds over ours, latency for ours all numbers together"
        )
    return Report(
        IDENTIFIER,
        TITLE,
        "milliseconds, and T, one transform of 8192 points",
        rows,
        ratios=ratios,
        parameters={"T_us": 1e6 * statistics.median(clock.unit() for _ in range(25))},
        notes=[
            "T is the transform of the tfhe-ntt crate of 8192 points modulo a 50-bit prime, taken "
            "in turns with what is measured; one thread",
            "each figure needs as many numbers as stand beside it: fewer take as long. Depth is "
            "finite: results have no room for more products; bootstrapped integers have no limit",
            f"threads.two is {SHARED} on one thread over two, each in a process of its own",
            *notes,
        ],
    )


def beside(peer: tfhe_peer.Peer, rows: dict[str, dict[str, Any]]) -> dict[str, float]:
    """How many times as long the crate takes, for one number and for each of many."""
    ours = {
        "add64.latency_vs_tfhe": ("add64", "add64.slotwise", "ms"),
        "add64.throughput_vs_tfhe": ("add64", "add64.prime", "ms each"),
        "less64.throughput_vs_tfhe": ("less64", "less64.prime", "ms each"),
        "mul16.throughput_vs_tfhe": ("multiply16", "mul16.low", "ms each"),
        "div8.throughput_vs_tfhe": ("divide8", "div8", "ms each"),
    }
    return {
        name: 1e3 * peer.seconds[theirs] / rows[what][column]
        for name, (theirs, what, column) in ours.items()
        if theirs in peer.seconds and what in rows
    }


def inside_one(clock: Clock) -> dict[str, Any]:
    """Sums of as many 64-bit numbers as one ciphertext holds along its slots."""
    params = hesc.Params.preset("bgv_13107")
    layout = integers.Slotwise(params, "uint64")
    secret, keys = hesc.keygen(params, slot_rotations=layout.slot_rotations)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 2**64 - 1, layout.capacity, dtype=np.uint64) for _ in range(2))
    x, y = layout.encrypt(keys, a), layout.encrypt(keys, b)
    if not np.array_equal(decrypt_slotwise(secret, x + y), a + b):
        raise RuntimeError("a sum inside one ciphertext is another than in the clear")
    timing = clock.time(lambda: x + y)
    public = len(keys.to_bytes())
    return {
        "what": "add64.slotwise",
        "computes": "64-bit sum",
        "parameters": params.name,
        "numbers": layout.capacity,
        "products": 2 * len(layout.steps),
        "depth": 1 + len(layout.steps),
        "ms": 1e3 * timing.seconds,
        "ms each": 1e3 * timing.seconds / layout.capacity,
        "in T": timing.units,
        "asked": 1_000,
        "kB each in": 2 * len(x.to_bytes()) / layout.capacity / 1e3,
        "MB key": public / 1e6,
        "note": "T in all; inside one ciphertext",
    }


def keystream(clock: Clock, spare: int, name: str) -> dict[str, Any]:
    """Numbers that come under Kreyvium, with room for some products in sequence."""
    plan = transciphering.plan("uint25", bits=125, spare=spare)
    secret, keys = hesc.keygen(plan.params)
    key = hesc.CipherKey.generate()
    once = key.encrypt_to_bytes(secret)
    stored = integers.read(keys.params, once).with_keys(keys)
    count = plan.shape.slots * plan.shape.blocks
    numbers = np.random.default_rng(0).integers(0, 1 << 25, count, dtype=np.uint32)
    message = key.encrypt(numbers, "uint25", shape=plan.shape)
    found: list[integers.EncryptedIntegers] = []

    def decipher() -> None:
        found.append(plan.decipher(stored, message, progress=False))

    timing = clock.once(decipher)
    if not np.array_equal(decrypt_integers(secret, found[0]), numbers):
        raise RuntimeError("numbers under Kreyvium are others than in the clear")
    return {
        "what": name,
        "computes": f"{plan.shape.slots} streams of 125 bits, room for {spare} products",
        "parameters": plan.params.name,
        "numbers": count,
        "products": plan.products,
        "depth": plan.depth,
        "ms": 1e3 * timing.seconds,
        "ms each": 1e3 * timing.seconds / count,
        "in T": timing.units * STREAMS / plan.shape.slots,
        "asked": 1_000_000,
        "MB at once": plan.peak_bytes / 1e6,
        "kB each in": len(message.to_bytes()) / count / 1e3,
        "MB key": len(once) / 1e6,
        "note": f"T for {STREAMS} streams; the key is the cipher's under the secret key, sent once",
    }


def _bytes_in(params: VectorParams, widths: list[int]) -> float:
    bits = sum(q.bit_length() for q in params.coeff_moduli)
    return sum(widths) * 2 * params.ring_degree * bits / 8


def two_threads() -> float:
    """How many times faster two threads are."""
    module = "hesc_papers.integer_circuits"
    both = [OtherProcess(module, SHARED, threads=threads) for threads in (1, 2)]
    try:
        for process in both:
            process.ask()
        times = [[float(process.ask()) for process in both] for _ in range(7)]
    finally:
        for process in both:
            process.close()
    return float(statistics.median(one / two for one, two in times))


def plot(report: Report, path: Path) -> None:
    """What was measured as a share of what was asked for."""
    from hesc_papers.plots import shares

    rows = [row for row in report.rows if row.get("asked")]
    shares(report, path, [(row["what"], row["in T"], row["asked"]) for row in rows])

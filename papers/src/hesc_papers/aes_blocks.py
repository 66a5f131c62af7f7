"""`carpov2016packing` section 1.1: AES-128 on an encrypted key over slots of bytes, and circuits.

Beside Kreyvium, which was made for this use: what a cipher that all devices have costs instead.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc import integers
from hesc.integers import transciphering
from hesc.integers.secret import decrypt_integers
from hesc.integers.transciphering.secret import AesKey
from hesc.packing import EncryptedSlots
from hesc.params import Params
from hesc_papers import carpov2016packing_table_1 as streams
from hesc_papers.clock import Clock, Timing
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.integers.transciphering import AesDecipherer
    from hesc.params import VectorParams

IDENTIFIER: Final = "hesc:aes"
TITLE: Final = "AES-128 on an encrypted key, beside Kreyvium"

PEERS: Final = ()

# Gentry, Halevi and Smart at CRYPTO 2012: "just over 36 hours", 54 blocks at once.
GHS_BLOCKS: Final = 54
GHS_SECONDS: Final = 36 * 3600.0


class Processor(Clock):
    """Seconds of the processor, of all threads: runs take long, and machines have other work."""

    def once(self, call: Callable[[], object]) -> Timing:
        """One call, beside the unit after it."""
        start = time.process_time()
        call()
        seconds = time.process_time() - start
        return Timing(seconds, seconds / self.unit())


def _plan(*, quick: bool) -> AesDecipherer:
    if not quick:
        return transciphering.aes_plan("uint8")
    params = Params.cyclotomic(255, [50] * 8, [50], assurance="insecure")
    return transciphering.aes_plan("uint8", rounds=1, spare=1, params=params)


def _measured(plan: AesDecipherer, clock: Clock) -> dict[str, Any]:
    """A run with a block in every slot; every byte is decrypted and compared."""
    params: VectorParams = plan.params
    secret, public = hesc.keygen(params, unpacking="bytes")
    key = AesKey.generate()
    parts = key.encrypt_to_parts(secret, plan)
    stored = [EncryptedSlots.from_bytes(params, part).with_keys(public) for part in parts]
    rows = np.random.default_rng(0).integers(0, 256, (params.slot_count, 16), dtype=np.uint8)
    nonce, data = key.encrypt(rows, rounds=plan.rounds)
    columns: list[integers.EncryptedIntegers] = []
    timing = clock.once(lambda: columns.extend(plan.decipher(stored, nonce, data, progress=False)))
    found = np.stack([decrypt_integers(secret, column) for column in columns], axis=1)
    if not np.array_equal(found, rows):
        raise RuntimeError("AES gave other bytes than in the clear")
    left = 0
    if plan.room:
        # The boolean payload, in the same ciphertexts.
        both = integers.evaluate(columns[0] & columns[1], progress=False)
        if not np.array_equal(decrypt_integers(secret, both), rows[:, 0] & rows[:, 1]):
            raise RuntimeError("a conjunction of deciphered bytes is wrong")
        left = plan.room
    blocks = params.slot_count
    return {
        "what": f"AES-128, {plan.rounds} rounds",
        "parameters": params.name,
        "security": params.assurance,
        "blocks": blocks,
        "bits of each": 128,
        "depth": plan.depth,
        "products left": left,
        "bits of budget left": plan.noise_budget,
        "s": timing.seconds,
        "s a block": timing.seconds / blocks,
        "s a round": timing.seconds / plan.rounds,
        "planned s": plan.seconds,
        "in T": timing.units,
        "bit/min": 60 * 128 * blocks / timing.seconds,
        "MB key, once": sum(map(len, parts)) / 1e6,
        "MB keys to compute": len(public.to_bytes()) / 1e6,
        "expansion": (len(nonce) + len(data)) / rows.nbytes,
    }


def reproduce(options: Options) -> Report:
    """Measures the processor's time; every byte is decrypted and compared."""
    clock = Processor(quick=options.quick)
    row = _measured(_plan(quick=options.quick), clock)
    bits = 1 if options.quick else streams.KREYVIUM.bits
    beside = streams.measured(streams.KREYVIUM, 0, bits, quick=options.quick, clock=clock)
    ratios = {"aes.throughput_vs_kreyvium": row["bit/min"] / beside["bit/min"]}
    if not options.quick:
        ratios["aes.block_vs_paper"] = GHS_SECONDS / GHS_BLOCKS / row["s a block"]
    paper = {
        "what": "AES-128, Gentry, Halevi and Smart",
        "blocks": GHS_BLOCKS,
        "s": GHS_SECONDS,
        "s a block": GHS_SECONDS / GHS_BLOCKS,
    }
    return Report(
        IDENTIFIER,
        TITLE,
        "processor seconds, bits a minute",
        [row, beside, paper],
        ratios=ratios,
        parameters={"T_us": 1e6 * clock.unit()},
        notes=[
            "a ring without security, and one round: a look only"
            if options.quick
            else "10 rounds, 128 bits of security; every block is decrypted and compared",
            "Gentry, Halevi and Smart's figure is of their machine and of the parameters of their "
            "time, which have fewer bits of security today",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Bits a minute of each cipher; beside it the seconds of one run."""
    from hesc_papers.plots import figure

    with figure(path, (8, 2.6)) as axes:
        rows = [row for row in report.rows if "bit/min" in row][::-1]
        bars = axes.barh([row["what"] for row in rows], [row["bit/min"] for row in rows])
        for row, bar in zip(rows, bars, strict=True):
            middle = bar.get_y() + bar.get_height() / 2
            said = f"  {row['bit/min']:,.0f}, a run {row['s']:.3g} s"
            axes.text(row["bit/min"], middle, said, va="center")
        axes.set_xlim(0, 1.5 * max(row["bit/min"] for row in rows))
        axes.set_xlabel("bits a minute")

"""`carpov2016packing` section 5: more messages in a ciphertext, by digits modulo `2^r`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc.packing import EncryptedSlots
from hesc.packing.secret import decrypt_slots, encrypt_slots
from hesc.params import Params
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:digits"
TITLE: Final = "Bits on the wire for a bit, packed modulo powers of two"

PEERS: Final = ()

# Products in sequence that bits have to have room for in the end.
LEFT: Final = 4


def _set(digits: int, *, quick: bool) -> Any:
    if quick:
        return Params.cyclotomic(255, [45] * 8, [45], plain_modulus=2**digits, assurance="insecure")
    primes = [40, 40, 33, 31, 28]
    return Params.cyclotomic(13107, primes, [42], plain_modulus=2**digits, large=2)


def _measured(digits: int, left: int, *, quick: bool) -> dict[str, Any]:
    """The smallest upload that goes all the way, decrypted and compared."""
    params = _set(digits, quick=quick)
    secret, keys = hesc.keygen(params, unpacking="extract")
    d = params.slot_degree or 1
    rows = np.random.default_rng(digits).integers(0, 2**digits, (params.slot_count, d))
    low, high = rows[:, 0] & 1, rows[:, 0] >> (digits - 1) & 1
    for level in range(1, len(params.levels) + 1):
        try:
            upload = encrypt_slots(secret, rows, level=level)
            start = time.process_time()
            column = EncryptedSlots.from_bytes(params, upload).with_keys(keys).extract(0)
            bits = column.digits() if digits > 1 else [column]
            seconds = time.process_time() - start
            result = bits[0]
            for _ in range(left):
                result = result * bits[-1]
        except hesc.NoiseBudgetError:
            continue
        if not np.array_equal(decrypt_slots(secret, result), low * high):
            raise RuntimeError("digits are others than in the clear")
        return {
            "what": f"modulo 2^{digits}",
            "parameters": params.name,
            "security": params.assurance,
            "bits of the modulus": params.level_bits[level - 1],
            "products for all digits": max(params.digit_depths),
            "products left": left,
            "bits on the wire for a bit": 8 * len(upload) / (rows.size * digits),
            "ms a column": 1e3 * seconds,
        }
    raise hesc.NoiseBudgetError(f"no level of {params.name} has room")


def reproduce(options: Options) -> Report:
    """Packs, takes a coordinate out, takes its digits, multiplies, decrypts and compares."""
    left = 1 if options.quick else LEFT
    sizes = [1, 2] if options.quick else [1, 2, 3, 4]
    rows = [
        _measured(digits, left, quick=options.quick)
        for digits in options.track(sizes, "plaintext moduli")
    ]
    first, last = (row["bits on the wire for a bit"] for row in (rows[0], rows[-1]))
    return Report(
        IDENTIFIER,
        TITLE,
        "bits, processor milliseconds",
        rows,
        ratios={"digits.gain": first / last},
        notes=["a ring without security: a look only"] if options.quick else [],
    )


def plot(report: Report, path: Path) -> None:
    """Bits on the wire for each modulus."""
    from hesc_papers.plots import figure

    with figure(path, (6, 4)) as axes:
        names = [row["what"] for row in report.rows]
        axes.bar(names, [row["bits on the wire for a bit"] for row in report.rows])
        axes.set_ylabel("bits on the wire for a bit")

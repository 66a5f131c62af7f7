"""The part of `hesc:encodings` that is distances of encrypted codes."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc.codes import EncryptedGallery, GalleryPlan, hamming
from hesc.codes.encrypted_codes import EncryptedCodes, EncryptedDistances
from hesc.codes.secret import (
    decrypt_distances,
    encrypt_codes,
    encrypt_gallery,
    encrypt_probes,
    gallery_distances,
)
from hesc_papers.encodings import Part

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from hesc._support.studies import Options

BITS: Final = 512
# Bits of a piece: those of one comparison, and two for a search.
PIECES: Final = (512, 64, 16)
RECORDS: Final = 4096


def measured(options: Options) -> Part:
    """One probe against one code and against thousands; all distances are compared."""
    rng = np.random.default_rng(3)
    records, rounds = (512, 3) if options.quick else (RECORDS, 11)
    codes = rng.integers(0, 2**64, (records, BITS // 64), dtype=np.uint64)
    probe = codes[records // 3 :][:1] ^ np.uint64(0b1011)
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    cases = [("1:1", PIECES[0], codes[:1])]
    cases += [(f"1:{records}", piece, codes) for piece in PIECES]
    for name, piece, some in cases:
        found = _gallery(GalleryPlan(BITS, piece=piece), some, probe, rounds)
        rows.append({"candidate": f"hesc: {name}, gallery encrypted, pieces of {piece}"} | found)
        if name != "1:1":
            key = f"gallery.{BITS}.{piece}"
            ratios[f"{key}.ns_per_record"] = found["ns a record"]
            ratios[f"{key}.bytes_per_record"] = found["bytes down"] / records
            ratios[f"{key}.bytes_up"] = found["bytes up"]
    ratios[f"gallery.{BITS}.verification_us"] = rows[0]["us"]
    found = _columns(codes, probe, rounds)
    rows.append({"candidate": f"hesc: 1:{records}, gallery in the clear, columns"} | found)
    notes = [
        f"codes of {BITS} bits; us from probe to distances, ns a record those of the server alone; "
        "columns compare a clear code to as many probes as a ring has coefficients, of which there "
        "is one here"
    ]
    return Part(rows, ratios, notes)


def _gallery(
    plan: GalleryPlan, codes: NDArray[np.uint64], probe: NDArray[np.uint64], rounds: int
) -> dict[str, Any]:
    secret, _ = hesc.keygen(plan.params, products=False)
    sent = encrypt_gallery(secret, plan, codes)
    gallery = EncryptedGallery.from_bytes(plan, sent)

    def run() -> tuple[list[float], int, int, NDArray[np.uint32]]:
        times = [time.perf_counter()]
        asked = encrypt_probes(secret, plan, probe)
        times.append(time.perf_counter())
        parts = list(gallery.answers(asked))
        times.append(time.perf_counter())
        found = gallery_distances(secret, plan, parts)
        times.append(time.perf_counter())
        return times, len(asked), sum(map(len, parts)), found

    return _row(run, codes, probe, rounds) | {
        "ring degree": plan.params.ring_degree,
        "bits of q": plan.params.level_bits[-1],
        "bits back": plan.answer_bits,
        "model bytes": len(sent),
    }


def _columns(codes: NDArray[np.uint64], probe: NDArray[np.uint64], rounds: int) -> dict[str, Any]:
    params = hesc.Params.preset("bfv_1024_distances")
    secret, _ = hesc.keygen(params)

    def run() -> tuple[list[float], int, int, NDArray[np.uint32]]:
        times = [time.perf_counter()]
        asked = encrypt_codes(secret, probe)
        times.append(time.perf_counter())
        answer = EncryptedCodes.from_bytes(params, asked).distances(codes).to_bytes()
        times.append(time.perf_counter())
        found = decrypt_distances(secret, EncryptedDistances.from_bytes(params, answer)).T
        times.append(time.perf_counter())
        return times, len(asked), len(answer), found

    return _row(run, codes, probe, rounds) | {"ring degree": params.ring_degree}


def _row(
    run: Callable[[], tuple[list[float], int, int, NDArray[np.uint32]]],
    codes: NDArray[np.uint64],
    probe: NDArray[np.uint64],
    rounds: int,
) -> dict[str, Any]:
    """Medians; the first turn does not count."""
    totals, servers = [], []
    for number in range(rounds + 1):
        times, up, down, found = run()
        if not np.array_equal(found, hamming(probe, codes)):
            raise RuntimeError("distances are not those in the clear")
        if number:
            totals.append(times[-1] - times[0])
            servers.append(times[2] - times[1])
    return {
        "us": 1e6 * statistics.median(totals),
        "ns a record": 1e9 * statistics.median(servers) / len(codes),
        "bytes up": up,
        "bytes down": down,
        "error": 0.0,
    }

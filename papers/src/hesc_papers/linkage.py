"""`hesc:linkage`: private record linkage on FEBRL's people, and what a distance costs."""

from __future__ import annotations

import json
import statistics
import time
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc import codes
from hesc.codes.encrypted_codes import EncryptedCodes, EncryptedDistances
from hesc.codes.secret import decrypt_distances, encrypt_codes
from hesc.protocols.linkage import LinkagePlan, febrl, quality
from hesc.protocols.linkage.matching import MutualNearest
from hesc_papers.other_process import OtherProcess
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:linkage"
TITLE: Final = "Private record linkage: distances of codes of 512 bits"

BITS: Final = 512
# As many as one thread takes at a time.
CODES: Final = 256
# Distances that a bar of the picture has.
BIN: Final = 4
# What the linkage of all people runs on.
THREADS: Final = 2
# doi 10.1016/j.jbi.2025.104920: three parties, one record against 10,000, in this network; nobody
# sees distances.
RIVAL_SECONDS: Final = 8.7
RIVAL_RECORDS: Final = 10_000
MEGABITS: Final = 700.0
ROUND_TRIP: Final = 0.060


def reproduce(options: Options) -> Report:
    """Measures; every distance is compared to the clear one."""
    rng = np.random.default_rng(1)
    rounds = 1 if options.quick else 11
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}

    def row(what: str, seconds: float, pairs: int, **more: Any) -> None:
        rows.append({"what": what, "ns a pair": 1e9 * seconds / pairs, "seconds": seconds} | more)

    # One thread each: a group of codes and a ring degree of records are one thread's work.
    clear = rng.integers(0, 2**64, (CODES, BITS // 64), dtype=np.uint64)
    for preset, hidden in options.track(
        [
            ("bfv_1024_distances", False),
            ("bfv_4096_distances", False),
            ("bfv_4096_distances", True),
            ("bfv_4096_distances_large", True),
        ],
        "columns",
    ):
        params = hesc.Params.preset(preset)
        secret, public = hesc.keygen(params)
        count = params.ring_degree or 0
        sent = rng.integers(0, 2**64, (count, BITS // 64), dtype=np.uint64)
        message = encrypt_codes(secret, sent)
        encrypted = EncryptedCodes.from_bytes(params, message)
        shown = encrypted.coefficients(CODES)

        def compare(
            encrypted: EncryptedCodes = encrypted,
            public: hesc.PublicKeys = public,
            shown: int = shown,
            *,
            hidden: bool = hidden,
        ) -> EncryptedDistances:
            if hidden:
                return encrypted.hidden_distances(public, clear, coefficients=shown)
            return encrypted.distances(clear)

        seconds = _median(compare, rounds)
        answer = compare().to_bytes()
        _check(
            decrypt_distances(secret, EncryptedDistances.from_bytes(params, answer)),
            clear,
            sent,
        )
        name = f"hesc: {preset}" + (", hidden" if hidden else "")
        row(name, seconds, CODES * count, threads=1, up=len(message), down=len(answer))
        key = {"bfv_1024_distances": "columns.512"}.get(preset, f"columns.{preset}")
        ratios[f"{key}{'.hidden' if hidden else ''}.ns_per_record"] = rows[-1]["ns a pair"]
    sent = rng.integers(0, 2**64, (1024, BITS // 64), dtype=np.uint64)
    row(
        "popcount in the clear (numpy)",
        _median(lambda: codes.hamming(clear, sent), rounds),
        CODES * 1024,
        threads=1,
    )
    ratios["vs_clear.time"] = rows[0]["ns a pair"] / rows[-1]["ns a pair"]
    if "seal" in options.peers:
        row(*_seal(clear, sent, rounds))
        rows[-1]["threads"] = 1
        ratios["vs_seal.columns"] = rows[-1]["ns a pair"] / rows[0]["ns a pair"]

    people = 500 if options.quick else 5000
    process = OtherProcess("hesc_papers.linkage_run", str(people), threads=THREADS)
    # Of three runs the one with the median time.
    runs = [json.loads(process.ask()) for _ in range(1 if options.quick else 3)]
    process.close()
    run = sorted(runs, key=lambda run: float(run["seconds"]))[len(runs) // 2]
    up = run["steps"]["sender encrypts"]["bytes"]
    down = run["steps"]["comparer adds and hides"]["bytes"]
    name = f"hesc: {people} by {people} people, all three parties"
    row(name, run["seconds"], people**2, threads=THREADS, up=up, down=down)
    ratios |= {f"linkage.{name}": run[name] for name in ("seconds", "f1", "precision", "recall")}
    ratios["linkage.megabytes_sent"] = run["bytes"] / 1e6
    ratios["linkage.half_absent.f1"] = _half_absent(run["threshold"])
    large = ratios["columns.bfv_4096_distances_large.hidden.ns_per_record"]
    ratios["linkage.100000.minutes_extrapolated"] = 1e10 * large * 1e-9 / 2 / 60
    one, network = _one_against_many()
    row(f"hesc: 1 by {RIVAL_RECORDS:,} people, network added", one + network, RIVAL_RECORDS)
    row(
        f"published: 1 by {RIVAL_RECORDS:,}, three parties, distances hidden",
        RIVAL_SECONDS,
        RIVAL_RECORDS,
    )
    ratios["vs_published.total"] = RIVAL_SECONDS / (one + network)
    others, matches = _distances(people)
    return Report(
        IDENTIFIER,
        TITLE,
        "nanoseconds for a pair of records",
        rows,
        ratios=ratios,
        parameters={"threshold": run["threshold"], "steps": run["steps"]},
        series={"matches": matches, "others": others},
        notes=[
            "distances are decrypted and compared to the clear ones; one thread where no other "
            "number is said",
            "hidden: an encryption of zero and wide noise are added, so that clear codes stay with "
            "their owner; without that the key's owner reads them off the noise",
            f"the network is {MEGABITS:.0f} Mbit/s with {1e3 * ROUND_TRIP:.0f} ms there and back, "
            "added to ours as bytes over rate and three messages; the published time includes its "
            "own, on another machine, and hides distances, which ours shows to the third party",
            "100,000 by 100,000: the time of a pair in the larger set, on one thread, times ten "
            "thousand million, over two cores: extrapolated, not measured",
            "half_absent: half of the one party's people are not among the other's; in the clear, "
            "by the same threshold",
        ],
        repetitions=rounds,
    )


def _median(call: Callable[[], object], rounds: int) -> float:
    call()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def _check(found: NDArray[Any], clear: NDArray[np.uint64], sent: NDArray[np.uint64]) -> None:
    if not np.array_equal(found, codes.hamming(clear, sent)):
        raise hesc.DecryptionError("distances differ from those in the clear")


def _seal(
    clear: NDArray[np.uint64], sent: NDArray[np.uint64], rounds: int
) -> tuple[str, float, int]:
    """Sixteen codes one after the other."""
    from hesc_papers.seal_peer.columns import Columns

    columns = Columns(codes.unpacked(sent))
    bits = codes.unpacked(clear[:16])
    found = np.array([columns.distances(columns.sum(code)) for code in bits])
    _check(found, clear[:16], sent)
    seconds = _median(lambda: [columns.sum(code) for code in bits], min(rounds, 3))
    return "SEAL: the same columns, additions one by one", seconds, len(bits) * len(sent)


def _one_against_many() -> tuple[float, float]:
    """A clear record against 10,000 encrypted ones: seconds of work and of network."""
    rng = np.random.default_rng(3)
    plan = LinkagePlan(RIVAL_RECORDS, 1)
    secret, public = hesc.keygen(plan.params)
    sent = rng.integers(0, 2**64, (RIVAL_RECORDS, BITS // 64), dtype=np.uint64)
    start = time.perf_counter()
    message = EncryptedCodes.encrypt(public, sent).to_bytes()
    encrypted = EncryptedCodes.from_bytes(plan.params, message)
    answer = encrypted.hidden_distances(public, sent[:1], coefficients=plan.coefficients).to_bytes()
    distances = decrypt_distances(secret, EncryptedDistances.from_bytes(plan.params, answer))
    seconds = time.perf_counter() - start
    _check(distances, sent[:1], sent)
    return seconds, 8 * (len(message) + len(answer)) / (1e6 * MEGABITS) + 1.5 * ROUND_TRIP


@cache
def _codes() -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
    """Codes of all of FEBRL's people under a fixed key, and who is who."""
    people = febrl.load()
    coder = codes.RecordCoder(codes.HashKey(bytes(32)), febrl.FIELDS, bits=BITS)
    return coder.encode(people.sent), coder.encode(people.compared), people.true


def _half_absent(threshold: int) -> float:
    """F1 in the clear where half of the one party's people are not the other's."""
    sent, compared, true = _codes()
    kept = true[np.random.default_rng(5).permutation(len(true))[: len(true) // 2]]
    nearest = MutualNearest(len(sent))
    nearest.add(codes.hamming(compared[kept[:, 1]], sent))
    pairs, distances = nearest.pairs()
    own = np.stack([kept[:, 0], np.arange(len(kept))], axis=1)
    return quality(pairs[distances <= threshold], own).f1


def _distances(people: int) -> tuple[list[float], list[float]]:
    """How often each distance occurs among others, and among matches."""
    sent, compared, true = _codes()
    true = true[:people]
    distances = codes.hamming(compared[true[:, 1]], sent[true[:, 0]])
    same = np.bincount(distances.diagonal(), minlength=BITS + 1)
    every = np.bincount(distances.ravel(), minlength=BITS + 1)
    return (every - same).astype(float).tolist(), same.astype(float).tolist()


def plot(report: Report, path: Path) -> None:
    """Distances of matches and of all others, and the threshold."""
    from hesc_papers.plots import figure

    with figure(path, (9, 4.8)) as axes:
        edges = np.arange(0, BITS + BIN + 1, BIN)
        for name, colour, label in (
            ("others", "tab:gray", "different people"),
            ("matches", "tab:green", "the same person"),
        ):
            counts = np.array(report.series[name])
            binned = np.add.reduceat(counts, np.arange(0, BITS + 1, BIN)) / counts.sum()
            axes.stairs(binned, edges, fill=True, alpha=0.4, color=colour, label=label)
            axes.stairs(binned, edges, color=colour)
        threshold = report.parameters["threshold"]
        axes.axvline(threshold, color="tab:red", linestyle="--")
        axes.text(threshold + 3, 0.3, f"threshold {threshold}", color="tab:red")
        axes.set_yscale("log")
        axes.set_ylim(1e-8, 1)
        used = np.flatnonzero(
            np.array(report.series["others"]) + np.array(report.series["matches"])
        )
        axes.set_xlim(0, used.max() + 10)
        axes.set_xlabel(f"Hamming distance of codes of {BITS} bits")
        axes.set_ylabel(f"share of pairs, by {BIN} bits")
        axes.legend(loc="upper right")
        axes.set_title("FEBRL: every person of one party beside every one of the other")

"""`koseki2022hesc` table 4: the time of one private inference on the Iris network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._support.stages import Staged, medians
from hesc.params import Params
from hesc.protocols.streams.staged import Layered, Monomial
from hesc.streams.iris import load_network, load_split
from hesc_papers.leveled_network import LeveledNetwork
from hesc_papers.report import Report, alternating

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options
    from hesc.streams.networks import SquareNetwork

IDENTIFIER: Final = "koseki2022hesc:table-4"
TITLE: Final = "Time of one Iris inference"

STAGES: Final = ("B2S", "Enc", "FC1", "ACT", "FC2", "Dec", "S2B")
PAPER: Final = {
    "BFV": (None, 5.038, 174.874, 18.305, 218.063, 1.968, None, 418.248),
    "CKKS": (None, 7.415, 57.167, 5.563, 27.201, 0.656, None, 98.002),
    "HESC with BFV": (0.488, 1.741, 0.187, 0.482, 1.753, 31.707, 4.939, 41.298),
    "HESC with CKKS": (1.355, 2.015, 0.089, 0.373, 1.394, 25.527, 9.516, 40.269),
}
# N = 1024 with 27 bits, as in the paper. Its CKKS row has 18 bits, which hesc refuses: see the
# note that the report carries.
BFV: Final = "hestd2018_koseki_bfv_1024"
CKKS: Final = "hestd2018_koseki_ckks_1024"
BEST: Final = "bfv_1024_fusion"
SEEDS: Final = 100


# The candidates of the ratios, by the names of their rows.
PAPER_LAYOUT: Final = "HESC with BFV, paper's layout"
BEST_MODE, BEST_PUBLIC = "best mode, L=64", "best mode, L=64, public key"
SINGLE: Final = "SEAL: our single product in CKKS, N=2048"
LEVELED: Final = {
    "ckks": ("leveled CKKS, N=8192", "SEAL: leveled CKKS, tuned, N=4096"),
    "bfv": ("leveled BFV, N=8192", "SEAL: leveled BFV, tuned, N=8192"),
}


def _ours(network: SquareNetwork) -> dict[str, Staged]:
    best = Params.preset(BEST)
    return {
        f"hesc: {PAPER_LAYOUT}": Layered(network, Params.preset(BFV)),
        "hesc: HESC with CKKS, paper's layout": Layered(network, Params.preset(CKKS)),
        f"hesc: {BEST_MODE}": Monomial(network, best),
        f"hesc: {BEST_PUBLIC}": Monomial(network, best, secret_key=False),
        **{
            f"hesc: {same}": LeveledNetwork(network, scheme)
            for scheme, (same, _) in LEVELED.items()
        },
    }


def _theirs(network: SquareNetwork) -> dict[str, Staged]:
    from hesc_papers.seal_peer.layered import LayeredPeer
    from hesc_papers.seal_peer.leveled import LeveledBfv, LeveledCkks, TunedCkks
    from hesc_papers.seal_peer.monomial import MonomialCkks, MonomialStreams

    bfv, ckks = Params.preset(BFV), Params.preset(CKKS)
    degree = bfv.ring_degree or 0
    best = {
        f"SEAL: {name}": MonomialStreams(
            network, degree, bfv.coeff_moduli, stream_length=64, secret_key=secret_key
        )
        for name, secret_key in ((BEST_MODE, True), (BEST_PUBLIC, False))
    }
    return {
        f"SEAL: {PAPER_LAYOUT}": LayeredPeer(
            network, "bfv", degree, bfv.coeff_moduli, plain_modulus=bfv.plain_modulus
        ),
        "SEAL: HESC with CKKS, paper's layout": LayeredPeer(
            network, "ckks", degree, ckks.coeff_moduli, scale=ckks.scale or 0
        ),
        **best,
        SINGLE: MonomialCkks(network),
        f"SEAL: {LEVELED['bfv'][0]}": LeveledBfv(network),
        LEVELED["bfv"][1]: LeveledBfv(network, tuned=True),
        f"SEAL: {LEVELED['ckks'][0]}": LeveledCkks(network),
        LEVELED["ckks"][1]: TunedCkks(network),
    }


def accuracy(
    network: SquareNetwork, features: NDArray[np.float64], classes: NDArray[np.intp]
) -> float:
    """Share of seeds for which the best mode classifies as many test flowers right as float."""
    expected = np.mean(network.predict(features) == classes)
    params = Params.preset(BEST)
    hits = 0
    for seed in range(SEEDS):
        _, outputs = Monomial(network, params, seed=seed).run(features)
        hits += np.mean(outputs.argmax(axis=1) == classes) == expected
    return hits / SEEDS


def reproduce(options: Options) -> Report:
    """Measures all candidates, one inference of each in turn."""
    network, split = load_network(), load_split()
    features, classes = split.test_features, split.test_classes
    candidates = _ours(network)
    if "seal" in options.peers:
        candidates |= _theirs(network)
    repetitions = 5 if options.quick else 30
    runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in candidates}
    right: dict[str, list[bool]] = {name: [] for name in candidates}
    errors: dict[str, list[NDArray[np.float64]]] = {name: [] for name in candidates}

    def one(name: str) -> Callable[[int], Mapping[str, float]]:
        def run(number: int) -> Mapping[str, float]:
            flower = number % len(features)
            sample = features[flower : flower + 1]
            stages, outputs = candidates[name].run(sample)
            outputs = np.asarray(outputs).reshape(1, -1)
            right[name].append(bool(outputs.argmax() == classes[flower]))
            errors[name].append(outputs - network.values(sample))
            return stages

        return run

    rounds = options.track(range(repetitions), "measuring")
    work = {name: one(name) for name in candidates}
    for name, stages in alternating(work, rounds, quick=options.quick):
        runs[name].append(stages)
    times = {name: medians(of_name) for name, of_name in runs.items()}

    rows: list[dict[str, Any]] = []
    for name, stages in times.items():
        fused = stages.get("Fusion", 0.0) + stages.get("Separation", 0.0)
        rows.append(
            {
                "candidate": name,
                **{stage: stages.get(stage) for stage in STAGES},
                "Fusion+Sep.": fused or None,
                "Total": stages["Total"],
                "right": float(np.mean(right[name])),
                "RMSE": float(np.sqrt(np.mean(np.square(errors[name])))),
                "bytes up": candidates[name].bytes_up,
                "bytes down": candidates[name].bytes_down,
            }
        )
    rows += [
        {"candidate": f"paper: {name}", **dict(zip((*STAGES, "Total"), row, strict=True))}
        for name, row in PAPER.items()
    ]
    report = Report(
        IDENTIFIER,
        TITLE,
        "ms",
        rows,
        parameters={
            "sets": {name: repr(Params.preset(name)) for name in (BFV, CKKS, BEST)},
            "stream_length": {"paper's layout": 1024, "best mode": 64},
            "threads": 1,
        },
        repetitions=repetitions,
        notes=[
            "best mode is a change of algorithm: the client multiplies its own monomials, the "
            "model owner its own coefficients, one product of ciphertexts remains, and the query "
            "is encrypted with the secret key. SEAL is given all of it that its interface has: the "
            "same streams in coefficients, the secret key, three fused digits, the model fused in "
            "advance. `best_mode` ratios take the fastest (smallest) of SEAL's rows with one "
            "product, CKKS among them; `best_mode_vs_paper_layout` is what the change of "
            "algorithm and SEAL's own distance make together",
            "`vs_leveled` ratios take the faster of SEAL's two leveled rows, which err otherwise "
            "than the best mode: read them with the column RMSE. Those at N=8192 run "
            "one program in both libraries, encrypted with the public key: 64 slots for a sample, "
            "three products, four rotations (BFV's fixed point has 4 bits after the point; hesc's "
            "sets keep the 2024 guidelines, SEAL's the 2018 standard). Tuned ones encrypt with "
            "the secret key, send the last product back as it is, for the client to sum, and take "
            "in CKKS the smallest ring that keeps the error below best mode's",
            "streams come from hesc's encoders on both sides",
            "the paper's CKKS set for HESC has an 18-bit modulus; hesc refuses it (its noise "
            "exceeds the scale), so both libraries run 27 bits here",
            "serialisation is outside the times; bytes are those of the wire forms; this build of "
            "SEAL does not compress and has no seeded form: packing its 27-bit residues would save "
            "a factor of 64 / 27, a seed (as C++ has) half of an upload under the secret key",
        ],
    )
    report.ratios["float.accuracy"] = float(np.mean(network.predict(features) == classes))
    report.ratios["best_mode.accuracy"] = accuracy(network, features, classes)
    if "seal" in options.peers:
        report.ratios |= _ratios(rows)
        _add_batches(report, network, features, options)
    return report


def _ratios(rows: list[dict[str, Any]]) -> dict[str, float]:
    """SEAL over hesc, against the strongest row that SEAL has for the task."""
    by_name = {row["candidate"]: row for row in rows}
    ours, theirs = by_name[f"hesc: {PAPER_LAYOUT}"], by_name[f"SEAL: {PAPER_LAYOUT}"]
    best = by_name[f"hesc: {BEST_MODE}"]
    one_product = [by_name[f"SEAL: {BEST_MODE}"], by_name[SINGLE]]

    def evaluation(row: Mapping[str, float]) -> float:
        return row["FC1"] + row["ACT"] + row["FC2"]

    def size(row: Mapping[str, float]) -> float:
        return row["bytes up"] + row["bytes down"]

    def total(name: str) -> float:
        return float(by_name[name]["Total"])

    ratios = {
        "paper_layout.total": theirs["Total"] / ours["Total"],
        "paper_layout.encrypt": theirs["Enc"] / ours["Enc"],
        "paper_layout.evaluate": evaluation(theirs) / evaluation(ours),
        "paper_layout.decrypt": theirs["Dec"] / ours["Dec"],
        "best_mode.total": min(row["Total"] for row in one_product) / best["Total"],
        "best_mode.bytes": min(map(size, one_product)) / size(best),
        "best_mode_public_key.total": total(f"SEAL: {BEST_PUBLIC}") / total(f"hesc: {BEST_PUBLIC}"),
        "best_mode_vs_paper_layout.total": theirs["Total"] / best["Total"],
        "best_mode_vs_paper_layout.bytes": size(theirs) / size(best),
    }
    for scheme, (same, tuned) in LEVELED.items():
        seal = total(f"SEAL: {same}")
        ratios[f"leveled_{scheme}.total"] = seal / total(f"hesc: {same}")
        ratios[f"vs_leveled_{scheme}.total"] = min(seal, total(tuned)) / best["Total"]
    return ratios


def _add_batches(
    report: Report, network: SquareNetwork, features: NDArray[np.float64], options: Options
) -> None:
    """Rows for many inferences at once, where the other side is at its best."""
    from hesc_papers.seal_peer.leveled import BatchedCkks
    from hesc_papers.seal_peer.monomial import MonomialCkks

    batched, single = BatchedCkks(network), MonomialCkks(network)
    ours = Monomial(network, Params.preset(BEST))
    sizes: dict[str, tuple[Staged, int]] = {
        "SEAL: leveled CKKS, a batch of 4096": (batched, batched.samples),
        "SEAL: our single product in CKKS, a batch of 22": (single, single.samples),
        "hesc: best mode, a batch of 64": (ours, 64),
    }
    repetitions = 2 if options.quick else 5
    runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in sizes}
    errors: dict[str, float] = {}

    def one(name: str) -> Callable[[int], Mapping[str, float]]:
        candidate, samples = sizes[name]
        sample = np.resize(features, (samples, features.shape[1]))

        def run(_: int) -> Mapping[str, float]:
            stages, outputs = candidate.run(sample)
            errors[name] = float(np.sqrt(np.mean((outputs - network.values(sample)) ** 2)))
            return {stage: time / samples for stage, time in stages.items()}

        return run

    rounds = options.track(range(repetitions), "measuring batches")
    work = {name: one(name) for name in sizes}
    for name, stages in alternating(work, rounds, quick=options.quick):
        runs[name].append(stages)
    for name, (candidate, samples) in sizes.items():
        stages = medians(runs[name])
        fused = stages.get("Separation")
        report.rows.append(
            {
                "candidate": f"{name}, per inference",
                **{stage: stages.get(stage) for stage in STAGES},
                "Fusion+Sep.": fused,
                "Total": stages["Total"],
                "RMSE": errors[name],
                "bytes up": round(candidate.bytes_up / samples),
                "bytes down": round(candidate.bytes_down / samples),
            }
        )
    totals = {row["candidate"]: row["Total"] for row in report.rows}
    winner = min(totals, key=lambda name: totals[name])
    report.notes.append(f"least time per inference: {winner} ({totals[winner] * 1e3:.1f} us)")


def plot(report: Report, path: Path) -> None:
    """Stacked bars of the stages."""
    from hesc_papers.plots import stage_bars

    stage_bars(report, (*STAGES, "Fusion+Sep."), path)

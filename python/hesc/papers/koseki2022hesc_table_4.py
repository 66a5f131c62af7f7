"""`koseki2022hesc` table 4: the time of one private inference on the Iris network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.iris import load_network, load_split
from hesc.papers.iris_contenders import Layered, LeveledNetwork, Monomial
from hesc.papers.report import Contender, Options, Report, alternating, medians
from hesc.params import Params

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc.networks import SquareNetwork

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


def _peers(network: SquareNetwork) -> dict[str, Contender]:
    from hesc.papers.seal_peer.layered import LayeredPeer
    from hesc.papers.seal_peer.leveled import LeveledBfv, LeveledCkks
    from hesc.papers.seal_peer.monomial import MonomialCkks, MonomialStreams

    bfv, ckks = Params.preset(BFV), Params.preset(CKKS)
    degree = bfv.ring_degree or 0
    return {
        "SEAL: HESC with BFV, paper's layout": LayeredPeer(
            network, "bfv", degree, bfv.coeff_moduli, plain_modulus=bfv.plain_modulus
        ),
        "SEAL: HESC with CKKS, paper's layout": LayeredPeer(
            network, "ckks", degree, ckks.coeff_moduli, scale=ckks.scale or 0
        ),
        "SEAL: leveled BFV, N=8192": LeveledBfv(network),
        "SEAL: leveled CKKS, N=8192": LeveledCkks(network),
        "SEAL: our layout, L=64": MonomialStreams(
            network, degree, bfv.coeff_moduli, stream_length=64
        ),
        "SEAL: our single product in CKKS, N=2048": MonomialCkks(network),
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
    """Measures all contenders, one inference of each in turn."""
    network, split = load_network(), load_split()
    features, classes = split.test_features, split.test_classes
    contenders: dict[str, Contender] = {
        "hesc: HESC with BFV, paper's layout": Layered(network, Params.preset(BFV)),
        "hesc: HESC with CKKS, paper's layout": Layered(network, Params.preset(CKKS)),
        "hesc: best mode, L=64": Monomial(network, Params.preset(BEST)),
        "hesc: leveled CKKS, N=8192": LeveledNetwork(network, "ckks"),
        "hesc: leveled BFV, N=8192": LeveledNetwork(network, "bfv"),
    }
    if options.peer == "seal":
        contenders |= _peers(network)
    repetitions = 5 if options.quick else 30
    runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in contenders}
    right: dict[str, list[bool]] = {name: [] for name in contenders}
    errors: dict[str, list[NDArray[np.float64]]] = {name: [] for name in contenders}

    def one(name: str) -> Callable[[int], Mapping[str, float]]:
        def run(number: int) -> Mapping[str, float]:
            flower = number % len(features)
            sample = features[flower : flower + 1]
            stages, outputs = contenders[name].run(sample)
            outputs = np.asarray(outputs).reshape(1, -1)
            right[name].append(bool(outputs.argmax() == classes[flower]))
            errors[name].append(outputs - network.values(sample))
            return stages

        return run

    rounds = options.track(range(repetitions), "measuring")
    for name, stages in alternating({name: one(name) for name in contenders}, rounds):
        runs[name].append(stages)
    times = {name: medians(of_name) for name, of_name in runs.items()}

    rows: list[dict[str, Any]] = []
    for name, stages in times.items():
        fused = stages.get("Fusion", 0.0) + stages.get("Separation", 0.0)
        rows.append(
            {
                "contender": name,
                **{stage: stages.get(stage) for stage in STAGES},
                "Fusion+Sep.": fused or None,
                "Total": stages["Total"],
                "right": float(np.mean(right[name])),
                "RMSE": float(np.sqrt(np.mean(np.square(errors[name])))),
                "bytes up": contenders[name].bytes_up,
                "bytes down": contenders[name].bytes_down,
            }
        )
    rows += [
        {"contender": f"paper: {name}", **dict(zip((*STAGES, "Total"), row, strict=True))}
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
            "model owner its own coefficients, and one product of ciphertexts remains; SEAL is "
            "given the same in the rows 'our layout' and 'our single product'",
            "the leveled rows of both libraries run one program on one layout: 64 slots for a "
            "sample, three products, four rotations; BFV's fixed point has 4 bits after the point, "
            "hesc's sets keep the 2024 guidelines, SEAL's the 2018 standard",
            "the paper's CKKS set for HESC has an 18-bit modulus; hesc refuses it (its noise "
            "exceeds the scale), so both libraries run 27 bits here",
            "serialisation is outside the times; bytes are those of the wire forms; this build of "
            "SEAL does not compress: packing its 27-bit residues would save a factor of 64 / 27",
        ],
    )
    best = times["hesc: best mode, L=64"]["Total"]
    report.ratios["float.accuracy"] = float(np.mean(network.predict(features) == classes))
    report.ratios["best_mode.accuracy"] = accuracy(network, features, classes)
    if options.peer == "seal":
        ours = times["hesc: HESC with BFV, paper's layout"]
        theirs = times["SEAL: HESC with BFV, paper's layout"]

        def evaluation(stages: Mapping[str, float]) -> float:
            return stages["FC1"] + stages["ACT"] + stages["FC2"]

        by_name = {row["contender"]: row for row in rows}

        def size(name: str) -> int:
            return int(by_name[name]["bytes up"] + by_name[name]["bytes down"])

        def leveled(scheme: str) -> float:
            return (
                times[f"SEAL: leveled {scheme}, N=8192"]["Total"]
                / times[f"hesc: leveled {scheme}, N=8192"]["Total"]
            )

        report.ratios |= {
            "leveled_ckks.total": leveled("CKKS"),
            "leveled_bfv.total": leveled("BFV"),
            "paper_layout.total": theirs["Total"] / ours["Total"],
            "paper_layout.encrypt": theirs["Enc"] / ours["Enc"],
            "paper_layout.evaluate": evaluation(theirs) / evaluation(ours),
            "paper_layout.decrypt": theirs["Dec"] / ours["Dec"],
            "best_mode.total": theirs["Total"] / best,
            "best_mode.bytes": size("SEAL: HESC with BFV, paper's layout")
            / size("hesc: best mode, L=64"),
            "vs_leveled_ckks.total": times["SEAL: leveled CKKS, N=8192"]["Total"] / best,
            "vs_leveled_bfv.total": times["SEAL: leveled BFV, N=8192"]["Total"] / best,
        }
        _add_batches(report, network, features, options)
    return report


def _add_batches(
    report: Report, network: SquareNetwork, features: NDArray[np.float64], options: Options
) -> None:
    """Rows for many inferences at once, where the other side is at its best."""
    from hesc.papers.seal_peer.leveled import BatchedCkks
    from hesc.papers.seal_peer.monomial import MonomialCkks

    batched, single = BatchedCkks(network), MonomialCkks(network)
    ours = Monomial(network, Params.preset(BEST))
    sizes: dict[str, tuple[Contender, int]] = {
        "SEAL: leveled CKKS, a batch of 4096": (batched, batched.samples),
        "SEAL: our single product in CKKS, a batch of 22": (single, single.samples),
        "hesc: best mode, a batch of 64": (ours, 64),
    }
    repetitions = 2 if options.quick else 5
    runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in sizes}
    errors: dict[str, float] = {}

    def one(name: str) -> Callable[[int], Mapping[str, float]]:
        contender, samples = sizes[name]
        sample = np.resize(features, (samples, features.shape[1]))

        def run(_: int) -> Mapping[str, float]:
            stages, outputs = contender.run(sample)
            errors[name] = float(np.sqrt(np.mean((outputs - network.values(sample)) ** 2)))
            return {stage: time / samples for stage, time in stages.items()}

        return run

    rounds = options.track(range(repetitions), "measuring batches")
    for name, stages in alternating({name: one(name) for name in sizes}, rounds):
        runs[name].append(stages)
    for name, (contender, samples) in sizes.items():
        stages = medians(runs[name])
        fused = stages.get("Separation")
        report.rows.append(
            {
                "contender": f"{name}, per inference",
                **{stage: stages.get(stage) for stage in STAGES},
                "Fusion+Sep.": fused,
                "Total": stages["Total"],
                "RMSE": errors[name],
                "bytes up": round(contender.bytes_up / samples),
                "bytes down": round(contender.bytes_down / samples),
            }
        )
    totals = {row["contender"]: row["Total"] for row in report.rows}
    winner = min(totals, key=lambda name: totals[name])
    report.notes.append(f"least time per inference: {winner} ({totals[winner] * 1e3:.1f} us)")


def plot(report: Report, path: Path) -> None:
    """Stacked bars of the stages."""
    from hesc.papers.plots import stage_bars

    stage_bars(report, (*STAGES, "Fusion+Sep."), path)

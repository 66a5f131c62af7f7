"""`koseki2022hesc` table 5: fusion and separation of result ciphertexts at N = 2048."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc._native import FusionError
from hesc._support.stages import Staged, medians
from hesc.params import Params
from hesc.protocols.streams.staged import Layered
from hesc.streams.iris import load_network, load_split
from hesc_papers.report import Report, alternating

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from hesc._support.studies import Options
    from hesc.streams.networks import SquareNetwork

IDENTIFIER: Final = "koseki2022hesc:table-5"
TITLE: Final = "Iris inference with and without fusion, N = 2048"

STAGES: Final = ("B2S", "Enc", "FC1", "ACT", "FC2", "Fusion", "Dec", "Separation", "S2B")
PAPER: Final = {
    "paper: without": (0.563, 2.980, 0.202, 0.521, 1.699, None, 50.090, None, 9.813, 65.869),
    "paper: fused, base 6": (0.558, 2.959, 0.201, 0.516, 1.716, 4.719, 8.965, 5.497, 5.103, 30.234),
}
SET: Final = "hestd2018_koseki_bfv_2048"
CKKS_SET: Final = "hestd2018_koseki_ckks_2048"
BASE: Final = 6
DIGITS: Final = 5


def wrapping_share(network: SquareNetwork) -> str:
    """What hesc says to the paper's six digits in base 6 at t = 12289."""
    candidate = Layered(network, Params.preset(SET), digits=DIGITS + 1, base=BASE)
    try:
        candidate.run(load_split().test_features[:1])
    except FusionError as error:
        return str(error)
    raise AssertionError("six digits in base 6 need 46655 < t; this must be refused")


def reproduce(options: Options) -> Report:
    """Measures fused and unfused inference in turn."""
    network, split = load_network(), load_split()
    params = Params.preset(SET)
    candidates: dict[str, Staged] = {
        "hesc: without": Layered(network, params),
        f"hesc: fused, base {BASE}, {DIGITS} digits": Layered(
            network, params, digits=DIGITS, base=BASE
        ),
    }
    ckks = Params.preset(CKKS_SET)
    candidates |= {
        "hesc: CKKS, without": Layered(network, ckks),
        f"hesc: CKKS, fused, base {BASE}, {DIGITS} digits": Layered(
            network, ckks, digits=DIGITS, base=BASE
        ),
    }
    if "seal" in options.peers:
        from hesc_papers.seal_peer.layered import LayeredPeer

        for name, digits in (("without", 1), (f"fused, base {BASE}, {DIGITS} digits", DIGITS)):
            candidates[f"SEAL: {name}"] = LayeredPeer(
                network,
                "bfv",
                params.ring_degree or 0,
                params.coeff_moduli,
                plain_modulus=params.plain_modulus,
                stream_length=1024,
                digits=digits,
            )
    repetitions = 3 if options.quick else 15
    errors: dict[str, list[Any]] = {name: [] for name in candidates}

    def one(name: str) -> Callable[[int], Mapping[str, float]]:
        def run(number: int) -> Mapping[str, float]:
            flower = number % len(split.test_features)
            sample = split.test_features[flower : flower + 1]
            stages, outputs = candidates[name].run(sample)
            errors[name].append(np.ravel(outputs) - network.values(sample)[0])
            return stages

        return run

    runs: dict[str, list[Mapping[str, float]]] = {name: [] for name in candidates}
    rounds = options.track(range(repetitions), "measuring")
    work = {name: one(name) for name in candidates}
    for name, stages in alternating(work, rounds, quick=options.quick):
        runs[name].append(stages)
    times = {name: medians(of_name) for name, of_name in runs.items()}
    rows: list[dict[str, Any]] = [
        {
            "candidate": name,
            **{stage: stages.get(stage) for stage in STAGES},
            "Total": stages["Total"],
            "RMSE": float(np.sqrt(np.mean(np.square(errors[name])))),
            "bytes down": candidates[name].bytes_down,
        }
        for name, stages in times.items()
    ]
    rows += [
        {"candidate": name, **dict(zip((*STAGES, "Total"), row, strict=True))}
        for name, row in PAPER.items()
    ]
    plain, fused = list(times)[:2]
    report = Report(
        IDENTIFIER,
        TITLE,
        "ms",
        rows,
        ratios={
            "fusion.decrypt": times[plain]["Dec"] / times[fused]["Dec"],
            "fusion.total": times[plain]["Total"] / times[fused]["Total"],
        },
        parameters={"sets": [repr(params), repr(ckks)], "stream_length": 1024, "threads": 1},
        repetitions=repetitions,
        notes=[
            "the paper fuses six ciphertexts in base 6 at t = 12289, where 6^6 - 1 = 46655 wraps; "
            f"hesc refuses: {wrapping_share(network)!r}",
        ],
    )
    if "seal" in options.peers:
        report.ratios |= {
            "peer.without.total": times["SEAL: without"]["Total"] / times[plain]["Total"],
            "peer.fused.total": times[f"SEAL: fused, base {BASE}, {DIGITS} digits"]["Total"]
            / times[fused]["Total"],
        }
    return report


def plot(report: Report, path: Path) -> None:
    """Stacked bars of the stages."""
    from hesc_papers.plots import stage_bars

    stage_bars(report, STAGES, path)

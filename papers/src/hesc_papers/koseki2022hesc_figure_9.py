"""`koseki2022hesc` figure 9: accuracy of the Iris network against the stream length.

Run on the scheme that encrypts nothing: on equal streams it gives the same outputs as BFV and
CKKS to the last bit, which the tests check.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.params import Params
from hesc.protocols.streams.staged import Monomial
from hesc.secret import Decryptor, keygen
from hesc.streams.encryptor import Encryptor
from hesc.streams.iris import load_network, load_split
from hesc.streams.networks.layered import COPIES, LayeredModel, encrypt_query
from hesc_papers import conventional
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options
    from hesc.streams.networks import SquareNetwork

IDENTIFIER: Final = "koseki2022hesc:figure-9"
TITLE: Final = "Accuracy of the Iris network against the stream length"

LENGTHS: Final = (16, 32, 64, 128, 256, 512, 1024, 2048)
CURVES: Final = (
    "conventional (Bernoulli)",
    "concatenated (Bernoulli)",
    "concatenated (Sobol)",
    "best mode (Sobol)",
)


def outputs(
    curve: str, network: SquareNetwork, features: NDArray[np.float64], length: int, seed: int
) -> NDArray[np.float64]:
    """Outputs (samples, outputs) of one way to compute."""
    # Counts reach 5; a block holds one stream of any of the lengths.
    params = Params.insecure_plain(block_length=max(64, length), plain_modulus=12289)
    if curve == "best mode (Sobol)":
        params = Params.insecure_plain(block_length=16 * max(64, length), plain_modulus=32)
        return Monomial(network, params, stream_length=length, seed=seed).run(features)[1]
    secret, public = keygen(params)
    generator = "sobol" if "Sobol" in curve else "bernoulli"

    def encryptor(first_dimension: int, random_state: int) -> Encryptor:
        return Encryptor(
            public,
            length,
            generator=generator,
            layout="one_per_block",
            first_dimension=first_dimension,
            random_state=random_state,
        )

    model = LayeredModel.encrypt(network, encryptor(COPIES, 2 * seed))
    query = encrypt_query(network, encryptor(0, 2 * seed + 1), features)
    result = (
        conventional.evaluate(model, query, 3 * seed)
        if curve.startswith("conventional")
        else model.evaluate(query)
    )
    return Decryptor(secret).decrypt(result)


def reproduce(options: Options) -> Report:
    """Accuracy on the 30 test flowers, mean over seeds."""
    network, split = load_network(), load_split()
    seeds = 5 if options.quick else 50
    lengths = LENGTHS[1::2] if options.quick else LENGTHS
    exact = network.values(split.test_features)
    expected = float(np.mean(exact.argmax(axis=1) == split.test_classes))
    rows: list[dict[str, Any]] = []
    cases = [(length, curve) for length in lengths for curve in CURVES]
    for length, curve in options.track(cases, "figure 9"):
        results = [
            outputs(curve, network, split.test_features, length, seed) for seed in range(seeds)
        ]
        accuracies = [
            float(np.mean(result.argmax(axis=1) == split.test_classes)) for result in results
        ]
        rows.append(
            {
                "curve": curve,
                "stream_length": length,
                "accuracy": float(np.mean(accuracies)),
                "lowest": min(accuracies),
                "equal to float": float(np.mean(np.isclose(accuracies, expected))),
                "RMSE": float(np.sqrt(np.mean([np.mean((r - exact) ** 2) for r in results]))),
            }
        )
    return Report(
        IDENTIFIER,
        TITLE,
        "share of 30 test flowers",
        rows,
        ratios={"float.accuracy": expected},
        parameters={"seeds": seeds, "scheme": "plain"},
        repetitions=seeds,
        notes=[
            "the paper shows this figure as a plot only: concatenated sums reach float at L = 1024 "
            "and stay above conventional ones everywhere",
            "conventional sums multiply the error of one stream by their weight, 101 for this "
            "network, whose outputs differ by about 1: they would need streams of 2^16 bits",
            "curves are at equal stream length, not at equal cost: the best mode decrypts 45 "
            "streams of products that are computed in the clear, concatenated sums decrypt 303",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Accuracy curves with the line of floating point."""
    from hesc_papers.plots import figure

    with figure(path) as axes:
        for curve in CURVES:
            points = [row for row in report.rows if row["curve"] == curve]
            x = [row["stream_length"] for row in points]
            axes.plot(x, [row["accuracy"] for row in points], marker="o", label=curve)
        axes.axhline(report.ratios["float.accuracy"], color="black", linestyle="--", label="float")
        axes.set_xscale("log", base=2)
        axes.set_xlabel("stream length")
        axes.set_ylabel("accuracy on 30 test flowers")
        axes.set_title(report.title)
        # Below: curves come from everywhere.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=3, fontsize=9)
        axes.grid(alpha=0.3)

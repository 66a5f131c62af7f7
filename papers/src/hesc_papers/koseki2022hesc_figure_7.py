"""`koseki2022hesc` figure 7: errors of f and g against averages, through encryption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hesc_papers.encrypted_outlines import ENCRYPTED, PEER, exact_ckks
from hesc_papers.polynomial_errors import (
    AVERAGES,
    STREAM_LENGTH,
    Curve,
    error_rows,
    rmse,
    values,
)
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "koseki2022hesc:figure-7"
TITLE: Final = "Errors of f and g against averages, encrypted"

DEGREES: Final = {"f": 2, "g": 3}
GAIN_LENGTH: Final = 1024
GAINS: Final = {"f": 2, "degree_10": 10}


def reproduce(options: Options) -> Report:
    """Mean and maximum errors of the encrypted polynomials; what encoders gain, in simulation."""
    samples = 10 if options.quick else max(AVERAGES)
    rows: list[dict[str, Any]] = []
    cases = [(degree, name) for degree in DEGREES.values() for name in ENCRYPTED]
    for degree, name in options.track(cases, "encrypting"):
        preset, curve = ENCRYPTED[name]
        results = [values(curve, degree, seed, preset=preset) for seed in range(samples)]
        rows += error_rows(name, degree, results)
    if "seal" in options.peers:
        for degree in DEGREES.values():
            # Each encryption has noise of its own.
            rows += error_rows(PEER, degree, [exact_ckks(degree) for _ in range(samples // 5)])
    seeds = 5 if options.quick else 40
    ratios = {}
    for name, degree in GAINS.items():
        error = {
            generator: rmse(Curve(generator), degree, seeds, stream_length=GAIN_LENGTH)
            for generator in ("bernoulli", "sobol", "joint")
        }
        ratios[f"{name}.rmse_gain_1024"] = error["bernoulli"] / error["joint"]
        ratios[f"{name}.rmse_gain_1024_sobol"] = error["bernoulli"] / error["sobol"]
    # All in one result ciphertext, against the paper's way to do that.
    one = Curve("joint", "mixed", 1)
    ratios["degree_10.rmse_gain_1024_one_ciphertext"] = rmse(
        Curve("bernoulli", "multiplexed"), 10, seeds, stream_length=GAIN_LENGTH
    ) / rmse(one, 10, seeds, stream_length=GAIN_LENGTH)
    return Report(
        IDENTIFIER,
        TITLE,
        "value",
        rows,
        ratios=ratios,
        parameters={
            "stream_length": STREAM_LENGTH,
            "gain_length": GAIN_LENGTH,
            "presets": {name: preset for name, (preset, _) in ENCRYPTED.items()},
        },
        repetitions=samples,
        notes=[
            "the paper shows this figure as a plot only, and says that averages cannot remove the "
            "error and reduce it slower than by the square root; ours fall by the square root for "
            "independent streams, as independent errors must",
            "rmse_gain_1024: root mean square error of Bernoulli streams over that of the encoder, "
            "concatenated sums, streams of 1024 bits; one_ciphertext: the conventional sum over "
            "joint streams divided at best",
            "what limits Sobol streams at degree 10: the gain of a product of k factors is that of "
            "a net in k dimensions, gone at k = 10 and L = 1024; jointly encoded streams need no "
            "net, since every prefix has the right weight by construction",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Mean (solid) and maximum (dashed) errors, a panel for each polynomial."""
    from hesc_papers.plots import figure

    names = list(dict.fromkeys(row["curve"] for row in report.rows))
    with figure(path, (11, 5), shape=(1, 2)) as panels:
        for axes, (polynomial, degree) in zip(panels, DEGREES.items(), strict=True):
            # The same streams under both schemes: their curves lie over each other.
            colours = ("tab:blue", "tab:orange", "tab:green", "gray")
            styles = zip(names, colours, (5, 1.5, 1.5, 1.5), strict=False)
            for name, colour, width in styles:
                points = [r for r in report.rows if (r["curve"], r["degree"]) == (name, degree)]
                x = [row["averages"] for row in points]
                for column, style in (("mean error", "-"), ("maximum error", "--")):
                    y = [row[column] for row in points]
                    label = f"{name}, {column.split()[0]}"
                    axes.plot(x, y, style, color=colour, lw=width, marker="o", ms=4, label=label)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel("averages")
            axes.set_title(f"{polynomial}, degree {degree}")
            axes.grid(alpha=0.3, which="both")
        panels[0].set_ylabel("error")
        panels[1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))

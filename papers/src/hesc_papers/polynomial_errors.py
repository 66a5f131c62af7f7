"""How far all-one polynomials are from their values: the curves of figures 1 to 3 and 5 to 7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.params import Params
from hesc.secret import Decryptor, keygen
from hesc.streams.encryptor import Encryptor
from hesc.streams.polynomials import Polynomial
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options

X: Final = np.round(np.linspace(-1, 1, 201), 2)
STREAM_LENGTH: Final = 2048
AVERAGES: Final = (1, 2, 5, 10, 20, 50, 100)
# Slots, so that every sum is possible.
SIMULATED: Final = "bfv_2048_slots"


@dataclass(frozen=True)
class Curve:
    """An encoder and a way to sum."""

    generator: str
    method: str = "concatenated"
    ciphertexts: int | None = None


CURVES: Final[Mapping[str, Curve]] = {
    "conventional (paper)": Curve("bernoulli", "multiplexed"),
    "concatenated (paper)": Curve("bernoulli"),
    "concatenated, exact weight": Curve("exact_weight"),
    "concatenated, Sobol": Curve("sobol"),
    "concatenated, joint": Curve("joint"),
    "one ciphertext, joint, divided at best": Curve("joint", "mixed", 1),
}
PAPERS: Final = ("conventional (paper)", "concatenated (paper)")


def all_one(degree: int) -> Polynomial:
    """`1 + x + ... + x^n`."""
    return Polynomial(np.ones(degree + 1))


def values(
    curve: Curve,
    degree: int,
    seed: int,
    *,
    stream_length: int = STREAM_LENGTH,
    preset: str | None = None,
) -> NDArray[np.float64]:
    """The polynomial at all `X`: encrypted under a preset, or simulated if there is none."""
    params = Params.preset(preset or SIMULATED)
    secret, public = keygen(params, mode="simulate" if preset is None else "encrypt")
    polynomial = all_one(degree)
    encryptor = Encryptor(
        public,
        stream_length,
        generator=curve.generator,
        layout="one_per_block",
        random_state=1_000_003 * degree + seed,
    )
    summation = polynomial.summation(
        stream_length, method=curve.method, ciphertexts=curve.ciphertexts, random_state=seed
    )
    inputs = polynomial.encrypt_inputs(encryptor, X)
    return Decryptor(secret).decrypt(polynomial.evaluate(inputs, summation))


def averaged_errors(
    samples: Sequence[NDArray[np.float64]], exact: NDArray[np.float64], averages: int
) -> tuple[float, float]:
    """Mean and largest error of averages of so many samples.

    Mean over the groups that the samples divide into; of the largest errors the mean too, so that
    it does not grow with the number of groups.
    """
    groups = len(samples) // averages
    means = np.mean(
        np.reshape(samples[: groups * averages], (groups, averages, len(exact))), axis=1
    )
    errors = np.abs(means - exact)
    return float(errors.mean()), float(errors.max(axis=1).mean())


def error_rows(
    name: str, degree: int, samples: Sequence[NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """A row for each number of averages that the samples allow."""
    exact = all_one(degree)(X)
    rows = []
    for averages in AVERAGES:
        if averages <= len(samples):
            mean, largest = averaged_errors(samples, exact, averages)
            rows.append(
                {
                    "curve": name,
                    "degree": degree,
                    "averages": averages,
                    "mean error": mean,
                    "maximum error": largest,
                }
            )
    return rows


def rmse(curve: Curve, degree: int, seeds: int, *, stream_length: int) -> float:
    """Root mean square error over all `X` and so many seeds."""
    exact = all_one(degree)(X)
    errors = [values(curve, degree, s, stream_length=stream_length) - exact for s in range(seeds)]
    return float(np.sqrt(np.mean(np.square(errors))))


def outline(path: Path, report: Report, names: Sequence[str]) -> None:
    """The curves of a report over x, side by side, with the exact polynomial."""
    from hesc_papers.plots import figure

    exact = np.asarray(report.series["exact"])
    columns = 2 if len(names) == 4 else min(3, len(names))
    rows = -(-len(names) // columns)
    with figure(path, (4.2 * columns, 3.4 * rows), shape=(rows, columns)) as panels:
        for axes, name in zip(np.ravel(panels), names, strict=False):
            points = np.asarray(report.series[name])
            axes.plot(X, points, ".", markersize=3, color="tab:blue", label="decrypted")
            axes.plot(X, exact, color="black", linewidth=1, label="exact")
            axes.set_title(
                f"{name}: RMSE {np.sqrt(np.mean((points - exact) ** 2)):.1e}", fontsize=9
            )
            axes.set_xlabel("x")
            axes.set_xticks([-1, -0.5, 0, 0.5, 1])
            axes.grid(alpha=0.3)
        for axes in np.ravel(panels)[len(names) :]:
            axes.set_visible(False)
        for axes in np.reshape(panels, (rows, columns))[:, 0]:
            axes.set_ylabel("value of the polynomial")
        first = np.ravel(panels)[0]
        first.legend()
        first.figure.suptitle(report.title)


def outline_rows(curves: Mapping[str, NDArray[np.float64]], degree: int) -> list[dict[str, Any]]:
    """Errors of outlines: a row for each."""
    exact = all_one(degree)(X)
    return [
        {
            "curve": name,
            "RMSE": float(np.sqrt(np.mean((points - exact) ** 2))),
            "mean error": float(np.abs(points - exact).mean()),
            "maximum error": float(np.abs(points - exact).max()),
        }
        for name, points in curves.items()
    ]


def sum_study(
    identifier: str, title: str, column: str, notes: list[str], options: Options
) -> Report:
    """Figures 2 and 3: errors of every curve, degree and number of averages, in simulation.

    Ratios are means of the column over the degrees.
    """
    rows: list[dict[str, Any]] = []
    degrees = (2, 10) if options.quick else range(1, 11)
    samples = 20 if options.quick else max(AVERAGES)
    cases = [(name, degree) for degree in degrees for name in CURVES]
    for name, degree in options.track(cases, "simulating"):
        results = [values(CURVES[name], degree, seed) for seed in range(samples)]
        rows += error_rows(name, degree, results)
    return Report(
        identifier,
        title,
        "value",
        rows,
        ratios=_sum_ratios(rows, column),
        parameters={"stream_length": STREAM_LENGTH, "scheme": "simulated"},
        repetitions=max(row["averages"] for row in rows),
        notes=notes,
    )


def _sum_ratios(rows: Sequence[Mapping[str, Any]], column: str) -> dict[str, float]:
    """What the paper says of figures 2 and 3, from our rows: means over the degrees."""

    def mean(name: str, averages: int, degrees: Sequence[int] | None = None) -> float:
        found = [
            row[column]
            for row in rows
            if row["curve"] == name
            and row["averages"] == averages
            and (degrees is None or row["degree"] in degrees)
        ]
        return float(np.mean(found))

    conventional, concatenated = PAPERS
    return {
        "averaging_10.reduction_conventional": 1 - mean(conventional, 10) / mean(conventional, 1),
        "averaging_10.reduction_concatenated": 1 - mean(concatenated, 10) / mean(concatenated, 1),
        "concatenated_below_conventional_10": 1 - mean(concatenated, 10) / mean(conventional, 10),
        "growth_2_to_10.conventional": mean(conventional, 1, [10]) / mean(conventional, 1, [2]),
        "growth_2_to_10.concatenated": mean(concatenated, 1, [10]) / mean(concatenated, 1, [2]),
        "joint_below_concatenated": 1 - mean("concatenated, joint", 1) / mean(concatenated, 1),
    }


def plot_sums(report: Report, column: str, path: Path) -> None:
    """Errors against the degree for 1, 10 and 100 averages, a panel for each."""
    from hesc_papers.plots import figure

    shown = sorted({row["averages"] for row in report.rows} & {1, 10, 100})
    with figure(path, (4.2 * len(shown) + 2.8, 4.6), shape=(1, len(shown))) as panels:
        for axes, averages in zip(np.ravel(panels), shown, strict=True):
            for name in CURVES:
                points = [
                    row
                    for row in report.rows
                    if row["curve"] == name and row["averages"] == averages
                ]
                style = "--" if name in PAPERS else "-"
                x = [row["degree"] for row in points]
                axes.plot(x, [row[column] for row in points], style, marker="o", ms=4, label=name)
            axes.set_yscale("log")
            axes.set_xlabel("degree n of the all-one polynomial")
            axes.set_title("no average" if averages == 1 else f"average of {averages}")
            axes.grid(alpha=0.3, which="both")
        np.ravel(panels)[0].set_ylabel(column)
        np.ravel(panels)[-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))

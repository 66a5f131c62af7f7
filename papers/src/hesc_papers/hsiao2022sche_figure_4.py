"""`hsiao2022sche` figure 4: a classifier by linear regression, in binary and in bit streams.

In the clear: encryption changes no bit. The paper names neither its data nor its split; these are
the breast cancer data of scikit-learn, 30 features in [-1, 1], a third to test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from hesc.streams.encoding import Encoder
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from hesc._support.studies import Options

IDENTIFIER: Final = "hsiao2022sche:figure-4"
TITLE: Final = "Linear regression with a threshold: R² against the precision"

PRECISIONS: Final = tuple(range(2, 11))
BINARY: Final = "binary"
# By curve, the generator and how products are added: half of every stream, as often as there are
# operands to halve (the paper's scaled adder), or all of them one after the other (hesc's).
STREAMS: Final = {
    "Bernoulli, scaled sums": ("bernoulli", "scaled"),
    "LFSR, scaled sums": ("lfsr", "scaled"),
    "Sobol, scaled sums": ("sobol", "scaled"),
    "Bernoulli, concatenated": ("bernoulli", "concatenated"),
    "exact weight, concatenated": ("exact_weight", "concatenated"),
    "LFSR, concatenated": ("lfsr", "concatenated"),
    "Halton, concatenated": ("halton", "concatenated"),
    "Sobol, not scrambled, concatenated": ("plain_sobol", "concatenated"),
    "Sobol, concatenated": ("sobol", "concatenated"),
    "joint, concatenated": ("joint", "concatenated"),
}


class Regression(NamedTuple):
    """A trained model and what it is tested on."""

    weights: NDArray[np.float64]
    """(features,), in [-1, 1]; multiplied by `scale`."""
    scale: float
    intercept: float
    features: NDArray[np.float64]
    """(samples, features), in [-1, 1]."""
    classes: NDArray[np.float64]
    """(samples,), 0 or 1."""

    def outputs(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The model's outputs from the sums of products."""
        return self.scale * sums + self.intercept

    def score(self, outputs: NDArray[np.float64]) -> tuple[float, float]:
        """R² and accuracy."""
        residual = np.sum((outputs - self.classes) ** 2)
        total = np.sum((self.classes - self.classes.mean()) ** 2)
        return float(1 - residual / total), float(np.mean((outputs > 0.5) == self.classes))


def train() -> Regression:
    """The regression on two thirds of the breast cancer data, split with a fixed seed."""
    data = load_breast_cancer()
    classes = data.target.astype(np.float64)
    train_x, test_x, train_y, test_y = train_test_split(
        data.data, classes, test_size=1 / 3, random_state=0, stratify=data.target
    )
    scaler = MinMaxScaler((-1, 1), clip=True).fit(train_x)
    model = LinearRegression().fit(scaler.transform(train_x), train_y)
    scale = float(np.abs(model.coef_).max())
    return Regression(
        model.coef_ / scale, scale, float(model.intercept_), scaler.transform(test_x), test_y
    )


def quantised(values: NDArray[np.float64], bits: int) -> NDArray[np.float64]:
    """Signed numbers of `bits` bits next to these, in [-1, 1)."""
    step = 2.0 ** (1 - bits)
    return np.clip(np.rint(values / step) * step, -1, 1 - step)


def stream_sums(
    model: Regression, bits: int, generator: str, addition: str, seed: int
) -> NDArray[np.float64]:
    """The sums of products by streams of `2^bits` bits."""
    encoder = Encoder(2**bits, generator=generator, random_state=seed)
    if generator == "joint":
        # One party encodes both factors of each product.
        pairs = np.stack(np.broadcast_arrays(model.features, model.weights))
        left, right = encoder.encode_factors(pairs)
        products = left * right
    else:
        products = encoder.encode(model.features) * encoder.encode(model.weights)
    mean = (
        products.multiplexed_sum(random_state=seed)
        if addition == "scaled"
        else products.concatenated_sum()
    )
    return len(model.weights) * mean.values


def reproduce(options: Options) -> Report:
    """R² and accuracy on the test part, means over seeds."""
    model = train()
    seeds = 3 if options.quick else 30
    precisions = PRECISIONS[::4] if options.quick else PRECISIONS
    exact = model.outputs(model.features @ model.weights)
    r2, accuracy = model.score(exact)
    rows: list[dict[str, Any]] = []
    for bits in options.track(precisions, "figure 4"):
        outputs = {
            BINARY: [
                model.outputs(quantised(model.features, bits) @ quantised(model.weights, bits))
            ]
        }
        for curve, (generator, addition) in STREAMS.items():
            outputs[curve] = [
                model.outputs(stream_sums(model, bits, generator, addition, seed))
                for seed in range(seeds)
            ]
        for curve, of_seeds in outputs.items():
            scores = np.array([model.score(output) for output in of_seeds])
            rows.append(
                {
                    "curve": curve,
                    "bits": bits,
                    "R2": float(scores[:, 0].mean()),
                    "accuracy": float(scores[:, 1].mean()),
                    "RMSE": float(np.sqrt(np.mean((np.array(of_seeds) - exact) ** 2))),
                }
            )
    return Report(
        IDENTIFIER,
        TITLE,
        "n bits, streams of 2^n bits",
        rows,
        ratios={"float.r2": r2, "float.accuracy": accuracy},
        parameters={"seeds": seeds, "features": len(model.weights), "test": len(model.classes)},
        repetitions=seeds,
        notes=[
            "the paper's floating-point R² is 0.81, on data it does not name; its figure is a "
            "plot only: streams stay far below binary numbers of equal precision",
            "negative R²: worse than answering the mean class every time",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """R² and accuracy, side by side."""
    from hesc_papers.plots import figure

    with figure(path, (14, 5), (1, 2)) as axes:
        columns = (("R2", "R²", "float.r2"), ("accuracy", "accuracy", "float.accuracy"))
        for axis, (column, label, ratio) in zip(axes, columns, strict=True):
            for curve in (BINARY, *STREAMS):
                points = [row for row in report.rows if row["curve"] == curve]
                style = {"scaled": ":", "concatenated": "-"}[
                    STREAMS.get(curve, ("", "concatenated"))[1]
                ]
                axis.plot(
                    [row["bits"] for row in points],
                    [row[column] for row in points],
                    style,
                    marker="s" if curve == BINARY else ".",
                    color="black" if curve == BINARY else None,
                    label=curve,
                )
            axis.axhline(report.ratios[ratio], color="gray", linestyle="--", label="float")
            axis.set_xlabel("n: bits of a number, streams of 2^n bits")
            axis.set_ylabel(label)
            axis.grid(alpha=0.3)
        axes[0].set_ylim(-1, 1)
        axes[1].legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.02, 1))
        axes[0].set_title(report.title)

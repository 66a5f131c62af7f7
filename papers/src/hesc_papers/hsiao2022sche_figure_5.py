"""`hsiao2022sche` figure 5: products of streams and array multipliers, in vectors of 8192.

Computed as in the paper, and measured with what the paper's library lacked: exclusive ors of packed
bits, and slots.
"""

from __future__ import annotations

import math
import statistics
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.encryptor import Encryptor
from hesc.leveled import LeveledParams
from hesc.params import Params
from hesc.secret import Decryptor, keygen, leveled_keygen
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hesc.studies import Options

IDENTIFIER: Final = "hsiao2022sche:figure-5"
TITLE: Final = "SIMD: products of streams over array multipliers"

VECTOR: Final = 8192
PRECISIONS: Final = (3, 4, 6, 8, 10)
PRODUCTS: Final = tuple(2**k for k in range(15))
# Slots of a ciphertext are a vector.
SLOTS: Final = "bfv_8192"


def speedup(bits: int, products: int) -> float:
    """Vector gates of array multipliers, a number in a slot, over those of streams side by side."""
    binary = 6 * bits**2 * math.ceil(products / VECTOR)
    streams = math.ceil(products * 2**bits / VECTOR)
    return float(binary / streams)


def timed(operation: Callable[[], object], repetitions: int) -> float:
    """The median of seconds; the first run is not counted."""
    operation()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        operation()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class Vectors:
    """Seconds of one operation on a vector of 8192 bits or numbers, each checked once."""

    def __init__(self, repetitions: int) -> None:
        params = LeveledParams.preset(SLOTS)
        secret, public = leveled_keygen(params)
        rng = np.random.default_rng(0)
        a, b = rng.integers(0, 2, (2, VECTOR))
        x, y = public.encrypt(a), public.encrypt(b)
        _equal(secret.decrypt(x * y), a * b)
        # An AND gate of a vector, and a product of 8192 whole numbers, are one operation.
        self.slot_product = timed(lambda: x * y, repetitions)
        self.seconds = {
            "AND": self._stream_product("unipolar_bfv_8192", repetitions),
            "XOR": self._stream_product("bfv_1024", repetitions),
        }

    @staticmethod
    def _stream_product(preset: str, repetitions: int) -> float:
        """A product of streams with 8192 bits in all."""
        secret, public = keygen(Params.preset(preset))
        unipolar = preset.startswith("unipolar")
        encryptor = Encryptor(
            public,
            256,
            representation="unipolar" if unipolar else "inverted_bipolar",
            layout="side_by_side",
        )
        values = np.linspace(0, 1, VECTOR // 256)
        x, y = encryptor.encrypt(values), encryptor.encrypt(values[::-1])
        product = Decryptor(secret).decrypt(x * y)
        if np.max(np.abs(product - values * values[::-1])) > 0.1:
            raise AssertionError(f"the product of streams under {preset} is wrong")
        return timed(lambda: x * y, repetitions)


def _equal(found: object, expected: object) -> None:
    if not np.array_equal(np.asarray(found), np.asarray(expected)):
        raise AssertionError("a product of slots is wrong")


def reproduce(options: Options) -> Report:
    """A row for each precision and number of products."""
    vectors = Vectors(5 if options.quick else 30)
    rows: list[dict[str, Any]] = []
    products = PRODUCTS[::7] if options.quick else PRODUCTS
    for bits in PRECISIONS:
        for count in products:
            # Times of whole vectors, as ciphertexts have them.
            numbers = math.ceil(count / VECTOR) * vectors.slot_product
            gates = 6 * bits**2 * numbers
            streams = math.ceil(count * 2**bits / VECTOR)
            rows.append(
                {
                    "bits": bits,
                    "products": count,
                    "computed": speedup(bits, count),
                    "AND": gates / (streams * vectors.seconds["AND"]),
                    "XOR": gates / (streams * vectors.seconds["XOR"]),
                    "numbers": gates / numbers,
                    "XOR/numbers": numbers / (streams * vectors.seconds["XOR"]),
                }
            )
    milliseconds = {name: 1e3 * seconds for name, seconds in vectors.seconds.items()}
    return Report(
        IDENTIFIER,
        TITLE,
        "times as fast as array multipliers in vectors",
        rows,
        ratios={
            "xor.vs_vector_gate": vectors.slot_product / vectors.seconds["XOR"],
            "and.vs_vector_gate": vectors.slot_product / vectors.seconds["AND"],
        },
        parameters={
            "vector": VECTOR,
            "slots": SLOTS,
            "vector gate, ms": 1e3 * vectors.slot_product,
            "AND of streams, ms": milliseconds["AND"],
            "XOR of streams, ms": milliseconds["XOR"],
        },
        notes=[
            "computed: vector gates of both, which the paper takes to be equally long",
            "AND: streams in slots (unipolar_bfv_8192), XOR: inverted-bipolar streams in "
            "coefficients modulo 2 (bfv_1024, eight ciphertexts a vector), in whole vectors; both "
            f"over 6 n² vector gates, each a product in the slots of {SLOTS}: measured gates times "
            "their number, since no circuit of depth 8n fits without bootstraps",
            "numbers: 8192 exact products of whole numbers are one such operation, so that gates "
            "are never the way to multiply in slots; XOR/numbers: streams over that",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """The paper's curves, and ours."""
    from hesc_papers.plots import figure

    with figure(path, (13, 5), (1, 2)) as axes:
        for axis, columns in zip(axes, (("computed",), ("XOR", "AND", "XOR/numbers")), strict=True):
            for bits, colour in zip(
                PRECISIONS,
                ("tab:blue", "tab:orange", "tab:green", "tab:red", "tab:purple"),
                strict=True,
            ):
                points = [row for row in report.rows if row["bits"] == bits]
                for column, style in zip(columns, ("-", "--", ":"), strict=False):
                    x, y = ([row[key] for row in points] for key in ("products", column))
                    axis.plot(x, y, style, color=colour, label=f"{column}, n = {bits}")
            axis.axhline(1, color="gray", linewidth=0.8)
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            axis.set_xlabel("independent products")
            axis.grid(alpha=0.3)
        axes[0].set_title("computed, vectors of 8192")
        axes[1].set_title("measured: XOR -, AND --; XOR over exact numbers in slots :")
        axes[0].set_ylabel("times as fast")
        axes[0].legend(fontsize=8)
        axes[1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5))

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

from hesc import packing
from hesc.packing.secret import decrypt_slots
from hesc.params import Params
from hesc.secret import Decryptor, keygen
from hesc.streams.encryptor import Encryptor
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hsiao2022sche:figure-5"
TITLE: Final = "SIMD: products of streams over array multipliers"

VECTOR: Final = 8192
PRECISIONS: Final = (3, 4, 6, 8, 10)
PRODUCTS: Final = tuple(2**k for k in range(15))
# Engines of vector gates, each a product of ciphertexts, and the products of a full adder: modulo 2
# exclusive ors are additions, and a carry is (a + b)(a + c) + a; modulo a prime there are two.
GATES: Final = {"bfv_8192": 2, "bgv_8192": 2, "bgv_13107": 1}
# Where products of streams run.
STREAMS: Final = {
    "AND": "unipolar_bgv_8192",
    "AND, BFV": "unipolar_bfv_8192",
    "AND, t = 2": "unipolar_bgv_13107",
    "XOR": "bfv_1024",
}


def speedup(bits: int, products: int) -> float:
    """Vector gates of array multipliers, a number in a slot, over those of streams side by side."""
    binary = 6 * bits**2 * math.ceil(products / VECTOR)
    streams = math.ceil(products * 2**bits / VECTOR)
    return float(binary / streams)


def multiplier_gates(bits: int, products_of_an_adder: int) -> int:
    """Products of an array multiplier: those of its bits, and those of its full adders."""
    return bits**2 + products_of_an_adder * bits * (bits - 1)


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
        #: A gate on a vector, by engine.
        self.gates = {name: self._gate(name, repetitions) for name in GATES}
        #: A product of streams of a vector's bits.
        self.streams = {name: self._streams(of, repetitions) for name, of in STREAMS.items()}
        #: 8192 products of whole numbers, which are one operation where slots hold numbers.
        self.numbers = min(self.gates["bfv_8192"], self.gates["bgv_8192"])

    def multiplier(self, bits: int) -> float:
        """The fastest array multiplier of vectors."""
        return min(multiplier_gates(bits, GATES[name]) * self.gates[name] for name in GATES)

    @staticmethod
    def _gate(preset: str, repetitions: int) -> float:
        """A product of vectors of bits, in as many ciphertexts as they take."""
        params = Params.preset(preset)
        secret, public = keygen(params)
        rng = np.random.default_rng(0)
        a, b = rng.integers(0, 2, (2, params.slot_count))
        x: Any
        y: Any
        if params.ring_index % 2:
            x, y = (packing.encrypt(public, bits, content="numbers") for bits in (a, b))
            found = decrypt_slots(secret, x * y)
        else:
            x, y = public.encrypt(a, bound=1), public.encrypt(b, bound=1)
            found = secret.decrypt(x * y)
        if not np.array_equal(found, a * b):
            raise AssertionError(f"the product of slots under {preset} is wrong")
        return VECTOR / int(params.slot_count) * timed(lambda: x * y, repetitions)

    @staticmethod
    def _streams(preset: str, repetitions: int) -> float:
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


def reproduce(options: Options) -> Report:
    """A row for each precision and number of products."""
    vectors = Vectors(5 if options.quick else 30)
    rows: list[dict[str, Any]] = []
    products = PRODUCTS[::7] if options.quick else PRODUCTS
    for bits in PRECISIONS:
        for count in products:
            # Times of whole vectors, as ciphertexts have them.
            vectors_of_numbers = math.ceil(count / VECTOR)
            gates = vectors_of_numbers * vectors.multiplier(bits)
            numbers = vectors_of_numbers * vectors.numbers
            of_streams = math.ceil(count * 2**bits / VECTOR)
            rows.append(
                {
                    "bits": bits,
                    "products": count,
                    "computed": speedup(bits, count),
                    **{
                        name: gates / (of_streams * seconds)
                        for name, seconds in vectors.streams.items()
                    },
                    "numbers": gates / numbers,
                    "XOR/numbers": numbers / (of_streams * vectors.streams["XOR"]),
                }
            )
    gate = min(vectors.gates.values())
    return Report(
        IDENTIFIER,
        TITLE,
        "times as fast as array multipliers in vectors",
        rows,
        ratios={
            "xor.vs_vector_gate": gate / vectors.streams["XOR"],
            "and.vs_vector_gate": gate / vectors.streams["AND"],
            "and_modulo_2.vs_vector_gate": gate / vectors.streams["AND, t = 2"],
        },
        parameters={
            "vector": VECTOR,
            **{f"gate, {name}, ms": 1e3 * value for name, value in vectors.gates.items()},
            **{f"{name}, ms": 1e3 * value for name, value in vectors.streams.items()},
        },
        notes=[
            "computed: vector gates of both, which the paper takes to be equally long; a "
            "multiplier has 6 n²",
            f"AND: unipolar streams in slots ({', '.join(list(STREAMS.values())[:3])}), XOR: "
            "inverted-bipolar streams in coefficients modulo 2 (bfv_1024, eight ciphertexts a "
            "vector), in whole vectors",
            "measured against the fastest array multiplier: products with relinearisation in the "
            f"slots of {', '.join(GATES)}, 3 n² - 2 n of them modulo a prime, 2 n² - n modulo 2 "
            "where exclusive ors are additions; one gate's time times their number",
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
        for axis in axes:
            axis.set_ylabel("times as fast")
        axes[0].figure.suptitle(report.title)
        axes[0].legend(fontsize=8)
        axes[1].legend(fontsize=7, loc="center left", bbox_to_anchor=(1.02, 0.5))

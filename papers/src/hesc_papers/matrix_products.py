"""`hesc:matrices`: products of encrypted matrices by slots and by streams, beside TenSEAL.

koseki2022hesc (section 4.3) has them by streams, babenko2020ckksbfv (section 5) names them as what
slots are for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import hesc
from hesc_papers.matrix_slots import KINDS, Products
from hesc_papers.matrix_streams import StreamProduct
from hesc_papers.report import Report

if TYPE_CHECKING:
    from pathlib import Path

    from hesc._support.studies import Options

IDENTIFIER: Final = "hesc:matrices"
TITLE: Final = "Products of encrypted matrices"
PEERS: Final = ("tenseal",)

SCHEMES: Final = ("bfv", "bgv", "ckks")
# Rows, inner entries and columns.
SHAPES: Final = (
    (8, 8, 8),
    (16, 16, 16),
    (1, 64, 64),
    (33, 65, 17),
    (64, 64, 64),
    (128, 128, 128),
)
QUICK: Final = SHAPES[:1]
# Half the ring degree, without room for anything else: the rivals of streams in bytes.
SMALL: Final = ("bgv_4096", "ckks_4096")
# TenSEAL has a ciphertext for each entry of two encrypted matrices: minutes for larger ones.
PEER_SHAPES: Final = {"ckks": SHAPES[:3], "bfv": SHAPES[:1]}


def reproduce(options: Options) -> Report:
    """Multiplies, compares with numpy, and times it."""
    rounds = 3 if options.quick else 9
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    shapes = QUICK if options.quick else SHAPES
    tasks = [Products(scheme, shape) for shape in shapes for scheme in SCHEMES]
    small = [Products(name.partition("_")[0], shape, name) for shape in shapes for name in SMALL]
    for products in options.track([*tasks, *small], "multiplying in slots"):
        # Small sets have no room for the masks of least bytes.
        kinds = [kind for kind in KINDS if "bytes" not in kind or products not in small]
        for kind in kinds:
            row = products.ours(kind, rounds)
            rows.append(row)
            known = products.shape in PEER_SHAPES.get(products.set, ())
            if "tenseal" in options.peers and known and "bytes" not in kind:
                rows.append(products.theirs(kind))
                sides = "x".join(map(str, products.shape))
                name = f"{products.scheme}.{sides}.{kind.replace(' ', '_')}"
                ratios[name] = row["ms"] / rows[-1]["ms"]
    streams = [each for shape in shapes for each in StreamProduct.all(shape)]
    rows += [
        product.row(rounds, quick=options.quick)
        for product in options.track(streams, "multiplying by streams")
    ]
    return Report(
        IDENTIFIER,
        TITLE,
        "a product of a left matrix (rows x inner) and a right one (inner x columns)",
        rows,
        ratios=ratios,
        repetitions=rounds,
        parameters={
            scheme: repr(hesc.Params.recommended(scheme, encoding="vectors")) for scheme in SCHEMES
        },
        notes=[
            "times are the processor's, on one thread; T is a transform of 8192 points by a prime "
            "of 50 bits, beside each. What is timed is the server's part; a matrix in the clear is "
            "encoded in it. Products, masks and rotations are counted by the plan",
            "Jiang, Kim, Lauter and Song (2018, section 4) count 3 d + 5 sqrt(d) rotations, d "
            "products and three levels for two matrices of side d in a ciphertext each; here "
            "whoever encrypts lays diagonals out, which saves 5 sqrt(d) rotations and a level",
            "bytes up are those of the owner of the secret key, half of them seeds",
            "errors of slots are the largest of the run, stated ones a bound; those of streams are "
            "root mean squares over entries and draws, stated ones by the law before anything is "
            "encrypted; `over reported` is the same of errors over those that decryption reports",
            "streams: the shortest that keep 0.1 and 0.025; selected sums have one stream for an "
            "entry, as long as a block holds. Whoever decrypts sees every term of concatenated "
            "sums, of selected ones those that were selected; in slots nothing but the product. "
            "Where `rows at once` is less than the rows, one band of them was multiplied, answered "
            "and decrypted, and times and bytes are its own times the number of bands: all terms "
            "at once would take gigabytes",
            "TenSEAL: ring degree 8192, for CKKS primes of 60, 40, 40 and 60 bits, tensors with a "
            "ciphertext for each entry (CKKSTensor.mm, BFVTensor.mm), of one row a vector in one "
            "ciphertext (CKKSVector.mm); one thread, timed once; ratios are hesc's time over "
            "TenSEAL's",
        ],
    )


def plot(report: Report, path: Path) -> None:
    """Milliseconds of each candidate, a bar each."""
    from hesc_papers.plots import figure

    names = [row["candidate"] for row in report.rows]
    colours = {
        "hesc: bfv": "tab:blue",
        "hesc: bgv": "tab:orange",
        "hesc: bgv_4096": "tab:orange",
        "hesc: ckks": "tab:green",
        "hesc: ckks_4096": "tab:green",
    }
    with figure(path, (9, 0.22 * len(names) + 1.5)) as axes:
        axes.barh(
            range(len(names)),
            [row["ms"] for row in report.rows],
            color=[
                "tab:purple" if "streams" in name else colours.get(name.split(",")[0], "tab:gray")
                for name in names
            ],
        )
        axes.set_yticks(range(len(names)), names, fontsize=7)
        axes.margins(y=0.005)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel("milliseconds of a product")
        axes.set_title(report.title)

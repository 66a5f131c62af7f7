"""`hesc:matrices`: products of encrypted matrices, counted and timed, beside TenSEAL."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc import _native
from hesc.vectors import MatrixProduct
from hesc_papers.clock import UNIT, Timing
from hesc_papers.report import Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

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
# Both encrypted with least time and least bytes; a matrix in the clear, which has no such choice
# at most shapes.
KINDS: Final[dict[str, dict[str, Any]]] = {
    "both encrypted": {},
    "both encrypted, least bytes": {"objective": "bytes"},
    "right in the clear": {"clear": "right"},
}
BOUND: Final = 7
# TenSEAL has a ciphertext for each entry of two encrypted matrices: minutes for larger ones.
PEER_SHAPES: Final = {"ckks": SHAPES[:3], "bfv": SHAPES[:1]}


def timed(call: Callable[[], object], rounds: int) -> Timing:
    """The processor's time of a call, the median of rounds, each beside transforms."""
    transform = _native.Transform(*UNIT)

    def once(of: Callable[[], object]) -> float:
        started = time.process_time()
        of()
        return time.process_time() - started

    runs: list[Timing] = []
    for _ in range(rounds):
        before, seconds = once(lambda: transform.seconds(200)) / 200, once(call)
        after = once(lambda: transform.seconds(200)) / 200
        runs.append(Timing(seconds, 2 * seconds / (before + after)))
    return Timing(*(statistics.median(column) for column in zip(*runs, strict=True)))


class Products:
    """Matrices of a shape, drawn, and products of them."""

    def __init__(self, scheme: str, shape: tuple[int, int, int]) -> None:
        self.scheme, self.shape = scheme, shape
        rows, inner, columns = shape
        self.sides = (rows, inner), (inner, columns)
        rng = np.random.default_rng(0)
        self.exact = scheme != "ckks"
        self.matrices: list[NDArray[Any]] = [
            rng.integers(-BOUND, BOUND + 1, side) if self.exact else rng.uniform(-1, 1, side)
            for side in self.sides
        ]

    def error(self, found: NDArray[Any]) -> float:
        """The largest error of an entry."""
        return float(np.abs(found - self.matrices[0] @ self.matrices[1]).max())

    def ours(self, kind: str, rounds: int) -> dict[str, Any]:
        """What hesc's plan states, and what is measured."""
        bounds = (BOUND, BOUND) if self.exact else None
        params = hesc.Params.recommended(self.scheme, encoding="vectors")
        plan = MatrixProduct(params, *self.sides, bounds=bounds, **KINDS[kind])
        secret, public = hesc.keygen(params, **plan.keys)
        declared: dict[str, Any] = {"bound": BOUND} if self.exact else {}
        operands: list[Any] = [
            matrix
            if plan.clear == side
            else [public.encrypt(vector, **declared) for vector in lay(matrix)]
            for side, lay, matrix in zip(
                ("left", "right"), (plan.left, plan.right), self.matrices, strict=True
            )
        ]
        product = plan.multiply(*operands)
        error = self.error(plan.matrix([secret.decrypt(vector) for vector in product]))
        if error > plan.error_bound:
            raise RuntimeError(f"an entry is off by {error}, and {plan.error_bound} was stated")
        timing = timed(lambda: plan.multiply(*operands), rounds)
        return {
            "candidate": self.name("hesc", kind),
            "ciphertexts up": sum(plan.ciphertexts[:2]),
            "down": plan.ciphertexts[2],
            "products": plan.products,
            "masks": plan.masks,
            "rotations": plan.rotations,
            "levels": plan.levels,
            "keys for them": len(plan.keys["rotations"]) + plan.keys["conjugate"],
            "MB of keys": plan.key_bytes / 1e6,
            "MB up": plan.bytes_up / 1e6,
            "MB down": plan.bytes_down / 1e6,
            "ms": 1e3 * timing.seconds,
            "T": timing.units,
            "error": error,
            "error stated": plan.error_bound,
        }

    def theirs(self, kind: str) -> dict[str, Any]:
        """The same of TenSEAL, timed once."""
        from hesc_papers.tenseal_peer import Matrices

        peer = Matrices(self.scheme)
        left, right = self.matrices
        a: Any
        b: Any
        if kind == "both encrypted":
            a, b = peer.encrypt(left), peer.encrypt(right)
        elif len(left) == 1:
            a, b = peer.row(left[0]), right.tolist()
        else:
            a, b = peer.encrypt(left), peer.plain(right)
        row = len(left) == 1 and kind != "both encrypted"
        found: list[Any] = []
        timing = timed(lambda: found.append(a.mm(b)), 1)
        return {
            "candidate": self.name("TenSEAL", kind),
            "ciphertexts up": 1
            if row
            else left.size + (right.size if kind == "both encrypted" else 0),
            "down": 1 if row else left.shape[0] * right.shape[1],
            "ms": 1e3 * timing.seconds,
            "T": timing.units,
            "error": self.error(peer.decrypt(found[0], (left.shape[0], right.shape[1]))),
        }

    def name(self, library: str, kind: str) -> str:
        """The name of a row."""
        return f"{library}: {self.scheme}, {' x '.join(map(str, self.shape))}, {kind}"


def reproduce(options: Options) -> Report:
    """Multiplies, compares with numpy, and times it."""
    rounds = 3 if options.quick else 9
    rows: list[dict[str, Any]] = []
    ratios: dict[str, float] = {}
    shapes = QUICK if options.quick else SHAPES
    tasks = [Products(scheme, shape) for shape in shapes for scheme in SCHEMES]
    for products in options.track(tasks, "multiplying"):
        for kind in KINDS:
            row = products.ours(kind, rounds)
            rows.append(row)
            known = products.shape in PEER_SHAPES.get(products.scheme, ())
            if "tenseal" in options.peers and known and "bytes" not in kind:
                rows.append(products.theirs(kind))
                sides = "x".join(map(str, products.shape))
                name = f"{products.scheme}.{sides}.{kind.replace(' ', '_')}"
                ratios[name] = row["ms"] / rows[-1]["ms"]
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
    colours = {"hesc: bfv": "tab:blue", "hesc: bgv": "tab:orange", "hesc: ckks": "tab:green"}
    with figure(path, (9, 0.22 * len(names) + 1.5)) as axes:
        axes.barh(
            range(len(names)),
            [row["ms"] for row in report.rows],
            color=[colours.get(name.split(",")[0], "tab:gray") for name in names],
        )
        axes.set_yticks(range(len(names)), names, fontsize=7)
        axes.margins(y=0.005)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel("milliseconds of a product")
        axes.set_title(report.title)

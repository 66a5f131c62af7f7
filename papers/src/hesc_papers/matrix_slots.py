"""Products of encrypted matrices in slots: what plans state, and what is measured."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import hesc
from hesc import _native
from hesc.vectors import MatrixProduct
from hesc_papers.clock import UNIT, Timing

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Both encrypted with least time and least bytes; a matrix in the clear, which has no such choice
# at most shapes.
KINDS: Final[dict[str, dict[str, Any]]] = {
    "both encrypted": {},
    "both encrypted, least bytes": {"objective": "bytes"},
    "right in the clear": {"clear": "right"},
}
BOUND: Final = 7


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

    def __init__(self, scheme: str, shape: tuple[int, int, int], small: str | None = None) -> None:
        """By the set of that scheme which is recommended, or by a smaller one's name."""
        self.scheme, self.shape = scheme, shape
        self.set = small or scheme
        self.params = (
            hesc.Params.preset(small)
            if small
            else hesc.Params.recommended(scheme, encoding="vectors")
        )
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
        plan = MatrixProduct(self.params, *self.sides, bounds=bounds, **KINDS[kind])
        secret, public = hesc.keygen(self.params, **plan.keys)
        declared: dict[str, Any] = {"bound": BOUND} if self.exact else {}

        def encrypted() -> list[Any]:
            return [
                matrix
                if plan.clear == side
                else [public.encrypt(vector, **declared) for vector in lay(matrix)]
                for side, lay, matrix in zip(
                    ("left", "right"), (plan.left, plan.right), self.matrices, strict=True
                )
            ]

        operands = encrypted()
        product = plan.multiply(*operands)

        def decrypted() -> NDArray[Any]:
            return plan.matrix([secret.decrypt(vector) for vector in product])

        error = self.error(decrypted())
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
            "depth": plan.depth,
            "levels": plan.levels,
            "keys for them": len(plan.keys["rotations"]) + plan.keys["conjugate"],
            "MB of keys": plan.key_bytes / 1e6,
            "MB up": plan.bytes_up / 1e6,
            "MB down": plan.bytes_down / 1e6,
            "ms": 1e3 * timing.seconds,
            "T": timing.units,
            "ms to encrypt": 1e3 * timed(encrypted, rounds).seconds,
            "ms to decrypt": 1e3 * timed(decrypted, rounds).seconds,
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
        return f"{library}: {self.set}, {' x '.join(map(str, self.shape))}, {kind}"

"""The integers and the Kreyvium of the crate `tfhe`, in builds of `make peers`."""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc import _native
from hesc._native import HescError

if TYPE_CHECKING:
    from hesc._support.studies import Options

WIDTHS: Final = (8, 16, 32, 64)
OPERATIONS: Final = ("add", "less", "multiply", "divide")
# Bits of a product or quotient from which one run, of half a minute and more, has to do.
LONG: Final = 32
# The seconds that a prepared call takes are its own: encryption is before, the check after it.
ROUNDS: Final = 5


class Peer(NamedTuple):
    """Seconds of each operation, by its name and width: "add64"."""

    seconds: dict[str, float]

    def rows(self) -> list[dict[str, Any]]:
        """Rows of a report: one number at a time, of any depth."""
        return [
            {
                "what": f"tfhe: {name}",
                "computes": "one pair of numbers",
                "parameters": "the crate's default, 2^-128",
                "numbers": 1,
                "ms": 1e3 * seconds,
                "ms each": 1e3 * seconds,
                "note": "products have as many bits as factors; no limit of depth",
            }
            for name, seconds in self.seconds.items()
        ]


def measured(options: Options) -> Peer:
    """Times the crate's integers, one thread; each result is checked.

    Raises:
        HescError: in a build without them.

    """
    keys = _checked().TfheIntegers()
    rng = np.random.default_rng(0)
    tasks = [
        (operation, width)
        for operation in OPERATIONS
        for width in WIDTHS
        if not options.quick or (operation != "divide" and width <= 16) or operation == "add"
    ]
    seconds: dict[str, float] = {}
    for operation, width in options.track(tasks, "the crate tfhe"):
        long = operation in {"multiply", "divide"} and width >= LONG
        runs = []
        for _ in range(1 if long or options.quick else ROUNDS):
            a, b = (int(rng.integers(1, 2**width - 1, dtype=np.uint64)) for _ in range(2))
            runs.append(keys.time(operation, width, a, b))
        seconds[f"{operation}{width}"] = statistics.median(runs)
    return Peer(seconds)


def kreyvium(bits: int) -> tuple[float, float]:
    """Seconds until the crate's Kreyvium has warmed up, and of so many bits after it."""
    warm, rest = _checked().time_tfhe_kreyvium(bits)
    return float(warm), float(rest)


def is_there() -> bool:
    """Whether this build has the crate's integers."""
    return hasattr(_native, "TfheIntegers")


def version() -> str:
    """The crate's, by the lock file that it was built with."""
    lock = Path(__file__).parents[3] / "Cargo.lock"
    found = re.search(r'name = "tfhe"\nversion = "([^"]+)"', lock.read_text())
    return found[1] if found else "unknown"


def _checked() -> Any:
    if not is_there():
        raise HescError("this build has no integers of the crate tfhe: run `make peers` first")
    return _native

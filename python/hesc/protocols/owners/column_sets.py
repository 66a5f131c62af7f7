"""Parameter sets for sums of encrypted columns, and how much their encryption errs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from hesc.params.parameter_set import Params

if TYPE_CHECKING:
    from hesc.params.vectors import VectorParams

_NOISE: Final = 11_500.0
"""The root mean square of the noise of a fresh number under the public key, before the scale: for
`N = 4096` and deviation 3.2 it is `sqrt(N / 2) * 3.2 * sqrt(4 N / 3 + 1)`, 10,703, over keys, whose
norms vary, and tests measure it."""


class _Set(NamedTuple):
    moduli: tuple[int, int]
    """Moduli: that of answers, and the one that is dropped after the products with weights."""
    scale: float


_SETS: Final = {
    "66 bits": _Set((68719403009, 1073692673), 2.0**30),
    "106 bits": _Set((72057594037641217, 1125899906826241), 2.0**50),
}
"""CKKS in the ring of 4096, for one product with a weight. The primes are the largest of 36 and 30,
and of 56 and 50 bits, that are 1 modulo 8192."""
SETS: Final = tuple(_SETS)
"""Names of the sets, the smallest first."""
SLOTS: Final = 2048


@cache
def params_of(name: str) -> VectorParams:
    """The parameter set of a name."""
    stated = _SETS[name]
    found: VectorParams = Params.lattice(
        "ckks", 2 * SLOTS, stated.moduli, special_moduli=(), scale=stated.scale
    )
    return found


def noise_of(name: str) -> float:
    """The root mean square of the error of a fresh number that is at most one."""
    return _NOISE / _SETS[name].scale

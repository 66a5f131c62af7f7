"""Products of factors by CKKS: factors in slots, multiplied in a tree."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.params import wire_sizes
from hesc.params.parameter_set import Params
from hesc.planner import probes
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import StageCount, counted
from hesc.protocols.candidates.for_problems import ForProducts
from hesc.secret import keygen
from hesc.vectors.blanks import blank
from hesc.vectors.encrypted_vectors import EncryptedVector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import ProductProblem, Task

FACTORS: Final = ((2, 1), (8, 1), (4, 256), (8, 2048), (2, 1024))
"""Factors and samples that products are timed on."""


class CkksFactors(ForProducts):
    """Products of encrypted vectors in a tree, with as many levels as the tree is deep."""

    def __init__(self, preset: str) -> None:
        self.name = f"{preset.split('_', maxsplit=1)[0]} products"
        self._preset = preset

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for factors, samples in FACTORS:
            yield probes.products(rng, factors, samples, 0.01)

    def products(self, task: Task, problem: ProductProblem) -> Estimate | Infeasible:
        """See `ForProducts`."""
        params = Params.preset(self._preset)
        depth = (problem.factors - 1).bit_length()
        if depth > params.depth:
            return Infeasible(self.name, f"{self._preset} has {params.depth} levels, not {depth}")
        error, level = claims(self._preset, problem.factors)
        batches = -(-task.samples // params.slot_count)
        uploads = batches * problem.factors
        return Estimate(
            way=self.name,
            parameters=self._preset,
            work=counted(
                f"factors.{self._preset}",
                encrypt=StageCount(uploads, 0, task.samples * problem.factors),
                answer=StageCount(uploads, batches * (problem.factors - 1), 0),
                decrypt=StageCount(batches, 0, task.samples),
            ),
            up=wire_sizes.vector(params) * uploads,
            down=wire_sizes.vector(params, level=level) * batches,
            held=_relinearisation(params),
            error=error,
            failure=batches * LATTICE,
            sees=Sees("scores", noise_tells="the factors"),
            prepare=partial(_FactorSides, params, problem.factors),
        )


@cache
def claims(preset: str, factors: int) -> tuple[float, int]:
    """The claimed error of a product, and its level."""
    found = _product([blank(Params.preset(preset), seeded=False)] * factors)
    return found.error_bound, found.level


def _relinearisation(params: VectorParams) -> int:
    """Bytes of the relinearisation key, beside the public key."""
    return wire_sizes.keys(params) - wire_sizes.keys(params, products=False)


def _product(factors: Sequence[EncryptedVector]) -> EncryptedVector:
    """All of them, in a tree."""
    left = list(factors)
    while len(left) > 1:
        pairs = zip(left[::2], left[1::2], strict=False)
        left = [a * b for a, b in pairs] + left[len(left) - len(left) % 2 :]
    return left[0]


class _FactorSides:
    def __init__(self, params: VectorParams, factors: int) -> None:
        self._factors, self._slots = factors, params.slot_count
        self._secret, self._public = keygen(params)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All factors of some samples, then of the next; under the public key."""
        return [
            self._public.encrypt(row[first : first + self._slots]).to_bytes()
            for first in range(0, x.shape[1], self._slots)
            for row in x
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """The server's part: products of the factors."""
        params = self._secret.params
        read = [EncryptedVector.from_bytes(params, data).with_keys(self._public) for data in up]
        size = self._factors
        return [_product(read[at : at + size]).to_bytes() for at in range(0, len(read), size)]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """The products."""
        read = [EncryptedVector.from_bytes(self._secret.params, data) for data in down]
        return np.concatenate([np.real(self._secret.decrypt(vector)) for vector in read])

    def held(self) -> int:
        """The relinearisation key."""
        return _relinearisation(self._secret.params)

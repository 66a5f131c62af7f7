"""Products of factors by CKKS: factors in slots, multiplied in a tree."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.params.parameter_set import Params
from hesc.planner import probes
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import Count, counted
from hesc.protocols.candidates.problems import ForProducts
from hesc.secret import keygen
from hesc.vectors.vectors import EncryptedVector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import Products, Task

FACTORS: Final = ((2, 1), (8, 1), (4, 256), (8, 2048), (2, 1024))
"""Factors and samples that products are timed on."""


class LeveledFactors(ForProducts):
    """Products of encrypted vectors in a tree, with as many levels as the tree is deep."""

    def __init__(self, preset: str) -> None:
        self.name = f"{preset.split('_', maxsplit=1)[0]} products"
        self._preset = preset

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for factors, samples in FACTORS:
            yield probes.products(rng, factors, samples, 0.01)

    def products(self, task: Task, problem: Products) -> Estimate | Infeasible:
        """See `ForProducts`."""
        params = Params.preset(self._preset)
        depth = (problem.factors - 1).bit_length()
        if depth > params.depth:
            return Infeasible(self.name, f"{self._preset} has {params.depth} levels, not {depth}")
        error, up, down, keys = facts(self._preset, problem.factors)
        batches = -(-task.samples // params.slot_count)
        uploads = batches * problem.factors
        return Estimate(
            way=self.name,
            parameters=self._preset,
            work=counted(
                f"factors.{self._preset}",
                encrypt=Count(uploads, 0, task.samples * problem.factors),
                answer=Count(uploads, batches * (problem.factors - 1), 0),
                decrypt=Count(batches, 0, task.samples),
            ),
            up=up * uploads,
            down=down * batches,
            held=keys,
            error=error,
            failure=batches * LATTICE,
            sees=Sees("scores", noise_tells="the factors"),
            prepare=partial(_Parties, params, problem.factors),
        )


@cache
def facts(preset: str, factors: int) -> tuple[float, int, int, int]:
    """The claimed error of a product; bytes up, down, and of the relinearisation key.

    From ciphertexts of zeros under keys that are thrown away: claims and sizes are public.
    """
    parties = _Parties(Params.preset(preset), factors)
    up = parties.encrypt(np.zeros((factors, 1)))
    (down,) = parties.answer(up)
    return parties.claimed(down), len(up[0]), len(down), parties.held()


class _Parties:
    def __init__(self, params: VectorParams, factors: int) -> None:
        self._factors, self._slots = factors, params.slot_count
        self._secret, self._public = keygen(params)

    def claimed(self, answer: bytes) -> float:
        """The error that an answer claims at most."""
        return EncryptedVector.from_bytes(self._secret.params, answer).error_bound

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """All factors of some samples, then of the next; under the public key."""
        return [
            self._public.encrypt(row[first : first + self._slots]).to_bytes()
            for first in range(0, x.shape[1], self._slots)
            for row in x
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """The server's part: products of the factors."""
        found = []
        for first in range(0, len(up), self._factors):
            left: list[EncryptedVector] = [
                EncryptedVector.from_bytes(self._secret.params, data).with_keys(self._public)
                for data in up[first : first + self._factors]
            ]
            while len(left) > 1:
                pairs = zip(left[::2], left[1::2], strict=False)
                left = [a * b for a, b in pairs] + left[len(left) - len(left) % 2 :]
            found.append(left[0].to_bytes())
        return found

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """The products."""
        read = [EncryptedVector.from_bytes(self._secret.params, data) for data in down]
        return np.concatenate([np.real(self._secret.decrypt(vector)) for vector in read])

    def held(self) -> int:
        """The relinearisation key."""
        return len(self._public.to_bytes()) - len(self._public.only("public").to_bytes())

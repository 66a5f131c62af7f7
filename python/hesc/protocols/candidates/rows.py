"""Scores by CKKS, a ciphertext for each sample: a matrix in the clear times a vector."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.params.parameter_set import Params
from hesc.planner import probes
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import Count, counted
from hesc.protocols.candidates.problems import ForScores
from hesc.secret import keygen
from hesc.vectors.matrices import Matrix, matrix_rotations
from hesc.vectors.vectors import EncryptedVector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import Scores, Task

_PROBES: Final = ((4, 1, 4), (8, 4, 1), (64, 1, 1), (64, 10, 1), (256, 10, 1))
"""Features, outputs and samples that it is timed on."""


class Rows(ForScores):
    """The product by diagonals, with rotations by baby and giant steps."""

    def __init__(self, preset: str) -> None:
        self.name = f"{preset.split('_', maxsplit=1)[0]} rows"
        self._preset = preset

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for shape in _PROBES:
            yield probes.scores(rng, shape, 0.01, "client_server")

    def scores(self, task: Task, problem: Scores) -> Estimate | Infeasible:
        """See `ForScores`."""
        if task.setting == "outsourced":
            return Infeasible(
                self.name, "its weights are in the clear, and the model comes encrypted"
            )
        if not problem.weights.any():
            return Infeasible(
                self.name, "its weights are all zero: its intercepts are the scores, of any sample"
            )
        shape = problem.outputs, problem.features
        error, up, down, keys = facts(self._preset, shape)
        diagonals = _diagonals(shape)
        rotations = len(matrix_rotations(*shape))
        return Estimate(
            way=self.name,
            parameters=self._preset,
            work=counted(
                f"rows.{self._preset}",
                encrypt=Count(task.samples, 0, 0),
                answer=Count(task.samples, task.samples * rotations, task.samples * diagonals),
                decrypt=Count(task.samples, 0, 0),
            ),
            up=up * task.samples,
            down=down * task.samples,
            held=keys + problem.nbytes,
            error=error * problem.largest,
            failure=task.samples * LATTICE,
            sees=Sees("scores", model_at_server=True, noise_tells="the model"),
            prepare=partial(_Parties, Params.preset(self._preset), problem),
        )


def _diagonals(shape: tuple[int, int]) -> int:
    return 1 << (min(shape) - 1).bit_length()


@cache
def facts(preset: str, shape: tuple[int, int]) -> tuple[float, int, int, int]:
    """The claimed error at weights whose rows sum to one; bytes up, down, and of rotation keys.

    From a product under keys that are thrown away: claims and sizes are public.
    """
    params = Params.preset(preset)
    secret, public = keygen(params, products=False, rotations=matrix_rotations(*shape))
    data = secret.encrypt_to_bytes(np.zeros(shape[1]))
    product = Matrix(params, np.full(shape, 1 / shape[1])) @ EncryptedVector.from_bytes(
        params, data
    ).with_keys(public)
    product = product + np.zeros(shape[0])
    return product.error_bound, len(data), len(product.to_bytes()), _keys(public)


def _keys(public: Any) -> int:
    return len(public.to_bytes()) - len(public.only("public").to_bytes())


class _Parties:
    def __init__(self, params: VectorParams, problem: Scores) -> None:
        self._problem = problem
        shape = problem.outputs, problem.features
        self._secret, self._public = keygen(
            params, products=False, rotations=matrix_rotations(*shape)
        )
        self._scales = np.where(problem.reach > 0, problem.reach, 1.0)
        self._matrix = Matrix(params, problem.weights * self._scales / problem.largest)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """A ciphertext for each sample."""
        return [self._secret.encrypt_to_bytes(row / self._scales) for row in x]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """One for each."""
        added = self._problem.intercepts / self._problem.largest
        params = self._secret.params
        read = [EncryptedVector.from_bytes(params, data).with_keys(self._public) for data in up]
        return [(self._matrix @ vector + added).to_bytes() for vector in read]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Scores."""
        read = [EncryptedVector.from_bytes(self._secret.params, data) for data in down]
        found = [np.real(self._secret.decrypt(vector)) for vector in read]
        return np.array(found) * self._problem.largest

    def held(self) -> int:
        """Rotation keys, and the weights."""
        return _keys(self._public) + self._problem.nbytes

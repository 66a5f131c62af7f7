"""Scores by CKKS, a ciphertext for each sample: a matrix in the clear times a vector."""

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
from hesc.protocols.candidates.for_problems import ForScores
from hesc.secret import keygen
from hesc.vectors.blanks import blank
from hesc.vectors.encrypted_vectors import EncryptedVector
from hesc.vectors.matrices import Matrix, matrix_rotations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import ScoreProblem, Task

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

    def scores(self, task: Task, problem: ScoreProblem) -> Estimate | Infeasible:
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
        params = Params.preset(self._preset)
        error, level = claims(self._preset, shape)
        diagonals = _diagonals(shape)
        rotations = len(matrix_rotations(*shape))
        return Estimate(
            way=self.name,
            parameters=self._preset,
            work=counted(
                f"rows.{self._preset}",
                encrypt=StageCount(task.samples, 0, 0),
                answer=StageCount(task.samples, task.samples * rotations, task.samples * diagonals),
                decrypt=StageCount(task.samples, 0, 0),
            ),
            up=wire_sizes.vector(params, seeded=True) * task.samples,
            down=wire_sizes.vector(params, level=level) * task.samples,
            held=_keys(params, shape) + problem.nbytes,
            error=error * problem.largest,
            failure=task.samples * LATTICE,
            sees=Sees("scores", model_at_server=True, noise_tells="the model"),
            prepare=partial(_RowSides, params, problem),
        )


def _diagonals(shape: tuple[int, int]) -> int:
    return 1 << (min(shape) - 1).bit_length()


@cache
def claims(preset: str, shape: tuple[int, int]) -> tuple[float, int]:
    """The claimed error at weights whose rows sum to one, and the level of the product."""
    params = Params.preset(preset)
    vector = blank(params, shape[1], rotations=matrix_rotations(*shape))
    product = Matrix(params, np.full(shape, 1 / shape[1])) @ vector + np.zeros(shape[0])
    return product.error_bound, product.level


def _keys(params: VectorParams, shape: tuple[int, int]) -> int:
    """Bytes of rotation keys, beside the public key."""
    both = wire_sizes.keys(params, products=False, moves=len(matrix_rotations(*shape)))
    return both - wire_sizes.keys(params, products=False)


class _RowSides:
    def __init__(self, params: VectorParams, problem: ScoreProblem) -> None:
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
        shape = self._problem.outputs, self._problem.features
        return _keys(self._secret.params, shape) + self._problem.nbytes

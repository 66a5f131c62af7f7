"""Scores with a ciphertext for each feature and samples in its slots: no rotations.

Approximate numbers by CKKS, or whole ones by BFV, exactly.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import ScoreProblem, Task

    Reals = NDArray[np.float64]

_MOST: Final = 1 << 14
"""Products with weights, at most: more take minutes."""


class Numbers(NamedTuple):
    """A task in the numbers that a scheme computes with."""

    columns: Callable[[Reals], NDArray[Any]]
    """What of samples is encrypted, (samples, features)."""
    weights: Sequence[Sequence[float]]
    """A row for each output."""
    added: Sequence[float]
    """To each output."""
    results: Callable[[NDArray[Any]], Reals]
    """Scores of what was decrypted."""
    error: float
    """The root mean square error of scores, at most."""
    level: int
    """The level that answers are brought down to."""


class Columns(ForScores):
    """Each weight is a number times a ciphertext, and scores are sums of these."""

    def __init__(self, preset: str) -> None:
        self.name = f"{preset.split('_', maxsplit=1)[0]} columns"
        self._preset = preset

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for shape in probes.COLUMNS:
            yield probes.scores(rng, shape, 0.01, "client_server")

    def scores(self, task: Task, problem: ScoreProblem) -> Estimate | Infeasible:
        """See `ForScores`."""
        if task.setting == "outsourced":
            return Infeasible(
                self.name, "its weights are in the clear, and the model comes encrypted"
            )
        size = problem.features * problem.outputs
        if size > _MOST:
            return Infeasible(self.name, f"{size:,} products with ciphertexts are too many")
        params = Params.preset(self._preset)
        numbers = self.numbers(params, problem)
        if isinstance(numbers, str):
            return Infeasible(self.name, numbers)
        batches = -(-task.samples // params.slot_count)
        features, outputs = batches * problem.features, batches * problem.outputs
        return Estimate(
            way=self.name,
            parameters=self._preset,
            work=counted(
                f"columns.{self._preset}",
                encrypt=StageCount(features, 0, task.samples * problem.features),
                answer=StageCount(features, batches * size, outputs),
                decrypt=StageCount(outputs, 0, task.samples * problem.outputs),
            ),
            up=wire_sizes.vector(params, seeded=True) * features,
            down=wire_sizes.vector(params, level=numbers.level) * outputs,
            held=problem.nbytes,
            error=numbers.error,
            failure=outputs * LATTICE,
            sees=Sees("scores", model_at_server=True, noise_tells="the model"),
            prepare=partial(_ColumnSides, params, numbers),
        )

    @abstractmethod
    def numbers(self, params: VectorParams, problem: ScoreProblem) -> Numbers | str:
        """The task in the scheme's numbers, or why that cannot be."""


class ApproximateColumns(Columns):
    """Numbers of CKKS: features and scores within [-1, 1], which its claims on noise are for."""

    def numbers(self, params: VectorParams, problem: ScoreProblem) -> Numbers:
        """See `Columns`."""
        fresh, product = claims(params.name)
        scales, largest = scales_of(problem), problem.largest

        def columns(x: Reals) -> Reals:
            found: Reals = x / scales
            return found

        def results(found: NDArray[Any]) -> Reals:
            scores: Reals = np.real(found) * largest
            return scores

        return Numbers(
            columns,
            (problem.weights * scales / largest).tolist(),
            (problem.intercepts / largest).tolist(),
            results,
            largest * (fresh + product * problem.features),
            # Products with numbers are rescaled.
            len(params.levels) - 1,
        )


def scales_of(problem: ScoreProblem) -> Reals:
    """What features are divided by, to lie within [-1, 1]."""
    return np.where(problem.reach > 0, problem.reach, 1.0)


@cache
def claims(preset: str) -> tuple[float, float]:
    """The claimed error of a fresh number of CKKS, and what a product with a number adds."""
    vector = blank(Params.preset(preset))
    none, one = (vector * 0.0).error_bound, (vector * 1.0).error_bound
    return max(one - none, vector.error_bound), none


class _ColumnSides:
    def __init__(self, params: VectorParams, numbers: Numbers) -> None:
        self._slots, self._numbers = params.slot_count, numbers
        self._secret, _ = keygen(params, products=False)

    def encrypt(self, x: Reals) -> list[bytes]:
        """Column after column, of as many samples as there are slots."""
        numbers = self._numbers.columns(x)
        # Whole numbers are scaled so that sums fit; bounds of vectors round each weight up.
        wrap = not self._secret.params.is_approximate
        return [
            self._secret.encrypt_to_bytes(column, wrap=wrap)
            for first in range(0, len(numbers), self._slots)
            for column in numbers[first : first + self._slots].T
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """A ciphertext for each output."""
        weights, added = self._numbers.weights, self._numbers.added
        features = len(weights[0])
        found = []
        for first in range(0, len(up), features):
            columns = [
                EncryptedVector.from_bytes(self._secret.params, data)
                for data in up[first : first + features]
            ]
            for row, intercept in zip(weights, added, strict=True):
                total = columns[0] * row[0]
                for column, weight in zip(columns[1:], row[1:], strict=True):
                    total = total + column * weight
                total = (total + intercept).mod_switch_to(self._numbers.level)
                found.append(total.to_bytes())
        return found

    def decrypt(self, down: list[bytes]) -> Reals:
        """Scores."""
        outputs = len(self._numbers.weights)
        read = [EncryptedVector.from_bytes(self._secret.params, data) for data in down]
        found = [self._secret.decrypt(vector) for vector in read]
        return self._numbers.results(
            np.concatenate(
                [np.column_stack(found[at : at + outputs]) for at in range(0, len(found), outputs)]
            )
        )

    def held(self) -> int:
        """The weights, in doubles."""
        weights = self._numbers.weights
        return 8 * len(weights) * (len(weights[0]) + 1)

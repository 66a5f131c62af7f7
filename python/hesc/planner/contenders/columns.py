"""Scores by CKKS, a ciphertext for each feature with samples in its slots: no rotations."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.leveled.params import LeveledParams
from hesc.planner.offers import Offer, Refusal
from hesc.planner.roles import Sees
from hesc.planner.tasks import Scores
from hesc.planner.work import Count, counted
from hesc.secret import leveled_keygen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hesc.planner.tasks import Task

_MOST: Final = 1 << 14
"""Products with weights, at most: more take minutes."""


class Columns:
    """Each weight is a number times a ciphertext, and scores are sums of these."""

    def __init__(self, preset: str) -> None:
        self.name = f"{preset.split('_', maxsplit=1)[0]} columns"
        self._preset = preset

    def consider(self, task: Task) -> Offer | Refusal:
        """See `Contender`."""
        problem = task.problem
        if not isinstance(problem, Scores):
            return Refusal(self.name, f"they compute sums with fixed weights, not {problem.name}")
        if task.setting == "outsourced":
            return Refusal(self.name, "weights are numbers in the clear here")
        size = problem.features * problem.outputs
        if size > _MOST:
            return Refusal(self.name, f"{size:,} products of ciphertexts are too many")
        slots, fresh, product, up, down = facts(self._preset)
        batches = -(-task.samples // slots)
        # Of results and features that are at most 1.
        error = problem.largest * (fresh + product * problem.features)
        features, outputs = batches * problem.features, batches * problem.outputs
        return Offer(
            way=self.name,
            parameters=self._preset,
            work=counted(
                f"columns.{self._preset}",
                encrypt=Count(features, 0, task.samples * problem.features),
                answer=Count(features, batches * size, outputs),
                decrypt=Count(outputs, 0, task.samples * problem.outputs),
            ),
            up=up * features,
            down=down * outputs,
            held=problem.nbytes,
            error=error,
            sees=Sees("scores", model_at_server=True, noise_tells="the model"),
            prepare=partial(_Parties, LeveledParams.preset(self._preset), problem, slots),
        )


@cache
def facts(preset: str) -> tuple[int, float, float, int, int]:
    """Slots; the claimed error of a fresh number and what a product adds; bytes up and down.

    From a ciphertext of zeros under a key that is thrown away: claims and sizes are public.
    """
    params = LeveledParams.preset(preset)
    secret, public = leveled_keygen(params, products=False)
    data = secret.encrypt_to_bytes(np.zeros(params.slot_count))
    vector = public.read(data)
    none, one = (vector * 0.0).error_bound, (vector * 1.0).error_bound
    answer = len((vector * 0.5 + 0.25).to_bytes())
    return params.slot_count, max(one - none, vector.error_bound), none, len(data), answer


class _Parties:
    def __init__(self, params: LeveledParams, problem: Scores, slots: int) -> None:
        self._problem, self._slots = problem, slots
        self._secret, self._public = leveled_keygen(params, products=False)
        # Features and results within [-1, 1], which claims on noise are for.
        self._scales = np.where(problem.reach > 0, problem.reach, 1.0)
        self._weights = problem.weights * self._scales / problem.largest
        self._added = problem.intercepts / problem.largest

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """Column after column, of as many samples as there are slots."""
        return [
            self._secret.encrypt_to_bytes(column / scale)
            for first in range(0, len(x), self._slots)
            for column, scale in zip(x[first : first + self._slots].T, self._scales, strict=True)
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """A ciphertext for each output."""
        found = []
        features = self._problem.features
        for first in range(0, len(up), features):
            columns = [self._public.read(data) for data in up[first : first + features]]
            for row, intercept in zip(self._weights, self._added, strict=True):
                total = columns[0] * float(row[0])
                for column, weight in zip(columns[1:], row[1:], strict=True):
                    total = total + column * float(weight)
                found.append((total + float(intercept)).to_bytes())
        return found

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Scores."""
        outputs = self._problem.outputs
        found = [np.real(self._secret.decrypt(self._public.read(data))) for data in down]
        scores = np.concatenate(
            [np.column_stack(found[at : at + outputs]) for at in range(0, len(found), outputs)]
        )
        return scores * self._problem.largest

    def held(self) -> int:
        """The weights."""
        return self._problem.nbytes

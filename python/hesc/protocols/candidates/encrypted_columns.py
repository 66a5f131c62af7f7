"""Scores by CKKS of encrypted features and encrypted weights: a product of ciphertexts for each."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from hesc._native import NoiseBudgetError
from hesc.params import wire_sizes
from hesc.params.parameter_set import Params
from hesc.planner import probes
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import StageCount, counted
from hesc.protocols.candidates.columns import scales_of
from hesc.protocols.candidates.for_problems import ForScores
from hesc.ring_products.plans import power_above
from hesc.secret import keygen
from hesc.vectors.blanks import blank
from hesc.vectors.encrypted_vectors import EncryptedVector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.params.vectors import VectorParams
    from hesc.planner.probes import Probe
    from hesc.planner.tasks import ScoreProblem, Task
    from hesc.secret import SecretKey
    from hesc.vectors.keys import PublicKeys

_PRESETS: Final = ("ckks_4096", "ckks_8192")
"""The smallest that has the error is taken."""
_MOST: Final = 1 << 10
"""Ciphertexts of weights, at most: at a third of a megabyte each."""

_PROBES: Final = ((2, 1, 1), (6, 2, 64), (2, 2, 3000), (32, 1, 1))
"""Features, outputs and samples that it is timed on, at errors of either set."""


class EncryptedColumns(ForScores):
    """Features as in `Columns`; each weight fills the slots of a ciphertext of its own."""

    name = "ckks encrypted columns"

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for shape in _PROBES:
            for error in (1.0, 1e-4):
                yield probes.scores(rng, shape, error, "outsourced")

    def scores(self, task: Task, problem: ScoreProblem) -> Estimate | Infeasible:
        """See `ForScores`."""
        if task.setting != "outsourced":
            return Infeasible(
                self.name,
                "it is for encrypted weights; where the server may have them in the clear, numbers "
                "times ciphertexts do the same without products of ciphertexts",
            )
        size = (problem.features + 1) * problem.outputs
        if size > _MOST:
            return Infeasible(self.name, f"{size:,} ciphertexts of weights are too many")
        under = "secret" if task.own_model else "public"
        largest = power_above(problem.largest)
        chosen: tuple[str, Claims] | None = None
        for preset in _PRESETS:
            found = claims(preset, problem.features, under)
            if found is not None:
                chosen = preset, found
                if largest * found.error <= task.max_error:
                    break
        if chosen is None:
            return Infeasible(self.name, f"sums of {problem.features} products have no room in it")
        preset, found = chosen
        params = Params.preset(preset)
        batches = -(-task.samples // params.slot_count)
        features, outputs = batches * problem.features, batches * problem.outputs
        return Estimate(
            way=self.name,
            parameters=f"{preset}, weights under the {under} key",
            work=counted(
                f"encrypted_columns.{preset}",
                encrypt=StageCount(features, 0, task.samples * problem.features),
                answer=StageCount(features, batches * problem.features * problem.outputs, outputs),
                decrypt=StageCount(outputs, 0, task.samples * problem.outputs),
            ),
            up=wire_sizes.vector(params, seeded=True) * features,
            down=wire_sizes.vector(params, level=found.level) * outputs,
            held=wire_sizes.keys(params)
            + wire_sizes.vector(params, seeded=under == "secret") * size,
            error=largest * found.error,
            failure=outputs * LATTICE,
            sees=Sees("scores", noise_tells="the model"),
            prepare=partial(_EncryptedColumnSides, params, problem, under, found.level),
        )


class Claims(NamedTuple):
    """What is public of a set, for sums of so many products."""

    error: float
    """Claimed, of scores within [-1, 1]."""
    level: int
    """The level that answers are brought down to."""


@cache
def claims(preset: str, features: int, under: str) -> Claims | None:
    """What sums of products claim; None where there is no room."""
    params = Params.preset(preset)
    weight = blank(params, 1, seeded=under == "secret")
    try:
        total = _times(blank(params) * weight, features) + weight * blank(params, 1, seeded=False)
    except NoiseBudgetError:
        return None
    for level in range(1, total.level + 1):
        try:
            low = total.mod_switch_to(level)
        except NoiseBudgetError:
            continue
        return Claims(low.error_bound, level)
    return None


def _times(vector: EncryptedVector, count: int) -> EncryptedVector:
    """A sum of so many, by doubling: it claims what sums of different ones do."""
    if count == 1:
        return vector
    half = _times(vector, count // 2)
    return half + half + vector if count % 2 else half + half


def _weight(secret: SecretKey, public: PublicKeys, number: float, under: str) -> bytes:
    """One number in all slots."""
    if under == "secret":
        return secret.encrypt_to_bytes([number])
    return public.encrypt([number]).to_bytes()


class _EncryptedColumnSides:
    def __init__(self, params: VectorParams, problem: ScoreProblem, under: str, level: int) -> None:
        self._slots, self._level, self._scales = params.slot_count, level, scales_of(problem)
        self._largest = power_above(problem.largest)
        self._secret, self._public = keygen(params)
        numbers = np.column_stack([problem.weights * self._scales, problem.intercepts])
        model = [
            [_weight(self._secret, self._public, number, under) for number in row]
            for row in (numbers / self._largest).tolist()
        ]
        self._held = sum(len(data) for row in model for data in row)
        self._held += len(self._public.to_bytes())
        # What is added is brought to the level and scale of products by a product with one.
        one = self._public.encrypt([1.0])
        self._weights = [[self._read(data) for data in row[:-1]] for row in model]
        self._added = [self._read(row[-1]) * one for row in model]

    def _read(self, data: bytes) -> EncryptedVector:
        return EncryptedVector.from_bytes(self._secret.params, data).with_keys(self._public)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """Column after column, of as many samples as there are slots."""
        return [
            self._secret.encrypt_to_bytes(column)
            for first in range(0, len(x), self._slots)
            for column in (x[first : first + self._slots] / self._scales).T
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """A ciphertext for each output."""
        found = []
        features = len(self._scales)
        for first in range(0, len(up), features):
            columns = [self._read(data) for data in up[first : first + features]]
            for weights, added in zip(self._weights, self._added, strict=True):
                total = columns[0] * weights[0]
                for column, weight in zip(columns[1:], weights[1:], strict=True):
                    total = total + column * weight
                found.append((total + added).mod_switch_to(self._level).to_bytes())
        return found

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Scores."""
        outputs = len(self._added)
        read = [EncryptedVector.from_bytes(self._secret.params, data) for data in down]
        found = [np.real(self._secret.decrypt(vector)) for vector in read]
        scores = np.concatenate(
            [np.column_stack(found[at : at + outputs]) for at in range(0, len(found), outputs)]
        )
        return scores * self._largest

    def held(self) -> int:
        """Keys, and the weights as they came."""
        return self._held

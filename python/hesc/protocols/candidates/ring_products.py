"""Scores by one product of polynomials: weights in the clear at the server, or encrypted too."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.planner import probes
from hesc.planner.estimates import LATTICE, Estimate, Infeasible
from hesc.planner.roles import Sees
from hesc.planner.work import StageCount, counted, parts_of
from hesc.protocols.candidates.for_problems import ForScores
from hesc.protocols.candidates.set_names import set_of
from hesc.ring_products import Bounds, EncryptedModel, Model, RingProductPlan
from hesc.ring_products.secret import decrypt_scores, encrypt_features, encrypt_model
from hesc.secret import keygen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.planner.probes import Probe
    from hesc.planner.tasks import ScoreProblem, Task

_RINGS: Final = (1024, 2048, 4096, 8192)
_LARGE: Final = (16384, 32768)
"""Rings that few tasks need."""


def _shapes() -> list[tuple[int, int, int]]:
    """Features, outputs and samples that one ring is the smallest for, and that all take."""
    shapes = [(8, 1, 1), (32, 2, 10)]
    for ring in _RINGS:
        shapes += [(ring // 2 + 8, 1, 1), (8, 1, ring // 4)]
        shapes += [(ring // 16, 10, samples) for samples in (1, 20)]
    return shapes


class RingProducts(ForScores):
    """The smallest set that has the error; queries of as many samples as it takes."""

    name = "ring products"

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for (setting, own), error in product(probes.OWNERS, (0.05, 1e-4)):
            for shape in _shapes():
                yield probes.scores(rng, shape, error, setting, own=own)
        for setting, own in probes.OWNERS:
            for ring in _LARGE:
                for shape in ((ring // 2 + 8, 1, 1), (8, 1, ring // 4), (ring // 40, 25, 4)):
                    yield probes.scores(rng, shape, 0.05, setting, own=own)
        # The smallest ring has no room for finer errors of weights under the public key.
        for shape in ((8, 1, 1), (64, 10, 1), (64, 10, 20), (8, 1, 256)):
            yield probes.scores(rng, shape, 0.5, "outsourced")

    def scores(self, task: Task, problem: ScoreProblem) -> Estimate | Infeasible:
        """See `ForScores`."""
        under = None
        if task.setting == "outsourced":
            under = "secret" if task.own_model else "public"
        plan = plan_of(problem, task.max_error, under)
        parts = parts_of(task.samples, plan.most_samples)
        sizes = [plan.sizes(count) for count in parts]
        ciphertexts = sum(-(-count // plan.capacity) for count in parts)
        up, down = sum(size.up for size in sizes), sum(size.down for size in sizes)
        size = plan.model_size
        held = problem.nbytes if size is None else size
        chosen = set_of(plan.params)
        return Estimate(
            way=self.name,
            parameters=chosen + ("" if under is None else f", weights under the {under} key"),
            work=counted(
                f"ring_products.{chosen}.{under or 'clear'}",
                encrypt=StageCount(len(parts), ciphertexts, task.samples * problem.features, up),
                answer=StageCount(len(parts), ciphertexts, 0, up + down),
                decrypt=StageCount(len(parts), ciphertexts, task.samples * problem.outputs, down),
            ),
            up=up,
            down=down,
            held=held,
            error=plan.error,
            failure=task.samples * problem.outputs * LATTICE,
            sees=Sees("scores", model_at_server=under is None, noise_tells="the model"),
            prepare=partial(_RingProductSides, plan, problem, under),
        )


def plan_of(problem: ScoreProblem, error: float, under: str | None) -> RingProductPlan:
    """The plan, of weights that are open to the key owner or encrypted; as `hesc.ml` makes it."""
    if under is None:
        return RingProductPlan.of_model(
            problem.weights, problem.intercepts, low=problem.low, high=problem.high, error=error
        )
    bounds = Bounds.of_model(
        problem.weights, problem.intercepts, low=problem.low, high=problem.high
    )
    return RingProductPlan.encrypted(
        problem.weights.shape,
        low=problem.low,
        high=problem.high,
        error=error,
        under=under,
        **bounds._asdict(),
    )


class _RingProductSides:
    def __init__(self, plan: RingProductPlan, problem: ScoreProblem, under: str | None) -> None:
        self._plan, self._problem = plan, problem
        self._secret, keys = keygen(plan.params, products=False)
        numbers = problem.weights, problem.intercepts
        self._server: Model | EncryptedModel
        if under is None:
            self._held = problem.nbytes
            self._server = Model(plan, *numbers)
            return
        data = (
            encrypt_model(self._secret, plan, *numbers)
            if under == "secret"
            else EncryptedModel.encrypt(plan, keys, *numbers)
        )
        self._held = len(data)
        self._server = EncryptedModel.from_bytes(plan, data)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """A query for each so many samples."""
        most = self._plan.most_samples
        return [
            encrypt_features(self._secret, self._plan, x[first : first + most])
            for first in range(0, len(x), most)
        ]

    def answer(self, up: list[bytes]) -> list[bytes]:
        """An answer to each."""
        return [self._server.evaluate(query) for query in up]

    def decrypt(self, down: list[bytes]) -> NDArray[np.float64]:
        """Scores."""
        found = [decrypt_scores(self._secret, self._plan, answer).values for answer in down]
        return np.concatenate([rows.reshape(-1, self._problem.outputs) for rows in found])

    def held(self) -> int:
        """The weights."""
        return self._held

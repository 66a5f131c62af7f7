"""Nothing encrypted: the client has the model and computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from hesc.planner import probes
from hesc.planner.candidate import Candidate
from hesc.planner.estimates import ROUNDING, Estimate, Infeasible
from hesc.planner.problems import PredictionProblem
from hesc.planner.roles import Sees
from hesc.planner.tasks import DistanceProblem, ProductProblem, ScoreProblem, Task
from hesc.planner.work import StageCount, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from hesc.planner.probes import Probe
    from hesc.planner.tasks import Problem

_PROBES: Final = (
    (4, 1, 1),
    (4, 3, 1000),
    (16, 2, 1),
    (512, 10, 1),
    (64, 10, 100),
    (256, 1, 1000),
    (256, 10, 1000),
)
"""Features, outputs and samples that it is timed on."""


class Clear(Candidate[Task]):
    """The model goes to the client, once; samples go nowhere."""

    name = "clear"

    def probes(self, rng: np.random.Generator) -> Iterator[Probe]:
        """See `Candidate`."""
        for shape in _PROBES:
            yield probes.scores(rng, shape, 0.01, "one_side_clear")
        for bits, records, samples in probes.CODES:
            yield probes.distances(rng, bits, records, samples, "one_side_clear")

    def consider(self, task: Task) -> Estimate | Infeasible:
        """See `Candidate`."""
        problem = task.problem
        if isinstance(problem, ProductProblem):
            return Infeasible(
                self.name, "the factors have several owners, who would see each other's"
            )
        if isinstance(problem, PredictionProblem):
            return Infeasible(self.name, "what the model computes is known to its protocols alone")
        size = problem.nbytes
        samples = task.samples
        kind = "distances" if isinstance(problem, DistanceProblem) else "scores"
        rounding = ROUNDING * problem.largest if isinstance(problem, ScoreProblem) else 0.0
        results = len(problem.records) if isinstance(problem, DistanceProblem) else problem.outputs
        return Estimate(
            way=self.name,
            parameters=f"the client is given {size:,} bytes once",
            work=counted(
                f"clear.{kind}",
                decrypt=StageCount(
                    1, samples * size / 8, samples * results, samples * problem.features * 8
                ),
            ),
            up=0,
            down=0,
            held=0,
            error=rounding,
            failure=0.0,
            sees=Sees(kind, model_at_client=True),
            prepare=lambda: _Client(problem),
        )


class _Client:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._x: NDArray[Any] = np.zeros(0)

    def encrypt(self, x: NDArray[Any]) -> list[bytes]:
        """Nothing leaves."""
        self._x = x
        return []

    def answer(self, _up: list[bytes]) -> list[bytes]:
        """Nobody is asked."""
        return []

    def decrypt(self, _down: list[bytes]) -> NDArray[np.float64]:
        """All the work."""
        return self._problem.exact(self._x)

    def held(self) -> int:
        """The server has nothing."""
        return 0
